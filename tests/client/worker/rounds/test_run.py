"""The round driver over logs of a swarm in memory: what it starts, drops, retries and dies of.

The deeds are written down instead of done; exchange and clock are the test's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tequio_client.ipc.points import AskLosses
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.worker.ledger.follower import LedgerClock
from tequio_client.worker.ledger.standing import MARGIN_MS, StandingWatch
from tequio_client.worker.points import points
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.gossip import commitment_header
from tequio_client.worker.rounds.join import start_view
from tequio_client.worker.rounds.run import IDLE_RECHECK_S, RunDriver
from tequio_client.worker.shutdown import BrokenRulesError
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import head_refs
from tequio_shared.api.runs import ResumeAnswer
from tequio_shared.errors import PeerError, UserFacingError, first_error
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.network import NetNotice, SoftwareRelease, StandingChange
from tequio_shared.statements.runs import (
    HeadMeasure,
    RoundClose,
    RoundOpen,
    RoundVoid,
    RoundWitness,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry
from tequio_shared.version import BUILD
from tests.support.attackers_peers import until
from tests.support.duty_swarm import DutySwarm
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.rounds.duties import Duty
    from tequio_client.worker.rounds.run import DutyRunner
    from tequio_client.worker.rounds.statements import RunContext
    from tequio_client.worker.store.trees import TreeRef
    from tequio_shared.head.chain import AcceptedSet, Head
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.network.run import RunView
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Statement


pytestmark = pytest.mark.trio


class ScriptedDuties:
    """Records duties; a duty ends when `ends` allows it, or fails with the error in `fails`."""

    def __init__(self, held: Head | None) -> None:
        self.asked_for: list[Head] = []  # of which measures were still taken at the last promotion
        self.measuring = SimpleNamespace(
            last_measured_round=-1, bits_per_byte=None, release_except=self._note_asked
        )
        self.heads = SimpleNamespace(held=held, fetching=None)
        self.statements = SimpleNamespace(
            answered=deque(maxlen=16), sending=0, leave=trio.lowlevel.checkpoint
        )
        self.past = SimpleNamespace(record=lambda _: None, release=lambda: None)
        self.auditing = SimpleNamespace(record=lambda *_: None, may_open=lambda *_: False)
        self.marks = SimpleNamespace(apply=self._note_marked)
        self.marked: list[tuple[int, str]] = []  # entries passed on to be checked
        self.begun: list[Duty] = []
        self.dropped: list[Duty] = []
        self.settled: list[tuple[int, Digest | None]] = []
        self.fails: list[Exception] = []
        self.opened = 0

    def record_opening(self) -> None:
        """Count it."""
        self.opened += 1

    async def perform(self, now: Duty, _view: RunView, _recent: Sequence[AcceptedSet]) -> None:
        """Note the beginning and the end."""
        self.begun.append(now)
        if self.fails:
            raise self.fails.pop(0)
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            self.dropped.append(now)
            raise

    async def _note_marked(self, index: int, statement: Statement, _round: RoundView) -> None:
        self.marked.append((index, statement.type))

    def _note_asked(self, heads: list[Head]) -> None:
        self.asked_for = heads

    async def settle(
        self, round_number: int, accepted: Digest | None, *, is_audited: bool = False
    ) -> None:
        """Note it."""
        assert accepted is None or is_audited, "what was accepted can be audited"
        self.settled.append((round_number, accepted))


class RecordedExchange:
    """Has all documents; records what is gathered and whether the gathering was cancelled."""

    def __init__(self, blobs: dict[Digest, bytes]) -> None:
        self._blobs = blobs
        self.asked: list[Digest] = []
        self.under_way = 0

    async def fetch_blob(self, name: Digest) -> bytes:
        """Have it at hand."""
        await trio.lowlevel.checkpoint()
        return self._blobs[name]

    async def fetch_in_background(self, ref: TreeRef, _: PeerKey) -> None:
        """Never be done with it."""
        self.asked.append(ref.root)
        self.under_way += 1
        try:
            await trio.sleep_forever()
        finally:
            self.under_way -= 1


async def _end_phase(_current: RoundView, _ended_ms: int) -> None:
    await trio.lowlevel.checkpoint()


class DriverRun:
    """A driver for ana, a member of a swarm of three, and the log to feed it from."""

    def __init__(
        self, folder: Path, swarm: DutySwarm, *, is_rich: bool = True, upto: int = -1
    ) -> None:
        self.swarm = swarm
        self.key = swarm.members[0].key
        self.deeds = ScriptedDuties(first_head(swarm.manifest) if is_rich else None)
        self.exchange = RecordedExchange(swarm.blobs)
        self.withheld: set[Digest] = set()
        self._send, self._receive = trio.open_memory_channel[tuple[int, Entry]](1_000)
        self.fed = 0
        self.wall_ms = swarm.now_ms
        self.book = PointsDatabase.opened(folder, self.key)
        self.minimum = MinimumVersion(cast("LedgerApi", None))
        self.announcement = NetworkAnnouncement(cast("LedgerApi", None))
        view, _ = start_view(
            swarm.net, swarm.manifest, ResumeAnswer(after=1, head=None, close=None), None, None
        )
        self.rounds = RunDriver(
            view=view,
            context=cast("RunContext", self._means(folder)),
            runner=cast("DutyRunner", self.deeds),
            standing=StandingWatch(self.key, cast("LedgerApi", None), lambda: self.wall_ms),
            rng=Random(1),
            upto=upto,
        )

    def _means(self, folder: Path) -> SimpleNamespace:
        swarm = self.swarm
        return SimpleNamespace(
            key=self.key,
            is_light=False,
            refs=lambda head: head_refs(swarm.manifest, head),
            store=Store(folder / "store", quota_bytes=10**9),
            withheld=self.withheld,
            exchange=self.exchange,
            prove=swarm.members[0].voice.signer.prove,
            ledger_clock=LedgerClock(lambda: swarm.now_ms),
            minimum=self.minimum,
            announcement=self.announcement,
            points=PointsRecorder(self.book, self.key, to_text(swarm.manifest.run_id)),
            measures_every=0,
            omissions=SimpleNamespace(end_phase=_end_phase),
        )

    async def feed(self, until: type[object] | None = None, times: int = 1) -> None:
        """Hand the log on, up to the entry of that type, and let everybody act."""
        seen = 0
        while self.fed < len(self.swarm.entries) and seen < times:
            entry = self.swarm.entries[self.fed]
            if self.fed >= 2:  # genesis and run.open lie before the view
                await self._send.send((self.fed, entry))
            self.fed += 1
            seen += until is not None and isinstance(entry.statement.body, until)
        await wait_all_tasks_blocked(0.01)

    async def hand_on(self, entry: Entry) -> None:
        """Hand on an entry that is not in the swarm's log."""
        await self._send.send((self.fed, entry))

    async def run(self) -> None:
        """Drive until the run ends."""
        async with self._receive:
            await self.rounds.run(cast("AsyncIterator[tuple[int, Entry]]", self._receive))


