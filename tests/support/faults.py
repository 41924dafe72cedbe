"""What befalls a swarm: each fault strikes, lasts, and is over when its function returns.

Programs that a fault has ended are started again on what they left behind; nobody mends anything
by hand.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import trio

if TYPE_CHECKING:
    from tests.support.fault_swarm import FaultSwarm

LASTS_ROUNDS = 2
SLOW_BYTES_PER_S = 32 << 10
"""A quarter of a megabit each way: the model's head takes 6 s."""
DELAY_S = 0.1
"""On the line of everybody: 200 ms from each to each."""
REFUSED_STATUS = 1
"""Of a program that ends with a sentence about what is wrong."""


class Act(Protocol):
    """Strike, last, be over."""

    async def __call__(self, swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
        """Return when the cause is gone and everything that was ended runs again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row's fault: what, and whom it strikes; the first victim is the one who commits."""

    name: str
    act: Act
    victims: tuple[str, ...]


async def kill(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Kill -9, and start them again at once."""
    await swarm.kill(victims)
    for name in victims:
        await swarm.start(name)


async def kill_trainer(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Kill -9 the trainer process alone; its worker has to notice."""
    for name in victims:
        trainer = swarm.actors[name].trainer()
        if trainer is None:
            raise AssertionError(f"{name} has no trainer process")
        trainer.kill()


async def freeze(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Stop the processes as a closed lid does, for two rounds."""
    swarm.signal_all(victims, signal.SIGSTOP)
    await swarm.rounds_over(LASTS_ROUNDS)
    swarm.signal_all(victims, signal.SIGCONT)


async def part(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Cut these off from the others for two rounds."""
    swarm.proxy.split(set(victims))
    await swarm.rounds_over(LASTS_ROUNDS)
    swarm.proxy.mend()


async def slow(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Give them slow lines for two rounds."""
    for name in victims:
        swarm.proxy.line(name).slow_down(SLOW_BYTES_PER_S)
    await swarm.rounds_closed(LASTS_ROUNDS)
    swarm.proxy.mend()


async def delay(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Let everything reach and leave them late, for two rounds."""
    for name in victims:
        swarm.proxy.line(name).delay_s = DELAY_S
    await swarm.rounds_closed(LASTS_ROUNDS)
    swarm.proxy.mend()


async def fill_disk(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Fill their disks until they say so, or end; then make room, and start what has ended."""
    for name in victims:
        before = len(_complaints(swarm, name))
        swarm.disks[name].fill(_pids(swarm, name))
        swarm.actors[name].may_end = True

        def has_noticed(name: str = name, before: int = before) -> bool:
            ended = swarm.actors[name].ended.is_set()
            return ended or len(_complaints(swarm, name)) > before

        await swarm.stage.until(f"{name} notices that its disk is full", has_noticed)
        swarm.disks[name].empty(_pids(swarm, name))
    for name in victims:
        await _start_if_ended(swarm, name)


async def _start_if_ended(swarm: FaultSwarm, name: str) -> None:
    """A program may end over a full disk, with a sentence; one that goes on has to go on."""
    actor = swarm.actors[name]
    with trio.move_on_after(GIVES_UP_S):
        await actor.ended.wait()
    if actor.ended.is_set():
        assert actor.exit_status == REFUSED_STATUS, f"{name} ended with {actor.exit_status}"
        await swarm.start(name)
    else:
        actor.may_end = False


GIVES_UP_S = 5.0
"""How long a program that met a full disk may take to end, if it is going to."""


def _complaints(swarm: FaultSwarm, name: str) -> list[str]:
    """What the program has warned of."""
    loud = {"warning", "error", "critical"}
    return [str(one) for one in swarm.actors[name].events() if one.get("level") in loud]


def _pids(swarm: FaultSwarm, name: str) -> list[int]:
    return [process.pid for process in swarm.processes(name)]
