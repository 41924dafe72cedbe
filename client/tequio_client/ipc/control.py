"""Messages between a worker and its controllers (app, command line), as JSON lines.

They travel over the pipes of the app that started the worker, or over a socket that only this user
may open. A controller first sends `ControllerHello` and gets `AcceptController` or
`RefuseController`; from then on the worker sends a snapshot at once, on every change and once a
second. Desired state, facts and preferences are sent whole and may be repeated. Every request gets
one response with its number.
Unknown fields are ignored, so that neighbouring versions work together; another `v` is refused.

Times are in milliseconds since 1970. Lists in replies are bounded, newest or best first. Scores of
competitions are nanobits per byte of text: fewer are better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc
from tequio_client.ipc.facts import Count, Name, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_shared.ids import Bytes32Text, MaybeBytes32Text
from tequio_shared.limits import TEAM_MEMBERS
from tequio_shared.round.plugin import PluginSpec

V = 1
LINE_BYTES = 1 << 20
"""Maximum line length, newline included."""
CHUNK_PART_BYTES = 512 << 10
"""Bytes of a chunk in one reply: a line holds them as base64."""
MAX_ROWS = 500
MAX_COMPETITIONS = 32
MAX_ENTRANTS = 64
MAX_CURVES = 8
MAX_CURVE_POINTS = 64
MAX_PUBLISHED_HEADS = 8
MAX_ORGANISERS = 16
MAX_BADGES = 64
MAX_LINK_DAYS = 365
"""Longest validity of a team's join link."""

Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]
ShortText: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]
RowLimit: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]
Phase: TypeAlias = Annotated[str, msgspec.Meta(pattern="^(open|closed|drawn|revealed|decided)$")]
EvaluatorPart: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|offered|in-draw|missed|others|drawn|waiting|scored|late)$")
]
"""State of our evaluator: `offered`; our lot is `in-draw`, or was `missed`; `others` were drawn, or
we were (`drawn`); everything is scored here and `waiting` to be published; all our scores
are in the log (`scored`), or came too `late`."""
EvaluatorBar: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|custodian|organiser|entrant|trained|memory|refused)$")
]
"""Reason why our key or computer cannot evaluate; empty: none is known."""


class AskCompetitions(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Ask for all competitions."""


class AskCurves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Ask for the training loss of these runs by round."""

    runs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_CURVES)]


class CompetitionEntrantRow(msgspec.Struct, frozen=True, kw_only=True):
    name: Name
    run: Name = ""
    """Run of the entrant; empty: the model was trained elsewhere."""
    run_name: Name = ""
    gflop: Count = 0
    """Our points in that run, proven here."""
    has_submitted: bool = False
    rank: Count = 0
    """From 1, shared by equal scores; 0: not ranked, or not yet."""
    nanobits_per_byte: Count = 0
    low: Count = 0
    """Lower end of the 95 % bootstrap interval; `high` is the upper one."""
    high: Count = 0


class CompetitionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A competition: its rules, checked by their hash, and its state according to the ledger."""

    competition: Name
    name: Name
    phase: Phase
    is_void: bool = False
    """Ended without a ranking and without a statement that says so."""
    opens_ms: Count
    deadline_ms: Count
    draw_ms: Count
    scored_ms: Count
    result_ms: Count
    # limits for an entrant; 0: none
    parameters: Count
    tokens: Count
    hours: Count
    # rules of the decision
    texts: Count
    """Texts in the sealed set."""
    texts_bytes: Count
    drawn: Count
    """Texts that are drawn to be scored."""
    evaluators: Count
    window: Count
    stride: Count
    custodians: Count
    needed: Count
    """Custodians needed to open the texts."""
    part: EvaluatorPart = ""
    judged: Count = 0
    """Models that we have scored."""
    to_judge: Count = 0
    """Models that were submitted."""
    judge_mb: Count = 0
    """Memory needed for scoring; 0: unknown."""
    bar: EvaluatorBar = ""
    barred_by: ShortText = ""
    """The entrant's name, or the reason that was given."""
    data: ShortText = ""
    """Address of the rules about training data; empty: none."""
    entrants: Annotated[
        tuple[CompetitionEntrantRow, ...], msgspec.Meta(max_length=MAX_ENTRANTS)
    ] = ()
    """By rank, then in the order of their entries."""


