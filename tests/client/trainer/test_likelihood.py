"""Likelihoods agree with the definition, computed the slow way, at any batch and thread count."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
import torch

from tequio_client.trainer import device, likelihood
from tequio_client.trainer.likelihood import ScoringDevice
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    TOTAL_TOLERANCE,
    Refusal,
    ScoreTotals,
    ScoringRules,
    is_within,
)
from tests.support import model_folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.trainer.likelihood import ScoredModel
    from tequio_shared.scoring import DocumentScore

CPU = ScoringDevice(device=device.open_device("cpu"))
TEXTS = [
    "m",
    "milpa y maíz",
    "".join(chr(32 + at * at * 7 % 90) for at in range(130)),
    "añ" * 32,
]
RULES = (
    ScoringRules(window=64, stride=64),
    ScoringRules(window=64, stride=32),
    ScoringRules(window=20, stride=7),
)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> ScoredModel:
    folder = model_folders.write(tmp_path_factory.mktemp("model"), model_folders.llama(256))
    return likelihood.open_model(folder, tokenizer="bytes", prefix=None)


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _scores(
    scored: ScoredModel, rules: ScoringRules, means: ScoringDevice = CPU, texts: list[str] = TEXTS
) -> list[DocumentScore]:
    return list(likelihood.score_documents(scored, texts, rules, means))


def _slow_bits(scored: ScoredModel, text: str, rules: ScoringRules) -> float:
    """One token at a time, in binary64: its context begins where its window does."""
    network = scored.model.network.double()
    stream = [0, *text.encode()]
    total, done = 0.0, 0
    with torch.no_grad():
        while done < len(stream) - 1:
            end = min(done + (rules.stride if done else rules.window), len(stream) - 1)
            first = max(0, end - rules.window)
            for target in range(done + 1, end + 1):
                logits = network(torch.tensor([stream[first:target]]))[0, -1]
                odds = torch.softmax(logits, 0)
                total -= math.log2(float(odds[stream[target]]))
            done = end
    network.float()
    return total


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.window}-{rules.stride}")
def test_the_score_is_the_definition(scored: ScoredModel, rules: ScoringRules) -> None:
    for text, found in zip(TEXTS, _scores(scored, rules), strict=True):
        assert found.millibits / 1_000 == pytest.approx(
            _slow_bits(scored, text, rules), rel=1e-5, abs=6e-4
        )
        assert found.size_bytes == found.tokens == len(text.encode())


def test_the_context_matters(scored: ScoredModel) -> None:
    """A model that does not care would pass with windows in any place."""
    whole, half, short = (ScoreTotals.of(_scores(scored, rules)).millibits for rules in RULES)
    assert abs(whole - half) > whole / 1_000
    assert abs(whole - short) > whole / 1_000


@pytest.mark.parametrize("batch_tokens", [1, 64, 200, 1_000_000])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.usefixtures("threads")
def test_batches_and_threads_change_nothing_that_counts(
    scored: ScoredModel, batch_tokens: int, count: int
) -> None:
    reference = _scores(scored, RULES[1])
    torch.set_num_threads(count)
    means = ScoringDevice(device=CPU.device, batch_tokens=batch_tokens)
    found = _scores(scored, RULES[1], means)
    for one, other in zip(found, reference, strict=True):
        assert is_within(one.millibits, other.millibits, 100 * DOCUMENT_TOLERANCE)
    totals = ScoreTotals.of(found).millibits, ScoreTotals.of(reference).millibits
    assert is_within(*totals, 100 * TOTAL_TOLERANCE)


def test_documents_do_not_see_each_other(scored: ScoredModel) -> None:
    alone = [one for text in TEXTS for one in _scores(scored, RULES[0], texts=[text])]
    together = _scores(scored, RULES[0])
    for one, other in zip(alone, together, strict=True):
        assert is_within(one.millibits, other.millibits, 100 * DOCUMENT_TOLERANCE)


def test_the_same_twice_is_the_same_to_the_bit(scored: ScoredModel) -> None:
    assert _scores(scored, RULES[1]) == _scores(scored, RULES[1])


def test_a_model_that_knows_nothing_needs_eight_bits_a_byte(tmp_path: Path) -> None:
    config = model_folders.llama(256)
    folder = model_folders.write(tmp_path, config, tensors=model_folders.uniform(config))
    scored = likelihood.open_model(folder, tokenizer="bytes", prefix=None)
    assert ScoreTotals.of(_scores(scored, RULES[1])).bits_per_byte == 8.0


def test_a_text_that_the_tokenizer_loses_is_charged_and_the_rest_is_scored(
    scored: ScoredModel,
) -> None:
    lost, kept = _scores(scored, RULES[0], texts=["a zero\0byte", "milpa"])
    assert lost.refusal is Refusal.ROUND_TRIP
    assert lost.millibits == 11 * 8_000
    assert kept.refusal is Refusal.NONE


@pytest.mark.parametrize("text", ["", "half a pair \ud83d"])
def test_what_is_no_text_is_left_out(scored: ScoredModel, text: str) -> None:
    nothing, kept = _scores(scored, RULES[0], texts=[text, "milpa"])
    assert nothing.refusal is Refusal.EMPTY
    assert (nothing.size_bytes, nothing.millibits) == (0, 0)
    assert kept.millibits > 0


@pytest.mark.parametrize("factor", [1e30, 5e37])
def test_predictions_that_overflow_are_told_with_the_document(
    tmp_path: Path, factor: float
) -> None:
    config = model_folders.llama(256)
    tensors = model_folders.tensors_of(config)
    tensors["lm_head.weight"] *= factor
    folder = model_folders.write(tmp_path, config, tensors=tensors)
    scored = likelihood.open_model(folder, tokenizer="bytes", prefix=None)
    with pytest.raises(UserFacingError, match="NaN values in a document that begins 'milpa'"):
        _scores(scored, RULES[0], texts=["milpa"])


def test_who_listens_can_end_it(scored: ScoredModel) -> None:
    heard: list[int] = []

    def tick(tokens: int) -> None:
        heard.append(tokens)
        if len(heard) == 2:
            raise UserFacingError("enough")

    means = ScoringDevice(device=CPU.device, batch_tokens=64, on_tokens=tick)
    with pytest.raises(UserFacingError, match="enough"):
        _scores(scored, RULES[0], means)
    assert len(heard) == 2


def test_our_llama_and_that_of_transformers_score_alike(tmp_path: Path) -> None:
    """`pretraining_tp` is left to transformers by our own network, and changes nothing there."""
    config = model_folders.llama(256)
    tensors = model_folders.tensors_of(config)
    ours = model_folders.write(tmp_path / "ours", config, tensors=tensors)
    theirs = model_folders.write(
        tmp_path / "theirs", config | {"pretraining_tp": 2}, tensors=tensors
    )
    opened = [
        likelihood.open_model(folder, tokenizer="bytes", prefix=None) for folder in (ours, theirs)
    ]
    assert type(opened[0].model.network) is not type(opened[1].model.network)
    for one, other in zip(*(_scores(each, RULES[1]) for each in opened), strict=True):
        assert is_within(one.millibits, other.millibits, 100 * DOCUMENT_TOLERANCE)


def test_a_sub_word_model_is_scored_by_the_bytes_of_its_text(tmp_path: Path) -> None:
    texts = model_folders.library_texts(8, longest=4_000)
    config = model_folders.llama(400)
    folder = model_folders.write(tmp_path, config, tokenizer=model_folders.bpe(texts, 400))
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    assert json.loads((folder / "config.json").read_text())["vocab_size"] == 400
    total = ScoreTotals.of(_scores(scored, RULES[1], texts=texts))
    assert total.size_bytes == sum(len(text.encode()) for text in texts)
    assert total.tokens < total.size_bytes
    assert total.charged == 0
