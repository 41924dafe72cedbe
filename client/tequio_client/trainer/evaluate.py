"""The quality of a head: bits per byte and perplexity on held-out documents.

A document is read behind one separator, in blocks of the run's sequence length; each of its tokens
is predicted once. Bits per byte = negative log2 likelihood of all documents over their size in
UTF-8 bytes, summed in binary64: unlike perplexity it compares models across tokenizers. The log
gets thousandths of a bit, rounded once for each document (docs/protocol.md, 9.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from tequio_client.trainer.data import ScoreProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.trainer.data import HeldOutDocument
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.model import CausalModel


_IGNORED = -100  # target without a loss, as torch has it
_BATCH_TOKENS = 4_096
_MILLI = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadScore:
    """Sums over documents; `nats` is their negative log likelihood.

    `millibits` is the same, rounded for each document; None when the model predicts infinities or
    NaN.
    """

    nats: float
    millibits: int | None
    tokens: int
    text_bytes: int
    documents: int

    @property
    def bits_per_byte(self) -> float:
        return self.nats / math.log(2) / self.text_bytes if self.text_bytes else math.nan

    @property
    def perplexity(self) -> float:
        """Exponential of the mean loss per token; infinite where that overflows."""
        if not self.tokens:
            return math.nan
        mean = self.nats / self.tokens
        return math.exp(mean) if mean < 700 else math.inf  # noqa: PLR2004 - exp's range


def score_head(  # noqa: PLR0913 - one call, all by name
    model: CausalModel,
    documents: Sequence[HeldOutDocument],
    *,
    separator: int,
    sequence: int,
    device: ComputeDevice,
    check: Callable[[], None],
    tally: ScoreProgress | None = None,
) -> HeadScore:
    """Measure a model; `check` is called between batches, and may raise to stop.

    With the tally of an earlier call over the same documents it continues where that one stopped.
    """
    model.network.eval()
    tally = tally or ScoreProgress(np.zeros(len(documents)))
    blocks = islice(_blocks(documents, separator, sequence), tally.rows, None)
    size = max(_BATCH_TOKENS // sequence, 1)
    while batch := list(islice(blocks, size)):
        check()
        whose, rows = zip(*batch, strict=True)
        np.add.at(tally.nats, list(whose), _nats(model, np.stack(rows), device))
        tally.rows += len(batch)
    return HeadScore(
        nats=float(tally.nats.sum()),
        millibits=_millibits(tally.nats),
        tokens=sum(len(document.tokens) for document in documents),
        text_bytes=sum(document.text_bytes for document in documents),
        documents=len(documents),
    )


def first_documents(documents: Iterable[HeldOutDocument], max_tokens: int) -> list[HeldOutDocument]:
    """Whole documents from the front until there are `max_tokens`; all of them for 0."""
    taken: list[HeldOutDocument] = []
    tokens = 0
    for document in documents:
        taken.append(document)
        tokens += len(document.tokens)
        if max_tokens and tokens >= max_tokens:
            break
    return taken


def _blocks(
    documents: Iterable[HeldOutDocument], separator: int, sequence: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Number of the document, and a row [sequence + 1]: inputs and, one later, targets.

    Short ends are filled with _IGNORED.
    """
    for number, document in enumerate(documents):
        stream = np.concatenate(([separator], document.tokens))
        for first in range(0, len(document.tokens), sequence):
            row = np.full(sequence + 1, _IGNORED, np.int64)
            part = stream[first : first + sequence + 1]
            row[: len(part)] = part
            yield number, row


def _nats(
    model: CausalModel, rows: NDArray[np.int64], device: ComputeDevice
) -> NDArray[np.float64]:
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
    if not np.isfinite(nats).all():
        return None
    each: list[float] = nats.tolist()
    return sum(round(one / math.log(2) * _MILLI) for one in each)
