"""Desktop notifications, and the notices above the pages.

Few things are worth a notification, each once, and none while a program fills the screen: what
comes up during a game is shown after it, if it still applies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDateTime, QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon, QVBoxLayout, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.competition_notifications import COMPETITIONS_PAGE, CompetitionNotifier
from tequio_client.app.run_news import RunNewsNotifier
from tequio_client.app.widgets import figures
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.points import ActivityReply, AskActivity
from tequio_client.ipc.snapshot import LendingReason, LendingState, Snapshot
from tequio_client.ipc.texts import ActivityEvent
from tequio_client.links import CompetitionLink
from tequio_client.platform.dbus import AsyncBus, Body, BusAddress
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from tequio_client.app.model import AppModel
    from tequio_client.app.settings_file import SettingsStore
    from tequio_client.app.widgets.messages import Banner
    from tequio_client.app.window import AppWindow


NEWEST = AskActivity(limit=20)
REPEAT_MS = 3_600_000
"""The same problem is not reported twice within this time."""


class Notifier(QObject):
    """Watches the model, and shows the notifications that the user wants."""

    def __init__(
        self,
        model: AppModel,
        settings_store: SettingsStore,
        service: NotificationService,
        now_ms: Callable[[], int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._model, self._store, self._service = model, settings_store, service
        self._now_ms = now_ms
        self._problem: LendingReason | None = None  # that needs the user
        self._why_stopped = ""  # of the worker; until it was told
        self._sent_ms: dict[str, int] = {}
        self._event: int | None = None  # the newest that was looked at
        self._competitions = CompetitionNotifier(model, settings_store, self._send, now_ms, self)
        self._runs = RunNewsNotifier(model, settings_store, self._send, now_ms, self)
        model.snapshot_changed.connect(self._check)
        model.session_changed.connect(self._check_worker)
        model.replied.connect(self._receive_events)

    def notify_hidden(self) -> None:
        """Explain, the first time only, that the app keeps running when its window is closed."""
        if not self._store.settings.knows_hiding:
            self._store.change(knows_hiding=True)
            self._send(
                self.tr("Tequio goes on in the background"),
                self.tr("Its tray icon shows what it is doing, and opens this window again."),
                "",
            )

    def notify_worker_stopped(self, why: str) -> None:
        self._why_stopped = why
        self._check_worker()

    def close(self) -> None:
        self._service.close()

    def _check_worker(self) -> None:
        if not self._why_stopped or self._is_screen_filled():
            return
        why, self._why_stopped = self._why_stopped, ""
        if self._store.settings.notify_attention:
            self._send_problem("worker", why)

    def _is_screen_filled(self) -> bool:
        return bool(self._model.session.fullscreen or self._model.session.game)

    def _check(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            return
        self._why_stopped = ""
        if self._is_screen_filled():
            return
        self._check_points(snapshot)
        self._check_rank(snapshot)
        self._check_announcement(snapshot)
        self._check_problem(snapshot)
        self._check_events(snapshot)
        self._competitions.refresh()
        self._runs.refresh()

    def _check_points(self, snapshot: Snapshot) -> None:
        settings, total = self._store.settings, snapshot.points.total
        if not total or settings.knows_points:
            return
        self._store.change(knows_points=True)
        if settings.notify_points:
            text = self.tr("{points} points so far. The log's proof was checked on this computer.")
            self._send(
                self.tr("Your first points are verified"),
                text.format(points=figures.short_points(total)),
                "points",
            )

    def _check_rank(self, snapshot: Snapshot) -> None:
        settings, rank = self._store.settings, snapshot.points.rank
        week = _week(self._now_ms())
        if not rank or settings.week == week:
            return
        self._store.change(week=week, week_rank=rank)
        if settings.week and settings.notify_rank:  # the first week there is nothing to compare
            self._send(
                self.tr("You are #{rank} of {ranked}").format(
                    rank=figures.count(rank), ranked=figures.count(snapshot.points.ranked)
                ),
                self._rank_change(settings.week_rank - rank),
                "points",
            )

    def _rank_change(self, up: int) -> str:
        if up > 0:
            return self.tr("%n place(s) up since you were last told.", "", up)
        if up < 0:
            return self.tr("%n place(s) down since you were last told.", "", -up)
        return self.tr("The same place as last time.")

    def _check_announcement(self, snapshot: Snapshot) -> None:
        """Send an announcement to the whole network once, also if the app was off when it came."""
        ledger, settings = snapshot.ledger, self._store.settings
        key = ledger.announcement_key
        if not key or key == settings.announcement_told:
            return
        self._store.change(announcement_told=key)
        if settings.notify_announcements:
            self._send(self.tr("From the network's organisers"), ledger.announcement, "home")

    def _check_problem(self, snapshot: Snapshot) -> None:
        decision, before = snapshot.decision, self._problem
        self._problem = decision.reason if decision.state is LendingState.ATTENTION else None
        is_new = self._problem is not None and self._problem != before
        if is_new and self._store.settings.notify_attention:
            why = worker_texts.decision_reason(decision, self._now_ms())
            self._send_problem(f"decision-{decision.reason}", why)

    def _send_problem(self, kind: str, why: str) -> None:
        sent_ms, now_ms = self._sent_ms.get(kind), self._now_ms()
        if sent_ms is not None and 0 <= now_ms - sent_ms < REPEAT_MS:
            return
        self._sent_ms[kind] = now_ms
        self._send(self.tr("Tequio needs your attention"), why, "home")

    def _check_events(self, snapshot: Snapshot) -> None:
        if self._event is None:
            self._event = snapshot.activity
        elif snapshot.activity > self._event:
            self._model.ask(NEWEST)

    def _receive_events(self, question: Question, reply: Reply) -> None:
        if question != NEWEST or not isinstance(reply, ActivityReply) or self._event is None:
            return
        since, self._event = self._event, max([self._event, *(row.number for row in reply.rows)])
        fresh = [row for row in reply.rows if row.number > since]
        if any(row.code == ActivityEvent.RUN_ENDED for row in fresh):
            self._runs.ask_now()

    def _send(self, title: str, text: str, target: str) -> None:
        self._service.display(title, text, target, self.tr("Open Tequio"))


def _week(now_ms: int) -> str:
    """The week in the local calendar, as in 2026-W47."""
    date = QDateTime.fromMSecsSinceEpoch(now_ms).date()
    week, year = date.weekNumber()
    return f"{year}-W{week:02}"


SERVICE = BusAddress.of_service("org.freedesktop.Notifications")
BALLOON_MS = 8_000
NORMAL_URGENCY = 1
"""Urgency in the desktop notification specification."""
MOST_TARGETS = 32
"""Notifications whose click still opens a page."""


class NotificationService(QObject):
    activated = Signal(str)
    """A notification was clicked; the page that it leads to."""

    def display(self, title: str, text: str, target: str, button: str) -> None:
        """Display it if possible; returns at once in any case."""
        raise NotImplementedError

    def close(self) -> None:
        """Display nothing more."""


class DBusNotifications(NotificationService):
    """Linux: org.freedesktop.Notifications; without an owner of that name nothing is displayed."""

    _answered = Signal(int, str)
    _signalled = Signal(str, object)

    def __init__(self, bus: str = "SESSION", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._targets: dict[int, str] = {}
        self._answered.connect(self._remember)
        self._signalled.connect(self._receive_signal)
        self._bus = AsyncBus(bus, SERVICE, self._signalled.emit)

    def display(self, title: str, text: str, target: str, button: str) -> None:
        def answered(body: Body) -> None:
            if body and isinstance(body[0], int):
                self._answered.emit(body[0], target)

        hints = {"urgency": ("y", NORMAL_URGENCY), "desktop-entry": ("s", "tequio")}
        body = ("Tequio", 0, "tequio", title, _plain(text), ["default", button], hints, -1)
        self._bus.call("Notify", "susssasa{sv}i", body, answered)

    def close(self) -> None:
        self._bus.close()

    def _remember(self, number: int, target: str) -> None:
        self._targets[number] = target
        while len(self._targets) > MOST_TARGETS:
            self._targets.pop(next(iter(self._targets)))

    def _receive_signal(self, name: str, body: Body) -> None:
        number = body[0] if body and isinstance(body[0], int) else -1
        if name == "ActionInvoked" and number in self._targets:
            self.activated.emit(self._targets[number])
        elif name == "NotificationClosed":
            self._targets.pop(number, None)


class TrayNotifications(NotificationService):
    """Other systems: the tray icon's own message; a click always means the latest one."""

    def __init__(self, icon: Callable[[], QSystemTrayIcon], parent: QObject | None = None) -> None:
        """`icon` returns the icon that is in the tray now."""
        super().__init__(parent)
        self._icon = icon
        self._target = ""
        self._watched: QSystemTrayIcon | None = None

    def display(self, title: str, text: str, target: str, button: str) -> None:
        icon = self._icon()
        if icon is not self._watched:
            self._watched = icon
            icon.messageClicked.connect(lambda: self.activated.emit(self._target))
        self._target = target
        icon.showMessage(title, text, icon.icon(), BALLOON_MS)


