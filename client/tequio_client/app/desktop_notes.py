"""Shows notifications: by the desktop's own service on Linux, by the tray's balloon elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.system.bus_talk import BusTalk
from tequio_client.system.dbus import Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QSystemTrayIcon

    from tequio_client.system.bus_talk import Body

SERVICE = Address(
    "org.freedesktop.Notifications",
    "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications",
)
BALLOON_MS = 8_000
NORMAL = 1
"""Urgency."""
KEPT = 32
"""Notifications whose click still means something."""


class Desk(QObject):
    """Where notifications are shown."""

    activated = Signal(str)
    """A notification was clicked whose target this is."""

    def show(self, title: str, text: str, target: str, button: str) -> None:
        """Show it, if that can be; returns at once in any case."""
        raise NotImplementedError

    def close(self) -> None:
        """Show nothing more."""


class BusDesk(Desk):
    """org.freedesktop.Notifications; where nobody owns that name nothing is shown."""

    _answered = Signal(int, str)
    _heard = Signal(str, object)

    def __init__(self, bus: str = "SESSION", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._targets: dict[int, str] = {}
        self._answered.connect(self._keep)
        self._heard.connect(self._hear)
        self._talk = BusTalk(bus, SERVICE, self._heard.emit)

    def show(self, title: str, text: str, target: str, button: str) -> None:
        """See Desk."""

        def answered(body: Body) -> None:
            if body and isinstance(body[0], int):
                self._answered.emit(body[0], target)

        hints = {"urgency": ("y", NORMAL), "desktop-entry": ("s", "tequio")}
        body = ("Tequio", 0, "tequio", title, _plain(text), ["default", button], hints, -1)
        self._talk.call("Notify", "susssasa{sv}i", body, answered)

    def close(self) -> None:
        """See Desk."""
        self._talk.close()

    def _keep(self, number: int, target: str) -> None:
        self._targets[number] = target
        while len(self._targets) > KEPT:
            self._targets.pop(next(iter(self._targets)))

    def _hear(self, name: str, body: Body) -> None:
        number = body[0] if body and isinstance(body[0], int) else -1
        if name == "ActionInvoked" and number in self._targets:
            self.activated.emit(self._targets[number])
        elif name == "NotificationClosed":
            self._targets.pop(number, None)


class BalloonDesk(Desk):
    """The tray icon's own message; a click means the latest."""

    def __init__(self, icon: Callable[[], QSystemTrayIcon], parent: QObject | None = None) -> None:
        """`icon` gives the icon that is in the panel now."""
        super().__init__(parent)
        self._icon = icon
        self._target = ""
        self._watched: QSystemTrayIcon | None = None

    def show(self, title: str, text: str, target: str, button: str) -> None:
        """See Desk."""
        icon = self._icon()
        if icon is not self._watched:
            self._watched = icon
            icon.messageClicked.connect(lambda: self.activated.emit(self._target))
        self._target = target
        icon.showMessage(title, text, icon.icon(), BALLOON_MS)


def _plain(text: str) -> str:
    """Services may read markup in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
