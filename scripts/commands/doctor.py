"""`routelock doctor`: every check of one appliance in one table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from scripts import terminal


def doctor(
    config: Annotated[Path, typer.Option("--config", help="An institution's folder.")],
) -> None:
    """Say whether an appliance is fit to serve, and what is to be done; nothing is changed.

    Exit 0 if nothing failed, 1 if a check failed, 2 if the configuration does not load.

    Example: routelock doctor --config configs/demo
    """
    from inference.doctor import Level, examine

    if not config.is_dir():
        raise NotADirectoryError(20, "is no folder", str(config))
    results = list(terminal.progress(examine(config), "checks"))
    if terminal.for_people():
        cells = ((r.check, r.subject, r.level.value, r.found, r.fix) for r in results)
        terminal.rows("", ("check", "of", "", "found", "what to do"), cells)
    else:
        for result in results:
            terminal.json_line(asdict(result))
    failed = [result for result in results if result.level is Level.FAILED]
    if failed:
        raise typer.Exit(2 if failed[0].check == "configuration" else 1)
