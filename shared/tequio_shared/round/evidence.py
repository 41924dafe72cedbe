"""Evidence that a contribution's bytes break a rule: one piece of its payload, and its Merkle path.

A header names the root over the pieces of its payload, and its author signs it. So one piece that
leads to this root, with a record that no honest program writes, convicts the author, and every
reader checks it. Nobody's word counts. (docs/protocol.md, 9.10)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from msgspec import Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.contribution import (
    ContributionHeader,
    RecordShape,
    first_broken_record,
    shape_of,
)
from tequio_shared.ids import Bytes32Text, BytesText, Natural, digest_from_text, from_text, to_text
from tequio_shared.limits import EVIDENCE_BYTES
from tequio_shared.log import merkle


class PieceEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A piece of a payload, by its index: its bytes, and the hashes that lead to the root."""

    index: Natural
    path: tuple[Bytes32Text, ...]
    records: BytesText

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> PieceEvidence:
        """Read evidence; raises MalformedError."""
        return encoding.decode(raw, cls, EVIDENCE_BYTES)


def evidence_bytes(shape: RecordShape) -> int:
    """Largest evidence of a contribution with such records, in bytes."""
    # base64url of the piece; at most 64 hashes of 43 characters, each in quotes and with a comma
    return -(-4 * shape.group_bytes // 3) + 64 * 46 + 100


def broken_rule(header: ContributionHeader, piece: PieceEvidence) -> str:
    """Name of the first rule (11.4) that a record of this piece breaks.

    Raises RefusedError("wrong-evidence") if the piece is not of the header's payload, or breaks no
    rule.
    """
    records = from_text(piece.records, None)
    try:
        shape = shape_of(header)
        _check_place(header, piece, records, shape)
        rule = first_broken_record(records, shape)
    except (MalformedError, PeerError) as err:
        raise RefusedError("wrong-evidence", f"the piece is not of this payload: {err}") from err
    if rule is None:
        raise RefusedError("wrong-evidence", "the records of this piece break no rule")
    return rule


def _check_place(
    header: ContributionHeader, piece: PieceEvidence, records: bytes, shape: RecordShape
) -> None:
    whole = header.chunk_count * shape.record_bytes
    pieces = -(-whole // shape.group_bytes)
    due = min(shape.group_bytes, whole - piece.index * shape.group_bytes)
    if len(records) != due:
        raise MalformedError(f"piece {piece.index} has {len(records)} bytes, expected {due}")
    path = [digest_from_text(one) for one in piece.path]
    leaf = merkle.leaf_hash(records)
    merkle.verify_inclusion(leaf, piece.index, pieces, path, header.payload_root)


def find_evidence(
    payload: bytes | memoryview, leaves: Sequence[bytes], shape: RecordShape
) -> PieceEvidence | None:
    """Evidence of the lowest broken record of a whole payload; None if no record breaks a rule.

    `leaves` are the hashes of its pieces. Costs one pass over the records.
    """
    view = memoryview(payload)
    for index, at in zip(count(), range(0, len(view), shape.group_bytes), strict=False):
        records = bytes(view[at : at + shape.group_bytes])
        if first_broken_record(records, shape) is not None:
            path = merkle.inclusion_path(leaves, index)
            return PieceEvidence(
                index=index, path=tuple(map(to_text, path)), records=to_text(records)
            )
    return None
