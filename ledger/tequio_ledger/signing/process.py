"""The process with the log's key: one Unix socket, one request at a time, until a signal."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import stat
import struct
import threading
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import click
import msgspec
import platformdirs
import structlog
from msgspec import Meta, field

from tequio_ledger import resources, runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import Folder, OptionalPath, Origin
from tequio_ledger.config.sources import Parse, Program, ProgramSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing.client import (
    LINE_BYTES,
    Answer,
    Hello,
    Here,
    Other,
    Question,
    Sign,
    Signed,
    SigningRefused,
    open_notary,
)
from tequio_ledger.signing.signer import Notary, WouldForkError
from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared import encoding
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.log.notes import Checkpoint, from_base64, to_base64

PATIENCE_S = 5.0
"""Time for a caller to send its whole line; the ledger sends it at once."""
_BACKLOG = 16
_ACCEPT_PAUSE_S = 0.1
_CREDENTIALS = struct.Struct("3i")

log = structlog.get_logger(__name__)


def _users(text: str) -> tuple[int, ...]:
    return tuple(_user(part) for part in text.split())


def _user(text: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return pwd.getpwnam(text).pw_uid
    except KeyError as err:
        raise ValueError(f"users of this system, which {text!r} is not") from err


class SignerSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the signer; to add one: a field here and a line in `installer/sign.toml`."""

    folder: Annotated[
        Folder, Meta(description="Folder of the log's key and of the last checkpoint it signed.")
    ] = field(name="dir", default=Path(platformdirs.user_data_dir("tequio-signer")))
    socket_path: Annotated[
        OptionalPath,
        Meta(description="Unix socket to listen on. Default: sign.socket in the folder."),
    ] = field(name="socket", default=None)
    origin: Annotated[
        Origin,
        Meta(
            description="Name of the only log that is signed, such as ledger.example/net1. "
            "Required."
        ),
    ]
    named_callers: Annotated[
        tuple[int, ...],
        Parse(_users),
        Meta(
            description="User that may ask for signatures, by name or number. Repeatable. "
            "Default: this process's own user."
        ),
    ] = field(name="caller", default=())

    @property
    def socket(self) -> Path:
        return self.socket_path or self.folder / "sign.socket"

    @property
    def callers(self) -> frozenset[int]:
        return frozenset(self.named_callers or (os.getuid(),))


SIGNER = Program(SignerSettings, "TEQUIO_SIGN_", "tequio-ledger sign --help")


@click.command("sign")
@with_settings(SIGNER)
@click.option("--first", is_flag=True, help="The key in the folder has never signed anything.")
def sign(settings: SignerSettings, *, first: bool) -> None:
    """Hold the log's key and sign its checkpoints, but never one that would fork the log.

    `tequio-ledger serve --signer SOCKET` uses it. Run this process as a separate user that shares
    the socket's folder with the ledger and no other file; name the ledger's user with --caller.
    """
    runtime.configure_by(settings)
    with DataFolder(settings.folder) as opened:
        notary = open_notary(opened, settings.origin, is_first=first)
        with listening(settings.socket) as listener:
            server = SigningServer(notary, listener, settings.origin, settings.callers)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: server.stop())
            log.info(
                "tequio-ledger sign serves",
                socket=str(settings.socket),
                origin=settings.origin,
                callers=sorted(settings.callers),
                key=to_base64(notary.key),
                size=notary.last_size,
            )
            server.serve()
        log.info("stopped", size=notary.last_size)


