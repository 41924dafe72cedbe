"""Estimates of what a run takes of a computer and its connection, from the run's rules.

Formulas, with P parameters, S tokens per batch, V vocabulary size, N values of a head (P plus
padding).

- Accelerator: `MEMORY_BASE_MB` for driver and libraries; 8 P bytes for weights and gradients; 4
  for each parameter in a hidden matrix with Muon, 8 for any other and with AdamW, none with distro
  (1 and 3 with a state in 8 bits);
  8 S V bytes of logits and their gradient, of at most `MOST_LOGITS` logits; activations; or, if it
  is more than those, what a step of Muon needs beside them. Activations are those of a trainer
  that stores the inputs of layers alone, 4 bytes for each token, layer and unit of width, and
  computes one layer at a time: `OUTPUT_BYTES` for each token and output of the layer's matrices.
  `bench/memory.py` compares this with steps on a CPU; no GPU was measured. The trainer adapts its
  batch to the free memory, down to one sample: with less memory than this it is slower, until one
  sample does not fit; with more, it stores activations of all layers.
- Each rank of a cell (docs/cells.md), in all of which together the model has to fit: with the whole
  model, 8 P and an equal part of the optimiser's state; with every weight divided, an equal part of
  both, and one gathered layer; with matrices divided, an equal part, and beside it a gathered
  matrix in a step of Muon, or the gradient of the largest table; in a pipeline, its layers and
  tables, 12 bytes for each hidden value of `MICRO_BATCHES` micro-batches a rank of `BATCH_TOKENS`
  or one sample, and, as the last one, 16 bytes for each logit of one of them. No cell of cards was
  measured.
- With a frozen base, P counts the adapters' parameters; the base's files add to disk and the first
  download, and to memory what a trainer holds of them: in 4 bits that is less, and the largest
  matrix that is widened, 4 bytes a number. The width is the fewest inputs of an adapter pair. Other
  matrices of layers are as if they had that width: together all of the base but a table.
- First download: one head and the shards of the first rounds; or all shards, once the run has
  passed over its data and a store keeps what is fetched in a pass: each is fetched once then.
- Disk, at least: heads of 4 N bytes each, and 4 N more with momentum or 8 N with a down link: the
  held one, the one before and the next (`WORKING_HEADS`); trainer files of 4 N bytes for the rounds
  kept; error feedback of 2 N bytes for each contribution that may be audited; the contributions of
  `WORKING_ROUNDS` rounds; and the first download.
- Disk, after a day: the last `MAX_HEADS` heads instead, and all contributions and shards fetched
  meanwhile. The store keeps these up to its limit, for auditors and for members that return.
- Connection: each member fetches every contribution of a round except its own, its auditors fetch
  leaves of the trainer's feedback (as often as of newcomers in a run's first `NEWCOMER_WORK`
  rounds, when all keys are new), and now and then all fetch the next shard of the data: in
  the first pass, and in every one where the store has no room for a pass. These
  bytes are sent by members, so upload equals download on average. In addition, one seed fetches
  every contribution once, and every head. In a run with a down link, a member without witness
  duty fetches the step of each head instead of contributions, and keeps no residual. What it sends
  depends on the others' roles; the estimate is what it would send among witnesses alone. Gossip
  comes on top: `ANNOUNCED_BYTES` each way for each member of a round and each neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tequio_client.ipc.cell import CellNeed, Division, layers_of_stages
from tequio_client.ipc.cell_division import (
    may_propose_tensor,
    parse_fields,
    why_no_guests,
    why_undivided,
)
from tequio_client.ipc.preferences import Preferences
from tequio_shared.head import layout
from tequio_shared.limits import NEWCOMER_WORK
from tequio_shared.round.audits import opened_chunk_count
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest

MEMORY_BASE_MB = 700
BATCH_TOKENS = 4_096
"""Tokens per batch that keep a GPU busy, or one sample if that is longer."""
FROZEN_BATCH_TOKENS = 2_048
"""Tokens per batch with a frozen base, which takes most of the card's memory."""
MOST_LOGITS = 1 << 26
"""Logits that the trainer has at once, as in its `token_loss`."""
MICRO_BATCHES = 4
"""Most micro-batches of a pass for each rank of a pipeline, as in the trainer's `pipeline`."""
OUTPUT_BYTES = 9
"""Bytes for each token and output of a hidden matrix, measured: 7.1 in bfloat16, 8.6 in float32."""
MOST_COMPUTERS = 8
"""Largest cell that is proposed to volunteers."""
SHARDS = 2
"""Shards that a trainer reads in its first rounds."""
MAX_HEADS = 8
"""Heads that stay on the disk: audits need no older ones."""
WORKING_HEADS = 3
"""Heads without which a worker cannot take part: the one held, the one before, and the next one."""
WORKING_ROUNDS = 2
"""Rounds whose contributions it needs for that."""
ROUNDS_KEPT = 2
"""Rounds before the present one whose working files stay."""
WORK_FILES = 32
"""Most files in a trainer's working folder, each of the size of a head or of its momentum at most:
pseudo-gradient and feedback of each round kept and of the present one, payload, next head, its
momentum and step, four of an audit, an unfinished one beside each, and four of an audit that was
stopped."""
FEEDBACK_ROUNDS = 4
"""Rounds whose accepted contributions may still be audited, by their error feedback."""
FEEDBACK_FILES = FEEDBACK_ROUNDS + 3
"""Before and after each past contribution, the open file, and the one that the trainer writes."""
ANNOUNCED_BYTES = 2_300
"""A member's two announcements in a round, as one neighbour sends them; measured by
`bench/large_swarm.py`."""
NEIGHBOURS = 6
"""Peers in a mesh of gossip; the seed is one, too."""
_BASIS = 10_000
_HASH_BYTES = 32
_LEAF_BYTES = 2 * layout.CHUNK
_VALUE = 4
_EIGHT_BITS = 8
_HIDDEN_BYTES = 12
_STAGE_LOGIT_BYTES = 16
_LOGIT_BYTES = 8
_MUON_BYTES = 16  # for each number of a stack of matrices
_MUON_NUMBERS = 1 << 25  # most numbers of a stack
_MIB = 1 << 20
_HOUR_MS = 3_600_000
_GIB = 1 << 30
USUAL_STORE_BYTES = Preferences().disk_gib * _GIB
"""Storage limit of a volunteer that has changed nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceNeeds:
    """Estimated needs of one run: memory in MiB, everything else in bytes."""

    memory_mb: int
    disk_bytes: int
    day_disk_bytes: int
    """Disk space after a day, if the storage limit allows it."""
    first_bytes: int
    hourly_up_bytes: int
    """In the run's present pass over its data; of a plan, in the first."""
    hourly_down_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPace:
    """A round of a run, as measured lately or as planned."""

    members: int
    length_ms: int
    tokens: int
    """Accepted."""
    contributions: float | None = None
    """Accepted, on average; None: unknown. A member that has no time beside an audit sends none."""
    closed: int | None = None
    """Rounds of the run so far; None: it is planned, or has gone on for long."""


