"""`tequio score` as a person sees it: a bar while it works, then tables."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tequio_client.dataset import sources
from tequio_client.names import cleaned
from tequio_client.scoring import hub
from tequio_client.trainer import device, likelihood
from tequio_shared.competition import result
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import DocumentScore, Refusal, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.dataset.sources import Reading, Source
    from tequio_client.trainer.likelihood import ScoredModel
    from tequio_shared.competition.result import Interval, Pair, Ranking
    from tequio_shared.scoring import Rules

# --- What scoring came to, as it is written to a file: integers, and what follows from them.


class ModelScore(msgspec.Struct, frozen=True, kw_only=True):
    """One model on all documents; perplexities that overflow are null."""

    model: str
    tokenizer: str
    """SHA-256 of its tokenizer.json; empty for raw bytes."""
    prefix: int
    window: int
    stride: int
    seconds: float
    bits_per_byte: float
    byte_perplexity: float
    word_perplexity: float
    totals: Score
    documents: tuple[DocumentScore, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that `tequio score` found; `ranking` is there for two models or more."""

    data: str
    device: str
    threads: int
    software: dict[str, str]
    models: tuple[ModelScore, ...]
    ranking: dict[str, Any] | None  # plain JSON of a Ranking

    def encode(self) -> bytes:
        """As JSON, with a line for each document."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def of_model(
    name: str,
    scored: ScoredModel,
    rules: Rules,
    documents: tuple[DocumentScore, ...],
    seconds: float,
) -> ModelScore:
    """Add up what a model needs."""
    totals = Score.of(documents)
    file = scored.tokenizer.file
    return ModelScore(
        model=name,
        tokenizer=to_text(sha256(file)) if file else "",
        prefix=scored.tokenizer.separator,
        window=rules.window,
        stride=rules.stride,
        seconds=round(seconds, 3),
        bits_per_byte=totals.bits_per_byte,
        byte_perplexity=totals.byte_perplexity,
        word_perplexity=totals.word_perplexity,
        totals=totals,
        documents=documents,
    )


def of_ranking(ranking: Ranking, beacon: bytes, replicates: int) -> dict[str, Any]:
    """Spell a ranking out, with what it takes to compute it again."""
    return {"beacon": to_text(beacon), "replicates": replicates, **asdict(ranking)}


_SOFTWARE = ("tequio", "torch", "transformers", "tokenizers")
_SHOWN = 60
_READABLE = 1e7
_GIGA = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the person asked for; None leaves the choice to the model."""

    models: tuple[str, ...]
    data: str
    reading: Reading
    revision: str | None
    tokenizer: str | None
    prefix: str | None
    window: int | None
    stride: int | None
    documents: int
    device: str
    threads: int | None
    batch_tokens: int
    beacon: bytes
    show_each: bool


def run(wish: Wish, console: Console | None = None) -> Report:
    """Score, and show what was found; raises UserFacingError."""
    shown = console or Console()
    texts = _texts(sources.found(wish.data, wish.reading), wish.documents)
    chosen = device.choose(wish.device)
    if wish.threads:
        device.limit_threads(wish.threads)
    names = _distinct(wish.models)
    models = tuple(
        _scored(wish, name, path, texts, chosen, shown)
        for name, path in zip(names, wish.models, strict=True)
    )
    ranking = _ranked(models, wish.beacon) if len(models) > 1 else None
    _show(models, shown)
    if ranking:
        _show_ranking(ranking, shown)
    if wish.show_each:
        _show_each(models, shown)
    return Report(
        data=wish.data,
        device=chosen.label,
        threads=device.threads(),
        software={name: metadata.version(name) for name in _SOFTWARE},
        models=models,
        ranking=of_ranking(ranking, wish.beacon, result.REPLICATES) if ranking else None,
    )


def _texts(source: Source, most: int) -> list[str]:
    count = min(len(source), most) if most else len(source)
    texts = [source.text(index) for index in range(count)]
    if not any(texts):
        raise UserFacingError(
            f"there is no text in the {source.label}; documents are UTF-8 files, or a column of "
            "text (--column)"
        )
    return texts


