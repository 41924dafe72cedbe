"""Estimates of what a run takes of a computer and its connection, from the run's rules.

Formulas, with P parameters, S tokens per batch, V vocabulary size, N values of a head (P plus
padding).

- Accelerator: `MEMORY_BASE_MB` for driver and libraries; 8 P bytes for weights and gradients; 4
  for each parameter in a hidden matrix with Muon, 8 for any other and with AdamW, none with distro;
  8 S V bytes of logits and their gradient, of at most `MOST_LOGITS` logits; activations; or, if it
  is more than those, what a step of Muon needs beside them. Activations are those of a trainer
  that stores the inputs of layers alone, 4 bytes for each token, layer and unit of width, and
  computes one layer at a time: `OUTPUT_BYTES` for each token and output of the layer's matrices.
  `bench/memory.py` compares this with steps on a CPU; no GPU was measured. The trainer adapts its
  batch to the free memory, down to one sample: with less memory than this it is slower, until one
  sample does not fit; with more, it stores activations of all layers.
- With a frozen base, P counts the adapters' parameters; the base's files add to disk and the first
  download, and to memory what a trainer holds of them: in 4 bits that is less, and the largest
  matrix that is widened, 4 bytes a number. The width is the shortest side of an adapter pair, and
  the layer's matrices are those with adapters.
- Disk: two heads (the held one and the next) of 4 N bytes, and 4 N more with momentum or 8 N
  with a down link; three trainer files of 4 N bytes, the contributions of two rounds, and the
  shards of the first rounds.
- First download: one head and those shards.
- Connection: each member fetches every contribution of a round except its own. All bytes received
  are sent by members, so upload equals download on average; seeds reduce the upload.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tequio_shared.head import layout
from tequio_shared.head.contribution import RecordShape, k_for_trainers
from tequio_shared.round.manifest import Corpus, Manifest

MEMORY_BASE_MB = 700
BATCH_TOKENS = 4_096
"""Tokens per batch that keep a GPU busy, or one sample if that is longer."""
FROZEN_BATCH_TOKENS = 2_048
"""Tokens per batch with a frozen base, which takes most of the card's memory."""
MOST_LOGITS = 1 << 26
"""Logits that the trainer has at once, as in its `token_loss`."""
OUTPUT_BYTES = 9
"""Bytes for each token and output of a hidden matrix, measured: 7.1 in bfloat16, 8.6 in float32."""
SHARDS = 2
"""Shards that a trainer reads in its first rounds."""
_VALUE = 4
_LOGIT_BYTES = 8
_MUON_BYTES = 16  # for each number of a stack of matrices
_MUON_NUMBERS = 1 << 25  # most numbers of a stack
_TRAINER_FILES = 3
_HEADS = 2
_ROUNDS = 2
_MIB = 1 << 20
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceNeeds:
    """Estimated needs of one run: memory in MiB, everything else in bytes."""

    memory_mb: int
    disk_bytes: int
    first_bytes: int
    hourly_up_bytes: int
    hourly_down_bytes: int


def estimate(manifest: Manifest, corpus: Corpus, members: int, round_ms: int) -> ResourceNeeds:
    """Estimate for rounds of `round_ms` with this many members."""
    weights = manifest.weights_bytes
    head = weights + manifest.aux_bytes
    shards = sorted((shard.size_bytes for shard in corpus.train), reverse=True)
    first = head + sum(shards[:SHARDS]) + _base_bytes(manifest)
    others = max(members, manifest.rounds.min_members) - 1
    a_round = others * contribution_bytes(manifest, others + 1)
    hourly = a_round * _HOUR_MS // max(round_ms, 1)
    return ResourceNeeds(
        memory_mb=memory_mb(manifest),
        disk_bytes=first + (_HEADS - 1) * head + _TRAINER_FILES * weights + _ROUNDS * a_round,
        first_bytes=first,
        hourly_up_bytes=hourly,
        hourly_down_bytes=hourly,
    )


def contribution_bytes(manifest: Manifest, trainers: int) -> int:
    """Size of one contribution's payload with this many trainers."""
    rules = manifest.algorithm
    shape = RecordShape(
        algorithm=rules.name, k=rules.k or k_for_trainers(trainers), bits=rules.bits
    )
    return manifest.chunks * shape.record_bytes


def memory_mb(manifest: Manifest) -> int:
    batch = FROZEN_BATCH_TOKENS if manifest.frozen else BATCH_TOKENS
    return _memory_mb(manifest, max(batch, manifest.model.sequence))


def min_memory_mb(manifest: Manifest) -> int:
    """Accelerator memory below which not even one sample fits, MiB."""
    return _memory_mb(manifest, manifest.model.sequence)


def _memory_mb(manifest: Manifest, tokens: int) -> int:
    logits = min(tokens * manifest.tokenizer.vocab_size, MOST_LOGITS) * _LOGIT_BYTES
    layers, width, outputs = _outline(manifest)
    activations = tokens * (_VALUE * layers * width + OUTPUT_BYTES * outputs)
    hidden = _hidden_numbers(manifest) if _uses_muon(manifest) else 0
    passing = max(logits + activations, _MUON_BYTES * min(hidden, _MUON_NUMBERS))
    taken = _held_bytes(manifest) + _state_bytes(manifest) + passing
    return MEMORY_BASE_MB + math.ceil(taken / _MIB)


def _uses_muon(manifest: Manifest) -> bool:
    return manifest.algorithm.name != "distro" and manifest.inner.optimiser == "muon"


def _state_bytes(manifest: Manifest) -> int:
    """Weights, gradients and the optimiser's state."""
    every = manifest.model.parameters
    if manifest.algorithm.name == "distro":
        return 2 * _VALUE * every
    return _VALUE * (4 * every - (_hidden_numbers(manifest) if _uses_muon(manifest) else 0))


def _hidden_numbers(manifest: Manifest) -> int:
    return sum(math.prod(shape) for _, shape in _hidden(manifest))


def _hidden(manifest: Manifest) -> list[tuple[str, tuple[int, ...]]]:
    """Matrices of layers, whose names have numbers; others are tables and output layers."""
    return [
        (name, shape)
        for name, shape in manifest.model.tensors
        if len(shape) > 1 and any(part.isdigit() for part in name.split("."))
    ]


def _base_bytes(manifest: Manifest) -> int:
    return manifest.frozen.size_bytes if manifest.frozen else 0


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
        rows = sum(rows for rows, _ in sides)
        return layers, min(columns for _, columns in sides), math.ceil(rows / layers)
    matrices = [shape for _, shape in manifest.model.tensors if len(shape) > 1]
    width = max((min(shape) for shape in matrices), default=1)
    rows = sum(shape[0] for _, shape in _hidden(manifest))
    return layers, width, math.ceil(rows / layers)
