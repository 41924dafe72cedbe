"""Build the token shards of a run: the same documents give the same bytes on every machine.

A document is identified by the SHA-256 of its text. This hash, with the seed, decides everything:
equal texts count once, a hash below the wanted fraction is held out, and the hashes give the order.
So neither the order of files nor the speed of disks affects the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from tequio_client.dataset.mixture import Mixture
from tequio_client.dataset.sources import TextSource, token_bytes, tokenizer_entry
from tequio_client.tokenizers import TABLE_NAME, TOKENIZER_NAME, TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log import merkle
from tequio_shared.round.manifest import (
    LEAVES_SUFFIX,
    Chat,
    Corpus,
    HeldOutShard,
    TokenizerKind,
    TrainShard,
    held_out_file_name,
    train_file_name,
)

MANIFEST_NAME = "corpus.json"
TOKENIZER_FILES: Mapping[TokenizerKind, str] = {
    "huggingface": TOKENIZER_NAME,
    "plugin": TABLE_NAME,
}
"""Name of the tokenizer's file beside the shards; raw bytes have none."""
_ORDER, _HOLD_OUT = b"tequio/v1/document-order\x00", b"tequio/v1/held-out\x00"
_TEN_THOUSANDTHS = 10_000

EncodedDocument: TypeAlias = tuple[NDArray[np.int64], int]
"""The tokens of a document, and the bytes of its text that has a loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """Sizes of the shards in tokens and bytes; `held_out_bp` is in 1/10,000 of the documents."""

    sequence: int
    seed: int
    held_out_bp: int
    shard_bytes: int


class DocumentEncoder(Protocol):
    """How documents become the ids of shards."""

    @property
    def ids(self) -> int:
        """Ids are below this number."""

    @property
    def chat(self) -> Chat | UnsetType:
        """The manifest's entry, once all documents are encoded."""

    def encode(self, text: str) -> EncodedDocument | None:
        """Encode a document; None for one to leave out. Raises UserFacingError."""

    def stream(self, documents: Sequence[NDArray[np.int64]], sequence: int, /) -> NDArray[np.int64]:
        """Give the ids of a training shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenDocument:
    index: int
    order: bytes
    is_held_out: bool
    text_bytes: int


def build_shards(
    source: TextSource,
    tokenizer: TextTokenizer,
    settings: ShardOptions,
    folder: Path,
    progress: Callable[[str, int, int], None],
    *,
    chat: DocumentEncoder | None = None,
) -> Corpus:
    """Write shards and data manifest into a folder; `progress` gets (stage, done, all).

    Reads the source twice, and holds one record a document and one shard of tokens in memory. With
    `chat`, documents are conversations. Raises UserFacingError for less text than a single sample
    needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    encoder = chat or TextEncoder(tokenizer=tokenizer)
    width = token_bytes(encoder.ids)
    documents = _chosen(source, settings, progress)
    done = 0

    def encoded(*, is_held_out: bool) -> Iterator[EncodedDocument]:
        nonlocal done
        for document in documents:
            if document.is_held_out is not is_held_out:
                continue
            if found := encoder.encode(source.text(document.index)):
                yield found
            done += 1
            progress("writing", done, len(documents))

    full = -(-settings.shard_bytes // width)
    groups = _groups(encoded(is_held_out=False), max(full, settings.sequence + 1), between=1)
    streams = (encoder.stream([ids for ids, _ in group], settings.sequence) for group in groups)
    train = tuple(
        _train_shard(folder / train_file_name(at), ids, width, settings.sequence)
        for at, ids in enumerate(streams)
        if len(ids) > settings.sequence
    )
    if not train:
        raise UserFacingError(
            "too little text for a single sample: add documents, or choose a shorter --sequence"
        )
    held_out = tuple(
        _held_out_shard(folder / held_out_file_name(at), group, width)
        for at, group in enumerate(_groups(encoded(is_held_out=True), full, between=0))
    )
    corpus = Corpus(
        source=source.label[:256],
        tokenizer=tokenizer_entry(tokenizer),
        token_bytes=width,
        separator=tokenizer.separator,
        sequence=settings.sequence,
        train=train,
        held_out=held_out,
        chat=encoder.chat,
    )
    for kind, name in TOKENIZER_FILES.items():
        if tokenizer.kind == kind:
            (folder / name).write_bytes(tokenizer.file)
    (folder / MANIFEST_NAME).write_bytes(corpus.encode())
    return corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoder:
    """Encodes texts; each of their tokens has a loss."""

    tokenizer: TextTokenizer

    @property
    def ids(self) -> int:
        return self.tokenizer.vocab_size

    @property
    def chat(self) -> UnsetType:
        return UNSET

    def encode(self, text: str) -> EncodedDocument:
        return self.tokenizer.encode(text), len(text.encode())

    def stream(self, documents: Sequence[NDArray[np.int64]], _sequence: int) -> NDArray[np.int64]:
        """Give the ids of all documents, each behind a separator."""
        separator = np.array([self.tokenizer.separator])
        return np.concatenate([part for ids in documents for part in (separator, ids)])


def _chosen(
    source: TextSource, settings: ShardOptions, progress: Callable[[str, int, int], None]
) -> list[_ChosenDocument]:
    """Every distinct text once, in the order of the seed; of a mixture, as many as fit it."""
    seed = settings.seed.to_bytes(8, "big")
    chosen: dict[bytes, _ChosenDocument] = {}
    for index in range(len(source)):
        progress("reading", index + 1, len(source))
        text = source.text(index)
        if text.strip():
            raw = text.encode()
            name = sha256(raw)
            draw = int.from_bytes(sha256(_HOLD_OUT, seed, name)[:8], "big")
            is_held_out = draw * _TEN_THOUSANDTHS < settings.held_out_bp << 64
            order = sha256(_ORDER, seed, name)
            document = _ChosenDocument(
                index=index, order=order, is_held_out=is_held_out, text_bytes=len(raw)
            )
            chosen.setdefault(name, document)
    documents = sorted(chosen.values(), key=lambda document: document.order)
    if not isinstance(source, Mixture):
        return documents
    return list(compress(documents, source.kept((one.index, one.text_bytes) for one in documents)))


def _groups(
    encoded: Iterable[EncodedDocument], full_tokens: int, *, between: int
) -> Iterator[list[EncodedDocument]]:
    """Documents for one shard each; `between` counts the tokens that a shard adds for each."""
    group: list[EncodedDocument] = []
    tokens = 0
    for ids, text_bytes in encoded:
        group.append((ids, text_bytes))
        tokens += len(ids) + between
        if tokens >= full_tokens:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def _train_shard(path: Path, ids: NDArray[np.int64], width: int, sequence: int) -> TrainShard:
    raw = ids.astype(f"<u{width}").tobytes()
    return TrainShard(
        root=_written(path, raw),
        size_bytes=len(raw),
        tokens=len(ids),
        samples=(len(ids) - 1) // sequence,
    )


def _held_out_shard(path: Path, group: list[EncodedDocument], width: int) -> HeldOutShard:
    table = np.array([(len(ids), text_bytes) for ids, text_bytes in group], "<u4")
    ids = np.concatenate([ids for ids, _ in group])
    raw = table.tobytes() + ids.astype(f"<u{width}").tobytes()
    return HeldOutShard(
        root=_written(path, raw),
        size_bytes=len(raw),
        tokens=len(ids),
        documents=len(group),
        text_bytes=sum(text_bytes for _, text_bytes in group),
    )


def _written(path: Path, raw: bytes) -> str:
    """Write a shard, its leaf hashes beside it for mirrors, and return its root as text."""
    path.write_bytes(raw)
    pieces = (raw[at : at + PIECE_BYTES] for at in range(0, len(raw), PIECE_BYTES))
    leaves = [merkle.leaf_hash(piece) for piece in pieces]
    path.with_name(path.name + LEAVES_SUFFIX).write_bytes(b"".join(leaves))
    return to_text(merkle.root_of_hashes(leaves))
