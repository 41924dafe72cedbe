"""Accelerators of one source, and the merge of several sources into one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec

from tequio_client.ipc.facts import MAX_GPUS, AcceleratorFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tequio_client.ipc.facts import ProbeInstructions


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The accelerators of one source, and a problem with some of them."""

    gpus: tuple[AcceleratorFacts, ...] = ()
    problem: str = ""


class CardSource(Protocol):
    """An interface that lists accelerators; it may hang, and may raise anything."""

    name: str

    def read(self, watch: ProbeInstructions) -> Cards:
        """The state of all its accelerators."""


def merge_cards(parts: Iterable[Cards]) -> tuple[AcceleratorFacts, ...]:
    """One list; for a card that two sources report, the earlier source has priority.

    Sources share no identifier for a card, so the n-th card of a name in one is taken to be the
    n-th of that name in another.
    """
    found: dict[tuple[str, int], AcceleratorFacts] = {}
    for part in parts:
        seen: dict[str, int] = {}
        for gpu in part.gpus:
            nth = seen.get(gpu.name, 0)
            seen[gpu.name] = nth + 1
            known = found.get((gpu.name, nth))
            found[gpu.name, nth] = gpu if known is None else _completed(known, gpu)
    return tuple(_sane(gpu) for gpu in found.values())[:MAX_GPUS]


def without_state(cards: Cards) -> Cards:
    """The same cards without load, temperature and power."""
    return Cards(
        gpus=tuple(
            AcceleratorFacts(id=one.id, name=one.name, memory_mb=one.memory_mb, driver=one.driver)
            for one in cards.gpus
        )
    )


def engine_load(engines: Mapping[str, float]) -> float:
    """Load of a card from the loads of its engines, 0 to 1: that of the busiest."""
    return min(max(engines.values(), default=0.0), 1.0)


def _sane(gpu: AcceleratorFacts) -> AcceleratorFacts:
    # One impossible value of a driver must not cost all facts: the worker refuses an invalid line.
    try:
        return msgspec.convert(msgspec.to_builtins(gpu), AcceleratorFacts)
    except msgspec.ValidationError:
        return AcceleratorFacts(id=gpu.id[:256], name=gpu.name[:256])


def _completed(known: AcceleratorFacts, more: AcceleratorFacts) -> AcceleratorFacts:
    missing = {
        name: getattr(more, name)
        for name in known.__struct_fields__
        if getattr(known, name) in (None, "")
    }
    return msgspec.structs.replace(known, **missing)
