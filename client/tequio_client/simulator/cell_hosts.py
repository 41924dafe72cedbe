"""Cells among the peers of a simulation: their cards, their lines, and when all ranks are on.

In a local network the ranks are on together, as the computers of one owner or of a party are
(assumed); over the Internet each has the line and the sessions of any other host. A rank that goes
ends the cell: what it began is lost, and it waits until all are on again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from tequio_client.ipc.cell import Division
from tequio_client.simulator.cells import CellPace, SimulatedRank, pace_of
from tequio_client.simulator.hosts import HOUR_MS, HostPopulation, Session, SimulatedHost
from tequio_client.worker.lending.needs import rank_memory_mb
from tequio_shared.round.manifest import Manifest

Place: TypeAlias = Literal["lan", "internet"]
LAN_MBIT, LAN_ROUND_TRIP_S = 1_000.0, 0.0005
"""Of usual Ethernet in homes (assumed)."""
_MBIT_BYTES = 1e6 / 8
_ITERATIONS, _NEAR = 8, 0.02
_SECOND_MS = 1_000
_MOST_MS = 365 * 24 * HOUR_MS
"""Time after which nobody looks for the next one in which all ranks are on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPopulation:
    """Cells of a simulation."""

    share: float = 0.0
    """Of the peers."""
    ranks: int = 4
    division: Division = "pipeline"
    place: Place = "lan"

    def draw_cells(
        self, manifest: Manifest, count: int, population: HostPopulation, rng: Random
    ) -> list[SimulatedHost]:
        """Draw cells, as hosts with the line of rank 0.

        Raises UserFacingError if no card of the survey holds a rank's part.
        """
        return [self._cell(manifest, population, rng) for _ in range(count)]

    def _cell(self, manifest: Manifest, population: HostPopulation, rng: Random) -> SimulatedHost:
        least_mb = rank_memory_mb(manifest, self.ranks, self.division)
        hosts = population.draw_hosts(manifest, self.ranks, rng, least_mb)
        pace, tokens = steady_pace(manifest, self.ranks_of(hosts), self.division)
        return SimulatedHost(
            tokens_per_s=pace.tokens_per_s(manifest, tokens),
            up=hosts[0].up,
            down=hosts[0].down,
            latency_ms=hosts[0].latency_ms,
        )

    def ranks_of(self, hosts: Sequence[SimulatedHost]) -> list[SimulatedRank]:
        """The hosts as ranks, with the lines between them."""
        rate, is_lan = LAN_MBIT * _MBIT_BYTES, self.place == "lan"
        return [
            SimulatedRank(
                tokens_per_s=one.tokens_per_s,
                up=rate if is_lan else one.up,
                down=rate if is_lan else one.down,
                round_trip_s=LAN_ROUND_TRIP_S if is_lan else 2 * one.latency_ms / _SECOND_MS,
            )
            for one in hosts
        ]

    def sessions(self, population: HostPopulation, rng: Random) -> Iterator[Session]:
        """Yield the times in which all ranks are on."""
        if self.place == "lan" or population.is_always_on:
            return population.sessions(rng)
        return joint_sessions([population.sessions(rng) for _ in range(self.ranks)])


def steady_pace(
    manifest: Manifest, ranks: Sequence[SimulatedRank], division: Division
) -> tuple[CellPace, float]:
    """Times of a cell in whose rounds training takes the usual time, and tokens of its steps.

    Shares grow until then (docs/protocol.md, 9.5); a step has at least a sample.
    """
    train_s, steps = manifest.rounds.train / _SECOND_MS, manifest.inner.steps
    least = float(manifest.model.sequence)
    tokens = max(sum(one.tokens_per_s for one in ranks) * train_s / steps, least)
    pace = pace_of(manifest, ranks, division, tokens)
    for _ in range(_ITERATIONS):
        before = tokens
        tokens = max(pace.tokens_per_s(manifest, tokens) * train_s / steps, least)
        pace = pace_of(manifest, ranks, division, tokens)
        if abs(tokens / before - 1) < _NEAR:
            break
    return pace, tokens


def joint_sessions(members: Sequence[Iterator[Session]]) -> Iterator[Session]:
    """Yield the times in which all are on, each of which ends suddenly; the first may be empty.

    Yields as soon as it knows the next beginning.
    """
    spans = [_on_spans(one) for one in members]
    now = [next(one) for one in spans]
    began = ended = 0
    while True:
        start, end = max(one[0] for one in now), min(one[1] for one in now)
        if start < end or start > _MOST_MS:
            yield Session(on_ms=ended - began, off_ms=start - ended, is_sudden=True)
            began, ended = start, max(start, end)
        at = min(range(len(now)), key=lambda one: now[one][1])
        now[at] = next(spans[at])


def _on_spans(sessions: Iterator[Session]) -> Iterator[tuple[int, int]]:
    """Beginning and end of each time in which a host is on, in milliseconds from the start."""
    at_ms = 0
    for one in sessions:
        yield at_ms, at_ms + one.on_ms
        at_ms += one.on_ms + one.off_ms
