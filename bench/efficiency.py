"""Efficiency of a swarm: its tokens per second over those of raw loops on the same threads.

A demo network trains: ledger, seed, and one volunteer with one thread for each core. It counts the
tokens of closed rounds from the second round's opening to the last one's close, which includes all
costs of a round and leaves out the start. Compute fraction is the part of its time in rounds for
which a volunteer trains, or repeats another's training. Then the same number of processes, one
thread each, run (a) a raw PyTorch loop over transformers' Llama with the same optimiser and batch,
and (b) the trainer's own inner loop without rounds. The claim: at least 0.85 of each.

    python bench/efficiency.py [--peers N] [--rounds N] [--train-s S] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from loops.machine import machine

from tequio_client.demo import play
from tequio_client.demo.script import ARCHITECTURE, SEQUENCE, DemoScript

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.demo.play import DemoResult


LEAST_RATIO = 0.85
STEPS = 30


def main() -> None:
    """Measure the swarm, then both loops, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=int, default=os.cpu_count() or 2, help="volunteers")
    parser.add_argument("--rounds", type=int, default=6, help="rounds to train")
    parser.add_argument(
        "--train-s", type=float, default=20.0, help="seconds of training in a round"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = DemoScript(
            folder=Path(folder) / "demo",
            rounds=options.rounds,
            peers=options.peers,
            train_s=options.train_s,
        )
        played = trio.run(_played, script)
    tally = played.tally
    swarm, per_step = tally.steady_tokens_per_s, tally.tokens_per_step
    samples = max(round(per_step / SEQUENCE), 1)
    raw = _together(_raw, options.peers, samples)
    flat = _together(_flat_out, options.peers, samples)
    result = {
        **machine(),
        "peers": options.peers,
        "train_s": options.train_s,
        "tokens_per_step": per_step,
        "compute_fraction": [round(one.compute_fraction, 3) for one in played.statuses],
        "swarm_tokens_per_s": swarm,
        "raw_loop_tokens_per_s": raw,
        "own_loop_tokens_per_s": flat,
        "over_raw_loop": swarm / raw,
        "over_own_loop": swarm / flat,
        "least_ratio": LEAST_RATIO,
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


async def _played(script: DemoScript) -> DemoResult:
    """Run the demo."""
    return await play.run_network(play.DemoNetwork(script=script))


def _together(loop: Callable[[int], float], processes: int, samples: int) -> float:
    """Tokens per second of all processes, running at the same time with one thread each."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) as pool:
        return sum(pool.map(loop, [samples] * processes, chunksize=1))


def _raw(samples: int) -> float:
    import torch
    from loops.raw import raw_speed

    from tequio_client.trainer import hub_models

    torch.set_num_threads(1)
    network = hub_models.build(dict(ARCHITECTURE))
    torch.manual_seed(0)
    batches = [torch.randint(0, 256, (samples, SEQUENCE + 1)) for _ in range(STEPS)]
    raw_speed(network, batches[:2])  # warm
    return raw_speed(network, batches) * samples * SEQUENCE


def _flat_out(samples: int) -> float:
    import torch
    from loops.flat import flat_speed, network, noise

    torch.set_num_threads(1)
    mine = network(ARCHITECTURE)
    with tempfile.TemporaryDirectory() as folder:
        training = noise(Path(folder), samples=samples, steps=STEPS)
        flat_speed(mine, training, 2)  # warm
        return flat_speed(mine, training, STEPS) * samples * SEQUENCE


if __name__ == "__main__":
    main()
