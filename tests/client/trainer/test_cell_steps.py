"""Steps of ranks in processes of their own, with a cell and nothing else."""

from __future__ import annotations

import json
import multiprocessing
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from tequio_client.ipc.cell_division import TENSOR_KINDS
from tequio_client.trainer import (
    inner,
    llama,
    parts,
    pipeline,
    tensor_parallel,
    token_loss,
)
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.cell import Cell
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.main import TaskReplacedError
from tequio_client.trainer.model import CausalModel, build_random, sketch
from tequio_client.trainer.pipeline import PipelinedModel
from tequio_client.trainer.sharding import ShardedModel
from tequio_client.trainer.tensor_parallel import TensorParallelModel
from tequio_client.trainer.token_loss import TokenLoss
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import CONFIG, SEQUENCE
from tests.client.trainer.watching import UninterruptedControl
from tests.support import architectures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from tequio_client.trainer.division import DividedModel

    Numbers = NDArray[np.float64]

PATIENCE_S = 300.0
DECAYING = InnerParams(decay_e6=100_000)
ROUNDED = InnerParams(state_bits=8)
HELD = InnerParams(z_loss_e9=100_000_000, momentum_e3=500)
"""With a large z-loss, and a momentum that is not the usual one."""
RANKS = 2
BOUNDARY = 202
"""An id in the middle of the first sample."""
APART = 3e-4
"""Relative L2 distance of two ways from one head: as far as the last bits of sums may lead."""
APART_IN_FLOAT16 = 0.01
"""The same of two gradients, one of which is partly rounded to float16."""


def rank_main(rank: int, ranks: int, file: str, work: Callable[[Cell], Numbers]) -> None:
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # as in `tests.support.cell_ranks`
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks)
    np.save(f"{file}-{rank}.npy", work(Cell(rank, ranks)))
    dist.barrier()
    dist.destroy_process_group()


def in_cell(folder: Path, work: Callable[[Cell], Numbers], number: int = RANKS) -> list[Numbers]:
    """Run the work on each rank, in new processes; returns its results."""
    # Imports take seconds. Each rank is forked from a process that has them and computed nothing.
    fork = multiprocessing.get_context("forkserver")
    fork.set_forkserver_preload([__name__, "transformers.modeling_utils"])
    file = str(folder / "meeting")
    ranks = [
        fork.Process(target=rank_main, args=(rank, number, file, work)) for rank in range(number)
    ]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(PATIENCE_S)
        one.kill()
    assert [one.exitcode for one in ranks] == [0] * number
    return [np.load(f"{file}-{rank}.npy") for rank in range(number)]


def samples(number: int = 5) -> Tensor:
    chance = torch.Generator().manual_seed(3)
    return torch.randint(0, 256, (number, SEQUENCE + 1), generator=chance)


def two_steps(cell: Cell, *, is_spent: bool = False) -> Numbers:
    """The losses of two steps of a small model, and the weights after them.

    If the rank `is_spent`, it has no memory left to save.
    """
    model = build_random(CONFIG, 1)
    batch = BatchSize(SEQUENCE, open_device("cpu"), cell)
    if is_spent:
        batch.samples = 1
        model.recompute_layers()
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
            raise RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GiB)")
        return real(losses, part, scale)

    with mock.patch.object(TokenLoss, "backward", backward):
        found = two_steps(cell)
    assert len(met) == cell.rank
    return found


def mixed_precisions(cell: Cell) -> Numbers:
    """A gradient that one rank computes in float16, as older cards do, and the others do not."""
    precision = torch.float16 if cell.rank == 1 else torch.float32
    device = replace(open_device("cpu"), precision=precision)
    cell.exchange_precisions(precision)
    model = build_random(CONFIG, 1)
    inner.compute_gradients(model, samples(), BatchSize(SEQUENCE, device, cell), lambda: None)
    return np.concatenate([inner.gradient(one).flatten() for one in model.parameters.values()])


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


def network_of(**changes: object) -> bytes:
    """Configuration of a network of four layers."""
    return json.dumps({**json.loads(CONFIG), "num_hidden_layers": 4, **changes}).encode()


