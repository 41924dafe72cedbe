"""Settings, Advanced: the ledger, where the worker lives and listens, and the way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.app_settings import AppSettings
from tequio_client.app.ledger_check import LedgerCheck
from tequio_client.app.pages.settings_own import OwnSection
from tequio_client.app.pages.settings_section import USUAL, with_default
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.copy_line import CopyLine
from tequio_client.app.widgets.dropdown import Dropdown
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means, Own
    from tequio_client.app.widgets.undo_toast import UndoToast
    from tequio_client.link.snapshot import Snapshot

FIELD_WIDTH = 240
LISTEN = re.compile(
    r"/ip4/(\d{1,3}(?:\.\d{1,3}){3})/tcp/(\d{1,5})|/ip6/([0-9a-fA-F:.]+)/tcp/(\d{1,5})"
)
PORTS = 65_535


class AdvancedSection(OwnSection):
    """What hardly anybody needs."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast, own: Own) -> None:
        super().__init__(means, edits, toast, own)
        self._taken = ""  # the ledger's address of a worker that is to come
        self.check = LedgerCheck(self)
        self.check.answered.connect(self._take_ledger)
        self._add_ledger()
        self._add_worker()
        self._add_reset()

    def refresh(self, snapshot: Snapshot | None) -> None:
        """Show what holds."""
        super().refresh(snapshot)
        self.folder.show_text(str(self.own.folder))
        ledger = snapshot.ledger if snapshot else None
        if ledger is None or not ledger.url or self._is_checking:
            return
        if self._taken not in {"", ledger.url.rstrip("/")}:
            return  # of the worker that was there before
        self._taken = ""
        reached = (
            self.tr("{url} answers.")
            if ledger.is_reached
            else self.tr("{url} does not answer now.")
        )
        self._say(reached.format(url=ledger.url), "ok" if ledger.is_reached else "warn")

    # --- the ledger

    def _add_ledger(self) -> None:
        self.card(self.tr("Ledger"))
        self._is_checking = False
        self.ledger = QLineEdit()
        self.ledger.setAccessibleName(self.tr("Ledger's address"))
        self.ledger.setMinimumWidth(FIELD_WIDTH)
        self.ledger.setMaxLength(2_048)
        self.ledger.setPlaceholderText(self.own.usual_ledger)
        self.take = Button(self.tr("Check and use"))
        self.take.setEnabled(False)
        self.said = Paragraph("", Type.CAPTION, "sub")
        self.said.hide()
        self.ledger.textEdited.connect(self._edit_ledger)
        self.ledger.returnPressed.connect(self._check_ledger)
        self.take.clicked.connect(self._check_ledger)
        both, row = QWidget(), QHBoxLayout()
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row.setSpacing(10)
        row.addWidget(self.ledger, 1)
        row.addWidget(self.take)
        column.addLayout(row)
        column.addWidget(self.said)
        note = with_default(
            self.tr("Keeps the public log of work and points. It is asked before it is taken."),
            self.own.usual_ledger,
        )
        self.add("ledger", SettingRow(self.tr("Address"), note, both, is_wide=True))
        self.follow(lambda _: self._show_ledger())

    def _show_ledger(self) -> None:
        if not self.ledger.isModified():
            self.ledger.setText(self.settings.ledger)

    def _edit_ledger(self) -> None:
        self._is_checking = True
        self.check.stop()
        self.said.hide()
        self.take.setEnabled(self.ledger.text().strip() != self.settings.ledger)

    def _check_ledger(self) -> None:
        address = self.ledger.text().strip().rstrip("/")
        self._is_checking = True
        if not address:
            self._take_ledger("", "")
            return
        self.take.setEnabled(False)
        self._say(self.tr("Asking {address}…").format(address=address), "sub")
        self.check.start(address)

    def _take_ledger(self, address: str, wrong: str) -> None:
        if wrong:
            self._say(wrong, "danger")
            self.take.setEnabled(True)
            return
        self.ledger.setModified(False)
        self.ledger.setText(address)
        self._is_checking = False
        self._taken = (address or self.own.usual_ledger).rstrip("/")
        self._say(self.tr("Taken; the worker starts anew with it."), "ok")
        self.take.setEnabled(False)
        self.own.book.change(ledger=address)

    def _say(self, words: str, tone: str) -> None:
        self.said.setText(words)
        self.said.set_tone(tone)
        self.said.show()

    # --- the worker

    def _add_worker(self) -> None:
        self.card(self.tr("Worker"))
        self.folder = CopyLine(self.tr("Folder"))
        self.open_folder = Button(self.tr("Open"), "quiet", "folder-open")
        self.open_folder.setAccessibleName(self.tr("Open the folder"))
        self.open_folder.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.own.folder)))
        )
        self.folder.add(self.open_folder)
        self.add(
            "folder",
            SettingRow(
                self.tr("Folder"),
                self.tr("Key, store and state. To move it: quit, move it, and start with --dir."),
                self.folder,
                is_wide=True,
            ),
        )
        self.listen = QLineEdit()
        self.listen.setAccessibleName(self.tr("Listen address"))
        self.listen.setMinimumWidth(FIELD_WIDTH)
        self.listen.setPlaceholderText("/ip4/0.0.0.0/tcp/0")
        self.listen.editingFinished.connect(self._take_listen)
        self._listen_note = with_default(
            self.tr("Where peers reach this computer, as in /ip4/0.0.0.0/tcp/4001."),
            self.tr("any free port"),
        )
        self.listen_row = SettingRow(self.tr("Listen address"), self._listen_note, self.listen)
        self.add("listen", self.listen_row)
        self.level = Dropdown(
            self.tr("Log level"),
            {
                "debug": self.tr("Everything"),
                "info": self.tr("Events"),
                "warning": self.tr("Warnings"),
                "error": self.tr("Errors"),
            },
        )
        self.level.chosen.connect(lambda level: self.own.book.change(log_level=level))
        note = with_default(
            self.tr("What worker.log in the folder is told; a change starts the worker anew."),
            self.tr("events"),
        )
        self.add("log_level", SettingRow(self.tr("Log"), note, self.level))
        self.follow(lambda _: self._show_worker())

    def _show_worker(self) -> None:
        if not (self.listen.hasFocus() and self.listen.isModified()):
            self.listen.setText(self.settings.listen)
        self.level.choose(self.settings.log_level)

    def _take_listen(self) -> None:
        address = self.listen.text().strip()
        if address and not is_listen(address):
            said = self.tr(
                "{address} is no address to listen on: write /ip4/0.0.0.0/tcp/4001, or leave it "
                "empty."
            )
            self.listen_row.show_note(said.format(address=address), "danger")
            return
        self.listen.setModified(False)
        self.listen_row.show_note(self._listen_note)
        self.own.book.change(listen=address)

    # --- the way back

    def _add_reset(self) -> None:
        self.card(self.tr("Reset"))
        self.reset = Button(self.tr("Reset all settings"), "danger", "rotate-ccw")
        self.reset.clicked.connect(self._ask_reset)
        self.add(
            "reset",
            SettingRow(
                self.tr("Reset all settings"),
                self.tr("Every setting gets its default. Key, points, consent and run stay."),
                self.reset,
            ),
        )

    def _ask_reset(self) -> None:
        lending, own = self.edits.current, self.settings
        usual = AppSettings()
        kept = {
            "version",
            "knows_hiding",
            "knows_points",
            "week",
            "week_rank",
            "page",
            "geometry",
            "nickname",
            "consent",
            "run",
        }
        fresh = {field: getattr(USUAL, field) for field in _fields(USUAL) - kept}
        fresh_own = {field: getattr(usual, field) for field in _fields(usual) - kept}
        was = {field: getattr(lending, field) for field in fresh}
        was_own = {field: getattr(own, field) for field in fresh_own}
        self.edits.change(fresh)
        self.own.book.change(**fresh_own)

        def undo() -> None:
            self.edits.change(was)
            self.own.book.change(**was_own)

        self.toast.offer(self.tr("Every setting has its default again."), undo)


def is_listen(address: str) -> bool:
    """Whether that may be an address to listen on."""
    found = LISTEN.fullmatch(address)
    if found is None:
        return False
    parts = [int(part) for part in (found[1] or "0").split(".")]
    return max(parts) <= 255 and int(found[2] or found[4]) <= PORTS  # noqa: PLR2004  # of a byte


def _fields(settings: object) -> set[str]:
    return set(settings.__struct_fields__)  # type: ignore[attr-defined]  # msgspec's
