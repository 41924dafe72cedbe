"""A run on the card at hand: speed, memory, equal heads, and how soon a pause gives memory back.

Ledger, seed and two volunteers on one device train a model from scratch for some minutes; then both
are paused and resumed, and the organiser ends the run after the round that follows. Prints the
tokens per second in rounds and while computing, the model's share of the card's arithmetic (MFU,
see `loops.machine.mfu`), the most memory in use, and the time until a pause has given nine tenths
of it back. The ledger's audit computes every head again on the CPU, so its exit status says whether
heads agree.

    python bench/card.py [--device cuda] [--size 124M] [--minutes 15] [--json FILE] [--folder F]

Without a card, `--device cpu --size toy` runs the same script in two minutes; its memory is then
that of the trainers' processes. Exit status: 0, or 1 if the heads differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import torch
import trio
from loops.machine import machine, mfu

from tequio_client.control_socket import WorkerCall
from tequio_client.demo import play
from tequio_client.demo.programs import DemoProgram
from tequio_client.demo.script import ARCHITECTURE, DemoScript
from tequio_client.ipc.snapshot import DesiredState
from tequio_client.platform.programs import tequio
from tequio_client.trainer import hub_models

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.demo.play import DemoNetwork, DemoResult
    from tequio_client.ipc.snapshot import Snapshot

VOLUNTEERS = 2
POLL_S, PATIENCE_S, INTO_TRAINING_S = 0.02, 60.0, 2.0
RUN = "demo"
MOST_ROUNDS = 4
"""Times the rounds that fit by the plan: first shares are small, and the organiser ends the run."""
FREED = 0.1
"""Part of the most memory that may be left when a pause counts as done."""
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRun:
    """A model, and what each volunteer trains in a round of `train_s` seconds at first."""

    config: Mapping[str, object]
    sequence: int
    windows: int
    train_s: float


SIZES = {
    "toy": CardRun(config=ARCHITECTURE, sequence=128, windows=160, train_s=8.0),
    "124M": CardRun(
        config={
            **ARCHITECTURE,
            "vocab_size": 50_304,
            "hidden_size": 768,
            "intermediate_size": 2_048,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "num_key_value_heads": 12,
            "max_position_embeddings": 1_024,
            "tie_word_embeddings": True,
        },
        sequence=1_024,
        windows=4_096,
        train_s=45.0,
    ),
}


@dataclass(slots=True)
class MemoryWatch:
    """Memory in use on the device, MiB; `seconds` is the time that a pause took."""

    network: DemoNetwork
    device: torch.device
    before_mb: float = 0.0
    most_mb: float = 0.0
    seconds: float | None = None
    left_mb: float = 0.0

    def used_mb(self) -> float:
        """On a card, of all programs, as the driver counts it; otherwise of the trainers."""
        if self.device.type == "cuda":
            free, total = torch.cuda.mem_get_info(self.device)
            return (total - free) / MIB
        return sum(_children_mb(one.pid) for one in self.network.volunteers)

    async def watch(self) -> None:
        """Record the most memory in use until cancelled."""
        while True:
            if self.network.volunteers:
                self.most_mb = max(self.most_mb, self.used_mb())
            await trio.sleep(0.2)

    async def pause_after(self, seconds: float) -> None:
        """Pause both volunteers in a round after this time, measure, go on, and end the run."""
        network = self.network
        await _until(lambda: bool(network.opened_at))
        await trio.sleep(seconds)
        await _until(lambda: network.run is not None)
        now = self._round
        await _until(lambda: self._round > now)
        await trio.sleep(INTO_TRAINING_S)
        least_mb = self.before_mb + FREED * (self.most_mb - self.before_mb)
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(1, VOLUNTEERS + 1):
                nursery.start_soon(partial(self._lend, number, lend=False))
            with trio.move_on_after(PATIENCE_S):
                await _until(lambda: self.used_mb() <= least_mb)
                self.seconds = trio.current_time() - begun
        self.left_mb = self.used_mb() - self.before_mb
        for number in range(1, VOLUNTEERS + 1):
            await self._lend(number, lend=True)
        now = self._round
        await _until(lambda: self._round > now)
        folder = network.script.folder
        organiser = ("--ledger", network.url, "--dir", str(folder / "organiser"))
        command = tequio("run", "finish", RUN, *organiser)
        await DemoProgram("finish", command, folder).run_checked()

    @property
    def _round(self) -> int:
        return self.network.run.round if self.network.run is not None else 0

    async def _lend(self, number: int, *, lend: bool) -> None:
        def make(shown: Snapshot) -> DesiredState:
            return DesiredState(number=shown.wish.number + 1, lend=lend)

        def call_worker() -> None:
            with WorkerCall.to(self.network.script.folder / f"volunteer-{number}") as call:
                call.set_state(make)

        await trio.to_thread.run_sync(call_worker)


def main() -> None:
    """Train, pause, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--size", choices=SIZES, default=None, help="default: by the device")
    parser.add_argument("--minutes", type=float, default=None, help="of training, about")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--folder", type=Path, help="keep ledger, data and logs in this new folder")
    options = parser.parse_args()
    device = torch.device(options.device)
    name = options.size or ("124M" if device.type == "cuda" else "toy")
    size = SIZES[name]
    minutes = options.minutes or (15.0 if device.type == "cuda" else 1.0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        script = DemoScript(
            folder=options.folder or Path(folder) / "demo",
            rounds=max(round(MOST_ROUNDS * minutes * 60 / size.train_s), 4),
            peers=VOLUNTEERS,
            train_s=size.train_s,
            first_windows=size.windows,
            device=options.device,
            config=size.config,
            sequence=size.sequence,
            measured_every=1_000,
        )
        watch = MemoryWatch(play.DemoNetwork(script=script), device)
        watch.before_mb = watch.used_mb()
        result = trio.run(_played, watch, minutes * 60)
    figures = _figures(result, watch, size, device)
    shown = {**machine(), "size": name, **figures}
    print(json.dumps(shown, indent=1))
    if options.json:
        options.json.write_text(json.dumps(shown, indent=1))
    sys.exit(int(not figures["heads_agree"]))


async def _played(watch: MemoryWatch, seconds: float) -> DemoResult:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.watch)
        nursery.start_soon(watch.pause_after, seconds)
        result = await play.run_network(watch.network)
        nursery.cancel_scope.cancel()
    return result


