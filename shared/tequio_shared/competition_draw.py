"""Which documents are scored, and who scores them: a draw that nobody could know or steer.

The beacon comes out of the archive's key, which those who entered and offered did not have; of the
secrets of all who offered, which whoever has the key did not have while they chose; and of the
submissions themselves. All of it is public before anything is scored, so that everybody draws
again. docs/protocol.md, section 19.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tequio_shared.ids import Digest, PeerKey, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NUMBER_BYTES = 4
_NUMBERS = 1 << 8 * _NUMBER_BYTES
_SPARE = 64
"""Numbers beyond those that are needed if none is skipped."""


def commitment(competition: Digest, author: PeerKey, secret: bytes) -> Digest:
    """What an offer commits to: nobody else can open it, nor use it for another competition."""
    return sha256(b"tequio/v1/eval\0", competition, author, secret)


def beacon(
    competition: Digest,
    key: bytes,
    secrets: Mapping[PeerKey, bytes],
    submissions: Mapping[str, Digest],
) -> Digest:
    """Join the archive's key, the opened secrets by author, and the submissions by entrant."""
    return sha256(
        b"tequio/v1/comp\0",
        competition,
        key,
        *(secrets[author] for author in sorted(secrets)),
        *(submissions[entrant] for entrant in sorted(submissions)),
    )


def documents(beacon_value: Digest, count: int, total: int) -> tuple[int, ...]:
    """Draw the numbers, below `total`, of so many documents, ascending; all if there are no more.

    The first steps of a shuffle: step i swaps what stands at i with what stands at i + u mod
    (total - i), where u is the next number of the stream that favours no remainder.
    """
    if count >= total:
        return tuple(range(total))
    stream = _numbers(b"tequio/v1/docs\0" + beacon_value, count)
    moved: dict[int, int] = {}
    drawn = []
    for step in range(count):
        at = step + _below(total - step, stream)
        drawn.append(moved.get(at, at))
        moved[at] = moved.get(step, step)
    return tuple(sorted(drawn))


def evaluators(
    beacon_value: Digest, candidates: Mapping[PeerKey, Digest], count: int
) -> tuple[PeerKey, ...]:
    """Draw so many keys, each of another owner, in the order of the lot; fewer if there are none.

    `candidates` are keys and whose they are.
    """
    drawn: dict[Digest, PeerKey] = {}
    for key in sorted(candidates, key=lambda one: _lot(beacon_value, one)):
        drawn.setdefault(candidates[key], key)
    return tuple(drawn.values())[:count]


def _lot(beacon_value: Digest, key: PeerKey) -> Digest:
    return sha256(b"tequio/v1/evaluator\0", beacon_value, key)


def _below(end: int, stream: Iterator[int]) -> int:
    """The next number that says something below `end` without favouring any."""
    fair = _NUMBERS - _NUMBERS % end
    return next(number for number in stream if number < fair) % end


def _numbers(seed: bytes, count: int) -> Iterator[int]:
    """The u32 of SHAKE-256, without end."""
    state, done, many = hashlib.shake_256(seed), 0, count + _SPARE
    while True:
        raw = state.digest(_NUMBER_BYTES * many)
        for at in range(_NUMBER_BYTES * done, len(raw), _NUMBER_BYTES):
            yield int.from_bytes(raw[at : at + _NUMBER_BYTES], "big")
        done, many = many, 2 * many
