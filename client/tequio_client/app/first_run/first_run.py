"""The first run: one step at a time, back and forward, and a way out at any time.

It covers the window until `finished` or `left`. Choices on the way are a draft; the last step turns
it into preferences, with consent, and starts lending. A second setup begins with the preferences.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QObject, QRectF, QSize, QStorageInfo, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from tequio_client.app.first_run import checks
from tequio_client.app.first_run.checks import CHECK_TIMEOUT_MS, CheckStep
from tequio_client.app.first_run.draft import STEPS, DraftStore, FirstRunStep, StepContext
from tequio_client.app.first_run.run_steps import ReadyStep, RunStep
from tequio_client.app.first_run.setup_steps import KeyStep, ScheduleStep
from tequio_client.app.first_run.welcome import WelcomeStep
from tequio_client.app.keys.dialogs import KeyDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.pages.page import PageContext, ProgramContext
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import (
    Label,
    WrappedLabel,
    accent_gradient,
    fill,
    hbox,
    holding,
    paint_event,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Logo
from tequio_client.app.widgets.messages import Banner
from tequio_client.app.widgets.scrolling import ScrolledContent
from tequio_client.ipc.preferences import apply_preset
from tequio_client.keys.state import KeyProtection

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter, QResizeEvent, QShowEvent

    from tequio_client.app.window import AppWindow


HOME_PAGE = "home"
MARK_SIZE = (22, 6)
CURRENT_MARK_WIDTH = 40
GAP = 7
WIDEST = 760
LEAST_BESIDE = 26
CPU_DEVICE = "cpu"


class FirstRunController(QObject):
    """Owns the draft, and covers one window with the first run."""

    finished = Signal()
    """The user went through all steps."""

    def __init__(self, window: AppWindow, keys: KeyService, folder: Path, settings: Path) -> None:
        """`folder` is the worker's, `settings` that of the app's settings."""
        super().__init__(window)
        self._window, self._keys, self._folder = window, keys, folder
        self.draft_store = DraftStore(settings)

    def open(self) -> None:
        """Cover the window's pages with the first run where it was left, or with a second setup."""
        context = self._window.context
        chosen, program = context.model.preferences, context.program
        if chosen.consent:
            self.draft_store.change(
                step=0,
                is_agreed=False,
                preset=chosen.preset,
                run=chosen.run,
                role=chosen.device(CPU_DEVICE).role,
                starts_at_login=program is None or program.autostart.is_on(),
            )
        self._window.cover(self._make)

    def _make(self, page_context: PageContext) -> FirstRun:
        made = FirstRun(page_context, self._keys, self._folder, self.draft_store)
        made.finished.connect(self.finished)
        made.finished.connect(self._uncover)
        made.left.connect(self._uncover)
        return made

    def _uncover(self) -> None:
        self._window.cover(None)
        self._window.open_page(HOME_PAGE)


