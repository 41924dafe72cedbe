"""Session facts on Linux, from D-Bus services, Wayland compositors and the network route."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from PySide6.QtNetwork import QNetworkInformation

from tequio_client.app.session.programs import program_name
from tequio_client.platform.dbus import (
    AbsentError,
    Bus,
    BusAddress,
    NoAnswerError,
    ProgramRunner,
    checked_value,
)
from tequio_client.platform.system import read_text, unix_socket
from tequio_shared import encoding
from tequio_shared.errors import MalformedError

TIMEOUT_S = 1.0
_MAGIC = b"i3-ipc"
_GET_TREE = 4
_MOST_BYTES = 8 << 20
_WINDOWS = {"con", "floating_con"}
_FULL = 2  # of Hyprland; 1 is only maximised


class CompositorProbe:
    """A probe that asks a compositor by its socket, whose path is in the environment."""

    def __init__(self, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._environ, self._timeout_s = environ, timeout_s


class SwayFullscreen(CompositorProbe):
    """Sway: the program of the focused container, if it fills its screen."""

    source = "sway"

    def read(self) -> str:
        path = self._environ.get("SWAYSOCK", "")
        if not path:
            raise AbsentError("this session is not Sway's")
        request = _MAGIC + struct.pack("=II", 0, _GET_TREE)
        head_size = len(_MAGIC) + 8
        answer = _exchanged(path, request, self._timeout_s, head_size)
        return _focused(_parsed(answer[head_size:]))


class HyprlandFullscreen(CompositorProbe):
    """Hyprland: the program of the active window, if it fills its screen."""

    source = "hyprland"

    def read(self) -> str:
        instance = self._environ.get("HYPRLAND_INSTANCE_SIGNATURE", "")
        if not instance:
            raise AbsentError("this session is not Hyprland's")
        folder = Path(self._environ.get("XDG_RUNTIME_DIR", "/")) / "hypr" / instance
        answer = _exchanged(str(folder / ".socket.sock"), b"j/activewindow", self._timeout_s, None)
        window = _parsed(answer)
        state = window.get("fullscreen")  # a boolean in older versions; 1 means maximised
        if state is not True and state != _FULL:
            return ""
        return _named(window.get("pid"), window.get("class"))


def _focused(tree: dict[str, object]) -> str:
    """Follow the focus down the tree: any container on the way may fill the screen."""
    node: dict[str, object] | None = tree
    is_full = False
    while node is not None:
        if node.get("type") in _WINDOWS:  # a workspace always calls itself full screen
            is_full = is_full or bool(node.get("fullscreen_mode"))
        if node.get("focused"):
            return _named(node.get("pid"), node.get("app_id")) if is_full else ""
        focus = _listed(node, "focus")[:1]
        children = _listed(node, "nodes") + _listed(node, "floating_nodes")
        below = (child for child in children if isinstance(child, dict))
        node = next((child for child in below if [child.get("id")] == focus), None)
    return ""


def _listed(node: dict[str, object], key: str) -> list[object]:
    found = node.get(key)
    return found if isinstance(found, list) else []


def _named(pid: object, fallback: object) -> str:
    return (program_name(pid) if isinstance(pid, int) else "") or str(fallback or "?")[:256]


def _parsed(content: bytes) -> dict[str, object]:
    try:
        return encoding.read(content, dict[str, object])
    except MalformedError as err:
        raise NoAnswerError(f"the compositor did not answer with a JSON object: {err}") from err


def _exchanged(path: str, request: bytes, timeout_s: float, head_size: int | None) -> bytes:
    """The whole answer to a request: its announced length, or until the other side closes."""
    answer = b""
    try:
        with unix_socket() as connection:
            connection.settimeout(timeout_s)
            connection.connect(path)
            connection.sendall(request)
            while len(answer) < _MOST_BYTES and (more := connection.recv(65_536)):
                answer += more
                if head_size and len(answer) >= head_size:
                    (length,) = struct.unpack_from("=I", answer, len(_MAGIC))
                    if len(answer) >= head_size + length:
                        break
    except FileNotFoundError as err:
        raise AbsentError(f"no compositor at {path}") from err
    except OSError as err:
        raise NoAnswerError(f"the compositor did not answer: {err}") from err
    return answer


MUTTER = BusAddress(
    "org.gnome.Mutter.IdleMonitor",
    "/org/gnome/Mutter/IdleMonitor/Core",
    "org.gnome.Mutter.IdleMonitor",
)
SCREEN_SAVER = BusAddress.of_service("org.freedesktop.ScreenSaver")
GNOME_SAVER = BusAddress.of_service("org.gnome.ScreenSaver")
LOGIND_SESSION = BusAddress(
    "org.freedesktop.login1",
    "/org/freedesktop/login1/session/auto",
    "org.freedesktop.login1.Session",
)
_SEAT = "org.freedesktop.login1.Seat"
_NOBODYS = {"greeter", "lock-screen"}
"""Classes of sessions that wait for somebody to log in or to unlock another one."""
NETWORK_MANAGER = BusAddress.of_service("org.freedesktop.NetworkManager")
GAME_MODE = BusAddress.of_service("com.feralinteractive.GameMode")
_LONGEST_MS = 10**14
"""Three thousand years; more is a bug of the service."""
_METERED = {1: True, 2: False, 3: True, 4: False}  # 3 and 4 are guesses; 0 means unknown


class BusProbe:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    def close(self) -> None:
        self._bus.close()


class MutterIdle(BusProbe):
    """Works under Wayland too; the service answers in milliseconds."""

    source = "mutter"

    def read(self) -> float:
        return _seconds(checked_value(self._bus.call(MUTTER, "GetIdletime"), int))


class ScreenSaverIdle(BusProbe):
    """KDE and other desktops that follow freedesktop.org; the service answers in milliseconds."""

    source = "screensaver"

    def read(self) -> float:
        return _seconds(checked_value(self._bus.call(SCREEN_SAVER, "GetSessionIdleTime"), int))


class LogindIdle(BusProbe):
    """logind's idle hint: coarse, and "not idle" if the desktop never sets it."""

    source = "logind"

    def __init__(
        self, bus: Bus, now_us: Callable[[], int] = lambda: time.time_ns() // 1_000
    ) -> None:
        super().__init__(bus)
        self._now_us = now_us

    def read(self) -> float:
        if not self._bus.read(LOGIND_SESSION, "IdleHint", bool):
            return 0.0
        since_us = self._bus.read(LOGIND_SESSION, "IdleSinceHint", int)
        return _seconds(max(self._now_us() - since_us, 0) // 1_000) if since_us else 0.0


class LogindLock(BusProbe):
    """logind's lock hint, set by the desktop."""

    source = "logind"

    def read(self) -> bool:
        return self._bus.read(LOGIND_SESSION, "LockedHint", bool)


class LogindOtherUser(BusProbe):
    """True if the session in front of the seat is not this one, and may be in use."""

    source = "logind"

    def read(self) -> bool:
        bus, of = self._bus, LOGIND_SESSION
        try:
            is_front = bus.read(of, "Active", bool)  # also without a seat, as over SSH
        except AbsentError:
            return False  # no logind, or no session that could be switched
        if is_front:
            return False
        _, seat = bus.read(of, "Seat", tuple)
        name, path = bus.read(BusAddress(of.name, seat, _SEAT), "ActiveSession", tuple)
        front = BusAddress(of.name, path, of.interface)
        if not name or bus.read(front, "Class", str) in _NOBODYS:
            return False
        return not bus.read(front, "LockedHint", bool)


class ScreenSaverLock(BusProbe):
    """The screen saver's state, under GNOME's or freedesktop.org's name."""

    source = "screensaver"

    def read(self) -> bool:
        for address in (GNOME_SAVER, SCREEN_SAVER):
            try:
                return checked_value(self._bus.call(address, "GetActive"), bool)
            except AbsentError:
                continue
        raise AbsentError("no screen saver service")


class NetworkManagerMetered(BusProbe):
    """NetworkManager's estimate for the default connection."""

    source = "networkmanager"

    def read(self) -> bool:
        answer = self._bus.read(NETWORK_MANAGER, "Metered", int)
        if answer not in _METERED:
            raise NoAnswerError("NetworkManager does not know whether the connection is metered")
        return _METERED[answer]


class GameModeProbe(BusProbe):
    """The game that asked Feral's GameMode for performance; empty: none."""

    source = "gamemode"

    def read(self) -> str:
        if self._bus.read(GAME_MODE, "ClientCount", int) <= 0:
            return ""
        games = checked_value(self._bus.call(GAME_MODE, "ListGames"), list)
        pids = [game[0] for game in games if isinstance(game, tuple) and game]
        names = (program_name(pid) for pid in pids if isinstance(pid, int) and pid > 0)
        return next((name for name in names if name), "?") if pids else ""


def _seconds(milliseconds: int) -> float:
    if not 0 <= milliseconds <= _LONGEST_MS:
        raise NoAnswerError(f"{milliseconds} ms without input")
    return milliseconds / 1_000


# Wayland does not reveal which program fills the screen. Players and games ask their desktop not to
# blank it, and that is all that GNOME and KDE report about other programs' windows, so an inhibitor
# counts as full screen. A program that does not ask is missed here; its load on the accelerator is
# not.
GNOME_SESSION = BusAddress.of_service("org.gnome.SessionManager")
KDE_POWER = BusAddress.of_service("org.kde.Solid.PowerManagement.PolicyAgent")
IDLE_FLAG = 8
SCREEN_POLICY = 4
_ONE = "org.gnome.SessionManager.Inhibitor"


class InhibitorProbe(BusProbe):
    """The first program that keeps the desktop from blanking the screen; empty: none."""

    def __init__(self, bus: Bus, ours: Collection[str]) -> None:
        """`ours` are the names under which this app asks for the same."""
        super().__init__(bus)
        self._ours = ours


class GnomeInhibitor(InhibitorProbe):
    source = "gnome-inhibitors"

    def read(self) -> str:
        if not checked_value(self._bus.call(GNOME_SESSION, "IsInhibited", "u", (IDLE_FLAG,)), bool):
            return ""
        for path in checked_value(self._bus.call(GNOME_SESSION, "GetInhibitors"), list):
            one = BusAddress(GNOME_SESSION.name, str(path), _ONE)
            if checked_value(self._bus.call(one, "GetFlags"), int) & IDLE_FLAG:
                name = checked_value(self._bus.call(one, "GetAppId"), str)
                if name not in self._ours:
                    return (name or "?")[:256]
        return ""


class KdeInhibitor(InhibitorProbe):
    source = "kde-inhibitions"

    def read(self) -> str:
        if not checked_value(
            self._bus.call(KDE_POWER, "HasInhibition", "u", (SCREEN_POLICY,)), bool
        ):
            return ""
        listed = checked_value(self._bus.call(KDE_POWER, "ListInhibitions"), list)
        names = (str(one[0]) for one in listed if isinstance(one, tuple) and one)
        return next((name[:256] or "?" for name in names if name not in self._ours), "")


# Without a service, the network device decides: a wired card inside the computer is not billed by
# the byte, and anything else is unknown (Wi-Fi and USB may be a tethered phone).
_ETHERNET = "1"
_WIRED_BUSES = {"pci", "virtio", "platform", "vmbus", "xen"}
_PHONES = ("iphone", "ipad", "bluetooth pan", "android")
_INTERFACE = re.compile(r"^\s*interface: (\S+)", re.MULTILINE)


class RouteMetered:
    """The default route's device, by procfs and sysfs."""

    source = "route"

    def __init__(self, sys_root: Path, proc_root: Path) -> None:
        self._sys, self._proc = sys_root, proc_root

    def read(self) -> bool:
        name = self._default_device()
        device = self._sys / "class/net" / name
        bus = (device / "device/subsystem").resolve().name
        is_wired = (
            read_text(device / "type") == _ETHERNET
            and bus in _WIRED_BUSES
            and not (device / "wireless").exists()
            and "DEVTYPE=" not in read_text(device / "uevent")
        )
        if not is_wired:
            raise NoAnswerError(f"nobody knows whether {name} is metered")
        return False

    def _default_device(self) -> str:
        for line in read_text(self._proc / "net/route").splitlines()[1:]:
            words = line.split()
            if len(words) > 1 and words[1] == "00000000":
                return words[0]
        raise AbsentError("no route leads out")


class MacRouteMetered:
    """The default route on macOS, with Android's mark in the DHCP answer for tethering."""

    source = "route"

    def __init__(self, run: ProgramRunner) -> None:
        self._run = run

    def read(self) -> bool:
        found = _INTERFACE.search(self._ask("/sbin/route", "-n", "get", "default"))
        if found is None:
            raise AbsentError("no route leads out")
        ports = self._ask("/usr/sbin/networksetup", "-listallhardwareports").split("\n\n")
        port = next((port for port in ports if f"Device: {found[1]}\n" in port + "\n"), "")
        if any(phone in port.lower() for phone in _PHONES):
            return True
        try:
            packet = self._ask("/usr/sbin/ipconfig", "getpacket", found[1])
        except NoAnswerError:
            if not port:
                raise
            return False  # ipconfig fails without DHCP, which a telephone always uses
        return "ANDROID_METERED" in packet

    def _ask(self, *command: str) -> str:
        return self._run(command).decode("utf-8", "replace")


class QtMetered:
    """Qt's answer, where Qt supports the system.

    Create it in the thread of the window, as Qt requires, and only where Qt's plug-in does not
    block on a service (on Linux it would, so D-Bus is used there).
    """

    source = "qt"

    def __init__(self) -> None:
        self._is_metered: bool | None = None
        if QNetworkInformation.loadBackendByFeatures(QNetworkInformation.Feature.Metered):
            network = QNetworkInformation.instance()
            network.isMeteredChanged.connect(self._update)
            self._update(is_metered=network.isMetered())

    def read(self) -> bool:
        if self._is_metered is None:
            raise AbsentError("Qt does not know this system's networks")
        return self._is_metered

    def _update(self, is_metered: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._is_metered = is_metered
