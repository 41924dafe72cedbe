"""Messages between a worker and its trainer: commands one way, reports the other, as JSON lines.

The protocol is driven by level, not by edge: a command states what should be true, and sending it
again changes nothing. Two commands are in force at once: the latest `Prepare` (model, device and
limits) and the latest task (any other command). A task waits until the trainer is prepared; a newer
task replaces an unfinished one between two inner steps. Command numbers come from the worker and
rise. The same number means the same command: a finished one that is sent again gets the same
report again, without work.

Every report names the command that it answers (0: none yet). Sizes are in bytes unless the name
says otherwise, times in milliseconds or seconds as named; digests, keys and headers are base64url
text (`tequio_shared.ids.to_text`); paths are text and name files that both processes see. Input
files are only read. Output files appear under their name complete, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc
from tequio_shared.limits import (
    AUDITS_OF_ONE,
    GAIN_MOST,
    GAIN_SLOTS,
    GAIN_WINDOWS,
    SKETCH_NUMBERS,
)
from tequio_shared.statements.runs import TaskCounts

LINE_BYTES = 8 << 20
"""Longest line, newline included: room for a round of 4,095 contributions."""
FILES = 4_096
"""Most entries in any list of files of one message."""

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Percent: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100)]
FilePath: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=4_096)]
DigestText: TypeAlias = Annotated[str, msgspec.Meta(min_length=43, max_length=43)]
HeaderText: TypeAlias = Annotated[str, msgspec.Meta(min_length=288, max_length=288)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=65_536)]
Label: TypeAlias = Annotated[str, msgspec.Meta(max_length=256)]
"""A word or a name, no longer than `ipc.facts` and `ipc.snapshot` allow."""
WindowRange: TypeAlias = tuple[Number, Positive]
"""`(first, count)`: windows first .. first + count - 1 of the run's data order."""
Windows: TypeAlias = Annotated[
    tuple[WindowRange, ...], msgspec.Meta(min_length=1, max_length=FILES)
]
AUDITED_CHUNKS = 1_024
"""Most chunks of one audit whose error feedback is opened: 16 MiB of leaves."""


class Shard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of token ids; `index` counts the training shards of the data manifest from 0."""

    index: Number
    path: FilePath


class ScreenCandidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contribution to screen, and the duty of its author."""

    slot: Number
    trainer: DigestText
    """Key of the trainer in this slot."""
    header: HeaderText
    seal: DigestText
    """As in the commitment."""
    payload: FilePath
    windows: Windows
    """All windows assigned to the trainer, in order."""


class Contribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member of an accepted set."""

    header: HeaderText
    payload: FilePath


Shards: TypeAlias = Annotated[tuple[Shard, ...], msgspec.Meta(min_length=1, max_length=FILES)]


class _Numbered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: Positive


class _OfRound(_Numbered, frozen=True, forbid_unknown_fields=True):
    round: Positive


class _OfHead(_Numbered, frozen=True, forbid_unknown_fields=True):
    round: Number
    """Round that the head came from; 0: the first head."""


class Prepare(_Numbered, frozen=True, forbid_unknown_fields=True, tag="prepare"):
    """Be ready to work on this run with this much of the machine. Answered by `Ready`.

    Stays in force until the next `Prepare`. One that differs only in `threads`, `memory_mb` or
    `share_percent` takes effect at the next step or batch, without stopping the task.
    """

    manifest: FilePath
    """Canonical run manifest."""
    config: FilePath
    """The model's configuration: JSON as Hugging Face writes it (`config.json`)."""
    data_manifest: FilePath
    """Canonical data manifest."""
    tokenizer: FilePath | None = None
    """The file that the manifest's tokenizer names: a `tokenizer.json`, or the table of a plug-in's
    tokens; none for raw bytes."""
    base: Annotated[tuple[FilePath, ...], msgspec.Meta(max_length=FILES)] = ()
    """Files of the frozen base in the manifest's order; none where all weights are trained."""
    plugin: FilePath | None = None
    """Archive of the run's plug-in, which the owner of this computer has allowed; without it, a run
    that has one is not trained here, and nothing of it is loaded."""
    device: Annotated[str, msgspec.Meta(pattern=r"^(auto|mps|(cpu|cuda|xpu)(:[0-9]{1,3})?)$")] = (
        "auto"
    )
    threads: Annotated[int, msgspec.Meta(ge=1, le=1_024)] = 1
    memory_mb: Number = 0
    """Accelerator memory limit, MiB; 0: none. Main memory is not limited."""
    share_percent: Percent = 100
    """Share of the time to compute, of every task; the rest is slept between steps, batches and
    blocks of the model. What the other members wait for takes half of the time at least."""


