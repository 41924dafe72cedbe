"""The self-test of a runtime on this computer's device: heads equal, a training step, memory freed.

It runs before a fetched runtime is used. The head is computed by the engine that this device would
use in a run and by the reference in numpy; both must give the bits that every computer gives.
Libraries that only some runs need are loaded, too: a package may lack one of their files.
"""

from __future__ import annotations

import gc
import sys
from hashlib import sha256

import numpy as np

from tequio_client.platform import programs
from tequio_client.trainer.benchmark import measure_speed
from tequio_client.trainer.device import AcceleratorEngine, ComputeDevice, open_device
from tequio_client.trainer.engines import Block, Engine, ReferenceEngine
from tequio_client.trainer.kernels import CompiledEngine
from tequio_client.trainer.private.accountant import SpentSteps, epsilon
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.head.contribution import LEVELS, Records, encode_records
from tequio_shared.head.head import OuterParams
from tequio_shared.head.layout import CHUNK, NO_PADDING

HEAD_SHA256 = "f5727a5f9c854f8cc544d43e2835a282f8977a500ef89c61c4b0b49d0190a1d1"
_PARAMS = OuterParams(
    algorithm="sparseloco", layout="flat", k=64, bits=2, alpha_q=1 << 20, lambda_q=1 << 12
)
_MEMBERS, _CHUNKS = 3, 16
_MOST_LEFT_MB = 64
_SMALL_MODEL = {
    "model_type": "llama",
    "vocab_size": 8,
    "hidden_size": 8,
    "intermediate_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
}


class SelftestError(UserFacingError):
    """The runtime cannot be used on this computer."""


def main(wanted: str) -> None:
    """Run the self-test on a device such as `cuda`; a failure ends the process with a sentence."""
    try:
        run_selftest(wanted)
    except (TequioError, RuntimeError, OSError) as err:
        sys.exit(f"the self-test failed: {err}")
    sys.stdout.write(f"the self-test on {wanted} succeeded\n")


def run_selftest(wanted: str) -> None:
    """Raises SelftestError and DeviceError, and what torch raises."""
    device = open_device(wanted)
    check_late_imports()
    engines: dict[str, Engine] = {
        "numpy": ReferenceEngine(_PARAMS),
        "the compiled kernels": CompiledEngine(_PARAMS),
    }
    if device.handle.type not in ("cpu", "mps"):  # as `head.engine_for` chooses
        engines[device.label] = AcceleratorEngine(_PARAMS, device.handle)
    for name, engine in engines.items():
        if head_sha256(engine) != HEAD_SHA256:
            raise SelftestError(f"{name} computes a model with other bits than all others do")
    if not measure_speed(device.label, warm_s=0, measure_s=0).tokens_per_s > 0:
        raise SelftestError(f"no training step succeeded on {device.label}")
    check_memory_freed(device)


def check_memory_freed(device: ComputeDevice) -> None:
    """Give the device's memory back, and measure what is left; raises SelftestError."""
    gc.collect()
    device.release_memory()
    left = device.held_mb()
    if left > _MOST_LEFT_MB:
        raise SelftestError(f"{left} MiB of {device.label} were not given back")


def check_late_imports() -> None:
    """Use the libraries of chats, models of the Hub and private groups; raises UserFacingError."""
    from tequio_client.trainer import hub_models  # noqa: PLC0415 - transformers loads trio

    hub_models.build(_SMALL_MODEL)
    if not programs.is_packaged():
        return  # from source, private groups are an extra
    try:
        epsilon([SpentSteps(noise_multiplier=1.0, sample_rate=0.01, steps=1)], 1e-5)
    except ImportError as err:
        raise SelftestError(f"private groups cannot train with this runtime: {err}") from err


def head_sha256(engine: Engine) -> str:
    """Hash the weights after one outer step over made-up contributions, the same everywhere."""
    members, chunks, k = _MEMBERS, _CHUNKS, _PARAMS.k
    count = np.arange(members * chunks * k, dtype=np.uint64)
    noise = (count * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)  # Fibonacci hashing
    spread = CHUNK // k  # one index from each of k equal parts: ascending, and all different
    parts = np.arange(k, dtype=np.uint64) * np.uint64(spread)
    indices = parts + noise.reshape(-1, k) % np.uint64(spread)
    levels = LEVELS[_PARAMS.bits]
    rows = Records(
        scales=(80 + np.arange(members * chunks) % 40).astype(np.uint8),
        indices=indices.astype(np.uint16),
        levels=levels[(noise.reshape(-1, k) // np.uint64(spread)) % np.uint64(len(levels))],
    )
    payload = np.frombuffer(bytearray(encode_records(rows, _PARAMS.shape)), np.uint8)
    elements = np.arange(chunks * CHUNK, dtype=np.int64)
    block = Block(
        records=payload.reshape(members, chunks, -1),
        weights=((elements * 2_654_435_761) % (1 << 28) - (1 << 27)).astype(np.int32),
        aux=None,
        padding=NO_PADDING,
        matrix_elements=elements.size // 2,
    )
    weights, _ = engine.move(block, [1 << 19, 1 << 18, 1 << 18])
    return sha256(weights.astype("<i4").tobytes()).hexdigest()
