"""Marks of a witness proof: what only a reader of the contributions can state.

A proof is public, so a witness could wait for the first one and repeat it. Hence each proof carries
a mark of every contribution that it vouches for: four bytes of a hash over one piece of its
payload. Which piece it is, and the hash, follow from the witness's own audit lot, which nobody else
knows before its proof is out. So marks cannot be copied, and all who hold the contribution can
check them; `evidence.UnreadEvidence` shows a wrong one to everybody else.

(docs/protocol.md, 10.1 and 9.10)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tequio_shared.ids import ContributionId, sha256

MARK_BYTES = 4
MOST_MARKS = 256
"""Contributions that a proof marks: those of a larger round take turns by lot."""

ReadPiece: TypeAlias = Callable[[int, int], bytes]
"""Reads a piece of the payload of a slot's contribution: slot and index of the piece."""

_PIECE = b"tequio/v1/mark-piece\0"
_MARK = b"tequio/v1/mark\0"
_PLACE = b"tequio/v1/mark-place\0"
_RANGE_BITS = 64


def marks_bytes(count: int) -> int:
    """Size of the marks of a proof that vouches for that many contributions."""
    return MARK_BYTES * min(count, MOST_MARKS)


def make_marks(
    lot: bytes, vouched: Mapping[int, ContributionId], pieces: int, read: ReadPiece
) -> bytes:
    """Marks of a proof with this lot that vouches for these contributions.

    `pieces` is the number of pieces of each. Reads one of them; an error of `read` is passed on.
    """
    ranked = sorted((name, slot) for slot, name in vouched.items())
    chosen = [ranked[place] for place in marked_places(lot, len(ranked))]
    return b"".join(
        mark(lot, name, read(slot, marked_piece(lot, name, pieces))) for name, slot in chosen
    )


def order_of(lot: bytes, place: int, count: int) -> int | None:
    """Number of the mark of the id at that place among `count`; None: it has none."""
    order = (place - _first_place(lot, count)) % count
    return order if order < MOST_MARKS else None


def marked_places(lot: bytes, count: int) -> Sequence[int]:
    """Places, among `count` ascending ids, that a proof with this lot marks, in its order."""
    first = _first_place(lot, count)
    return [(first + step) % count for step in range(min(count, MOST_MARKS))]


def marked_piece(lot: bytes, contribution: ContributionId, pieces: int) -> int:
    """Index of the piece, of that many, that the mark of a contribution is of."""
    return _number(sha256(_PIECE, lot, contribution), pieces)


def mark(lot: bytes, contribution: ContributionId, records: bytes) -> bytes:
    """Mark of a contribution by the records of its marked piece."""
    return sha256(_MARK, lot, contribution, records)[:MARK_BYTES]


def _first_place(lot: bytes, count: int) -> int:
    return _number(sha256(_PLACE, lot), count)


def _number(hashed: bytes, below: int) -> int:
    return int.from_bytes(hashed[: _RANGE_BITS // 8], "big") * below >> _RANGE_BITS
