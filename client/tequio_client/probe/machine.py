"""The facts about this machine, read from every source in its own thread.

A line of facts goes to standard output at intervals, until the parent stops reading. Standard input
states which processes are ours (`ProbeInstructions`), and its end ends the probe. An invalid line
is skipped: the worker repeats itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import msgspec

from tequio_client.ipc import facts
from tequio_client.ipc.facts import (
    MAX_GPUS,
    AcceleratorFacts,
    MachineFacts,
    ProbeHealth,
    ProbeInstructions,
)
from tequio_client.platform.asker import SourceAnswer, SourcePoller
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from tequio_client.probe.cpu import MainMemory

T = TypeVar("T")
TIMEOUT_S = 3.0
"""Time after which a call counts as hanging."""
ANSWER_SHARE = 0.3
"""Share of the interval between two lines in which sources may answer for the next one."""
IDLE_FACTOR = 2
"""Factor of the interval while the worker does not compute: nothing is urgent then."""
QUIET_REASON = "not read on battery, so that the card can sleep"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSources:
    """The sources of one system, as `sources` lists them."""

    cards: Sequence[CardSource]
    cpu_name: Callable[[], str]
    others_cpu: Callable[[ProbeInstructions], float | None]
    cpu_temperature_c: Callable[[], float]
    memory: Callable[[], MainMemory]
    on_battery: Callable[[], bool]
    is_saving: Callable[[], bool]
    names: dict[str, str] = field(default_factory=dict)
    """The interface behind a fact, for the health page."""


class Machine:
    """Asks all sources and composes their latest answers."""

    def __init__(self, sources: FactSources, *, timeout_s: float = TIMEOUT_S) -> None:
        self._sources = sources
        self.watch = ProbeInstructions()  # set by the thread that reads standard input
        self._cpu_name = ""
        self._known: dict[str, Cards] = {}  # by source: its cards, as last read
        asker = partial(SourcePoller, timeout_s=timeout_s)
        self._cards: dict[str, SourcePoller[Cards]] = {
            one.name: asker(partial(self._read_cards, one)) for one in sources.cards
        }
        self._others_cpu: SourcePoller[float] = asker(lambda: sources.others_cpu(self.watch))
        self._temperature: SourcePoller[float] = asker(sources.cpu_temperature_c)
        self._memory: SourcePoller[MainMemory] = asker(sources.memory)
        self._battery: SourcePoller[bool] = asker(sources.on_battery)
        self._saving: SourcePoller[bool] = asker(sources.is_saving)
        self._name: SourcePoller[str] = asker(sources.cpu_name)
        rest = (self._others_cpu, self._temperature, self._memory, self._battery, self._saving)
        self._pollers: list[SourcePoller[Any]] = [*self._cards.values(), *rest]  # of any fact

    def ask(self) -> None:
        """Ask every source that has no call in progress; returns at once."""
        for poller in self._pollers:
            poller.poll()
        if not self._cpu_name:
            self._name.poll()

    def wait(self, timeout_s: float) -> None:
        """Wait up to `timeout_s` for all sources together."""
        share_s = timeout_s / len(self._pollers)
        for poller in self._pollers:
            poller.wait(share_s)
        self._name.wait(share_s)

    def facts(self) -> MachineFacts:
        """The latest answers of all sources; what is unknown is None."""
        health: list[ProbeHealth] = []
        gpus = self._gpus(health)
        memory = _latest("memory", self._memory, "psutil", health)
        self._cpu_name = self._cpu_name or self._name.latest().value or ""
        name = self._sources.names.get
        return MachineFacts(
            gpus=gpus,
            cpu_name=self._cpu_name,
            cores=os.cpu_count() or 1,
            others_cpu=_latest("cpu", self._others_cpu, "psutil", health),
            cpu_temperature_c=_latest(
                "cpu-temperature", self._temperature, name("cpu-temperature", "none"), health
            ),
            memory_mb=None if memory is None else memory.total_mb,
            free_memory_mb=None if memory is None else memory.free_mb,
            on_battery=_latest("battery", self._battery, name("battery", "none"), health),
            is_saving_power=_latest(
                "power-saver", self._saving, name("power-saver", "none"), health
            ),
            health=tuple(health),
        )

    def _read_cards(self, source: CardSource) -> Cards:
        known = self._known.get(source.name)
        # Read once even if quiet: no cards would mean that the computer has none.
        if known is None or not self.watch.is_quiet:
            return source.read(self.watch)
        # Even an open driver library keeps a card awake, so it is closed, not only left unread.
        if close := getattr(source, "close", None):
            close()
        return replace(without_state(known), problem=QUIET_REASON)

    def _gpus(self, health: list[ProbeHealth]) -> tuple[AcceleratorFacts, ...] | None:
        parts: list[Cards] = []
        is_complete = True
        for name, asker in self._cards.items():
            answer = asker.latest()
            problem = answer.error if answer.value is None else answer.value.problem
            health.append(_fact("gpu", name, answer, problem))
            if answer.value is None:
                is_complete = False
                parts.append(without_state(self._known.get(name, Cards())))
            else:
                self._known[name] = answer.value
                parts.append(answer.value)
        gpus = merge_cards(parts)
        listed = {gpu.name for gpu in gpus}
        completing = (one.name for part in parts for one in part.completing)
        unlisted = [name for name in completing if name not in listed]
        if unlisted and is_complete:
            error = f"no driver answers for {', '.join(unlisted)}"[:512]
            health.append(ProbeHealth(name="gpu", source="driver", ok=False, error=error))
            is_complete = bool(gpus)
        # While a source is silent, no list is not the same as no card.
        return gpus if gpus or is_complete else None


def _latest(name: str, asker: SourcePoller[T], source: str, health: list[ProbeHealth]) -> T | None:
    answer = asker.latest()
    health.append(_fact(name, source, answer, answer.error))
    return answer.value


def _fact(name: str, source: str, answer: SourceAnswer[T], problem: str) -> ProbeHealth:
    return ProbeHealth(
        name=name,
        source=source,
        ok=answer.is_ok and not problem,
        error=problem[:512],
        took_ms=answer.took_ms,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The accelerators of one source, and a problem with some of them."""

    gpus: tuple[AcceleratorFacts, ...] = ()
    completing: tuple[AcceleratorFacts, ...] = ()
    """Facts about cards that only another source can list, since this one lacks their serials."""
    problem: str = ""


