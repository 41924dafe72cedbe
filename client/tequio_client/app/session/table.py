"""Selects the sources of each fact for a session.

| session | idle | full screen |
|---|---|---|
| X11 | X server, screen saver, logind | X server |
| GNOME on Wayland | Mutter, logind | Xwayland, inhibitors |
| KDE on Wayland | ext-idle-notify, logind | Xwayland, inhibitions |
| other Wayland | ext-idle-notify, screen saver, logind | Sway, Hyprland, Xwayland |
| Windows | GetLastInputInfo, XInput | shell, front window |
| macOS | CGEventSource | window list |

Lock: logind and the screen saver, WTS, CGSession. Other users: logind, WTS, CGSession. Metered:
NetworkManager or the route, Qt on Windows, route and DHCP on macOS. Games are found among the
programs everywhere, on Linux also by GameMode.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tequio_client.app.session import linux, macos, windows
from tequio_client.app.session.linux import QtMetered
from tequio_client.app.session.macos import CtypesMac
from tequio_client.app.session.power import INHIBITOR_NAME
from tequio_client.app.session.programs import GameFolders, ProgramList, store_readers
from tequio_client.app.session.wayland import WaylandIdle
from tequio_client.app.session.windows import CtypesWindows
from tequio_client.app.session.x11 import X11Fullscreen, X11Idle, X11Server
from tequio_client.platform.dbus import DBUS_TIMEOUT_S, AbsentError, Bus, NoAnswerError, run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Connect = Callable[[], Bus]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
RETRY_S = 60.0
"""Interval after which an absent better source is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnvironment:
    """System, environment, roots and buses; tests replace them."""

    system: str
    environ: Mapping[str, str]
    home: Path
    session_bus: str = "SESSION"
    system_bus: str = "SYSTEM"
    sys_root: Path = Path("/sys")
    proc_root: Path = Path("/proc")
    timeout_s: float = DBUS_TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSources:
    """One probe for each fact; None if no source exists on this system."""

    idle: Probe[float]
    lock: Probe[bool]
    other_user: Probe[bool]
    fullscreen: Probe[str]
    metered: Probe[bool]
    programs: ProgramList
    game_mode: Probe[str] | None = None


def session_sources(place: SessionEnvironment) -> SessionSources:
    """The probes of this system; call it in the thread of the window."""
    programs = ProgramList(GameFolders(store_readers(place.home, place.environ)))
    if place.system == "win32":
        on_windows = CtypesWindows()
        return SessionSources(
            idle=windows.WindowsIdle(on_windows),
            lock=windows.WindowsLock(on_windows),
            other_user=windows.WindowsOtherUser(on_windows),
            fullscreen=windows.WindowsFullscreen(on_windows),
            metered=QtMetered(),
            programs=programs,
        )
    if place.system == "darwin":
        on_mac = CtypesMac()
        return SessionSources(
            idle=macos.MacIdle(on_mac),
            lock=macos.MacLock(on_mac),
            other_user=macos.MacOtherUser(on_mac),
            fullscreen=macos.MacFullscreen(on_mac),
            metered=linux.MacRouteMetered(run_program),
            programs=programs,
        )
    return _linux(place, programs)


def is_wayland(environ: Mapping[str, str]) -> bool:
    """True if a Wayland compositor draws the session's windows."""
    kind = environ.get("XDG_SESSION_TYPE", "")
    return kind == "wayland" or (kind != "x11" and bool(environ.get("WAYLAND_DISPLAY")))


def _linux(place: SessionEnvironment, programs: ProgramList) -> SessionSources:
    session = partial(Bus, place.session_bus, place.timeout_s)
    system = partial(Bus, place.system_bus, place.timeout_s)
    return SessionSources(
        idle=FirstProbe(_idle(place, session, system)),
        lock=AnyProbe((linux.LogindLock(system()), linux.ScreenSaverLock(session()))),
        other_user=linux.LogindOtherUser(system()),
        fullscreen=FirstProbe(_fullscreen(place, session)),
        metered=FirstProbe(
            [
                linux.NetworkManagerMetered(system()),
                linux.RouteMetered(place.sys_root, place.proc_root),
            ]
        ),
        programs=programs,
        game_mode=FirstProbe((linux.GameModeProbe(session()), _NoGame())),
    )


