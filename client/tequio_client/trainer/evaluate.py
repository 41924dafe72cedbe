"""The quality of a head, in bits per byte and perplexity on held-out documents, and text it writes.

A document is read behind one separator, in blocks of the run's sequence length; each of its tokens
is predicted once, except those without a loss. Bits per byte = negative log2 likelihood of all
documents over their size in UTF-8 bytes, summed in binary64: unlike perplexity it compares models
across tokenizers. Of conversations only what the assistant says counts, in all of these numbers.
The log gets thousandths of a bit, rounded once for each document (docs/protocol.md, 9.9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from tequio_client.tokenizers import (
    ByteTokenizer,
    SubwordTokenizer,
    parse_tokenizer,
    read_tokenizer_file,
)
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.likelihood import ScoredModel
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.prepared import HeldOutDocument, PreparedModel, ScoreProgress
from tequio_client.trainer.token_loss import TokenLoss, inputs_and_targets
from tequio_shared.errors import UserFacingError
from tequio_shared.limits import SAMPLE_BYTES, SAMPLE_PROMPT_BYTES, SAMPLE_TOKENS
from tequio_shared.statements.runs import clean_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BATCH_TOKENS = 4_096
_MILLI = 1_000
_FILLING = ~0  # an input after the end, and no target
Decode: TypeAlias = Callable[[Sequence[int]], str]
"""Text of token ids."""
_TEMPERATURE = 0.8
_BROKEN = "\ufffd"
_BYTES = 256  # a byte model may have ids above: separators


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadScore:
    """Sums over documents; `nats` is the negative log likelihood of their `tokens` with a loss.

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
        tokens=sum(document.targets for document in documents),
        text_bytes=sum(document.text_bytes for document in documents),
        documents=len(documents),
    )


def first_documents(documents: Iterable[HeldOutDocument], max_tokens: int) -> list[HeldOutDocument]:
    """Whole documents from the front until they have `max_tokens` targets; all of them for 0."""
    chosen: list[HeldOutDocument] = []
    tokens = 0
    for document in documents:
        chosen.append(document)
        tokens += document.targets
        if max_tokens and tokens >= max_tokens:
            break
    return chosen


