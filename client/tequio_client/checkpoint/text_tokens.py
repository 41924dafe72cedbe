"""The tokenizer files of an exported folder, made from what the run's manifest names.

A run on raw bytes gets a tokenizer.json that does the same to every text without a zero byte: token
b is byte b, and token 0 is the separator, spelt as the zero byte itself, which texts leave out.
"""

from __future__ import annotations

import json
from typing import Any

from tequio_shared.errors import MalformedError

SEPARATOR = "\0"
_FIRST_SPARE = 0x100
"""Where GPT-2's byte alphabet puts the bytes that have no visible character of their own."""


def files(raw: bytes, separator: int, sequence: int) -> tuple[bytes, bytes]:
    """tokenizer.json and tokenizer_config.json; `raw` is empty for bytes.

    Raises MalformedError for a tokenizer.json that names no such separator.
    """
    content = raw or byte_tokenizer()
    token = SEPARATOR if not raw else _token(raw, separator)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": token,
        "eos_token": token,
        "pad_token": token,
        "clean_up_tokenization_spaces": False,
        "model_max_length": sequence,
    }
    return content, json.dumps(settings, indent=2, sort_keys=True).encode() + b"\n"


def byte_tokenizer() -> bytes:
    """A tokenizer.json whose tokens are the 256 bytes."""
    vocabulary = {letter: byte for byte, letter in enumerate(alphabet())}
    del vocabulary[alphabet()[0]]
    level = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    separator = {"id": 0, "content": SEPARATOR, "special": True, "normalized": False}
    sides = {"single_word": False, "lstrip": False, "rstrip": False}
    whole: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [separator | sides],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel"} | level,
        "post_processor": None,
        "decoder": {"type": "ByteLevel"} | level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {SEPARATOR: 0} | vocabulary,
            "merges": [],
        },
    }
    return json.dumps(whole, ensure_ascii=True, indent=1).encode() + b"\n"


def alphabet() -> list[str]:
    """GPT-2's letters for the 256 bytes, which byte-level tokenizers are written in."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    letters, spare = [], _FIRST_SPARE
    for byte in range(256):
        letters.append(chr(byte if byte in visible else spare))
        spare += byte not in visible
    return letters


def _token(raw: bytes, separator: int) -> str:
    """How the separator is spelt."""
    try:
        whole: Any = json.loads(raw)
        added = {one["id"]: one["content"] for one in whole.get("added_tokens") or ()}
        vocabulary = whole["model"]["vocab"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as err:
        raise MalformedError(f"the run's tokenizer.json cannot be read: {err!r}") from err
    if separator in added:
        return str(added[separator])
    pairs = vocabulary.items() if isinstance(vocabulary, dict) else enumerate(vocabulary)
    for one, other in pairs:
        name, number = (one, other) if isinstance(vocabulary, dict) else (other[0], one)
        if number == separator:
            return str(name)
    raise MalformedError(f"the run's tokenizer.json has no token {separator}")
