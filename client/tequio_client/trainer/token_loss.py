"""Cross-entropy of predictions, and its gradient, without all logits of a batch at once.

Logits of 65,536 tokens and 50,000 symbols are 13 GB in binary32. So the network is cut before its
output layer: the trunk computes all tokens, the output layer and the loss `MOST_LOGITS` logits at a
time. Loss and gradient of a part are computed together, so nothing is computed twice: the gradients
of all parts go through the trunk in one backward pass. A batch with fewer logits is not cut.

Beside its logits, a part needs as many numbers again for probabilities, which become the gradient:
8 bytes for each logit, in binary32 and in 16 bits.

Training may add a z-loss to each target's loss: its weight times the square of log Z, the logarithm
of the softmax's denominator (PaLM, arXiv 2204.02311, section 5; ST-MoE, arXiv 2202.08906). A weight
z makes the gradient of a logit p (1 + 2 z log Z) instead of p, less 1 at the target. Losses that
are returned are always the cross-entropy alone.

Samples are ids, int64 [B, L + 1]. An id that is not to be predicted, such as one of a user's words
in a conversation, is written as its complement `~id`: it is an input, and no target.

Shapes: B samples, L tokens, D hidden, V vocabulary, n tokens of a part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tequio_client.trainer.compiled import compiled, why_not
from tequio_client.trainer.device import FORWARD_ERRORS, ComputeDevice, is_out_of_memory
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.model import CausalModel

MOST_LOGITS = 1 << 26
"""Logits that live at once: 512 MiB with their gradient.

