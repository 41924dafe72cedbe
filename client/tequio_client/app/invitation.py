"""An invitation link, from opening it to a worker that has joined by it, or everything as before.

Nothing is saved before the worker has joined: until then another ledger applies to this attempt
only, and cancelling restores the previous one. Without a key the first run makes one first, since
an invitation used by an unsaved key would be lost with that key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from tequio_client.app.keys.dialogs import QuestionDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import as_sentence
from tequio_client.app.ledger_queries import InvitationOffer, InvitationProblem, InvitationQuery
from tequio_client.app.networks import belongs_elsewhere
from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import TOP, Label, WrappedLabel, hbox
from tequio_client.keys.state import KeyProtection
from tequio_client.links import InvitationLink
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.worker.process import WorkerProcess


WIDTH = 600


class InvitationFlow(QObject):
    """Handles one invitation at a time; `joined` is emitted after it was used."""

    joined = Signal(object, str)
    """The `InvitationOffer` used and its ledger; that and the run are about to be saved."""
    key_wanted = Signal(str, str)
    """No key exists yet; once the first run has made one, the link opens again.

    The link, and the name of its network.
    """

    def __init__(  # noqa: PLR0913 - what an app has
        self,
        *,
        worker: WorkerProcess,
        model: AppModel,
        settings_store: SettingsStore,
        keys: KeyService,
        folder: Path,
        now_ms: Callable[[], int],
        ledger: Callable[[], str],
        command: Callable[[str], Sequence[str]],
        parent: QObject | None = None,
    ) -> None:
        """`ledger` returns the one in use, `command` the command line of a worker for another."""
        super().__init__(parent)
        self._worker, self._model, self._store = worker, model, settings_store
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
        if self.dialog is not None:
            self.dialog.reject()
        self._waiting = None
        try:
            link = InvitationLink.parse(text)
        except UserFacingError as err:
            self._open_dialog("", window).show_problem(
                InvitationProblem.INCOMPLETE_LINK, str(err.__cause__ or err)
            )
            return
        dialog = self._open_dialog(link.ledger, window)
        if belongs_elsewhere(self._folder, link.network):
            dialog.show_problem(InvitationProblem.OTHER_FOLDER, "")
            return
        self._link, self._window = link, window
        self._keys.refresh(lambda _: self._query_ledger(link), lambda _: self._query_ledger(link))

    def wait_for_key(self, text: str, window: QWidget | None) -> None:
        """Open the link as soon as there is a key."""
        self._waiting = text, window

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
            link, network = self._link.text(), self._offer.network
            self.wait_for_key(link, self._window)
            self.dialog.reject()
            self.key_wanted.emit(link, network)
            return
        self.dialog.show_joining()
        self._is_joining = True
        self._worker.join(self._link.text(), self._command(self._link.ledger))

    @property
    def _has_key(self) -> bool:
        return self._keys.state.protection is not KeyProtection.ABSENT

    def _resume(self, _: object) -> None:
        if self._waiting is not None and self._has_key:
            self.open(*self._waiting)

    def _finish(self) -> None:
        link, offer, dialog = self._link, self._offer, self.dialog
        if link is None or offer is None:
            return
        self._is_joining = False
        self._reset()
        self.joined.emit(offer, link.ledger)
        self._store.change(ledger=link.ledger)
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
            self._query.request.stop()
            self._query.deleteLater()
        self._link = self._offer = self._query = self.dialog = None

    def _is_current_ledger(self, link: InvitationLink) -> bool:
        """True for the ledger in use; no other ledger learns our key before the user confirms."""
        return self._ledger().rstrip("/") == link.ledger.rstrip("/")


class InvitationDialog(QuestionDialog):
    """Shows what the ledger says about an invitation, and what joining by it means."""

    confirmed = Signal()

    def __init__(self, ledger: str, parent: QWidget | None = None) -> None:
        super().__init__("", "", self.tr("Join"), self.tr("Not now"), parent)
        self._ledger = ledger
        self.consequences: list[WrappedLabel] = []
        """The consequences of joining, one a line."""
        self.setObjectName("join")
        self.setMinimumWidth(WIDTH)
        self.heading.setWordWrap(True)
        self.body.setSpacing(8)
        self.main.clicked.connect(self.confirmed)
        self._set_texts(
            self.tr("An invitation"),
            self.tr("Checking this invitation with {ledger}…").format(ledger=ledger),
        )

    def show_offer(
        self, offer: InvitationOffer, now_ms: int, *, old_ledger: str, may_lend: bool, has_key: bool
    ) -> None:
        """Ask for confirmation; `old_ledger` is the ledger that joining replaces, or empty.

        Without a key the button leads to making one.
        """
        if offer.run:
            heading = self.tr("Join the run “{run}”?").format(run=offer.run_name)
        else:
            heading = self.tr("Join the network “{network}”?").format(network=offer.network)
        note = self.tr(
            "The organisers of the network “{network}” invite you (entry {index} of the log at "
            "{ledger})."
        )
        self._set_texts(
            heading,
            note.format(network=offer.network, index=offer.index, ledger=self._ledger),
        )
        for point in self._consequences(offer, now_ms, old_ledger=old_ledger, may_lend=may_lend):
            self._add(point)
        if not has_key:
            self.main.setText(self.tr("Make my key"))
            self._add(
                self.tr(
                    "Your key comes first: it is made in the first steps. Then this question "
                    "comes again."
                )
            )
        self.main.setEnabled(True)
        self.focus_first()  # the button was disabled until now, so “Not now” had the keyboard
        self.fit()

    def show_problem(self, wrong: str, detail: str) -> None:
        self.main.hide()
        self.leave.setText(self.tr("Close"))
        self.leave.setDefault(True)
        self._set_texts(self.tr("This invitation cannot be used"), self.tr("Nothing was changed."))
        self.show_error(self._reason(wrong).format(ledger=self._ledger, detail=detail))

    def show_error(self, words: str) -> None:
        """Show an error; if there is something to join, it can be tried again."""
        self.trouble.show_words("error", words)
        self.trouble.show()
        self.main.setEnabled(not self.main.isHidden())
        self.fit()

    def show_joining(self) -> None:
        self.main.setEnabled(False)
        self.trouble.show_words("info", self.tr("Joining. This may take a minute."))
        self.trouble.show()
        self.fit()

    def _add(self, point: str) -> None:
        text = WrappedLabel(point)
        self.body.addLayout(hbox((Label("•"), TOP), (text, 1), spacing=8))
        self.consequences.append(text)

    def _set_texts(self, heading: str, note: str) -> None:
        self.setWindowTitle(heading)
        self.heading.setText(heading)
        self.note.setText(note)
        self.trouble.hide()
        self.main.setEnabled(False)

    def _consequences(
        self, offer: InvitationOffer, now_ms: int, *, old_ledger: str, may_lend: bool
    ) -> list[str]:
        lines = [self._scope(offer)]
        if offer.is_known:
            lines.append(
                self.tr(
                    "Your key is in this network already and stays as it is; the invitation is "
                    "not used up."
                )
            )
        else:
            count = self.tr("%n use(s) left, valid until {until}.", "", offer.left)
            lines.append(
                self.tr(
                    "Everybody can read in the log that this invitation let your key in; the "
                    "organisers can take it back."
                )
                + " "
                + count.format(until=figures.moment(offer.until_ms, now_ms))
            )
        if old_ledger:
            lines.append(
                self.tr(
                    "You will lend to this ledger instead of {old}. The settings change it back."
                ).format(old=old_ledger)
            )
        lines.append(
            self.tr("What you have chosen about when and how much to lend holds as before.")
            if may_lend
            else self.tr("Nothing is lent before you have gone through the first steps.")
        )
        return lines

    def _scope(self, offer: InvitationOffer) -> str:
        if not offer.run:
            return self.tr("You choose the run, among all of this network.")
        members = self.tr("%n computers are in it now", "", offer.members)
        tokens = self.tr("{tokens} tokens were trained so far")
        tokens = tokens.format(tokens=figures.short_count(offer.tokens))
        return as_sentence(self.tr("{members}; {tokens}").format(members=members, tokens=tokens))

    def _reason(self, wrong: str) -> str:
        reasons = {
            InvitationProblem.SILENT: self.tr(
                "The server at {ledger} does not answer as a ledger ({detail}). Try the link "
                "again later, or ask its sender."
            ),
            InvitationProblem.OTHER_NETWORK: self.tr(
                "{ledger} belongs to another network than this link. Ask its sender for a new link."
            ),
            InvitationProblem.UNKNOWN: self.tr(
                "The network does not know this invitation yet. A second organiser may still "
                "have to sign it. Try the link again later, or ask its sender."
            ),
            InvitationProblem.CLOSED: self.tr(
                "The organisers have ended this invitation. Ask for another."
            ),
            InvitationProblem.EXPIRED: self.tr("This invitation has expired. Ask for another."),
            InvitationProblem.USED_UP: self.tr(
                "This invitation has been used up. Ask for another."
            ),
            InvitationProblem.RUN_ENDED: self.tr("The run “{detail}” has ended."),
            InvitationProblem.OTHER_FOLDER: self.tr(
                "This app's folder belongs to another network, with its key and points. Join on "
                "the command line, in a folder of its own: tequio join LINK --dir FOLDER"
            ),
            InvitationProblem.INCOMPLETE_LINK: self.tr(
                "This invitation link is incomplete ({detail}). Open it again from where you got "
                "it."
            ),
            InvitationProblem.EXTERNAL_WORKER: self.tr(
                "The worker here was started elsewhere. End it, then open the link again."
            ),
        }
        return reasons[InvitationProblem(wrong)]
