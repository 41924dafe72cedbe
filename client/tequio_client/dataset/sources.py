"""Sources of documents (files, a Hugging Face dataset, Python's own library), and tokenizers."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from tequio_client import tokenizers
from tequio_client.names import clean_text
from tequio_client.tokenizers import SEPARATORS, TOKENIZER_NAME, ByteTokenizer, TextTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.manifest import Tokenizer

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes of files with one document a line."""
_TEXT = "text"
_TABLES = (*JSON_LINES_SUFFIXES, ".parquet", ".arrow")
_REASON_CHARS = 300
_NOT_LIBRARY = {"site-packages", "dist-packages", "test", "tests", "__pycache__", "lib2to3"}


class TextSource(Protocol):
    """Documents that can be read repeatedly, by number. Their order has no meaning."""

    @property
    def label(self) -> str:
        """The name shown to people."""

    def __len__(self) -> int:
        """The number of documents."""

    def text(self, index: int) -> str:
        """A document; "" for one without text. Raises UserFacingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """One document a file; a file that is not UTF-8 counts as empty."""

    label: str
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def text(self, index: int) -> str:
        try:
            return self.paths[index].read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return ""
        except OSError as err:
            raise UserFacingError(f"cannot read {self.paths[index]}: {err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRows:
    """One document a row of a Hugging Face dataset."""

    label: str
    rows: Any  # datasets.Dataset: the library has no types
    column: str

    def __len__(self) -> int:
        return len(self.rows)

    def text(self, index: int) -> str:
        return str(self.rows[index][self.column] or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsInMemory:
    label: str
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, index: int) -> str:
        return self.texts[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The files of a folder, and the part of a dataset, that are read."""

    pattern: str = "*"
    config: str | None = None
    split: str = "train"
    column: str = "text"


def open_source(where: str, reading: ReadOptions) -> TextSource:
    """Open a text file, a file of JSON lines, a folder, or a dataset by its name.

    A folder that contains tables or JSON lines is a dataset; a name that is not a path is looked up
    on the Hub. Raises UserFacingError.
    """
    path = Path(where)
    try:
        path.exists()
    except OSError as err:  # a name that no file can have
        raise UserFacingError(f"cannot read {where[:60]}: {err.strerror}") from err
    if path.is_file():
        if path.suffix in JSON_LINES_SUFFIXES:
            return read_json_lines(path, reading.column)
        return TextFiles(label=f"file {path.name}", paths=(path,))
    if path.is_dir() and not any(one.suffix in _TABLES for one in path.rglob("*")):
        return folder_files(path, reading.pattern)
    if not path.exists() and where.startswith((".", "/", "~")):
        raise UserFacingError(f"{where} does not exist")
    return load_dataset(where, config=reading.config, split=reading.split, column=reading.column)


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
    paths = tuple(sorted(one for one in path.rglob(pattern) if one.is_file()))
    if not paths:
        raise UserFacingError(f"{path} contains no file that matches {pattern}")
    return TextFiles(label=f"folder {path.name}", paths=paths)


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


def load_dataset(name: str, *, config: str | None, split: str, column: str) -> DatasetRows:
    """Load a dataset from the Hub or from a folder; raises UserFacingError.

    The usual column is `text`.
    """
    label, rows = load_rows(name, config=config, split=split)
    column = column or _TEXT
    if column not in rows.column_names:
        raise UserFacingError(f"{name} has no column {column!r}; choose one of {rows.column_names}")
    return DatasetRows(label=label, rows=rows, column=column)


def load_rows(
    name: str, *, config: str | None, split: str
) -> tuple[str, Any]:  # datasets.Dataset: the library has no types
    """The label and the rows of a dataset from the Hub or a folder; raises UserFacingError."""
    import datasets  # type: ignore[import-untyped]  # noqa: PLC0415 - slow, and only for this source
    import httpx2  # noqa: PLC0415 - huggingface_hub raises its errors

    try:
        rows = datasets.load_dataset(name, config, split=split)
    except (OSError, ValueError, httpx2.HTTPError, datasets.exceptions.DatasetsError) as err:
        absent = "" if Path(name).exists() else f"{name} is not a file or folder here; "
        why = clean_text(str(err).partition("\n")[0], _REASON_CHARS)
        raise UserFacingError(f"{absent}cannot load the dataset {name}: {why}") from err
    return f"{name} {config or ''} {split}".replace("  ", " "), rows


def some_texts(source: TextSource, most_bytes: int) -> Iterator[str]:
    """Documents in an order without meaning, until they have that many bytes; always the same."""
    size = 0
    for at in np.random.default_rng(0).permutation(len(source)):
        if size >= most_bytes:
            return
        text = source.text(int(at))
        size += len(text.encode())
        yield text


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
    import httpx2  # noqa: PLC0415 - huggingface_hub raises its errors
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - only for names on the Hub
    from huggingface_hub.errors import RemoteEntryNotFoundError  # noqa: PLC0415 - as above

    try:
        return Path(hf_hub_download(name, file))
    except RemoteEntryNotFoundError:
        return None
    except (OSError, ValueError, httpx2.HTTPError) as err:
        why = clean_text(str(err).partition("\n")[0], _REASON_CHARS)
        raise UserFacingError(
            f"{name} is not a file or folder here, and its {file} could not be fetched "
            f"from the Hub: {why}"
        ) from err
