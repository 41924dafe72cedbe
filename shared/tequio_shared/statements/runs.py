"""Statements of a network, its runs and their rounds, in the order in which they are logged."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    STEERING,
    Bytes32Text,
    BytesText,
    ContributionCount,
    HeaderText,
    LossGain,
    MaybeBytes32Text,
    Natural,
    NoticeText,
    Positive,
    Prompt,
    ReasonCode,
    SlotCount,
    SlotNumber,
    VrfProofText,
    Written,
)
from tequio_shared.limits import (
    AUDITS_OF_ONE,
    GAIN_SLOTS,
    MEASURED_TASKS,
    MOST_DIFFERENCE,
    RECEIVERS,
    SAMPLE_BYTES,
    SAMPLE_PROMPT_BYTES,
    SKETCH_NUMBERS,
    WHOLE_PARTS,
)
from tequio_shared.statements import NetworkBody, RoundBody, RunBody

_STEERING = re.compile(f"[{STEERING}]")
_UNSHOWN = "\ufffd"
_CHAT_ADDRESS = re.compile(
    "https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]*)?", re.ASCII
)
"""Without a query, a name of a user and other characters with which a link can mislead."""


class NetGenesis(NetworkBody, frozen=True, kw_only=True):
    """Entry 0: the document whose SHA-256 is the network id."""

    TYPE = "net.genesis"

    doc: Annotated[BytesText, msgspec.Meta(min_length=2)]


class RunOpen(RunBody, frozen=True, kw_only=True):
    """A run exists: its manifest, whose SHA-256 is the run id, and the head it starts from."""

    TYPE = "run.open"

    manifest: Bytes32Text
    head: Bytes32Text


class RunPause(RunBody, frozen=True, kw_only=True):
    """No round of the run opens until it is resumed."""

    TYPE = "run.pause"

    reason: ReasonCode


class RunResume(RunBody, frozen=True, kw_only=True):
    """Rounds of a paused run open again."""

    TYPE = "run.resume"

    reason: ReasonCode


class RunRollback(RunBody, frozen=True, kw_only=True):
    """The next round of a paused run starts from this earlier head."""

    TYPE = "run.rollback"

    head_round: Natural
    """The round that made it; 0: the first head."""
    head: Bytes32Text
    parent: Bytes32Text
    set_root: Bytes32Text
    weights_root: Bytes32Text
    aux_root: Bytes32Text
    """All five as in its head.promote: a reader that joined later may not have seen that."""
    last_round: Positive
    """The last round with a roster: organisers give up what they know, and no round more."""


class RunNotice(RunBody, frozen=True, kw_only=True):
    """Organisers tell the volunteers of a run something, or take it back with an empty text."""

    TYPE = "run.notice"

    about: Literal["chat", "pause", "run"]
    """`pause`: why the run is paused; shown until it resumes. `chat`: where to try its model."""
    text: NoticeText

    def __post_init__(self) -> None:
        if self.about == "chat" and self.text and not is_chat_address(self.text):
            raise MalformedError(
                f"{self.text!r} is not the address of a chat: expected https://, a name in lower "
                "case, and at most a port and a path"
            )


def is_chat_address(text: str) -> bool:
    """Check an address of a run's chat: https, a name in lower case, and a path."""
    return _CHAT_ADDRESS.fullmatch(text) is not None


class RunFinish(RunBody, frozen=True, kw_only=True):
    """An organiser ends the run: no round opens after the one in progress."""

    TYPE = "run.finish"

    reason: ReasonCode


class RunClose(RunBody, frozen=True, kw_only=True):
    """The coordinator states that the run has ended; its head stays as it is."""

    TYPE = "run.close"

    reason: ReasonCode


class RoundRoster(RoundBody, frozen=True, kw_only=True):
    """The members of the coming round, and the seed from which they draw their lots."""

    TYPE = "round.roster"

    roster: Bytes32Text
    """SHA-256 of the roster document."""
    slots: SlotCount
    trainers: ContributionCount
    vrf: VrfProofText
    """The coordinator's proof for the round's seed (`round/lots.py`)."""

    def __post_init__(self) -> None:
        if self.trainers > self.slots:
            raise MalformedError(f"{self.trainers} trainers in {self.slots} slots")


