"""Choices cost what the definition says, computed the slow way, in any batch."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tequio_client.trainer import choices, device, likelihood
from tequio_client.trainer.likelihood import ScoringDevice
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_shared.multiple_choice import ChoiceQuestion, ChoiceTotals
from tequio_shared.scoring import MILLIBITS, Refusal
from tests.support import model_folders
from tests.support.model_folders import END

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.trainer.likelihood import ScoredModel
    from tequio_shared.multiple_choice import ChoiceLosses

CPU = ScoringDevice(device=device.open_device("cpu"))
CONTEXT = model_folders.CONTEXT


def _question(context: str, *texts: str, right: int = 0) -> ChoiceQuestion:
    return ChoiceQuestion(
        characters=tuple(map(len, texts)),
        contexts=(context,),
        continuations=tuple(f" {one}" for one in texts),
        right=right,
    )


QUESTIONS = [
    _question("milpa is a field of", "maíz", "corn and beans", "m"),
    _question("metate:", "stone", "tool", right=1),
    _question("", "mano", "masa"),
    _question("a long story. " * 5, "end", "finish"),
    _question("blanks at the end  ", "a", "b"),
]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> ScoredModel:
    folder = model_folders.write(tmp_path_factory.mktemp("model"), model_folders.llama(256))
    return likelihood.open_model(folder, tokenizer="bytes", prefix=None)


def _losses(
    scored: ScoredModel, questions: list[ChoiceQuestion], means: ScoringDevice = CPU
) -> list[ChoiceLosses]:
    return list(choices.answer_questions(scored, questions, CONTEXT, means))


def _slow_bits(scored: ScoredModel, context: list[int], after: list[int]) -> float:
    """One token at a time, in binary64; the window holds the last tokens."""
    stream = [*context, *after]
    total = 0.0
    network = scored.model.network.double()
    start = max(len(stream) - 1 - CONTEXT, 0)
    with torch.no_grad():
        for at in range(len(context), len(stream)):
            odds = torch.softmax(network(torch.tensor([stream[start:at]]))[0, -1], 0)
            total -= math.log2(float(odds[stream[at]]))
    network.float()
    return total


def test_each_choice_costs_what_its_tokens_cost_after_the_context(scored: ScoredModel) -> None:
    found = _losses(scored, QUESTIONS)
    for question, losses in zip(QUESTIONS, found, strict=True):
        for (context, continuation), millibits in zip(
            question.requests, losses.millibits, strict=True
        ):
            read = context.rstrip()  # blanks at the end belong to the continuation
            after = (context + continuation)[len(read) :]
            bits = _slow_bits(scored, list(read.encode()) or [0], list(after.encode()))
            assert millibits / MILLIBITS == pytest.approx(bits, rel=1e-5)
    assert [one.is_cut for one in found] == [False, False, False, True, False]


def test_batches_do_not_change_the_counts(scored: ScoredModel) -> None:
    single = ScoringDevice(device=CPU.device, batch_tokens=1)
    many = QUESTIONS * 60  # more than are sorted together
    alone, together = _losses(scored, many, single), _losses(scored, many)
    assert ChoiceTotals.of(many, alone) == ChoiceTotals.of(many, together)
    for one, other in zip(alone, together, strict=True):
        assert one.millibits == pytest.approx(other.millibits, abs=2)


def test_an_answer_depends_on_the_context(scored: ScoredModel) -> None:
    one, other = _losses(scored, [_question(text, "yes", "no") for text in ("it is", "it was")])
    assert one != other


@pytest.mark.parametrize("text", ["a\0b", "x" * (CONTEXT + 1)])
def test_a_question_that_is_lost_or_too_long_is_not_read(scored: ScoredModel, text: str) -> None:
    (found,) = _losses(scored, [_question("milpa", "maíz", text)])
    assert found.millibits == ()


def test_a_model_without_numbers_is_refused(tmp_path: Path) -> None:
    config = model_folders.llama(256)
    tensors = model_folders.tensors_of(config)
    tensors["lm_head.weight"] *= 1e30
    tensors["model.norm.weight"] *= 1e30
    folder = model_folders.write(tmp_path / "model", config, tensors=tensors)
    broken = likelihood.open_model(folder, tokenizer="bytes", prefix=None)
    with pytest.raises(ModelRefusedError) as caught:
        _losses(broken, QUESTIONS)
    assert caught.value.reason is Refusal.PREDICTIONS


def test_tokens_that_a_tokenizer_puts_before_a_text_come_before_the_context(
    tmp_path: Path,
) -> None:
    plain: dict[str, Any] = json.loads(model_folders.bpe(["milpa maíz metate"], 300))
    first = {"Sequence": {"id": "A", "type_id": 0}}
    begin = {"SpecialToken": {"id": END, "type_id": 0}}
    begins = {
        "type": "TemplateProcessing",
        "single": [begin, first],
        "pair": [begin, first, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {END: {"id": END, "ids": [0], "tokens": [END]}},
    }
    adding = plain | {"post_processor": begins}
    question = _question("metate", "stone", "tool")
    for name, tokenizer, leading in (("plain", plain, []), ("adding", adding, [0])):
        folder = model_folders.write(
            tmp_path / name, model_folders.llama(300), tokenizer=json.dumps(tokenizer).encode()
        )
        scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
        assert list(scored.tokenizer.leading) == leading
        (found,) = _losses(scored, [question])
        known = scored.tokenizer.encode("metate").tolist()
        whole = scored.tokenizer.encode("metate stone").tolist()
        bits = _slow_bits(scored, [*leading, *known], whole[len(known) :])
        assert found.millibits[0] / MILLIBITS == pytest.approx(bits, rel=1e-5)
