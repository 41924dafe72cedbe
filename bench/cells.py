"""What a cell achieves on a LAN and over the Internet, beside the same cards apart.

Reckoned by the simulator (`client/tequio_client/simulator/cells.py`) for cards of 8 GB and Llama
networks of several sizes, in rounds of half an hour; homes have lines drawn from the published
ones, and figures are medians of many such cells. The last columns follow their computers' published
uptimes for some weeks, and count whole rounds: over the Internet each rank has hours of its own.

    python bench/cells.py [--cells 101] [--days 30] [--write]
    python bench/cells.py --measure [--write]

`--measure` lets two ranks train on this computer's processor over gloo, in a pipeline, joined by
lines with a rate and a round trip, and compares their steps with those that the simulator reckons
from steps without such a line. Needs root. `--write` puts a table into docs/cells.md.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from random import Random
from statistics import mean, median
from typing import TYPE_CHECKING

import msgspec
import psutil
import torch
import torch.distributed as dist
from loops import repository, table
from loops.machine import machine
from loops.namespaces import namespace, shaped_line
from tests.support.plans import CONFIG
from tests.support.tiny_run import tiny_manifest

from tequio_client.organiser import estimate
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.simulator.cell_hosts import CellPopulation, Place, steady_pace
from tequio_client.simulator.cells import Lines, SimulatedRank, micro_batches, pipeline_s
from tequio_client.simulator.hosts import HOUR_MS, HostPopulation, Session
from tequio_client.trainer.cell import Cell
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import StepPlan, TrainingProgress
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.model import build_random, sketch
from tequio_client.worker.lending.needs import min_memory_mb, rank_memory_mb
from tequio_shared.round.manifest import InnerParams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from tequio_client.ipc.cell import Division
    from tequio_shared.round.manifest import Manifest

DOCUMENT = repository.ROOT / "docs" / "cells.md"
CARD_GIB = 8
MIB_OF_GIB, SECOND_MS, DAY_H = 1 << 10, 1_000, 24
ROUND_S, LIMIT_S = 1_800, 3_600
"""Time to train of a round: usual, and the limit."""
SIZES = {"134M": (768, 2_048, 12), "0.9B": (2_048, 5_632, 19)}
"""Width, inner width and layers."""
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
MEASURED_COLUMNS = ("line", "s of a step, measured", "s, reckoned", "reckoned / measured")
LINES = ((1_000, 0.5), (200, 20.0), (50, 20.0), (20, 40.0))
"""Mbit/s and round trip, ms."""
HERE, THERE, SPACE, PORT = "10.97.0.1", "10.97.0.2", "tequiocell", 29_511
TRIED = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "tie_word_embeddings": False,
}
TRIED_SAMPLES, TRIED_TOKENS, TRIED_STEPS = 16, 256, 5
MBIT_BYTES = 1e6 / 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=101)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--address", default=HERE, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.rank is not None:
        _train_rank(options.rank, options.address)
        return
    name = "cells measured" if options.measure else "cells"
    shown = _measured() if options.measure else _reckoned(options)
    print(shown)
    print(machine())
    if options.write:
        table.put(DOCUMENT, name, shown)


def _reckoned(options: argparse.Namespace) -> str:
    rows = []
    for name, sizes in SIZES.items():
        manifest = _manifest(sizes)
        for ranks in (2, 4, 8):
            for kind in KINDS:
                for place, words in PLACES:
                    cells = CellPopulation(ranks=ranks, division=kind, place=place)
                    if row := _row(manifest, cells, options):
                        rows.append((name, str(ranks), kind, words, *row))
    return table.markdown(COLUMNS, rows)


def _manifest(sizes: tuple[int, int, int]) -> Manifest:
    width, wide, layers = sizes
    config = {**CONFIG, "hidden_size": width, "intermediate_size": wide}
    config |= {"num_hidden_layers": layers, "num_attention_heads": width // 64}
    config |= {"num_key_value_heads": 4, "vocab_size": SYMBOLS}
    config |= {"max_position_embeddings": SEQUENCE}
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
    own = mean(
        _lent_share(cells.sessions(population, rng), options.days) for _ in range(options.cells)
    )
    single = mean(_lent_share(population.sessions(rng), options.days) for _ in range(options.cells))
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


def _measured() -> str:
    free_s = _step_s()
    size, number = micro_batches(TRIED_SAMPLES, TRIED_TOKENS, 2)
    hidden_bytes = 4.0 * size * TRIED_TOKENS * TRIED["hidden_size"]  # type: ignore[operator]  # a number
    # Two equal stages: (number + 1) micro-batches of work one after the other.
    work_s = free_s / (number + 1)
    rows = [("loopback", f"{free_s:.2f}", f"{free_s:.2f}", "from it")]
    for mbit, trip_ms in LINES:
        with ExitStack() as stack:
            inside = stack.enter_context(namespace(SPACE))
            stack.enter_context(shaped_line(HERE, THERE, SPACE, mbit=mbit, round_trip_ms=trip_ms))
            measured = _step_s(inside)
        rate = mbit * MBIT_BYTES
        rank = SimulatedRank(tokens_per_s=1.0, up=rate, down=rate, round_trip_s=trip_ms / SECOND_MS)
        found = pipeline_s(Lines([rank, rank]), [work_s, work_s], number, hidden_bytes)
        line = f"{mbit:,} Mbit/s, {trip_ms:g} ms"
        rows.append((line, f"{measured:.2f}", f"{found:.2f}", f"{found / measured:.2f}"))
    return table.markdown(MEASURED_COLUMNS, rows)


def _step_s(inside: Sequence[str] = ()) -> float:
    """Median seconds of a step of two ranks, of which one may be inside a namespace."""
    address = HERE if inside else "127.0.0.1"
    words = (sys.executable, __file__, "--address", address, "--rank")
    with (
        subprocess.Popen((*inside, *words, "1")) as other,
        subprocess.Popen((*words, "0"), stdout=subprocess.PIPE) as first,
    ):
        said, _ = first.communicate()
        other.wait()
    return float(said)


class _Clock:
    """Lets training run, and remembers when each step ended."""

    def __init__(self) -> None:
        self.times = [time.monotonic()]

    def check(self) -> None:
        """Let it go on."""

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Never stop."""
        if progress.step:
            self.times.append(time.monotonic())
        return False


