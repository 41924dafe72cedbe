"""Sources of documents (files of a folder, Python's own library), and tokenizers."""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from tequio_client import tokenizers
from tequio_client.names import clean_text
from tequio_client.tokenizers import SEPARATORS, TOKENIZER_NAME, ByteTokenizer, TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.manifest import Tokenizer

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes of files with one document a line."""
UNVERSIONED = "no version known"
"""At the end of an identity: nobody can tell whether what it names has changed."""
_REASON_CHARS, _NAMED = 300, 3
_NOT_LIBRARY = {"site-packages", "dist-packages", "test", "tests", "__pycache__", "lib2to3"}


class Position(Struct, frozen=True, kw_only=True):
    """Where the next row of a source is."""

    row: int = 0
    """Rows before it."""
    cursor: dict[str, Any] | None = None
    """The dataset library's own state there, so that no row before it is fetched again."""


Row = TypeVar("Row")


class RowReader(Generic[Row]):
    """Rows of a source, from a position on; knows the position behind the newest one."""

    def __init__(
        self,
        rows: Iterator[Row],
        row: int = 0,
        cursor: Callable[[], dict[str, Any] | None] = lambda: None,
    ) -> None:
        self._rows, self._row, self._cursor = rows, row, cursor

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self._row += 1
            yield row

    def position(self) -> Position:
        return Position(row=self._row, cursor=self._cursor())


class TextSource(Protocol):
    """Documents that are read one by one, repeatedly. Their order has no meaning."""

    @property
    def label(self) -> str:
        """The name shown to people."""

    def identity(self) -> list[str]:
        """Lines that name what is read, such as files, and differ once it has changed."""

    def read(self, position: Position) -> RowReader[str]:
        """Read documents from there on; "" for one without text. Raises UserFacingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """One document a file; a file that is not UTF-8 counts as empty."""

    label: str
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def text(self, index: int) -> str:
        return _decoded(self.paths[index]) or ""

    def require_utf8(self) -> TextFiles:
        """Give these files; raises UserFacingError if any is not UTF-8. Reads all of them."""
        odd = [path.name for path in self.paths if _decoded(path) is None]
        if odd:
            more = f" and {len(odd) - _NAMED:,} more" if odd[_NAMED:] else ""
            raise UserFacingError(
                f"{self.label} has files that are not UTF-8 "
                f"({clean_text(', '.join(odd[:_NAMED]), _REASON_CHARS)}{more}): convert them, or "
                "choose a pattern that leaves them out"
            )
        return self

    def identity(self) -> list[str]:
        return [file_identity(path) for path in self.paths]

    def read(self, position: Position) -> RowReader[str]:
        return RowReader(map(self.text, range(position.row, len(self))), position.row)


def _decoded(path: Path) -> str | None:
    """Read the text of a file; None if it is not UTF-8. Raises UserFacingError."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err}") from err


def file_identity(path: Path) -> str:
    """A file's name, size and time of change; raises UserFacingError."""
    try:
        found = path.stat()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    return f"{path} ({found.st_size} bytes, changed at {found.st_mtime_ns / 1e9:.6f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsInMemory:
    label: str
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, index: int) -> str:
        return self.texts[index]

    def identity(self) -> list[str]:
        return [to_text(sha256(*(sha256(one.encode()) for one in self.texts)))]

    def read(self, position: Position) -> RowReader[str]:
        return RowReader(iter(self.texts[position.row :]), position.row)


TextList: TypeAlias = TextFiles | TextsInMemory
"""Documents that can also be read by number."""


def read_json_lines(path: Path, column: str) -> TextsInMemory:
    """Read lines of JSON, each a text or an object with one in `column`; raises UserFacingError."""
    try:
        raw = path.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    lines = enumerate(raw.splitlines(), 1)
    texts = [_text_of(line, column, f"{path}, line {at}") for at, line in lines if line.strip()]
    return TextsInMemory(label=f"file {path.name}", texts=tuple(texts))


def _text_of(line: bytes, column: str, place: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"{place} is not valid JSON: {err}") from err
    text = value.get(column) if isinstance(value, dict) else value
    if not isinstance(text, str):
        raise UserFacingError(
            f"{place} has no text in {column!r}; choose another field with --column"
        )
    return text


