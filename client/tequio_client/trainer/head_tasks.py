"""Tasks that show what a head can do: measure it, continue a text, answer questions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from tequio_client.ipc import trainer
from tequio_client.trainer import choices, evaluate
from tequio_client.trainer.likelihood import ScoringDevice
from tequio_client.trainer.prepared import HeldOutDocument, PreparedModel, held_out_documents
from tequio_client.trainer.task_context import NonFiniteError, TaskContext
from tequio_shared.errors import UserFacingError
from tequio_shared.multiple_choice import ChoiceTask, ChoiceTotals
from tequio_shared.statements.runs import TaskCounts

_SAMPLE_SEED = 0
_GROUP_QUESTIONS = 4


def evaluate_head(task: trainer.Evaluate, context: TaskContext) -> trainer.Evaluated:
    """Measure a head in bits per byte, and sample text from it; raises NonFiniteError."""
    context.activity.start(task.command, "evaluating")
    setup = context.setup
    setup.model.load(setup.map_master(task.weights), setup.layout)
    left = islice(_documents(task, setup), task.first_document, None)
    documents = evaluate.first_documents(left, task.max_tokens)
    score = evaluate.score_head(
        setup.model,
        documents,
        separator=setup.corpus.separator,
        sequence=setup.corpus.sequence,
        device=setup.device,
        check=context.check,
        tally=setup.unfinished.score_progress(
            msgspec.structs.replace(task, command=1), len(documents)
        ),
    )
    if score.millibits is None:
        raise NonFiniteError(f"the head of round {task.round} predicts infinite or NaN values")
    return trainer.Evaluated(
        command=task.command,
        round=task.round,
        bits_per_byte=score.bits_per_byte,
        millibits=score.millibits,
        perplexity=score.perplexity,
        documents=score.documents,
        tokens=score.tokens,
        text_bytes=score.text_bytes,
        sample=_sample(task, context) if task.sample_tokens else "",
        seconds=context.elapsed_s,
    )


def continue_text(task: trainer.Continue, context: TaskContext) -> trainer.Continued:
    """Continue the beginning of a held-out document; raises UserFacingError."""
    context.activity.start(task.command, "evaluating")
    setup = context.setup
    document = next(islice(_documents(task, setup), task.document, None), None)
    if document is None:
        raise UserFacingError(f"the held-out shards have no document {task.document}")
    setup.model.load(setup.map_master(task.weights), setup.layout)
    spell = evaluate.decoder(setup)
    start = evaluate.prompt_tokens(document, spell)
    written = setup.unfinished.written_ids(msgspec.structs.replace(task, command=1))
    evaluate.continue_greedily(setup, start, written, context.check)
    prompt, text = evaluate.split_text(start, written, spell)
    return trainer.Continued(
        command=task.command, round=task.round, prompt=prompt, text=text, seconds=context.elapsed_s
    )


def answer_questions(
    task: trainer.AnswerQuestions, context: TaskContext
) -> trainer.QuestionsAnswered:
    """Have a head answer questions; raises UserFacingError, MalformedError for another file."""
    context.activity.start(task.command, "evaluating")
    setup = context.setup
    every = ChoiceTask.parse(Path(task.task).read_bytes()).questions
    asked = every[task.first : task.first + task.count]
    if not asked:
        raise UserFacingError(f"the task has {len(every)} questions, and none at {task.first}")
    setup.model.load(setup.map_master(task.weights), setup.layout)
    scored = evaluate.scored_model(setup, task.weights)
    scorer = ScoringDevice(device=setup.device, on_tokens=lambda _tokens: context.check())
    losses = setup.unfinished.choice_losses(msgspec.structs.replace(task, command=1))
    while len(losses) < len(asked):
        # An interruption costs the questions of a group, so groups are small.
        group = asked[len(losses) : len(losses) + _GROUP_QUESTIONS]
        losses += choices.answer_questions(scored, group, setup.corpus.sequence, scorer)
    totals = ChoiceTotals.of(asked, losses)
    return trainer.QuestionsAnswered(
        command=task.command,
        round=task.round,
        counts=TaskCounts(
            asked=totals.asked,
            right=totals.right,
            right_normed=totals.right_normed,
            close=totals.close,
            close_normed=totals.close_normed,
        ),
        unread=totals.unread,
        seconds=context.elapsed_s,
    )


def _documents(
    task: trainer.Evaluate | trainer.Continue, setup: PreparedModel
) -> Iterator[HeldOutDocument]:
    tokens = setup.token_table()
    for shard in task.shards:
        if shard.index >= len(setup.corpus.held_out):
            raise UserFacingError(f"the data has no held-out shard {shard.index}")
        entry = setup.corpus.held_out[shard.index]
        yield from held_out_documents(
            Path(shard.path),
            entry,
            setup.corpus.token_bytes,
            setup.corpus.tokenizer.vocab_size,
            has_masks=setup.corpus.has_masks,
            tokens=tokens,
        )


def _sample(task: trainer.Evaluate, context: TaskContext) -> str:
    setup = context.setup
    ids = evaluate.sample(
        setup.model,
        evaluate.prompt_ids(setup, task.prompt),
        tokens=task.sample_tokens,
        sequence=setup.corpus.sequence,
        seed=_SAMPLE_SEED,
        device=setup.device,
        check=context.check,
    )
    return evaluate.decoder(setup)(ids)
