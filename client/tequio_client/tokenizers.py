"""Text to token ids and back: raw bytes, any tokenizer of Hugging Face, or that of a plug-in.

A tokenizer file is not trusted: its size is checked before it is read, and a tokenizer with random
results is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tequio_shared.errors import UserFacingError
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.round.manifest import TokenizerKind

TOKENIZER_NAME = "tokenizer.json"
TABLE_NAME = "tokenizer.table"
"""File of what each id of a plug-in's tokenizer stands for (`tequio_shared.round.token_table`)."""
SEPARATORS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|im_end|>", "[SEP]")
"""Usual names of the token between documents."""
TURN_TOKENS = ("<|im_start|>", "<|im_end|>")
"""Tokens around a turn of a conversation, as the template ChatML has them."""
_WHY_CHARS = 200


class TextTokenizer(Protocol):
    """Encodes the texts of a run, and decodes its ids."""

    @property
    def kind(self) -> TokenizerKind: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def separator(self) -> int:
        """Id of the token that precedes each document."""

    @property
    def file(self) -> bytes:
        """Content of the file that a manifest names; empty for raw bytes."""

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of a text; raises UserFacingError."""

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; raises UserFacingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteTokenizer:
    """Raw UTF-8 bytes; byte 0 is the separator and is removed from texts."""

    kind: TokenizerKind = "bytes"
    vocab_size: int = 256
    separator: int = 0
    file: bytes = b""
    adds_tokens: bool = False
    leading: tuple[int, ...] = ()

    def encode(self, text: str) -> NDArray[np.int64]:
        return np.frombuffer(text.replace("\0", "").encode(), np.uint8).astype(np.int64)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode bytes; invalid UTF-8 becomes U+FFFD."""
        return bytes(ids).decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubwordTokenizer:
    """A tokenizer of the tokenizers library."""

    inner: Any  # tokenizers.Tokenizer: the library has no types
    vocab_size: int
    separator: int
    """Id of the token that precedes each document."""
    file: bytes
    """Content of its tokenizer.json."""
    kind: TokenizerKind = "huggingface"

    @property
    def adds_tokens(self) -> bool:
        """True if programs that do not ask otherwise get special tokens around each text."""
        return bool(self.inner.num_special_tokens_to_add(is_pair=False))

    @property
    def leading(self) -> tuple[int, ...]:
        """Ids of the special tokens that those programs get before each text."""
        if not self.adds_tokens:
            return ()
        found = self.inner.encode("a")
        marked = zip(found.ids, found.special_tokens_mask, strict=True)
        return tuple(number for number, _ in takewhile(lambda one: one[1], marked))

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of a text; raises TokenizerError."""
        with _library("the tokenizer cannot read a text"):
            return np.array(self.inner.encode(text, add_special_tokens=False).ids, np.int64)

    def encode_with_places(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ids of a text [n], and the place of each [n, 2]: its first and its last + 1 character.

        A token of blanks may have no character of its own, and the place [end, end]. Raises
        TokenizerError.
        """
        with _library("the tokenizer cannot read a text"):
            found = self.inner.encode(text, add_special_tokens=False)
            places = np.array(found.offsets, np.int64).reshape(-1, 2)
            return np.array(found.ids, np.int64), places

    @property
    def special_tokens(self) -> dict[str, int]:
        """Ids of the tokens that mark structure, by their texts."""
        added = self.inner.get_added_tokens_decoder()
        return {one.content: number for number, one in added.items() if one.special}

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; raises TokenizerError."""
        with _library("the tokenizer cannot write a text"):
            return str(self.inner.decode(list(ids), skip_special_tokens=False))


def encode_document(tokenizer: TextTokenizer, text: str) -> NDArray[np.int64]:
    """Ids of a document, where the spelling of a special token is text like any other.

    Raises UserFacingError.
    """
    if not isinstance(tokenizer, SubwordTokenizer):
        return tokenizer.encode(text)
    with _library("the tokenizer cannot read a text"):
        found = _without_special_tokens(tokenizer.file).encode(text, add_special_tokens=False)
        return np.array(found.ids, np.int64)


@lru_cache(maxsize=1)
def _without_special_tokens(file: bytes) -> Any:  # noqa: ANN401 - no types
    # Not `inner` with another setting: other threads use that, and pickling forgets the setting.
    inner = _opened(file.decode())
    inner.encode_special_tokens = True
    return inner


class TokenizerError(UserFacingError):
    """A tokenizer that fails at a text, or is not valid."""


@contextmanager
def _library(what: str) -> Iterator[None]:
    """Raise TokenizerError for what the library raises inside the block."""
    try:
        yield
    except MemoryError:  # this computer's fault, not the file's
        raise
    except BaseException as err:
        # A panic of Rust is not an Exception, and its class cannot be imported.
        if not isinstance(err, Exception) and type(err).__name__ != "PanicException":
            raise
        why = str(err).partition("\n")[0][:_WHY_CHARS]
        raise TokenizerError(f"{what}: {why}") from err


def parse_tokenizer(raw: bytes, name: str, separators: Sequence[str | int]) -> SubwordTokenizer:
    """Parse a tokenizer.json; its separator is the first of `separators` (text or id) that it has.

    Raises UserFacingError when it is not valid, has no separator, or encodes randomly.
    """
    with _library(f"{name}: {TOKENIZER_NAME} is not valid"):
        text = raw.decode()
        model = json.loads(text)["model"]
        inner = _opened(text)
    if model.get("dropout"):
        raise UserFacingError(
            f"{name}: its tokenizer has random dropout ({model['dropout']}), so results differ "
            "from call to call; set dropout to null"
        )
    found = [one for wanted in separators if (one := _token(inner, wanted)) is not None]
    if not found:
        names = ", ".join(map(str, separators))
        raise UserFacingError(f"{name} has none of the tokens {names}; choose another separator")
    highest = max(inner.get_vocab(with_added_tokens=True).values())
    size = inner.get_vocab_size(with_added_tokens=True)
    return SubwordTokenizer(
        inner=inner, vocab_size=max(size, highest + 1), separator=found[0], file=raw
    )


def _opened(text: str) -> Any:  # noqa: ANN401 - no types
    from tokenizers import Tokenizer as Inner  # noqa: PLC0415 - raw bytes need none

    inner = Inner.from_str(text)
    inner.no_truncation()
    inner.no_padding()
    return inner


def _token(inner: Any, wanted: str | int) -> int | None:  # noqa: ANN401 - no types
    if isinstance(wanted, str):
        found: int | None = inner.token_to_id(wanted)
        return found
    return wanted if inner.id_to_token(wanted) is not None else None


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> SubwordTokenizer:
    """Learn byte-pair codes of bytes from texts (Sennrich et al., 2016; the bytes are GPT-2's).

    Every text can be encoded, and the same texts give the same file. It has `vocabulary` tokens,
    fewer if the texts are short; all bytes, a separator and `TURN_TOKENS` are among them. Time
    grows with the texts, memory with their different words. Raises TokenizerError.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[SEPARATORS[0], *TURN_TOKENS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    with _library("no tokenizer can be learned from these texts"):
        inner.train_from_iterator(texts, trainer)
    return parse_tokenizer(inner.to_str().encode(), "the new tokenizer", SEPARATORS)


def read_tokenizer_file(path: Path) -> bytes:
    """Read a tokenizer.json; raises UserFacingError, for one that is too large before reading."""
    try:
        size = path.stat().st_size
        if size > BLOB_BYTES:
            raise UserFacingError(too_large_message(str(path), size))
        return path.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err


def too_large_message(name: str, size_bytes: int) -> str:
    """Explain that a tokenizer is larger than the limit of a manifest."""
    return (
        f"{name} has {size_bytes:,} bytes, but a tokenizer may have at most {BLOB_BYTES:,}; "
        "remove unused parts, or choose another tokenizer"
    )
