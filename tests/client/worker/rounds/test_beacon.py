"""Beacon secrets: what was committed to is revealed, whatever happened in between."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.rounds.statements import BeaconSecrets
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, sha256
from tests.support.memory_swarm import signer

if TYPE_CHECKING:
    from pathlib import Path

NET = NetworkId(bytes(32))


def opened(folder: Path) -> BeaconSecrets:
    return BeaconSecrets(folder / "beacon.json", signer("ana"), NET)


def test_the_secret_of_the_last_commitment_before_the_roster_is_revealed(tmp_path: Path) -> None:
    secrets = opened(tmp_path)
    first, second = secrets.make_commitment(), secrets.make_commitment()
    secrets.confirm(first, 10)
    secrets.confirm(second, 20)
    assert sha256(secrets.reveal(15)) == first
    assert sha256(secrets.reveal(21)) == second


def test_what_the_log_never_had_is_not_revealed(tmp_path: Path) -> None:
    secrets = opened(tmp_path)
    first, _lost = secrets.make_commitment(), secrets.make_commitment()
    secrets.confirm(first, 10)
    assert sha256(secrets.reveal(99)) == first


def test_no_secret_is_committed_to_twice(tmp_path: Path) -> None:
    commits = {opened(tmp_path).make_commitment() for _ in range(20)}
    assert len(commits) == 20


def test_a_restart_forgets_nothing(tmp_path: Path) -> None:
    before = opened(tmp_path)
    commit = before.make_commitment()
    opened(tmp_path).confirm(commit, 7)
    assert sha256(opened(tmp_path).reveal(8)) == commit


def test_the_file_holds_no_secret_and_does_not_grow(tmp_path: Path) -> None:
    secrets = opened(tmp_path)
    for index in range(100):
        secrets.confirm(secrets.make_commitment(), index)
    content = (tmp_path / "beacon.json").read_bytes()
    assert len(content) < 300
    assert secrets.reveal(1_000).hex().encode() not in content


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "beacon.json").write_bytes(b'{"last": 3')
    with pytest.raises(UserFacingError, match=r"cannot read .*beacon.json .* move it away"):
        opened(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    secrets = BeaconSecrets(tmp_path / "gone" / "beacon.json", signer("ana"), NET)
    with pytest.raises(UserFacingError, match=errno_text(errno.ENOENT)):
        secrets.make_commitment()


def errno_text(number: int) -> str:
    return OSError(number, "No such file or directory").strerror or ""
