"""A worker that runs already, by its control socket: nobody else is taken for it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.worker.connection import ControlSocketTransport, WorkerLimits
from tequio_client.control_socket import PATH_BYTES, ControlListener

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@contextmanager
def answering(door: ControlListener, says: list[bytes]) -> Iterator[list[bytes]]:
    """A program on the listener's port: answers each line that it receives with the next reply."""
    heard: list[bytes] = []

    def answer() -> None:
        connection, _ = door.socket.accept()
        with connection, connection.makefile("rb") as lines:
            for said in says:
                heard.append(lines.readline())
                connection.sendall(said)
            lines.readline()

    thread = threading.Thread(target=answer)
    thread.start()
    yield heard
    thread.join(5)
    door.close()


@pytest.fixture(params=["unix", "loopback"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A worker's folder, once with a path that is too long for a Unix socket."""
    made = tmp_path / ("d" * (PATH_BYTES if request.param == "loopback" else 1))
    made.mkdir()
    return made


@pytest.fixture
def door(folder: Path) -> ControlListener:
    return ControlListener(folder)


def test_the_worker_is_talked_to_once_both_secrets_were_said(
    door: ControlListener, folder: Path, qtbot: QtBot
) -> None:
    assert (door.address.port > 0) is (len(folder.name) == PATH_BYTES)
    visit = ControlSocketTransport(folder)
    with answering(door, [door.address.worker_line, b"welcome\n"]) as heard:
        with qtbot.waitSignal(visit.ready):
            visit.start()
        with qtbot.waitSignal(visit.received) as said:
            visit.write(b"hello\n")
        assert said.args == [b"welcome\n"]
        visit.close()
    assert heard == [door.address.caller_line, b"hello\n"]


@pytest.mark.parametrize("says", [b"", b"x", b"x" * 100, b'{"type":"welcome"}\n'], ids=repr)
def test_whoever_has_the_socket_of_a_dead_worker_is_not_talked_to(
    door: ControlListener, folder: Path, qtbot: QtBot, says: bytes
) -> None:
    visit = ControlSocketTransport(folder, limits=WorkerLimits(proof_ms=300))
    begun: list[None] = []
    visit.ready.connect(lambda: begun.append(None))
    with answering(door, [says]):
        with qtbot.waitSignal(visit.ended, timeout=5_000) as ended:
            visit.start()
        assert ended.args == [""]
    assert begun == []
