"""Windows, macOS, Sway and Hyprland: their answers are played, the rules about them are ours."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tequio_client.app.session.linux import (
    HyprlandFullscreen,
    MacRouteMetered,
    RouteMetered,
    SwayFullscreen,
)
from tequio_client.app.session.macos import (
    CtypesMac,
    MacFullscreen,
    MacIdle,
    MacLock,
    MacOtherUser,
    ScreenBounds,
)
from tequio_client.app.session.windows import (
    THIS_SESSION,
    CtypesWindows,
    FrontWindow,
    Gamepad,
    WindowsFullscreen,
    WindowsIdle,
    WindowsLock,
    WindowsOtherUser,
    WindowsSession,
)
from tequio_client.platform.dbus import AbsentError, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


SCREEN = (0, 0, 1920, 1080)
ACTIVE, LOCKED, AWAY = (
    WindowsSession(state=state, lock=lock) for state, lock in ((0, 1), (0, 0), (4, 0))
)
GREETER = WindowsSession(state=1, lock=-1)
PARENT = psutil.Process(os.getppid()).name()


@dataclass
class ScriptedWindows:
    """Scripted answers of Windows; see windows.Calls."""

    input_at_ms: int = 0
    at_ms: int = 0
    pads: tuple[Gamepad, ...] = ()
    flags: int = 1
    sessions: Mapping[int, WindowsSession] = field(default_factory=lambda: {1: ACTIVE})
    own_number: int = 1
    console_number: int = 1
    state: int = 5
    window: FrontWindow | None = None

    def input_ms(self) -> int:
        return self.input_at_ms

    def now_ms(self) -> int:
        return self.at_ms

    def gamepads(self) -> tuple[Gamepad, ...]:
        return self.pads

    def session(self, number: int = THIS_SESSION) -> WindowsSession:
        if number == THIS_SESSION:
            return WindowsSession(state=self.sessions[self.own_number].state, lock=self.flags)
        return self.sessions[number]

    def session_states(self) -> Mapping[int, int]:
        return {number: one.state for number, one in self.sessions.items()}

    def console(self) -> int:
        return self.console_number

    def notification_state(self) -> int:
        return self.state

    def front(self) -> FrontWindow | None:
        return self.window


def window(**changes: Any) -> FrontWindow:  # noqa: ANN401 - any field
    answers: dict[str, Any] = {
        "pid": os.getppid(),
        "window_class": "Game",
        "bounds": SCREEN,
        "screen": SCREEN,
    }
    return FrontWindow(**(answers | changes))


def test_the_count_of_windows_begins_again_after_49_days() -> None:
    calls = ScriptedWindows(input_at_ms=2**32 - 4_000, at_ms=1_000)
    assert WindowsIdle(calls).read() == 5.0


def test_a_gamepad_is_input_too() -> None:
    now_s = [50.0]
    calls = ScriptedWindows(input_at_ms=0, at_ms=600_000, pads=(Gamepad(),))
    idle = WindowsIdle(calls, clock=lambda: now_s[0])
    assert idle.read() == 600.0
    calls.pads = (Gamepad(buttons=0x1000),)
    assert idle.read() == 0.0
    now_s[0] += 30
    assert idle.read() == 30.0
    calls.input_at_ms = 598_000
    assert idle.read() == 2.0


@pytest.mark.parametrize(
    "moved",
    [
        Gamepad(left_trigger=31),
        Gamepad(right_trigger=31),
        Gamepad(left_x=-7_850),
        Gamepad(left_y=7_850),
        Gamepad(right_x=8_690),
        Gamepad(right_y=-8_690),
    ],
)
def test_a_gamepad_is_input_beyond_its_dead_zones_only(moved: Gamepad) -> None:
    calls = ScriptedWindows(input_at_ms=0, at_ms=600_000, pads=(Gamepad(),))
    idle = WindowsIdle(calls)
    idle.read()
    calls.pads = (Gamepad(0, 30, 30, -7_849, 7_849, 8_689, -8_689),)
    assert idle.read() == 600.0, "the pad lies on the desk"
    calls.pads = (moved,)
    assert idle.read() < 600.0


@pytest.mark.parametrize(("flags", "is_locked"), [(0, True), (1, False)])
def test_windows_tells_its_lock(flags: int, *, is_locked: bool) -> None:
    assert WindowsLock(ScriptedWindows(flags=flags)).read() is is_locked


def test_a_lock_that_windows_does_not_know_is_unknown() -> None:
    with pytest.raises(NoAnswerError, match="-1"):
        WindowsLock(ScriptedWindows(flags=-1)).read()


@pytest.mark.parametrize(
    ("sessions", "own", "console", "is_other"),
    [
        ({0: AWAY, 1: ACTIVE}, 1, 1, False),
        ({0: AWAY, 1: LOCKED}, 1, 1, False),
        ({0: AWAY, 1: AWAY, 2: ACTIVE}, 1, 2, True),
        ({0: AWAY, 1: AWAY, 2: LOCKED}, 1, 2, False),
        ({0: AWAY, 1: AWAY, 2: GREETER}, 1, 2, False),
        ({0: AWAY, 1: GREETER, 2: ACTIVE}, 2, 1, False),
        ({0: AWAY, 1: AWAY, 2: GREETER, 3: ACTIVE}, 1, 2, True),
    ],
    ids=["in front", "locked", "switched", "switched, other locked", "nobody logged in",
         "in front by remote desktop", "another user by remote desktop"],
)  # fmt: skip
def test_windows_tells_of_another_user(
    sessions: Mapping[int, WindowsSession], own: int, console: int, *, is_other: bool
) -> None:
    calls = ScriptedWindows(sessions=sessions, own_number=own, console_number=console)
    assert WindowsOtherUser(calls).read() is is_other


def test_whom_windows_does_not_tell_of_is_unknown() -> None:
    calls = ScriptedWindows(sessions={1: AWAY}, console_number=2)
    with pytest.raises(NoAnswerError, match="who is at the screen"):
        WindowsOtherUser(calls).read()


@pytest.mark.parametrize(
    ("state", "front", "program"),
    [
        (5, None, ""),
        (3, None, "?"),
        (3, window(bounds=(5, 5, 50, 50)), PARENT),
        (2, window(), PARENT),
        (5, window(), PARENT),
        (5, window(bounds=(0, 0, 1920, 1040)), ""),
        (1, window(window_class="WindowsScreenSaverClass"), ""),
        (5, window(window_class="WorkerW"), ""),
        (2, window(window_class="Progman"), ""),
        (5, window(pid=os.getpid()), ""),
        (5, window(pid=2**31 - 1), "Game"),
    ],
)
def test_windows_tells_what_fills_a_screen(
    state: int, front: FrontWindow | None, program: str
) -> None:
    assert WindowsFullscreen(ScriptedWindows(state=state, window=front)).read() == program


@dataclass
class ScriptedMac:
    """Scripted answers of macOS; see macos.Mac."""

    idle: float = 12.5
    said: Mapping[str, object] = field(default_factory=dict)
    shown: Sequence[Mapping[str, object]] = ()
    owner: int = 501

    def idle_s(self) -> float:
        return self.idle

    def session(self) -> Mapping[str, object]:
        return self.said

    def console_owner(self) -> int:
        return self.owner

    def windows(self) -> Sequence[Mapping[str, object]]:
        return self.shown

    def displays(self) -> Sequence[ScreenBounds]:
        return (
            ScreenBounds(x=0, y=0, width=1728, height=1117),
            ScreenBounds(x=1728, y=0, width=1920, height=1080),
        )


def shown(layer: int = 0, pid: int = 1, width: float = 1920, x: float = 1728) -> dict[str, object]:
    return {
        "kCGWindowLayer": layer,
        "kCGWindowOwnerPID": pid,
        "kCGWindowOwnerName": "Baldur's Gate 3",
        "kCGWindowBounds": {"X": x, "Y": 0, "Width": width, "Height": 1080.0},
    }


def test_a_mac_tells_idle_time_and_lock() -> None:
    assert MacIdle(ScriptedMac()).read() == 12.5
    assert MacLock(ScriptedMac()).read() is False
    assert MacLock(ScriptedMac(said={"CGSSessionScreenIsLocked": 1})).read() is True
    with pytest.raises(NoAnswerError):
        MacIdle(ScriptedMac(idle=float("nan"))).read()


@pytest.mark.parametrize(
    ("said", "owner", "is_other"),
    [
        ({}, 501, False),
        ({"kCGSSessionOnConsoleKey": True}, 501, False),
        ({"kCGSSessionOnConsoleKey": False}, 502, True),
        ({"kCGSSessionOnConsoleKey": False}, 0, False),
    ],
)
def test_a_mac_tells_of_another_user(
    said: Mapping[str, object], owner: int, *, is_other: bool
) -> None:
    assert MacOtherUser(ScriptedMac(said=said, owner=owner)).read() is is_other


@pytest.mark.parametrize(
    ("windows", "program"),
    [
        ([], ""),
        ([shown()], "Baldur's Gate 3"),
        ([shown(layer=25), shown()], "Baldur's Gate 3"),
        ([shown(width=800)], ""),
        ([shown(x=100)], ""),
        ([shown(pid=os.getpid())], ""),
        ([{"kCGWindowLayer": 0, "kCGWindowBounds": "?"}], ""),
        ([{"kCGWindowLayer": 0, "kCGWindowBounds": {"X": "a"}}], ""),
    ],
)
def test_a_mac_tells_what_fills_a_screen(windows: list[Mapping[str, object]], program: str) -> None:
    assert MacFullscreen(ScriptedMac(shown=windows)).read() == program


def test_on_a_mac_what_fills_a_screen_below_the_notch_is_unknown() -> None:
    bounds = {"X": 0, "Y": 34, "Width": 1728, "Height": 1083}
    with pytest.raises(NoAnswerError, match="notch"):
        MacFullscreen(ScriptedMac(shown=[shown() | {"kCGWindowBounds": bounds}])).read()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="it has its own")
def test_elsewhere_the_libraries_of_windows_and_macos_are_absent() -> None:
    for kind in (CtypesWindows, CtypesMac):
        with pytest.raises(AbsentError):
            kind()


QT_METERED = """
from PySide6.QtCore import QCoreApplication
from tequio_client.app.session.linux import QtMetered
application = QCoreApplication([])
metered = QtMetered()
metered._update(True)
print(metered.read())
"""


def test_qt_tells_what_it_was_told_last() -> None:
    environ = os.environ | {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    shown = subprocess.run(
        [sys.executable, "-c", QT_METERED],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert shown.stdout == "True\n"


ROUTE = b"   route to: default\ninterface: en7\n      flags: <UP,GATEWAY>\n"
PORTS = b"Hardware Port: Wi-Fi\nDevice: en0\n\nHardware Port: %s\nDevice: en7\nAddress: a:b\n"


@pytest.mark.parametrize(
    ("port", "packet", "is_metered"),
    [
        (b"Thunderbolt Ethernet", b"options:\n", False),
        (b"iPhone USB", b"", True),
        (b"Wi-Fi 2", b"vendor_specific (opaque): \nANDROID_METERED\n", True),
    ],
)
def test_a_mac_knows_telephones(port: bytes, packet: bytes, *, is_metered: bool) -> None:
    answers = {"/sbin/route": ROUTE, "/usr/sbin/networksetup": PORTS % port,
               "/usr/sbin/ipconfig": packet}  # fmt: skip
    assert MacRouteMetered(lambda command: answers[command[0]]).read() is is_metered


@pytest.mark.parametrize(("interface", "is_metered"), [(b"en7", False), (b"utun4", None)])
def test_a_mac_without_dhcp_knows_its_own_ports(
    interface: bytes, *, is_metered: bool | None
) -> None:
    answers = {"/sbin/route": ROUTE.replace(b"en7", interface),
               "/usr/sbin/networksetup": PORTS % b"Ethernet"}  # fmt: skip

    def run(command: Sequence[str]) -> bytes:
        if command[0] in answers:
            return answers[command[0]]
        raise NoAnswerError("ipconfig: exit status 1")

    metered = MacRouteMetered(run)
    if is_metered is None:
        with pytest.raises(NoAnswerError):
            metered.read()
    else:
        assert metered.read() is is_metered


def test_a_mac_without_a_way_out_has_no_line() -> None:
    with pytest.raises(AbsentError, match="no route"):
        MacRouteMetered(lambda _: b"route: writing to routing socket: not in table\n").read()


def way_out(root: Path, name: str, bus: str, *, is_wireless: bool = False) -> RouteMetered:
    (root / "proc/net").mkdir(parents=True)
    (root / "proc/net/route").write_text(
        f"Iface\tDestination\tGateway\n{name}\t000200C0\t0\n{name}\t00000000\t010200C0\n"
    )
    (root / f"sys/bus/{bus}").mkdir(parents=True)
    device = root / f"sys/class/net/{name}/device"
    device.mkdir(parents=True)
    (device / "subsystem").symlink_to(root / f"sys/bus/{bus}")
    (device.parent / "type").write_text("1\n")
    (device.parent / "uevent").write_text(f"INTERFACE={name}\n")
    if is_wireless:
        (device.parent / "wireless").mkdir()
    return RouteMetered(root / "sys", root / "proc")


def test_a_wire_inside_the_computer_is_not_metered(tmp_path: Path) -> None:
    assert way_out(tmp_path, "enp3s0", "pci").read() is False


@pytest.mark.parametrize(("bus", "is_wireless"), [("usb", False), ("pci", True)])
def test_what_may_be_a_telephone_is_unknown(tmp_path: Path, bus: str, *, is_wireless: bool) -> None:
    with pytest.raises(NoAnswerError, match="nobody knows whether wl0 is metered"):
        way_out(tmp_path, "wl0", bus, is_wireless=is_wireless).read()


def test_without_a_route_there_is_no_line(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="no route"):
        RouteMetered(tmp_path, tmp_path).read()


def answer_once(path: Path, said: bytes) -> threading.Thread:
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(path))
    door.listen()

    def serve() -> None:
        with closing(door):
            line, _ = door.accept()
            with line:
                line.recv(4_096)
                for start in range(0, len(said), 7):
                    line.sendall(said[start : start + 7])

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def sway_tree(*, is_full: bool, is_deep: bool = False) -> dict[str, object]:
    leaf = {"id": 9, "type": "con", "focused": True, "pid": os.getppid(), "app_id": "game",
            "fullscreen_mode": int(is_full and not is_deep)}  # fmt: skip
    box = {"id": 5, "type": "con", "nodes": [{"id": 8}, leaf], "focus": [9, 8],
           "fullscreen_mode": int(is_full and is_deep)}  # fmt: skip
    workspace = {"id": 4, "type": "workspace", "fullscreen_mode": 1, "nodes": [{"id": 2}],
                 "floating_nodes": [box], "focus": [5, 2]}  # fmt: skip
    return {"id": 1, "type": "root", "nodes": [workspace], "focus": [4]}


@pytest.mark.parametrize(
    ("tree", "program"),
    [
        (sway_tree(is_full=True), PARENT),
        (sway_tree(is_full=True, is_deep=True), PARENT),
        (sway_tree(is_full=False), ""),
        ({"id": 4, "type": "workspace", "fullscreen_mode": 1, "focused": True}, ""),
        ({"id": 1, "focus": [4], "nodes": 7}, ""),
    ],
)
def test_sway_tells_what_fills_the_screen(
    tmp_path: Path, tree: dict[str, object], program: str
) -> None:
    content = json.dumps(tree).encode()
    head = b"i3-ipc" + struct.pack("=II", len(content), 4)
    thread = answer_once(tmp_path / "sway", head + content)
    assert SwayFullscreen({"SWAYSOCK": str(tmp_path / "sway")}).read() == program
    thread.join()


@pytest.mark.parametrize(
    ("said", "program"),
    [
        ({"fullscreen": 2, "pid": os.getppid(), "class": "a"}, PARENT),
        ({"fullscreen": True, "pid": -1, "class": "steam_app_730"}, "steam_app_730"),
        ({"fullscreen": 1, "pid": 1}, ""),
        ({"fullscreen": 0}, ""),
        ({}, ""),
    ],
)
def test_hyprland_tells_what_fills_the_screen(
    tmp_path: Path, said: dict[str, object], program: str
) -> None:
    (tmp_path / "hypr/abc").mkdir(parents=True)
    thread = answer_once(tmp_path / "hypr/abc/.socket.sock", json.dumps(said).encode())
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "HYPRLAND_INSTANCE_SIGNATURE": "abc"}
    assert HyprlandFullscreen(environ).read() == program
    thread.join()


@pytest.mark.parametrize("said", [b"", b"[]", b"{", b"\xff" * 40])
def test_a_compositor_that_answers_garbage_is_unknown(tmp_path: Path, said: bytes) -> None:
    thread = answer_once(tmp_path / "sway", said)
    with pytest.raises(NoAnswerError):
        SwayFullscreen({"SWAYSOCK": str(tmp_path / "sway")}, timeout_s=0.5).read()
    thread.join()


def test_other_compositors_are_absent(tmp_path: Path) -> None:
    with pytest.raises(AbsentError):
        SwayFullscreen({}).read()
    with pytest.raises(AbsentError):
        HyprlandFullscreen({}).read()
    with pytest.raises(AbsentError):
        SwayFullscreen({"SWAYSOCK": str(tmp_path / "gone")}).read()
