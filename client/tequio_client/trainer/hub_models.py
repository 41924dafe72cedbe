"""Networks that transformers builds, from its own code alone and without any download.

Importing this module costs 120 MB and seconds, so it is only imported for a network that is not a
Llama (`llama.py`).

A head is the network's parameters and nothing else, a contribution is their change by training, and
a score is the likelihood of each token after those before it. So a network may compute only with
parameters and what follows from the configuration, a prediction may depend on nothing that comes
after it, and each matrix has to be a tensor of its own. The checks of this name an alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor, nn
from torch.nn.modules import module as modules
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, PreTrainedConfig
from transformers.integrations import hub_kernels

from tequio_client.trainer.device import FORWARD_ERRORS
from tequio_client.trainer.model_config import FAMILIES, check_rope
from tequio_shared.errors import UserFacingError

_PARTS_OF_A_TENSOR = 64  # modules and parameters for each: wrappers, activations, dropout
_PARTS = 4_096
_TABLES = 1 << 26  # numbers that a network keeps beside its parameters: masks, positions
_PROBE = 16
_APART = 1e-3
BUILD_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    StrictDataclassError,
    TypeError,
    ValueError,
)
"""Exceptions of transformers for configurations that make no sense to it."""
hub_kernels._kernels_enabled = False  # noqa: SLF001 - else it downloads code where `kernels` is installed
_KIND_CHARS, _WHY_CHARS = 60, 300


def build(fields: dict[str, Any]) -> nn.Module:  # JSON of any model
    """Build any causal language model that transformers knows; raises UserFacingError."""
    config = configure(fields)
    try:
        network = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]  # transformers
            config, trust_remote_code=False, dtype=torch.float32
        )
    except BUILD_ERRORS as err:
        raise _cannot_build(fields, err) from err
    if not isinstance(network, nn.Module):
        raise UserFacingError(
            f"transformers returned a {type(network).__name__} instead of a network"
        )
    return network


def configure(fields: Mapping[str, Any]) -> PreTrainedConfig:  # JSON of any model
    """The configuration with the defaults of transformers; raises UserFacingError."""
    if fields["model_type"] not in CONFIG_MAPPING:
        raise UserFacingError(
            f"transformers {transformers.__version__} does not know the model_type "
            f"{str(fields['model_type'])[:_KIND_CHARS]!r}, and code of a model's author never runs"
        )
    try:
        found = AutoConfig.for_model(**{**fields, "return_dict": True})  # else it returns tuples
    except BUILD_ERRORS as err:
        raise _cannot_build(fields, err) from err
    check_rope(found.to_dict())
    return found


def _cannot_build(fields: Mapping[str, Any], err: Exception) -> UserFacingError:
    # transformers writes paragraphs: the beginning is enough.
    kind, why = str(fields["model_type"])[:_KIND_CHARS], " ".join(str(err).split())[:_WHY_CHARS]
    return UserFacingError(f"cannot build a {kind} model: {why}")


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


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Keep the parameters of a network that is built inside the block on "meta", without memory.

    `torch.device("meta")` would leave its buffers there too, such as speeds of rotary positions.
    """

    def moved(_module: nn.Module, _name: str, one: nn.Parameter | None) -> nn.Parameter | None:
        if one is None or one.is_meta:  # a tied one, which has to stay the same object
            return None
        return nn.Parameter(one.to("meta"), requires_grad=False)

    handle = modules.register_module_parameter_registration_hook(
        moved  # type: ignore[arg-type]  # torch's types leave out its result, which replaces `one`
    )
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def limit_modules(tensors: int) -> Iterator[None]:
    """Limit the parts of a network that is built inside the block; raises UserFacingError."""
    # Each module takes memory even on "meta": a configuration of a hundred bytes could ask for
    # millions of them.
    most, count = _PARTS + _PARTS_OF_A_TENSOR * tensors, 0

    def part(_module: nn.Module, _name: str, _part: object) -> None:
        nonlocal count
        count += 1
        if count > most:
            raise UserFacingError(
                f"the configuration asks for more than {most:,} modules and parameters"
            )

    handles = (
        modules.register_module_module_registration_hook(part),
        modules.register_module_parameter_registration_hook(part),
    )
    try:
        yield
    finally:
        for one in handles:
            one.remove()
