"""`backends.yaml`: models run on this machine or inside the house, and every bound is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.errors import ConfigError
from gate.load import backends, digests, load_institution
from gate.load.backends import BackendEntry, Bounds, Prices
from gate.load.yamlfile import parse
from tests.gate.load.folders import APPLIANCE, MINIMAL
from tests.gate.load.folders import write as write_files

LOCAL = """\
schema_version: 1
internal: [10.20.0.0/16]
backends:
  - name: local
    kind: vllm
    url: http://127.0.0.1:8000
    model: smollm2
"""
VENDOR = """\
schema_version: 1
backends:
  - name: vendor
    kind: openai
    url: https://api.example.com/v1
    hosted: true
    model: large
    prices: {as_of: "2026-11-30", input_per_million: "0.5", output_per_million: 2}
"""


def read(folder: Path, text: str) -> backends.Backends:
    (folder / backends.FILE).write_text(text, encoding="utf-8")
    return backends.read(parse(digests.read(folder, backends.FILE, digests.YAML_BYTES)))


def test_local_server_is_constrained_by_default(tmp_path: Path) -> None:
    assert read(tmp_path, LOCAL) == {
        "local": BackendEntry(
            "local", "vllm", "http://127.0.0.1:8000", model="smollm2", identities=("smollm2",),
            form="codes", constraint="structured_outputs", bounds=Bounds(),
        )
    }  # fmt: skip


def test_hosted_server_is_asked_for_json_and_need_prove_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, VENDOR)["vendor"]
    assert (found.form, found.constraint, found.require_constrained) == (
        "json",
        "json_schema",
        False,
    )
    assert found.prices is not None
    assert isinstance(found.prices, Prices)
    assert str(found.prices.output_per_million) == "2"


@pytest.mark.parametrize(
    "url",
    [
        "unix:/run/vllm.sock",
        "unix:var/vllm.sock",
        "http://[::1]:8000",
        "https://10.20.3.4:8443\n    ca_file: ca.pem",
    ],
)
def test_addresses_of_this_machine_and_of_the_house(tmp_path: Path, url: str) -> None:
    assert read(tmp_path, LOCAL.replace("http://127.0.0.1:8000", url))["local"].url


def test_kinds_without_a_server(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "schema_version: 1\nbackends:\n"
        "  - {name: a, kind: embedded, path: var/models/x}\n"
        "  - {name: b, kind: recorded, path: cassette.jsonl}\n"
        "  - {name: c, kind: scripted, says: Fees}\n",
    )
    assert [(e.kind, e.form, e.constraint) for e in found.values()] == [
        ("embedded", "names", ""),
        ("recorded", "names", ""),
        ("scripted", "names", ""),
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem", "fix"),
    [
        ("http://127.0.0.1:8000", "http://8.8.8.8:80", "neither loopback nor", "hosted: true"),
        ("http://127.0.0.1:8000", "http://10.20.0.1:80", "plain http leaves", "https"),
        ("http://127.0.0.1:8000", "https://10.20.0.1:80", "without `ca_file`", "add `ca_file:`"),
        ("http://127.0.0.1:8000", "http://vllm.internal:80", "no IP address", "address"),
        ("http://127.0.0.1:8000", "file:///etc/passwd", "no plain http address", "write"),
        ("http://127.0.0.1:8000", "unix:/run/a?b", "names no socket", "unix:/run"),
        ("10.20.0.0/16", "8.0.0.0/8", "not an internal one", "private"),
        ("kind: vllm", "kind: vlm", "`kind` is `vlm`", "`vllm`?"),
        ("model: smollm2", "modle: smollm2", "unknown key `modle`", "`model`?"),
        ("    model: smollm2\n", "", "has no `model`", "add `model:`"),
        ("model: smollm2", "model: m\n    says: x", "nothing for the kind `vllm`", "remove it"),
        ("model: smollm2", "model: m\n    constraint: json_schema", "does not fit", "use one of"),
        ("model: smollm2", "model: m\n    deadline_s: 0", "`deadline_s` is `0`", "correct"),
        ("model: smollm2", "model: m\n  - {name: local, kind: recorded, path: x}", "twice", "rename"),
        ("http://127.0.0.1:8000", "http://127.0.0.1\n    hosted: true", "no https address", "https://"),
    ],
)  # fmt: skip
def test_refusal_names_the_fault(
    tmp_path: Path, old: str, new: str, problem: str, fix: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, LOCAL.replace(old, new))
    assert problem in str(caught.value)
    assert fix in str(caught.value)
    assert f"{backends.FILE}:" in str(caught.value)


TIERED = APPLIANCE.replace(
    "{name: fast, kind: setfit, model: var/models/fast, ",
    "{name: llm, kind: proposer, backend: local, ",
)


def folder(tmp_path: Path, appliance: str, file: str | None) -> Path:
    files = {**MINIMAL, "appliance.yaml": appliance}
    if file is not None:
        files[backends.FILE] = file
    return write_files(tmp_path, files)


def test_tier_names_its_backend(tmp_path: Path) -> None:
    found = load_institution(folder(tmp_path, TIERED, LOCAL))
    assert found.appliance.tiers[1].backend == "local"
    assert found.backends["local"].model == "smollm2"
    assert "backends.yaml" in found.configuration.digests


@pytest.mark.parametrize(
    ("appliance", "file", "problem"),
    [
        (TIERED, None, "which is not declared"),
        (TIERED.replace("local", "lokal"), LOCAL, "did you mean `local`?"),
        (TIERED.replace("backend: local, ", ""), LOCAL, "has no `backend`"),
        (TIERED.replace("kind: proposer", "kind: setfit"), LOCAL, "has a `backend`"),
    ],
)
def test_tier_and_backend_must_agree(
    tmp_path: Path, appliance: str, file: str | None, problem: str
) -> None:
    with pytest.raises(ConfigError, match=r"appliance\.yaml") as caught:
        load_institution(folder(tmp_path, appliance, file))
    assert problem in str(caught.value)


def test_vendor_and_double_may_not_serve(tmp_path: Path) -> None:
    local = read(tmp_path, LOCAL)["local"]
    backends.refuse_elsewhere(local, tmp_path)
    vendor = read(tmp_path, VENDOR)["vendor"]
    double = BackendEntry("double", "scripted", says="x")
    for entry, what in ((vendor, "hosted by a vendor"), (double, "a test double")):
        with pytest.raises(ConfigError, match=what):
            backends.refuse_elsewhere(entry, tmp_path)
