"""Loads a plug-in's package from the bytes of its archive, inside the sandbox, and nowhere else.

The modules come from memory: what was hashed is what runs, and nothing is unpacked. One process
loads one plug-in and then serves its run alone, because code that ran once may have changed
anything in it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import CodeType, ModuleType
from typing import Any

from tequio_client.plugins import archive
from tequio_client.plugins.archive import PluginArchive
from tequio_client.trainer.plugins.api import (
    ModelFactory,
    OptimiserFactory,
    SampleLoader,
    TokenizerFactory,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.round.plugin import TRAINER_SEAMS, PluginSpec, Seam

_MARK = "<plug-in "
_WHY_CHARS = 500


class PluginError(UserFacingError):
    """A plug-in cannot be loaded, or its code failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlugin:
    """A plug-in's callables; None for a seam that it leaves as it is, or that was not loaded."""

    spec: PluginSpec
    model: ModelFactory | None
    optimiser: OptimiserFactory | None
    loader: SampleLoader | None
    tokenizer: TokenizerFactory | None

    @property
    def label(self) -> str:
        return f"the plug-in {self.spec.label}"


_loaded: list[LoadedPlugin] = []  # at most one; of this process


def load(content: bytes, spec: PluginSpec, seams: Collection[Seam] = TRAINER_SEAMS) -> LoadedPlugin:
    """Load the plug-in that a manifest names; raises PluginError, or MalformedError for its bytes.

    Code of other seams than these is not imported. The same plug-in may be asked for again.
    """
    if _loaded:
        check_only(spec)
        return _loaded[0]
    found = archive.parse(content)
    archive.check_named(found, spec)
    if spec.name in sys.modules:
        raise PluginError(f"this trainer already has a module {spec.name}: rename the plug-in")
    sys.meta_path.insert(0, _ArchiveFinder(found))
    with running(f"the plug-in {spec.label}"):
        made = LoadedPlugin(
            spec=spec,
            model=_callable(found, "model", seams),
            optimiser=_callable(found, "optimiser", seams),
            loader=_callable(found, "loader", seams),
            tokenizer=_callable(found, "tokenizer", seams),
        )
    _loaded.append(made)
    return made


def check_only(spec: PluginSpec | None) -> None:
    """Raise PluginError if this process has loaded another plug-in than that of a run."""
    if _loaded and _loaded[0].spec != spec:
        raise PluginError("this process has run a plug-in of another run and must be started again")


@contextmanager
def running(label: str) -> Iterator[None]:
    """Turn whatever the code of a plug-in raises inside the block into PluginError."""
    try:
        yield
    except (UserFacingError, MemoryError):
        raise
    except Exception as err:  # code of a stranger raises what it likes
        why = f"{type(err).__name__}: {err}"[:_WHY_CHARS]
        raise PluginError(f"{label} failed: {why}") from err


def is_at_fault(error: BaseException) -> bool:
    """True if code of a plug-in was running when the error was raised."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(_MARK):
            return True
        trace = trace.tb_next
    return False


def _callable(found: PluginArchive, seam: Seam, seams: Collection[Seam]) -> Any:  # noqa: ANN401 - of the plug-in's author
    place = found.declaration.provides.get(seam)
    if place is None or seam not in seams:
        return None
    module, _, name = place.partition(":")
    made: Callable[..., Any] | None = getattr(importlib.import_module(module), name, None)
    if not callable(made):
        raise PluginError(f"provides.{seam} names {place}, which is not there or not callable")
    return made


class _ArchiveFinder(MetaPathFinder, InspectLoader):
    """Finds the modules of one package in memory, before any of that name on the disk."""

    def __init__(self, found: PluginArchive) -> None:
        self._name = found.declaration.name
        self._sources: Mapping[str, str] = found.sources

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self._name:
            return None
        if self._path(fullname) is None:
            return None
        return spec_from_loader(fullname, self, origin=self._file(fullname))

    def is_package(self, fullname: str) -> bool:
        return (self._path(fullname) or "").endswith("/__init__.py")

    def get_source(self, fullname: str) -> str:
        return self._sources[self._path(fullname) or ""]

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_source(fullname), self._file(fullname))

    def _path(self, fullname: str) -> str | None:
        return archive.source_of(fullname, self._sources)

    def _file(self, fullname: str) -> str:
        return f"{_MARK}{self._path(fullname)}>"
