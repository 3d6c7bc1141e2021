"""The speed benchmark compares like with like, and says so when a ratio is missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval import bench_gate, cedar, scale, timing
from eval.errors import EvalError
from eval.timing import Part, Ratio, Timing
from gate.configuration import Configuration
from gate.load import load
from gate.records import Boundary
from gate.rules import RulesVerdict


@pytest.fixture(scope="module")
def routebr(data_dir: Path) -> Configuration:
    return load(data_dir / "routebr", bench=True)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds of no length: the figures mean nothing, the way through is the same."""
    monkeypatch.setattr(timing, "ROUNDS", 2)
    monkeypatch.setattr(timing, "TURN_SECONDS", 0.0)


def part(times: float) -> Part:
    ratios = (Ratio("b", "a", times, at_least=10), Ratio("d", "c", 1.0, at_most=10))
    return Part("name", "what", {"a": 1.0, "b": times}, ratios)


# Equal meaning


def test_cedar_has_one_policy_for_every_rule(routebr: Configuration) -> None:
    text = cedar.cedar_text(routebr)
    assert text.count("forbid (") == 8
    assert text.count("permit (") == 1
    assert "when { context.safety_escalation_required };" in text
    assert 'action in [Action::"A5_PROTECTED_ACTION"]' in text
    assert "when { !context.action_permission };" in text


def test_both_engines_agree_on_every_action_and_state(routebr: Configuration) -> None:
    assert cedar.assert_equal_meaning(routebr) == 5 * 256


def test_a_difference_between_the_engines_stops_the_benchmark(
    routebr: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = RulesVerdict(Boundary.ALLOW, "R999")
    monkeypatch.setattr(cedar, "evaluate", lambda *args, **kwargs: always)
    with pytest.raises(EvalError, match="cedarpy answers"):
        cedar.assert_equal_meaning(routebr)


def test_in_the_calm_state_every_rule_is_read(routebr: Configuration) -> None:
    assert len(cedar.calm(routebr)) == 8
    assert len(routebr.rules.applicable("A5_PROTECTED_ACTION")) == 9
    assert len(cedar.near_requests(routebr)) == 45


# Timing


def test_subjects_are_called_in_turns_and_counted_per_unit_of_work() -> None:
    order: list[str] = []

    def call(name: str) -> Callable[[], object]:
        return lambda: order.append(name)

    found = timing.timed({"a": call("a"), "b": call("b")}, {"b": 1000}, rounds=3)
    assert len(found.seconds["a"]) == len(found.seconds["b"]) == 3
    assert found.times("a", "b") > 100
    turns = [one for one, other in zip(order, ["", *order], strict=False) if one != other]
    assert turns == ["a", "b"] * 4  # trials, then three rounds


def test_the_fastest_of_several_ways_is_taken() -> None:
    found = Timing({"c, slow": (3.0, 3.0), "c, fast": (2.0, 2.0), "other": (1.0, 1.0)})
    assert found.fastest("c") == "c, fast"
    assert found.times("c, fast", "other") == 2.0
    assert found.median_us()["other"] == 1e6


@pytest.mark.parametrize(
    ("ratio", "holds"),
    [
        (Ratio("s", "f", 10.0, at_least=10), True),
        (Ratio("s", "f", 9.99, at_least=10), False),
        (Ratio("s", "f", 10.0, at_most=10), True),
        (Ratio("s", "f", 10.01, at_most=10), False),
        (Ratio("s", "f", 99.0), True),
    ],
)
def test_a_ratio_holds_up_to_its_limit(ratio: Ratio, holds: bool) -> None:
    assert ratio.holds is holds


# Parts


@pytest.mark.usefixtures("hurried")
def test_the_cedarpy_part_requires_ten_times_in_both_ratios(data_dir: Path) -> None:
    found = cedar.rules_against_cedarpy(data_dir / "routebr")
    assert [(r.at_least, r.at_most) for r in found.ratios] == [(10, None), (10, None)]
    assert all(r.slow.startswith("cedarpy") and r.fast.startswith("gate") for r in found.ratios)
    assert len(found.median_us) == 10


@pytest.mark.usefixtures("hurried")
def test_the_thousand_rules_part_compares_the_same_twenty_rules(tmp_path: Path) -> None:
    found = scale.thousand_rules(tmp_path)
    (ratio,) = found.ratios
    assert (ratio.slow, ratio.fast, ratio.at_most) == ("20 of 1000 rules", "20 rules", 10)


# The run


@pytest.mark.parametrize(("times", "code"), [(12.0, 0), (9.0, 1)])
def test_the_exit_code_tells_whether_every_ratio_holds(
    times: float,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench_gate, "PARTS", (lambda folder: part(times),))
    out = tmp_path / "results" / "bench_gate.json"
    assert bench_gate.main(tmp_path, out) == code
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert stored["command"] == "python -m eval.bench_gate"
    assert set(stored) >= {"schema_version", "date", "host", "versions", "rounds"}
    assert stored["parts"][0]["ratios"][0]["holds"] is (code == 0)
    assert ("MISSED" in capsys.readouterr().out) is (code == 1)


def test_without_the_data_the_benchmark_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench_gate.json"
    assert bench_gate.main(tmp_path / "none", out) == 2
    assert "no RouteBR folder" in capsys.readouterr().err
    assert not out.exists()


def test_the_stored_form_names_versions_and_time() -> None:
    stored = bench_gate.record((part(12.0),), datetime(2026, 12, 1, tzinfo=UTC))
    assert stored["date"] == "2026-12-01T00:00:00+00:00"
    assert set(stored["versions"]) == {"python", "cedarpy"}