class _Samples:
    """The same samples on both ranks."""

    window_samples = TRIED_SAMPLES

    def samples(self, windows: Sequence[int]) -> Tensor:
        chance = torch.Generator().manual_seed(windows[0] + 1)
        rows = TRIED_SAMPLES * len(windows)
        return torch.randint(0, 256, (rows, TRIED_TOKENS + 1), generator=chance)


def _train_rank(rank: int, address: str) -> None:
    from tequio_client.trainer.pipeline import PipelinedModel

    torch.set_num_threads(1)
    own = THERE if rank and address == HERE else address
    os.environ["GLOO_SOCKET_IFNAME"] = next(
        name
        for name, found in psutil.net_if_addrs().items()
        if any(one.family == socket.AF_INET and one.address == own for one in found)
    )
    dist.init_process_group("gloo", init_method=f"tcp://{address}:{PORT}", rank=rank, world_size=2)
    config = json.dumps(TRIED).encode()
    network, cell, clock = sketch(config).network, Cell(rank, 2), _Clock()
    assert isinstance(network, Llama)  # noqa: S101 - for types
    divided = PipelinedModel(network, cell, open_device("cpu"))
    divided.load(build_random(config, 1))
    plan = StepPlan(windows=tuple(range(TRIED_STEPS)), steps=TRIED_STEPS)
    divided.train(_Samples(), plan, InnerParams(), clock)
    steps = [later - one for one, later in zip(clock.times, clock.times[1:], strict=False)]
    if not rank:
        print(median(steps[1:]))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