def _scored(
    wish: Wish,
    name: str,
    path: str,
    texts: Sequence[str],
    chosen: device.Device,
    shown: Console,
) -> ModelScore:
    scored = likelihood.open_folder(
        hub.folder(path, wish.revision), tokenizer=wish.tokenizer, prefix=wish.prefix
    )
    rules = scored.rules(wish.window, wish.stride)
    means = likelihood.Means(device=chosen, batch_tokens=wish.batch_tokens)
    begun = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=shown, transient=True) as bars:
        found = tuple(
            bars.track(
                likelihood.likelihood_score(scored, texts, rules, means),
                total=len(texts),
                description=cleaned(name, _SHOWN),
            )
        )
    return of_model(name, scored, rules, found, time.perf_counter() - begun)


def _distinct(names: Sequence[str]) -> list[str]:
    """Tell a model that is named twice apart from itself."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return found


def _ranked(models: Sequence[ModelScore], beacon: bytes) -> Ranking:
    """Rank on the documents that have text; which those are, models agree on."""
    kept = [at for at, one in enumerate(models[0].documents) if one.refusal is not Refusal.EMPTY]
    return result.rank(
        {one.model: [one.documents[at].millibits for at in kept] for one in models},
        [models[0].documents[at].size_bytes for at in kept],
        beacon=beacon,
    )


def _show(models: Sequence[ModelScore], shown: Console) -> None:
    table = Table("model", title="Bits per byte: the fewer, the better")
    for column in ("bits/byte", "byte ppl", "word ppl", "documents"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in models:
        table.add_row(
            cleaned(one.model, _SHOWN),
            f"{one.bits_per_byte:.6f}",
            f"{one.byte_perplexity:.4f}",
            _large(one.word_perplexity),
            f"{one.totals.documents:,}",
        )
    shown.print(table)
    for one in models:
        _show_how(one, shown)
    _warn(models[0].totals.empty, "left out, since they have no text that is Unicode", shown)


def _show_how(one: ModelScore, shown: Console) -> None:
    totals = one.totals
    shown.print(
        f"{cleaned(one.model, _SHOWN)}: {totals.size_bytes:,} bytes, {totals.tokens:,} tokens at "
        f"{totals.tokens / max(one.seconds, 1e-3):,.0f} a second; windows of {one.window:,}, "
        f"stride {one.stride:,}, behind token {one.prefix}",
        highlight=False,
    )
    _warn(
        totals.charged,
        "at 8 bits for each byte, since the tokenizer does not give their text back",
        shown,
    )


def _warn(documents: int, what: str, shown: Console) -> None:
    if documents:
        shown.print(f"  documents {what}: {documents:,}", style="yellow", highlight=False)


def _large(value: float) -> str:
    if math.isinf(value):
        return "too large"
    return f"{value:,.2f}" if value < _READABLE else f"{value:.2e}"


def _show_ranking(ranking: Ranking, shown: Console) -> None:
    table = Table("rank", "model", title="Ranking, with intervals of 95 % over documents")
    table.add_column("bits/byte", justify="right")
    table.add_column("interval", justify="right")
    for place in ranking.places:
        table.add_row(
            str(place.rank),
            cleaned(place.name, _SHOWN),
            f"{place.nanobits_per_byte / _GIGA:.6f}",
            _interval(place.interval),
        )
    shown.print(table)
    for pair in ranking.pairs:
        verdict = f"{cleaned(pair.winner, _SHOWN)} is better" if pair.winner else _tie(pair)
        shown.print(
            f"{cleaned(pair.first, _SHOWN)} less {cleaned(pair.other, _SHOWN)}: "
            f"{_interval(pair.interval)} bits per byte, {verdict}",
            highlight=False,
        )


def _tie(pair: Pair) -> str:
    """Say of an interval without zero why it is a tie all the same."""
    is_apart = pair.interval.low > 0 or pair.interval.high < 0
    return "a tie: too small a difference to count" if is_apart else "a tie"


def _interval(interval: Interval) -> str:
    return f"{interval.low / _GIGA:.6f} to {interval.high / _GIGA:.6f}"


def _show_each(models: Sequence[ModelScore], shown: Console) -> None:
    for one in models:
        table = Table("document", title=cleaned(one.model, _SHOWN))
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
        shown.print(table)
