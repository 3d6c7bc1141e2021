"""The pathways: documents, records, connector, none. One per action; none may switch to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType

from gate.catalog import Action
from gate.configuration import Configuration
from gate.evidence import Evidence, Statement
from gate.load.queries import Query
from gate.records import Entry, Request, Session
from inference.drafts import Citation, Draft, refused
from inference.naming import names_of
from retrieval.answer import Quote, extract
from retrieval.disagree import Disagreement, disagreement
from retrieval.evidence import About, Passage, closed_list, nothing_named
from retrieval.index import Index
from retrieval.protocols import Encoder
from retrieval.search import search, sufficient
from sqlpath import queries, verbalise
from sqlpath.errors import QueryError
from sqlpath.execute import Database, Rows, Snapshot


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents pathway's parts; below the score `least` nothing is answered."""

    index: Index
    encoder: Encoder
    least: Decimal | None = None


def from_documents(
    parts: Documents | None,
    configuration: Configuration,
    request: Request,
    action: Action,
    entry: Entry | None,
    on: date,
) -> Draft:
    """Sentences quoted from what the asker may see and what is in force on that day.

    Where the action needs a registered object, only passages that name it count.
    """
    if parts is None:
        return refused("NO_INDEX")
    public = entry if entry is not None and not entry.own else None
    names = names_of(configuration.registry, public) if public else nothing_named
    hits = search(
        parts.index,
        parts.encoder,
        query_text(request, public),
        entitlements=request.session.entitlements if request.session else (),
        collection=action.collection,
        on=on,
    )
    if parts.least is not None and not sufficient(hits, float(parts.least)):
        return refused("NOT_RELEVANT")
    least = About.THIS if public and action.object_required else About.NONE
    passages = closed_list(hits, names, least)
    if (found := disagreement(passages, names)) is not None:
        return _disagreeing(found)
    return _quoted(passages, extract(passages, names))


def _disagreeing(found: Disagreement) -> Draft:
    """Nothing is answered; both passages are cited."""
    both = (found.first, found.second)
    return Draft(
        evidence=tuple(_evidence(passage) for passage in both),
        citations=MappingProxyType({p.evidence_id: _place(p) for p in both}),
        refusal=f"DISAGREE_{found.kind}",
    )


def query_text(request: Request, entry: Entry | None) -> str:
    """What is searched for: the utterance, and the object's name where only an anaphor stands."""
    if entry is None or entry.display_name.casefold() in request.utterance.casefold():
        return request.utterance
    return f"{request.utterance} {entry.display_name}"


def _quoted(passages: Sequence[Passage], quotes: Sequence[Quote]) -> Draft:
    if not quotes:
        return refused("NO_EVIDENCE")
    citations = {p.evidence_id: _place(p) for p in passages}
    citations.update({q.passage.evidence_id: _place(q.passage, q) for q in reversed(quotes)})
    return Draft(
        statements=tuple(Statement(q.text, (q.passage.evidence_id,)) for q in quotes),
        evidence=tuple(_evidence(passage) for passage in passages),
        citations=MappingProxyType(citations),
        score=max(quote.score for quote in quotes),
    )


def _evidence(passage: Passage) -> Evidence:
    """A passage for the gate's check, which reads a semicolon, not a line break, as an end."""
    text = "; ".join(block.text for block in passage.blocks)
    return Evidence(passage.evidence_id, text, passage.source.file)


def _place(passage: Passage, quote: Quote | None = None) -> Citation:
    block = quote.block if quote else passage.blocks[0]
    return Citation(
        evidence_id=passage.evidence_id,
        source=passage.source.file,
        title=passage.source.title,
        digest=passage.sha256,
        version=passage.source.version,
        headings=passage.headings,
        paragraph=block.paragraph,
        page=block.page,
    )


def from_records(
    database: Database | None,
    query: Query | None,
    object_id: str,
    session: Session | None,
    language: str,
    on: date | None = None,
) -> Draft:
    """The rows of the action's verified query, in the words of its template.

    Data that is too old on the day `on` is not answered from.
    """
    if database is None or query is None:
        return refused("NO_DATABASE")
    if on is not None and database.snapshot.is_stale(on):
        return refused("STALE")
    try:
        values = queries.bind(query, object_id, session, {})
        rows = database.run(query.query_id, query.sql, values)
    except QueryError as error:
        return refused(error.reason.upper())
    if not rows.rows:
        return refused("NO_ROWS", verbalise.empty(query, language))
    return _spoken(query, rows, database.snapshot, language)


def _spoken(query: Query, rows: Rows, snapshot: Snapshot, language: str) -> Draft:
    """One statement per row; its evidence is the row, in the template's words and column by column."""
    said = verbalise.sentences(query, rows, language)
    listed = ["; ".join(f"{k}: {v}" for k, v in row.items()) for row in verbalise.records(rows)]
    ids = [f"E{number}" for number in range(1, len(said) + 1)]
    place = [
        Citation(i, query.query_id, query.query_id, snapshot.digest, as_of=snapshot.as_of)
        for i in ids
    ]
    return Draft(
        statements=tuple(Statement(text, (i,)) for i, text in zip(ids, said, strict=True)),
        evidence=tuple(
            Evidence(i, f"{text}\n{row}", query.query_id)
            for i, text, row in zip(ids, said, listed, strict=True)
        ),
        citations=MappingProxyType(dict(zip(ids, place, strict=True))),
    )
