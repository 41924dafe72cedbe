"""Networks that transformers builds, from its own code alone and without asking anybody for more.

Importing this costs 120 MB and seconds, so it is done where a network is not our own Llama.
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

UNBUILDABLE = (
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
"""What transformers raises for configurations that make no sense to it."""
hub_kernels._kernels_enabled = False  # noqa: SLF001 - else it fetches code where `kernels` is there
_TEXT_ALONE = ("attn_config", "ffn_config")  # parts of a configuration that are no other network
_ROPE_KINDS = ("rope_type", "type")
_SAID, _WHY = 60, 300


def build(fields: dict[str, Any]) -> nn.Module:  # JSON of any model
    """Build any causal language model that transformers knows; raises UserFacingError."""
    config = configured(fields)
    try:
        network = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]  # transformers
            config, trust_remote_code=False, dtype=torch.float32
        )
    except UNBUILDABLE as err:
        raise _cannot_build(fields, err) from err
    if not isinstance(network, nn.Module):
        raise UserFacingError(f"transformers gave a {type(network).__name__}, no network")
    return network


def configured(fields: Mapping[str, Any]) -> PreTrainedConfig:  # JSON of any model
    """Read the fields as transformers does, with its defaults; raises UserFacingError."""
    if fields["model_type"] not in CONFIG_MAPPING:
        raise UserFacingError(
            f"transformers {transformers.__version__} knows no model_type "
            f"{str(fields['model_type'])[:_SAID]!r}, and code of a model's author is never run"
        )
    try:
        return AutoConfig.for_model(**{**fields, "return_dict": True})  # else it gives tuples
    except UNBUILDABLE as err:
        raise _cannot_build(fields, err) from err


def check_kind(fields: Mapping[str, Any]) -> None:  # JSON of any model
    """Refuse what is no decoder of text alone, before anything is built of it.

    Raises UserFacingError.
    """
    config, kind = configured(fields), str(fields["model_type"])[:_SAID]
    others = [name for name in config.sub_configs if name not in _TEXT_ALONE]
    if others:
        raise UserFacingError(
            f"{kind} is made of several networks ({', '.join(others)}), and a run trains one of "
            "text: take the text model of its family alone (gemma3_text is one)"
        )
    is_gap_filler = kind in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_decoder = kind in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if config.is_encoder_decoder or is_gap_filler or not is_decoder:
        raise UserFacingError(
            f"{kind} is no decoder that predicts each token from those before it, as transformers "
            f"has it; a run trains these: {fitness.DECODERS}"
        )
    if _is_dynamic(fields):
        raise UserFacingError(
            "rope_type 'dynamic' has predictions depend on the longest text read before; set it to "
            "'default' in a copy of config.json: up to max_position_embeddings that is the same"
        )


def _is_dynamic(fields: Mapping[str, Any]) -> bool:  # JSON of any model
    """Whether any rope field, one for all layers or one for each kind, says so."""
    for name, value in fields.items():
        if isinstance(value, dict) and (name.startswith("rope") or name.endswith("_attention")):
            kinds = {str(value.get(one)) for one in _ROPE_KINDS}
            if any("dynamic" in one for one in kinds) or _is_dynamic(value):
                return True
    return False


def _cannot_build(fields: Mapping[str, Any], err: Exception) -> UserFacingError:
    """Say the beginning of what transformers says in paragraphs."""
    kind, why = str(fields["model_type"])[:_SAID], " ".join(str(err).split())[:_WHY]
    return UserFacingError(f"cannot build a {kind} model: {why}")
