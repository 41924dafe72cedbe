"""Which few things are worth a notification, each once, and none while something fills the screen.

What comes up during a game is told after it, if it is still so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QObject

from tequio_client.app import words
from tequio_client.app.competition_notes import CompetitionNotes
from tequio_client.app.pages.remedies import need_words
from tequio_client.app.widgets import figures
from tequio_client.link.decision import State
from tequio_client.link.questions import Activity, AskActivity
from tequio_client.link.texts import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.app_settings import SettingsBook
    from tequio_client.app.desktop_notes import Desk
    from tequio_client.app.model import Model
    from tequio_client.link.questions import Question, Reply
    from tequio_client.link.snapshot import Snapshot

NEWEST = AskActivity(limit=20)
AGAIN_MS = 3_600_000
"""The same trouble is not told twice within that time."""
QUIET_NEEDS = ("key-backup",)
"""Shown in the window, and in no hurry."""
RUNS = (Event.JOINED_RUN, Event.RUN_ENDED)


class Notifications(QObject):
    """Watches the model, and tells what its user wants to be told."""

    def __init__(
        self,
        model: Model,
        book: SettingsBook,
        desk: Desk,
        *,
        now_ms: Callable[[], int],
        is_fullscreen: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._model, self._book, self._desk = model, book, desk
        self._now_ms, self._is_fullscreen = now_ms, is_fullscreen
        self._troubles: set[str] = set()
        self._told_ms: dict[str, int] = {}
        self._event: int | None = None  # the newest that was looked at
        self._competitions = CompetitionNotes(model, book, self._tell, now_ms, self)
        model.shown.connect(self._look)
        model.replied.connect(self._take)

    def tell_hiding(self) -> None:
        """Say, once for all, that the app goes on when its window is closed."""
        if not self._book.settings.knows_hiding:
            self._book.change(knows_hiding=True)
            self._tell(
                self.tr("Tequio goes on in the background"),
                self.tr("Its icon in the panel tells what it does, and opens this window again."),
                "",
            )

    def tell_given_up(self, why: str) -> None:
        """Say that there is no worker, and that there will be none by itself."""
        if self._book.settings.notify_attention:
            self._tell_trouble("worker", why, "home")

    def close(self) -> None:
        """Tell nothing more."""
        self._desk.close()

    # --- what the worker shows

    def _look(self, snapshot: Snapshot | None) -> None:
        if snapshot is None or self._is_fullscreen():
            return
        self._look_at_points(snapshot)
        self._look_at_rank(snapshot)
        self._look_at_troubles(snapshot)
        self._look_at_events(snapshot)
        self._competitions.look()

    def _look_at_points(self, snapshot: Snapshot) -> None:
        settings, total = self._book.settings, snapshot.points.total
        if not total or settings.knows_points:
            return
        self._book.change(knows_points=True)
        if settings.notify_points:
            text = self.tr("{points} points so far. The log's proof was checked on this computer.")
            self._tell(
                self.tr("Your first points are verified"),
                text.format(points=figures.points(total)),
                "points",
            )

    def _look_at_rank(self, snapshot: Snapshot) -> None:
        settings, rank = self._book.settings, snapshot.points.rank
        week = _week(self._now_ms())
        if not rank or settings.week == week:
            return
        self._book.change(week=week, week_rank=rank)
        if settings.week and settings.notify_rank:  # the first week there is nothing to compare
            self._tell(
                self.tr("You are #{rank} of {ranked}").format(
                    rank=figures.count(rank), ranked=figures.count(snapshot.points.ranked)
                ),
                self._moved(settings.week_rank - rank),
                "points",
            )

    def _moved(self, up: int) -> str:
        if up > 0:
            return self.tr("%n place(s) up since you were last told.", "", up)
        if up < 0:
            return self.tr("%n place(s) down since you were last told.", "", -up)
        return self.tr("The same place as last time.")

    def _look_at_troubles(self, snapshot: Snapshot) -> None:
        now = _troubles(snapshot, self._now_ms())
        fresh = [kind for kind in now if kind not in self._troubles]
        self._troubles = set(now)
        if self._book.settings.notify_attention:
            for kind in fresh:
                self._tell_trouble(kind, now[kind], "home")

    def _tell_trouble(self, kind: str, why: str, target: str) -> None:
        told_ms, now_ms = self._told_ms.get(kind), self._now_ms()
        if told_ms is not None and 0 <= now_ms - told_ms < AGAIN_MS:
            return
        self._told_ms[kind] = now_ms
        self._tell(self.tr("Tequio needs your attention"), why, target)

    # --- what happened

    def _look_at_events(self, snapshot: Snapshot) -> None:
        if self._event is None:
            self._event = snapshot.activity
        elif snapshot.activity > self._event:
            self._model.ask(NEWEST)

    def _take(self, question: Question, reply: Reply) -> None:
        if question != NEWEST or not isinstance(reply, Activity) or self._event is None:
            return
        since, self._event = self._event, max([self._event, *(row.number for row in reply.rows)])
        if not self._book.settings.notify_runs:
            return
        for row in reversed(reply.rows):
            if row.number > since and row.code in RUNS:
                self._tell_run(row.code, str(row.values.get("run", "")))

    def _tell_run(self, code: str, run: str) -> None:
        if code == Event.JOINED_RUN:
            title = self.tr("{run} has begun for you").format(run=run)
            self._tell(title, self.tr("Your computer takes part in this run from now on."), "runs")
            return
        title = self.tr("{run} has ended").format(run=run)
        self._tell(title, self.tr("Your verified points stay yours. See which runs go on."), "runs")

    def _tell(self, title: str, text: str, target: str) -> None:
        self._desk.show(title, text, target, self.tr("Open Tequio"))


def _troubles(snapshot: Snapshot, now_ms: int) -> dict[str, str]:
    """What wants a person now, by its kind."""
    found: dict[str, str] = {}
    if snapshot.decision.state is State.ATTENTION:
        reason = snapshot.decision.reason
        found[f"decision-{reason}"] = words.reason(snapshot.decision, now_ms)
        return found
    for need in snapshot.needs:
        if need.kind not in QUIET_NEEDS:
            found[need.kind] = need_words(need)
    return found


def _week(now_ms: int) -> str:
    """The week by the local calendar, as in 2026-W47."""
    date = QDateTime.fromMSecsSinceEpoch(now_ms).date()
    week, year = date.weekNumber()
    return f"{year}-W{week:02}"
