"""How good a head is: bits per byte and perplexity on held-out documents, and a sample of text.

A document is read behind one separator, in blocks of the run's sequence length; every one of its
tokens is predicted once. Bits per byte = negative log2 likelihood of all documents over their size
in UTF-8 bytes, summed in binary64: it compares models across tokenizers. What is said in the log is
in thousandths of a bit, rounded once for each document (docs/protocol.md, 9.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.trainer.data import Document
    from tequio_client.trainer.device import Device
    from tequio_client.trainer.model import Model

_IGNORED = -100  # target that counts for nothing
_BATCH_TOKENS = 4_096
_MILLI = 1_000
_TEMPERATURE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Sums over documents; `nats` is their negative log likelihood, `millibits` the same rounded.

    Each document's is rounded by itself; there are none where the model gives no numbers.
    """

    nats: float
    millibits: int | None
    tokens: int
    text_bytes: int
    documents: int

    @property
    def bits_per_byte(self) -> float:
        """Bits the model needs for a byte of text."""
        return self.nats / math.log(2) / self.text_bytes if self.text_bytes else math.nan

    @property
    def perplexity(self) -> float:
        """Exponential of the mean loss per token; infinite where that overflows."""
        if not self.tokens:
            return math.nan
        mean = self.nats / self.tokens
        return math.exp(mean) if mean < 700 else math.inf  # noqa: PLR2004 - exp's range


@dataclass(slots=True)
class Tally:
    """Nats of each document so far, and how many rows they are from; `score` adds to it."""

    nats: NDArray[np.float64]
    rows: int = 0


class Begun:
    """What was read or written for the last task that measured: asked again, it goes on there."""

    def __init__(self) -> None:
        self._task: object = None
        self._tally = Tally(np.zeros(0))
        self._written: list[int] = []

    def tally(self, task: object, documents: int) -> Tally:
        """Give the tally of the task; the one that is there if it was begun before."""
        if task != self._task:
            self._task, self._tally = task, Tally(np.zeros(documents))
        return self._tally

    def written(self, task: object) -> list[int]:
        """Give the ids that were written for the task; those that are there if it was begun."""
        if task != self._task:
            self._task, self._written = task, []
        return self._written


def score(  # noqa: PLR0913 - one call, all by name
    model: Model,
    documents: Sequence[Document],
    *,
    separator: int,
    sequence: int,
    device: Device,
    check: Callable[[], None],
    tally: Tally | None = None,
) -> Score:
    """Measure a model; `check` is called between batches, and may raise to end it.

    With the tally of an earlier call over the same it goes on where that was ended.
    """
    model.network.eval()
    tally = tally or Tally(np.zeros(len(documents)))
    blocks = islice(_blocks(documents, separator, sequence), tally.rows, None)
    size = max(_BATCH_TOKENS // sequence, 1)
    while batch := list(islice(blocks, size)):
        check()
        whose, rows = zip(*batch, strict=True)
        np.add.at(tally.nats, list(whose), _nats(model, np.stack(rows), device))
        tally.rows += len(batch)
    return Score(
        nats=float(tally.nats.sum()),
        millibits=_millibits(tally.nats),
        tokens=sum(len(document.tokens) for document in documents),
        text_bytes=sum(document.text_bytes for document in documents),
        documents=len(documents),
    )


def first_documents(documents: Iterable[Document], max_tokens: int) -> list[Document]:
    """Take whole documents from the front until `max_tokens` are reached; all for 0."""
    taken: list[Document] = []
    tokens = 0
    for document in documents:
        taken.append(document)
        tokens += len(document.tokens)
        if max_tokens and tokens >= max_tokens:
            break
    return taken


def generate(  # noqa: PLR0913 - one call, all by name
    model: Model,
    prompt: Sequence[int],
    *,
    tokens: int,
    sequence: int,
    seed: int,
    device: Device,
    check: Callable[[], None],
) -> list[int]:
    """Continue a prompt (at least one id) by sampling at temperature 0.8; same seed, same text."""
    model.network.eval()
    chance = torch.Generator().manual_seed(seed)
    ids = list(prompt)
    for _ in range(tokens):
        check()
        context = torch.tensor([ids[-sequence:]], device=device.handle)
        with torch.no_grad(), device.autocast():
            logits = model.logits(context)[0, -1].float().cpu()
        odds = torch.softmax(logits / _TEMPERATURE, dim=0)
        ids.append(int(torch.multinomial(odds, 1, generator=chance)))
    return ids[len(prompt) :]


def _blocks(
    documents: Iterable[Document], separator: int, sequence: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Number of the document, and a row [sequence + 1]: inputs and, one later, targets.

    Short ends are filled with -100.
    """
    for number, document in enumerate(documents):
        stream = np.concatenate(([separator], document.tokens))
        for first in range(0, len(document.tokens), sequence):
            row = np.full(sequence + 1, _IGNORED, np.int64)
            part = stream[first : first + sequence + 1]
            row[: len(part)] = part
            yield number, row


def _nats(model: Model, rows: NDArray[np.int64], device: Device) -> NDArray[np.float64]:
    """Of each row."""
    samples = torch.from_numpy(rows).to(device.handle)
    with torch.no_grad(), device.autocast():
        logits = model.logits(samples[:, :-1].clamp(min=0))
    losses: Tensor = functional.cross_entropy(
        logits.flatten(0, 1).float(),
        samples[:, 1:].flatten(),
        ignore_index=_IGNORED,
        reduction="none",
    )
    by_row = losses.view(len(rows), -1).cpu().to(torch.float64).sum(dim=1)
    found: NDArray[np.float64] = by_row.numpy()
    return found


def _millibits(nats: NDArray[np.float64]) -> int | None:
    """Rounded for each document; None where the model gives no numbers."""
    if not np.isfinite(nats).all():
        return None
    each: list[float] = nats.tolist()
    return sum(round(one / math.log(2) * _MILLI) for one in each)
