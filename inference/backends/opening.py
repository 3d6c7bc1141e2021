"""From an entry of backends.yaml to the backend; none is asked anything before its first call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gate.load import backends as declared
from gate.load.backends import BackendEntry
from inference import artefacts
from inference.backends import Backend, Choice, form_of, recorded
from inference.backends.bounded import Bounded
from inference.backends.embedded import EmbeddedBackend
from inference.backends.guarded import GuardedBackend
from inference.backends.scripted import Script, ScriptedBackend
from inference.backends.server import ServerBackend
from inference.prompts import Prompt


def open_backend(entry: BackendEntry, root: Path) -> Backend:
    """The backend within its bounds, a server behind its hand-shake; paths start at `root`.

    Raises ArtefactError or AssemblyError for a model or cassette that cannot be used.
    """
    match entry.kind:
        case declared.VLLM | declared.OPENAI:
            return GuardedBackend(ServerBackend(entry, root))
        case declared.EMBEDDED:
            artefact = artefacts.read(root / entry.path)
            return Bounded(EmbeddedBackend(entry.name, artefact, root), entry.bounds)
        case declared.RECORDED:
            return recorded.load(entry.name, form_of(entry.form), root / entry.path)
        case _:
            return ScriptedBackend(_always(entry.says), entry.name, f"scripted:{entry.says}")


def open_serving(entry: BackendEntry, root: Path, folder: Path) -> Backend:
    """As `open_backend`, for serving and training: ConfigError for a hosted backend or a double."""
    declared.refuse_elsewhere(entry, folder)
    return open_backend(entry, root)


def _always(label: str) -> Script:
    """A script that is sure of one label."""

    def script(prompt: Prompt, codes: Sequence[str]) -> Choice:
        return Choice(tuple(float(code == label) for code in codes), label)

    return script
