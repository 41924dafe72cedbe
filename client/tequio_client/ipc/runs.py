"""Questions about the runs of the network, their losses and their code, and the replies.

Times are in milliseconds since 1970. Lists are bounded, newest or best first.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc.cell import CellNeed
from tequio_client.ipc.facts import MAX_ROWS, Count, Name, Text
from tequio_shared.ids import Bytes32Text
from tequio_shared.round.plugin import PluginSpec

MAX_CURVES = 8
MAX_CURVE_POINTS = 64
MAX_PUBLISHED_HEADS = 8
MAX_ORGANISERS = 16


class AskRuns(msgspec.Struct, frozen=True, kw_only=True, tag="runs"):
    """Ask for all runs and what each needs."""


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
    cells: Annotated[tuple[CellNeed, ...], msgspec.Meta(max_length=MAX_ROWS)] = ()
    """Needs of cells of 2 computers and more, in rising order of their number."""
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
    """The runs of the network, the open ones first."""

    rows: Annotated[tuple[RunRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    unread: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_ROWS)] = ()
    """Ids of open runs without a row: their rules could not be read, or they are too many."""


class AskCurves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Ask for the training loss of these runs by round."""

    runs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_CURVES)]


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


class RequestPluginConsent(msgspec.Struct, frozen=True, kw_only=True, tag="plugin-consent"):
    """Allow the code with this hash on this computer, or take that back."""

    archive: Bytes32Text
    label: Annotated[str, msgspec.Meta(max_length=128)] = ""
    """Name and version, for people."""
    is_allowed: bool


class PluginConsentReply(msgspec.Struct, frozen=True, kw_only=True, tag="plugin-consent"):
    """The consent is stored."""

    archive: Bytes32Text
    is_allowed: bool


RunsQuestion: TypeAlias = AskRuns | AskCurves | RequestPluginConsent
RunsAnswer: TypeAlias = RunsReply | CurvesReply | PluginConsentReply
