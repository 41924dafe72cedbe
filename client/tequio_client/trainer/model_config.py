"""Configurations of models, read as data: no code of their authors runs, and sizes are limited.

A module of its own without torch, because exports apply the same rules to the configurations that
they write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tequio_shared.errors import UserFacingError

CODE_PREFIXES = (
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
"""Fields that name code or files of the model's author, such as a kernel on the Hub."""
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
_MOST_LISTED = 4_096  # experts, labels of a classifier: each takes memory
CONTEXT_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
"""Fields with the largest number of inputs, the most common name first."""


def parse_config(config: bytes) -> dict[str, Any]:  # JSON of any model
    """The fields, without those that name code or files; raises UserFacingError."""
    try:
        fields = json.loads(config)
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"the model's configuration is not valid JSON: {err}") from err
    if not isinstance(fields, dict) or "model_type" not in fields:
        raise UserFacingError("the model's configuration has no model_type")
    return without_code(fields)


def without_code(fields: dict[str, Any]) -> dict[str, Any]:  # JSON of any model
    """Drop fields that name code or files, at every depth: libraries would download it."""
    return {
        name: without_code(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if not name.lstrip("_").startswith(CODE_PREFIXES)
    }


def check_sizes(fields: Mapping[str, Any], tensors: int) -> None:
    """Raise UserFacingError for more layers, experts or labels than a model can have."""
    # A layer takes memory even where its weights take none, and each has at least one tensor.
    for name, value in fields.items():
        if isinstance(value, dict):
            check_sizes(value, tensors)
        is_listed = "expert" in name or "labels" in name
        most = tensors if name in _LAYERS else _MOST_LISTED if is_listed else None
        if most is not None and isinstance(value, int) and value > most:
            raise UserFacingError(
                f"the configuration's {name} is {value:,}, but at most {most:,} are allowed"
            )
        if name == "attention_types" and _repeated(value) > tensors:
            raise UserFacingError(f"the configuration's {name} has more layers than tensors")


def _repeated(types: Any) -> int:  # noqa: ANN401 - JSON of any model
    """Layers in GPT-Neo's field: [[kinds, repetitions], ...]."""
    try:
        return sum(len(kinds) * max(int(often), 0) for kinds, often in types)
    except (TypeError, ValueError):
        return 0  # building the network will fail with a message
