"""Whether this computer can take part: a plain verdict on each thing that it takes. Pure.

A verdict is a code with its values; `check_words` says it. What nobody answered in time is said to
be unknown, and never taken for fine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tequio_client.link.preferences import most_memory_mb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_client.link.facts import Gpu, MachineFacts
    from tequio_client.link.preferences import Preferences

OLDEST_NVIDIA = 525
"""The first driver line that runs what CUDA 12 compiled."""
LITTLE_MB = 4_096
"""Less than this trains none of the models that people train here."""
GIB = 1 << 30
LEAST_STORE_GIB = 5
_CUDA = "cuda"


class Level(StrEnum):
    """How a thing stands."""

    WAITING = "waiting"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one thing stands, and why."""

    about: str
    """`card`, `driver`, `disk` or `network`."""
    level: Level
    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What came of the question to the ledger."""

    runs: int | None = None
    """Open ones; None: no answer."""
    problem: str = ""


def verdicts(
    machine: MachineFacts,
    preferences: Preferences,
    free_bytes: int | None,
    network: Network,
    *,
    is_over: bool,
) -> tuple[Verdict, ...]:
    """Everything that there is to say; `is_over`: what has not answered by now does not."""
    card = best_card(machine)
    return (
        _card(machine, card, preferences, is_over=is_over),
        _driver(machine, card, is_over=is_over),
        _disk(preferences, free_bytes),
        _network(network, is_over=is_over),
    )


def best_card(machine: MachineFacts) -> Gpu | None:
    """The accelerator with most memory."""
    return max(machine.gpus or (), key=lambda one: one.memory_mb or 0, default=None)


def wants_role(machine: MachineFacts) -> bool:
    """Whether it is known that no accelerator can train, so that another part is to be offered."""
    card = best_card(machine)
    if machine.gpus is None:
        return False
    return card is None or (card.memory_mb is not None and card.memory_mb < LITTLE_MB)


def _card(
    machine: MachineFacts, card: Gpu | None, preferences: Preferences, *, is_over: bool
) -> Verdict:
    if machine.gpus is None:
        return _late("card", "card-unknown", is_over=is_over)
    if card is None:
        values = {"processor": machine.cpu_name, "cores": machine.cores}
        return Verdict(about="card", level=Level.WARNING, code="card-none", values=values)
    if card.memory_mb is None:
        named = {"card": card.name}
        return Verdict(about="card", level=Level.WARNING, code="card-memory", values=named)
    usable = most_memory_mb(card.memory_mb, preferences.device(card.id).memory_mb)
    values = {"card": card.name, "memory": card.memory_mb, "usable": usable or 0}
    is_small = card.memory_mb < LITTLE_MB
    level = Level.WARNING if is_small else Level.GOOD
    code = "card-small" if is_small else "card-good"
    return Verdict(about="card", level=level, code=code, values=values)


def _driver(machine: MachineFacts, card: Gpu | None, *, is_over: bool) -> Verdict:
    if machine.gpus is None:
        return _late("driver", "driver-unknown", is_over=is_over)
    if card is None:
        return Verdict(about="driver", level=Level.GOOD, code="driver-none")
    if not card.driver:
        return Verdict(about="driver", level=Level.WARNING, code="driver-unsaid")
    major = re.match(r"\d+", card.driver)
    is_old = card.id.startswith(_CUDA) and major and int(major.group()) < OLDEST_NVIDIA
    values = {"driver": card.driver, "oldest": OLDEST_NVIDIA}
    level, code = (Level.BAD, "driver-old") if is_old else (Level.GOOD, "driver-good")
    return Verdict(about="driver", level=level, code=code, values=values)


def _disk(preferences: Preferences, free_bytes: int | None) -> Verdict:
    if free_bytes is None:
        return Verdict(about="disk", level=Level.WARNING, code="disk-unknown")
    free, store, stays = free_bytes // GIB, preferences.disk_gib, preferences.disk_free_gib
    values = {"free": free, "store": store, "stays": stays}
    if free >= store + stays:
        return Verdict(about="disk", level=Level.GOOD, code="disk-good", values=values)
    if free >= stays + LEAST_STORE_GIB:
        values["store"] = free - stays
        return Verdict(about="disk", level=Level.WARNING, code="disk-tight", values=values)
    return Verdict(about="disk", level=Level.BAD, code="disk-full", values=values)


def _network(network: Network, *, is_over: bool) -> Verdict:
    if network.runs is not None:
        code = "network-good" if network.runs else "network-empty"
        values = {"runs": network.runs}
        return Verdict(about="network", level=Level.GOOD, code=code, values=values)
    if network.problem or is_over:
        return Verdict(about="network", level=Level.WARNING, code="network-away")
    return Verdict(about="network", level=Level.WAITING, code="asking")


def _late(about: str, code: str, *, is_over: bool) -> Verdict:
    if is_over:
        return Verdict(about=about, level=Level.WARNING, code=code)
    return Verdict(about=about, level=Level.WAITING, code="asking")
