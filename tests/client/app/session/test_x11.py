"""Idle time and full screen by a real X server, with a real window manager and real windows."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import psutil
import pytest

from tequio_client.app.session.x11 import X11Display, X11Fullscreen, X11Idle, X11Server, _cookie
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tests.support.private_display import wait_until
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.private_display import PrivateDisplay


@pytest.fixture
def server(display: PrivateDisplay) -> Iterator[X11Server]:
    with closing(X11Server(display.environ)) as server:
        yield server


def test_idle_time_grows_and_begins_again_with_the_mouse(
    display: PrivateDisplay, server: X11Server
) -> None:
    idle = X11Idle(server)
    begun_s = time.monotonic()
    display.touch()
    wait_until(lambda: idle.read() >= 1.0)
    assert idle.read() <= time.monotonic() - begun_s + 1.0

    def is_noticed() -> bool:
        display.touch()
        return idle.read() < 1.0

    wait_until(is_noticed)


def test_a_window_that_fills_the_screen_is_seen_until_it_is_closed(
    display: PrivateDisplay, server: X11Server
) -> None:
    display.manage()
    fullscreen = X11Fullscreen(server, sees_all=True)
    assert fullscreen.read() == ""
    program = display.window("full")
    wait_until(lambda: fullscreen.read() != "")
    assert fullscreen.read().startswith("python")
    display.close(program)
    wait_until(lambda: fullscreen.read() == "")


def test_a_window_with_the_process_id_of_another_users_program_is_named_by_its_class(
    display: PrivateDisplay, server: X11Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {os.getpid(): "us"}
    monkeypatch.setattr(psutil.Process, "username", lambda one: owners.get(one.pid, "root"))
    display.manage()
    display.window("full")
    fullscreen = X11Fullscreen(server, sees_all=True)
    wait_until(lambda: fullscreen.read() != "")
    assert fullscreen.read() == "pretend-game"


def test_an_ordinary_window_does_not_fill_the_screen(
    display: PrivateDisplay, server: X11Server
) -> None:
    display.manage()
    display.window("plain")
    assert X11Fullscreen(server, sees_all=True).read() == ""


def test_under_wayland_the_x_server_cannot_say_that_nothing_fills_the_screen(
    display: PrivateDisplay, server: X11Server
) -> None:
    display.manage()
    fullscreen = X11Fullscreen(server, sees_all=False)
    with pytest.raises(NoAnswerError, match="cannot be seen"):
        fullscreen.read()
    display.window("full")
    wait_until(lambda: "python" in _or_nothing(fullscreen))


def test_without_a_window_manager_nobody_tells(server: X11Server) -> None:
    with pytest.raises(AbsentError, match="no window manager"):
        X11Fullscreen(server, sees_all=True).read()


def test_a_server_that_hangs_costs_its_time_out_and_is_asked_anew_afterwards(
    display: PrivateDisplay,
) -> None:
    with closing(X11Server(display.environ, timeout_s=0.3)) as server:
        idle = X11Idle(server)
        idle.read()
        display.server.send_signal(signal.SIGSTOP)
        begun_s = time.monotonic()
        for _ in range(2):
            with pytest.raises(NoAnswerError, match="did not answer"):
                idle.read()
        assert time.monotonic() - begun_s < allowed_s(3)
        display.server.send_signal(signal.SIGCONT)
        assert idle.read() >= 0


def test_a_server_that_dies_is_an_error_and_not_our_end(
    display: PrivateDisplay, server: X11Server
) -> None:
    idle = X11Idle(server)
    idle.read()
    display.server.kill()
    display.server.wait()
    with pytest.raises(NoAnswerError):
        idle.read()
    with pytest.raises(AbsentError, match="no X server"):
        idle.read()


@pytest.mark.parametrize("name", ["localhost:10.0", "far.example:0", "wayland-0", ":x", ":999999"])
def test_only_displays_of_this_computer_are_asked(name: str) -> None:
    with pytest.raises(AbsentError, match="not on this computer"):
        X11Display(name, {})


def test_without_a_display_there_is_nobody_to_ask() -> None:
    with pytest.raises(AbsentError, match="no DISPLAY"):
        X11Idle(X11Server({})).read()


@pytest.mark.parametrize(
    "said", [b"", b"\0" * 8, b"\1" + b"\0" * 5 + b"\xff\xff" + b"\0" * 64, os.urandom(4_096)]
)
def test_a_server_that_speaks_garbage_is_an_error(tmp_path: Path, said: bytes) -> None:
    number = str(50_000 + os.getpid() % 10_000)
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers have their sockets
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("\0" + path)
        door.listen()

        def answer() -> None:
            line, _ = door.accept()
            with line:
                line.recv(64)
                line.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(NoAnswerError):
            X11Display(f":{number}", {"HOME": str(tmp_path)}, timeout_s=0.5)
        thread.join()


def test_the_cookie_of_this_display_is_taken_from_the_users_file(tmp_path: Path) -> None:
    def entry(family: int, address: bytes, number: bytes, secret: bytes) -> bytes:
        fields = (address, number, b"MIT-MAGIC-COOKIE-1", secret)
        return struct.pack(">H", family) + b"".join(
            struct.pack(">H", len(field)) + field for field in fields
        )

    here = os.uname().nodename.encode()
    file = tmp_path / "cookies"
    file.write_bytes(
        entry(256, b"elsewhere", b"0", b"a" * 16)
        + entry(65_535, b"", b"0", b"b" * 16)
        + entry(256, here, b"7", b"c" * 16)
        + entry(256, here, b"0", b"d" * 16)
    )
    environ = {"XAUTHORITY": str(file)}
    assert _cookie("0", environ) == b"d" * 16
    assert _cookie("1", environ) == b""
    file.write_bytes(b"\1")
    assert _cookie("0", environ) == b""


def _or_nothing(fullscreen: X11Fullscreen) -> str:
    try:
        return fullscreen.read()
    except NoAnswerError:
        return ""
