"""Measuring a device: the real program, and what it says of a device that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.trainer.inner import measure_speed
from tequio_client.worker.children.trainer import run_benchmark
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_measurement_gives_a_pace() -> None:
    found = measure_speed("cpu", warm_s=0, measure_s=0.1)
    assert found.device == "cpu"
    assert found.tokens_per_s > 0


@pytest.mark.trio
async def test_a_device_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="device cuda:99 was not found"):
        await run_benchmark("cuda:99", tmp_path)
