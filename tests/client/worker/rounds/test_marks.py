"""A witness's marks are of what its store has; those of others are looked at, and reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_client.worker.rounds.marks import LOOKS, ProofMarks
from tequio_client.worker.store.store import Store
from tequio_shared.ids import from_text, sha256, to_text
from tequio_shared.network.conduct import read_fault
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import StandingCause
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import RoundClose, RoundOpen, WitnessProof
from tests.support.attackers_round import due_proof, round_of, swarm_in
from tests.support.marks import marks_of
from tests.support.statements import example
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.rounds.statements import RunContext
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.round.evidence import UnreadEvidence
    from tequio_shared.statements.statement import Body, Statement
    from tests.support.memory_swarm import Swarm

pytestmark = pytest.mark.trio


@dataclass
class Reports:
    """Keeps the reports that a worker would send."""

    sent: list[tuple[PeerKey, int, int, UnreadEvidence]] = field(default_factory=list)

    def report_unread(self, *said: object) -> None:
        """Keep one."""
        self.sent.append(cast("tuple[PeerKey, int, int, UnreadEvidence]", said))


@dataclass
class Bench:
    """A witness of a swarm in the witness phase, which has all contributions in its store."""

    swarm: Swarm
    store: Store
    reports: Reports
    marks: ProofMarks

    async def follow(self, index: int, author: PeerKey, body: Body) -> None:
        """Have it follow an entry of the log."""
        statement = cast("Statement", SimpleNamespace(author=author, body=body))
        await self.marks.apply(index, statement, round_of(self.swarm))


def bench(folder: Path) -> Bench:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    store, reports = Store(folder / "store", quota_bytes=1 << 30), Reports()
    for payload in swarm.arithmetic.payloads.values():
        store.put_tree(payload, round_of(swarm).shape.group_bytes)
    witness, _ = due_proof(swarm)
    context = SimpleNamespace(key=witness.key, store=store, reports=reports)
    return Bench(swarm, store, reports, ProofMarks(cast("RunContext", context)))


def proofs(swarm: Swarm) -> dict[PeerKey, WitnessProof]:
    """The honest proofs that are due, by author."""
    found = {}
    for one in swarm.volunteers:
        draft = one.duty(swarm.view)
        assert draft is not None
        assert isinstance(draft.body, WitnessProof)
        found[one.key] = draft.body
    return found


CLOSE = cast("RoundClose", example("round.close"))


async def test_marks_are_of_the_bytes_in_the_store(tmp_path: Path) -> None:
    one = bench(tmp_path)
    current, witness = round_of(one.swarm), one.swarm.volunteers[0]
    lot = witness.signer.prove(current.audit_lot_input)
    vouched = {slot: work.id for slot, work in current.commitments.items()}
    expected = marks_of(current, vouched, lot, one.swarm.arithmetic.payloads)
    assert await one.marks.make(current, vouched, lot) == (vouched, expected)


@pytest.mark.parametrize("harm", ["removed", "damaged", "unreadable"])
async def test_what_cannot_be_read_any_more_is_not_vouched_for(tmp_path: Path, harm: str) -> None:
    one = bench(tmp_path)
    current, witness = round_of(one.swarm), one.swarm.volunteers[0]
    lot = witness.signer.prove(current.audit_lot_input)
    vouched = {slot: work.id for slot, work in current.commitments.items()}
    (gone, *_) = vouched
    root = current.commitments[gone].header.payload_root
    if harm == "removed":
        one.store.remove(root)
    elif harm == "unreadable":
        path = one.store.tree_path(root)
        path.unlink()
        path.mkdir()
    else:
        path = one.store.tree_path(root)
        path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))
    left = {slot: name for slot, name in vouched.items() if slot != gone}
    expected = marks_of(current, left, lot, one.swarm.arithmetic.payloads)
    assert await one.marks.make(current, vouched, lot) == (left, expected)


async def test_a_wrong_mark_is_reported_with_what_convicts(tmp_path: Path) -> None:
    one = bench(tmp_path)
    swarm, said = one.swarm, proofs(one.swarm)
    liar = swarm.volunteers[-1]
    said[liar.key] = msgspec.structs.replace(
        said[liar.key], marks=to_text(bytes(len(from_text(said[liar.key].marks, None))))
    )
    for index, (author, body) in enumerate(said.items()):
        await one.follow(index, author, body)
    await one.follow(99, swarm.volunteers[0].key, CLOSE)
    assert {(author, index) for author, _, index, _ in one.reports.sent} == {(liar.key, 4)}
    for _, number, _, shown in one.reports.sent:
        assert number == round_of(swarm).number
        entry = liar.sign(
            swarm.net, swarm.manifest.run_id, StatementDraft(said[liar.key], 1), swarm.now_ms
        )
        piece = shown.encode()
        report = FaultReport(leaves=(to_text(entry.leaf()),), piece=to_text(sha256(piece)))
        fault = read_fault(report, swarm.net, lambda _: None, {sha256(piece): piece}.__getitem__)
        assert (fault.peer, fault.cause) == (liar.key, StandingCause.UNREAD)


async def test_honest_marks_and_unknown_bytes_accuse_nobody(tmp_path: Path) -> None:
    one = bench(tmp_path)
    swarm, said = one.swarm, proofs(one.swarm)
    for index, (author, body) in enumerate(said.items()):
        await one.follow(index, author, body)
    await one.follow(99, swarm.volunteers[0].key, CLOSE)
    for root in swarm.arithmetic.payloads:
        one.store.remove(root)
    for index, (author, body) in enumerate(said.items()):
        await one.follow(index, author, msgspec.structs.replace(body, marks=to_text(bytes(20))))
    await one.follow(99, swarm.volunteers[0].key, CLOSE)
    assert one.reports.sent == []


async def test_another_round_and_a_round_without_a_seat_are_not_looked_at(tmp_path: Path) -> None:
    one = bench(tmp_path)
    swarm, said = one.swarm, proofs(one.swarm)
    liar = swarm.volunteers[-1]
    wrong = msgspec.structs.replace(said[liar.key], marks=to_text(bytes(20)))
    await one.follow(1, liar.key, wrong)
    await one.follow(2, swarm.volunteers[0].key, cast("RoundOpen", example("round.open")))
    await one.follow(3, swarm.volunteers[0].key, CLOSE)
    assert one.reports.sent == []
    await one.follow(4, liar.key, wrong)
    round_of(swarm).elected = ()
    await one.follow(5, swarm.volunteers[0].key, CLOSE)
    assert one.reports.sent == []


async def test_a_round_of_any_size_costs_the_same_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path)
    said = proofs(one.swarm)
    read: list[Digest] = []
    reading = one.store.read_pieces

    def count(root: Digest, first: int, pieces: int) -> bytes | None:
        read.append(root)
        return reading(root, first, pieces)

    monkeypatch.setattr(one.store, "read_pieces", count)
    liar, *_ = (key for key in said if key != one.swarm.volunteers[0].key)
    for index in range(40):
        await one.follow(index, liar, said[liar])
    await one.follow(99, liar, CLOSE)
    assert len(read) == LOOKS < 40 * said[liar].count
