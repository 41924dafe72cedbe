"""KEYS"""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from PySide6.QtCore import QStandardPaths, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.keys import service
from tequio_client.app.theme.style import Type, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Line, Paragraph, Text
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.messages import Banner
from tequio_client.keys.state import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.keys.state import IdentityError


WIDTH = 560


class KeyDialog(QDialog):
    """Base of the dialogs about a key; subclasses fill `body` and connect `main`."""

    def __init__(self, heading: str, note: str, main: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(heading)
        self.setModal(True)
        self.setMinimumWidth(WIDTH)
        self.trouble = Banner("error")
        self.trouble.hide()
        self.main, self.leave = Button(main, "primary"), Button(self.tr("Cancel"))
        self.main.setDefault(True)
        self.leave.clicked.connect(self.reject)
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        column, feet = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(26, 22, 26, 22)
        column.setSpacing(14)
        column.addWidget(Text(heading, Type.TITLE))
        column.addWidget(Paragraph(note, tone="sub"))
        column.addLayout(self.body)
        column.addWidget(self.trouble)
        column.addStretch(1)
        feet.addStretch(1)
        feet.setSpacing(10)
        feet.addWidget(self.leave)
        feet.addWidget(self.main)
        column.addLayout(feet)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def say_trouble(self, error: IdentityError) -> None:
        """Show the error; the inputs stay."""
        self.trouble.show_words("error", service.say(error))
        self.trouble.show()
        self.wait(is_busy=False)

    def wait(self, *, is_busy: bool) -> None:
        """Disable the main button while the key service works."""
        self.main.setEnabled(not is_busy)
        if is_busy:
            self.trouble.hide()


LEAST = 8
"""Characters, the same as in `keys.backup`."""
GOOD = 16
"""A passphrase of this length gets no advice."""


UNLEARNED = (
    Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)
"""For fields with a secret in plain letters: on-screen keyboards learn and predict words."""


class SecretLine(QLineEdit):
    """A line edit for a secret, with dots instead of letters until they are revealed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(Type.BODY))
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setMinimumWidth(200)

    def reveal(self, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        mode = QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password
        self.setEchoMode(mode)
        if is_shown:  # dots have the same hints by themselves, letters have none
            self.setInputMethodHints(UNLEARNED)


class NewPassphrase(QWidget):
    """A new passphrase, typed twice, with advice."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.first = SecretLine(self.tr("Passphrase"))
        self.second = SecretLine(self.tr("The same passphrase again"))
        self.shown = QCheckBox(self.tr("Show what I type"))
        self._word = Paragraph("", Type.CAPTION, "sub")
        lines, column = QGridLayout(), QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 4)
        column.setSpacing(8)
        lines.setHorizontalSpacing(12)
        lines.setVerticalSpacing(4)
        for at, line in enumerate((self.first, self.second)):
            lines.addWidget(Text(line.accessibleName(), Type.CAPTION, "sub"), 0, at)
            lines.addWidget(line, 1, at)
            line.textChanged.connect(self._follow)
            self.shown.toggled.connect(line.reveal)
        column.addLayout(lines)
        column.addWidget(self.shown)
        column.addWidget(self._word)
        self._follow()

    @property
    def value(self) -> str | None:
        """The passphrase; None: too short, or the two lines differ."""
        first = self.first.text()
        return first if len(first) >= LEAST and first == self.second.text() else None

    @property
    def words(self) -> str:
        """The advice."""
        return self._word.text()

    def clear(self) -> None:
        for line in (self.first, self.second):
            line.clear()
        self.shown.setChecked(False)

    def _follow(self) -> None:
        first, second = self.first.text(), self.second.text()
        if second and first != second:
            said, tone = self.tr("The two are not the same."), "warn"
        elif first and len(first) < LEAST:
            said, tone = self.tr("At least {least} characters.").format(least=LEAST), "warn"
        elif first and len(first) < GOOD:
            said, tone = self.tr("Longer is safer: four or five unrelated words do well."), "sub"
        else:
            said = self.tr("Nobody can reset it: without it the key cannot be opened.")
            tone = "sub"
        self._word.setText(said)
        self._word.set_tone(tone)
        self.changed.emit()


