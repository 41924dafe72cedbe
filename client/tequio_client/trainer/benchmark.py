"""How fast a device trains: a small model, real inner steps over made-up ids, for a few seconds.

A program of its own (`python -m tequio_client.trainer.benchmark DEVICE`) that writes one JSON line
(`ipc.control.Benchmark`): only the end of a process frees all memory of a device.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, cast

import msgspec
import torch

from tequio_client.ipc.control import BenchmarkReply
from tequio_client.trainer import device as devices
from tequio_client.trainer import model
from tequio_client.trainer.inner import BatchSize, Optimiser, compute_gradients
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import InnerParams

if TYPE_CHECKING:
    from tequio_client.trainer.device import ComputeDevice

BENCHMARK_MODEL = {
    "model_type": "llama",
    "vocab_size": 8_192,
    "hidden_size": 256,
    "intermediate_size": 704,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 256,
    "tie_word_embeddings": True,
}
"""Five million parameters: enough to keep a device busy, and small enough for any."""
SEQUENCE = 256
SAMPLES = 4
WARM_UP_S = 2.0
MEASURE_S = 5.0
MIN_STEPS = 3
_MIB = 1 << 20


def measure(
    wanted: str, *, warm_s: float = WARM_UP_S, measure_s: float = MEASURE_S
) -> BenchmarkReply:
    """Train on a device and measure its speed after a warm-up; raises DeviceError."""
    chosen = devices.open_device(wanted)
    trained = model.build_random(json.dumps(BENCHMARK_MODEL).encode(), 1)
    trained.network.to(chosen.handle)
    optimiser = Optimiser(trained, InnerParams())
    batch = BatchSize(SEQUENCE, chosen)
    chance = torch.Generator().manual_seed(1)
    shape = (SAMPLES, SEQUENCE + 1)
    vocabulary = cast("int", BENCHMARK_MODEL["vocab_size"])
    samples = torch.randint(0, vocabulary, shape, generator=chance).to(chosen.handle)

    def steps_for(seconds: float) -> tuple[int, float]:
        begun, steps = time.perf_counter(), 0
        while steps < MIN_STEPS or time.perf_counter() - begun < seconds:
            compute_gradients(
                trained, samples, chosen, batch, lambda: None
            )  # its float() waits for the device
            optimiser.step()
            steps += 1
        return steps, time.perf_counter() - begun

    steps_for(warm_s)
    steps, seconds = steps_for(measure_s)
    return BenchmarkReply(
        device=chosen.label,
        tokens_per_s=steps * SAMPLES * SEQUENCE / seconds,
        memory_mb=_used_mb(chosen),
    )


def _used_mb(device: ComputeDevice) -> int:
    if device.handle.type != "cuda":
        return 0
    return int(torch.cuda.max_memory_allocated(device.handle)) // _MIB


def main() -> None:
    """Measure the device named on the command line, and write the result to standard output."""
    try:
        found = measure("".join(sys.argv[1:2]) or "auto")
    except UserFacingError as err:
        sys.exit(str(err))
    sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main()
