"""Who keeps the screen awake, where Wayland does not tell who fills it: GNOME and KDE.

Players and games ask their desktop not to blank the screen under them. That is all that these two
desktops tell about foreign windows, and it is used as if such a program filled the screen. What
does not ask is not seen; its load on the accelerator is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.session.desktop_bus import OnBus
from tequio_client.system.dbus import Address, checked

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_client.system.dbus import Bus

GNOME = Address("org.gnome.SessionManager", "/org/gnome/SessionManager", "org.gnome.SessionManager")
KDE = Address(
    "org.kde.Solid.PowerManagement.PolicyAgent",
    "/org/kde/Solid/PowerManagement/PolicyAgent",
    "org.kde.Solid.PowerManagement.PolicyAgent",
)
IDLE_FLAG = 8
SCREEN_POLICY = 4
_ONE = "org.gnome.SessionManager.Inhibitor"


class GnomeInhibitor(OnBus):
    """The first program that keeps GNOME from blanking the screen; empty: none."""

    source = "gnome-inhibitors"

    def __init__(self, bus: Bus, ours: Collection[str]) -> None:
        """`ours` are the names under which we ask for the same."""
        super().__init__(bus)
        self._ours = ours

    def read(self) -> str:
        """See Probe."""
        if not checked(self._bus.call(GNOME, "IsInhibited", "u", (IDLE_FLAG,)), bool):
            return ""
        for path in checked(self._bus.call(GNOME, "GetInhibitors"), list):
            one = Address(GNOME.name, str(path), _ONE)
            if checked(self._bus.call(one, "GetFlags"), int) & IDLE_FLAG:
                name = checked(self._bus.call(one, "GetAppId"), str)
                if name not in self._ours:
                    return (name or "?")[:256]
        return ""


class KdeInhibitor(OnBus):
    """The first program that keeps KDE from blanking the screen; empty: none."""

    source = "kde-inhibitions"

    def __init__(self, bus: Bus, ours: Collection[str]) -> None:
        """`ours` are the names under which we ask for the same."""
        super().__init__(bus)
        self._ours = ours

    def read(self) -> str:
        """See Probe."""
        if not checked(self._bus.call(KDE, "HasInhibition", "u", (SCREEN_POLICY,)), bool):
            return ""
        listed = checked(self._bus.call(KDE, "ListInhibitions"), list)
        names = (str(one[0]) for one in listed if isinstance(one, tuple) and one)
        return next((name[:256] or "?" for name in names if name not in self._ours), "")
