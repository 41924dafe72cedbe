"""The odds of the draw: how often a party that holds some of a roster's slots gets the committee.

Exact: seats are drawn without replacement (the hypergeometric tail, in integers), for the committee
sizes and the quorum of the product. Then the cost of a lot, and of a round's lots to its readers.
Fails unless a party with 20 % of the slots needs 1,000,000 rounds for one takeover, and one with
25 % needs 10,000, for every roster size up to 2,000.

    python bench/draw.py [--json FILE] [--document docs/security.md]
"""

from __future__ import annotations

import argparse
import json
import time
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

from loops import table
from loops.machine import machine

from tequio_shared import vrf
from tequio_shared.keys import Signer
from tequio_shared.round import lots
from tequio_shared.round.assignment import quorum

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = (15, 20, 25, 30, 33)
"""Percent of the slots that one party holds."""
ROSTERS = (16, 24, 36, 48, 49, 64, 128, 256, 1_000, 2_000)
REQUIRED = {20: 1_000_000, 25: 10_000}
"""Fewest rounds per takeover, by share."""
LARGEST = 2_000
TRIES = 300
WRITTEN_OUT = 1e6


def at_least(slots: int, held: int, seats: int, wanted: int) -> Fraction:
    """Chance that a party with `held` of the slots draws `wanted` seats or more."""
    ways = sum(comb(held, k) * comb(slots - held, seats - k) for k in range(wanted, seats + 1))
    return Fraction(ways, comb(slots, seats))


def takeover(slots: int, share: int) -> Fraction:
    """Chance of one round that the party has two thirds of the seats."""
    seats = min(lots.seat_count(slots), slots)
    return at_least(slots, slots * share // 100, seats, quorum(seats))


def stall(slots: int, share: int) -> Fraction:
    """Chance of one round that the party has more than a third of the seats."""
    seats = min(lots.seat_count(slots), slots)
    return at_least(slots, slots * share // 100, seats, seats - quorum(seats) + 1)


def main() -> None:
    """Print the odds and the cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the tables into this document")
    options = parser.parse_args()
    odds = "\n\n".join(
        f"{title}\n\n{_odds(chance)}"
        for title, chance in (
            ("Rounds per takeover: two thirds of the seats, which decide every verdict.", takeover),
            ("Rounds per stalled round: over a third, without whom there is no quorum.", stall),
        )
    )
    cost = _cost()
    shown = f"{odds}\n\nOne lot takes {cost['prove_ms']:.2f} ms to draw and "
    shown += f"{cost['verify_ms']:.2f} ms to verify: for a roster of 256 members, "
    shown += f"{256 * cost['verify_ms'] / 1_000:.2f} s of every reader's time in a round."
    print(shown)
    if options.document:
        table.put(options.document, "the odds of the draw", shown)
    if options.json:
        chances = {
            str(share): {str(slots): float(takeover(slots, share)) for slots in ROSTERS}
            for share in SHARES
        }
        options.json.write_text(json.dumps({**machine(), **cost, "takeover": chances}))
    _check()


def _odds(chance: Callable[[int, int], Fraction]) -> str:
    columns = ("slots with the role witness", "seats", *(f"{share} %" for share in SHARES))
    rows = []
    for slots in ROSTERS:
        seats = min(lots.seat_count(slots), slots)
        cells = [_rounds(chance(slots, share)) for share in SHARES]
        rows.append([str(slots), str(seats), *cells])
    return table.markdown(columns, rows)


def _rounds(chance: Fraction) -> str:
    """Mean number of rounds until it happens."""
    if not chance:
        return "never"
    rounds = 1 / float(chance)
    return f"{rounds:,.0f}" if rounds < WRITTEN_OUT else f"{rounds:.1e}"


def _cost() -> dict[str, float]:
    signer = Signer(bytes(range(32)))
    begin = time.perf_counter()
    proofs = [signer.prove(number.to_bytes(8, "big")) for number in range(TRIES)]
    middle = time.perf_counter()
    for number, proof in enumerate(proofs):
        vrf.verify(signer.key, number.to_bytes(8, "big"), proof)
    end = time.perf_counter()
    return {
        "prove_ms": 1_000 * (middle - begin) / TRIES,
        "verify_ms": 1_000 * (end - middle) / TRIES,
    }


def _check() -> None:
    for share, least in REQUIRED.items():
        for slots in range(4, LARGEST + 1):
            if takeover(slots, share) * least > 1:
                raise SystemExit(f"{share} % of {slots} slots: below {least:,} rounds per takeover")


if __name__ == "__main__":
    main()
