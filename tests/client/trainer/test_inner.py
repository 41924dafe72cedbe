"""The inner steps: a function of head and windows, split as a re-run would split them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType, structs

from tequio_client.trainer import batch as batches
from tequio_client.trainer import device, inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import ComputeDevice
from tequio_client.trainer.inner import StepPlan, TrainingProgress
from tequio_client.trainer.prepared import TrainingData
from tequio_shared.errors import UserFacingError
from tests.client.trainer.small_run import CONFIG, SmallRun
from tests.client.trainer.watching import UninterruptedControl

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

    from tequio_client.trainer.token_loss import TokenLoss

CPU = device.open_device("cpu")


def _training(run: SmallRun, shards: int | None = None) -> TrainingData:
    paths = [(i, run.folder / f"train-{i:05d}.tokens") for i in range(len(run.corpus.train))]
    return TrainingData.open(run.corpus, paths[:shards], seed=0, window_samples=2)


def _trained(
    run: SmallRun, plan: StepPlan, watch: UninterruptedControl
) -> tuple[TrainingProgress, dict[str, Tensor]]:
    network = model.build(CONFIG)
    network.load(run.origin.master, run.origin.layout)
    done = inner.train(network, _training(run), plan, run.manifest.inner, BatchSize(32, CPU), watch)
    return done, {name: one.detach().clone() for name, one in network.parameters.items()}


@given(windows=st.integers(1, 200), steps=st.integers(1, 40))
def test_a_plan_takes_every_window_once_in_order(windows: int, steps: int) -> None:
    plan = StepPlan.from_ranges([(5, windows)], steps)
    taken = [window for step in range(plan.steps) for window in plan.at(step)]
    assert taken == list(range(5, 5 + windows))
    assert all(plan.at(step) for step in range(plan.steps))


@given(windows=st.integers(1, 200), steps=st.integers(1, 40), stop=st.integers(1, 40))
def test_a_plan_stops_only_where_a_rerun_splits_the_same_way(
    windows: int, steps: int, stop: int
) -> None:
    plan = StepPlan.from_ranges([(0, windows)], steps)
    stop = min(stop, plan.steps)
    rerun = StepPlan.from_ranges([(0, plan.windows_done(stop))], stop)
    same = [plan.at(step) for step in range(stop)] == [rerun.at(step) for step in range(stop)]
    assert plan.may_stop(stop) == same
    assert plan.may_stop(plan.steps)
    if windows % plan.steps == 0:
        assert plan.may_stop(stop)


def test_training_is_a_function_of_head_and_windows(run: SmallRun) -> None:
    plan = StepPlan.from_ranges([(3, 8)], 4)
    one, first = _trained(run, plan, UninterruptedControl())
    other, second = _trained(run, plan, UninterruptedControl())
    assert (one.loss_first, one.loss_last) == (other.loss_first, other.loss_last)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (one.step, one.windows, one.tokens) == (4, 8, 8 * 64)


def test_a_stopped_training_is_the_beginning_of_the_whole_one(run: SmallRun) -> None:
    stopped, first = _trained(run, StepPlan.from_ranges([(0, 8)], 4), UninterruptedControl(steps=2))
    rerun, second = _trained(run, StepPlan.from_ranges([(0, 4)], 2), UninterruptedControl())
    assert (stopped.step, stopped.windows) == (rerun.step, rerun.windows) == (2, 4)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_small_batches_give_the_same_gradient(run: SmallRun) -> None:
    network = run.origin.model
    network.load(run.origin.master, run.origin.layout)
    samples = _training(run).samples(range(4))
    batch = BatchSize(32, CPU)
    whole = inner.compute_gradients(network, samples, batch, lambda: None)
    grads = {n: one.grad.clone() for n, one in network.parameters.items() if one.grad is not None}
    batch.samples = 3
    assert inner.compute_gradients(network, samples, batch, lambda: None) == pytest.approx(whole)
    for name, grad in grads.items():
        torch.testing.assert_close(network.parameters[name].grad, grad, atol=1e-6, rtol=1e-4)


# --- distro's only step ---------------------------------------------------------------------------


def _accumulated(
    run: SmallRun, windows: int, watch: UninterruptedControl
) -> tuple[TrainingProgress, dict[str, Tensor]]:
    network = run.origin.model
    network.load(run.origin.master, run.origin.layout)
    done = inner.accumulate(
        network, _training(run), range(windows), run.manifest.inner, BatchSize(32, CPU), watch
    )
    return done, {name: _gradient(one).clone() for name, one in network.parameters.items()}


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def test_the_gradient_of_a_round_is_that_of_all_its_windows(run: SmallRun) -> None:
    done, found = _accumulated(run, 6, UninterruptedControl())
    network = run.origin.model
    samples = _training(run).samples(range(6))
    batch = BatchSize(32, CPU)
    loss = inner.compute_gradients(network, samples, batch, lambda: None)
    norm = torch.stack([_gradient(one).norm() for one in network.parameters.values()]).norm()
    assert norm > 1, "nothing was clipped"
    for name, parameter in network.parameters.items():
        torch.testing.assert_close(found[name], _gradient(parameter) / norm, atol=1e-6, rtol=1e-3)
    assert (done.step, done.steps, done.windows, done.tokens) == (1, 1, 6, 6 * 64)
    assert (done.loss_first, done.loss_last) == pytest.approx((loss, loss))


def test_no_weight_moves_before_the_outer_step(run: SmallRun) -> None:
    _accumulated(run, 3, UninterruptedControl())
    assert np.array_equal(model.master_copy(run.origin.model, run.origin.layout), run.origin.master)


def test_a_gradient_that_ends_early_is_that_of_the_windows_done(
    run: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(batches._BATCH_TOKENS, "cpu", 64)  # noqa: SLF001 - a window at a time
    early, first = _accumulated(run, 6, UninterruptedControl(steps=2))
    rerun, second = _accumulated(run, 2, UninterruptedControl())
    assert (early.step, early.windows) == (rerun.step, rerun.windows) == (1, 2)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_gradient_starts_over_with_half_the_batch_when_memory_runs_out(
    run: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = _accumulated(run, 6, UninterruptedControl())
    real, sizes = inner._accumulate, []  # noqa: SLF001 - the one place that runs out of memory

    def scarce(
        losses: TokenLoss,
        samples: Tensor,
        batch: BatchSize,
        check: Callable[[], None],
        scale: float,
    ) -> float:
        sizes.append(batch.samples)
        loss = real(losses, samples, batch, check, scale)
        if len(sizes) == 2:
            raise torch.OutOfMemoryError
        return loss

    monkeypatch.setitem(batches._BATCH_TOKENS, "cpu", 128)  # noqa: SLF001 - two windows at a time
    monkeypatch.setattr(inner, "_BUSY_TOKENS", 1)
    monkeypatch.setattr(inner, "_accumulate", scarce)
    _, found = _accumulated(run, 6, UninterruptedControl())
    assert sizes == [4, 4, *[2] * 6]
    for name, gradient in whole.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-6, rtol=1e-3)


@pytest.mark.parametrize("sends_gradients", [False, True])
@pytest.mark.parametrize("chosen", ["binary32", "float16"])
def test_the_z_loss_of_a_run_moves_gradients_and_no_stated_loss(
    run: SmallRun, chosen: str, *, sends_gradients: bool
) -> None:
    found, stated = [], []
    for z_loss_e9 in (UNSET, 100_000_000):
        rules = structs.replace(run.manifest.inner, z_loss_e9=z_loss_e9)
        batch = BatchSize(32, CPU if chosen == "binary32" else FP16)
        network = model.build(CONFIG)
        network.load(run.origin.master, run.origin.layout)
        training, watch = _training(run), UninterruptedControl()
        if sends_gradients:
            done = inner.accumulate(network, training, range(4), rules, batch, watch)
            numbers = [_gradient(one).flatten() for one in network.parameters.values()]
        else:
            plan = StepPlan.from_ranges([(0, 4)], 2)
            done = inner.train(network, training, plan, rules, batch, watch)
            numbers = [one.detach().flatten() for one in network.parameters.values()]
        found.append(torch.cat(numbers))
        stated.append(done.loss_first)
    assert stated[0] == stated[1]
    without, with_it = found
    assert not torch.allclose(without, with_it)


# --- float16 --------------------------------------------------------------------------------------

FP16 = ComputeDevice(handle=CPU.handle, name="cpu", memory_mb=0, precision=torch.float16)


def _gradients(run: SmallRun, batch: BatchSize) -> tuple[float, dict[str, Tensor]]:
    network = run.origin.model
    network.load(run.origin.master, run.origin.layout)
    samples = _training(run).samples(range(4))
    loss = inner.compute_gradients(network, samples, batch, lambda: None)
    return loss, {name: _gradient(one).clone() for name, one in network.parameters.items()}


@pytest.mark.parametrize("first_scale", [1.0, 2.0**18])
def test_float16_gives_the_gradient_of_float32_whatever_the_first_scale(
    run: SmallRun, first_scale: float
) -> None:
    loss, expected = _gradients(run, BatchSize(32, CPU))
    batch = BatchSize(32, FP16)
    batch.loss_scale = first_scale
    found, gradients = _gradients(run, batch)
    assert found == pytest.approx(loss, rel=1e-3)
    for name, one in gradients.items():
        assert (one - expected[name]).norm() < 0.005 * expected[name].norm(), name
    assert (batch.loss_scale < first_scale) == (first_scale > 1)


def test_another_scale_changes_no_more_than_what_vanishes(run: SmallRun) -> None:
    first, second = BatchSize(32, FP16), BatchSize(32, FP16)
    second.loss_scale = 2 * first.loss_scale
    (_, one), (_, other) = _gradients(run, first), _gradients(run, second)
    for name, gradient in one.items():
        assert (gradient - other[name]).norm() < 0.001 * gradient.norm(), name


@pytest.mark.parametrize("sends_gradients", [False, True])
def test_every_round_begins_with_the_same_scale(run: SmallRun, *, sends_gradients: bool) -> None:
    results, batch = [], BatchSize(32, FP16)
    for left in (batch.loss_scale, 2.0**-3):
        batch.loss_scale = left  # by the round before
        network = model.build(CONFIG)
        network.load(run.origin.master, run.origin.layout)
        training, watch = _training(run), UninterruptedControl()
        if sends_gradients:
            inner.accumulate(network, training, range(4), run.manifest.inner, batch, watch)
            results.append([_gradient(one).clone() for one in network.parameters.values()])
        else:
            plan = StepPlan.from_ranges([(0, 4)], 2)
            inner.train(network, training, plan, run.manifest.inner, batch, watch)
            results.append([one.detach().clone() for one in network.parameters.values()])
        assert all(bool(torch.isfinite(one).all()) for one in results[-1])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_a_network_without_a_finite_loss_ends_with_gradients_that_are_not_finite(
    run: SmallRun,
) -> None:
    batch = BatchSize(32, FP16)
    network = run.origin.model
    network.load(run.origin.master, run.origin.layout)
    with torch.no_grad():
        next(iter(network.parameters.values())).fill_(math.nan)
    samples = _training(run).samples(range(1))
    assert math.isnan(inner.compute_gradients(network, samples, batch, lambda: None))
    assert batch.loss_scale == 2.0**-16


def test_muon_moves_equal_matrices_in_stacks_of_limited_size(
    run: SmallRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = StepPlan.from_ranges([(0, 4)], 2)
    _, together = _trained(run, plan, UninterruptedControl())
    monkeypatch.setattr(inner, "_MUON_NUMBERS", 1)
    _, alone = _trained(run, plan, UninterruptedControl())
    for name, one in together.items():
        torch.testing.assert_close(alone[name], one, rtol=1e-5, atol=1e-6, msg=name)


@pytest.mark.parametrize(("momentum_e3", "mu"), [(UNSET, 0.95), (800, 0.8), (0, 0.0)])
def test_muon_follows_the_momentum_of_the_rules(
    run: SmallRun, momentum_e3: int | UnsetType, mu: float
) -> None:
    """M = mu M + G, and a move against the orthogonalised G + mu M (protocol, 12.10)."""
    rules = structs.replace(run.manifest.inner, momentum_e3=momentum_e3, clip_e3=1 << 40)
    network = model.build(CONFIG)
    network.load(run.origin.master, run.origin.layout)
    name = min(network.hidden)
    matrix = network.parameters[name]
    expected, momentum = matrix.detach().clone(), torch.zeros_like(matrix)
    rate = rules.lr_e9 / 1e9 * 0.2 * math.sqrt(max(matrix.shape))
    is_tall = matrix.shape[0] > matrix.shape[1]
    optimiser, chance = inner.Optimiser(network, rules), torch.Generator().manual_seed(7)
    for _ in range(3):
        for one in network.parameters.values():
            one.grad = torch.randn(one.shape, generator=chance)
        assert matrix.grad is not None
        momentum = mu * momentum + matrix.grad
        direction = matrix.grad + mu * momentum
        found = inner.orthogonalise((direction.T if is_tall else direction)[None])[0]
        expected -= rate * (found.T if is_tall else found)
        optimiser.step()
    torch.testing.assert_close(matrix.detach(), expected, rtol=1e-5, atol=1e-6)


def test_newton_schulz_brings_singular_values_near_one() -> None:
    chance = torch.Generator().manual_seed(1)
    stack = torch.randn((3, 20, 40), generator=chance)
    values = torch.linalg.svdvals(inner.orthogonalise(stack))
    assert values.min() > 0.5
    assert values.max() < 1.3


def test_a_missing_shard_is_told(run: SmallRun) -> None:
    assert len(run.corpus.train) > 1
    last = run.corpus.samples // 2 - 1
    with pytest.raises(UserFacingError, match="missing"):
        _training(run, shards=1).samples([last])


def test_a_sample_is_a_stretch_of_its_shard(run: SmallRun) -> None:
    raw = np.fromfile(run.folder / "train-00000.tokens", np.uint8)
    place = run.corpus.order(0).sample_at(0)
    sample = _training(run).samples([0])[0].numpy()
    assert (sample == raw[place.sample * 32 : place.sample * 32 + 33]).all()
