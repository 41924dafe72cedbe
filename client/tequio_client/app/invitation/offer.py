"""What a ledger says of an invitation, before anybody uses it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest

from tequio_client.app.ledger_check import MOST_BYTES, OK, TIMEOUT_MS, network_of
from tequio_shared.ids import NetworkId, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.invitation_link import InvitationLink

NOT_FOUND = 404
PAGE = 1_000
MOST_PAGES = 64
ENDED = ("finished",)
"""States of a run that nobody can join any more."""

_Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Text = Annotated[str, msgspec.Meta(max_length=128, pattern=r"\A[ -~]*\Z")]


class Wrong(StrEnum):
    """Why an invitation cannot be used."""

    SILENT = "silent"
    """No ledger answers there."""
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
    """The worker is not ours to start anew."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation that may be used; `run` is empty where it is to all of the network."""

    network: str
    index: int
    left: int
    until_ms: int
    run: str = ""
    run_name: str = ""
    members: int = 0
    tokens: int = 0
    is_known: bool = False
    """Whether our key is in the network already: then the invitation changes nothing about it."""


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
    """Asks the ledger of one link; emits once, `found` or `wrong`."""

    found = Signal(object)
    """An `Offer`."""
    wrong = Signal(str, str)
    """A `Wrong`, and more of it for people, if there is more."""

    def __init__(
        self, link: InvitationLink, key: str, now_ms: int, parent: QObject | None = None
    ) -> None:
        """`key` is ours, as text; empty: there is none yet."""
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
        """Ask."""
        self._get("/v1/network", self._take_network)

    def stop(self) -> None:
        """Ask no more; nothing is emitted."""
        self._patience.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    # --- step by step

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
        """Who is in needs no invitation: an ended one shows the way all the same."""
        if self._ended is not None and not is_known:
            self.wrong.emit(self._ended, "")
            return
        self._add(is_known=is_known)
        self.found.emit(self._offer)

    def _add(self, **fields: object) -> None:
        self._offer = msgspec.structs.replace(self._offer, **fields)

    # --- one question

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
