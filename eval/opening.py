"""The axis of suites: from a name on the command line to cases and what decides them.

| name | cases |
|---|---|
| `routebr:FILE` | RouteBR cases of that file; `--data` holds configuration and DEV file |
| `demo:dev`, `demo:select` | the demo institution in English |
| `demo:confirm` | its sealed part; opens with `--unseal` alone |
"""

from __future__ import annotations

from pathlib import Path

from eval.errors import ProposerError
from eval.suite import Suite
from eval.suites import routebr
from eval.suites.demo import protocol


def open_suite(name: str, data: Path, *, unseal: bool = False, root: Path = Path()) -> Suite:
    """The suite of that name, audited; SuiteError or ConfigError for a file that is broken."""
    kind, _, rest = name.partition(":")
    if kind == routebr.NAME and rest:
        file = Path(rest) if Path(rest).exists() else data / rest
        return routebr.open_suite(data, file)
    if kind == protocol.NAME and rest:
        return protocol.open_suite(rest, unseal=unseal, root=root)
    raise ProposerError(
        f"no suite is called `{name}`; use routebr:FILE, demo:dev, demo:select or demo:confirm"
    )