INDENT = 27


class KeepPanel(QWidget):
    """The choice of how to store the key: keyring, passphrase or plain file. The last one warns."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        ways = {
            Kept.KEYRING: (
                self.tr("In this system's keyring"),
                self.tr(
                    "Unlocked automatically while you are logged in. The file alone is worth "
                    "nothing."
                ),
            ),
            Kept.PASSPHRASE: (
                self.tr("Under a passphrase"),
                self.tr(
                    "Tequio asks for it at each start, so it can't start lending "
                    "automatically at login."
                ),
            ),
            Kept.OPEN: (
                self.tr("In an unencrypted file"),
                self.tr(
                    "Only your user account can read it. For servers and computers that "
                    "nobody else uses."
                ),
            ),
        }
        self.rows = {way: QRadioButton(name) for way, (name, _) in ways.items()}
        self._notes = {way: Paragraph(note, Type.CAPTION, "sub") for way, (_, note) in ways.items()}
        self.passphrase = NewPassphrase()
        self.warning = Banner(
            "warning",
            self.tr(
                "Not sealed: a program that you run, a copy of this disk or a backup of your files "
                "can take the key, and with it your points."
            ),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        for way, row in self.rows.items():
            row.setFont(font(Type.STRONG))
            row.setAccessibleDescription(self._notes[way].text())
            row.toggled.connect(self._follow)
            column.addWidget(row)
            column.addWidget(_indented(self._notes[way]))
            if way is Kept.PASSPHRASE:
                column.addWidget(_indented(self.passphrase))
            column.addSpacing(6)
        column.addWidget(self.warning)
        self.passphrase.changed.connect(self.changed)
        self.rows[Kept.KEYRING].setChecked(True)
        self._follow()

    def offer_keyring(self, *, is_there: bool) -> None:
        """Offer the keyring only if there is one."""
        for part in (self.rows[Kept.KEYRING], self._notes[Kept.KEYRING]):
            part.setVisible(is_there)
        if not is_there and self.way is Kept.KEYRING:
            self.rows[Kept.PASSPHRASE].setChecked(True)

    @property
    def way(self) -> Kept:
        return next(way for way, row in self.rows.items() if row.isChecked())

    @property
    def is_ready(self) -> bool:
        return self.way is not Kept.PASSPHRASE or self.passphrase.value is not None

    @property
    def secret(self) -> str | None:
        """The passphrase, if the chosen storage uses one."""
        return self.passphrase.value if self.way is Kept.PASSPHRASE else None

    def _follow(self) -> None:
        if not any(row.isChecked() for row in self.rows.values()):
            return  # between two of them
        self.passphrase.setVisible(self.way is Kept.PASSPHRASE)
        self.warning.setVisible(self.way is Kept.OPEN)
        self.changed.emit()


def _indented(part: QWidget) -> QWidget:
    part.setContentsMargins(INDENT, 0, 0, 0)
    return part


class KeepDialog(KeyDialog):
    """Changes how the key is stored; accepted when that is done."""

    def __init__(self, desk: KeyDesk, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("How your key is kept"),
            self.tr("The key stays the same. Backups that you have made stay good."),
            self.tr("Keep it so"),
            parent,
        )
        self._desk, self.keep = desk, KeepPanel()
        if desk.state.kept in self.keep.rows:
            self.keep.rows[desk.state.kept].setChecked(True)
        self.body.addWidget(self.keep)
        self.keep.changed.connect(self._follow)
        self.main.clicked.connect(self._keep)
        desk.find_keyring(lambda _: None, self._miss_keyring)
        self._follow()

    def _miss_keyring(self, _: IdentityError) -> None:
        self.keep.offer_keyring(is_there=False)

    def _follow(self) -> None:
        self.main.setEnabled(self.keep.is_ready)

    def _keep(self) -> None:
        self.wait(is_busy=True)
        self._desk.keep_as(self.keep.way, self.keep.secret, self._finish, self.say_trouble)

    def _finish(self, _: object) -> None:
        self.accept()

    def done(self, result: int) -> None:
        """Clear the inputs."""
        self.keep.passphrase.clear()
        super().done(result)


WORDS = 24
LOW = 84
"""Height of the field for words, in pixels."""


def choose_file(parent: QWidget, title: str) -> Path | None:
    """Ask for a file to read."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, "", "*.tequio-key;;*")
    return Path(chosen) if chosen else None


