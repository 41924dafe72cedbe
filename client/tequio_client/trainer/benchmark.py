"""How fast a device trains: a small model, real inner steps over made-up ids, for a few seconds.

A program of its own (`python -m tequio_client.trainer.benchmark DEVICE`) that writes one JSON line
(`ipc.control.Benchmark`): only the end of a process frees all memory of a device.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import torch

from tequio_client.ipc.control import Benchmark
from tequio_client.trainer import device as devices
from tequio_client.trainer import model
from tequio_client.trainer.inner import BatchSize, Optimiser, gradients
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import Inner

if TYPE_CHECKING:
    from tequio_client.trainer.device import Device

MODEL = {
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
WARM_S = 2.0
MEASURE_S = 5.0
LEAST_STEPS = 3
_MIB = 1 << 20


def measure(wanted: str, *, warm_s: float = WARM_S, measure_s: float = MEASURE_S) -> Benchmark:
    """Train on a device and measure its speed after a warm-up; raises DeviceError."""
    chosen = devices.choose(wanted)
    trained = model.create(json.dumps(MODEL).encode(), 1)
    trained.network.to(chosen.handle)
    optimiser = Optimiser(trained, Inner())
    batch = BatchSize(SEQUENCE, chosen)
    chance = torch.Generator().manual_seed(1)
    shape = (SAMPLES, SEQUENCE + 1)
    samples = torch.randint(0, MODEL["vocab_size"], shape, generator=chance).to(chosen.handle)  # type: ignore[call-overload]  # the one int among strings

    def steps_for(seconds: float) -> tuple[int, float]:
        begun, steps = time.perf_counter(), 0
        while steps < LEAST_STEPS or time.perf_counter() - begun < seconds:
            gradients(
                trained, samples, chosen, batch, lambda: None
            )  # its float() waits for the device
            optimiser.step()
            steps += 1
        return steps, time.perf_counter() - begun

    steps_for(warm_s)
    steps, seconds = steps_for(measure_s)
    return Benchmark(
        device=chosen.label,
        tokens_per_s=steps * SAMPLES * SEQUENCE / seconds,
        memory_mb=_used_mb(chosen),
    )


def _used_mb(device: Device) -> int:
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
