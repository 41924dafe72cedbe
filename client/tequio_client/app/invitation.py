"""An invitation link, from opening it to a worker that has joined by it, or everything as before.

Nothing is saved before the worker has joined: until then another ledger applies to this attempt
only, and cancelling restores the previous one. Without a key the first run makes one first, since
an invitation used by an unsaved key would be lost with that key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout

from tequio_client.app.ledger_check import MOST_BYTES, OK, TIMEOUT_MS, network_of
from tequio_client.app.settings_file import is_ledger
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Paragraph, Text
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.messages import Banner
from tequio_client.invitation_link import InvitationLink
from tequio_client.keys.state import Kept
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.app.model import Model
    from tequio_client.app.settings_file import SettingsBook
    from tequio_client.app.worker.process import WorkerProcess


NOT_FOUND = 404
PAGE = 1_000
MOST_PAGES = 64
ENDED = ("finished",)
"""States of a run that cannot be joined any more."""

_Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Text = Annotated[str, msgspec.Meta(max_length=128, pattern=r"\A[ -~]*\Z")]


class Wrong(StrEnum):
    """Why an invitation cannot be used."""

    SILENT = "silent"
    """No ledger answers at the address."""
    OTHER_NETWORK = "other-network"
    UNKNOWN = "unknown"
    CLOSED = "closed"
    OVER = "over"
    USED_UP = "used-up"
    RUN_ENDED = "run-ended"
    FOREIGN_FOLDER = "foreign-folder"
    """The app's folder belongs to another network."""
    NO_LINK = "no-link"
    VISITED = "visited"
    """The worker was started by another program, so this app cannot restart it."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation that can be used; `run` is empty if it is to the whole network."""

    network: str
    index: int
    left: int
    until_ms: int
    run: str = ""
    run_name: str = ""
    members: int = 0
    tokens: int = 0
    is_known: bool = False
    """This computer's key is in the network already, so that joining uses nothing up."""


class _Network(msgspec.Struct, frozen=True):
    name: _Text


class _Invitation(msgspec.Struct, frozen=True):
    invitation: _Text
    index: _Number
    uses: _Number
    used: _Number
    until: _Number
    run: _Text | None = None
    closed: _Number | None = None
    revoked: _Number | None = None


class _Invitations(msgspec.Struct, frozen=True):
    invitations: tuple[_Invitation, ...]
    next: _Number | None = None


class _Run(msgspec.Struct, frozen=True):
    name: _Text
    state: _Text
    members: _Number
    tokens: _Number


