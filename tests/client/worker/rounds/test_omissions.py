"""A worker that sees an attestation: it offers it, and keeps evidence only of what was left out."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.rounds import omissions
from tequio_client.worker.rounds.omissions import OmissionFile, OmissionWatch
from tequio_shared.api.network import PostedStatement
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round import fold
from tequio_shared.round.omission import Omission
from tequio_shared.round.round import RoundPhase
from tests.support.attackers_round import round_of, swarm_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trio.testing import MockClock

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.statements.statement import Entry
    from tests.support.volunteers import Volunteer

pytestmark = pytest.mark.trio


class SlowLedger:
    """Answers after `delay_s`, half of it on each way; logs what it is posted, or drops it."""

    def __init__(self, watched: WatchedRound, delay_s: float, *, drops: bool = False) -> None:
        self._watched = watched
        self._half_s = delay_s / 2
        self._drops = drops
        self.posted: list[Entry] = []

    async def checkpoint(self) -> None:
        await trio.sleep(2 * self._half_s)

    async def post_entries(self, entries: Sequence[Entry]) -> list[PostedStatement]:
        self.posted += entries
        await trio.sleep(self._half_s)
        items = [self._judge(one) for one in entries]
        await trio.sleep(self._half_s)
        return items

    def _judge(self, entry: Entry) -> PostedStatement:
        if self._drops:
            return PostedStatement(id="", status="refused", code="queue-full")
        current = self._watched.current
        try:
            fold.apply(current, 0, entry.statement.author, entry.statement.body, 0)  # type: ignore[arg-type]  # a head.attest
        except RefusedError as err:
            return PostedStatement(id="", status="refused", code=err.code)
        return PostedStatement(id="", status="logged", index=0)


class DeadLedger(SlowLedger):
    async def checkpoint(self) -> None:
        raise LedgerUnavailableError("down")


class WatchedRound:
    """A round that is being attested, seen by the last of its members; a grace of one second."""

    def __init__(self, folder: Path) -> None:
        self.swarm = swarm_in(RunState.WARMUP, logged=2)
        self.current = round_of(self.swarm)
        self.grace_s = self.swarm.manifest.rounds.grace / 1000
        self.absent = [
            one
            for one in self.swarm.volunteers
            if self.current.slot_of[one.key] not in self.current.attests
        ]
        self.file = OmissionFile(folder, self.swarm.manifest.run_id)
        self.start_s = trio.current_time()

    def now_ms(self) -> int:
        return self.swarm.now_ms + int(1000 * (trio.current_time() - self.start_s))

    def attestation(self, author: Volunteer) -> Entry:
        draft = author.duty(self.swarm.view)
        assert draft is not None
        return author.sign(self.swarm.net, self.swarm.manifest.run_id, draft, self.now_ms())

    async def watch(
        self,
        ledger: SlowLedger,
        act: Callable[[OmissionWatch], None],
        ends_after_s: float,
        halfway: Callable[[OmissionWatch], None] = lambda _: None,
    ) -> list[Omission]:
        """The evidence that is left when the phase ends that long after `act`."""
        watch = OmissionWatch(
            signer=self.absent[-1].signer,
            ledger=cast("LedgerApi", ledger),
            net=self.swarm.net,
            view=self.swarm.view,
            now_ms=self.now_ms,
            file=self.file,
            rng=Random(1),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch.run)
            act(watch)
            await trio.sleep(ends_after_s / 2)
            halfway(watch)
            await trio.sleep(ends_after_s / 2)
            self.current.phase = RoundPhase.TRAIN
            await watch.end_phase(self.current, self.now_ms())
            nursery.cancel_scope.cancel()
        return stored(self.file)


def stored(file: OmissionFile) -> list[Omission]:
    return (
        msgspec.json.decode(file.path.read_bytes(), type=list[Omission])
        if file.path.exists()
        else []
    )


async def test_what_the_ledger_drops_is_offered_and_kept(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    place = WatchedRound(tmp_path)
    entry = place.attestation(place.absent[0])
    ledger = SlowLedger(place, 0.05, drops=True)
    (found,) = await place.watch(ledger, lambda watch: watch.receive(entry), place.grace_s)
    assert ledger.posted == [entry]
    assert found.verify() == entry
    assert (found.key, found.answer) == (place.absent[-1].key, "queue-full")
    assert found.offered_ms - found.seen_ms < 1000 * 0.75 * place.grace_s


@pytest.mark.parametrize("delay_s", [0.01, 0.2, 0.4])
async def test_a_member_with_a_dead_line_is_logged_by_way_of_its_peers(
    tmp_path: Path, autojump_clock: MockClock, delay_s: float
) -> None:
    place = WatchedRound(tmp_path)
    entry = place.attestation(place.absent[0])
    ledger = SlowLedger(place, delay_s)
    assert not await place.watch(ledger, lambda watch: watch.receive(entry), place.grace_s)
    assert place.current.slot_of[place.absent[0].key] in place.current.attests


@pytest.mark.parametrize("delay_s", [0.6, 1.0, 2.0, 10.0])
async def test_a_slow_network_gives_no_evidence(
    tmp_path: Path, autojump_clock: MockClock, delay_s: float
) -> None:
    place = WatchedRound(tmp_path)
    entry = place.attestation(place.absent[0])
    ledger = SlowLedger(place, delay_s * place.grace_s)
    assert not await place.watch(ledger, lambda watch: watch.receive(entry), place.grace_s)


async def test_a_ledger_that_does_not_answer_gives_no_evidence(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    place = WatchedRound(tmp_path)
    entry = place.attestation(place.absent[0])
    ledger = DeadLedger(place, 0.0, drops=True)
    assert not await place.watch(ledger, lambda watch: watch.receive(entry), 2 * place.grace_s)


async def test_what_came_too_shortly_before_the_end_is_not_kept(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    place = WatchedRound(tmp_path)
    entry = place.attestation(place.absent[0])
    ledger = SlowLedger(place, 0.01, drops=True)
    assert not await place.watch(ledger, lambda watch: watch.receive(entry), 0.7 * place.grace_s)


async def test_a_flood_of_missing_attestations_is_not_sent_whole(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(omissions, "MAX_OFFERED", 1)
    place = WatchedRound(tmp_path)
    entries = [place.attestation(one) for one in place.absent[:2]]
    ledger = SlowLedger(place, 0.01, drops=True)

    def receive(watch: OmissionWatch) -> None:
        for entry in (*entries, *entries):
            watch.receive(entry)

    assert len(await place.watch(ledger, receive, place.grace_s)) == 1
    assert len(ledger.posted) == 1


async def test_a_copy_that_comes_later_does_not_make_an_attestation_younger(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    place = WatchedRound(tmp_path)
    entry, seen_ms = place.attestation(place.absent[0]), place.now_ms()
    ledger = SlowLedger(place, 0.01, drops=True)

    def receive(watch: OmissionWatch) -> None:
        watch.receive(entry)

    (found,) = await place.watch(ledger, receive, place.grace_s, halfway=receive)
    assert (ledger.posted, found.seen_ms) == ([entry], seen_ms)


@pytest.mark.parametrize("most", [1, 8])
async def test_each_missing_attestation_is_offered_once_and_few_in_a_round(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(omissions, "MAX_OFFERED", most)
    place = WatchedRound(tmp_path)
    first, second = (place.attestation(one) for one in place.absent[:2])
    ledger = SlowLedger(place, 0.01, drops=True)
    await place.watch(
        ledger,
        lambda watch: watch.receive(first),
        2 * place.grace_s,
        halfway=lambda watch: watch.receive(second),
    )
    assert ledger.posted == [first, second][:most]


async def test_a_lot_of_another_key_is_not_watched(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    place = WatchedRound(tmp_path)
    author, other = place.absent[:2]
    draft = other.duty(place.swarm.view)
    assert draft is not None
    forged = author.sign(place.swarm.net, place.swarm.manifest.run_id, draft, place.now_ms())
    ledger = SlowLedger(place, 0.01, drops=True)
    assert not await place.watch(ledger, lambda watch: watch.receive(forged), place.grace_s)
    assert not ledger.posted


def evidence(number: int, leaf: str = "") -> Omission:
    return Omission(
        network=to_text(bytes(32)),
        leaf=leaf,
        seen_ms=number,
        offered_ms=number,
        answer="",
        peer=to_text(bytes(32)),
        signature="",
    )


async def test_the_file_survives_a_restart_and_keeps_the_newest(tmp_path: Path) -> None:
    run = RunId(bytes([1]) * 32)
    OmissionFile(tmp_path, run).append([evidence(1)])
    for number in range(2, omissions.MAX_OMISSIONS + 2):
        OmissionFile(tmp_path, run).append([evidence(number)])
    kept = [one.seen_ms for one in stored(OmissionFile(tmp_path, run))]
    assert kept == list(range(2, omissions.MAX_OMISSIONS + 2))
    long = to_text(bytes(6_000))
    OmissionFile(tmp_path, run).append([evidence(n, long) for n in range(omissions.MAX_OMISSIONS)])
    path = OmissionFile(tmp_path, run).path
    assert path.stat().st_size <= omissions.MAX_FILE_BYTES
    assert stored(OmissionFile(tmp_path, run))[-1].seen_ms == omissions.MAX_OMISSIONS - 1


async def test_a_damaged_file_is_replaced_and_old_runs_give_way(tmp_path: Path) -> None:
    for number in range(omissions.MAX_FILES + 3):
        OmissionFile(tmp_path, RunId(bytes([number]) * 32)).append([evidence(number)])
    assert len(list((tmp_path / omissions.FOLDER).iterdir())) == omissions.MAX_FILES
    last = OmissionFile(tmp_path, RunId(bytes([number]) * 32))
    last.path.write_bytes(b"{")
    last.append([evidence(9)])
    assert [one.seen_ms for one in stored(last)] == [9]
