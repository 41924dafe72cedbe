"""The price of differential privacy: held-out bits per byte, epsilon, and the time of a step.

One member of a private group trains a tiny model of raw bytes on the functions and classes of the
standard library's sources, a document each, as `tequio_client.trainer.private` does: without
differential privacy, and with noise multipliers of 0.5 and 1. All take the same steps with Muon,
and move the head by their whole delta after each round. Times are those of one core.

Run: python bench/private.py [--rounds N] [--seed N] [--json FILE] [--write]

A minute of one core. `--write` puts the table into docs/differential-privacy.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from loops import table
from loops.machine import machine

from tequio_client.dataset.sources import standard_library_files
from tequio_client.ipc.private import (
    InnerSteps,
    LocalTraining,
    PrivacyPlan,
    PrivacyRules,
    privacy_rules,
)
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import first_head, model
from tequio_client.trainer.device import open_device
from tequio_client.trainer.private.texts import read_texts
from tequio_client.trainer.private.training import LocalTrainer
from tequio_client.trainer.token_loss import IGNORED, TokenLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "tie_word_embeddings": True,
}
SEQUENCE, BATCH, STEPS = 48, 128, 25
DOCUMENTS, HELD_OUT = 5_000, 256
DELTA = 1e-5
NOISES = (None, 0.5, 1.0)
DOCUMENT = Path(__file__).parents[1] / "docs" / "differential-privacy.md"
COLUMNS = ("training", "bits per byte, held out", "epsilon", "CPU ms per step")
INNER = InnerSteps(optimiser="muon", lr_e9=10_000_000)


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_texts(folder)
        head = first_head.random_head(json.dumps(CONFIG).encode(), seed=1, layout="flat")
        (folder / "config.json").write_bytes(head.config)
        documents = read_texts(folder / "texts", ByteTokenizer()).documents
        untrained = bits_per_byte(folder, head.master)
        rows = [
            measure(folder, head.master, noise, options.rounds, options.seed) for noise in NOISES
        ]
    result = {
        **machine(),
        "documents": documents,
        "batch": BATCH,
        "steps": options.rounds * STEPS,
        "sequence": SEQUENCE,
        "parameters": head.layout.parameters,
        "delta": DELTA,
        "untrained": round(untrained, 3),
        "rows": rows,
    }
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))
    if options.write:
        table.put(DOCUMENT, "price of privacy", _markdown(rows))


def measure(
    folder: Path, master: np.ndarray, noise: float | None, rounds: int, seed: int
) -> dict[str, object]:
    """Train that many rounds, and measure the last head."""
    rules = None
    if noise is not None:
        rules = privacy_rules(PrivacyPlan(noise_multiplier=noise, delta=DELTA, most_epsilon=0))
    weights, seconds = master.copy(), 0.0
    trainer = LocalTrainer(lambda *_: None)
    report = trainer.train(_request(folder, master, 1, None, steps=2))  # torch starts slowly
    for number in range(1, rounds + 1):
        begun = time.process_time()
        request = _request(folder, weights, 1_000 * seed + number, rules)
        report = trainer.train(request)
        seconds += time.process_time() - begun
        weights = weights + np.fromfile(request.delta_out, "<i4")
    return {
        "noise": noise,
        "bits_per_byte": round(bits_per_byte(folder, weights), 3),
        "epsilon": None if report.epsilon is None else round(report.epsilon, 2),
        "ms_per_step": round(1000 * seconds / (rounds * STEPS), 1),
    }


def bits_per_byte(folder: Path, master: np.ndarray) -> float:
    """Bits for each byte of the held-out documents' first samples, with their separators."""
    built = model.build((folder / "config.json").read_bytes())
    built.load(master, built.layout("flat"))
    texts = read_texts(folder / "held-out", ByteTokenizer())
    rows = [
        texts.ids[start : start + SEQUENCE + 1]
        for start, stop in zip(texts.starts[:-1], texts.starts[1:], strict=True)
        if stop - start > SEQUENCE
    ]
    ids = torch.from_numpy(np.stack(rows))
    losses = TokenLoss(built, open_device("cpu")).losses(ids[:, :-1], ids[:, 1:])
    return float(losses.sum()) / (ids[:, 1:] != IGNORED).sum().item() / math.log(2)


def _request(
    folder: Path,
    weights: np.ndarray,
    number: int,
    rules: PrivacyRules | None,
    *,
    steps: int = STEPS,
) -> LocalTraining:
    weights.astype("<i4").tofile(folder / "head.weights")
    return LocalTraining(
        command=number,
        round=number,
        config=str(folder / "config.json"),
        weights=str(folder / "head.weights"),
        data=str(folder / "texts"),
        state=str(folder / f"spent-{rules.noise_e6 if rules else 0}"),
        delta_out=str(folder / "delta"),
        sequence=SEQUENCE,
        steps=steps,
        batch=BATCH,
        inner=INNER,
        privacy=rules,
        seed=number,
        device="cpu",
    )


def _write_texts(folder: Path) -> None:
    """Write functions and classes of the standard library, one a line, some of them held out."""
    source = standard_library_files()
    texts = [
        part
        for number in range(len(source))
        for part in re.split(r"\n(?=(?:def|class) )", source.text(number))
        if len(part) > SEQUENCE
    ]
    # Every n-th one, so that all modules are among both.
    every = (DOCUMENTS + HELD_OUT) // HELD_OUT
    chosen = list(dict.fromkeys(texts))[: DOCUMENTS + HELD_OUT]
    for name, own in (("held-out", True), ("texts", False)):
        (folder / name).mkdir()
        lines = [
            json.dumps({"text": text}) for at, text in enumerate(chosen) if (at % every == 0) is own
        ]
        (folder / name / "documents.jsonl").write_text("\n".join(lines), "utf-8")


def _markdown(rows: Sequence[dict[str, object]]) -> str:
    def line(row: dict[str, object]) -> list[str]:
        noise = row["noise"]
        name = "no differential privacy" if noise is None else f"noise multiplier {noise}"
        epsilon = "∞" if row["epsilon"] is None else f"{row['epsilon']}"
        return [name, f"{row['bits_per_byte']:.2f}", epsilon, f"{row['ms_per_step']:.0f}"]

    return table.markdown(COLUMNS, [line(row) for row in rows])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of 25 steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
