"""A notification service for tests of the tray and of notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.notifications import NotificationService

if TYPE_CHECKING:
    from PySide6.QtCore import QObject


class NotificationRecorder(NotificationService):
    """Collects the notifications that it was asked to display."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.displayed: list[tuple[str, str, str]] = []

    def display(self, title: str, text: str, target: str, button: str) -> None:
        assert button
        self.displayed.append((title, text, target))

    @property
    def titles(self) -> list[str]:
        """Titles of the notifications."""
        return [title for title, _, _ in self.displayed]
