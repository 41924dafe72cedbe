"""How fast documents are encoded, on each core: Python's standard library, with 1 and 2 processes.

A tokenizer is learned from the same texts first. The shards are compared: any number of processes
gives the same bytes. `--repeat` reads the library that often, with a line that makes texts differ.

    python bench/data.py [--jobs 1,2] [--repeat 4] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loops import repository, table
from loops.machine import machine

from tequio_client.dataset.build import BuildOptions, BuildProgress, ShardOptions, build_shards
from tequio_client.dataset.jobs import Jobs
from tequio_client.dataset.mixture import Mixture
from tequio_client.dataset.sources import (
    Position,
    RowReader,
    TextFiles,
    standard_library_files,
)
from tequio_client.tokenizers import train_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.tokenizers import TextTokenizer

DOCUMENT = repository.ROOT / "docs" / "organising.md"
PLACE = "tokens per core"
VOCABULARY = 4_096
LEARN_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same files several times, each time as other texts."""

    files: TextFiles
    times: int

    @property
    def label(self) -> str:
        return f"{self.times} times {self.files.label}"

    def identity(self) -> list[str]:
        return [f"{self.times}", *self.files.identity()]

    def read(self, position: Position) -> RowReader[str]:
        return RowReader(self._texts(position.row), position.row)

    def _texts(self, first: int) -> Iterator[str]:
        for at in range(first, self.times * len(self.files)):
            number, file = divmod(at, len(self.files))
            yield f"# {number}\n{self.files.text(file)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of reading alone: the shards are written by one process."""

    jobs: int
    rows: int
    tokens: int
    seconds: float
    root: str

    @property
    def per_core(self) -> float:
        return self.tokens / self.seconds / self.jobs


def main() -> None:
    """Print the figures of each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="1,2", help="numbers of processes, with commas")
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", action="store_true", help=f"write them into {DOCUMENT.name}")
    options = parser.parse_args()
    files = standard_library_files()
    source = Repeated(files=files, times=options.repeat)
    texts = Mixture(parts=(files,), shares=(1.0,)).some_texts(LEARN_BYTES)
    tokenizer = train_tokenizer(texts, VOCABULARY)
    found = [_measured(source, tokenizer, int(jobs)) for jobs in options.jobs.split(",")]
    columns = ("processes", "rows", "tokens", "rows/s", "tokens/s", "tokens/s per process")
    lines = [
        (
            str(one.jobs),
            f"{one.rows:,}",
            f"{one.tokens:,}",
            f"{one.rows / one.seconds:,.0f}",
            f"{one.tokens / one.seconds:,.0f}",
            f"{one.per_core:,.0f}",
        )
        for one in found
    ]
    shown = table.markdown(columns, lines)
    print(shown)
    if len({one.root for one in found}) != 1:
        raise SystemExit("the shards differ between numbers of processes")
    if options.document:
        table.put(DOCUMENT, PLACE, shown)
    if options.json:
        figures = {str(one.jobs): one.per_core for one in found}
        options.json.write_text(json.dumps({**machine(), "tokens_per_s_and_process": figures}))


def _measured(source: Repeated, tokenizer: TextTokenizer, jobs: int) -> Figures:
    last = BuildProgress(stage="reading", done=0, total=None)
    begun = read = time.perf_counter()

    def report(now: BuildProgress) -> None:
        nonlocal last, read
        if now.stage == "reading":
            last, read = now, time.perf_counter()

    settings = ShardOptions(sequence=1_024, seed=0, held_out_bp=100, shard_bytes=64 << 20)
    how = BuildOptions(jobs=Jobs(count=jobs), progress=report)
    with tempfile.TemporaryDirectory() as folder:
        corpus = build_shards(source, tokenizer, settings, Path(folder), how)
    return Figures(
        jobs=jobs,
        rows=last.done,
        tokens=last.tokens,
        seconds=read - begun,
        root=corpus.root.hex(),
    )


if __name__ == "__main__":
    main()
