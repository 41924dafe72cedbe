"""Keeping the computer awake, for those who asked for it; at no other time is sleep held up.

Asked in a thread of its own, since a desktop service may hang. What was asked for ends with our
process in any case: the systems forget it with whoever asked.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Protocol

from tequio_client.app.session.desktop_bus import SCREEN_SAVER
from tequio_client.app.session.macos_calls import Assertion
from tequio_client.app.session.windows_calls import keep_awake
from tequio_client.system.dbus import Bus, checked
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

NAME, WHY = "Tequio", "lending this computer, as its owner asked"


class Inhibitor(Protocol):
    """One system's way; always called from the same thread."""

    def hold(self) -> None:
        """From now on, stay awake; raises AbsentError, UnknownError, OSError."""

    def release(self) -> None:
        """From now on, sleep as before; raises the same."""


class ScreenSaverInhibitor:
    """org.freedesktop.ScreenSaver, in this session only."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cookie: int | None = None

    def hold(self) -> None:
        """See Inhibitor."""
        said = self._bus.call(SCREEN_SAVER, "Inhibit", "ss", (NAME, WHY))
        self._cookie = checked(said, int)

    def release(self) -> None:
        """See Inhibitor."""
        cookie, self._cookie = self._cookie, None
        if cookie is not None:
            self._bus.call(SCREEN_SAVER, "UnInhibit", "u", (cookie,))


class WindowsInhibitor:
    """SetThreadExecutionState."""

    def hold(self) -> None:
        """See Inhibitor."""
        keep_awake(is_wanted=True)

    def release(self) -> None:
        """See Inhibitor."""
        keep_awake(is_wanted=False)


class MacInhibitor:
    """An assertion of IOKit."""

    def __init__(self) -> None:
        self._assertion: Assertion | None = None

    def hold(self) -> None:
        """See Inhibitor."""
        self._assertion = self._assertion or Assertion(WHY)

    def release(self) -> None:
        """See Inhibitor."""
        assertion, self._assertion = self._assertion, None
        if assertion is not None:
            assertion.release()


def inhibitor(system: str = sys.platform, bus: str = "SESSION") -> Inhibitor:
    """The way of that system."""
    if system == "win32":
        return WindowsInhibitor()
    return MacInhibitor() if system == "darwin" else ScreenSaverInhibitor(Bus(bus))


class KeepAwake:
    """Whether to stay awake, by level: say it as often as you like."""

    def __init__(self, make: Callable[[], Inhibitor] = inhibitor) -> None:
        self._make = make
        self._lock = threading.Condition()
        self._wanted = self._is_held = self._is_closed = False
        self._said = False  # what the system was told last; owned by the thread
        self._thread: threading.Thread | None = None
        self.problem = ""
        """Why it could not be had, the last time; for the health page."""

    @property
    def is_held(self) -> bool:
        """Whether the system was told and has agreed."""
        with self._lock:
            return self._is_held

    def want(self, *, is_wanted: bool) -> None:
        """Stay awake, or no more; returns at once. A refusal is not asked for again by itself."""
        with self._lock:
            if is_wanted == self._wanted:
                return
            self._wanted = is_wanted
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def close(self) -> None:
        """Let it sleep, and end the thread; waits a moment for the service to hear it."""
        with self._lock:
            self._wanted, self._is_closed = False, True
            self._lock.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(2.0)

    def _serve(self) -> None:
        way = self._make()
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._wanted != self._said or self._is_closed)
                wanted, is_last = self._wanted, self._is_closed
            if wanted != self._said:
                problem = _told(way, is_wanted=wanted)
                with self._lock:
                    self._said = wanted
                    self._is_held, self.problem = wanted and not problem, problem
            if is_last:
                return


def _told(way: Inhibitor, *, is_wanted: bool) -> str:
    try:
        if is_wanted:
            way.hold()
        else:
            way.release()
    except (AbsentError, UnknownError, OSError) as err:
        return str(err)
    return ""