def _idle(place: SessionEnvironment, session: Connect, system: Connect) -> list[Probe[float]]:
    last = linux.LogindIdle(system())
    saver = linux.ScreenSaverIdle(session())
    if not is_wayland(place.environ):
        return [X11Idle(X11Server(place.environ, place.timeout_s)), saver, last]
    if "GNOME" in _desktops(place.environ):
        return [linux.MutterIdle(session()), last]
    wayland = WaylandIdle(place.environ, timeout_s=place.timeout_s)
    return [wayland, last] if "KDE" in _desktops(place.environ) else [wayland, saver, last]


def _fullscreen(place: SessionEnvironment, session: Connect) -> list[Probe[str]]:
    environ = place.environ
    server = X11Server(environ, place.timeout_s)
    if not is_wayland(environ):
        return [X11Fullscreen(server, sees_all=True)]
    below = X11Fullscreen(server, sees_all=False)
    if "GNOME" in _desktops(environ):
        return [below, linux.GnomeInhibitor(session(), ours=(INHIBITOR_NAME,))]
    if "KDE" in _desktops(environ):
        return [below, linux.KdeInhibitor(session(), ours=(INHIBITOR_NAME,))]
    return [
        linux.SwayFullscreen(environ, place.timeout_s),
        linux.HyprlandFullscreen(environ, place.timeout_s),
        below,
    ]


def _desktops(environ: Mapping[str, str]) -> set[str]:
    return set(environ.get("XDG_CURRENT_DESKTOP", "").upper().split(":"))


class _NoGame:
    """Without GameMode no game can have asked it for anything."""

    source = "gamemode"

    def read(self) -> str:
        return ""


class Probe(Protocol[T_co]):
    @property
    def source(self) -> str:
        """The interface that answers."""

    def read(self) -> T_co:
        """The current value; raises AbsentError, NoAnswerError, or an error of its library."""


def close_probe(probe: object) -> None:
    """Close the probe if it can be closed."""
    if close := getattr(probe, "close", None):
        close()


class FirstProbe(Generic[T]):
    """The first source that exists; later ones are asked only if it is absent or fails."""

    def __init__(
        self, probes: Sequence[Probe[T]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._probes, self._clock = probes, clock
        self._start, self._again_s = 0, 0.0
        self.source = probes[0].source if probes else "none"

    def read(self) -> T:
        """The first answer; raises AbsentError, NoAnswerError."""
        if self._clock() >= self._again_s:
            self._start, self._again_s = 0, self._clock() + RETRY_S
        problems: list[str] = []
        is_any_there = False
        for number, probe in list(enumerate(self._probes))[self._start :]:
            try:
                value = probe.read()
            except (AbsentError, NoAnswerError) as err:
                problems.append(f"{probe.source}: {err}")
                is_any_there = is_any_there or not isinstance(err, AbsentError)
                if not is_any_there:
                    self._start = number + 1
            else:
                self.source = probe.source
                return value
        # All sources absent: begin at the first one again, or nothing would ever be asked.
        self._start = 0 if self._start >= len(self._probes) else self._start
        raise (NoAnswerError if is_any_there else AbsentError)("; ".join(problems) or "no source")

    def close(self) -> None:
        for probe in self._probes:
            close_probe(probe)


class AnyProbe:
    """True if any source says so; False if at least one denies and none affirms."""

    def __init__(self, probes: Sequence[Probe[bool]]) -> None:
        self._probes = probes
        self.source = probes[0].source if probes else "none"

    def read(self) -> bool:
        """Asks all sources; raises AbsentError if none answers."""
        answers: list[bool] = []
        problems: list[str] = []
        for probe in self._probes:
            try:
                answer = probe.read()
            except (AbsentError, NoAnswerError) as err:
                problems.append(f"{probe.source}: {err}")
            else:
                if answer or not answers:
                    self.source = probe.source
                answers.append(answer)
        if not answers:
            raise AbsentError("; ".join(problems) or "no source")
        return any(answers)

    def close(self) -> None:
        for probe in self._probes:
            close_probe(probe)
