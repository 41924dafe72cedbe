"""A laboratory: what a plan learns, against training with all gradients at every step.

Trains models of one million and of ten million parameters over raw bytes on the standard library's
sources: four trainers with the product's inner steps, codecs and exact head, one after another in
one process (`loops/local_swarm.py`), or one optimiser that sees all four gradients of each step.
All plans of a size see the same tokens in the same order. Each training is one line of
`bench/learning.jsonl`; what is there already is not trained again, so the table grows.

    python bench/learning.py [--size 1M] [--plan NAME ...] [--seeds 1 2 3] [--jobs N] [--write]
        [--device cuda]

Prints, for each plan, held-out bits per byte with the half-width of their 95 % interval over the
seeds, the difference from full-gradient Muon with the same seeds, bytes that a trainer sends, bytes
that an audit of one contribution fetches, and the time of each part.
`--write` puts the tables into docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import torch
from loops import table
from loops.local_swarm import (
    FULL_BYTES,
    PARTS,
    LocalRun,
    LocalSwarm,
    build_library_data,
    train_centrally,
)
from loops.machine import machine

from tequio_client.dataset.sources import token_bytes
from tequio_client.demo.script import ARCHITECTURE, SEQUENCE, to_toml
from tequio_client.trainer.device import open_device
from tequio_client.trainer.model import sketch
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_shared.head.layout import count_chunks
from tequio_shared.round.audits import opened_chunk_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TRAINERS = 4
HELD_OUT_TOKENS = 65_536
FULL = "muon, all gradients"
STEADY = {"warmup": 0.03, "anneal": 0.4}
"""Rates of every plan: they rise over the first rounds, and fall over the last ones."""
RESULTS = Path(__file__).with_name("learning.jsonl")
DOCUMENT = Path(__file__).parents[1] / "docs" / "results.md"
COLUMNS = (
    "plan",
    "seeds",
    "bits per byte",
    "above full Muon",
    "bytes, times fewer",
    "an audit fetches",
    "train / encode / head, s per round",
)
_Known = dict[tuple[str, str, int], dict[str, Any]]  # results by size, plan and seed: JSON
HASH_BYTES = 32
STUDENT = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776}
"""97.5 % quantile of Student's distribution, by the number of seeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A model and how long it is trained: steps of `windows` samples for each trainer."""

    config: Mapping[str, object]
    windows: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """Tables of a plan; `central`: one optimiser with the gradients of all."""

    inner: Mapping[str, object]
    algorithm: Mapping[str, object] = field(default_factory=dict)
    steps: int = 20
    central: bool = False


