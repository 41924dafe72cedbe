"""A backup of the key: 24 words on paper, or a file under a passphrase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom

from PySide6.QtCore import QStandardPaths, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from tequio_client.app.keys.dialogs import KeyDialog
from tequio_client.app.keys.inputs import BACKUP_WORDS, SECRET_INPUT_HINTS, NewPassphrase
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import join_sentences
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Label,
    WrappedLabel,
    caption,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Segmented

HIDDEN_WORD = "••••••"
NUMBER_WIDTH = 22
ASKED_WORDS = 2
"""Number of words to type as proof."""
BACKUP_FILE = "tequio.tequio-key"
COLUMNS = 4


def choose_backup_path(parent: QWidget, title: str, name: str = BACKUP_FILE) -> Path | None:
    documents = QStandardPaths.StandardLocation.DocumentsLocation
    start = Path(QStandardPaths.writableLocation(documents)) / name
    chosen, _ = QFileDialog.getSaveFileName(parent, title, str(start), "*.tequio-key")
    return Path(chosen) if chosen else None


class BackupDialog(KeyDialog):
    """Backs up the key as 24 words on paper or as a file under a passphrase.

    Words count as a backup once two of them were typed from the paper, a file once it was read
    back.
    """

    def __init__(
        self,
        keys: KeyService,
        parent: QWidget | None = None,
        way: str = "words",
        choose_path: Callable[[QWidget, str], Path | None] = choose_backup_path,
    ) -> None:
        super().__init__(
            self.tr("Back up your key"),
            self.tr(
                "Anyone with this key has your points. If this disk fails, only a backup helps."
            ),
            "",
            parent,
        )
        self._keys, self._choose_path = keys, choose_path
        self._stage = "shut"
        self.ways = Segmented(
            self.tr("Kind of backup"), {"words": self.tr("24 words"), "file": self.tr("A file")}
        )
        self.ways.chosen.connect(self._switch)
        self.words, self.file = BackupWordsPane(), NewPassphrase()
        note = WrappedLabel(
            self.tr(
                "The file is sealed under a passphrase. Keep the two in different places, away "
                "from this computer."
            )
        )
        self._panes = _stack(self.words, holding(vbox(note, self.file, None)))
        fill(self.body, self.ways, self._panes)
        self.file.changed.connect(self._follow)
        self.words.changed.connect(self._follow)
        self.main.clicked.connect(self._go_on)
        self.ways.select(way)
        self._switch(way)

    def _switch(self, way: str) -> None:
        self._panes.setCurrentIndex(0 if way == "words" else 1)
        self.trouble.hide()
        self._follow()

    def _follow(self) -> None:
        if self.ways.selected == "file":
            self.main.setText(self.tr("Save the file…"))
            self.main.setEnabled(self.file.value is not None)
            return
        text = {
            "shut": self.tr("Show the words"),
            "shown": self.tr("I have written them down"),
            "asked": self.tr("Done"),
        }
        self.main.setText(text[self._stage])
        self.main.setEnabled(self._stage != "asked" or self.words.is_right)

    def _go_on(self) -> None:
        if self.ways.selected == "file":
            self._save()
        elif self._stage == "shut":
            self.set_busy(is_busy=True)
            self._keys.words(self._show_words, self.show_error)
        elif self._stage == "shown":
            self._stage = "asked"
            self.words.ask()
            self._follow()
        else:
            self.set_busy(is_busy=True)
            self._keys.confirm_words(self._finish, self.show_error)

    def _show_words(self, words: tuple[str, ...]) -> None:
        self._stage = "shown"
        self.words.show_words(words)
        self.set_busy(is_busy=False)
        self._follow()

    def _save(self) -> None:
        path = self._choose_path(self, self.tr("Save the backup"))
        if path is None or self.file.value is None:
            return
        self.set_busy(is_busy=True)
        self._keys.save_backup(path, self.file.value, self._finish, self.show_error)

    def done(self, result: int) -> None:
        self.words.clear()
        super().done(result)


class BackupWordsPane(QWidget):
    """Shows the words, then asks for two of them."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[str, ...] = ()
        self.asked: tuple[int, ...] = ()
        """Numbers of the two words."""
        self._note, self.grid = WrappedLabel(), WordsGrid()
        self.lines = [QLineEdit() for _ in range(ASKED_WORDS)]
        self._labels = [Label("", TextStyle.CAPTION, "sub") for _ in range(ASKED_WORDS)]
        question = QWidget()
        fields = QGridLayout(question)
        fields.setContentsMargins(0, 0, 0, 0)
        for at, (label, line) in enumerate(zip(self._labels, self.lines, strict=True)):
            line.setFont(font(TextStyle.BODY))
            line.setInputMethodHints(SECRET_INPUT_HINTS)
            line.textChanged.connect(self.changed)
            fields.addWidget(label, 0, at)
            fields.addWidget(line, 1, at)
        fields.setRowStretch(2, 1)
        self._stack, self.wrong = _stack(self.grid, question), caption()
        self.wrong.set_tone("warn")
        vbox(self._note, self._stack, self.wrong, spacing=10, parent=self)
        self.changed.connect(self._check)
        self._explain()

    def show_words(self, words: Sequence[str]) -> None:
        self._words = tuple(words)
        self.grid.show_words(words)

    def ask(self) -> None:
        self.asked = tuple(sorted(SystemRandom().sample(range(1, BACKUP_WORDS + 1), ASKED_WORDS)))
        for number, label, line in zip(self.asked, self._labels, self.lines, strict=True):
            label.setText(self.tr("Word {number}").format(number=number))
            line.setAccessibleName(label.text())
        self._note.setText(self.tr("To check what you wrote, type two of the words."))
        self._stack.setCurrentIndex(1)
        self.lines[0].setFocus()

    @property
    def is_right(self) -> bool:
        typed = [line.text().strip().lower() for line in self.lines]
        return bool(self.asked) and typed == [self._words[at - 1] for at in self.asked]

    def _check(self) -> None:
        """Name a word that cannot become the right one."""
        wrong = [
            figures.count(number)
            for number, line in zip(self.asked, self.lines, strict=False)
            if not self._words[number - 1].startswith(line.text().strip().lower())
        ]
        words = self.tr("Word {number} does not match. Look at the paper again.")
        self.wrong.setText(join_sentences(*(words.format(number=number) for number in wrong)))

    def clear(self) -> None:
        """Drop the words and show dots."""
        self._words, self.asked = (), ()
        self.grid.show_words(())
        for line in self.lines:
            line.clear()
        self._stack.setCurrentIndex(0)
        self._explain()

    def _explain(self) -> None:
        self._note.setText(
            self.tr(
                "Write them on paper in this order: no photo, no cloud. Nobody from Tequio "
                "will ever ask for them."
            )
        )


class WordsGrid(Card):
    """The 24 words of a key, numbered, to write on paper: no copying, no search."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(9)
        self._words = [Label(HIDDEN_WORD, TextStyle.STRONG) for _ in range(BACKUP_WORDS)]
        for at, word in enumerate(self._words):
            grid.addWidget(_numbered(at + 1, word), at // COLUMNS, at % COLUMNS)
        self.body.addLayout(grid)
        self.show_words(())

    def show_words(self, words: Sequence[str]) -> None:
        """Show these; none: dots."""
        for at, label in enumerate(self._words):
            label.setText(words[at] if words else HIDDEN_WORD)
            label.set_tone("" if words else "sub")
        text = self.tr("The 24 words") if words else self.tr("24 words, hidden")
        self.setAccessibleName(text)
        self.setAccessibleDescription(", ".join(words))


def _stack(*panes: QWidget) -> QStackedWidget:
    made = QStackedWidget()
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
    for pane in panes:
        made.addWidget(pane)
    return made


def _numbered(number: int, word: Label) -> QWidget:
    label = Label(figures.count(number), TextStyle.CAPTION, "sub")
    label.setFixedWidth(NUMBER_WIDTH)
    label.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
    return holding(hbox(label, (word, 1), spacing=8))
