"""Memory of a training step: measured on the CPU, against what volunteers and organisers are told.

Every allocation of tensors is recorded by torch's profiler while the trainer takes a step over one
sample, with recomputed layers. The estimate is `worker.lending.needs.min_memory_mb`, without its
base for a GPU's driver and libraries, for a sample of the same length.

The second table is reckoned by the same rules for GPUs. Nothing of it ran on a GPU.

Run: python bench/memory.py [--sizes N] [--tokens N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch
from loops import repository  # noqa: F401
from loops.machine import machine
from loops.table import markdown
from tests.support.peak_memory import peak_bytes
from tests.support.tiny_run import tiny_manifest

from tequio_client.ipc.preferences import usable_memory_mb
from tequio_client.trainer import inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.inner import Optimiser
from tequio_client.worker.lending.needs import MEMORY_BASE_MB, memory_mb, min_memory_mb
from tequio_shared.round.manifest import InnerParams

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest

MEASURED = (
    (256, 704, 4, 8_192),
    (384, 1_056, 6, 16_384),
    (512, 1_408, 8, 16_384),
    (640, 1_760, 10, 16_384),
)
"""Width, inner width, layers and vocabulary of networks with 5 to 60 million parameters."""
RECKONED = {
    "124M": (768, 2_048, 12, 50_304),
    "350M": (1_024, 2_816, 24, 50_304),
    "700M": (1_536, 4_096, 24, 32_000),
    "1B": (2_048, 5_632, 19, 32_000),
}
RECIPES = InnerParams(), InnerParams(state_bits=8)
CARDS_GB = (12, 24)
HEAD = 64
MIB, MIB_OF_GIB = 1 << 20, 1 << 10
SEQUENCE = 1_024


def main() -> None:
    """Measure, reckon, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, default=len(MEASURED), help="networks to measure")
    parser.add_argument("--tokens", type=int, default=256, help="tokens of the sample")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured = [
        _measured(sizes, options.tokens, precision, recipe)
        for sizes in MEASURED[: options.sizes]
        for precision in (torch.float32, torch.bfloat16)
        for recipe in RECIPES
    ]
    print(_table(measured))
    reckoned = [
        _reckoned(name, sizes, recipe) for name, sizes in RECKONED.items() for recipe in RECIPES
    ]
    print("\nReckoned for GPUs, not measured:\n")
    print(_table(reckoned))
    if options.json:
        found = {**machine(), "measured": measured, "reckoned": reckoned}
        options.json.write_text(json.dumps(found))


def _table(rows: list[dict[str, str | float]]) -> str:
    return markdown(list(rows[0]), [[_text(value) for value in row.values()] for row in rows])


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:,.1f}"


def _config(sizes: tuple[int, int, int, int]) -> bytes:
    width, wide, layers, symbols = sizes
    return json.dumps({
        "model_type": "llama",
        "hidden_size": width,
        "intermediate_size": wide,
        "num_hidden_layers": layers,
        "num_attention_heads": width // HEAD,
        "vocab_size": symbols,
        "tie_word_embeddings": True,
    }).encode()  # fmt: skip


def _manifest(sizes: tuple[int, int, int, int], sequence: int, recipe: InnerParams) -> Manifest:
    plain, outline = tiny_manifest(), model.outline(_config(sizes))
    parameters = sum(torch.Size(shape).numel() for _, shape in outline.tensors)
    described = msgspec.structs.replace(
        plain.model, tensors=outline.tensors, parameters=parameters, sequence=sequence
    )
    tokenizer = msgspec.structs.replace(plain.tokenizer, vocab_size=outline.vocabulary)
    return msgspec.structs.replace(plain, model=described, tokenizer=tokenizer, inner=recipe)


def _measured(
    sizes: tuple[int, int, int, int], tokens: int, precision: torch.dtype, recipe: InnerParams
) -> dict[str, str | float]:
    chosen = ComputeDevice(handle=torch.device("cpu"), name="cpu", memory_mb=0, precision=precision)
    manifest = _manifest(sizes, tokens, recipe)
    samples = torch.randint(0, sizes[-1], (1, tokens + 1))

    def step() -> None:
        trained = model.build(_config(sizes))
        trained.recompute_layers()
        optimiser = Optimiser(trained, recipe)
        inner.compute_gradients(trained, samples, BatchSize(tokens, chosen), lambda: None)
        optimiser.step()

    taken = peak_bytes(step) / MIB
    told = float(min_memory_mb(manifest) - MEMORY_BASE_MB)
    return {
        "million parameters": manifest.model.parameters / 1e6,
        "precision": str(precision).removeprefix("torch."),
        "bits of the state": str(recipe.state_bits),
        "measured, MiB": taken,
        "told, MiB": told,
        "told / measured": round(told / taken, 2),
    }


def _reckoned(
    name: str, sizes: tuple[int, int, int, int], recipe: InnerParams
) -> dict[str, str | float]:
    manifest = _manifest(sizes, SEQUENCE, recipe)
    least, usual = min_memory_mb(manifest), memory_mb(manifest)
    row: dict[str, str | float] = {
        "model": name,
        "million parameters": manifest.model.parameters / 1e6,
        "bits of the state": str(recipe.state_bits),
        "one sample, GiB": least / MIB_OF_GIB,
        "4,096 tokens, GiB": usual / MIB_OF_GIB,
    }
    for card_gb in CARDS_GB:
        lent = usable_memory_mb(card_gb * MIB_OF_GIB)
        fit = "4,096 tokens" if usual <= lent else "one sample" if least <= lent else "no"
        row[f"of {card_gb} GB, {lent / MIB_OF_GIB:.1f} lent"] = fit
    return row


if __name__ == "__main__":
    main()
