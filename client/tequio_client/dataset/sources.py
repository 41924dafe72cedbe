"""Where documents come from: text files, a Hugging Face dataset, or Python's own library."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tequio_shared.errors import UserFacingError

_NOT_LIBRARY = {"site-packages", "dist-packages", "test", "tests", "__pycache__", "lib2to3"}


class Source(Protocol):
    """Documents that can be read again, by number. Their order has no meaning."""

    @property
    def label(self) -> str:
        """What people call it."""

    def __len__(self) -> int:
        """Count the documents."""

    def text(self, index: int) -> str:
        """Read a document; empty where there is no text in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """One document a file; what is not UTF-8 counts as empty."""

    label: str
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        """Count the files."""
        return len(self.paths)

    def text(self, index: int) -> str:
        """Read a file; raises UserFacingError when that fails."""
        try:
            return self.paths[index].read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return ""
        except OSError as err:
            raise UserFacingError(f"cannot read {self.paths[index]}: {err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One document a row of a Hugging Face dataset."""

    label: str
    rows: Any  # datasets.Dataset: the library has no types
    column: str

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    def text(self, index: int) -> str:
        """Read a row's text."""
        return str(self.rows[index][self.column] or "")


def folder(path: Path, pattern: str) -> Files:
    """Take the files of a folder, at any depth, whose names match; raises UserFacingError."""
    if not path.is_dir():
        raise UserFacingError(f"{path} is no folder")
    paths = tuple(sorted(one for one in path.rglob(pattern) if one.is_file()))
    if not paths:
        raise UserFacingError(f"{path} holds no file that matches {pattern}")
    return Files(label=f"folder {path.name}", paths=paths)


def standard_library() -> Files:
    """Take the Python sources of the running interpreter's standard library, without tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = tuple(
        sorted(
            one
            for one in root.rglob("*.py")
            if not _NOT_LIBRARY & set(one.relative_to(root).parts) and one.is_file()
        )
    )
    return Files(label=f"Python {sysconfig.get_python_version()} standard library", paths=paths)


def hugging_face(name: str, *, config: str | None, split: str, column: str) -> Rows:
    """Load a dataset from the Hub or from a folder; raises UserFacingError when that fails."""
    import datasets  # type: ignore[import-untyped]  # noqa: PLC0415 - slow, and only for this source

    try:
        rows = datasets.load_dataset(name, config, split=split)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as err:
        raise UserFacingError(f"cannot load the dataset {name}: {err}") from err
    if column not in rows.column_names:
        raise UserFacingError(f"{name} has no column {column!r}, only {rows.column_names}")
    return Rows(label=f"{name} {config or ''} {split}".replace("  ", " "), rows=rows, column=column)
