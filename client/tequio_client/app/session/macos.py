"""Input, lock and full screen on macOS; bounds and owners of windows need no extra rights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_client.system.errors import UnknownError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ORDINARY = 0
_LOCK = "CGSSessionScreenIsLocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """In points, from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Mac(Protocol):
    """The calls of macOS that are needed here; each raises AbsentError, UnknownError."""

    def idle_s(self) -> float:
        """Seconds since the last input of this login."""

    def session(self) -> Mapping[str, object]:
        """What the window server knows of this login."""

    def windows(self) -> Sequence[Mapping[str, object]]:
        """The windows on the screens, the one in front first."""

    def displays(self) -> Sequence[Bounds]:
        """The screens."""


class MacIdle:
    """Seconds since the last input."""

    source = "coregraphics"

    def __init__(self, mac: Mac) -> None:
        self._mac = mac

    def read(self) -> float:
        """See Probe."""
        idle_s = self._mac.idle_s()
        if not 0 <= idle_s < float("inf"):
            raise UnknownError(f"{idle_s} s without input")
        return idle_s


class MacLock:
    """Whether the screen is locked."""

    source = "coregraphics"

    def __init__(self, mac: Mac) -> None:
        self._mac = mac

    def read(self) -> bool:
        """See Probe; the key is there only while it is locked."""
        return bool(self._mac.session().get(_LOCK, False))


class MacFullscreen:
    """The program whose window in front is as large as a screen."""

    source = "coregraphics"

    def __init__(self, mac: Mac) -> None:
        self._mac = mac

    def read(self) -> str:
        """See Probe."""
        ordinary = (one for one in self._mac.windows() if one.get("kCGWindowLayer") == _ORDINARY)
        front = next(ordinary, None)
        if front is None or front.get("kCGWindowOwnerPID") == os.getpid():
            return ""
        if _bounds(front.get("kCGWindowBounds")) not in self._mac.displays():
            return ""
        return str(front.get("kCGWindowOwnerName") or "?")[:256]


def _bounds(said: object) -> Bounds | None:
    if not isinstance(said, dict):
        return None
    sides = [said.get(name) for name in ("X", "Y", "Width", "Height")]
    numbers = [float(side) for side in sides if isinstance(side, int | float)]
    if len(numbers) != len(sides):
        return None
    return Bounds(x=numbers[0], y=numbers[1], width=numbers[2], height=numbers[3])
