"""Evidence by one piece of a contribution's payload, with its Merkle path.

A header names the root over the pieces of its payload, and its author signs it. So one piece that
leads to this root, with a record that no honest program writes, convicts the author. And one that a
witness marked wrongly convicts the witness, which signed the marks. Every reader checks it, and
nobody's word counts. (docs/protocol.md, 9.10)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from msgspec import Struct

from tequio_shared import encoding, vrf
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    SignatureInvalidError,
)
from tequio_shared.head.contribution import (
    ContributionHeader,
    RecordShape,
    contribution_id,
    first_broken_record,
    shape_of,
)
from tequio_shared.ids import (
    Bytes32Text,
    BytesText,
    Digest,
    HeaderText,
    Natural,
    digest_from_text,
    from_text,
    to_text,
)
from tequio_shared.limits import EVIDENCE_BYTES
from tequio_shared.log import merkle
from tequio_shared.round import marks
from tequio_shared.round.proof import decode_bitmap
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import WitnessProof


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


class UnreadEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A contribution that a witness proof marks wrongly: its header, and the marked piece."""

    header: HeaderText
    place: Natural
    """Of the contribution's id among those of the proof's root."""
    path: tuple[Bytes32Text, ...]
    """The hashes that lead from the id to that root."""
    piece: PieceEvidence

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> UnreadEvidence:
        """Read evidence; raises MalformedError."""
        return encoding.decode(raw, cls, EVIDENCE_BYTES)


def evidence_bytes(shape: RecordShape) -> int:
    """Largest evidence of a contribution with such records, in bytes."""
    # base64url of the piece; at most 64 hashes of 43 characters, each in quotes and with a comma,
    # for the piece and as many for its contribution; and a header of 216 bytes
    return -(-4 * shape.group_bytes // 3) + 2 * 64 * 46 + 600


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


def find_unread(
    current: RoundView,
    body: WitnessProof,
    order: int,
    read: marks.ReadPiece,
    leaves_of: Callable[[Digest], Sequence[bytes]],
) -> UnreadEvidence | None:
    """Evidence that the mark of that number in a proof of the round is wrong; None if it is right.

    Reads the marked piece, and the leaf hashes of the payload with a root. O(slots).
    """
    vouched = decode_bitmap(from_text(body.bitmap, None), len(current.roster.members))
    ranked = sorted((current.commitments[slot].id, slot) for slot in vouched)
    lot = vrf.output(from_text(body.vrf, vrf.PROOF_BYTES))
    place = marks.marked_places(lot, len(ranked))[order]
    name, slot = ranked[place]
    index = marks.marked_piece(lot, name, current.pieces)
    records = read(slot, index)
    if _stated(body, order) == marks.mark(lot, name, records):
        return None
    header = current.commitments[slot].header
    ids = [merkle.leaf_hash(one) for one, _ in ranked]
    path = merkle.inclusion_path(leaves_of(header.payload_root), index)
    return UnreadEvidence(
        header=to_text(header.pack()),
        place=place,
        path=tuple(map(to_text, merkle.inclusion_path(ids, place))),
        piece=PieceEvidence(index=index, path=tuple(map(to_text, path)), records=to_text(records)),
    )


def check_unread(body: WitnessProof, shown: UnreadEvidence) -> None:
    """Raise RefusedError("wrong-evidence") unless the proof's mark is not that of this piece.

    Rests on the signed proof and the piece alone, so it holds at any time: an honest witness marks
    only bytes that lead to the payload root of a header with its round's shape.
    """
    raw, records = from_text(shown.header, None), from_text(shown.piece.records, None)
    name = contribution_id(raw)
    path = [digest_from_text(one) for one in shown.path]
    try:
        merkle.verify_inclusion(
            merkle.leaf_hash(name), shown.place, body.count, path, from_text(body.root)
        )
        header = ContributionHeader.parse(raw)
        shape = shape_of(header)
        _check_place(header, shown.piece, records, shape)
        lot = vrf.output(from_text(body.vrf, vrf.PROOF_BYTES))
    except (MalformedError, PeerError, SignatureInvalidError) as err:
        raise RefusedError("wrong-evidence", f"the piece is not of this proof: {err}") from err
    order = marks.order_of(lot, shown.place, body.count)
    pieces = shape.count_pieces(header.chunk_count)
    if order is None or shown.piece.index != marks.marked_piece(lot, name, pieces):
        raise RefusedError("wrong-evidence", f"the proof does not mark piece {shown.piece.index}")
    if _stated(body, order) == marks.mark(lot, name, records):
        raise RefusedError("wrong-evidence", "the proof marks this piece as it is")


def _stated(body: WitnessProof, order: int) -> bytes:
    at = marks.MARK_BYTES * order
    return from_text(body.marks, None)[at : at + marks.MARK_BYTES]


def _check_place(
    header: ContributionHeader, piece: PieceEvidence, records: bytes, shape: RecordShape
) -> None:
    whole = header.chunk_count * shape.record_bytes
    pieces = shape.count_pieces(header.chunk_count)
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
