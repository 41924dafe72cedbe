"""A run of real programs goes back to an earlier head: the next round starts from it everywhere."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.store.store import Store
from tequio_shared.ids import digest_from_text, key_from_text
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundVoid,
    RunRollback,
)
from tests.support.history import LogHistory
from tests.support.real_network import RealNetwork, running_network, start_with_trainers
from tests.support.small_network import RUN, found
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram

WHOLE_S = 360.0
BACK_TO = 1
ANNOUNCED, REASON = "New data on Sunday.", "The loss rises: we go back."


@dataclass(slots=True, kw_only=True)
class RolledBackSwarm:
    """The programs, the history of their log, and the ledger's API."""

    stage: RealNetwork
    history: LogHistory
    api: LedgerApi
    organiser: str
    ledger: RunningProgram
    volunteers: list[RunningProgram]

    async def organise(self, *words: str, exit_status: int = 0) -> str:
        """Run one of the organiser's commands."""
        folder = str(self.stage.folder / "organiser")
        where = ("--ledger", self.stage.url, "--dir", folder)
        name = f"organise-{len(self.stage.actors)}-{words[1]}"
        return await self.stage.command(name, *words, *where, exit_status=exit_status)

    async def until_closed(self, count: int) -> None:
        async def holds() -> bool:
            await self.history.read()
            return len(self.history.rounds(RoundClose)) >= count

        await self.stage.until(f"{count} rounds closed", holds)

    async def until_state(self, state: str) -> None:
        async def holds() -> bool:
            return await self.history.state() == state

        await self.stage.until(f"the run is {state}", holds)

    async def points(self) -> dict[str, int]:
        """Points of the first three volunteers, as the ledger reports them."""
        keys = [one.key for one in self.volunteers[:3]]
        return {key: (await self.api.peer(key_from_text(key))).gflop for key in keys}

    def promoted(self) -> dict[int, HeadPromote]:
        return {one.round or 0: body for one, body in self.history.all_of(HeadPromote)}


