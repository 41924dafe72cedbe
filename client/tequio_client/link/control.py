"""What app and command line say to a running worker, and what it says to them: JSON lines.

Over the pipes of the app that started the worker, or over a socket that only this user may open.
A controller first says `Hello` and gets `Welcome` or `Refused`; from then on the worker sends a
`Shown` with all that there is to see, at once, on every change and once a second. Wishes, facts and
preferences travel whole and may be repeated. Every `Ask` gets one `Answer` with its number. Unknown
fields are passed over, so that programs of neighbouring versions understand each other; another
`v` is refused.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.link import lines
from tequio_client.link.facts import Count, Name, SessionFacts
from tequio_client.link.preferences import Preferences
from tequio_client.link.questions import Question, Reply
from tequio_client.link.snapshot import Snapshot
from tequio_client.link.wish import Wish
from tequio_shared.fields import Bytes32Text

V = 1
LINE_BYTES = 1 << 20
"""Longest line, newline included."""
Long: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]


# --- to the worker


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """First line of a controller."""

    v: int = V
    who: Annotated[str, msgspec.Meta(pattern="^(app|cli)$")]
    build: Name
    seed: Bytes32Text | None = None
    """The key's seed, base64url: from the app alone, over the pipe of the worker that it started.
    None: the worker reads the key file of its folder."""
    invitation: Long = ""
    """Link under which a key that is not registered yet shall be, before anything else; from the
    app alone, as above."""


class Want(msgspec.Struct, frozen=True, kw_only=True, tag="want"):
    """A wish; one whose number is not above the worker's changes nothing."""

    wish: Wish


class Tell(msgspec.Struct, frozen=True, kw_only=True, tag="tell"):
    """Facts of the user's session."""

    facts: SessionFacts


class Choose(msgspec.Struct, frozen=True, kw_only=True, tag="choose"):
    """All preferences, as they are now."""

    preferences: Preferences


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    """A question."""

    id: Count
    question: Question


class Bye(msgspec.Struct, frozen=True, kw_only=True, tag="bye"):
    """Say goodbye to the swarm and end.

    From the app that started the worker; the end of its input means the same.
    """


ToWorker: TypeAlias = Hello | Want | Tell | Choose | Ask | Bye


# --- from the worker


class Welcome(msgspec.Struct, frozen=True, kw_only=True, tag="welcome"):
    """We understand each other."""

    v: int = V
    build: Name
    pid: Count
    folder: Long


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """We do not, and the worker hangs up; `why` is a sentence."""

    why: Long
    v: int = V
    build: Name = ""


class Shown(msgspec.Struct, frozen=True, kw_only=True, tag="shown"):
    """Everything that there is to see."""

    snapshot: Snapshot


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag="answer"):
    """The reply to the question of that number, or why there is none."""

    id: Count
    reply: Reply | None = None
    error: Long = ""


FromWorker: TypeAlias = Welcome | Refused | Shown | Answer

_TO_WORKER: msgspec.json.Decoder[ToWorker] = msgspec.json.Decoder(ToWorker)
_FROM_WORKER: msgspec.json.Decoder[FromWorker] = msgspec.json.Decoder(FromWorker)
_DUE = "a message between app and worker"


def encode(message: ToWorker | FromWorker) -> bytes:
    """Write the message as one line, newline included."""
    return lines.encode(message)


def decode_to_worker(line: bytes) -> ToWorker:
    """Read what a controller says; raises MalformedError."""
    return lines.decode(_TO_WORKER, line, LINE_BYTES, _DUE)


def decode_from_worker(line: bytes) -> FromWorker:
    """Read what a worker says; raises MalformedError."""
    return lines.decode(_FROM_WORKER, line, LINE_BYTES, _DUE)
