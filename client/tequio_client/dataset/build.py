"""Build the token shards of a run: the same documents give the same bytes on every machine.

Rows are read as they come and encoded in worker processes (`jobs`), and go to the disk in sorted
runs (`runs`). Once all are read, the runs are merged in the order of the documents' hashes
(`encode`), equal ones count once, and the shards are written one after another. How far this is
lies in `OUT/unfinished` (`state`): the same command continues a build that was interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from tequio_client import files
from tequio_client.dataset.census import Census, count_documents, whole_hash
from tequio_client.dataset.encode import DocumentEncoder, EncodingRules, TextEncoder
from tequio_client.dataset.jobs import ChunkEncoding, Jobs
from tequio_client.dataset.mixture import Mixture
from tequio_client.dataset.runs import RUN_BYTES, Kind, OpenRun, SortedRuns
from tequio_client.dataset.sources import TextSource, token_bytes, tokenizer_entry
from tequio_client.dataset.state import BuildState, UnfinishedBuild
from tequio_client.tokenizers import TABLE_NAME, TOKENIZER_NAME, TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log import merkle
from tequio_shared.round.corpus import (
    LEAVES_SUFFIX,
    Corpus,
    HeldOutShard,
    TrainShard,
    held_out_file_name,
    train_file_name,
)
from tequio_shared.round.manifest import TokenizerKind

MANIFEST_NAME = "corpus.json"
TOKENIZER_FILES: Mapping[TokenizerKind, str] = {
    "huggingface": TOKENIZER_NAME,
    "plugin": TABLE_NAME,
}
"""Name of the tokenizer's file beside the shards; raw bytes have none."""
RUN_S = 300.0
"""Seconds after which a run is written though it is not full: an interruption costs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """Sizes of the shards in tokens and bytes; `held_out_bp` is in 1/10,000 of the documents."""

    sequence: int
    seed: int
    held_out_bp: int
    shard_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProgress:
    """How far a build is, for people."""

    stage: Literal["reading", "writing"]
    done: int
    """Rows that are encoded, or documents in shards."""
    total: int | None
    """Documents to write; rows are not counted before they are read."""
    tokens: int = 0
    """Encoded ones."""
    rows_in_flight: int = 0
    """Rows in memory that were read and are not encoded."""
    census: Census | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How a build is done, which does not affect its result."""

    jobs: Jobs = field(default_factory=Jobs)
    progress: Callable[[BuildProgress], None] = lambda _: None
    restart: bool = False
    """Start over, whatever was done."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Further things that the result depends on, compared with that of a build to be continued."""
    run_bytes: int = RUN_BYTES
    """Ids in memory."""
    run_s: float = RUN_S
    clock: Callable[[], float] = time.monotonic


_USUAL = BuildOptions()


def build_shards(
    source: TextSource | Mixture,
    tokenizer: TextTokenizer,
    settings: ShardOptions,
    folder: Path,
    how: BuildOptions = _USUAL,
    *,
    chat: DocumentEncoder | None = None,
) -> Corpus:
    """Write shards and data manifest into a folder, or continue a build that was interrupted there.

    With `chat`, documents are conversations. Memory: the ids of a run, the rows in flight (`jobs`),
    and one shard; disk: the ids once more until the end, and about 70 bytes a document. Raises
    UserFacingError, for less text than a single sample needs and for a folder with an unfinished
    build of other settings or of a source that has changed; and OSError.
    """
    mixture = source if isinstance(source, Mixture) else Mixture(parts=(source,), shares=(1.0,))
    encoder = chat or TextEncoder(tokenizer=tokenizer)
    unfinished = UnfinishedBuild(folder)
    asked = _asked(mixture, tokenizer, encoder, settings) | dict(how.also)
    state = unfinished.open(asked, mixture.identity(), restart=how.restart)
    build = _Build(
        mixture=mixture,
        encoder=encoder,
        settings=settings,
        out=folder,
        unfinished=unfinished,
        how=how,
        state=state,
    )
    if state.census is None:
        build.read()
        build.count()
    build.write()
    corpus = Corpus(
        source=mixture.label(build.census.taken)[:256],
        tokenizer=tokenizer_entry(tokenizer),
        token_bytes=build.width,
        separator=tokenizer.separator,
        sequence=settings.sequence,
        train=build.state.train,
        held_out=build.state.held_out,
        chat=encoder.manifest_entry(build.census.turn_ends),
    )
    for kind, name in TOKENIZER_FILES.items():
        if tokenizer.kind == kind:
            (folder / name).write_bytes(tokenizer.file)
    (folder / MANIFEST_NAME).write_bytes(corpus.encode())
    unfinished.remove()
    return corpus


