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

from tequio_client.ipc import codec
from tequio_client.ipc.competitions import AskCompetitions, AskCurves, Competitions, Curves
from tequio_client.ipc.facts import Count, Name, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import Snapshot, Wish
from tequio_shared.ids import Bytes32Text

# --- What a controller may ask a worker, and the replies; lists are bounded, newest or best
# first.

ROWS = 500
"""Most rows in one reply."""
PUBLISHED = 8
"""Most published heads that are shown of one run."""
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]
Limit: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=ROWS)]


# --- questions


class AskRuns(msgspec.Struct, frozen=True, kw_only=True, tag="runs"):
    """Which runs there are, and what they need."""


class AskPoints(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Our rounds, newest first, of numbers below `before`."""

    before: Count | None = None
    since_ms: Count = 0
    run: Name = ""
    device: Name = ""
    limit: Limit = 100


class AskSeries(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Our points over time, in equal steps from `since_ms` (0: from our first round)."""

    since_ms: Count = 0
    step_ms: Annotated[int, msgspec.Meta(ge=60_000, le=10**11)] = 86_400_000
    run: Name = ""
    device: Name = ""


class AskLosses(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """How well the run goes: our own loss and the held-out bits per byte, by round."""

    run: Name
    limit: Limit = ROWS


class AskRanking(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Who has about as many points as we."""

    around: Annotated[int, msgspec.Meta(ge=0, le=50)] = 3


class AskActivity(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """What happened, newest first, of numbers below `before`."""

    before: Count | None = None
    limit: Limit = 100


class AskBenchmark(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    """Measure a device for a few seconds; only while nothing is lent."""

    device: Name


class AskDiagnostics(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Everything that helps to find a fault, without secrets."""


Question: TypeAlias = (
    AskRuns
    | AskCompetitions
    | AskCurves
    | AskPoints
    | AskSeries
    | AskLosses
    | AskRanking
    | AskActivity
    | AskBenchmark
    | AskDiagnostics
)


# --- replies


class PublishedHead(msgspec.Struct, frozen=True, kw_only=True):
    """A head of a run that is on the Hugging Face Hub, as the log says."""

    round: Count
    repo: Annotated[str, msgspec.Meta(max_length=193)]
    """`user/name`."""
    revision: Annotated[str, msgspec.Meta(max_length=40)]
    """Its commit."""


class SampleShown(msgspec.Struct, frozen=True, kw_only=True):
    """What the model of a run writes after the beginning of a held-out text."""

    round: Count
    prompt: Text
    text: Text


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and what it takes to be in it."""

    run: Name
    name: Name
    state: Name
    round: Count
    rounds: Count
    """In all, by the run's rules."""
    members: Count
    tokens: Count
    parameters: Count
    memory_mb: Count
    """Of the accelerator, for training; reckoned from the model's size."""
    disk_bytes: Count
    hourly_up_bytes: Count
    hourly_down_bytes: Count
    first_bytes: Count
    """To be fetched before the first round."""
    adapters: Count = 0
    """Of the parameters, those that are trained, where the others are frozen; 0: all are."""
    most_members: Count = 0
    """In one round, by the run's rules."""
    published: Annotated[tuple[PublishedHead, ...], msgspec.Meta(max_length=PUBLISHED)] = ()
    """Its newest heads on the Hub, the last first."""
    sample: SampleShown | None = None
    """Of the newest head that has one."""
    is_open: bool = True
    is_ours: bool = False


class Runs(msgspec.Struct, frozen=True, kw_only=True, tag="runs"):
    """Every run of the network, the open ones first."""

    rows: Annotated[tuple[RunRow, ...], msgspec.Meta(max_length=ROWS)]


class PointsRow(msgspec.Struct, frozen=True, kw_only=True):
    """One round that we took part in."""

    number: Count
    """Of the row; rises."""
    run: Name
    run_name: Name
    round: Count
    at_ms: Count
    state: Annotated[str, msgspec.Meta(pattern="^(pending|verified|rejected)$")]
    reason: Name = ""
    """Why it gave nothing: `not-selected`, `silent`, `void`, or the reason of the rejection."""
    micropoints: Count = 0
    trained: Count = 0
    """Of these, for training."""
    witnessed: Count = 0
    """Of these, for witnessing."""
    device: Name = ""
    tokens: Count = 0
    energy_j: float = 0.0
    entry: Count | None = None
    """Log index of the round's end."""
    size: Count | None = None
    """Size of the signed checkpoint that the proof was checked against."""
    root: Name = ""
    """Its root, base64url."""


class Points(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Rounds, newest first."""

    rows: Annotated[tuple[PointsRow, ...], msgspec.Meta(max_length=ROWS)]
    has_more: bool = False


class Series(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Sums by step, oldest first; the last one may be under way."""

    since_ms: Count
    step_ms: Count
    verified: Annotated[tuple[Count, ...], msgspec.Meta(max_length=10_000)]
    energy_j: Annotated[tuple[float, ...], msgspec.Meta(max_length=10_000)] = ()


class LossRow(msgspec.Struct, frozen=True, kw_only=True):
    """One round of the run."""

    round: Count
    loss: float | None = None
    """Of our own training, nats per token."""
    bits_per_byte: float | None = None
    """Of the head, on the held-out set."""


class Losses(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """Rounds, oldest first."""

    rows: Annotated[tuple[LossRow, ...], msgspec.Meta(max_length=ROWS)]


class RankRow(msgspec.Struct, frozen=True, kw_only=True):
    """One key's place."""

    rank: Count
    key: Name
    micropoints: Count
    is_ours: bool = False


class Ranking(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Neighbours, the best first."""

    rows: Annotated[tuple[RankRow, ...], msgspec.Meta(max_length=ROWS)]
    ranked: Count = 0


class ActivityRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, as a code with its values: the reader has the words."""

    number: Count
    at_ms: Count
    code: Name
    level: Annotated[str, msgspec.Meta(pattern="^(info|good|warning|error)$")] = "info"
    values: Annotated[dict[str, str | int | float], msgspec.Meta(max_length=8)] = {}


class Activity(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """Events, newest first."""

    rows: Annotated[tuple[ActivityRow, ...], msgspec.Meta(max_length=ROWS)]
    has_more: bool = False


class Benchmark(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    """What a device does."""

    device: Name
    tokens_per_s: float
    watts: float | None = None
    memory_mb: Count = 0


class Diagnostics(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Text to copy into a report."""

    text: Annotated[str, msgspec.Meta(max_length=200_000)]


Reply: TypeAlias = (
    Runs
    | Competitions
    | Curves
    | Points
    | Series
    | Losses
    | Ranking
    | Activity
    | Benchmark
    | Diagnostics
)


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
    return codec.encode(message)


def decode_to_worker(line: bytes) -> ToWorker:
    """Read what a controller says; raises MalformedError."""
    return codec.decode(_TO_WORKER, line, LINE_BYTES, _DUE)


def decode_from_worker(line: bytes) -> FromWorker:
    """Read what a worker says; raises MalformedError."""
    return codec.decode(_FROM_WORKER, line, LINE_BYTES, _DUE)
