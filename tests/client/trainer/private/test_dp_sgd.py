"""DP-SGD: gradients of single documents, their clip, and the noise."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from opacus.optimizers import DPOptimizer
from torch.nn import functional

from tequio_client.ipc.private import InnerSteps
from tequio_client.trainer import device, inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import Optimiser
from tequio_client.trainer.private import dp_sgd, main, noise
from tequio_client.trainer.private.dp_sgd import PrivateStep, add_clipped, per_sample_gradients
from tequio_client.trainer.private.training import inner_params
from tequio_client.trainer.token_loss import IGNORED, inputs_and_targets

if TYPE_CHECKING:
    from torch import Tensor

    from tequio_client.trainer.model import CausalModel

CPU = device.open_device("cpu")
SEQUENCE = 16
LLAMA = {
    "model_type": "llama",
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
}
NEOX = {
    "model_type": "gpt_neox",
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
}


def _model(**changes: object) -> CausalModel:
    return model.build_random(json.dumps(LLAMA | changes).encode(), 1)


def _samples(count: int, seed: int = 0) -> Tensor:
    """Samples of which every third is filled up: its second half has no loss."""
    drawn = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 32, (count, SEQUENCE + 1), generator=drawn)
    ids[::3, SEQUENCE // 2 :] = ~0
    return ids


def _step(
    built: CausalModel, *, clip: float, noise_multiplier: float = 0.0, expected: float = 1.0
) -> PrivateStep:
    return PrivateStep(
        model=built,
        device=CPU,
        clip=clip,
        noise_multiplier=noise_multiplier,
        expected=expected,
        bits=noise.seeded_bits(7),
    )


def _flat(tensors: dict[str, Tensor]) -> Tensor:
    return torch.cat([one.flatten() for one in tensors.values()])


def _left(built: CausalModel) -> Tensor:
    """The gradient that a step left in the model."""
    found = {name: one.grad for name, one in built.parameters.items() if one.grad is not None}
    assert found.keys() == built.parameters.keys()
    return _flat(found)


def _own_gradient(built: CausalModel, sample: Tensor) -> Tensor:
    """The gradient of one sample alone, by autograd."""
    built.network.zero_grad()
    inputs_bl, targets_bl = inputs_and_targets(sample[None])
    logits = built.logits(inputs_bl)[0]
    loss = functional.cross_entropy(logits, targets_bl[0], ignore_index=IGNORED)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return _left(built)


@pytest.mark.parametrize("is_tied", [True, False])
def test_the_gradient_of_each_sample_is_autograds(*, is_tied: bool) -> None:
    built, samples = _model(tie_word_embeddings=is_tied), _samples(5)
    ((gradients, losses),) = per_sample_gradients(built, CPU, samples)
    for row, sample in enumerate(samples):
        expected = _own_gradient(built, sample)
        found = _flat({name: one[row] for name, one in gradients.items()})
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-7)
    assert losses.shape == (5,)


def test_gradients_in_16_bits_are_about_those_in_32() -> None:
    built, samples = _model(), _samples(4)
    narrow = replace(CPU, precision=torch.bfloat16)
    ((wide, _),) = per_sample_gradients(built, CPU, samples)
    ((gradients, _),) = per_sample_gradients(built, narrow, samples)
    for row in range(4):
        expected = _flat({name: one[row] for name, one in wide.items()})
        found = _flat({name: one[row] for name, one in gradients.items()})
        assert found.dtype == torch.float32
        assert 0 < (found - expected).norm() < 0.05 * expected.norm()


def test_a_network_of_transformers_gets_the_gradient_of_each_sample() -> None:
    built, samples = model.build_random(json.dumps(NEOX).encode(), 1), _samples(3)
    parts = list(per_sample_gradients(built, CPU, samples))
    for (gradients, _), sample in zip(parts, samples, strict=True):
        expected = _own_gradient(built, sample)
        found = _flat({name: one[0] for name, one in gradients.items()})
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-7)


def test_clipped_sums_are_those_of_opacus() -> None:
    built, samples = _model(), _samples(7)
    ((gradients, _),) = per_sample_gradients(built, CPU, samples)
    norms = torch.stack([one.flatten(1).norm(dim=1) for one in gradients.values()]).norm(dim=0)
    clip = float(norms.median())  # so that some are clipped, and some are not
    theirs = DPOptimizer(
        torch.optim.SGD(built.parameters.values(), lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=clip,
        expected_batch_size=7,
    )
    for name, parameter in built.parameters.items():
        parameter.grad_sample = gradients[name]  # type: ignore[attr-defined]  # as Opacus does
    theirs.pre_step()
    expected = _left(built)
    _step(built, clip=clip, expected=7.0).compute_gradients(samples)
    assert (_left(built) - expected).norm() <= 1e-4 * expected.norm()


@pytest.mark.parametrize("clip", [1e-3, 0.1, 1.0])
def test_one_document_moves_the_sum_by_no_more_than_the_clip(clip: float) -> None:
    built, samples = _model(), _samples(6)
    with torch.no_grad():
        built.parameters["lm_head.weight"].mul_(30)  # gradients far larger than the clip
    with_all, without = _step(built, clip=clip), _step(built, clip=clip)
    with_all.compute_gradients(samples)
    sum_of_all = _left(built)
    for row in range(len(samples)):
        without.compute_gradients(torch.cat((samples[:row], samples[row + 1 :])))
        assert (sum_of_all - _left(built)).norm() <= clip * (1 + 1e-4)
        with_all.compute_gradients(samples[row : row + 1])
        assert _left(built).norm() <= clip


def test_the_clip_holds_for_all_tensors_together() -> None:
    gradients = {"a": torch.full((1, 3), 4.0), "b": torch.full((1, 2, 2), 3.0)}
    total = {"a": torch.zeros(3), "b": torch.zeros(2, 2)}
    add_clipped(total, gradients, 2.0)
    assert math.isclose(float(_flat(total).norm()), 2.0, rel_tol=1e-4)
    assert _flat(total).norm() <= 2.0
    assert torch.allclose(total["a"] / total["b"][0, 0], torch.full((3,), 4 / 3))


@pytest.mark.parametrize("broken", [math.nan, math.inf, 1e30])
def test_a_gradient_that_is_not_finite_counts_as_zero(broken: float) -> None:
    gradients = {"a": torch.tensor([[3.0, 4.0], [broken, 1.0]])}
    total = {"a": torch.zeros(2)}
    add_clipped(total, gradients, 10.0)
    assert torch.equal(total["a"], torch.tensor([3.0, 4.0]))


def test_a_gradient_of_zero_stays_zero() -> None:
    total = {"a": torch.zeros(2)}
    add_clipped(total, {"a": torch.zeros(4, 2)}, 1.0)
    assert torch.equal(total["a"], torch.zeros(2))


def test_a_sum_is_the_same_however_many_documents_fit_at_once() -> None:
    built, samples = _model(), _samples(9)
    ((gradients, _),) = per_sample_gradients(built, CPU, samples)
    total = {name: torch.zeros_like(one) for name, one in built.parameters.items()}
    for part in range(0, 9, 2):
        add_clipped(total, {name: one[part : part + 2] for name, one in gradients.items()}, 0.5)
    _step(built, clip=0.5).compute_gradients(samples)
    assert torch.allclose(_left(built), _flat(total), rtol=1e-5, atol=1e-7)


def test_documents_that_do_not_fit_into_a_macs_memory_are_taken_in_smaller_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built, samples, sizes = _model(), _samples(9), list[int]()
    real, room = dp_sgd.per_sample_gradients, 2

    def scarce(*given: Any) -> Any:  # noqa: ANN401 - as the real one
        sizes.append(len(given[2]))
        if sizes[-1] > room:
            raise RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GiB)")
        return real(*given)

    monkeypatch.setattr(dp_sgd, "per_sample_gradients", scarce)
    step = _step(built, clip=0.5)
    step.compute_gradients(samples)
    assert sizes[-5:] == [2, 2, 2, 2, 1]
    room = 0
    with pytest.raises(RuntimeError, match="MPS backend") as caught:
        step.compute_gradients(samples)
    assert main._code(caught.value) == "memory"  # noqa: SLF001 - what the member is told


def test_without_noise_and_clip_a_step_is_that_of_plain_training() -> None:
    plain, private = _model(), _model()
    samples = torch.randint(0, 32, (8, SEQUENCE + 1), generator=torch.Generator().manual_seed(3))
    steps = inner_params(InnerSteps(clip_e3=10**12))
    movers = Optimiser(plain, steps), Optimiser(private, steps)
    for _ in range(3):
        loss = inner.compute_gradients(plain, samples, BatchSize(SEQUENCE, CPU), lambda: None)
        ours = _step(private, clip=math.inf, expected=8.0).compute_gradients(samples)
        assert math.isclose(ours / 8, loss, rel_tol=1e-5)
        for mover in movers:
            mover.step()
    for name, parameter in plain.parameters.items():
        assert torch.allclose(parameter, private.parameters[name], rtol=1e-3, atol=2e-5), name


def test_a_step_that_draws_no_document_is_noise_alone() -> None:
    built = _model()
    step = _step(built, clip=2.0, noise_multiplier=0.5, expected=4.0)
    assert step.compute_gradients(_samples(0)) == 0
    found, numbers = _left(built), sum(one.numel() for one in built.parameters.values())
    # Each has the variance (0.5 * 2 / 4)^2; the sum of n squares has a relative error of sqrt(2/n).
    assert math.isclose(float(found.square().mean()), 0.0625, rel_tol=5 * math.sqrt(2 / numbers))


def test_noise_has_the_stated_variance_and_the_shape_of_a_gaussian() -> None:
    count = 1_000_000
    drawn = torch.zeros(count, dtype=torch.float64)
    noise.add_noise([drawn], 3.0, noise.seeded_bits(11))
    standard = np.sort(drawn.numpy() / 3.0)
    assert abs(standard.mean()) < 5 / math.sqrt(count)
    assert abs(standard.var() - 1) < 5 * math.sqrt(2 / count)
    assert abs((standard**4).mean() - 3) < 5 * math.sqrt(96 / count)
    # Kolmogorov's distance: 1.95 / sqrt(n) is exceeded once in 1,000 seeds.
    theirs = torch.special.ndtr(torch.from_numpy(standard)).numpy()
    assert np.abs(theirs - (np.arange(count) + 0.5) / count).max() < 1.95 / math.sqrt(count)
    pairs = torch.corrcoef(drawn.view(2, -1))[0, 1]
    assert abs(float(pairs)) < 5 / math.sqrt(count / 2)


def test_noise_of_several_tensors_is_independent() -> None:
    one, other = torch.zeros(2, 50_000), torch.zeros(100_000)
    noise.add_noise([one, other], 1.0, noise.system_bits)
    assert not torch.equal(one.flatten(), other)
    again = torch.zeros(100_000)
    noise.add_noise([again], 1.0, noise.system_bits)
    assert not torch.equal(again, other)


def test_torchs_generator_would_have_a_key_of_32_bits() -> None:
    """The reason why the noise does not come from it."""
    one, other = (torch.Generator().manual_seed(seed) for seed in (1, 1 + 2**32))
    assert torch.equal(torch.randn(8, generator=one), torch.randn(8, generator=other))


def test_vectorised_gradients_need_no_slow_fallback() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(per_sample_gradients(_model(), CPU, _samples(2)))
