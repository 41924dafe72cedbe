"""The plug-in that docs/plugins.md shows, as files; and others made from it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.plugins.archive import DECLARATION
from tests.support.small_network import RunFiles

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKENIZER = 'tokenizer = "tiny.words:Words"\n'
_PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
_FILE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example_files() -> dict[str, str]:
    """The files that the page shows, by name."""
    return dict(_FILE.findall(_PAGE.read_text("utf-8")))


CONFIG: dict[str, object] = json.loads(example_files()["config.json"])


def write(folder: Path, **changed: str) -> Path:
    """Write the example's plug-in; `changed` replaces modules of it by name.

    Returns the folder.
    """
    for name, text in example_files().items():
        if name != "config.json":
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changed.get(path.stem, text), "utf-8")
    return folder


def add_tokenizer(folder: Path) -> Path:
    """Let a written plug-in provide the tokenizer, too, as the page says; returns the folder."""
    with (folder / DECLARATION).open("a") as file:
        file.write(_TOKENIZER)
    return folder


def write_tokenizer(folder: Path, **changed: str) -> Path:
    """Write a plug-in that brings the page's tokenizer alone; returns the folder."""
    write(folder, **changed)
    whole = (folder / DECLARATION).read_text()
    head = whole.partition("[provides]")[0]
    (folder / DECLARATION).write_text(f"{head}[provides]\n{_TOKENIZER}")
    return folder


def run_files(plan: str) -> RunFiles:
    """A run of the example's model and tokenizer; its plug-in is in the folder `plugin`."""
    brings = '[plugin]\nsource = "plugin"\n\n[inner]'
    build = ("--plugin", "{folder}/plugin", "--held-out", "1000")
    return RunFiles(config=CONFIG, plan=plan.replace("[inner]", brings, 1), build=build)


def pack(files: Mapping[str, bytes]) -> bytes:
    """An archive in the right form, whatever its files are."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as made:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            made.writestr(entry, files[name])
    return packed.getvalue()
