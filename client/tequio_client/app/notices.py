"""What has to be said once, above the pages: each notice stays until it is dismissed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.widgets.banner import Banner

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

MOST = 3
"""Notices at a time; the oldest goes first."""
NOTICES = {
    "damaged": (
        "warning",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "Your settings could not be read. They are kept as {detail}, and the usual ones "
                "hold until you choose others.",
            )
        ),
    ),
    "newer": (
        "warning",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "Your settings were written by a newer Tequio. What this one knows of them is "
                "used; they are kept as {detail}.",
            )
        ),
    ),
    "unsaved": (
        "error",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "Your settings could not be saved ({detail}). They hold until you quit; make room "
                "or make the file writable, and they will be saved.",
            )
        ),
    ),
    "visiting": (
        "info",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "A worker that was started elsewhere runs already. This window controls it, and "
                "it goes on when you quit.",
            )
        ),
    ),
    "no-competition": (
        "warning",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "This competition link is incomplete ({detail}). Copy it again.",
            )
        ),
    ),
    "other-ledger": (
        "warning",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "That competition is at the ledger {detail}, and you use another one. Its address "
                "is in Settings, Advanced; change it and open the link again.",
            )
        ),
    ),
    "no-tray": (
        "info",
        str(
            QT_TRANSLATE_NOOP(
                "notices",
                "Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q "
                "quits and stops lending.",
            )
        ),
    ),
}
"""Level and words of each kind."""


class Notices(QWidget):
    """A strip of notices, each of its kind and detail."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notices")
        self._banners: dict[tuple[str, str], Banner] = {}
        self._column = QVBoxLayout(self)
        self._column.setSpacing(8)
        self._fit()

    @property
    def words(self) -> list[str]:
        """What they say, the oldest first."""
        return [banner.words for banner in self._banners.values()]

    def say(self, kind: str, detail: str = "") -> None:
        """Say that, unless it is being said."""
        if (kind, detail) in self._banners:
            return
        banner = Banner(*self._said(kind, detail))
        banner.button.clicked.connect(lambda: self.dismiss(kind, detail))
        self._banners[kind, detail] = banner
        self._column.addWidget(banner)
        while len(self._banners) > MOST:
            self.dismiss(*next(iter(self._banners)))
        self._fit()

    def dismiss(self, kind: str, detail: str = "") -> None:
        """Say that no more."""
        if (banner := self._banners.pop((kind, detail), None)) is not None:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Say everything anew in another language."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.LanguageChange:
            for (kind, detail), banner in self._banners.items():
                banner.show_words(*self._said(kind, detail))

    def _said(self, kind: str, detail: str) -> tuple[str, str, str]:
        level, words = NOTICES[kind]
        said = QCoreApplication.translate("notices", words).format(detail=detail)
        return level, said, QCoreApplication.translate("notices", "Dismiss")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Be as high as the words are at this width: a window asks its top strip only for one."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        has_some = bool(self._banners)
        self._column.setContentsMargins(*((14, 14, 14, 0) if has_some else (0, 0, 0, 0)))
        self._column.activate()
        fitting = self._column.totalHeightForWidth(self.width())
        least = self._column.totalMinimumSize().height()
        self.setFixedHeight(fitting if fitting >= 0 else least)
        self.setVisible(has_some)
