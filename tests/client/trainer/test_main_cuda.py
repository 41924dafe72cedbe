"""A real trainer on a CUDA device, which no other machine can show: `make test-gpu` runs it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tequio_client.ipc import trainer
from tequio_shared.head.contribution import ContributionHeader, RecordShape, payload_root
from tequio_shared.ids import from_text
from tests.client.trainer.conftest import INTERPRETED, Child

if TYPE_CHECKING:
    from tests.client.trainer.small_run import SmallRun


pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
SLACK_BYTES = 64 << 20
FREED_S = 10.0


def used_bytes() -> int:
    """Memory of device 0 in use by any process, as the driver counts it."""
    free, total = torch.cuda.mem_get_info(0)
    return total - free


def on_cuda(run: SmallRun) -> Child:
    child = Child(INTERPRETED)
    child.send(run.prepare(1, device="cuda"))
    return child


def test_a_round_is_trained_in_bfloat16_and_every_engine_makes_the_same_head_of_it(
    run: SmallRun,
) -> None:
    heads = set()
    child = on_cuda(run)
    ready = child.until(trainer.TrainerReady)
    assert ready.device.startswith("cuda")
    assert ready.precision == "bfloat16"
    task = run.train(2, "cuda")
    child.send(task)
    trained = child.until(trainer.Trained)
    header = ContributionHeader.parse(from_text(trained.header, None))
    shape = RecordShape(algorithm="sparseloco", k=256, bits=2)
    assert header.payload_root == payload_root(Path(task.payload_out).read_bytes(), shape)
    assert trained.loss_last < trained.loss_first
    member = trainer.Contribution(header=trained.header, payload=task.payload_out)
    for number, device in enumerate(("cuda", "cpu")):
        child.send(run.prepare(10 + number, device=device))
        child.until(trainer.TrainerReady)
        out = run.folder / f"{device}.weights"
        child.send(
            trainer.Advance(
                command=20 + number,
                round=1,
                run=run.run,
                parent=run.head,
                k=256,
                weights=run.weights,
                weights_out=str(out),
                contributions=(member,),
            )
        )
        heads.add(child.until(trainer.AdvanceReport).head)
    assert child.end() == 0
    assert len(heads) == 1
    assert np.array_equal(
        np.fromfile(run.folder / "cuda.weights", "<i4"),
        np.fromfile(run.folder / "cpu.weights", "<i4"),
    )


def test_the_device_is_free_again_when_the_trainer_ends(run: SmallRun) -> None:
    before = used_bytes()
    child = on_cuda(run)
    child.until(trainer.TrainerReady)
    child.send(run.train(2, "freed"))
    child.until(trainer.Trained)
    assert used_bytes() > before + SLACK_BYTES
    assert child.end() == 0
    deadline = time.monotonic() + FREED_S
    while used_bytes() > before + SLACK_BYTES:
        assert time.monotonic() < deadline, "memory of the device is still taken"
        time.sleep(0.1)
