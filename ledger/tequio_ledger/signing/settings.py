"""What the signer was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/sign.toml`.
"""

from __future__ import annotations

import os
import pwd
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import platformdirs

from tequio_ledger.config.settings import LOG_JSON, LOG_LEVEL
from tequio_ledger.config.sources import (
    Form,
    Program,
    Reader,
    Setting,
    many,
    maybe_place,
    origin,
    place,
)

if TYPE_CHECKING:
    from tequio_ledger.config.sources import Gathered

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


PROGRAM = Program("TEQUIO_SIGN_", "tequio-ledger sign --help")

DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-signer"),
    parse=place,
    help="Where the log's key and the last signed size are kept.",
)
SOCKET = Setting(
    name="socket",
    default="",
    parse=maybe_place,
    help="Unix socket to answer at; sign.socket in the folder if not given.",
)
ORIGIN = Setting(
    name="origin",
    default="",
    parse=origin,
    help="Name of the one log that is signed, such as ledger.example/net1.",
)
CALLER = Setting(
    name="caller",
    default="",
    parse=many(user),
    help="User that may ask, by name or number; repeat. This process's own if not given.",
    form=Form.LIST,
)

ALL: tuple[Setting[Any], ...] = (DIR, SOCKET, ORIGIN, CALLER, LOG_JSON, LOG_LEVEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator may choose."""

    folder: Path
    socket: Path
    origin: str
    callers: frozenset[int]
    """Numbers of the users that may ask."""
    log_json: bool
    log_level: str


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    folder = reader.of(DIR, Path())
    callers = reader.of(CALLER, ()) or (os.getuid(),)
    settings = Settings(
        folder=folder,
        socket=reader.of(SOCKET, None) or folder / "sign.socket",
        origin=reader.of(ORIGIN, ""),
        callers=frozenset(callers),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    reader.finish()
    return settings
