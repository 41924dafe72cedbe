"""The app's settings on disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_client.app import settings_file
from tequio_client.app.settings_file import AppSettings, SettingsStore
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.preferences import Preferences
from tequio_client.ledger.networks import APP_FILE
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

CHOSEN = Preferences(consent=True, idle_minutes=9, exclusive=("blender",))


def test_what_was_chosen_holds_the_next_time(tmp_path: Path) -> None:
    book = SettingsStore(tmp_path)
    assert book.preferences is None
    book.change(appearance="dark", language="es", notify_rank=False)
    book.save_preferences(CHOSEN)
    again = SettingsStore(tmp_path)
    assert again.settings == AppSettings(appearance="dark", language="es", notify_rank=False)
    assert again.preferences == CHOSEN
    assert again.load_problems == []


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    book = SettingsStore(tmp_path / "fresh")
    book.change(language="es")
    assert (tmp_path / "fresh" / APP_FILE).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o700


def test_a_change_is_told_once(tmp_path: Path, qtbot: QtBot) -> None:
    book = SettingsStore(tmp_path)
    with qtbot.waitSignal(book.changed) as changed:
        book.change(page="points")
    assert changed.args == [AppSettings(page="points")]
    with qtbot.assertNotEmitted(book.changed):
        book.change(page="points")


def test_a_change_that_the_next_start_could_not_read_is_refused(tmp_path: Path) -> None:
    book = SettingsStore(tmp_path)
    book.change(language="es")
    with pytest.raises(MalformedError, match="<= 256"):
        book.change(listen="x" * 257)
    assert book.settings == SettingsStore(tmp_path).settings == AppSettings(language="es")


@pytest.mark.parametrize("name", [APP_FILE, settings_file.PREFERENCES_FILE])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"version":"new"}', b"[" * 70_000])
def test_a_damaged_file_is_kept_aside_and_defaults_hold(
    name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    book = SettingsStore(tmp_path)
    assert book.settings == AppSettings()
    assert book.preferences is None
    assert book.load_problems == [("damaged", str(tmp_path / f"{name}.damaged"))]
    assert (tmp_path / f"{name}.damaged").read_bytes() == content
    book.change(language="es")
    book.save_preferences(CHOSEN)
    assert (tmp_path / f"{name}.damaged").read_bytes() == content
    assert SettingsStore(tmp_path).load_problems == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (APP_FILE, b'{"version":9,"language":"es","hologram":{"depth":3}}'),
        (settings_file.PREFERENCES_FILE, b'{"version":9,"consent":true,"quantum":[1]}'),
    ],
)
def test_a_file_of_a_newer_program_is_kept_aside_and_used(
    name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    book = SettingsStore(tmp_path)
    assert book.load_problems == [("newer", str(tmp_path / f"{name}.newer"))]
    if name == APP_FILE:
        assert book.settings == AppSettings(language="es")
        book.change(page="points")
    else:
        assert book.preferences == Preferences(consent=True)
        book.save_preferences(CHOSEN)
    assert (tmp_path / f"{name}.newer").read_bytes() == content
    assert SettingsStore(tmp_path).load_problems == []


def test_a_full_disk_loses_nothing_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = SettingsStore(tmp_path)
    book.change(language="es")
    book.save_preferences(CHOSEN)
    before = (tmp_path / APP_FILE).read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    reported: list[tuple[str, str]] = []
    book.problem.connect(lambda kind, detail: reported.append((kind, detail)))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        book.change(language="eo")
        book.save_preferences(Preferences(consent=True))
    path = tmp_path / APP_FILE
    assert reported[0] == ("unsaved", f"{path}: No space left on device")
    assert len(reported) == 2
    assert path.read_bytes() == before
    assert SettingsStore(tmp_path).preferences == CHOSEN
    assert book.settings.language == "eo"
    book.write_pending()
    again = SettingsStore(tmp_path)
    assert again.settings.language == "eo"
    assert again.preferences == Preferences(consent=True)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    book = SettingsStore(tmp_path / "file" / "folder")
    with qtbot.waitSignal(book.problem):
        book.change(language="es")
    assert book.settings.language == "es"


def test_a_damaged_file_of_before_gives_way_to_that_of_now(tmp_path: Path) -> None:
    for content in (b"first", b"second"):
        (tmp_path / APP_FILE).write_bytes(content)
        SettingsStore(tmp_path)
        assert (tmp_path / "app.json.damaged").read_bytes() == content


@given(st.binary(max_size=300))
def test_any_bytes_are_settings_or_are_refused(content: bytes) -> None:
    try:
        settings = settings_file.decode(content, AppSettings)
    except MalformedError:
        return
    assert settings_file.decode(msgspec.json.encode(settings), AppSettings) == settings


def test_the_stored_preferences_are_those_that_the_worker_reads(tmp_path: Path) -> None:
    SettingsStore(tmp_path).save_preferences(CHOSEN)
    content = (tmp_path / settings_file.PREFERENCES_FILE).read_bytes()
    assert link_preferences.decode(content) == CHOSEN
    assert msgspec.json.decode(content)["consent"] is True