def work_bytes(manifest: Manifest) -> int:
    """Most that the working files of a run's trainer take, rounded up generously."""
    return WORK_FILES * max(manifest.weights_bytes, manifest.aux_bytes)


def estimate(
    manifest: Manifest,
    corpus: Corpus,
    pace: RoundPace,
    *,
    is_witness: bool = True,
    store_bytes: float = USUAL_STORE_BYTES,
) -> ResourceNeeds:
    """Estimate for a computer that takes part in each round."""
    parts = _RoundParts(
        manifest, corpus, pace, follows=follows_steps(manifest, is_witness=is_witness)
    )
    hourly = _HOUR_MS / max(pace.length_ms, 1)
    once, data_bytes = parts.once_and_later_data_bytes(hourly, store_bytes)
    return ResourceNeeds(
        memory_mb=memory_mb(manifest),
        disk_bytes=parts.least_disk_bytes,
        day_disk_bytes=parts.disk_bytes(round(24 * hourly)),
        first_bytes=parts.first_bytes + once,
        hourly_up_bytes=round(parts.up_bytes * hourly + data_bytes),
        hourly_down_bytes=round(parts.down_bytes * hourly + data_bytes),
    )


def follows_steps(manifest: Manifest, *, is_witness: bool) -> bool:
    """Return whether a member fetches the steps of heads instead of contributions."""
    return manifest.algorithm.down_k > 0 and not is_witness


