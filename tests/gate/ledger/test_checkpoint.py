"""Signed checkpoints and the outside witness: made on first use, checked to the byte."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from gate.errors import LedgerError
from gate.ledger.checkpoint import (
    PURPOSE,
    Checkpoint,
    add_to_witness,
    as_json,
    faults,
    from_json,
    key_name,
    message,
    public_path,
    read_checkpoint,
    read_public_key,
    read_witness,
    sign,
    signing_key,
    signing_path,
)
from gate.ledger.store import Head
from tests.gate.ledger.samples import NOW

HEAD = Head(40, "ab" * 32)
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
SIGNED = sign(HEAD, NOW, KEY)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Where a ledger would be."""
    return tmp_path / "ledger.sqlite"


# Signatures


def test_a_signed_checkpoint_says_what_it_saw_when_and_by_which_key() -> None:
    assert SIGNED == Checkpoint(
        40,
        "ab" * 32,
        "2026-12-01T09:00:00.123456Z",
        key_name(KEY.public_key()),
        SIGNED.signature,
    )
    assert SIGNED.head == HEAD
    assert list(faults([SIGNED, SIGNED], KEY.public_key())) == []


def test_what_is_signed_is_the_purpose_and_canonical_json() -> None:
    assert message(HEAD, "now") == PURPOSE + (
        b'{"at":"now","digest":"' + b"ab" * 32 + b'","sequence":40}'
    )
    KEY.public_key().verify(
        bytes.fromhex(SIGNED.signature or ""), message(HEAD, "2026-12-01T09:00:00.123456Z")
    )


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"sequence": 41}, "checkpoint 41 has a signature that does not match"),
        ({"digest": "cd" * 32}, "checkpoint 40 has a signature that does not match"),
        ({"at": "2026-12-01T09:00:00.123457Z"}, "has a signature that does not match"),
        ({"signature": "00" * 64}, "has a signature that does not match"),
        ({"signature": "zz"}, "has a signature that does not match"),
        ({"signature": ""}, "has a signature that does not match"),
        ({"signature": None}, "checkpoint 40 is not signed"),
        ({"at": None}, "checkpoint 40 is not signed"),
        ({"key": "00" * 8}, "is signed with key `0000000000000000`, not with `"),
    ],
)
def test_a_changed_checkpoint_is_found(changes: dict[str, Any], fault: str) -> None:
    (found,) = faults([SIGNED, replace(SIGNED, **changes)], KEY.public_key())
    assert fault in found


def test_every_flipped_bit_of_a_signature_is_found() -> None:
    raw = bytes.fromhex(SIGNED.signature or "")
    for at in range(len(raw)):
        for bit in range(8):
            other = bytearray(raw)
            other[at] ^= 1 << bit
            changed = replace(SIGNED, signature=other.hex())
            assert list(faults([changed], KEY.public_key()))


def test_another_key_under_the_same_name_does_not_match() -> None:
    forged = replace(sign(HEAD, NOW, OTHER), key=key_name(KEY.public_key()))
    (found,) = faults([forged], KEY.public_key())
    assert "does not match" in found


def test_another_keys_checkpoint_is_named() -> None:
    (found,) = faults([sign(HEAD, NOW, OTHER)], KEY.public_key())
    assert found == (
        f"checkpoint 40 is signed with key `{key_name(OTHER.public_key())}`, "
        f"not with `{key_name(KEY.public_key())}`"
    )


def test_a_time_without_zone_is_not_signed() -> None:
    with pytest.raises(LedgerError, match="has no zone"):
        sign(HEAD, datetime(2026, 12, 1), KEY)


# Keys


def test_the_key_is_made_once_private_and_its_public_half_exported(ledger: Path) -> None:
    first = signing_key(ledger)
    assert signing_path(ledger).name == "ledger.signing.pem"
    assert stat.S_IMODE(signing_path(ledger).stat().st_mode) == 0o600
    assert public_path(ledger).name == "ledger.public.pem"
    assert stat.S_IMODE(public_path(ledger).stat().st_mode) == 0o644
    assert key_name(signing_key(ledger).public_key()) == key_name(first.public_key())
    assert key_name(read_public_key(public_path(ledger))) == key_name(first.public_key())
    assert sorted(p.name for p in ledger.parent.iterdir()) == [
        "ledger.public.pem",
        "ledger.signing.pem",
    ]