SIZES = {
    "1M": Size(config=ARCHITECTURE, windows=4, steps=800),
    "1M, larger steps": Size(config=ARCHITECTURE, windows=16, steps=800),
    "10M": Size(
        config={
            **ARCHITECTURE,
            "hidden_size": 384,
            "intermediate_size": 1_024,
            "num_hidden_layers": 6,
            "num_attention_heads": 6,
            "num_key_value_heads": 6,
        },
        windows=64,
        steps=1200,
    ),
}
RATES = {"lr": 4.5e-3, "adam_lr": 1.5e-3}
LOW = {"lr": 3e-3, "adam_lr": 1e-3}
HIGH = {"lr": 6e-3, "adam_lr": 2e-3}
METHODS: Mapping[str, Mapping[str, Method]] = {
    "1M": {
        FULL: Method(inner=HIGH, central=True),
        "adamw, all gradients": Method(inner={"optimiser": "adamw", "adam_lr": 3e-3}, central=True),
        "sparseloco, 10 steps, k 256": Method(
            steps=10, inner=RATES, algorithm={"k": 256, "outer_lr": 2.0}
        ),
        "sparseloco, 20 steps, k 512": Method(inner=LOW, algorithm={"k": 512, "outer_lr": 2.0}),
        "sparseloco, 20 steps, k 512, tuned": Method(
            inner={"lr": 3e-3, "adam_lr": 6e-3, "momentum": 0.8},
            algorithm={"k": 512, "outer_lr": 2.5},
        ),
        "sparseloco, 20 steps, k 512, state in 8 bits": Method(
            inner={**LOW, "state_bits": 8}, algorithm={"k": 512, "outer_lr": 2.0}
        ),
        "sparseloco, 20 steps, k 512, down link 512": Method(
            inner=LOW, algorithm={"k": 512, "outer_lr": 2.0, "down_k": 512}
        ),
        "diloco, 20 steps, momentum 0.6": Method(
            inner=RATES,
            algorithm={"name": "diloco", "k": 4096, "bits": 8, "outer_lr": 0.7, "momentum": 0.6},
        ),
        # The settings that MuLoCo (arXiv 2505.23725) publishes as its defaults: Muon, and outer SGD
        # with Nesterov momentum. Its 30 steps do not divide 800, so these are 32.
        "muloco, 32 steps, momentum 0.6": Method(
            steps=32,
            inner={"optimiser": "muon", **RATES},
            algorithm={"name": "diloco", "k": 4096, "bits": 8, "outer_lr": 0.7, "momentum": 0.6},
        ),
        "distro, every step, k 16": Method(
            steps=1, inner={}, algorithm={"name": "distro", "k": 16}
        ),
    },
    "1M, larger steps": {
        FULL: Method(inner=HIGH, central=True),
        "sparseloco, 20 steps, k 512": Method(inner=LOW, algorithm={"k": 512, "outer_lr": 2.0}),
    },
    "10M": {
        FULL: Method(inner=LOW, central=True),
        "muon, all gradients, twice the rates": Method(inner=HIGH, central=True),
        "sparseloco, 20 steps, k 512": Method(inner=LOW, algorithm={"k": 512, "outer_lr": 2.0}),
        "sparseloco, 40 steps, k 512": Method(
            steps=40, inner=LOW, algorithm={"k": 512, "outer_lr": 2.0}
        ),
    },
}
"""Plans of each size. Rates of 10M are those that were best of three for all gradients."""
PLANS = sorted({name for methods in METHODS.values() for name in methods})


def main() -> None:
    """Train what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, action="append", help="default: all")
    parser.add_argument("--plan", choices=PLANS, action="append", help="default: all")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3], help="default: 1 2 3")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at once, one thread each")
    parser.add_argument("--device", default="cpu", help="default: cpu; 10M is for a card")
    parser.add_argument("--json", type=Path, help="write the rows of the tables to this file")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results.md")
    options = parser.parse_args()
    known = _known()
    wanted = [
        (size, name, seed)
        for seed in options.seeds
        for size in options.size or SIZES
        for name in METHODS[size]
        if name in (options.plan or PLANS) and (size, name, seed) not in known
    ]
    # Spawned: torch's threads do not survive a fork.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, spawn, max_tasks_per_child=1) as pool:
        train = partial(_train, wanted=options.device)
        for result in pool.map(train, *zip(*wanted, strict=True)) if wanted else ():
            print(json.dumps(result), flush=True)
    known = _known()
    rows = {size: [_row(known, size, name) for name in _trained(known, size)] for size in SIZES}
    for size in SIZES:
        content = table.markdown(COLUMNS, rows[size])
        print(f"\n{size}\n{content}")
        if options.write and rows[size]:
            table.put(DOCUMENT, f"learning {size}", content)
    if options.json:
        options.json.write_text(json.dumps({**machine(), "columns": COLUMNS, "rows": rows}))


def _trained(known: _Known, size: str) -> list[str]:
    """The plans that were trained at this size."""
    return [name for name in METHODS[size] if any(key[:2] == (size, name) for key in known)]


def _known() -> _Known:
    """Results so far, of plans as they are now, on the same texts as full Muon with their seed."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    found = [json.loads(line) for line in lines]
    # The texts are the library of that Python: another one has others, also held-out ones.
    texts = {(one["size"], one["seed"]): one["python"] for one in found if one["name"] == FULL}
    return {
        (one["size"], one["name"], one["seed"]): one
        for one in found
        if one["name"] in METHODS[one["size"]]
        and one["plan"] == _plan(one["size"], one["name"], one["seed"])
        and one["python"] == texts.get((one["size"], one["seed"]), one["python"])
    }