def flat_weights(model: CausalModel) -> Numbers:
    """Copies of all weights."""
    return np.concatenate([one.detach().double().flatten() for one in model.parameters.values()])


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedSteps:
    """Two steps of a divided network with weight decay: losses, and the way of rank 0's weights."""

    kind: type[ShardedModel | PipelinedModel | TensorParallelModel]
    config: bytes
    window_samples: int = 5
    """No multiple of the ranks."""
    separator: int | None = None
    recipe: InnerParams = DECAYING

    def __call__(self, cell: Cell) -> Numbers:
        """Take them; a cell of one rank takes them without a division."""
        whole, plan = build_random(self.config, 1), StepPlan(windows=(0, 1, 2), steps=2)
        begun = flat_weights(whole)
        device, watch = open_device("cpu"), UninterruptedControl()
        if cell.size == 1:
            whole.separator = self.separator
            done = inner.train(whole, self, plan, self.recipe, BatchSize(SEQUENCE, device), watch)
        else:
            divided = self.divided(cell)
            with (
                mock.patch.object(pipeline, "PASS_TOKENS", 2 * SEQUENCE),
                mock.patch.object(tensor_parallel, "PASS_TOKENS", 2 * SEQUENCE),
            ):
                divided.load(whole)
                done = divided.train(self, plan, self.recipe, watch)
                divided.store(whole)
        losses = np.array([done.loss_first, done.loss_last])
        return np.append(losses, flat_weights(whole) - begun) if cell.rank == 0 else losses

    def divided(self, cell: Cell) -> DividedModel:
        """This rank's part of the network."""
        network, device = sketch(self.config).network, open_device("cpu")
        if self.kind is TensorParallelModel:
            return TensorParallelModel(network, cell, device, self.recipe, self.separator)
        assert isinstance(network, Llama)
        if self.kind is PipelinedModel:
            return PipelinedModel(network, cell, device, self.separator)
        return ShardedModel(network, cell, device, self.separator)

    def samples(self, windows: Sequence[int]) -> Tensor:
        """The same for every window."""
        return samples(self.window_samples * len(windows))


@pytest.mark.parametrize(
    ("ranks", "steps"),
    [
        (2, DividedSteps(kind=ShardedModel, config=network_of(tie_word_embeddings=True))),
        (2, DividedSteps(kind=ShardedModel, config=network_of(), separator=BOUNDARY)),
        (2, DividedSteps(kind=ShardedModel, config=network_of(), recipe=ROUNDED)),
        (2, DividedSteps(kind=ShardedModel, config=network_of(), recipe=HELD)),
        (2, DividedSteps(kind=PipelinedModel, config=network_of(), recipe=HELD)),
        (2, DividedSteps(kind=PipelinedModel, config=network_of(tie_word_embeddings=True))),
        # Fewer samples than ranks.
        (
            4,
            DividedSteps(
                kind=PipelinedModel, config=network_of(), window_samples=1, separator=BOUNDARY
            ),
        ),
        (2, DividedSteps(kind=TensorParallelModel, config=network_of(tie_word_embeddings=True))),
        (2, DividedSteps(kind=TensorParallelModel, config=network_of(), separator=BOUNDARY)),
        (2, DividedSteps(kind=TensorParallelModel, config=network_of(), recipe=ROUNDED)),
        (2, DividedSteps(kind=TensorParallelModel, config=network_of(), recipe=HELD)),
        # Several passes, of which the last one is filled up.
        (3, DividedSteps(kind=PipelinedModel, config=network_of(), window_samples=40)),
    ],
)
def test_a_divided_network_trains_as_a_whole_one(
    tmp_path: Path, ranks: int, steps: DividedSteps
) -> None:
    one, *others = in_cell(tmp_path, steps, ranks)
    alone = steps(Cell())
    np.testing.assert_allclose(one[:2], alone[:2], rtol=1e-5)
    # Of all weights together: AdamW's first step has the sign of a gradient that is nearly zero.
    assert np.linalg.norm(one[2:] - alone[2:]) < APART * np.linalg.norm(alone[2:])
    assert all(np.array_equal(other, one[:2]) for other in others)


PLANNED = (*sorted(TENSOR_KINDS - {"llama"}), "phi3", "olmo2", "gpt_neox")
"""Kinds of networks that transformers has a plan for, with all that are proposed."""


def distances_of_kinds(cell: Cell) -> Numbers:
    """How far the way of each kind's weights is from one device's; the output layer is cut off."""
    found = []
    with mock.patch.object(token_loss, "MOST_LOGITS", 256 * SEQUENCE):
        for name in PLANNED:
            config = json.dumps(architectures.fields_of(name)).encode()
            steps = DividedSteps(kind=TensorParallelModel, config=config)
            way = steps(cell)[2:]
            alone = steps(Cell())[2:] if cell.rank == 0 else way
            found.append(float(np.linalg.norm(way - alone) / np.linalg.norm(alone)))
    return np.array(found)


def test_networks_of_transformers_train_by_its_plans_as_whole_ones(tmp_path: Path) -> None:
    distances, _ = in_cell(tmp_path, distances_of_kinds)
    assert {name: one for name, one in zip(PLANNED, distances, strict=True) if one > APART} == {}