@pytest.fixture(scope="module")
def finished() -> DutySwarm:
    """The log of a whole run of two rounds."""
    swarm = DutySwarm(tiny_manifest(most=2))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    swarm.run()
    return swarm


async def test_proofs_of_rounds_that_were_over_are_not_looked_at(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    kinds = [one.statement.type for one in finished.entries]
    upto = kinds.index("round.close") + 1
    play = DriverRun(tmp_path, finished, upto=upto)
    nursery.start_soon(play.run)
    await play.feed()
    assert play.deeds.marked[0][0] == upto + 1
    assert "witness.proof" in {kind for _, kind in play.deeds.marked}


async def test_the_driver_does_what_the_log_calls_for_and_ends_with_the_run(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    assert play.deeds.begun[0] == duties.ReadyDuty(-1)
    assert play.deeds.begun[-1:] == [duties.TrainDuty(1)]
    await play.feed(RoundWitness)
    assert play.deeds.begun[-1:] == [duties.ProveDuty(1)]
    assert duties.TrainDuty(1) in play.deeds.dropped
    await play.feed(RoundClose)
    assert isinstance(play.deeds.begun[-1], duties.AdvanceDuty)
    assert play.deeds.settled == [(1, ZERO_DIGEST)]  # the feedback that its work left
    logged = [(at, one.statement) for at, one in enumerate(finished.entries[: play.fed])]
    assert play.deeds.marked == [
        (at, one.type) for at, one in logged[2:] if one.run is not None and one.round is not None
    ]
    await play.feed()
    assert play.rounds.view.closed == 2


async def test_the_members_of_the_newest_round_are_those_that_others_may_introduce(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    assert not play.rounds.members(), "no round yet"
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    assert set(play.rounds.members()) == {one.key for one in finished.members}


async def test_our_payload_is_withheld_until_our_own_log_has_its_commitment(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    work = [one for one in finished.entries if isinstance(one.statement.body, WorkCommit)]
    ours = [one for one in work if one.statement.author == play.key]
    first, second = (commitment_header(one).payload_root for one in ours)
    play.withheld |= {first, second}
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    assert play.withheld == {first, second}
    await play.feed(RoundWitness)
    assert play.withheld == {second}, "its round has not come"
    await play.feed(RoundWitness)
    assert not play.withheld


async def test_what_drawn_members_say_of_a_head_is_shown_and_kept(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    rules = msgspec.structs.replace(tiny_manifest(most=2), measure=MeasureRules(every=1))
    swarm = DutySwarm(rules)
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    swarm.run()
    play = DriverRun(tmp_path, swarm)
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    assert [head.round for head in play.deeds.asked_for] == [0]
    assert play.rounds.newest_measure.bits_per_byte is None
    play.deeds.measuring.bits_per_byte = 7.9
    own = play.rounds.newest_measure.bits_per_byte
    assert own == pytest.approx(7.9), "our own, while nobody says anything"
    await play.feed(HeadMeasure)
    with trio.fail_after(60):
        # the book is written by a thread
        while play.rounds.newest_measure.bits_per_byte != pytest.approx(7.0):
            await wait_all_tasks_blocked(0.01)
        await play.feed()
        while not (kept := kept_bits(play, rules)):
            await wait_all_tasks_blocked(0.01)
    (number, bits), *_ = kept
    assert (number, round(bits, 6)) == (0, 7.0)


def kept_bits(play: DriverRun, rules: Manifest) -> list[tuple[int, float]]:
    shown = points.read_losses(play.book.file, AskLosses(run=to_text(rules.run_id)))
    return [(one.round, one.bits_per_byte) for one in shown.rows if one.bits_per_byte is not None]


async def test_a_duty_is_not_dropped_while_its_statement_is_on_its_way(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    play.deeds.statements.sending = 1
    await play.feed(RoundWitness)
    assert duties.TrainDuty(1) not in play.deeds.dropped
    play.deeds.statements.sending = 0
    await play.feed(RoundClose)
    assert duties.TrainDuty(1) in play.deeds.dropped
    nursery.cancel_scope.cancel()


async def test_failures_that_may_pass_are_survived(
    tmp_path: Path, finished: DutySwarm, autojump_clock: MockClock
) -> None:
    play = DriverRun(tmp_path, finished, is_rich=False)
    play.deeds.fails = [
        PeerError("lies"),
        LedgerUnavailableError("away"),
        ExceptionGroup("in a nursery", [PeerError("lies")]),
    ]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play.run)
        with trio.fail_after(30):
            while len(play.deeds.begun) < 4:  # noqa: ASYNC110 - others act
                await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert len(set(play.deeds.begun)) == 1


@pytest.mark.parametrize(
    "error",
    [UserFacingError("the disk is full"), LogForkedError("two roots")],
    ids=["a full disk", "a fork"],
)
async def test_what_cannot_pass_ends_the_driver(
    tmp_path: Path, finished: DutySwarm, error: Exception
) -> None:
    play = DriverRun(tmp_path, finished)
    play.deeds.fails = [error]
    with trio.fail_after(5), pytest.raises(ExceptionGroup) as caught:
        await play.run()
    assert first_error(caught.value) is error


async def test_an_entry_that_breaks_the_rules_is_named(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)

    async def driven() -> None:
        with pytest.raises(ExceptionGroup) as caught:
            await play.run()
        error = first_error(caught.value)
        assert isinstance(error, BrokenRulesError)
        assert "entry 2 (round.witness)" in str(error)
        nursery.cancel_scope.cancel()

    play.fed = 2
    nursery.start_soon(driven)
    said = StatementDraft(RoundWitness(commits=0, vrf=to_text(bytes(80))), 1)
    await play.hand_on(finished.sign(finished.coordinator, said, finished.manifest.run_id))
    with trio.fail_after(5):
        await trio.sleep_forever()


async def test_a_void_round_leaves_the_error_feedback_alone(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    swarm = DutySwarm(tiny_manifest(most=2))
    for name in ("ana", "bo", "cleo"):
        swarm.join(name)
    while not any(isinstance(one.statement.body, RoundOpen) for one in swarm.entries):
        assert swarm.step()
    members, swarm.members = swarm.members, []  # nobody says anything any more
    while not any(isinstance(one.statement.body, RoundVoid) for one in swarm.entries):
        assert swarm.step()
    swarm.members = members
    play = DriverRun(tmp_path, swarm)
    nursery.start_soon(play.run)
    await play.feed()
    assert play.deeds.settled == [(1, None)]
    nursery.cancel_scope.cancel()


async def test_contributions_are_gathered_while_their_round_lasts(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    await play.feed(RoundWitness)
    await until(lambda: play.exchange.under_way == 2, 20)
    assert len(play.exchange.asked) == 2, "not our own"
    await play.feed(RoundClose)
    await until(lambda: play.exchange.under_way == 0, 20)
    nursery.cancel_scope.cancel()


async def test_of_what_a_trainer_announces_only_the_first_is_fetched(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    await play.feed(RoundOpen)
    bo = finished.members[1].key
    first, second = commitments(finished, bo)[:2]
    other = commitments(finished, finished.members[2].key)[0]
    for entry, author in (
        (second, bo),  # of another round
        (first, bo),
        (first, bo),
        (other, bo),
        (first, signer("stranger").key),
    ):
        statement = replace(entry.statement, author=author)
        play.rounds.receive_commitment(Entry(((author, bytes(64)),), statement))
    await wait_all_tasks_blocked(0.01)
    assert play.exchange.asked == [commitment_header(first).payload_root]
    nursery.cancel_scope.cancel()


def commitments(swarm: DutySwarm, key: PeerKey) -> list[Entry]:
    return [
        one
        for one in swarm.entries
        if isinstance(one.statement.body, WorkCommit) and one.statement.author == key
    ]


async def test_a_minimum_in_the_log_is_known_while_the_run_goes_on(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    for minimum, wanted in (("0.9.0", "0.9.0"), (BUILD, "")):
        body = SoftwareRelease(
            version="0.9.0", minimum=minimum, targets=to_text(bytes(32)), targets_version=1
        )
        play.fed += 1
        await play.hand_on(finished.sign(finished.organiser, StatementDraft(body), None))
        await wait_all_tasks_blocked(0.01)
        assert play.minimum.wanted == wanted


async def test_an_announcement_in_the_log_is_known_while_the_run_goes_on(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    for text in ("The ledger moves on Sunday.", ""):
        play.fed += 1
        draft = StatementDraft(NetNotice(text=text))
        await play.hand_on(finished.sign(finished.organiser, draft, None))
        await wait_all_tasks_blocked(0.01)
        current = play.announcement.current
        assert (current.text if current else "") == text
    nursery.cancel_scope.cancel()


async def test_who_is_quarantined_waits_for_the_end_of_its_term_and_asks_to_come_back(
    tmp_path: Path, finished: DutySwarm, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    play = DriverRun(tmp_path, finished)
    nursery.start_soon(play.run)
    play.deeds.statements.answered.append(duties.ReadyDuty(-1))
    until = play.wall_ms + 3_600_000
    change = StandingChange(
        peer=to_text(play.key), to="quarantined", cause=2, evidence=(1,), until=until
    )
    await play.hand_on(finished.sign(finished.coordinator, StatementDraft(change), None))
    await wait_all_tasks_blocked(0.01)
    begun = len(play.deeds.begun)
    assert "signed two different commitments for one round" in play.rounds.waiting_reason
    await trio.sleep(3_000)
    assert len(play.deeds.begun) == begun, "nothing is done while the term lasts"
    play.wall_ms = until + MARGIN_MS
    await trio.sleep(IDLE_RECHECK_S + 1)
    assert play.deeds.begun[-1] == duties.ReadyDuty(0), (
        "asked again, after the entry that removed us"
    )
    nursery.cancel_scope.cancel()
