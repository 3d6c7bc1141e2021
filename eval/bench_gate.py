"""How fast the gate is, as ratios within one run: `make bench-gate`.

Every ratio compares two things measured in turns in the same process, so that a slow or busy
machine slows both. The result, with medians, command, date and versions, is stored in
`eval/results/bench_gate.json`; exit code 1 means that a required ratio was missed.

A part is a function from the folder of the RouteBR artifact to a `Part`; `PARTS` lists them.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from cedarpy import Entities, PolicySet, Schema, is_authorized, is_authorized_batch

from eval.errors import EvalError
from eval.result import host_class
from gate.conditions import Always, Is
from gate.configuration import Configuration
from gate.load import load
from gate.records import Boundary
from gate.rules import EVERY_ACTION, Rule, RulesVerdict, build, evaluate
from gate.state import BOOLEAN, Predicate

ROOT = Path(__file__).resolve().parents[1]
ROUTEBR = ROOT.parent / "shared" / "data" / "routebr"
STORED = ROOT / "eval" / "results" / "bench_gate.json"
COMMAND = "python -m eval.bench_gate"

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
ROUNDS = 151
TURN_SECONDS = 0.001
"""How long one subject is called in one round, at least: many short turns, because a machine's
speed wanders and only neighbouring milliseconds are alike."""

Call = Callable[[], object]
Request = tuple[str, dict[str, bool]]
"""An action id and the state."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`slow` takes `times` as long as `fast`, by the median of the rounds; what is required of it."""

    slow: str
    fast: str
    times: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it is as required."""
        low = self.at_least is None or self.times >= self.at_least
        return low and (self.at_most is None or self.times <= self.at_most)


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison: what was measured, median microseconds per subject, and the ratios."""

    name: str
    what: str
    median_us: Mapping[str, float]
    ratios: tuple[Ratio, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call of each subject, one figure a round."""

    seconds: Mapping[str, tuple[float, ...]]

    def median_us(self) -> dict[str, float]:
        """Median microseconds per subject."""
        return {name: round(_median(s) * 1e6, 3) for name, s in self.seconds.items()}

    def fastest(self, prefix: str) -> str:
        """The subject with the smallest median among those whose name begins so."""
        names = [name for name in self.seconds if name.startswith(prefix)]
        return min(names, key=lambda name: _median(self.seconds[name]))

    def times(self, slow: str, fast: str) -> float:
        """The median over the rounds of how many times longer `slow` takes."""
        pairs = zip(self.seconds[slow], self.seconds[fast], strict=True)
        return round(_median(tuple(s / f for s, f in pairs)), 2)


def _median(values: tuple[float, ...]) -> float:
    return statistics.median(values)


def timed(
    calls: Mapping[str, Call],
    per_call: Mapping[str, int] | None = None,
    rounds: int | None = None,
) -> Timing:
    """Call the subjects in turns, round after round, without garbage collection in a turn.

    `per_call` says how many units of work one call of a subject does (default 1).
    """
    units = per_call or {}
    repeats = {name: _repeats(call) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS if rounds is None else rounds):
        gc.collect()
        for name, call in calls.items():
            spent = _spend(call, repeats[name])
            seconds[name].append(spent / repeats[name] / units.get(name, 1))
    return Timing({name: tuple(values) for name, values in seconds.items()})


def _repeats(call: Call) -> int:
    """How often to call in one round; the trials warm up."""
    repeats = 1
    while (spent := _spend(call, repeats)) < TURN_SECONDS:
        repeats = max(repeats * 2, int(repeats * TURN_SECONDS / max(spent, 1e-9)))
    return repeats


def _spend(call: Call, repeats: int) -> float:
    """Seconds of processor time, so that other programs on the machine do not count."""
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(repeats):
            call()
        return time.process_time() - start
    finally:
        gc.enable()


# Rule evaluation against cedarpy on the same nine rules


def cedar_text(configuration: Configuration) -> str:
    """The RouteBR rules as Cedar policies of equal meaning: a blocking rule forbids, the default
    permits. Cedar has no order; the first of the forbids that it reports is the deciding rule."""
    return "\n".join(_cedar_policy(rule) for rule in configuration.rules.rules)


def _cedar_policy(rule: Rule) -> str:
    effect = "permit" if rule.then is Boundary.ALLOW else "forbid"
    named = ", ".join(f'Action::"{action}"' for action in rule.applies_to)
    action = "action" if EVERY_ACTION in rule.applies_to else f"action in [{named}]"
    when = ""
    if isinstance(rule.when, Is):
        when = f" when {{ {'' if rule.when.value else '!'}context.{rule.when.predicate} }}"
    return f'@id("{rule.rule_id}")\n{effect} (principal, {action}, resource){when};'


def cedar_schema(configuration: Configuration) -> str:
    """A Cedar schema that declares the eight booleans for every action."""
    booleans = [p.name for p in configuration.predicates.values() if p.type == BOOLEAN]
    context = ", ".join(f"{name}: Bool" for name in booleans)
    applies = f"appliesTo {{ principal: Subject, resource: Service, context: {{{context}}} }}"
    actions = (f'action "{action}" {applies};' for action in configuration.catalog.actions)
    return "\n".join(("entity Subject;", "entity Service;", *actions))


def cedar_request(request: Request, *, as_text: bool = False) -> dict[str, Any]:
    """The request in cedarpy's form, with the state as a dictionary or as JSON text."""
    action, state = request
    return {
        "principal": 'Subject::"customer"',
        "action": f'Action::"{action}"',
        "resource": 'Service::"service"',
        "context": json.dumps(state) if as_text else state,
    }


def calm(configuration: Configuration) -> dict[str, bool]:
    """The state in which no rule is true, so that every rule is read and the default allows."""
    conditions = (rule.when for rule in configuration.rules.rules)
    return {c.predicate: not c.value for c in conditions if isinstance(c, Is)}


def all_requests(configuration: Configuration) -> Iterator[Request]:
    """Every action with every one of the 256 states."""
    names = tuple(calm(configuration))
    for action in configuration.catalog.actions:
        for values in product((False, True), repeat=len(names)):
            yield action, dict(zip(names, values, strict=True))


def near_requests(configuration: Configuration) -> list[Request]:
    """Every action with the calm state and with each of its values turned over."""
    base = calm(configuration)
    states = [base, *({**base, name: not value} for name, value in base.items())]
    return [(action, state) for action in configuration.catalog.actions for state in states]


def _evaluate(configuration: Configuration, request: Request) -> RulesVerdict:
    action, state = request
    return evaluate(configuration.rules, action, configuration.predicates, state, {}, {}, NOW)


def assert_equal_meaning(configuration: Configuration) -> int:
    """Compare both engines on every request; the number compared, EvalError on a difference."""
    policies, entities = PolicySet.from_str(cedar_text(configuration)), _no_entities()
    order = [rule.rule_id for rule in configuration.rules.rules]
    requests = list(all_requests(configuration))
    answers = is_authorized_batch([cedar_request(r) for r in requests], policies, entities)
    for request, answer in zip(requests, answers, strict=True):
        verdict = _evaluate(configuration, request)
        ids = answer.diagnostics.id_annotations_by_reason.values()
        if min(ids, key=order.index) != verdict.rule_id:
            raise EvalError(f"cedarpy answers {sorted(ids)} on {request}, the gate {verdict}")
    return len(requests)


def _no_entities() -> Entities:
    return Entities.from_json_str("[]")


def rules_against_cedarpy(routebr: Path) -> Part:
    """Nine rules over eight booleans, against the fastest of cedarpy's ways to ask the same."""
    configuration = load(routebr, bench=True)
    compared = assert_equal_meaning(configuration)
    hardest = ("A5_PROTECTED_ACTION", calm(configuration))
    near = near_requests(configuration)
    calls: dict[str, Call] = {
        "gate, all 9 rules read": lambda: _evaluate(configuration, hardest),
        "gate, 45 requests": lambda: [_evaluate(configuration, r) for r in near],
        **_cedar_calls(configuration, "9 policies", [hardest]),
        **_cedar_calls(configuration, "45 requests", near),
    }
    timing = timed(calls, {name: len(near) for name in calls if "45 requests" in name})
    one, many = timing.fastest("cedarpy, 9 policies"), timing.fastest("cedarpy, 45 requests")
    return Part(
        "rules_against_cedarpy",
        f"the RouteBR rules; both engines agree on all {compared} pairs of action and state",
        timing.median_us(),
        (
            Ratio(one, "gate, all 9 rules read", timing.times(one, "gate, all 9 rules read"), 10),
            Ratio(many, "gate, 45 requests", timing.times(many, "gate, 45 requests"), 10),
        ),
    )


def _cedar_calls(
    configuration: Configuration, what: str, requests: list[Request]
) -> dict[str, Call]:
    """cedarpy's ways to ask, all with pre-parsed policies and entities; JSON text is made before."""
    policies, entities = PolicySet.from_str(cedar_text(configuration)), _no_entities()
    schema = Schema.from_str(cedar_schema(configuration))
    plain = [cedar_request(r) for r in requests]
    text = [cedar_request(r, as_text=True) for r in requests]
    return {
        f"cedarpy, {what}": lambda: [is_authorized(r, policies, entities) for r in plain],
        f"cedarpy, {what}, schema": lambda: [
            is_authorized(r, policies, entities, schema) for r in plain
        ],
        f"cedarpy, {what}, state as JSON text": lambda: [
            is_authorized(r, policies, entities) for r in text
        ],
        f"cedarpy, {what}, one batch of JSON texts": lambda: is_authorized_batch(
            text, policies, entities
        ),
    }


# A thousand rules of which twenty apply


def thousand_rules(routebr: Path) -> Part:
    """Twenty rules that apply, alone and among a thousand; nothing of RouteBR is used."""
    predicates = {f"p{n}": Predicate(f"p{n}", BOOLEAN, "core") for n in range(40)}
    state = dict.fromkeys(predicates, False)
    rules = [_numbered(n, f"ACT-{n % 50}") for n in range(1000)]
    default = _default(10_000)
    large = build([*rules, default], "large")
    small = build([r for r in rules if "ACT-7" in r.applies_to] + [default], "small")
    if len(small.rules) != 21 or large.applicable("ACT-7") != small.rules:
        raise EvalError("the two rule sets do not apply the same rules")
    timing = timed(
        {
            "20 rules": lambda: evaluate(small, "ACT-7", predicates, state, {}, {}, NOW),
            "20 of 1000 rules": lambda: evaluate(large, "ACT-7", predicates, state, {}, {}, NOW),
        }
    )
    times = timing.times("20 of 1000 rules", "20 rules")
    return Part(
        "thousand_rules",
        "20 applicable rules of one predicate each, none true",
        timing.median_us(),
        (Ratio("20 of 1000 rules", "20 rules", times, at_most=10),),
    )


def _numbered(number: int, action: str) -> Rule:
    condition = Is(f"p{number % 40}", True)
    return Rule(f"R-{number}", number, (action,), condition, Boundary.REJECT, Boundary.HANDOFF)


def _default(priority: int) -> Rule:
    return Rule("R-DEFAULT", priority, (EVERY_ACTION,), Always(), Boundary.ALLOW, None)


PARTS: tuple[Callable[[Path], Part], ...] = (rules_against_cedarpy, thousand_rules)
"""To come, each with its line here: the whole decision with findings (at most 3 times the cedarpy
call, under a tenth of the fast tier), and a million registry aliases (at most 10 times forty, under
1.5 GB)."""


def record(parts: tuple[Part, ...], date: datetime) -> dict[str, Any]:
    """The stored form of a run."""
    return {
        "schema_version": 1,
        "command": COMMAND,
        "date": date.isoformat(timespec="seconds"),
        "host": host_class(),
        "versions": {"python": sys.version.split()[0], "cedarpy": version("cedarpy")},
        "rounds": ROUNDS,
        "parts": [
            {
                **asdict(part),
                "ratios": [{**asdict(ratio), "holds": ratio.holds} for ratio in part.ratios],
            }
            for part in parts
        ],
    }


def table(parts: tuple[Part, ...]) -> str:
    """The run for people to read."""
    lines = []
    for part in parts:
        lines.append(f"{part.name}: {part.what}")
        lines += [f"  {us:10.2f} us  {name}" for name, us in part.median_us.items()]
        for r in part.ratios:
            wanted = f"at least {r.at_least}" if r.at_least is not None else f"at most {r.at_most}"
            state = "holds" if r.holds else "MISSED"
            lines.append(f"  {r.times:10.2f} times  ({r.slow}) / ({r.fast}): {wanted}, {state}")
    return "\n".join(lines)


def main(routebr: Path = ROUTEBR, out: Path = STORED) -> int:
    """Measure every part, print and store the run; 0, 1 if a ratio is missed, 2 without the data."""
    if not routebr.is_dir():
        print(
            f"error: no RouteBR folder at `{routebr}`; put the public data there", file=sys.stderr
        )
        return 2
    parts = tuple(part(routebr) for part in PARTS)
    out.parent.mkdir(parents=True, exist_ok=True)
    stored = json.dumps(record(parts, datetime.now(UTC)), indent=2, ensure_ascii=False)
    out.write_text(stored + "\n", encoding="utf-8")
    print(table(parts))
    return 0 if all(ratio.holds for part in parts for ratio in part.ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