class OfferLook(QObject):
    """Queries the ledger of one link; emits either `found` or `wrong`, once."""

    found = Signal(object)
    """An `Offer`."""
    wrong = Signal(str, str)
    """A `Wrong`, and details for people or an empty text."""

    def __init__(
        self, link: InvitationLink, key: str, now_ms: int, parent: QObject | None = None
    ) -> None:
        """`key` is this computer's, as text; empty: there is none yet."""
        super().__init__(parent)
        self._link, self._key, self._now_ms = link, key, now_ms
        self._invitation = to_text(link.signer.key)
        self._manager = QNetworkAccessManager(self)
        self._patience = QTimer(self, singleShot=True, interval=TIMEOUT_MS)
        self._reply: QNetworkReply | None = None
        self._patience.timeout.connect(self._give_up)
        self._pages = 0
        self._offer = Offer(network="", index=0, left=0, until_ms=0)
        self._ended: Wrong | None = None

    def start(self) -> None:
        self._get("/v1/network", self._take_network)

    def stop(self) -> None:
        """Cancel; nothing is emitted."""
        self._patience.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _take_network(self, status: int, content: bytes) -> None:
        network = network_of(content) if status == OK else None
        if network is None:
            self.wrong.emit(Wrong.SILENT, f"{status}")
        elif NetworkId(network) != self._link.network:
            self.wrong.emit(Wrong.OTHER_NETWORK, "")
        else:
            said = msgspec.json.decode(content, type=_Network)
            self._add(network=said.name)
            self._turn_page(0)

    def _turn_page(self, after: int) -> None:
        self._pages += 1
        self._get(f"/v1/invitations?after={after}&limit={PAGE}", self._take_page)

    def _take_page(self, status: int, content: bytes) -> None:
        page = msgspec.json.decode(content, type=_Invitations) if status == OK else None
        if page is None:
            self.wrong.emit(Wrong.SILENT, f"{status}")
            return
        mine = next((one for one in page.invitations if one.invitation == self._invitation), None)
        if mine is not None:
            self._take_invitation(mine)
        elif page.next is None or self._pages >= MOST_PAGES:
            self.wrong.emit(Wrong.UNKNOWN, "")
        else:
            self._turn_page(page.next)

    def _take_invitation(self, one: _Invitation) -> None:
        self._add(index=one.index, left=max(one.uses - one.used, 0), until_ms=one.until)
        self._ended = _ended(one, self._now_ms)
        if one.run:
            self._add(run=one.run)
            self._get(f"/v1/runs/{one.run}", self._take_run)
        else:
            self._ask_for_key()

    def _take_run(self, status: int, content: bytes) -> None:
        if status != OK:
            self.wrong.emit(Wrong.SILENT, f"{status}")
            return
        run = msgspec.json.decode(content, type=_Run)
        if run.state in ENDED:
            self.wrong.emit(Wrong.RUN_ENDED, run.name)
            return
        self._add(run_name=run.name, members=run.members, tokens=run.tokens)
        self._ask_for_key()

    def _ask_for_key(self) -> None:
        if self._key:
            self._get(f"/v1/peers/{self._key}", self._take_key)
        else:
            self._conclude(is_known=False)

    def _take_key(self, status: int, _: bytes) -> None:
        if status in (OK, NOT_FOUND):
            self._conclude(is_known=status == OK)
        else:
            self.wrong.emit(Wrong.SILENT, f"{status}")

    def _conclude(self, *, is_known: bool) -> None:
        """A key that is in the network already may use even an ended invitation."""
        if self._ended is not None and not is_known:
            self.wrong.emit(self._ended, "")
            return
        self._add(is_known=is_known)
        self.found.emit(self._offer)

    def _add(self, **fields: object) -> None:
        self._offer = msgspec.structs.replace(self._offer, **fields)

    def _get(self, path: str, then: Callable[[int, bytes], None]) -> None:
        request = QNetworkRequest(QUrl(f"{self._link.ledger.rstrip('/')}{path}"))
        request.setAttribute(
            QNetworkRequest.Attribute.RedirectPolicyAttribute,
            QNetworkRequest.RedirectPolicy.ManualRedirectPolicy,
        )
        reply = self._manager.get(request)
        self._reply = reply
        reply.downloadProgress.connect(self._measure)
        reply.finished.connect(lambda: self._finish(reply, then))
        self._patience.start()

    def _give_up(self) -> None:
        if self._reply is not None:
            self._reply.abort()

    def _measure(self, got: int, _of: int) -> None:
        if got > MOST_BYTES and self._reply is not None:
            self._reply.abort()

    def _finish(self, reply: QNetworkReply, then: Callable[[int, bytes], None]) -> None:
        if reply is not self._reply:
            return
        self._patience.stop()
        self._reply = None
        status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
        said, why = bytes(reply.readAll().data()), reply.errorString()
        is_cut = reply.error() is QNetworkReply.NetworkError.OperationCanceledError
        reply.deleteLater()
        if status is None or is_cut:
            self.wrong.emit(Wrong.SILENT, why)
            return
        try:
            then(int(status), said)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.wrong.emit(Wrong.SILENT, f"{status}")


def _ended(one: _Invitation, now_ms: int) -> Wrong | None:
    if one.closed is not None or one.revoked is not None:
        return Wrong.CLOSED
    if now_ms >= one.until:
        return Wrong.OVER
    return Wrong.USED_UP if one.used >= one.uses else None


