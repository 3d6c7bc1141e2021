"""`connectors.yaml`: loads whole, or is refused with file, line and fix."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gate.catalog import Catalog
from gate.errors import ConfigError
from gate.load import load
from gate.load.connectors import (
    EMPTY,
    Connectors,
    moved,
    moved_state,
    refuse_uncovered,
    uncovered,
)
from gate.load.schema import schema
from gate.load.services import Service, Tls, service_fault
from tests.gate.load.folders import GOOD, write
from tests.inference.connectors.offices import DEMO, parsed

FILE = """\
schema_version: 1
connectors:
  - name: core
    kind: http
    url: https://10.20.0.7:8443/orders
    secret_file: var/core.key
    internal: [10.20.0.0/16]
    settle_s: 7.5
    tls:
      ca_file: tls/ca.pem
      certificate_file: tls/own.pem
      key_file: tls/own.key
      server_name: core.bank.test
  - name: desk
    kind: outbox
    file: var/outbox.sqlite
    through: mainframe
  - name: mainframe
    kind: plugin
    plugin: acme
    settings: {queue: ORDERS, depth: 3}
actions:
  FREEZE: {connector: core, deadline_s: 5, valid_for_s: 30}
record_only: []
state:
  url: http://127.0.0.1:8800
  secret_file: var/state.key
  deadline_s: 1.5
  body_bytes: 4096
