"""The data manifest of a run: its token shards, by hash.

Canonical JSON, stored as a blob that the run manifest names. Token ids are little-endian unsigned
integers of `token_bytes` bytes. A training shard is one stream of ids: for each document the
separator, then its tokens. Sample i is the `sequence + 1` ids from i * sequence on: `sequence`
inputs, and as many targets shifted by 1. A held-out shard begins with `documents` pairs of u32
(tokens, bytes of text); the ids of its documents follow, without separators. Nobody trains on it.
Of conversations, a token that the assistant does not say is written as its id plus `vocab_size`: an
input as any other, and a target without a loss.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Bytes32Text, Digest, sha256
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.log import merkle
from tequio_shared.round.assignment import DataOrder
from tequio_shared.round.manifest import Tokenizer

LEAVES_SUFFIX = ".leaves"
"""A mirror has the leaf hashes of a shard, joined, under its name and this."""
ShardCount = Annotated[int, Meta(ge=1)]


class TrainShard(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A shard to train on; `root` is the Merkle root over its chunks of 1 MiB."""

    root: Bytes32Text
    size_bytes: ShardCount
    tokens: ShardCount
    samples: ShardCount


class HeldOutShard(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A shard to measure on; `text_bytes` is the UTF-8 size of its documents."""

    root: Bytes32Text
    size_bytes: ShardCount
    tokens: ShardCount
    documents: ShardCount
    text_bytes: ShardCount


class Chat(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How conversations became text: a template of Jinja, and the tokens that it may name.

    `turn_end` is the token that ends a turn of the assistant.
    """

    template: Annotated[str, Meta(min_length=1, max_length=1 << 18)]
    bos_token: Annotated[str, Meta(max_length=256)]
    eos_token: Annotated[str, Meta(max_length=256)]
    turn_end: Annotated[int, Meta(ge=0)]


def train_file_name(index: int) -> str:
    return f"train-{index:05d}.tokens"


def held_out_file_name(index: int) -> str:
    return f"held-out-{index:05d}.tokens"


class Corpus(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Complete description of a run's data. `source` is for people."""

    v: Literal[1] = 1
    source: Annotated[str, Meta(max_length=256)]
    tokenizer: Tokenizer
    token_bytes: Literal[1, 2, 4]
    separator: Annotated[int, Meta(ge=0)]
    sequence: Annotated[int, Meta(ge=2, le=1 << 20)]
    train: Annotated[tuple[TrainShard, ...], Meta(min_length=1)]
    held_out: tuple[HeldOutShard, ...]
    chat: Chat | UnsetType = UNSET
    """Of conversations; their shards have ids from `tokenizer.vocab_size` on, without a loss."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Corpus:
        """Read and check a data manifest; raises MalformedError."""
        corpus = encoding.decode(raw, cls, DOCUMENT_BYTES)
        _check_corpus(corpus)
        return corpus

    @property
    def digest(self) -> Digest:
        """SHA-256 of the canonical bytes: `data.manifest` of a run's manifest."""
        return sha256(self.encode())

    @property
    def root(self) -> Digest:
        """Merkle root over the shard entries, training first: `data.root` of a run's manifest."""
        return merkle.root(encoding.encode(shard) for shard in (*self.train, *self.held_out))

    @property
    def files(self) -> list[tuple[str, TrainShard | HeldOutShard]]:
        """Each shard under the name of its file, training first."""
        return [
            *((train_file_name(index), one) for index, one in enumerate(self.train)),
            *((held_out_file_name(index), one) for index, one in enumerate(self.held_out)),
        ]

    @property
    def has_masks(self) -> bool:
        """True if shards have tokens without a loss: each as its id plus the vocabulary's size."""
        return not isinstance(self.chat, UnsetType)

    @property
    def samples(self) -> int:
        """Samples in an epoch."""
        return sum(shard.samples for shard in self.train)

    def order(self, seed: int) -> DataOrder:
        return DataOrder.of(
            root=self.root, seed=seed, samples=[shard.samples for shard in self.train]
        )


def _check_corpus(corpus: Corpus) -> None:
    width = corpus.token_bytes
    _check_ids(corpus)
    for shard in corpus.train:
        if shard.size_bytes != shard.tokens * width:
            raise MalformedError(f"shard {shard.root}: size_bytes does not match tokens")
        if shard.samples != (shard.tokens - 1) // corpus.sequence:
            raise MalformedError(f"shard {shard.root}: samples does not match tokens")
    for held_out in corpus.held_out:
        if held_out.size_bytes != held_out.tokens * width + 8 * held_out.documents:
            raise MalformedError(f"shard {held_out.root}: size_bytes does not match tokens")


def _check_ids(corpus: Corpus) -> None:
    width, vocab_size = corpus.token_bytes, corpus.tokenizer.vocab_size
    if vocab_size * (2 if corpus.has_masks else 1) > 1 << (8 * width):
        raise MalformedError(f"a vocabulary of {vocab_size} needs wider tokens")
    if corpus.separator >= vocab_size:
        raise MalformedError(f"separator {corpus.separator} is outside the vocabulary")
    if not isinstance(corpus.chat, UnsetType) and corpus.chat.turn_end >= vocab_size:
        raise MalformedError(f"turn_end {corpus.chat.turn_end} is outside the vocabulary")
