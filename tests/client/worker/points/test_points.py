"""Points as the worker reads the log itself: noted with each entry, counted with its proof."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc.points import AskPoints, PointsRow
from tequio_client.worker.points import points as points_points
from tequio_client.worker.points import points_db
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.points.points_db import FILE, PointsDatabase, RoundOutcome, closed_outcome
from tequio_client.worker.rounds.join import start_view
from tequio_shared.api.runs import ResumeAnswer
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, PeerKey, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.network.run import needed_document
from tequio_shared.round.documents import Roster, RosterMember, RoundResult, SlotResult
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.statements.runs import RoundClose, RoundOpen, RoundRoster
from tests.support.duty_swarm import DutySwarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tequio_client.worker.points.points_db import RoundPlace
    from tequio_shared.network.run import RunView


pytestmark = pytest.mark.trio
ANA, BO = PeerKey(bytes([1]) * 32), PeerKey(bytes([2]) * 32)


@pytest.fixture(scope="module")
def finished() -> DutySwarm:
    """The log of a whole run of three rounds."""
    swarm = DutySwarm(tiny_manifest(most=3))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    swarm.run()
    return swarm


@pytest.fixture
def book(tmp_path: Path, finished: DutySwarm) -> Iterator[PointsDatabase]:
    with closing(PointsDatabase.opened(tmp_path, finished.members[0].key)) as opened:
        yield opened


async def read(swarm: DutySwarm, points: PointsRecorder) -> RunView:
    """Read the log with a view, as the worker does; gives the view."""
    views = [view async for _, view in reading(swarm, points)]
    return views[-1]


async def reading(swarm: DutySwarm, points: PointsRecorder) -> AsyncIterator[tuple[int, RunView]]:
    view, _ = start_view(
        swarm.net, swarm.manifest, ResumeAnswer(after=1, head=None, close=None), None, None
    )
    for index, entry in enumerate(swarm.entries):
        statement = entry.statement
        if index < 2 or statement.run is None:
            continue
        name = needed_document(statement)
        document = swarm.blobs[name] if name else b""
        view.apply(index, statement, swarm.now_ms, swarm.blobs.__getitem__)
        await points.apply(index, statement, view.round, document)
        yield index, view


def rows(book: PointsDatabase) -> list[PointsRow]:
    return list(reversed(points_points.read_rounds(book.file, AskPoints()).rows))


def run_of(swarm: DutySwarm) -> str:
    return to_text(swarm.manifest.run_id)


def checkpoint(size: int) -> Checkpoint:
    return Checkpoint(origin="test", size=size, root=Digest(bytes(32)))


async def test_rounds_are_pending_from_their_roster_and_counted_when_proven(
    book: PointsDatabase, finished: DutySwarm
) -> None:
    ana = finished.members[0].key
    points = PointsRecorder(book, ana, run_of(finished))
    ends = []
    async for index, _ in reading(finished, points):
        body = finished.entries[index].statement.body
        if isinstance(body, RoundRoster):
            assert rows(book)[-1].state == "pending"
        if isinstance(body, RoundClose):
            ends.append(index)
            assert rows(book)[-1].state == "pending"
            await points.mark_proven(index, checkpoint(index + 5))
            assert rows(book)[-1].state == "pending", "the end itself is not covered"
            await points.mark_proven(index + 1, checkpoint(index + 5))
            last = rows(book)[-1]
            assert (last.state, last.entry, last.size) == ("verified", index, index + 5)
            assert last.at_ms == finished.entries[index].statement.ts
    counted = [row for row in rows(book) if row.state == "verified"]
    assert [row.entry for row in counted] == ends
    assert len(ends) == 3
    accounts = finished.view.accounts
    earned = accounts.earned[ana]
    assert sum(row.trained for row in counted) == earned.trainer > 0
    assert sum(row.witnessed for row in counted) == earned.witness > 0


async def test_reading_the_same_rounds_again_changes_nothing(
    book: PointsDatabase, finished: DutySwarm
) -> None:
    points = PointsRecorder(book, finished.members[0].key, run_of(finished))
    await read(finished, points)
    await points.mark_proven(len(finished.entries), checkpoint(len(finished.entries)))
    before = rows(book)
    await points.begin()
    await read(finished, points)
    await points.mark_proven(10_000, checkpoint(10_000))
    assert rows(book) == before


async def test_who_has_no_slot_has_no_rounds(book: PointsDatabase, finished: DutySwarm) -> None:
    points = PointsRecorder(book, ANA, run_of(finished))
    await read(finished, points)
    await points.mark_proven(10_000, checkpoint(10_000))
    assert rows(book) == []


async def test_work_is_noted_with_its_round(book: PointsDatabase, finished: DutySwarm) -> None:
    points = PointsRecorder(book, finished.members[0].key, run_of(finished))
    async for index, view in reading(finished, points):
        if isinstance(finished.entries[index].statement.body, RoundOpen):
            assert view.round is not None
            await points.worked(view.round, "cuda:0", 64, view.number / 4)
            book.add_energy(view.round.roster_index, 4.0)
            book.add_energy(view.round.roster_index, 5.0)
    assert [(row.device, row.tokens, row.energy_j) for row in rows(book)[:3]] == [
        ("cuda:0", 64, 9.0)
    ] * 3


async def test_ends_are_told_as_they_are_read(book: PointsDatabase, finished: DutySwarm) -> None:
    told: list[tuple[RoundPlace, RoundOutcome]] = []
    book.on_end = lambda place, outcome: told.append((place, outcome))
    await read(finished, PointsRecorder(book, finished.members[0].key, run_of(finished)))
    assert [(place.round, outcome.state) for place, outcome in told] == [
        (number, "verified") for number in (1, 2, 3)
    ]


async def test_a_book_that_cannot_be_written_costs_no_round(
    tmp_path: Path, book: PointsDatabase, finished: DutySwarm
) -> None:
    points = PointsRecorder(book, finished.members[0].key, run_of(finished))
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        book.file.rows("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        view = await read(finished, points)
        other.execute("ROLLBACK")
    assert view.closed == 3
    assert rows(book) == []


# --- what documents say


def one_round(
    verdict: int, reason: int = 0, trained: int = 0, witnessed: int = 0, share: int = 4
) -> RoundOutcome:
    members = [
        RosterMember(peer=to_text(BO), roles=("trainer", "witness"), speed=0, share=4),
        RosterMember(peer=to_text(ANA), roles=("trainer", "witness"), speed=0, share=share),
    ]
    roster = Roster(members=tuple(members), pool=((0, 4 + share),), train_ms=1)
    slot = SlotResult(
        contribution="",
        verdict=verdict,
        reason=reason,
        windows=0,
        ms=0,
        trainer_gflop=trained,
        witness_gflop=witnessed,
    )
    others = msgspec.structs.replace(slot, trainer_gflop=999, verdict=1, reason=0)
    return closed_outcome(roster, RoundResult(slots=(others, slot)), ANA)


@pytest.mark.parametrize(
    ("found", "state", "reason"),
    [
        (one_round(Verdict.ACCEPTED, trained=5), "verified", ""),
        (one_round(Verdict.ACCEPTED), "verified", ""),
        (one_round(Verdict.NOT_SELECTED), "rejected", "not-selected"),
        (one_round(Verdict.NOT_SELECTED, witnessed=3), "verified", "not-selected"),
        (one_round(Verdict.SILENT), "rejected", "silent"),
        (one_round(Verdict.SILENT, share=0), "verified", "no-points"),
        (one_round(Verdict.SILENT, share=0, witnessed=3), "verified", ""),
        (one_round(Verdict.REJECTED, RejectionReason.COSINE), "rejected", "cosine"),
        (one_round(Verdict.REJECTED, RejectionReason.PAYLOAD_ROOT), "rejected", "payload-root"),
        (one_round(Verdict.REJECTED, RejectionReason.COPY, witnessed=2), "verified", "copy"),
        (one_round(Verdict.REJECTED, 63), "rejected", "reason-63"),
    ],
)
async def test_an_outcome_says_why_training_gave_nothing(
    found: RoundOutcome, state: str, reason: str
) -> None:
    assert (found.state, found.reason) == (state, reason)


async def test_points_of_others_work_count_with_and_without_a_slot() -> None:
    members = [
        RosterMember(peer=to_text(key), roles=("trainer",), speed=0, share=4) for key in (ANA, BO)
    ]
    roster = Roster(members=tuple(members), pool=((0, 8),), train_ms=1)
    slot = SlotResult(
        contribution="",
        verdict=Verdict.ACCEPTED,
        reason=0,
        windows=4,
        ms=1,
        trainer_gflop=70,
        witness_gflop=0,
    )
    away = PeerKey(bytes([5]) * 32)
    gives = msgspec.structs.replace(slot, given=((to_text(BO), 20), (to_text(away), 10)))
    result = RoundResult(slots=(gives, slot))
    author, member, owner = (closed_outcome(roster, result, key) for key in (ANA, BO, away))
    assert (author.trained, author.received, author.gflop) == (70, 0, 70)
    assert (member.trained, member.received, member.gflop) == (70, 20, 90)
    assert (owner.state, owner.trained, owner.received) == ("verified", 0, 10)
    assert [points_db.is_receiver(result, key) for key in (ANA, BO, away)] == [False, True, True]
    assert RoundResult.parse(result.encode()) == result


async def test_documents_without_our_slot_prove_nothing() -> None:
    with pytest.raises(PeerError, match="no slot"):
        closed_outcome(Roster(members=(), pool=(), train_ms=1), RoundResult(slots=()), ANA)
    assert points_db.VOIDED.gflop == 0
