"""Networks that transformers builds, from its own code alone and without any download.

Importing this module costs 120 MB and seconds, so it is only imported for a network that is not a
Llama (`llama.py`).

What a network has to be for a run is checked by `network_checks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from torch import nn
from torch.nn.modules import module as modules
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, PreTrainedConfig
from transformers.integrations import hub_kernels

from tequio_client.trainer.model_config import check_rope
from tequio_shared.errors import UserFacingError

_PARTS_OF_A_TENSOR = 64  # modules and parameters for each: wrappers, activations, dropout
_PARTS = 4_096
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
        network = AutoModelForCausalLM.from_config(
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
