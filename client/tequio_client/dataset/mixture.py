"""Mixtures: data from several sources, each with its share of the text.

A mixture is a TOML file, whose relative paths are relative to it:

[[source]]
dataset = "HuggingFaceFW/fineweb-edu"   # or: folder = "texts", or: stdlib = true
config = "sample-10BT"                  # of a dataset; as are split and column
share = 0.7

[[source]]
folder = "code"
pattern = "*.py"                        # of a folder
share = 0.3

Shares are of bytes of text (of conversations: as JSON), and only their ratios matter. No document
is repeated: the data ends where one of the sources would run out, and of the others, documents are
left out by their hashes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tequio_client import plan_file
from tequio_client.dataset import chat, sources
from tequio_client.dataset.sources import TextSource
from tequio_shared.errors import UserFacingError

MOST_SOURCES = 64


class SourcePlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A source, and its share of the text."""

    share: Annotated[float, Meta(gt=0, le=1e6)]
    folder: str = ""
    pattern: str = "*"
    dataset: str = ""
    config: str | None = None
    split: str = "train"
    column: str = ""
    stdlib: bool = False

    def open(self, beside: Path, *, is_chat: bool) -> TextSource:
        """Open the source; raises UserFacingError."""
        if [bool(self.folder), bool(self.dataset), self.stdlib].count(True) != 1:
            raise UserFacingError(
                "each source has exactly one of folder, dataset and stdlib = true"
            )
        if is_chat and not self.dataset:
            raise UserFacingError("conversations are read from datasets: each source names one")
        if self.folder:
            return sources.folder_files(beside / self.folder, self.pattern)
        if self.stdlib:
            return sources.standard_library_files()
        here = beside / self.dataset
        name = str(here) if here.is_dir() else self.dataset
        load = chat.load_conversations if is_chat else sources.load_dataset
        return load(name, config=self.config, split=self.split, column=self.column)


class MixturePlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: Annotated[tuple[SourcePlan, ...], Meta(min_length=1, max_length=MOST_SOURCES)]


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Several sources as one: the documents of the first, then those of the second, and so on."""

    parts: tuple[TextSource, ...]
    shares: tuple[float, ...]
    """Relative to each other."""

    @property
    def label(self) -> str:
        whole = sum(self.shares)
        named = zip(self.parts, self.shares, strict=True)
        return ", ".join(f"{share / whole:.3g} of {part.label}" for part, share in named)

    @cached_property
    def _firsts(self) -> list[int]:
        return list(accumulate(map(len, self.parts), initial=0))[:-1]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def text(self, index: int) -> str:
        """A document; "" for one without text. Raises UserFacingError."""
        part = self.part_of(index)
        return self.parts[part].text(index - self._firsts[part])

    def part_of(self, index: int) -> int:
        """The number of the source that a document is from."""
        return bisect_right(self._firsts, index) - 1

    def kept(self, sizes: Iterable[tuple[int, int]]) -> Iterator[bool]:
        """For each document (index, bytes of text), in their order: whether the mixture has it.

        Raises UserFacingError for a source without text.
        """
        listed = [(self.part_of(index), size) for index, size in sizes]
        totals = [0] * len(self.parts)
        for part, size in listed:
            totals[part] += size
        empty = next((one for one, total in enumerate(totals) if not total), None)
        if empty is not None:
            raise UserFacingError(
                f"{self.parts[empty].label} has no text that the sources before it lack: "
                "remove it from the mixture"
            )
        scale = min(total / share for total, share in zip(totals, self.shares, strict=True))
        return _within(listed, [scale * share for share in self.shares])


def _within(listed: Sequence[tuple[int, int]], wanted: Sequence[float]) -> Iterator[bool]:
    """Take documents (part, bytes) until each part has its bytes."""
    taken = [0] * len(wanted)
    for part, size in listed:
        is_taken = taken[part] < wanted[part]
        taken[part] += size * is_taken
        yield is_taken


def read_mixture(path: Path, *, is_chat: bool = False) -> Mixture:
    """Open the sources of a mixture; raises UserFacingError, which names the file and the fault."""
    plan = plan_file.read(path, MixturePlan)
    return Mixture(
        parts=tuple(one.open(path.parent, is_chat=is_chat) for one in plan.source),
        shares=tuple(one.share for one in plan.source),
    )
