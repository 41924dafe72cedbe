"""The trainer's own inner loop at full speed: no rounds, no worker, no commands."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.trainer import device, inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import StepPlan, TrainingProgress
from tequio_client.trainer.prepared import TrainingData
from tequio_shared.ids import to_text
from tequio_shared.round.corpus import Corpus, TrainShard
from tequio_shared.round.manifest import InnerParams, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


SEQUENCE = 128
RATE = 1e-3


class Unwatched:
    """A control that never interrupts and runs to the last step."""

    def check(self) -> None:
        pass

    def should_stop(self, progress: TrainingProgress) -> bool:
        return progress.step == progress.steps


def noise(folder: Path, *, samples: int, steps: int) -> TrainingData:
    """Random bytes for `steps` windows of `samples` sequences."""
    tokens = steps * samples * SEQUENCE + 1
    np.random.default_rng(1).integers(0, 256, tokens, np.uint8).tofile(folder / "shard")
    shard = TrainShard(
        root=to_text(bytes(32)), size_bytes=tokens, tokens=tokens, samples=steps * samples
    )
    corpus = Corpus(
        source="noise",
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        token_bytes=1,
        separator=0,
        sequence=SEQUENCE,
        train=(shard,),
        held_out=(),
    )
    return TrainingData.open(corpus, [(0, folder / "shard")], seed=0, window_samples=samples)


def flat_speed(mine: model.CausalModel, training: TrainingData, steps: int) -> float:
    """Inner steps per second, one window a step."""
    rules = InnerParams(steps=steps, lr_e9=round(RATE * 1e9), adam_lr_e9=round(RATE * 1e9))
    begun = time.perf_counter()
    plan = StepPlan.from_ranges([(0, steps)], steps)
    batch = BatchSize(SEQUENCE, device.open_device("cpu"))
    inner.train(mine, training, plan, rules, batch, Unwatched())
    return steps / (time.perf_counter() - begun)


def network(fields: Mapping[str, object]) -> model.CausalModel:
    """A model with this configuration and seeded weights."""
    return model.build_random(json.dumps(fields).encode(), 1)
