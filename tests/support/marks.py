"""Marks of witness proofs in tests, made from payloads in memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tequio_shared import vrf
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.log.merkle import leaf_hash
from tequio_shared.round.evidence import find_unread
from tequio_shared.round.marks import make_marks
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import WitnessProof

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_shared.ids import ContributionId
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Entry
    from tests.support.memory_swarm import Swarm


def marks_of(
    current: RoundView,
    vouched: Mapping[int, ContributionId],
    vrf_proof: bytes,
    payloads: Mapping[Digest, bytes] | None = None,
) -> bytes:
    """Marks of the proof that vouches for these; a payload that is not there counts as empty."""
    read = partial(_read, current, payloads or {})
    return make_marks(vrf.output(vrf_proof), vouched, current.pieces, read)


def unread_report(swarm: Swarm, entry: Entry, order: int = 0) -> FaultReport | None:
    """A report of that proof of the round, by its mark of that number; None if the mark is right.

    The piece is among the swarm's documents.
    """
    current, payloads = swarm.view.round, swarm.arithmetic.payloads
    assert current is not None
    assert isinstance(entry.statement.body, WitnessProof)
    size = current.shape.group_bytes

    def leaves_of(root: Digest) -> Sequence[bytes]:
        payload = payloads[root]
        return [leaf_hash(payload[at : at + size]) for at in range(0, len(payload), size)]

    body = entry.statement.body
    shown = find_unread(current, body, order, partial(_read, current, payloads), leaves_of)
    if shown is None:
        return None
    piece = shown.encode()
    swarm.blobs[sha256(piece)] = piece
    return FaultReport(leaves=(to_text(entry.leaf()),), piece=to_text(sha256(piece)))


def _read(current: RoundView, payloads: Mapping[Digest, bytes], slot: int, piece: int) -> bytes:
    size = current.shape.group_bytes
    payload = payloads.get(current.commitments[slot].header.payload_root, b"")
    return payload[piece * size : (piece + 1) * size]
