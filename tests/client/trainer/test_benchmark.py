"""Measuring a device: the real program, and what it says of a device that is not there."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ipc.trainer import Rest, Resting
from tequio_client.trainer.benchmark import measure_speed
from tequio_client.worker.children.trainer import (
    TrainerFailedError,
    TrainerProcess,
    benchmark_child,
    run_benchmark,
    trainer_program,
)
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_TORCH = (
    sys.executable,
    "-c",
    "import runpy, sys; sys.modules['torch'] = None; "
    "runpy.run_module('tequio_client.trainer', run_name='__main__')",
)
"""The trainer's command as where torch is not installed: an import of None fails the same way."""
FAILING = (
    sys.executable,
    "-c",
    "import runpy, sys, types\n"
    "def measure_speed(device): raise RuntimeError('CUDA error: out of memory')\n"
    "sys.modules['tequio_client.trainer.benchmark'] = types.SimpleNamespace(**globals())\n"
    "runpy.run_module('tequio_client.trainer', run_name='__main__')",
)
"""The trainer's command, on a device whose driver fails in the measurement."""
WAY_OUT = "torch is not installed here: install Tequio with its extra 'client'"
PATIENCE_S = 60


def test_a_measurement_gives_a_pace() -> None:
    found = measure_speed("cpu", warm_s=0, measure_s=0.1)
    assert found.device == "cpu"
    assert found.tokens_per_s > 0


@pytest.mark.trio
async def test_a_device_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="device cuda:99 was not found"):
        await run_benchmark(benchmark_child(tmp_path, "cuda:99"), "cuda:99")


@pytest.mark.trio
async def test_a_measurement_without_torch_names_what_to_install(tmp_path: Path) -> None:
    child = benchmark_child(tmp_path, "cpu", (*WITHOUT_TORCH, "benchmark"))
    with pytest.raises(RefusedError, match=WAY_OUT):
        await run_benchmark(child, "cpu")


@pytest.mark.trio
async def test_a_measurement_that_fails_says_why(tmp_path: Path) -> None:
    child = benchmark_child(tmp_path, "cpu", (*FAILING, "benchmark"))
    with pytest.raises(RefusedError, match="measured: RuntimeError: CUDA error: out of memory"):
        await run_benchmark(child, "cpu")


@pytest.mark.trio
async def test_a_trainer_without_torch_is_given_up_and_names_what_to_install(
    tmp_path: Path,
) -> None:
    program = replace(trainer_program(tmp_path), command=WITHOUT_TORCH, first_pause_s=0.01)
    trainer = TrainerProcess(program)
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.run)
            with pytest.raises(TrainerFailedError, match=WAY_OUT):
                await trainer.ask(lambda number: Rest(command=number), Resting)
            nursery.cancel_scope.cancel()
