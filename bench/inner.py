"""Inner steps of the trainer against a raw PyTorch loop with the same network and optimiser.

The claim: on one core, the trainer's loop makes at least 0.95 of the raw loop's steps per second.
The raw loop is what one would write by hand: transformers' Llama, autograd, Muon and AdamW written
out tensor by tensor, no windows, no wishes, no data files.

Run: python bench/inner.py [--steps N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from tequio_client.trainer import device, inner, model
from tequio_client.trainer.data import TrainingData
from tequio_client.trainer.inner import Plan, Progress
from tequio_shared.corpus import Corpus, TrainShard
from tequio_shared.ids import to_text
from tequio_shared.manifest import Inner, Tokenizer

if TYPE_CHECKING:
    from torch import Tensor, nn

SEQUENCE, SAMPLES = 128, 2
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
RATE = 1e-3


class Unwatched:
    """Nobody interrupts."""

    def check(self) -> None:
        """Let it go on."""

    def is_enough(self, progress: Progress) -> bool:
        """Go to the end."""
        return progress.step == progress.steps


def main() -> None:
    """Measure both, in turns, and print the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        ours, raw = _measure(Path(folder), options.steps, options.turns)
    ratio = statistics.median(ours) / statistics.median(raw)
    result = {
        "steps_per_second": statistics.median(ours),
        "raw_steps_per_second": statistics.median(raw),
        "ratio": ratio,
        "least_ratio": LEAST_RATIO,
    }
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))
    if ratio < LEAST_RATIO:
        raise SystemExit(f"the trainer's loop makes {ratio:.3f} of the raw loop's speed")


def _measure(folder: Path, steps: int, turns: int) -> tuple[list[float], list[float]]:
    training = _training(folder, steps)
    mine = model.create(json.dumps(FIELDS).encode(), 1)
    theirs = model.from_transformers(dict(FIELDS))
    ours, raw = [], []
    for _ in range(turns):
        raw.append(_raw_speed(theirs, training, steps))
        ours.append(_our_speed(mine, training, steps))
    return ours, raw


def _training(folder: Path, steps: int) -> TrainingData:
    tokens = steps * SAMPLES * SEQUENCE + 1
    np.random.default_rng(1).integers(0, 256, tokens, np.uint8).tofile(folder / "shard")
    shard = TrainShard(
        root=to_text(bytes(32)),
        size_bytes=tokens,
        tokens=tokens,
        samples=steps * SAMPLES,
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
    return TrainingData.open(corpus, [(0, folder / "shard")], seed=0, window_samples=SAMPLES)


def _our_speed(mine: model.Model, training: TrainingData, steps: int) -> float:
    rules = Inner(steps=steps, lr_e9=round(RATE * 1e9), adam_lr_e9=round(RATE * 1e9))
    begun = time.perf_counter()
    plan = Plan.of([(0, steps)], steps)
    inner.train(mine, training, plan, rules, device.choose("cpu"), Unwatched())
    return steps / (time.perf_counter() - begun)


def _raw_speed(network: nn.Module, training: TrainingData, steps: int) -> float:
    batches = [training.samples([step]) for step in range(steps)]
    outer = ("embed_tokens", "lm_head")
    muon: list[nn.Parameter] = []
    adam: list[nn.Parameter] = []
    for name, one in network.named_parameters():
        (muon if one.dim() > 1 and not any(part in name for part in outer) else adam).append(one)
    state = {one: (torch.zeros_like(one), torch.zeros_like(one)) for one in network.parameters()}
    begun = time.perf_counter()
    for step, batch in enumerate(batches, 1):
        logits = network(input_ids=batch[:, :-1], use_cache=False).logits
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        network.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        with torch.no_grad():
            for one in muon:
                _muon(one, state[one][0])
            for one in adam:
                _adam(one, state[one], step)
    return steps / (time.perf_counter() - begun)


def _muon(parameter: nn.Parameter, momentum: Tensor) -> None:
    momentum.mul_(0.95).add_(_gradient(parameter))
    update = _gradient(parameter) + 0.95 * momentum
    turned = update.shape[0] > update.shape[1]
    wide = update.T if turned else update
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(5):
        gram = wide @ wide.T
        wide = 3.4445 * wide + (-4.7750 * gram + 2.0315 * gram @ gram) @ wide
    parameter.sub_(wide.T if turned else wide, alpha=RATE * 0.2 * max(update.shape) ** 0.5)


def _gradient(parameter: nn.Parameter) -> Tensor:
    if parameter.grad is None:
        raise RuntimeError("a parameter took no part in the loss")
    return parameter.grad


def _adam(parameter: nn.Parameter, state: tuple[Tensor, Tensor], step: int) -> None:
    first, second = state
    grad = _gradient(parameter)
    first.lerp_(grad, 0.1)
    second.mul_(0.95).addcmul_(grad, grad, value=0.05)
    scale = (second / (1 - 0.95**step)).sqrt_().add_(1e-8)
    parameter.addcdiv_(first, scale, value=-RATE / (1 - 0.9**step))


if __name__ == "__main__":
    main()
