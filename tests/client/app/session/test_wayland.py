"""Idle time by `ext-idle-notify-v1`, over a compositor that speaks the real protocol's bytes."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.session.wayland import QUIET_S, WaylandIdle
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tests.support.private_display import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEAT, NOTIFIER = "wl_seat", "ext_idle_notifier_v1"


def text(value: str) -> bytes:
    content = value.encode() + b"\0"
    return struct.pack("<I", len(content)) + content + bytes(-len(content) % 4)


def message(sender: int, event: int, body: bytes = b"") -> bytes:
    return struct.pack("<II", sender, (8 + len(body)) << 16 | event) + body


class Compositor:
    """Lists its globals and records requests; `send` sends more."""

    def __init__(self, folder: Path, offered: dict[str, int]) -> None:
        self.environ = {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(folder)}
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / "wayland-7"))
        self._door.listen()
        self._offered = offered
        self._line: socket.socket | None = None
        self.asked: list[tuple[int, int, bytes]] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def send(self, *parts: bytes) -> None:
        """Send these bytes."""
        assert self._line is not None
        for part in parts:
            self._line.sendall(part)

    def hang_up(self) -> None:
        """Be gone."""
        assert self._line is not None
        self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End."""
        self._door.shutdown(socket.SHUT_RDWR)
        if self._line is not None:
            self._line.close()
        self._door.close()
        self._thread.join()

    def _serve(self) -> None:
        try:
            self._line, _ = self._door.accept()
        except OSError:
            return
        left = b""
        try:
            while more := self._line.recv(4_096):
                left += more
                left = self._answer_requests(left)
        except OSError:
            return

    def _answer_requests(self, left: bytes) -> bytes:
        while len(left) >= 8:
            sender, word = struct.unpack_from("<II", left)
            size = word >> 16
            self.asked.append((sender, word & 0xFFFF, left[8:size]))
            if (sender, word & 0xFFFF) == (1, 1):
                for number, (name, version) in enumerate(self._offered.items(), 11):
                    body = struct.pack("<I", number) + text(name) + struct.pack("<I", version)
                    self.send(message(2, 0, body))
            if (sender, word & 0xFFFF) == (1, 0):
                self.send(message(3, 0, struct.pack("<I", 1))[:5], message(3, 0, b"1234")[5:])
            left = left[size:]
        return left


@pytest.fixture
def compositor(tmp_path: Path) -> Iterator[Compositor]:
    with closing(Compositor(tmp_path, {"wl_shm": 1, SEAT: 9, NOTIFIER: 2})) as compositor:
        yield compositor


def test_idle_and_back(compositor: Compositor) -> None:
    now_s = [1_000.0]
    with closing(WaylandIdle(compositor.environ, clock=lambda: now_s[0])) as idle:
        assert idle.read() == 0.0
        compositor.send(message(6, 0))
        wait_until(lambda: idle.read() > 0)
        assert idle.read() == QUIET_S
        now_s[0] += 100
        assert idle.read() == QUIET_S + 100
        compositor.send(message(4, 0, b"1234"), message(6, 1))
        wait_until(lambda: idle.read() == 0.0)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_films_do_not_count_as_input_where_the_compositor_can_tell(
    tmp_path: Path, version: int
) -> None:
    with (
        closing(Compositor(tmp_path, {NOTIFIER: version, SEAT: 5})) as compositor,
        closing(WaylandIdle(compositor.environ)) as idle,
    ):
        idle.read()
        wait_until(lambda: bool(compositor.asked) and compositor.asked[-1][0] == 5)
        _, request, body = compositor.asked[-1]
        assert request == min(version, 2)
        assert struct.unpack("<III", body) == (6, int(QUIET_S * 1_000), 4)


def test_a_compositor_that_does_not_tell_is_absent(tmp_path: Path) -> None:
    with closing(Compositor(tmp_path, {SEAT: 5})) as compositor:
        idle = WaylandIdle(compositor.environ)
        with pytest.raises(AbsentError, match="does not tell"):
            idle.read()


@pytest.mark.parametrize(
    "raw", [message(1, 0, struct.pack("<II", 5, 0) + text("no")), b"\0" * 8, b"\xff" * 64]
)
def test_a_compositor_that_objects_or_speaks_garbage_is_unknown(
    compositor: Compositor, raw: bytes
) -> None:
    with closing(WaylandIdle(compositor.environ, timeout_s=0.3)) as idle:
        idle.read()
        compositor.send(raw)

        def is_unknown() -> bool:
            try:
                idle.read()
            except NoAnswerError:
                return True
            return False

        if raw[:1] == b"\xff":
            assert not is_unknown()  # an endless message: nothing can be told of it yet
        else:
            wait_until(is_unknown)


def test_a_compositor_that_goes_away_is_unknown_and_then_absent(
    compositor: Compositor, tmp_path: Path
) -> None:
    with closing(WaylandIdle(compositor.environ)) as idle:
        idle.read()
        (tmp_path / "wayland-7").unlink()
        compositor.hang_up()
        with pytest.raises(NoAnswerError, match="hung up"):
            idle.read()
        with pytest.raises(AbsentError, match="no compositor"):
            idle.read()


def test_a_compositor_that_hangs_costs_its_time_out(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "wayland-7"))
        door.listen()
        environ = {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)}
        idle = WaylandIdle(environ, timeout_s=0.2)
        with closing(idle), pytest.raises(NoAnswerError, match="did not answer"):
            idle.read()


def test_without_a_compositor_there_is_nobody_to_ask() -> None:
    with pytest.raises(AbsentError, match="no WAYLAND_DISPLAY"):
        WaylandIdle({}).read()
