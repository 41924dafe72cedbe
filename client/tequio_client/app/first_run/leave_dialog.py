"""Whether to leave the first run before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.keys.key_dialog import KeyDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class LeaveDialog(KeyDialog):
    """Accepted to leave."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            self.tr("Leave this for now?"),
            self.tr(
                "Nothing is lent. What you chose is kept, and “Set up” on Home comes back to this "
                "very step."
            ),
            self.tr("Leave for now"),
            parent,
        )
        self.setObjectName("leave")
        self.leave.setText(self.tr("Go on here"))
        self.main.clicked.connect(self.accept)
