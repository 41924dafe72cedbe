"""The frozen base of a planned run: its files as the manifest names them, and the pairs beside it.

On paper, before a repository's weights are fetched, only their number is known; then the base is
reckoned as one file of as many bytes as the configuration's kind of numbers takes.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from msgspec import UnsetType

from tequio_client.organiser import source as sources
from tequio_client.worker.store.trees import cut_file
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.lora import Base, BaseFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.organiser.plan import LoraPlan
    from tequio_client.organiser.source import Source
    from tequio_client.trainer.origin import Origin
    from tequio_client.worker.store.store import Store
    from tequio_shared.corpus import Corpus
    from tequio_shared.layout import LayoutKind

log = structlog.get_logger(__name__)

_UNKNOWN = to_text(bytes(32))
_WIDE, _NARROW = 4, 2  # bytes of a weight
_COMMIT = re.compile(r"[0-9a-f]{40}")
_GB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """What a manifest says of a base and its pairs."""

    base: Base
    tensors: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The first pairs, the base that they stand beside, and its files in the base's order."""

    origin: Origin
    base: Base
    paths: tuple[Path, ...]

    def keep(self, store: Store) -> None:
        """Put the files into a store, from which a seed serves them; raises UserFacingError."""
        for one, path in zip(self.base.files, self.paths, strict=True):
            ref = store.put_tree_file(path, PIECE_BYTES)
            if to_text(ref.root) != one.root:
                raise UserFacingError(f"{path} changed while it was read; open the run again")

    def check_room(self, folder: Path) -> None:
        """Raise UserFacingError unless the disk of that folder has room for the files."""
        free = shutil.disk_usage(folder).free
        if free < self.base.size_bytes:
            raise UserFacingError(
                f"the base takes {self.base.size_bytes / _GB:.1f} GB in {folder}, and "
                f"{free / _GB:.1f} GB are free: make room, or give --seed-dir on another disk"
            )


def on_paper(source: Source) -> Paired | None:
    """Outline the pairs that the plan asks for; None: it asks for none. Raises UserFacingError."""
    rules = source.plan.lora
    if isinstance(rules, UnsetType):
        return None
    if source.is_fresh:
        raise UserFacingError(
            f"adapters stand beside a model that exists, and {source.plan.source} is the "
            "configuration of a fresh one: name a folder or a repository, or take model.lora out"
        )
    from tequio_client.trainer import adapters  # noqa: PLC0415 - brings torch

    tensors, parameters = adapters.outline(source.config, rules.rank, rules.sorted_targets)
    size = parameters * _weight_bytes(source.config)
    files = [BaseFile(name="model.safetensors", size_bytes=size, root=_UNKNOWN)]
    if source.folder is not None:
        files = [
            BaseFile(name=path.name, size_bytes=path.stat().st_size, root=_UNKNOWN)
            for path in _files(source.folder)
        ]
        _check_bytes(source, sum(one.size_bytes for one in files), parameters)
    return Paired(base=_base(rules, parameters, files), tensors=tensors)


def begin(source: Source, corpus: Corpus, layout: LayoutKind) -> Begun:
    """Read the base's files, and make the first pairs; raises UserFacingError."""
    from tequio_client.trainer import adapters  # noqa: PLC0415 - brings torch
    from tequio_client.trainer import origin as origins  # noqa: PLC0415 - as above

    rules = source.plan.lora
    if isinstance(rules, UnsetType):
        raise UserFacingError(f"the plan of {source.plan.source} asks for no adapters")
    folder = sources.weights(source, corpus)
    paths = _files(folder)
    _, parameters = adapters.outline(source.config, rules.rank, rules.sorted_targets)
    is_of_hub = source.folder is None
    commit = folder.name if is_of_hub and _COMMIT.fullmatch(folder.name) else ""
    base = _base(
        rules,
        parameters,
        [_hashed(path) for path in paths],
        source=source.plan.source if is_of_hub else "",
        revision=commit,
    )
    made = origins.beside(source.config, base, paths, seed=source.plan.seed, layout=layout)
    log.info("base taken", source=source.plan.source, files=len(paths), bytes=base.size_bytes)
    return Begun(origin=made, base=base, paths=paths)


def _base(
    rules: LoraPlan,
    parameters: int,
    files: Sequence[BaseFile],
    *,
    source: str = "",
    revision: str = "",
) -> Base:
    return Base(
        source=source,
        revision=revision,
        parameters=parameters,
        files=tuple(files),
        rank=rules.rank,
        alpha=rules.alpha or 2 * rules.rank,
        targets=rules.sorted_targets,
    )


def _check_bytes(source: Source, size: int, parameters: int) -> None:
    if size < _NARROW * parameters:
        raise UserFacingError(
            f"{source.plan.source} has {size:,} bytes of weights, too few for the {parameters:,} "
            "that its configuration asks for: download it again, or take the model that it was "
            "quantised from"
        )


def _files(folder: Path) -> tuple[Path, ...]:
    from tequio_client.trainer import weight_files  # noqa: PLC0415 - brings torch

    paths = sorted(weight_files.files(folder), key=lambda one: one.name.encode())
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise UserFacingError(f"{missing} is missing; download the model again")
    return tuple(paths)


def _hashed(path: Path) -> BaseFile:
    try:
        with path.open("rb") as file:
            ref = cut_file(file, PIECE_BYTES).ref
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    return BaseFile(name=path.name, size_bytes=ref.size_bytes, root=to_text(ref.root))


def _weight_bytes(config: bytes) -> int:
    fields = json.loads(config)
    said = fields.get("dtype") or fields.get("torch_dtype")
    return _WIDE if said == "float32" else _NARROW
