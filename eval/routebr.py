"""`routelock bench routebr`: a backend behind the gate on RouteBR cases, and the result."""

from __future__ import annotations

from pathlib import Path

from eval import run as runs
from eval.backends import open_proposer
from eval.result import Result
from eval.suites import routebr
from eval.systems import ROUTELOCK, Clock, gated
from gate.records import Switches

SYSTEM = ROUTELOCK
NOW = routebr.NOW


def run(
    data: Path,
    cases: Path,
    proposer: str,
    out: Path,
    switches: Switches | None = None,
    *,
    clock: Clock | None = None,
) -> Result:
    """Run the cases of a file and write the files of a run to `out`.

    `data` is a folder with RouteBR's CSV files, `proposer` the name of a backend, and `switches`
    None means those that the backend needs. Raises EvalError or ConfigError on an input that cannot
    be used.
    """
    suite = routebr.open_suite(data, cases)
    system = gated(ROUTELOCK, suite, open_proposer(proposer, suite), switches)
    command = f"routelock bench routebr --data {data} --cases {cases} --proposer {proposer}"
    return runs.run(suite, system, out, command, clock=clock)
