"""Faults of a swarm: each one strikes, lasts, and is over when its function returns.

Programs that a fault has ended are started again on the same folder; nothing is repaired by hand.
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
"""A quarter of a megabit per second each way: sending the model's head takes 6 s."""
DELAY_S = 0.1
"""Delay of each node's connection: 200 ms between any two nodes."""
REFUSED_STATUS = 1
"""Exit status of a program that ends with an error message."""


class FaultAction(Protocol):
    """Strikes the victims and waits until the fault is over."""

    async def __call__(self, swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
        """Return when the cause is gone and every program that was ended runs again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmFault:
    """A fault and its victims; the first victim is the one whose commitment times it."""

    name: str
    act: FaultAction
    victims: tuple[str, ...]


async def kill(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Kill -9, and start them again at once; returns when they run."""
    await swarm.kill(victims)
    for name in victims:
        await swarm.start(name)
    await swarm.all_run(victims)


async def kill_trainer(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Kill -9 the trainer process alone; its worker has to notice."""
    for name in victims:
        trainer = swarm.actors[name].trainer()
        if trainer is None:
            raise AssertionError(f"{name} has no trainer process")
        trainer.kill()


async def freeze(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Suspend the processes as a closed laptop lid does, for two rounds."""
    swarm.signal_all(victims, signal.SIGSTOP)
    await swarm.rounds_over(LASTS_ROUNDS)
    swarm.signal_all(victims, signal.SIGCONT)


async def part(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Cut the victims off from the others for two rounds."""
    swarm.proxy.split(set(victims))
    await swarm.rounds_over(LASTS_ROUNDS)
    swarm.proxy.mend()


async def slow(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Give the victims slow connections for two rounds."""
    for name in victims:
        swarm.proxy.line(name).slow_down(SLOW_BYTES_PER_S)
    await swarm.rounds_closed(LASTS_ROUNDS)
    swarm.proxy.mend()


async def delay(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Delay everything that the victims send and receive, for two rounds."""
    for name in victims:
        swarm.proxy.line(name).delay_s = DELAY_S
    await swarm.rounds_closed(LASTS_ROUNDS)
    swarm.proxy.mend()


async def fill_disk(swarm: FaultSwarm, victims: tuple[str, ...]) -> None:
    """Fill their disks until they log it or end; then free space and restart those that ended."""
    for name in victims:
        before = len(_complaints(swarm, name))
        swarm.disks[name].fill(_pids(swarm, name))
        swarm.actors[name].may_end = True

        def has_noticed(name: str = name, before: int = before) -> bool:
            ended = swarm.actors[name].ended.is_set()
            return ended or len(_complaints(swarm, name)) > before

        await swarm.network.until(f"{name} notices that its disk is full", has_noticed)
        swarm.disks[name].empty(_pids(swarm, name))
    for name in victims:
        await _start_if_ended(swarm, name)


async def _start_if_ended(swarm: FaultSwarm, name: str) -> None:
    """Restart a program that ended over its full disk; one that goes on may not end later."""
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
    """Warnings and errors in the program's log."""
    loud = {"warning", "error", "critical"}
    return [str(one) for one in swarm.actors[name].events() if one.get("level") in loud]


def _pids(swarm: FaultSwarm, name: str) -> list[int]:
    return [process.pid for process in swarm.processes(name)]