@pytest.mark.whole
@pytest.mark.trio
async def test_members_go_on_from_an_older_head_and_keep_their_points(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            organiser = await found(stage)
            ledger = stage.actors[0]
            seed = stage.seed()
            swarm = RolledBackSwarm(
                stage=stage,
                history=LogHistory(api),
                api=api,
                organiser=organiser,
                ledger=ledger,
                volunteers=[stage.volunteer(name) for name in ("ana", "beto", "citlali")],
            )
            await swarm.until_closed(3)
            refused = ("run", "rollback", RUN, "--round", "1", "--yes")
            assert "only a paused run" in await _refused(swarm, *refused)
            await swarm.organise("run", "announce", RUN, "--text", ANNOUNCED)
            await swarm.organise("run", "pause", RUN, "--reason", REASON)
            await swarm.until_state("paused")
            before = await swarm.points()
            await _volunteers_are_told(swarm, "ana", reason=REASON)
            await _goes_back(swarm)
            await _a_member_and_the_ledger_restart(swarm)
            # One that joined after the notices reads them from the log, too.
            await _volunteers_are_told(swarm, "citlali", reason=REASON)
            await swarm.organise("run", "resume", RUN)
            await swarm.until_closed(len(swarm.history.rounds(RoundClose)) + 2)
            swarm.volunteers.append(stage.volunteer("donaji"))
            await swarm.until_closed(len(swarm.history.rounds(RoundClose)) + 2)
            await _volunteers_are_told(swarm, "donaji", reason="")
            after = await swarm.points()
            assert all(after[key] >= points > 0 for key, points in before.items())
            await _ends(swarm)
            _check_rounds(swarm)
            for one in (seed, swarm.ledger):
                one.send(signal.SIGTERM)
                assert await one.wait_ended(allowed_s(10.0)) == 0


async def _volunteers_are_told(swarm: RolledBackSwarm, name: str, reason: str) -> None:
    """`tequio status` of that volunteer shows the announcement, and the reason while it lasts."""
    folder, said = str(swarm.stage.folder / name), ""

    async def holds() -> bool:
        nonlocal said
        said = await swarm.stage.command(f"status-{name}", "status", "--dir", folder)
        return f"From its organisers: {ANNOUNCED}" in said

    await swarm.stage.until(f"{name} is told", holds)
    assert (f"Paused by its organisers: {reason}" in said) is bool(reason)


async def _refused(swarm: RolledBackSwarm, *words: str) -> str:
    name = f"organise-{len(swarm.stage.actors)}-{words[1]}"
    await swarm.organise(*words, exit_status=1)
    return (swarm.stage.folder / "logs" / f"{name}.log").read_text()


async def _goes_back(swarm: RolledBackSwarm) -> None:
    """The organiser goes back to the head of round 1: every member soon holds it."""
    before = await swarm.points()
    said = await swarm.organise("run", "rollback", RUN, "--round", str(BACK_TO), "--yes")
    assert "starts from that head" in said
    await swarm.history.read()
    ((_, body),) = swarm.history.all_of(RunRollback)
    assert body.head == swarm.promoted()[BACK_TO].head

    def all_hold_it() -> bool:
        return all(one.status.head_round == BACK_TO for one in swarm.volunteers)

    await swarm.stage.until("every member holds the old head", all_hold_it)
    assert {one.status.head for one in swarm.volunteers} == {body.head}
    assert await swarm.points() == before
    store, root = swarm.stage.folder / "seed" / "store", digest_from_text(body.weights_root)
    await swarm.stage.until(
        "the seed has it, though it is not one of every ten",
        lambda: Store(store, quota_bytes=1 << 30).has_tree(root),
    )
    (run,) = await swarm.api.runs()
    assert (run.head, run.head_round, run.state) == (body.head, BACK_TO, "paused")
    assert [one.head_round for one in run.rollbacks] == [BACK_TO]
    assert "went back" in await swarm.stage.command("show", "run", "show", RUN, *_where(swarm))


def _where(swarm: RolledBackSwarm) -> tuple[str, str]:
    return "--ledger", swarm.stage.url


async def _a_member_and_the_ledger_restart(swarm: RolledBackSwarm) -> None:
    """Both begin again after the rollback, from what they stored."""
    leaver = swarm.volunteers.pop()
    leaver.send(signal.SIGKILL)
    await leaver.wait_ended(allowed_s(5.0))
    swarm.ledger.send(signal.SIGTERM)
    assert await swarm.ledger.wait_ended(allowed_s(5.0)) == 0
    swarm.ledger = await swarm.stage.ledger(swarm.organiser)
    (run,) = await swarm.api.runs()
    assert (run.head_round, run.state) == (BACK_TO, "paused")
    again = swarm.stage.volunteer("citlali")
    await swarm.stage.until(
        "it holds the old head again",
        lambda: again.program.status is not None and again.status.head_round == BACK_TO,
    )
    swarm.volunteers.append(again)


async def _ends(swarm: RolledBackSwarm) -> None:
    """The run ends with one head, and strangers find that everything holds."""
    for one in swarm.volunteers:
        one.may_end = True
    await swarm.organise("run", "finish", RUN)
    await swarm.until_state("finished")
    for one in swarm.volunteers:
        assert await one.wait_ended(30.0) == 0
    assert len({one.status.head for one in swarm.volunteers}) == 1
    folders = [str(swarm.stage.folder / name / "store") for name in ("seed", "ana", "beto")]
    stores = [word for folder in folders for word in ("--store", folder)]
    said = await swarm.stage.command("audit", "audit", *_where(swarm), *stores)
    assert "Everything holds" in said
    assert "rollbacks of runs" in said


def _check_rounds(swarm: RolledBackSwarm) -> None:
    history, promoted = swarm.history, swarm.promoted()
    ((_, body),) = history.all_of(RunRollback)
    last = body.last_round
    assert not history.rounds(RoundVoid)
    openings = {one.round or 0: body for one, body in history.all_of(RoundOpen)}
    assert openings[last + 1].head == promoted[BACK_TO].head
    assert promoted[last + 1].parent == promoted[BACK_TO].head
    assert promoted[last + 2].parent == promoted[last + 1].head
    assert all(len(heads) == 1 for heads in history.heads().values())
    members = {one.key for one in swarm.volunteers[:3]}
    assert members <= history.committed(last + 1), "all of them trained on from the old head"
