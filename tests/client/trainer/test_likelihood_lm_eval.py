"""`tequio score` and lm-evaluation-harness give the same number.

With its own package, on a task of local texts: the same windows, the same prefix, bits per byte
within 1e-4. It is not among our requirements, since it brings forty packages that nothing else
needs; where it is missing, these tests say so. docs/scoring.md says how to install it beside them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tequio_client.trainer import device, likelihood
from tequio_shared.scoring import ScoreTotals, ScoringRules, scoring_windows
from tests.support import lm_eval_harness, model_folders

if TYPE_CHECKING:
    from pathlib import Path

lm_eval_harness.require()

CONTEXT = model_folders.CONTEXT
TEXTS = model_folders.library_texts(10, shortest=300, longest=5_000)


def _theirs(folder: Path, texts: Path) -> dict[str, float]:
    task = {
        "task": "texts",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(texts)}},
        "test_split": "test",
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "text",
        "metric_list": [
            {"metric": name} for name in ("bits_per_byte", "byte_perplexity", "word_perplexity")
        ],
    }
    return lm_eval_harness.results(folder, task)


@pytest.mark.parametrize("kind", model_folders.KINDS)
@pytest.mark.filterwarnings("ignore")
def test_bits_per_byte_are_those_of_lm_evaluation_harness(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = model_folders.KINDS[kind](tmp_path / kind)
    lines = tmp_path / "texts.jsonl"
    lines.write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    theirs = _theirs(folder, lines)
    ours = _ours(folder, ScoringRules(window=CONTEXT, stride=CONTEXT))
    assert ours.bits_per_byte == pytest.approx(theirs["bits_per_byte"], rel=1e-4)
    assert ours.byte_perplexity == pytest.approx(theirs["byte_perplexity"], rel=1e-3)
    assert ours.word_perplexity == pytest.approx(theirs["word_perplexity"], rel=1e-2)
    elsewhere = _ours(folder, ScoringRules(window=CONTEXT, stride=CONTEXT // 2))
    assert elsewhere.bits_per_byte != pytest.approx(theirs["bits_per_byte"], rel=1e-4)


def _ours(folder: Path, rules: ScoringRules) -> ScoreTotals:
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    means = likelihood.ScoringDevice(device=device.open_device("cpu"))
    total = ScoreTotals.of(likelihood.score_documents(scored, TEXTS, rules, means))
    assert total.charged == 0
    return total


@pytest.mark.parametrize(("window", "stride"), [(64, 64), (64, 32), (64, 1), (10, 7), (1, 1)])
def test_windows_of_every_stride_are_those_of_lm_evaluation_harness(
    window: int, stride: int
) -> None:
    get_rolling_token_windows = pytest.importorskip("lm_eval.utils").get_rolling_token_windows
    for tokens in (0, 1, 9, 63, 64, 65, 127, 128, 129, 500):
        ids = list(range(1, tokens + 1))
        stream = [0, *ids]
        theirs = list(get_rolling_token_windows(ids, 0, window, context_len=window - stride + 1))
        ours = [
            (
                stream[one.first : one.end],
                stream[one.end + 1 - one.scored : one.end + 1],
            )
            for one in scoring_windows(tokens, ScoringRules(window=window, stride=stride))
        ]
        assert [(list(seen), list(wanted)) for seen, wanted in theirs] == ours
