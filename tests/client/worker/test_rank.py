"""A cell over several computers: ranks of the real command, by the variables of torchrun."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest
import trio
from click.testing import CliRunner
from msgspec.structs import replace

from tequio_client.demo.programs import free_port
from tequio_client.ipc import trainer
from tequio_client.ipc.cell import AWAY_STATUS, CellPlace
from tequio_client.trainer import device
from tequio_client.trainer.cell import RankLostError
from tequio_client.trainer.ranks import CellStore
from tequio_client.worker import cli
from tequio_client.worker.children.process import ChildProgram
from tequio_client.worker.rank import keep_rank
from tequio_shared.errors import UserFacingError
from tests.client.trainer.small_run import small_run
from tests.support.cell_ranks import first_rank, until_it_trains
from tests.support.forked_program import STRICT, ForkedProgram
from tests.support.scripted_child import lives, scripted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.client.trainer.conftest import Child
    from tests.client.trainer.small_run import SmallRun

WINDOWS = ((0, 40),)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"))


@contextmanager
def worker(folder: Path, port: int, rank: int, size: int) -> Iterator[ForkedProgram]:
    """The command that a cluster starts on another computer."""
    variables = {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(port),
    }
    ledger = ("--ledger", "http://127.0.0.1:9")  # the same command everywhere; only rank 0 uses it
    options = ("--cell", "env", "--device", "cpu", "--dir", str(folder))
    process = ForkedProgram(STRICT, "worker", *ledger, *options, env={**os.environ, **variables})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def failed(child: Child) -> trainer.Failed:
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    return report


def test_a_rank_elsewhere_trains_and_joins_the_next_cell_after_it_was_killed(
    run: SmallRun, tmp_path: Path
) -> None:
    port = free_port()
    with worker(tmp_path / "other", port, 1, 2) as other:
        with first_rank(2, port) as cell:
            cell.send(run.prepare(1))
            cell.until(trainer.TrainerReady)
            cell.send(run.train(2, "lost", windows=((0, 60_000),)))
            until_it_trains(cell)
            (rank,) = psutil.Process(other.pid).children()
            rank.send_signal(signal.SIGKILL)
            assert failed(cell).code == "cell"
        with first_rank(2, port) as cell:
            cell.send(run.prepare(1))
            cell.until(trainer.TrainerReady)
            cell.send(run.train(2, "next", windows=WINDOWS))
            assert cell.until(trainer.Trained).steps == 4
        assert other.poll() is None
    assert other.returncode == 0, "a signal ends it in order"
    assert not (tmp_path / "other" / "identity.key").exists(), "only rank 0 has a key"


def test_a_rank_elsewhere_that_ends_before_its_hello_is_started_again_into_the_same_cell(
    run: SmallRun, tmp_path: Path
) -> None:
    place = CellPlace(rank=1, size=2, device="cpu", port=free_port())
    with first_rank(2, place.port) as cell:
        cell.send(run.prepare(1))
        CellStore.open(place)  # all that rank 1 did
        with worker(tmp_path / "other", place.port, 1, 2):
            cell.until(trainer.TrainerReady)


def test_a_rank_elsewhere_that_fails_before_its_hello_ends_the_cell_and_its_reason_is_told(
    run: SmallRun,
) -> None:
    place = CellPlace(rank=1, size=2, device="cpu", port=free_port())
    with first_rank(2, place.port) as cell:
        cell.send(run.prepare(1))
        CellStore.open(place).put("failed", "rank 1: no CUDA device")
        report = failed(cell)
    assert (report.code, report.fatal) == ("cell", True)
    assert report.reason == "the cell ended: rank 1: no CUDA device"


FULL = """
import sys, torch
from tequio_client.ipc.cell import decode_place
from tequio_client.trainer import prepared, ranks

def prepare_model(*_):
    raise {error}

prepared.prepare_model = prepare_model
ranks.follow(decode_place(sys.argv[1]))
"""
"""A rank that lacks room in this moment."""


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("torch.OutOfMemoryError('CUDA out of memory')", "OutOfMemoryError: CUDA out of memory"),
        ("OSError(28, 'No space left on device')", "No space left on device"),
    ],
)
def test_a_rank_elsewhere_that_lacks_room_ends_the_cell_and_not_the_program_of_rank_0(
    run: SmallRun, error: str, why: str
) -> None:
    place = CellPlace(rank=1, size=2, device="cpu", port=free_port())
    words = (sys.executable, "-c", FULL.format(error=error), place.encode())
    full = subprocess.Popen(words, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"})
    with full, first_rank(2, place.port) as cell:
        cell.send(run.prepare(1))
        report = failed(cell)
    assert (report.code, report.fatal) == ("cell", True), "the worker starts rank 0 again"
    assert report.reason.startswith("the cell ended: rank 1 failed: ")
    assert why in report.reason


def test_a_second_process_of_a_rank_does_not_join_its_cell(run: SmallRun) -> None:
    place = CellPlace(rank=1, size=3, device="cpu", port=free_port())
    cpu = device.open_device("cpu")
    with first_rank(3, place.port) as cell:
        cell.send(run.prepare(1))
        one, other = CellStore.open(place), CellStore.open(replace(place, division="shard"))
        one.join(cpu)
        with pytest.raises(RankLostError, match="another process has joined the cell as rank 1"):
            other.join(cpu)


def test_ranks_of_cells_of_different_sizes_are_refused(run: SmallRun, tmp_path: Path) -> None:
    port = free_port()
    with worker(tmp_path / "other", port, 1, 4), first_rank(2, port) as cell:
        cell.send(run.prepare(1))
        report = failed(cell)
    assert (report.code, report.fatal) == ("device", True)
    assert "was started for a cell of 4 ranks" in report.reason
    assert "WORLD_SIZE" in report.reason


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--shard",), "--shard divides a model among the devices of --cell: name them"),
        (("--pipeline",), "--pipeline divides a model among the devices of --cell: name them"),
        (("--tensor",), "--tensor divides a model among the devices of --cell: name them"),
        (("--cell", "cpu,cpu", "--shard", "--pipeline"), "--shard and --pipeline exclude each"),
        (("--cell", "cpu,cpu", "--tensor", "--shard"), "--shard and --tensor exclude each"),
    ],
)
def test_options_that_divide_a_model_need_a_cell_and_exclude_each_other(
    options: Sequence[str], why: str
) -> None:
    result = CliRunner().invoke(cli.worker, ["--ledger", "http://127.0.0.1:9", *options])
    assert result.exit_code == 2
    assert why in result.output


def test_a_port_in_use_is_named(run: SmallRun) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with first_rank(2, port) as cell:
            cell.send(run.prepare(1))
            report = failed(cell)
    assert (report.code, report.fatal) == ("input", True)
    assert report.reason.startswith(f"port {port} of 127.0.0.1 is in use: stop the other cell")


@pytest.mark.trio
async def test_a_rank_is_started_again_until_rank_0_stays_away(tmp_path: Path) -> None:
    place = CellPlace(rank=1, size=2, device="cpu", address="192.0.2.1", port=29_500)
    program = ChildProgram(
        command=scripted(tmp_path, f"sys.exit(1 if life < 2 else {AWAY_STATUS})"),
        environment={"PATH": os.environ["PATH"]},
        line_bytes=1_000,
        first_pause_s=0.01,
    )
    with trio.fail_after(20), pytest.raises(UserFacingError, match=r"192\.0\.2\.1:29500"):
        await keep_rank(program, place)
    assert lives(tmp_path) == 3
