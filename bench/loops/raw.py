"""A hand-written training loop, the reference for the trainer's own loop.

transformers' Llama, autograd, Muon and AdamW written out tensor by tensor; no windows, commands or
data files.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

RATE = 1e-3


def raw_speed(network: nn.Module, batches: Sequence[Tensor]) -> float:
    """Steps per second over these batches, ids [B, L + 1] each."""
    outer = ("embed_tokens", "lm_head")
    muon: list[nn.Parameter] = []
    adam: list[nn.Parameter] = []
    for name, one in network.named_parameters():
        (muon if one.dim() > 1 and not any(part in name for part in outer) else adam).append(one)
    state = {one: (torch.zeros_like(one), torch.zeros_like(one)) for one in network.parameters()}
    begun = time.perf_counter()
    for step, batch in enumerate(batches, 1):
        logits = network(input_ids=batch[:, :-1], use_cache=False).logits
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        network.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        with torch.no_grad():
            for one in muon:
                _muon(one, state[one][0])
            for one in adam:
                _adam(one, state[one], step)
    return len(batches) / (time.perf_counter() - begun)


def _muon(parameter: nn.Parameter, momentum: Tensor) -> None:
    momentum.mul_(0.95).add_(_gradient(parameter))
    update = _gradient(parameter) + 0.95 * momentum
    turned = update.shape[0] > update.shape[1]
    wide = update.T if turned else update
    wide = wide / (wide.norm() + 1e-7)
    for _ in range(5):
        gram = wide @ wide.T
        wide = 3.4445 * wide + (-4.7750 * gram + 2.0315 * gram @ gram) @ wide
    parameter.sub_(wide.T if turned else wide, alpha=RATE * 0.2 * max(update.shape) ** 0.5)


def _gradient(parameter: nn.Parameter) -> Tensor:
    if parameter.grad is None:
        raise RuntimeError("a parameter has no gradient: the loss does not depend on it")
    return parameter.grad


def _adam(parameter: nn.Parameter, state: tuple[Tensor, Tensor], step: int) -> None:
    first, second = state
    grad = _gradient(parameter)
    first.lerp_(grad, 0.1)
    second.mul_(0.95).addcmul_(grad, grad, value=0.05)
    scale = (second / (1 - 0.95**step)).sqrt_().add_(1e-8)
    parameter.addcdiv_(first, scale, value=-RATE / (1 - 0.9**step))
