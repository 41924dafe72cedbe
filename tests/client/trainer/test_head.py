"""Every engine, streaming through files, gives the heads of the vectors and of the reference.

The accelerator's engine runs on torch's CPU device here; on CUDA the test marked so does the same.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import tequio_client
from tequio_client.trainer.device import AcceleratorEngine
from tequio_client.trainer.engines import Block, Engine, ReferenceEngine
from tequio_client.trainer.head import (
    ComputedHead,
    HeadFiles,
    NewArray,
    PayloadFiles,
    compute_next_head,
    engine_for,
)
from tequio_client.trainer.kernels import CompiledEngine
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head import head
from tequio_shared.head.contribution import (
    LEVELS,
    ContributionHeader,
    Records,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import OuterParams, OuterStep
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import Digest, HeadHash, PeerKey, RunId
from tests.support import head_vectors as vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.support.head_vectors import HeadCase

# Distro has no compiled kernels: the reference engine computes it (engine_for).
ENGINES: dict[str, Callable[[OuterParams], Engine]] = {
    "reference": ReferenceEngine,
    "compiled": CompiledEngine,
    "torch": lambda params: AcceleratorEngine(params, "cpu"),
}
PAIRS = [
    (name, kind)
    for name in vectors.NAMES
    for kind in ENGINES
    if (name, kind) != ("7-distro", "compiled")
]


def put(
    folder: Path,
    weights: NDArray[np.int32],
    aux: NDArray[Any] | None,
    contributions: tuple[tuple[bytes, bytes], ...],
) -> tuple[HeadFiles, list[tuple[bytes, Path]]]:
    """Write everything that a step reads."""
    weights.tofile(folder / "weights")
    if aux is not None:
        aux.tofile(folder / "aux")
    placed = []
    for at, (header, payload) in enumerate(contributions):
        path = folder / f"payload-{at}"
        path.write_bytes(payload)
        placed.append((header, path))
    files = HeadFiles(
        weights_in=folder / "weights",
        weights_out=folder / "weights-out",
        aux_in=None if aux is None else folder / "aux",
        aux_out=None if aux is None else folder / "aux-out",
    )
    return files, placed


def advance(
    case: HeadCase, folder: Path, engine: Engine, *, threads: int = 1, seed: int | None = None
) -> tuple[ComputedHead, set[str]]:
    """Advance a case through files, in an order of arrival given by the seed; and who was kept."""
    order = list(range(len(case.contributions)))
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(order)).tolist()
    shuffled = tuple(case.contributions[at] for at in order)
    files, placed = put(folder, case.weights, case.aux, shuffled)
    made = compute_next_head(
        step=case.step, contributions=placed, files=files, engine=engine, threads=threads
    )
    return made, {case.name(order[at]) for at in made.kept}


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_every_engine_gives_the_vectors_head(name: str, kind: str, tmp_path: Path) -> None:
    case = vectors.load(name)
    made, kept = advance(case, tmp_path, ENGINES[kind](case.step.params))
    want = case.expected
    assert made.head.hex() == want["head"]
    assert made.weights_root.hex() == want["weights_after_root"]
    assert made.aux_root.hex() == want["aux_after_root"]
    assert made.set_root.hex() == want["set_root"]
    assert kept == set(want["kept"])
    written = np.fromfile(tmp_path / "weights-out", "<i4")
    assert vectors.sha256_hex(written, "<i4") == want["weights_after_sha256"]
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_neither_arrival_nor_threads_show(name: str, kind: str, tmp_path: Path) -> None:
    case = vectors.load(name)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for seed in range(3):
                engine = ENGINES[kind](case.step.params)
                made, kept = advance(case, tmp_path, engine, threads=threads, seed=seed)
                assert made.head.hex() == case.expected["head"]
                assert kept == set(case.expected["kept"])
    finally:
        torch.set_num_threads(before)


def random_step(algorithm: str, seed: int, **changes: Any) -> tuple[OuterStep, list[Any]]:  # noqa: ANN401  (any parameter)
    """Make a step over a few leaves with padding, 7 members, two opposed; and its inputs."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, dict[str, Any]] = {
        "sparseloco": {"k": 64, "bits": 2, "layout": "flat"},
        "diloco": {"k": 4096, "bits": 8, "layout": "flat"},
        "distro": {"k": 16, "bits": 1, "layout": "tile64"},
    }
    fields = {"algorithm": algorithm, "alpha_q": 700_001, "lambda_q": 1000, "z2": 16}
    params = OuterParams(**{**fields, **shapes[algorithm], **changes})
    tensors = [("a", (700, 301)), ("b", (3, 64, 64)), ("c", (1001,)), ("d", (640, 640))]
    layout = WeightLayout.of(tensors, params.layout)
    weights = rng.integers(-(2**31), 2**31, layout.elements).astype(np.int32)
    padding = layout.padding(0, layout.chunks)
    padding.blank(weights)
    aux = None
    if params.aux_dtype is not None:
        aux = rng.integers(-(2**30), 2**30, layout.elements).astype(params.aux_dtype)
        padding.blank(aux)
    step = OuterStep(
        run_id=RunId(bytes(32)), round=9, parent=HeadHash(bytes(32)), layout=layout, params=params
    )
    made = [contribution(step, rng, trend=1 if at < 5 else -1, at=at) for at in range(7)]
    return step, [weights, aux, tuple(made)]


