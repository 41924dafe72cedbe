"""Memory that volunteers are told of is as much as a step takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import torch

from tequio_client.trainer import adapters, device, inner
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import Optimiser
from tequio_client.worker.lending.needs import MEMORY_BASE_MB, min_memory_mb
from tequio_shared.round.manifest import InnerParams
from tests.support import frozen_base
from tests.support.peak_memory import peak_bytes

if TYPE_CHECKING:
    from pathlib import Path

SEQUENCE, SYMBOLS, MIB = 256, 512, 1 << 20
SIZES: dict[str, Any] = {
    "vocab_size": SYMBOLS,
    "hidden_size": 256,
    "intermediate_size": 896,
    "num_hidden_layers": 4,
    "max_position_embeddings": SEQUENCE,
}


@pytest.mark.parametrize("targets", [("q_proj",), ("q_proj", "v_proj"), frozen_base.EVERY])
def test_a_step_beside_a_frozen_base_takes_no_more_than_is_told(
    targets: tuple[str, ...], tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    base = frozen_base.write_base(tmp_path / "base", **SIZES)
    made, paths = frozen_base.lora_run(base, targets=targets, rank=8, alpha=16, bits=4)
    manifest = msgspec.structs.replace(
        made,
        model=msgspec.structs.replace(made.model, sequence=SEQUENCE),
        tokenizer=msgspec.structs.replace(made.tokenizer, vocab_size=SYMBOLS),
        inner=InnerParams(optimiser="adamw"),
    )
    trained = adapters.build_from_manifest((base / "config.json").read_bytes(), manifest, paths)
    trained.recompute_layers()
    trained.network.train()
    tensors = (*trained.network.parameters(), *trained.network.buffers())
    held = sum(one.nbytes for one in tensors)

    def step() -> None:
        optimiser = Optimiser(trained, manifest.inner)
        samples = torch.randint(0, SYMBOLS, (1, SEQUENCE + 1))
        batch = BatchSize(SEQUENCE, device.open_device("cpu"))
        inner.compute_gradients(trained, samples, batch, lambda: None)
        optimiser.step()

    taken = (held + peak_bytes(step)) / MIB
    told = min_memory_mb(manifest) - MEMORY_BASE_MB
    assert taken <= told < 2 * taken
