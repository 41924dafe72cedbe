"""Encoded documents on disk, in sorted runs, and their merge in the order of the hashes.

As documents are read, their ids are collected in memory; each time `RUN_BYTES` are full, they are
sorted and written as a *run* (external merge sort: Knuth, TAOCP vol. 3, 5.4). A run has two files
for training and two for held-out documents: `records`, and the ids in the same order. Where one
run ends and the next begins does not affect the order of all documents.

The hashes are uniform, so the merge goes through equal intervals of them, each about as large as a
run: it reads the documents of one interval from every run, and holds that alone. For n bytes of ids
this makes (n / RUN_BYTES)² reads of RUN_BYTES² / n bytes: 100 billion tokens of 2 bytes are 746
runs, and 560,000 reads of 350 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tequio_client import files
from tequio_client.dataset.encode import RECORD, EncodedChunk, Records

RUN_BYTES = 256 << 20
"""Ids of a run, and so about the memory that a build needs."""
Kind: TypeAlias = Literal["train", "held-out"]
KINDS: tuple[Kind, ...] = ("train", "held-out")
_HASHES = 1 << 64  # the intervals are of the first 8 bytes


class OpenRun:
    """The documents of a run that is not yet written."""

    def __init__(self) -> None:
        self._chunks: list[EncodedChunk] = []
        self.size_bytes = 0

    def add(self, chunk: EncodedChunk) -> None:
        self._chunks.append(chunk)
        self.size_bytes += len(chunk.ids)

    def write(self, folder: Path, number: int, width: int) -> None:
        """Sort the documents and write them as a run, durably; raises OSError."""
        empty = EncodedChunk(records=np.zeros(0, RECORD), ids=b"")
        chunks = self._chunks or [empty]
        records = np.concatenate([chunk.records for chunk in chunks])
        owners = np.repeat(np.arange(len(chunks)), [len(chunk.records) for chunk in chunks])
        chosen = first_of_equals(records)
        for kind in KINDS:
            is_wanted = records["is_held_out"][chosen] == (kind == "held-out")
            places = chosen[is_wanted]
            with _ids_path(folder, number, kind).open("wb") as file:
                for at in places:
                    start = int(records["start"][at]) * width
                    end = start + int(records["tokens"][at]) * width
                    file.write(memoryview(chunks[owners[at]].ids)[start:end])
                files.sync(file)
            written = records[places]
            written["start"] = np.cumsum(written["tokens"]) - written["tokens"]
            with _records_path(folder, number, kind).open("wb") as file:
                file.write(written.tobytes())
                files.sync(file)
        files.sync_folder(folder)


def first_of_equals(records: Records) -> NDArray[np.intp]:
    """Places of the documents in the order of their hashes; of equal ones, one.

    It is of the first source. Rows of conversations that become equal ids can have other bytes; of
    these it is the smallest, so that the order of rows does not matter.
    """
    keys = ("text_bytes", "raw_bytes", "part", "order")  # the last one counts most
    places = np.lexsort([records[key] for key in keys])
    ordered = records["order"][places]
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return places[is_first]


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedRuns:
    """All runs of a build, to be merged; `intervals` cut the hashes into equal parts."""

    folder: Path
    count: int
    width: int
    intervals: int

    def records(self, interval: int, kinds: Sequence[Kind] = KINDS) -> Records:
        """The distinct documents of an interval, in order. Reads no ids. Raises OSError."""
        found = [
            records
            for number in range(self.count)
            for kind in kinds
            if len(records := self._of_run(number, kind, interval))
        ]
        joined = np.concatenate(found) if found else np.zeros(0, RECORD)
        return np.asarray(joined[first_of_equals(joined)])

    def documents(self, interval: int, kind: Kind) -> Iterator[tuple[Any, NDArray[Any]]]:
        """The distinct documents of an interval, in order: record and ids. Raises OSError."""
        records, ids = [], []
        for number in range(self.count):
            of_run = self._of_run(number, kind, interval)
            if len(of_run):
                raw = _read_ids(_ids_path(self.folder, number, kind), of_run, self.width)
                ids += [raw] * len(of_run)
                of_run["start"] -= of_run["start"][0]
                records.append(of_run)
        if not records:
            return
        joined = np.concatenate(records)
        for at in first_of_equals(joined):
            start, tokens = int(joined["start"][at]), int(joined["tokens"][at])
            yield joined[at], ids[at][start : start + tokens]

    def interval_of(self, order: bytes) -> int:
        """The interval that a hash is in."""
        return int.from_bytes(order[:8], "big") * self.intervals // _HASHES

    def _of_run(self, number: int, kind: Kind, interval: int) -> Records:
        path = _records_path(self.folder, number, kind)
        count = path.stat().st_size // RECORD.itemsize
        with path.open("rb") as file:
            # The first hash of interval i is ceil(i * 2^64 / intervals).
            first, end = (
                _first_from(file, count, -(-at * _HASHES // self.intervals))
                for at in (interval, interval + 1)
            )
            file.seek(first * RECORD.itemsize)
            return np.frombuffer(file.read((end - first) * RECORD.itemsize), RECORD).copy()


def _first_from(file: IO[bytes], count: int, key: int) -> int:
    """Place of the first record whose hash begins with at least these 8 bytes: log2(n) reads."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        file.seek(middle * RECORD.itemsize)  # the hash is what a record begins with
        if int.from_bytes(file.read(8), "big") < key:
            low = middle + 1
        else:
            high = middle
    return low


def _read_ids(path: Path, records: Records, width: int) -> NDArray[Any]:
    first, last = records[0], records[-1]
    count = int(last["start"]) + int(last["tokens"]) - int(first["start"])
    return np.fromfile(path, f"<u{width}", count, offset=int(first["start"]) * width)


def _records_path(folder: Path, number: int, kind: Kind) -> Path:
    return folder / f"run-{number:05d}.{kind}.records"


def _ids_path(folder: Path, number: int, kind: Kind) -> Path:
    return folder / f"run-{number:05d}.{kind}.ids"
