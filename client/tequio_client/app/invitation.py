"""An invitation link, from opening it to a worker that has joined by it, or everything as before.

Nothing is saved before the worker has joined: until then another ledger applies to this attempt
only, and cancelling restores the previous one. Without a key the first run makes one first, since
an invitation used by an unsaved key would be lost with that key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal

from tequio_client.app.invitation_dialog import InvitationDialog
from tequio_client.app.ledger_queries import InvitationOffer, InvitationProblem, InvitationQuery
from tequio_client.app.settings_file import is_ledger_address
from tequio_client.keys.state import KeyProtection
from tequio_client.links import InvitationLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from tequio_client.app.keys.service import KeyService
    from tequio_client.app.model import AppModel
    from tequio_client.app.settings_file import SettingsStore
    from tequio_client.app.worker.process import WorkerProcess

NETWORK_FILE = "network"
"""File in the worker's folder with the id of its network."""
_MOST_BYTES = 4_096


class InvitationFlow(QObject):
    """Handles one invitation at a time; `joined` is emitted after it was used."""

    joined = Signal(object)
    """The `Offer` used; its ledger and run are about to be saved."""
    key_wanted = Signal()
    """No key exists yet; once the first run has made one, the link opens again."""

    def __init__(  # noqa: PLR0913 - what an app has
        self,
        *,
        worker: WorkerProcess,
        model: AppModel,
        book: SettingsStore,
        keys: KeyService,
        folder: Path,
        now_ms: Callable[[], int],
        ledger: Callable[[], str],
        command: Callable[[str], Sequence[str]],
        parent: QObject | None = None,
    ) -> None:
        """`ledger` returns the one in use, `command` the command line of a worker for another."""
        super().__init__(parent)
        self._worker, self._model, self._book = worker, model, book
        self._keys, self._folder, self._now_ms = keys, folder, now_ms
        self._ledger, self._command = ledger, command
        self._link: InvitationLink | None = None
        self._window: QWidget | None = None
        self._offer: InvitationOffer | None = None
        self._query: InvitationQuery | None = None
        self._is_joining = False
        self._waiting: tuple[str, QWidget | None] | None = None  # a link until there is a key
        self.dialog: InvitationDialog | None = None
        keys.changed.connect(self._resume)
        worker.joined.connect(self._finish)
        worker.gone.connect(self._worker_gone)

    def open(self, text: str, window: QWidget | None) -> None:
        """Open a link and cancel the previous one; ignored while joining."""
        if self._is_joining:
            return
        self.close()
        self._waiting = None
        try:
            link = _parsed(text)
        except UserFacingError as err:
            self._open_dialog("", window).show_problem(
                InvitationProblem.INCOMPLETE_LINK, str(err.__cause__ or err)
            )
            return
        dialog = self._open_dialog(link.ledger, window)
        if self._is_other_network(link):
            dialog.show_problem(InvitationProblem.OTHER_FOLDER, "")
            return
        self._link, self._window = link, window
        self._keys.refresh(lambda _: self._query_ledger(link), lambda _: self._query_ledger(link))

    def close(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

    def _query_ledger(self, link: InvitationLink) -> None:
        if self.dialog is None or self._link is not link:
            return
        key = self._keys.state.record.key if self._is_current_ledger(link) else ""
        self._query = InvitationQuery(link, key, self._now_ms(), self)
        self._query.found.connect(self._offer_found)
        self._query.failed.connect(self.dialog.show_problem)
        self._query.start()

    def _open_dialog(self, ledger: str, window: QWidget | None) -> InvitationDialog:
        dialog = InvitationDialog(ledger, window)
        dialog.confirmed.connect(self._join)
        dialog.rejected.connect(self._cancel)
        dialog.finished.connect(dialog.deleteLater)
        self.dialog = dialog
        dialog.open()
        return dialog

    def _offer_found(self, offer: InvitationOffer) -> None:
        if self.dialog is None or self._link is None:
            return
        self._offer = offer
        self.dialog.show_offer(
            offer,
            self._now_ms(),
            old_ledger="" if self._is_current_ledger(self._link) else self._ledger(),
            may_lend=self._model.preferences.consent,
            has_key=self._has_key,
        )

    def _join(self) -> None:
        if self.dialog is None or self._link is None or self._offer is None:
            return
        if self._worker.is_external:
            self.dialog.show_problem(InvitationProblem.EXTERNAL_WORKER, "")
            return
        if not self._has_key:
            self._waiting = self._link.text(), self._window
            self.dialog.reject()
            self.key_wanted.emit()
            return
        self.dialog.show_joining()
        self._is_joining = True
        self._worker.join(self._link.text(), self._command(self._link.ledger))

    @property
    def _has_key(self) -> bool:
        return self._keys.state.protection is not KeyProtection.ABSENT

    def _resume(self, _: object) -> None:
        """Open the waiting link if there is a key now."""
        if self._waiting is not None and self._has_key:
            self.open(*self._waiting)

    def _finish(self) -> None:
        link, offer, dialog = self._link, self._offer, self.dialog
        if link is None or offer is None:
            return
        self._is_joining = False
        self._reset()
        self.joined.emit(offer)
        self._book.change(ledger=link.ledger)
        if offer.run:
            chosen = msgspec.structs.replace(self._model.preferences, run=offer.run)
            self._model.set_preferences(chosen)
        if dialog is not None:
            dialog.accept()

    def _worker_gone(self, why: str) -> None:
        if self._is_joining and why and self.dialog is not None:
            self.dialog.show_error(why)

    def _cancel(self) -> None:
        if self._is_joining:
            self._is_joining = False
            self._worker.join("", self._command(self._ledger()))
        self._reset()

    def _reset(self) -> None:
        if self._query is not None:
            self._query.stop()
            self._query.deleteLater()
        self._link = self._offer = self._query = self.dialog = None

    def _is_current_ledger(self, link: InvitationLink) -> bool:
        """True for the ledger in use; no other ledger learns our key before the user confirms."""
        return self._ledger().rstrip("/") == link.ledger.rstrip("/")

    def _is_other_network(self, link: InvitationLink) -> bool:
        """True if the folder belongs to another network."""
        try:
            with (self._folder / NETWORK_FILE).open("rb") as file:
                pinned = file.read(_MOST_BYTES).decode("ascii", "replace").strip()
        except OSError:
            return False
        return bool(pinned) and pinned != to_text(link.network)


def _parsed(text: str) -> InvitationLink:
    """Raises UserFacingError also where the link's ledger is not allowed in the settings."""
    link = InvitationLink.parse(text)
    if not is_ledger_address(link.ledger):
        raise UserFacingError("its ledger's address is none")
    return link
