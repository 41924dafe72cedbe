"""Common parts of all answers of the HTTP API: bounds, the log they are true for, problems.

Rules. The ledger encodes these types and a client decodes the same ones, so the bounds hold where
they matter: when a client decodes what a stranger sent. An encoder writes every field, null ones
too. A decoder ignores unknown fields, so a newer ledger may add some; a field added later needs a
default here, because a client may be newer than its ledger. A value from a list that may grow is
plain text for a decoder, and the list is in its schema alone (`extra_json_schema`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from tequio_shared.ids import Bytes32Text, Natural

T = TypeVar("T")
ROWS = 1_000
"""Most rows in one answer, of any kind."""
PAGE_ROWS = 250
"""Most rows that a request for a list may ask for; a ledger makes them in about 10 ms."""
Rows = Annotated[Sequence[T], Meta(max_length=ROWS)]
Text = Annotated[str, Meta(max_length=128, pattern=r"\A[ -~]*\Z")]
"""A name or a word, in printable ASCII."""
LongText = Annotated[str, Meta(max_length=512)]
"""A sentence or an address, for people."""

PROBLEM_PREFIX = "urn:tequio:problem:"
UNNAMED = "unnamed"


class AsOf(Struct, frozen=True):
    """The signed log that an answer was true for."""

    size: Natural
    root: Bytes32Text


class Problem(Struct, frozen=True, kw_only=True):
    """An error as a problem document (RFC 9457), in which every member may be absent.

    The ledger writes all four; a proxy before it may have written others.
    """

    type: str = ""
    title: str = ""
    status: int = 0
    detail: str = ""

    @property
    def code(self) -> str:
        """Problem code of docs/protocol.md, or `UNNAMED` for a problem of another server."""
        return self.type.partition(PROBLEM_PREFIX)[2] or UNNAMED
