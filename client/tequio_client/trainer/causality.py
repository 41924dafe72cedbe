"""Trials of a model while it is scored: it has to predict each token from those before it alone.

`model_config` refuses networks that could look ahead; these trials do not trust that list, and need
no knowledge of the network. The seed is drawn after the model was submitted, so it cannot know:

- where windows of the scored texts are cut. Other tokens after the cut must not move a prediction
  before it;
- a random text, of six bits in each byte. A model that predicts k bits of it looks ahead, or had
  luck of one in 2^k;
- which windows are computed once more at the end, alone and in another order. A network that
  remembers, or mixes the texts of a batch, gives other scores then.

The cost for each model is 3 times PROBES windows and RANDOM_BYTES of text, whatever is scored.
docs/protocol.md, section 17.7.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tequio_client.trainer import likelihood
from tequio_client.trainer.likelihood import InputRow, ScoredModel, ScoringDevice
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_shared import scoring
from tequio_shared.scoring import (
    DOCUMENT_TOLERANCE,
    MILLIBITS,
    DocumentScore,
    Refusal,
    ScoringRules,
)

PROBES = 8
"""Windows that are tried."""
PROBES_MOVED = 2
"""Windows whose predictions have to move for a refusal, or all if there are fewer."""
NEAR = 16
NEAR_NATS = 0.01
"""Most that one of the last `NEAR` losses before a cut may move."""
RANDOM_BYTES = 4_096
RANDOM_BITS = 6
"""Entropy of each byte of the random text, which is base64."""
LUCK_BITS = 64
_DRAWS = 8 * PROBES
_NUMBERS = 3
_U32 = 1 << 32
Losses: TypeAlias = NDArray[np.float64]


def score_tried(
    scored: ScoredModel,
    texts: Sequence[str],
    rules: ScoringRules,
    scorer: ScoringDevice,
    *,
    seed: bytes,
    tried_on: Sequence[str],
) -> Iterator[DocumentScore]:
    """Score documents between two trials on windows of `tried_on`.

    These are all texts of a comparison, also if only some of them are scored here: so everybody
    tries a model on the same windows, and refuses the same models.

    Raises ModelRefusedError, before the first score and after the last one.
    """
    scored = likelihood.on_device(scored, scorer)
    probes = tuple(islice(_probes(scored, tried_on, rules, seed), PROBES))
    before = _losses(scored, [one.row for one in probes], scorer)
    changed = _losses(scored, [one.changed for one in probes], scorer)
    cut = [
        (a[: one.kept], b[: one.kept]) for one, a, b in zip(probes, before, changed, strict=True)
    ]
    if _has_moved(cut):
        raise _refused(scored, Refusal.AHEAD)
    _check_random(scored, rules, scorer, seed)
    yield from likelihood.score_documents(scored, texts, rules, scorer)
    after = [_losses(scored, [one.row], scorer)[0] for one in reversed(probes)]
    if _has_moved(list(zip(before, reversed(after), strict=True))):
        raise _refused(scored, Refusal.UNSTEADY)


def random_text(seed: bytes) -> str:
    """A text of RANDOM_BYTES that nobody can have known before the seed."""
    raw = hashlib.shake_256(b"tequio/v1/random\0" + seed).digest(RANDOM_BYTES * RANDOM_BITS // 8)
    return base64.b64encode(raw).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    """A window of a text, and the same with random tokens after its first `kept` inputs."""

    row: InputRow
    changed: InputRow
    kept: int


def _probes(
    scored: ScoredModel, texts: Sequence[str], rules: ScoringRules, seed: bytes
) -> Iterator[_Probe]:
    """Draw texts, windows and cuts; a text that the model does not read gives none."""
    most = scored.tokenizer.vocab_size
    for draw in range(_DRAWS if texts else 0):
        stream = b"tequio/v1/probe\0" + seed + draw.to_bytes(4, "big")
        text, at, place = _numbers(stream, _NUMBERS)
        tokens = likelihood.read_tokens(scored, texts[text * len(texts) // _U32])
        windows = scoring.scoring_windows(max(len(tokens) - 1, 0), rules)
        if not windows:
            continue
        window = windows[at * len(windows) // _U32]
        row = InputRow(
            inputs=tokens[window.first : window.end],
            targets=tokens[window.first + 1 : window.end + 1],
        )
        length = len(row.inputs)
        if length < 2:  # noqa: PLR2004 - nothing comes after the first input
            continue
        kept = 1 + place * (length - 1) // _U32
        others = np.array(_numbers(stream + b"\1", length - kept)) * most // _U32
        yield _Probe(
            row=row,
            changed=InputRow(
                inputs=np.concatenate((row.inputs[:kept], others)), targets=row.targets
            ),
            kept=kept,
        )


def _numbers(stream: bytes, count: int) -> list[int]:
    raw = hashlib.shake_256(stream).digest(4 * count)
    return [int.from_bytes(raw[4 * at : 4 * at + 4], "big") for at in range(count)]


def _losses(scored: ScoredModel, rows: Sequence[InputRow], scorer: ScoringDevice) -> list[Losses]:
    """Nats of every target of each row, as many rows at once as fit into a batch."""
    longest = max((len(one.inputs) for one in rows), default=1)
    step = max(likelihood.batch_tokens(scored, scorer) // longest, 1)
    found: list[Losses] = []
    for first in range(0, len(rows), step):
        found += map(np.array, likelihood.row_losses(scored, rows[first : first + step], scorer))
    if not all(np.isfinite(one).all() for one in found):
        raise _refused(scored, Refusal.PREDICTIONS)
    return found


def _has_moved(pairs: Sequence[tuple[Losses, Losses]]) -> bool:
    """True if losses that have to be equal differ by more than honest arithmetic does."""
    # One window alone may differ in a mixture of experts: where two experts are equally good, the
    # last bit of a sum decides between them.
    moved = sum(_moved(one, other) for one, other in pairs)
    return bool(pairs) and moved >= min(PROBES_MOVED, len(pairs))


def _moved(one: Losses, other: Losses) -> bool:
    off = np.abs(one - other)
    # A look at the next token moves the last loss alone; a look at what follows moves them all.
    is_near = off[-NEAR:].max() > NEAR_NATS
    return bool(is_near or off.sum() > one.sum() / DOCUMENT_TOLERANCE + NEAR_NATS)


def _check_random(
    scored: ScoredModel, rules: ScoringRules, scorer: ScoringDevice, seed: bytes
) -> None:
    (found,) = likelihood.score_documents(scored, [random_text(seed)], rules, scorer)
    if found.millibits < (RANDOM_BITS * RANDOM_BYTES - LUCK_BITS) * MILLIBITS:
        raise _refused(scored, Refusal.RANDOM)


def _refused(scored: ScoredModel, reason: Refusal) -> ModelRefusedError:
    return ModelRefusedError(reason, f"{scored.folder} may not be scored: {reason.sentence}")
