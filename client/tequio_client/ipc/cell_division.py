"""Which models the ranks of a cell can divide, by a run's rules and its model's configuration.

One rule for trainers, which refuse what they cannot divide, and for everything that proposes cells:
lists of runs, plans of organisers, hosts. `--shard` and `--pipeline` divide the trainer's own Llama
network. `--tensor` divides every network for which transformers has a plan, which only the trainer
can read, and tries (`trainer.tensor_parallel`); `TENSOR_KINDS` are those that are proposed.

Configurations come from strangers; what cannot be read is not divided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.ipc.cell import Division
    from tequio_shared.round.manifest import InnerParams, Manifest

ROPE_KINDS = ("default", "linear", "llama3", "yarn")
"""Kinds of rope scaling that the trainer's Llama has."""
COLUMNS, ROWS = "colwise", "rowwise"
"""Styles of transformers' plans: each rank has some rows or columns of a matrix's weights."""
LLAMA_PLAN = {
    "self_attn.q_proj": COLUMNS,
    "self_attn.k_proj": COLUMNS,
    "self_attn.v_proj": COLUMNS,
    "self_attn.o_proj": ROWS,
    "mlp.gate_proj": COLUMNS,
    "mlp.up_proj": COLUMNS,
    "mlp.down_proj": ROWS,
}
"""Styles of a layer's matrices, as transformers has them for Llama; a test compares them."""
TENSOR_KINDS = frozenset({
    "gemma2", "gemma3_text", "llama", "mistral", "qwen2", "qwen3", "smollm3",
})  # fmt: skip  # one a line would be seven
"""Values of model_type whose matrices have the styles of `LLAMA_PLAN`; tests train each of them."""
WITHOUT_CELL = "start the worker without --cell"
STATE_BLOCK = 256
"""Numbers of a row that an optimiser's state in 8 bits rounds together."""
_PLAIN = {
    "hidden_act": "silu",
    "attention_dropout": 0.0,
    "partial_rotary_factor": None,
    "pretraining_tp": 1,
}
"""Values of a configuration, or absent, for the trainer's Llama to cover it."""
_FULL_BITS = 32
_MOST_HEADS = 1 << 20
_QUOTED_CHARS = 100  # most characters of a configuration in a message
_PREFIX = "model.layers."


