"""The way to the worker of a folder: found by its owner, and by nobody without the secret."""

from __future__ import annotations

import json
import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from tequio_client import local_socket
from tequio_client.local_socket import PORT, SOCKET, Door, connect
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["unix", "loopback"])
def door(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Door]:
    if request.param == "loopback":
        monkeypatch.setattr(local_socket, "UNIX", None)
    made = Door(tmp_path)
    yield made
    made.close()


def first_line(door: Door) -> bytes:
    """What the next caller says first, heard in a thread of its own."""
    connection, _ = door.socket.accept()
    with connection, connection.makefile("rb") as lines:
        return lines.readline()


def test_a_caller_reaches_the_worker_and_shows_the_secret_if_there_is_one(
    door: Door, tmp_path: Path
) -> None:
    heard: list[bytes] = []
    listening = threading.Thread(target=lambda: heard.append(first_line(door)))
    listening.start()
    with connect(tmp_path) as connection:
        connection.sendall(b"hello\n")
        listening.join(5)
    assert heard == [door.token + b"\n" if door.token else b"hello\n"]


def test_nobody_else_may_come(door: Door, tmp_path: Path) -> None:
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    if door.token:
        assert file.name == PORT
        assert len(json.loads(file.read_bytes())["token"]) > 40
    else:
        assert file.name == SOCKET


def test_closing_leaves_nothing_and_callers_hear_it(door: Door, tmp_path: Path) -> None:
    door.close()
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserFacingError, match="no worker runs in"):
        connect(tmp_path)


def test_what_a_dead_worker_left_is_replaced(door: Door, tmp_path: Path) -> None:
    door.socket.close()  # as a kill does
    with pytest.raises(UserFacingError, match="no worker runs in"):
        connect(tmp_path)
    again = Door(tmp_path)
    connect(tmp_path).close()
    again.close()


def test_a_long_path_takes_the_other_way(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    made = Door(deep)
    assert made.token
    connect(deep).close()
    made.close()


def test_a_file_that_names_no_port_is_no_worker(tmp_path: Path) -> None:
    (tmp_path / PORT).write_bytes(b"\x00" * 100)
    with pytest.raises(UserFacingError, match="no worker runs in"):
        connect(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_is_closed_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserFacingError, match="cannot listen"):
        Door(tmp_path)
