"""Which documents of a build are in its shards: distinct ones, of each source as many as fit.

Found from the records in the sorted runs alone, without their ids, in three passes for a mixture
and one for a single source. Each reads about 70 bytes a document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tequio_client.dataset.encode import Records, count_turn_ends
from tequio_client.dataset.mixture import Mixture
from tequio_client.dataset.runs import SortedRuns

_HASH_BYTES = 32


class Census(Struct, frozen=True, kw_only=True):
    """Documents that the shards will hold, known once all rows are read."""

    limits: tuple[str, ...]
    """For each source, the hash (hex) of its last document in the mixture."""
    taken: tuple[int, ...]
    """Bytes of text of each source in the shards."""
    documents: int
    held_out: int
    cut: int
    left_out: int
    spelled: int
    """Left out because somebody writes a token that ends turns or documents."""
    turn_ends: dict[int, int]
    """Number of documents whose turns end with each token."""

    def has(self, order: bytes, part: int) -> bool:
        """Return whether a document of that hash, from that source, is in the mixture."""
        return order <= bytes.fromhex(self.limits[part])


def count_documents(mixture: Mixture, runs: SortedRuns) -> Census:
    """Count what is in the mixture; raises UserFacingError for a source of it without text."""
    limits = _limits(mixture, runs)
    last = np.array(limits, "S32")
    taken = np.zeros(len(limits), np.int64)
    ends = Counter[int]()
    documents = held_out = cut = left_out = spelled = 0
    for interval in range(runs.intervals):
        records = runs.records(interval)
        records = records[records["order"] <= last[records["part"]]]
        taken += _bytes_of_parts(records[~records["is_left_out"]], len(limits))
        documents += len(records)
        held_out += int(records["is_held_out"].sum())
        cut += int(records["is_cut"].sum())
        left_out += int(records["is_left_out"].sum())
        spelled += int(records["spells_end"].sum())
        ends += count_turn_ends(records)
    return Census(
        limits=tuple(one.hex() for one in limits),
        taken=tuple(taken.tolist()),
        documents=documents,
        held_out=held_out,
        cut=cut,
        left_out=left_out,
        spelled=spelled,
        turn_ends=dict(ends),
    )


def whole_hash(order: bytes) -> bytes:
    """A hash as numpy gives it, which drops zero bytes at the end."""
    return bytes(order).ljust(_HASH_BYTES, b"\0")


def _limits(mixture: Mixture, runs: SortedRuns) -> Sequence[bytes]:
    parts = len(mixture.parts)
    if parts == 1:
        return [b"\xff" * _HASH_BYTES]
    totals, taken = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    for interval in range(runs.intervals):
        totals += _bytes_of_parts(runs.records(interval), parts)
    wanted = mixture.wanted(totals.tolist())
    limits = [b""] * parts
    for interval in range(runs.intervals):
        records = runs.records(interval)
        for part in range(parts):
            own = records[records["part"] == part]
            before = taken[part] + np.cumsum(own["raw_bytes"].astype(np.int64)) - own["raw_bytes"]
            within = own["order"][before < wanted[part]]
            if len(within):
                limits[part] = whole_hash(within[-1])
        taken += _bytes_of_parts(records, parts)
    return limits


def _bytes_of_parts(records: Records, parts: int) -> NDArray[np.int64]:
    # Sums of doubles are exact below 2^53 bytes.
    return np.bincount(records["part"], records["raw_bytes"], parts).astype(np.int64)
