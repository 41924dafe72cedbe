"""Choices on the disk: kept, never lent on a guess, and nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc import preferences as link
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import Wish
from tequio_client.worker.lending.lending import PREFERENCES, WISH, Choices

if TYPE_CHECKING:
    from pathlib import Path

WILLING = Preferences(consent=True, month_gb=7)


def choices(folder: Path) -> Choices:
    return Choices(folder, wish=Wish())


def test_what_was_chosen_and_wished_is_there_again(tmp_path: Path) -> None:
    first = choices(tmp_path)
    first.choose(WILLING)
    first.want(Wish(number=3, lend=True))
    again = choices(tmp_path)
    assert again.preferences == WILLING
    assert again.wish == Wish(number=3, lend=True)
    assert not again.kept_aside


def test_before_anything_was_chosen_there_is_no_consent(tmp_path: Path) -> None:
    assert not choices(tmp_path).preferences.consent


@pytest.mark.parametrize("number", [0, 2, 3])
def test_a_wish_that_is_not_newer_changes_nothing(tmp_path: Path, number: int) -> None:
    one = choices(tmp_path)
    one.want(Wish(number=3, lend=True))
    one.want(Wish(number=number, lend=False))
    assert one.wish == Wish(number=3, lend=True)
    assert choices(tmp_path).wish == one.wish


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"consent": 1}', b'{"month_gb": -1}', b"\xff" * 10, b"1" * (1 << 17)],
)
def test_damaged_preferences_are_kept_aside_and_lend_nothing(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / PREFERENCES).write_bytes(content)
    one = choices(tmp_path)
    assert one.preferences == Preferences()
    (name,) = one.kept_aside
    assert (tmp_path / name).read_bytes() == content
    one.choose(WILLING)
    assert choices(tmp_path).preferences == WILLING


def test_a_damaged_wish_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / WISH).write_bytes(b'{"number": "3"}')
    one = choices(tmp_path)
    assert one.wish == Wish()
    assert one.kept_aside == [f"{WISH}.damaged"]


def test_preferences_of_a_newer_program_are_understood_as_far_as_can_be_and_kept(
    tmp_path: Path,
) -> None:
    newer = {"version": link.VERSION + 1, "consent": True, "moon_phase": "new", "month_gb": 7}
    (tmp_path / PREFERENCES).write_bytes(msgspec.json.encode(newer))
    one = choices(tmp_path)
    assert one.preferences == WILLING
    (name,) = one.kept_aside
    assert msgspec.json.decode((tmp_path / name).read_bytes()) == newer


def test_fixed_preferences_stay_and_leave_the_file_alone(tmp_path: Path) -> None:
    choices(tmp_path).choose(WILLING)
    fixed = Preferences(consent=True, disk_gib=3)
    one = Choices(tmp_path, wish=Wish(), fixed=fixed)
    one.choose(Preferences())
    assert one.preferences == fixed
    assert choices(tmp_path).preferences == WILLING


def test_what_cannot_be_written_holds_and_is_written_later(tmp_path: Path) -> None:
    """A pause counts on a full disk too, and ends no worker."""
    folder = tmp_path / "missing"
    one = choices(folder)
    one.choose(WILLING)
    one.want(Wish(number=4, lend=True))
    one.want(Wish(number=5, lend=False))
    assert (one.preferences, one.wish) == (WILLING, Wish(number=5, lend=False))
    one.keep()
    folder.mkdir()
    one.keep()
    again = choices(folder)
    assert (again.preferences, again.wish) == (WILLING, Wish(number=5, lend=False))
