"""Cost of the exact head on this machine: each part separately, then whole steps between files.

python bench/exact_head.py [--json FILE] [--parameters N] [--contributions P] [--folder FOLDER]

Every whole step runs in its own process, so that its memory can be measured. "compiled" loads its
kernels from numba's cache, as a trainer does from its second start on; "first call" compiles them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from loops.machine import machine

from tequio_client.trainer.engines import Block, Engine, ReferenceEngine
from tequio_client.trainer.head import ComputedHead, HeadFiles, compute_next_head
from tequio_shared.head.contribution import (
    ContributionHeader,
    ExpectedContribution,
    Records,
    WindowAssignment,
    encode_records,
    payload_root,
    payload_seal,
    validate,
)
from tequio_shared.head.head import OuterParams, OuterStep, weights_root
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import HeadHash, PeerKey, RunId

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.head.contribution import Algorithm


SHAPES: dict[Algorithm, dict[str, Any]] = {
    "sparseloco": {"k": 64, "bits": 2},
    "diloco": {"k": 4096, "bits": 8, "mu_q": 29_491},
}
LEANING = 0.8
"""Probability that a sign agrees with the majority."""
_MIB = 1 << 20


def main() -> None:
    """Measure and print; with --json also write the numbers."""
    args = _arguments()
    if args.child:
        print(json.dumps(_child(json.loads(args.child))))
        return
    numbers: dict[str, Any] = {
        "machine": {**machine(), "numpy": np.__version__},
        "contributions": args.contributions,
    }
    _print("machine", numbers["machine"])
    numbers["parts_s_per_100M"] = _parts(args.contributions)
    _print("parts, seconds per 100M parameters on one core", numbers["parts_s_per_100M"])
    numbers["steps"] = []
    for job in _jobs(args):
        result = _in_process(job)
        numbers["steps"].append(result)
        _print(f"step: {job['algorithm']} {job['parameters']:,} {job['engine']}", result)
    if args.json:
        Path(args.json).write_text(json.dumps(numbers, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--parameters", type=int, default=100_000_000, help="size of the model")
    parser.add_argument("--contributions", type=int, default=20, help="contributions in a step")
    parser.add_argument("--folder", help="folder for the files of whole steps; default: temporary")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def _jobs(args: argparse.Namespace) -> list[dict[str, Any]]:
    common = {"members": args.contributions, "folder": args.folder, "threads": 1}
    large = {**common, "algorithm": "sparseloco", "parameters": args.parameters}
    small = {**common, "algorithm": "sparseloco", "parameters": 1_000_000, "engine": "reference"}
    return [
        {**large, "engine": "compiled"},
        {**large, "engine": "compiled", "threads": 2},
        {**large, "engine": "reference", "parameters": args.parameters // 10},
        {**large, "engine": "torch", "parameters": args.parameters // 10},
        {
            **common,
            "algorithm": "diloco",
            "parameters": args.parameters // 10,
            "engine": "compiled",
        },
        small,
        {**small, "members": 4},
        {**small, "engine": "compiled"},
    ]


def _in_process(job: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", json.dumps(job)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(ran.stdout)
    return {**job, **result}


# --- parts --------------------------------------------------------------------------------------


def _parts(members: int) -> dict[str, float]:
    from tequio_client.trainer.kernels import CompiledEngine

    numbers: dict[str, float] = {}
    for algorithm in SHAPES:
        step = _step(algorithm, 2 * _MIB)
        block = _block(step, members)
        factors = [step.params.alpha_q // members] * members
        for name, engine in (
            ("compiled", CompiledEngine(step.params)),
            ("reference", ReferenceEngine(step.params)),
        ):
            measure = _Measure(engine, block, factors)
            scale = 1e8 / block.weights.size
            repeats = 5 if name == "compiled" or algorithm == "sparseloco" else 1
            key = f"{algorithm} {name}"
            numbers[f"{key}: one filter pass"] = scale * _best(measure.agreement, repeats)
            numbers[f"{key}: decode, clip, aggregate, decay, apply"] = scale * _best(
                measure.move, repeats
            )
    weights = np.zeros(4 * _MIB, np.int32)
    numbers["SHA-256 of the weights (hashlib alone)"] = (
        1e8 / weights.size * _best(lambda: hashlib.sha256(weights.data).digest(), 5)
    )
    numbers["weights root (reference)"] = (
        1e8 / weights.size * _best(lambda: weights_root(weights), 5)
    )
    numbers["validate one contribution (k 64, 2 bits)"] = 1e8 / _MIB * _validation_s()
    return {name: round(value, 4) for name, value in numbers.items()}


class _Measure:
    """One engine on one block in memory, in pieces of the engine's preferred size."""

    def __init__(self, engine: Engine, block: Block, factors: list[int]) -> None:
        self._engine = engine
        self._factors = factors
        size = engine.leaves * 64
        self._blocks = [
            Block(
                records=np.ascontiguousarray(block.records[:, at : at + size]),
                weights=block.weights[at * CHUNK : (at + size) * CHUNK],
                aux=None if block.aux is None else block.aux[at * CHUNK : (at + size) * CHUNK],
                padding=block.padding,
                matrix_elements=size * CHUNK,
            )
            for at in range(0, block.records.shape[1], size)
        ]

    def agreement(self) -> None:
        for block in self._blocks:
            self._engine.agreement(block.records, block.padding)

    def move(self) -> None:
        for block in self._blocks:
            self._engine.move(block, self._factors)


