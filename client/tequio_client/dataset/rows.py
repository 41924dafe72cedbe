"""Rows of datasets, read as they come: from the Hub, a folder or file, or any address of fsspec.

The datasets library opens them in its streaming mode, which fetches and decodes a part of a file at
a time, and so holds neither the dataset nor a copy of it on the disk. Its state of an open dataset
is a `Position`'s cursor: reading goes on in the middle of a file, and files before it are not
fetched again. Addresses such as https:// and s3:// need fsspec's package for them (aiohttp, s3fs).
"""

from __future__ import annotations

import glob
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from tequio_client.dataset import sources
from tequio_client.dataset.sources import (
    JSON_LINES_SUFFIXES,
    Position,
    RowReader,
    TextFiles,
    TextList,
    TextsInMemory,
)
from tequio_client.names import clean_text
from tequio_shared.errors import UserFacingError

Row: TypeAlias = Mapping[str, Any]
_FORMATS: Mapping[str, str] = {
    **dict.fromkeys((*JSON_LINES_SUFFIXES, ".json"), "json"),
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".csv": "csv",
    ".txt": "text",
}
_PACKED = (".gz", ".zst", ".xz", ".bz2")
_TABLES = (*JSON_LINES_SUFFIXES, ".parquet", ".arrow")
_TEXT = "text"
_OF_COMMIT = re.compile(r"hf://[^@]+@[0-9a-f]{40}/")
_VERSIONS = (
    *("ETag", "Last-Modified", "Content-MD5", "Digest"),  # of HTTP
    *("LastModified", "etag", "updated", "last_modified"),  # of buckets
    *("blob_id", "mtime", "modify", "CRC"),  # of the Hub, of servers of files, of archives
)
"""Names by which fsspec's file systems tell the version of a file."""
_LOOKUPS = 16
_REASON_CHARS = 300


