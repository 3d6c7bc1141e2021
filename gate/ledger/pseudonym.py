"""Keyed digests that stand for a person's values, and the appliance key that some of them need.

Two keys, two purposes. The appliance key gives one subject the same pseudonym in every record. The
salt of one record hides its own objects and commits to its text; erasing the salt makes both
unguessable for good.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from gate.errors import LedgerError
from gate.ledger.encode import Json, canonical_plain

BYTES = 32


def digest(data: bytes) -> str:
    """SHA-256 of `data` in hex, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()


def keyed(key: bytes, purpose: str, value: Json) -> str:
    """HMAC-SHA-256 in hex of a purpose and a plain value; no two purposes share a digest."""
    return hmac.digest(key, canonical_plain([purpose, value]), "sha256").hex()


def new_salt() -> bytes:
    """32 random bytes for one record."""
    return secrets.token_bytes(BYTES)


def key_path(ledger: Path) -> Path:
    """Where the appliance key of a ledger lies: beside it, `ledger.sqlite` -> `ledger.key`."""
    return ledger.with_suffix(".key")


def read_key(path: Path) -> bytes:
    """The appliance key; LedgerError if it is missing, unreadable to us, damaged or not private."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"appliance key `{path}` cannot be read: {error}; restore it") from error
    if mode & 0o077:
        raise LedgerError(f"appliance key `{path}` has mode `{mode:04o}`; run chmod 600 on it")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise LedgerError(f"appliance key `{path}` is not {BYTES} bytes in hex; restore it")
    return key


def create_key(path: Path) -> bytes:
    """The appliance key, made with mode 0600 if there is none; two processes get the same one."""
    try:
        create_private(path, secrets.token_hex(BYTES) + "\n")
    except OSError as error:
        raise LedgerError(f"appliance key `{path}` cannot be written: {error}") from error
    return read_key(path)


def create_private(path: Path, text: str) -> None:
    """Make a file with mode 0600, whole and durable under its name; one that exists stays."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    publish(draft, path)


def publish(draft: Path, path: Path) -> None:
    """Give a finished file its name unless the name is taken; the name is durable on return."""
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    flush_folder(path.parent)


def flush_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