class HeadAttest(RoundBody, frozen=True, kw_only=True):
    """The author computed or holds `head`, and draws its lot in this round."""

    TYPE = "head.attest"

    head: Bytes32Text
    weights_root: Bytes32Text
    aux_root: Bytes32Text
    """32 zero bytes where the algorithm has no state beside the weights."""
    vrf: VrfProofText
    """The author's proof for its lot (`round/lots.py`)."""
    step_root: Bytes32Text | UnsetType = UNSET
    """Of the step that made the head (`head/step.py`), if the author has it."""


class HeadPromote(RoundBody, frozen=True, kw_only=True):
    """A quorum attested this head: it is canonical. `round` made it, 0 for the first head."""

    TYPE = "head.promote"

    head: Bytes32Text
    parent: Bytes32Text
    set_root: Bytes32Text
    weights_root: Bytes32Text
    aux_root: Bytes32Text
    attests: SlotCount
    step_root: Bytes32Text | UnsetType = UNSET
    """The one that most witnesses name, if any does; the weights that it gives are checked."""


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Greedy continuation of the beginning of a held-out text by a head."""

    prompt: Prompt
    """Beginning of the text."""
    text: Written
    """Continuation by the model."""

    def __post_init__(self) -> None:
        for words, most in ((self.prompt, SAMPLE_PROMPT_BYTES), (self.text, SAMPLE_BYTES)):
            if len(words.encode()) > most:
                raise MalformedError(
                    f"{len(words.encode())} bytes of text; at most {most} are allowed"
                )


def clean_sample(text: str, most_bytes: int) -> str:
    """Make text fit for the log: at most `most_bytes` of UTF-8, without steering characters."""
    plain = text.replace("\r\n", "\n").replace("\t", " ")
    shown = _STEERING.sub(_UNSHOWN, plain.encode("utf-8", "replace").decode())
    return shown.encode()[:most_bytes].decode("utf-8", "ignore")


class TaskCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Answers of a head to a task of the run, as `multiple_choice.ChoiceTotals` counts them."""

    asked: Positive
    right: Natural
    """By the fewest bits."""
    right_normed: Natural
    """By the fewest bits per character of the choice."""
    close: Natural
    """Questions in which another honest computer may count `right` in the other way."""
    close_normed: Natural

    def __post_init__(self) -> None:
        for name in ("right", "right_normed", "close", "close_normed"):
            count = getattr(self, name)
            if count > self.asked:
                raise MalformedError(f"{name} is {count}, but {self.asked} questions were asked")


class HeadMeasure(RoundBody, frozen=True, kw_only=True):
    """A drawn member's measurement of a head on held-out text. `round` is the one that made it."""

    TYPE = "head.measure"

    head: Bytes32Text
    millibits: Natural
    """Bits that the head needs for all the text: per document, rounded to thousandths."""
    size_bytes: Positive
    """UTF-8 bytes of that text."""
    tokens: Positive
    sample: Sample | UnsetType = UNSET
    """Text that the head writes, as this member reports it."""
    tasks: (
        Annotated[tuple[TaskCounts, ...], msgspec.Meta(min_length=1, max_length=MEASURED_TASKS)]
        | UnsetType
    ) = UNSET
    """Answers to the run's tasks, in the order of its manifest."""


class RoundOpen(RoundBody, frozen=True, kw_only=True):
    """The round runs; witnesses, windows and deadlines follow from this and the roster."""

    TYPE = "round.open"

    head: Bytes32Text
    roster: Bytes32Text
    lots: Bytes32Text
    """Digest of the lots drawn by then."""
    k: Annotated[int, msgspec.Meta(ge=1, le=4096)]
    """Values kept per chunk, for all contributions of the round."""
    opened: Natural
    """`opened`, `train_by` and `close_by`: milliseconds since 1970, on the coordinator's clock."""
    train_by: Natural
    close_by: Natural

    def __post_init__(self) -> None:
        if not self.opened <= self.train_by <= self.close_by:
            raise MalformedError(
                f"deadlines out of order: {self.opened}, {self.train_by}, {self.close_by}"
            )


PointParts = Annotated[int, msgspec.Meta(ge=1, le=WHOLE_PARTS)]


