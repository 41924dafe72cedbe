"""One day of a swarm: volunteers come, go and crash, the ledger restarts, the organiser steers.

One scenario, since each event has to happen to a run that has been through the ones before.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_shared.ids import digest_from_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundVoid,
    RunPause,
    RunResume,
)
from tests.support.history import LogHistory
from tests.support.real_network import RealNetwork, running_network, start_with_trainers
from tests.support.small_network import DEADLINE_S, RUN, WIDE, found
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram


WHOLE_DAY_S = 240.0
END_S = 5.0
"""How long a program may take to end after SIGTERM."""
SLOW_LINE_MBIT = 16
WAITING = "statements wait for the ledger"
EXPECTED_WARNINGS = {
    WAITING,  # while it is away
    "no seeds from the ledger",
    "trainer ended, restarting",  # we kill it
}


@dataclass(slots=True, kw_only=True)
class Day:
    """All programs of the swarm, and the history of its log."""

    stage: RealNetwork
    history: LogHistory
    organiser: str
    ledger: RunningProgram
    seed: RunningProgram
    volunteers: list[RunningProgram]

    async def until_closed(self, more: int) -> None:
        """Wait until `more` more rounds have closed."""
        await self.history.read()
        goal = len(self.history.rounds(RoundClose)) + more

        async def holds() -> bool:
            await self.history.read()
            return len(self.history.rounds(RoundClose)) >= goal

        await self.stage.until(f"{goal} rounds closed", holds)

    async def until_training(self) -> int:
        """Wait until a round has just opened; return its number."""
        await self.history.read()
        before = set(self.history.rounds(RoundOpen))

        async def holds() -> bool:
            await self.history.read()
            return self.history.open_round() not in {None, *before}

        await self.stage.until("a new round trains", holds)
        return self.history.open_round() or 0

    async def until_state(self, state: str) -> None:
        """Wait until the run is in that state."""

        async def holds() -> bool:
            return await self.history.state() == state

        await self.stage.until(f"the run is {state}", holds)

    async def until_over(self, number: int) -> None:
        """Wait until that round is closed; it must not be void."""

        async def holds() -> bool:
            await self.history.read()
            return number in self.history.rounds(RoundClose) + self.history.rounds(RoundVoid)

        await self.stage.until(f"round {number} is over", holds)
        assert number not in self.history.rounds(RoundVoid)

    async def steer(self, what: str) -> None:
        """Say what the organiser wants."""
        folder = str(self.stage.folder / "organiser")
        where = ("--ledger", self.stage.url, "--dir", folder)
        await self.stage.command(f"steer-{what}", "run", what, RUN, *where)


@pytest.mark.whole
@pytest.mark.trio
async def test_a_run_outlives_newcomers_leavers_crashes_and_a_ledger_restart(
    tmp_path: Path,
) -> None:
    with trio.fail_after(WHOLE_DAY_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            day = await _dawn(stage, LogHistory(api))
            await day.until_closed(2)
            await _a_newcomer_contributes_in_its_first_round(day)
            await _a_leaver_is_not_waited_for(day)
            await _the_ledger_restarts_within_a_round(day)
            await _a_killed_trainer_is_replaced(day)
            await _the_organiser_pauses_and_resumes(day)
            await _the_organiser_ends_the_run(day)
            await _strangers_audit_it(day)
            await _everybody_ends_at_once(day)
            _check_history(day.history)
            _check_logs(day.stage)


async def _dawn(stage: RealNetwork, history: LogHistory) -> Day:
    """Found the network, open the run, and let three volunteers begin."""
    organiser = await found(stage, WIDE)
    ledger = stage.actors[0]
    seed = stage.seed("--heads-every", "1")
    volunteers = [stage.volunteer(name) for name in ("ana", "beto", "citlali")]
    return Day(
        stage=stage,
        history=history,
        organiser=organiser,
        ledger=ledger,
        seed=seed,
        volunteers=volunteers,
    )


async def _a_newcomer_contributes_in_its_first_round(day: Day) -> None:
    history = day.history
    newcomer = day.stage.volunteer("donaji", "--download-mbit", str(SLOW_LINE_MBIT))

    async def is_listed() -> bool:
        await history.read()
        known = newcomer.program.status is not None
        return known and history.first_round_with(newcomer.key) is not None

    await day.stage.until("the newcomer is in a roster", is_listed)
    first = history.first_round_with(newcomer.key) or 0
    await day.until_over(first)
    assert newcomer.key in history.committed(first)
    assert all(one.key in history.committed(first) for one in day.volunteers)
    (ready,) = history.statements_by(newcomer.key, MemberReady)
    rosters_between = [
        one
        for one in history.statements[history.statements.index(ready) :]
        if one.type == "round.roster" and (one.round or 0) < first
    ]
    assert not rosters_between, "it was ready, and a round began without it"
    await trio.to_thread.run_sync(_check_fetched_head, day, newcomer)
    day.volunteers.append(newcomer)


def _check_fetched_head(day: Day, newcomer: RunningProgram) -> None:
    """The newcomer's first head came from several peers and has the root in the log."""
    (fetched,) = newcomer.events("head fetched")
    assert len(fetched["sources"]) >= 2, fetched
    (promoted,) = [
        body
        for one, body in day.history.all_of(HeadPromote)
        if (one.round or 0) == fetched["round"]
    ]
    root = digest_from_text(promoted.weights_root)
    size = sum(fetched["sources"].values())
    seeds_store = Store(day.stage.folder / "seed" / "store", quota_bytes=1 << 30)
    content = seeds_store.tree_path(root).read_bytes()
    assert size == len(content)
    assert hash_bytes(content, PIECE_BYTES).ref.root == root