def _blocks(
    documents: Iterable[HeldOutDocument], separator: int, sequence: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Document number, and a row [sequence + 1] of inputs and targets."""
    for number, document in enumerate(documents):
        stream = np.concatenate(([separator], document.tokens))
        for first in range(0, len(document.tokens), sequence):
            row = np.full(sequence + 1, _FILLING, np.int64)
            part = stream[first : first + sequence + 1]
            row[: len(part)] = part
            yield number, row


def _nats(
    model: CausalModel, rows: NDArray[np.int64], device: ComputeDevice
) -> NDArray[np.float64]:
    inputs_bl, targets_bl = inputs_and_targets(torch.from_numpy(rows).to(device.handle))
    losses = TokenLoss(model, device).losses(inputs_bl, targets_bl)
    by_row = losses.cpu().to(torch.float64).sum(dim=1)
    found: NDArray[np.float64] = by_row.numpy()
    return found


def _millibits(nats: NDArray[np.float64]) -> int | None:
    if not np.isfinite(nats).all():
        return None
    each: list[float] = nats.tolist()
    return sum(round(one / math.log(2) * _MILLI) for one in each)


def sample(  # noqa: PLR0913 - one call, all by name
    model: CausalModel,
    prompt: Sequence[int],
    *,
    tokens: int,
    sequence: int,
    seed: int,
    device: ComputeDevice,
    check: Callable[[], None],
) -> list[int]:
    """Continue a prompt (at least one id) by sampling at temperature 0.8; same seed, same text.

    `check` is called before each token, and may raise to stop.
    """
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


def continue_greedily(
    setup: PreparedModel, start: Sequence[int], written: list[int], check: Callable[[], None]
) -> None:
    """Append the likeliest token again and again, until the text ends or is long enough.

    `check` is called before each token, and may raise; `written` then keeps the tokens so far.
    Raises UserFacingError when the head predicts infinities or NaN.
    """
    setup.model.network.eval()
    separator = setup.corpus.separator
    while len(written) < SAMPLE_TOKENS:
        check()
        ids = [separator, *start, *written][-setup.corpus.sequence :]
        # Binary32, without autocast: evaluators on different devices should write the same text,
        # and the likeliest token changes hands less often the more exact the logits are.
        with torch.no_grad():
            logits_blv = setup.model.logits(torch.tensor([ids], device=setup.device.handle))
        logits_v = logits_blv[0, -1, : setup.corpus.tokenizer.vocab_size]
        if not bool(torch.isfinite(logits_v).all()):
            raise UserFacingError("the head predicts infinite or NaN values, so it writes no text")
        token = int(logits_v.float().argmax())
        if token == separator:
            return
        written.append(token)


def prompt_tokens(document: HeldOutDocument, spell: Decode) -> list[int]:
    """As many first tokens as fit in SAMPLE_PROMPT_BYTES of text, ending with a whole character."""
    first = document.tokens[:SAMPLE_PROMPT_BYTES]
    ids: list[int] = np.where(first < 0, ~first, first).tolist()
    while ids:
        text = spell(ids)
        if len(text.encode()) <= SAMPLE_PROMPT_BYTES and not text.endswith(_BROKEN):
            break
        ids.pop()
    return ids


def split_text(start: Sequence[int], written: Sequence[int], spell: Decode) -> tuple[str, str]:
    """The prompt and the continuation, cut to the sizes that a statement allows."""
    # Both are decoded together: alone, some tokenizers drop the blank before the first word.
    prompt, whole = spell(start), spell([*start, *written])
    text = whole[len(prompt) :] if whole.startswith(prompt) else spell(written)
    return clean_sample(prompt, SAMPLE_PROMPT_BYTES), clean_sample(text, SAMPLE_BYTES)


def decoder(setup: PreparedModel) -> Decode:
    """The run's decoder from ids to text; it has the whole vocabulary in memory.

    Bytes that are not UTF-8 decode to the replacement character.
    """
    if table := setup.token_table():
        return lambda ids: table.text(ids).decode(errors="replace")
    tokenizer = _tokenizer(setup)
    if isinstance(tokenizer, ByteTokenizer):
        return lambda ids: tokenizer.decode([one for one in ids if one < _BYTES])
    return lambda ids: str(tokenizer.inner.decode(list(ids)))  # without special tokens


def scored_model(setup: PreparedModel, weights: str) -> ScoredModel:
    """The prepared model with the run's tokenizer, to answer questions with; reads the tokenizer.

    Raises UserFacingError, also for a run whose texts are encoded by code of a plug-in.
    """
    return ScoredModel(
        folder=Path(weights),
        model=setup.model,
        tokenizer=_tokenizer(setup),
        context=setup.corpus.sequence,
    )


def prompt_ids(setup: PreparedModel, prompt: str) -> list[int]:
    """Token ids of a separator and a prompt, without ids that the model does not know.

    Raises UserFacingError as `scored_model` does, unless the prompt is empty.
    """
    start = [setup.corpus.separator]
    if not prompt:
        return start
    ids: list[int] = _tokenizer(setup).encode(prompt).tolist()
    return start + [one for one in ids if one < setup.corpus.tokenizer.vocab_size]


def _tokenizer(setup: PreparedModel) -> ByteTokenizer | SubwordTokenizer:
    if setup.manifest.tokenizer.kind == "plugin":
        raise UserFacingError("a trainer does not run the code that encodes this run's texts")
    corpus, path = setup.corpus, setup.prepare.tokenizer
    if path is None:
        return ByteTokenizer(vocab_size=corpus.tokenizer.vocab_size, separator=corpus.separator)
    return parse_tokenizer(read_tokenizer_file(Path(path)), path, (corpus.separator,))
