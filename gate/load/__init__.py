"""Configuration files in, `gate.configuration.Configuration` out."""

from __future__ import annotations

from pathlib import Path

from gate.configuration import Configuration
from gate.errors import ConfigError
from gate.load import institution, routebr
from gate.load.institution import Institution

__all__ = ["Institution", "load", "load_institution"]


def load(folder: Path, *, bench: bool = False) -> Configuration:
    """The configuration in `folder`; ConfigError with file, line and fix for the first thing wrong.

    A folder has `appliance.yaml` and `catalog.yaml`, or the RouteBR artifact's three CSV files.
    `bench` accepts actions without a mode: for benchmarks, the `gate` commands and tests, never
    for serving.
    """
    return load_institution(folder, bench=bench).configuration


def load_institution(folder: Path, *, bench: bool = False) -> Institution:
    """As `load`, with what tiers and pathways need besides: phrases, queries, documents, paths."""
    if not folder.is_dir():
        raise ConfigError("no such folder", file=str(folder), fix="name an institution's folder")
    if routebr.is_artifact(folder):
        return routebr.load(folder, bench=bench)
    return institution.load(folder, bench=bench)
