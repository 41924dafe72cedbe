"""A small swarm that lives through many faults: ledger, seed, three trainers and a witness.

All run behind a proxy, so that every connection can be slow, late or cut; the ledger and one
volunteer have their own disks. The model is tiny and a round takes about two seconds, so a fault,
the recovery and two more rounds take only a few seconds.
"""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING

import psutil
import trio

from tequio_client.demo import programs
from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import to_text
from tests.support.log_watch import LogWatch
from tests.support.proxy import NetworkProxy
from tests.support.real_network import NodeAddresses, running_network, start_forked
from tests.support.small_disk import SmallDisk
from tests.support.small_network import CONFIG, RunFiles, found, plan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from pathlib import Path

    from tequio_client.demo.programs import StartProcess
    from tests.support.real_network import RealNetwork, RunningProgram

LEDGER, SEED = "ledger", "seed"
TRAINERS = ("ana", "beto", "citlali")
WITNESS = "donaji"
VOLUNTEERS = (*TRAINERS, WITNESS)
NODES = (*VOLUNTEERS, SEED)
SMALL_DISKS = (LEDGER, "citlali")
QUOTA = ("--quota-gib", "0.0625")
"""The smallest quota. A few hundred rounds fill it; then the store's index stops growing."""
OPTIONS = {
    SEED: ("--heads-every", "1"),
    WITNESS: ("--role", "witness", *QUOTA),
    **dict.fromkeys(TRAINERS, QUOTA),
}
DEADLINE_S = 8
"""Deadline of every phase: how long a round waits for an absent member, once."""
PATIENCE_S = 120.0
"""Deadline for what takes seconds on an idle machine."""
ROUND_PATIENCE_S = 60.0
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
}


def script(rounds: int) -> RunFiles:
    """The small network's run, smaller and quicker, with at most `rounds` rounds."""
    # However busy the machine is, each trainer gets 5 windows, and time for them.
    one = plan(windows=(5, 5), train_s=4.0, deadline_s=DEADLINE_S, rounds=rounds)
    return RunFiles(config={**CONFIG, **SHAPE}, plan=one)


class FaultMoment(Enum):
    """When a fault strikes: after the statement of this type."""

    ATTEST = "round.roster"
    TRAIN = "round.open"
    COMMIT = "work.commit"
    WITNESS = "round.witness"
    CLOSE = "round.close"


