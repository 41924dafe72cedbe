"""What a worker and the evaluator that it started say to each other: JSON lines.

The worker first says `Begin`, then what may be taken of the machine whenever that changes. The
child says how far it is, at least once a second, and asks the worker to say its words: it has no
key. Documents that go with a word lie in the child's folder, named by their SHA-256.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc import codec
from tequio_client.ipc.facts import Count, Name
from tequio_shared.ids import Bytes32Text

LINE_BYTES = 1 << 17
DOCUMENTS = 8
"""Most documents that go with one word."""
TEXT = 4_096
"""Most letters of a line for people."""
AWAY = "away"
"""Code of a word that is not in the log yet: the ledger does not answer, or something is wrong."""
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=TEXT)]
Body: TypeAlias = Annotated[str, msgspec.Meta(max_length=16_384)]
Doing: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(starting|reading|fetching|scoring|waiting)$")
]
Code: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


# --- to the child


class Limit(msgspec.Struct, frozen=True, kw_only=True, tag="limit"):
    """How much may be taken from now on."""

    threads: Annotated[int, msgspec.Meta(ge=1, le=1_024)]
    share_percent: Annotated[int, msgspec.Meta(ge=1, le=100)]


class Begin(msgspec.Struct, frozen=True, kw_only=True, tag="begin"):
    """First line: in which competition, for whom, with what."""

    competition: Bytes32Text
    key: Bytes32Text
    ledger: Text
    folder: Text
    """Of the worker; the child writes below `evaluations` alone."""
    trust: Annotated[str, msgspec.Meta(max_length=LINE_BYTES // 2)] = ""
    """A policy file's content; empty: the log's own signature is enough."""
    device: Name
    memory_mb: Count
    """Of the device; 0: no limit."""
    limit: Limit


class Said(msgspec.Struct, frozen=True, kw_only=True, tag="said"):
    """What became of the word of that number."""

    number: Count
    code: Code = ""
    """Why the ledger does not take it, or `AWAY`; empty: it is in the log."""
    why: Text = ""


ToChild: TypeAlias = Begin | Limit | Said


# --- from the child


class Alive(msgspec.Struct, frozen=True, kw_only=True, tag="alive"):
    """How far it is."""

    doing: Doing
    entrant: Name = ""
    """Whose model it is at."""
    documents: Count = 0
    """Of that model, scored."""
    of_documents: Count = 0
    models: Count = 0
    """Scored, in all."""
    of_models: Count = 0
    device: Name = ""
    resident_mb: Count = 0


class Say(msgspec.Struct, frozen=True, kw_only=True, tag="say"):
    """Say that under the worker's key, its documents first."""

    number: Count
    kind: Name
    """Type of the statement."""
    body: Body
    """Canonical JSON."""
    documents: Annotated[tuple[Bytes32Text, ...], msgspec.Meta(max_length=DOCUMENTS)] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True, tag="told"):
    """A line for people."""

    line: Text


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Last line: nothing is left to do in this competition, or nothing for now."""

    is_over: bool


FromChild: TypeAlias = Alive | Say | Told | Done

_TO_CHILD: msgspec.json.Decoder[ToChild] = msgspec.json.Decoder(ToChild)
_FROM_CHILD: msgspec.json.Decoder[FromChild] = msgspec.json.Decoder(FromChild)
_DUE = "a message between worker and evaluator"


def encode(message: ToChild | FromChild) -> bytes:
    """Write the message as one line, newline included."""
    return codec.encode(message)


def decode_to_child(line: bytes) -> ToChild:
    """Read what the worker says; raises MalformedError."""
    return codec.decode(_TO_CHILD, line, LINE_BYTES, _DUE)


def decode_from_child(line: bytes) -> FromChild:
    """Read what the child says; raises MalformedError."""
    return codec.decode(_FROM_CHILD, line, LINE_BYTES, _DUE)
