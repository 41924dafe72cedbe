"""The run manifest: every rule that an organiser fixes.

Canonical JSON (integers and names only, no floats), stored as a blob. `run_id` is the SHA-256 of
its bytes, so a run id commits to all rules of the run. Organisers write TOML; `tequio run open`
resolves it into this. The data manifest that it names is `corpus.Corpus`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.head import layout as head_layout
from tequio_shared.head.contribution import BITS, DENSE_K, RecordShape, k_for_trainers
from tequio_shared.head.head import WEIGHT_BYTES, OuterParams, aux_dtype
from tequio_shared.head.layout import CHUNK, FrozenBase, WeightLayout, count_chunks
from tequio_shared.head.step import record_bytes
from tequio_shared.ids import (
    STEERING,
    Bytes32Text,
    MaybeBytes32Text,
    Natural,
    Positive,
    RunId,
    sha256,
)
from tequio_shared.limits import (
    CONTRIBUTORS,
    DOCUMENT_BYTES,
    JSON_INTEGER,
    MEASURED_REQUESTS,
    MEASURED_TASKS,
    WITNESSES,
    WORSE_MARGIN,
)
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.round.plugin import PluginSpec
from tequio_shared.round.points import trainer_gflop

if TYPE_CHECKING:
    import numpy as np

Name = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._ -]{0,63}\Z")]
Description = Annotated[str, Meta(min_length=1, max_length=600, pattern=rf"\A[^{STEERING}]*\Z")]
Licence = Annotated[str, Meta(max_length=64, pattern=r"\A[A-Za-z0-9][A-Za-z0-9.+() -]*\Z")]
"""An SPDX expression."""
Milliseconds = Annotated[int, Meta(ge=0, le=86_400_000)]
MirrorUrl = Annotated[
    str,
    Meta(
        max_length=256, pattern=r"\Ahttps?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~%+/-]*)?\Z"
    ),
]
MUON_MOMENTUM = 0.95
"""Muon's momentum in runs that choose none."""
LEAST_RATE = Fraction(1, 10)
"""Share of a run's learning rates below which they do not fall at its end.

Error feedback comes from the larger rates of earlier rounds. Beside an update of much smaller ones
its rounding would hide honest work from an audit, which then counts as not done.
"""


class ModelSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The trained model: a network, or the adapters beside a frozen one (`Manifest.base`).

    `config` names the Hugging Face config.json (SHA-256); `tensors` is [name, shape] in ascending
    byte order of the name, `aliases` is [other name, name] for tied weights; `weights_root` and
    `aux_root` are the roots of head 0; `sequence` is the length of a training sample in tokens.
    """

    config: Bytes32Text
    parameters: Positive
    tensors: tuple[tuple[str, tuple[Positive, ...]], ...]
    aliases: tuple[tuple[str, str], ...]
    weights_root: Bytes32Text
    aux_root: Bytes32Text
    sequence: Annotated[int, Meta(ge=2, le=1 << 20)]


TokenizerKind: TypeAlias = Literal["bytes", "huggingface", "plugin"]


class Tokenizer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`bytes` (256 symbols), or a `file` that is named by its SHA-256.

    With `huggingface` it is a tokenizer.json; with `plugin` the table of what each id stands for
    (`token_table`), and code of the run's plug-in chooses the ids of a text.
    """

    kind: TokenizerKind
    file: MaybeBytes32Text
    vocab_size: Positive


class DataSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The token shards: `manifest` is the SHA-256 of the data manifest, `root` its Merkle root."""

    manifest: Bytes32Text
    root: Bytes32Text
    mirrors: Annotated[tuple[MirrorUrl, ...], Meta(min_length=1, max_length=4)] | UnsetType = UNSET
    """Folders on the web that have the shards under the names of `Corpus.files`."""


class Algorithm(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The outer step (docs/protocol.md, head): names and integers of its constants table.

    `schedule` rows are [first round, alpha_q (2^-20), lambda_q (2^-30)], ascending from round 1.
    """

    name: Literal["sparseloco", "distro", "diloco"] = "sparseloco"
    layout: Literal["flat", "tile64"] = "flat"
    k: Literal[0, 8, 16, 32, 64, 128, 256, 512, 4096] = 0
    bits: Literal[1, 2, 4, 8] = 2
    delta: Annotated[int, Meta(ge=0, le=200)] = 8
    z2: Annotated[int, Meta(ge=0, le=1 << 20)] = 16
    token_cap: Annotated[int, Meta(ge=1, le=1 << 40)] = 1 << 40
    down_k: Literal[0, 8, 16, 32, 64, 128, 256, 512] = 0
    mu_q: Annotated[int, Meta(ge=0, le=32_440)] = 0
    max_inner_steps: Annotated[int, Meta(ge=1, le=65_535)] = 500
    schedule: tuple[tuple[Positive, Positive, Natural], ...] = ((1, 1 << 20, 0),)


class InnerParams(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The trainer's inner steps, the same for all so that a witness can repeat them.

    Learning rates are in units of 1e-9; `feedback_q15` is the error feedback's decay in 2^-15;
    `clip_e3` the gradient norm clip in 1e-3; `decay_e6` the inner weight decay in 1e-6. Learning
    rates rise over the first `warmup_rounds` and fall over the last `anneal_rounds`, both linearly,
    and not below `LEAST_RATE` of these.
    With documents `apart`, a token of a sample sees only the document that it is in. `state_bits`
    are those in which an optimiser keeps its momentum from step to step.

    `z_loss_e9` is the weight, in 1e-9, of the squared logarithm of the softmax's denominator, which
    is added to each target's loss in training (PaLM, arXiv 2204.02311, section 5; ST-MoE, arXiv
    2202.08906): it keeps logits from drifting. 1e-4 is usual; absent: none.

    `momentum_e3` is Muon's momentum in 1e-3; absent: `MUON_MOMENTUM`.
    """

    optimiser: Literal["muon", "adamw"] = "muon"
    state_bits: Literal[32, 8] = 32
    steps: Annotated[int, Meta(ge=1, le=65_535)] = 30
    lr_e9: Positive = 3_000_000
    adam_lr_e9: Positive = 3_000_000
    feedback_q15: Annotated[int, Meta(ge=0, le=32_768)] = 31_130
    clip_e3: Positive = 1_000
    decay_e6: Natural = 0
    documents: Literal["joined", "apart"] = "joined"
    warmup_rounds: Natural = 0
    anneal_rounds: Natural = 0
    z_loss_e9: Annotated[int, Meta(ge=1, le=1_000_000_000)] | UnsetType = UNSET
    momentum_e3: Annotated[int, Meta(ge=0, le=999)] | UnsetType = UNSET

    @property
    def z_loss(self) -> float:
        """Weight of the z-loss; 0.0 without one."""
        return 0.0 if isinstance(self.z_loss_e9, UnsetType) else self.z_loss_e9 / 1e9

    @property
    def momentum(self) -> float:
        """Muon's momentum, from one inner step to the next."""
        chosen = self.momentum_e3
        return MUON_MOMENTUM if isinstance(chosen, UnsetType) else chosen / 1e3


class WindowRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The unit of assigned work: `samples` sequences, `tokens` in all.

    A peer without verified speed gets `first` windows, no peer more than `most` per round.
    """

    samples: Positive
    tokens: Positive
    first: Positive
    most: Positive
    seed: Natural = 0


class RoundRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Durations in milliseconds; `train` is the target, `train_limit` the deadline."""

    min_members: Annotated[int, Meta(ge=2, le=CONTRIBUTORS)] = 2
    most_members: Annotated[int, Meta(ge=2, le=CONTRIBUTORS)] = 256
    warmup: Milliseconds = 5_000
    train: Milliseconds = 60_000
    train_limit: Milliseconds = 180_000
    witness: Milliseconds = 60_000
    grace: Milliseconds = 1_000
    attest: Milliseconds = 60_000
    cooldown: Milliseconds = 60_000
    most: Annotated[int, Meta(ge=1, le=1 << 40)] = 1_000

    def shown(self, number: int) -> int:
        """Number to show beside `most`: in rounds after the last training, members only audit."""
        return min(number, self.most)


