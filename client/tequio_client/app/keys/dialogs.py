"""Dialogs about the key: restore it, unlock it, and change how it is stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.keys import service
from tequio_client.app.keys.inputs import (
    BACKUP_WORDS,
    SECRET_INPUT_HINTS,
    ProtectionPanel,
    SecretLine,
)
from tequio_client.app.keys.service import KeyService
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import (
    ElidedLabel,
    Label,
    WrappedLabel,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.messages import Banner
from tequio_client.app.widgets.scrolling import DialogScroll
from tequio_client.keys.state import IdentityError

WIDTH = 560
WORDS_HEIGHT = 84
"""Height of the field for words, in pixels."""


class QuestionDialog(QDialog):
    """A heading, a note, a body for subclasses to fill, and two buttons: `main` and `leave`.

    The keyboard begins at the first field that is still empty, or else at `main`, and Enter in a
    field presses `main`. Where `main` cannot be undone, a subclass makes `leave` the default: then
    Enter does that at first.
    """

    def __init__(
        self, heading: str, note: str, main: str, leave: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(heading)
        self.setModal(True)
        self.setMinimumWidth(WIDTH)
        self.heading, self.note = Label(heading, TextStyle.TITLE), WrappedLabel(note, tone="sub")
        self.trouble = Banner("error")
        self.trouble.hide()
        self.main, self.leave = Button(main, "primary"), Button(leave)
        self.leave.clicked.connect(self.reject)
        self.body = QVBoxLayout()
        scroll = DialogScroll()
        parts = (self.heading, self.note, self.body, self.trouble, None)
        vbox(*parts, spacing=14, margins=(26, 22, 26, 14), parent=scroll.content)
        buttons = hbox(None, self.leave, self.main, spacing=10, margins=(26, 0, 26, 22))
        vbox((scroll, 1), buttons, spacing=0, parent=self)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.main.setDefault(True)

    def fit(self) -> None:
        """Make the dialog as high as its content, if the screen has room for that."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize(self.width(), layout.totalMinimumSize().height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.focus_first()

    def focus_first(self) -> None:
        """Give the keyboard to the control with which the user goes on."""
        fields = _fields(self)
        empty = next(filter(_is_empty, fields), None)
        if self.leave.isDefault():
            self.leave.setFocus()
        elif empty is not None:
            empty.setFocus()
        elif not self.main.isHidden() and self.main.isEnabled():
            self.main.setFocus()
        else:
            next(iter(fields), self.leave).setFocus()


def _fields(dialog: QDialog) -> list[QWidget]:
    """The visible fields that the user can fill in or tick, in the order of Tab."""
    found: list[QWidget] = []
    one = dialog.nextInFocusChain()
    while one is not None and one is not dialog:
        if isinstance(one, QLineEdit | QPlainTextEdit):
            is_open = not one.isReadOnly() and not isinstance(one.parent(), QAbstractSpinBox)
        else:
            is_open = isinstance(one, QCheckBox)
        if is_open and one.isVisibleTo(dialog) and one.isEnabled():
            found.append(one)
        one = one.nextInFocusChain()
    return found


def _is_empty(field: QWidget) -> bool:
    if isinstance(field, QLineEdit):
        return not field.text()
    if isinstance(field, QPlainTextEdit):
        return not field.toPlainText()
    return isinstance(field, QCheckBox) and not field.isChecked()


class KeyDialog(QuestionDialog):
    """Subclasses fill `body` and connect `main`; all fields are cleared when it closes."""

    def __init__(self, heading: str, note: str, main: str, parent: QWidget | None = None) -> None:
        super().__init__(heading, note, main, self.tr("Cancel"), parent)
        self._had_focus = False  # whether `main` had it, before it was disabled
        self.body.setSpacing(12)

    def show_error(self, error: IdentityError) -> None:
        """Show the error; the inputs stay."""
        self.show_problem(service.error_text(error))

    def show_problem(self, problem: str) -> None:
        """Show a sentence about what went wrong; the inputs stay."""
        self.trouble.show_words("error", problem)
        self.trouble.show()
        self.set_busy(is_busy=False)

    def set_busy(self, *, is_busy: bool) -> None:
        """Disable the main button while the key service works."""
        if is_busy:
            self._had_focus = self.main.hasFocus()
            self.trouble.hide()
        self.main.setEnabled(not is_busy)
        if not is_busy and self._had_focus:
            self.main.setFocus()

    def done(self, result: int) -> None:
        for line in self.findChildren(QLineEdit):
            line.clear()
        for text in self.findChildren(QPlainTextEdit):
            text.clear()
        super().done(result)

    def _finish(self, _: object) -> None:
        """Accept; for the key service's callbacks."""
        self.accept()


def choose_file(parent: QWidget, title: str) -> Path | None:
    chosen, _ = QFileDialog.getOpenFileName(parent, title, "", "*.tequio-key;;*")
    return Path(chosen) if chosen else None


