"""The icon in the panel: its shape tells the state, its tool tip the reason, its menu the rest.

A panel may come late, go and come back: whether there is one is asked again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from tequio_client.app.snooze import SnoozeMenu, headline
from tequio_client.app.theme.icons import tray_icon
from tequio_client.app.theme.style import Type, font
from tequio_client.app.widgets.base import tip
from tequio_client.ipc.snapshot import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.model import Model

TIP_MS = 5_000
"""Between two changes of the tool tip, at least."""
LOOK_MS = 5_000
"""Between two looks for a panel."""
WIDEST = 330
"""Pixels of the reason in the menu; the tool tip has it whole."""
TIP_CHARACTERS = 127
"""More than that Windows does not show."""


class Tray(QObject):
    """The icon and its menu."""

    opened = Signal(str)
    """The window is wanted, on that page; empty: on whichever it was."""
    left = Signal()
    """Quit was chosen."""
    found = Signal(bool)
    """There is a panel now that shows icons, or no more."""

    def __init__(
        self, model: Model, now_ms: Callable[[], int], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model, self._now_ms = model, now_ms
        self._state: State | None = None
        self._word = ""
        self._is_visiting = False
        self._menu = QMenu()
        self._menu.aboutToShow.connect(self._fill)
        self._fill()
        self._icon = self._new_icon()
        self._is_there = QSystemTrayIcon.isSystemTrayAvailable()
        self._looking = QTimer(self, interval=LOOK_MS)
        self._looking.timeout.connect(self._look)
        self._pace = QTimer(self, interval=TIP_MS, singleShot=True)
        self._pace.timeout.connect(self._tell)
        model.shown.connect(self._show)
        model.wished.connect(self._show)
        self._show()

    @property
    def is_there(self) -> bool:
        """Whether there is a panel that shows icons, at this moment."""
        self._look()
        return self._is_there

    @property
    def icon(self) -> QSystemTrayIcon:
        """The icon itself."""
        return self._icon

    @property
    def menu(self) -> QMenu:
        """What a click with the other button opens."""
        return self._menu

    def show(self) -> None:
        """Be in the panel, now or as soon as there is one."""
        self._icon.show()
        self._looking.start()

    def set_visiting(self, is_visiting: bool) -> None:  # noqa: FBT001 - takes a signal
        """Whether the worker goes on when we quit."""
        self._is_visiting = is_visiting

    def hide(self) -> None:
        """Be there no more."""
        self._looking.stop()
        self._pace.stop()
        self._icon.hide()

    # --- what it shows

    def _show(self, _news: object = None) -> None:
        snapshot = self._model.snapshot
        if snapshot is not None:
            state = snapshot.decision.state
        else:
            state = State.ATTENTION if self._model.why_gone else State.WAITING
        if state is not self._state:
            self._state = state
            self._icon.setIcon(tray_icon(state))
        word, _ = self._said()
        if word != self._word:
            self._word = word
            self._pace.stop()
        if not self._pace.isActive():
            self._tell()

    def _tell(self) -> None:
        word, reason = self._said()
        said = tip(f"Tequio – {word}: {reason}" if reason else f"Tequio – {word}")
        if len(said) > TIP_CHARACTERS:
            said = said[: TIP_CHARACTERS - 1] + "…"
        if said != self._icon.toolTip():
            self._icon.setToolTip(said)
            self._pace.start()

    def _said(self) -> tuple[str, str]:
        """The state's word, and why."""
        snapshot = self._model.snapshot
        if snapshot is None:
            return self.tr("Starting"), self._model.why_gone
        return headline(self._model, snapshot, self._now_ms())

    def _look(self) -> None:
        is_there = QSystemTrayIcon.isSystemTrayAvailable()
        if is_there == self._is_there:
            return
        self._is_there = is_there
        if is_there:  # another kind of panel wants another kind of icon
            old, self._icon = self._icon, self._new_icon()
            self._icon.setIcon(old.icon())
            self._icon.setToolTip(old.toolTip())
            old.hide()
            old.deleteLater()
            self._icon.show()
        self.found.emit(is_there)

    def _new_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(self)
        icon.setIcon(tray_icon(self._state or State.WAITING))
        icon.setContextMenu(self._menu)
        icon.activated.connect(self._activate)
        return icon

    def _activate(self, how: QSystemTrayIcon.ActivationReason) -> None:
        if how in (
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        ):
            self.opened.emit("")

    # --- the menu

    def _fill(self) -> None:
        """Build it anew: panels copy a menu when they show it."""
        menu = self._menu
        menu.clear()
        self._add_state()
        menu.addSeparator()
        self._add_hand()
        menu.addSeparator()
        self._add(self.tr("Open Tequio"), lambda: self.opened.emit(""))
        stops = self.tr("Quit – stops lending")
        self._add(self.tr("Quit") if self._is_visiting else stops, self.left.emit)

    def _add_state(self) -> None:
        word, reason = self._said()
        state = self._model.snapshot.decision.state if self._model.snapshot else State.WAITING
        line = self._menu.addAction(tray_icon(state), word)
        line.triggered.connect(lambda: self.opened.emit("home"))
        if reason:
            metrics = QFontMetrics(font(Type.BODY))
            short = metrics.elidedText(reason, Qt.TextElideMode.ElideRight, WIDEST)
            self._add(short.replace("&", "&&"), lambda: self.opened.emit("home"))

    def _add_hand(self) -> None:
        """What changes the state: as Home's buttons do."""
        model = self._model
        if model.snapshot is None:
            self._menu.addAction(self.tr("Contribute")).setEnabled(False)
            return
        if not model.preferences.consent:
            self._add(self.tr("Set up …"), lambda: self.opened.emit("first-run"))
            return
        decision, wish = model.snapshot.decision, model.wish
        is_broken = decision.state is State.ATTENTION
        if wish.lend and wish.snooze is None and not is_broken:
            self._add(self.tr("Pause"), model.pause)
        else:
            go_on = self.tr("Go on now") if wish.lend and not is_broken else self.tr("Contribute")
            self._add(go_on, model.contribute)
        if wish.lend and not is_broken:
            self._menu.addMenu(SnoozeMenu(model, self._now_ms, self._menu))
        if wish.lend and decision.state in (State.LENDING, State.FINISHING):
            finish = self._add(self.tr("Finish round, then stop"), model.finish)
            finish.setEnabled(not wish.finish)

    def _add(self, text: str, do: Callable[[], object]) -> QAction:
        action = self._menu.addAction(text)
        action.triggered.connect(lambda _=False: do())
        return action
