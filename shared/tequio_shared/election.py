"""Who witnesses a round: a sort that everybody can repeat and nobody could steer.

The roster is logged before the beacon exists: members then reveal secrets that they committed to
earlier, the beacon is the hash of those, and the seed binds beacon and roster (ledger and
verifiers compute the same committee). docs/protocol.md, election.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, sha256
from tequio_shared.limits import WITNESSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def beacon(run: RunId, round_number: int, reveals: Iterable[bytes]) -> Digest:
    """The round's beacon from the revealed 32-byte secrets, in ascending order of slot."""
    return sha256(b"tequio/v1/beacon\0", run, round_number.to_bytes(8, "big"), *reveals)


def seed(
    net: NetworkId, run: RunId, round_number: int, beacon_value: Digest, roster: Digest
) -> Digest:
    """The round seed: orders the election and keys the Bloom filters."""
    number = round_number.to_bytes(8, "big")
    return sha256(b"tequio/v1/elect\0", net, run, number, beacon_value, roster)


def committee(
    round_seed: Digest, candidates: Mapping[int, PeerKey], size: int = WITNESSES
) -> tuple[int, ...]:
    """Slots of the elected witnesses, ascending: all candidates, or the `size` first by lot."""

    def lot(slot: int) -> bytes:
        return sha256(round_seed, slot.to_bytes(4, "big"), candidates[slot])

    return tuple(sorted(sorted(candidates, key=lot)[:size]))


def quorum(elected: int) -> int:
    """ceil(2/3) of the elected, never of those who answered: 4 -> 3, 5 -> 4, 16 -> 11."""
    return -(-2 * elected // 3)
