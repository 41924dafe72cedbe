"""How likely a model finds documents: each token once, in windows, rolling over the text.

Logits are binary32, without TF32 and without a device's shortcuts; from there on all is binary64,
and a document's losses are added exactly rounded (`math.fsum`), so that their order says nothing.
What is left to differ between batches, threads and devices is the order of additions inside the
network: docs/protocol.md (scoring) says how much that may be, `bench/score.py` how much it is.

Shapes: B windows, L inputs, V vocabulary.
"""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from tequio_client.trainer.model import vocabulary
from tequio_shared import scoring
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import Refusal, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.trainer.device import Device
    from tequio_client.trainer.model_folder import ScoredModel
    from tequio_shared.scoring import DocumentScore, Rules

BATCH_TOKENS = 4_096
_GROUP = 16  # batches that are sorted together, so that windows of like length meet
_LOGITS = 1 << 28  # of one batch, unless a single window has more: 1 GiB
_WIDE = 1 << 22  # of them binary64 at once: 32 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What computes: `tick` hears the tokens scored after every batch, and may raise to end it."""

    device: Device
    batch_tokens: int = BATCH_TOKENS
    tick: Callable[[int], None] = lambda _tokens: None


def score(
    scored: ScoredModel, texts: Iterable[str], rules: Rules, means: Means
) -> Iterator[DocumentScore]:
    """Score documents, in their order.

    Raises UserFacingError when the model's predictions are no probabilities.
    """
    scored.model.network.to(means.device.handle).eval()
    most = min(means.batch_tokens, _LOGITS // vocabulary(scored.model))
    means = replace(means, batch_tokens=max(most, 1))
    group: list[_Document] = []
    tokens = 0
    for text in texts:
        group.append(_read(scored, text))
        tokens += len(group[-1].stream)
        if tokens >= _GROUP * means.batch_tokens:
            yield from _scores(scored, group, rules, means)
            group, tokens = [], 0
    yield from _scores(scored, group, rules, means)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A text and its prefix and tokens; none where it is refused."""

    text: str
    stream: NDArray[np.int64]
    refusal: Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One window of one document of a group."""

    document: int
    window: Window

    @property
    def length(self) -> int:
        return self.window.end - self.window.first


def _read(scored: ScoredModel, text: str) -> _Document:
    nothing = np.empty(0, np.int64)
    try:
        empty = not text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as JSON can hold one
        empty = True
    if empty:
        return _Document(text=text, stream=nothing, refusal=Refusal.EMPTY)
    ids = scored.tokenizer.encode(text)
    if scored.tokenizer.decode(ids.tolist()) != text:
        return _Document(text=text, stream=nothing, refusal=Refusal.ROUND_TRIP)
    stream = np.concatenate(([scored.tokenizer.separator], ids))
    return _Document(text=text, stream=stream, refusal=Refusal.NONE)


def _scores(
    scored: ScoredModel, group: Sequence[_Document], rules: Rules, means: Means
) -> Iterator[DocumentScore]:
    losses: list[list[float]] = [[] for _ in group]
    for batch in _batches(group, rules, means.batch_tokens):
        for part, found in zip(batch, _losses(scored, group, batch, means), strict=True):
            losses[part.document] += found
        means.tick(sum(part.window.scored for part in batch))
    for document, found in zip(group, losses, strict=True):
        if document.refusal:
            yield scoring.refused(document.text, document.refusal)
            continue
        yield _rounded(scored, document, found)


def _rounded(scored: ScoredModel, document: _Document, losses: Sequence[float]) -> DocumentScore:
    try:
        nats = max(math.fsum(losses), 0.0)  # a sum of nothing may be a little less
        return scoring.scored(document.text, tokens=len(document.stream) - 1, nats=nats)
    except (ValueError, OverflowError) as err:  # infinite, not a number, or beyond all counting
        raise UserFacingError(
            f"{scored.folder} predicts with what is no probability in a document that begins "
            f"{document.text[:40]!r}: its numbers are too large for 32 bits; take the checkpoint "
            "from before its training broke"
        ) from err


def _batches(group: Sequence[_Document], rules: Rules, batch_tokens: int) -> Iterator[list[_Part]]:
    """Windows of all documents, longest first, as many at a time as there is room for."""
    parts = [
        _Part(document=at, window=window)
        for at, document in enumerate(group)
        for window in scoring.windows(max(len(document.stream) - 1, 0), rules)
    ]
    parts.sort(key=lambda part: -part.length)
    while parts:
        count = max(batch_tokens // parts[0].length, 1)
        yield parts[:count]
        del parts[:count]


def _losses(
    scored: ScoredModel, group: Sequence[_Document], batch: Sequence[_Part], means: Means
) -> list[list[float]]:
    """Negative log-likelihood of each scored token of each window."""
    ids_bl = np.zeros((len(batch), batch[0].length), np.int64)  # what follows an end is not seen
    targets: list[Tensor] = []
    for row, part in zip(ids_bl, batch, strict=True):
        stream, window = group[part.document].stream, part.window
        row[: part.length] = stream[window.first : window.end]
        last = window.end + 1
        targets.append(torch.from_numpy(stream[last - window.scored : last]))
    with torch.inference_mode(), _exactly(means.device):
        logits_blv = scored.model.logits(torch.from_numpy(ids_bl).to(means.device.handle))
        return [
            _of_targets(row_lv[part.length - part.window.scored : part.length], wanted)
            for row_lv, part, wanted in zip(logits_blv, batch, targets, strict=True)
        ]


def _of_targets(logits_lv: Tensor, targets: Tensor) -> list[float]:
    """Log of the sum of exponentials, less the target's own, in binary64."""
    found: list[float] = []
    step = max(_WIDE // logits_lv.shape[1], 1)
    for first in range(0, len(targets), step):
        wide = _widened(logits_lv[first : first + step])
        wanted = targets[first : first + step, None].to(wide.device)
        picked = wide.gather(1, wanted).squeeze(1)
        found += (torch.logsumexp(wide, dim=1) - picked).tolist()
    return found


def _widened(logits_lv: Tensor) -> Tensor:
    """As binary64: on the CPU, where the device has none."""
    there = logits_lv if logits_lv.device.type in ("cpu", "cuda") else logits_lv.cpu()
    return there.to(torch.float64)


@contextlib.contextmanager
def _exactly(device: Device) -> Iterator[None]:
    """Full binary32 and the same order of additions each time, while the context is open."""
    before = torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()
    if device.handle.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else its sums may differ
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    try:
        with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.use_deterministic_algorithms(before[1])
