"""What the services of a Linux desktop say over D-Bus."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tequio_client.app.session.programs import name_of
from tequio_client.system.dbus import Address, checked
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.system.dbus import Bus

MUTTER = Address(
    "org.gnome.Mutter.IdleMonitor",
    "/org/gnome/Mutter/IdleMonitor/Core",
    "org.gnome.Mutter.IdleMonitor",
)
SCREEN_SAVER = Address(
    "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"
)
GNOME_SAVER = Address("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver")
SESSION = Address(
    "org.freedesktop.login1",
    "/org/freedesktop/login1/session/auto",
    "org.freedesktop.login1.Session",
)
NETWORK = Address(
    "org.freedesktop.NetworkManager",
    "/org/freedesktop/NetworkManager",
    "org.freedesktop.NetworkManager",
)
GAME_MODE = Address(
    "com.feralinteractive.GameMode", "/com/feralinteractive/GameMode",
    "com.feralinteractive.GameMode",
)  # fmt: skip
_LONGEST_MS = 10**14
"""Three thousand years."""
_METERED = {1: True, 2: False, 3: True, 4: False}  # 3 and 4 are guesses; 0 is no answer


class OnBus:
    """A probe with a connection of its own."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    def close(self) -> None:
        """Hang up."""
        self._bus.close()


class MutterIdle(OnBus):
    """GNOME's own monitor: milliseconds since the last input, under Wayland too."""

    source = "mutter"

    def read(self) -> float:
        """Seconds; see Probe."""
        return _seconds(checked(self._bus.call(MUTTER, "GetIdletime"), int))


class ScreenSaverIdle(OnBus):
    """KDE's answer, and that of others that follow freedesktop.org: milliseconds."""

    source = "screensaver"

    def read(self) -> float:
        """Seconds; see Probe."""
        return _seconds(checked(self._bus.call(SCREEN_SAVER, "GetSessionIdleTime"), int))


class LogindIdle(OnBus):
    """What the desktop told logind; coarse, and "not idle" where no desktop tells it anything."""

    source = "logind"

    def __init__(
        self, bus: Bus, now_us: Callable[[], int] = lambda: time.time_ns() // 1_000
    ) -> None:
        super().__init__(bus)
        self._now_us = now_us

    def read(self) -> float:
        """Seconds; see Probe."""
        if not self._bus.read(SESSION, "IdleHint", bool):
            return 0.0
        since_us = self._bus.read(SESSION, "IdleSinceHint", int)
        return _seconds(max(self._now_us() - since_us, 0) // 1_000) if since_us else 0.0


class LogindLock(OnBus):
    """Whether the session is locked, where the desktop tells logind."""

    source = "logind"

    def read(self) -> bool:
        """See Probe."""
        return self._bus.read(SESSION, "LockedHint", bool)


class ScreenSaverLock(OnBus):
    """Whether the screen saver is on, by GNOME's or freedesktop.org's name."""

    source = "screensaver"

    def read(self) -> bool:
        """See Probe."""
        for address in (GNOME_SAVER, SCREEN_SAVER):
            try:
                return checked(self._bus.call(address, "GetActive"), bool)
            except AbsentError:
                continue
        raise AbsentError("no screen saver service")


class NetworkMetered(OnBus):
    """NetworkManager's word on the connection that leads out."""

    source = "networkmanager"

    def read(self) -> bool:
        """See Probe."""
        said = self._bus.read(NETWORK, "Metered", int)
        if said not in _METERED:
            raise UnknownError("NetworkManager does not know whether the connection is metered")
        return _METERED[said]


class GameMode(OnBus):
    """The game that asked Feral's GameMode for the machine; empty when none did."""

    source = "gamemode"

    def read(self) -> str:
        """See Probe."""
        if self._bus.read(GAME_MODE, "ClientCount", int) <= 0:
            return ""
        games = checked(self._bus.call(GAME_MODE, "ListGames"), list)
        pids = [game[0] for game in games if isinstance(game, tuple) and game]
        if not pids:
            return ""
        names = (name_of(pid) for pid in pids if isinstance(pid, int) and pid > 0)
        return next((name for name in names if name), "?")


def _seconds(milliseconds: int) -> float:
    if not 0 <= milliseconds <= _LONGEST_MS:
        raise UnknownError(f"{milliseconds} ms without input")
    return milliseconds / 1_000