def disk_after(manifest: Manifest, corpus: Corpus, pace: RoundPace, rounds: int) -> int:
    """Disk space that a worker uses after that number of rounds, without a storage limit."""
    return _RoundParts(manifest, corpus, pace, follows=False).disk_bytes(rounds)


class _RoundParts:
    """The parts of the estimate, in bytes, for a round and one of its members."""

    def __init__(
        self, manifest: Manifest, corpus: Corpus, pace: RoundPace, *, follows: bool
    ) -> None:
        members = max(pace.members, manifest.rounds.min_members)
        sent, audits = _contributions_and_audits(manifest, members, pace)
        contribution = contribution_bytes(manifest, round(sent))
        leaves = 2 * opened_chunk_count(manifest.chunks) * leaf_bytes(manifest.chunks)
        shard = sum(one.size_bytes for one in corpus.train) / len(corpus.train)
        shard_tokens = sum(one.tokens for one in corpus.train) / len(corpus.train)
        self._head = manifest.weights_bytes + (0 if follows else manifest.aux_bytes)
        self._payloads = contribution + manifest.step_bytes if follows else sent * contribution
        self._shards = shard * pace.tokens / shard_tokens
        self._all_shards = shard * len(corpus.train)
        shards = sorted((one.size_bytes for one in corpus.train), reverse=True)
        self._first_shards = sum(shards[:SHARDS])
        self._is_first_pass = (pace.closed or 0) * self._shards < self._all_shards
        others = leaves * audits / members
        exchanged = (sent - sent / members) * contribution + others
        gossip = gossip_bytes(members)
        fetched = manifest.step_bytes + others if follows else exchanged
        self.down_bytes = fetched + gossip
        to_seed = sent * contribution + self._head
        self.up_bytes = exchanged + to_seed / members + gossip
        self._base = manifest.frozen.size_bytes if manifest.frozen else 0
        feedback = FEEDBACK_FILES * _LEAF_BYTES * manifest.chunks
        self._working = (ROUNDS_KEPT + 1) * manifest.weights_bytes + feedback
        self.first_bytes = self._head + self._first_shards + self._base

    @property
    def least_disk_bytes(self) -> int:
        heads = (WORKING_HEADS - 1) * self._head
        payloads = WORKING_ROUNDS * self._payloads
        return self.first_bytes + round(heads + payloads) + self._working

    def once_and_later_data_bytes(self, rounds: float, store_bytes: float) -> tuple[int, float]:
        """Bytes of data beside the first shards: fetched once, and in that number of rounds."""
        fetched = rounds * self._shards
        if not self._shards:
            return 0, 0.0
        if self.disk_bytes(math.ceil(self._all_shards / self._shards)) > store_bytes:
            return 0, fetched  # a shard has left the store when the next pass needs it
        lacking = round(self._all_shards) - self._first_shards
        return (0, min(fetched, lacking)) if self._is_first_pass else (lacking, 0.0)

    def disk_bytes(self, rounds: int) -> int:
        heads = min(rounds + 1, MAX_HEADS) * self._head
        shards = min(self._first_shards + rounds * self._shards, self._all_shards)
        return round(heads + shards + rounds * self._payloads) + self._base + self._working


def _contributions_and_audits(
    manifest: Manifest, members: int, pace: RoundPace
) -> tuple[float, float]:
    """Contributions and audits in a round; without figures, as the run's rules have it."""
    is_young = pace.closed is not None and pace.closed < NEWCOMER_WORK
    often, seldom = manifest.audits.unproven_bp / _BASIS, manifest.audits.others_bp / _BASIS
    rate = often if is_young else seldom
    if pace.contributions is None:
        sent = members / (1 + rate)
        return sent, sent * rate
    sent = min(max(pace.contributions, 1.0), members)
    # One that sends nothing audits, or is away; others audit, and train in the time that is left.
    return sent, max(min(members - sent, sent * often), sent * rate)


def leaf_bytes(chunks: int) -> int:
    """Size of a leaf of the error feedback with its proof."""
    return _LEAF_BYTES + _HASH_BYTES * math.ceil(math.log2(max(chunks, 2)))


def gossip_bytes(members: int) -> int:
    """Bytes that one member receives in a round by gossip, and about as many that it sends."""
    return members * min(members, NEIGHBOURS) * ANNOUNCED_BYTES


