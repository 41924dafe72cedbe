"""Computers of volunteers: cards, connections, and when they are on, drawn from published figures.

Cards. Shares of cards by memory, from the Steam Hardware Survey of November 2025 (8 GB: 33.36 %,
12 GB: 19.22 %, 16 GB: 8.12 %). Smaller ones rarely train; no share of larger ones was published. A
card trains as fast as `organiser.estimate` expects of cards with its memory, give or take `SPREAD`.

Connections. Means of 347.8 Mbit/s down and 23.5 up are those of subscribers in the United States
(OpenVault Broadband Insights, third quarter of 2022). No distribution was published with them: a
log-normal one with this mean and sigma `LINK_SIGMA` is an assumption, with one draw for both ways.

Uptime. Hours on follow a Weibull distribution of shape 0.393 and scale 2.964, hours off a
log-normal one with mu -0.586 and sigma 2.844: the fits to traces of SETI@home with which ComBoS
(Alonso-Monsalve et al., Future Generation Computer Systems 86, 2018) simulates its hosts. The
traces of 230,000 hosts are described by Javadi, Kondo, Vincent and Anderson (IEEE Transactions on
Parallel and Distributed Systems 22, 2011). They say when a computer was idle enough to compute.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from tequio_client.organiser import estimate
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.worker.lending.needs import min_memory_mb
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest

CARDS = ((8, 33.36), (12, 19.22), (16, 8.12))
"""Memory in GiB, and share of all surveyed computers in percent."""
SPREAD = 0.2
"""Assumed: cards with the same memory differ by up to this share from the middle one."""
DOWN_MBIT, UP_MBIT, LINK_SIGMA = 347.8, 23.5, 0.8
ON_SHAPE, ON_HOURS = 0.393, 2.964
OFF_MU, OFF_SIGMA = -0.586, 2.844
SUDDEN = 0.05
"""Assumed: share of the ends of a session without a word, as of a computer that loses power."""
LATENCY_MS = (20, 150)
"""Assumed range of the time that a statement takes to the ledger."""
_LEAST_SESSION_H = 1 / 60
_MOST_SESSION_H = 24 * 365
HOUR_MS = 3_600_000
_MBIT_BYTES = 1e6 / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedHost:
    """One computer: tokens per second that it trains, bytes per second of its connection."""

    tokens_per_s: float
    up: float
    down: float
    latency_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A time in which a computer is on, then one in which it is off; both in milliseconds."""

    on_ms: int
    off_ms: int
    is_sudden: bool
    """True if it ends without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPopulation:
    """Figures from which the hosts of a simulation are drawn; by default the published ones."""

    is_always_on: bool = False
    tokens_per_s: float = 0.0
    """Measured speed of every host; 0: by its card."""
    mbit: float = 0.0
    """Connection of every host, both ways; 0: as published."""

    def draw_hosts(
        self, manifest: Manifest, count: int, rng: Random, least_mb: int | None = None
    ) -> list[SimulatedHost]:
        """Draw hosts that lend that memory, by default what one sample needs.

        Raises UserFacingError if no card of the survey can train the model.
        """
        cards = self._fitting_cards(min_memory_mb(manifest) if least_mb is None else least_mb)
        return [self._host(manifest, cards, rng) for _ in range(count)]

    def sessions(self, rng: Random) -> Iterator[Session]:
        """Yield a host's sessions without end; the first one may be zero long: it starts off."""
        if self.is_always_on:
            while True:
                yield Session(on_ms=HOUR_MS * _MOST_SESSION_H, off_ms=0, is_sudden=False)
        yield _first_session(rng)
        while True:
            yield _session(rng.weibullvariate(ON_HOURS, ON_SHAPE), _off_hours(rng), rng)

    def _fitting_cards(self, least: int) -> tuple[tuple[int, float], ...]:
        fitting = tuple(
            (gib, share)
            for gib, share in CARDS
            if self.tokens_per_s or estimate.lent_mb(ExpectPlan(vram_gib=gib)) >= least
        )
        if not fitting:
            raise UserFacingError(
                f"the model needs {least:,} MiB of card memory, and of the cards in the survey the "
                f"largest has {CARDS[-1][0]} GiB: use a smaller model or cells (--cells 1, with "
                "more --cell-ranks), or give the measured speed of the expected cards with "
                "--tokens-per-s"
            )
        return fitting

    def _host(
        self, manifest: Manifest, cards: tuple[tuple[int, float], ...], rng: Random
    ) -> SimulatedHost:
        (gib,) = rng.choices([one for one, _ in cards], [share for _, share in cards])
        frozen = manifest.frozen.parameters if manifest.frozen else 0
        usual = estimate.tokens_per_s(
            manifest.model.parameters, ExpectPlan(vram_gib=gib), frozen
        ) * rng.uniform(1 - SPREAD, 1 + SPREAD)
        # Of one draw: a line that is slow one way is slow the other way, too.
        factor = math.exp(rng.gauss(-(LINK_SIGMA**2) / 2, LINK_SIGMA))
        return SimulatedHost(
            tokens_per_s=self.tokens_per_s or usual,
            up=(self.mbit or UP_MBIT * factor) * _MBIT_BYTES,
            down=(self.mbit or DOWN_MBIT * factor) * _MBIT_BYTES,
            latency_ms=rng.randint(*LATENCY_MS),
        )


def mean_online_share() -> float:
    """Share of the hosts that are on at a time, by the means of both distributions."""
    on = ON_HOURS * math.gamma(1 + 1 / ON_SHAPE)
    off = math.exp(OFF_MU + OFF_SIGMA**2 / 2)
    return on / (on + off)


def _off_hours(rng: Random) -> float:
    return rng.lognormvariate(OFF_MU, OFF_SIGMA)


def _session(on_h: float, off_h: float, rng: Random) -> Session:
    on_h, off_h = (min(max(one, _LEAST_SESSION_H), _MOST_SESSION_H) for one in (on_h, off_h))
    return Session(
        on_ms=round(on_h * HOUR_MS),
        off_ms=round(off_h * HOUR_MS),
        is_sudden=rng.random() < SUDDEN,
    )


def _first_session(rng: Random) -> Session:
    """A session as found at a random time: long ones are found more often, somewhere inside."""
    if rng.random() < mean_online_share():
        # Weibull lengths, weighted by themselves, follow a power of a gamma distribution.
        found = ON_HOURS * rng.gammavariate(1 + 1 / ON_SHAPE, 1) ** (1 / ON_SHAPE)
        return _session(found * rng.random(), _off_hours(rng), rng)
    found = rng.lognormvariate(OFF_MU + OFF_SIGMA**2, OFF_SIGMA)  # log-normal ones stay log-normal
    off_ms = round(min(found * rng.random(), _MOST_SESSION_H) * HOUR_MS)
    return Session(on_ms=0, off_ms=max(off_ms, 1), is_sudden=False)
