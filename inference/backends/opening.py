"""From an entry of backends.yaml to the backend; none is asked anything before its first call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gate.load import backends as declared
from gate.load.backends import BackendEntry
from gate.load.institution import Institution
from inference import artefacts
from inference.backends import Backend, Choice, recorded
from inference.backends.approvals import FILE, Approvals
from inference.backends.bounded import Bounded
from inference.backends.embedded import EmbeddedBackend
from inference.backends.guarded import GuardedBackend
from inference.backends.scripted import Script, ScriptedBackend
from inference.backends.server import ServerBackend
from inference.prompts import Prompt


def open_backend(entry: BackendEntry, root: Path, approvals: Approvals | None = None) -> Backend:
    """The backend within its bounds, a server behind its hand-shake; paths start at `root`.

    Raises ArtefactError or AssemblyError for a model or cassette that cannot be used.
    """
    match entry.kind:
        case declared.VLLM | declared.OPENAI:
            return GuardedBackend(ServerBackend(entry, root), approvals=approvals)
        case declared.EMBEDDED:
            artefact = artefacts.read(root / entry.path)
            return Bounded(EmbeddedBackend(entry.name, artefact, root), entry.bounds)
        case declared.RECORDED:
            return recorded.load(entry.name, root / entry.path)
        case _:
            return ScriptedBackend(_always(entry.says), entry.name, f"scripted:{entry.says}")


def open_serving(entry: BackendEntry, root: Path, institution: Institution) -> Backend:
    """As `open_backend`, for serving and training: ConfigError for a hosted backend or a double.

    Which identity was let through last is kept beside the ledger.
    """
    declared.refuse_elsewhere(entry, institution.folder)
    return open_backend(entry, root, Approvals(approvals_of(institution, root)))


def approvals_of(institution: Institution, root: Path) -> Path:
    """Where it is kept which identity of each backend was let through."""
    return (root / institution.appliance.paths.ledger).parent / FILE


def _always(label: str) -> Script:
    """A script that is sure of one label."""

    def script(prompt: Prompt, codes: Sequence[str]) -> Choice:
        return Choice(tuple(float(code == label) for code in codes), label)

    return script