class RestoreDialog(KeyDialog):
    """Restores a key from 24 words or from a file with its passphrase."""

    def __init__(
        self,
        desk: KeyDesk,
        parent: QWidget | None = None,
        choose: Callable[[QWidget, str], Path | None] = choose_file,
    ) -> None:
        super().__init__(
            self.tr("Restore a key"),
            self.tr(
                "With your earlier key you are the same volunteer, with the same points. Use it on "
                "one computer at a time. A key that is here now is kept aside."
            ),
            self.tr("Restore"),
            parent,
        )
        self._desk, self._choose = desk, choose
        self._path: Path | None = None
        self.ways = Segmented(
            self.tr("From what"), {"words": self.tr("24 words"), "file": self.tr("A file")}
        )
        self.words = QPlainTextEdit()
        self.words.setAccessibleName(self.tr("The 24 words, in their order"))
        self.words.setPlaceholderText(self.words.accessibleName())
        self.words.setFont(font(Type.BODY))
        self.words.setInputMethodHints(UNLEARNED)
        self.words.setTabChangesFocus(True)
        self.words.setFixedHeight(LOW)
        self.phrase = SecretLine(self.tr("Passphrase of the backup"))
        self.pick, self._name = Button(self.tr("Choose the file…")), Line("", tone="sub")
        self.keep = KeepPanel()
        self._file = self._file_pane()
        self._file.hide()
        for part in (self.ways, self.words, self._file):
            self.body.addWidget(part)
        self.body.addWidget(Text(self.tr("How it is kept here"), Type.STRONG))
        self.body.addWidget(self.keep)
        self._connect()
        self.keep.offer_keyring(is_there=True)
        desk.find_keyring(lambda _: None, self._miss_keyring)
        self._follow()

    def _connect(self) -> None:
        self.ways.chosen.connect(self._turn)
        self.pick.clicked.connect(self._ask_file)
        self.main.clicked.connect(self._restore)
        for changed in (self.words.textChanged, self.phrase.textChanged, self.keep.changed):
            changed.connect(self._follow)

    def _file_pane(self) -> QWidget:
        made = QWidget()
        grid = QGridLayout(made)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.pick, 0, 0)
        grid.addWidget(self._name, 0, 1)
        grid.addWidget(Text(self.phrase.accessibleName(), Type.CAPTION, "sub"), 1, 0)
        grid.addWidget(self.phrase, 1, 1)
        return made

    def _turn(self, way: str) -> None:
        self.words.setVisible(way == "words")
        self._file.setVisible(way == "file")
        self.trouble.hide()
        self._follow()

    def _miss_keyring(self, _: IdentityError) -> None:
        self.keep.offer_keyring(is_there=False)

    def _ask_file(self) -> None:
        self._path = self._choose(self, self.tr("Choose the backup"))
        self._name.setText(self._path.name if self._path else "")
        self._follow()

    def _follow(self) -> None:
        if self.ways.choice == "words":
            has_source = len(self.words.toPlainText().split()) >= WORDS
        else:
            has_source = self._path is not None and bool(self.phrase.text())
        self.main.setEnabled(has_source and self.keep.is_ready)

    def _restore(self) -> None:
        source: str | tuple[Path, str] = self.words.toPlainText()
        if self.ways.choice == "file":
            if self._path is None:
                return
            source = (self._path, self.phrase.text())
        self.wait(is_busy=True)
        self._desk.restore(source, self.keep.way, self.keep.secret, self._finish, self.say_trouble)

    def _finish(self, _: object) -> None:
        self.accept()

    def done(self, result: int) -> None:
        """Clear the inputs."""
        self.words.clear()
        self.phrase.clear()
        self.keep.passphrase.clear()
        super().done(result)