def test_two_ledgers_have_two_keys(tmp_path: Path) -> None:
    one, two = signing_key(tmp_path / "a.sqlite"), signing_key(tmp_path / "b.sqlite")
    assert key_name(one.public_key()) != key_name(two.public_key())


def test_a_public_key_that_is_gone_is_exported_again(ledger: Path) -> None:
    key = signing_key(ledger)
    public_path(ledger).unlink()
    signing_key(ledger)
    assert key_name(read_public_key(public_path(ledger))) == key_name(key.public_key())


def test_a_public_key_of_another_is_not_taken(ledger: Path) -> None:
    signing_key(ledger)
    text = OTHER.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    public_path(ledger).write_bytes(text)
    with pytest.raises(LedgerError, match="is not that of the signing key; move it away"):
        signing_key(ledger)


def test_a_key_that_others_may_read_is_refused(ledger: Path) -> None:
    signing_key(ledger)
    signing_path(ledger).chmod(0o640)
    with pytest.raises(LedgerError, match="has mode `0640`; run chmod 600 on it"):
        signing_key(ledger)


@pytest.mark.parametrize("content", [b"", b"key", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_damaged_key_is_named(ledger: Path, content: bytes) -> None:
    signing_key(ledger)
    signing_path(ledger).write_bytes(content)
    with pytest.raises(LedgerError, match=r"ledger\.signing\.pem` is damaged; restore it"):
        signing_key(ledger)
    public_path(ledger).write_bytes(content)
    with pytest.raises(LedgerError, match=r"ledger\.public\.pem` is damaged; export it again"):
        read_public_key(public_path(ledger))


def test_a_key_of_another_kind_is_named(ledger: Path) -> None:
    signing_key(ledger)
    key = generate_private_key(SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    signing_path(ledger).write_bytes(private)
    with pytest.raises(LedgerError, match="is no Ed25519 key; restore it"):
        signing_key(ledger)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    public_path(ledger).write_bytes(public)
    with pytest.raises(LedgerError, match="is no Ed25519 key; export it again"):
        read_public_key(public_path(ledger))


def test_a_missing_public_key_is_named(ledger: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist; give the one that was exported"):
        read_public_key(public_path(ledger))


def test_a_folder_in_place_of_the_key_is_a_ledger_error(ledger: Path) -> None:
    signing_path(ledger).mkdir()
    with pytest.raises(LedgerError, match=r"signing\.pem` cannot be used"):
        signing_key(ledger)


def test_another_program_can_check_the_signature(ledger: Path, tmp_path: Path) -> None:
    """OpenSSL knows nothing of us but the exported key and the message."""
    openssl = shutil.which("openssl")
    assert openssl is not None
    one = sign(HEAD, NOW, signing_key(ledger))
    (tmp_path / "message").write_bytes(message(HEAD, one.at or ""))
    (tmp_path / "signature").write_bytes(bytes.fromhex(one.signature or ""))
    done = subprocess.run(  # noqa: S603
        [
            *(openssl, "pkeyutl", "-verify", "-pubin", "-rawin"),
            *("-inkey", str(public_path(ledger))),
            *("-in", str(tmp_path / "message"), "-sigfile", str(tmp_path / "signature")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Signature Verified Successfully" in done.stdout, done.stderr


# Files


def test_a_checkpoint_comes_back_from_its_json(tmp_path: Path) -> None:
    path = tmp_path / "cp.json"
    for one in (SIGNED, Checkpoint(40, "ab" * 32), Checkpoint(0, "0" * 64)):
        path.write_text(json.dumps(as_json(one)))
        assert read_checkpoint(path) == one
    assert as_json(Checkpoint(40, "ab" * 32)) == {"sequence": 40, "digest": "ab" * 32}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        1,
        {},
        {"sequence": 1},
        {"sequence": "1", "digest": "ab" * 32},
        {"sequence": True, "digest": "ab" * 32},
        {"sequence": -1, "digest": "ab" * 32},
        {"sequence": 1.0, "digest": "ab" * 32},
        {"sequence": 1, "digest": "ab"},
        {"sequence": 1, "digest": 7},
        {"sequence": 1, "digest": "AB" * 32},
        {**as_json(SIGNED), "more": "x"},
        {**as_json(SIGNED), "signature": None},
        {k: v for k, v in as_json(SIGNED).items() if k != "at"},
    ],
    ids=str,
)
def test_what_is_no_checkpoint_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"^here is no checkpoint; export one with"):
        from_json(value, "here")
    path = tmp_path / "cp.json"
    path.write_text(json.dumps(value))
    with pytest.raises(LedgerError, match=r"cp\.json` is no checkpoint"):
        read_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_a_file_that_is_no_json_is_no_checkpoint(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cp.json"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"cp\.json` is "):
        read_checkpoint(path)
    with pytest.raises(LedgerError, match=r"none\.json` cannot be used"):
        read_checkpoint(tmp_path / "none.json")


def chain(*sequences: int) -> list[Checkpoint]:
    """Signed checkpoints, an hour apart."""
    return [
        sign(Head(n, f"{n:064x}"), NOW + timedelta(hours=place), KEY)
        for place, n in enumerate(sequences)
    ]


def test_a_witness_keeps_every_checkpoint_in_order(tmp_path: Path) -> None:
    path = tmp_path / "far" / "away" / "witness.jsonl"
    ones = chain(0, 3, 3, 40, 1000)
    for one in ones:
        add_to_witness(path, one)
    assert read_witness(path) == ones
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        as_json(one) for one in ones
    ]


def test_a_witness_is_only_ever_added_to(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    before = b""
    for one in chain(1, 2, 3):
        add_to_witness(path, one)
        assert path.read_bytes().startswith(before)
        before = path.read_bytes()


def test_a_witness_refuses_a_ledger_that_was_cut_or_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    three, forty = chain(3, 40)
    add_to_witness(path, three)
    add_to_witness(path, forty)
    with pytest.raises(LedgerError, match=r"the ledger ends at 3; the witness .* saw 40"):
        add_to_witness(path, three)
    other = replace(forty, digest="cd" * 32)
    with pytest.raises(LedgerError, match=r"record 40 has digest `cd.*saw `0"):
        add_to_witness(path, other)
    assert read_witness(path) == [three, forty]


def test_a_line_that_a_crash_cut_short_is_left_out_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    three, forty = chain(3, 40)
    add_to_witness(path, three)
    whole = path.read_bytes()
    for cut in range(1, len(whole) - 1):
        path.write_bytes(whole + whole[:cut])
        assert read_witness(path) == [three]
        add_to_witness(path, forty)
        assert read_witness(path) == [three, forty]
        assert path.read_bytes().startswith(whole + whole[:cut] + b"\n")


def test_a_line_that_only_lacks_its_end_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    three, forty = chain(3, 40)
    path.write_text(json.dumps(as_json(three)))
    assert read_witness(path) == [three]
    add_to_witness(path, forty)
    assert read_witness(path) == [three, forty]


def test_an_empty_witness_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    path.write_bytes(b"")
    assert read_witness(path) == []
    add_to_witness(path, SIGNED)
    assert read_witness(path) == [SIGNED]


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "witness.jsonl"
    add_to_witness(path, SIGNED)
    with path.open("a") as file:
        file.write('{"sequence": 41}\n')
    with pytest.raises(LedgerError, match=r"witness\.jsonl` line 2 is no checkpoint"):
        read_witness(path)
    with pytest.raises(LedgerError, match="line 2 is no checkpoint"):
        add_to_witness(path, SIGNED)


def test_a_witness_that_cannot_be_written_is_a_ledger_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LedgerError, match="cannot be used"):
        add_to_witness(tmp_path / "file" / "witness.jsonl", SIGNED)
    with pytest.raises(LedgerError, match="cannot be used"):
        read_witness(tmp_path / "none")


def test_times_of_any_zone_are_signed_in_utc() -> None:
    assert sign(HEAD, NOW.astimezone(UTC), KEY) == SIGNED
