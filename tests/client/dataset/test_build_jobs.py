"""A build in several processes, of sources that are read as they come: equal bytes, few rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from tequio_client.dataset import rows
from tequio_client.dataset.build import BuildOptions, BuildProgress, ShardOptions, build_shards
from tequio_client.dataset.jobs import CHUNKS_PER_JOB, Jobs
from tequio_client.dataset.mixture import CHUNK_ROWS, Mixture
from tequio_client.dataset.progress import BuildSpeed
from tequio_client.dataset.sources import Position, RowReader
from tequio_client.tokenizers import ByteTokenizer
from tequio_shared.errors import UserFacingError
from tests.support import chats

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = ShardOptions(sequence=16, seed=4, held_out_bp=500, shard_bytes=20_000)
ROWS = 7 * CHUNK_ROWS + 5


@dataclass
class CountedRows:
    """Rows that are made as they are read, each with another text, and counted."""

    label: str = "counted"
    letter: str = "a"
    count: int = ROWS
    read_rows: int = 0

    def identity(self) -> list[str]:
        return [f"{self.letter} {self.count}"]

    def read(self, position: Position) -> RowReader[str]:
        return RowReader(self._rows(position.row), position.row)

    def _rows(self, first: int) -> Iterator[str]:
        for at in range(first, self.count):
            self.read_rows += 1
            yield f"{at % 9_000} {self.letter * (at % 50)}"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_any_number_of_processes_gives_the_same_bytes_with_few_rows_in_memory(
    tmp_path: Path,
) -> None:
    built = {}
    for jobs in (1, 2, 3):
        source, seen = CountedRows(), list[BuildProgress]()
        # Both what the build says and what the source has handed out beyond what is encoded.
        ahead = list[int]()

        def report(
            now: BuildProgress,
            source: CountedRows = source,
            seen: list[BuildProgress] = seen,
            ahead: list[int] = ahead,
        ) -> None:
            seen.append(now)
            if now.stage == "reading":
                ahead.append(source.read_rows - now.done)

        how = BuildOptions(jobs=Jobs(count=jobs), progress=report)
        build_shards(source, ByteTokenizer(), SETTINGS, tmp_path / str(jobs), how)
        built[jobs] = contents(tmp_path / str(jobs))
        bound = CHUNKS_PER_JOB * jobs * CHUNK_ROWS if jobs > 1 else CHUNK_ROWS
        assert max(one.rows_in_flight for one in seen) <= bound
        assert CHUNK_ROWS <= max(ahead) + CHUNK_ROWS <= bound + CHUNK_ROWS
        assert seen[-1].done == seen[-1].total
        assert source.read_rows == ROWS, "each row is read once"
    assert built[1] == built[2] == built[3]
    assert len(built[1]) > 10


def test_small_runs_and_many_intervals_give_the_same_bytes(tmp_path: Path) -> None:
    few = CountedRows(count=900)
    build_shards(few, ByteTokenizer(), SETTINGS, tmp_path / "one")
    clock = iter(range(1 << 20))
    for name, how in (
        ("small", BuildOptions(run_bytes=1_000)),
        ("timed", BuildOptions(run_s=0.5, clock=lambda: float(next(clock)))),
    ):
        build_shards(few, ByteTokenizer(), SETTINGS, tmp_path / name, how)
        assert contents(tmp_path / name) == contents(tmp_path / "one")


def test_a_mixture_in_runs_and_processes_is_that_of_one(tmp_path: Path) -> None:
    def mixture() -> Mixture:
        # Some rows of the second are also in the first: they count as the first one's.
        parts = (CountedRows(count=3_000), CountedRows(letter="b", count=5_000))
        return Mixture(parts=parts, shares=(3.0, 1.0))

    build_shards(mixture(), ByteTokenizer(), SETTINGS, tmp_path / "one")
    how = BuildOptions(jobs=Jobs(count=2), run_bytes=20_000)
    build_shards(mixture(), ByteTokenizer(), SETTINGS, tmp_path / "two", how)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    raw = b"".join(text for name, text in contents(tmp_path / "one").items() if "tokens" in name)
    assert 2.8 < raw.count(b"a") / raw.count(b"b") < 3.2


def test_conversations_are_the_same_from_two_processes(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 64)
    talks = chats.rows(*chats.echoes(1_500))
    settings = ShardOptions(sequence=64, seed=1, held_out_bp=1_000, shard_bytes=20_000)
    for name, jobs in (("one", 1), ("two", 2)):
        how = BuildOptions(jobs=Jobs(count=jobs))
        build_shards(talks, encoder.tokenizer, settings, tmp_path / name, how, chat=encoder)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_fault_in_a_process_is_the_builds_fault(tmp_path: Path) -> None:
    folder = chats.byte_level_tokenizer(tmp_path / "tokenizer", chats.ENDLESS)
    encoder = chats.encoder(folder, 64)
    talks = chats.rows(*chats.echoes(1_500))
    how = BuildOptions(jobs=Jobs(count=2))
    with pytest.raises(UserFacingError, match="could not learn to end its turn"):
        build_shards(talks, encoder.tokenizer, SETTINGS, tmp_path / "out", how, chat=encoder)


def test_a_smaller_build_leaves_no_shard_of_a_larger_one(tmp_path: Path) -> None:
    build_shards(CountedRows(count=2_000), ByteTokenizer(), SETTINGS, tmp_path / "out")
    corpus = build_shards(CountedRows(count=900), ByteTokenizer(), SETTINGS, tmp_path / "out")
    assert len([*(tmp_path / "out").glob("*.tokens")]) == len(corpus.files)


def test_rows_of_files_go_on_where_they_were(tmp_path: Path) -> None:
    for file in range(3):
        lines = [json.dumps({"text": f"{file} {at}"}) for at in range(200)]
        (tmp_path / f"{file}.jsonl").write_text("\n".join(lines))
    due = [f"{file} {at}" for file in range(3) for at in range(200)]
    opened = rows.open_texts(str(tmp_path), config=None, split="train", column="")
    reader = opened.read(Position())
    begun = iter(reader)
    first = [next(begun) for _ in range(250)]
    position = reader.position()
    assert position.row == 250
    assert position.cursor, "the library's own state, so that files before it are not read again"
    again = rows.open_texts(str(tmp_path), config=None, split="train", column="")
    assert first + list(again.read(position)) == due
    single = rows.open_texts(str(tmp_path / "1.jsonl"), config=None, split="train", column="text")
    assert list(single.read(Position())) == due[200:400]
    *files, column = (one.split(" (")[0] for one in opened.identity())
    assert files == [str(tmp_path / f"{file}.jsonl") for file in range(3)]
    assert column == "--column text"


def test_addresses_are_read_by_fsspec_and_formats_told_by_their_names(tmp_path: Path) -> None:
    fsspec = import_module("fsspec")
    pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")

    fsspec.filesystem("memory").pipe("/milpa/rows.jsonl", b'{"body": "maize"}\n{"body": "beans"}\n')
    found = rows.open_texts("memory://milpa/rows.jsonl", config=None, split="train", column="body")
    assert list(found.read(Position())) == ["maize", "beans"]
    parquet.write_table(pa.table({"text": ["one", "two"]}), tmp_path / "a.parquet")
    address = (tmp_path / "*.parquet").as_uri().replace("%2A", "*")
    found = rows.open_texts(address, config=None, split="train", column="")
    assert list(found.read(Position())) == ["one", "two"]
    (tmp_path / "whole.txt").write_text("two\nlines\n")
    found = rows.open_texts(str(tmp_path / "whole.txt"), config=None, split="train", column="")
    assert list(found.read(Position())) == ["two\nlines\n"]
    (tmp_path / "rows.bin").write_bytes(b"x")
    with pytest.raises(UserFacingError, match=r"cannot tell the format of .*rows.bin"):
        rows.open_texts(str(tmp_path / "rows.bin"), config=None, split="train", column="")
    with pytest.raises(UserFacingError, match=r"s3://milpa/x.parquet: .*s3fs"):
        rows.open_texts("s3://milpa/x.parquet", config=None, split="train", column="")


def test_a_file_whose_name_has_brackets_is_that_file(tmp_path: Path) -> None:
    for name in ("rows[1].jsonl", "rows1.jsonl"):
        (tmp_path / name).write_text(json.dumps({"text": name}))
    file = str(tmp_path / "rows[1].jsonl")
    found = rows.open_texts(file, config=None, split="train", column="")
    assert list(found.read(Position())) == ["rows[1].jsonl"]
    (tmp_path / "old [1]").mkdir()
    (tmp_path / "old [1]" / "rows.jsonl").write_text(json.dumps({"text": "maize"}))
    with pytest.raises(UserFacingError, match=r"old \[1\] has one of .*: rename the folder"):
        rows.open_texts(str(tmp_path / "old [1]"), config=None, split="train", column="")


def test_a_column_of_other_values_than_texts_is_refused(tmp_path: Path) -> None:
    lines = [{"text": None, "lists": None}, {"text": "maize", "lists": ["beans", "squash"]}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))

    def read(column: str) -> list[str]:
        file = str(tmp_path / "rows.jsonl")
        found = rows.open_texts(file, config=None, split="train", column=column)
        return list(found.read(Position()))

    assert read("text") == ["", "maize"]
    with pytest.raises(UserFacingError, match=r"row 1 of .* no text in 'lists' but .* type list"):
        read("lists")


def test_speed_counts_what_this_process_did_per_core() -> None:
    clock = iter([10.0, 10.0, 14.0])
    speed = BuildSpeed(2, lambda: next(clock))
    speed.text(BuildProgress(stage="reading", done=100, total=None, tokens=1_000))
    text = speed.text(BuildProgress(stage="reading", done=500, total=None, tokens=9_000))
    assert text == "500 rows, 9,000 tokens (100 rows/s, 2,000 tokens/s, 1,000 tokens/s per core)"