WIDTH = 600


class JoinDialog(QDialog):
    """Shows what the ledger says about an invitation; `wanted`: the user confirmed."""

    wanted = Signal()

    def __init__(self, ledger: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ledger = ledger
        self._said: list[Paragraph] = []
        self.setObjectName("join")
        self.setModal(True)
        self.setMinimumWidth(WIDTH)
        self.heading, self.note = Text("", Type.TITLE), Paragraph(tone="sub")
        self.heading.setWordWrap(True)
        self.trouble, self.body = Banner("error"), QVBoxLayout()
        self.body.setSpacing(8)
        self.main = Button(self.tr("Join"), "primary")
        self.leave = Button(self.tr("Not now"))
        self.main.clicked.connect(self.wanted)
        self.leave.clicked.connect(self.reject)
        column, feet = QVBoxLayout(self), QHBoxLayout()
        self._column = column
        column.setContentsMargins(26, 22, 26, 22)
        column.setSpacing(14)
        column.addWidget(self.heading)
        column.addWidget(self.note)
        column.addLayout(self.body)
        column.addWidget(self.trouble)
        column.addStretch(1)
        feet.addStretch(1)
        feet.setSpacing(10)
        feet.addWidget(self.leave)
        feet.addWidget(self.main)
        column.addLayout(feet)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._say(
            self.tr("An invitation"),
            self.tr("Checking this invitation with {ledger}…").format(ledger=ledger),
        )

    @property
    def points(self) -> list[str]:
        """The consequences of joining, one a line."""
        return [one.text() for one in self._said]

    def show_offer(
        self, offer: Offer, now_ms: int, *, old_ledger: str, may_lend: bool, has_key: bool
    ) -> None:
        """Ask for confirmation; `old_ledger` is the ledger that joining replaces, or empty.

        Without a key the button leads to making one.
        """
        heading = self.tr("Join the run “{run}”?").format(run=offer.run_name)
        if not offer.run:
            heading = self.tr("Join the network “{network}”?").format(network=offer.network)
        note = self.tr(
            "The organisers of the network “{network}” invite you (entry {index} of the log at "
            "{ledger})."
        )
        self._say(
            heading,
            note.format(network=offer.network, index=offer.index, ledger=self._ledger),
        )
        for point in self._means(offer, now_ms, old_ledger=old_ledger, may_lend=may_lend):
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
        self.main.setDefault(True)
        self._fit()

    def show_wrong(self, wrong: str, detail: str) -> None:
        """Explain why the invitation cannot be used."""
        self.main.hide()
        self.leave.setText(self.tr("Close"))
        self._say(
            self.tr("This invitation cannot be used"),
            self.tr("Nothing was changed."),
        )
        self.say_trouble(self._reason(wrong).format(ledger=self._ledger, detail=detail))

    def say_trouble(self, words: str) -> None:
        """Show an error; if there is something to join, it can be tried again."""
        self.trouble.show_words("error", words)
        self.trouble.show()
        self.main.setEnabled(not self.main.isHidden())
        self._fit()

    def wait(self) -> None:
        """Disable the button while joining."""
        self.main.setEnabled(False)
        self.trouble.show_words("info", self.tr("Joining. This may take a minute."))
        self.trouble.show()
        self._fit()

    def _add(self, point: str) -> None:
        row, said = QHBoxLayout(), Paragraph(point)
        row.setSpacing(8)
        row.addWidget(Text("•"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(said, 1)
        self.body.addLayout(row)
        self._said.append(said)

    def _say(self, heading: str, note: str) -> None:
        self.setWindowTitle(heading)
        self.heading.setText(heading)
        self.note.setText(note)
        self.trouble.hide()
        self.main.setEnabled(False)

    def _means(self, offer: Offer, now_ms: int, *, old_ledger: str, may_lend: bool) -> list[str]:
        said = [self._what(offer)]
        if offer.is_known:
            said.append(
                self.tr(
                    "Your key is in this network already and stays as it is; the invitation is "
                    "not used up."
                )
            )
        else:
            count = self.tr("%n use(s) left, valid until {until}.", "", offer.left)
            said.append(
                self.tr(
                    "Everybody can read in the log that this invitation let your key in; the "
                    "organisers can take it back."
                )
                + " "
                + count.format(until=figures.moment(offer.until_ms, now_ms))
            )
        if old_ledger:
            said.append(
                self.tr(
                    "You will lend to this ledger instead of {old}. The settings change it back."
                ).format(old=old_ledger)
            )
        said.append(
            self.tr("What you have chosen about when and how much to lend holds as before.")
            if may_lend
            else self.tr("Nothing is lent before you have gone through the first steps.")
        )
        return said

    def _what(self, offer: Offer) -> str:
        if not offer.run:
            return self.tr("You choose the run, among all of this network.")
        members = self.tr("%n computers are in it now", "", offer.members)
        tokens = self.tr("{tokens} tokens were trained so far")
        return f"{members}; {tokens.format(tokens=figures.short_count(offer.tokens))}."

    def _reason(self, wrong: str) -> str:
        reasons = {
            Wrong.SILENT: self.tr(
                "The server at {ledger} does not answer as a ledger ({detail}). Try the link "
                "again later, or ask its sender."
            ),
            Wrong.OTHER_NETWORK: self.tr(
                "{ledger} belongs to another network than this link. Ask its sender for a new link."
            ),
            Wrong.UNKNOWN: self.tr(
                "The network does not know this invitation yet. A second organiser may still "
                "have to sign it. Try the link again later, or ask its sender."
            ),
            Wrong.CLOSED: self.tr("The organisers have ended this invitation. Ask for another."),
            Wrong.OVER: self.tr("This invitation has expired. Ask for another."),
            Wrong.USED_UP: self.tr("This invitation has been used up. Ask for another."),
            Wrong.RUN_ENDED: self.tr("The run “{detail}” has ended."),
            Wrong.FOREIGN_FOLDER: self.tr(
                "This app's folder belongs to another network, with its key and points. Join on "
                "the command line, in a folder of its own: tequio join LINK --dir FOLDER"
            ),
            Wrong.NO_LINK: self.tr(
                "This invitation link is incomplete ({detail}). Open it again from where you got "
                "it."
            ),
            Wrong.VISITED: self.tr(
                "The worker here was started elsewhere. End it, then open the link again."
            ),
        }
        return reasons[Wrong(wrong)]

    def _fit(self) -> None:
        """Fit the height to the wrapped text at this width."""
        self._column.activate()
        width, least = max(self.width(), WIDTH), self._column.totalMinimumSize().height()
        self.resize(width, max(self._column.totalHeightForWidth(width), least))


NETWORK = "network"
"""File in the worker's folder with the id of its network."""
_MOST_BYTES = 4_096


class Joining(QObject):
    """Handles one invitation at a time; `joined` is emitted after it was used."""

    joined = Signal(object)
    """The `Offer` used; its ledger and run are about to be saved."""
    key_wanted = Signal()
    """There is no key yet; once the first run has made one, the link opens again."""

    def __init__(  # noqa: PLR0913 - what an app has
        self,
        *,
        worker: WorkerProcess,
        model: Model,
        book: SettingsBook,
        keys: KeyDesk,
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
        self._offer: Offer | None = None
        self._look: OfferLook | None = None
        self._is_tried = False
        self._waiting: tuple[str, QWidget | None] | None = None  # a link until there is a key
        self.dialog: JoinDialog | None = None
        keys.changed.connect(self._go_on)
        worker.joined.connect(self._finish)
        worker.gone.connect(self._lose)

    def open(self, text: str, window: QWidget | None) -> None:
        """Open a link and cancel the previous one; ignored while joining."""
        if self._is_tried:
            return
        self.close()
        self._waiting = None
        try:
            link = _parsed(text)
        except UserFacingError as err:
            self._ask("", window).show_wrong(Wrong.NO_LINK, str(err.__cause__ or err))
            return
        dialog = self._ask(link.ledger, window)
        if self._is_elsewhere(link):
            dialog.show_wrong(Wrong.FOREIGN_FOLDER, "")
            return
        self._link, self._window = link, window
        self._keys.look(lambda _: self._ask_ledger(link), lambda _: self._ask_ledger(link))

    def close(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

    def _ask_ledger(self, link: InvitationLink) -> None:
        if self.dialog is None or self._link is not link:
            return
        key = self._keys.state.record.key if self._is_ours(link) else ""
        self._look = OfferLook(link, key, self._now_ms(), self)
        self._look.found.connect(self._show)
        self._look.wrong.connect(self.dialog.show_wrong)
        self._look.start()

    def _ask(self, ledger: str, window: QWidget | None) -> JoinDialog:
        dialog = JoinDialog(ledger, window)
        dialog.wanted.connect(self._join)
        dialog.rejected.connect(self._give_up)
        dialog.finished.connect(dialog.deleteLater)
        self.dialog = dialog
        dialog.open()
        return dialog

    def _show(self, offer: Offer) -> None:
        if self.dialog is None or self._link is None:
            return
        self._offer = offer
        self.dialog.show_offer(
            offer,
            self._now_ms(),
            old_ledger="" if self._is_ours(self._link) else self._ledger(),
            may_lend=self._model.preferences.consent,
            has_key=self._has_key,
        )

    def _join(self) -> None:
        if self.dialog is None or self._link is None or self._offer is None:
            return
        if self._worker.is_visiting:
            self.dialog.show_wrong(Wrong.VISITED, "")
            return
        if not self._has_key:
            self._waiting = self._link.text(), self._window
            self.dialog.reject()
            self.key_wanted.emit()
            return
        self.dialog.wait()
        self._is_tried = True
        self._worker.join(self._link.text(), self._command(self._link.ledger))

    @property
    def _has_key(self) -> bool:
        return self._keys.state.kept is not Kept.ABSENT

    def _go_on(self, _: object) -> None:
        """Open the waiting link if there is a key now."""
        if self._waiting is not None and self._has_key:
            self.open(*self._waiting)

    def _finish(self) -> None:
        link, offer, dialog = self._link, self._offer, self.dialog
        if link is None or offer is None:
            return
        self._is_tried = False
        self._forget()
        self.joined.emit(offer)
        self._book.change(ledger=link.ledger)
        if offer.run:
            chosen = msgspec.structs.replace(self._model.preferences, run=offer.run)
            self._model.choose(chosen)
        if dialog is not None:
            dialog.accept()

    def _lose(self, why: str) -> None:
        if self._is_tried and why and self.dialog is not None:
            self.dialog.say_trouble(why)

    def _give_up(self) -> None:
        if self._is_tried:
            self._is_tried = False
            self._worker.join("", self._command(self._ledger()))
        self._forget()

    def _forget(self) -> None:
        if self._look is not None:
            self._look.stop()
            self._look.deleteLater()
        self._link = self._offer = self._look = self.dialog = None

    def _is_ours(self, link: InvitationLink) -> bool:
        """True for the ledger in use; no other ledger learns our key before the user confirms."""
        return self._ledger().rstrip("/") == link.ledger.rstrip("/")

    def _is_elsewhere(self, link: InvitationLink) -> bool:
        """True if the folder belongs to another network."""
        try:
            with (self._folder / NETWORK).open("rb") as file:
                pinned = file.read(_MOST_BYTES).decode("ascii", "replace").strip()
        except OSError:
            return False
        return bool(pinned) and pinned != to_text(link.network)


def _parsed(text: str) -> InvitationLink:
    """Raises UserFacingError also where the link's ledger is not allowed in the settings."""
    link = InvitationLink.parse(text)
    if not is_ledger(link.ledger):
        raise UserFacingError("its ledger's address is none")
    return link
