"""Most pages in any look: names, keyboard, translation, room, either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from tequio_client.app.language import LANGUAGES
from tequio_client.app.pages.activity import ActivityPage
from tequio_client.app.pages.competitions import AppCompetitionsPage
from tequio_client.app.pages.rounds import RoundDialog
from tequio_client.app.pages.runs import RunsPage
from tequio_client.app.run_model.page import ModelPage
from tequio_client.app.theme import style
from tequio_client.app.widgets.base import BREAK
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.window import AppWindow
from tequio_client.ipc import control
from tequio_client.ipc.facts import ProbeHealth, SessionFacts
from tests.support import app_competitions, app_worker_answers, measured_site
from tests.support.app_language import LONG, MIRRORED, PseudoLocale, speak, speak_both_ways
from tests.support.app_program import own
from tests.support.app_scenes import CARD, MACHINE, NOW_MS, SCENES
from tests.support.window_contents import (
    controls,
    has_words,
    is_cut,
    is_elided,
    labels,
    name_of,
    not_mirrored,
    painted_parts,
    settle,
    spoken_name,
    texts,
    widest_word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
NETWORK = {row.name for row in app_worker_answers.RUNS.rows} | {"no display", "Tequio"}
NETWORK |= {CARD.name, MACHINE.cpu_name}
NETWORK |= {row.name for row in app_competitions.COMPETITIONS.rows}
NETWORK |= {app_competitions.RACE.data, app_competitions.CHECK}
NETWORK |= {side.name for row in app_competitions.COMPETITIONS.rows for side in row.entrants}
NETWORK |= {head.repo for head in app_worker_answers.NOVA.published}
NETWORK |= {app_worker_answers.WRITING.prompt, app_worker_answers.WRITING.text}
NETWORK |= {*measured_site.PROMPTS, *(text.strip() for text in measured_site.WORDS)}
"""Texts that are not ours to translate."""
UNTRANSLATED = ("RTX 4070", "tequio ", "llama-cli ", "echo ")
"""How others begin: a device, and commands."""
VIEWS = (
    ("runs", ""),
    ("runs", app_worker_answers.LARGE.run),
    ("runs", app_worker_answers.FULL.run),
    ("model", ""),
    ("competitions", ""),
    ("competitions", app_competitions.LARGE_RACE.competition),
    ("competitions", app_competitions.SCORED.competition),
    ("competitions", app_competitions.DECIDED.competition),
    ("points", ""),
    ("activity", "timeline"),
    ("activity", "log"),
    ("activity", "health"),
)
HEALTH = (
    ProbeHealth(name="idle", source="mutter", ok=True, took_ms=3),
    ProbeHealth(name="fullscreen", source="none", ok=False, error="no display"),
)
TOP_OF_LISTS = 70
"""Below the heading of a page and the buttons beside it."""
every_scene = pytest.mark.parametrize("scene", ["new", "lending", "ledger-away"])


class PageWindow:
    """A window that opens any page in any view and scene."""

    def __init__(
        self, window: AppWindow, model: AppModel, worker: ScriptedWorker, ledger: str
    ) -> None:
        """Use a window that is already open; the ledger answers with measures."""
        self.window, self._model, self._worker, self._ledger = window, model, worker, ledger

    def open(self, page: str, view: str, scene: str = "lending") -> None:
        """Show that."""
        settle()
        snapshot = SCENES[scene]
        ledger = replace(snapshot.ledger, url=self._ledger)
        machine = replace(MACHINE, health=HEALTH)
        self._worker.send_snapshot(replace(snapshot, ledger=ledger, machine=machine))
        self._model.update_session(SessionFacts(health=HEALTH))
        self.window.open_page(page)
        opened = self.window.page
        if isinstance(opened, ActivityPage):
            opened.open_view(view)
        elif isinstance(opened, (RunsPage, AppCompetitionsPage)):
            opened.select(view)
        opened.refresh()
        if isinstance(opened, ModelPage):
            measures = opened.measures
            while measures.is_reading or measures.is_choosing:
                QApplication.processEvents()
            opened.refresh()
        settle()


@pytest.fixture(scope="module")
def ledger() -> Iterator[str]:
    with measured_site.measured_site(measured_site.MeasuredRun()) as site:
        yield site.url


@pytest.fixture
def page_window(
    model: AppModel,
    theme: Theme,
    worker: ScriptedWorker,
    qtbot: QtBot,
    ledger: str,
    tmp_path: Path,
) -> PageWindow:
    window = AppWindow(model, theme, lambda: NOW_MS, own=own(tmp_path))
    qtbot.addWidget(window)
    window.show()
    return PageWindow(window, model, worker, ledger)


@every_scene
def test_every_control_has_a_name(page_window: PageWindow, scene: str) -> None:
    for page, view in VIEWS:
        page_window.open(page, view, scene)
        assert [one for one in controls(page_window.window) if not name_of(one)] == []


@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_the_keyboard_reaches_every_control(
    page_window: PageWindow, qtbot: QtBot, page: str, view: str
) -> None:
    page_window.open(page, view)
    window = page_window.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    reached: list[QWidget] = []
    for _ in range(60):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        focus = window.focusWidget()
        assert focus is not None
        if focus in reached:
            break
        reached.append(focus)
    wanted = {name_of(one) for one in controls(window) if one.isEnabled()}
    assert wanted <= set(map(name_of, reached))


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("runs", app_worker_answers.LARGE.run),
        ("competitions", app_competitions.DECIDED.competition),
    ],
)
def test_tab_comes_to_the_list_before_the_details_of_its_choice(
    page_window: PageWindow, qtbot: QtBot, page: str, view: str
) -> None:
    page_window.open(page, view)
    window, opened = page_window.window, page_window.window.page
    assert isinstance(opened, (RunsPage, AppCompetitionsPage))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    next(one for one in controls(window) if not opened.isAncestorOf(one)).setFocus()
    reached: list[QWidget] = []
    while window.focusWidget() not in reached:
        reached.append(window.focusWidget())
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    rows = [at for at, one in enumerate(reached) if opened.choices.isAncestorOf(one)]
    edge = _left(opened.choices, opened) + opened.choices.width()
    beside = [
        at
        for at, one in enumerate(reached)
        if opened.isAncestorOf(one)
        and _top(one, opened) > TOP_OF_LISTS
        and _left(one, opened) > edge
    ]
    assert rows
    assert beside
    assert max(rows) < min(beside)


@every_scene
def test_every_text_is_translated(page_window: PageWindow, language: Language, scene: str) -> None:
    language.apply(QLocale("en_US"), PseudoLocale())
    for page, view in (*VIEWS, ("hardware", "")):
        page_window.open(page, view, scene)
        chips = {chip.text for chip in page_window.window.findChildren(Chip) if chip.isVisible()}
        seen = {text for text in texts(page_window.window) | chips if has_words(text)}
        plain = {text for text in seen - NETWORK if "[" not in text}
        assert {text for text in plain if not text.startswith(UNTRANSLATED)} == set()


@pytest.mark.parametrize("spoken", LONG)
def test_longer_texts_have_their_room(
    page_window: PageWindow, language: Language, spoken: str
) -> None:
    speak(language, spoken)
    window = page_window.window
    for width in (window.minimumWidth(), window.width(), 1_600):
        window.resize(width, window.height())
        for page, view in (*VIEWS, ("hardware", "")):
            page_window.open(page, view)
            content = window.page.widget()
            assert content is not None
            assert content.width() <= window.page.viewport().width()
            assert [label.text() for label in labels(window) if is_cut(label)] == []


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_no_line_is_cut_short_in_the_usual_window(
    page_window: PageWindow, language: Language, spoken: str
) -> None:
    speak(language, spoken)
    page_window.window.resize(*style.WINDOW)
    for scene in ("new", "lending", "attention"):
        for page, view in (*VIEWS, ("hardware", ""), ("home", "")):
            page_window.open(page, view, scene)
            assert [one.text() for one in labels(page_window.window) if is_elided(one)] == []


def test_a_long_name_without_blanks_is_never_cut_nor_spelled_out(
    page_window: PageWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "W" * 64
    encode = control.encode
    monkeypatch.setattr(
        control, "encode", lambda told: encode(told).replace(b"nova-350m", name.encode())
    )
    shown_on = set()
    for page, view in (*VIEWS, ("hardware", ""), ("home", "")):
        page_window.open(page, view)
        spoken = map(spoken_name, labels(page_window.window))
        assert [one for one in spoken if BREAK in one] == []
        named = [one for one in labels(page_window.window) if name in one.text()]
        wrapped = [one for one in named if one.wordWrap()]
        assert [one.text() for one in wrapped if is_cut(one)] == []
        assert [one.text() for one in wrapped if widest_word(one) > one.width()] == []
        shown_on |= {page for _ in wrapped}
    assert {"hardware", "model"} <= shown_on


def test_right_to_left_what_stood_on_the_left_stands_on_the_right(
    page_window: PageWindow, language: Language
) -> None:
    language.apply(QLocale("ar"), PseudoLocale())
    for page, view in VIEWS:
        page_window.open(page, view)
        opened = page_window.window.page
        assert opened.mapTo(page_window.window, opened.rect().topLeft()).x() == 0
        assert not page_window.window.grab().isNull()
    page_window.open("runs", "")
    runs = page_window.window.page
    assert isinstance(runs, RunsPage)
    assert _left(runs.choices, runs) > _left(runs.detail, runs)


@pytest.mark.parametrize("spoken", MIRRORED)
def test_right_to_left_every_page_is_its_mirror_image(
    page_window: PageWindow, language: Language, spoken: str
) -> None:
    views = [*VIEWS, ("home", ""), ("hardware", ""), ("settings", "")]
    both = speak_both_ways(language, spoken)
    next(both)
    usual = {}
    for page, view in views:
        page_window.open(page, view)
        usual[page, view] = painted_parts(page_window.window)
    next(both)
    for page, view in views:
        page_window.open(page, view)
        assert not_mirrored(usual[page, view], page_window.window) == [], (page, view)


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("activity", "health"),
        ("activity", "log"),
        ("runs", app_worker_answers.OTHER),
        ("competitions", app_competitions.DECIDED.competition),
    ],
)
def test_another_language_leaves_the_user_where_they_were(
    page_window: PageWindow, language: Language, page: str, view: str
) -> None:
    page_window.open(page, view)
    language.apply(QLocale("en_US"), PseudoLocale())
    settle()
    opened = page_window.window.page
    assert page_window.window.page_name == page
    assert opened.location == view


@pytest.mark.parametrize("at", [0, 4, 13])
def test_a_rounds_own_window_has_room_and_names(language: Language, qtbot: QtBot, at: int) -> None:
    for spoken in reversed(LONG):
        speak(language, spoken)
        dialog = RoundDialog(app_worker_answers.ROWS[at], "https://ledger.example", "RTX 4070")
        qtbot.addWidget(dialog)
        dialog.show()
        settle()
        assert [label.text() for label in labels(dialog) if is_cut(label)] == []
    assert [one for one in controls(dialog) if not name_of(one)] == []
    assert {button.text()[0] for button in dialog.findChildren(QPushButton)} == {"["}


def _top(part: QWidget, page: QWidget) -> int:
    return part.mapTo(page, part.rect().topLeft()).y()


def _left(part: QWidget, page: QWidget) -> int:
    return part.mapTo(page, part.rect().topLeft()).x()
