"""How far a run has come through its data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tequio_shared.corpus import Corpus
from tequio_shared.errors import PeerError
from tequio_shared.ids import digest_from_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_ledger.web.pages.run_now import RunNow
    from tequio_shared.ids import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProgress:
    """Windows handed out, and what part of an epoch they are where the data are known here."""

    source: str
    windows: int
    waiting: int
    """Windows that were handed out, came back, and wait to be trained."""
    epoch_windows: int | None
    tokens_per_byte: float | None
    """Of the held-out text; 1 where a token is a byte; None where nothing is known of it."""

    @property
    def epochs(self) -> float | None:
        """Epochs done, as a number such as 0.31."""
        return (self.windows - self.waiting) / self.epoch_windows if self.epoch_windows else None


def data_progress(now: RunNow, read: Callable[[Digest], bytes]) -> DataProgress:
    """Say how far the run is."""
    corpus = _corpus(read, digest_from_text(now.manifest.data.manifest))
    samples = now.manifest.windows.samples
    return DataProgress(
        source=corpus.source if corpus else "",
        windows=now.dealt,
        waiting=now.returned,
        epoch_windows=max(corpus.samples // samples, 1) if corpus else None,
        tokens_per_byte=_tokens_per_byte(now, corpus),
    )


def _tokens_per_byte(now: RunNow, corpus: Corpus | None) -> float | None:
    if now.manifest.tokenizer.kind == "bytes":
        return 1.0
    held_out = corpus.held_out if corpus else ()
    text_bytes = sum(one.text_bytes for one in held_out)
    return sum(one.tokens for one in held_out) / text_bytes if text_bytes else None


def _corpus(read: Callable[[Digest], bytes], digest: Digest) -> Corpus | None:
    """The data manifest, if its organiser put it here."""
    try:
        raw = read(digest)
    except KeyError:
        return None
    return _parsed(raw)


@lru_cache(8)
def _parsed(raw: bytes) -> Corpus | None:
    try:
        return Corpus.parse(raw)
    except PeerError:
        return None
