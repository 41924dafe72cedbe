"""Inner steps of the trainer against a raw PyTorch loop with the same network and optimiser.

The claim: on one core, the trainer's loop reaches at least 0.95 of the raw loop's steps per second.
The raw loop is what one would write by hand: transformers' Llama, autograd, Muon and AdamW written
out tensor by tensor, without windows, commands or data files.

Run: python bench/inner.py [--steps N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

import torch
from loops.flat import flat_speed, network, noise
from loops.machine import machine
from loops.raw import raw_speed

from tequio_client.trainer import hub_models

SAMPLES = 2
LEAST_RATIO = 0.95
FIELDS = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 128,
    "intermediate_size": 352,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "tie_word_embeddings": False,
}


def main() -> None:
    """Measure both, in turns, and print the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60, help="inner steps of each measurement")
    parser.add_argument("--turns", type=int, default=5, help="how often each loop is measured")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        ours, raw = _measure(Path(folder), options.steps, options.turns)
    ratio = statistics.median(ours) / statistics.median(raw)
    result = {
        **machine(),
        "steps_per_second": statistics.median(ours),
        "raw_steps_per_second": statistics.median(raw),
        "ratio": ratio,
        "least_ratio": LEAST_RATIO,
    }
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))
    if ratio < LEAST_RATIO:
        raise SystemExit(f"the trainer's loop reaches only {ratio:.3f} of the raw loop's speed")


def _measure(folder: Path, steps: int, turns: int) -> tuple[list[float], list[float]]:
    training = noise(folder, samples=SAMPLES, steps=steps)
    mine = network(FIELDS)
    theirs = hub_models.build(dict(FIELDS))
    ours, raw = [], []
    for _ in range(turns):
        batches = [training.samples([step]) for step in range(steps)]
        raw.append(raw_speed(theirs, batches))
        ours.append(flat_speed(mine, training, steps))
    return ours, raw


if __name__ == "__main__":
    main()
