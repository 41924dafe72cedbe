"""The app's own queries to a ledger: does one answer at an address, and what is an invitation to.

Both run before an address is saved, so they trust nothing: redirects are refused, an answer has a
deadline and a size limit, and the network's id must be the hash of its genesis document.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest

from tequio_client.ledger.networks import is_ledger_address
from tequio_shared import encoding
from tequio_shared.api.admission import InvitationAnswer, InvitationsAnswer
from tequio_shared.api.answer import PAGE_ROWS, Text
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError
from tequio_shared.ids import NetworkId, from_text, sha256, to_text
from tequio_shared.network.run_states import RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.links import InvitationLink
    from tequio_shared.ids import Digest

    Receive = Callable[[int | None, bytes, str], None]

TIMEOUT_MS = 8_000
MOST_BYTES = 1 << 20
OK, NOT_FOUND = 200, 404
MOST_PAGES = 256


class LedgerCheck(QObject):
    """Checks one address at a time; an invalid one at once."""

    answered = Signal(str, str)
    """The address and the error in a sentence; empty: the address is a ledger's."""

    def __init__(self, parent: QObject | None = None, *, timeout_ms: int = TIMEOUT_MS) -> None:
        super().__init__(parent)
        self._request = LedgerRequest(timeout_ms, self)
        self._address = ""
        self.network: FoundNetwork | None = None
        """The network at the address that answered last; None: there was none."""
        self.details = ""
        """The problem in technical terms."""

    def start(self, address: str) -> None:
        """Cancel the previous check and check `address`; emits `answered`."""
        self.stop()
        self.network, self.details = None, ""
        if not is_ledger_address(address):
            wrong = self.tr(
                "{address} is not a valid ledger address: it must begin with http:// or https:// "
                "and name a computer, for example https://ledger.example."
            )
            self.answered.emit(address, wrong.format(address=address))
            return

        self._address = address
        self._request.start(f"{address.rstrip('/')}/v1/network", self._receive)

    def stop(self) -> None:
        """Cancel; nothing is emitted."""
        self._request.stop()

    def _receive(self, status: int | None, content: bytes, error: str) -> None:
        problem = ""
        self.network = found_network(content) if status == OK else None
        if status is None:
            problem, self.details = (
                self.tr("Nothing answers at {address}. Check the address and your connection."),
                error,
            )
        elif self.network is None:
            problem, self.details = (
                self.tr("{address} is not a ledger. Check the address with its sender."),
                f"HTTP {status} {error}",
            )
        self.answered.emit(self._address, problem.format(address=self._address))


class InvitationProblem(StrEnum):
    SILENT = "silent"
    """No ledger answers at the address."""
    OTHER_NETWORK = "other-network"
    UNKNOWN = "unknown"
    CLOSED = "closed"
    EXPIRED = "over"
    USED_UP = "used-up"
    RUN_ENDED = "run-ended"
    OTHER_FOLDER = "foreign-folder"
    """The app's folder belongs to another network."""
    INCOMPLETE_LINK = "no-link"
    EXTERNAL_WORKER = "visited"
    """The worker was started by another program, so this app cannot restart it."""


class InvitationOffer(msgspec.Struct, frozen=True, kw_only=True):
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
    """The key of this computer is in the network already, so that joining uses nothing up."""


class InvitationQuery(QObject):
    """Queries the ledger of one link; emits either `found` or `failed`, once."""

    found = Signal(object)
    """An `InvitationOffer`."""
    failed = Signal(str, str)
    """An `InvitationProblem`, and details for people or an empty text."""

    def __init__(
        self, link: InvitationLink, key: str, now_ms: int, parent: QObject | None = None
    ) -> None:
        """`key` is this computer's, as text; empty: there is none yet."""
        super().__init__(parent)
        self._link, self._key, self._now_ms = link, key, now_ms
        self._invitation = to_text(link.signer.key)
        self.request = LedgerRequest(TIMEOUT_MS, self)
        self._pages = 0
        self._offer = InvitationOffer(network="", index=0, left=0, until_ms=0)
        self._ended: InvitationProblem | None = None

    def start(self) -> None:
        self._get("/v1/network", self._receive_network)

    def _receive_network(self, content: bytes) -> None:
        network = proven_network(content)
        if network is None:
            self.failed.emit(InvitationProblem.SILENT, f"{OK}")
        elif NetworkId(network) != self._link.network:
            self.failed.emit(InvitationProblem.OTHER_NETWORK, "")
        else:
            self._add(network=encoding.read(content, _Named).name)
            self._get_page(0)

    def _get_page(self, after: int) -> None:
        self._pages += 1
        self._get(f"/v1/invitations?after={after}&limit={PAGE_ROWS}", self._receive_page)

    def _receive_page(self, content: bytes) -> None:
        page = encoding.read(content, InvitationsAnswer)
        mine = next((one for one in page.invitations if one.invitation == self._invitation), None)
        if mine is not None:
            self._receive_invitation(mine)
        elif page.next is None or self._pages >= MOST_PAGES:
            self.failed.emit(InvitationProblem.UNKNOWN, "")
        else:
            self._get_page(page.next)

    def _receive_invitation(self, one: InvitationAnswer) -> None:
        self._add(index=one.index, left=max(one.uses - one.used, 0), until_ms=one.until)
        self._ended = _ended(one, self._now_ms)
        if one.run:
            self._add(run=one.run)
            self._get(f"/v1/runs/{one.run}", self._receive_run)
        else:
            self._query_key()

    def _receive_run(self, content: bytes) -> None:
        run = encoding.read(content, RunAnswer)
        if run.state == RunState.FINISHED:
            self.failed.emit(InvitationProblem.RUN_ENDED, run.name)
            return
        self._add(run_name=run.name, members=run.members, tokens=run.tokens)
        self._query_key()

    def _query_key(self) -> None:
        if not self._key:
            self._conclude(is_known=False)
            return
        self._get(
            f"/v1/peers/{self._key}",
            lambda _: self._conclude(is_known=True),
            lambda: self._conclude(is_known=False),
        )

    def _conclude(self, *, is_known: bool) -> None:
        """A key that is in the network already may use even an ended invitation."""
        if self._ended is not None and not is_known:
            self.failed.emit(self._ended, "")
            return
        self._add(is_known=is_known)
        self.found.emit(self._offer)

    def _add(self, **fields: object) -> None:
        self._offer = msgspec.structs.replace(self._offer, **fields)

    def _get(
        self, path: str, then: Callable[[bytes], None], absent: Callable[[], None] | None = None
    ) -> None:
        """Call `then` with a good answer's content, or `absent` on status 404."""

        def receive(status: int | None, content: bytes, error: str) -> None:
            if status == NOT_FOUND and absent is not None:
                absent()
            elif status != OK:
                self.failed.emit(InvitationProblem.SILENT, error if status is None else f"{status}")
            else:
                try:
                    then(content)
                except MalformedError:
                    self.failed.emit(InvitationProblem.SILENT, f"{status}")

        self.request.start(f"{self._link.ledger.rstrip('/')}{path}", receive)


