"""Checks of what is configured and of the files beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gate import lint as linting
from gate.errors import RoutelockError
from gate.ledger.book import read_book
from gate.ledger.pseudonym import key_path
from gate.ledger.store import Head, Ledger
from gate.ledger.verify import differences
from gate.load.connectors import uncovered
from gate.load.examples import failures
from gate.load.phrases import KIND
from gate.records import Mode
from inference import artefacts, stores
from inference.appliance import ENCODER
from inference.doctor.result import Examined, Level, Result, failed
from inference.encoder import TorchEncoder

QUICK: Final = 5_000
"""The last records of a ledger that are read again; `routelock ledger verify` reads all."""
SCARCE, FULL = 2 * 2**30, 200 * 2**20
"""Free bytes below which a disk is short, and below which it is full."""
SET_UP: Final = "run `scripts/setup`"


def lint(examined: Examined) -> Iterator[Result]:
    """What the configuration says that its author can hardly have meant."""
    warnings = linting.lint(examined.institution.configuration)
    for one in warnings:
        told = f"{one.subject}: {one.message}"
        yield Result("lint", one.code, Level.WARNING, told, one.fix)
    if not warnings:
        yield Result("lint", "rules.yaml", Level.OK, "nothing found")


def phrases(examined: Examined) -> Iterator[Result]:
    """Every labelled text leads where its label says."""
    book = examined.institution.phrases
    wrong = tuple(failures(book, examined.institution.configuration))
    for one in wrong:
        fix = f"correct the phrase or the label in line {one.example.line}"
        yield Result("phrases", book.file, Level.FAILED, one.problem, fix)
    read = any(tier.kind == KIND for tier in examined.institution.appliance.tiers)
    if not read and (book.phrases or book.commands or book.scope):
        fix = "list `{name: phrases}` as the first tier in appliance.yaml"
        yield Result("phrases", "phrases.yaml", Level.WARNING, "no tier reads them", fix)
    if not wrong:
        told = (
            f"{len(book.phrases)} texts, {len(book.commands)} forms of commands, "
            f"{len(book.examples)} of {len(book.examples)} labels kept"
        )
        yield Result("phrases", "phrases.yaml", Level.OK, told)


def languages(examined: Examined) -> Iterator[Result]:
    """Packs are complete where they load; a write also needs verbs in every language."""
    configuration = examined.institution.configuration
    writes = [a for a in configuration.catalog.actions.values() if a.mode is Mode.WRITE]
    for tag in configuration.languages:
        mute = [a.action_id for a in writes if not a.verbs.get(tag) and not a.weak_verbs.get(tag)]
        if mute:
            told = f"complete, but no verb asks for {', '.join(f'`{one}`' for one in mute)} in it"
            fix = f"add `verbs: {{{tag}: [...]}}` to catalog.yaml, or these are never carried out"
            yield Result("languages", tag, Level.WARNING, told, fix)
        else:
            yield Result("languages", tag, Level.OK, "pack complete, every write has its verbs")


def connectors(examined: Examined) -> Iterator[Result]:
    """Every write has a connector whose secret is there."""
    settings, catalog = examined.institution.connectors, examined.institution.configuration.catalog
    for action_id in uncovered(settings, catalog):
        fix = "give it one in connectors.yaml, or list it under `record_only:`"
        told = "nothing would carry it out"
        yield Result("connectors", action_id, Level.FAILED, told, fix)
    for action_id in settings.record_only:
        told = "is written down and handed to nobody"
        fix = "give it a connector where orders are to be carried out"
        yield Result("connectors", action_id, Level.WARNING, told, fix)
    for name, entry in settings.entries.items():
        secret = None if entry.service is None else entry.service.secret_file
        if secret is not None and not (examined.root / secret).is_file():
            told = f"secret file `{secret}` is missing"
            yield Result("connectors", name, Level.FAILED, told, "put it there; the service has it")
        else:
            served = sum(a.connector == name for a in settings.assignments.values())
            yield Result("connectors", name, Level.OK, f"{entry.kind}, carries out {served} writes")


def index(examined: Examined) -> Iterator[Result]:
    """The document index opens and holds today's documents."""
    institution = examined.institution
    if not institution.documents.entries:
        yield Result("index", "", Level.OK, "no documents are declared")
        return
    folder = examined.root / institution.appliance.paths.index
    try:
        encoder = TorchEncoder(artefacts.read(examined.root / ENCODER))
        stores.open_index(folder, encoder)
    except (RoutelockError, OSError) as error:
        yield from failed("index", str(folder), error)
        return
    if stores.index_is_current(institution, encoder, folder):
        told = f"{len(institution.documents.entries)} documents, current"
        yield Result("index", str(folder), Level.OK, told)
    else:
        told = "was made from other documents, code or encoder than today's"
        yield Result("index", str(folder), Level.WARNING, told, "build it again: " + SET_UP)


def database(examined: Examined) -> Iterator[Result]:
    """The database opens and every verified query can be prepared on it."""
    institution = examined.institution
    if not institution.queries:
        yield Result("database", "", Level.OK, "no queries are declared")
        return
    path = examined.root / institution.appliance.paths.database
    try:
        stores.check_queries(institution.queries.values(), path)
    except (RoutelockError, OSError) as error:
        yield from failed("database", str(path), error)
        return
    yield Result("database", str(path), Level.OK, f"{len(institution.queries)} queries prepared")


def ledger(examined: Examined) -> Iterator[Result]:
    """Ledger, receipts and key are there together; files and last records are sound."""
    paths = examined.institution.appliance.paths
    path, receipts = examined.root / paths.ledger, examined.root / paths.receipts
    if not path.exists() and not receipts.exists():
        yield Result("ledger", str(path), Level.OK, "none yet; the first request makes it")
        return
    try:
        with read_book(path, receipts) as book:
            problem = _problem(book.ledger)
            told = f"{book.ledger.head().sequence} records, the last {QUICK} at most read again"
            if problem is None and book.key is None:
                problem = f"the key `{key_path(path)}` is missing"
    except (RoutelockError, OSError) as error:
        yield from failed("ledger", str(path), error)
        return
    if problem is None:
        yield Result("ledger", str(path), Level.OK, told)
    else:
        fix = "keep the files as they are, and look with `routelock ledger verify`"
        yield Result("ledger", str(path), Level.FAILED, problem, fix)


def _problem(opened: Ledger) -> str | None:
    """The first thing that is wrong with the files and the last records, or None."""
    for fault in opened.faults():
        return f"the file was changed: {fault}"
    start = max(1, opened.head().sequence - QUICK)
    head = Head() if start == 1 else None
    for row in opened.iterate(start):
        what = None if head is None else next(differences(row, head), None)
        if what is not None:
            return f"record {row.sequence}: {what}"
        head = Head(row.sequence, row.digest)
    return None


def disk(examined: Examined) -> Iterator[Result]:
    """There is room for records: where the disk is full nothing is decided any more."""
    path = examined.root / examined.institution.appliance.paths.ledger
    folder = next(p for p in (*path.absolute().parents, Path()) if p.is_dir())
    free = shutil.disk_usage(folder).free
    level = Level.FAILED if free < FULL else Level.WARNING if free < SCARCE else Level.OK
    fix = "" if level is Level.OK else "free some space, or put the ledger on another disk"
    yield Result("disk", str(folder), level, f"{free / 2**30:.1f} GiB free", fix)
