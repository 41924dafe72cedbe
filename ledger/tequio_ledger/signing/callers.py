"""Who asks at a Unix socket, and which users may.

The socket's mode keeps out whoever is in no group with the signer; the list keeps out the rest of
that group. Where the system does not tell who asks (it is no Linux), the mode alone decides.
"""

from __future__ import annotations

import pwd
import socket
import struct
from typing import NamedTuple

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