class Rows(Protocol):
    """Rows of a dataset, which are read one by one, repeatedly."""

    @property
    def label(self) -> str:
        """The name shown to people."""

    @property
    def column_names(self) -> list[str]: ...

    def identity(self) -> list[str]:
        """As that of `sources.TextSource`."""

    def read(self, position: Position) -> RowReader[Row]:
        """Read rows from there on. Raises UserFacingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The files of a folder, and the part of a dataset, that are read."""

    pattern: str = "*"
    config: str | None = None
    split: str = "train"
    column: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTexts(ABC):
    """One document a row of a dataset; a kind of documents says how it is read from the row."""

    rows: Rows
    columns: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.rows.label

    def identity(self) -> list[str]:
        return [*self.rows.identity(), f"--column {','.join(self.columns)}"]

    def read(self, position: Position) -> RowReader[str]:
        reader = self.rows.read(position)
        texts = (self._text(row, at) for at, row in enumerate(reader, position.row))
        return RowReader(texts, position.row, lambda: reader.position().cursor)

    @abstractmethod
    def _text(self, row: Row, index: int) -> str:
        """Read the document of the row of that number; raises UserFacingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRows(RowTexts):
    """Documents are a column of texts."""

    def _text(self, row: Row, index: int) -> str:
        (column,) = self.columns
        text = row.get(column)
        if not isinstance(text, str | None):
            raise UserFacingError(
                f"row {index} of {self.label} has no text in {column!r} but a value of the type "
                f"{type(text).__name__}: choose another column with --column"
            )
        return text or ""


def open_texts(name: str, *, config: str | None, split: str, column: str) -> TextRows:
    """Open a dataset for its texts; raises UserFacingError. The usual column is `text`."""
    rows = open_rows(name, config=config, split=split)
    column = column or _TEXT
    if column not in rows.column_names:
        raise UserFacingError(f"{name} has no column {column!r}; choose one of {rows.column_names}")
    return TextRows(rows=rows, columns=(column,))


def open_documents(where: str, reading: ReadOptions, most: int) -> TextList:
    """Open a text file, a file of JSON lines, a folder, or a dataset by its name.

    A folder that contains tables or JSON lines is a dataset; a name that is not a path is looked up
    on the Hub. Of a dataset, the first `most` documents are read into memory. Raises
    UserFacingError.
    """
    path = Path(where)
    try:
        path.exists()
    except OSError as err:  # a name that no file can have
        raise UserFacingError(f"cannot read {where[:60]}: {err.strerror}") from err
    if path.is_file():
        if path.suffix in JSON_LINES_SUFFIXES:
            return sources.read_json_lines(path, reading.column)
        return TextFiles(label=f"file {path.name}", paths=(path,))
    if path.is_dir() and not any(one.suffix in _TABLES for one in path.rglob("*")):
        return sources.folder_files(path, reading.pattern)
    if not path.exists() and where.startswith((".", "/", "~")):
        raise UserFacingError(f"{where} does not exist")
    found = open_texts(where, config=reading.config, split=reading.split, column=reading.column)
    return TextsInMemory(label=found.label, texts=tuple(islice(found.read(Position()), most)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedRows:
    """Rows of a dataset of the datasets library, in its streaming mode."""

    label: str
    name: str
    split: str
    builder: Any  # datasets.DatasetBuilder: the library has no types
    column_names: list[str]

    def identity(self) -> list[str]:
        """Each file, with its size and time here, or its size and version elsewhere."""
        data_files = self.builder.config.data_files or {}
        with _reasons(self.name), ThreadPoolExecutor(_LOOKUPS) as threads:
            return list(threads.map(_file_identity, chain(*data_files.values())))

    def read(self, position: Position) -> RowReader[Row]:
        with _reasons(self.name):
            dataset = self.builder.as_streaming_dataset(split=self.split)
            if position.cursor:
                dataset.load_state_dict(position.cursor)
        return RowReader(self._rows(dataset), position.row, dataset.state_dict)

    def _rows(self, dataset: Any) -> Iterator[Row]:  # noqa: ANN401 - as above
        with _reasons(self.name):
            yield from dataset


def _file_identity(file: str) -> str:
    """A file here or elsewhere; ends with `sources.UNVERSIONED` if nothing tells its version."""
    from datasets.utils import file_utils  # type: ignore[import-untyped]  # noqa: PLC0415 - slow

    path = Path(file)
    if path.is_file():
        return sources.file_identity(path)
    if _OF_COMMIT.match(file):
        return file
    # The library's own way to an address: proxies, and who we are for the Hub.
    address, options = file_utils._prepare_path_and_storage_options(file)  # noqa: SLF001
    system, place = file_utils.url_to_fs(address, **options)
    facts = system.info(place)
    version = [f"{name} {facts[name]}" for name in _VERSIONS if facts.get(name)]
    told = ", ".join(version) or sources.UNVERSIONED
    return f"{file}: {facts.get('size')} bytes, {told}"


def open_rows(name: str, *, config: str | None, split: str) -> StreamedRows:
    """Open a dataset: its name on the Hub, a folder, a file, or an address of fsspec.

    Files are JSON lines, Parquet, Arrow, CSV, or text of one document a file; their format is told
    by the suffix, and `*` stands for any part of a name. Raises UserFacingError.
    """
    with _reasons(name):
        builder = _builder(name, config)
        dataset = builder.as_streaming_dataset(split=split)
        columns = dataset.column_names
        if columns is None:  # no file says so: the first row does
            columns = list(next(iter(dataset), {}))
    label = f"{name} {config or ''} {split}".replace("  ", " ")
    return StreamedRows(label=label, name=name, split=split, builder=builder, column_names=columns)


def _builder(name: str, config: str | None) -> Any:  # noqa: ANN401 - datasets.DatasetBuilder
    import datasets  # type: ignore[import-untyped]  # noqa: PLC0415 - slow, and only for this source

    is_address = "://" in name
    if not is_address and not Path(name).is_file():
        folder = str(Path(name).resolve())
        if Path(name).is_dir() and glob.escape(folder) != folder:
            raise UserFacingError(
                f"{folder} has one of * ? [ in its name, which would be read as a pattern: rename "
                "the folder"
            )
        return datasets.load_dataset_builder(name, config)
    suffixes = [one for one in Path(name).suffixes if one not in _PACKED]
    kind = _FORMATS.get(suffixes[-1] if suffixes else "")
    if kind is None:
        raise UserFacingError(
            f"cannot tell the format of {name} from its name: it should end in one of "
            f"{', '.join(_FORMATS)}, perhaps packed ({', '.join(_PACKED)})"
        )
    more = {"sample_by": "document"} if kind == "text" else {}
    pattern = name if is_address else glob.escape(name)
    return datasets.load_dataset_builder(kind, data_files=pattern, **more)


@contextmanager
def _reasons(name: str) -> Iterator[None]:
    """Raise UserFacingError for what the datasets library raises inside the block.

    Any error: those of servers, archives and formats are of a dozen libraries.
    """
    try:
        yield
    except (UserFacingError, MemoryError):
        raise
    except ImportError as err:
        why = clean_text(str(err), _REASON_CHARS)
        raise UserFacingError(f"cannot open {name}: a package is missing ({why})") from err
    except Exception as err:
        is_known = "://" in name or Path(name).exists()
        absent = "" if is_known else f"{name} is not a file or folder here; "
        why = clean_text(str(err).partition("\n")[0] or type(err).__name__, _REASON_CHARS)
        raise UserFacingError(f"{absent}cannot load the dataset {name}: {why}") from err