class CardSource(Protocol):
    """An interface that lists accelerators; it may hang, and may raise anything."""

    name: str

    def read(self, watch: ProbeInstructions) -> Cards: ...


def merge_cards(parts: Iterable[Cards]) -> tuple[AcceleratorFacts, ...]:
    """One list; for a card that two sources report, the earlier source has priority.

    Sources share no identifier for a card, so the n-th card of a name in one is taken to be the
    n-th of that name in another.
    """
    found: dict[tuple[str, int], AcceleratorFacts] = {}
    for part in parts:
        seen: dict[str, int] = {}
        for gpu in (*part.gpus, *part.completing):
            nth = seen.get(gpu.name, 0)
            seen[gpu.name] = nth + 1
            known = found.get((gpu.name, nth))
            if known is not None:
                found[gpu.name, nth] = _completed(known, gpu)
            elif gpu in part.gpus:
                found[gpu.name, nth] = gpu
    return tuple(_sane(gpu) for gpu in found.values())[:MAX_GPUS]


def without_state(cards: Cards) -> Cards:
    """The same cards without load, temperature and power."""
    gpus, completing = (
        tuple(map(without_readings, part)) for part in (cards.gpus, cards.completing)
    )
    return Cards(gpus=gpus, completing=completing)


def without_readings(gpu: AcceleratorFacts) -> AcceleratorFacts:
    return AcceleratorFacts(
        id=gpu.id, name=gpu.name, serial=gpu.serial, memory_mb=gpu.memory_mb, driver=gpu.driver
    )


def engine_load(engines: Mapping[str, float]) -> float:
    """Load of a card from the loads of its engines, 0 to 1: that of the busiest."""
    return min(max(engines.values(), default=0.0), 1.0)


def _sane(gpu: AcceleratorFacts) -> AcceleratorFacts:
    # One impossible value of a driver must not cost all facts: the worker refuses an invalid line.
    try:
        return msgspec.convert(msgspec.to_builtins(gpu), AcceleratorFacts)
    except msgspec.ValidationError:
        return AcceleratorFacts(id=gpu.id[:256], name=gpu.name[:256], serial=gpu.serial[:256])


def _completed(known: AcceleratorFacts, more: AcceleratorFacts) -> AcceleratorFacts:
    missing = {
        name: getattr(more, name)
        for name in known.__struct_fields__
        if getattr(known, name) in (None, "")
    }
    return msgspec.structs.replace(known, **missing)


def serve(machine: Machine, every_s: float) -> NoReturn:
    """Write facts until the output is closed, the input ends or the parent is gone.

    A line comes every `every_s` seconds while the worker computes, else at `IDLE_FACTOR` times that
    interval.
    """
    threading.Thread(target=_listen, args=(sys.stdin.buffer, machine), daemon=True).start()
    due_s = time.monotonic()
    while True:
        machine.ask()
        machine.wait(every_s * ANSWER_SHARE)
        _write(facts.encode(machine.facts()))
        pause_s = every_s if machine.watch.is_computing else every_s * IDLE_FACTOR
        now_s = time.monotonic()
        due_s = max(due_s + pause_s, now_s)  # no burst of lines after the machine slept
        time.sleep(due_s - now_s)


def _write(line: bytes) -> None:
    left = memoryview(line)
    try:
        while left:
            left = left[os.write(sys.stdout.fileno(), left) :]
    except OSError:
        os._exit(0)


def _listen(lines: IO[bytes], machine: Machine) -> NoReturn:
    while line := lines.readline(facts.LINE_BYTES + 1):
        with contextlib.suppress(MalformedError):
            machine.watch = facts.decode_instructions(line)
    os._exit(0)  # an ordinary exit would wait for calls that hang