class WorkCommit(RoundBody, frozen=True, kw_only=True):
    """The author's contribution to this round is the one with this header."""

    TYPE = "work.commit"

    header: HeaderText
    seal: Bytes32Text
    """`head.contribution.payload_seal`: only a key that has the payload can compute its own."""
    feedback: MaybeBytes32Text
    """Root of the error feedback that training started with; empty: zeros."""
    parts: (
        Annotated[
            tuple[tuple[Bytes32Text, PointParts], ...],
            msgspec.Meta(min_length=1, max_length=RECEIVERS),
        ]
        | UnsetType
    ) = UNSET
    """Keys that get parts of its points, in 1/1000, ascending; the author keeps the rest."""

    def __post_init__(self) -> None:
        if self.parts is UNSET:
            return
        keys = [key for key, _ in self.parts]
        if keys != sorted(set(keys)):
            raise MalformedError(f"keys with parts must be ascending and unique: {keys}")
        total = sum(parts for _, parts in self.parts)
        if total > WHOLE_PARTS:
            raise MalformedError(f"{total} parts given; a commitment has {WHOLE_PARTS}")


class RoundWitness(RoundBody, frozen=True, kw_only=True):
    """Training is over with this many commitments in the log; the witnesses judge them."""

    TYPE = "round.witness"

    commits: ContributionCount
    vrf: VrfProofText
    """The coordinator's proof for the draws of the round's audits and gains (`round/lots.py`)."""


class WitnessProof(RoundBody, frozen=True, kw_only=True):
    """Contributions that an elected witness fetched and checked, and those it refuses."""

    TYPE = "witness.proof"

    bitmap: BytesText
    """Bit i&7 of byte i>>3 is slot i of the roster."""
    bloom: BytesText
    root: Bytes32Text
    """Merkle root over the ascending ids of the contributions that passed."""
    count: ContributionCount
    head: Bytes32Text
    rejected: tuple[tuple[SlotNumber, ReasonCode], ...]
    """Slot and reason, slots ascending and unique."""
    gains: Annotated[tuple[tuple[SlotNumber, LossGain], ...], msgspec.Meta(max_length=GAIN_SLOTS)]
    """Slot and loss gain, slots ascending and unique."""
    vrf: VrfProofText
    """The author's proof for its audit lot (`round/audits.py`)."""
    marks: BytesText
    """Marks of what the author read (`round/marks.py`)."""

    def __post_init__(self) -> None:
        for name, pairs in (("rejected", self.rejected), ("measured", self.gains)):
            slots = [slot for slot, _ in pairs]
            if slots != sorted(set(slots)):
                raise MalformedError(f"{name} slots must be ascending and unique: {slots[:20]}")


Difference = Annotated[int, msgspec.Meta(ge=0, le=MOST_DIFFERENCE)]
Cosine = Annotated[int, msgspec.Meta(ge=-10_000, le=10_000)]
SketchNumber = Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]


class AuditFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Distance of a contribution from its repeated training, in 1/10000 (docs/auditing.md)."""

    hidden: Difference
    """Claimed against repeated pseudo-gradient, in the hidden matrices."""
    other: Difference
    """The same in all other tensors."""
    rounding: Difference
    """Part that the rounding of the opened feedback can hide."""
    leaves: Difference
    """Part that was kept back needlessly."""


class AuditReport(RoundBody, frozen=True, kw_only=True):
    """An auditor repeated a contribution's training; `round` is that of the roster with its order.

    Without figures, its trainer did not open the contribution to the auditor. Without a sketch, the
    author declines the order.
    """

    TYPE = "audit.report"

    contribution: Bytes32Text
    figures: AuditFigures | UnsetType = UNSET
    cosine: Cosine
    """Of the payload with the repeated pseudo-gradient, in 1/10000; convicts nobody."""
    sketch: tuple[SketchNumber, ...]
    """The repeated pseudo-gradient along directions of the auditor's own seed."""
    checked: Annotated[tuple[Cosine, ...], msgspec.Meta(max_length=AUDITS_OF_ONE)]
    """Cosines of the sketches in the reports that the order names, in its order."""

    @property
    def declines(self) -> bool:
        return not self.sketch

    def __post_init__(self) -> None:
        if len(self.sketch) not in (0, SKETCH_NUMBERS):
            raise MalformedError(f"a sketch of {len(self.sketch)} numbers, not {SKETCH_NUMBERS}")
        if self.declines and (self.figures is not UNSET or self.checked):
            raise MalformedError("a report that declines has neither figures nor cosines")


class RoundClose(RoundBody, frozen=True, kw_only=True):
    """The accepted set, by its root, and the result document with the points."""

    TYPE = "round.close"

    set_root: Bytes32Text
    accepted: ContributionCount
    proofs: SlotCount
    result: Bytes32Text
    """SHA-256 of the result document."""


class RoundVoid(RoundBody, frozen=True, kw_only=True):
    """The round does not count: the head stays, its windows are dealt again, nobody is punished."""

    TYPE = "round.void"

    reason: ReasonCode
