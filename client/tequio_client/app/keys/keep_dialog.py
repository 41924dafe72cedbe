"""The same key, kept in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.keys.keep_panel import KeepPanel
from tequio_client.app.keys.key_dialog import KeyDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tequio_client.app.keys.key_desk import KeyDesk
    from tequio_client.keys.state import IdentityError


class KeepDialog(KeyDialog):
    """Accepted when the key is kept as chosen."""

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
        """Forget what was typed."""
        self.keep.passphrase.clear()
        super().done(result)
