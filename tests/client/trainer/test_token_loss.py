"""Losses and gradients part by part: those of all logits, which never live at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from tequio_client.trainer import device, token_loss
from tequio_client.trainer.token_loss import IGNORED, TokenLoss
from tests.support import architectures, frozen_base
from tests.support.training_lab import BF16

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.model import CausalModel

CPU = device.open_device("cpu")
VOCABULARY, TOKENS = 256, 6 * 16
SAMPLES = torch.randint(0, VOCABULARY, (6, 17), generator=torch.Generator().manual_seed(1))
FIVE_TOKENS = 5 * VOCABULARY
KINDS = ("llama", "gpt2", "gemma2", "cohere", "granite", "opt", "mamba")
"""Plain, tied, capped, two scaled ones, a decoder in a decoder, and one without attention."""


def gradients(built: CausalModel) -> dict[str, Tensor]:
    """The gradients, which are then forgotten."""
    found = {}
    for name, one in built.parameters.items():
        assert one.grad is not None, name
        found[name], one.grad = one.grad, None
    return found


def by_hand(built: CausalModel, chosen: ComputeDevice, scale: float) -> tuple[float, Any]:
    """Loss and gradients as torch computes them from all logits."""
    torch.manual_seed(1)  # of dropout
    with chosen.autocast():
        logits = built.logits(SAMPLES[:, :-1])
    loss = scale * functional.cross_entropy(
        logits.flatten(0, 1).float(), SAMPLES[:, 1:].flatten(), reduction="sum"
    )
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return float(loss.detach()), gradients(built)


@pytest.mark.parametrize("most", [token_loss.MOST_LOGITS, FIVE_TOKENS])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_all_logits_at_once(
    kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = architectures.small_model(kind)
    loss, expected = by_hand(built, CPU, 1 / TOKENS)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", most)
    torch.manual_seed(1)
    found = float(TokenLoss(built, CPU).backward(SAMPLES, 1 / TOKENS))
    assert found == pytest.approx(loss * TOKENS, rel=1e-5)
    limit = 1e-5 * max(float(one.abs().max()) for one in expected.values())
    for name, one in gradients(built).items():
        torch.testing.assert_close(one, expected[name], rtol=1e-4, atol=limit, msg=name)


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_gradients_of_parts_agree_in_16_bits(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built = architectures.small_model(kind)
    loss, expected = by_hand(built, BF16, 1 / TOKENS)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    found = float(TokenLoss(built, BF16).backward(SAMPLES, 1 / TOKENS))
    assert found == pytest.approx(loss * TOKENS, 1e-3)
    for name, one in gradients(built).items():
        apart = (one - expected[name]).norm() / expected[name].norm()
        assert apart < 0.02, f"{name}: eight bits of mantissa"


def with_z_loss(logits_nv: Tensor, targets: Tensor, weight: float, scale: float) -> Tensor:
    """The gradient of the plain formula, by autograd in float64."""
    wide = logits_nv.detach().double().requires_grad_()
    losses = functional.cross_entropy(wide, targets, ignore_index=IGNORED, reduction="sum")
    squares = torch.logsumexp(wide, 1)[targets != IGNORED].square().sum()
    (scale * (losses + weight * squares)).backward()  # type: ignore[no-untyped-call]  # as above
    assert wide.grad is not None
    return wide.grad


@pytest.mark.parametrize("weight", [0.0, 1e-4, 0.5])
@pytest.mark.parametrize("is_fused", [False, True])
def test_the_gradient_of_a_z_loss_is_that_of_its_formula(*, is_fused: bool, weight: float) -> None:
    chance = torch.Generator().manual_seed(4)
    logits_nv = (6 * torch.randn(40, 30, generator=chance) + 9).requires_grad_()
    targets = torch.randint(0, 30, (40,), generator=chance)
    targets[5:9] = IGNORED
    expected = with_z_loss(logits_nv, targets, weight, 0.25)
    if is_fused:
        unit, z_loss = torch.tensor([0.25, weight])
        fused = token_loss._loss_and_gradient  # noqa: SLF001 - as it is, before it is compiled
        loss, found = fused(logits_nv.detach(), targets, unit, z_loss)
    else:
        backward = token_loss._backward  # noqa: SLF001 - without a network around it
        loss = backward(logits_nv, targets, 0.25, weight)
        assert logits_nv.grad is not None
        found = logits_nv.grad
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    plain = functional.cross_entropy(logits_nv, targets, ignore_index=IGNORED, reduction="sum")
    assert float(loss) == pytest.approx(float(plain.detach()), rel=1e-5), "without the z-loss"


@pytest.mark.parametrize("chosen", [CPU, BF16], ids=["binary32", "bfloat16"])
@pytest.mark.parametrize("most", [token_loss.MOST_LOGITS, FIVE_TOKENS])
def test_a_z_loss_reaches_all_weights_part_by_part(
    most: int, chosen: ComputeDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, weight = architectures.small_model("llama"), 0.1
    with chosen.autocast():
        logits_nv = built.logits(SAMPLES[:, :-1]).flatten(0, 1)
    gradient = with_z_loss(logits_nv, SAMPLES[:, 1:].flatten(), weight, 1 / TOKENS)
    logits_nv.backward(gradient.to(logits_nv.dtype))  # type: ignore[no-untyped-call]  # as above
    expected = gradients(built)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", most)
    TokenLoss(built, chosen, z_loss=weight).backward(SAMPLES, 1 / TOKENS)
    limit = 1e-4 if chosen is CPU else 0.02
    for name, one in gradients(built).items():
        assert (one - expected[name]).norm() <= limit * expected[name].norm(), name


class LargestTensor(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Records the numbers in the largest tensor that any operation returns, forward or backward."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self.numbers = 0

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - torch's
        types: Any,  # noqa: ANN401 - torch's
        args: Any = (),  # noqa: ANN401 - torch's
        kwargs: Any = None,  # noqa: ANN401 - torch's
    ) -> Any:  # noqa: ANN401 - torch's
        out = func(*args, **(kwargs or {}))
        for one in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(one, Tensor):
                self.numbers = max(self.numbers, one.numel())
        return out


@pytest.mark.parametrize(
    ("kind", "has_adapters"),
    [("llama", False), ("gemma2", False), ("gpt2", False), ("qwen3", True)],
)
def test_all_logits_never_live_at_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_adapters: bool
) -> None:
    if has_adapters:
        folder = frozen_base.write_base(tmp_path, **architectures.fields_of(kind))
        built = frozen_base.first(folder).model
    else:
        built = architectures.small_model(kind)
    logits = VOCABULARY * TOKENS
    with LargestTensor() as whole:
        TokenLoss(built, CPU).backward(SAMPLES, 1.0)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    with LargestTensor() as training:
        TokenLoss(built, CPU).backward(SAMPLES, 1.0)
    with LargestTensor() as scoring:
        TokenLoss(built, CPU).losses(SAMPLES[:, :-1], SAMPLES[:, 1:])
    assert whole.numbers >= logits
    assert FIVE_TOKENS < scoring.numbers <= training.numbers <= logits / 2


def test_a_network_that_cannot_be_cut_computes_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    # It changes tokens between its decoder and its output layer, without calling them as one.
    built = architectures.small_model("modernbert-decoder")
    loss, expected = by_hand(built, CPU, 1.0)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    losses = TokenLoss(built, CPU)
    assert float(losses.backward(SAMPLES, 1.0)) == pytest.approx(loss, rel=1e-5)
    for name, one in gradients(built).items():
        torch.testing.assert_close(one, expected[name], rtol=1e-4, atol=1e-3, msg=name)
    found = losses.losses(SAMPLES[:, :-1], SAMPLES[:, 1:])
    assert float(found.sum()) == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize(("kind", "can_be_cut"), [("gpt2", True), ("modernbert-decoder", False)])
def test_a_network_is_tried_once_and_not_for_each_batch(
    kind: str, *, can_be_cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, tried = architectures.small_model(kind), list[bool | None]()
    real = token_loss._is_equal  # noqa: SLF001 - the trial

    def try_out(*given: Any) -> bool | None:  # noqa: ANN401 - as the real one
        tried.append(real(*given))
        return tried[-1]

    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    monkeypatch.setattr(token_loss, "_is_equal", try_out)
    for _ in range(2):
        TokenLoss(built, CPU).losses(SAMPLES[:, :-1], SAMPLES[:, 1:])
    assert tried == [can_be_cut]


def test_a_head_that_diverged_does_not_tell_if_a_network_can_be_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = architectures.small_model("gpt2")
    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    for weights in (float("nan"), 0.01):
        with torch.no_grad():
            for one in built.parameters.values():
                one.fill_(weights)
        TokenLoss(built, CPU).losses(SAMPLES[:, :-1], SAMPLES[:, 1:])
        assert built.can_be_cut is (None if math.isnan(weights) else True)


@pytest.mark.parametrize("kind", ["llama", "cohere"])
def test_losses_of_parts_are_those_of_the_whole(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built, targets = architectures.small_model(kind), SAMPLES[:, 1:].clone()
    targets[1, 10:] = IGNORED
    whole = TokenLoss(built, CPU).losses(SAMPLES[:, :-1], targets)
    monkeypatch.setattr(token_loss, "MOST_LOGITS", FIVE_TOKENS)
    parts = TokenLoss(built, CPU).losses(SAMPLES[:, :-1], targets)
    torch.testing.assert_close(parts, whole, rtol=1e-5, atol=1e-5)
    assert parts.shape == targets.shape
    assert not parts[1, 10:].any()
    assert parts[0].gt(0).all()