class SigningServer:
    """Answers permitted users at a socket, for one log; `stop` from a signal or another thread."""

    def __init__(
        self,
        notary: Notary,
        listener: socket.socket,
        origin: str,
        callers: Container[int],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._notary = notary
        self._listener = listener
        self._origin = origin
        self._callers = callers
        self._patience_s = patience_s
        self._is_stopping = threading.Event()

    def serve(self) -> None:
        """Answer one caller after the other until `stop`."""
        exhaustion = runtime.RareLog()
        # One at a time, so that of two requests the second is checked against the first.
        while not self._is_stopping.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError as err:
                if self._is_stopping.wait(_ACCEPT_PAUSE_S):
                    return
                if not resources.is_exhaustion(err):
                    raise
                exhaustion.report("cannot accept callers", error=str(err))
                continue
            with contextlib.closing(caller):
                self._serve_one(caller)

    def stop(self) -> None:
        """End `serve` after the current answer."""
        self._is_stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def _serve_one(self, line: socket.socket) -> None:
        try:
            caller = identify_caller(line)
            if caller is None or caller.uid in self._callers:
                answer = self._answer(_read_line(line, self._patience_s))
            else:  # not even its line is read
                reason = f"user {caller.uid} may not use this signer: allow it with --caller"
                answer = SigningRefused(reason=reason, is_fork=False)
            if isinstance(answer, SigningRefused):
                log.warning("refused", reason=answer.reason, **(caller._asdict() if caller else {}))
            line.settimeout(self._patience_s)  # for the whole answer
            line.sendall(msgspec.json.encode(answer) + b"\n")
        except OSError as err:
            log.info("a caller went away", error=str(err))

    def _answer(self, line: bytes) -> Answer:
        try:
            question: Question = encoding.read(line, Question)
            if isinstance(question, Hello):
                return Here(key=to_base64(self._notary.key), size=self._notary.last_size)
            return self._sign(question)
        except WouldForkError as err:
            log.error("refused to fork the log", reason=str(err))  # noqa: TRY400 - the sentence says it
            return SigningRefused(reason=str(err), is_fork=True)
        except (UserFacingError, PeerError, UnwritableError) as err:
            return SigningRefused(reason=str(err), is_fork=False)
        except OSError as err:
            log.error("signed nothing, because it cannot be recorded", error=str(err))  # noqa: TRY400 - as above
            return SigningRefused(reason=f"the signer's disk: {err.strerror or err}", is_fork=False)

    def _sign(self, question: Sign) -> Signed | Other:
        if question.origin != self._origin:
            raise WouldForkError(f"this signer signs {self._origin!r}, not {question.origin!r}")
        checkpoint = Checkpoint(
            origin=question.origin, size=question.size, root=Digest(from_base64(question.root))
        )
        last = self._notary.last_size
        if question.old != last and 0 < last < checkpoint.size:
            return Other(size=last)
        proof = [Digest(from_base64(node)) for node in question.proof]
        return Signed(note=self._notary.sign(checkpoint, lambda _old: proof).decode())


class Caller(NamedTuple):
    pid: int
    uid: int


def identify_caller(line: socket.socket) -> Caller | None:
    """Identify the caller; None where the system does not support it (not Linux)."""
    # The mode of the socket keeps out users outside the signer's group; this keeps out the rest of
    # that group. Where the caller stays unknown, only the mode protects.
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    raw = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Caller(pid, uid)


def _read_line(caller: socket.socket, patience_s: float) -> bytes:
    """Read a caller's line; raises TimeoutError when it is not complete in time."""
    deadline_s = time.monotonic() + patience_s
    line = b""
    while b"\n" not in line and len(line) < LINE_BYTES:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the line came too slowly")
        caller.settimeout(left_s)
        part = caller.recv(LINE_BYTES - len(line))
        if not part:
            break
        line += part
    return line.partition(b"\n")[0]


@contextlib.contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen at a socket of mode 0660, for the group that ledger and signer share.

    Raises UserFacingError.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.closing(listener):
        with files.explained(path):
            # Left by a process that was killed: the lock of the folder proves that it is gone.
            if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
                path.unlink()
            # The mask and not chmod, which would leave the socket open to others for a moment.
            before = os.umask(0o117)
            try:
                listener.bind(str(path))
            finally:
                os.umask(before)
            listener.listen(_BACKLOG)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)
