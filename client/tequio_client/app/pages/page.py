"""What all pages are: they scroll, show the latest snapshot, and rest while nobody looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from tequio_client.app.theme import style
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets.base import Columns, Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from PySide6.QtGui import QShowEvent

    from tequio_client.app.autostart import Autostart
    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.app.model import Model
    from tequio_client.app.settings_file import SettingsBook
    from tequio_client.app.theme.look import Look
    from tequio_client.ipc.control import Question, Reply


LEAST_BETWEEN_MS = 250
"""Between two refreshes of what is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What the program around the window can be told about itself."""

    book: SettingsBook
    autostart: Autostart
    folder: Path
    """Of the worker: key, store and state."""
    usual_ledger: str
    programs: Callable[[], tuple[str, ...]]
    """The user's programs that run now, by name; may take a while."""
    keys: KeyDesk | None = None
    """None: this window has nothing to do with the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a page works with."""

    model: Model
    look: Look
    now_ms: Callable[[], int]
    open_page: Callable[[str], None]
    """Goes to the page of that name, or tells the program what is wanted."""
    own: Own | None = None
    """None: there is no program around this window, and nothing of its own to choose."""


class Page(QScrollArea):
    """A page; `body` takes what it holds. Subclasses say what they show in `refresh`."""

    def __init__(self, means: Means) -> None:
        super().__init__()
        self.means, self._is_stale = means, True
        self.setProperty("kind", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = Content()
        content.setProperty("kind", "body")
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(*style.PAGE_MARGINS)
        self.body.setSpacing(style.GAP)
        self.setWidget(content)
        self._pace = QTimer(self)
        self._pace.setSingleShot(True)
        self._pace.setInterval(LEAST_BETWEEN_MS)
        self._pace.timeout.connect(self._refresh_if_stale)
        means.model.shown.connect(self.expect)
        means.model.wished.connect(self.expect)
        means.model.preferred.connect(self.expect)

    @property
    def model(self) -> Model:
        """The app's model."""
        return self.means.model

    @property
    def place(self) -> str:
        """Where in it the user is, for a page that is made anew; empty: at its beginning."""
        return ""

    def go_to(self, place: str) -> None:
        """Be where the page before it was."""

    def refresh(self) -> None:
        """Show what the model has now; called when seen, four times a second at most."""
        raise NotImplementedError

    def expect(self, _news: object = None) -> None:
        """There is news: refresh now, or as soon as it is time and somebody looks."""
        self._is_stale = True
        if self.isVisible() and not self._pace.isActive():
            self._refresh_if_stale()

    def showEvent(self, event: QShowEvent) -> None:
        """Be up to date when seen."""
        super().showEvent(event)
        self._refresh_if_stale()

    def _refresh_if_stale(self) -> None:
        if self._is_stale and self.isVisible():
            self._is_stale = False
            self._pace.start()
            self.refresh()


class Content(QWidget):
    """What a page scrolls: as high as its text is at the width that it has, and no higher.

    A scroll area asks for that height by itself; but it keeps to the least size too, and there a
    layout counts each text as high as it were in the narrowest column.
    """

    def minimumSizeHint(self) -> QSize:
        """The least width."""
        least, layout = super().minimumSizeHint(), self.layout()
        has_height = layout is not None and layout.hasHeightForWidth()
        return QSize(least.width(), 0) if has_height else least


# --- A question that is asked of the worker again and again while somebody looks.

R = TypeVar("R", bound="Reply")


class Asked(QObject, Generic[R]):
    """Keeps the last reply of that kind, when it came, and why there is no newer one."""

    changed = Signal()
    """There is a reply, or there will be none."""

    def __init__(
        self, model: Model, now_ms: Callable[[], int], kind: type[R], every_ms: int
    ) -> None:
        super().__init__()
        self._model, self._now_ms, self._kind, self._every_ms = model, now_ms, kind, every_ms
        self._question: Question | None = None
        self._asked_ms = 0
        self.reply: R | None = None
        self.reply_ms = 0
        self.is_asking = False
        self.problem = ""
        """Why the last question has no reply; empty: it has."""
        model.replied.connect(self._take)
        model.refused.connect(self._miss)

    def want(self, question: Question) -> None:
        """Ask this from now on; what was said to another question is forgotten."""
        if question != self._question:
            self._question, self._asked_ms = question, 0
            self.reply, self.is_asking, self.problem = None, False, ""

    def look(self) -> None:
        """Ask, if there is a worker and the last time is long enough ago."""
        is_due = self._now_ms() - self._asked_ms >= self._every_ms
        if self._model.snapshot is not None and is_due:
            self.ask()

    def ask(self) -> None:
        """Ask now, unless the question is under way."""
        if self._question is None or self.is_asking:
            return
        self.is_asking, self._asked_ms = True, self._now_ms()
        self._model.ask(self._question)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == self._question and isinstance(reply, self._kind):
            self.reply, self.reply_ms = reply, self._now_ms()
            self.is_asking, self.problem = False, ""
            self.changed.emit()

    def _miss(self, question: Question, why: str) -> None:
        if question == self._question:
            self.is_asking = False
            self.problem = why or self.tr("The worker does not answer")
            self.changed.emit()


# --- The head of a page: what it is, a sentence about it, and the controls of the whole page.

SAYINGS = 260
"""Pixels that the words need beside the controls."""


class PageHead(Columns):
    """Title and sentence, with the controls behind or below them."""

    def __init__(self, title: str, words: str, controls: Sequence[QWidget] = ()) -> None:
        super().__init__(gap=10)
        self.title, self._words = Text(title, Type.TITLE), Paragraph(words, Type.CAPTION, "sub")
        self.title.setAccessibleName(title)
        parts = [self._sayings()]
        if controls:
            parts.append(_row(controls))
        self.hold(parts, shares=(1, 0)[: len(parts)])

    def say(self, words: str) -> None:
        """Say this below the title from now on."""
        self._words.setText(words)

    @property
    def words(self) -> str:
        """The sentence."""
        return self._words.text()

    def _sayings(self) -> QWidget:
        made = QWidget()
        made.setMinimumWidth(SAYINGS)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.title)
        column.addWidget(self._words)
        return made


def _row(controls: Sequence[QWidget]) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    for one in controls:
        row.addWidget(one, 0, Qt.AlignmentFlag.AlignVCenter)
    row.addStretch(1)
    return made
