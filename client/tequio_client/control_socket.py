"""The control socket of a folder's worker, for programs of the same user on the same computer.

Where the system has them, a Unix socket in the worker's folder, which only its owner may open.
Elsewhere, and where the folder's path is too long for one, a port on the loopback interface, named
with two secrets in a file that only the owner may read: a caller's first line must be the one, the
worker's the other. After a worker was killed the file stays, and any program may get its port: so
the worker proves itself too.

`WorkerCall` is a short, blocking call for a program without a loop: every wait in it has an end.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Self, TypeVar

import msgspec

from tequio_client import files
from tequio_client.ipc import control
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.snapshot import Snapshot, Wish

R = TypeVar("R", bound="Reply")
SOCKET = "control.sock"
PORT = "control.json"
BACKLOG = 64
UNIX = getattr(socket, "AF_UNIX", None)
PATH_BYTES = 100
"""Longest path of a Unix socket, a little below what systems take."""
TIMEOUT_S = 5.0
_TOKEN_BYTES = 32
_MOST_BYTES = 4_096
_READ_BYTES = 1 << 16


class LoopbackPort(msgspec.Struct, frozen=True):
    """The loopback port of a worker, and the secrets of both ends."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    token: str
    """The caller's first line."""
    proof: str
    """The worker's first line."""

    @property
    def asked(self) -> bytes:
        """The caller's first line."""
        return self.token.encode() + b"\n"

    @property
    def answered(self) -> bytes:
        """The worker's first line."""
        return self.proof.encode() + b"\n"

    def is_asked(self, line: bytes) -> bool:
        """Whether a caller that sent this line has read the file."""
        return hmac.compare_digest(line, self.asked)

    def is_proven(self, line: bytes) -> bool:
        """Whether the worker that sent this line wrote the file."""
        return hmac.compare_digest(line, self.answered)


