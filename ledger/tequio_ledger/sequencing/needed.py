"""Documents without which the log cannot be folded: those that its entries name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.store import log_rows
from tequio_shared.genesis import Genesis
from tequio_shared.ids import Digest, digest_from_text, from_text
from tequio_shared.run_documents import needed_document
from tequio_shared.statement import Entry
from tequio_shared.statements.competitions import CompOpen, CompResult, CompSubmit, EvalResult
from tequio_shared.statements.rounds import RoundClose, RoundRoster
from tequio_shared.statements.runs import NetGenesis, RunOpen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tequio_shared.statement import Statement

NAMING = (
    NetGenesis.TYPE,
    RunOpen.TYPE,
    RoundRoster.TYPE,
    RoundClose.TYPE,
    CompOpen.TYPE,
    CompSubmit.TYPE,
    EvalResult.TYPE,
    CompResult.TYPE,
)
"""Types of statements that name a document."""


def documents(connection: Connection) -> Iterator[tuple[int, Digest]]:
    """Name each document with the index of the entry that needs it; the log is sound."""
    for index, leaf in log_rows.each_leaf_of(connection, NAMING):
        yield index, document_of(Entry.parse(leaf).statement)


def document_of(statement: Statement) -> Digest:
    """Name the document of one of those statements."""
    match statement.body:
        case NetGenesis(doc=doc):
            return digest_from_text(Genesis.parse(from_text(doc, None)).rules)
        case RunOpen(manifest=text):
            return digest_from_text(text)
        case (
            CompOpen(competition=text)
            | CompSubmit(submission=text)
            | EvalResult(scores=text)
            | CompResult(outcome=text)
        ):
            return digest_from_text(text)
    name = needed_document(statement)
    if name is None:
        raise AssertionError(f"{statement.type} names no document")
    return name
