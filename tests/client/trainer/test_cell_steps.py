"""Steps of two ranks in two processes, with a cell and nothing else."""

from __future__ import annotations

import json
import multiprocessing
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest
import torch
import torch.distributed as dist

from tequio_client.trainer import inner
from tequio_client.trainer.cell import Cell
from tequio_client.trainer.device import BatchSize, open_device
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.main import TaskReplacedError
from tequio_client.trainer.model import build_random, sketch
from tequio_client.trainer.sharding import ShardedModel
from tequio_client.trainer.token_loss import TokenLoss
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import CONFIG, SEQUENCE
from tests.client.trainer.watching import UninterruptedControl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    Numbers = NDArray[np.float64]

PATIENCE_S = 120.0
DECAYING = InnerParams(decay_e6=100_000)
RANKS = 2


def rank_main(rank: int, file: str, work: Callable[[Cell], Numbers]) -> None:
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=RANKS)
    np.save(f"{file}-{rank}.npy", work(Cell(rank, RANKS)))
    dist.barrier()
    dist.destroy_process_group()


def in_cell(folder: Path, work: Callable[[Cell], Numbers]) -> list[Numbers]:
    """Run the work on each rank; returns its results."""
    spawn = multiprocessing.get_context("spawn")
    file = str(folder / "meeting")
    ranks = [spawn.Process(target=rank_main, args=(rank, file, work)) for rank in range(RANKS)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(PATIENCE_S)
        one.kill()
    assert [one.exitcode for one in ranks] == [0] * RANKS
    return [np.load(f"{file}-{rank}.npy") for rank in range(RANKS)]


def samples() -> Tensor:
    chance = torch.Generator().manual_seed(3)
    return torch.randint(0, 256, (5, SEQUENCE + 1), generator=chance)


def two_steps(cell: Cell) -> Numbers:
    """The losses of two steps of a small model, and the weights after them."""
    model = build_random(CONFIG, 1)
    batch = BatchSize(SEQUENCE, open_device("cpu"), cell)
    optimiser, losses = inner.Optimiser(model, InnerParams(), cell), []
    for _ in range(2):
        losses.append(inner.compute_gradients(model, samples(), batch, lambda: None))
        optimiser.step()
    weights = [one.detach().flatten().numpy() for one in model.parameters.values()]
    return np.concatenate([losses, *weights])


def out_of_memory_once(cell: Cell) -> Numbers:
    """The same, where one rank finds no room for its first batch."""
    real, met = TokenLoss.backward, list[int]()

    def backward(losses: TokenLoss, part: Tensor, scale: float) -> Tensor:
        if cell.rank == 1 and not met:
            met.append(len(part))
            raise torch.OutOfMemoryError("no room for a batch")
        return real(losses, part, scale)

    with mock.patch.object(TokenLoss, "backward", backward):
        found = two_steps(cell)
    assert len(met) == cell.rank
    return found


def replaced(cell: Cell) -> Numbers:
    """A task that is replaced on rank 0, in a batch and between two steps."""

    def check() -> None:
        if cell.rank == 0:
            raise TaskReplacedError("another task is in force")

    def should_stop() -> bool:
        raise TaskReplacedError("another task is in force")

    model = build_random(CONFIG, 1)
    batch = BatchSize(SEQUENCE, open_device("cpu"), cell)
    with pytest.raises(TaskReplacedError) as caught:
        inner.compute_gradients(model, samples(), batch, check)
    assert caught.value is cell.common_error
    with pytest.raises(TaskReplacedError):
        cell.decide(should_stop)
    return np.array([cell.decide(lambda: True)])


TIED = json.dumps({**json.loads(CONFIG), "tie_word_embeddings": True}).encode()


def two_sharded_steps(cell: Cell) -> Numbers:
    """Two steps of a divided network with tied embeddings and weight decay: rank 0's weights."""
    whole, plan, recipe = build_random(TIED, 1), StepPlan(windows=(0, 1), steps=2), DECAYING
    if cell.size == 1:
        batch = BatchSize(SEQUENCE, open_device("cpu"))
        inner.train(whole, MadeUp(), plan, recipe, batch, UninterruptedControl())
    else:
        network = sketch(TIED).network
        assert isinstance(network, Llama)
        sharded = ShardedModel(network, cell, open_device("cpu"))
        sharded.load(whole)
        sharded.train(MadeUp(), plan, recipe, UninterruptedControl())
        sharded.store(whole)
    weights = [one.detach().flatten().numpy() for one in whole.parameters.values()]
    return np.concatenate(weights) * (cell.rank == 0)


class MadeUp:
    """Five samples in each window: no multiple of the ranks."""

    window_samples = 5

    def samples(self, windows: Sequence[int]) -> Tensor:
        """The same for every window."""
        assert windows
        return samples()


def test_a_divided_network_with_tied_embeddings_and_decay_trains_as_a_whole_one(
    tmp_path: Path,
) -> None:
    one, other = in_cell(tmp_path, two_sharded_steps)
    np.testing.assert_allclose(one, two_sharded_steps(Cell()), rtol=1e-4, atol=1e-6)
    assert not other.any()


@pytest.mark.parametrize("work", [two_steps, out_of_memory_once])
def test_ranks_have_equal_weights_and_those_of_one_device_but_for_rounding(
    tmp_path: Path, work: Callable[[Cell], Numbers]
) -> None:
    one, other = in_cell(tmp_path, work)
    assert np.array_equal(one, other)
    np.testing.assert_allclose(one, two_steps(Cell()), rtol=1e-4, atol=1e-6)


def test_a_task_that_is_replaced_ends_on_every_rank_and_leaves_them_together(
    tmp_path: Path,
) -> None:
    assert in_cell(tmp_path, replaced) == [True, True]


def test_every_tensor_has_one_owner_and_each_rank_about_as_much() -> None:
    tensors = [torch.empty(size) for size in (100, 10, 60, 50, 40, 1)]
    owners = Cell(0, 3).owners(tensors)
    numbers = [
        sum(one.numel() for one, owner in zip(tensors, owners, strict=True) if owner == rank)
        for rank in range(3)
    ]
    assert sum(numbers) == 261
    assert max(numbers) <= 101
