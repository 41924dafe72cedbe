"""Somebody else with an account on the same machine. Layer: cli (files, environment, arguments)."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.keys import identity
from tequio_client.runtime import locked
from tequio_client.worker.children.trainer import trainer_environment
from tequio_ledger.data_folder import DataFolder
from tequio_shared.errors import UserFacingError
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture
def careless() -> Iterator[None]:
    """A user whose new files are everybody's."""
    before = os.umask(0)
    yield
    os.umask(before)


@attack("P13", layer="cli", ends="only their owner can read folder and key")
@pytest.mark.usefixtures("careless")
def test_a_careless_umask_opens_neither_folder_nor_key(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    with locked(folder):
        identity.load_or_create(folder)
        assert not folder.stat().st_mode & OTHERS
        assert not (folder / identity.KEY_FILE).stat().st_mode & OTHERS
    with DataFolder(tmp_path / "ledger") as ledger:
        ledger.signer("log")
    assert not (tmp_path / "ledger").stat().st_mode & OTHERS
    assert not (tmp_path / "ledger" / "log.key").stat().st_mode & OTHERS


@attack("P13", layer="cli", ends="refused with one sentence")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_in_which_others_may_swap_the_key_is_not_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UserFacingError, match="others can write"), locked(folder):
        pass


@attack("P13", layer="cli", ends="refused with one sentence")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_not_used_though_it_is_sticky(tmp_path: Path) -> None:
    """The owner of a sticky folder may rename and remove everybody's files in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o1777)
    with locked(folder):
        pass
    os.chown(folder, 65_534, -1)
    with pytest.raises(UserFacingError, match="belongs to another user"), locked(folder):
        pass


def test_a_ledger_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.signer("log")
        (tmp_path / "log.key").chmod(0o644)
        with pytest.raises(UserFacingError, match="others may read"):
            folder.signer("log")


def test_a_link_laid_in_the_way_of_a_new_key_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "victim"
    target.write_bytes(b"precious")
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "identity.new").symlink_to(target)
    identity.load_or_create(folder)
    assert target.read_bytes() == b"precious"


@attack("P13", layer="cli", ends="the trainer gets neither key nor secret")
def test_the_trainer_inherits_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TEQUIO_PASSPHRASE", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in trainer_environment(tmp_path).values()


@attack("P13", layer="cli", ends="a crash leaves no memory contents on disk")
def test_a_crash_leaves_no_key_on_the_disk(tmp_path: Path) -> None:
    """Of the command, and so of every program that it starts."""
    ends = (
        "import os, resource, sys\n"
        "_, most = resource.getrlimit(resource.RLIMIT_CORE)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (most, most))\n"
        "from tequio_client.__main__ import main\n"
        "sys.argv = ['tequio', '--version']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print(resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
        "    sys.stdout.flush()\n    os.abort()\n"
    )
    command = [sys.executable, "-c", ends]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == -signal.SIGABRT
    assert done.stdout.split()[-1] == b"0"
    assert not list(tmp_path.iterdir())
