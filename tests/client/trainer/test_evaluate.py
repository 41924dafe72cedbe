"""Bits per byte and perplexity agree with the definition, computed the slow way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tequio_client.trainer import device, evaluate, prepared
from tequio_client.trainer.prepared import held_out_documents

if TYPE_CHECKING:
    from tequio_client.trainer.prepared import HeldOutDocument
    from tests.client.trainer.small_run import SmallRun

CPU = device.open_device("cpu")


def _documents(run: SmallRun) -> list[HeldOutDocument]:
    path = run.folder / "held-out-00000.tokens"
    return list(held_out_documents(path, run.corpus.held_out[0], 1, 256))


def _slow_nats(run: SmallRun, documents: list[HeldOutDocument]) -> list[float]:
    """Of each document, one token at a time."""
    found = []
    for document in documents:
        total = 0.0
        stream = [0, *document.tokens.tolist()]
        for at in range(1, len(stream)):
            first = (at - 1) // 32 * 32
            with torch.no_grad():
                logits = run.origin.model.logits(torch.tensor([stream[first:at]]))[0, -1]
            total -= float(torch.log_softmax(logits.double(), 0)[stream[at]])
        found.append(total)
    return found


def test_the_score_is_the_likelihood_of_whole_documents(run: SmallRun) -> None:
    run.origin.model.load(run.origin.master, run.origin.layout)
    documents = evaluate.first_documents(_documents(run), 900)
    score = evaluate.score_head(
        run.origin.model, documents, separator=0, sequence=32, device=CPU, check=lambda: None
    )
    each = _slow_nats(run, documents)
    nats = sum(each)
    assert score.millibits is not None
    due = sum(round(one / math.log(2) * 1_000) for one in each)
    assert abs(score.millibits - due) <= len(documents), "each is rounded by itself"
    assert score.nats == pytest.approx(nats, rel=1e-6)
    assert score.text_bytes == score.tokens == sum(len(one.tokens) for one in documents)
    assert score.bits_per_byte == pytest.approx(nats / math.log(2) / score.text_bytes, rel=1e-6)
    assert score.perplexity == pytest.approx(math.exp(nats / score.tokens), rel=1e-6)


def test_measuring_goes_on_where_it_was_ended(run: SmallRun) -> None:
    run.origin.model.load(run.origin.master, run.origin.layout)
    documents, begun = _documents(run), prepared.UnfinishedWork()
    rows: list[int] = []

    def measure(batches: int) -> evaluate.HeadScore:
        def check() -> None:
            rows.append(begun.score_progress("task", len(documents)).rows)
            if len(rows) == batches:
                raise InterruptedError

        return evaluate.score_head(
            run.origin.model,
            documents,
            separator=0,
            sequence=32,
            device=CPU,
            check=check,
            tally=begun.score_progress("task", len(documents)),
        )

    whole = measure(0)
    assert len(rows) > 1
    begun.score_progress("another task", len(documents))
    rows.clear()
    with pytest.raises(InterruptedError):
        measure(2)
    assert measure(0) == whole
    assert rows[1] == rows[2] > 0, "the batch before the end was not read again"
    assert begun.score_progress("another task", 1).rows == 0


def test_a_model_that_gives_no_numbers_has_no_millibits(run: SmallRun) -> None:
    run.origin.model.load(run.origin.master, run.origin.layout)
    with torch.no_grad():
        next(run.origin.model.network.parameters()).fill_(math.nan)
    score = evaluate.score_head(
        run.origin.model,
        _documents(run)[:1],
        separator=0,
        sequence=32,
        device=CPU,
        check=lambda: None,
    )
    run.origin.model.load(run.origin.master, run.origin.layout)
    assert score.millibits is None


def test_held_out_documents_are_the_texts(run: SmallRun) -> None:
    documents = _documents(run)
    names = {one.read_bytes() for one in (run.folder / "texts").iterdir()}
    assert {one.tokens.astype(np.uint8).tobytes() for one in documents} <= names
    assert all(one.text_bytes == len(one.tokens) for one in documents)


def test_no_limit_takes_all_documents_and_a_small_one_takes_one(run: SmallRun) -> None:
    documents = _documents(run)
    assert evaluate.first_documents(documents, 0) == documents
    assert evaluate.first_documents(documents, 1) == documents[:1]


def test_the_same_seed_writes_the_same_sample(run: SmallRun) -> None:
    def sample(seed: int) -> list[int]:
        return evaluate.sample(
            run.origin.model,
            [0, 65],
            tokens=40,
            sequence=32,
            seed=seed,
            device=CPU,
            check=lambda: None,
        )

    assert sample(1) == sample(1)
    assert sample(1) != sample(2)
    assert len(sample(1)) == 40
