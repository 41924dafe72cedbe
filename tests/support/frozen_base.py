"""A small frozen base on disk, and the rules of adapters beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import torch
from msgspec import UNSET, UnsetType
from safetensors.torch import save_file

from tequio_client.trainer import adapters, first_head, model
from tequio_client.worker.store.trees import hash_tree_file
from tequio_shared.head.layout import BaseFile, FrozenBase
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.trainer.first_head import FirstHead
    from tequio_shared.round.manifest import Manifest

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}
TARGETS = ("q_proj", "v_proj")
EVERY = ("down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj")
"""All matrices of a layer."""


def write_base(
    folder: Path, *, dtype: torch.dtype = torch.bfloat16, parts: int = 1, **changes: object
) -> Path:
    """Write a model with random weights in Hugging Face's format, in `parts` files."""
    folder.mkdir(parents=True, exist_ok=True)
    config = json.dumps(CONFIG | changes).encode()
    made = model.build_random(config, 11)
    tensors = {
        name: (one.detach() * (3.0 if one.dim() > 1 else 1.0)).to(dtype).contiguous()
        for name, one in made.parameters.items()
    }
    (folder / "config.json").write_bytes(config)
    if parts == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
    names = sorted(tensors)
    where: dict[str, str] = {}
    for at in range(parts):
        file = f"model-{at + 1:05d}-of-{parts:05d}.safetensors"
        mine = {name: tensors[name] for name in names[at::parts]}
        save_file(mine, folder / file, metadata={"format": "pt"})
        where |= dict.fromkeys(mine, file)
    index = {"metadata": {}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def described(
    folder: Path,
    *,
    rank: int = 4,
    alpha: int = 8,
    targets: Sequence[str] = TARGETS,
    bits: Literal[4] | UnsetType = UNSET,
) -> tuple[FrozenBase, list[Path]]:
    """The base as a manifest names it, and its files; no targets are all."""
    paths = sorted(folder.glob("*.safetensors"))
    pairs = adapters.outline((folder / "config.json").read_bytes(), rank, targets)
    base = FrozenBase(
        source="",
        revision="",
        parameters=pairs.parameters,
        files=tuple(map(_file, paths)),
        rank=rank,
        alpha=alpha,
        targets=pairs.targets,
        bits=bits,
    )
    return base, paths


def first(folder: Path, **rules: Any) -> FirstHead:  # noqa: ANN401 - of `described`
    """The first adapters beside the model in a folder."""
    base, paths = described(folder, **rules)
    config = (folder / "config.json").read_bytes()
    return first_head.with_adapters(config, base, paths, seed=3, layout="flat")


def lora_run(folder: Path, **rules: Any) -> tuple[Manifest, list[Path]]:  # noqa: ANN401 - as above
    """The manifest of a run of adapters, and the files of its base."""
    base, paths = described(folder, **rules)
    entry = first(folder, **rules).manifest_entry(sequence=64, aux_dtype=None)
    return msgspec.structs.replace(tiny_manifest(), model=entry, base=base), paths


def _file(path: Path) -> BaseFile:
    with path.open("rb") as file:
        ref = hash_tree_file(file, PIECE_BYTES).ref
    return BaseFile(name=path.name, size_bytes=ref.size_bytes, root=to_text(ref.root))