def _block(step: OuterStep, members: int) -> Block:
    rng = np.random.default_rng(1)
    layout = step.layout
    payloads = [_payload(step, rng) for _ in range(members)]
    rows = [np.frombuffer(one, np.uint8).reshape(layout.chunks, -1) for one in payloads]
    weights = rng.integers(-(2**25), 2**25, layout.elements).astype(np.int32)
    return Block(
        records=np.stack(rows),
        weights=weights,
        aux=np.zeros_like(weights) if step.params.mu_q else None,
        padding=layout.padding(0, layout.chunks),
        matrix_elements=layout.matrix_end,
    )


def _validation_s() -> float:
    step = _step("sparseloco", _MIB)
    header, payload = _contribution(step, np.random.default_rng(2), 0)
    expected = ExpectedContribution(
        shape=step.params.shape,
        chunks=step.layout.chunks,
        run_id=step.run_id,
        round=step.round,
        base_head=step.parent,
        assigned={PeerKey(bytes(32)): WindowAssignment(first=0, count=1)},
        window_tokens=2048,
        max_inner_steps=1,
    )
    seal = payload_seal(PeerKey(bytes(32)), [payload])
    if validate(header, payload, expected, seal) is not None:
        raise SystemExit("the contribution made by this script is invalid")
    return _best(lambda: validate(header, payload, expected, seal), 5)


def _best(function: Callable[[], object], repeats: int) -> float:
    function()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


# --- whole steps --------------------------------------------------------------------------------