class Train(_OfRound, frozen=True, forbid_unknown_fields=True, tag="train"):
    """Train on these windows and leave a contribution. Answered by `Trained`.

    `Finish` or `stop_after_ms` end it early; what was done so far is then handed in.
    """

    run: DigestText
    head: DigestText
    """Hash of the head that training starts from; goes into the header."""
    weights: FilePath
    """Master copy of that head: int32 little-endian in flat order."""
    trainer: DigestText
    """Our key; goes into the header."""
    k: Positive
    """Entries per chunk in this round."""
    windows: Windows
    shards: Shards
    """Every shard that the windows touch; more do no harm."""
    payload_out: FilePath
    feedback_out: FilePath
    """Error feedback after sending: bfloat16 bits, little-endian, flat order."""
    delta_out: FilePath
    """Pseudo-gradient of this round (float32, flat order), for a later `Screen`."""
    feedback_in: FilePath | None = None
    """Error feedback of our last contribution; none starts from zero."""
    stop_after_ms: Number = 0
    """Stop at the next step (distro: window) once this much time has passed since the command came;
    0: never."""


class Finish(_Numbered, frozen=True, forbid_unknown_fields=True, tag="finish"):
    """Hand in what the `Train` command of this number has done so far. Answered by its `Trained`.

    Ignored when that command is not the task in force. At least one inner step is always done.
    """


class Screen(_OfRound, frozen=True, forbid_unknown_fields=True, tag="screen"):
    """Check these contributions as a witness. Answered by `Screened`."""

    run: DigestText
    head: DigestText
    k: Positive
    candidates: Annotated[tuple[ScreenCandidate, ...], msgspec.Meta(min_length=1, max_length=FILES)]
    """In the order of their commitments: of two that are alike the later one is the copy."""
    own_delta: FilePath | None = None
    """`delta_out` of our own training in this round; none: no cosine is measured."""
    own_slot: Number | None = None
    """Our slot, if we trained in this round: of two contributions only our own has a norm to go
    by."""
    past: Annotated[tuple[Contribution, ...], msgspec.Meta(max_length=FILES)] = ()
    """Accepted in the last rounds, to recognise a contribution that is sent again."""


class MeasuredSlot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A valid contribution whose loss gain is measured, and the windows of its trainer."""

    slot: Number
    payload: FilePath
    windows: Annotated[tuple[Number, ...], msgspec.Meta(min_length=1, max_length=GAIN_WINDOWS)]


class MeasureGains(_OfRound, frozen=True, forbid_unknown_fields=True, tag="gains"):
    """Measure loss gains as a witness. Answered by `GainsMeasured`."""

    weights: FilePath
    """Master copy of the round's head, as in `Train`."""
    k: Positive
    shards: Shards
    slots: Annotated[tuple[MeasuredSlot, ...], msgspec.Meta(min_length=1, max_length=GAIN_SLOTS)]
    """In the order in which they are measured."""
    control: Annotated[tuple[Number, ...], msgspec.Meta(min_length=1, max_length=GAIN_WINDOWS)]
    """Windows that belong to nobody in the round."""
    stop_after_ms: Positive
    """No slot is begun that would end later, counted from the command."""


SketchNumber = Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]


class EarlierSketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another auditor's sketch of the same training."""

    seed: DigestText
    sketch: Annotated[
        tuple[SketchNumber, ...],
        msgspec.Meta(min_length=SKETCH_NUMBERS, max_length=SKETCH_NUMBERS),
    ]


