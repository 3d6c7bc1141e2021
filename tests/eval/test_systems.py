"""Systems around a backend: what stands and what falls when a part of the gate is off."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest

from eval import baselines, metrics, run
from eval.backends import open_backend, open_proposer
from eval.baselines import Baseline
from eval.case import ask
from eval.counted import Counted
from eval.errors import ProposerError, SuiteError
from eval.opening import open_suite
from eval.outcome import Outcome
from eval.proposers import replayed
from eval.proposers.answer import Answer
from eval.proposers.tiers import Tiers
from eval.result import Share
from eval.suite import Suite
from eval.suites import routebr
from eval.systems import ABLATIONS, NAMES, gated, open_system
from gate.records import Abstain, OutOfScope, Proposal, Unparsed
from inference.backends import Choice, Usage
from inference.backends.scripted import ScriptedBackend
from inference.errors import BackendError
from inference.prompts import Prompt
from inference.tiers.proposer import ProposerTier

SELECT = "routebr_select_160.csv"
HOSTED = (
    "deepseek_v4_primary",
    "deepseek_v4_flash_efficiency",
    "qwencloud_qwen38max_robustness",
    "ohmygpt_gpt52_frontier",
)


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    return data_dir / "routebr"


@pytest.fixture(scope="module")
def select(data: Path) -> Suite:
    return routebr.open_suite(data, data / SELECT)


@pytest.fixture(scope="module")
def lexical_run(select: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a whole run, whose answers the ablations reuse."""
    out = tmp_path_factory.mktemp("lexical")
    run.run(select, open_system("routelock", select, "lexical"), out, "c")
    return out


@pytest.fixture(params=["lexical", *HOSTED])
def kept(request: pytest.FixtureRequest, lexical_run: Path, data: Path) -> str:
    """Backends whose answers exist already."""
    if request.param == "lexical":
        return f"run:{lexical_run}"
    return f"recorded:{data / 'recorded' / request.param}"


def outcomes(name: str, suite: Suite, backend: str) -> tuple[Outcome, ...]:
    return run.decided(suite.cases, open_system(name, suite, backend), None, 1)


def test_without_state_rules_every_prohibited_flip_member_dispatches(
    select: Suite, kept: str
) -> None:
    found = [o for o in outcomes("no-state", select, kept) if o.case.split == "FLIP"]
    prohibited = [o for o in found if not o.case.gold.allowed]
    # A backend that proposed another action, or none, is no fault of the switch.
    proposed = [o for o in prohibited if o.action_right and o.object_right]
    assert (len(found), len(prohibited)) == (40, 20)
    assert [o.case.case_id for o in proposed if not o.dispatched] == []
    assert len(proposed) >= 18
    assert metrics.flip_pairs(found).exact == 0


def test_lexical_dispatches_all_of_them(select: Suite, lexical_run: Path) -> None:
    found = outcomes("no-state", select, f"run:{lexical_run}")
    prohibited = [o for o in found if o.case.split == "FLIP" and not o.case.gold.allowed]
    assert (len(prohibited), sum(o.dispatched for o in prohibited)) == (20, 20)


def test_without_objects_every_object_sensitive_allowed_case_is_blocked(
    select: Suite, kept: str
) -> None:
    found = [o for o in outcomes("no-objects", select, kept) if o.case.gold.allowed]
    sensitive = [o for o in found if o.case.gold.object_id != "NONE"]
    assert len(sensitive) == 64
    assert [o.case.case_id for o in sensitive if o.dispatched] == []


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_ablation_makes_no_call(select: Suite, kept: str, name: str) -> None:
    found = outcomes(name, select, kept)
    assert {(o.answer.calls, o.answer.tokens_in, o.answer.latency_ms) for o in found} == {
        (0, None, None)
    }


@pytest.mark.parametrize("name", sorted(ABLATIONS))
@pytest.mark.parametrize("backend", ["lexical", "embedded", "cascade"])
def test_ablation_refuses_a_backend_that_would_be_called(
    select: Suite, name: str, backend: str
) -> None:
    with pytest.raises(ProposerError, match="makes no call"):
        open_system(name, select, backend)


def test_kept_answers_give_the_same_run_again(
    select: Suite, lexical_run: Path, tmp_path: Path
) -> None:
    again = open_system("routelock", select, f"run:{lexical_run}")
    run.run(select, again, tmp_path, "c")
    first, second = (f / "predictions.csv" for f in (lexical_run, tmp_path))
    assert first.read_bytes() == second.read_bytes()