class FaultSwarm:
    """The programs of one swarm by name, with controls to start, stop and signal them."""

    def __init__(self, network: RealNetwork, api: LedgerApi, nursery: trio.Nursery) -> None:
        self.network = network
        self.api = api
        self.proxy = NetworkProxy(nursery, self.pids)
        self.watch = LogWatch(api, network.check_alive)
        self.actors: dict[str, RunningProgram] = {}  # those started last
        self.keys: dict[str, str] = {}  # of the volunteers
        self.disks: dict[str, SmallDisk] = {}
        self.organiser = ""

    # --- programs

    def processes(self, name: str) -> list[psutil.Process]:
        """The program and its children that are running."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.actors[name].program.pid)
            return [process, *process.children(recursive=True)]
        return []

    def pids(self) -> dict[str, int]:
        """Process ids of the running programs, by name."""
        return {name: one.pid for name, one in self.actors.items() if one.pid is not None}

    async def start(self, name: str) -> None:
        """Start a program, or start it again, on its folder."""
        if name == LEDGER:
            self.actors[name] = await self.network.ledger(self.organiser)
        elif name == SEED:
            self.actors[name] = self.network.seed(*OPTIONS[SEED])
        else:
            self.actors[name] = self.network.volunteer(name, *OPTIONS.get(name, ()))

    async def all_run(self, names: Iterable[str]) -> None:
        """Wait until volunteers run: a start takes as long as rounds here, on a busy machine."""
        started = [self.actors[name].program for name in names if name in VOLUNTEERS]

        def have_status() -> bool:
            return all(one.status for one in started)

        await self.network.until("volunteers run", have_status, PATIENCE_S)

    async def kill(self, names: Iterable[str]) -> None:
        """Kill -9, all at once; returns when they are gone."""
        gone = [self.actors[name] for name in names]
        for one in gone:
            one.send(signal.SIGKILL)
        for one in gone:
            await one.ended.wait()

    def signal_all(self, names: Iterable[str], number: signal.Signals) -> None:
        """Signal programs and their children."""
        for name in names:
            for process in self.processes(name):
                process.send_signal(number)

    # --- the run

    async def moment(self, moment: FaultMoment, who: str) -> int:
        """Wait for that moment in a round with all volunteers; returns the round.

        COMMIT is the commitment of `who`, if it is a trainer.
        """
        start = self.watch.size
        author = self.keys[who] if moment is FaultMoment.COMMIT and who in TRAINERS else None

        def find() -> int | None:
            for one in self.watch.after(start):
                fits = one.type == moment.value and author in {None, to_text(one.author)}
                if fits and set(self.keys.values()) <= set(self.watch.rosters[one.round or 0]):
                    return one.round
            return None

        return await self.watch.until(f"a moment {moment.name}", find, PATIENCE_S)

    async def up_to_date(self) -> None:
        """Wait until we have read everything that the ledger has published by now."""
        size = (await self.watch.checkpoint()).size

        def find() -> bool | None:
            return self.watch.size >= size or None

        await self.watch.until(f"{size} entries", find, PATIENCE_S)

    async def rounds_over(self, count: int) -> None:
        """Wait until `count` more rounds are over, closed or void."""
        start = self.watch.size

        def find() -> bool | None:
            return len(self.watch.over_after(start)) >= count or None

        await self.watch.until(f"{count} rounds are over", find, count * ROUND_PATIENCE_S)

    async def rounds_closed(self, count: int) -> None:
        """Wait until `count` more rounds have closed."""
        start = self.watch.size

        def find() -> bool | None:
            return len(self.watch.closed_after(start)) >= count or None

        await self.watch.until(f"{count} rounds have closed", find, PATIENCE_S)


@asynccontextmanager
async def opened(
    folder: Path, rounds: int = 10_000, start: StartProcess = start_forked
) -> AsyncIterator[FaultSwarm]:
    """Start the swarm and wait for a closed round with all volunteers; the block's end stops it."""
    with _small_disks(folder) as disks:
        async with (
            running_network(folder, start) as network,
            LedgerApi(network.url) as api,
            trio.open_nursery() as nursery,
        ):
            swarm = FaultSwarm(network, api, nursery)
            swarm.disks = disks
            swarm.organiser = await found(network, script(rounds))
            swarm.actors[LEDGER] = network.actors[0]
            nursery.start_soon(swarm.watch.run)
            await _dawn(swarm)
            yield swarm
            nursery.cancel_scope.cancel()


@contextmanager
def _small_disks(folder: Path) -> Iterator[dict[str, SmallDisk]]:
    disks: dict[str, SmallDisk] = {}
    try:
        for name in SMALL_DISKS:
            disks[name] = SmallDisk(folder / name)
        yield disks
    finally:
        for disk in disks.values():
            disk.unmount()


async def _dawn(swarm: FaultSwarm) -> None:
    """Start everybody behind the proxy, and wait for the first round with all of them."""
    for name in NODES:
        port = programs.free_port()
        swarm.network.places[name] = NodeAddresses(
            ledger=f"http://127.0.0.1:{await swarm.proxy.front(LEDGER, swarm.network.port, name)}",
            port=port,
            front=await swarm.proxy.front(name, port),
        )
        await swarm.start(name)

    await swarm.all_run(VOLUNTEERS)
    swarm.keys = {name: swarm.actors[name].key for name in VOLUNTEERS}
    await swarm.moment(FaultMoment.CLOSE, WITNESS)
