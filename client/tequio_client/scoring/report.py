"""What scoring came to, as it is written to a file: integers, and what follows from them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import DocumentScore, Score

if TYPE_CHECKING:
    from tequio_client.trainer.model_folder import ScoredModel
    from tequio_shared.bootstrap import Ranking
    from tequio_shared.scoring import Rules


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
