"""Messages between a worker and its controllers (app, command line), as JSON lines.

They travel over the pipes of the app that started the worker, or over a socket that only this user
may open. A controller first sends `ControllerHello` and gets `AcceptController` or
`RefuseController`; from then on the worker sends a snapshot at once, on every change and once a
second. Desired state, facts and preferences are sent whole and may be repeated. Every request gets
one response with its number.
Unknown fields are ignored, so that neighbouring versions work together; another `v` is refused.

Questions about one topic stand with their replies: `account.py`, `competitions.py`, `points.py`,
`runs.py`; here are the others. Times are in milliseconds since 1970. Lists in replies are bounded,
newest or best first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc
from tequio_client.ipc.account import AccountAnswer, AccountQuestion
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.ipc.facts import Count, Name, SessionFacts, Text
from tequio_client.ipc.points import PointsAnswer, PointsQuestion
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.runs import RunsAnswer, RunsQuestion
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_shared.ids import Bytes32Text

V = 1
LINE_BYTES = 1 << 20
"""Maximum line length, newline included."""
CHUNK_PART_BYTES = 512 << 10
"""Bytes of a chunk in one reply: a line holds them as base64."""


class AskBenchmark(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    """Measure a device for a few seconds; only while it is not lent and no game is running."""

    device: Name


class BenchmarkReply(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    device: Name
    tokens_per_s: float
    flop_per_s: float = 0.0
    """By the formula of points; 0: unknown."""
    watts: float | None = None
    memory_mb: Count = 0


class AskDiagnostics(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Ask for a report that helps to find a fault, without secrets."""


class DiagnosticsReply(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Text to copy into a bug report."""

    text: Annotated[str, msgspec.Meta(max_length=200_000)]


class AskChunk(msgspec.Struct, frozen=True, kw_only=True, tag="chunk"):
    """Ask for bytes of a release's chunk from `first` on; the worker fetches it from peers."""

    name: Bytes32Text
    """SHA-256 of the chunk."""
    first: Count = 0


class ChunkReply(msgspec.Struct, frozen=True, kw_only=True, tag="chunk"):
    """Bytes that a peer gave under that name."""

    size: Count
    """Bytes of the whole chunk."""
    content: Annotated[bytes, msgspec.Meta(max_length=CHUNK_PART_BYTES)]


Question: TypeAlias = (
    RunsQuestion
    | AskCompetitions
    | PointsQuestion
    | AccountQuestion
    | AskBenchmark
    | AskDiagnostics
    | AskChunk
)


Reply: TypeAlias = (
    RunsAnswer
    | CompetitionsReply
    | PointsAnswer
    | AccountAnswer
    | BenchmarkReply
    | DiagnosticsReply
    | ChunkReply
)


class ControllerHello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """First line of a controller."""

    v: int = V
    who: Annotated[str, msgspec.Meta(pattern="^(app|cli)$")]
    build: Name
    seed: Bytes32Text | None = None
    """The key's seed, base64url: only from the app, over the pipe of the worker that it started.
    None: the worker reads the key file of its folder."""
    invitation: Text = ""
    """Invitation link under which the worker first registers a key that is not registered yet; only
    from the app, as above."""


class SetDesiredState(msgspec.Struct, frozen=True, kw_only=True, tag="want"):
    """Set the desired state; ignored unless its number is above the worker's."""

    wish: DesiredState


class ReportSessionFacts(msgspec.Struct, frozen=True, kw_only=True, tag="tell"):
    facts: SessionFacts


class SetPreferences(msgspec.Struct, frozen=True, kw_only=True, tag="choose"):
    preferences: Preferences


class AskQuestion(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    id: Count
    question: Question


class EndWorker(msgspec.Struct, frozen=True, kw_only=True, tag="bye"):
    """Leave the swarm and exit.

    Only from the app that started the worker; the end of its input means the same.
    """


ToWorker: TypeAlias = (
    ControllerHello
    | SetDesiredState
    | ReportSessionFacts
    | SetPreferences
    | AskQuestion
    | EndWorker
)


class AcceptController(msgspec.Struct, frozen=True, kw_only=True, tag="welcome"):
    v: int = V
    build: Name
    pid: Count
    folder: Text


class RefuseController(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """Refuse the controller and close the connection; `why` is a sentence."""

    why: Text
    v: int = V
    build: Name = ""


class SnapshotMessage(msgspec.Struct, frozen=True, kw_only=True, tag="shown"):
    snapshot: Snapshot


class QuestionAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="answer"):
    """Reply to the request of that number, or the error."""

    id: Count
    reply: Reply | None = None
    error: Text = ""
    is_ledger_away: bool = False
    """The error is that the ledger does not answer."""
    may_be_logged: bool = False
    """So it is, and a statement was sent, which the ledger may still log."""


FromWorker: TypeAlias = AcceptController | RefuseController | SnapshotMessage | QuestionAnswer

_DUE = "a message between app and worker"
decode_to_worker: Callable[[bytes], ToWorker] = ipc.line_decoder(ToWorker, LINE_BYTES, _DUE)
decode_from_worker: Callable[[bytes], FromWorker] = ipc.line_decoder(FromWorker, LINE_BYTES, _DUE)


def encode(message: ToWorker | FromWorker) -> bytes:
    """Encode the message as one line, newline included."""
    return ipc.encode(message)
