"""The settings as a page: its sections, the search, the app's own choices, names and languages."""

from __future__ import annotations

from dataclasses import replace as change
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QWidget

from tequio_client.app.pages.settings import LIST, SettingsPage
from tequio_client.app.pages.settings_control import LoginSwitch, StatusLine
from tequio_client.app.releases import ReleaseService
from tequio_client.app.settings_file import AppSettings
from tequio_client.app.theme.look import Appearance, is_motion_reduced
from tequio_client.app.widgets.buttons import Dropdown, Segmented
from tequio_client.app.window import AppWindow
from tequio_client.ipc.preferences import Preferences
from tests.support.app_language import LONG, PseudoLocale, speak
from tests.support.app_program import FakeAutostart, own
from tests.support.app_scenes import LENDING, NOW_MS
from tests.support.update_rules import update_rules
from tests.support.window_contents import is_cut, labels

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.pages.page import ProgramContext
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
SECTIONS = (
    "lending",
    "network",
    "storage",
    "notifications",
    "appearance",
    "account",
    "startup",
    "privacy",
    "advanced",
)
NOT_LENDING = {"version", "consent", "devices", "run"}
"""Preferences that are chosen elsewhere: first run, Hardware, Runs."""


@pytest.fixture
def login() -> FakeAutostart:
    return FakeAutostart()


@pytest.fixture
def program(tmp_path: Path, login: FakeAutostart) -> ProgramContext:
    return own(tmp_path, login)


@pytest.fixture
def window(
    model: AppModel, worker: ScriptedWorker, theme: Theme, qtbot: QtBot, program: ProgramContext
) -> AppWindow:
    made = AppWindow(model, theme, lambda: NOW_MS, own=program)
    qtbot.addWidget(made)
    worker.send_snapshot(LENDING)
    made.open_page("settings")
    made.show()
    return made


@pytest.fixture
def page(window: AppWindow) -> SettingsPage:
    assert isinstance(window.page, SettingsPage)
    return window.page


# --- sections and search


def test_a_section_is_opened_from_the_list(page: SettingsPage, qtbot: QtBot) -> None:
    assert tuple(page.list.buttons) == SECTIONS
    for name in SECTIONS:
        qtbot.mouseClick(page.list.buttons[name], Qt.MouseButton.LeftButton)
        shown = [one for one in SECTIONS if page.section_of(one).isVisibleTo(page)]
        assert shown == [name]
        assert [key for key, one in page.list.buttons.items() if one.isChecked()] == [name]


def test_without_a_program_around_it_nothing_of_the_program_is_offered(
    model: AppModel, theme: Theme, qtbot: QtBot
) -> None:
    bare = AppWindow(model, theme, lambda: NOW_MS)
    qtbot.addWidget(bare)
    bare.open_page("settings")
    assert isinstance(bare.page, SettingsPage)
    assert tuple(bare.page.list.buttons) == ("lending", "network", "storage", "privacy")


def test_every_preference_has_its_setting(page: SettingsPage) -> None:
    rows = {field for name in SECTIONS for field in page.section_of(name).rows}
    assert set(Preferences.__struct_fields__) - NOT_LENDING <= rows
    assert {"appearance", "language", "ledger", "listen", "log_level"} <= rows
    assert {field for field in AppSettings.__struct_fields__ if field.startswith("notify")} <= rows


def test_every_setting_explains_itself(page: SettingsPage) -> None:
    for name in SECTIONS:
        for field, row in page.section_of(name).rows.items():
            says_itself = field in ("month_used", "disk_used", "used_share_percent")
            assert row.note.text() or says_itself, field
            assert not row.note.text() or row.note.text().endswith("."), field


def test_settings_say_their_default(page: SettingsPage) -> None:
    settable = set(Preferences.__struct_fields__) | set(AppSettings.__struct_fields__)
    for name in SECTIONS:
        for field, row in page.section_of(name).rows.items():
            if field in settable and field not in ("preset", "used_share_percent", "ledger"):
                assert "Default: " in row.note.text(), field


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("battery", {"on_battery"}),
        ("GAMES steam", set()),
        ("default 100 gb", {"month_gb"}),
        ("fingerprint", {"key"}),
        ("share of the time", {"used_share_percent"}),
        ("autostart", {"login"}),
    ],
)
def test_the_search_finds_settings_by_all_their_words(
    page: SettingsPage, words: str, found: set[str]
) -> None:
    page.search.setText(words)
    shown = {
        field
        for name in SECTIONS
        for field, row in page.section_of(name).rows.items()
        if row.isVisibleTo(page)
    }
    assert shown == found
    assert page.empty.isVisibleTo(page) is not bool(found)
    page.search.clear()
    assert page.section_of("lending").rows["week"].isVisibleTo(page)
    assert not page.section_of("network").isVisibleTo(page)
    assert not page.empty.isVisibleTo(page)


