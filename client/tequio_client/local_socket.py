"""The way to the worker of a folder, for programs of the same user on the same computer.

Where the system has them, a Unix socket in the worker's folder, which only its owner may open.
Elsewhere, and where the folder's path is too long for one, a port on the loopback interface, named
with two secrets in a file that only the owner may read: a caller's first line must be the one, the
worker's the other. Where a worker was killed the file stays, and anybody may take its port.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import msgspec

from tequio_client import files
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

SOCKET = "control.sock"
PORT = "control.json"
BACKLOG = 64
UNIX = getattr(socket, "AF_UNIX", None)
PATH_BYTES = 100
"""Longest path of a Unix socket, a little below what systems take."""
TIMEOUT_S = 5.0
_TOKEN_BYTES = 32
_MOST_BYTES = 4_096


class Port(msgspec.Struct, frozen=True):
    """The way over the loopback interface."""

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    token: str
    """What a caller says first."""
    proof: str
    """What the worker answers, before anything else."""

    @property
    def asked(self) -> bytes:
        """The caller's first line."""
        return self.token.encode() + b"\n"

    @property
    def answered(self) -> bytes:
        """The worker's first line."""
        return self.proof.encode() + b"\n"

    def is_asked(self, line: bytes) -> bool:
        """Whether that line is of a caller who has read the file."""
        return hmac.compare_digest(line, self.asked)

    def is_proven(self, line: bytes) -> bool:
        """Whether that line is of the worker that wrote the file."""
        return hmac.compare_digest(line, self.answered)


class Door:
    """Where a worker listens; `port` has what both say first, and is None where nobody has to."""

    def __init__(self, folder: Path) -> None:
        """Listen; the caller holds the folder's lock, so what lies there is of a dead worker.

        Raises UserFacingError.
        """
        self._folder = folder
        self.port: Port | None = None
        self._forget()
        try:
            self.socket = self._unix() if _fits(folder) else self._loopback()
        except OSError as err:
            raise UserFacingError(
                f"cannot listen in {folder} ({err.strerror or err}): give another --dir"
            ) from err

    def close(self) -> None:
        """Stop listening, and leave nothing behind."""
        self.socket.close()
        self._forget()

    def _forget(self) -> None:
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
        self.port = Port(port=listener.getsockname()[1], token=token, proof=proof)
        files.write_private(self._folder / PORT, msgspec.json.encode(self.port))
        return listener


def port_of(folder: Path) -> Port | None:
    """Tell the loopback port of that folder's worker, and what is said there first.

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
    said = _read_port(folder)
    made = socket.create_connection(("127.0.0.1", said.port), timeout=TIMEOUT_S)
    try:
        made.sendall(said.asked)
        if not said.is_proven(_heard(made, len(said.answered))):
            raise ConnectionRefusedError("somebody else has the port of a worker that is gone")
    except OSError:
        made.close()
        raise
    return made


def _heard(connection: socket.socket, size: int) -> bytes:
    """As many bytes, or fewer where the other end hangs up; raises OSError."""
    heard = b""
    while len(heard) < size and (more := connection.recv(size - len(heard))):
        heard += more
    return heard


def _read_port(folder: Path) -> Port:
    with (folder / PORT).open("rb") as file:
        return msgspec.json.decode(file.read(_MOST_BYTES), type=Port)


def _fits(folder: Path) -> bool:
    return UNIX is not None and len(os.fsencode(folder / SOCKET)) <= PATH_BYTES
