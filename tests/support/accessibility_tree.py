"""Running programs as a screen reader sees them, over the real accessibility bus (AT-SPI 2).

A test finds a button by its name and its place on the screen, and clicks it with a real mouse.
An element without a name is not found.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jeepney import DBusAddress, DBusErrorResponse, Properties, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jeepney.io.blocking import DBusConnection

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
ROOT = "/org/a11y/atspi/accessible/root"
REGISTRY = "org.a11y.atspi.Registry"
SCREEN = 0
"""Coordinates of the screen, not of the window."""
WINDOWS = ("frame", "dialog")
POLL_S = 0.2
DEPTH = 40
_SHOWING, _ENABLED = 1 << 25, 1 << 8


@dataclass(frozen=True, slots=True)
class AccessibleElement:
    """An element on the screen."""

    bus: str
    path: str
    name: str
    role: str
    x: int
    y: int
    width: int
    height: int

    @property
    def middle(self) -> tuple[int, int]:
        """The point to click."""
        return self.x + self.width // 2, self.y + self.height // 2


class AccessibilityReader:
    """Reads the elements that programs show."""

    def __init__(self, bus: DBusConnection) -> None:
        self._bus = bus

    def things(self) -> Iterator[AccessibleElement]:
        """Every visible element of all programs, depth first."""
        yield from self._below(REGISTRY, ROOT, 0)

    def find(
        self, what: str, fits: Callable[[AccessibleElement], bool], patience_s: float
    ) -> AccessibleElement:
        """Wait for the first element that fits; raises AssertionError after `patience_s`."""
        deadline_s = time.monotonic() + patience_s
        while time.monotonic() < deadline_s:
            with suppress(DBusErrorResponse, TimeoutError):
                for thing in self.things():
                    if fits(thing):
                        return thing
            time.sleep(POLL_S)
        names = sorted({f"{one.role}: {one.name[:200]}" for one in self.things() if one.name})
        raise AssertionError(f"not within {patience_s:.0f} s: {what}; there is {names}")

    def named(self, name: str, *roles: str, patience_s: float = 20.0) -> AccessibleElement:
        """Wait for the element with that name."""
        return self.find(
            f"{name!r}",
            lambda one: one.name == name and (not roles or one.role in roles),
            patience_s,
        )

    def says(self, words: str, patience_s: float = 20.0) -> AccessibleElement:
        """Wait for an element whose name contains these words."""
        return self.find(f"…{words}…", lambda one: words in one.name, patience_s)

    def window(self, thing: AccessibleElement) -> AccessibleElement | None:
        """The window around an element; None around those of menus, which lie anywhere."""
        bus, path = thing.bus, thing.path
        for _ in range(DEPTH):
            bus, path = self._property(bus, path, "Parent")
            role = self._call(bus, path, ACCESSIBLE, "GetRoleName")[0]
            if role in WINDOWS:
                return self._thing(bus, path)
            if "menu" in role or role == "application":
                return None
        return None

    def _below(self, bus: str, path: str, depth: int) -> Iterator[AccessibleElement]:
        if depth > DEPTH:
            return
        for child_bus, child_path in self._call(bus, path, ACCESSIBLE, "GetChildren")[0]:
            with suppress(DBusErrorResponse):
                thing = self._thing(child_bus, child_path)
                if thing is not None:
                    yield thing
                elif depth > 0:  # nothing below shows either; depth 0 is that of programs
                    continue
                yield from self._below(child_bus, child_path, depth + 1)

    def _thing(self, bus: str, path: str) -> AccessibleElement | None:
        low = self._call(bus, path, ACCESSIBLE, "GetState")[0][0]
        if not low & _SHOWING:
            return None
        extents = (0, 0, 0, 0)
        with suppress(DBusErrorResponse):
            extents = self._call(bus, path, COMPONENT, "GetExtents", "u", SCREEN)[0]
        role = self._call(bus, path, ACCESSIBLE, "GetRoleName")[0]
        return AccessibleElement(bus, path, str(self._property(bus, path, "Name")), role, *extents)

    def _property(self, bus: str, path: str, name: str) -> Any:  # noqa: ANN401 - D-Bus values
        address = DBusAddress(path, bus_name=bus, interface=ACCESSIBLE)
        reply = self._bus.send_and_get_reply(Properties(address).get(name), timeout=5)
        return unwrap_msg(reply)[0][1]

    def _call(self, bus: str, path: str, interface: str, method: str, *rest: Any) -> Any:  # noqa: ANN401 - D-Bus values
        address = DBusAddress(path, bus_name=bus, interface=interface)
        signature, values = (rest[0], tuple(rest[1:])) if rest else ("", ())
        message = new_method_call(address, method, signature, values)
        return unwrap_msg(self._bus.send_and_get_reply(message, timeout=5))


@contextmanager
def reader(session_bus: str = "SESSION") -> Iterator[AccessibilityReader]:
    """Read over a session's accessibility bus; programs must be set up to use it."""
    with open_dbus_connection(session_bus) as session:
        address = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
        reply = session.send_and_get_reply(new_method_call(address, "GetAddress"), timeout=10)
        (where,) = unwrap_msg(reply)
    with open_dbus_connection(where) as bus:
        yield AccessibilityReader(bus)
