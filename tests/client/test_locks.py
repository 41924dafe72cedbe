"""One process a folder: a second one is told, and a killed one leaves nothing in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.runtime import locked
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, time
from pathlib import Path
from tequio_client.runtime import locked

with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_second_process_is_refused_and_a_killed_one_leaves_the_folder_free(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ana"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        worker = [sys.executable, "-m", "tequio_client", "worker", "--dir", str(folder)]
        second = subprocess.run(
            [*worker, "--ledger", "http://127.0.0.1:9"],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert second.returncode == 1
        assert second.stderr.strip().splitlines()[-1] == (
            f"tequio: another process uses the folder {folder}: stop it, or choose another folder"
        )
        with pytest.raises(UserFacingError, match="another process uses"), locked(folder):
            raise AssertionError("it is taken")
        first.send_signal(signal.SIGKILL)
    assert (folder / "lock").exists()
    with locked(folder):
        assert [path.name for path in folder.iterdir()] == ["lock"]
