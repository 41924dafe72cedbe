"""The process with the log's key: one Unix socket, one question at a time, until a signal."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import threading
from typing import TYPE_CHECKING

import msgspec
import structlog

from tequio_ledger.signing.lines import (
    LINE_BYTES,
    Answer,
    Hello,
    Here,
    Other,
    Question,
    Refused,
    Sign,
    Signed,
)
from tequio_ledger.signing.notary import Notary, WouldForkError
from tequio_ledger.store import disk
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.notes import Checkpoint, from_base64, to_base64

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 5.0
"""How long somebody who connected may take; the ledger says its line at once."""
_BACKLOG = 16

log = structlog.get_logger(__name__)


class SigningServer:
    """Answers at a socket that only its owner may open; `stop` from a signal or another thread."""

    def __init__(self, notary: Notary, listener: socket.socket) -> None:
        self._notary = notary
        self._listener = listener
        self._is_stopping = threading.Event()

    def serve(self) -> None:
        """Answer one caller after the other until `stop`."""
        while not self._is_stopping.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError:
                if self._is_stopping.is_set():
                    return
                raise
            with contextlib.closing(caller):
                self._serve_one(caller)

    def stop(self) -> None:
        """End; whoever is being answered gets the answer."""
        self._is_stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def _serve_one(self, caller: socket.socket) -> None:
        caller.settimeout(PATIENCE_S)
        try:
            with caller.makefile("rb") as lines:
                answer = self._answer(lines.readline(LINE_BYTES))
            caller.sendall(msgspec.json.encode(answer) + b"\n")
        except OSError as err:
            log.info("a caller went away", error=str(err))

    def _answer(self, line: bytes) -> Answer:
        try:
            question = msgspec.json.decode(line, type=Question)
            if isinstance(question, Hello):
                return Here(key=to_base64(self._notary.key), size=self._notary.last_size)
            return self._sign(question)
        except WouldForkError as err:
            log.error("refused to fork the log", reason=str(err))  # noqa: TRY400 - the sentence says it
            return Refused(reason=str(err), is_fork=True)
        except (UserFacingError, PeerError, msgspec.MsgspecError) as err:
            return Refused(reason=str(err), is_fork=False)
        except OSError as err:
            log.error("what is signed cannot be kept, so nothing is", error=str(err))  # noqa: TRY400 - as above
            return Refused(reason=f"the signer's disk: {err.strerror or err}", is_fork=False)

    def _sign(self, question: Sign) -> Signed | Other:
        checkpoint = Checkpoint(
            origin=question.origin, size=question.size, root=Digest(from_base64(question.root))
        )
        last = self._notary.last_size
        if question.old != last and 0 < last < checkpoint.size:
            return Other(size=last)
        proof = [Digest(from_base64(node)) for node in question.proof]
        return Signed(note=self._notary.sign(checkpoint, lambda _old: proof).decode())


@contextlib.contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen at a socket of mode 0660, for the group that ledger and signer share.

    Raises UserFacingError.

    One that nobody listens at any more is replaced: the folder's lock says that we are alone.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.closing(listener):
        try:
            if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
                path.unlink()
            before = os.umask(0o117)
            try:
                listener.bind(str(path))
            finally:
                os.umask(before)
            listener.listen(_BACKLOG)
        except OSError as err:
            raise UserFacingError(disk.explain(err, path)) from err
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def serve(notary: Notary, path: Path) -> None:
    """Serve until SIGTERM or SIGINT; raises UserFacingError."""
    with listening(path) as listener:
        server = SigningServer(notary, listener)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        log.info(
            "tequio-ledger sign serves",
            socket=str(path),
            key=to_base64(notary.key),
            size=notary.last_size,
        )
        server.serve()
    log.info("stopped", size=notary.last_size)