def test_concurrency_changes_no_decision(select: Suite, lexical_run: Path, tmp_path: Path) -> None:
    system = open_system("routelock", select, "lexical")
    result = run.run(select, system, tmp_path, "c", concurrency=32)
    assert result.run.concurrency == 32
    first, second = (f / "predictions.csv" for f in (lexical_run, tmp_path))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        Proposal("A", None, ("A", "B"), None, "t", "b"),
        Proposal("A", "O", ("A",), Decimal("0.9"), "t", "b", "r"),
        OutOfScope("t"),
        Abstain("low_confidence", "t", ("A", "B"), "b"),
        Unparsed('{"a": 1}', "t", backend="b"),
    ],
)
def test_every_kind_of_answer_is_kept(tmp_path: Path, given: object) -> None:
    answer = Answer(given, False, 1, True, 2, 700, 30, 12.5, 0.25, "A")  # type: ignore[arg-type]
    (tmp_path / replayed.FILE).write_text(replayed.lines({"C-1": answer}), encoding="utf-8")
    figures = {"run": {"switches": ["no-state"], "seeds": {}, "backend": "x"}}
    (tmp_path / "metrics.json").write_text(json.dumps(figures), encoding="utf-8")
    again = replayed.load(tmp_path)
    assert dict(again.answers) == {"C-1": answer}
    assert again.switches.names() == ("no-state",)


