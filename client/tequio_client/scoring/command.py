"""The `tequio score` command: a progress bar, tables for people, and a report for programs."""

from __future__ import annotations

import math
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tequio_client.dataset import rows
from tequio_client.dataset.rows import ReadOptions
from tequio_client.dataset.tasks import TaskFile, read_task_files
from tequio_client.names import clean_text
from tequio_client.scoring import hub
from tequio_client.scoring.tasks import (
    TaskScore,
    print_tasks,
    score_tasks,
)
from tequio_client.trainer import causality, device, likelihood
from tequio_shared.competition import result
from tequio_shared.competition.result import ConfidenceInterval, ModelRanking
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import LEAST_DOCUMENTS, DocumentScore, Refusal, ScoreTotals


class ModelScore(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one model on all documents; what has no value, or overflows, is null."""

    model: str
    tokenizer: str
    """SHA-256 of its tokenizer.json; empty for raw bytes."""
    prefix: int
    adds_tokens: bool
    """True if the tokenizer puts tokens around each text by default, which is not done here."""
    window: int
    stride: int
    seconds: float
    bits_per_byte: float
    byte_perplexity: float
    word_perplexity: float
    totals: ScoreTotals
    documents: tuple[DocumentScore, ...]
    tasks: tuple[TaskScore, ...]


class ScoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The results of `tequio score`; there is a `ranking` of two or more models on texts."""

    data: str | None
    device: str
    threads: int
    software: dict[str, str]
    models: tuple[ModelScore, ...]
    ranking: dict[str, Any] | None  # plain JSON of a Ranking

    def encode(self) -> bytes:
        """JSON, indented by one."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


_SOFTWARE = ("tequio", "torch", "transformers", "tokenizers")
_NAME_CHARS = 60
_READABLE = 1e7
_GIGA = 10**9
_SEED_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """Options of the command; None leaves the choice to the model, or sets no limit."""

    models: tuple[str, ...]
    data: str | None
    tasks: tuple[Path, ...]
    reading: ReadOptions
    revision: str | None
    tokenizer: str | None
    prefix: str | None
    window: int | None
    stride: int | None
    documents: int | None
    device: str
    threads: int | None
    batch_tokens: int
    beacon: bytes
    prints_documents: bool


def run(options: ScoreOptions, console: Console | None = None) -> ScoreReport:
    """Score models and print the results; raises UserFacingError."""
    console = console or Console()
    files = read_task_files(options.tasks)
    texts = _texts(options)
    if not texts and not files:
        raise UserFacingError(
            "nothing to score on: name texts (--on), tasks of questions (--task), or both"
        )
    chosen = device.open_device(options.device)
    if options.threads:
        device.limit_threads(options.threads)
    names = _distinct(options.models)
    models = tuple(
        _scored(options, name, path, _Given(texts=texts, files=files), chosen, console)
        for name, path in zip(names, options.models, strict=True)
    )
    ranking = _ranked(models, options.beacon) if texts and len(models) > 1 else None
    if texts:
        _print_models(models, console)
    report = None
    if ranking:
        # The beacon and the replicates too: with them anyone can compute the ranking again.
        seeds = {"beacon": to_text(options.beacon), "replicates": result.REPLICATES}
        report = seeds | asdict(ranking)
        _print_ranking(ranking, models[0].totals.documents, console)
    print_tasks([(one.model, one.tasks) for one in models], console)
    if options.prints_documents:
        _print_documents(models, console)
    return ScoreReport(
        data=options.data,
        device=chosen.label,
        threads=device.thread_count(),
        software={name: metadata.version(name) for name in _SOFTWARE},
        models=models,
        ranking=report,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    texts: list[str]
    files: tuple[TaskFile, ...]


def _texts(options: ScoreOptions) -> list[str]:
    if options.data is None:
        return []
    most = options.documents or sys.maxsize
    source = rows.open_documents(options.data, options.reading, most)
    texts = [source.text(index) for index in range(min(len(source), most))]
    if not any(texts):
        raise UserFacingError(
            f"the {source.label} contains no text; documents must be UTF-8 files, or a column of "
            "text (--column)"
        )
    return texts


def _scored(
    options: ScoreOptions,
    name: str,
    path: str,
    given: _Given,
    chosen: device.ComputeDevice,
    console: Console,
) -> ModelScore:
    scored = likelihood.open_model(
        hub.model_folder(path, options.revision), tokenizer=options.tokenizer, prefix=options.prefix
    )
    rules = scored.scoring_rules(options.window, options.stride)
    scorer = likelihood.ScoringDevice(device=chosen, batch_tokens=options.batch_tokens)
    begun = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bars:
        found = tuple(
            bars.track(
                # A seed that no model can have known; it decides refusals alone, and no score.
                causality.score_tried(
                    scored,
                    given.texts,
                    rules,
                    scorer,
                    seed=secrets.token_bytes(_SEED_BYTES),
                    tried_on=[*given.texts, *(text for one in given.files for text in one.texts)],
                ),
                total=len(given.texts),
                description=clean_text(name, _NAME_CHARS),
            )
        )
        seconds = time.perf_counter() - begun
        tasks = score_tasks(scored, given.files, options.window, scorer, bars)
    totals, file = ScoreTotals.of(found), scored.tokenizer.file
    return ModelScore(
        model=name,
        tokenizer=to_text(sha256(file)) if file else "",
        prefix=scored.tokenizer.separator,
        adds_tokens=scored.tokenizer.adds_tokens,
        window=rules.window,
        stride=rules.stride,
        seconds=round(seconds, 3),
        bits_per_byte=totals.bits_per_byte,
        byte_perplexity=totals.byte_perplexity,
        word_perplexity=totals.word_perplexity,
        totals=totals,
        documents=found,
        tasks=tasks,
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Number the names of a model that is given more than once."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return found


def _ranked(models: Sequence[ModelScore], beacon: bytes) -> ModelRanking:
    """Rank on the documents that have text, which are the same for all models."""
    kept = [at for at, one in enumerate(models[0].documents) if one.refusal is not Refusal.EMPTY]
    return result.rank_models(
        {one.model: [one.documents[at].millibits for at in kept] for one in models},
        [models[0].documents[at].size_bytes for at in kept],
        beacon=beacon,
    )


def _print_models(models: Sequence[ModelScore], console: Console) -> None:
    table = Table("model", title="Bits per byte (lower is better)")
    for column in ("bits/byte", "byte ppl", "word ppl", "documents"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in models:
        table.add_row(
            clean_text(one.model, _NAME_CHARS),
            f"{one.bits_per_byte:.6f}",
            f"{one.byte_perplexity:.4f}",
            _large(one.word_perplexity),
            f"{one.totals.documents:,}",
        )
    console.print(table)
    for one in models:
        _print_speed(one, console)
    _warn(models[0].totals.empty, "skipped, because they contain no valid Unicode text", console)


def _print_speed(one: ModelScore, console: Console) -> None:
    totals = one.totals
    console.print(
        f"{clean_text(one.model, _NAME_CHARS)}: {totals.size_bytes:,} bytes, "
        f"{totals.tokens:,} tokens, {totals.tokens / max(one.seconds, 1e-3):,.0f} tokens/s; "
        f"window {one.window:,}, stride {one.stride:,}, prefix token {one.prefix}",
        highlight=False,
    )
    if one.adds_tokens:
        console.print(
            "  its tokenizer adds tokens to each text by default, which is not done here: give "
            "lm-evaluation-harness add_bos_token=False to get the same number",
            highlight=False,
        )
    why = "charged 8 bits per byte, because the tokenizer cannot reproduce them"
    _warn(totals.charged, why, console)


def _warn(documents: int, what: str, console: Console) -> None:
    if documents:
        console.print(f"  documents {what}: {documents:,}", style="yellow", highlight=False)


def _large(value: float) -> str:
    if math.isinf(value):
        return "too large"
    return f"{value:,.2f}" if value < _READABLE else f"{value:.2e}"


def _print_ranking(ranking: ModelRanking, documents: int, console: Console) -> None:
    table = Table("rank", "model", title="Ranking, with 95% intervals over documents")
    table.add_column("bits/byte", justify="right")
    table.add_column("interval", justify="right")
    for place in ranking.places:
        table.add_row(
            str(place.rank),
            clean_text(place.name, _NAME_CHARS),
            f"{place.nanobits_per_byte / _GIGA:.6f}",
            _interval(place.interval),
        )
    console.print(table)
    for pair in ranking.pairs:
        first, other, winner = (
            clean_text(name, _NAME_CHARS) for name in (pair.first, pair.other, pair.winner)
        )
        # An interval that excludes zero is a tie all the same if the difference is too small.
        is_apart = pair.interval.low > 0 or pair.interval.high < 0
        if documents < LEAST_DOCUMENTS:
            tie = f"a tie: fewer than {LEAST_DOCUMENTS} documents cannot tell models apart"
        else:
            tie = "a tie: the difference is too small to count" if is_apart else "a tie"
        console.print(
            f"{first} minus {other}: {_interval(pair.interval)} bits per byte, "
            f"{f'{winner} is better' if winner else tie}",
            highlight=False,
        )


def _interval(interval: ConfidenceInterval) -> str:
    return f"{interval.low / _GIGA:.6f} to {interval.high / _GIGA:.6f}"


def _print_documents(models: Sequence[ModelScore], console: Console) -> None:
    for one in models:
        table = Table("document", title=clean_text(one.model, _NAME_CHARS))
        for column in ("bytes", "tokens", "bits", "bits/byte"):
            table.add_column(column, justify="right")
        table.add_column("")
        for document in one.documents:
            bits = document.millibits / 1_000
            table.add_row(
                document.document[:12],
                f"{document.size_bytes:,}",
                f"{document.tokens:,}",
                f"{bits:,.3f}",
                f"{bits / document.size_bytes:.4f}" if document.size_bytes else "",
                document.refusal.sentence if document.refusal else "",
            )
        console.print(table)