class BackupSource(QWidget):
    """24 words, or a file with its passphrase; `value` once one of them is given."""

    changed = Signal()

    def __init__(
        self, phrase: str, choose: Callable[[QWidget, str], Path | None] = choose_file
    ) -> None:
        super().__init__()
        self._choose = choose
        self._path: Path | None = None
        self.ways = Segmented(
            self.tr("Kind of backup"), {"words": self.tr("24 words"), "file": self.tr("A file")}
        )
        self.words = QPlainTextEdit()
        self.words.setAccessibleName(self.tr("The 24 words, in their order"))
        self.words.setPlaceholderText(self.words.accessibleName())
        self.words.setFont(font(TextStyle.BODY))
        self.words.setInputMethodHints(SECRET_INPUT_HINTS)
        self.words.setTabChangesFocus(True)
        self.words.setFixedHeight(WORDS_HEIGHT)
        self.phrase = SecretLine(phrase)
        self.pick, self._name = Button(self.tr("Choose the file…")), ElidedLabel("", tone="sub")
        self._file = self._file_pane()
        self._file.hide()
        vbox(self.ways, self.words, self._file, spacing=12, parent=self)
        self.ways.chosen.connect(self._switch)
        self.pick.clicked.connect(self._ask_file)
        for line in (self.words.textChanged, self.phrase.textChanged):
            line.connect(self.changed)

    @property
    def value(self) -> str | tuple[Path, str] | None:
        if self.ways.selected == "words":
            text = self.words.toPlainText()
            return text if len(text.split()) >= BACKUP_WORDS else None
        if self._path is None or not self.phrase.text():
            return None
        return self._path, self.phrase.text()

    def _file_pane(self) -> QWidget:
        made = QWidget()
        grid = QGridLayout(made)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.pick, 0, 0)
        grid.addWidget(self._name, 0, 1)
        grid.addWidget(Label(self.phrase.accessibleName(), TextStyle.CAPTION, "sub"), 1, 0)
        grid.addWidget(self.phrase, 1, 1)
        return made

    def _switch(self, way: str) -> None:
        self.words.setVisible(way == "words")
        self._file.setVisible(way == "file")
        self.changed.emit()

    def _ask_file(self) -> None:
        self._path = self._choose(self, self.tr("Choose the backup"))
        self._name.setText(self._path.name if self._path else "")
        self.changed.emit()


class RestoreDialog(KeyDialog):
    """Restores a key from 24 words or from a file with its passphrase."""

    def __init__(
        self,
        keys: KeyService,
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
        self._keys = keys
        self.source = BackupSource(self.tr("Passphrase of the backup"), choose)
        self.protection = ProtectionPanel()
        storage = Label(self.tr("How it is kept here"), TextStyle.STRONG)
        fill(self.body, self.source, storage, self.protection)
        keys.find_keyring(lambda _: None, self.protection.withdraw_keyring)
        self.main.clicked.connect(self._restore)
        self.source.changed.connect(self._follow)
        self.source.ways.chosen.connect(self.trouble.hide)
        self.protection.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.main.setEnabled(self.source.value is not None and self.protection.is_ready)

    def _restore(self) -> None:
        source = self.source.value
        if source is None:
            return
        self.set_busy(is_busy=True)
        self._keys.restore(
            source,
            self.protection.choice,
            self.protection.chosen_passphrase,
            self._finish,
            self.show_error,
        )


class UnlockDialog(KeyDialog):
    """Asks for the passphrase of an encrypted key when the worker needs it."""

    def __init__(self, keys: KeyService, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("Your key is sealed"),
            self.tr("Nothing is lent before you give its passphrase. It is kept until you quit."),
            self.tr("Unlock"),
            parent,
        )
        self._keys, self.phrase = keys, SecretLine(self.tr("Passphrase"))
        self.body.setSpacing(4)
        name = Label(self.phrase.accessibleName(), TextStyle.CAPTION, "sub")
        fill(self.body, name, self.phrase)
        self.phrase.textChanged.connect(lambda text: self.main.setEnabled(bool(text)))
        self.main.clicked.connect(self._unlock)
        self.main.setEnabled(False)

    def _unlock(self) -> None:
        self.set_busy(is_busy=True)
        self._keys.unlock(self.phrase.text(), self._finish, self.show_error)


class ProtectionDialog(KeyDialog):
    """Changes how the key is stored; accepted when that is done."""

    def __init__(self, keys: KeyService, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("How your key is kept"),
            self.tr("The key stays the same. Backups that you have made remain valid."),
            self.tr("Store it this way"),
            parent,
        )
        self._keys, self.protection = keys, ProtectionPanel()
        if row := self.protection.rows.get(keys.state.protection):
            row.setChecked(True)
        self.body.addWidget(self.protection)
        self.protection.changed.connect(self._follow)
        self.main.clicked.connect(self._change)
        keys.find_keyring(lambda _: None, self.protection.withdraw_keyring)
        self._follow()

    def _follow(self) -> None:
        self.main.setEnabled(self.protection.is_ready)

    def _change(self) -> None:
        self.set_busy(is_busy=True)
        self._keys.change_protection(
            self.protection.choice, self.protection.chosen_passphrase, self._finish, self.show_error
        )