def parse_fields(config: bytes | None) -> Mapping[str, Any]:  # JSON of any model
    """The fields of a configuration; empty if it is unknown or cannot be read."""
    try:
        found = json.loads(config or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def why_no_cell(manifest: Manifest) -> str:
    """Say why no cell can train the run; empty: it can."""
    if manifest.trainer_code is None:
        return ""
    return "a cell of several cards does not run plug-ins"


def why_no_guests(manifest: Manifest) -> str:
    """Say why no cell of several owners can train the run; empty: it can."""
    if manifest.frozen is not None:
        return "guests of a cell do not get the files of a frozen base"
    return why_no_cell(manifest)


def why_undivided(
    division: Division,
    manifest: Manifest,
    config: Mapping[str, Any],  # JSON of any model
    ranks: int,
) -> str:
    """Say why this many ranks cannot train the run with that division; empty: they can.

    For "tensor" it depends on transformers' plan and on sizes, too.
    """
    if why := why_no_cell(manifest):
        return f"{why}: {WITHOUT_CELL}"
    if division == "none":
        return ""
    why = "" if division == "tensor" else _why_no_llama(config)
    if not why and (manifest.frozen is not None or manifest.algorithm.name == "distro"):
        why = "is for runs that train all weights by inner steps"
    if why:
        return f"--{division} {why}: start the cell without it"
    layers = len({name.split(".")[2] for name, _ in manifest.model.tensors if _is_of_layer(name)})
    if division == "pipeline" and layers < ranks:
        return (
            f"--pipeline needs a layer for each rank, and the model has {layers} for {ranks} "
            "ranks: start the cell with fewer ranks, or with --shard, which divides each layer"
        )
    return ""


def _why_no_llama(config: Mapping[str, Any]) -> str:  # JSON of any model
    try:
        difference = first_difference(config)
    except UserFacingError as err:
        difference = str(err)
    return f"divides plain Llama networks only, not {difference}" if difference else ""


def may_propose_tensor(
    manifest: Manifest,
    config: Mapping[str, Any],  # JSON of any model
    ranks: int,
) -> bool:
    """Check whether `--tensor` would divide the model: of `TENSOR_KINDS`, and into equal parts."""
    kind, heads = config.get("model_type"), config.get("num_attention_heads")
    if not isinstance(kind, str) or kind not in TENSOR_KINDS:
        return False
    if not isinstance(heads, int) or not 0 < heads <= _MOST_HEADS:
        return False  # Python prints no number of thousands of digits
    if why_undivided("tensor", manifest, config, ranks):
        return False
    rows = dict[str, int]()
    for name, shape in manifest.model.tensors:
        if not _is_of_layer(name) or len(shape) == 1:
            continue
        module = name.split(".", 3)[-1].removesuffix(".weight")
        style = LLAMA_PLAN.get(module)
        if style is None or len(shape) != 2:  # noqa: PLR2004 - a matrix
            return False
        rows[module] = shape[0]
        size = shape[0] if style == COLUMNS else shape[1]
        has_blocks = style == ROWS and rounds_in_blocks(manifest.inner)
        if why_uneven(name, size, ranks) or (has_blocks and why_unaligned(name, size, ranks)):
            return False
    # Kinds differ in the heads of keys that they have by default.
    queries, keys = (rows.get(f"self_attn.{one}_proj", 0) for one in "qk")
    return not why_heads_uneven(heads, heads * keys // max(queries, 1), ranks)


def why_heads_uneven(heads: int, key_heads: int, ranks: int) -> str:
    """Say why ranks cannot have equal numbers of heads; empty: they can."""
    if heads > 0 and key_heads > 0 and not heads % ranks and not key_heads % ranks:
        return ""
    return (
        f"{ranks} ranks do not divide {heads} heads of attention, with {key_heads} of keys and "
        "values, into equal parts"
    )


def why_uneven(name: str, size: int, ranks: int) -> str:
    """Say why ranks cannot have equal parts of a matrix's side; empty: they can."""
    if not size % ranks:
        return ""
    return f"{ranks} ranks do not divide a side of {size} of {name} into equal parts"


def rounds_in_blocks(recipe: InnerParams) -> bool:
    """Check whether AdamW's state rounds the numbers of a row in blocks."""
    return recipe.optimiser == "adamw" and recipe.state_bits < _FULL_BITS


def why_unaligned(name: str, size: int, ranks: int) -> str:
    """Say why rows of that size cannot be cut between those blocks; empty: they can."""
    if not size % (ranks * STATE_BLOCK):
        return ""
    return (
        f"the run keeps AdamW's state in blocks of {STATE_BLOCK}, and {ranks} ranks do not "
        f"divide the rows of {name}, of {size}, between blocks"
    )


def first_difference(config: Mapping[str, Any]) -> str:  # JSON of any model
    """The first field that the trainer's Llama does not cover; "" if it covers all of them.

    Raises UserFacingError for rope fields that make no sense.
    """
    if config.get("model_type") != "llama":
        return f"model_type {config.get('model_type')!r}"[:_QUOTED_CHARS]
    for name, plain in _PLAIN.items():
        if config.get(name, plain) != plain:
            return f"{name} {config[name]!r}"[:_QUOTED_CHARS]
    if "partial_rotary_factor" in rope_fields(config):
        return "a partial_rotary_factor"
    kind = rope_kind(config)
    return "" if kind in ROPE_KINDS else f"rope_type {kind!r}"


def rope_fields(config: Mapping[str, Any]) -> Mapping[str, Any]:  # JSON of any model
    """The rope fields: `rope_scaling` if there is one, as in transformers."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if not isinstance(scaling, dict):
        raise UserFacingError(
            f"the configuration's rope_scaling is invalid: {str(scaling)[:_QUOTED_CHARS]!r}"
        )
    return scaling


def rope_kind(config: Mapping[str, Any]) -> str:  # JSON of any model
    """The kind of scaling: one of ROPE_KINDS, or one that only transformers knows."""
    scaling = rope_fields(config)
    return str(scaling.get("rope_type", scaling.get("type", "default")))[:_QUOTED_CHARS]


def _is_of_layer(name: str) -> bool:
    return name.startswith(_PREFIX)