def test_a_section_chosen_during_a_search_ends_it(page: SettingsPage, qtbot: QtBot) -> None:
    page.search.setText("battery")
    qtbot.mouseClick(page.list.buttons["storage"], Qt.MouseButton.LeftButton)
    assert page.search.text() == ""
    assert page.section_of(page.location) is page.section_of("storage")
    assert all(row.isVisibleTo(page) for row in page.section_of(page.location).rows.values())


def test_the_list_stands_above_where_there_is_little_room(
    window: AppWindow, page: SettingsPage, qapp: QApplication
) -> None:
    assert _corner(page).x() >= LIST
    window.resize(window.minimumWidth(), 600)
    qapp.processEvents()
    assert _corner(page).x() < LIST
    assert page.list.choices.isVisibleTo(page)
    assert page.list.geometry().bottom() < _corner(page).y()
    page.list.choices.chosen.emit("privacy")
    assert page.section_of(page.location) is page.section_of("privacy")


# --- the app's own


def test_updates_have_a_switch_only_where_the_program_is_a_release(
    page: SettingsPage, program: ProgramContext, model: AppModel, theme: Theme, qtbot: QtBot
) -> None:
    assert "looks_for_updates" not in page.section_of("advanced").rows
    releases = ReleaseService(update_rules())
    released = AppWindow(model, theme, lambda: NOW_MS, own=change(program, releases=releases))
    qtbot.addWidget(released)
    released.open_page("settings")
    assert isinstance(released.page, SettingsPage)
    assert "looks_for_updates" in released.page.section_of("advanced").rows


@pytest.mark.parametrize("field", ["points", "rank", "attention", "runs"])
def test_each_kind_of_notification_has_its_switch(
    page: SettingsPage, program: ProgramContext, qtbot: QtBot, field: str
) -> None:
    page.open_section("notifications")
    switch = page.section_of(page.location).rows[f"notify_{field}"].control
    assert isinstance(switch, QAbstractButton)
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert program.settings.settings == replace(AppSettings(), **{f"notify_{field}": False})
    program.settings.change(**{f"notify_{field}": True})
    page.refresh()
    assert switch.isChecked()


def test_colours_language_and_motion_are_kept(page: SettingsPage, program: ProgramContext) -> None:
    page.open_section("appearance")
    rows = page.section_of(page.location).rows
    colours, languages = rows["appearance"].control, rows["language"].control
    assert isinstance(colours, Segmented)
    assert isinstance(languages, Dropdown)
    colours.chosen.emit(Appearance.LIGHT)
    languages.activated.emit(languages.findData("es"))
    motion = rows["reduced_motion"].control
    assert isinstance(motion, QAbstractButton)
    motion.click()
    said = program.settings.settings
    assert (said.appearance, said.language, said.reduced_motion) == ("light", "es", True)
    page.refresh()
    assert (colours.selected, languages.selected) == ("light", "es")
    names = [languages.itemText(at) for at in range(languages.count())]
    endonyms = ["English", "Deutsch", "Español", "Français", "日本語", "Português", "简体中文"]
    assert names == ["Same as system", *endonyms]


def test_reduced_motion_holds_everything_still(theme: Theme) -> None:
    theme.reduce_motion(is_wanted=True)
    assert is_motion_reduced()
    theme.reduce_motion(is_wanted=False)
    assert not is_motion_reduced()


def test_start_at_login_shows_what_the_system_says(
    page: SettingsPage, login: FakeAutostart, qtbot: QtBot
) -> None:
    login.is_there = True
    page.open_section("startup")
    start = page.section_of(page.location).controls["login"]
    assert isinstance(start, LoginSwitch)
    assert start.switch.isChecked()
    qtbot.mouseClick(start.switch, Qt.MouseButton.LeftButton)
    assert not login.is_there
    assert not start.switch.isChecked()


def test_a_system_that_does_not_start_us_is_named(
    page: SettingsPage, login: FakeAutostart, qtbot: QtBot
) -> None:
    page.open_section("startup")
    start, row = (
        page.section_of(page.location).controls["login"],
        page.section_of(page.location).rows["login"],
    )
    assert isinstance(start, LoginSwitch)
    login.refuses = "Permission denied"
    qtbot.mouseClick(start.switch, Qt.MouseButton.LeftButton)
    assert row.note.text().startswith("The system refused the change: Permission denied.")
    assert not start.switch.isChecked()
    login.refuses, login.forgets = "", True
    qtbot.mouseClick(start.switch, Qt.MouseButton.LeftButton)
    assert row.note.text().startswith("The system accepted the change but does not report it.")
    login.forgets = False
    qtbot.mouseClick(start.switch, Qt.MouseButton.LeftButton)
    assert start.switch.isChecked()
    assert row.note.text().startswith("Starts minimised")


# --- the account


