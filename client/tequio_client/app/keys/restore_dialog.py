"""A key from its backup: 24 words typed, or a file with its passphrase."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QPlainTextEdit,
    QWidget,
)

from tequio_client.app.keys.keep_panel import KeepPanel
from tequio_client.app.keys.key_dialog import KeyDialog
from tequio_client.app.keys.passphrase import UNLEARNED, SecretLine
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.text import Line, Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.keys.key_desk import KeyDesk
    from tequio_client.keys.state import IdentityError

WORDS = 24
LOW = 84
"""Pixels of the field for words."""


def choose_file(parent: QWidget, title: str) -> Path | None:
    """Ask for a file to be read."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, "", "*.tequio-key;;*")
    return Path(chosen) if chosen else None


class RestoreDialog(KeyDialog):
    """Accepted when the key is that of the backup."""

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
        """Forget what was typed."""
        self.words.clear()
        self.phrase.clear()
        self.keep.passphrase.clear()
        super().done(result)
