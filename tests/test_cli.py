"""The command line: help with an example everywhere, exit codes, one clear error for bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from scripts.cli import app

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "configs/demo"


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    code = "from scripts.cli import main; main()"
    return subprocess.run(  # noqa: S603  (our own command, fixed arguments)
        [sys.executable, "-c", code, *arguments],
        input=given,
        capture_output=True,
        cwd=ROOT,
        check=False,
    )


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    children = getattr(command, "commands", {})
    if not children:
        yield path
    for name, child in children.items():
        yield from commands(child, (*path, name))


ALL = sorted(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_with_an_example(path: tuple[str, ...]) -> None:
    command: click.Command = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]  # type: ignore[attr-defined]
    text = f"{command.help} {command.epilog}"
    assert "Example: routelock" in text
    assert " ".join(path) in text


def line(**fields: object) -> bytes:
    request = {
        "request_id": "r-1",
        "channel": "web",
        "utterance": "What does a domestic wire cost?",
        "state": {
            "safety_escalation_required": False,
            "request_supported": True,
            "service_available": True,
            "request_scope_clear": True,
        },
        "proposal": {
            "action_id": "FEE_INFO", "object_id": "NONE", "topk": ["FEE_INFO"],
            "confidence": "0.97", "tier": "fast", "backend": "test", "receipt": None,
        },
    }  # fmt: skip
    return json.dumps({**request, **fields}).encode() + b"\n"


def test_gate_decide_answers_each_line() -> None:
    done = run("gate", "decide", "--config", str(DEMO), given=line() + line(request_id="r-2"))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    assert [(a["request_id"], a["terminal"], a["action_id"]) for a in answers] == [
        ("r-1", "DISPATCH", "FEE_INFO"),
        ("r-2", "DISPATCH", "FEE_INFO"),
    ]


def test_a_broken_line_is_one_error_and_the_rest_is_decided() -> None:
    broken = [
        b"{\n",
        b'{"request_id": NaN}\n',
        b"\xff\xfe\n",
        b'{"a": 1, "a": 2}\n',
        line(colour="red"),
    ]
    done = run("gate", "decide", "--config", str(DEMO), given=b"".join([*broken, line()]))
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [a["rule_id"] for a in answers] == ["G-REQUEST"] * len(broken) + ["R-999"]
    errors = done.stderr.decode().splitlines()
    for number in range(1, len(broken) + 1):
        assert sum(f"line {number}" in text for text in errors) == 1


def test_a_ten_megabyte_line_is_one_error() -> None:
    done = run(
        "gate", "decide", "--config", str(DEMO), given=b'"' + b"a" * 10_000_000 + b'"\n' + line()
    )
    answers = [json.loads(text) for text in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [a["terminal"] for a in answers] == ["REJECT", "DISPATCH"]


def test_an_unusable_folder_names_file_line_and_fix(tmp_path: Path) -> None:
    for name in ("appliance.yaml", "catalog.yaml"):
        text = (DEMO / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(
            text.replace("history_turns", "history_turn"), encoding="utf-8"
        )
    done = run("gate", "check", "--config", str(tmp_path))
    assert done.returncode == 2
    (said,) = done.stderr.decode().splitlines()
    assert "appliance.yaml:" in said
    assert "history_turn" in said
    assert "did you mean" in said


def test_lint_of_the_demo_is_clean() -> None:
    done = run("gate", "lint", "--config", str(DEMO))
    assert (done.returncode, done.stdout) == (0, b""), done.stdout


def test_explain_shows_the_way() -> None:
    done = run("gate", "explain", "--config", str(DEMO), given=line())
    way = json.loads(done.stdout)
    assert done.returncode == 0
    assert way["rules"][-1]["rule"] == "R-999"
    assert [c["open"] for c in way["checks"]] == [True] * len(way["checks"])


def test_diff_names_what_opens(tmp_path: Path) -> None:
    old = shutil.copytree(DEMO, tmp_path / "old")
    rules = (old / "rules.yaml").read_text(encoding="utf-8")
    closed = rules.replace(
        "predicate: request_supported, is: false", "predicate: request_supported, is: true"
    )
    (old / "rules.yaml").write_text(closed, encoding="utf-8")
    done = run("gate", "diff", str(old), str(DEMO), given=line())
    assert done.returncode == 1, done.stderr
    (change,) = [json.loads(text) for text in done.stdout.splitlines()]
    assert (change["old"]["rule_id"], change["new"]["rule_id"], change["opens"]) == (
        "R-020",
        "R-999",
        True,
    )


def test_a_truncated_ledger_is_one_error(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    ledger.write_bytes(b"SQLite format 3\x00" + b"\x00" * 40)
    done = run("ledger", "verify", "--ledger", str(ledger))
    assert done.returncode == 2
    assert len(done.stderr.decode().splitlines()) == 1


def test_an_unknown_command_is_wrong_use() -> None:
    assert run("gate", "decline").returncode == 2


def test_terminal_text_is_neither_markup_nor_control(capsys: pytest.CaptureFixture[str]) -> None:
    from scripts import terminal

    hostile = "a\x1b[31mb\u202ec\nd[bold]e\x00:boom:"
    shown = "a\\u001b[31mb\\u202ec d[bold]e\\u0000:boom:"
    terminal.styled((hostile, "bold"), " and [red]")
    terminal.tell(hostile)
    assert capsys.readouterr() == (f"{shown} and [red]\n", f"{shown}\n")
    terminal.rows(hostile, [hostile], [[hostile]])
    assert capsys.readouterr().out.count(shown) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("gate", "decide", "--config", str(DEMO), "--in", "/nowhere/r.jsonl"),
        ("gate", "decide", "--config", str(DEMO), "--in", str(DEMO)),
        ("gate", "decide", "--config", str(DEMO), "--out", "/nowhere/o.jsonl"),
        ("gate", "decide", "--config", str(DEMO), "--out", str(DEMO)),
        ("gate", "schemas", str(ROOT / "README.md")),
        ("gate", "language", "../../x", "--check"),
        ("ledger", "verify", "--ledger", str(DEMO)),
        ("ledger", "replay", "--config", str(DEMO), "--ledger", str(DEMO)),
        ("demo", "--ledger-dir", str(DEMO)),
    ],
    ids=" ".join,
)
def test_a_path_that_cannot_be_used_is_one_line(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.decode().splitlines()) == 1


def test_the_demo_deletes_nothing_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("keep", encoding="utf-8")
    assert run("demo", "--ledger-dir", str(tmp_path)).returncode == 2
    assert (tmp_path / "keep.txt").read_text(encoding="utf-8") == "keep"


def test_what_is_read_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "same.jsonl"
    path.write_bytes(line())
    done = run("gate", "decide", "--config", str(DEMO), "--in", str(path), "--out", str(path))
    assert (done.returncode, path.read_bytes()) == (2, line())


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "bom.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line())
    done = run("gate", "decide", "--config", str(DEMO), "--in", str(path))
    assert (done.returncode, json.loads(done.stdout)["terminal"]) == (0, "DISPATCH")


def test_route_uses_up_no_confirmation(tmp_path: Path) -> None:
    token = "0" * 32 + "." + "0" * 64
    asked = {"request_id": "r", "channel": "web", "utterance": "yes", "confirm": {"token": token}}
    ledger = ("--ledger-dir", str(tmp_path / "ledger"))
    done = run("route", "--config", str(DEMO), *ledger, given=json.dumps(asked).encode())
    assert done.returncode == 2
    assert b"send it to `routelock answer`" in done.stderr
