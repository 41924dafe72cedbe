"""Reasons not to start are one sentence, for `tequio-ledger replay` as for `serve`."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tequio_shared.ids import to_text
from tests.support.forked_program import LEDGER, run_forked
from tests.support.ledgers import ORGANISER, served

if TYPE_CHECKING:
    from pathlib import Path

NETWORK = ("--network", "test", "--origin", "ledger.example/test")


def refused(command: str, folder: Path, *options: str) -> str:
    """Run a command that must refuse; return the one sentence that it prints."""
    done = run_forked(LEDGER, command, "--dir", str(folder), *NETWORK, *options)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("tequio-ledger: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_replay_names_bad_settings(tmp_path: Path) -> None:
    assert "--network is 'My Net'" in refused("replay", tmp_path, "--network", "My Net")


def test_replay_leaves_a_running_ledger_alone(tmp_path: Path) -> None:
    with served(tmp_path):
        assert "another tequio-ledger" in refused("replay", tmp_path)


def test_replay_names_a_folder_that_cannot_be_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "folder"
    assert f"{folder} holds no ledger" in refused("replay", folder)


def test_replay_names_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"certainly not a database" * 100)
    assert "is not a database of" in refused("replay", tmp_path)


@pytest.mark.parametrize("command", ["serve", "replay"])
def test_a_full_disk_is_told(tmp_path: Path, command: str) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small disk needs root")
    try:
        if command == "replay":
            with served(tmp_path):
                pass
        with (tmp_path / "filling").open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4_096)):
                pass
        said = refused(command, tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)  # noqa: S607 - wherever it lies
    assert str(tmp_path) in said
    assert "full" in said.replace(str(tmp_path), "")


def test_a_network_that_could_never_open_a_run_is_not_founded(tmp_path: Path) -> None:
    said = refused("serve", tmp_path, "--port", "0")
    assert "without organisers" in said
    assert "`tequio run key`" in said
    assert not list(tmp_path.glob("*.key")), "no key of a network that does not come to be"


def test_a_network_for_others_is_not_founded_under_the_name_of_every_other(tmp_path: Path) -> None:
    alike, key = ("--origin", "localhost/tequio"), ("--organiser", to_text(ORGANISER.key))
    said = refused("serve", tmp_path, *alike, *key, "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - the thing refused
    assert "--origin" in said
    with served(tmp_path, *alike):
        pass  # nobody but this machine reaches it
