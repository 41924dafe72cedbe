"""Cheating trainers: the bytes that they send instead of honest work, done or not.

An attack is a pure function from a `Situation` (the honest bytes, and other bytes that a cheat can
get) to other bytes that break no byte rule. It runs after the honest encoding and before the
commitment, so everything else about a cheat is genuine: key, windows, header, signature.
The same attacks serve in one process (`forged`) and in a real worker's trainer (`hostile_trainer`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tequio_shared.head.contribution import (
    LEVELS,
    SCALES,
    Records,
    decode_records,
    encode_records,
    payload_root,
)
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import sha256

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tequio_client.trainer.codecs import EncodedContribution
    from tequio_shared.head.contribution import RecordShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A cheat's data before it commits: its honest payload, and payloads of others and of before.

    Unavailable payloads are None, and an attack that needs one does honest work instead.
    """

    shape: RecordShape
    payload: bytes
    seed: int = 0
    last: bytes | None = None
    """The cheat's own payload of the last round."""
    foreign: bytes | None = None
    """Another peer's payload of this round."""
    foreign_last: bytes | None = None
    """Another peer's payload of the last round."""


def sign_flip(scale: float = 3.0) -> Callable[[Situation], bytes]:
    """Send the opposite, `scale` times as strong."""
    return lambda now: _changed(now, sign=-1, scale=scale)


def rescale(factor: float) -> Callable[[Situation], bytes]:
    """Send the honest update, `factor` times as strong."""
    return lambda now: _changed(now, sign=1, scale=factor)


def noise(now: Situation) -> bytes:
    """Send random places and signs, as strong as honest work."""
    records, chance = decode_records(now.payload, now.shape), _chance(now)
    draws = chance.random((len(records.scales), CHUNK)).argpartition(now.shape.k, axis=1)
    levels = chance.choice(LEVELS[now.shape.bits], records.levels.shape)
    indices = np.sort(draws[:, : now.shape.k], axis=1).astype(np.uint16)
    return _encoded(now, records.scales, indices, levels)


def zeros(now: Situation) -> bytes:
    """Send nothing, in valid form."""
    records = decode_records(now.payload, now.shape)
    return _encoded(now, np.zeros_like(records.scales), records.indices, records.levels)


def faint(now: Situation) -> bytes:
    """Send next to nothing: the honest update, a thousand times weaker."""
    return _changed(now, sign=1, scale=1e-3)


def copy(changed: float = 0.0) -> Callable[[Situation], bytes]:
    """Send another peer's work, with this share of its entries moved to random places."""
    return lambda now: now.payload if now.foreign is None else _altered(now, now.foreign, changed)


def weak_copy(now: Situation) -> bytes:
    """Send another peer's work at half its strength."""
    if now.foreign is None:
        return now.payload
    return _changed(replace(now, payload=now.foreign), sign=1, scale=0.5)


def stale(now: Situation) -> bytes:
    """Send the cheat's own work of the last round again."""
    return now.payload if now.last is None else now.last


def replay(now: Situation) -> bytes:
    """Send another peer's work of the last round."""
    return now.payload if now.foreign_last is None else now.foreign_last


def honest(now: Situation) -> bytes:
    """Send the honest payload; for cheats that lie about the work itself."""
    return now.payload


def forged(
    attack: Callable[[Situation], bytes], encoded: EncodedContribution, now: Situation
) -> EncodedContribution:
    """The contribution that the cheat sends instead of `encoded`."""
    payload = attack(now)
    return replace(encoded, payload=payload, payload_root=payload_root(payload, now.shape))


ATTACKS: dict[str, Callable[[Situation], bytes]] = {
    "sign_flip": sign_flip(1.0),
    "sign_flip_3": sign_flip(3.0),
    "scale_2": rescale(2.0),
    "scale_3": rescale(3.0),
    "scale_10": rescale(10.0),
    "noise": noise,
    "zeros": zeros,
    "faint": faint,
    "copy": copy(),
    "copy_10": copy(0.1),
    "weak_copy": weak_copy,
    "stale": stale,
    "replay": replay,
    "half_work": honest,
    "closed": stale,
    "accuser": honest,
}
"""Attacks by name. `half_work` trains half of the steps and claims all of them; `closed` sends its
old work and opens nothing to auditors; `accuser` works, and as auditor accuses everybody."""

LIES: dict[str, Callable[[Situation], bytes]] = {"false_answers": honest}
"""Attacks without false work; `false_answers` claims answers that its head did not give."""


def _changed(now: Situation, *, sign: int, scale: float) -> bytes:
    records = decode_records(now.payload, now.shape)
    scales = _nearest(SCALES[records.scales] * scale, now.shape.largest_scale)
    scales[records.scales == 0] = 0
    return _encoded(now, scales, records.indices, sign * records.levels)


def _altered(now: Situation, payload: bytes, share: float) -> bytes:
    """Move a share of the entries of each chunk to places that had none."""
    records, chance = decode_records(payload, now.shape), _chance(now)
    indices, levels = records.indices.astype(np.int64), records.levels.copy()
    moved = round(share * now.shape.k)
    for row in range(len(indices)):
        free = np.setdiff1d(np.arange(CHUNK), indices[row])
        indices[row, chance.choice(now.shape.k, moved, replace=False)] = chance.choice(
            free, moved, replace=False
        )
        order = indices[row].argsort()
        indices[row], levels[row] = indices[row, order], levels[row, order]
    return _encoded(now, records.scales, indices.astype(np.uint16), levels)


def _encoded(
    now: Situation,
    scales: NDArray[np.uint8],
    indices: NDArray[np.uint16],
    levels: NDArray[np.int8],
) -> bytes:
    records = Records(scales=scales, indices=indices, levels=levels.astype(np.int8))
    return encode_records(records, now.shape)


def _nearest(values: NDArray[np.floating[Any]], largest: int) -> NDArray[np.uint8]:
    table = SCALES[: largest + 1].astype(np.float64)
    return np.searchsorted((table[1:] + table[:-1]) / 2, values).astype(np.uint8)


def _chance(now: Situation) -> np.random.Generator:
    seed = sha256(b"attack", now.seed.to_bytes(8, "big"))
    return np.random.default_rng(int.from_bytes(seed[:8], "big"))
