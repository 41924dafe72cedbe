"""What one source knows of the accelerators, and how several sources come to one list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec

from tequio_client.ipc.facts import GPUS, Gpu

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tequio_client.ipc.facts import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The accelerators of one source, and what went wrong with some of them."""

    gpus: tuple[Gpu, ...] = ()
    problem: str = ""


class CardSource(Protocol):
    """An interface that knows accelerators; may hang, and may raise anything."""

    name: str

    def read(self, watch: Watch) -> Cards:
        """All accelerators that it knows, now."""


def merged(parts: Iterable[Cards]) -> tuple[Gpu, ...]:
    """One list; of a card that two sources know, the earlier source's word goes first.

    Sources share no number for a card, but they list cards of one name in the same order.
    """
    found: dict[tuple[str, int], Gpu] = {}
    for part in parts:
        seen: dict[str, int] = {}
        for gpu in part.gpus:
            nth = seen.get(gpu.name, 0)
            seen[gpu.name] = nth + 1
            known = found.get((gpu.name, nth))
            found[gpu.name, nth] = gpu if known is None else _completed(known, gpu)
    return tuple(_sane(gpu) for gpu in found.values())[:GPUS]


def unread(cards: Cards) -> Cards:
    """The same cards with nothing said about what they are doing."""
    return Cards(
        gpus=tuple(
            Gpu(id=one.id, name=one.name, memory_mb=one.memory_mb, driver=one.driver)
            for one in cards.gpus
        )
    )


def busiest(engines: Mapping[str, float]) -> float:
    """How busy a card is whose engines are so busy, each 0 to 1 by several programs together."""
    return min(max(engines.values(), default=0.0), 1.0)


def _sane(gpu: Gpu) -> Gpu:
    """The card without what no card can say: the reader of the line would refuse all of it."""
    try:
        return msgspec.convert(msgspec.to_builtins(gpu), Gpu)
    except msgspec.ValidationError:
        return Gpu(id=gpu.id[:256], name=gpu.name[:256])


def _completed(known: Gpu, more: Gpu) -> Gpu:
    missing = {
        name: getattr(more, name)
        for name in known.__struct_fields__
        if getattr(known, name) in (None, "")
    }
    return msgspec.structs.replace(known, **missing)
