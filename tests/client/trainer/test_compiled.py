"""Kernels made for a model: where there are none, and what the loss computes with them."""

from __future__ import annotations

import pytest
import torch

from tequio_client.trainer import compiled, model, token_loss
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import compute_gradients
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.token_loss import TokenLoss
from tests.support.architectures import small_model
from tests.support.training_lab import BF16

CPU = torch.device("cpu")
SAMPLES, TOKENS, PART = 7, 33, 50
CLOSE, CLOSE_IN_BFLOAT16 = 1e-3, 0.05


def samples(built: CausalModel) -> torch.Tensor:
    """Made-up ids, of which some are not to be predicted."""
    most = model.vocabulary_size(built)
    found = torch.randint(
        0, most, (SAMPLES, TOKENS + 1), generator=torch.Generator().manual_seed(2)
    )
    found[2, 10:20] = ~found[2, 10:20]
    return found


def apart(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    return max(float((one[name] - other[name]).norm() / one[name].norm()) for name in one)


def test_a_processor_computes_as_it_is_written() -> None:
    assert compiled.why_not(CPU)
    assert compiled.compiled(small_model, CPU) is small_model


@pytest.mark.parametrize(("z_loss", "limit"), [(0.0, CLOSE), (0.01, 2 * CLOSE)])
def test_the_loss_for_a_card_equals_the_plain_one_with_a_last_part_filled_up(
    z_loss: float, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = small_model("llama")
    given = samples(built)
    vocabulary = model.vocabulary_size(built)
    assert SAMPLES * TOKENS % PART
    monkeypatch.setattr(token_loss, "MOST_LOGITS", PART * vocabulary)
    monkeypatch.setattr(token_loss, "COMPILED_LOGITS", PART * vocabulary)
    found = []
    for why in ("a processor", ""):
        monkeypatch.setattr(token_loss, "why_not", lambda _, why=why: why)
        for one in built.parameters.values():
            one.grad = None
        loss = float(TokenLoss(built, BF16, z_loss=z_loss).backward(given, 1 / 200))
        gradients = {name: one.grad for name, one in built.parameters.items()}
        found.append((loss, {name: one for name, one in gradients.items() if one is not None}))
    (plain, plain_gradients), (fused, fused_gradients) = found
    assert fused == pytest.approx(plain, rel=1e-6)
    assert apart(plain_gradients, fused_gradients) < limit


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_compiled_steps_learn_what_plain_ones_do() -> None:
    device = open_device("cuda")
    assert compiled.why_not(device.handle) == ""
    found = []
    for is_compiled in (False, True):
        built = small_model("llama")
        built.network.to(device.handle)
        if is_compiled:
            built.compile_layers(device.handle)
        for count in (SAMPLES, 3):  # another number of samples needs no other kernels
            batch = samples(built)[:count].to(device.handle)
            compute_gradients(built, batch, BatchSize(TOKENS, device), lambda: None)
        gradients = {name: one.grad for name, one in built.parameters.items()}
        found.append({name: one for name, one in gradients.items() if one is not None})
    assert apart(*found) < CLOSE_IN_BFLOAT16
