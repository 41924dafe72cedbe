"""The likelihood that a model gives documents: each token once, in windows that roll over the text.

Logits are binary32, without TF32 and without a device's shortcuts. From there on all is binary64,
and a document's losses are added with exact rounding (`math.fsum`), so their order has no effect.
What can still differ between batches, threads and devices is the order of additions inside the
network: docs/protocol.md (scoring) bounds that difference, `bench/score.py` measures it.

The token before a text is the tokenizer's begin token, else its end token, as in
lm-evaluation-harness; else those of the configuration; else one of the usual names.

Shapes: B windows, L inputs, V vocabulary.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tequio_client import tokenizers
from tequio_client.tokenizers import (
    SEPARATORS,
    TABLE_NAME,
    TOKENIZER_NAME,
    ByteTokenizer,
    SubwordTokenizer,
    TokenizerError,
)
from tequio_client.trainer import weights
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.model import CausalModel, context_length, vocabulary_size
from tequio_client.trainer.model_config import ModelRefusedError, context_of, parse_config
from tequio_shared import scoring
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import WINDOW, DocumentScore, Refusal, ScoringRules, ScoringWindow

BATCH_TOKENS = 4_096
_GROUP = 16  # batches that are sorted together, so that windows of similar length share a batch
_LOGITS = 1 << 28  # numbers in one batch, unless a single window has more: 1 GiB
_WIDE = 1 << 22  # numbers held as binary64 at once: 32 MiB
BYTES = "bytes"
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_ROLES = ("bos_token", "eos_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringDevice:
    device: ComputeDevice
    batch_tokens: int = BATCH_TOKENS
    on_tokens: Callable[[int], None] = lambda _tokens: None
    """Called with the tokens of each batch done; may raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """A model that can be scored, with its tokenizer, whose separator is put before each text.

    `context` is the largest number of inputs, 0 if the model states none.
    """

    folder: Path
    model: CausalModel
    tokenizer: ByteTokenizer | SubwordTokenizer
    context: int

    def scoring_rules(self, window: int | None, stride: int | None) -> ScoringRules:
        """Apply the defaults: a window of 2,048 tokens or the context, a stride of half a window.

        Raises UserFacingError for a window longer than the context or a stride beyond the window.
        """
        chosen = window or min(self.context or WINDOW, WINDOW)
        if self.context and chosen > self.context:
            raise UserFacingError(
                f"a window of {chosen:,} tokens is too long for {self.folder.name}, whose context "
                f"is {self.context:,}; choose {self.context:,} or less"
            )
        step = stride or max(chosen // 2, 1)
        if step > chosen:
            raise UserFacingError(
                f"a stride of {step:,} would skip tokens, since the window is only {chosen:,}; "
                f"choose {chosen:,} or less"
            )
        return ScoringRules(window=chosen, stride=step)


def open_model(folder: Path, *, tokenizer: str | None, prefix: str | None) -> ScoredModel:
    """Open a model; `tokenizer` replaces the model's own by `bytes` or that of a file or folder.

    Raises UserFacingError for a folder that cannot be scored.
    """
    fields = parse_config(weights.read_config(folder))
    # The tokenizer comes first: it fails within a second, while weights may take minutes to read.
    text = _tokenizer(folder, fields, tokenizer, prefix)
    loaded, model = weights.load(folder)
    most = vocabulary_size(model)
    if text.vocab_size > most:
        raise UserFacingError(
            f"the tokenizer of {folder} has ids up to {text.vocab_size - 1:,}, but the model has "
            f"only {most:,}; give the tokenizer that it was trained with (--tokenizer)"
        )
    return ScoredModel(
        folder=folder,
        model=model,
        tokenizer=text,
        context=context_length(model) or context_of(loaded.get),
    )


def score_documents(
    scored: ScoredModel, texts: Iterable[str], rules: ScoringRules, scorer: ScoringDevice
) -> Iterator[DocumentScore]:
    """Score documents in order; raises ModelRefusedError when the model predicts no numbers."""
    scored = on_device(scored, scorer)
    scorer = replace(scorer, batch_tokens=batch_tokens(scored, scorer))
    group: list[_Document] = []
    tokens = 0
    for text in texts:
        group.append(_read(scored, text))
        tokens += len(group[-1].stream)
        if tokens >= _GROUP * scorer.batch_tokens:
            yield from _scores(scored, group, rules, scorer)
            group, tokens = [], 0
    yield from _scores(scored, group, rules, scorer)


def batch_tokens(scored: ScoredModel, scorer: ScoringDevice) -> int:
    """Tokens that go through the network at once: fewer for a large vocabulary."""
    return max(min(scorer.batch_tokens, _LOGITS // vocabulary_size(scored.model)), 1)


def on_device(scored: ScoredModel, scorer: ScoringDevice) -> ScoredModel:
    """Move the network to the device, without dropout."""
    scored.model.network.to(scorer.device.handle).eval()
    return scored


def read_tokens(scored: ScoredModel, text: str) -> NDArray[np.int64]:
    """The prefix and the tokens of a text; empty for one that the model does not read."""
    return _read(scored, text).stream


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRow:
    """Inputs [L] of one window, and the targets of the last ones."""

    inputs: NDArray[np.int64]
    targets: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    text: str
    stream: NDArray[np.int64]
    """Tokens, the prefix first; none of a refused text."""
    refusal: Refusal
    losses: list[float] = field(default_factory=list)
    """Nats of the tokens that are scored so far, in any order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    document: _Document
    window: ScoringWindow

    @property
    def length(self) -> int:
        return self.window.end - self.window.first

    @property
    def row(self) -> InputRow:
        stream, last = self.document.stream, self.window.end + 1
        return InputRow(
            inputs=stream[self.window.first : self.window.end],
            targets=stream[last - self.window.scored : last],
        )


def _read(scored: ScoredModel, text: str) -> _Document:
    nothing = np.empty(0, np.int64)
    try:
        empty = not text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, as JSON can hold one
        empty = True
    if empty:
        return _Document(text=text, stream=nothing, refusal=Refusal.EMPTY)
    # A tokenizer that loses text would make the rest cheaper to predict, so it earns nothing here.
    try:
        ids = scored.tokenizer.encode(text)
        is_restored = scored.tokenizer.decode(ids.tolist()) == text
    except TokenizerError:
        is_restored = False
    if not is_restored:
        return _Document(text=text, stream=nothing, refusal=Refusal.ROUND_TRIP)
    stream = np.concatenate(([scored.tokenizer.separator], ids))
    return _Document(text=text, stream=stream, refusal=Refusal.NONE)


def _scores(
    scored: ScoredModel, group: Sequence[_Document], rules: ScoringRules, scorer: ScoringDevice
) -> Iterator[DocumentScore]:
    for batch in _batches(group, rules, scorer.batch_tokens):
        rows = [part.row for part in batch]
        for part, found in zip(batch, row_losses(scored, rows, scorer), strict=True):
            part.document.losses.extend(found)
    for document in group:
        if document.refusal:
            yield scoring.score_unread(document.text, document.refusal)
        else:
            yield _rounded(scored, document)


def _rounded(scored: ScoredModel, document: _Document) -> DocumentScore:
    try:
        # Losses near zero may be rounded below it.
        nats = max(math.fsum(document.losses), 0.0)
        return scoring.score_document(document.text, tokens=len(document.stream) - 1, nats=nats)
    except (ValueError, OverflowError) as err:  # infinite, NaN, or above the largest score
        raise ModelRefusedError(
            Refusal.PREDICTIONS,
            f"{scored.folder} predicts enormous, infinite or NaN values in a document that begins "
            f"{document.text[:40]!r}; use a checkpoint from before its training diverged",
        ) from err


def _batches(
    group: Sequence[_Document], rules: ScoringRules, batch_tokens: int
) -> Iterator[list[_Part]]:
    """Windows of all documents, longest first, so that batches have little padding."""
    parts = [
        _Part(document=document, window=window)
        for document in group
        for window in scoring.scoring_windows(max(len(document.stream) - 1, 0), rules)
    ]
    parts.sort(key=lambda part: -part.length)
    while parts:
        count = max(batch_tokens // parts[0].length, 1)
        yield parts[:count]
        del parts[:count]


def row_losses(
    scored: ScoredModel, rows: Sequence[InputRow], scorer: ScoringDevice
) -> list[list[float]]:
    """Nats of the targets of rows in one batch; raises ModelRefusedError for other shapes."""
    # Padded with zeros at the end, which no earlier prediction depends on.
    ids_bl = np.zeros((len(rows), max(len(one.inputs) for one in rows)), np.int64)
    for padded, row in zip(ids_bl, rows, strict=True):
        padded[: len(row.inputs)] = row.inputs
    with torch.inference_mode(), _exactly(scorer.device):
        logits_blv = scored.model.logits(torch.from_numpy(ids_bl).to(scorer.device.handle))
        # All logits of a row enter its log-sum-exp, so that probabilities add up to one over
        # whatever the model calls its vocabulary.
        most = scored.tokenizer.vocab_size
        if logits_blv.shape[:-1] != ids_bl.shape or logits_blv.shape[-1] < most:
            raise ModelRefusedError(
                Refusal.PREDICTIONS,
                f"{scored.folder} predicts {list(logits_blv.shape)} numbers for "
                f"{list(ids_bl.shape)} tokens of a vocabulary of {most:,}",
            )
        found = [
            _of_targets(row_lv[len(row.inputs) - len(row.targets) : len(row.inputs)], row.targets)
            for row_lv, row in zip(logits_blv, rows, strict=True)
        ]
    scorer.on_tokens(sum(len(row.targets) for row in rows))
    return found


def _of_targets(logits_lv: Tensor, targets_l: NDArray[np.int64]) -> list[float]:
    found: list[float] = []
    targets = torch.from_numpy(targets_l)
    # Piece by piece: all of [L, V] in binary64 may not fit into memory.
    step = max(_WIDE // logits_lv.shape[1], 1)
    for first in range(0, len(targets), step):
        part = logits_lv[first : first + step]
        # MPS and some others have no binary64.
        wide = (part if part.device.type in ("cpu", "cuda") else part.cpu()).to(torch.float64)
        wanted = targets[first : first + step, None].to(wide.device)
        # Relative to the largest: of 1e30 alone, binary64 keeps no trace of log V, so that equal
        # huge logits would each get a probability of one.
        below = wide - wide.amax(dim=1, keepdim=True)
        picked = below.gather(1, wanted).squeeze(1)
        found += (below.exp().sum(dim=1).log() - picked).tolist()
    return found


@contextlib.contextmanager
def _exactly(device: ComputeDevice) -> Iterator[None]:
    """Compute in full binary32 and with the same order of additions each time."""
    before = torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()
    if device.handle.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else its sums vary
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    try:
        with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.use_deterministic_algorithms(before[1])


def _tokenizer(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
    wanted: str | None,
    prefix: str | None,
) -> ByteTokenizer | SubwordTokenizer:
    if wanted == BYTES:
        return ByteTokenizer()
    if not wanted and (folder / TABLE_NAME).is_file():
        raise ModelRefusedError(
            Refusal.KIND,
            f"the texts of {folder} are encoded by code of a plug-in, which scoring does not run: "
            "only the run's own held-out text measures this model",
        )
    path = Path(wanted) if wanted else folder
    path = path / TOKENIZER_NAME if path.is_dir() else path
    if not path.is_file():
        raise UserFacingError(
            f"{path} does not exist; name a tokenizer (--tokenizer, `bytes` for a model of raw "
            f"bytes), or save it as {TOKENIZER_NAME} with transformers' save_pretrained"
        )
    names = (prefix,) if prefix else (*_prefixes(path.parent, fields), *SEPARATORS)
    return tokenizers.parse_tokenizer(tokenizers.read_tokenizer_file(path), str(path), names)


def _prefixes(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
) -> Iterator[str | int]:
    """Candidates from the model's own files, the most specific first."""
    for name in _SETTINGS:
        settings = _object(folder / name)
        for role in _ROLES:
            token = settings.get(role)
            content = token.get("content") if isinstance(token, dict) else token
            if isinstance(content, str):
                yield content
    for role in _ROLES:
        number = fields.get(f"{role}_id")
        number = number[0] if isinstance(number, list) and number else number
        if isinstance(number, int) and 0 <= number < 1 << 31:
            yield number


def _object(path: Path) -> dict[str, Any]:  # JSON of any model
    if not path.is_file():
        return {}
    try:
        found = json.loads(weights.read_json_file(path))
    except (ValueError, RecursionError) as err:
        raise UserFacingError(
            f"{path} is not valid JSON ({err}); save the tokenizer again"
        ) from err
    return found if isinstance(found, dict) else {}
