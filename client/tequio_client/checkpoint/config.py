"""The configuration files of an exported folder, as functions of the run's documents alone.

So whoever has the run's manifest can make them anew, and see whether a folder's are those.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from tequio_shared.corpus import Corpus
    from tequio_shared.lora import Base

_CODE = (
    "auto_map",
    "attn_implementation",
    "experts_implementation",
    "custom_pipelines",
    "quantization_config",
    "trust_remote_code",
    "use_pretrained_backbone",
    "use_timm_backbone",
    "name_or_path",
)
"""Fields that point at code or files of somebody's; the trainer drops the same ones."""
_CLASSES = {"llama": "LlamaForCausalLM"}
"""Named for programs that ask for the class; transformers needs the model's type alone."""


def config(raw: bytes) -> bytes:
    """config.json of the folder, from the run's configuration; raises MalformedError.

    It loads no code, and says that the weights are binary32.
    """
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as err:
        raise MalformedError(f"the run's configuration is not JSON: {err}") from err
    if not isinstance(fields, dict) or not isinstance(fields.get("model_type"), str):
        raise MalformedError("the run's configuration names no model_type")
    kept = _without_code(fields)
    kept.pop("torch_dtype", None)
    kept["dtype"] = "float32"
    if not kept.get("architectures") and kept["model_type"] in _CLASSES:
        kept["architectures"] = [_CLASSES[kept["model_type"]]]
    return _json(kept)


def adapter(base: Base) -> bytes:
    """adapter_config.json of a head of adapters, as the peft package reads it."""
    fields = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base.source or None,
        "revision": base.revision or None,
        "r": base.rank,
        "lora_alpha": base.alpha,
        "lora_dropout": 0.0,
        "target_modules": list(base.targets),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
    }
    return _json(fields)


def generation(corpus: Corpus) -> bytes:
    """generation_config.json: a text begins and ends with the separator."""
    one = corpus.separator
    return _json({"bos_token_id": one, "eos_token_id": one, "pad_token_id": one})


def _without_code(fields: dict[str, Any]) -> dict[str, Any]:  # JSON of any model
    return {
        name: _without_code(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if not name.lstrip("_").startswith(_CODE)
    }


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n"
