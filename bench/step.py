"""Training steps on the device at hand: speed, share of its arithmetic, memory; plain and compiled.

A model of random weights is trained on made-up ids by the trainer's own code, without a network.
MFU is the share of the card's arithmetic (`loops.machine.mfu`); the optimiser's time is in its own
column, since a round takes a step for hundreds of samples.

    python bench/step.py [--device cuda] [--size 124M ...] [--json FILE] [--write]

`--write` puts the table into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from loops import table
from loops.machine import machine, mfu

from tequio_client.demo.script import ARCHITECTURE
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.compiled import why_not
from tequio_client.trainer.device import ComputeDevice, open_device
from tequio_client.trainer.inner import Optimiser, compute_gradients
from tequio_client.trainer.model import CausalModel, build_random
from tequio_shared.round.manifest import InnerParams

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SEQUENCE = 1_024
WIDE = 2_048
"""Width from which a head has 128 numbers instead of 64."""
STEPS = 3
DOCUMENT = Path(__file__).parents[1] / "docs" / "results.md"
COLUMNS = ("model", "kernels", "samples at once", "tokens/s", "MFU", "optimiser, ms", "memory, GiB")
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSize:
    """A model, the samples of a step, and how many of them to try at once."""

    width: int
    inner: int
    layers: int
    vocabulary: int
    samples: int
    at_once: tuple[int, ...]

    def config(self) -> Mapping[str, object]:
        head_size = 64 if self.width < WIDE else 128
        return {
            **ARCHITECTURE,
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.width // head_size,
            "num_key_value_heads": self.width // head_size,
            "max_position_embeddings": SEQUENCE,
            "tie_word_embeddings": True,
        }


SIZES = {
    "toy": StepSize(width=64, inner=176, layers=2, vocabulary=256, samples=4, at_once=(2,)),
    "124M": StepSize(
        width=768, inner=2_048, layers=12, vocabulary=50_304, samples=128, at_once=(64, 16)
    ),
    "1B": StepSize(
        width=2_048, inner=5_632, layers=20, vocabulary=32_768, samples=32, at_once=(16,)
    ),
}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", choices=SIZES, action="append", help="default: by the device")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    options = parser.parse_args()
    device = open_device(options.device)
    names = options.size or (["toy"] if device.handle.type == "cpu" else ["124M", "1B"])
    rows = [row for name in names for row in _rows(name, SIZES[name], device)]
    content = table.markdown(COLUMNS, rows)
    print(f"{device.name}, torch {torch.__version__}\n{content}")
    if options.json:
        options.json.write_text(json.dumps({**machine(), "device": device.name, "rows": rows}))
    if options.write:
        table.put(DOCUMENT, "step", content)


def _rows(name: str, size: StepSize, device: ComputeDevice) -> list[list[str]]:
    rows = []
    for is_compiled in (False, True):
        if is_compiled and why_not(device.handle):
            continue
        model = build_random(json.dumps(size.config()).encode(), 1)
        model.network.to(device.handle)
        if is_compiled:
            model.compile_layers(device.handle)
        for at_once in size.at_once:
            kernels = "compiled" if is_compiled else "torch's"
            rows.append([name, kernels, *_measured(model, size, at_once, device)])
        if is_compiled and model.recompute_layers():
            at_once = max(size.at_once)
            rows.append([name, "recomputed", *_measured(model, size, at_once, device)])
        del model
        device.release_memory()
    return rows


def _measured(
    model: CausalModel, size: StepSize, at_once: int, device: ComputeDevice
) -> tuple[str, ...]:
    optimiser, batch = Optimiser(model, InnerParams()), BatchSize(SEQUENCE, device)
    batch.samples = at_once
    samples = torch.randint(0, size.vocabulary, (size.samples, SEQUENCE + 1)).to(device.handle)
    is_cuda = device.handle.type == "cuda"
    model.network.train()
    compute_gradients(model, samples, batch, lambda: None)
    optimiser.step()
    if is_cuda:
        torch.cuda.reset_peak_memory_stats()
    gradients_s = optimiser_s = 0.0
    for _ in range(STEPS):
        gradients_s += _timed(lambda: compute_gradients(model, samples, batch, lambda: None))
        optimiser_s += _timed(optimiser.step)
    tokens_per_s = STEPS * size.samples * SEQUENCE / gradients_s
    parameters = sum(one.numel() for one in model.parameters.values())
    share = mfu(
        device.name,
        tokens_per_s,
        parameters=parameters,
        layers=size.layers,
        width=size.width,
        sequence=SEQUENCE,
    )
    return (
        f"{batch.samples} of {size.samples}",
        f"{tokens_per_s:,.0f}",
        "" if share is None else f"{share:.2f}",
        f"{optimiser_s / STEPS * 1e3:.0f}",
        f"{torch.cuda.max_memory_allocated() / _GIB:.1f}" if is_cuda else "",
    )


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