def contribution(
    step: OuterStep, rng: np.random.Generator, *, trend: int, at: int
) -> tuple[bytes, bytes]:
    """Make a contribution whose signs lean towards `trend`."""
    shape, chunks = step.params.shape, step.layout.chunks
    scales = rng.integers(0, shape.largest_scale + 1, chunks).astype(np.uint8)
    positive = rng.random((chunks, shape.k)) < 0.5 + 0.2 * trend
    if shape.is_dense:
        levels = np.where(positive, 1, -1) * rng.integers(1, 128, (chunks, shape.k))
        indices = np.broadcast_to(np.arange(CHUNK), (chunks, CHUNK))
    else:
        table = LEVELS[shape.bits]
        levels = np.where(positive, 1, -1) * rng.choice(table[table > 0], (chunks, shape.k))
        # half of 2k places that all members share, so that their entries meet
        places = np.argsort(rng.random((chunks, 2 * shape.k)), axis=1)[:, : shape.k]
        indices = np.sort(places, axis=1) * (CHUNK // (2 * shape.k))
    records = Records(
        scales=scales, indices=indices.astype(np.uint16), levels=levels.astype(np.int8)
    )
    payload = encode_records(records, shape)
    header = ContributionHeader(
        algorithm=1,
        bits=shape.bits,
        k=shape.k,
        inner_steps=1,
        chunk_count=chunks,
        round=step.round,
        window_first=at,
        window_count=1,
        tokens=int(rng.integers(1, 10**6)),
        run_id=step.run_id,
        base_head=step.parent,
        trainer=PeerKey(bytes(32)),
        payload_root=payload_root(payload, shape),
    )
    return header.pack(), payload


@pytest.mark.parametrize(
    ("algorithm", "changes"),
    [
        *(("sparseloco", {"k": k, "bits": bits}) for k, bits in [(8, 4), (16, 2), (64, 2)]),
        *(("sparseloco", {"k": k, "bits": bits}) for k, bits in [(32, 1), (128, 4), (512, 1)]),
        ("sparseloco", {"down_k": 64}),
        ("sparseloco", {"z2": 0, "alpha_q": 1 << 22}),
        ("diloco", {}),
        ("diloco", {"mu_q": 32_440, "alpha_q": 1 << 22}),
        ("diloco", {"down_k": 8}),
        ("distro", {}),
    ],
)
def test_all_engines_agree_with_the_reference(
    algorithm: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    step, (weights, aux, contributions) = random_step(algorithm, seed=11, **changes)
    want = head.advance(step, weights, aux, contributions)
    assert len(want.kept) == (7 if step.params.z2 == 0 else 5)
    files, placed = put(tmp_path, weights, aux, contributions)
    for kind, make in ENGINES.items():
        if (algorithm, kind) == ("distro", "compiled"):
            continue
        engine = make(step.params)
        made = compute_next_head(
            step=step, contributions=placed, files=files, engine=engine, threads=2
        )
        assert made.head == want.hash, kind
        assert made.kept == want.kept, kind


def test_a_device_has_one_block_at_a_time_whatever_the_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, (weights, aux, contributions) = random_step("diloco", seed=11)
    assert step.layout.chunks > 64, "two blocks"
    files, placed = put(tmp_path, weights, aux, contributions)
    second, real = threading.Barrier(2), AcceleratorEngine._decode  # noqa: SLF001 - on the device

    def decode(engine: AcceleratorEngine, *given: Any) -> Any:  # noqa: ANN401 - as the real one
        with pytest.raises(threading.BrokenBarrierError):  # nobody else came in the meantime
            second.wait(0.05)
        return real(engine, *given)

    monkeypatch.setattr(AcceleratorEngine, "_decode", decode)
    engine = AcceleratorEngine(step.params, "cpu")
    compute_next_head(step=step, contributions=placed, files=files, engine=engine, threads=2)


def test_chunks_that_are_no_block_of_their_own_are_aligned(tmp_path: Path) -> None:
    """Aux leaves are half as many chunks as weight leaves: they too must begin where blocks do."""
    step, (weights, _, contributions) = random_step("sparseloco", seed=3, down_k=16)
    want = head.advance(step, weights, None, contributions)
    files, placed = put(tmp_path, weights, np.zeros(weights.size, np.int64), contributions)
    files = dataclasses.replace(files, aux_in=None)
    made = compute_next_head(
        step=step, contributions=placed, files=files, engine=ReferenceEngine(step.params)
    )
    assert (made.head, made.aux_root) == (want.hash, want.aux_root)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@pytest.mark.parametrize("name", vectors.NAMES)
def test_a_cuda_device_gives_the_vectors_head(name: str, tmp_path: Path) -> None:
    case = vectors.load(name)
    made, _ = advance(case, tmp_path, AcceleratorEngine(case.step.params, "cuda"))
    assert made.head.hex() == case.expected["head"]


def test_more_payloads_than_may_be_open_are_read_all_the_same(tmp_path: Path) -> None:
    case = vectors.load("4-empty-chunks")
    _, placed = put(tmp_path, case.weights, case.aux, case.contributions)
    paths, chunks = [path for _, path in placed], case.step.layout.chunks
    mapped = PayloadFiles(paths, case.step.params.shape, chunks)
    partly_mapped = PayloadFiles(paths, case.step.params.shape, chunks, open_files=1)
    assert len(paths) > 1
    with mapped, partly_mapped:
        for first in range(chunks):
            due = mapped.read(range(len(paths)), first, chunks)
            assert (partly_mapped.read(range(len(paths)), first, chunks) == due).all()


class _Failing:
    """An engine whose device goes away at the second block."""

    leaves = 1

    def __init__(self, params: OuterParams) -> None:
        self._real = ReferenceEngine(params)
        self._moves = 0
        self.agreement = self._real.agreement

    def move(self, block: Block, factors: Any) -> Any:  # noqa: ANN401  (as Engine)
        self._moves += 1
        if self._moves > 1:
            raise RuntimeError("device lost")
        return self._real.move(block, factors)


def test_a_step_that_fails_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    case = vectors.load("6-many-leaves")
    (tmp_path / "weights-out").write_bytes(b"older head")
    with pytest.raises(RuntimeError, match="device lost"):
        advance(case, tmp_path, _Failing(case.step.params))
    assert (tmp_path / "weights-out").read_bytes() == b"older head"
    assert not list(tmp_path.glob("*.part"))


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    case = vectors.load("1-plain")
    files, placed = put(tmp_path, case.weights, None, case.contributions)
    engine = ReferenceEngine(case.step.params)
    with pytest.raises(RefusedError):
        compute_next_head(step=case.step, contributions=[], files=files, engine=engine)
    wrong = dataclasses.replace(files, aux_out=tmp_path / "aux-out")
    with pytest.raises(RefusedError):
        compute_next_head(step=case.step, contributions=placed, files=wrong, engine=engine)
    placed[0][1].write_bytes(b"")
    with pytest.raises(MalformedError):
        compute_next_head(step=case.step, contributions=placed, files=files, engine=engine)
    files.weights_in.write_bytes(b"")
    with pytest.raises(RefusedError):
        compute_next_head(step=case.step, contributions=placed, files=files, engine=engine)


def test_an_array_with_a_missing_part_has_no_root(tmp_path: Path) -> None:
    array = NewArray(tmp_path / "a", 2 * 262_144, np.dtype("<i4"))
    array.write(0, np.zeros(262_144, np.int32))
    with pytest.raises(MalformedError):
        array.root()
    array.write(262_144, np.zeros(262_144, np.int32))
    assert array.root() == Digest(head.weights_root(np.zeros(2 * 262_144, np.int32)))


def test_the_engine_fits_model_and_device() -> None:
    small, _ = random_step("sparseloco", seed=1)
    large = dataclasses.replace(small, layout=WeightLayout.of([("a", (4096, 4096))], "flat"))
    assert isinstance(engine_for(small), ReferenceEngine)
    assert isinstance(engine_for(large), CompiledEngine)
    assert isinstance(engine_for(large, "mps"), CompiledEngine)
    assert isinstance(engine_for(random_step("distro", seed=1)[0]), ReferenceEngine)
    assert isinstance(engine_for(small, "meta"), AcceleratorEngine)


_SMALL_MODEL = """
import sys
import threading
from tequio_client.trainer.head import engine_for
from tequio_shared.head.head import OuterParams, OuterStep
from tequio_shared.head.layout import WeightLayout
params = OuterParams(algorithm="sparseloco", layout="flat", k=64, bits=2, alpha_q=1)
layout = WeightLayout.of([("a", (1024, 1024))], "flat")
step = OuterStep(run_id=bytes(32), round=1, parent=bytes(32), layout=layout, params=params)
engine_for(step)
print("numba" in sys.modules, "torch" in sys.modules)
"""


def test_a_small_model_loads_neither_numba_nor_torch() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _SMALL_MODEL], check=True, capture_output=True, text=True
    )
    assert ran.stdout.split() == ["False", "False"]


def test_kernels_are_cached_where_the_environment_says(tmp_path: Path) -> None:
    """The package's own folder may be read-only; nothing is written beside the source."""
    source = Path(tequio_client.__file__).parent / "trainer"
    before = {path.name for path in source.glob("__pycache__/kernels*.nb[ic]")}
    code = (
        "import numpy as np; from tequio_client.trainer import kernels as k;"
        "w = np.zeros(8, np.int32); k.apply_sum(np.zeros(8, np.int64), (w, w.copy()), (8, 0))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert list(tmp_path.rglob("kernels*.nbc"))
    assert {path.name for path in source.glob("__pycache__/kernels*.nb[ic]")} == before
