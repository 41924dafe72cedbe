"""The tokenizer of a run, and how its manifest describes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tequio_client import tokenizers
from tequio_client.names import cleaned
from tequio_client.tokenizers import SEPARATORS, TOKENIZER_NAME, ByteTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.manifest import Tokenizer

if TYPE_CHECKING:
    from tequio_client.tokenizers import TextTokenizer

BYTES = "bytes"
_SAID = 300


def load(name: str, separator: str | None) -> TextTokenizer:
    """Open `bytes`, a tokenizer.json, a folder that holds one, or a repository of the Hub.

    Raises UserFacingError when there is none, or no known token to separate documents.
    """
    if name == BYTES:
        return ByteTokenizer()
    names = (separator,) if separator else SEPARATORS
    return tokenizers.of_file(_content(name), name, names)


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
        path /= TOKENIZER_NAME
        if not path.is_file():
            raise UserFacingError(f"{name} holds no {TOKENIZER_NAME}: name a folder that does")
    if path.is_file():
        return tokenizers.read_file(path)
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"there is no file or folder {name}")
    return tokenizers.read_file(_fetched(name))


def _fetched(name: str) -> Path:
    import httpx2  # noqa: PLC0415 - what huggingface_hub speaks with, and raises the errors of
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names of the Hub

    try:
        return Path(hf_hub_download(name, TOKENIZER_NAME))
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = cleaned(str(err).partition("\n")[0], _SAID)
        raise UserFacingError(
            f"there is no file or folder {name}, and the Hub gives no {TOKENIZER_NAME} of it: {why}"
        ) from err
