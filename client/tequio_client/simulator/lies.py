"""Lies: what liars do instead of their duty, and how often two honest auditors find it.

Shares of the work and odds are those of docs/auditing.md, which `bench/cheating.py` measured on
real training. A cheat in its work costs less of it; all others lie about the work of others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tequio_shared.errors import UserFacingError


@dataclass(frozen=True, slots=True, kw_only=True)
class LieKind:
    """One kind of liar."""

    name: str
    text: str
    work: float = 1.0
    """Share of the training that it does."""
    found: float = 0.0
    """Odds that an audit finds what it left out."""
    opens: bool = True
    """False: it opens nothing to its auditors."""
    repeats: bool = True
    """False: as auditor it repeats nothing, and clears everybody."""
    accuses: bool = False
    """True: as auditor it accuses everybody."""
    checks: bool = True
    """False: as witness it vouches for all without fetching anything."""
    slanders: bool = False
    """True: as witness it refuses all."""
    commits_twice: bool = False


LIES = (
    LieKind(name="copy", text="sends a copy of other work as its own", work=0.0, found=1.0),
    LieKind(name="half", text="does half of the steps", work=0.5, found=1.0),
    LieKind(name="most", text="does 80 % of the steps", work=0.8, found=0.8),
    LieKind(
        name="closed", text="sends a copy, and opens nothing to auditors", work=0.0, opens=False
    ),
    LieKind(name="lazy", text="trains, but clears others without an audit", repeats=False),
    LieKind(name="accuser", text="trains, and accuses everybody it audits", accuses=True),
    LieKind(name="blind", text="trains, but vouches without checking", checks=False),
    LieKind(name="slander", text="trains, and refuses all that it witnesses", slanders=True),
    LieKind(name="twice", text="trains, and commits to two contributions", commits_twice=True),
)
HONEST = LieKind(name="honest", text="does its duty")
KINDS: Mapping[str, LieKind] = {one.name: one for one in (HONEST, *LIES)}


def parse_shares(texts: tuple[str, ...]) -> dict[str, float]:
    """Read shares of liars, `0.2` (all kinds alike) or `copy=0.1`; raises UserFacingError."""
    shares: dict[str, float] = {}
    given = list[float]()
    for text in texts:
        name, equals, number = text.rpartition("=")
        share = _share(text, number)
        given.append(share)
        names = [name] if equals else [one.name for one in LIES]
        if not set(names) <= {one.name for one in LIES}:
            known = ", ".join(one.name for one in LIES)
            raise UserFacingError(f"no liars of the kind {name!r}: there are {known}")
        for one in names:
            shares[one] = shares.get(one, 0.0) + share / len(names)
    every = math.fsum(given)  # rounded once: nine ninths, added one by one, are more than 1
    if every > 1:
        raise UserFacingError(f"the liars are {100 * every:g}% of the peers: at most 100 %")
    return shares


def _share(text: str, number: str) -> float:
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UserFacingError(
            f"invalid share of liars {text!r}: expected a number from 0 to 1, or KIND=NUMBER"
        )
    return share


def deal_kinds(count: int, shares: Mapping[str, float], rng: Random) -> list[LieKind]:
    """Kinds of that many peers, in random order; the liars are as many as all shares together."""
    kinds: list[LieKind] = []
    total = 0.0
    for name, share in shares.items():
        total += share
        kinds += [KINDS[name]] * (round(total * count) - len(kinds))
    kinds += [HONEST] * (count - len(kinds))
    rng.shuffle(kinds)
    return kinds
