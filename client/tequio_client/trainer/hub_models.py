"""Networks that transformers builds, from its own code alone and without any download.

Importing this module costs 120 MB and seconds, so it is only imported for a network that is not a
Llama (`llama.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from torch import nn
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM
from transformers.integrations import hub_kernels
from transformers.models.auto import modeling_auto

from tequio_client.trainer import fitness
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transformers import PreTrainedConfig

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
_TEXT_ALONE = ("attn_config", "ffn_config")  # sub-configurations without a network of their own
_ROPE_KINDS = ("rope_type", "type")
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
        return AutoConfig.for_model(**{**fields, "return_dict": True})  # else it returns tuples
    except BUILD_ERRORS as err:
        raise _cannot_build(fields, err) from err


def check_decoder(fields: Mapping[str, Any]) -> None:  # JSON of any model
    """Raise UserFacingError unless this is a decoder of text alone; nothing is built."""
    config, kind = configure(fields), str(fields["model_type"])[:_KIND_CHARS]
    others = [name for name in config.sub_configs if name not in _TEXT_ALONE]
    if others:
        raise UserFacingError(
            f"{kind} consists of several networks ({', '.join(others)}), and a run trains a single "
            "text model: choose the text model of its family (gemma3_text is one)"
        )
    is_gap_filler = kind in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_decoder = kind in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if config.is_encoder_decoder or is_gap_filler or not is_decoder:
        raise UserFacingError(
            f"transformers has no decoder for {kind} that predicts each token from those before "
            f"it; a run can train {fitness.SUPPORTED_DECODERS}"
        )
    if _is_dynamic(fields):
        raise UserFacingError(
            "rope_type 'dynamic' makes predictions depend on the longest text read before; set it "
            "to 'default' in a copy of config.json: up to max_position_embeddings that is the same"
        )


def _is_dynamic(fields: Mapping[str, Any]) -> bool:  # JSON of any model
    """True if any rope field, one for all layers or one for each kind, is dynamic."""
    for name, value in fields.items():
        if isinstance(value, dict) and (name.startswith("rope") or name.endswith("_attention")):
            kinds = {str(value.get(one)) for one in _ROPE_KINDS}
            if any("dynamic" in one for one in kinds) or _is_dynamic(value):
                return True
    return False


def _cannot_build(fields: Mapping[str, Any], err: Exception) -> UserFacingError:
    # transformers writes paragraphs: the beginning is enough.
    kind, why = str(fields["model_type"])[:_KIND_CHARS], " ".join(str(err).split())[:_WHY_CHARS]
    return UserFacingError(f"cannot build a {kind} model: {why}")