def _plain(text: str) -> str:
    """Escape the text: notification services may read markup in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


MOST_NOTICES = 3
"""Notices at a time; the oldest is removed first."""
PASSING = ("joined",)
"""Notices of something that went well."""
PASSING_MS = 20_000
NOTICE_CONTEXT = "notices"
NOTICE_TEXTS = {
    "damaged": (
        "warning",
        "Your settings could not be read. They are kept as {detail}, and the usual ones "
        "hold until you choose others.",
    ),
    "newer": (
        "warning",
        "Your settings were written by a newer Tequio. What this one knows of them is "
        "used; they are kept as {detail}.",
    ),
    "unsaved": (
        "error",
        "Your settings could not be saved ({detail}). They hold until you quit; make room "
        "or make the file writable, and they will be saved.",
    ),
    "visiting": (
        "info",
        "A worker that was started elsewhere runs already. This window controls it, and "
        "it goes on when you quit.",
    ),
    "external": (
        "warning",
        "The worker here was started elsewhere, so this window cannot change its network. End it, "
        "then join again.",
    ),
    "joined": ("good", "You joined {detail}."),
    "no-competition": (
        "warning",
        "This competition link is incomplete ({detail}). Copy it again.",
    ),
    "other-ledger": (
        "warning",
        "That competition is in another network, whose ledger is {detail}. Choose Join a network, "
        "then open the link again.",
    ),
    "no-tray": (
        "info",
        "Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q "
        "quits and stops lending.",
    ),
}
"""Severity and text of each kind."""


class NoticeStrip(QWidget):
    """Notices that stay until the user dismisses them, one for each kind and detail.

    Those in `PASSING` go by themselves.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notices")
        self.banners: dict[tuple[str, str], Banner] = {}
        """By kind and detail, the oldest first."""
        self._column = QVBoxLayout(self)
        self._column.setSpacing(8)
        self._fit()

    def add(self, kind: str, detail: str = "") -> None:
        """Show a notice unless it is shown already."""
        if (kind, detail) in self.banners:
            return
        from tequio_client.app.widgets.messages import Banner  # noqa: PLC0415 - see _head of errors

        banner = Banner(*self._texts(kind, detail))
        banner.button.clicked.connect(lambda: self.dismiss(kind, detail))
        self.banners[kind, detail] = banner
        if kind in PASSING:
            QTimer.singleShot(PASSING_MS, banner, lambda: self.dismiss(kind, detail))
        self._column.addWidget(banner)
        while len(self.banners) > MOST_NOTICES:
            self.dismiss(*next(iter(self.banners)))
        self._fit()

    def dismiss(self, kind: str, detail: str = "") -> None:
        if (banner := self.banners.pop((kind, detail), None)) is not None:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LanguageChange:
            for (kind, detail), banner in self.banners.items():
                banner.show_words(*self._texts(kind, detail))

    def _texts(self, kind: str, detail: str) -> tuple[str, str, str]:
        level, words = NOTICE_TEXTS[kind]
        text = QCoreApplication.translate(NOTICE_CONTEXT, words).format(detail=detail)
        return level, text, QCoreApplication.translate("notices", "Dismiss")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height to the wrapped text: QMainWindow asks its top strip for one height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        has_some = bool(self.banners)
        self._column.setContentsMargins(*((14, 14, 14, 0) if has_some else (0, 0, 0, 0)))
        self._column.activate()
        fitting = self._column.totalHeightForWidth(self.width())
        least = self._column.totalMinimumSize().height()
        self.setFixedHeight(fitting if fitting >= 0 else least)
        self.setVisible(has_some)


def open_link(text: str, ledger: str, window: AppWindow, notices: NoticeStrip) -> None:
    """Show the competition of a link, or a notice with the reason; `ledger` is the one in use."""
    try:
        link = CompetitionLink.parse(text)
    except UserFacingError as err:
        notices.add("no-competition", str(err.__cause__ or err))
        return
    if link.ledger.rstrip("/") != ledger.rstrip("/"):
        notices.add("other-ledger", link.ledger)
        return
    window.open_page(COMPETITIONS_PAGE)
    window.page.restore_location(to_text(link.competition))