"""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return load(write(tmp_path_factory.mktemp("folder"), GOOD)).catalog


def test_whole_file_is_read(catalog: Catalog) -> None:
    found = parsed(FILE, catalog)
    core, desk, mainframe = found.entries.values()
    assert core.service == Service(
        "https://10.20.0.7:8443/orders",
        "var/core.key",
        Tls("tls/ca.pem", "tls/own.pem", "tls/own.key", "core.bank.test"),
        ("10.20.0.0/16",),
    )
    assert (core.settle_s, desk.settle_s) == (7.5, 5.0)
    assert (desk.file, desk.through, desk.service) == ("var/outbox.sqlite", "mainframe", None)
    assert (mainframe.plugin, dict(mainframe.settings)) == ("acme", {"queue": "ORDERS", "depth": 3})
    assert (found.assignments["FREEZE"].connector, found.assignments["FREEZE"].deadline_s) == (
        "core",
        5.0,
    )
    assert found.state is not None
    assert (found.state.deadline_s, found.state.body_bytes) == (1.5, 4096)


def test_file_and_demo_fit_their_schema() -> None:
    for text in (FILE, (DEMO / "connectors.yaml").read_text()):
        jsonschema.validate(yaml.safe_load(text), schema("connectors"))


def test_demo_covers_every_write() -> None:
    catalog = load(DEMO).catalog
    found = parsed((DEMO / "connectors.yaml").read_text(), catalog)
    assert uncovered(found, catalog) == ()
    refuse_uncovered(found, catalog, DEMO)


def test_uncovered_writes_are_named_in_file_order(catalog: Catalog) -> None:
    assert uncovered(EMPTY, catalog) == ("FREEZE",)
    assert uncovered(Connectors(record_only=("FREEZE",)), catalog) == ()
    with pytest.raises(ConfigError, match=r"folder/connectors.yaml: .*`FREEZE`.*record_only"):
        refuse_uncovered(EMPTY, catalog, Path("folder"))


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        ("kind: http", "kind: https", "`kind` is `https`", 4),
        ("    settle_s", "    setle_s", "unknown key `setle_s`", 8),
        ("settle_s: 7.5", "settle_s: 601", "`settle_s` is `601`", 8),
        ("settle_s: 7.5", "file: x", "`file` is nothing for the kind `http`", 8),
        ("    through: mainframe\n", "", "of the kind `outbox` has no `through`", 14),
        ("through: mainframe", "through: mainfram", "delivers through `mainfram`", 17),
        ("through: mainframe", "through: desk", "which reaches nothing", 17),
        ("through: mainframe", "through: core\n    url: http://127.0.0.1", "`url` is nothing", 18),
        ("    plugin: acme\n", "", "has no `plugin`", 18),
        ("name: desk", "name: core", "`core` is listed twice", 14),
        ("  FREEZE:", "  FREZE:", "unknown action `FREZE`", 23),
        ("  FREEZE:", "  FEES:", "is no write", 23),
        ("{connector: core,", "{connector: cor,", "`cor` is not declared", 23),
        ("deadline_s: 5", "deadline_s: 0", "`deadline_s` is `0`", 23),
        ("deadline_s: 5", "deadline_s: 121", "`deadline_s` is `121`", 23),
        ("valid_for_s: 30", "valid_for_s: 4", "less than the deadline", 23),
        ("valid_for_s: 30", "valid_for_s: 30, retries: 3", "unknown key `retries`", 23),
        (", valid_for_s: 30", "", "`valid_for_s` is missing", 23),
        ("record_only: []", "record_only: [FREEZE]", "`FREEZE` is listed twice", 24),
        ("record_only: []", "record_only: [FEES]", "is no write", 24),
        ("deadline_s: 1.5", "deadline_s: soon", "`deadline_s` is `soon`", 28),
        ("body_bytes: 4096", "body_bytes: 10", "`body_bytes` is `10`", 29),
        ("url: http://127.0.0.1:8800", "url: http://10.0.0.1", "neither loopback nor", 26),
        ("url: https://10.20", "url: https://10.21", "neither loopback nor", 5),
        ("url: https://10.20.0.7", "url: https://core.bank.test", "is no IP address", 5),
        ("[10.20.0.0/16]", "[8.8.0.0/16]", "not an internal one", 7),
        ("[10.20.0.0/16]", "[10.20.0.1/16]", "is no network", 7),
        ("      key_file: tls/own.key\n", "", "do not come together", 9),
    ],
)
def test_mistake_is_refused_with_line_and_fix(
    catalog: Catalog, old: str, new: str, problem: str, line: int
) -> None:
    assert FILE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        parsed(FILE.replace(old, new), catalog)
    assert problem in caught.value.problem
    assert caught.value.line == line
    assert caught.value.fix and caught.value.file == "connectors.yaml"


def mutations(text: str) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        before, after = lines[:index], lines[index + 1 :]
        yield "".join(before + after)
        yield "".join([*before, line, line, *after])
        yield "".join([*before, " " + line, *after])
        for value in ("", "null", "true", "-1", "1.5", "[]", "{}", "{a: {b: c}}", '"*"', "ftp://x"):
            yield "".join([*before, re.sub(r": .+", f": {value}", line, count=1), *after])


def test_every_small_change_loads_or_is_refused(catalog: Catalog) -> None:
    changed = sorted(set(mutations(FILE)))
    for text in random.Random(7).sample(changed, 200):  # noqa: S311
        try:
            parsed(text, catalog)
        except ConfigError as error:
            assert error.problem and error.fix and error.line, error
            assert "\n" not in str(error)


def service(url: str, **changes: Any) -> Service:
    return Service(**{"url": url, "secret_file": "key", **changes})


TLS = Tls("ca.pem")


@pytest.mark.parametrize(
    "good",
    [
        service("http://127.0.0.1:1"),
        service("http://127.9.9.9"),
        service("http://[::1]:80/a/b"),
        service("https://127.0.0.1", tls=TLS),
        service("https://10.1.2.3:443", tls=TLS, internal=("10.0.0.0/8",)),
        service("https://172.16.0.1", tls=TLS, internal=("192.168.0.0/16", "172.16.0.0/12")),
        service("https://[fd00::1]:443", tls=TLS, internal=("fd00::/8",)),
        service("https://127.0.0.1", secret_file=None, tls=Tls("ca.pem", "own.pem", "own.key")),
    ],
    ids=lambda s: s.url,
)
def test_address_in_the_house_is_accepted(good: Service) -> None:
    assert service_fault(good) is None


@pytest.mark.parametrize(
    ("bad", "key"),
    [
        (service("http://8.8.8.8"), "url"),
        (service("http://10.1.2.3", internal=("10.0.0.0/8",)), "url"),
        (service("https://10.1.2.3", tls=TLS), "url"),
        (service("https://10.1.2.3", tls=TLS, internal=("10.2.0.0/16",)), "url"),
        (service("https://8.8.8.8", tls=TLS, internal=("8.0.0.0/8",)), "internal"),
        (service("https://8.8.8.8", tls=TLS, internal=("0.0.0.0/0",)), "internal"),
        (service("https://1.1.1.1", tls=TLS, internal=("::/0",)), "internal"),
        (service("https://169.254.169.254", tls=TLS, internal=("169.254.0.0/16",)), "internal"),
        (service("https://10.1.2.3", tls=TLS, internal=("ten",)), "internal"),
        (service("http://0.0.0.0"), "url"),
        (service("http://[::]"), "url"),
        (service("http://[::ffff:8.8.8.8]"), "url"),
        (service("http://localhost"), "url"),
        (service("http://127.0.0.1.evil.test"), "url"),
        (service("http://2130706433"), "url"),
        (service("http://127.1"), "url"),
        (service("http://0x7f.0.0.1"), "url"),
        (service("http://127.0.0.1@8.8.8.8"), "url"),
        (service("http://127.0.0.1\\@8.8.8.8"), "url"),
        (service("http://user:pw@127.0.0.1"), "url"),
        (service("http://127.0.0.1?x=1"), "url"),
        (service("http://127.0.0.1#x"), "url"),
        (service("http://127.0.0.1/../x"), "url"),
        (service("http://127.0.0.1/%2e"), "url"),
        (service("http://127.0.0.1:port"), "url"),
        (service("http://127.0.0.1:99999"), "url"),
        (service("http://[::1"), "url"),
        (service("http://"), "url"),
        (service("http://127.0.0.1\n"), "url"),
        (service("HTTP://127.0.0.1"), "url"),
        (service("ftp://127.0.0.1"), "url"),
        (service("127.0.0.1"), "url"),
        (service("http://127.0.0.1", secret_file=None), "url"),
        (service("https://127.0.0.1", secret_file=None, tls=TLS), "url"),
        (service("https://127.0.0.1"), "url"),
        (service("http://127.0.0.1", tls=TLS), "tls"),
        (service("https://127.0.0.1", tls=Tls("ca.pem", "own.pem")), "tls"),
        (service("https://127.0.0.1", tls=Tls("ca.pem", key_file="own.key")), "tls"),
    ],
    ids=lambda value: value.url if isinstance(value, Service) else "",
)
def test_any_other_address_or_identity_is_refused(bad: Service, key: str) -> None:
    fault = service_fault(bad)
    assert fault is not None
    assert (fault.key, bool(fault.fix)) == (key, True)


def test_service_can_be_moved_within_the_rules(catalog: Catalog) -> None:
    found = parsed(FILE, catalog)
    there = moved(found, "core", "https://127.0.0.1:9").entries["core"].service
    assert there is not None
    assert (there.url, there.secret_file) == ("https://127.0.0.1:9", "var/core.key")
    assert moved_state(found, "http://127.0.0.1:9").state.service.url == "http://127.0.0.1:9"
    with pytest.raises(ConfigError, match="neither loopback"):
        moved(found, "core", "https://10.21.0.1")
    with pytest.raises(ConfigError, match="did you mean `core`"):
        moved(found, "cor", "https://127.0.0.1:9")
    with pytest.raises(ConfigError, match="no service `desk`"):
        moved(found, "desk", "https://127.0.0.1:9")
    with pytest.raises(ConfigError, match="no state source"):
        moved_state(EMPTY, "http://127.0.0.1:9")