def contribution_bytes(manifest: Manifest, trainers: int) -> int:
    """Size of one contribution's payload with this many trainers."""
    return manifest.chunks * manifest.record_shape(trainers).record_bytes


def memory_mb(manifest: Manifest) -> int:
    batch = FROZEN_BATCH_TOKENS if manifest.frozen else BATCH_TOKENS
    return _memory_mb(manifest, max(batch, manifest.model.sequence))


def min_memory_mb(manifest: Manifest) -> int:
    """Accelerator memory below which not even one sample fits, MiB."""
    return _memory_mb(manifest, manifest.model.sequence)


def rank_memory_mb(manifest: Manifest, ranks: int, division: Division) -> int:
    """Accelerator memory of the rank of a cell that needs most, MiB."""
    tokens = max(BATCH_TOKENS, manifest.model.sequence)
    held, state = _held_bytes(manifest), _state_bytes(manifest)
    every = 2 * _VALUE * manifest.model.parameters
    if division == "none":
        least = _passing_bytes(manifest, manifest.model.sequence)
        return _with_base(held + every + (state - every) / ranks + least)
    layers, width, outputs = _outline(manifest)
    if division == "shard":
        gathered = 2 * _VALUE * _hidden_numbers(manifest) / layers
        return _with_base(state / ranks + gathered + _passing_bytes(manifest, tokens))
    if division == "tensor":
        hidden = max((math.prod(shape) for _, shape in _hidden(manifest)), default=0)
        tables = max(map(math.prod, _tables(manifest)), default=0)
        gathered = max(_MUON_BYTES * hidden, _VALUE * tables)
        return _with_base(state / ranks + gathered + _passing_bytes(manifest, tokens))
    passed = tokens * (_HIDDEN_BYTES * width * MICRO_BATCHES * ranks + OUTPUT_BYTES * outputs)
    logits = _STAGE_LOGIT_BYTES * tokens * manifest.tokenizer.vocab_size
    stages = stage_parameters(manifest, ranks)
    per_weight = state / manifest.model.parameters
    most = max(one * per_weight + logits * (rank == ranks - 1) for rank, one in enumerate(stages))
    return _with_base(most + passed)


def cell_needs(manifest: Manifest, config: bytes | None) -> tuple[CellNeed, ...]:
    """Needs of the cells that could train the run, by their size; the simplest kind first.

    Of one size, a kind is left out that needs no less than a simpler one. Without the model's
    configuration (None), nothing tells what the trainer could divide, so each rank has all of it.
    """
    if why_no_guests(manifest):
        return ()  # nor would one of a single computer need less: adapters are not divided
    fields = parse_fields(config)
    sizes = range(2, MOST_COMPUTERS + 1)
    return tuple(one for ranks in sizes for one in _needs_of_size(manifest, fields, ranks))


def _needs_of_size(
    manifest: Manifest,
    config: Mapping[str, Any],  # JSON of any model
    ranks: int,
) -> Iterator[CellNeed]:
    def need(kind: Division) -> CellNeed:
        needed = rank_memory_mb(manifest, ranks, kind)
        return CellNeed(ranks=ranks, division=kind, memory_mb=needed)

    def may_be(kind: Division) -> bool:
        return not why_undivided(kind, manifest, config, ranks)

    hosted = [need("none"), *([need("pipeline")] if may_be("pipeline") else ())]
    # `tequio cell host` opens both; a slow network suits the one that needs less.
    kinds = [min(hosted, key=lambda one: one.memory_mb)]
    if may_be("shard"):
        kinds.append(need("shard"))
    if may_propose_tensor(manifest, config, ranks):
        kinds.append(need("tensor"))
    for at, one in enumerate(kinds):
        if all(one.memory_mb < other.memory_mb for other in kinds[:at]):
            yield one


def hidden_width(manifest: Manifest) -> int:
    """Values that pass from layer to layer for each token."""
    _, width, _ = _outline(manifest)
    return width


def stage_parameters(manifest: Manifest, ranks: int) -> list[float]:
    """Weights of each rank of a pipeline, as the trainer divides layers; norms are left out."""
    layers, _, _ = _outline(manifest)
    each = _hidden_numbers(manifest) / layers
    tables = [math.prod(shape) for shape in _tables(manifest)]
    # the same one twice if tied: a rank has a copy
    first, last = (tables[0], tables[-1]) if tables else (0, 0)
    counts = layers_of_stages(layers, ranks, each=each, first=first, last=last)
    stages = [each * count for count in counts]
    stages[0] += first
    stages[-1] += last
    return stages