class CompetitionsReply(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Competitions that can be joined first, decided ones last, the newest of each first."""

    rows: Annotated[tuple[CompetitionRow, ...], msgspec.Meta(max_length=MAX_COMPETITIONS)]


class LossCurvePoint(msgspec.Struct, frozen=True, array_like=True):
    """A closed round and the median loss that its trainers reported, nats per token."""

    round: Count
    loss: float


class LossCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Loss of one run by round, ascending; empty: no round has closed."""

    run: Name
    points: Annotated[tuple[LossCurvePoint, ...], msgspec.Meta(max_length=MAX_CURVE_POINTS)]


class CurvesReply(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Curves in the order of the request; unavailable ones are left out."""

    rows: Annotated[tuple[LossCurve, ...], msgspec.Meta(max_length=MAX_CURVES)]


class AskRuns(msgspec.Struct, frozen=True, kw_only=True, tag="runs"):
    """Ask for all runs and what each needs."""


class AskPoints(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Ask for our rounds with numbers below `before`, newest first."""

    before: Count | None = None
    since_ms: Count = 0
    run: Name = ""
    device: Name = ""
    limit: RowLimit = 100


class AskSeries(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Ask for our points over time, in equal steps from `since_ms` (0: from our first round)."""

    since_ms: Count = 0
    step_ms: Annotated[int, msgspec.Meta(ge=60_000, le=10**11)] = 86_400_000
    run: Name = ""
    device: Name = ""


class AskLosses(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """Ask for our own loss and the held-out bits per byte of a run, by round."""

    run: Name
    limit: RowLimit = MAX_ROWS


class AskRanking(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Ask for the keys that rank next to ours."""

    around: Annotated[int, msgspec.Meta(ge=0, le=50)] = 3


class AskActivity(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """Ask for events with numbers below `before`, newest first."""

    before: Count | None = None
    limit: RowLimit = 100


class AskBenchmark(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    """Measure a device for a few seconds; only while nothing is lent."""

    device: Name


class AskDiagnostics(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Ask for a report that helps to find a fault, without secrets."""


class AskAccount(msgspec.Struct, frozen=True, kw_only=True, tag="account"):
    """Ask for the standing and the recovery key of our key."""


class AskChunk(msgspec.Struct, frozen=True, kw_only=True, tag="chunk"):
    """Ask for bytes of a release's chunk from `first` on; the worker fetches it from peers."""

    name: Bytes32Text
    """SHA-256 of the chunk."""
    first: Count = 0


class RequestAppeal(msgspec.Struct, frozen=True, kw_only=True, tag="appeal"):
    """Appeal against the standing of our key; the text becomes public."""

    text: Text = ""


class RequestName(msgspec.Struct, frozen=True, kw_only=True, tag="name"):
    """Give our key a public name; empty: none."""

    name: Name = ""


class AskTeam(msgspec.Struct, frozen=True, kw_only=True, tag="team"):
    """Ask for the team of a join link or code; empty: for our own."""

    link: Text = ""


class RequestMembership(msgspec.Struct, frozen=True, kw_only=True, tag="membership"):
    """Join the team of a join link or code; empty: leave our team."""

    link: Text = ""


class RequestTeam(msgspec.Struct, frozen=True, kw_only=True, tag="set-team"):
    """Found a team, or change ours, which we own; what is None stays as it is."""

    name: Name | None = None
    days: Annotated[int, msgspec.Meta(ge=0, le=MAX_LINK_DAYS)] | None = None
    """Make a join link that is valid this long; 0: nobody can join any more."""
    most: Annotated[int, msgspec.Meta(ge=1, le=TEAM_MEMBERS)] = TEAM_MEMBERS
    """Members above which the link admits nobody."""
    goal: Count | None = None
    """GFLOP; 0: no goal."""
    goal_until_ms: Count = 0


class RequestTeamMember(msgspec.Struct, frozen=True, kw_only=True, tag="team-member"):
    """Remove a member from our team, which we own, or make it the owner."""

    peer: Bytes32Text
    to: Annotated[str, msgspec.Meta(pattern="^(owner|removed)$")]


class RequestConnection(msgspec.Struct, frozen=True, kw_only=True, tag="connect"):
    """Ask the connector at that address for a code, to link an account to our key."""

    connector: Text
    provider: Name = ""
    """Empty: the only one that the connector has."""


class AskConnection(msgspec.Struct, frozen=True, kw_only=True, tag="connection"):
    """Ask the connector whether the person has used the code."""

    connector: Text
    code: Bytes32Text


class RequestRecovery(msgspec.Struct, frozen=True, kw_only=True, tag="bind"):
    """Bind a recovery key to our key; `former` is the seed of the present one, if there is one."""

    seed: Bytes32Text
    former: MaybeBytes32Text = ""


class RequestRevocation(msgspec.Struct, frozen=True, kw_only=True, tag="revoke"):
    """Revoke a key of the same owner; `seed` is that of its recovery key."""

    key: Bytes32Text
    seed: Bytes32Text


class RequestReplacement(msgspec.Struct, frozen=True, kw_only=True, tag="replace"):
    """Have a new key take the place of another; the worker goes on with its own until restarted.

    `recovery` is the seed of the recovery key; empty: `former` is our key and has none.
    """

    former: Bytes32Text
    seed: Bytes32Text
    recovery: MaybeBytes32Text = ""


class RequestPluginConsent(msgspec.Struct, frozen=True, kw_only=True, tag="plugin-consent"):
    """Allow the code with this hash on this computer, or take that back."""

    archive: Bytes32Text
    label: Annotated[str, msgspec.Meta(max_length=128)] = ""
    """Name and version, for people."""
    is_allowed: bool


Question: TypeAlias = (
    AskRuns
    | RequestPluginConsent
    | AskCompetitions
    | AskCurves
    | AskPoints
    | AskSeries
    | AskLosses
    | AskRanking
    | AskActivity
    | AskBenchmark
    | AskDiagnostics
    | AskAccount
    | AskChunk
    | RequestAppeal
    | RequestName
    | AskTeam
    | RequestMembership
    | RequestTeam
    | RequestTeamMember
    | RequestConnection
    | AskConnection
    | RequestRecovery
    | RequestRevocation
    | RequestReplacement
)


REQUESTS = (
    RequestAppeal,
    RequestName,
    AskTeam,
    RequestMembership,
    RequestTeam,
    RequestTeamMember,
    RequestConnection,
    AskConnection,
    RequestRecovery,
    RequestRevocation,
    RequestReplacement,
)
"""Questions that change something, and may hold secrets: nobody keeps them or their replies."""


class PublishedHead(msgspec.Struct, frozen=True, kw_only=True):
    """A head of a run that was published on the Hugging Face Hub, according to the log."""

    round: Count
    repo: Annotated[str, msgspec.Meta(max_length=193)]
    """`user/name`."""
    revision: Annotated[str, msgspec.Meta(max_length=40)]
    """Commit of that repository."""


class GeneratedSample(msgspec.Struct, frozen=True, kw_only=True):
    """Text that the model of a run generated after the beginning of a held-out document."""

    round: Count
    prompt: Text
    text: Text


class RunOrganiser(msgspec.Struct, frozen=True, kw_only=True):
    """An organiser of a run. A name can be chosen freely, a key not: both are shown."""

    key: Name
    name: Name = ""
    """Public name, as the ledger reports it; empty: none."""


class RunPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """Code that a run brings."""

    spec: PluginSpec
    """As the run's rules name it."""
    is_allowed: bool = False
    """True if it may run on this computer."""
    is_confined: bool = False
    """True if this computer has a sandbox for it."""


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and what a computer needs to join it."""

    run: Name
    name: Name
    state: Name
    round: Count
    rounds: Count
    """Total, by the run's rules."""
    members: Count
    tokens: Count
    parameters: Count
    memory_mb: Count
    """Accelerator memory for training, estimated from the model's size."""
    disk_bytes: Count
    """Needed to take part."""
    hourly_up_bytes: Count
    hourly_down_bytes: Count
    first_bytes: Count
    """Download before the first round."""
    source: Annotated[str, msgspec.Meta(max_length=256)] = ""
    """The texts that it learns from, as its rules describe them for people."""
    description: Annotated[str, msgspec.Meta(max_length=600)] = ""
    """Purpose, as its rules state it; empty: they do not."""
    licence: Name = ""
    """Licence of the trained weights, as its rules state it; empty: they do not."""
    organisers: Annotated[tuple[RunOrganiser, ...], msgspec.Meta(max_length=MAX_ORGANISERS)] = ()
    """The keys that signed its opening, with their names."""
    witness_share_bp: Count = 0
    """Points of all witnesses of a round, in 1/10000 of its trainers'."""
    day_disk_bytes: Count = 0
    """Disk space used after a day, if the storage limit allows it; 0: unknown."""
    day_points: Count = 0
    """GFLOP per day that this computer would earn; 0: unknown, as no device was measured."""
    adapters: Count = 0
    """Parameters that are trained where the others are frozen; 0: all of them."""
    most_members: Count = 0
    """Maximum members of one round, by the run's rules."""
    announcement: Annotated[str, msgspec.Meta(max_length=256)] = ""
    """Text of its organisers for its volunteers, as the ledger reports it; empty: none."""
    pause_reason: Annotated[str, msgspec.Meta(max_length=256)] = ""
    """Reason of its pause; empty: none."""
    chat: Annotated[str, msgspec.Meta(max_length=256)] = ""
    """Address, https, at which its organisers let people try the model; empty: none."""
    published: Annotated[
        tuple[PublishedHead, ...], msgspec.Meta(max_length=MAX_PUBLISHED_HEADS)
    ] = ()
    """Newest heads on the Hub, latest first."""
    sample: GeneratedSample | None = None
    """From the newest head that has one."""
    is_open: bool = True
    is_ours: bool = False
    plugin: RunPlugin | None = None
    """The run's own code; None: it has none."""
    first_round: Count = 0
    """First round in which our work earned points, as proven here; 0: none has."""
    rollback_round: Count = 0
    """Round whose head the run last went back to."""
    rollback_entry: Count | None = None
    """Log index of that rollback, as the ledger reports it; None: the run never went back."""


class RunsReply(msgspec.Struct, frozen=True, kw_only=True, tag="runs"):
    """Every run of the network, the open ones first."""

    rows: Annotated[tuple[RunRow, ...], msgspec.Meta(max_length=MAX_ROWS)]


class PointsRow(msgspec.Struct, frozen=True, kw_only=True):
    """One round in which we had a duty."""

    number: Count
    """Row number; rises."""
    run: Name
    run_name: Name
    round: Count
    at_ms: Count
    state: Annotated[str, msgspec.Meta(pattern="^(pending|verified|rejected)$")]
    reason: Name = ""
    """Reason for no points: `not-selected`, `silent`, `void`, or the reason of the rejection."""
    gflop: Count = 0
    trained: Count = 0
    """Part of `gflop` for training."""
    witnessed: Count = 0
    """Part of `gflop` for witnessing."""
    received: Count = 0
    """Part of `gflop` for the work of other keys, which share their points."""
    device: Name = ""
    tokens: Count = 0
    energy_j: float = 0.0
    entry: Count | None = None
    """Log index of the round's end."""
    size: Count | None = None
    """Size of the signed checkpoint that the proof was checked against."""
    root: Name = ""
    """Root of that checkpoint, base64url."""


class PointsReply(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Rounds, newest first."""

    rows: Annotated[tuple[PointsRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    has_more: bool = False


class PointsSeries(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Sums by step, oldest first; the last step may still be running."""

    since_ms: Count
    step_ms: Count
    verified: Annotated[tuple[Count, ...], msgspec.Meta(max_length=10_000)]
    energy_j: Annotated[tuple[float, ...], msgspec.Meta(max_length=10_000)] = ()


class LossRow(msgspec.Struct, frozen=True, kw_only=True):
    round: Count
    loss: float | None = None
    """Our own training loss, nats per token."""
    bits_per_byte: float | None = None
    """Loss of the head on the held-out set."""


class LossesReply(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """Rounds, oldest first."""

    rows: Annotated[tuple[LossRow, ...], msgspec.Meta(max_length=MAX_ROWS)]


class RankRow(msgspec.Struct, frozen=True, kw_only=True):
    rank: Count
    key: Name
    name: Name = ""
    """The public name; empty: none."""
    gflop: Count
    is_ours: bool = False


class RankingReply(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Keys around ours, best first."""

    rows: Annotated[tuple[RankRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    ranked: Count = 0


class ActivityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One event as a code with its values; the receiver has the words (`ipc.texts`)."""

    number: Count
    at_ms: Count
    code: Name
    level: Annotated[str, msgspec.Meta(pattern="^(info|good|warning|error)$")] = "info"
    values: Annotated[dict[str, str | int | float], msgspec.Meta(max_length=8)] = {}


class ActivityReply(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """Events, newest first."""

    rows: Annotated[tuple[ActivityRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    has_more: bool = False


class BenchmarkReply(msgspec.Struct, frozen=True, kw_only=True, tag="benchmark"):
    device: Name
    tokens_per_s: float
    flop_per_s: float = 0.0
    """By the formula of points; 0: unknown."""
    watts: float | None = None
    memory_mb: Count = 0


class DiagnosticsReply(msgspec.Struct, frozen=True, kw_only=True, tag="diagnostics"):
    """Text to copy into a bug report."""

    text: Annotated[str, msgspec.Meta(max_length=200_000)]


class BadgeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A badge of our key, and the log entry that proves it."""

    badge: Name
    entry: Count


class AccountReply(msgspec.Struct, frozen=True, kw_only=True, tag="account"):
    """Our key as the ledger describes it; the empty standing: it is not registered yet."""

    key: Name
    standing: Name = ""
    since: Count = 0
    """Entry that set the standing."""
    until_ms: Count = 0
    why: ShortText = ""
    appeal: Count | None = None
    """Entry of the open appeal."""
    recovery: Name = ""
    """The recovery key; empty: there is none."""
    replaces: Name = ""
    name: Name = ""
    """The public name; empty: none."""
    tier: Count = 0
    """Knowledge about the owner: 0 none, 1 an account, 2 an invitation."""
    team: Count = 0
    """Entry that founded the team for which it earns; 0: none."""
    team_name: Name = ""
    can_be_named: bool = False
    """The network knows enough of the key to let it have a name."""
    badges: Annotated[tuple[BadgeRow, ...], msgspec.Meta(max_length=MAX_BADGES)] = ()
    """The earliest first."""
    own_gflop: Count = 0
    """Points for its own work."""
    accepted: Count = 0
    """Accepted contributions."""
    streak_day: Count = 0
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days: Count = 0
    """Days in a row with one, up to that day."""


class TeamReply(msgspec.Struct, frozen=True, kw_only=True, tag="team"):
    """A team as the ledger describes it; `team` is 0 if our key is in none."""

    team: Count = 0
    name: Name = ""
    """Empty: the organisers withdrew it."""
    page: ShortText = ""
    """Address of its page."""
    owner: Name = ""
    """Key of the owner."""
    owner_name: Name = ""
    is_ours: bool = False
    """Our key owns it."""
    is_member: bool = False
    """Our key is in it."""
    members: Count = 0
    gflop: Count = 0
    link: ShortText = ""
    """Join link of the team, if our key owns the team and the link was made with this key."""
    code: ShortText = ""
    """The same for people in this network."""
    until_ms: Count = 0
    """End of the join link; 0: nobody can join."""
    most: Count = 0
    goal: Count = 0
    goal_until_ms: Count = 0
    reached: Count = 0
    rows: Annotated[tuple[RankRow, ...], msgspec.Meta(max_length=MAX_ROWS)] = ()
    """The best members first; all of them, unless there are more than `MAX_ROWS`."""


class ConnectionReply(msgspec.Struct, frozen=True, kw_only=True, tag="connection"):
    """A connector's code, or what became of it."""

    code: MaybeBytes32Text = ""
    """A secret of this code, for `AskConnection`; empty: the account is linked."""
    user_code: ShortText = ""
    """To be entered at `url`, signed in at the provider."""
    url: ShortText = ""
    provider: ShortText = ""
    expires_s: Count = 0
    interval_s: Count = 0
    """Seconds until the next question."""
    problem: ShortText = ""
    """Cause of a delay, in the connector's words."""
    outcome: Text = ""
    """The result in words, once the account is linked."""


class KeyChangeReply(msgspec.Struct, frozen=True, kw_only=True, tag="key-changed"):
    """The statement is in the log."""

    key: Name
    """The key that the statement is about."""


class ChunkReply(msgspec.Struct, frozen=True, kw_only=True, tag="chunk"):
    """Bytes that a peer gave under that name."""

    size: Count
    """Bytes of the whole chunk."""
    content: Annotated[bytes, msgspec.Meta(max_length=CHUNK_PART_BYTES)]


class PluginConsentReply(msgspec.Struct, frozen=True, kw_only=True, tag="plugin-consent"):
    """The consent is stored."""

    archive: Bytes32Text
    is_allowed: bool


Reply: TypeAlias = (
    RunsReply
    | PluginConsentReply
    | CompetitionsReply
    | CurvesReply
    | PointsReply
    | PointsSeries
    | LossesReply
    | RankingReply
    | ActivityReply
    | BenchmarkReply
    | DiagnosticsReply
    | AccountReply
    | TeamReply
    | ConnectionReply
    | KeyChangeReply
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


FromWorker: TypeAlias = AcceptController | RefuseController | SnapshotMessage | QuestionAnswer

_DUE = "a message between app and worker"
decode_to_worker: Callable[[bytes], ToWorker] = ipc.line_decoder(ToWorker, LINE_BYTES, _DUE)
decode_from_worker: Callable[[bytes], FromWorker] = ipc.line_decoder(FromWorker, LINE_BYTES, _DUE)


def encode(message: ToWorker | FromWorker) -> bytes:
    """Encode the message as one line, newline included."""
    return ipc.encode(message)
