"""A witness tells honest contributions from cheats, all made by real training."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tequio_client.trainer import codecs, device, inner, model, screen
from tequio_client.trainer.data import TrainingData
from tequio_client.trainer.inner import Plan
from tequio_shared.contribution import Assignment, Expected, Header
from tequio_shared.ids import ZERO_DIGEST, HeadHash, PeerKey, RunId
from tequio_shared.records import RecordShape
from tests.client.trainer.small_run import CONFIG, SmallRun, small_run
from tests.client.trainer.watching import Patient

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SHAPE = RecordShape(algorithm="sparseloco", k=256, bits=2)
HONEST = 4


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"), steps=16)


@pytest.fixture(scope="module")
def deltas(long_run: SmallRun) -> list[NDArray[np.float32]]:
    """Pseudo-gradients of honest trainers, each on its own windows."""
    return [_delta(long_run, 16 * number) for number in range(HONEST)]


def _delta(run: SmallRun, first: int) -> NDArray[np.float32]:
    network = model.build(CONFIG)
    network.load(run.origin.master, run.origin.layout)
    training = TrainingData.open(
        run.corpus,
        [(shard.index, run.folder / f"train-{shard.index:05d}.tokens") for shard in run.shards],
        seed=0,
        window_samples=2,
    )
    plan = Plan.of([(first, 16)], 16)
    inner.train(network, training, plan, run.manifest.inner, device.choose("cpu"), Patient())
    delta = np.zeros(run.origin.layout.elements, np.float32)
    assert network.write_delta(run.origin.master, run.origin.layout, delta)
    return delta


def _candidate(
    run: SmallRun, folder: Path, slot: int, delta: NDArray[np.float32]
) -> screen.Candidate:
    algorithm = codecs.SparseLoCo(shape=SHAPE, feedback_decay=0.95)
    encoded = codecs.encode(algorithm, run.origin.layout, delta, None, torch.device("cpu"))
    path = folder / f"{slot}.payload"
    path.write_bytes(encoded.payload)
    key = PeerKey(bytes([slot + 1]) * 32)
    header = Header(
        algorithm=1,
        bits=2,
        k=256,
        inner_steps=16,
        chunk_count=run.origin.layout.chunks,
        round=1,
        window_first=0,
        window_count=16,
        tokens=16 * 64,
        run_id=RunId(ZERO_DIGEST),
        base_head=HeadHash(ZERO_DIGEST),
        trainer=key,
        payload_root=encoded.payload_root,
    )
    expected = Expected(
        shape=SHAPE,
        chunks=run.origin.layout.chunks,
        run_id=RunId(ZERO_DIGEST),
        round=1,
        base_head=HeadHash(ZERO_DIGEST),
        assigned={key: Assignment(first=0, count=16)},
        window_tokens=64,
        max_inner_steps=500,
    )
    return screen.Candidate(slot=slot, header=header.pack(), payload=path, expected=expected)


def _screened(
    run: SmallRun, folder: Path, deltas: list[NDArray[np.float32]]
) -> tuple[screen.Measured, ...]:
    candidates = [_candidate(run, folder, slot, delta) for slot, delta in enumerate(deltas)]
    return screen.screen(candidates, deltas[0])


def test_honest_contributions_pass(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], tmp_path: Path
) -> None:
    measured = _screened(long_run, tmp_path, deltas)
    assert [one.reason for one in measured] == [""] * HONEST
    assert all(0.5 < (one.norm_ratio or 0) < 1.5 for one in measured)
    assert all((one.cosine or 0) > 5 * screen.COSINE_LEAST for one in measured)
    assert all((one.overlap or 0) < screen.OVERLAP_MOST for one in measured)


@pytest.mark.parametrize(
    ("cheat", "reason"),
    [("flipped", "cosine"), ("random", "cosine"), ("tripled", "norm"), ("copied", "copy")],
)
def test_a_cheat_among_honest_ones_is_named(
    long_run: SmallRun,
    deltas: list[NDArray[np.float32]],
    tmp_path: Path,
    cheat: str,
    reason: str,
) -> None:
    noise = np.random.default_rng(5).permutation(deltas[3])
    forged = {
        "flipped": -deltas[3],
        "random": noise,
        "tripled": 3 * deltas[3],
        "copied": deltas[1],
    }[cheat]
    measured = _screened(long_run, tmp_path, [*deltas[:3], forged])
    assert [one.reason for one in measured] == ["", "", "", reason]


def test_broken_bytes_are_named_by_their_rule_and_do_not_count_in_the_median(
    long_run: SmallRun, deltas: list[NDArray[np.float32]], tmp_path: Path
) -> None:
    good = [_candidate(long_run, tmp_path, slot, delta) for slot, delta in enumerate(deltas)]
    torn = good[1].payload.read_bytes()
    good[1].payload.write_bytes(torn[:-1] + bytes([torn[-1] ^ 1]))
    good[2].payload.unlink()
    short = dataclasses.replace(good[3], header=good[3].header[:-1])
    measured = screen.screen([good[0], good[1], good[2], short], None)
    assert [one.reason for one in measured] == ["", "payload_root", "unreadable", "length"]
    assert (measured[0].norm_ratio, measured[0].cosine) == (1.0, None)
