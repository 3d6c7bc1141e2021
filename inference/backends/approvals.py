"""Which identity of a backend was last let through; another one waits for a regression run.

One JSON file beside the ledger. The first identity of a backend is let through as it is: it stands
in the accepted list, and there is nothing to compare it with. A later one is queued and blocks use
until `approve` is given a run on the regression slice that it passed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from inference.errors import AssemblyError

FILE: Final = "backends.json"
UNPROVEN: Final = "identity_unproven"
SPLIT: Final = "MAIN"
"""The slice of a suite that a new identity has to pass."""


class Approvals:
    """The file at `path`; absent, nothing was let through yet."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def blocks(self, backend: str, identity: str) -> str:
        """Why an identity may not be used, or nothing; a new one is queued."""
        known = self._read().get(backend)
        if known is None:
            self._write(backend, {"identity": identity, "queued": None, "run": None})
            return ""
        if known["identity"] == identity:
            return ""
        if known["queued"] != identity:
            self._write(backend, {**known, "queued": identity})
        return (
            f"{UNPROVEN}: it was `{known['identity']}` and is `{identity}` now; run the {SPLIT} "
            f"slice with `routelock bench run`, then `routelock models approve {backend}`"
        )

    def approve(self, backend: str, metrics: Mapping[str, Any], digest: str) -> str:
        """Let the queued identity through on its run's `metrics.json`; AssemblyError if it did not pass.

        The run must be of this backend, hold cases of the slice, and have no false dispatch in it.
        Returns the identity.
        """
        known = self._read().get(backend)
        if known is None or known["queued"] is None:
            raise AssemblyError(f"no identity of `{backend}` waits for a regression run")
        queued = str(known["queued"])
        model = queued.split(" ")[0]
        ran = str(metrics.get("run", {}).get("backend", ""))
        if model not in ran:
            raise AssemblyError(f"the run is of `{ran}`, not of `{model}`; run the slice with it")
        found = metrics.get("by_split", {}).get(SPLIT)
        if not isinstance(found, Mapping) or not found.get("cases"):
            raise AssemblyError(
                f"the run holds no cases of the slice {SPLIT}; run all of the suite"
            )
        wrong = found["false_dispatch"]["count"]
        if wrong:
            raise AssemblyError(
                f"the run has {wrong} false dispatches in {SPLIT}; keep the earlier model"
            )
        self._write(backend, {"identity": queued, "queued": None, "run": digest})
        return queued

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise AssemblyError(f"`{self._path}` cannot be read: {error}; restore it") from error
        if not isinstance(value, dict):
            raise AssemblyError(f"`{self._path}` holds no JSON object; restore it")
        return value

    def _write(self, backend: str, entry: Mapping[str, Any]) -> None:
        value = {**self._read(), backend: dict(entry)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(fresh, self._path)
