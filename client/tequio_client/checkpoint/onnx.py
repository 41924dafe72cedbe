"""An exported folder as a folder of ONNX, for onnxruntime and programs built on it.

Beside the graph and its weights are the configuration and the tokenizer, under the names that these
programs look for. It is a copy for use: only the folder that it was made from can be verified.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.checkpoint import layout
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.verify.report import WorkProgress

_PACKAGES = ("onnx", "onnxscript")
_COPIED = (
    *(layout.CONFIG, layout.GENERATION),
    *(layout.TOKENIZER, layout.TOKENIZER_CONFIG, layout.TABLE),
)


def check_installed() -> None:
    """Raise UserFacingError where the packages of the extra `onnx` are missing."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UserFacingError(
            f"ONNX needs {' and '.join(missing)}, which the extra `onnx` brings: install "
            "tequio[onnx], or run `make setup` in a checkout"
        )


def place(folder: Path) -> Path:
    """Give the folder beside an exported one."""
    whole = folder.absolute()  # the folder may be called `.`
    return whole.with_name(f"{whole.name}-onnx")


def write(folder: Path, target: Path, progress: WorkProgress) -> None:
    """Write a folder as another one; raises UserFacingError for a model that cannot be."""
    from tequio_client.trainer import onnx_graph  # noqa: PLC0415 - imports torch

    target.mkdir()
    with progress.work("ONNX graph", 1) as tick:
        onnx_graph.write_graph(folder, target)
        tick(1)
    for name in _COPIED:
        if (folder / name).exists():
            shutil.copyfile(folder / name, target / name)
