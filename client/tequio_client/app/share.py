"""Share a public page of the ledger: that of the key, of its team or of its run.

Each page has a card, the picture that chats and social networks show beside its link. The app sends
neither to anyone: a person copies the link, or saves the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QIODevice, QObject, QSaveFile, QStandardPaths, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from tequio_client.app.keys.dialogs import QuestionDialog
from tequio_client.app.language import without_period
from tequio_client.app.ledger_queries import OK, TIMEOUT_MS, LedgerRequest
from tequio_client.app.widgets.base import fill, hbox
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.ipc.account import AccountReply
from tequio_client.ipc.snapshot import CurrentRoundView

KEY, TEAM, RUN = "peers", "teams", "runs"
"""Kinds of pages, as in the ledger's addresses."""
PNG = b"\x89PNG\r\n\x1a\n"
_NAME_LETTERS = 10


class SharedPage(NamedTuple):
    """A page of a ledger; `name` is a key, the number of a team or the id of a run."""

    ledger: str
    kind: str
    name: str

    @property
    def url(self) -> str:
        return f"{self.ledger.rstrip('/')}/{self.kind}/{self.name}"

    @property
    def card_url(self) -> str:
        return f"{self.ledger.rstrip('/')}/card/{self.kind}/{self.name}.png"

    @property
    def file_name(self) -> str:
        return f"tequio-{self.kind}-{self.name[:_NAME_LETTERS]}.png"


def shared_pages(
    ledger: str, account: AccountReply | None, current: CurrentRoundView | None
) -> dict[str, SharedPage]:
    """Pages by their kind, the key's first; none before the ledger has registered the key."""
    if not ledger or account is None or not account.standing:
        return {}
    names = {KEY: account.key, TEAM: str(account.team) if account.team else ""}
    names[RUN] = current.run if current is not None else ""
    return {kind: SharedPage(ledger, kind, name) for kind, name in names.items() if name}


class CardDownload(QObject):
    """Saves one card at a time; a complete one replaces the file, or nothing is written."""

    saved = Signal(str)
    """The file."""
    failed = Signal(str)
    """Why nothing was saved, as a sentence."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._request = LedgerRequest(TIMEOUT_MS, self)

    def start(self, url: str, path: Path) -> None:
        """Cancel a previous download and begin this one."""
        self.stop()
        self._request.start(url, partial(self._receive, path))

    def stop(self) -> None:
        """Cancel; nothing is emitted."""
        self._request.stop()

    def _receive(self, path: Path, status: int | None, content: bytes, error: str) -> None:
        if status == OK and content.startswith(PNG):
            self._write(path, content)
            return
        words = self.tr(
            "The network has no picture of this page ({problem}). Copy the link instead."
        )
        problem = f"HTTP {status}"
        if status is None:
            problem = without_period(error)
            words = self.tr(
                "The picture could not be fetched ({problem}). Check your connection, and try "
                "again."
            )
        self.failed.emit(words.format(problem=problem))

    def _write(self, path: Path, content: bytes) -> None:
        file = QSaveFile(str(path))
        is_open = file.open(QIODevice.OpenModeFlag.WriteOnly)
        if is_open and file.write(content) == len(content) and file.commit():
            self.saved.emit(str(path))
            return
        words = self.tr("{file} was not written: {why}. Choose another place, or try again.")
        why = without_period(file.errorString())
        self.failed.emit(words.format(file=path, why=why))


class ShareDialog(QuestionDialog):
    """Opens a page, copies its link, or saves its card as a PNG file."""

    def __init__(self, pages: Mapping[str, SharedPage], parent: QWidget | None = None) -> None:
        """Needs at least one page, by its kind."""
        super().__init__(
            self.tr("Share"),
            self.tr(
                "Everyone can see this page. Chats and social networks show its picture beside the "
                "link."
            ),
            self.tr("Save the picture…"),
            self.tr("Close"),
            parent,
        )
        self._pages = pages
        self._download = CardDownload(self)
        self._download.saved.connect(self._show_saved)
        self._download.failed.connect(self._show_failed)
        names = {
            KEY: self.tr("Your points"),
            TEAM: self.tr("Your team"),
            RUN: self.tr("Your run"),
        }
        self.kinds = Segmented(self.tr("Page"), {kind: names[kind] for kind in pages})
        self.kinds.setVisible(len(pages) > 1)
        self.link = CopyLine(self.tr("Link"))
        self.open_page = Button(self.tr("Open the page"), picture="external-link")
        self.body.setSpacing(12)
        fill(self.body, hbox(self.kinds, None), self.link, hbox(self.open_page, None))
        self.kinds.chosen.connect(self._show_page)
        self.open_page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.page.url)))
        self.main.clicked.connect(self.choose_file)
        self._show_page()

    @property
    def page(self) -> SharedPage:
        return self._pages[self.kinds.selected]

    def _show_page(self, _kind: str = "") -> None:
        self.link.show_text(self.page.url)
        self.trouble.hide()

    def choose_file(self) -> None:
        pictures = QStandardPaths.StandardLocation.PicturesLocation
        dialog = QFileDialog(self, self.tr("Save the picture"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("PNG picture (*.png)"))
        dialog.setDefaultSuffix("png")
        dialog.setDirectory(QStandardPaths.writableLocation(pictures))
        dialog.selectFile(self.page.file_name)
        dialog.fileSelected.connect(self.save_card)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save_card(self, path: str) -> None:
        """Fetch the card and write it to that file, without waiting for it."""
        self.main.setEnabled(False)
        self.trouble.hide()
        self._download.start(self.page.card_url, Path(path))

    def _show_saved(self, path: str) -> None:
        self._show_end("good", self.tr("The picture is in {file}.").format(file=path))

    def _show_failed(self, why: str) -> None:
        self._show_end("error", why)

    def _show_end(self, level: str, words: str) -> None:
        self.main.setEnabled(True)
        self.trouble.show_words(level, words)
        self.trouble.show()

    def done(self, result: int) -> None:
        self._download.stop()
        super().done(result)
