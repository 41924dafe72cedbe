"""The icon in the panel, its tool tip and its menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import QSystemTrayIcon

from tequio_client import clock
from tequio_client.app import tray as trays
from tequio_client.app.theme.icons import tray_icon
from tequio_client.app.tray import SnoozeMenu, Tray
from tequio_client.ipc import control
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.snapshot import DesiredState, LendingState, Snooze
from tests.support.app_scenes import MINUTE_MS, NOW_MS, SCENES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tequio_client.ipc.snapshot import Snapshot
    from tests.support.app_worker import ScriptedWorker

FOOT = ["Join a network…", "Open Tequio", "Quit – stops lending"]


@pytest.fixture
def make(
    model: AppModel, worker: ScriptedWorker, theme: Theme, language: Language
) -> Iterator[Callable[..., Tray]]:
    made: list[Tray] = []

    def in_scene(
        scene: str, game: str = "", *, tip_ms: int = trays.TIP_MS, poll_ms: int = trays.POLL_MS
    ) -> Tray:
        model.update_session(SessionFacts(game=game))
        tray = Tray(model, lambda: NOW_MS, tip_ms=tip_ms, poll_ms=poll_ms)
        made.append(tray)
        if scene:
            worker.send_snapshot(SCENES[scene])
        return tray

    yield in_scene
    for tray in made:
        tray.stop()
        tray.deleteLater()


def texts(tray: Tray) -> list[str]:
    tray.menu.aboutToShow.emit()
    return [action.text() for action in tray.menu.actions() if action.text()]


def action(tray: Tray, text: str) -> QAction:
    tray.menu.aboutToShow.emit()
    found = {one.text(): one for one in tray.menu.actions()}
    if text not in found:
        snooze = found["Snooze"].menu()
        assert snooze is not None
        found = {one.text(): one for one in snooze.actions()}  # type: ignore[attr-defined]  # a QMenu
    return found[text]


@pytest.mark.parametrize(
    ("scene", "state"),
    [
        ("lending", LendingState.LENDING),
        ("waiting", LendingState.WAITING),
        ("paused", LendingState.PAUSED),
        ("attention", LendingState.ATTENTION),
    ],
)
def test_the_icon_has_the_states_shape(
    scene: str, state: LendingState, make: Callable[..., Tray]
) -> None:
    tray = make(scene)
    assert tray.icon.icon().cacheKey() == tray_icon(state).cacheKey()


def test_the_tool_tip_says_why(make: Callable[..., Tray]) -> None:
    tray = make("waiting")
    assert tray.icon.toolTip() == (
        "Tequio – Waiting: A game is running (Hollow Knight). Resumes 60 s after it closes."
    )


def test_a_long_reason_fits_into_a_tool_tip(
    make: Callable[..., Tray], worker: ScriptedWorker
) -> None:
    tray = make("lending")
    worker.gone.emit("The worker has ended: " + "again and again, " * 9)
    tip = tray.icon.toolTip()
    assert len(tip) <= trays.TIP_CHARACTERS
    assert tip.endswith("…")


def test_the_tool_tip_follows_slowly_but_never_ends_on_an_old_state(
    make: Callable[..., Tray], worker: ScriptedWorker, qtbot: QtBot
) -> None:
    tray = make("waiting", tip_ms=300)
    first = tray.icon.toolTip()
    worker.send_snapshot(waiting_for("Celeste"))
    assert tray.icon.toolTip() == first
    worker.send_snapshot(waiting_for("Portal"))
    qtbot.waitUntil(lambda: "Portal" in tray.icon.toolTip(), timeout=2_000)
    worker.send_snapshot(SCENES["paused"])
    assert tray.icon.toolTip().startswith("Tequio – Paused")


def test_a_pause_is_told_before_the_worker_answers(
    make: Callable[..., Tray], worker: ScriptedWorker
) -> None:
    tray = make("lending")
    action(tray, "Pause").trigger()
    assert tray.icon.toolTip().startswith("Tequio – Pausing…")
    worker.obey(SCENES["paused"])
    assert tray.icon.toolTip().startswith("Tequio – Paused")


def waiting_for(game: str) -> Snapshot:
    shown = SCENES["waiting"]
    return replace(shown, decision=replace(shown.decision, values={"program": game}))


def test_without_a_worker_the_menu_still_opens_and_quits(
    make: Callable[..., Tray], qtbot: QtBot
) -> None:
    tray = make("")
    assert texts(tray) == ["Starting", "The worker is being started.", "Contribute", *FOOT]
    assert not action(tray, "Contribute").isEnabled()
    with qtbot.waitSignal(tray.page_requested):
        action(tray, "Open Tequio").trigger()
    with qtbot.waitSignal(tray.quit_requested):
        action(tray, "Quit – stops lending").trigger()


def test_a_worker_that_is_gone_wants_attention(
    make: Callable[..., Tray], worker: ScriptedWorker
) -> None:
    tray = make("lending")
    worker.gone.emit("The worker has ended.")
    assert tray.icon.icon().cacheKey() == tray_icon(LendingState.ATTENTION).cacheKey()
    assert tray.icon.toolTip() == "Tequio – Attention: The worker has ended."


def test_what_others_said_is_markup_nowhere_in_the_panel(
    make: Callable[..., Tray], worker: ScriptedWorker
) -> None:
    tray = make("lending")
    worker.gone.emit("<img src='file:////elsewhere/x.png'> & more.")
    assert "\u2039img" in tray.icon.toolTip()
    assert not QtText.mightBeRichText(tray.icon.toolTip())
    assert any(text.endswith("&& more.") for text in texts(tray))


def test_before_consent_the_menu_leads_to_the_first_run(
    make: Callable[..., Tray], qtbot: QtBot
) -> None:
    tray = make("new")
    with qtbot.waitSignal(tray.page_requested) as opened:
        action(tray, "Set up …").trigger()
    assert opened.args == ["first-run"]
    assert "Contribute" not in texts(tray)


@pytest.mark.parametrize(
    ("scene", "hand"),
    [
        ("lending", ["Pause", "Snooze", "Finish round, then stop"]),
        ("finishing", ["Pause", "Snooze", "Go on after this round"]),
        ("finished", ["Contribute"]),
        ("waiting", ["Pause", "Snooze"]),
        ("paused", ["Contribute"]),
        ("snoozed", ["Resume now", "Snooze"]),
        ("attention", ["Contribute"]),
    ],
)
def test_the_menu_offers_what_makes_sense_now(
    scene: str, hand: list[str], make: Callable[..., Tray]
) -> None:
    shown = texts(make(scene))
    assert shown[2:-3] == hand
    assert shown[-3:] == FOOT


def test_the_menu_leaves_nothing_behind_when_it_opens_again(make: Callable[..., Tray]) -> None:
    tray = make("lending")
    assert texts(tray) == texts(tray)
    assert len(tray.menu.findChildren(SnoozeMenu)) == 1


@pytest.mark.parametrize(
    ("scene", "text", "wish"),
    [
        ("lending", "Pause", DesiredState(number=5)),
        ("lending", "Finish round, then stop", DesiredState(number=5, lend=True, finish=True)),
        ("finishing", "Go on after this round", DesiredState(number=6, lend=True)),
        ("finished", "Contribute", DesiredState(number=6, lend=True)),
        ("paused", "Contribute", DesiredState(number=6, lend=True)),
        ("snoozed", "Resume now", DesiredState(number=6, lend=True)),
        (
            "lending",
            "15 minutes",
            DesiredState(
                number=5,
                lend=True,
                snooze=Snooze(until_ms=NOW_MS + 15 * MINUTE_MS, asked_ms=NOW_MS),
            ),
        ),
        (
            "lending",
            "1 hour",
            DesiredState(
                number=5,
                lend=True,
                snooze=Snooze(until_ms=NOW_MS + 60 * MINUTE_MS, asked_ms=NOW_MS),
            ),
        ),
        (
            "lending",
            "Until tomorrow",
            DesiredState(
                number=5,
                lend=True,
                snooze=Snooze(until_ms=clock.tomorrow_ms(NOW_MS), asked_ms=NOW_MS),
            ),
        ),
        (
            "lending",
            "Until I close Ori && the Blind Forest",
            DesiredState(number=5, lend=True, snooze=Snooze(game="Ori & the Blind Forest")),
        ),
    ],
)
def test_a_choice_in_the_menu_is_wished(
    scene: str, text: str, wish: DesiredState, make: Callable[..., Tray], worker: ScriptedWorker
) -> None:
    action(make(scene, game="Ori & the Blind Forest"), text).trigger()
    sent = worker.last(control.SetDesiredState)
    assert isinstance(sent, control.SetDesiredState)
    assert sent.wish == wish


def test_no_game_can_be_waited_for_when_none_runs(make: Callable[..., Tray]) -> None:
    assert not action(make("lending"), "Until I close this game").isEnabled()


def test_a_long_reason_is_cut_in_the_menu(make: Callable[..., Tray]) -> None:
    reason = texts(make("attention"))[1]
    assert reason.endswith("…")


def test_quit_does_not_claim_to_stop_a_worker_that_is_not_ours(make: Callable[..., Tray]) -> None:
    tray = make("lending")
    tray.set_external_worker(True)
    assert texts(tray)[-1] == "Quit"


@pytest.mark.parametrize("how", ["Trigger", "DoubleClick"])
def test_a_click_opens_the_window(how: str, make: Callable[..., Tray], qtbot: QtBot) -> None:
    tray = make("lending")
    with qtbot.waitSignal(tray.page_requested):
        tray.icon.activated.emit(QSystemTrayIcon.ActivationReason[how])


@pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)  # the offscreen platform
def test_a_panel_that_comes_late_is_found(
    make: Callable[..., Tray], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_there = [False]
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: is_there[0])
    tray = make("lending", poll_ms=50)
    tray.start()
    old = tray.icon
    with qtbot.waitSignal(tray.availability_changed) as found:
        is_there[0] = True
    assert found.args == [True]
    assert tray.is_available
    assert tray.icon is not old
    assert tray.icon.toolTip().startswith("Tequio – Lending")
    with qtbot.waitSignal(tray.availability_changed) as found:
        is_there[0] = False
    assert found.args == [False]
    assert not tray.is_available