def folder_files(path: Path, pattern: str) -> TextFiles:
    """The files of a folder, at any depth, whose names match; raises UserFacingError."""
    if not path.is_dir():
        raise UserFacingError(f"{path} is not a folder")
    found = {one for folder in _linked_folders(path) for one in folder.rglob(pattern)}
    paths = tuple(sorted(one for one in found if one.is_file()))
    if not paths:
        raise UserFacingError(f"{path} contains no file that matches {pattern}")
    return TextFiles(label=f"folder {path.name}", paths=paths)


def _linked_folders(path: Path) -> list[Path]:
    """Find the folders that links in a folder lead to, each once; the folder itself is first."""
    found, known = [path], {path.resolve()}
    for folder in found:  # which grows on the way
        for place, names, _ in os.walk(folder):
            links = [one for name in sorted(names) if (one := Path(place, name)).is_symlink()]
            for link in links:
                if link.resolve() not in known:
                    known.add(link.resolve())
                    found.append(link)
    return found


def standard_library_files() -> TextFiles:
    """The Python sources of the running interpreter's standard library, without tests.

    Raises UserFacingError where they are not installed.
    """
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = tuple(
        sorted(
            one
            for one in root.rglob("*.py")
            if not _NOT_LIBRARY & set(one.relative_to(root).parts) and one.is_file()
        )
    )
    if not paths:
        raise UserFacingError(
            f"Python's standard library has no sources in {root}: choose --folder or --dataset"
        )
    return TextFiles(label=f"Python {sysconfig.get_python_version()} standard library", paths=paths)


BYTES = "bytes"


def load_tokenizer(name: str, separator: str | None) -> TextTokenizer:
    """Open a tokenizer: `bytes`, a tokenizer.json, a folder with one, or a repository of the Hub.

    Raises UserFacingError if there is none, or it has no token to separate documents.
    """
    if name == BYTES:
        return ByteTokenizer()
    names = (separator,) if separator else SEPARATORS
    return tokenizers.parse_tokenizer(_content(name), name, names)


def tokenizer_entry(tokenizer: TextTokenizer) -> Tokenizer:
    """The tokenizer's entry in a manifest."""
    return Tokenizer(
        kind=tokenizer.kind,
        file=to_text(sha256(tokenizer.file)) if tokenizer.file else "",
        vocab_size=tokenizer.vocab_size,
    )


def token_bytes(vocab_size: int) -> Literal[1, 2, 4]:
    if vocab_size <= 1 << 8:
        return 1
    return 2 if vocab_size <= 1 << 16 else 4


def _content(name: str) -> bytes:
    path = Path(name)
    if path.is_dir():
        path /= TOKENIZER_NAME
        if not path.is_file():
            raise UserFacingError(f"{name} contains no {TOKENIZER_NAME}: choose a folder with one")
    if path.is_file():
        return tokenizers.read_tokenizer_file(path)
    if name.startswith((".", "/", "~")):
        raise UserFacingError(f"{name} does not exist")
    found = _fetched(name, TOKENIZER_NAME)
    if found is None:
        raise UserFacingError(f"{name} has no {TOKENIZER_NAME}: choose a repository with one")
    return tokenizers.read_tokenizer_file(found)


def find_beside_tokenizer(name: str, file: str) -> Path | None:
    """Find a file of the tokenizer `name`, None if it has none such; raises UserFacingError."""
    path = Path(name)
    if not path.exists():
        return _fetched(name, file)
    found = (path if path.is_dir() else path.parent) / file
    return found if found.is_file() else None


def _fetched(name: str, file: str) -> Path | None:
    """Fetch a file of a repository; None if it has none such."""
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names on the Hub
    from huggingface_hub.errors import RemoteEntryNotFoundError  # noqa: PLC0415 - as above

    with hub_errors(name, f"its {file}"):
        try:
            return Path(hf_hub_download(name, file))
        except RemoteEntryNotFoundError:
            return None


@contextmanager
def hub_errors(name: str, what: str = "it") -> Iterator[None]:
    """Raise UserFacingError for what the library of the Hub raises inside the block."""
    import httpx2  # noqa: PLC0415 - huggingface_hub's HTTP client, whose errors it lets through

    try:
        yield
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = clean_text(str(err).partition("\n")[0], _REASON_CHARS)
        raise UserFacingError(
            f"{name} is not a file or folder here, and {what} could not be fetched from the Hub: "
            f"{why}"
        ) from err
