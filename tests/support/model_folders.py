"""Small model folders in Hugging Face's format, whose predictions depend on the whole context.

Weights are random and larger than usual, so that a token's likelihood depends on every token before
it; a model that hardly depends on them would hide a window that is cut in the wrong place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file

from tequio_client.checkpoint import layout
from tequio_client.dataset import sources
from tequio_client.trainer import model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from torch import Tensor

END = "<|endoftext|>"
CONTEXT = 64


def llama(vocab_size: int, **changes: object) -> dict[str, Any]:
    """The configuration of a small Llama."""
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": vocab_size,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "initializer_range": 1.0,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
    } | changes


def tensors_of(config: dict[str, Any], seed: int = 1) -> dict[str, Tensor]:
    """Random weights for a configuration."""
    made = model.build_random(json.dumps(config).encode(), seed)
    return {name: one.detach().clone() for name, one in made.parameters.items()}


def write(
    folder: Path,
    config: dict[str, Any],
    *,
    tensors: dict[str, Tensor] | None = None,
    tokenizer: bytes = b"",
    seed: int = 1,
) -> Path:
    """Write a folder; its begin token is END."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    weights = tensors_of(config, seed) if tensors is None else tensors
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    if tokenizer:
        (folder / "tokenizer.json").write_bytes(tokenizer)
        settings = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": END,
            "eos_token": END,
            "clean_up_tokenization_spaces": False,
            "model_max_length": CONTEXT,
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def bpe(texts: Iterable[str], vocab_size: int) -> bytes:
    """Train a byte-level BPE; END is its token 0."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    return str(made.to_str()).encode()


def library_texts(count: int, *, shortest: int = 0, longest: int = 20_000) -> list[str]:
    """Source files of Python's standard library, spread over all of it."""
    library = sources.standard_library_files()
    step = max(len(library) // (4 * count), 1)
    found = (library.text(at) for at in range(0, len(library), step))
    fitting = [text for text in found if shortest <= len(text) <= longest and text]
    return fitting[:count]


def uniform(config: dict[str, Any]) -> dict[str, Tensor]:
    """Weights that give every token the same likelihood, at log2(vocabulary) bits."""
    return {name: torch.zeros_like(one) for name, one in tensors_of(config).items()}


def bytes_folder(folder: Path) -> Path:
    """A model of raw bytes, with the tokenizer that an exported head of such a run has."""
    tokenizer, settings = layout.tokenizer_files(b"", 0, CONTEXT)
    write(folder, llama(256), tokenizer=tokenizer)
    (folder / "tokenizer_config.json").write_bytes(settings)
    return folder


def bpe_folder(folder: Path) -> Path:
    """A model whose tokenizer was trained on the standard library's sources."""
    trained = bpe(library_texts(60), 1_000)
    return write(folder, llama(1_000), tokenizer=trained)


KINDS = {"bytes": bytes_folder, "bpe": bpe_folder}
"""Makers of a model's folder, by its tokenizer."""