def tied_parameters(manifest: Manifest) -> int:
    """Weights of an embedding that is the output layer, too; 0 where these are two tables."""
    tables = _tables(manifest)
    return math.prod(tables[0]) if len(tables) == 1 else 0


def _memory_mb(manifest: Manifest, tokens: int) -> int:
    taken = _held_bytes(manifest) + _state_bytes(manifest) + _passing_bytes(manifest, tokens)
    return _with_base(taken)


def _with_base(taken_bytes: float) -> int:
    return MEMORY_BASE_MB + math.ceil(taken_bytes / _MIB)


def _passing_bytes(manifest: Manifest, tokens: int) -> int:
    """Logits and activations, or what a step of Muon needs beside them."""
    logits = min(tokens * manifest.tokenizer.vocab_size, MOST_LOGITS) * _LOGIT_BYTES
    layers, width, outputs = _outline(manifest)
    activations = tokens * (_VALUE * layers * width + OUTPUT_BYTES * outputs)
    hidden = _hidden_numbers(manifest) if _uses_muon(manifest) else 0
    return max(logits + activations, _MUON_BYTES * min(hidden, _MUON_NUMBERS))


def _uses_muon(manifest: Manifest) -> bool:
    return manifest.algorithm.name != "distro" and manifest.inner.optimiser == "muon"


def _state_bytes(manifest: Manifest) -> int:
    """Weights, gradients and the optimiser's state."""
    every = manifest.model.parameters
    if manifest.algorithm.name == "distro":
        return 2 * _VALUE * every
    hidden = _hidden_numbers(manifest) if _uses_muon(manifest) else 0
    momentum, variance = (1, 2) if manifest.inner.state_bits == _EIGHT_BITS else (_VALUE, _VALUE)
    return (2 * _VALUE + momentum) * every + variance * (every - hidden)


def _hidden_numbers(manifest: Manifest) -> int:
    return sum(math.prod(shape) for _, shape in _hidden(manifest))


def _hidden(manifest: Manifest) -> list[tuple[str, tuple[int, ...]]]:
    """Matrices of layers, whose names have numbers; others are tables and output layers."""
    return [
        (name, shape)
        for name, shape in manifest.model.tensors
        if len(shape) > 1 and any(part.isdigit() for part in name.split("."))
    ]


def _tables(manifest: Manifest) -> list[tuple[int, ...]]:
    """Shapes of the other matrices: of the input and the output layer, once if they are tied."""
    return [
        shape
        for name, shape in manifest.model.tensors
        if len(shape) > 1 and not any(part.isdigit() for part in name.split("."))
    ]


def _held_bytes(manifest: Manifest) -> int:
    base, listed = manifest.frozen, manifest.model.tensors
    if base is None:
        return 0
    sides = layout.adapted_modules(listed).values() if base.is_in_4_bits else ()
    widened = max((rows * columns for rows, columns in sides), default=0)
    return layout.held_bytes(base, listed) + _VALUE * widened


def _outline(manifest: Manifest) -> tuple[int, int, int]:
    """Number of layers, width, and outputs of a layer's matrices, from the tensors.

    Layers are counted by the numbers in names (`layers.3.`); the width is the largest shorter side
    of a matrix, which is the embedding or a projection.
    """
    numbers = {
        part for name, _ in manifest.model.tensors for part in name.split(".") if part.isdigit()
    }
    layers = max(len(numbers), 1)
    if manifest.frozen:
        sides = layout.adapted_modules(manifest.model.tensors).values()
        width = min(columns for _, columns in sides)
        tables = width * manifest.tokenizer.vocab_size
        plain = manifest.frozen.parameters - tables - sum(map(math.prod, sides))
        rows = sum(rows for rows, _ in sides) + max(plain, 0) / width
        return layers, width, math.ceil(rows / layers)
    matrices = [shape for _, shape in manifest.model.tensors if len(shape) > 1]
    width = max((min(shape) for shape in matrices), default=1)
    rows = sum(shape[0] for _, shape in _hidden(manifest))
    return layers, width, math.ceil(rows / layers)
