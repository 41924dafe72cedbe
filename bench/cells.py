"""Tokens a second of cells on a LAN and over the Internet, beside the same cards apart.

Reckoned by the simulator (`client/tequio_client/simulator/cells.py`) for cards of 8 GB and Llama
networks of two sizes as `tequio run new` shapes them, in rounds of half an hour; homes have lines
drawn from the published ones, and figures are medians of many such cells. The last columns follow
their computers' published uptimes for some weeks, and count whole rounds: over the Internet each
rank has hours of its own.

    python bench/cells.py [--cells 101] [--days 30] [--json FILE] [--write]

`--write` puts a table into docs/cells.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import TYPE_CHECKING

import msgspec
from loops import repository, table
from loops.machine import machine
from tests.support.tiny_run import tiny_manifest

from tequio_client.organiser import estimate
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.organiser.planning import nearest_shape
from tequio_client.simulator.cell_hosts import CellPopulation, Place, steady_pace
from tequio_client.simulator.hosts import HOUR_MS, HostPopulation, Session
from tequio_client.trainer.model import sketch
from tequio_client.worker.lending.needs import min_memory_mb, rank_memory_mb
from tequio_shared.round.manifest import InnerParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.ipc.cell import Division
    from tequio_shared.round.manifest import Manifest

DOCUMENT = repository.ROOT / "docs" / "cells.md"
CARD_GIB = 8
MIB_OF_GIB, SECOND_MS, DAY_H = 1 << 10, 1_000, 24
ROUND_S, LIMIT_S = 1_800, 3_600
"""Time to train of a round: usual, and the limit."""
SIZES = 125_000_000, 968_000_000
"""Parameters: the smaller one's embedding is tied."""
HOSTS = 300
SYMBOLS, SEQUENCE = 32_000, 1_024
KINDS: tuple[Division, ...] = ("none", "pipeline")
PLACES: tuple[tuple[Place, str], ...] = (("lan", "LAN"), ("internet", "Internet"))
COLUMNS = (
    "model",
    "computers",
    "kind",
    "line",
    "GiB of a rank",
    "s of a step",
    "tokens of a step",
    "s a round for weights",
    "tokens/s",
    "the same cards apart",
    "tokens a day",
    "the same cards apart",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=101)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = _reckoned(options)
    shown = table.markdown(COLUMNS, rows)
    print(shown)
    print(machine())
    if options.json:
        options.json.write_text(json.dumps({**machine(), "columns": COLUMNS, "rows": rows}))
    if options.write:
        table.put(DOCUMENT, "cells", shown)


def _reckoned(options: argparse.Namespace) -> list[tuple[str, ...]]:
    rows = []
    for size in SIZES:
        manifest = _manifest(size)
        name = f"{manifest.model.parameters / 1e6:,.0f}M"
        for ranks in (2, 4, 8):
            for kind in KINDS:
                for place, words in PLACES:
                    cells = CellPopulation(ranks=ranks, division=kind, place=place)
                    if row := _row(manifest, cells, options):
                        rows.append((name, str(ranks), kind, words, *row))
    return rows


def _manifest(parameters: int) -> Manifest:
    config = nearest_shape(parameters, SYMBOLS).config(SEQUENCE)
    network = sketch(json.dumps(config).encode()).network
    plain = tiny_manifest()
    model = msgspec.structs.replace(
        plain.model,
        tensors=tuple((name, tuple(one.shape)) for name, one in network.named_parameters()),
        parameters=sum(one.numel() for one in network.parameters()),
        sequence=SEQUENCE,
    )
    return msgspec.structs.replace(
        plain,
        model=model,
        tokenizer=msgspec.structs.replace(plain.tokenizer, vocab_size=SYMBOLS),
        inner=InnerParams(steps=20),
        rounds=msgspec.structs.replace(plain.rounds, train=ROUND_S * SECOND_MS),
    )


def _row(
    manifest: Manifest, cells: CellPopulation, options: argparse.Namespace
) -> tuple[str, ...] | None:
    """Figures of such cells; None if a card does not hold a rank's part."""
    expect = ExpectPlan(vram_gib=CARD_GIB)
    lent = CARD_GIB * MIB_OF_GIB
    need_mb = rank_memory_mb(manifest, cells.ranks, cells.division)
    if need_mb > lent:
        return None
    card = estimate.tokens_per_s(manifest.model.parameters, expect)
    population = HostPopulation(tokens_per_s=card)
    rng = Random(f"bench {options.seed}")  # noqa: S311 - seeded on purpose
    found = []
    count = options.cells if cells.place == "internet" else 1  # all LANs are alike
    for _ in range(count):
        hosts = population.draw_hosts(manifest, cells.ranks, rng)
        pace, tokens = steady_pace(manifest, cells.ranks_of(hosts), cells.division)
        taken_s = manifest.inner.steps * pace.step_s + pace.round_s
        is_late = taken_s > LIMIT_S
        found.append((0.0 if is_late else pace.tokens_per_s(manifest, tokens), tokens, pace))
    speed = median(one for one, _, _ in found)
    # The same hosts in each row; computers in one LAN are on together, as one host is.
    single = mean(_shares(CellPopulation(), population, options, HOSTS))
    own = single
    if cells.place == "internet":
        own = mean(_shares(cells, population, options, options.cells))
    apart = cells.ranks * card if min_memory_mb(manifest) <= lent else 0.0
    day_s = DAY_H * HOUR_MS / SECOND_MS
    return (
        f"{need_mb / MIB_OF_GIB:.1f}",
        _short(median(one.step_s for _, _, one in found)),
        f"{median(tokens for _, tokens, _ in found):,.0f}",
        _short(median(one.round_s for _, _, one in found)),
        f"{speed:,.0f}" if speed else "too late",
        f"{apart:,.0f}" if apart else "too small",
        _millions(speed * own * day_s),
        _millions(apart * single * day_s) if apart else "too small",
    )


def _shares(
    cells: CellPopulation, population: HostPopulation, options: argparse.Namespace, count: int
) -> Iterator[float]:
    rng = Random(f"uptimes {options.seed}")  # noqa: S311 - seeded on purpose
    for _ in range(count):
        yield _lent_share(cells.sessions(population, rng), options.days)


def _lent_share(sessions: Iterator[Session], days: float) -> float:
    """Share of the time that is in whole rounds of one session."""
    end_ms, at_ms, rounds = days * DAY_H * HOUR_MS, 0.0, 0
    for one in sessions:
        on_ms = max(min(float(one.on_ms), end_ms - at_ms), 0.0)
        rounds += int(on_ms / (ROUND_S * SECOND_MS))
        at_ms += one.on_ms + one.off_ms
        if at_ms >= end_ms:
            break
    return rounds * ROUND_S * SECOND_MS / end_ms


def _short(seconds: float) -> str:
    return f"{seconds:,.1f}" if seconds < 100 else f"{seconds:,.0f}"  # noqa: PLR2004 - digits


def _millions(tokens: float) -> str:
    return f"{tokens / 1e6:,.1f}M"


if __name__ == "__main__":
    main()
