"""Keyed digests, salts and the appliance key file."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.errors import LedgerError
from gate.ledger.pseudonym import (
    create_key,
    digest,
    key_path,
    keyed,
    new_salt,
    publish,
    read_key,
)


def test_digest_is_what_sha256sum_prints() -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_keyed_depends_on_key_purpose_and_value() -> None:
    digests = {
        keyed(b"k" * 32, "subject", "C-1"),
        keyed(b"j" * 32, "subject", "C-1"),
        keyed(b"k" * 32, "value", "C-1"),
        keyed(b"k" * 32, "subject", "C-2"),
    }
    assert len(digests) == 4
    assert keyed(b"k" * 32, "subject", "C-1") in digests


def test_purpose_and_value_do_not_run_together() -> None:
    assert keyed(b"k", "ab", "c") != keyed(b"k", "a", "bc")


def test_salts_are_fresh() -> None:
    salts = {new_salt() for _ in range(100)}
    assert len(salts) == 100
    assert {len(salt) for salt in salts} == {32}


def test_the_key_lies_beside_the_ledger() -> None:
    assert key_path(Path("var/demo/ledger.sqlite")) == Path("var/demo/ledger.key")


def test_the_key_is_private_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "ledger.key"
    key = create_key(path)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert create_key(path) == key == read_key(path)
    assert [p.name for p in path.parent.iterdir()] == ["ledger.key"]


def test_many_first_users_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(create_key, [tmp_path / "ledger.key"] * 64))
    assert len(keys) == 1


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"ledger\.key` cannot be read.*restore it"):
        read_key(tmp_path / "ledger.key")


@pytest.mark.parametrize("text", ["", "zz" * 32, "ab" * 31, "ab" * 33])
def test_a_damaged_key_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ledger.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="is not 32 bytes in hex"):
        read_key(path)


def test_a_key_that_is_not_ascii_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.key"
    path.write_bytes(b"\xff" * 64)
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="cannot be read"):
        read_key(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "ledger.key"
    create_key(path)
    path.chmod(mode)
    with pytest.raises(LedgerError, match=f"has mode `{mode:04o}`; run chmod 600"):
        read_key(path)


def test_a_key_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        create_key(tmp_path / "file" / "ledger.key")


def test_publish_leaves_a_taken_name_alone(tmp_path: Path) -> None:
    (tmp_path / "name").write_text("first")
    (tmp_path / "draft").write_text("second")
    publish(tmp_path / "draft", tmp_path / "name")
    assert (tmp_path / "name").read_text() == "first"
    assert not (tmp_path / "draft").exists()