def test_key_and_peer_id_are_copied(page: SettingsPage, qtbot: QtBot) -> None:
    page.open_section("account")
    peer, key = (page.section_of(page.location).controls[name] for name in ("peer", "key"))
    assert isinstance(peer, StatusLine)
    assert isinstance(key, StatusLine)
    for line, text in ((peer.line, "12D3KooWJ1rW"), (key.line, "Jv9bHq3X")):
        qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
        assert QGuiApplication.clipboard().text() == text
        assert line.button.text() == "Copied"


def test_who_we_are_is_unknown_before_the_network_is(
    page: SettingsPage, worker: ScriptedWorker
) -> None:
    page.open_section("account")
    peer = page.section_of(page.location).controls["peer"]
    assert isinstance(peer, StatusLine)
    worker.send_snapshot(replace(LENDING, status=None))
    page.refresh()
    assert (peer.line.text, peer.line.button.isEnabled()) == ("–", False)


# --- names, keyboard, languages


@pytest.mark.parametrize("name", SECTIONS)
def test_every_control_has_a_name(page: SettingsPage, name: str) -> None:
    page.open_section(name)
    assert [one for one in _controls(page) if not _name(one)] == []


@pytest.mark.parametrize("name", ["lending", "network", "advanced"])
def test_the_keyboard_reaches_every_control_in_the_order_seen(
    window: AppWindow, page: SettingsPage, qtbot: QtBot, name: str
) -> None:
    page.open_section(name)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    page.search.setFocus()
    reached: list[QWidget] = []
    for _ in range(80):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        focus = window.focusWidget()
        assert focus is not None
        if focus in reached:
            break
        reached.append(focus)
    wanted = [one for one in _controls(page.section_of(page.location)) if one.isEnabled()]
    missed = [_name(one) for one in wanted if one not in reached and not _is_other_segment(one)]
    assert missed == []
    tops = [
        one.mapTo(page.section_of(page.location), one.rect().topLeft()).y()
        for one in reached
        if page.section_of(page.location).isAncestorOf(one)
    ]
    assert all(below >= above - 16 for above, below in pairwise(tops))


@pytest.mark.parametrize("spoken", LONG)
def test_longer_texts_have_their_room(
    window: AppWindow, language: Language, qapp: QApplication, spoken: str
) -> None:
    for width in (window.minimumWidth(), 900, 1_400):
        window.resize(width, 700)
        page = _page_in(window, language, qapp, spoken)
        for name in SECTIONS:
            page.open_section(name)
            for _ in range(3):
                qapp.processEvents()
            content = page.widget()
            assert content is not None
            assert content.width() <= page.viewport().width(), (name, width)
            cut = [label.text() for label in labels(window) if is_cut(label)]
            assert cut == [], (name, width)


def test_every_text_is_translated(
    window: AppWindow, language: Language, qapp: QApplication
) -> None:
    page = _page_in(window, language, qapp, "pseudo")
    for name in SECTIONS:
        rows = page.section_of(name).rows
        said = {
            text for row in rows.values() for text in (row.name.text(), row.note.text()) if text
        }
        assert {text for text in said if "[" not in text} == set(), name


def _page_in(
    window: AppWindow, language: Language, qapp: QApplication, spoken: str
) -> SettingsPage:
    """The page, rebuilt in that language."""
    speak(language, spoken)
    qapp.processEvents()
    assert isinstance(window.page, SettingsPage)
    return window.page


def test_another_language_stays_where_the_user_was(
    window: AppWindow, page: SettingsPage, language: Language, qapp: QApplication
) -> None:
    page.open_section("privacy")
    language.choose("es")
    qapp.processEvents()
    assert isinstance(window.page, SettingsPage)
    assert window.page is not page
    assert window.page.location == "privacy"


def test_right_to_left_the_list_stands_on_the_right(
    window: AppWindow, page: SettingsPage, language: Language, qapp: QApplication
) -> None:
    assert page.list.x() < _corner(page).x()
    language.apply(QLocale("ar"), PseudoLocale())
    for _ in range(3):
        qapp.processEvents()
    assert isinstance(window.page, SettingsPage)
    assert window.page.list.x() > _corner(window.page).x() + LIST


def _corner(page: SettingsPage) -> QPoint:
    """Where the open section begins."""
    return page.section_of(page.location).mapTo(page, QPoint(0, 0))


def _controls(root: QWidget) -> list[QWidget]:
    kinds = (QAbstractButton, QComboBox, QAbstractSpinBox)
    return [
        one
        for one in root.findChildren(QWidget)
        if one.isVisible()
        and (isinstance(one, kinds) or one.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not isinstance(one.parent(), (QAbstractSpinBox, QComboBox))
        and not (isinstance(one, QAbstractButton) and isinstance(one.parent(), QLineEdit))
    ]


def _name(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text


def _is_other_segment(widget: QWidget) -> bool:
    """Tab reaches the chosen one of a group; arrow keys lead to the others."""
    return isinstance(widget, QAbstractButton) and widget.autoExclusive() and not widget.isChecked()
