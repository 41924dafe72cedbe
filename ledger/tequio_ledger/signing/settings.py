"""The signer's settings.

To add a setting: a field here and a line in `installer/sign.toml`.
"""

from __future__ import annotations

import os
import pwd
import socket
import struct
from pathlib import Path
from typing import Annotated, NamedTuple

import platformdirs
from msgspec import Meta, field

from tequio_ledger.config.settings import Folder, OptionalPath, Origin
from tequio_ledger.config.sources import Parse, Program, ProgramSettings

# --- Who asks at a Unix socket, and which users may.
#
# The socket's mode keeps out whoever is in no group with the signer; the list keeps out the rest
# of that group. Where the system does not tell who asks (it is no Linux), the mode alone decides.

_CREDENTIALS = struct.Struct("3i")


class Caller(NamedTuple):
    """One process that asks."""

    pid: int
    uid: int


def caller_at(line: socket.socket) -> Caller | None:
    """Say who is at the other end; None where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    raw = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Caller(pid, uid)


def user(text: str) -> int:
    """Read a user by name or number; raises ValueError."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return pwd.getpwnam(text).pw_uid
    except KeyError as err:
        raise ValueError(f"users of this system, which {text!r} is not") from err


def _users(text: str) -> tuple[int, ...]:
    return tuple(user(part) for part in text.split())


class SignerSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the signer."""

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
        """Give the path of the socket, named or not."""
        return self.socket_path or self.folder / "sign.socket"

    @property
    def callers(self) -> frozenset[int]:
        """Give the numbers of the users that may ask for signatures."""
        return frozenset(self.named_callers or (os.getuid(),))


SIGNER = Program(SignerSettings, "TEQUIO_SIGN_", "tequio-ledger sign --help")
