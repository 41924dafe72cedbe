"""Figures or a reason reach whoever asked, whatever the measuring child says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.control import Benchmark
from tequio_client.worker.children import trainer
from tequio_client.worker.children.trainer import measured
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.trio
FIGURES = Benchmark(device="cpu", tokens_per_s=1_234.5)
SAYS = 'print(\'{"type":"benchmark","device":"cpu","tokens_per_s":1234.5}\')'


@pytest.fixture(autouse=True)
def child(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    command = (sys.executable, "-S", "-c", f"import os, sys\n{request.param}")
    monkeypatch.setattr(trainer, "BENCHMARK", command)


@pytest.mark.parametrize(
    "child",
    [
        SAYS,
        f"print('a library greets')\nprint('x' * 300_000)\n{SAYS}",
        f"sys.stderr.write('y' * 300_000)\n{SAYS}",
    ],
    ids=["alone", "after noise", "with noise beside it"],
    indirect=True,
)
async def test_figures_are_found_whatever_is_printed_before(tmp_path: Path) -> None:
    assert await measured("cpu", tmp_path) == FIGURES


@pytest.mark.parametrize(
    ("child", "why"),
    [
        ("", "no figures"),
        ("print('[' * 60_000)", "no figures"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe')", "no figures"),
        ('print(\'{"type":"benchmark","device":"cpu"}\')', "no figures"),
        ("sys.exit('first\\nno such\\x1b[2J device ' + 9_000 * 'x')", "no such \\[2J device x"),
        ("sys.exit(3)", "no reason given"),
    ],
    ids=["nothing", "deep", "bytes", "incomplete", "refusal", "silence"],
    indirect=["child"],
)
async def test_anything_else_is_a_reason(tmp_path: Path, why: str) -> None:
    with pytest.raises(RefusedError, match=why) as refusal:
        await measured("cpu", tmp_path)
    assert len(str(refusal.value)) < 1_200


@pytest.mark.parametrize(
    "child", ["while True: os.write(1, bytes(65536))", "while True: pass"], indirect=True
)
async def test_what_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "MEASURE_S", 0.5)
    with pytest.raises(RefusedError, match="gave no figures"):
        await measured("cpu", tmp_path)
