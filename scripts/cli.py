"""The `routelock` command: thin; every command calls one function of the packages.

Exit codes: 0 done, 1 a check failed, 2 wrong use or an unusable configuration or input.
"""

from __future__ import annotations

import sys

import typer

from gate.errors import RoutelockError
from inference import ending
from scripts import environment
from scripts.commands import (
    bench,
    demo,
    doctor,
    gate,
    ledger,
    models,
    record,
    serve,
    sources,
    train,
)
from scripts.terminal import tell

app = typer.Typer(
    name="routelock",
    help="Decide what a request may become: one typed dispatch, or one bounded terminal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
app.add_typer(gate.app, name="gate")
app.add_typer(ledger.app, name="ledger")
bench.app.command(
    "record",
    epilog="Example: routelock bench record demo:dev vendor --config configs/demo --cap 2.50 "
    "--out var/bench/vendor.jsonl --dry-run",
)(record.record)
app.add_typer(bench.app, name="bench")
app.add_typer(models.app, name="models")
app.add_typer(sources.index, name="index")
app.add_typer(sources.sql, name="sql")
app.add_typer(train.app, name="train")
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("route")(serve.route)
app.command("answer")(serve.answer)


def main() -> None:
    """Run the command line; a known error is one line on stderr and exit code 2."""
    environment.apply()
    ending.run(_run)


def _run() -> int:
    try:
        app()
    except RoutelockError as error:
        tell(f"routelock: {error}")
        sys.exit(2)
    except (IsADirectoryError, NotADirectoryError, FileNotFoundError, FileExistsError,
            PermissionError) as error:  # fmt: skip
        tell(
            f"routelock: `{error.filename}`: {(error.strerror or 'cannot be used').lower()}; check the path"
        )
        sys.exit(2)
    return 0
