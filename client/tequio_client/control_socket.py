"""Control socket of a folder's worker, for programs of the same user on the same computer.

Where available, it is a Unix socket in the worker's folder, which only its owner can open.
Elsewhere, and where the path is too long for one, it is a loopback port. Two secrets are in a file
that only the owner can read: a caller's first line must be the one, the worker's the other. Callers
need it on a Unix socket too, because a child in a sandbox, which cannot read the file, may connect
to one. The worker proves itself because the file outlives a killed worker, and any program may then
get its port.

`WorkerCall` is a short, blocking call for a program without an event loop; every wait has a
deadline.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Self, TypeVar

import msgspec

from tequio_client import files
from tequio_client.ipc import LineBuffer, control
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.version import BUILD

R = TypeVar("R", bound="Reply")
SOCKET = "control.sock"
ADDRESS = "control.json"
BACKLOG = 64
UNIX = None if sys.platform == "win32" else getattr(socket, "AF_UNIX", None)
"""On Windows neither Python nor Qt connects to one."""
EXCLUSIVE = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
"""Windows gives a port that is in use to another program that asks for it, unless this is set."""
PATH_BYTES = 100
"""Longest path of a Unix socket, a little below the limits of the systems."""
TIMEOUT_S = 5.0
_TOKEN_BYTES = 32
_MOST_BYTES = 4_096
_READ_BYTES = 1 << 16
_NOBODY_LISTENS = (FileNotFoundError, ConnectionRefusedError)


class NoWorkerError(UserFacingError):
    """No worker of that folder is running."""


class ControlAddress(msgspec.Struct, frozen=True):
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    """On loopback; 0 for the Unix socket beside the file."""
    token: str
    """The caller's first line."""
    proof: str
    """The worker's first line."""

    @property
    def caller_line(self) -> bytes:
        return self.token.encode() + b"\n"

    @property
    def worker_line(self) -> bytes:
        return self.proof.encode() + b"\n"

    def is_caller_line(self, line: bytes) -> bool:
        """Check that the caller that sent this line has read the file."""
        return hmac.compare_digest(line, self.caller_line)

    def is_worker_line(self, line: bytes) -> bool:
        """Check that the worker that sent this line wrote the file."""
        return hmac.compare_digest(line, self.worker_line)


