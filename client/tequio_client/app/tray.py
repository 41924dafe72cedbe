"""The tray icon: the shape shows the state, the tool tip the reason, the menu the commands.

A panel may start late, disappear and return, so its presence is polled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from tequio_client import clock
from tequio_client.app.language import with_reason
from tequio_client.app.theme.icons import tray_icon
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import tool_tip
from tequio_client.app.worker_texts import WORKING, headline, shown_state
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.snapshot import LendingState

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel


TIP_MS = 5_000
"""Least time between two changes of the tool tip."""
POLL_MS = 5_000
"""Interval of the poll for a panel."""
MINUTE_MS = 60_000
REASON_WIDTH = 330
"""Pixels of the reason in the menu; the tool tip has the whole text."""
TIP_CHARACTERS = 127
"""Windows cuts a longer tool tip."""


class Tray(QObject):
    page_requested = Signal(str)
    """Open the window on this page; empty: on the current one."""
    quit_requested = Signal()
    availability_changed = Signal(bool)
    """A panel that shows icons appeared or disappeared."""

    def __init__(
        self,
        model: AppModel,
        now_ms: Callable[[], int],
        parent: QObject | None = None,
        *,
        tip_ms: int = TIP_MS,
        poll_ms: int = POLL_MS,
    ) -> None:
        super().__init__(parent)
        self._model, self._now_ms = model, now_ms
        self._state: LendingState | None = None
        self._word = ""
        self._is_external = False
        self.menu = QMenu()
        self._snooze = SnoozeMenu(model, now_ms, self.menu)
        self.menu.aboutToShow.connect(self._fill)
        self._fill()
        self.icon = self._new_icon()
        """The icon in the tray; replaced whenever a panel appears."""
        self._is_there = QSystemTrayIcon.isSystemTrayAvailable()
        self._polling = QTimer(self, interval=poll_ms)
        self._polling.timeout.connect(self._poll)
        self._pace = QTimer(self, interval=tip_ms, singleShot=True)
        self._pace.timeout.connect(self._update_tip)
        model.snapshot_changed.connect(self._update)
        model.desired_changed.connect(self._update)
        self._update()

    @property
    def is_available(self) -> bool:
        """True if a panel shows tray icons now."""
        self._poll()
        return self._is_there

    def start(self) -> None:
        """Add the icon, now or as soon as there is a panel."""
        self.icon.show()
        self._polling.start()

    def set_external_worker(self, is_external: bool) -> None:  # noqa: FBT001 - takes a signal
        """State whether the worker keeps running when the app quits."""
        self._is_external = is_external

    def stop(self) -> None:
        self._polling.stop()
        self._pace.stop()
        self.icon.hide()

    def _update(self, _news: object = None) -> None:
        state = shown_state(self._model)
        if state is not self._state:
            self._state = state
            self.icon.setIcon(tray_icon(state))
        word, _ = headline(self._model, self._now_ms())
        if word != self._word:
            self._word = word
            self._pace.stop()
        if not self._pace.isActive():
            self._update_tip()

    def _update_tip(self) -> None:
        word, reason = headline(self._model, self._now_ms())
        text = tool_tip(f"Tequio – {with_reason(word, reason)}")
        if len(text) > TIP_CHARACTERS:
            text = text[: TIP_CHARACTERS - 1] + "…"
        if text != self.icon.toolTip():
            self.icon.setToolTip(text)
            self._pace.start()

    def _poll(self) -> None:
        is_there = QSystemTrayIcon.isSystemTrayAvailable()
        if is_there == self._is_there:
            return
        self._is_there = is_there
        if is_there:  # another kind of panel wants another kind of icon
            old, self.icon = self.icon, self._new_icon()
            self.icon.setIcon(old.icon())
            self.icon.setToolTip(old.toolTip())
            old.hide()
            old.deleteLater()
            self.icon.show()
        self.availability_changed.emit(is_there)

    def _new_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(self)
        icon.setIcon(tray_icon(self._state or LendingState.WAITING))
        icon.setContextMenu(self.menu)
        icon.activated.connect(self._activate)
        return icon

    def _activate(self, how: QSystemTrayIcon.ActivationReason) -> None:
        reasons = QSystemTrayIcon.ActivationReason
        if how in (reasons.Trigger, reasons.DoubleClick):
            self.page_requested.emit("")

    def _fill(self) -> None:
        """Rebuild the menu: panels copy it when they open it."""
        self.menu.clear()
        self._add_state()
        self.menu.addSeparator()
        self._add_commands()
        self.menu.addSeparator()
        self._add(self.tr("Join a network…"), lambda: self.page_requested.emit("join"))
        self._add(self.tr("Open Tequio"), lambda: self.page_requested.emit(""))
        stops = self.tr("Quit – stops lending")
        self._add(self.tr("Quit") if self._is_external else stops, self.quit_requested.emit)

    def _add_state(self) -> None:
        def open_home() -> None:
            self.page_requested.emit("home")

        word, reason = headline(self._model, self._now_ms())
        self._add(word, open_home).setIcon(tray_icon(shown_state(self._model)))
        if reason:
            metrics = QFontMetrics(font(TextStyle.BODY))
            short = metrics.elidedText(reason, Qt.TextElideMode.ElideRight, REASON_WIDTH)
            self._add(short.replace("&", "&&"), open_home)

    def _add_commands(self) -> None:
        """Add the commands that change the state, the same as on Home."""
        model = self._model
        if model.snapshot is None:
            self.menu.addAction(self.tr("Contribute")).setEnabled(False)
            return
        if not model.preferences.consent:
            self._add(self.tr("Set up …"), lambda: self.page_requested.emit("first-run"))
            return
        state, desired = model.snapshot.decision.state, model.desired
        if model.is_on and desired.snooze is None:
            self._add(self.tr("Pause"), model.pause)
        else:
            resume = self.tr("Resume now") if model.is_on else self.tr("Contribute")
            self._add(resume, model.contribute)
        if model.is_on:
            self._snooze.fill()
            self.menu.addMenu(self._snooze)
        if desired.lend and state in WORKING and desired.finish:
            self._add(self.tr("Go on after this round"), model.go_on)
        elif desired.lend and state in WORKING:
            self._add(self.tr("Finish round, then stop"), model.finish)

    def _add(self, text: str, do: Callable[[], object]) -> QAction:
        action = self.menu.addAction(text)
        action.triggered.connect(lambda _=False: do())
        return action


class SnoozeMenu(QMenu):
    """A menu of pauses with an end; the owner calls `fill` to update it."""

    def __init__(
        self, model: AppModel, now_ms: Callable[[], int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model, self._now_ms = model, now_ms
        self.fill()

    def fill(self) -> None:
        """Offer what applies now, in the current language."""
        self.clear()
        self.setTitle(self.tr("Snooze"))
        for text, minutes in ((self.tr("15 minutes"), 15), (self.tr("1 hour"), 60)):
            self.addAction(text).triggered.connect(partial(self._snooze, minutes))
        self.addAction(self.tr("Until tomorrow")).triggered.connect(self._snooze_until_tomorrow)
        self.addSeparator()
        game = running_game(self._model.session)
        text = self.tr("Until I close {game}").format(game=game.replace("&", "&&"))
        action = self.addAction(text if game else self.tr("Until I close this game"))
        action.setEnabled(bool(game))
        action.triggered.connect(lambda: self._model.snooze_until_game_closes(game=game))

    def _snooze(self, minutes: int, _is_checked: bool = False) -> None:  # noqa: FBT001, FBT002 - Qt's signal
        self._model.snooze_until(self._now_ms() + minutes * MINUTE_MS)

    def _snooze_until_tomorrow(self) -> None:
        self._model.snooze_until(clock.tomorrow_ms(self._now_ms()))


def running_game(facts: SessionFacts) -> str:
    """The running game; empty: none, or unknown."""
    return facts.game or ("" if facts.is_film else facts.fullscreen or "")
