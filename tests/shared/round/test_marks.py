"""Marks of witness proofs: which pieces they are of, and what shows that one is wrong."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import RecordShape, contribution_id, empty_record
from tequio_shared.ids import (
    ContributionId,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.log import merkle
from tequio_shared.network.conduct import read_fault
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import StandingCause
from tequio_shared.round import marks
from tequio_shared.round.evidence import PieceEvidence, UnreadEvidence, check_unread
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import WitnessProof
from tests.support.attackers_round import due_proof, forged_piece, round_of, scale_255, swarm_in
from tests.support.marks import unread_report
from tests.support.memory_swarm import Swarm
from tests.support.statements import example
from tests.support.tiny_run import signer
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Entry
    from tests.support.volunteers import Volunteer

LOT = bytes(range(64))
IDS = {slot: ContributionId(sha256(bytes([slot]))) for slot in range(5)}


def drawn(prefix: bytes, below: int, *parts: bytes) -> int:
    """A number of the document, by its own words."""
    hashed = hashlib.sha256(b"tequio/v1/" + prefix + b"\0" + LOT + b"".join(parts)).digest()
    return (int.from_bytes(hashed[:8], "big") * below) >> 64


def test_a_mark_is_of_the_piece_that_the_lot_draws() -> None:
    read: list[tuple[int, int]] = []

    def records(slot: int, piece: int) -> bytes:
        read.append((slot, piece))
        return bytes([slot, piece])

    made = marks.make_marks(LOT, IDS, 7, records)
    ranked = sorted((name, slot) for slot, name in IDS.items())
    first = drawn(b"mark-place", 5)
    turned = ranked[first:] + ranked[:first]
    assert read == [(slot, drawn(b"mark-piece", 7, name)) for name, slot in turned]
    assert [made[at : at + 4] for at in range(0, 20, 4)] == [
        hashlib.sha256(b"tequio/v1/mark\0" + LOT + name + bytes(at)).digest()[:4]
        for (name, _), at in zip(turned, read, strict=True)
    ]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 4_095])
def test_a_large_round_is_marked_in_part(count: int) -> None:
    places = marks.marked_places(LOT, count)
    assert len(places) == len(set(places)) == min(count, 256)
    assert marks.marks_bytes(count) == 4 * len(places)
    numbers = {place: marks.order_of(LOT, place, count) for place in range(count)}
    assert [place for place in places if numbers[place] is not None] == list(places)
    assert sum(number is not None for number in numbers.values()) == len(places)
    assert [numbers[place] for place in places] == list(range(len(places)))


def lying() -> tuple[Swarm, Volunteer, Entry]:
    """A swarm in which a witness has signed a proof without a right mark; it is not in the log."""
    swarm = swarm_in(RunState.ROUND_WITNESS)
    witness, honest = due_proof(swarm)
    wrong = bytes(255 - byte for byte in from_text(honest.marks, None))
    draft = StatementDraft(msgspec.structs.replace(honest, marks=to_text(wrong)), 1)
    return swarm, witness, witness.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms)


def cause(swarm: Swarm, report: FaultReport) -> StandingCause:
    fault = read_fault(report, swarm.net, lambda _: None, swarm.blobs.__getitem__)
    return fault.cause


def test_every_wrong_mark_convicts_without_a_round_to_look_at() -> None:
    swarm, witness, entry = lying()
    body = entry.statement.body
    assert isinstance(body, WitnessProof)
    assert body.count == len(round_of(swarm).commitments) > 1
    for order in range(body.count):
        report = unread_report(swarm, entry, order)
        assert report is not None
        fault = read_fault(report, swarm.net, lambda _: None, swarm.blobs.__getitem__)
        assert (fault.peer, fault.cause) == (witness.key, StandingCause.UNREAD)


CHANGES: dict[str, Callable[[UnreadEvidence], UnreadEvidence]] = {
    "another place": lambda one: msgspec.structs.replace(one, place=one.place ^ 1),
    "beyond the last": lambda one: msgspec.structs.replace(one, place=4_095),
    "no path": lambda one: msgspec.structs.replace(one, path=()),
    "another header": lambda one: msgspec.structs.replace(one, header=one.header[:-4] + "____"),
    "another piece": lambda one: _piece(one, index=one.piece.index + 1),
    "other records": lambda one: _piece(one, records=to_text(b"\1")),
    "no records": lambda one: _piece(one, records=""),
}


def _piece(one: UnreadEvidence, **changed: object) -> UnreadEvidence:
    return msgspec.structs.replace(one, piece=msgspec.structs.replace(one.piece, **changed))


@pytest.mark.parametrize("change", CHANGES)
def test_evidence_of_anything_else_shows_nothing(change: str) -> None:
    swarm, _, entry = lying()
    report = unread_report(swarm, entry)
    body = entry.statement.body
    assert report is not None
    assert isinstance(body, WitnessProof)
    shown = UnreadEvidence.parse(swarm.blobs[digest_from_text(report.piece)])
    check_unread(body, shown)
    with pytest.raises(RefusedError, match="not of this proof") as refused:
        check_unread(body, CHANGES[change](shown))
    assert refused.value.code == "wrong-evidence"


def test_a_right_mark_convicts_who_says_that_it_is_wrong() -> None:
    swarm, witness, entry = lying()
    _, honest = due_proof(swarm)
    draft = StatementDraft(honest, 1)
    proof = witness.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms)
    assert unread_report(swarm, proof) is None
    accusing = unread_report(swarm, entry)
    assert accusing is not None
    false = msgspec.structs.replace(accusing, leaves=(to_text(proof.leaf()),))
    with pytest.raises(RefusedError, match="marks this piece as it is"):
        cause(swarm, false)
    framer = next(one for one in swarm.volunteers if one is not witness)
    leaf = framer.sign(swarm.net, None, StatementDraft(false), swarm.now_ms).leaf()
    against = msgspec.structs.replace(false, leaves=(to_text(leaf),))
    fault = read_fault(against, swarm.net, lambda _: None, swarm.blobs.__getitem__)
    assert (fault.peer, fault.cause) == (framer.key, StandingCause.FALSE_REPORT)


SHAPE = RecordShape(algorithm="sparseloco", k=16, bits=2)
CHUNKS, PIECES = 600, 3


def large_proof(count: int) -> tuple[WitnessProof, Callable[[int, int], UnreadEvidence]]:
    """A proof of that many contributions without a right mark, and evidence by place and piece."""
    payload = empty_record(SHAPE).tobytes() * CHUNKS
    size = SHAPE.group_bytes
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)]
    leaves = [merkle.leaf_hash(piece) for piece in pieces]
    sample, _ = forged_piece(PeerKey(bytes(32)), RunId(bytes(32)), scale_255, chunks=CHUNKS)
    root = merkle.root_of_hashes(leaves)
    rounds = range(1, count + 1)
    headers = [replace(sample, payload_root=root, round=number).pack() for number in rounds]
    headers.sort(key=contribution_id)
    ids = [contribution_id(header) for header in headers]
    body = msgspec.structs.replace(
        cast("WitnessProof", example("witness.proof")),
        count=count,
        root=to_text(merkle.root(ids)),
        vrf=to_text(signer("large").prove(b"lot")),
        marks=to_text(bytes(marks.marks_bytes(count))),
    )

    def evidence(place: int, piece: int) -> UnreadEvidence:
        hashes = [merkle.leaf_hash(one) for one in ids]
        return UnreadEvidence(
            header=to_text(headers[place]),
            place=place,
            path=tuple(map(to_text, merkle.inclusion_path(hashes, place))),
            piece=PieceEvidence(
                index=piece,
                path=tuple(map(to_text, merkle.inclusion_path(leaves, piece))),
                records=to_text(pieces[piece]),
            ),
        )

    return body, evidence


@pytest.mark.parametrize("count", [1, 300])
def test_only_what_the_lot_draws_is_marked(count: int) -> None:
    body, evidence = large_proof(count)
    lot = vrf.output(from_text(body.vrf, vrf.PROOF_BYTES))
    marked = marks.marked_places(lot, count)
    for place in {0, count // 2, count - 1, marked[0], marked[-1]}:
        for piece in range(PIECES):
            shown = evidence(place, piece)
            name = contribution_id(from_text(shown.header, None))
            if place in marked and piece == marks.marked_piece(lot, name, PIECES):
                check_unread(body, shown)
                continue
            with pytest.raises(RefusedError, match=f"does not mark piece {piece}"):
                check_unread(body, shown)
