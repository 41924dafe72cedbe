"""The head of Home: the state in a word, why, and the buttons that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.headline import headline
from tequio_client.app.snooze_menu import SnoozeMenu
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.state_mark import StateMark
from tequio_client.app.widgets.text import Paragraph, Text
from tequio_client.link.decision import State
from tequio_client.link.snapshot import UNDECIDED

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means

SAYINGS = 250
MARK = 16


class Header(Columns):
    """Title, reason and buttons."""

    def __init__(self, means: Means) -> None:
        super().__init__(gap=10)
        self._means = means
        self.title, self.reason = Text("", Type.TITLE), Paragraph("", Type.CAPTION, "sub")
        self._mark = StateMark(MARK)
        self.main = Button("", "primary")
        self.snooze = Button(self.tr("Snooze"), picture="chevron-down")
        self.finish = Button(self.tr("Finish round, then stop"))
        self.finish.setToolTip(
            self.tr("Ends the round under way, so that none of its work is lost.")
        )
        lengths = SnoozeMenu(means.model, means.now_ms, self)
        lengths.aboutToShow.connect(lengths.fill)
        self.snooze.open_menu(lengths)
        self.finish.clicked.connect(means.model.finish)
        self.main.clicked.connect(self._do_main)
        self.hold((self._sayings(), self._buttons()), shares=(1, 0))

    def refresh(self) -> None:
        """Show what holds now."""
        snapshot, model = self._means.model.snapshot, self._means.model
        decision = snapshot.decision if snapshot else UNDECIDED
        word, reason = self._said()
        self.title.setText(word)
        self.reason.setText(reason)
        self._mark.show_state(decision.state if snapshot else State.WAITING)
        has_consent = model.preferences.consent
        lends, is_last = has_consent and model.wish.lend, model.wish.finish
        is_broken = decision.state is State.ATTENTION
        self._show_main(lends=lends and model.wish.snooze is None and not is_broken)
        self.main.setEnabled(snapshot is not None)
        self.snooze.setVisible(lends and not is_broken)
        self.finish.setVisible(lends and decision.state in (State.LENDING, State.FINISHING))
        self.finish.setEnabled(not is_last)
        self.fold()

    def _said(self) -> tuple[str, str]:
        snapshot, model = self._means.model.snapshot, self._means.model
        if snapshot is None:
            return self.tr("Starting"), self.tr("The worker is being started.")
        word, reason = headline(model, snapshot, self._means.now_ms())
        if snapshot.decision.state is State.ATTENTION and model.unheard is None:
            reason = self.tr("Nothing is lent until this is solved.")
        return word, reason

    def _show_main(self, *, lends: bool) -> None:
        if lends:
            self.main.show_as(self.tr("Pause"), "pause")
            self.main.setToolTip(self.tr("Stops at once and gives the device back."))
            return
        model = self._means.model
        self.main.setToolTip("")
        if not model.preferences.consent:
            self.main.show_as(self.tr("Set up"), "arrow-right")
        elif model.wish.lend and model.wish.snooze is not None:
            self.main.show_as(self.tr("Go on now"), "play")
        else:
            self.main.show_as(self.tr("Contribute"), "play")

    def _do_main(self) -> None:
        model = self._means.model
        is_broken = model.snapshot is not None and model.snapshot.decision.state is State.ATTENTION
        if not model.preferences.consent:
            self._means.open_page("first-run")
        elif model.wish.lend and model.wish.snooze is None and not is_broken:
            model.pause()
        else:
            model.contribute()

    # --- parts

    def _sayings(self) -> QWidget:
        made, row = QWidget(), QHBoxLayout()
        made.setMinimumWidth(SAYINGS)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        row.setSpacing(10)
        row.addWidget(self._mark)
        row.addWidget(self.title)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.reason)
        return made

    def _buttons(self) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        for button in (self.snooze, self.finish, self.main):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return made
