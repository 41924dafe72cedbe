"""Texts that a head writes: real models, real tokenizers, from real held-out documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from tequio_client.ipc import trainer
from tequio_client.trainer import evaluate, prepared
from tequio_client.trainer.prepared import HeldOutDocument
from tequio_shared.errors import UserFacingError
from tequio_shared.limits import SAMPLE_PROMPT_BYTES, SAMPLE_TOKENS
from tequio_shared.statements.runs import Sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.prepared import PreparedModel
    from tests.client.trainer.conftest import Child
    from tests.client.trainer.small_run import SmallRun


@pytest.fixture(scope="module")
def shop(run: SmallRun) -> PreparedModel:
    opened = prepared.prepare_model(run.prepare(1))
    opened.model.load(opened.map_master(run.weights), opened.layout)
    return opened


def document(text: str) -> HeldOutDocument:
    raw = text.encode()
    return HeldOutDocument(
        tokens=np.frombuffer(raw, np.uint8).astype(np.int64), text_bytes=len(raw)
    )


def nothing() -> None:
    """Be called away by nobody."""


def test_a_beginning_is_the_first_bytes_and_ends_with_a_whole_character(
    shop: PreparedModel,
) -> None:
    spell = evaluate.decoder(shop)
    assert spell(evaluate.prompt_tokens(document("short"), spell)) == "short"
    assert spell(evaluate.prompt_tokens(document("x" * 100), spell)) == "x" * SAMPLE_PROMPT_BYTES
    crossed = "x" * (SAMPLE_PROMPT_BYTES - 2) + "从前有一只狐狸"
    assert spell(evaluate.prompt_tokens(document(crossed), spell)) == "x" * (
        SAMPLE_PROMPT_BYTES - 2
    )
    assert evaluate.prompt_tokens(document(""), spell) == []


def test_the_likeliest_token_follows_each_time(shop: PreparedModel) -> None:
    start, written = [65, 66], list[int]()
    evaluate.continue_greedily(shop, start, written, nothing)
    assert 0 < len(written) <= SAMPLE_TOKENS
    ids = [shop.corpus.separator, *start, *written]
    for at in range(3, len(ids)):
        context = torch.tensor([ids[max(at - shop.corpus.sequence, 0) : at]])
        with torch.no_grad():
            logits = shop.model.logits(context)[0, -1]
        assert ids[at] == int(logits[: shop.corpus.tokenizer.vocab_size].argmax())
    again = list[int]()
    evaluate.continue_greedily(shop, start, again, nothing)
    assert again == written


class ScriptedModel:
    """A model with the logits of a test."""

    def __init__(
        self, network: torch.nn.Module, logits: Callable[[torch.Tensor], torch.Tensor]
    ) -> None:
        self.network, self.logits = network, logits


def with_logits(
    shop: PreparedModel, logits: Callable[[torch.Tensor], torch.Tensor]
) -> PreparedModel:
    return replace(shop, model=cast("CausalModel", ScriptedModel(shop.model.network, logits)))


def test_it_ends_where_the_model_ends_the_text(shop: PreparedModel) -> None:
    says = [70, 71, shop.corpus.separator, 72]

    def logits(context_bl: torch.Tensor) -> torch.Tensor:
        row = torch.zeros(1, context_bl.shape[1], shop.corpus.tokenizer.vocab_size + 5)
        row[0, -1, says[context_bl.shape[1] - 2]] = 1.0
        row[0, -1, -1] = 9.0  # a row of the embedding without a token
        return row

    written = list[int]()
    evaluate.continue_greedily(with_logits(shop, logits), [65], written, nothing)
    assert written == [70, 71]


def test_what_is_written_before_somebody_calls_is_not_lost(shop: PreparedModel) -> None:
    begun, task = shop.unfinished, "task"

    def call_away_at(calls: int) -> Callable[[], None]:
        left = iter(range(calls))

        def check() -> None:
            if next(left, None) is None:
                raise InterruptedError

        return check

    with pytest.raises(InterruptedError):
        evaluate.continue_greedily(shop, [65], begun.written_ids(task), call_away_at(5))
    part = list(begun.written_ids(task))
    assert len(part) == 5
    evaluate.continue_greedily(shop, [65], begun.written_ids(task), nothing)
    whole = list[int]()
    evaluate.continue_greedily(shop, [65], whole, nothing)
    assert begun.written_ids(task) == whole
    assert begun.written_ids(task)[:5] == part
    assert begun.written_ids("another task") == []


def test_a_model_that_gives_no_numbers_writes_nothing(shop: PreparedModel) -> None:
    nan = torch.full((1, 2, shop.corpus.tokenizer.vocab_size), float("nan"))
    with pytest.raises(UserFacingError, match="infinite or NaN values"):
        evaluate.continue_greedily(with_logits(shop, lambda _: nan), [65], [], nothing)


def test_an_accelerators_short_numbers_are_not_used(shop: PreparedModel) -> None:
    fast = replace(shop, device=replace(shop.device, precision=torch.bfloat16))
    seen = set()

    def logits(ids: torch.Tensor) -> torch.Tensor:
        found = shop.model.logits(ids)
        seen.add(found.dtype)
        return found

    evaluate.continue_greedily(with_logits(fast, logits), [65], [], nothing)
    assert seen == {torch.float32}


def test_a_hugging_face_vocabulary_is_spelled_with_its_blanks(
    shop: PreparedModel, tmp_path: Path
) -> None:
    words = ["<s>", "\u2581Once", "\u2581upon", "\u2581a", "\u2581time", "\u2581从前"]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, "<s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    prepare = msgspec.structs.replace(shop.prepare, tokenizer=str(tmp_path / "tokenizer.json"))
    theirs = replace(shop, prepare=prepare)
    spell = evaluate.decoder(theirs)
    assert evaluate.split_text([1, 2], [3, 4], spell) == ("Once upon", " a time")
    assert evaluate.split_text([], [3, 4], spell) == ("", "a time")
    long = HeldOutDocument(tokens=np.array([5] * 40), text_bytes=280)
    text = spell(evaluate.prompt_tokens(long, spell))
    assert SAMPLE_PROMPT_BYTES - 8 < len(text.encode()) <= SAMPLE_PROMPT_BYTES
    assert evaluate.prompt_ids(theirs, "Once upon") == [0, 1, 2], "behind a separator alone"


def test_a_trainer_process_lets_a_head_go_on_from_a_held_out_text(
    child: Child, run: SmallRun
) -> None:
    child.send(run.prepare(3_000))
    while child.until(trainer.TrainerReady).command != 3_000:
        pass
    asked = trainer.Continue(
        command=3_001, round=0, weights=run.weights, shards=run.held_out, document=1
    )
    child.send(asked)
    answer = child.until(trainer.Continued)
    assert answer.prompt
    assert answer.prompt in "".join(path.read_text() for path in (run.folder / "texts").iterdir())
    assert len(Sample(prompt=answer.prompt, text=answer.text).text) <= SAMPLE_TOKENS
    child.send(
        trainer.Continue(
            command=3_002, round=0, weights=run.weights, shards=run.held_out, document=9_999
        )
    )
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    assert (report.code, report.reason) == ("input", "the held-out shards have no document 9999")
