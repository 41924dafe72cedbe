"""The passphrase of a sealed key, asked when the worker needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.keys.key_dialog import KeyDialog
from tequio_client.app.keys.passphrase import SecretLine
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.text import Text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tequio_client.app.keys.key_desk import KeyDesk


class UnlockDialog(KeyDialog):
    """Accepted when the key is open."""

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
        """Forget what was typed."""
        self.phrase.clear()
        super().done(result)
