"""A small plan with all its files: texts, shards, a model's configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tequio_client.dataset import build, sources

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32,
    "tie_word_embeddings": False,
}
PLAN = 'name = "tiny"\n[model]\nsource = "config.json"\n[data]\nfolder = "data"\n'


def write_plan(folder: Path) -> Path:
    """Build data, model and plan in the folder; returns the plan's path."""
    texts = folder / "texts"
    texts.mkdir()
    for number in range(20):
        (texts / f"{number}.txt").write_text(f"{number} milpa mano metate masa " * 20)
    settings = build.ShardOptions(sequence=32, seed=0, held_out_bp=1_000, shard_bytes=1 << 20)
    source, tokenizer = sources.folder_files(texts, "*"), sources.load_tokenizer("bytes", None)
    build.build_shards(source, tokenizer, settings, folder / "data")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    path = folder / "plan.toml"
    path.write_text(PLAN)
    return path