class UnlockDialog(KeyDialog):
    """Asks for the passphrase of an encrypted key when the worker needs it."""

    def __init__(self, desk: KeyDesk, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("Your key is sealed"),
            self.tr("Nothing is lent before you give its passphrase. It is kept until you quit."),
            self.tr("Unlock"),
            parent,
        )
        self._desk, self.phrase = desk, SecretLine(self.tr("Passphrase"))
        self.body.setSpacing(4)
        self.body.addWidget(Text(self.phrase.accessibleName(), Type.CAPTION, "sub"))
        self.body.addWidget(self.phrase)
        self.phrase.textChanged.connect(lambda said: self.main.setEnabled(bool(said)))
        self.main.clicked.connect(self._unlock)
        self.main.setEnabled(False)

    def _unlock(self) -> None:
        self.wait(is_busy=True)
        self._desk.unlock(self.phrase.text(), self._finish, self.say_trouble)

    def _finish(self, _: object) -> None:
        self.accept()

    def done(self, result: int) -> None:
        """Clear the inputs."""
        self.phrase.clear()
        super().done(result)


WORDS_GRID_WORDS, COLUMNS = 24, 4
HIDDEN = "••••••"
NUMBER = 22


class WordsGrid(Card):
    """The 24 words of a key, numbered, to write on paper: they can be neither copied nor searched."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(9)
        self._words = [Text(HIDDEN, Type.STRONG) for _ in range(WORDS_GRID_WORDS)]
        for at, word in enumerate(self._words):
            grid.addWidget(_numbered(at + 1, word), at // COLUMNS, at % COLUMNS)
        self.body.addLayout(grid)
        self.show_words(())

    def show_words(self, words: Sequence[str]) -> None:
        """Show these; none: dots."""
        for at, label in enumerate(self._words):
            label.setText(words[at] if words else HIDDEN)
            label.set_tone("" if words else "sub")
        said = self.tr("The 24 words") if words else self.tr("24 words, hidden")
        self.setAccessibleName(said)
        self.setAccessibleDescription(", ".join(words))


def _numbered(number: int, word: Text) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    label = Text(figures.count(number), Type.CAPTION, "sub")
    label.setFixedWidth(NUMBER)
    label.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
    row.addWidget(label)
    row.addWidget(word, 1)
    return made


ASKED = 2
"""Number of words to type as proof."""


class WordsPane(QWidget):
    """Shows the words, then asks for two of them."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[str, ...] = ()
        self._numbers: tuple[int, ...] = ()
        self._note, self.grid = Paragraph(), WordsGrid()
        self.lines = [QLineEdit() for _ in range(ASKED)]
        self._labels = [Text("", Type.CAPTION, "sub") for _ in range(ASKED)]
        question = QWidget()
        fields = QGridLayout(question)
        fields.setContentsMargins(0, 0, 0, 0)
        for at, (label, line) in enumerate(zip(self._labels, self.lines, strict=True)):
            line.setFont(font(Type.BODY))
            line.setInputMethodHints(UNLEARNED)
            line.textChanged.connect(self.changed)
            fields.addWidget(label, 0, at)
            fields.addWidget(line, 1, at)
        fields.setRowStretch(2, 1)
        self._stack = QStackedWidget()
        self._stack.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(question)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._note)
        column.addWidget(self._stack)
        self._explain()

    def show_words(self, words: Sequence[str]) -> None:
        self._words = tuple(words)
        self.grid.show_words(words)

    def ask(self) -> None:
        """Hide the words and ask for two of them."""
        self._numbers = tuple(sorted(SystemRandom().sample(range(1, WORDS_GRID_WORDS + 1), ASKED)))
        for number, label, line in zip(self._numbers, self._labels, self.lines, strict=True):
            label.setText(self.tr("Word {number}").format(number=number))
            line.setAccessibleName(label.text())
        self._note.setText(self.tr("To be sure that the paper is right, type two of its words."))
        self._stack.setCurrentIndex(1)
        self.lines[0].setFocus()

    @property
    def asked(self) -> tuple[int, ...]:
        """The numbers of the two words."""
        return self._numbers

    @property
    def is_right(self) -> bool:
        """True if the two words are typed correctly."""
        typed = [line.text().strip().lower() for line in self.lines]
        return bool(self._numbers) and typed == [self._words[at - 1] for at in self._numbers]

    def forget(self) -> None:
        """Drop the words and show dots."""
        self._words, self._numbers = (), ()
        self.grid.show_words(())
        for line in self.lines:
            line.clear()
        self._stack.setCurrentIndex(0)
        self._explain()

    def _explain(self) -> None:
        self._note.setText(
            self.tr(
                "Write them on paper in this order: no photo, no cloud. Nobody of Tequio will ever "
                "ask for them."
            )
        )