def _child(job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        return _whole_step(job, Path(folder))


def _whole_step(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    step = _step(job["algorithm"], job["parameters"])
    contributions = _write(step, folder, job["members"])
    files = HeadFiles(
        weights_in=folder / "weights",
        weights_out=folder / "out",
        aux_out=folder / "aux" if step.params.mu_q else None,
    )
    before = _rss_mb()
    engine = _engine(step.params, job["engine"])

    def run() -> tuple[float, ComputedHead]:
        started = time.perf_counter()
        made = compute_next_head(
            step=step,
            contributions=contributions,
            files=files,
            engine=engine,
            threads=job["threads"],
        )
        return time.perf_counter() - started, made

    first_s, _ = run()
    warm = _rss_mb()
    with _Peak() as peak:
        best_s, made = min((run() for _ in range(3)), key=lambda timed: timed[0])
    return {
        "seconds": round(best_s, 4),
        "s_per_100M": round(best_s * 1e8 / step.layout.elements, 4),
        "first_call_s": round(first_s, 4),
        "of_it_writing_the_weights_s": round(_plain_write_s(files), 4),
        "kept": len(made.kept),
        "rss_before_mb": before["VmRSS"],
        "rss_after_mb": _rss_mb()["VmRSS"],
        "working_memory_mb": max(peak.most - warm["RssAnon"], 0),
        "weights_mb": round(step.layout.elements * 4 / _MIB, 1),
    }


def _plain_write_s(files: HeadFiles) -> float:
    """Time to only write the same bytes over the same file: the system's share."""
    content = files.weights_out.read_bytes()
    part = files.weights_out.with_name("plain")
    started = time.perf_counter()
    part.write_bytes(content)
    part.replace(files.weights_out)
    return time.perf_counter() - started


def _engine(params: OuterParams, name: str) -> Engine:
    if name == "torch":
        import torch

        from tequio_client.trainer.device import AcceleratorEngine

        torch.set_num_threads(1)
        return AcceleratorEngine(params, "cpu")
    if name == "compiled":
        from tequio_client.trainer.kernels import CompiledEngine

        return CompiledEngine(params)
    return ReferenceEngine(params)


class _Peak:
    """Peak anonymous memory of the process while the context was open, in MiB."""

    def __init__(self) -> None:
        self.most = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _Peak:  # noqa: PYI034  (not meant for subclasses)
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.most = max(self.most, _rss_mb()["RssAnon"])


def _rss_mb() -> dict[str, int]:
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = dict(line.split(":", 1) for line in lines)
    return {key: int(pairs.get(key, "0").split()[0]) >> 10 for key in ("VmRSS", "RssAnon")}


def _step(algorithm: Algorithm, parameters: int) -> OuterStep:
    params = OuterParams(
        algorithm=algorithm, layout="flat", alpha_q=1 << 20, lambda_q=1000, **SHAPES[algorithm]
    )
    layout = WeightLayout.of([("matrix", (-(-parameters // CHUNK), CHUNK))], "flat")
    return OuterStep(
        run_id=RunId(bytes(32)), round=1, parent=HeadHash(bytes(32)), layout=layout, params=params
    )


def _write(step: OuterStep, folder: Path, members: int) -> list[tuple[bytes, Path]]:
    rng = np.random.default_rng(1)
    with (folder / "weights").open("wb") as file:
        for _ in range(step.layout.chunks):
            file.write(rng.integers(-(2**25), 2**25, CHUNK).astype("<i4").data)
    placed = []
    for at in range(members):
        header, payload = _contribution(step, rng, at)
        path = folder / f"payload-{at}"
        path.write_bytes(payload)
        placed.append((header, path))
    return placed


def _contribution(step: OuterStep, rng: np.random.Generator, at: int) -> tuple[bytes, bytes]:
    shape, payload = step.params.shape, _payload(step, rng)
    header = ContributionHeader(
        algorithm=1,
        bits=shape.bits,
        k=shape.k,
        inner_steps=1,
        chunk_count=step.layout.chunks,
        round=1,
        window_first=at,
        window_count=1,
        tokens=2048,
        run_id=step.run_id,
        base_head=step.parent,
        trainer=PeerKey(bytes(32)),
        payload_root=payload_root(payload, shape),
    )
    return header.pack(), payload


def _payload(step: OuterStep, rng: np.random.Generator) -> bytes:
    """Random indices, and signs that mostly agree, so that every member passes the filter."""
    parts = []
    for first in range(0, step.layout.chunks, 1024):
        count = min(1024, step.layout.chunks - first)
        parts.append(encode_records(_records(step, rng, count), step.params.shape))
    return b"".join(parts)


def _records(step: OuterStep, rng: np.random.Generator, count: int) -> Records:
    shape = step.params.shape
    if shape.is_dense:
        places = np.broadcast_to(np.arange(CHUNK), (count, CHUNK))
        size = rng.integers(1, 128, places.shape)
    else:
        draw = np.sort(rng.integers(0, CHUNK - shape.k + 1, (count, shape.k)), axis=1)
        places = draw + np.arange(shape.k)
        size = rng.integers(2, 4, places.shape)
    trend = np.where(np.arange(CHUNK) * 2_654_435_761 >> 7 & 1, 1, -1)[places]
    signs = np.where(rng.random(places.shape) < LEANING, trend, -trend)
    return Records(
        scales=rng.integers(80, 96, count).astype(np.uint8),
        indices=places.astype(np.uint16),
        levels=(signs * size).astype(np.int8),
    )


def _print(title: str, numbers: dict[str, Any]) -> None:
    print(title)
    for name, value in numbers.items():
        print(f"  {name}: {value}")


if __name__ == "__main__":
    main()
