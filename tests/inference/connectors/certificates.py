"""A certificate authority for one test, made with the openssl command."""

from __future__ import annotations

import subprocess
from pathlib import Path


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607


def make(folder: Path, name: str, address: str = "IP:127.0.0.1") -> Path:
    """An authority and a certificate of it in `folder/name`: ca.pem, own.pem, own.key."""
    made = folder / name
    made.mkdir()
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    _openssl(
        made,
        *("req", "-x509", *curve, "-subj", f"/CN={name} authority"),
        *("-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out", "ca.pem"),
    )
    _openssl(
        made,
        *("req", "-x509", *curve, "-subj", f"/CN={name}", "-CA", "ca.pem", "-CAkey", "ca.key"),
        *("-addext", f"subjectAltName={address}", "-addext", "basicConstraints=critical,CA:false"),
        *("-keyout", "own.key", "-out", "own.pem"),
    )
    return made
