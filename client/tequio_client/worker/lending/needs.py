"""What a run takes of a computer and its line, reckoned from the run's rules: for eyes, and choice.

Formulas, with P parameters, S the tokens that go through the network at once, V symbols, N values
of a head (P and some padding), m members.

- Accelerator: `MEMORY_BASE_MB` for driver and libraries; 4 P bytes each for weights, gradients, the
  weights that the round started from and the difference; 4 P for Muon's momentum or 8 P for AdamW's
  two (the larger is taken); and for activations 2 x 4 S V bytes of logits and their gradient and
  34 bytes for each token, layer and unit of width, where width and layers are read off the tensors
  (Korthikanti et al. 2022, section 4.1, without attention's own square). The trainer takes more at
  once where there is room, and halves that down to one sample where there is none: less memory than
  this is slower, until one sample does not fit. Nobody has measured it on a card yet.
- Where a base is frozen, P are the adapters' parameters, its files come to memory, disk and what is
  fetched first, and the width is the shortest of what goes into a pair. Of activations 4 bytes for
  each token, layer and unit of width, and 34 for one layer: on a tight card the trainer keeps only
  inputs of layers.
- Disk: two heads of 4 N bytes (the one held and the next), three files of 4 N of the trainer, the
  contributions of two rounds, and the shards of a volunteer's first rounds.
- First: one head, those shards.
- Line: each member fetches every contribution of a round but its own. What all fetch together all
  send together, so on average as much goes up as comes down. Seeds make it less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.head import layout
from tequio_shared.head.contribution import RecordShape, k_for_trainers
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from tequio_shared.round.data import Corpus
    from tequio_shared.round.manifest import Manifest

MEMORY_BASE_MB = 700
BATCH_TOKENS = 8_192
"""Tokens that go through the network at once on a GPU, if one sample is not more."""
FROZEN_BATCH_TOKENS = 2_048
"""The same where a base is frozen, which takes most of the card."""
SHARDS = 2
"""Shards that a volunteer touches in its first rounds."""
_VALUE = 4
_COPIES = 4  # weights, gradients, the start, the difference
_ADAM = 2
_UNIT_BYTES = 34
_TRAINER_FILES = 3
_HEADS = 2
_ROUNDS = 2
_MIB = 1 << 20
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Memory in MiB, the rest in bytes."""

    memory_mb: int
    disk_bytes: int
    first_bytes: int
    hourly_up_bytes: int
    hourly_down_bytes: int


def needs(manifest: Manifest, corpus: Corpus, members: int, round_ms: int) -> Needs:
    """Reckon; `round_ms` is how long a round takes, `members` how many are in it now."""
    head = _VALUE * CHUNK * manifest.chunks
    shards = sorted((shard.size_bytes for shard in corpus.train), reverse=True)
    first = head + sum(shards[:SHARDS]) + _base_bytes(manifest)
    others = max(members, manifest.rounds.min_members) - 1
    a_round = others * contribution_bytes(manifest, others + 1)
    hourly = a_round * _HOUR_MS // max(round_ms, 1)
    return Needs(
        memory_mb=memory_mb(manifest),
        disk_bytes=first + (_HEADS - 1 + _TRAINER_FILES) * head + _ROUNDS * a_round,
        first_bytes=first,
        hourly_up_bytes=hourly,
        hourly_down_bytes=hourly,
    )


def contribution_bytes(manifest: Manifest, trainers: int) -> int:
    """Size of one contribution's payload when so many train."""
    rules = manifest.algorithm
    shape = RecordShape(
        algorithm=rules.name, k=rules.k or k_for_trainers(trainers), bits=rules.bits
    )
    return manifest.chunks * shape.record_bytes


def memory_mb(manifest: Manifest) -> int:
    """Accelerator memory for training, MiB."""
    batch = FROZEN_BATCH_TOKENS if manifest.frozen else BATCH_TOKENS
    return _memory_mb(manifest, max(batch, manifest.model.sequence))


def least_memory_mb(manifest: Manifest) -> int:
    """Accelerator memory without which not one sample fits, MiB."""
    return _memory_mb(manifest, manifest.model.sequence)


def _memory_mb(manifest: Manifest, tokens: int) -> int:
    model = manifest.model
    states = (_COPIES + _ADAM) * _VALUE * model.parameters
    logits = 2 * _VALUE * tokens * manifest.tokenizer.vocab_size
    layers, width = _outline(manifest)
    kept = _VALUE * layers + _UNIT_BYTES if manifest.frozen else _UNIT_BYTES * layers
    activations = kept * tokens * width
    taken = _base_bytes(manifest) + states + logits + activations
    return MEMORY_BASE_MB + math.ceil(taken / _MIB)


def _base_bytes(manifest: Manifest) -> int:
    return manifest.frozen.size_bytes if manifest.frozen else 0


def _outline(manifest: Manifest) -> tuple[int, int]:
    """Layers and width, as the names and sides of the tensors show them.

    Layers are the numbers that stand alone in names (`layers.3.`); the width is the shorter side of
    the largest matrix, which is the embedding or a projection.
    """
    numbers = {
        part for name, _ in manifest.model.tensors for part in name.split(".") if part.isdigit()
    }
    matrices = [shape for _, shape in manifest.model.tensors if len(shape) > 1]
    width = max((min(shape) for shape in matrices), default=1)
    if manifest.frozen:
        width = min(columns for _, columns in layout.modules_of(manifest.model.tensors).values())
    return max(len(numbers), 1), width
