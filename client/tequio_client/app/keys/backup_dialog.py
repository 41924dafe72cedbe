"""A backup of the key, now: 24 words on paper, or a file under a passphrase.

Words count as a backup when two of them were typed from the paper, a file when it was read back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from tequio_client.app.keys.key_dialog import KeyDialog
from tequio_client.app.keys.passphrase import NewPassphrase
from tequio_client.app.keys.words_pane import WordsPane
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.keys.key_desk import KeyDesk

FILE = "tequio.tequio-key"


def choose_place(parent: QWidget, title: str) -> Path | None:
    """Ask for a file to be written."""
    documents = QStandardPaths.StandardLocation.DocumentsLocation
    start = Path(QStandardPaths.writableLocation(documents)) / FILE
    chosen, _ = QFileDialog.getSaveFileName(parent, title, str(start), "*.tequio-key")
    return Path(chosen) if chosen else None


class BackupDialog(KeyDialog):
    """Accepted when there is a backup."""

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
        """Forget what was shown and typed."""
        self.words.forget()
        self.file.clear()
        super().done(result)
