"""The key goes to the worker by its standard input, and nowhere else: with the real program."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from tequio_client.app.keys.service import KeyService
from tequio_client.app.model import AppModel
from tequio_client.app.worker.process import WorkerProcess, worker_command
from tequio_client.keys.backup import to_words
from tequio_client.keys.state import KeyProtection
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.memory_keyring import ScriptedKeyring, keyring_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.keys.state import IdentityError

pytestmark = pytest.mark.whole
NOBODY = "http://127.0.0.1:9"
SLOW_MS = 60_000


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[KeyService]:
    with keyring_of(ScriptedKeyring()):
        made = KeyService(tmp_path / "worker", lambda: 1_795_285_800_000, lambda: True)
        yield made
        made.close()


def fail(error: IdentityError) -> None:
    raise error


def spellings(seed: bytes) -> list[bytes]:
    words = " ".join(to_words(seed))
    return [seed, to_text(seed).encode(), seed.hex().encode(), words.encode()]


def in_files(folder: Path, secrets: list[bytes]) -> list[str]:
    files = [one for one in folder.rglob("*") if one.is_file()]
    return [one.name for one in files if any(secret in one.read_bytes() for secret in secrets)]


def in_processes(pid: int, secrets: list[bytes]) -> list[str]:
    """Where the system shows one of them of that process or a child of it."""
    program = psutil.Process(pid)
    found = []
    for one in (program, *program.children(recursive=True)):
        for name in ("cmdline", "environ", "comm"):
            with open(f"/proc/{one.pid}/{name}", "rb") as file:  # noqa: PTH123 - no file of a disk
                content = file.read()
            found += [f"{name} of {one.pid}" for secret in secrets if secret in content]
    listed = subprocess.run(["ps", "axeww"], capture_output=True, check=True).stdout  # noqa: S607 - the system's
    assert str(pid).encode() in listed
    return found + ["ps" for secret in secrets if secret in listed]


def book_is_of(folder: Path, seed: bytes) -> bool:
    """True if the worker's folder has that key in a file, as it does once it keeps its points."""
    key = to_text(Signer(seed).key).encode()
    return bool(in_files(folder, [key]))


def test_the_real_worker_has_the_key_and_nothing_shows_it(
    desk: KeyService, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "worker"
    worker = WorkerProcess(worker_command(NOBODY, folder), folder, desk.seed)
    desk.key_changed.connect(worker.restart)
    model = AppModel(worker)
    try:
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=SLOW_MS)
        seed, first = desk.seed(), worker.pid
        assert not (folder / "identity.key").exists()
        with qtbot.waitSignal(desk.changed, timeout=SLOW_MS):
            desk.make(KeyProtection.KEYRING, None, lambda _: None, fail)
        assert desk.seed() == seed
        assert worker.pid == first
        assert book_is_of(folder, seed)
        assert in_processes(first, spellings(seed)) == []
        other = bytes(range(32))
        with qtbot.waitSignal(desk.key_changed, timeout=SLOW_MS):
            desk.restore(
                " ".join(to_words(other)), KeyProtection.KEYRING, None, lambda _: None, fail
            )
        qtbot.waitUntil(
            lambda: worker.pid not in (0, first) and model.snapshot is not None, timeout=SLOW_MS
        )
        assert in_processes(worker.pid, spellings(other)) == []
    finally:
        worker.close()
    assert book_is_of(folder, other)
    assert in_files(tmp_path, [*spellings(seed), *spellings(other)]) == []