class ControlListener:
    """The worker's listening socket; `port` has both first lines, None on a Unix socket."""

    def __init__(self, folder: Path) -> None:
        """Listen; the caller holds the folder's lock, so old files there are of a dead worker.

        Raises UserFacingError.
        """
        self._folder = folder
        self.port: LoopbackPort | None = None
        self._remove_files()
        try:
            self.socket = self._unix() if _fits(folder) else self._loopback()
        except OSError as err:
            raise UserFacingError(
                f"cannot listen in {folder} ({err.strerror or err}): give another --dir"
            ) from err

    def close(self) -> None:
        """Stop listening, and leave nothing behind."""
        self.socket.close()
        self._remove_files()

    def _remove_files(self) -> None:
        for name in (SOCKET, PORT):
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

    def _loopback(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen(BACKLOG)
        token, proof = (secrets.token_urlsafe(_TOKEN_BYTES) for _ in range(2))
        self.port = LoopbackPort(port=listener.getsockname()[1], token=token, proof=proof)
        files.write_private(self._folder / PORT, msgspec.json.encode(self.port))
        return listener


def port_of(folder: Path) -> LoopbackPort | None:
    """Read the loopback port of that folder's worker.

    None where it listens on a Unix socket, or no worker runs.
    """
    try:
        return _read_port(folder)
    except (OSError, msgspec.MsgspecError):
        return None


def connect(folder: Path) -> socket.socket:
    """Reach the worker of that folder; raises UserFacingError when none runs there."""
    try:
        return _through_port(folder) if (folder / PORT).exists() else _through_unix(folder)
    except (OSError, msgspec.MsgspecError) as err:
        raise UserFacingError(
            f"no worker runs in {folder}: start the app or `tequio worker`, or give its --dir"
        ) from err


def _through_unix(folder: Path) -> socket.socket:
    if UNIX is None:
        raise FileNotFoundError(folder / PORT)
    made = socket.socket(UNIX, socket.SOCK_STREAM)
    made.settimeout(TIMEOUT_S)
    try:
        made.connect(str(folder / SOCKET))
    except OSError:
        made.close()
        raise
    return made


def _through_port(folder: Path) -> socket.socket:
    port = _read_port(folder)
    made = socket.create_connection(("127.0.0.1", port.port), timeout=TIMEOUT_S)
    try:
        made.sendall(port.asked)
        if not port.is_proven(_receive(made, len(port.answered))):
            raise ConnectionRefusedError("another program has the port of a worker that is gone")
    except OSError:
        made.close()
        raise
    return made


def _receive(connection: socket.socket, size: int) -> bytes:
    """Read that many bytes, or fewer if the other end closes; raises OSError."""
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received


def _read_port(folder: Path) -> LoopbackPort:
    with (folder / PORT).open("rb") as file:
        return msgspec.json.decode(file.read(_MOST_BYTES), type=LoopbackPort)


def _fits(folder: Path) -> bool:
    return UNIX is not None and len(os.fsencode(folder / SOCKET)) <= PATH_BYTES


class WorkerCall:
    """One connection to a worker: a greeting, then snapshots, commands and questions."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = bytearray()
        self._asked = 0

    @classmethod
    @contextmanager
    def to(cls, folder: Path) -> Iterator[Self]:
        """Call the worker of that folder; raises UserFacingError, also for what fails inside."""
        with connect(folder) as connection:
            try:
                call = cls(connection)
                call._greet()
                yield call
            except (OSError, MalformedError) as err:
                raise UserFacingError(
                    f"the worker in {folder} does not answer as it should ({err}): restart it"
                ) from err

    def _greet(self) -> None:
        self._send(control.Hello(who="cli", build=BUILD))
        answer = self._receive()
        if isinstance(answer, control.Refused):
            raise UserFacingError(f"the worker refused: {answer.why}")
        if not isinstance(answer, control.Welcome):
            raise MalformedError(f"{type(answer).__name__} before a welcome")

    def snapshot(self) -> Snapshot:
        """Wait for the worker's next snapshot."""
        return self._shown(lambda _: True)

    def want(self, make: Callable[[Snapshot], Wish]) -> Snapshot:
        """Send the wish that `make` gives for the present snapshot; wait until it is in force."""
        while True:
            wish = make(self.snapshot())
            self._send(control.Want(wish=wish))
            shown = self._shown(partial(_has_wish, wish.number))
            if shown.wish == wish:  # else another program sent one meanwhile
                return shown

    def ask(self, question: Question, kind: type[R]) -> R:
        """Ask for a reply of that kind; raises UserFacingError when there is none."""
        self._asked += 1
        self._send(control.Ask(id=self._asked, question=question))
        while True:
            message = self._receive()
            if isinstance(message, control.Answer) and message.id == self._asked:
                if message.reply is None:
                    raise UserFacingError(f"the worker answered: {message.error}")
                if not isinstance(message.reply, kind):
                    raise MalformedError(f"{type(message.reply).__name__} answers {question}")
                return message.reply

    def _shown(self, fits: Callable[[Snapshot], bool]) -> Snapshot:
        while True:
            message = self._receive()
            if isinstance(message, control.Refused):
                raise UserFacingError(f"the worker refused: {message.why}")
            if isinstance(message, control.Shown) and fits(message.snapshot):
                return message.snapshot

    def _send(self, message: control.ToWorker) -> None:
        self._connection.sendall(control.encode(message))

    def _receive(self) -> control.FromWorker:
        while b"\n" not in self._rest:
            chunk = self._connection.recv(_READ_BYTES)
            if not chunk:
                raise MalformedError("it closed the connection")
            self._rest += chunk
            if len(self._rest) > control.LINE_BYTES:
                raise MalformedError("an endless line")
        line, _, self._rest = self._rest.partition(b"\n")
        return control.decode_from_worker(bytes(line))


def _has_wish(number: int, shown: Snapshot) -> bool:
    return shown.wish.number >= number
