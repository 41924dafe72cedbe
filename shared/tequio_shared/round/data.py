"""The data manifest: the token shards of a run, and how to read them.

Canonical JSON, named by the SHA-256 of its bytes; a run's manifest names it in turn.
Token ids are little-endian unsigned integers of `token_bytes` bytes.

A training shard is one stream of ids: for each document the separator, then its tokens. Sample i
is the `sequence + 1` ids from i * sequence on: `sequence` inputs, and as many targets shifted by 1.

A held-out shard begins with `documents` pairs of u32 (tokens, bytes of text); the ids of its
documents follow, without separators. Nobody trains on it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Bytes32Text, Digest, digest_from_text, sha256
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.log import merkle
from tequio_shared.round.assignment import DataOrder
from tequio_shared.round.manifest import Tokenizer

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]


class TrainShard(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A shard to train on; `root` is the Merkle root over its chunks of 1 MiB."""

    root: Bytes32Text
    size_bytes: Positive
    tokens: Positive
    samples: Positive


class HeldOutShard(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A shard to measure on; `text_bytes` is the UTF-8 size of its documents."""

    root: Bytes32Text
    size_bytes: Positive
    tokens: Positive
    documents: Positive
    text_bytes: Positive


class Corpus(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Complete description of a run's data. `source` is for people."""

    v: Literal[1] = 1
    source: Annotated[str, Meta(max_length=256)]
    tokenizer: Tokenizer
    token_bytes: Literal[1, 2, 4]
    separator: Count
    sequence: Annotated[int, Meta(ge=2, le=1 << 20)]
    train: Annotated[tuple[TrainShard, ...], Meta(min_length=1)]
    held_out: tuple[HeldOutShard, ...]

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Corpus:
        """Read and check a data manifest; raises MalformedError."""
        corpus = encoding.decode(raw, cls, DOCUMENT_BYTES)
        _check(corpus)
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
    def samples(self) -> int:
        """Samples in an epoch."""
        return sum(shard.samples for shard in self.train)

    def order(self, seed: int) -> DataOrder:
        return DataOrder.of(
            root=self.root, seed=seed, samples=[shard.samples for shard in self.train]
        )

    def train_roots(self) -> tuple[Digest, ...]:
        """Roots of the training shards, by index."""
        return tuple(digest_from_text(shard.root) for shard in self.train)


def _check(corpus: Corpus) -> None:
    width = corpus.token_bytes
    if corpus.tokenizer.vocab_size > 1 << (8 * width):
        raise MalformedError(f"a vocabulary of {corpus.tokenizer.vocab_size} needs wider tokens")
    if corpus.separator >= corpus.tokenizer.vocab_size:
        raise MalformedError(f"separator {corpus.separator} is outside the vocabulary")
    for shard in corpus.train:
        if shard.size_bytes != shard.tokens * width:
            raise MalformedError(f"shard {shard.root}: size_bytes does not match tokens")
        if shard.samples != (shard.tokens - 1) // corpus.sequence:
            raise MalformedError(f"shard {shard.root}: samples does not match tokens")
    for held_out in corpus.held_out:
        if held_out.size_bytes != held_out.tokens * width + 8 * held_out.documents:
            raise MalformedError(f"shard {held_out.root}: size_bytes does not match tokens")
