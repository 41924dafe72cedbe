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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct

from tequio_client import plan_file
from tequio_client.dataset import chat, rows, sources
from tequio_client.dataset.sources import Position, TextList, TextSource
from tequio_shared.errors import UserFacingError

MOST_SOURCES = 64
CHUNK_ROWS, CHUNK_BYTES = 1_024, 1 << 20
"""Most rows of a chunk, and the characters of text at which it is complete."""
_BEGINNING = Position()
_FAR = 0.1
"""Part of its share by which a source may miss it before people are told."""


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
            return sources.folder_files(beside / self.folder, self.pattern).require_utf8()
        if self.stdlib:
            return sources.standard_library_files()
        here = beside / self.dataset
        name = str(here) if here.exists() else self.dataset
        load = chat.open_conversations if is_chat else rows.open_texts
        return load(name, config=self.config, split=self.split, column=self.column)


class MixturePlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: Annotated[tuple[SourcePlan, ...], Meta(min_length=1, max_length=MOST_SOURCES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """Some rows of a source, and where the next one is."""

    part: int
    texts: tuple[str, ...]
    behind: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Several sources, or a single one: first the rows of the first, then those of the second."""

    parts: tuple[TextSource, ...]
    shares: tuple[float, ...]
    """Relative to each other."""

    def label(self, amounts: Sequence[float]) -> str:
        """Name the sources for people; the amounts of text from each make their shares."""
        if len(self.parts) == 1:
            return self.parts[0].label
        named = zip(self.parts, _parts_of_one(amounts), strict=True)
        return ", ".join(f"{share:.3g} of {part.label}" for part, share in named)

    def missed(self, taken: Sequence[int]) -> list[str]:
        """Sentences on the sources that give far more or less text than their share."""
        each = zip(self.parts, _parts_of_one(self.shares), _parts_of_one(taken), strict=True)
        return [
            f"{part.label} gives {given:.3g} of the text instead of {wanted:.3g}: documents are "
            "taken whole, and those left out are not replaced"
            for part, wanted, given in each
            if abs(given - wanted) > _FAR * wanted
        ]

    def identity(self) -> list[str]:
        """As that of `sources.TextSource`, for all sources."""
        return [f"{part.label}: {one}" for part in self.parts for one in part.identity()]

    def chunks(self, part: int = 0, position: Position = _BEGINNING) -> Iterator[TextChunk]:
        """Read all rows from a position in a source on; raises UserFacingError."""
        for number in range(part, len(self.parts)):
            reader = self.parts[number].read(position)
            position = _BEGINNING
            texts: list[str] = []
            size = 0
            for text in reader:
                texts.append(text)
                size += len(text)
                if len(texts) == CHUNK_ROWS or size >= CHUNK_BYTES:
                    yield TextChunk(part=number, texts=tuple(texts), behind=reader.position())
                    texts, size = [], 0
            yield TextChunk(part=number, texts=tuple(texts), behind=reader.position())

    def wanted(self, totals: Sequence[int]) -> list[float]:
        """Bytes of each source's text in the mixture, of those that it has without copies.

        Raises UserFacingError for a source without text.
        """
        empty = next((one for one, total in enumerate(totals) if not total), None)
        if empty is not None:
            raise UserFacingError(
                f"{self.parts[empty].label} has no text that the sources before it lack: "
                "remove it from the mixture"
            )
        scale = min(total / share for total, share in zip(totals, self.shares, strict=True))
        return [scale * share for share in self.shares]

    def some_texts(self, most_bytes: int) -> Iterator[str]:
        """Documents with about that many bytes, by the sources' shares; always the same ones.

        Of files, any, in an order without meaning; of a dataset, the first.
        """
        for part, share in zip(self.parts, self.shares, strict=True):
            room = most_bytes * share / sum(self.shares)
            for text in _any_order(part):
                if room <= 0:
                    break
                room -= len(text.encode())
                yield text


def _parts_of_one(amounts: Sequence[float]) -> list[float]:
    whole = sum(amounts)
    return [one / whole for one in amounts]


def _any_order(source: TextSource) -> Iterator[str]:
    if isinstance(source, TextList):
        order = np.random.default_rng(0).permutation(len(source))
        return (source.text(int(at)) for at in order)
    return iter(source.read(_BEGINNING))


def read_mixture(path: Path, *, is_chat: bool = False) -> Mixture:
    """Open the sources of a mixture; raises UserFacingError, which names the file and the fault."""
    plan = plan_file.read(path, MixturePlan)
    return Mixture(
        parts=tuple(one.open(path.parent, is_chat=is_chat) for one in plan.source),
        shares=tuple(one.share for one in plan.source),
    )
