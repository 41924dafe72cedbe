"""A member's texts: documents of a folder, as tokens, and the samples that are drawn from them.

Without differential privacy all documents, each behind a separator, are one stream, which is cut
into samples as `tequio data build` does; a round takes them in random order.

With differential privacy a document is what is protected, whole, so a step must not see it twice:
each is drawn by itself, with the same probability (Poisson sampling), and a drawn one gives one
random piece of `sequence` tokens, or all of it if it is shorter.

Equal documents count once. A file that is not UTF-8 is left out, as is a text that cannot be.

No torch here: a member's program checks the folder with this module before its first round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tequio_client.tokenizers import TextTokenizer, encode_document
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256

if TYPE_CHECKING:
    from tequio_client.trainer.private.noise import RandomBits

TEXT_SUFFIXES, LINES_SUFFIX = (".txt", ".md"), ".jsonl"
_FIELD = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTexts:
    """Documents as one array of ids; document i is `ids[starts[i] : starts[i + 1]]`.

    Each begins with the separator; so does what follows it.
    """

    ids: NDArray[np.unsignedinteger[Any]]
    starts: NDArray[np.int64]
    separator: int

    @property
    def documents(self) -> int:
        return len(self.starts) - 1

    def count_samples(self, sequence: int) -> int:
        """Samples without differential privacy: at least one, filled up if need be."""
        return max((len(self.ids) - 1) // sequence, 1)

    def epochs(self, sequence: int, bits: RandomBits) -> Iterator[NDArray[np.int64]]:
        """Samples int64 [sequence + 1] in random order, all of them before any comes again."""
        while True:
            for place in np.argsort(bits(self.count_samples(sequence)), kind="stable"):
                first = int(place) * sequence
                yield self._filled(self.ids[first : first + sequence + 1], sequence)

    def draw(
        self, rate: float, sequence: int, uniforms: Callable[[int], NDArray[np.float64]]
    ) -> NDArray[np.int64]:
        """Draw each document with this probability: a piece of each, int64 [n, sequence + 1].

        `uniforms` gives that many random numbers from 0 to below 1.
        """
        drawn = np.flatnonzero(uniforms(self.documents) < rate)
        places = uniforms(len(drawn))
        rows = np.empty((len(drawn), sequence + 1), np.int64)
        for row, document, place in zip(rows, drawn, places, strict=True):
            row[:] = self._piece(int(document), float(place), sequence)
        return rows

    def _piece(self, document: int, place: float, sequence: int) -> NDArray[np.int64]:
        """A piece of a document and the separator behind it; `place` is from 0 to below 1."""
        start, stop = self.starts[document], self.starts[document + 1]
        # What follows a document is the separator, in front of the next one or behind the last.
        first = start + int(place * (max(stop - start - sequence, 0) + 1))
        return self._filled(self.ids[first : min(first + sequence, stop) + 1], sequence)

    def _filled(self, ids: NDArray[np.unsignedinteger[Any]], sequence: int) -> NDArray[np.int64]:
        """Ids with separators that have no loss behind them (`token_loss`)."""
        missing = sequence + 1 - len(ids)
        return np.concatenate((ids.astype(np.int64), np.full(missing, ~self.separator)))


class NoTextsError(UserFacingError):
    """A folder has no texts."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} has no texts: put files *.txt, *.md or *.jsonl into it, or choose another"
        )


def read_texts(folder: Path, tokenizer: TextTokenizer) -> PrivateTexts:
    """Read the documents of a folder; raises UserFacingError."""
    if not folder.is_dir():
        raise UserFacingError(f"{folder} is not a folder: choose the one with your texts")
    parts, seen = [], set()
    kind = np.min_scalar_type(tokenizer.vocab_size)  # a byte is the least that an id takes
    try:
        for text in _texts(folder):
            try:
                name = sha256(text.encode())
            except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
                continue
            if text.strip() and name not in seen:
                seen.add(name)
                ids = np.append(tokenizer.separator, encode_document(tokenizer, text))
                parts.append(ids.astype(kind))
    except OSError as err:
        raise UserFacingError(f"cannot read {err.filename or folder}: {err.strerror}") from err
    if not parts:
        raise NoTextsError(folder)
    lengths = [len(one) for one in parts]
    return PrivateTexts(
        ids=np.concatenate([*parts, np.array([tokenizer.separator], kind)]),
        starts=np.concatenate(([0], np.cumsum(lengths))),
        separator=tokenizer.separator,
    )


def text_files(folder: Path) -> list[Path]:
    """The files of a folder, at any depth, that are read for texts."""
    suffixes = (*TEXT_SUFFIXES, LINES_SUFFIX)
    found = (one for one in folder.rglob("*") if one.suffix.lower() in suffixes)
    return sorted(one for one in found if one.is_file())


def _texts(folder: Path) -> Iterator[str]:
    for path in text_files(folder):
        try:
            content = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        if path.suffix.lower() == LINES_SUFFIX:
            yield from _lines(path, content)
        else:
            yield content


def _lines(path: Path, content: str) -> Iterator[str]:
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as err:
            raise UserFacingError(f"{path}, line {number} is not valid JSON: {err}") from err
        text = value.get(_FIELD) if isinstance(value, dict) else value
        if not isinstance(text, str):
            raise UserFacingError(
                f'{path}, line {number} has no text: write a line as {{"text": "…"}}'
            )
        yield text
