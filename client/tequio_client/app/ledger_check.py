"""Checks that a ledger answers at an address before the address is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkReply, QNetworkRequest

from tequio_client.app.settings_file import is_ledger
from tequio_shared.errors import MalformedError
from tequio_shared.ids import from_text, sha256

if TYPE_CHECKING:
    from tequio_shared.ids import Digest

TIMEOUT_MS = 8_000
MOST_BYTES = 1 << 20
OK = 200


class _Network(msgspec.Struct, frozen=True):
    """The fields that are checked; others are ignored."""

    network_id: str
    genesis: str


class LedgerCheck(QObject):
    """Checks one address at a time."""

    answered = Signal(str, str)
    """The address and the error in a sentence; empty: the address is a ledger's."""

    def __init__(self, parent: QObject | None = None, *, timeout_ms: int = TIMEOUT_MS) -> None:
        super().__init__(parent)
        self._manager = QNetworkAccessManager(self)
        self._patience = QTimer(self, singleShot=True, interval=timeout_ms)
        self._patience.timeout.connect(self._give_up)
        self._reply: QNetworkReply | None = None
        self._address = ""

    def start(self, address: str) -> None:
        """Cancel the previous check and check `address`; emits `answered`."""
        self.stop()
        if not is_ledger(address):
            wrong = self.tr(
                "{address} is not a valid ledger address: it must begin with http:// or https:// "
                "and name a computer, for example https://ledger.example."
            )
            self.answered.emit(address, wrong.format(address=address))
            return
        request = QNetworkRequest(QUrl(f"{address.rstrip('/')}/v1/network"))
        request.setAttribute(
            QNetworkRequest.Attribute.RedirectPolicyAttribute,
            QNetworkRequest.RedirectPolicy.ManualRedirectPolicy,
        )
        self._address = address
        self._reply = self._manager.get(request)
        self._reply.downloadProgress.connect(self._measure)
        self._reply.finished.connect(self._finish)
        self._patience.start()

    def stop(self) -> None:
        """Cancel; nothing is emitted."""
        self._patience.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.abort()
            reply.deleteLater()

    def _give_up(self) -> None:
        """Abort at the deadline: a server that sends single bytes counts as silent."""
        if self._reply is not None:
            self._reply.abort()

    def _measure(self, got: int, _of: int) -> None:
        """Abort an answer that exceeds the size limit."""
        if got > MOST_BYTES and self._reply is not None:
            self._reply.abort()

    def _finish(self) -> None:
        self._patience.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            wrong = self._wrong(reply, self._address)
            reply.deleteLater()
            self.answered.emit(self._address, wrong)

    def _wrong(self, reply: QNetworkReply, address: str) -> str:
        status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
        if status is None:
            said = self.tr(
                "{address} is not answering ({why}). Check it, or keep the previous address."
            )
            return said.format(address=address, why=reply.errorString())
        is_whole = reply.error() is QNetworkReply.NetworkError.NoError
        if status != OK or not is_whole or network_of(bytes(reply.readAll().data())) is None:
            said = self.tr(
                "{address} is not a ledger (status {status}). Check the address with its sender."
            )
            return said.format(address=address, status=status)
        return ""


def network_of(answer: bytes) -> Digest | None:
    """The id of the network that an answer names, if its genesis document has that hash."""
    try:
        said = msgspec.json.decode(answer, type=_Network)
        genesis = sha256(from_text(said.genesis, None))
        return genesis if from_text(said.network_id) == genesis else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, MalformedError):
        return None
