"""What a worker tells whoever started it: one JSON line per change, and one every second.

Everything here is for eyes: nothing decides by it. Sizes in bytes, memory in MiB, times in
seconds, points in micro-points.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from tequio_client.link import lines

LINE_BYTES = 1 << 16
Text = Annotated[str, msgspec.Meta(max_length=4_096)]


class Status(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One worker, now."""

    peer: Text
    """Peer id, `12D3Koo…`."""
    key: Text
    roles: tuple[Text, ...]
    run: Text = ""
    state: Text = ""
    round: int = 0
    duty: Text = ""
    """What it is doing, in a word."""
    head: Text = ""
    """Head whose weights it holds, base64url."""
    head_round: int = -1
    peers: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    sources: int = 0
    """Peers from which verified bytes came."""
    bad_sources: tuple[Text, ...] = ()
    """Peers that gave wrong bytes, how often and what was wrong; the last one first."""
    verdict: Text = ""
    """How the last closed round ended, as the log has it."""
    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    train_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    loss: float = 0.0
    """The trainer's own reading, nats per token."""
    resident_mb: int = 0
    trainer_resident_mb: int = 0
    device: Text = ""
    waiting: Text = ""
    """Why it has nothing to do at the moment, in one sentence; empty when it has."""
    problem: Text = ""
    """What keeps it from working, in words; empty when nothing does."""


_STATUS: msgspec.json.Decoder[Status] = msgspec.json.Decoder(Status)


def encode(status: Status) -> bytes:
    """Write one line, newline included."""
    return lines.encode(status)


def decode(line: bytes) -> Status:
    """Read a line; raises MalformedError."""
    return lines.decode(_STATUS, line, LINE_BYTES, "a status")