def test_broken_kept_answer_is_refused_with_its_line(tmp_path: Path) -> None:
    figures = {"run": {"switches": [], "seeds": {}, "backend": "x"}}
    (tmp_path / "metrics.json").write_text(json.dumps(figures), encoding="utf-8")
    good = replayed.lines({"C-1": Answer(OutOfScope("t"))})
    (tmp_path / replayed.FILE).write_text(f"{good}{{}}\n", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        replayed.load(tmp_path)
    assert caught.value.line == 2


@dataclass
class Told:
    """A backend that answers with the given text, and keeps what it was shown."""

    say: Callable[[Sequence[str]], str]
    seen: list[Prompt]

    def __call__(self, prompt: Prompt, codes: Sequence[str]) -> Choice:
        self.seen.append(prompt)
        said = self.say(codes)
        return Choice(tuple(float(c == said) for c in codes), usage=Usage(1, 100, 2))


def baseline(suite: Suite, name: str, script: object, form: str = "names") -> Baseline:
    legal = baselines.answers(suite, with_rules=name == "b2")
    coded = form == "codes"
    static = baselines.static_part(suite, legal, name == "b2", coded)
    backend = ScriptedBackend(script, form=form)  # type: ignore[arg-type]
    return Baseline(name, suite, backend, static, legal)


def allow(codes: Sequence[str]) -> str:
    return next(c for c in codes if c.startswith("Protected action, ALLOW"))


def test_b1_sees_state_and_request_but_no_rule_and_no_gold(select: Suite) -> None:
    told = Told(allow, [])
    found = baseline(select, "b1", told).outcome(select.cases[0])
    (prompt,) = told.seen
    assert "- safety_escalation_required: true" in prompt.dynamic
    assert select.cases[0].utterance[:10] in prompt.dynamic
    assert "R001" not in prompt.static + prompt.dynamic
    assert select.cases[0].gold.object_id not in prompt.static + prompt.dynamic
    assert (found.path, found.cited) == ("A5_PROTECTED_ACTION", None)
    assert (found.answer.calls, found.answer.tokens_in) == (1, 100)


def test_b1_has_no_gate_behind_it(select: Suite) -> None:
    bare = baseline(select, "b1", Told(allow, []))
    found = [bare.outcome(c) for c in select.cases]
    assert metrics.false_dispatch(found).count == 84
    assert metrics.citations(found) is None


def test_b2_sees_every_rule_and_its_citation_is_counted(select: Suite) -> None:
    told = Told(lambda codes: next(c for c in codes if c.endswith("HANDOFF, R001")), [])
    b2 = baseline(select, "b2", told)
    found = [b2.outcome(c) for c in select.cases]
    rules = select.configuration.rules.rules
    assert all(f"- {rule.rule_id} (" in told.seen[0].static for rule in rules)
    assert {o.path for o in found} == {"T_HANDOFF"}
    cited = metrics.citations(found)
    assert cited is not None
    assert (cited.count, cited.of) == (23, 160)  # the cases that R001 decides


def test_b2_cites_only_rules_that_apply_to_its_action(select: Suite) -> None:
    legal = baselines.answers(select, with_rules=True)
    rules = {r.rule_id: r for r in select.configuration.rules.rules}
    assert all(
        set(rules[one.rule_id or ""].applies_to) & {"*", one.action_id}
        and rules[one.rule_id or ""].then is one.boundary
        for one in legal
    )
    assert len({one.shown for one in legal}) == len(legal)


def test_failed_call_of_a_baseline_stays_in_the_denominator(select: Suite) -> None:
    def down(prompt: Prompt, codes: Sequence[str]) -> Choice:
        raise BackendError("backend_down", "gone")

    found = [baseline(select, "b1", down).outcome(c) for c in select.cases[:10]]
    assert all(o.failed and o.path == "T_CLARIFY" and not o.committed for o in found)
    assert metrics.final_path_exact(found).of == 10
    assert metrics.coverage(found).count == 0


def test_answer_outside_the_list_is_an_interface_failure(select: Suite) -> None:
    def prose(prompt: Prompt, codes: Sequence[str]) -> Choice:
        return Choice((), text='{"action_id": "anything"}')

    found = baseline(select, "b1", prose).outcome(select.cases[0])
    assert (found.failed, found.verdict.reason_codes) == (True, ("invalid_choice",))


def test_coded_baseline_shows_its_codes(select: Suite) -> None:
    told = Told(lambda codes: codes[0], [])
    found = baseline(select, "b1", told, "codes").outcome(select.cases[0])
    assert "A. Advisory response, ALLOW" in told.seen[0].static
    assert found.path == "A1_ADVISORY"


@pytest.mark.parametrize("backend", ["lexical", "cascade", "recorded:x", "run:x"])
def test_baseline_needs_a_backend_that_reads_a_prompt(select: Suite, backend: str) -> None:
    with pytest.raises(ProposerError, match="reads no prompt"):
        open_system("b1", select, backend)


def test_unknown_names_are_answered_with_the_nearest(select: Suite, data: Path) -> None:
    with pytest.raises(ProposerError, match="did you mean `no-state`"):
        open_system("no-stat", select, "lexical")
    with pytest.raises(ProposerError, match="did you mean `lexical`"):
        open_proposer("lexial", select)
    with pytest.raises(ProposerError, match="no backend is called"):
        open_backend("nothing")
    with pytest.raises(ProposerError, match="no suite is called"):
        open_suite("routebr", data)
    assert len(NAMES) == 5


def test_vllm_is_asked_on_this_machine_alone() -> None:
    with pytest.raises(ProposerError, match="no address of this machine"):
        open_backend("vllm:http://192.0.2.1:8000")
    with pytest.raises(ProposerError, match="no address of this machine"):
        open_backend("vllm:http://example.org")


def test_lexical_does_not_learn_from_its_own_cases(data: Path) -> None:
    dev = routebr.open_suite(data, data / routebr.DEV_FILE)
    assert dev.audit.overlap == 120
    with pytest.raises(ProposerError, match="which are the cases"):
        open_proposer("lexical", dev)


def test_proposer_is_shown_no_state(select: Suite) -> None:
    told = Told(lambda codes: codes[0], [])
    catalog = select.configuration.catalog
    tier = ProposerTier("proposer", ScriptedBackend(told), catalog, Decimal("0.5"))
    system = gated("routelock", select, Tiers("scripted", select.configuration, (tier,)))
    other = {name: "MARK" for name in select.cases[0].state}
    changed = replace(select.cases[0], state=other)
    system.decide(select.cases[0])
    system.decide(changed)
    assert told.seen[0] == told.seen[1]
    assert "MARK" not in repr(told.seen)
    assert ask(changed) == ask(select.cases[0])


def test_select_is_the_published_file(select: Suite) -> None:
    assert (select.audit.sealed, select.audit.pairs, select.audit.overlap) == (True, 20, 0)


def through(suite: Suite, script: object) -> Tiers:
    """The proposer tier over a counted backend that does as it is told."""
    backend = Counted(ScriptedBackend(script))  # type: ignore[arg-type]
    catalog = suite.configuration.catalog
    tier = ProposerTier("proposer", backend, catalog, Decimal("0.5"))
    return Tiers("scripted", suite.configuration, (tier,))


def test_calls_and_tokens_are_those_of_the_case_itself(select: Suite) -> None:
    def script(prompt: Prompt, codes: Sequence[str]) -> Choice:
        sure = (1.0, *(0.0 for _ in codes[1:]))
        return Choice(sure, usage=Usage(1, len(prompt.dynamic), 1))

    system = gated("routelock", select, through(select, script))
    alone = run.decided(select.cases, system, None, 1)
    many = run.decided(select.cases, system, None, 16)
    assert [o.answer.tokens_in for o in alone] == [o.answer.tokens_in for o in many]
    assert len({o.answer.tokens_in for o in alone}) > 10
    assert {o.answer.calls for o in many} == {1}


def test_backend_that_is_down_is_a_counted_failure_that_stays(select: Suite) -> None:
    def down(prompt: Prompt, codes: Sequence[str]) -> Choice:
        raise BackendError("backend_down", "gone")

    found = run.decided(select.cases, gated("routelock", select, through(select, down)), None, 1)
    assert {(o.failed, o.answer.calls, o.committed) for o in found} == {(True, 1, False)}
    assert metrics.false_dispatch(found).count == 0
    assert metrics.false_block(found) == Share(76, 76)


def test_abstention_that_a_tier_chose_is_no_failure(select: Suite) -> None:
    def unsure(prompt: Prompt, codes: Sequence[str]) -> Choice:
        return Choice(tuple(1 / len(codes) for _ in codes))

    found = run.decided(select.cases, gated("routelock", select, through(select, unsure)), None, 1)
    assert {(o.failed, o.committed) for o in found} == {(False, False)}
