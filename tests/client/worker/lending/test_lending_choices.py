"""Choices on the disk: kept, never lent on a guess, and nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc import preferences as link
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState
from tequio_client.worker.lending.lending import DESIRED_STATE_FILE, PREFERENCES_FILE, StoredChoices

if TYPE_CHECKING:
    from pathlib import Path

WILLING = Preferences(consent=True, month_gb=7)


def choices(folder: Path) -> StoredChoices:
    return StoredChoices(folder, default=DesiredState())


def test_what_was_chosen_and_wished_is_there_again(tmp_path: Path) -> None:
    first = choices(tmp_path)
    first.set_preferences(WILLING)
    first.set_desired_state(DesiredState(number=3, lend=True))
    again = choices(tmp_path)
    assert again.preferences == WILLING
    assert again.desired_state == DesiredState(number=3, lend=True)
    assert not again.files_set_aside


def test_what_was_started_anyway_follows_the_rules_after_a_restart(tmp_path: Path) -> None:
    started = DesiredState(number=3, lend=True, finish=True, anyway=True)
    one = choices(tmp_path)
    one.set_desired_state(started)
    assert one.desired_state == started
    assert choices(tmp_path).desired_state == msgspec.structs.replace(started, anyway=False)


def test_before_anything_was_chosen_there_is_no_consent(tmp_path: Path) -> None:
    assert not choices(tmp_path).preferences.consent


@pytest.mark.parametrize("number", [0, 2, 3])
def test_a_wish_that_is_not_newer_changes_nothing(tmp_path: Path, number: int) -> None:
    one = choices(tmp_path)
    one.set_desired_state(DesiredState(number=3, lend=True))
    one.set_desired_state(DesiredState(number=number, lend=False))
    assert one.desired_state == DesiredState(number=3, lend=True)
    assert choices(tmp_path).desired_state == one.desired_state


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"consent": 1}', b'{"month_gb": -1}', b"\xff" * 10, b"1" * (1 << 17)],
)
def test_damaged_preferences_are_kept_aside_and_lend_nothing(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / PREFERENCES_FILE).write_bytes(content)
    one = choices(tmp_path)
    assert one.preferences == Preferences()
    (name,) = one.files_set_aside
    assert (tmp_path / name).read_bytes() == content
    one.set_preferences(WILLING)
    assert choices(tmp_path).preferences == WILLING


def test_a_damaged_wish_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / DESIRED_STATE_FILE).write_bytes(b'{"number": "3"}')
    one = choices(tmp_path)
    assert one.desired_state == DesiredState()
    assert one.files_set_aside == [f"{DESIRED_STATE_FILE}.damaged"]


def test_preferences_of_a_newer_program_are_understood_as_far_as_can_be_and_kept(
    tmp_path: Path,
) -> None:
    newer = {"version": link.VERSION + 1, "consent": True, "moon_phase": "new", "month_gb": 7}
    (tmp_path / PREFERENCES_FILE).write_bytes(msgspec.json.encode(newer))
    one = choices(tmp_path)
    assert one.preferences == WILLING
    (name,) = one.files_set_aside
    assert msgspec.json.decode((tmp_path / name).read_bytes()) == newer


def test_fixed_preferences_stay_and_leave_the_file_alone(tmp_path: Path) -> None:
    choices(tmp_path).set_preferences(WILLING)
    fixed = Preferences(consent=True, disk_gib=3)
    one = StoredChoices(tmp_path, default=DesiredState(), fixed=fixed)
    one.set_preferences(Preferences())
    assert one.preferences == fixed
    assert choices(tmp_path).preferences == WILLING


def test_what_cannot_be_written_holds_and_is_written_later(tmp_path: Path) -> None:
    """A pause counts on a full disk too, and ends no worker."""
    folder = tmp_path / "missing"
    one = choices(folder)
    one.set_preferences(WILLING)
    one.set_desired_state(DesiredState(number=4, lend=True))
    one.set_desired_state(DesiredState(number=5, lend=False))
    assert (one.preferences, one.desired_state) == (WILLING, DesiredState(number=5, lend=False))
    one.save()
    folder.mkdir()
    one.save()
    again = choices(folder)
    assert (again.preferences, again.desired_state) == (WILLING, DesiredState(number=5, lend=False))
