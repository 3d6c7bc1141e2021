"""Where a chain ended, signed with a local Ed25519 key, and the outside witness that keeps it.

A checkpoint that lies where nobody who can write the ledger can write shows a cut tail or a rewrite
of everything. The signature shows that the checkpoint itself is ours; it is made over `message` with
Ed25519 (RFC 8032), so that other programs can check it with the exported public key.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from gate.errors import LedgerError
from gate.ledger.database import named_errors
from gate.ledger.encode import canonical, instant
from gate.ledger.pseudonym import create_private, flush_folder
from gate.ledger.record import DIGEST
from gate.ledger.segment import Head

PURPOSE = b"routelock ledger checkpoint\n"
"""Stands before what is signed, so that no other use of the key makes a checkpoint."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last record that a chain had; `key` names the public key that `signature` needs.

    The last three are None in a checkpoint that is not signed.
    """

    sequence: int
    digest: str
    at: str | None = None
    key: str | None = None
    signature: str | None = None

    @property
    def head(self) -> Head:
        """What the chain must still hold."""
        return Head(self.sequence, self.digest)


def message(head: Head, at: str) -> bytes:
    """The bytes that are signed: the purpose, and RFC 8785 JSON of where and when."""
    return PURPOSE + canonical({"at": at, "digest": head.digest, "sequence": head.sequence})


def sign(head: Head, at: datetime, key: Ed25519PrivateKey) -> Checkpoint:
    """A signed checkpoint; `at` is aware."""
    moment = instant(at)
    signature = key.sign(message(head, moment)).hex()
    return Checkpoint(head.sequence, head.digest, moment, key_name(key.public_key()), signature)


def key_name(key: Ed25519PublicKey) -> str:
    """The first 16 hex digits of SHA-256 over a public key's 32 bytes."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def faults(checkpoints: Sequence[Checkpoint], key: Ed25519PublicKey) -> Iterator[str]:
    """Which checkpoints are not signed with `key`, in words."""
    for one in checkpoints:
        name = f"checkpoint {one.sequence}"
        if one.at is None or one.signature is None:
            yield f"{name} is not signed"
        elif one.key != key_name(key):
            yield f"{name} is signed with key `{one.key}`, not with `{key_name(key)}`"
        elif not _signed(one, one.at, one.signature, key):
            yield f"{name} has a signature that does not match"


def _signed(one: Checkpoint, at: str, signature: str, key: Ed25519PublicKey) -> bool:
    try:
        key.verify(bytes.fromhex(signature), message(one.head, at))
    except (InvalidSignature, ValueError):
        return False
    return True


# ---- keys ----------------------------------------------------------------------------------------


def signing_path(ledger: Path) -> Path:
    """Where the signing key of a ledger lies: `ledger.sqlite` -> `ledger.signing.pem`."""
    return ledger.with_suffix(".signing.pem")


def public_path(ledger: Path) -> Path:
    """Where its public key is exported to: `ledger.sqlite` -> `ledger.public.pem`."""
    return ledger.with_suffix(".public.pem")


def signing_key(ledger: Path) -> Ed25519PrivateKey:
    """The signing key of a ledger, made with mode 0600 on first use, its public key exported.

    LedgerError if a key file is damaged, not private, or not the other's.
    """
    private, public = signing_path(ledger), public_path(ledger)
    with named_errors(private):
        if not private.exists():
            create_private(private, _pem(Ed25519PrivateKey.generate()))
        mode = stat.S_IMODE(private.stat().st_mode)
        data = private.read_bytes()
    if mode & 0o077:
        raise LedgerError(f"signing key `{private}` has mode `{mode:04o}`; run chmod 600 on it")
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise LedgerError(f"signing key `{private}` is damaged; restore it") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerError(f"signing key `{private}` is no Ed25519 key; restore it")
    _export(key.public_key(), public)
    return key


def _export(key: Ed25519PublicKey, path: Path) -> None:
    if not path.exists():
        text = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        with named_errors(path):
            create_private(path, text)
            path.chmod(0o644)
    if key_name(read_public_key(path)) != key_name(key):
        raise LedgerError(f"public key `{path}` is not that of the signing key; move it away")


def _pem(key: Ed25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def read_public_key(path: Path) -> Ed25519PublicKey:
    """An exported public key; LedgerError if it is missing, or no Ed25519 key in PEM."""
    if not path.exists():
        raise LedgerError(f"public key `{path}` does not exist; give the one that was exported")
    with named_errors(path):
        data = path.read_bytes()
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise LedgerError(f"public key `{path}` is damaged; export it again") from error
    if not isinstance(key, Ed25519PublicKey):
        raise LedgerError(f"public key `{path}` is no Ed25519 key; export it again")
    return key


# ---- as JSON, and in a witness -------------------------------------------------------------------


def as_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """The fields that a checkpoint has."""
    return {name: value for name, value in asdict(checkpoint).items() if value is not None}


def from_json(value: object, where: str) -> Checkpoint:
    """The checkpoint that `as_json` wrote; LedgerError for anything else, naming `where`."""
    fields = {"sequence", "digest"}
    if isinstance(value, Mapping) and value.keys() in (fields, fields | {"at", "key", "signature"}):
        texts = [text for name, text in value.items() if name != "sequence"]
        sequence = value["sequence"]
        sound = type(sequence) is int and sequence >= 0 and all(type(t) is str for t in texts)
        if sound and DIGEST.fullmatch(value["digest"]):
            return Checkpoint(**value)
    raise LedgerError(f"{where} is no checkpoint; export one with `routelock ledger checkpoint`")


def read_checkpoint(path: Path) -> Checkpoint:
    """An exported checkpoint; LedgerError if the file is missing or holds something else."""
    with named_errors(path):
        text = path.read_text(encoding="utf-8")
    return from_json(_parsed(text), f"`{path}`")


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def read_witness(path: Path) -> list[Checkpoint]:
    """The checkpoints of a witness file, in order; lines that a crash cut short are left out.

    LedgerError if the file is missing, or if a whole line is no checkpoint.
    """
    with named_errors(path):
        lines = path.read_text(encoding="utf-8").split("\n")
    values = [(number, _parsed(line)) for number, line in enumerate(lines, 1)]
    return [from_json(v, f"`{path}` line {number}") for number, v in values if v is not None]


def add_to_witness(path: Path, checkpoint: Checkpoint) -> None:
    """Append a checkpoint to a witness file, made on first use; durable on return.

    LedgerError if the witness has seen more of the chain, or another record at its end: then the
    ledger was cut or rewritten, and nothing is appended.
    """
    seen = read_witness(path) if path.exists() else []
    last = max(seen, key=lambda one: one.sequence, default=Checkpoint(0, ""))
    if last.sequence > checkpoint.sequence:
        raise LedgerError(
            f"the ledger ends at {checkpoint.sequence}; the witness `{path}` saw {last.sequence}"
        )
    if last.sequence == checkpoint.sequence and last.digest not in ("", checkpoint.digest):
        raise LedgerError(
            f"record {last.sequence} has digest `{checkpoint.digest}`; the witness `{path}` saw "
            f"`{last.digest}`"
        )
    line = json.dumps(as_json(checkpoint)).encode() + b"\n"
    with named_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
        with path.open("ab", buffering=0) as file:
            file.write(line if whole else b"\n" + line)
            os.fsync(file.fileno())
        flush_folder(path.parent)
