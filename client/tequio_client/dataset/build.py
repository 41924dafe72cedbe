"""Build the token shards of a run: the same documents give the same bytes on every machine.

A document is identified by the SHA-256 of its text. This hash, with the seed, decides everything:
equal texts count once, a hash below the wanted fraction is held out, and the hashes give the order.
So neither the order of files nor the speed of disks affects the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.dataset.sources import TextSource, token_bytes, tokenizer_entry
from tequio_client.tokenizers import TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log import merkle
from tequio_shared.round.manifest import Corpus, HeldOutShard, TrainShard

if TYPE_CHECKING:
    from numpy.typing import NDArray


MANIFEST_NAME = "corpus.json"
TOKENIZER_NAME = "tokenizer.json"
_ORDER, _HOLD_OUT = b"tequio/v1/document-order\x00", b"tequio/v1/held-out\x00"
_TEN_THOUSANDTHS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """Sizes of the shards in tokens and bytes; `held_out_bp` is in 1/10,000 of the documents."""

    sequence: int
    seed: int
    held_out_bp: int
    shard_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenDocument:
    index: int
    order: bytes
    is_held_out: bool


def train_file_name(index: int) -> str:
    return f"train-{index:05d}.tokens"


def held_out_file_name(index: int) -> str:
    return f"held-out-{index:05d}.tokens"


def build_shards(
    source: TextSource,
    tokenizer: TextTokenizer,
    settings: ShardOptions,
    folder: Path,
    progress: Callable[[str, int, int], None],
) -> Corpus:
    """Write shards and data manifest into a folder; `progress` gets (stage, done, all).

    Reads the source twice, and holds one record a document and one shard of tokens in memory.
    Raises UserFacingError for less text than a single sample needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    width = token_bytes(tokenizer.vocab_size)
    train = _TrainPacker(folder, settings, width, tokenizer.separator)
    held_out = _HeldOutPacker(folder, settings, width)
    documents = _chosen(source, settings, progress)
    for done, document in enumerate(documents, 1):
        text = source.text(document.index)
        packer = held_out if document.is_held_out else train
        packer.add(tokenizer.encode(text), len(text.encode()))
        progress("writing", done, len(documents))
    corpus = Corpus(
        source=source.label[:256],
        tokenizer=tokenizer_entry(tokenizer),
        token_bytes=width,
        separator=tokenizer.separator,
        sequence=settings.sequence,
        train=train.close(),
        held_out=held_out.close(),
    )
    if tokenizer.file:
        (folder / TOKENIZER_NAME).write_bytes(tokenizer.file)
    (folder / MANIFEST_NAME).write_bytes(corpus.encode())
    return corpus


def _chosen(
    source: TextSource, settings: ShardOptions, progress: Callable[[str, int, int], None]
) -> list[_ChosenDocument]:
    """Every distinct text once, in the order of the seed."""
    seed = settings.seed.to_bytes(8, "big")
    chosen: dict[bytes, _ChosenDocument] = {}
    for index in range(len(source)):
        progress("reading", index + 1, len(source))
        text = source.text(index)
        if text.strip():
            name = sha256(text.encode())
            draw = int.from_bytes(sha256(_HOLD_OUT, seed, name)[:8], "big")
            is_held_out = draw * _TEN_THOUSANDTHS < settings.held_out_bp << 64
            order = sha256(_ORDER, seed, name)
            chosen.setdefault(
                name, _ChosenDocument(index=index, order=order, is_held_out=is_held_out)
            )
    return sorted(chosen.values(), key=lambda document: document.order)


class _TrainPacker:
    """Packs documents for training into shards of about `shard_bytes`."""

    def __init__(self, folder: Path, settings: ShardOptions, width: int, separator: int) -> None:
        self._folder, self._settings, self._width = folder, settings, width
        self._separator = np.array([separator])
        self._parts: list[NDArray[np.int64]] = []
        self._tokens = 0
        self._shards: list[TrainShard] = []

    def add(self, ids: NDArray[np.int64], _text_bytes: int) -> None:
        self._parts += [self._separator, ids]
        self._tokens += 1 + len(ids)
        if self._tokens * self._width >= self._settings.shard_bytes:
            self._write()

    def close(self) -> tuple[TrainShard, ...]:
        """Write the last shard; raises UserFacingError if no shard has a sample."""
        self._write()
        if not self._shards:
            raise UserFacingError(
                "too little text for a single sample: add documents, or choose a shorter --sequence"
            )
        return tuple(self._shards)

    def _write(self) -> None:
        samples = (self._tokens - 1) // self._settings.sequence
        if samples < 1:
            return  # the end of the data, too short for a sample
        raw = _packed(self._parts, self._width)
        path = self._folder / train_file_name(len(self._shards))
        root = _written(path, raw)
        self._shards.append(
            TrainShard(root=root, size_bytes=len(raw), tokens=self._tokens, samples=samples)
        )
        self._parts, self._tokens = [], 0


class _HeldOutPacker:
    """Packs held-out documents into shards of about `shard_bytes`."""

    def __init__(self, folder: Path, settings: ShardOptions, width: int) -> None:
        self._folder, self._settings, self._width = folder, settings, width
        self._parts: list[NDArray[np.int64]] = []
        self._table: list[tuple[int, int]] = []
        self._tokens = 0
        self._shards: list[HeldOutShard] = []

    def add(self, ids: NDArray[np.int64], text_bytes: int) -> None:
        self._parts.append(ids)
        self._table.append((len(ids), text_bytes))
        self._tokens += len(ids)
        if self._tokens * self._width >= self._settings.shard_bytes:
            self._write()

    def close(self) -> tuple[HeldOutShard, ...]:
        self._write()
        return tuple(self._shards)

    def _write(self) -> None:
        if not self._table:
            return
        raw = np.array(self._table, "<u4").tobytes() + _packed(self._parts, self._width)
        root = _written(self._folder / held_out_file_name(len(self._shards)), raw)
        self._shards.append(
            HeldOutShard(
                root=root,
                size_bytes=len(raw),
                tokens=self._tokens,
                documents=len(self._table),
                text_bytes=sum(size for _, size in self._table),
            )
        )
        self._parts, self._table, self._tokens = [], [], 0


def _packed(parts: list[NDArray[np.int64]], width: int) -> bytes:
    return np.concatenate(parts).astype(f"<u{width}").tobytes()


def _written(path: Path, raw: bytes) -> str:
    """Write a shard and return its root as text."""
    path.write_bytes(raw)
    pieces = (raw[at : at + PIECE_BYTES] for at in range(0, len(raw), PIECE_BYTES))
    return to_text(merkle.root(pieces))