class Audit(_OfRound, frozen=True, forbid_unknown_fields=True, tag="audit"):
    """Repeat the training of another trainer's contribution, and compare. Answered by `Audited`.

    Needs what `Train` needs, since it takes the same steps. The files of opened leaves hold the
    leaves of `chunks`, in that order and nothing else: 8,192 bytes of bfloat16 bits each.
    """

    run: DigestText
    head: DigestText
    """Hash of the head that the contribution started from."""
    weights: FilePath
    """Master copy of that head, as in `Train`."""
    k: Positive
    audited: ScreenCandidate
    shards: Shards
    chunks: Annotated[tuple[Number, ...], msgspec.Meta(min_length=1, max_length=AUDITED_CHUNKS)]
    """Sampled chunks, ascending."""
    seed: DigestText
    """32 bytes that the signs of the sketch are drawn from."""
    delta_out: FilePath
    """Pseudo-gradient of the repeated training (float32, flat order)."""
    feedback_in: FilePath | None = None
    """Leaves of the error feedback that it started with; none: it started from zero."""
    feedback_out: FilePath | None = None
    """Leaves of the error feedback after sending; none: withheld, or the algorithm has none."""
    opened: FilePath | None = None
    """File that comes once both are there, empty if they are withheld; none: both are there now."""
    earlier: Annotated[tuple[EarlierSketch, ...], msgspec.Meta(max_length=AUDITS_OF_ONE)] = ()


class Advance(_OfRound, frozen=True, forbid_unknown_fields=True, tag="advance"):
    """Compute the next head. Answered by `Advanced`."""

    run: DigestText
    parent: DigestText
    """Hash of the head that `weights` holds."""
    k: Positive
    weights: FilePath
    weights_out: FilePath
    contributions: Annotated[tuple[Contribution, ...], msgspec.Meta(min_length=1, max_length=FILES)]
    """The accepted set, in any order."""
    aux: FilePath | None = None
    """Residual or momentum beside the head, where the run keeps one; none before the first."""
    aux_out: FilePath | None = None
    step_out: FilePath | None = None
    """Step of the round, where the run has a down link; not written if no records can tell it."""


class Follow(_OfRound, frozen=True, forbid_unknown_fields=True, tag="follow"):
    """Apply a round's step to the weights of the head before. Answered by `Followed`."""

    weights: FilePath
    step: FilePath
    weights_out: FilePath


class Evaluate(_OfHead, frozen=True, forbid_unknown_fields=True, tag="evaluate"):
    """Measure a head on the held-out shards. Answered by `Evaluated`."""

    weights: FilePath
    shards: Shards
    """Held-out shards; `index` counts the held-out shards of the data manifest from 0."""
    max_tokens: Number = 0
    """Measure whole documents until this many tokens are reached; 0: all."""
    first_document: Number = 0
    """From this one on, counted over the shards."""
    prompt: Text = ""
    sample_tokens: Annotated[int, msgspec.Meta(ge=0, le=4_096)] = 0
    """Tokens to generate after the prompt; 0: no sample."""


class Continue(_OfHead, frozen=True, forbid_unknown_fields=True, tag="continue"):
    """Generate text after the beginning of a held-out document. Answered by `Continued`."""

    weights: FilePath
    shards: Shards
    """As in `Evaluate`."""
    document: Number
    """Place of the document, counted over the shards."""


class AnswerQuestions(_OfHead, frozen=True, forbid_unknown_fields=True, tag="answer"):
    """Have a head answer questions of a task. Answered by `QuestionsAnswered`."""

    weights: FilePath
    task: FilePath
    """File of the task (`tequio_shared.multiple_choice`)."""
    first: Number
    """The first question, counted from 0."""
    count: Positive


class Rest(_Numbered, frozen=True, forbid_unknown_fields=True, tag="rest"):
    """Do nothing; drop an unfinished task. Answered by `Resting`."""


class Quit(_Numbered, frozen=True, forbid_unknown_fields=True, tag="quit"):
    """Leave the process with status 0. End of input means the same."""


