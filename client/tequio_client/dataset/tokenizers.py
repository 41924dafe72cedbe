"""From text to token ids: raw bytes, or any tokenizer of Hugging Face."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 - in a Protocol that is checked at run time

from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.manifest import Tokenizer

BYTES = "bytes"
_SEPARATORS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|im_end|>", "[SEP]")


class TextTokenizer(Protocol):
    """Turns documents into ids below `vocab_size`; `separator` stands before each of them."""

    @property
    def vocab_size(self) -> int:
        """Number of ids."""

    @property
    def separator(self) -> int:
        """Id that stands between documents."""

    @property
    def file(self) -> bytes:
        """Content of its tokenizer.json; empty for raw bytes."""

    def encode(self, text: str) -> NDArray[np.int64]:
        """Turn a text into ids, without any separator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteTokenizer:
    """UTF-8 bytes as they are; byte 0 is the separator and is left out of texts."""

    vocab_size: int = 256
    separator: int = 0
    file: bytes = b""

    def encode(self, text: str) -> NDArray[np.int64]:
        """Take the bytes of a text."""
        return np.frombuffer(text.replace("\0", "").encode(), np.uint8).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubwordTokenizer:
    """A tokenizer of the tokenizers library."""

    inner: Any  # tokenizers.Tokenizer: the library has no types
    vocab_size: int
    separator: int
    file: bytes

    def encode(self, text: str) -> NDArray[np.int64]:
        """Turn a text into ids; special tokens are not added."""
        return np.array(self.inner.encode(text, add_special_tokens=False).ids, np.int64)


def load(name: str, separator: str | None) -> TextTokenizer:
    """Open `bytes`, a tokenizer.json, a folder that holds one, or a repository of the Hub.

    Raises UserFacingError when there is none, or no known token to separate documents.
    """
    if name == BYTES:
        return ByteTokenizer()
    from tokenizers import Tokenizer as Inner  # noqa: PLC0415 - raw bytes need none

    raw = _content(name)
    inner = Inner.from_str(raw.decode())
    names = (separator,) if separator else _SEPARATORS
    found = [one for one in map(inner.token_to_id, names) if one is not None]
    if not found:
        raise UserFacingError(f"{name} has none of the tokens {', '.join(names)}; name another")
    size = inner.get_vocab_size(with_added_tokens=True)
    highest = max(inner.get_vocab(with_added_tokens=True).values())
    return SubwordTokenizer(
        inner=inner, vocab_size=max(size, highest + 1), separator=found[0], file=raw
    )


def described(tokenizer: TextTokenizer) -> Tokenizer:
    """Describe a tokenizer as manifests do."""
    return Tokenizer(
        kind="huggingface" if tokenizer.file else "bytes",
        file=to_text(sha256(tokenizer.file)) if tokenizer.file else "",
        vocab_size=tokenizer.vocab_size,
    )


def token_bytes(vocab_size: int) -> Literal[1, 2, 4]:
    """Choose the width of an id, in bytes."""
    if vocab_size <= 1 << 8:
        return 1
    return 2 if vocab_size <= 1 << 16 else 4


def _content(name: str) -> bytes:
    path = Path(name)
    if path.is_dir():
        path /= "tokenizer.json"
    if path.is_file():
        return path.read_bytes()
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names of the Hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError  # noqa: PLC0415

    try:
        return Path(hf_hub_download(name, "tokenizer.json")).read_bytes()
    except (OSError, HfHubHTTPError, HFValidationError) as err:
        raise UserFacingError(f"cannot find a tokenizer.json for {name}: {err}") from err
