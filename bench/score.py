"""Scoring: tokens and bytes per second against bare forward passes, and numerical differences.

The claim: with windows, losses in binary64 and exact sums, scoring keeps at least 0.75 of the speed
of the same batches through the same network without any further work. Below that: the change of a
total and of the worst document with the batch size and the number of threads, relative to the
value. Scores are rounded to 0.001 bits, so differences below 1e-7 of a document are invisible.

Run: python bench/score.py [--documents N] [--turns N] [--device cpu] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from loops.machine import machine

from tequio_client.dataset import sources
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import device, likelihood, model
from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    TOTAL_TOLERANCE,
    ScoreTotals,
    ScoringRules,
    scoring_windows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_shared.scoring import DocumentScore


LEAST_RATIO = 0.75
SHORTEST, LONGEST = 1_000, 4_000
RULES = ScoringRules(window=512, stride=256)
FIELDS = {
    "model_type": "llama",
    "vocab_size": 8_192,
    "hidden_size": 256,
    "intermediate_size": 704,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "initializer_range": 0.1,
    "tie_word_embeddings": True,
}


def main() -> None:
    """Measure, print, and fail if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8, help="documents to score")
    parser.add_argument("--turns", type=int, default=3, help="how often each way is measured")
    parser.add_argument("--device", default="cpu", help="device that computes")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    chosen = device.open_device(options.device)
    scored = ScoredModel(
        folder=Path(tempfile.gettempdir()),
        model=model.build_random(json.dumps(FIELDS).encode(), 1),
        tokenizer=ByteTokenizer(),
        context=RULES.window,
    )
    texts = _texts(options.documents)
    result = {
        **machine(),
        "device": chosen.name,
        "parameters": sum(one.numel() for one in scored.model.parameters.values()),
        **_speeds(scored, texts, chosen, options.turns),
        **_differences(scored, texts, chosen),
        "least_ratio": LEAST_RATIO,
    }
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))
    _judge(result)


def _texts(count: int) -> list[str]:
    library = sources.standard_library_files()
    found = (library.text(at) for at in range(0, len(library), 3))
    return [text for text in found if SHORTEST <= len(text) <= LONGEST][:count]


def _speeds(
    scored: ScoredModel, texts: Sequence[str], chosen: device.ComputeDevice, turns: int
) -> dict[str, Any]:
    _score(scored, texts[:2], ScoringDevice(device=chosen))
    ours, bare = [], []
    for _ in range(turns):
        begun = time.perf_counter()
        total = ScoreTotals.of(_score(scored, texts, ScoringDevice(device=chosen)))
        ours.append(time.perf_counter() - begun)
        bare.append(_bare_s(scored, texts, chosen))
    seconds = statistics.median(ours)
    return {
        "bits_per_byte": total.bits_per_byte,
        "tokens_per_second": total.tokens / seconds,
        "bytes_per_second": total.size_bytes / seconds,
        "ratio": statistics.median(bare) / seconds,
    }


def _bare_s(scored: ScoredModel, texts: Sequence[str], chosen: device.ComputeDevice) -> float:
    """Only the forward passes of the same inputs."""
    lengths = sorted(
        (
            one.end - one.first
            for text in texts
            for one in scoring_windows(len(text.encode()), RULES)
        ),
        reverse=True,
    )
    begun = time.perf_counter()
    with torch.inference_mode():
        while lengths:
            count = max(likelihood.BATCH_TOKENS // lengths[0], 1)
            rows = len(lengths[:count])
            ids = torch.ones(rows, lengths[0], dtype=torch.long)
            out = scored.model.logits(ids.to(chosen.handle))
            del lengths[:count]
        out.sum().item()  # waits for the device
    return time.perf_counter() - begun


def _differences(
    scored: ScoredModel, texts: Sequence[str], chosen: device.ComputeDevice
) -> dict[str, float]:
    reference = _score(scored, texts, ScoringDevice(device=chosen))
    before = device.thread_count()
    found: dict[str, float] = {}
    for name, batch_tokens, threads in (
        ("one window at a time", 1, before),
        ("large batches", 16_384, before),
        ("one thread", likelihood.BATCH_TOKENS, 1),
        ("two threads", likelihood.BATCH_TOKENS, 2),
    ):
        device.limit_threads(threads)
        other = _score(scored, texts, ScoringDevice(device=chosen, batch_tokens=batch_tokens))
        totals = ScoreTotals.of(other).millibits, ScoreTotals.of(reference).millibits
        found[f"{name}: total"] = abs(totals[0] - totals[1]) / totals[1]
        found[f"{name}: worst document"] = max(
            abs(one.millibits - two.millibits) / two.millibits
            for one, two in zip(other, reference, strict=True)
        )
    device.limit_threads(before)
    return found


def _score(scored: ScoredModel, texts: Sequence[str], means: ScoringDevice) -> list[DocumentScore]:
    return list(likelihood.score_documents(scored, texts, RULES, means))


def _judge(result: dict[str, Any]) -> None:
    if result["ratio"] < LEAST_RATIO:
        raise SystemExit(f"scoring reaches only {result['ratio']:.3f} of the bare passes' speed")
    for name, value in result.items():
        kind = name.rpartition(": ")[2]
        most = {"total": 1 / TOTAL_TOLERANCE, "worst document": 1 / DOCUMENT_TOLERANCE}.get(kind)
        if most is not None and value > most:
            raise SystemExit(f"{name} differs by {value:.1e}, more than {most:.0e}")


if __name__ == "__main__":
    main()