Command: TypeAlias = (
    Prepare
    | Train
    | Finish
    | Screen
    | MeasureGains
    | Audit
    | Advance
    | Follow
    | Evaluate
    | Continue
    | AnswerQuestions
    | Rest
    | Quit
)


class TrainerHello(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="hello"):
    """First report of a trainer, which now accepts commands."""

    pid: Positive
    software: Label
    """Version of tequio."""
    sandbox: Label = ""
    """Names what confines the process (`platform.sandbox`), for people."""


class TrainerReady(_Numbered, frozen=True, forbid_unknown_fields=True, tag="ready"):
    device: Label
    """Kind and number: `cpu`, `cuda:0`, `mps`, `xpu:0`."""
    device_name: Label
    precision: Label
    """Of the inner steps: `float32` or `bfloat16`."""
    memory_mb: Number
    """Memory of the accelerator, MiB; 0: unknown."""
    parameters: Positive
    torch: Label
    rank_work: tuple[Positive, ...] = (1,)
    """Work of each rank of its cell in the inner steps, in proportion."""


class TrainerHeartbeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="alive"):
    """Sent every second, also while computing."""

    command: Number
    """The task in force; 0 before the first."""
    doing: Label
    """`starting`, `preparing`, `training`, `encoding`, `screening`, `measuring`, `auditing`,
    `advancing`, `evaluating` or `resting`."""
    step: Number
    """Inner steps done in this task."""
    steps: Number
    """Inner steps planned."""
    tokens: Number
    """Tokens trained on in this task."""
    resident_mb: Number
    """Main memory of the process, MiB."""


class Trained(_OfRound, frozen=True, forbid_unknown_fields=True, tag="trained"):
    """The payload, delta and feedback files lie where the command said."""

    header: HeaderText
    contribution: DigestText
    payload_root: DigestText
    payload_bytes: Positive
    windows: Positive
    """Windows done, from the first assigned one on."""
    steps: Positive
    tokens: Positive
    train_seconds: float
    """Spent in inner steps."""
    seconds: float
    """From the command to this report."""
    loss_first: float
    """Loss of the first step, nats per token, reported by this trainer; informative only."""
    loss_last: float
    starts_over: bool = False
    """The error feedback of the command was left out: beside it, no audit would see this update."""


class ScreeningVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Measurements of one contribution by a witness; None: not measured."""

    slot: Number
    contribution: DigestText
    reason: str
    """Empty: acceptable. Otherwise a rule of contribution validity, or `unreadable`, `copy`,
    `norm`, `cosine`."""
    norm_ratio: float | None = None
    """Norm over the median norm of the valid contributions, for the steps done."""
    cosine: float | None = None
    """Against our own pseudo-gradient, on the support of the contribution."""
    overlap: float | None = None
    """Largest share of its indices that an earlier contribution has too, of this round or of the
    last ones."""
    agreement: float | None = None
    """Share of those indices where both have the same sign."""


class Screened(_OfRound, frozen=True, forbid_unknown_fields=True, tag="screened"):
    """One verdict for each candidate, in the order of the command."""

    verdicts: tuple[ScreeningVerdict, ...]
    seconds: float


class GainsMeasured(_OfRound, frozen=True, forbid_unknown_fields=True, tag="measured_gains"):
    """(slot, gain) of the slots for which there was time, ascending."""

    gains: tuple[tuple[Number, Annotated[int, msgspec.Meta(ge=-GAIN_MOST, le=GAIN_MOST)]], ...]
    seconds: float


class MeasuredFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contribution against a repetition of its training, in 1/10000; None: not measured.

    Differences are relative L2 norms over the sampled chunks, at most `MOST_DIFFERENCE`. Without
    the opened leaves only `cosine` is measured. `trainer.audit` has the definitions.
    """

    hidden: Number | None = None
    """Claimed against repeated pseudo-gradient, in the hidden matrices."""
    other: Number | None = None
    """The same in all other tensors."""
    rounding: Number | None = None
    """How much of the repeated pseudo-gradient the leaves' rounding can hide."""
    positions: Number | None = None
    """Share of the positions sent that the repeated training would send too."""
    signs: Number | None = None
    """Share of equal signs at those positions."""
    values: Number | None = None
    """Sent values against those that the repeated training would send."""
    leaves: Number | None = None
    """Kept back needlessly, over what the right encoding of the claim sends."""
    cosine: Annotated[int, msgspec.Meta(ge=-10_000, le=10_000)] | None = None
    """Of the payload with the repeated pseudo-gradient on its support: mean over all chunks."""