def without_norms(cell: Cell) -> Numbers:
    """A plan that forgets to add up the gradients of norms of heads."""
    network: Any = sketch(json.dumps(architectures.fields_of("qwen3")).encode()).network
    network.tp_plan = {
        name: style for name, style in network.tp_plan.items() if not name.endswith("_norm")
    }
    with pytest.raises(UserFacingError, match=r"different gradients of .*k_norm.weight"):
        TensorParallelModel(network, cell, open_device("cpu"), DECAYING)
    return np.zeros(1)


def test_a_plan_of_which_ranks_find_different_gradients_is_refused(tmp_path: Path) -> None:
    assert in_cell(tmp_path, without_norms) == [0, 0]


def held_numbers(cell: Cell) -> Numbers:
    """Numbers of this rank's weights and gradients after two steps."""
    steps = DividedSteps(kind=TensorParallelModel, config=network_of(tie_word_embeddings=True))
    divided = steps.divided(cell)
    assert isinstance(divided, TensorParallelModel)
    divided.load(build_random(steps.config, 1))
    divided.train(steps, StepPlan(windows=(0, 1), steps=2), DECAYING, UninterruptedControl())
    tensors = divided.part.parameters.values()
    assert all(isinstance(one, DTensor) for one in tensors if one.dim() > 1)
    weights = [parts.local(one).numel() for one in tensors]
    gradients = [parts.local(inner.gradient(one)).numel() for one in tensors]
    return np.array([sum(weights), sum(gradients)])


def test_a_rank_has_its_part_of_matrices_and_tables_and_of_their_gradients(
    tmp_path: Path,
) -> None:
    whole = sketch(network_of(tie_word_embeddings=True)).parameters.values()
    numbers = sum(one.numel() / (RANKS if one.dim() > 1 else 1) for one in whole)
    for held in in_cell(tmp_path, held_numbers):
        assert held.tolist() == [numbers, numbers]


def out_of_memory_with_nothing_left_to_save(cell: Cell) -> Numbers:
    """The same, where the rank without room has the smallest batch, and stores no layers."""
    real, met = TokenLoss.backward, list[int]()

    def backward(losses: TokenLoss, part: Tensor, scale: float) -> Tensor:
        if cell.rank == 1 and not met:
            met.append(len(part))
            raise torch.OutOfMemoryError("no room")
        return real(losses, part, scale)

    with mock.patch.object(TokenLoss, "backward", backward):
        return two_steps(cell, is_spent=cell.rank == 1)


@pytest.mark.parametrize(
    "work", [two_steps, out_of_memory_once, out_of_memory_with_nothing_left_to_save]
)
def test_ranks_have_equal_weights_and_those_of_one_device_but_for_rounding(
    tmp_path: Path, work: Callable[[Cell], Numbers]
) -> None:
    one, other = in_cell(tmp_path, work)
    assert np.array_equal(one, other)
    np.testing.assert_allclose(one, two_steps(Cell()), rtol=1e-4, atol=1e-6)


def nobody_can_save(cell: Cell) -> Numbers:
    """Meet a rank without room where no rank can save memory."""
    lacking = torch.OutOfMemoryError("no room") if cell.rank else None
    with (
        mock.patch.object(TokenLoss, "backward", side_effect=lacking, return_value=torch.zeros(())),
        pytest.raises(torch.OutOfMemoryError) as caught,
    ):
        two_steps(cell, is_spent=True)
    assert caught.value is cell.common_error, "which leaves the cell whole"
    return np.ones(1)


def test_ranks_give_up_together_when_none_can_save_memory(tmp_path: Path) -> None:
    assert in_cell(tmp_path, nobody_can_save) == [[1.0], [1.0]]


def out_of_memory_in_a_stage(cell: Cell) -> Numbers:
    """A pipeline of one stage that has no room for its micro-batches."""
    network = sketch(network_of()).network
    assert isinstance(network, Llama)
    pipelined, plan = PipelinedModel(network, cell, open_device("cpu"), 0), StepPlan.from_ranges
    steps = DividedSteps(kind=PipelinedModel, config=network_of())
    pipelined.load(build_random(network_of(), 1))
    with (
        mock.patch.object(llama, "own_document", side_effect=torch.OutOfMemoryError("no room")),
        pytest.raises(torch.OutOfMemoryError, match=r"^no room$"),
    ):
        pipelined.train(steps, plan(((0, 1),), 1), DECAYING, UninterruptedControl())
    return np.zeros(1)


def test_a_stage_without_room_for_a_micro_batch_says_so(tmp_path: Path) -> None:
    assert in_cell(tmp_path, out_of_memory_in_a_stage, 1) == [0]


def test_a_rank_in_float16_and_one_in_float32_find_the_gradient_of_one_device(
    tmp_path: Path,
) -> None:
    one, other = in_cell(tmp_path, mixed_precisions)
    alone = mixed_precisions(Cell())
    assert np.array_equal(one, other)
    assert np.linalg.norm(one - alone) < APART_IN_FLOAT16 * np.linalg.norm(alone)


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