def _ended(one: InvitationAnswer, now_ms: int) -> InvitationProblem | None:
    if one.closed is not None or one.revoked is not None:
        return InvitationProblem.CLOSED
    if now_ms >= one.until:
        return InvitationProblem.EXPIRED
    return InvitationProblem.USED_UP if one.used >= one.uses else None


class LedgerRequest(QObject):
    """One GET at a time, without redirects and cookies, with a deadline and a size limit."""

    def __init__(self, timeout_ms: int, parent: QObject) -> None:
        super().__init__(parent)
        self._manager = QNetworkAccessManager(self)
        self._deadline = QTimer(self, singleShot=True, interval=timeout_ms)
        self._deadline.timeout.connect(self._abort)
        self._reply: QNetworkReply | None = None
        self._receive: Receive | None = None

    @property
    def is_pending(self) -> bool:
        return self._reply is not None

    def start(self, url: str, receive: Receive) -> None:
        """Call `receive` with status, content and error; status None: no complete answer."""
        request = QNetworkRequest(QUrl(url))
        attributes = QNetworkRequest.Attribute
        request.setAttribute(
            attributes.RedirectPolicyAttribute, QNetworkRequest.RedirectPolicy.ManualRedirectPolicy
        )
        for cookies in (
            attributes.CookieLoadControlAttribute,
            attributes.CookieSaveControlAttribute,
        ):
            request.setAttribute(cookies, QNetworkRequest.LoadControl.Manual)
        self._receive = receive
        self._reply = self._manager.get(request)
        self._reply.downloadProgress.connect(self._limit)
        self._reply.finished.connect(self._finish)
        # One deadline for the whole answer: a server that sends single bytes counts as silent.
        self._deadline.start()

    def stop(self) -> None:
        """Cancel; nothing is called."""
        self._deadline.stop()
        reply, self._reply, self._receive = self._reply, None, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _abort(self) -> None:
        if self._reply is not None:
            self._reply.abort()

    def _limit(self, received: int, _total: int) -> None:
        if received > MOST_BYTES:
            self._abort()

    def _finish(self) -> None:
        self._deadline.stop()
        reply, self._reply = self._reply, None
        receive, self._receive = self._receive, None
        if reply is None or receive is None:
            return  # cancelled: `abort` emits `finished` at once
        error, size_bytes = reply.errorString(), reply.bytesAvailable()
        reply.deleteLater()
        if size_bytes > MOST_BYTES:  # it came faster than its progress was reported
            receive(None, b"", f"the answer has more than {MOST_BYTES} bytes")
            return
        if reply.error() is QNetworkReply.NetworkError.OperationCanceledError:
            receive(None, b"", error)  # an aborted reply is closed, and its status worth nothing
            return
        status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
        receive(None if status is None else int(status), bytes(reply.readAll().data()), error)


@dataclass(frozen=True, slots=True)
class FoundNetwork:
    id: NetworkId
    name: str


def found_network(answer: bytes) -> FoundNetwork | None:
    """The network that an answer proves and names."""
    proven = proven_network(answer)
    try:
        name = encoding.read(answer, _Named).name
    except MalformedError:
        return None
    return FoundNetwork(NetworkId(proven), name) if proven is not None else None


def proven_network(answer: bytes) -> Digest | None:
    """The id of the network that an answer names, if its genesis document has that hash."""
    try:
        network = encoding.read(answer, _Network)
        genesis = sha256(from_text(network.genesis, None))
        return genesis if from_text(network.network_id) == genesis else None
    except MalformedError:
        return None


class _Network(msgspec.Struct, frozen=True):
    """The fields that prove the id; others are ignored."""

    network_id: str
    genesis: str


class _Named(msgspec.Struct, frozen=True):
    name: Text