class FirstRun(QWidget):
    finished = Signal()
    """Preferences are set and lending starts."""
    left = Signal()
    """The user left before the end: none of the choices applies."""

    def __init__(
        self,
        page_context: PageContext,
        keys: KeyService,
        folder: Path,
        draft_store: DraftStore,
        *,
        check_timeout_ms: int = CHECK_TIMEOUT_MS,
    ) -> None:
        """`folder` is the worker's."""
        super().__init__()
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        model, program = page_context.model, page_context.program
        self._context = StepContext(
            model=model,
            program=program,
            keys=keys,
            draft_store=draft_store,
            free_bytes=lambda: free_bytes(folder),
            now_ms=page_context.now_ms,
            open_page=page_context.open_page,
        )
        self._steps = {
            "welcome": WelcomeStep(self._context),
            "check": CheckStep(self._context, check_timeout_ms),
            "key": KeyStep(self._context),
            "when": ScheduleStep(self._context),
            "run": RunStep(self._context),
            "ready": ReadyStep(self._context),
        }
        self.dialog: LeaveDialog | None = None
        self._marks = StepMarks(len(STEPS))
        self._progress = Label("", TextStyle.CAPTION, "sub")
        self.invited = Banner()
        self.invited.button.clicked.connect(lambda: self._context.open_page("invitation"))
        self._heading, self._note = WrappedLabel("", TextStyle.FIGURE), WrappedLabel(tone="sub")
        self.back, self.next = Button(self.tr("Back")), Button("", "primary")
        self.leave = Button(self.tr("Not now"), "quiet")
        self._lay_out()
        for step in self._steps.values():
            step.changed.connect(self._follow)
        self.back.clicked.connect(lambda: self._go(-1))
        self.next.clicked.connect(self._go_on)
        self.leave.clicked.connect(self._ask_to_leave)
        keys.changed.connect(self._follow_key)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self).activated.connect(self._ask_to_leave)
        model.snapshot_changed.connect(self._refresh)
        self._open(draft_store.draft.step)

    @property
    def step(self) -> FirstRunStep:
        return self._steps[self.step_name]

    @property
    def step_name(self) -> str:
        return STEPS[self._context.draft_store.draft.step]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.step.enter()
        self.step.refresh()
        self._focus_forward()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the length of lines, so that they stay readable."""
        super().resizeEvent(event)
        beside = max((self.width() - WIDEST) // 2, LEAST_BESIDE)
        self._column.setContentsMargins(beside, 30, beside, 18)
        self._buttons.setContentsMargins(beside, 14, beside, 16)

    def _go_on(self) -> None:
        if not self.step.is_ready:
            return
        if self.step_name == STEPS[-1]:
            self._finish()
        else:
            self._go(1)

    def _go(self, by: int) -> None:
        at = self._context.draft_store.draft.step + by
        if 0 <= at < len(STEPS):
            self._context.draft_store.change(step=at)
            self._open(at)
            if self.isVisible():
                self.step.enter()
                self.step.refresh()
            self._follow()
            self._focus_forward()

    def _focus_forward(self) -> None:
        """Begin at the control that leads on, never at the way out."""
        forward = self.next if self.next.isEnabled() else self.back
        (self.step.first_focus or forward).setFocus()

    def _open(self, at: int) -> None:
        for name, step in self._steps.items():
            step.setVisible(name == STEPS[at])
        progress = self.tr("Step {number} of {steps}").format(number=at + 1, steps=len(STEPS))
        self._marks.show_step(at, progress)
        self._progress.setText(progress)
        self._heading.setText(self.step.heading)
        self._note.setText(self.step.note)
        self.setAccessibleName(f"{progress}: {self.step.heading}")
        self._scroll.verticalScrollBar().setValue(0)
        self._follow()

    def _follow_key(self, _state: object) -> None:
        self._follow()
        if self.isVisible():
            self._focus_forward()

    def _follow(self) -> None:
        draft = self._context.draft_store.draft
        for part in (self.invited, self._invited_place):
            part.setVisible(bool(draft.invitation))
        if draft.invitation:
            self._show_invitation(draft.invited_to)
        self.back.setVisible(self._context.draft_store.draft.step > 0)
        is_last = self.step_name == STEPS[-1]
        self.next.set_label(self.step.next_words or self.tr("Next"), "play" if is_last else "")
        self.next.setEnabled(self.step.is_ready)

    def _show_invitation(self, network: str) -> None:
        has_key = self._context.keys.state.protection is not KeyProtection.ABSENT
        first = self.tr("You are invited to “{network}”. Step 3 makes your key; then you can join.")
        now = self.tr("You are invited to “{network}”.")
        self.invited.show_words(
            "info",
            (now if has_key else first).format(network=network),
            self.tr("Join") if has_key else "",
        )

    def _refresh(self, _: object) -> None:
        if self.isVisible():
            self.step.refresh()

    def _ask_to_leave(self) -> None:
        is_second = self._context.model.preferences.consent
        self.dialog = LeaveDialog(self, is_second=is_second)
        self.dialog.accepted.connect(self.left)
        self.dialog.open()

    def _finish(self) -> None:
        context, draft = self._context, self._context.draft_store.draft
        chosen = apply_preset(context.model.preferences, draft.preset)
        chosen = replace(chosen, consent=True, run=draft.run)
        if checks.needs_role_choice(context.machine):
            others = tuple(one for one in chosen.devices if one.id != CPU_DEVICE)
            processor = replace(chosen.device(CPU_DEVICE), use=True, role=draft.role)
            chosen = replace(chosen, devices=(*others, processor))
        if context.program is not None:
            self._start_at_login(context.program, is_wanted=draft.starts_at_login)
        context.model.set_preferences(chosen)
        context.model.contribute()
        if context.program is not None and context.program.releases is not None:
            context.program.releases.fetch_runtime()
        context.draft_store.finish()
        self.finished.emit()

    def _start_at_login(self, program: ProgramContext, *, is_wanted: bool) -> None:
        """Report a failure as a notice and go on: Settings shows which state applies."""
        try:
            program.autostart.turn_on() if is_wanted else program.autostart.turn_off()
        except OSError as err:
            program.settings.problem.emit(
                "unsaved", f"{self.tr('Start at login')}: {err.strerror or err}"
            )

    def _lay_out(self) -> None:
        content = ScrolledContent()
        content.setProperty("kind", "body")
        self._column = QVBoxLayout(content)
        self._column.setSpacing(6)
        self._invited_place = holding(vbox(self.invited, margins=(0, 0, 0, 12)))
        fill(self._column, self._invited_place, self._heading, self._note, 12)
        fill(self._column, *self._steps.values(), None)
        self._scroll = QScrollArea()
        self._scroll.setProperty("kind", "page")
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(content)
        name = Label("Tequio", TextStyle.HEADING)
        marks = (self._progress, 6, self._marks)
        head = hbox(Logo(), name, None, *marks, spacing=9, margins=(22, 18, 26, 8))
        rule = QFrame()
        rule.setProperty("kind", "rule")
        self._buttons = hbox(self.leave, None, self.back, self.next, spacing=10)
        vbox(head, (self._scroll, 1), rule, self._buttons, spacing=0, parent=self)


class StepMarks(QWidget):
    """A mark for each step; decoration with an accessible name."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count, self._at = count, 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_step(self, at: int, words: str) -> None:
        """Mark the step `at`, counted from 0."""
        self._at = at
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(CURRENT_MARK_WIDTH + (MARK_SIZE[0] + GAP) * (self._count - 1), MARK_SIZE[1])

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        left, radius = 0.0, MARK_SIZE[1] / 2
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        for at in range(self._count):
            width = CURRENT_MARK_WIDTH if at == self._at else MARK_SIZE[0]
            x = self.width() - left - width if is_mirrored else left
            if at == self._at:
                painter.setBrush(accent_gradient(x, x + width))
            else:
                painter.setBrush(
                    QColor(current_tokens().accent if at < self._at else current_tokens().track)
                )
            painter.drawRoundedRect(QRectF(x, 0, width, MARK_SIZE[1]), radius, radius)
            left += width + GAP


class LeaveDialog(KeyDialog):
    def __init__(self, parent: QWidget | None = None, *, is_second: bool = False) -> None:
        """`is_second`: lending was set up before."""
        first = self.tr(
            "Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step."
        )
        second = self.tr("What you chose here is dropped, and lending stays as it was.")
        super().__init__(
            self.tr("Leave this for now?"),
            second if is_second else first,
            self.tr("Leave for now"),
            parent,
        )
        self.setObjectName("leave")
        self.leave.setText(self.tr("Go on here"))
        self.leave.setDefault(True)
        self.main.clicked.connect(self.accept)


def free_bytes(folder: Path) -> int | None:
    """Free space at that folder, which may not exist yet; None: unknown."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    storage = QStorageInfo(str(there))
    return storage.bytesAvailable() if storage.isValid() and storage.isReady() else None