FILE = "tequio.tequio-key"


def choose_place(parent: QWidget, title: str) -> Path | None:
    """Ask for a file to write."""
    documents = QStandardPaths.StandardLocation.DocumentsLocation
    start = Path(QStandardPaths.writableLocation(documents)) / FILE
    chosen, _ = QFileDialog.getSaveFileName(parent, title, str(start), "*.tequio-key")
    return Path(chosen) if chosen else None


class BackupDialog(KeyDialog):
    """Backs up the key as 24 words on paper or as a file under a passphrase.

    Words count as a backup once two of them were typed from the paper, a file once it was read
    back.
    """

    def __init__(
        self,
        desk: KeyDesk,
        parent: QWidget | None = None,
        way: str = "words",
        place: Callable[[QWidget, str], Path | None] = choose_place,
    ) -> None:
        super().__init__(
            self.tr("Back up your key"),
            self.tr(
                "Anyone with this key has your points. If this disk fails, only a backup helps."
            ),
            "",
            parent,
        )
        self._desk, self._place = desk, place
        self._stage = "shut"
        self.ways = Segmented(
            self.tr("As what"), {"words": self.tr("24 words"), "file": self.tr("A file")}
        )
        self.ways.chosen.connect(self._turn)
        self.words, self.file = WordsPane(), NewPassphrase()
        pane = QWidget()
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(
            Paragraph(
                self.tr(
                    "The file is sealed under a passphrase. Keep the two in different places, away "
                    "from this computer."
                )
            )
        )
        column.addWidget(self.file)
        column.addStretch(1)
        self._panes = QStackedWidget()
        self._panes.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        for part in (self.words, pane):
            self._panes.addWidget(part)
        self.body.addWidget(self.ways)
        self.body.addWidget(self._panes)
        self.file.changed.connect(self._follow)
        self.words.changed.connect(self._follow)
        self.main.clicked.connect(self._go_on)
        self.ways.choose(way)
        self._turn(way)

    def _turn(self, way: str) -> None:
        self._panes.setCurrentIndex(0 if way == "words" else 1)
        self.trouble.hide()
        self._follow()

    def _follow(self) -> None:
        if self.ways.choice == "file":
            self.main.setText(self.tr("Save the file…"))
            self.main.setEnabled(self.file.value is not None)
            return
        said = {
            "shut": self.tr("Show the words"),
            "shown": self.tr("I have written them down"),
            "asked": self.tr("Done"),
        }
        self.main.setText(said[self._stage])
        self.main.setEnabled(self._stage != "asked" or self.words.is_right)

    def _go_on(self) -> None:
        if self.ways.choice == "file":
            self._save()
        elif self._stage == "shut":
            self.wait(is_busy=True)
            self._desk.words(self._show, self.say_trouble)
        elif self._stage == "shown":
            self._stage = "asked"
            self.words.ask()
            self._follow()
        else:
            self.wait(is_busy=True)
            self._desk.wrote_words(self._finish, self.say_trouble)

    def _show(self, words: tuple[str, ...]) -> None:
        self._stage = "shown"
        self.words.show_words(words)
        self.wait(is_busy=False)
        self._follow()

    def _save(self) -> None:
        path = self._place(self, self.tr("Save the backup"))
        if path is None or self.file.value is None:
            return
        self.wait(is_busy=True)
        self._desk.save(path, self.file.value, self._finish, self.say_trouble)

    def _finish(self, _: object) -> None:
        self.accept()

    def done(self, result: int) -> None:
        """Clear the words and the inputs."""
        self.words.forget()
        self.file.clear()
        super().done(result)
