"""Checks of a network that somebody else wrote, which a run has to train and publish whole.

A head is the network's parameters and nothing else, a contribution is their change by training, and
a score is the likelihood of each token after those before it. So a network may compute only with
parameters and what follows from the configuration, a prediction may depend on nothing that comes
after it, and each matrix has to be a tensor of its own. The checks name an alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from tequio_client.trainer.device import FORWARD_ERRORS
from tequio_client.trainer.model_config import FAMILIES
from tequio_shared.errors import UserFacingError

_TABLES = 1 << 26  # numbers that a network keeps beside its parameters: masks, positions
_PROBE = 16
_APART = 1e-3


def check_network(network: nn.Module, parameters: Mapping[str, nn.Parameter]) -> None:
    """Raise UserFacingError for a network with state outside its parameters, or with experts."""
    named = {name for name, _ in network.named_parameters(remove_duplicate=False)}
    if others := sorted(network.state_dict().keys() - named):
        raise UserFacingError(
            f"this network has saved state that is not a parameter ({others[0]}), which a run "
            "cannot train or publish: choose another architecture"
        )
    convolved = {id(one.weight) for one in network.modules() if isinstance(one, nn.Conv1d)}
    for name, one in parameters.items():
        if one.dim() > 2 and one.shape[0] > 1 and id(one) not in convolved:  # noqa: PLR2004
            raise UserFacingError(
                f"this network has several matrices in one tensor ({name}, {list(one.shape)}), as "
                "mixtures of experts do: choose a dense model of its family"
            )


def check_tables(network: nn.Module) -> None:
    """Raise UserFacingError for a network on "meta" whose tables would fill the memory."""
    tables = sum(one.numel() for one in network.buffers())
    if tables > _TABLES + sum(one.numel() for one in network.parameters()):
        raise UserFacingError(
            f"the configuration asks for tables of {tables:,} numbers, which is too many"
        )


def chance_fields(network: nn.Module) -> dict[str, float]:
    """List the fields of a configuration because of which the network's training is random.

    They are those of dropout and of noise, with their values: none if nothing in the network draws.
    A value of a configuration alone proves nothing, since heads that a run does not train have some
    (`classifier_dropout`).
    """
    if not any(_draws(one) for one in network.modules()):
        return {}
    fields = network.config.to_dict()  # type: ignore[union-attr,operator]  # of transformers
    nested = [one for one in fields.values() if isinstance(one, dict)]
    return {
        name: value
        for part in (fields, *nested)
        for name, value in part.items()
        if _is_chance(name, value)
    }


def _draws(module: nn.Module) -> bool:
    own = vars(module)
    is_dropout = "Dropout" in type(module).__name__ and own.get("p", 0) > 0
    return is_dropout or any(_is_chance(name, value) for name, value in own.items())


def _is_chance(name: str, value: object) -> bool:
    is_positive = isinstance(value, int | float) and value is not True and value > 0
    return is_positive and ("drop" in name or "jitter" in name)


def check_causal(read: Callable[[Tensor], Tensor], vocabulary: int, context: int) -> None:
    """Raise UserFacingError for a network that does not predict the next token from ids [B, L].

    `context` is the largest number of inputs, 0 if there is none.
    """
    # Two texts that differ in the last token alone have to get the same predictions before it.
    length = min(context or _PROBE, _PROBE)
    ids = torch.arange(length).repeat(2, 1) % vocabulary
    ids[1, -1] = (ids[1, -1] + 1) % vocabulary
    try:
        with torch.no_grad():
            logits = read(ids)
    except FORWARD_ERRORS as err:
        why = str(err).partition("\n")[0][:300]
        raise UserFacingError(f"this network cannot read token ids: {why}") from err
    if logits.shape[:2] != ids.shape or logits.shape[2] < vocabulary:
        raise UserFacingError(
            f"this network has {vocabulary} tokens, but its predictions have the shape "
            f"{list(logits.shape)[1:]}"
        )
    if not torch.isfinite(logits).all():
        raise UserFacingError("this network predicts infinite or NaN values")
    early = (logits[0] - logits[1])[:-1].abs().amax()
    if early > _APART * logits.abs().amax():
        raise UserFacingError(
            "this network's predictions depend on later tokens, so it is not a decoder; a run can "
            f"train {FAMILIES}"
        )
