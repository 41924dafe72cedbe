"""The documents that a run's entries name: which one an entry needs, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tequio_shared.documents import Result, Roster
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.statements.rounds import RoundClose, RoundRoster

if TYPE_CHECKING:
    from tequio_shared.statement import Statement

Documents = Callable[[Digest], bytes]
"""Bytes of a document by its SHA-256; the caller has it at hand (see `needed_document`)."""

_Document = TypeVar("_Document", Roster, Result)


def needed_document(statement: Statement) -> Digest | None:
    """The document that `RunView.apply` will ask for with this statement, if any."""
    match statement.body:
        case RoundRoster(roster=text) | RoundClose(result=text):
            return digest_from_text(text)
    return None


def read(type_: type[_Document], documents: Documents, name: str) -> _Document:
    """Read the document of that name; raises RefusedError("malformed")."""
    try:
        return type_.parse(documents(digest_from_text(name)))
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