def _plan(size: str, name: str, seed: int) -> dict[str, dict[str, object]]:
    """Make the tables of a plan."""
    method, one = METHODS[size][name], SIZES[size]
    return {
        "model": {"source": "config.json", "seed": seed},
        "data": {"folder": "data"},
        "algorithm": dict(method.algorithm),
        "inner": {"steps": method.steps, **STEADY, **method.inner},
        "windows": {"samples": 1, "first": one.windows * method.steps, "seed": seed},
        "rounds": {"most": one.steps // method.steps},
        "audit": {"newcomers": 0.5},
    }


def _train(size: str, name: str, seed: int, *, wanted: str) -> dict[str, object]:
    torch.set_num_threads(1)
    tables = _plan(size, name, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.toml"
        _write(path, tables, SIZES[size].config)
        begun = time.perf_counter()
        run = LocalRun(path, TRAINERS, open_device(wanted))
        if METHODS[size][name].central:
            train_centrally(run)
        else:
            LocalSwarm(run).train()
        result = {
            "size": size,
            "name": name,
            "seed": seed,
            "bits_per_byte": run.bits_per_byte(run.held_out(HELD_OUT_TOKENS)),
            "tokens": run.costs.tokens,
            "payload_bytes": run.costs.payload_bytes,
            "parameters": run.layout.parameters,
            "part_s": run.costs.seconds,
            "seconds": time.perf_counter() - begun,
            "plan": tables,
            "device": run.device.name,
            **machine(),
        }
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")
    return result


def _write(path: Path, tables: Mapping[str, Mapping[str, object]], config: object) -> None:
    """Write the plan, its model's configuration, and its data beside it."""
    (path.parent / "config.json").write_text(json.dumps(config))
    path.write_text(to_toml({"name": "laboratory"}, tables))
    build_library_data(path.parent / "data", SEQUENCE)


def _row(known: _Known, size: str, name: str) -> list[str]:
    """Make the row of a plan that has been trained."""
    found = {key[2]: one for key, one in known.items() if key[:2] == (size, name)}
    full = {key[2]: one for key, one in known.items() if key[:2] == (size, FULL)}
    excess = [
        100 * (one["bits_per_byte"] / full[seed]["bits_per_byte"] - 1)
        for seed, one in found.items()
        if seed in full
    ]
    some = next(iter(found.values()))
    steps, rounds = SIZES[size].steps, SIZES[size].steps // METHODS[size][name].steps
    fewer = FULL_BYTES * some["parameters"] * steps / some["payload_bytes"]
    parts = [mean(one["part_s"][part] for one in found.values()) / rounds for part in PARTS]
    return [
        name,
        str(len(found)),
        _interval([one["bits_per_byte"] for one in found.values()], 3),
        f"{_interval(excess, 1)} %" if excess else "",
        f"{fewer:,.0f}",
        "" if METHODS[size][name].central else f"{audit_bytes(size, name, some) / 1e3:,.0f} kB",
        " / ".join(f"{one:.2f}" for one in parts),
    ]


def audit_bytes(size: str, name: str, result: Mapping[str, Any]) -> int:
    """Bytes that an auditor fetches to repeat one contribution of a training, that is a JSON line.

    These are its payload, the ids of its windows, and the leaves that its trainer opens of the
    state before and after it, with Merkle paths. The head is there: an auditor took part in it.
    """
    method, one = METHODS[size][name], SIZES[size]
    windows = one.windows * method.steps
    payload = int(result["payload_bytes"]) // (one.steps // method.steps)
    algorithm = {"name": "sparseloco", **method.algorithm}["name"]
    ids = windows * SEQUENCE * token_bytes(int(str(one.config["vocab_size"])))
    if algorithm == "diloco":  # it sends everything, so it has no error feedback
        return payload + ids
    network = sketch(json.dumps(one.config).encode())
    tensors = sorted((name, tuple(one.shape)) for name, one in network.parameters.items())
    chunks = count_chunks(tensors, "tile64" if algorithm == "distro" else "flat")
    path = HASH_BYTES * (chunks - 1).bit_length()
    return payload + ids + 2 * opened_chunk_count(chunks) * (LEAF_BYTES + path)


def _interval(values: Sequence[float], places: int) -> str:
    """Mean and half-width of its 95 % interval; of one value, the value."""
    if len(values) not in STUDENT:
        return f"{mean(values):.{places}f}"
    half = STUDENT[len(values)] * stdev(values) / math.sqrt(len(values))
    return f"{mean(values):.{places}f} ± {half:.{places}f}"


if __name__ == "__main__":
    main()