Of 50,000 symbols these are 1,300 tokens. With many fewer, an accelerator would spend more time on
adding up the output layer's gradient, part by part, than on computing it.
"""
COMPILED_LOGITS = 1 << 27
"""As many bytes: compiled, logits and their gradient are all that there is, of 2 bytes each."""
_LARGE_MB = 20_000
"""A card with more memory takes twice as many at once."""
_EVEN = 128
"""Tokens of a part are a multiple of this: the units of a card multiply whole tiles."""
IGNORED = -100
"""Target without a loss."""
_LossKernel = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
_APART = 1e-4
_PROBE = 4


class TokenLoss:
    """Losses of one model on one device; at most `MOST_LOGITS` logits live at once.

    A network of transformers that cannot be cut computes all logits at once.
    """

    def __init__(
        self,
        model: CausalModel,
        device: ComputeDevice,
        most_logits: int | None = None,
        *,
        z_loss: float = 0.0,
    ) -> None:
        """`most_logits` replaces `MOST_LOGITS`; `z_loss` is a weight, for gradients only."""
        self._model, self._device, self._z_loss = model, device, z_loss
        self._vocabulary = _output_rows(model)
        self._cut: _CutNetwork | None = None
        self._fused: _LossKernel | None = None
        self._most = most_logits or MOST_LOGITS
        if most_logits is None and device.precision != torch.float32 and not why_not(device.handle):
            self._fused = compiled(_loss_and_gradient, device.handle)
            self._most = COMPILED_LOGITS * (2 if device.memory_mb > _LARGE_MB else 1)

    def backward(self, samples: Tensor, scale: float) -> Tensor:
        """Add the gradient of `scale` times the summed loss, with its z-loss.

        Returns the summed cross-entropy, nats.
        """
        inputs_bl, targets_bl = inputs_and_targets(samples)
        targets = targets_bl.flatten()
        cut = self._network_for(inputs_bl)
        if cut is None:
            with self._device.autocast():
                logits_blv = self._model.logits(inputs_bl)
            return _backward(logits_blv.flatten(0, 1), targets, scale, self._z_loss)
        with self._device.autocast():
            hidden_bld = cut.trunk(inputs_bl)
        hidden_nd, backward = hidden_bld.detach().flatten(0, 1), _backward
        if self._fused is not None:
            hidden_nd, targets = self._padded(hidden_nd, targets)
            backward = partial(_fused_backward, self._fused)
        gradient_nd = torch.zeros_like(hidden_nd)
        total = torch.zeros((), device=hidden_nd.device)
        for part in self._parts(len(hidden_nd)):
            given = hidden_nd[part].requires_grad_()
            with self._device.autocast():
                # Not [0]: the gradient of an index is a copy within zeros, as large as the logits.
                logits_nv = cut.output(given[None]).squeeze(0)
            total += backward(logits_nv, targets[part], scale, self._z_loss)
            if given.grad is not None:
                gradient_nd[part] = given.grad
        gradient_bld = gradient_nd[: inputs_bl.numel()].view_as(hidden_bld)
        _propagate(gradient_bld, hidden_bld)
        return total

    def _padded(self, hidden_nd: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the last part with tokens that have no loss: a new size would need a new kernel."""
        rest = -len(hidden_nd) % self._part_size
        return (
            functional.pad(hidden_nd, (0, 0, 0, rest)),
            functional.pad(targets, (0, rest), value=IGNORED),
        )

    @torch.no_grad()
    def losses(self, inputs_bl: Tensor, targets_bl: Tensor) -> Tensor:
        """Nats of each target, float32 [B, L]; 0 for those that are `IGNORED`."""
        targets, cut = targets_bl.flatten(), self._network_for(inputs_bl)
        with self._device.autocast():
            if cut is None:
                logits_blv = self._model.logits(inputs_bl)
                return _losses(logits_blv.flatten(0, 1), targets).view(targets_bl.shape)
            hidden_nd = cut.trunk(inputs_bl).flatten(0, 1)
            found = [
                _losses(cut.output(hidden_nd[None, part])[0], targets[part])
                for part in self._parts(len(hidden_nd))
            ]
        return torch.cat(found).view(targets_bl.shape)

    def _network_for(self, inputs_bl: Tensor) -> _CutNetwork | None:
        """The cut network for a batch with too many logits; None to compute the whole one."""
        if inputs_bl.numel() * self._vocabulary <= self._most:
            return None
        if self._cut is None:
            self._cut = _cut_network(self._model, inputs_bl.device)
            if self._cut is None:
                self._vocabulary = 0  # it cannot be cut, and is not asked again
        return self._cut

    @property
    def _part_size(self) -> int:
        size = max(self._most // self._vocabulary, 1)
        return size - (size % _EVEN if size > _EVEN else 0)

    def _parts(self, tokens: int) -> Iterator[slice]:
        size = self._part_size
        return (slice(at, at + size) for at in range(0, tokens, size))


def inputs_and_targets(samples: Tensor) -> tuple[Tensor, Tensor]:
    """Ids [B, L] that are read, and those [B, L] that are predicted after each; some `IGNORED`."""
    inputs = torch.where(samples < 0, ~samples, samples)[:, :-1]
    return inputs, samples.masked_fill(samples < 0, IGNORED)[:, 1:]


def count_targets(samples: Tensor) -> int:
    """The targets that have a loss."""
    return int((samples[:, 1:] >= 0).sum())


def _backward(logits_nv: Tensor, targets: Tensor, scale: float, z_loss: float) -> Tensor:
    with torch.no_grad():
        log_odds = torch.log_softmax(logits_nv, 1, dtype=torch.float32)
        at = targets.clamp(min=0)[:, None]
        is_counted = (targets != IGNORED)[:, None]
        loss = -(log_odds.gather(1, at) * is_counted).sum()
        if z_loss:
            # Of the largest logit, which is finite: log Z without another tensor of all logits.
            log_z = logits_nv.amax(1, keepdim=True).float() - log_odds.amax(1, keepdim=True)
        gradient = log_odds.exp_()
        if z_loss:
            gradient.mul_(1 + 2 * z_loss * log_z)
        gradient.scatter_(1, at, gradient.gather(1, at) - 1).mul_(is_counted * scale)
    _propagate(gradient.to(logits_nv.dtype), logits_nv)
    return loss


def _fused_backward(
    fused: _LossKernel, logits_nv: Tensor, targets: Tensor, scale: float, z_loss: float
) -> Tensor:
    with torch.no_grad():
        # Tensors: another number would need another kernel.
        unit, weight = torch.tensor([scale, z_loss], device=logits_nv.device)
        loss, gradient = fused(logits_nv.detach(), targets, unit, weight)
    _propagate(gradient, logits_nv)
    return loss


def _propagate(gradient: Tensor, output: Tensor) -> None:
    """Propagate the gradient of an output back to the weights.

    `output.backward(gradient)` does the same, but imports sympy to compare two shapes, which delays
    a trainer's first step (decision 0005). The backward pass of a scalar imports nothing.
    """
    _WithGradient.apply(output, gradient).backward()  # type: ignore[no-untyped-call]  # torch's


class _WithGradient(torch.autograd.Function):
    """A scalar whose derivative by its first argument is the second."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, gradient: Tensor) -> Tensor:  # noqa: ANN401 - torch's
        ctx.save_for_backward(gradient)
        return output.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 - torch's
        (gradient,) = ctx.saved_tensors
        return gradient, None


def _loss_and_gradient(
    logits_nv: Tensor, targets: Tensor, scale: Tensor, z_loss: Tensor
) -> tuple[Tensor, Tensor]:
    """Summed loss, and its gradient times `scale`: one kernel that reads the logits twice."""
    wide, at = logits_nv.float(), targets.clamp(min=0)[:, None]
    total = torch.logsumexp(wide, 1, keepdim=True)
    is_counted = (targets != IGNORED)[:, None]
    loss = ((total - wide.gather(1, at)) * is_counted).sum()
    hit = torch.arange(wide.shape[1], device=wide.device)[None] == at
    odds = (wide - total).exp() * (1 + 2 * z_loss * total)
    gradient = (odds - hit.float()) * (is_counted * scale)
    return loss, gradient.to(logits_nv.dtype)


def _losses(logits_nv: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(
        logits_nv.float(), targets, ignore_index=IGNORED, reduction="none"
    )


@dataclass(frozen=True, slots=True)
class _CutNetwork:
    """A network as ids [B, L] to [B, L, D], and [B, L, D] to logits [B, L, V]."""

    trunk: Callable[[Tensor], Tensor]
    output: Callable[[Tensor], Tensor]


def _output_rows(model: CausalModel) -> int:
    """Logits of a token; 0 for a network without a known output layer."""
    network = model.network
    if model.plain is not None:
        return 0
    if isinstance(network, Llama):
        return network.config.vocab_size
    head = network.get_output_embeddings()  # type: ignore[operator]  # transformers' method
    weight = getattr(getattr(head, "matrix", head), "weight", None)  # beside adapters it is frozen
    return len(weight) if isinstance(weight, Tensor) else 0


def _cut_network(model: CausalModel, device: torch.device) -> _CutNetwork | None:
    network = model.network
    if isinstance(network, Llama):
        return _CutNetwork(lambda ids_bl: network.model(ids_bl, model.separator), network.lm_head)
    cut = _cut_decoder(model)
    if model.can_be_cut is None:
        model.can_be_cut = _is_equal(model, cut, device)
    return cut if model.can_be_cut else None


def _cut_decoder(model: CausalModel) -> _CutNetwork:
    """Cut a network of transformers behind its decoder.

    What follows it differs: some scale logits, some cap them. So the network's own `forward`
    computes the output, while its decoder returns what it is given.
    """
    network = model.network
    decoder: Any = network.get_decoder()  # type: ignore[operator]  # transformers' method
    kinds: list[type] = []  # of the decoder's output

    def trunk(ids_bl: Tensor) -> Tensor:
        found = decoder(**model.hub_inputs(ids_bl))
        kinds[:] = [type(found)]
        hidden_bld: Tensor = found.last_hidden_state
        return hidden_bld

    def output(hidden_bld: Tensor) -> Tensor:
        ids_bl = torch.zeros(hidden_bld.shape[:2], dtype=torch.int64, device=hidden_bld.device)
        decoder.forward = lambda *_, **__: kinds[0](last_hidden_state=hidden_bld)
        try:
            logits: Tensor = network(input_ids=ids_bl, use_cache=False).logits
        finally:
            del decoder.forward  # the class has the real one
        return logits

    return _CutNetwork(trunk, output)


def _is_equal(model: CausalModel, cut: _CutNetwork, device: torch.device) -> bool | None:
    """True if the cut network predicts what the whole one does, for a few tokens.

    None if the weights are such that predictions are not finite.
    """
    # A network that does not call its decoder as a module, or mixes tokens behind it, fails here.
    network = model.network
    ids_bl = torch.arange(_PROBE, device=device).view(2, -1) % _output_rows(model)
    is_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            whole = model.logits(ids_bl).flatten(0, 1)
            hidden_nd = cut.trunk(ids_bl).flatten(0, 1)
            parts = torch.cat([cut.output(one[None, None])[0] for one in hidden_nd])
        largest = float(whole.abs().max())
        if not math.isfinite(largest):
            return None
        return torch.allclose(parts, whole, rtol=_APART, atol=_APART * largest)
    except FORWARD_ERRORS as err:
        if is_out_of_memory(err):
            raise
        return False
    finally:
        network.train(is_training)