def _asked(
    mixture: Mixture, tokenizer: TextTokenizer, encoder: DocumentEncoder, settings: ShardOptions
) -> dict[str, str]:
    """Settings that the result depends on beside the content, by the names of their options."""
    entry = tokenizer_entry(tokenizer)
    chat = encoder.manifest_entry({0: 1})
    return {
        "the source": f"{mixture.label(mixture.shares)} {list(mixture.shares)}",
        "--tokenizer": f"{entry.kind} {entry.file}".strip(),
        "--separator": str(tokenizer.separator),
        "--chat": to_text(sha256(msgspec.json.encode(chat))) if chat else "not given",
        "--sequence": str(settings.sequence),
        "--seed": str(settings.seed),
        "--held-out": str(settings.held_out_bp),
        "--shard-mib": f"{settings.shard_bytes / (1 << 20):g}",
    }


@dataclass(kw_only=True)
class _Build:
    """A build at work; owns the state."""

    mixture: Mixture
    encoder: DocumentEncoder
    settings: ShardOptions
    out: Path
    unfinished: UnfinishedBuild
    how: BuildOptions
    state: BuildState

    @property
    def width(self) -> Literal[1, 2, 4]:
        return token_bytes(self.encoder.ids)

    @property
    def census(self) -> Census:
        if self.state.census is None:
            raise AssertionError("counted before shards are written")
        return self.state.census

    def read(self) -> None:
        """Encode all rows that are not in a run yet."""
        rules = EncodingRules(
            seed=self.settings.seed, held_out_bp=self.settings.held_out_bp, width=self.width
        )
        encoding = ChunkEncoding(self.encoder, rules, self.how.jobs)
        run, begun, state = OpenRun(), self.how.clock(), self.state
        self._report_reading(state, 0)
        for chunk, encoded in encoding.results(self.mixture.chunks(state.part, state.position)):
            run.add(encoded)
            state = msgspec.structs.replace(
                state,
                part=chunk.part,
                position=chunk.behind,
                rows=state.rows + len(chunk.texts),
                tokens=state.tokens + int(encoded.records["tokens"].sum()),
            )
            is_due = self.how.clock() - begun >= self.how.run_s
            if run.size_bytes >= self.how.run_bytes or is_due:
                state = self._write_run(run, state)
                run, begun = OpenRun(), self.how.clock()
            self._report_reading(state, encoding.rows_in_flight)
        self._write_run(run, state)

    def count(self) -> None:
        """Find which documents are in the shards; refuses before anything is written."""
        census = count_documents(self.mixture, self._runs())
        self.encoder.manifest_entry(census.turn_ends)
        self._save(msgspec.structs.replace(self.state, census=census))

    def write(self) -> None:
        """Write the shards that are missing."""
        files.delete(self.out / MANIFEST_NAME)  # of an earlier build: its shards are replaced
        self._report_writing(0)
        full = -(-self.settings.shard_bytes // self.width)
        sequence = self.settings.sequence
        if not self.state.is_train_done:
            for group in self._groups("train", max(full, sequence + 1), between=1):
                self._add_train_shard(group, sequence)
            if not self.state.train:
                raise UserFacingError(self._why_too_little())
            self._save(msgspec.structs.replace(self.state, is_train_done=True, last=""))
        for group in self._groups("held-out", full, between=0):
            self._add_held_out_shard(group)
        _delete_from(self.out, train_file_name, len(self.state.train))
        _delete_from(self.out, held_out_file_name, len(self.state.held_out))

    def _why_too_little(self) -> str:
        census, sequence = self.census, self.settings.sequence
        if not census.left_out:
            return (
                "too little text for a single sample: add documents, or choose a shorter --sequence"
            )
        return (
            f"no conversation is left to train on: of {census.documents:,}, the assistant says "
            f"nothing within a sample of {sequence:,} tokens in "
            f"{census.left_out - census.spelled:,}, and somebody writes a token that ends turns or "
            f"documents in {census.spelled:,}; choose a longer --sequence, or other conversations"
        )

    def _report_reading(self, state: BuildState, in_flight: int) -> None:
        self.how.progress(
            BuildProgress(
                stage="reading",
                done=state.rows,
                total=None,
                tokens=state.tokens,
                rows_in_flight=in_flight,
            )
        )

    def _report_writing(self, more: int) -> None:
        self.how.progress(
            BuildProgress(
                stage="writing",
                done=self.state.done + more,
                total=self.census.documents,
                census=self.census,
            )
        )

    def _write_run(self, run: OpenRun, state: BuildState) -> BuildState:
        run.write(self.unfinished.folder, len(state.run_sizes), self.width)
        state = msgspec.structs.replace(state, run_sizes=(*state.run_sizes, run.size_bytes))
        self._save(state)
        return state

    def _save(self, state: BuildState) -> None:
        self.unfinished.save(state)
        self.state = state

    def _runs(self) -> SortedRuns:
        return SortedRuns(
            folder=self.unfinished.folder,
            count=len(self.state.run_sizes),
            width=self.width,
            intervals=max(1, -(-sum(self.state.run_sizes) // self.how.run_bytes)),
        )

    def _groups(self, kind: Kind, full_tokens: int, *, between: int) -> Iterator[_Group]:
        """Documents for one shard each; `between` counts the tokens that a shard adds for each."""
        group, tokens = _Group(), 0
        for record, ids in self._documents(kind):
            group.add(record, ids)
            self._report_writing(group.read)
            if not record["is_left_out"]:
                tokens += len(ids) + between
            if tokens >= full_tokens:
                yield group
                group, tokens = _Group(), 0
        if group.ids:
            yield group

    def _documents(self, kind: Kind) -> Iterator[tuple[Any, NDArray[Any]]]:
        """The documents behind the last one in a complete shard."""
        runs, census, last = self._runs(), self.census, bytes.fromhex(self.state.last)
        for interval in range(runs.interval_of(last) if last else 0, runs.intervals):
            for record, ids in runs.documents(interval, kind):
                order = whole_hash(record["order"])
                if last < order and census.has(order, record["part"]):
                    yield record, ids

    def _add_train_shard(self, group: _Group, sequence: int) -> None:
        ids = self.encoder.stream(group.ids, sequence)
        train = self.state.train
        if len(ids) > sequence:
            raw = ids.astype(f"<u{self.width}").tobytes()
            shard = TrainShard(
                root=_written(self.out / train_file_name(len(train)), raw),
                size_bytes=len(raw),
                tokens=len(ids),
                samples=(len(ids) - 1) // sequence,
            )
            train = (*train, shard)
        self._save(group.complete(msgspec.structs.replace(self.state, train=train)))

    def _add_held_out_shard(self, group: _Group) -> None:
        table = np.array([*zip(map(len, group.ids), group.text_bytes, strict=True)], "<u4")
        ids = np.concatenate(group.ids)
        raw = table.tobytes() + ids.astype(f"<u{self.width}").tobytes()
        held_out = self.state.held_out
        shard = HeldOutShard(
            root=_written(self.out / held_out_file_name(len(held_out)), raw),
            size_bytes=len(raw),
            tokens=len(ids),
            documents=len(group.ids),
            text_bytes=sum(group.text_bytes),
        )
        state = msgspec.structs.replace(self.state, held_out=(*held_out, shard))
        self._save(group.complete(state))


@dataclass(slots=True)
class _Group:
    """The documents of one shard."""

    ids: list[NDArray[Any]] = field(default_factory=list)
    text_bytes: list[int] = field(default_factory=list)
    read: int = 0
    last: str = ""

    def add(self, record: Any, ids: NDArray[Any]) -> None:  # noqa: ANN401 - of encode.RECORD
        self.read += 1
        self.last = whole_hash(record["order"]).hex()
        if not record["is_left_out"]:
            self.ids.append(ids)
            self.text_bytes.append(int(record["text_bytes"]))

    def complete(self, state: BuildState) -> BuildState:
        """The state once these documents are on the disk."""
        return msgspec.structs.replace(state, last=self.last, done=state.done + self.read)


def _delete_from(folder: Path, name: Callable[[int], str], first: int) -> None:
    """Delete the shards that an earlier, larger build wrote into the folder."""
    for number in count(first):
        path = folder / name(number)
        if not path.exists():
            return
        files.delete(path)
        files.delete(path.with_name(path.name + LEAVES_SUFFIX))


def _written(path: Path, raw: bytes) -> str:
    """Write a shard durably, its leaf hashes beside it for mirrors, and give its root as text."""
    pieces = (raw[at : at + PIECE_BYTES] for at in range(0, len(raw), PIECE_BYTES))
    leaves = [merkle.leaf_hash(piece) for piece in pieces]
    for place, content in (
        (path, raw),
        (path.with_name(path.name + LEAVES_SUFFIX), b"".join(leaves)),
    ):
        with place.open("wb") as file:
            file.write(content)
            files.sync(file)
    return to_text(merkle.root_of_hashes(leaves))