async def _a_leaver_is_not_waited_for(day: Day) -> None:
    leaver, history = day.volunteers.pop(1), day.history
    await day.until_training()
    leaver.send(signal.SIGTERM)
    assert await leaver.wait_ended(allowed_s(END_S)) == 0
    await day.until_closed(3)
    (left,) = history.statements_by(leaver.key, MemberLeave)
    at = history.statements.index(left)
    closed = [one.round or 0 for one in history.statements[at:] if isinstance(one.body, RoundClose)]
    assert all(leaver.key not in history.rosters[number] for number in closed[1:])
    assert all(history.seconds(number) < DEADLINE_S / 2 for number in closed)


async def _the_ledger_restarts_within_a_round(day: Day) -> None:
    history = day.history
    number = await day.until_training()
    before = await history.checkpoint()
    day.ledger.send(signal.SIGTERM)
    assert await day.ledger.wait_ended(allowed_s(END_S)) == 0
    mark = {one.name: len(list(one.events(WAITING))) for one in day.volunteers}
    await day.stage.until(
        "somebody has something to say and cannot",
        lambda: any(len(list(one.events(WAITING))) > mark[one.name] for one in day.volunteers),
    )
    day.ledger = await day.stage.ledger(day.organiser)
    assert (await history.check_continues(before)).size >= before.size
    await day.until_over(number)
    assert history.committed(number) == {one.key for one in day.volunteers}
    await day.until_closed(2)


async def _a_killed_trainer_is_replaced(day: Day) -> None:
    victim = day.volunteers[0]
    number = await day.until_training()
    trainer = victim.trainer()
    assert trainer is not None
    trainer.kill()

    def is_replaced() -> bool:
        new = victim.trainer()
        return new is not None and new.pid != trainer.pid

    await day.stage.until("a new trainer runs", is_replaced)
    await day.until_over(number)
    assert victim.key in day.history.committed(number)
    await day.until_closed(1)
    assert victim.key in day.history.committed(day.history.rounds(RoundClose)[-1])


async def _the_organiser_pauses_and_resumes(day: Day) -> None:
    history = day.history
    await day.steer("pause")
    await day.until_state("paused")
    await day.steer("resume")
    await day.until_closed(1)
    ((paused, _),) = history.all_of(RunPause)
    ((resumed, _),) = history.all_of(RunResume)
    between = history.statements[
        history.statements.index(paused) : history.statements.index(resumed)
    ]
    over = [one.type for one in between if one.type in {"round.close", "round.roster"}]
    assert "round.roster" not in over, "a round began while the organiser wanted a pause"


async def _the_organiser_ends_the_run(day: Day) -> None:
    for one in day.volunteers:
        one.may_end = True
    await day.steer("finish")
    await day.until_state("finished")
    for one in day.volunteers:
        assert await one.wait_ended(30.0) == 0
    assert len({one.status.head for one in day.volunteers}) == 1


async def _strangers_audit_it(day: Day) -> None:
    """Once with the seed's folder, once over libp2p from the seed that runs."""
    store = str(day.stage.folder / "seed" / "store")
    where = ("--ledger", day.stage.url)
    said = await day.stage.command("audit-store", "audit", *where, "--store", store)
    assert "Everything holds" in said
    said = await day.stage.command("audit-net", "audit", *where)
    assert "Everything holds" in said


async def _everybody_ends_at_once(day: Day) -> None:
    await day.history.read()
    for one in (day.seed, day.ledger):
        one.send(signal.SIGTERM)
        assert await one.wait_ended(allowed_s(END_S)) == 0


def _check_history(history: LogHistory) -> None:
    assert not history.rounds(RoundVoid)
    assert all(len(heads) == 1 for heads in history.heads().values())


def _check_logs(stage: RealNetwork) -> None:
    """No traceback, no error, and no warning that nothing in this day explains."""
    for actor in stage.actors:
        assert "Traceback" not in actor.program.log.read_text(), actor.name
        loud = [one for one in actor.events() if one.get("level") in {"warning", "error"}]
        strange = [one for one in loud if one["event"] not in EXPECTED_WARNINGS]
        assert not strange, (actor.name, strange)
