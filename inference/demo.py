"""The demo institution's records database: invented rows, always the same."""

from __future__ import annotations

import csv
from importlib.metadata import version
from pathlib import Path

from gate.load import Institution
from inference import stores
from inference.artefacts import sha256
from sqlpath import demo_data
from sqlpath.execute import Snapshot


def database_inputs(institution: Institution) -> dict[str, str]:
    """Digests of everything that the database is made from."""
    return {
        "code": sha256(Path(str(demo_data.__file__))),
        "registry.csv": sha256(institution.folder / "registry.csv"),
        "duckdb": version("duckdb"),
    }


def build_database(institution: Institution, path: Path) -> Snapshot:
    """Build and seal the database at `path`, prices for every fund of the registry."""
    with (institution.folder / "registry.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return stores.seal_database(
        path,
        lambda fresh: demo_data.build(fresh, rows),
        demo_data.LAST_DAY,
        database_inputs(institution),
    )