class ControlListener:
    """The worker's listening socket; `address` has both first lines."""

    def __init__(self, folder: Path) -> None:
        """Listen; the caller holds the folder's lock. Raises UserFacingError."""
        self._folder = folder
        self._remove_files()
        fits = UNIX is not None and len(os.fsencode(folder / SOCKET)) <= PATH_BYTES
        try:
            self.socket = self._unix() if fits else _loopback()
            port = 0 if fits else self.socket.getsockname()[1]
            token, proof = (secrets.token_urlsafe(_TOKEN_BYTES) for _ in range(2))
            self.address = ControlAddress(port=port, token=token, proof=proof)
            files.write_private(folder / ADDRESS, msgspec.json.encode(self.address))
        except OSError as err:
            raise UserFacingError(
                f"cannot listen in {folder} ({err.strerror or err}): give another --dir"
            ) from err

    def close(self) -> None:
        self.socket.close()
        self._remove_files()

    def _remove_files(self) -> None:
        for name in (SOCKET, ADDRESS):
            with suppress(OSError):
                (self._folder / name).unlink()

    def _unix(self) -> socket.socket:
        listener = socket.socket(UNIX or 0, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(str(self._folder / SOCKET))
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
        return listener


def _loopback() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if EXCLUSIVE is not None:
        listener.setsockopt(socket.SOL_SOCKET, EXCLUSIVE, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(BACKLOG)
    return listener


def read_address(folder: Path) -> ControlAddress | None:
    """Read the address of that folder's worker; None without a worker."""
    try:
        return _read_address(folder)
    except (OSError, MalformedError):
        return None


def connect(folder: Path, timeout_s: float = TIMEOUT_S) -> socket.socket:
    """Connect to the worker of that folder; raises UserFacingError, NoWorkerError without one."""
    try:
        return _connect(folder, _read_address(folder), timeout_s)
    except (OSError, MalformedError) as err:
        raise NoWorkerError(
            f"no worker is running in {folder}: start the app or `tequio worker`, or give its --dir"
        ) from err


def is_worker_running(folder: Path) -> bool:
    """Report whether a worker of that folder is running, even one too busy to answer."""
    try:
        connect(folder).close()
    except UserFacingError as err:
        return not isinstance(err, NoWorkerError)
    return True


def _connect(folder: Path, address: ControlAddress, timeout_s: float) -> socket.socket:
    made = socket.socket(socket.AF_INET if address.port else UNIX or 0, socket.SOCK_STREAM)
    made.settimeout(timeout_s)
    try:
        made.connect(("127.0.0.1", address.port) if address.port else str(folder / SOCKET))
        made.sendall(address.caller_line)
        if not address.is_worker_line(_receive(made, len(address.worker_line))):
            raise ConnectionAbortedError("the other end does not prove that it is the worker")
    except OSError as err:
        made.close()
        # Any program may have the port of a worker that ended, but not its Unix socket.
        if address.port or isinstance(err, _NOBODY_LISTENS):
            raise
        raise UserFacingError(
            f"the worker in {folder} does not answer: close other programs that watch it, or try "
            "again"
        ) from err
    return made


def _receive(connection: socket.socket, size: int) -> bytes:
    """Read that many bytes, fewer if the other end closes; raises OSError."""
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received


def _read_address(folder: Path) -> ControlAddress:
    with (folder / ADDRESS).open("rb") as file:
        return encoding.read(file.read(_MOST_BYTES), ControlAddress)


class WorkerCall:
    """A connection to a worker: a greeting, then snapshots, desired states and questions."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = LineBuffer(control.LINE_BYTES)
        self._asked = 0

    @classmethod
    @contextmanager
    def to(cls, folder: Path) -> Iterator[Self]:
        """Connect to that folder's worker; raises UserFacingError, also for errors in the block."""
        with connect(folder) as connection:
            try:
                call = cls(connection)
                call._greet()
                yield call
            except (OSError, MalformedError) as err:
                raise UserFacingError(
                    f"the worker in {folder} sent an invalid answer ({err}): restart it"
                ) from err

    def _greet(self) -> None:
        self._send(control.ControllerHello(who="cli", build=BUILD))
        answer = self._receive()
        if isinstance(answer, control.RefuseController):
            raise UserFacingError(f"the worker refused the connection: {answer.why}")
        if not isinstance(answer, control.AcceptController):
            raise MalformedError(f"{type(answer).__name__} instead of Welcome")

    def snapshot(self, number: int = 0) -> Snapshot:
        """Wait for a snapshot whose desired state has at least that number."""
        while True:
            message = self._receive()
            if isinstance(message, control.RefuseController):
                raise UserFacingError(f"the worker refused: {message.why}")
            if isinstance(message, control.SnapshotMessage):
                shown = message.snapshot
                if shown.wish.number >= number:
                    return shown

    def give_consent(self) -> bool:
        """Agree to lending by the preferences in force; False if somebody had agreed before."""
        chosen = self.snapshot().preferences
        if chosen.consent:
            return False
        agreed = msgspec.structs.replace(chosen, consent=True)
        self._send(control.SetPreferences(preferences=agreed))
        return True

    def set_state(self, make: Callable[[Snapshot], DesiredState]) -> Snapshot:
        """Send the desired state that `make` derives from a snapshot; wait until it is in force."""
        while True:
            wish = make(self.snapshot())
            self._send(control.SetDesiredState(wish=wish))
            shown = self.snapshot(wish.number)
            if shown.wish == wish:  # otherwise another program changed it at the same time
                return shown

    def ask(
        self, question: Question, kind: type[R], is_late: Callable[[], bool] = lambda: False
    ) -> R:
        """Ask for a reply of that type; raises UserFacingError when the worker has none.

        `is_late` is asked at each message of the worker, every few seconds.
        """
        self._asked += 1
        self._send(control.AskQuestion(id=self._asked, question=question))
        while True:
            message = self._receive()
            if isinstance(message, control.QuestionAnswer) and message.id == self._asked:
                if message.reply is None:
                    raise UserFacingError(f"the worker answered: {message.error}")
                if not isinstance(message.reply, kind):
                    raise MalformedError(f"{type(message.reply).__name__} answers {question}")
                return message.reply
            if is_late():
                raise UserFacingError("the worker did not answer in time")

    def _send(self, message: control.ToWorker) -> None:
        self._connection.sendall(control.encode(message))

    def _receive(self) -> control.FromWorker:
        while (line := self._lines.next_line()) is None:
            chunk = self._connection.recv(_READ_BYTES)
            if not chunk:
                raise MalformedError("the worker closed the connection")
            self._lines.feed(chunk)
        return control.decode_from_worker(line)
