"""Where heads of a run were published, by what the log says, with the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Line, Text

if TYPE_CHECKING:
    from tequio_client.link.questions import PublishedHead

HUB = "https://huggingface.co"
MOST = 3


def page_of(head: PublishedHead) -> str:
    """The Hub's page of that commit."""
    return f"{HUB}/{head.repo}/tree/{head.revision}"


class RunPublished(QWidget):
    """The newest of them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = [PublishedRow() for _ in range(MOST)]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Text(self.tr("Published heads"), Type.STRONG))
        for row in self.rows:
            column.addWidget(row)
        self.hide()

    def show_heads(self, heads: tuple[PublishedHead, ...]) -> None:
        """Show these, the newest first; nothing at all where there is none."""
        for at, row in enumerate(self.rows):
            row.setVisible(at < len(heads))
            if at < len(heads):
                row.show_head(heads[at])
        self.setVisible(bool(heads))


class PublishedRow(QWidget):
    """One head, and the button that opens its page on the Hub."""

    def __init__(self) -> None:
        super().__init__()
        self._page = ""
        self.name, self.note = Line("", Type.BODY), Line("", Type.CAPTION, "sub")
        self.button = Button(self.tr("Open"), "quiet", "external-link")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        row, words = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(1)
        words.addWidget(self.name)
        words.addWidget(self.note)
        row.addWidget(Picture("package-check", QSize(18, 18)))
        row.addLayout(words, 1)
        row.addWidget(self.button)

    def show_head(self, head: PublishedHead) -> None:
        """Show that."""
        self._page = page_of(head)
        self.name.setText(head.repo)
        number = figures.count(head.round)
        self.note.setText(self.tr("Round {number}, on the Hugging Face Hub").format(number=number))
        opens = self.tr("Open round {number} of {repo} in the browser")
        self.button.setAccessibleName(opens.format(number=number, repo=head.repo))
        self.button.setToolTip(self._page)
