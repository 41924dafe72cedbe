"""The speed of a device: a model that keeps it busy is trained as in a run for some seconds."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import torch

from tequio_client.ipc.control import BenchmarkReply
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import Optimiser, compute_gradients
from tequio_client.trainer.model import build_random
from tequio_shared.round.manifest import InnerParams
from tequio_shared.round.points import flop_per_token


@dataclass(frozen=True, slots=True, kw_only=True)
class _Benchmark:
    """A training that keeps a kind of device busy, and fits every device of this kind."""

    width: int
    inner: int
    vocabulary: int
    sequence: int
    samples: int

    def config(self) -> bytes:
        fields = {
            "model_type": "llama",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.inner,
            "num_hidden_layers": 4,
            "num_attention_heads": self.width // 64,
            "max_position_embeddings": self.sequence,
            "tie_word_embeddings": True,
        }
        return json.dumps(fields).encode()


_CPU_BENCHMARK = _Benchmark(width=256, inner=704, vocabulary=8_192, sequence=256, samples=4)
_CARD_BENCHMARK = _Benchmark(width=1_024, inner=2_816, vocabulary=16_384, sequence=1_024, samples=8)
"""67 million parameters, in two gigabytes; a small model would measure how fast work is started."""
_BENCHMARK_STEPS = 3
_MIB = 1 << 20


def measure_speed(wanted: str, *, warm_s: float = 2.0, measure_s: float = 5.0) -> BenchmarkReply:
    """Train a model on made-up ids as in a run, measured after a warm-up; raises DeviceError."""
    chosen = open_device(wanted)
    made = _CPU_BENCHMARK if chosen.handle.type == "cpu" else _CARD_BENCHMARK
    trained = build_random(made.config(), 1)
    trained.network.to(chosen.handle)
    optimiser = Optimiser(trained, InnerParams())
    batch = BatchSize(made.sequence, chosen)
    chance = torch.Generator().manual_seed(1)
    shape = (made.samples, made.sequence + 1)
    samples = torch.randint(0, made.vocabulary, shape, generator=chance).to(chosen.handle)

    def steps_for(seconds: float) -> tuple[int, float]:
        begun, steps = time.perf_counter(), 0
        while steps < _BENCHMARK_STEPS or time.perf_counter() - begun < seconds:
            # It returns a float, and so waits for the device.
            compute_gradients(trained, samples, batch, lambda: None)
            optimiser.step()
            steps += 1
        return steps, time.perf_counter() - begun

    steps_for(warm_s)
    steps, seconds = steps_for(measure_s)
    tokens_per_s = steps * made.samples * made.sequence / seconds
    parameters = sum(one.numel() for one in trained.network.parameters())
    is_cuda = chosen.handle.type == "cuda"
    used = int(torch.cuda.max_memory_allocated(chosen.handle)) if is_cuda else 0
    return BenchmarkReply(
        device=chosen.label,
        tokens_per_s=tokens_per_s,
        flop_per_s=tokens_per_s * flop_per_token(parameters),
        memory_mb=used // _MIB,
    )
