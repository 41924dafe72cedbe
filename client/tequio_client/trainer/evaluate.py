"""How good a head is: bits per byte and perplexity on held-out documents, and a sample of text.

A document is read behind one separator, in blocks of the run's sequence length; every one of its
tokens is predicted once. Bits per byte = negative log2 likelihood of all documents over their size
in UTF-8 bytes, summed in binary64: it compares models across tokenizers. What is said in the log is
in thousandths of a bit, rounded once for each document (docs/protocol.md, 9.9).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional

from tequio_client import tokenizers
from tequio_client.tokenizers import SEPARATORS, TOKENIZER_NAME, ByteTokenizer
from tequio_client.trainer import weights
from tequio_client.trainer.model import CONTEXTS, configuration, context, vocabulary
from tequio_shared import scoring
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import WINDOW, Refusal, Rules, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.tokenizers import TextTokenizer
    from tequio_client.trainer.data import Document
    from tequio_client.trainer.device import Device
    from tequio_client.trainer.model import Model
    from tequio_shared.scoring import DocumentScore


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


# --- How likely a model finds documents: each token once, in windows, rolling over the text.
#
# Logits are binary32, without TF32 and without a device's shortcuts; from there on all is
# binary64, and a document's losses are added exactly rounded (`math.fsum`), so that their order
# says nothing. What is left to differ between batches, threads and devices is the order of
# additions inside the network: docs/protocol.md (scoring) says how much that may be,
# `bench/score.py` how much it is.
#
# Shapes: B windows, L inputs, V vocabulary.

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


def likelihood_score(
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


# --- A model that can be scored: its network, its tokenizer, and the token that stands before a
# text.
#
# That token is the tokenizer's begin token, else its end token, as lm-evaluation-harness has it;
# else those of the configuration; else one of the usual names.

BYTES = "bytes"
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_ROLES = ("bos_token", "eos_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """What scoring needs of a model; `context` is the most inputs it takes, 0 if it says none.

    The tokenizer's separator is the prefix.
    """

    folder: Path
    model: Model
    tokenizer: TextTokenizer
    context: int

    def rules(self, window: int | None, stride: int | None) -> Rules:
        """Fill in what is not said: windows of 2,048 or the context, a stride of half of that.

        Raises UserFacingError when a window is longer than the context, or no stride fits it.
        """
        chosen = window or min(self.context or WINDOW, WINDOW)
        if self.context and chosen > self.context:
            raise UserFacingError(
                f"a window of {chosen:,} tokens is more than the {self.context:,} that "
                f"{self.folder.name} can take; choose {self.context:,} or less"
            )
        step = stride or max(chosen // 2, 1)
        if step > chosen:
            raise UserFacingError(
                f"a stride of {step:,} would skip tokens of a window of {chosen:,}; "
                "choose the window or less"
            )
        return Rules(window=chosen, stride=step)


def open_folder(folder: Path, *, tokenizer: str | None, prefix: str | None) -> ScoredModel:
    """Open a model; `tokenizer` is `bytes` or a file or folder, where it is not the model's own.

    Raises UserFacingError when anything is amiss. The tokenizer is looked at first: it costs less.
    """
    fields = configuration(weights.configured(folder))
    text = _tokenizer(folder, fields, tokenizer, prefix)
    said, model = weights.load(folder)
    most = vocabulary(model)
    if text.vocab_size > most:
        raise UserFacingError(
            f"the tokenizer of {folder} has ids up to {text.vocab_size - 1:,}, and the model takes "
            f"{most:,} of them; give the tokenizer that it was trained with (--tokenizer)"
        )
    return ScoredModel(
        folder=folder, model=model, tokenizer=text, context=context(model) or _context(said)
    )


def _tokenizer(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
    wanted: str | None,
    prefix: str | None,
) -> TextTokenizer:
    if wanted == BYTES:
        return ByteTokenizer()
    path = Path(wanted) if wanted else folder
    path = path / TOKENIZER_NAME if path.is_dir() else path
    if not path.is_file():
        raise UserFacingError(
            f"there is no {path}; name a tokenizer (--tokenizer, `bytes` for a model of raw "
            f"bytes), or save it as {TOKENIZER_NAME} with transformers' save_pretrained"
        )
    names = (prefix,) if prefix else (*_prefixes(path.parent, fields), *SEPARATORS)
    return tokenizers.of_file(tokenizers.read_file(path), str(path), names)


def _prefixes(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
) -> Iterator[str | int]:
    """What the model's own files say, the most telling first."""
    for name in _SETTINGS:
        said = _object(folder / name)
        for role in _ROLES:
            token = said.get(role)
            content = token.get("content") if isinstance(token, dict) else token
            if isinstance(content, str):
                yield content
    for role in _ROLES:
        number = fields.get(f"{role}_id")
        number = number[0] if isinstance(number, list) and number else number
        if isinstance(number, int) and 0 <= number < 1 << 31:
            yield number


def _object(path: Path) -> dict[str, Any]:  # JSON of any model
    """A JSON file's fields; none where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(weights.settings(path))
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"{path} is no JSON ({err}); save the tokenizer again") from err
    return found if isinstance(found, dict) else {}


def _context(fields: Mapping[str, Any]) -> int:  # JSON of any model
    inner = fields.get("text_config")
    for one in (fields, inner if isinstance(inner, dict) else {}):
        for name in CONTEXTS:
            value = one.get(name)
            if isinstance(value, int) and value > 0:
                return value
    return 0
