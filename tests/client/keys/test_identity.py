"""The key file: made once, kept from others, and never silently replaced."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_folder_gives_the_same_key(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "worker"
    first = identity.load_or_create(folder)
    assert identity.load_or_create(folder).key == first.key
    assert identity.load_or_create(tmp_path / "other").key != first.key


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    identity.load_or_create(tmp_path)
    mode = (tmp_path / identity.KEY_FILE).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_file_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    identity.load_or_create(tmp_path)
    (tmp_path / identity.KEY_FILE).chmod(0o640)
    with pytest.raises(UserFacingError, match=r"mode 640.*chmod 600"):
        identity.load_or_create(tmp_path)


@pytest.mark.parametrize("size", [0, 31, 33, 64, 84])
def test_a_file_of_another_length_is_refused_and_left_alone(tmp_path: Path, size: int) -> None:
    path = tmp_path / identity.KEY_FILE
    path.write_bytes(bytes(size))
    path.chmod(0o600)
    with pytest.raises(UserFacingError, match=f"{size} bytes instead of 32"):
        identity.load_or_create(tmp_path)
    assert path.read_bytes() == bytes(size)


def test_what_a_killed_first_start_left_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / f"{identity.KEY_FILE}.new").write_bytes(b"half")
    key = identity.load_or_create(tmp_path).key
    assert identity.load_or_create(tmp_path).key == key


def test_a_sealed_key_opens_with_its_passphrase_only(tmp_path: Path) -> None:
    seed = bytes(range(32))
    identity.write(tmp_path, seed, KeyProtection.PASSPHRASE, "correct horse")
    content = (tmp_path / identity.KEY_FILE).read_bytes()
    assert seed not in content
    assert identity.load(tmp_path, "correct horse").seed == seed
    with pytest.raises(UserFacingError, match="does not open"):
        identity.load(tmp_path, "wrong horse")
    with pytest.raises(UserFacingError, match="passphrase is needed"):
        identity.load_or_create(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserFacingError, match="cannot be used"):
        identity.load_or_create(tmp_path / "file" / "worker")
