"""Files of a configuration folder: read once, whole, as bytes whose SHA-256 the decisions name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gate.errors import ConfigError

YAML_BYTES = 8 * 2**20
"""Largest YAML file that is read."""

CSV_BYTES = 512 * 2**20
"""Largest CSV file that is read; a registry of a million rows has about 60 MB."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file as it was read: its name inside the folder, its path for messages, its bytes."""

    name: str
    path: str
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def text(self) -> str:
        """The bytes as UTF-8 without a byte order mark; ConfigError names the line that is not."""
        try:
            return self.data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise ConfigError(
                f"byte `0x{self.data[error.start]:02x}` is not UTF-8",
                file=self.path,
                line=line,
                fix="save the file as UTF-8",
            ) from error


def read(folder: Path, name: str, limit: int) -> Source:
    """The file `name` of `folder`; ConfigError if missing, unreadable or above `limit` bytes."""
    path = folder / name
    if not path.exists():
        raise ConfigError("file is missing", file=str(path), fix=f"add `{name}` to the folder")
    if not path.is_file():
        raise ConfigError("not a plain file", file=str(path), fix=f"put a file `{name}` there")
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise ConfigError(
            f"file cannot be read: {error.strerror}", file=str(path), fix="check its permissions"
        ) from error
    if len(data) > limit:
        raise ConfigError(
            f"file is larger than {limit} bytes", file=str(path), fix="split or shorten it"
        )
    return Source(name, str(path), data)


def read_if_present(folder: Path, name: str, limit: int) -> Source | None:
    """The file `name` of `folder`, or None if there is nothing of that name."""
    return read(folder, name, limit) if (folder / name).exists() else None


def digests(sources: Iterable[Source]) -> Mapping[str, str]:
    """SHA-256 by file name, in name order."""
    return MappingProxyType({s.name: s.digest for s in sorted(sources, key=lambda s: s.name)})
