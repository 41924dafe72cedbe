"""Whether a run can train a network that is not ours, refused by name and with the way out.

A head is the network's parameters and nothing else, a contribution what training moved of them, and
a score the likelihood of each token after those before it. So all that a network computes with has
to be a parameter or follow from the configuration, a token's prediction may depend on nothing that
comes after it, and each matrix is a tensor of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules import module as modules

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch import Tensor

DECODERS = (
    "GPT-2, Pythia, OLMo 2, Llama, Mistral, Qwen 2 and 3, Gemma 2, Phi-3, SmolLM 3 and others"
)
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What libraries raise for a network that makes no sense to them."""
_PARTS_OF_A_TENSOR = 64  # modules and names for each: wrappers, activations, dropout
_PARTS = 4_096
_TABLES = 1 << 26  # numbers that a network keeps beside its parameters: masks, positions
_PROBE = 16
_APART = 1e-3


def check_network(network: nn.Module, parameters: Mapping[str, nn.Parameter]) -> None:
    """Refuse a network that a head would not be all of; it may be one without memory.

    Raises UserFacingError.
    """
    kept = sorted(network.state_dict().keys() - _named(network))
    if kept:
        raise UserFacingError(
            f"this network keeps numbers that no round trains and no head holds ({kept[0]}): take "
            "another architecture"
        )
    convolved = {id(one.weight) for one in network.modules() if isinstance(one, nn.Conv1d)}
    for name, one in parameters.items():
        if one.dim() > 2 and one.shape[0] > 1 and id(one) not in convolved:  # noqa: PLR2004
            raise UserFacingError(
                f"this network has several matrices in one tensor ({name}, {list(one.shape)}), as "
                "mixtures of experts do: take a dense model of its family"
            )


def check_tables(network: nn.Module) -> None:
    """Refuse a network that would keep far more numbers than it has parameters, on paper.

    Raises UserFacingError.
    """
    tables = sum(one.numel() for one in network.buffers())
    if tables > _TABLES + sum(one.numel() for one in network.parameters()):
        raise UserFacingError(f"the configuration wants tables of {tables} numbers")


def check_causal(read: Callable[[Tensor], Tensor], vocabulary: int, context: int) -> None:
    """Refuse what reads ids [B, L] and does not predict the next; raises UserFacingError.

    `context` is the most inputs it takes, 0 where any number will do.
    """
    length = min(context or _PROBE, _PROBE)
    ids = torch.arange(length).repeat(2, 1) % vocabulary
    ids[1, -1] = (ids[1, -1] + 1) % vocabulary
    try:
        with torch.no_grad():
            logits = read(ids)
    except UNREADABLE as err:
        why = str(err).partition("\n")[0][:300]
        raise UserFacingError(f"this network reads no text: {why}") from err
    if logits.shape[:2] != ids.shape or logits.shape[2] < vocabulary:
        raise UserFacingError(
            f"this network reads {vocabulary} tokens and predicts {list(logits.shape)[1:]}"
        )
    if not torch.isfinite(logits).all():
        raise UserFacingError("this network's predictions are not finite numbers")
    early = (logits[0] - logits[1])[:-1].abs().amax()
    if early > _APART * logits.abs().amax():
        raise UserFacingError(
            "this network's predictions depend on what comes after: it is no decoder; a run trains "
            f"these: {DECODERS}"
        )


@contextmanager
def bounded(tensors: int) -> Iterator[None]:
    """Let a network be built of no more parts than one with so many tensors has.

    Each part takes memory even where its weights take none. Raises UserFacingError at the first
    that is too many.
    """
    most, count = _PARTS + _PARTS_OF_A_TENSOR * tensors, 0

    def part(_module: nn.Module, _name: str, _part: object) -> None:
        nonlocal count
        count += 1
        if count > most:
            raise UserFacingError(f"the configuration asks for more than {most:,} parts")

    handles = (
        modules.register_module_module_registration_hook(part),
        modules.register_module_parameter_registration_hook(part),
    )
    try:
        yield
    finally:
        for one in handles:
            one.remove()


def _named(network: nn.Module) -> set[str]:
    return {name for name, _ in network.named_parameters(remove_duplicate=False)}
