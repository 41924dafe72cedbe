"""Tiny networks of architectures that a run can start from, and of others that it cannot.

Transformers itself writes the folders, so that files have the same names as on the Hub. Weights are
larger than usual: a token's likelihood depends on every token before it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch

from tequio_client.trainer import hub_models

if TYPE_CHECKING:
    from pathlib import Path

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
        "gemma3 consists of several networks (text_config, vision_config)",
    ),
    "an encoder and a decoder": ({"model_type": "bart"}, "no decoder for bart"),
    "no language model of this kind": ({"model_type": "t5"}, "no decoder for t5"),
    "a filler of gaps": (_GAP_FILLER | {"model_type": "bert"}, "no decoder for bert"),
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
        "does not know the model_type 'own_model'",
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


def write(folder: Path, fields: dict[str, Any], seed: int = 1) -> Path:
    """Write a folder as transformers' save_pretrained does, with weights by chance."""
    network: Any = hub_models.build(fields)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3, generator=chance)
            else:
                parameter.add_(torch.randn(parameter.shape, generator=chance) / 8)
    network.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(fields))
    return folder
