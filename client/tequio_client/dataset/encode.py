"""Documents become ids: what a worker process does with each of them, the same in any process.

A document is named by the SHA-256 of its text, a conversation by that of the ids it becomes: its
messages carry ids and times that no template writes. This hash, with the seed, decides everything:
equal documents count once, a hash below the wanted fraction is held out, and the hashes give the
order. So neither the order of files, nor the speed of disks, nor the number of processes affects
the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from tequio_client.tokenizers import TextTokenizer, encode_document
from tequio_shared.ids import sha256
from tequio_shared.round.corpus import Chat

RECORD = np.dtype(
    [
        ("order", "S32"),  # hash of seed and name: the place among all documents
        ("start", "<u8"),  # of its ids in a file, in tokens
        ("tokens", "<u8"),
        ("raw_bytes", "<u8"),  # of its text
        ("text_bytes", "<u8"),  # of its text that has a loss
        ("turn_end", "<i8"),  # id of the token that ends most of its turns; -1: none
        ("part", "u1"),  # number of its source in the mixture
        ("is_held_out", "?"),
        ("is_cut", "?"),
        ("is_left_out", "?"),  # read, and counted as text of its source, but not in a shard
        ("spells_end", "?"),  # why it is left out: else nothing has a loss
    ]
)
"""Facts about a document beside its ids."""
Records: TypeAlias = NDArray[Any]  # of RECORD: numpy's types cannot name it
_ORDER, _HOLD_OUT = b"tequio/v1/document-order\x00", b"tequio/v1/held-out\x00"
_TEN_THOUSANDTHS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedDocument:
    """The ids of a document, and the bytes of its text that has a loss."""

    ids: NDArray[np.int64]
    name: bytes
    """SHA-256 of its text, or of its ids."""
    text_bytes: int
    turn_end: int = -1
    is_cut: bool = False
    is_left_out: bool = False
    spells_end: bool = False
    """Left out because somebody in it writes a token that ends turns or documents."""


class DocumentEncoder(Protocol):
    """How documents become the ids of shards. Pickled for worker processes."""

    @property
    def ids(self) -> int:
        """Ids are below this number."""

    def encode(self, text: str) -> EncodedDocument:
        """Encode a document. Raises UserFacingError."""

    def stream(self, documents: Sequence[NDArray[Any]], sequence: int, /) -> NDArray[Any]:
        """Give the ids of a training shard, in the type of the documents' ids."""

    def manifest_entry(self, turn_ends: Mapping[int, int], /) -> Chat | UnsetType:
        """The data manifest's entry `chat`; from how many documents' turns end with each token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoder:
    """Encodes texts; each of their tokens has a loss."""

    tokenizer: TextTokenizer

    @property
    def ids(self) -> int:
        return self.tokenizer.vocab_size

    def encode(self, text: str) -> EncodedDocument:
        ids = encode_document(self.tokenizer, text)
        raw = text.encode()
        is_raw = self.tokenizer.kind == "bytes"  # its ids lack the text's zero bytes
        return EncodedDocument(
            ids=ids, name=sha256(raw), text_bytes=len(ids) if is_raw else len(raw)
        )

    def stream(self, documents: Sequence[NDArray[Any]], _sequence: int) -> NDArray[Any]:
        """Give the ids of all documents, each behind a separator."""
        separator = np.array([self.tokenizer.separator], documents[0].dtype)
        return np.concatenate([part for ids in documents for part in (separator, ids)])

    def manifest_entry(self, _turn_ends: Mapping[int, int]) -> UnsetType:
        return UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingRules:
    """All beside the encoder that decides about a document's record and ids."""

    seed: int
    held_out_bp: int
    """In 1/10,000 of the documents."""
    width: Literal[1, 2, 4]
    """Bytes of an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedChunk:
    """The documents of a chunk, in their order; their ids lie one behind the other."""

    records: Records
    ids: bytes


def encode_chunk(
    encoder: DocumentEncoder, rules: EncodingRules, part: int, texts: Sequence[str]
) -> EncodedChunk:
    """Encode the rows of a chunk that have text; raises UserFacingError."""
    found = [
        record_and_ids
        for text in texts
        if text.strip() and (record_and_ids := _encoded(encoder, rules, part, text))
    ]
    records = np.array([record for record, _ in found], RECORD)
    records["start"] = np.cumsum(records["tokens"]) - records["tokens"]
    return EncodedChunk(records=records, ids=b"".join(ids for _, ids in found))


def _encoded(
    encoder: DocumentEncoder, rules: EncodingRules, part: int, text: str
) -> tuple[tuple[object, ...], bytes] | None:
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return None
    document, seed = encoder.encode(text), rules.seed.to_bytes(8, "big")
    draw = int.from_bytes(sha256(_HOLD_OUT, seed, document.name)[:8], "big")
    record = (
        sha256(_ORDER, seed, document.name),
        0,
        len(document.ids),
        len(raw),
        document.text_bytes,
        document.turn_end,
        part,
        draw * _TEN_THOUSANDTHS < rules.held_out_bp << 64,
        document.is_cut,
        document.is_left_out,
        document.spells_end,
    )
    return record, document.ids.astype(f"<u{rules.width}").tobytes()


def count_turn_ends(records: Records) -> Counter[int]:
    """Number of documents whose turns end with each token."""
    tokens, documents = np.unique(records["turn_end"], return_counts=True)
    found = dict(zip(tokens.tolist(), documents.tolist(), strict=True))
    found.pop(-1, None)
    return Counter(found)
