"""The draw of a round: who witnesses, and who measures a head.

Theory. Each member has one lot in a round: the output of its key's verifiable random function for
the round's seed. The lowest lots sit. Nobody can choose a lot, and who withholds its own gives up
its own chance and moves nobody else's. The seed is the output of the coordinator's function for the
lots of the last committee, and comes with the roster: before it, no member knows its lot,
so no choice of key, of work, or of silence can be made by its effect on the draw. The coordinator
knows the seed earlier, but cannot choose it, for its key and the earlier lots are public; and a key
that came since it may know the seed does not witness while there are others.
(docs/protocol.md, 9.4; why not over the parent head: docs/decisions/0023-lots.md)
"""

from __future__ import annotations

from collections.abc import Mapping

from tequio_shared.ids import ContributionId, Digest, NetworkId, RunId, sha256
from tequio_shared.limits import LARGE_ROSTER, WITNESSES, WITNESSES_OF_LARGE


def seed_input(net: NetworkId, run: RunId, number: int, lots: Digest) -> bytes:
    """Input of the coordinator's function for the roster of that round.

    `lots` is the digest of the last opened round, or 32 zero bytes.
    """
    return b"tequio/v1/lot-seed\0" + net + run + number.to_bytes(8, "big") + lots


def lot_input(net: NetworkId, run: RunId, number: int, seed: bytes) -> bytes:
    """Input of a member's function in that round; `seed` is the coordinator's output."""
    return b"tequio/v1/lot\0" + net + run + number.to_bytes(8, "big") + seed


def draw_input(
    net: NetworkId, run: RunId, number: int, commitments: Mapping[int, ContributionId]
) -> bytes:
    """Input of the coordinator's function at the end of training, by slot that has committed.

    Neither the coordinator's clock nor what others choose after it can steer the output.
    """
    # By slot, not by arrival, as for the lots.
    ids = (slot.to_bytes(4, "big") + commitments[slot] for slot in sorted(commitments))
    return b"tequio/v1/draw-seed\0" + net + run + number.to_bytes(8, "big") + sha256(*ids)


def lots_digest(lots: Mapping[int, bytes]) -> Digest:
    """Digest of the lots of a round's committee, by slot."""
    # By slot, not by arrival: the coordinator chooses the order of the log, and must not steer
    # with it.
    return sha256(b"tequio/v1/lots\0", *(lots[slot] for slot in sorted(lots)))


def seat_count(witnesses: int) -> int:
    """Seats of a committee drawn from that many slots with the role witness.

    docs/security.md has the odds that a share of the slots gets two thirds of the seats.
    """
    return WITNESSES if witnesses <= LARGE_ROSTER else WITNESSES_OF_LARGE


def committee(lots: Mapping[int, bytes], seats: int) -> tuple[int, ...]:
    """Slots with the lowest lots, ascending: at most `seats`."""
    return tuple(sorted(sorted(lots, key=lambda slot: (lots[slot], slot))[:seats]))


def measurers(lots: Mapping[int, bytes], count: int) -> tuple[int, ...]:
    """Slots that measure a head, ascending: at most `count`."""
    # Hashed again: one lot must not give witness duty and measuring alike.
    return committee(
        {slot: sha256(b"tequio/v1/measure\0", lot) for slot, lot in lots.items()}, count
    )
