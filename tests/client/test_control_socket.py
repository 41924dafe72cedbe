"""The way to the worker of a folder: found by its owner, and by nobody without the secret."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tequio_client import control_socket
from tequio_client.control_socket import (
    ADDRESS,
    PATH_BYTES,
    SOCKET,
    ControlListener,
    connect,
    is_worker_running,
)
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["unix", "loopback"])
def door(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ControlListener]:
    if request.param == "loopback":
        monkeypatch.setattr(control_socket, "UNIX", None)
    made = ControlListener(tmp_path)
    yield made
    made.close()


def too_long_for_unix(folder: Path) -> Path:
    """A folder in it whose path is too long for a Unix socket."""
    deep = folder / ("d" * PATH_BYTES)
    deep.mkdir()
    return deep


@contextmanager
def answering(door: ControlListener) -> Iterator[list[bytes]]:
    """A worker at that door for one caller: what was said, the secret included."""
    heard: list[bytes] = []

    def answer() -> None:
        connection, _ = door.socket.accept()
        with connection, connection.makefile("rb") as lines:
            heard.append(lines.readline())
            connection.sendall(door.address.worker_line)
            heard.append(lines.readline())

    thread = threading.Thread(target=answer)
    thread.start()
    yield heard
    thread.join(5)


def test_a_caller_reaches_the_worker_and_shows_the_secret(
    door: ControlListener, tmp_path: Path
) -> None:
    with answering(door) as heard, connect(tmp_path) as connection:
        connection.sendall(b"hello\n")
    assert heard == [door.address.caller_line, b"hello\n"]


def test_nobody_else_may_come(door: ControlListener, tmp_path: Path) -> None:
    names = {ADDRESS} if door.address.port else {ADDRESS, SOCKET}
    assert {one.name for one in tmp_path.iterdir()} == names
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    said = json.loads((tmp_path / ADDRESS).read_bytes())
    assert len(said["token"]) > 40
    assert len(said["proof"]) > 40
    assert said["token"] != said["proof"]


def test_closing_leaves_nothing_and_callers_hear_it(door: ControlListener, tmp_path: Path) -> None:
    door.close()
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserFacingError, match="no worker is running in"):
        connect(tmp_path)


def test_what_a_dead_worker_left_is_replaced(door: ControlListener, tmp_path: Path) -> None:
    door.socket.close()  # as a kill does
    with pytest.raises(UserFacingError, match="no worker is running in"):
        connect(tmp_path)
    assert not is_worker_running(tmp_path)
    again = ControlListener(tmp_path)
    with answering(again):
        connect(tmp_path).close()
    again.close()


@pytest.mark.parametrize("says", [b"", b"x", b"x" * 100, b"{}\n", None], ids=repr)
def test_whoever_has_the_port_of_a_dead_worker_is_no_worker(
    tmp_path: Path, says: bytes | None
) -> None:
    """Another user may listen there; the file, and with it the second secret, stays ours."""
    folder = too_long_for_unix(tmp_path)
    dead = ControlListener(folder)
    assert dead.address.port
    dead.socket.close()  # as a kill does
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", dead.address.port)) as listener:

        def pretend() -> None:
            connection, _ = listener.accept()
            with connection:
                token = connection.recv(1_000)
                connection.sendall(token if says is None else says)
                ended.wait(5)

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(UserFacingError, match="no worker is running in"):
            connect(folder, timeout_s=0.3)
        ended.set()
        thread.join()


def test_a_worker_that_does_not_answer_is_running(tmp_path: Path) -> None:
    busy = ControlListener(tmp_path)
    if busy.address.port:
        busy.close()
        pytest.skip("another program may have its port")
    with pytest.raises(UserFacingError, match=r"the worker in .* does not answer"):
        connect(tmp_path, timeout_s=0.1)

    def turn_away() -> None:
        for _ in range(3):
            busy.socket.accept()[0].close()

    thread = threading.Thread(target=turn_away)
    thread.start()
    assert is_worker_running(tmp_path)
    with pytest.raises(UserFacingError, match=r"the worker in .* does not answer"):
        connect(tmp_path)
    thread.join()
    busy.close()


def test_a_long_path_takes_the_other_way(tmp_path: Path) -> None:
    deep = too_long_for_unix(tmp_path)
    made = ControlListener(deep)
    assert made.address.port
    with answering(made):
        connect(deep).close()
    made.close()


def test_a_file_that_names_no_address_is_no_worker(tmp_path: Path) -> None:
    (tmp_path / ADDRESS).write_bytes(b"\x00" * 100)
    with pytest.raises(UserFacingError, match="no worker is running in"):
        connect(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_is_closed_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserFacingError, match="cannot listen"):
        ControlListener(tmp_path)
