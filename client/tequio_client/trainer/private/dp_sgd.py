"""The gradient of a step with differential privacy: DP-SGD (Abadi et al. 2016).

The gradient of each document is computed by itself, scaled down to a norm of at most C, and the sum
over the drawn documents gets Gaussian noise of standard deviation sigma C. A document that is added
or removed moves the sum by at most C, and that is what the noise hides. What the optimiser makes of
the noisy mean needs no more noise, so Muon and AdamW are used as elsewhere.

The sum is divided by the expected number of documents, not by the number drawn, which is private. A
step that draws no document is noise alone. A gradient that is not finite counts as zero: it has no
norm that could be scaled, and would spoil the others.

Opacus gives each module of a network a rule or a copy by `vmap`, and takes three times as long as
`vmap` over the whole network (decision 0061), so only its accountant is used here.

Shapes: B documents, L tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from tequio_client.trainer.device import ComputeDevice, is_out_of_memory
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.private import noise
from tequio_client.trainer.private.noise import RandomBits
from tequio_client.trainer.token_loss import IGNORED, inputs_and_targets

_MOST_NUMBERS = 1 << 28
"""Numbers of the gradients that live at once: 1 GiB."""
_MOST_TOKENS = 4_096
"""Tokens that are computed at once: attention stores a score for each pair of a document's."""
_ROUNDING = 1 - 1e-5
"""Norms are computed in binary32, and may come out too small by less than that."""
Gradients = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateStep:
    """Computes noisy gradients; `expected` is the expected number of documents of a step."""

    model: CausalModel
    device: ComputeDevice
    clip: float
    noise_multiplier: float
    expected: float
    bits: RandomBits

    def compute_gradients(self, samples: Tensor) -> float:
        """Leave the noisy mean of the clipped gradients in the model; returns the summed loss.

        `samples` are those drawn, ids int64 [B, L + 1], B may be 0; the loss of each is the mean
        over its targets, nats. Raises what `is_out_of_memory` knows when not even one
        document fits.
        """
        total, loss = self._sum(samples)
        # In the order of the names, so that a seed gives the same noise again.
        if self.noise_multiplier:
            noise.add_noise(list(total.values()), self.noise_multiplier * self.clip, self.bits)
        for name, parameter in self.model.parameters.items():
            parameter.grad = total[name] / self.expected
        return loss

    def _sum(self, samples: Tensor) -> tuple[dict[str, Tensor], float]:
        """The sum of the clipped gradients and of the losses, for as many at a time as fit."""
        most = self._most_documents(samples.shape[1] - 1)
        while True:
            total = {
                name: torch.zeros_like(one, memory_format=torch.contiguous_format)
                for name, one in self.model.parameters.items()
            }
            try:
                losses = [
                    self._add_clipped(total, part.to(self.device.handle))
                    for part in torch.split(samples, most)
                    if len(part)
                ]
            except RuntimeError as err:
                if not is_out_of_memory(err) or most == 1:
                    raise
                most //= 2
            else:
                return {name: one.detach() for name, one in total.items()}, sum(losses)
            # Not while the error is handled: it holds the tensors of the failed attempt.
            self.device.release_memory()

    def _add_clipped(self, total: Mapping[str, Tensor], samples: Tensor) -> float:
        loss = 0.0
        for gradients, losses in per_sample_gradients(self.model, self.device, samples):
            add_clipped(total, gradients, self.clip)
            loss += float(losses.nan_to_num(0.0, 0.0, 0.0).sum())
        return loss

    def _most_documents(self, length: int) -> int:
        parameters = sum(one.numel() for one in self.model.parameters.values())
        return max(min(_MOST_TOKENS // length, _MOST_NUMBERS // parameters), 1)


@torch.no_grad()
def add_clipped(total: Mapping[str, Tensor], gradients: Gradients, clip: float) -> None:
    """Add gradients [B, ...], each scaled down to a norm of at most `clip`, all tensors together.

    One that is not finite is left out.
    """
    squares = torch.stack([one.flatten(1).square().sum(1) for one in gradients.values()])
    norms = squares.sum(0).sqrt()
    is_finite = torch.isfinite(norms)
    factors = (clip / norms * _ROUNDING).where(norms > clip * _ROUNDING, torch.ones_like(norms))
    kept = factors[is_finite]
    for name, gradient in gradients.items():
        total[name].add_(torch.einsum("i,i...->...", kept, gradient[is_finite]))


def per_sample_gradients(
    model: CausalModel, device: ComputeDevice, samples: Tensor
) -> Iterator[tuple[Gradients, Tensor]]:
    """Gradients of each sample's mean loss, a tensor [b, ...] for each parameter, and losses [b].

    The parts, in order, together have all B samples.
    """
    inputs_bl, targets_bl = inputs_and_targets(samples)
    if isinstance(model.network, Llama):
        yield _vectorised(model, device, inputs_bl, targets_bl)
        return
    # A network of transformers may branch on values, or write to a mask: one after the other.
    for row in range(len(samples)):
        yield _single(model, device, inputs_bl[row : row + 1], targets_bl[row : row + 1])


def _vectorised(
    model: CausalModel, device: ComputeDevice, inputs_bl: Tensor, targets_bl: Tensor
) -> tuple[Gradients, Tensor]:
    def loss(parameters: Gradients, inputs_l: Tensor, targets_l: Tensor) -> Tensor:
        logits_blv = functional_call(model.network, dict(parameters), (inputs_l[None],))
        return _mean_loss(logits_blv[0], targets_l)

    parameters = {name: one.detach() for name, one in model.parameters.items()}
    # The other kernels have no rule for a further dimension, or none on every device. Under vmap
    # types are changed below autograd, so the backward pass needs autocast as well.
    with sdpa_kernel(SDPBackend.MATH), _autocast(device):
        gradients, losses = vmap(grad_and_value(loss), in_dims=(None, 0, 0))(
            parameters, inputs_bl, targets_bl
        )
    return gradients, losses


def _single(
    model: CausalModel, device: ComputeDevice, inputs_bl: Tensor, targets_bl: Tensor
) -> tuple[Gradients, Tensor]:
    with _autocast(device):
        logits_blv = model.logits(inputs_bl)
    loss = _mean_loss(logits_blv[0], targets_bl[0])
    names = list(model.parameters)
    found: Sequence[Tensor | None] = torch.autograd.grad(
        loss, [model.parameters[name] for name in names], allow_unused=True
    )
    gradients = {
        name: (torch.zeros_like(model.parameters[name]) if one is None else one)[None]
        for name, one in zip(names, found, strict=True)
    }
    return gradients, loss.detach()[None]


def _mean_loss(logits_lv: Tensor, targets_l: Tensor) -> Tensor:
    losses = functional.cross_entropy(
        logits_lv.float(), targets_l, ignore_index=IGNORED, reduction="sum"
    )
    return losses / (targets_l != IGNORED).sum().clamp(min=1)


def _autocast(device: ComputeDevice) -> torch.autocast:
    # Not in float16: its small numbers vanish unless the loss is scaled.
    return torch.autocast(
        device.handle.type,
        dtype=torch.bfloat16,
        enabled=device.precision == torch.bfloat16,
        cache_enabled=False,
    )