def _figures(
    result: DemoResult, watch: MemoryWatch, size: CardRun, device: torch.device
) -> dict[str, object]:
    parameters = sum(one.numel() for one in hub_models.build(dict(size.config)).parameters())
    layers, width = int(str(size.config["num_hidden_layers"])), int(str(size.config["hidden_size"]))
    # While both compute on one card they share it, so their tokens add up and their time does not.
    computing = sum(one.compute_seconds for one in result.statuses) / len(result.statuses)
    computed = sum(one.tokens for one in result.statuses) / max(computing, 1e-9)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    share = mfu(
        name,
        computed,
        parameters=parameters,
        layers=layers,
        width=width,
        sequence=size.sequence,
    )
    return {
        "device": name,
        "parameters": parameters,
        "seconds": round(result.seconds),
        "rounds": result.tally.committed,
        "void": result.tally.void,
        "heads_agree": result.tally.all_agree and result.audit_exit == 0,
        "bits_per_byte": [result.start.bits_per_byte, result.end.bits_per_byte],
        "compute_fraction": [round(one.compute_fraction, 3) for one in result.statuses],
        "tokens_per_s_in_rounds": round(result.tally.steady_tokens_per_s),
        "tokens_per_s_computing": round(computed),
        "mfu": None if share is None else round(share, 3),
        "memory_before_mb": round(watch.before_mb),
        "memory_most_mb": round(watch.most_mb),
        "pause_s": None if watch.seconds is None else round(watch.seconds, 2),
        "memory_left_mb": round(watch.left_mb),
    }


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - other processes make it so
        await trio.sleep(POLL_S)


def _children_mb(pid: int) -> float:
    """Memory of a process's children, MiB; 0 when it is gone."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return sum(one.memory_info().rss for one in children) / MIB
    except psutil.NoSuchProcess:
        return 0.0


if __name__ == "__main__":
    main()
