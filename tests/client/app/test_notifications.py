"""Notifications: which events cause one, when, and how they reach a desktop."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QSystemTrayIcon

from tequio_client.app.notifications import (
    REPEAT_MS,
    SERVICE,
    DBusNotifications,
    Notifier,
    TrayNotifications,
)
from tequio_client.app.settings_file import SettingsStore
from tequio_client.ipc.competitions import AskCompetitions
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.points import ActivityReply, ActivityRow, AskActivity
from tequio_client.ipc.snapshot import (
    Decision,
    LedgerView,
    LendingReason,
    LendingState,
    PointsView,
    Snapshot,
)
from tequio_client.ipc.texts import ActivityEvent
from tests.support.app_scenes import LENDING, NEW, NOW_MS
from tests.support.app_tray import NotificationRecorder
from tests.support.private_bus import PrivateBus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tests.support.app_worker import ScriptedWorker

WEEK_MS = 7 * 86_400_000
POINTS, ATTENTION = "Your first points are verified", "Tequio needs your attention"
ANNOUNCED, TOLD = "From the network's organisers", "The ledger moves on Sunday."


class NotifierHarness:
    """A notifier whose clock and session the test controls."""

    def __init__(self, model: AppModel, worker: ScriptedWorker, folder: Path) -> None:
        self.model, self.worker = model, worker
        self.book, self.desk = SettingsStore(folder), NotificationRecorder()
        self.now_ms = NOW_MS
        self.notifications = Notifier(
            model,
            self.book,
            self.desk,
            lambda: self.now_ms,
        )

    def titles_for(self, snapshot: Snapshot) -> list[str]:
        """Send a snapshot; return the titles of the notifications that it caused."""
        before = len(self.desk.displayed)
        self.worker.send_snapshot(snapshot)
        return self.desk.titles[before:]


@pytest.fixture
def harness(
    model: AppModel, worker: ScriptedWorker, language: Language, tmp_path: Path
) -> NotifierHarness:
    worker.replies.pop(AskCompetitions)
    return NotifierHarness(model, worker, tmp_path)


def broken() -> Snapshot:
    decision = Decision(
        state=LendingState.ATTENTION,
        reason=LendingReason.TRAINER_BROKEN,
        values={"problem": "no driver"},
    )
    return replace(NEW, decision=decision)


def test_the_first_points_are_told_once_in_a_lifetime(
    harness: NotifierHarness, model: AppModel, worker: ScriptedWorker, tmp_path: Path
) -> None:
    assert harness.titles_for(NEW) == []
    shown = replace(NEW, points=PointsView(total=15_000))
    assert harness.titles_for(shown) == [POINTS]
    assert harness.desk.displayed[-1][1].startswith("1.50 points so far")
    assert harness.desk.displayed[-1][2] == "points"
    assert harness.titles_for(shown) == []
    assert NotifierHarness(model, worker, tmp_path).titles_for(shown) == []


@pytest.mark.parametrize(
    ("rank", "text"),
    [
        (40, "7 places up since you were last told."),
        (48, "1 place down since you were last told."),
        (47, "The same place as last time."),
    ],
)
def test_the_rank_is_told_once_a_week(rank: int, text: str, harness: NotifierHarness) -> None:
    harness.book.change(knows_points=True)
    ranked = replace(NEW, points=PointsView(total=1, rank=47, ranked=1_204))
    assert harness.titles_for(ranked) == []
    harness.now_ms += WEEK_MS
    later = replace(NEW, points=PointsView(total=1, rank=rank, ranked=1_204))
    assert harness.titles_for(later) == [f"You are #{rank} of 1,204"]
    assert harness.desk.displayed[-1][1] == text
    assert harness.titles_for(later) == []


def test_what_needs_attention_is_told_once_while_it_lasts(harness: NotifierHarness) -> None:
    assert harness.titles_for(broken()) == [ATTENTION]
    assert "keeps failing" in harness.desk.displayed[-1][1]
    assert harness.titles_for(broken()) == []
    assert harness.titles_for(NEW) == []
    assert harness.titles_for(broken()) == []
    assert harness.titles_for(NEW) == []
    harness.now_ms += REPEAT_MS
    assert harness.titles_for(broken()) == [ATTENTION]


def test_a_clock_that_was_set_back_does_not_silence_trouble(harness: NotifierHarness) -> None:
    harness.titles_for(broken())
    harness.titles_for(NEW)
    harness.now_ms -= 10 * REPEAT_MS
    assert harness.titles_for(broken()) == [ATTENTION]


def test_a_worker_that_was_given_up_is_told(harness: NotifierHarness) -> None:
    harness.notifications.notify_worker_stopped("It failed.")
    harness.notifications.notify_worker_stopped("It failed.")
    assert harness.desk.displayed == [(ATTENTION, "It failed.", "home")]


def test_a_worker_that_was_given_up_during_a_game_is_told_after_it(
    harness: NotifierHarness,
) -> None:
    harness.model.update_session(SessionFacts(game="chess"))
    harness.notifications.notify_worker_stopped("It failed.")
    harness.model.update_session(SessionFacts(fullscreen="film"))
    assert harness.desk.displayed == []
    harness.model.update_session(SessionFacts())
    assert harness.desk.displayed == [(ATTENTION, "It failed.", "home")]


def test_a_worker_that_runs_again_after_the_game_is_no_news(harness: NotifierHarness) -> None:
    harness.model.update_session(SessionFacts(game="chess"))
    harness.notifications.notify_worker_stopped("It failed.")
    harness.worker.send_snapshot(NEW)
    harness.model.update_session(SessionFacts())
    assert harness.desk.displayed == []


def test_a_worker_that_takes_up_its_run_again_is_no_news(harness: NotifierHarness) -> None:
    joined = ActivityRow(number=11, at_ms=NOW_MS, code=ActivityEvent.JOINED_RUN)
    harness.worker.replies = {AskActivity: ActivityReply(rows=(joined,))}
    assert harness.titles_for(replace(NEW, activity=10)) == []
    assert harness.titles_for(replace(NEW, activity=11)) == []
    assert harness.worker.times_asked(AskActivity) == 1


def test_an_announcement_to_the_network_is_told_once_also_after_a_restart(
    harness: NotifierHarness, model: AppModel, worker: ScriptedWorker, tmp_path: Path
) -> None:
    told = LedgerView(announcement=TOLD, announcement_entry=7, announced_ms=NOW_MS)
    assert harness.titles_for(replace(NEW, ledger=told)) == [ANNOUNCED]
    assert harness.desk.displayed[-1] == (ANNOUNCED, TOLD, "home")
    assert harness.titles_for(replace(NEW, ledger=told)) == []
    assert harness.titles_for(replace(NEW, ledger=LedgerView())) == [], "taken back"
    assert harness.titles_for(replace(NEW, ledger=told)) == []
    again = NotifierHarness(model, worker, tmp_path)
    assert again.titles_for(replace(NEW, ledger=told)) == []
    later = replace(told, announcement_entry=9, announced_ms=NOW_MS + 1)
    assert again.titles_for(replace(NEW, ledger=later)) == [ANNOUNCED]


def test_nothing_is_told_while_something_fills_the_screen_but_after_it(
    harness: NotifierHarness,
) -> None:
    harness.model.update_session(SessionFacts(fullscreen="chess"))
    shown = replace(broken(), points=PointsView(total=10_000))
    assert harness.titles_for(shown) == []
    harness.model.update_session(SessionFacts())
    assert harness.titles_for(shown) == [POINTS, ATTENTION]


@pytest.mark.parametrize(
    "switch",
    [
        "notify_points",
        "notify_rank",
        "notify_announcements",
        "notify_attention",
    ],
)
def test_each_kind_has_its_switch(switch: str, harness: NotifierHarness) -> None:
    harness.book.change(week="2026-W01", week_rank=50, **{switch: False})
    told = replace(LENDING.ledger, announcement=TOLD, announcement_entry=7, announced_ms=NOW_MS)
    attention = replace(LENDING, decision=broken().decision, ledger=told)
    every = {
        "notify_points": POINTS,
        "notify_rank": "You are #47 of 1,204",
        "notify_announcements": ANNOUNCED,
        "notify_attention": ATTENTION,
    }
    expected = [title for kind, title in every.items() if kind != switch]
    assert harness.titles_for(attention) == expected


def test_hiding_is_told_the_first_time(harness: NotifierHarness) -> None:
    harness.notifications.notify_hidden()
    harness.notifications.notify_hidden()
    assert harness.desk.titles == ["Tequio goes on in the background"]


# --- how it reaches a desktop


def click(bus: PrivateBus, number: int) -> None:
    said = ("us", (number, "default"))
    bus.signal(SERVICE.name, SERVICE.path, SERVICE.interface, "ActionInvoked", said)


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PrivateBus]:
    with PrivateBus(tmp_path) as private:
        yield private


def test_a_notification_reaches_the_service_and_its_click_us(bus: PrivateBus, qtbot: QtBot) -> None:
    bus.serve(SERVICE.name, methods={"Notify": ("u", 7)})
    desk = DBusNotifications(bus.address)
    desk.display("A <title>", "with & text", "points", "Open")
    with qtbot.waitSignal(desk.activated, timeout=90_000) as activated:
        for _ in range(50):  # the answer with its number may still be on its way
            bus.signal(
                SERVICE.name,
                SERVICE.path,
                SERVICE.interface,
                "ActionInvoked",
                ("us", (7, "default")),
            )
            qtbot.wait(50)
            if activated.signal_triggered:
                break
    assert activated.args == ["points"]
    desk.close()
    assert bus.calls(SERVICE.name) == ["Notify"]


def test_a_click_on_somebody_elses_notification_is_none_of_ours(
    bus: PrivateBus, qtbot: QtBot
) -> None:
    bus.serve(SERVICE.name, methods={"Notify": ("u", 7)})
    desk = DBusNotifications(bus.address)
    desk.display("title", "text", "points", "Open")
    with qtbot.assertNotEmitted(desk.activated, wait=500):
        for number in (6, 8):
            bus.signal(
                SERVICE.name,
                SERVICE.path,
                SERVICE.interface,
                "ActionInvoked",
                ("us", (number, "default")),
            )
    desk.close()


def test_without_a_service_nothing_is_shown_and_nothing_waits(
    bus: PrivateBus, qtbot: QtBot
) -> None:
    desk = DBusNotifications(bus.address)
    for _ in range(100):
        desk.display("title", "text", "points", "Open")
    desk.close()


def test_a_service_that_hangs_holds_nobody_up(bus: PrivateBus, qtbot: QtBot) -> None:
    bus.serve(SERVICE.name, hangs=True)
    desk = DBusNotifications(bus.address)
    desk.display("title", "text", "points", "Open")
    desk.close()


def test_without_a_bus_nothing_is_shown(tmp_path: Path, qtbot: QtBot) -> None:
    desk = DBusNotifications(f"unix:path={tmp_path}/none")
    desk.display("title", "text", "points", "Open")
    qtbot.wait(50)
    desk.display("title", "text", "points", "Open")
    desk.close()


def test_a_bus_that_comes_back_is_used_again(tmp_path: Path, qtbot: QtBot) -> None:
    before = set(threading.enumerate())
    with PrivateBus(tmp_path) as first:
        first.serve(SERVICE.name, methods={"Notify": ("u", 7)})
        desk = DBusNotifications(first.address)
        desk.display("title", "text", "points", "Open")
        qtbot.wait(300)
    qtbot.waitUntil(lambda: set(threading.enumerate()) <= before, timeout=90_000)
    (tmp_path / "bus").unlink(missing_ok=True)
    with PrivateBus(tmp_path) as second:
        second.serve(SERVICE.name, methods={"Notify": ("u", 8)})
        desk.display("title", "text", "points", "Open")
        assert second.wait_called(SERVICE.name, "Notify", 90)
        desk.close()


def test_a_closed_desk_leaves_no_thread_behind(bus: PrivateBus, qtbot: QtBot) -> None:
    before, files = set(threading.enumerate()), _open_files()
    desk = DBusNotifications(bus.address)
    desk.display("title", "text", "points", "Open")
    desk.close()
    assert set(threading.enumerate()) <= before
    assert _open_files() <= files


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_elsewhere_the_icon_shows_it_and_a_click_means_the_latest(qtbot: QtBot) -> None:
    icon = QSystemTrayIcon()
    shown: list[str] = []
    icon.showMessage = lambda title, *_: shown.append(title)  # type: ignore[method-assign]  # Windows
    desk = TrayNotifications(lambda: icon)
    desk.display("first", "text", "points", "Open")
    desk.display("second", "text", "runs", "Open")
    with qtbot.waitSignal(desk.activated) as activated:
        icon.messageClicked.emit()
    assert shown == ["first", "second"]
    assert activated.args == ["runs"]
