"""Answers of a model to multiple-choice questions, as lm-evaluation-harness computes them.

A request is a context and a continuation. Both are encoded together, and the tokens after those of
the context alone are the continuation's; blanks at the end of a context belong to it, too. The
tokens that the tokenizer itself puts before a text come first. Without any context it is the token
that stands before each text (`trainer.likelihood`). Where the window is too short, the beginning of
the context is left out. (`lm_eval.api.model.TemplateLM._encode_pair`, version 0.4.13)

Shapes: L inputs of a request.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tequio_client.tokenizers import TokenizerError
from tequio_client.trainer import likelihood
from tequio_client.trainer.likelihood import InputRow, ScoredModel, ScoringDevice
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_shared.multiple_choice import ChoiceLosses, ChoiceQuestion, round_losses
from tequio_shared.scoring import Refusal

_GROUP = 256
"""Questions that are sorted together, so that requests of similar length share a batch."""


def answer_questions(
    scored: ScoredModel, questions: Sequence[ChoiceQuestion], window: int, scorer: ScoringDevice
) -> Iterator[ChoiceLosses]:
    """Losses of each question's choices, in order.

    Every choice is one row of context and continuation, so the cost is that of all their tokens.
    Raises ModelRefusedError if the model predicts no numbers.
    """
    scored = likelihood.on_device(scored, scorer)
    scorer = replace(scorer, batch_tokens=likelihood.batch_tokens(scored, scorer))
    for first in range(0, len(questions), _GROUP):
        group = [_read(scored, one, window) for one in questions[first : first + _GROUP]]
        rows = [row for one in group for row in one.rows]
        found = iter(_losses(scored, rows, scorer))
        for one in group:
            nats = [next(found) for _row in one.rows]
            yield _rounded(scored, nats, is_cut=one.is_cut)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    rows: tuple[InputRow, ...] = ()  # one a choice; none of a question that cannot be read
    is_cut: bool = False


def _read(scored: ScoredModel, question: ChoiceQuestion, window: int) -> _Read:
    rows, is_cut = [], False
    for context, continuation in question.requests:
        try:
            before, after = _encoded(scored, context, continuation)
        except TokenizerError:
            return _Read()
        # A choice without tokens would be certain, whatever the model knows.
        if not len(before) or not 0 < len(after) <= window:
            return _Read()
        whole = np.concatenate((before, after))
        is_cut |= len(whole) > window + 1
        rows.append(InputRow(inputs=whole[-window - 1 : -1], targets=after))
    return _Read(rows=tuple(rows), is_cut=is_cut)


def _encoded(
    scored: ScoredModel, context: str, continuation: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokens before the continuation, at least one, and its own; raises TokenizerError."""
    tokenizer = scored.tokenizer
    read = context.rstrip()
    text = context + continuation
    whole = tokenizer.encode(text)
    # A tokenizer that loses text would make the choices alike, or cheaper to predict.
    if tokenizer.decode(whole.tolist()) != text:
        raise TokenizerError("the tokenizer cannot restore a question")
    if not read:
        return np.array([tokenizer.separator], np.int64), whole
    known = tokenizer.encode(read)
    before = np.concatenate((np.array(tokenizer.leading, np.int64), known))
    return before, whole[len(known) :]


def _losses(scored: ScoredModel, rows: Sequence[InputRow], scorer: ScoringDevice) -> list[float]:
    """Nats of the targets of each row together, in the order of the rows."""
    found = [0.0] * len(rows)
    left = sorted(range(len(rows)), key=lambda at: -len(rows[at].inputs))
    while left:
        count = max(scorer.batch_tokens // len(rows[left[0]].inputs), 1)
        batch, left = left[:count], left[count:]
        losses = likelihood.row_losses(scored, [rows[at] for at in batch], scorer)
        for at, one in zip(batch, losses, strict=True):
            # Losses near zero may be rounded below it.
            found[at] = max(math.fsum(one), 0.0)
    return found


def _rounded(scored: ScoredModel, nats: Sequence[float], *, is_cut: bool) -> ChoiceLosses:
    try:
        return round_losses(nats, is_cut=is_cut)
    except (ValueError, OverflowError) as err:
        raise ModelRefusedError(
            Refusal.PREDICTIONS,
            f"{scored.folder} predicts infinite or NaN values for a choice; use a checkpoint from "
            "before its training diverged",
        ) from err
