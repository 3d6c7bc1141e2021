"""Doctor: is an appliance fit to serve, and what is to be done where it is not.

Each check is a function from what it looks at to its results; `CHECKS` is the list of all of them.
None starts anything or writes a file; a declared server is asked for its hand-shake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from gate.errors import ConfigError, RoutelockError
from gate.load import load_institution
from inference.doctor import backends, files, models
from inference.doctor.result import Examined, Level, Result, failed

__all__ = ["CHECKS", "Check", "Examined", "Level", "Result", "examine"]

Check = Callable[[Examined], Iterator[Result]]
"""Looks at one thing; an error that it raises is a failed result with that error's text."""

CHECKS: tuple[tuple[str, Check], ...] = (
    ("lint", files.lint),
    ("phrases", files.phrases),
    ("languages", files.languages),
    ("connectors", files.connectors),
    ("tiers", models.tiers),
    ("backends", backends.backends),
    ("policies", models.policies),
    ("costs", models.costs),
    ("index", files.index),
    ("database", files.database),
    ("ledger", files.ledger),
    ("disk", files.disk),
)
"""Every check by name, in order; a new one is a function and its line here."""


def examine(
    config: Path, root: Path = Path(), checks: tuple[tuple[str, Check], ...] = CHECKS
) -> Iterator[Result]:
    """The results of all checks; only the first one where the configuration does not load.

    Relative paths of the configuration start at `root`. Nothing is raised for what is wrong with the
    appliance.
    """
    try:
        examined = Examined(load_institution(config), root)
    except (ConfigError, OSError) as error:
        fix = "correct the file; nothing else can be looked at before"
        yield Result("configuration", str(config), Level.FAILED, str(error), fix)
        return
    found = examined.institution.configuration
    told = f"{len(found.catalog.actions)} actions, {len(found.registry.entries)} objects"
    yield Result("configuration", found.name, Level.OK, f"{told}, {len(found.rules.rules)} rules")
    for name, check in checks:
        try:
            yield from check(examined)
        except (RoutelockError, OSError) as error:
            yield from failed(name, "", error)
        except Exception as error:  # whatever a part raises, the others are still looked at
            told = f"{type(error).__name__}: {error}"
            yield Result(
                name, "", Level.FAILED, told, "build the part again; if it stays, report it"
            )
