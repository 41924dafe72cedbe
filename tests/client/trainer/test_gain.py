"""Loss gains by a real trainer process: positive for work on the windows, and never late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import torch

from tequio_client.ipc import trainer
from tequio_client.trainer import gain, prepared, tasks
from tequio_client.trainer.token_loss import TokenLoss
from tequio_shared.limits import GAIN_MOST

if TYPE_CHECKING:
    import pytest

    from tests.client.trainer.conftest import Child
    from tests.client.trainer.small_run import SmallRun

FAR = (300, 301)
"""Windows on which nobody trains."""


def trained(run: SmallRun, child: Child, command: int) -> trainer.Train:
    """Train on window 0 alone, and leave the payload."""
    child.send(run.prepare(command))
    child.until(trainer.TrainerReady)
    task = run.train(command + 1, "gain", windows=((0, 1),))
    child.send(task)
    child.until(trainer.Trained)
    return task


def measuring(
    run: SmallRun, task: trainer.Train, *windows: tuple[int, ...], stop_after_ms: int = 60_000
) -> trainer.MeasureGains:
    """Measure the payload, once for each of these windows."""
    return trainer.MeasureGains(
        command=task.command + 1,
        round=1,
        weights=run.weights,
        k=task.k,
        shards=run.shards,
        slots=tuple(
            trainer.MeasuredSlot(slot=slot, payload=task.payload_out, windows=some)
            for slot, some in enumerate(windows)
        ),
        control=FAR,
        stop_after_ms=stop_after_ms,
    )


def test_training_shows_on_its_windows_and_nowhere_else(run: SmallRun, child: Child) -> None:
    task = trained(run, child, 1)
    command = measuring(run, task, (0,), (20, 21), FAR)
    child.send(command)
    found = child.until(trainer.GainsMeasured).gains
    own, other, same = (gain for _, gain in found)
    assert 1_000 < own < GAIN_MOST
    assert abs(other) < own // 2
    assert same == 0  # the same windows on both sides
    child.send(msgspec.structs.replace(command, command=4))
    assert child.until(trainer.GainsMeasured).gains == found


class OnAMac(torch.Tensor):
    """Losses on a device without float64."""

    def double(self) -> torch.Tensor:
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype")

    def cpu(self, memory_format: torch.memory_format = torch.preserve_format) -> torch.Tensor:
        return self.as_subclass(torch.Tensor).cpu(memory_format=memory_format)


def test_losses_of_a_device_without_float64_are_added_up(
    run: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepared.prepare_model(run.prepare(21))
    context = gain.GainContext(
        model=setup.model,
        layout=setup.layout,
        params=setup.manifest.outer_params(1, 64),
        master=setup.map_master(run.weights),
        data=tasks._training_data(setup, run.shards),  # noqa: SLF001 - as a task reads it
        batch=setup.batch,
        check=lambda: None,
    )
    setup.model.load(context.master, setup.layout)
    expected = gain.window_losses(context, FAR)
    real = TokenLoss.losses
    monkeypatch.setattr(TokenLoss, "losses", lambda *given: real(*given).as_subclass(OnAMac))
    assert gain.window_losses(context, FAR).tolist() == expected.tolist()


def test_slots_are_measured_in_their_order_while_there_is_time(run: SmallRun, child: Child) -> None:
    task = trained(run, child, 11)
    child.send(measuring(run, task, (0, 1), (4, 5), stop_after_ms=1))
    ((slot, _),) = child.until(trainer.GainsMeasured).gains
    assert slot == 0