class Admission(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Members that a roster admits: least tiers, and the most that one owner may hold.

    `owner_seats` bounds the slots with the role witness, and so the seats in every committee.
    """

    trainer_tier: Annotated[int, Meta(ge=0, le=2)] = 0
    witness_tier: Annotated[int, Meta(ge=0, le=2)] = 0
    owner_slots: Annotated[int, Meta(ge=1, le=CONTRIBUTORS)] = CONTRIBUTORS
    owner_seats: Annotated[int, Meta(ge=1, le=CONTRIBUTORS)] = CONTRIBUTORS


class MeasureRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Heads that drawn members measure: one in `every` rounds, 0 for none.

    The lot falls on `members` of them; each scores whole held-out documents from the first one on
    until `tokens` are reached.
    """

    every: Annotated[int, Meta(ge=0, le=1 << 40)] = 10
    members: Annotated[int, Meta(ge=1, le=WITNESSES)] = 3
    tokens: Annotated[int, Meta(ge=1, le=1 << 40)] = 16_384
    margin: Annotated[int, Meta(ge=1, le=8_000)] | UnsetType = UNSET
    """Thousandths of a bit per byte by which a worse head differs; absent: `WORSE_MARGIN`."""
    tasks: (
        Annotated[tuple[MeasuredTask, ...], Meta(min_length=1, max_length=MEASURED_TASKS)]
        | UnsetType
    ) = UNSET
    """Multiple-choice questions that these members answer, too; absent: none."""

    @property
    def answered(self) -> tuple[MeasuredTask, ...]:
        """The tasks, in the order in which measures count them."""
        return () if isinstance(self.tasks, UnsetType) else self.tasks

    @property
    def least_agreeing(self) -> int:
        """Agreeing measures that judge a head: more than half, and nobody's word alone."""
        return max(self.members // 2 + 1, 2)

    @property
    def worse_margin(self) -> int:
        return WORSE_MARGIN if isinstance(self.margin, UnsetType) else self.margin


class AuditRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Share of the contributions that are repeated, in 1/10000: of unproven keys, and of others."""

    unproven_bp: Annotated[int, Meta(ge=0, le=10_000)] = 5_000
    others_bp: Annotated[int, Meta(ge=0, le=10_000)] = 500


class ParentHead(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Head of another run, whose weights are this run's first: made by that run's `round`."""

    network: Bytes32Text
    run: Bytes32Text
    round: Natural
    head: Bytes32Text


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """Every rule of one run."""

    v: Literal[1] = 1
    name: Name
    description: Description | UnsetType = UNSET
    """Purpose of the run, for people; absent: none is stated."""
    licence: Licence | UnsetType = UNSET
    """Licence of the trained weights; absent: none is named."""
    model: ModelSpec
    tokenizer: Tokenizer
    data: DataSpec
    algorithm: Algorithm
    inner: InnerParams
    windows: WindowRules
    rounds: RoundRules
    witness_share_bp: Annotated[int, Meta(ge=0, le=5_000)] = 500
    admission: Admission | UnsetType = UNSET
    """Absent: every tier is admitted, as in runs that predate the field."""
    measure: MeasureRules | UnsetType = UNSET
    """Absent: nobody is drawn to measure a head, as in runs that predate the field."""
    audit: AuditRules | UnsetType = UNSET
    """Absent: no contribution is repeated."""
    base: FrozenBase | UnsetType = UNSET
    """Absent: all weights are trained; else adapters beside this frozen base."""
    parent: ParentHead | UnsetType = UNSET
    """Absent: the run continues no other run."""
    plugin: PluginSpec | UnsetType = UNSET
    """Absent: all code is that of the release."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @cached_property  # in the input of every lot and the hash of every head
    def run_id(self) -> RunId:
        """SHA-256 of the canonical bytes."""
        return RunId(sha256(self.encode()))

    @property
    def layout(self) -> WeightLayout:
        return WeightLayout.of(self.model.tensors, self.algorithm.layout)

    @property
    def chunks(self) -> int:
        """Chunks of 4096 elements in the master copy."""
        return count_chunks(self.model.tensors, self.algorithm.layout)

    def record_shape(self, trainers: int) -> RecordShape:
        """Shape of the records in a round of that many trainers: the fewer, the larger."""
        algorithm = self.algorithm
        k = algorithm.k or k_for_trainers(trainers)
        return RecordShape(algorithm=algorithm.name, k=k, bits=algorithm.bits)

    @property
    def weights_bytes(self) -> int:
        """Size of a head's weights, the master copy."""
        return WEIGHT_BYTES * self.layout.elements

    @property
    def aux_dtype(self) -> np.dtype[Any] | None:
        return aux_dtype(mu_q=self.algorithm.mu_q, down_k=self.algorithm.down_k)

    @property
    def aux_bytes(self) -> int:
        """Size of the state beside a head's weights (residual or momentum); 0 without one."""
        return self.aux_dtype.itemsize * self.layout.elements if self.aux_dtype else 0

    @property
    def step_bytes(self) -> int:
        """Size of the step of a head, whatever the number of members; 0 without a down link."""
        down_k = self.algorithm.down_k
        return self.chunks * record_bytes(down_k) if down_k else 0

    @classmethod
    def parse(cls, raw: bytes) -> Manifest:
        """Read and check a manifest; raises MalformedError with the first fault."""
        manifest = encoding.decode(raw, cls, DOCUMENT_BYTES)
        # In this order: a later check may rely on the earlier ones.
        fault = (
            _tensor_fault(manifest.model)
            or _base_fault(manifest)
            or _tokenizer_fault(manifest.tokenizer)
            or _algorithm_fault(manifest.algorithm)
            or _window_fault(manifest)
            or _plugin_fault(manifest)
            or _task_fault(manifest)
            or _size_fault(manifest)
        )
        if fault:
            raise MalformedError(f"manifest: {fault}")
        return manifest

    @property
    def admits(self) -> Admission:
        return _EVERYBODY if isinstance(self.admission, UnsetType) else self.admission

    @property
    def measures(self) -> MeasureRules:
        return _NOTHING if isinstance(self.measure, UnsetType) else self.measure

    @property
    def audits(self) -> AuditRules:
        return _NO_AUDITS if isinstance(self.audit, UnsetType) else self.audit

    @property
    def mirrors(self) -> tuple[str, ...]:
        """Folders on the web that have the data."""
        found = self.data.mirrors
        return () if isinstance(found, UnsetType) else found

    @property
    def frozen(self) -> FrozenBase | None:
        """The frozen base, or None when all weights are trained."""
        return None if isinstance(self.base, UnsetType) else self.base

    @property
    def continued(self) -> ParentHead | None:
        """The head of another run that this one continues, or None."""
        return None if isinstance(self.parent, UnsetType) else self.parent

    @property
    def own_code(self) -> PluginSpec | None:
        """The plug-in that the run brings, or None."""
        return None if isinstance(self.plugin, UnsetType) else self.plugin

    @property
    def trainer_code(self) -> PluginSpec | None:
        """The plug-in that trainers of the run load, or None: a tokenizer alone is not loaded."""
        return self.own_code if self.own_code and self.own_code.trains else None

    @property
    def parameters(self) -> int:
        """Parameters of the network, frozen ones included."""
        return self.model.parameters + (self.frozen.parameters if self.frozen else 0)

    def gflop(self, tokens: int) -> int:
        still = self.frozen.parameters if self.frozen else 0
        return trainer_gflop(tokens, self.model.parameters, still)

    def schedule_at(self, round_number: int) -> tuple[int, int]:
        """(alpha_q, lambda_q) in force in that round."""
        rows = [row for row in self.algorithm.schedule if row[0] <= round_number]
        _, alpha_q, lambda_q = rows[-1]
        return alpha_q, lambda_q

    def inner_at(self, round_number: int) -> InnerParams:
        """The trainers' recipe in that round: its learning rates are those of the schedule."""
        inner, left = self.inner, self.rounds.most - round_number
        share = Fraction(1)
        # Taken in the middle of a round: no round has a rate of zero, and all of its steps have the
        # same one, because only their number is in a header.
        if inner.warmup_rounds:
            share = min(share, Fraction(2 * round_number - 1, 2 * inner.warmup_rounds))
        if inner.anneal_rounds:
            share = min(share, max(Fraction(2 * left + 1, 2 * inner.anneal_rounds), LEAST_RATE))
        return structs.replace(
            inner,
            lr_e9=max(int(inner.lr_e9 * share), 1),
            adam_lr_e9=max(int(inner.adam_lr_e9 * share), 1),
        )

    def outer_params(self, round_number: int, k: int) -> OuterParams:
        """Numbers of that round's outer step, with its k resolved."""
        rules = self.algorithm
        alpha_q, lambda_q = self.schedule_at(round_number)
        return OuterParams(
            algorithm=rules.name,
            layout=rules.layout,
            k=k,
            bits=rules.bits,
            alpha_q=alpha_q,
            lambda_q=lambda_q,
            delta=rules.delta,
            z2=rules.z2,
            token_cap=rules.token_cap,
            mu_q=rules.mu_q,
            down_k=rules.down_k,
        )


_EVERYBODY = Admission()
_NOTHING = MeasureRules(every=0)
_NO_AUDITS = AuditRules(unproven_bp=0, others_bp=0)
_MOST_WINDOWS = 2**32 - 1  # window_count in a contribution header is a u32
_MOST_POINTS = 2**62  # of a run, in gflop: their sum still fits a database integer


# Each fault names the field and the rule: an organiser reads it while writing the plan.
def _tensor_fault(model: ModelSpec) -> str:
    names = [name.encode() for name, _ in model.tensors]
    if names != sorted(set(names)):
        return "model.tensors must be unique and in ascending byte order of their names"
    if not names:
        return "model.tensors is empty"
    if model.parameters != sum(math.prod(shape) for _, shape in model.tensors):
        return "model.parameters does not match model.tensors"
    return _alias_fault(model)


def _base_fault(manifest: Manifest) -> str:
    base, model = manifest.frozen, manifest.model
    return next(head_layout.base_faults(base, model.tensors, model.aliases), "") if base else ""


def _tokenizer_fault(tokenizer: Tokenizer) -> str:
    if (tokenizer.kind == "bytes") != (tokenizer.file == ""):
        return "tokenizer.file must be empty for bytes, and only there"
    return ""


def _alias_fault(model: ModelSpec) -> str:
    stored, others = {name for name, _ in model.tensors}, [alias for alias, _ in model.aliases]
    if stored & set(others):
        return "model.aliases names a tensor that has its own storage"
    if len(set(others)) < len(others) or not {name for _, name in model.aliases} <= stored:
        return "model.aliases must name each alias once, and only tensors of model.tensors"
    return ""


def _algorithm_fault(algorithm: Algorithm) -> str:
    firsts = [row[0] for row in algorithm.schedule]
    if not firsts or firsts[0] != 1 or firsts != sorted(set(firsts)):
        return "algorithm.schedule must ascend from round 1"
    top = 1 << (20 if algorithm.name == "distro" else 22)
    if any(not (1 <= alpha <= top and decay < 1 << 22) for _, alpha, decay in algorithm.schedule):
        return f"algorithm.schedule: alpha_q must be 1..{top} and lambda_q below {1 << 22}"
    return _variant_fault(algorithm)


def _variant_fault(algorithm: Algorithm) -> str:
    name = algorithm.name
    faults = {
        "layout must be tile64 for distro and flat otherwise": (algorithm.layout == "tile64")
        != (name == "distro"),
        f"bits {algorithm.bits} is not allowed for {name}": algorithm.bits not in BITS[name],
        "k must be 4096 for diloco and only there": (algorithm.k == DENSE_K) != (name == "diloco"),
        "down_k cannot be combined with mu_q or with distro": bool(algorithm.down_k)
        and (bool(algorithm.mu_q) or name == "distro"),
        "mu_q is allowed for diloco only": bool(algorithm.mu_q) and name != "diloco",
    }
    return next((f"algorithm.{fault}" for fault, broken in faults.items() if broken), "")


def _window_fault(manifest: Manifest) -> str:
    windows, rounds, inner = manifest.windows, manifest.rounds, manifest.inner
    faults = {
        "windows.tokens must be windows.samples times model.sequence": windows.tokens
        != windows.samples * manifest.model.sequence,
        "windows.first is larger than windows.most": windows.first > windows.most,
        "rounds.train_limit is shorter than rounds.train": rounds.train_limit < rounds.train,
        "rounds.most_members is below rounds.min_members": rounds.most_members < rounds.min_members,
        "inner.steps is above algorithm.max_inner_steps": inner.steps
        > manifest.algorithm.max_inner_steps,
        "inner.steps must be 1 for distro, whose round is one step": inner.steps != 1
        and manifest.algorithm.name == "distro",
        "inner.warmup_rounds and inner.anneal_rounds are together above rounds.most": rounds.most
        < inner.warmup_rounds + inner.anneal_rounds,
    }
    return next((fault for fault, broken in faults.items() if broken), "")


def _plugin_fault(manifest: Manifest) -> str:
    code, has_base = manifest.own_code, manifest.frozen is not None
    brings_tokenizer = code is not None and "tokenizer" in code.provides
    if (manifest.tokenizer.kind == "plugin") != brings_tokenizer:
        return "tokenizer.kind must be plugin if plugin.provides has tokenizer, and only then"
    return code.fault(manifest.algorithm.name, has_base=has_base) if code else ""


def _task_fault(manifest: Manifest) -> str:
    rules, files = manifest.measures, [one.file for one in manifest.measures.answered]
    requests = sum(one.requests for one in rules.answered)
    faults = {
        "measure.tasks needs measure.every above 0: no head is measured": not rules.every,
        "measure.tasks names a file twice": len(set(files)) < len(files),
        f"measure.tasks has {requests} choices, and at most {MEASURED_REQUESTS} are allowed": (
            requests > MEASURED_REQUESTS
        ),
        # Members that measure may not have allowed the code, and verifiers run none.
        "measure.tasks must be absent if tokenizer.kind is plugin": manifest.tokenizer.kind
        == "plugin",
    }
    broken = (fault for fault, is_broken in faults.items() if is_broken)
    return next(broken, "") if files else ""


def _size_fault(manifest: Manifest) -> str:
    """Check the sizes, so that every roster, result and header of the run can be written."""
    windows, rounds, model = manifest.windows, manifest.rounds, manifest.model
    elements = CHUNK * manifest.chunks
    if elements > 2 * model.parameters + CHUNK * len(model.tensors):
        return f"model.tensors are mostly padding: {elements} elements in the master copy"
    tokens = rounds.most_members * windows.most * windows.tokens
    if windows.most > _MOST_WINDOWS or tokens > JSON_INTEGER:
        return "windows.most is more than a round can hold"
    points = manifest.gflop(tokens)
    if points > JSON_INTEGER or points * rounds.most > _MOST_POINTS:
        return "the points of a round, or of all rounds, exceed what can be counted"
    return ""
