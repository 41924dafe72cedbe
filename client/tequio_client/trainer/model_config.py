"""Configurations of models, read as data: no code of their authors runs, and sizes are limited.

A head is trained, and a model is scored, to predict each token from those before it. Transformers
computes many networks that read later tokens too, some of them by a single field that their own
configuration class does not list (`is_causal`). So only kinds are accepted whose masks were read
and tried, and no field may change a mask. `causality.py` tries each model again as it is scored.

A module of its own without torch, because exports apply the same rules to the configurations that
they write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import Refusal

CAUSAL_KINDS = frozenset({
    "afmoe", "apertus", "arcee", "biogpt", "bitnet", "bloom", "codegen", "cohere", "cohere2",
    "ctrl", "cwm", "diffllama", "doge", "ernie4_5", "ernie4_5_moe", "exaone4", "exaone_moe",
    "falcon", "falcon_mamba", "flex_olmo", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "glm",
    "glm4", "glm4_moe", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gpt_neox_japanese",
    "gpt_oss", "gptj", "granite", "granitemoe", "granitemoeshared", "helium", "hunyuan_v1_dense",
    "hunyuan_v1_moe", "jais2", "jamba", "jetmoe", "lfm2", "llama", "llama4_text", "mamba",
    "mamba2", "ministral", "ministral3", "mistral", "mixtral", "modernbert-decoder",
    "mpt", "nanochat", "nemotron", "olmo", "olmo2", "olmo3", "olmo_hybrid", "olmoe", "openai-gpt",
    "opt", "persimmon", "phi", "phi3", "phimoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_5_moe_text",
    "qwen3_5_text", "qwen3_moe", "qwen3_next", "recurrent_gemma", "rwkv", "seed_oss", "smollm3",
    "stablelm", "starcoder2", "vaultgemma", "xglm", "xlstm",
})  # fmt: skip  # one a line would be ninety
"""Values of model_type whose networks predict each token from those before it."""
PLUGIN_KIND = "plugin"
"""`model_type` of a plug-in's model, whose code is its run's own."""
FAMILIES = (
    "GPT-2, Pythia, OLMo 2, Llama, Mistral, Qwen 2 and 3, Gemma 2, Phi-3, SmolLM 3 and others"
)
_ABSENT = ("bidirectional", "cross_attention", "encoder_decoder", "prefix_lm")
_WINDOWS = ("window", "window_size", "attention_chunk_size", "local_attention")
_ROPE_KINDS = ("rope_type", "type")
_QUOTED_CHARS = 60

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
    "transformers_weights",
)
"""Fields that name code or files of the model's author, such as a kernel on the Hub, or weights in
place of those that were checked."""
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
_MOST_LISTED = 4_096  # experts, labels of a classifier: each takes memory
_CONTEXT_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
"""Fields with the largest number of inputs, the most common name first."""


def context_of(field: Callable[[str], object]) -> int:
    """Give the largest number of inputs of a configuration; 0 if it names none.

    `field` gives the value of a field, or None.
    """
    sizes = map(field, _CONTEXT_FIELDS)
    return next((one for one in sizes if isinstance(one, int) and one > 0), 0)


def parse_config(config: bytes) -> dict[str, Any]:  # JSON of any model
    """The fields, without those that name code or files; raises UserFacingError."""
    try:
        fields = json.loads(config)
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"the model's configuration is not valid JSON: {err}") from err
    if not isinstance(fields, dict) or "model_type" not in fields:
        raise UserFacingError("the model's configuration has no model_type")
    found = without_code(fields)
    _check_causal(found)
    return found


class ModelRefusedError(UserFacingError):
    """A model that may not be scored; `reason` is what an evaluation says of it."""

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def _check_causal(fields: Mapping[str, Any]) -> None:  # JSON of any model
    """Raise ModelRefusedError unless each prediction follows from earlier tokens alone."""
    kind = fields["model_type"]
    if kind == PLUGIN_KIND:
        raise ModelRefusedError(
            Refusal.KIND,
            "this model is a plug-in's: the trainers of its run compute it, with consent, and "
            "nothing else does",
        )
    if not isinstance(kind, str) or kind not in CAUSAL_KINDS:
        raise ModelRefusedError(
            Refusal.KIND,
            f"{str(kind)[:_QUOTED_CHARS]!r} is not a model_type that is known to predict each "
            f"token from those before it alone, such as {FAMILIES}; of a model of several "
            "networks, choose the text model (gemma3_text of gemma3)",
        )
    for name, value in _walk(fields):
        if why := _mask_change(name, value):
            raise _field_refused(name, value, why)
    check_rope(fields)


def check_rope(fields: Mapping[Any, Any]) -> None:  # JSON of any model
    """Raise ModelRefusedError for positions that depend on later tokens or other texts.

    Also for what transformers makes of a configuration: it reads Phi-3's `su` as longrope.
    """
    for name, value in _walk(fields):
        if name in _ROPE_KINDS and (why := _rope_change(str(value))):
            raise _field_refused(name, value, why)


def _field_refused(name: str, value: object, why: str) -> ModelRefusedError:
    found = f"{name[:_QUOTED_CHARS]} is {str(value)[:_QUOTED_CHARS]}"
    return ModelRefusedError(Refusal.KIND, f"the configuration's {found}: {why}")


def _walk(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:  # JSON of any model
    """Each field at every depth."""
    left: list[Any] = [fields]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            yield from one.items()
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def _mask_change(name: str, value: Any) -> str:  # noqa: ANN401 - JSON of any model
    """Why the field could let a prediction depend on later tokens or other texts; empty: not."""
    # Transformers reads a missing `is_causal` as true, but null as false.
    is_ahead = "causal" in name and value is not True
    if is_ahead or (any(one in name for one in _ABSENT) and value not in (None, False)):
        return "predictions would depend on later tokens, so remove that field"
    is_window = name.endswith(_WINDOWS) and not isinstance(value, bool)
    if is_window and isinstance(value, (int, float)) and value <= 0:
        # Where a mask forbids everything, softmax spreads over all tokens, later ones too.
        return "a layer has to see at least one token; null makes it see all before it"
    return ""


def _rope_change(kind: str) -> str:
    """Why rotations of this kind would follow from the length of a text; empty: they do not."""
    if "dynamic" in kind:
        return (
            "rope_type 'dynamic' makes predictions depend on the longest text read before; "
            "'default' is the same up to max_position_embeddings"
        )
    if "longrope" in kind:
        # The longest text of a batch chooses between short and long factors, for all positions.
        return (
            "rope_type 'longrope' makes early predictions depend on how many tokens follow; choose "
            "a model of the family for short texts, without it"
        )
    return ""


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
