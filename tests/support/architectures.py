"""Tiny networks of architectures that a run can start from, and of others that it cannot.

Transformers itself writes the folders, so that files have the same names as on the Hub. Weights are
larger than usual: a token's likelihood depends on every token before it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch

from tequio_client.trainer import hub_models, model

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.trainer.model import CausalModel

CONTEXT = 64
_LIKE_LLAMA: dict[str, Any] = {
    "vocab_size": 256,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "pad_token_id": 0,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
_SHORT_SIGHT = {"sliding_window": 8, "query_pre_attn_scalar": 8, "head_dim": 16}
_GPT = {"vocab_size": 256, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": CONTEXT}
DECODERS: dict[str, dict[str, Any]] = {
    "gpt2": _GPT,
    "gpt_neox": _LIKE_LLAMA | {"rotary_pct": 0.25},
    "qwen2": _LIKE_LLAMA | {"tie_word_embeddings": True},
    "qwen3": _LIKE_LLAMA | {"head_dim": 16},
    "mistral": _LIKE_LLAMA | {"sliding_window": 8},
    "gemma2": _LIKE_LLAMA | _SHORT_SIGHT,
    "gemma3_text": _LIKE_LLAMA | _SHORT_SIGHT,
    "phi3": _LIKE_LLAMA,
    "olmo2": _LIKE_LLAMA,
    "smollm3": _LIKE_LLAMA,
    "opt": _LIKE_LLAMA | {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "falcon": {name: _LIKE_LLAMA[name] for name in _LIKE_LLAMA if "_value_" not in name},
    "mamba": {"vocab_size": 256, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
}
"""Configurations by model_type."""
NO_DROPOUT = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
"""Fields of a GPT-2 whose training can be repeated."""
_EXPERTS = {
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "head_dim": 16,
}
_ODD: dict[str, dict[str, Any]] = {
    "gemma3n_text": {
        "intermediate_size": [48, 48],
        "num_kv_shared_layers": 0,
        "layer_types": ["full_attention", "sliding_attention"],
        "activation_sparsity_pattern": [0.0, 0.0],
        "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 256,
        "laurel_rank": 4,
        "num_experts_per_tok": None,
    },
    "gpt_neo": {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]},
    "mamba2": {"num_heads": 4, "head_dim": 16, "expand": 2, "state_size": 8, "n_groups": 1},
}
for _name in ("bitnet", "gpt_neox_japanese", "helium", "olmoe", "persimmon", "stablelm"):
    _ODD[_name] = {"head_dim": 8}
_ODD["modernbert-decoder"] = {"head_dim": 8}
for _name in ("codegen", "gptj"):
    _ODD[_name] = {"head_dim": 8, "rotary_dim": 4}
for _name in ("qwen3_5_moe_text", "qwen3_5_text", "qwen3_next"):
    _ODD[_name] = {
        "linear_num_value_heads": 2,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    }
"""Fields of architectures that are shaped like no other."""
_GAP_FILLER = {name: _LIKE_LLAMA[name] for name in _LIKE_LLAMA if "_value_" not in name}
_PICTURES = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 28,
    "patch_size": 14,
}
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "pictures": (
        {"model_type": "gemma3", "text_config": _LIKE_LLAMA, "vision_config": _PICTURES},
        "choose the text model (gemma3_text of gemma3)",
    ),
    "an encoder and a decoder": (
        {"model_type": "bart"},
        "'bart' is not a model_type",
    ),
    "no language model of this kind": (
        {"model_type": "t5"},
        "'t5' is not a model_type",
    ),
    "a filler of gaps": (
        _GAP_FILLER | {"model_type": "bert"},
        "'bert' is not a model_type",
    ),
    "experts": (
        _LIKE_LLAMA | {"model_type": "mixtral", "num_local_experts": 4},
        "several matrices in one tensor (model.layers.0.mlp.experts.down_proj",
    ),
    "numbers beside the weights": (
        _LIKE_LLAMA | {"model_type": "apertus"},
        "not a parameter (model.layers.0.mlp.act_fn.beta)",
    ),
    "positions by the longest text": (
        _LIKE_LLAMA
        | {"model_type": "llama", "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
        "rope_type 'dynamic'",
    ),
    "code of its author": (
        {"model_type": "own_model", "auto_map": {"AutoModelForCausalLM": "code.Own"}},
        "'own_model' is not a model_type",
    ),
    "a shape that is none": (
        _LIKE_LLAMA | {"model_type": "qwen3", "num_hidden_layers": "two"},
        "cannot build a qwen3 model",
    ),
}
"""Configurations that no run can start from, and the error for each."""


def fields_of(name: str) -> dict[str, Any]:
    """Configuration of one of DECODERS."""
    return {"model_type": name} | DECODERS[name]


def small_fields(name: str) -> dict[str, Any]:
    """A small configuration of any kind that may be scored."""
    if name in DECODERS:
        return fields_of(name)
    return {"model_type": name} | _LIKE_LLAMA | _EXPERTS | _ODD.get(name, {})


def small_model(name: str) -> CausalModel:
    """A small network with weights so large that caps on logits change them."""
    built = model.build(json.dumps(small_fields(name)).encode())
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for one in built.parameters.values():
            one.normal_(0, 0.3, generator=chance) if one.dim() > 1 else one.fill_(1.0)
    return built


def write(folder: Path, fields: dict[str, Any], seed: int = 1) -> Path:
    """Write a folder as transformers' save_pretrained does, with weights by chance."""
    network = filled(fields, seed)
    network.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(fields))
    return folder


def filled(fields: dict[str, Any], seed: int = 1) -> Any:  # noqa: ANN401 - any transformers network
    """The network of a configuration, with weights by chance."""
    network: Any = hub_models.build(fields)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3, generator=chance)
            else:
                parameter.add_(torch.randn(parameter.shape, generator=chance) / 8)
    return network
