"""The way to the worker of a folder, for programs of the same user on the same computer.

Where the system has them, a Unix socket in the worker's folder, which only its owner may open.
Elsewhere, and where the folder's path is too long for one, a port on the loopback interface, named
with a secret in a file that only the owner may read: a caller's first line must be that secret.
"""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tequio_client import private_file
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


class _Port(msgspec.Struct, frozen=True):
    port: int
    token: str


class Door:
    """Where a worker listens; `token` is what a caller has to say first, empty for nothing."""

    def __init__(self, folder: Path) -> None:
        """Listen; the caller holds the folder's lock, so what lies there is of a dead worker.

        Raises UserFacingError.
        """
        self._folder = folder
        self.token = b""
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
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        said = _Port(port=listener.getsockname()[1], token=token)
        private_file.write(self._folder / PORT, msgspec.json.encode(said))
        self.token = token.encode()
        return listener


def port_of(folder: Path) -> tuple[int, bytes] | None:
    """Tell the loopback port of that folder's worker and what to say there first.

    None where it listens on a Unix socket, or no worker runs.
    """
    try:
        said = _read_port(folder)
    except (OSError, msgspec.MsgspecError):
        return None
    return said.port, said.token.encode()


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
    made.sendall(said.token.encode() + b"\n")
    return made


def _read_port(folder: Path) -> _Port:
    with (folder / PORT).open("rb") as file:
        return msgspec.json.decode(file.read(_MOST_BYTES), type=_Port)


def _fits(folder: Path) -> bool:
    return UNIX is not None and len(os.fsencode(folder / SOCKET)) <= PATH_BYTES