class Audited(_OfRound, frozen=True, forbid_unknown_fields=True, tag="audited"):
    """The repeated pseudo-gradient lies where the command said."""

    contribution: DigestText
    figures: MeasuredFigures
    sketch: tuple[SketchNumber, ...]
    """The repeated pseudo-gradient along 64 seeded directions, in 1/4096 of its norm."""
    checked: tuple[Annotated[int, msgspec.Meta(ge=-10_000, le=10_000)], ...]
    """Cosines of the earlier sketches with the repeated pseudo-gradient's own, in 1/10000."""
    loss_first: float
    """Loss of the first repeated step, nats per token."""
    loss_last: float
    train_seconds: float
    """Spent in inner steps."""
    seconds: float


class AdvanceReport(_OfRound, frozen=True, forbid_unknown_fields=True, tag="advanced"):
    """The next head lies where the command said."""

    head: DigestText
    weights_root: DigestText
    aux_root: DigestText
    set_root: DigestText
    kept: tuple[str, ...]
    """Ids of the contributions that passed the filter, ascending."""
    seconds: float


class Followed(_OfRound, frozen=True, forbid_unknown_fields=True, tag="followed"):
    """The weights after the step lie where the command said."""

    weights_root: DigestText
    seconds: float


class Evaluated(_OfHead, frozen=True, forbid_unknown_fields=True, tag="evaluated"):
    """Quality of a head on the held-out shards."""

    bits_per_byte: float
    millibits: Number
    """Of all documents, each rounded by itself."""
    perplexity: float
    """Per token."""
    documents: Number
    tokens: Number
    text_bytes: Number
    sample: Text
    """Text that the model wrote after the prompt; empty if none was asked for."""
    seconds: float


class Continued(_OfHead, frozen=True, forbid_unknown_fields=True, tag="continued"):
    """Text generated by a head, cut to what fits into a statement."""

    prompt: Text
    text: Text
    seconds: float


class QuestionsAnswered(_OfHead, frozen=True, forbid_unknown_fields=True, tag="answers"):
    """Counts of the questions, as in a statement."""

    counts: TaskCounts
    unread: Number
    """Questions that the head cannot read; none of them is right."""
    seconds: float


class Resting(_Numbered, frozen=True, forbid_unknown_fields=True, tag="resting"):
    """Nothing is being done."""


class Failed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="failed"):
    """The command cannot be met; sending it again tries again.

    Codes: `malformed` (the line is not a command; command 0), `unprepared`, `device`, `memory`,
    `model`, `input` (a named file is missing or wrong), `output` (cannot be written), `non_finite`
    (training gave infinities: nothing was written), `rules` (the head rules refuse the set), `cell`
    (another rank of the cell is gone), `plugin` (code of the run's plug-in failed), `internal`.
    """

    command: Number
    code: Label
    reason: Text
    fatal: bool = False
    """The process ends after this line and must be started again."""


CommandReport: TypeAlias = (
    TrainerReady
    | Trained
    | Screened
    | GainsMeasured
    | Audited
    | AdvanceReport
    | Followed
    | Evaluated
    | Continued
    | QuestionsAnswered
    | Resting
    | Failed
)
"""A report that settles a command."""
Report: TypeAlias = TrainerHello | TrainerHeartbeat | CommandReport

decode_command: Callable[[bytes], Command] = ipc.line_decoder(Command, LINE_BYTES, "a command")
decode_report: Callable[[bytes], Report] = ipc.line_decoder(Report, LINE_BYTES, "a report")


def encode(message: Command | Report) -> bytes:
    """Encode the message as one line, newline included."""
    return ipc.encode(message)
