"""The archive of a plug-in: one Python package and its declaration, as bytes that follow from them.

A folder holds `plugin.toml` and a package of the plug-in's name, of Python sources alone:

    name = "tiny"
    version = "1.0"

    [provides]
    model = "tiny.network:build"
    optimiser = "tiny.steps:Descent"

Its archive is a ZIP file that is stored, not compressed, with the names in order and without times,
so that the same sources always make the same bytes, with any zlib. Reading packs what was found
again, and refuses an archive that differs: there is one encoding, and so no second directory, no
comment and no name that another unpacker reads differently. Sources are UTF-8 without characters
that steer a terminal: they are read before somebody allows them, and what is shown is what runs.

This module reads code, and never runs any.
"""

from __future__ import annotations

import ast
import io
import re
import struct
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import STEERING, Digest, sha256, to_text
from tequio_shared.round.plugin import PLUGIN_BYTES, PluginName, PluginSpec, PluginVersion, Seam

DECLARATION = "plugin.toml"
EXPORTED = "tequio/plugin.zip"
"""Place of a run's archive in the folder of an exported head."""
DECLARATION_BYTES = 1 << 16
MOST_FILES = 256
_SOURCE = re.compile(r"[a-z][a-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/[A-Za-z_][A-Za-z0-9_]*\.py")
_STEERING = re.compile(f"(?!\t)[{STEERING}]")
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16
_UNIX = 3
_RESERVED = frozenset({"numpy", "tequio", "torch", "transformers"})
"""Packages of every trainer; a plug-in must not have their names, nor one of Python's own."""
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, EOFError, LookupError, OSError, OverflowError, RuntimeError, ValueError),
    struct.error,
)
"""Exceptions of zipfile for bytes that are not a ZIP file, or pretend to be one."""
Place = Annotated[str, Meta(max_length=200, pattern=r"\A[A-Za-z_][\w.]*:[A-Za-z_]\w*\Z")]
"""`module:name` of what a seam calls."""


class Declaration(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contents of `plugin.toml`."""

    name: PluginName
    version: PluginVersion
    provides: Annotated[dict[Seam, Place], Meta(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginArchive:
    """A plug-in whose archive was read: its declaration, and its sources by path."""

    content: bytes
    declaration: Declaration
    sources: Mapping[str, str]

    @property
    def digest(self) -> Digest:
        return sha256(self.content)

    @property
    def spec(self) -> PluginSpec:
        """The manifest's entry for this archive."""
        return PluginSpec(
            name=self.declaration.name,
            version=self.declaration.version,
            archive=to_text(self.digest),
            size_bytes=len(self.content),
            provides=tuple(sorted(self.declaration.provides)),
        )


def build(folder: Path) -> PluginArchive:
    """Pack the plug-in in a folder; raises UserFacingError that names the file at fault."""
    found = {DECLARATION: _read(folder / DECLARATION)}
    name = _declaration(found[DECLARATION]).name
    for path in sorted((folder / name).rglob("*")):
        if path.is_symlink() or (path.is_file() and path.suffix not in (".py", ".pyc")):
            raise UserFacingError(f"{path}: a plug-in has Python sources alone; move it elsewhere")
        if path.suffix == ".py":
            found[path.relative_to(folder).as_posix()] = _read(path)
    try:
        made = parse(_pack(found))
    except MalformedError as err:
        raise UserFacingError(f"{folder} is not a plug-in: {err}") from err
    for name, source in made.sources.items():
        _check_syntax(folder / name, source)
    return made


def read(path: Path) -> PluginArchive:
    """Read an archive, or build that of a folder; raises UserFacingError."""
    if path.is_dir():
        return build(path)
    try:
        return parse(_read(path))
    except MalformedError as err:
        raise UserFacingError(f"{path} is not a plug-in: {err}") from err


def parse(content: bytes) -> PluginArchive:
    """Read an archive; raises MalformedError for anything that `build` would not have made."""
    if len(content) > PLUGIN_BYTES:
        raise MalformedError(
            f"the archive has {len(content):,} bytes, and {PLUGIN_BYTES:,} are the most"
        )
    files = _unpack(content)
    if _pack(files) != content:
        raise MalformedError("the archive is not in the form of `tequio plugin build`")
    try:
        declaration = _declaration(files.pop(DECLARATION, b""))
    except UserFacingError as err:
        raise MalformedError(str(err)) from err
    sources = {path: _source(path, raw) for path, raw in files.items()}
    _check_sources(declaration, sources)
    return PluginArchive(content=content, declaration=declaration, sources=sources)


def check_named(archive: PluginArchive, spec: PluginSpec) -> None:
    """Raise MalformedError unless this is the archive that a manifest names."""
    if archive.spec != spec:
        raise MalformedError(
            f"the archive is {archive.spec.label} "
            f"({archive.spec.archive[:10]}, {', '.join(archive.spec.provides)}), but the run "
            f"names {spec.label} ({spec.archive[:10]}, {', '.join(spec.provides)})"
        )


def _check_syntax(path: Path, source: str) -> None:
    # For the organiser's sources alone: those of strangers could crash the parser.
    try:
        ast.parse(source, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:
        raise UserFacingError(f"{path} is not valid Python: {err}") from err


def _pack(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = _UNIX, _MODE  # the same on every system
            archive.writestr(entry, files[name])
    return packed.getvalue()


def _unpack(content: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES:
                raise MalformedError(f"the archive has more than {MOST_FILES} files")
            # Stored sizes are those of the archive itself, so nothing unpacks to more than it has.
            if any(one.compress_type != zipfile.ZIP_STORED for one in entries):
                raise MalformedError("the archive is compressed")
            return {one.filename: archive.read(one) for one in entries}
    except _ZIP_ERRORS as err:
        raise MalformedError(f"the archive cannot be read: {err}") from err


def _declaration(raw: bytes) -> Declaration:
    if len(raw) > DECLARATION_BYTES:
        raise UserFacingError(f"{DECLARATION} has more than {DECLARATION_BYTES:,} bytes")
    try:
        found = msgspec.convert(tomllib.loads(raw.decode()), Declaration)
    except (ValueError, RecursionError) as err:  # TOML's, Unicode's and msgspec's are ValueErrors
        raise UserFacingError(f"{DECLARATION} is not valid: {err}") from err
    is_reserved = found.name in _RESERVED or found.name.startswith("tequio_")
    if is_reserved or found.name in sys.stdlib_module_names:
        raise UserFacingError(
            f"{DECLARATION}: {found.name} is the name of another package: choose one of your own"
        )
    return found


def _source(path: str, raw: bytes) -> str:
    try:
        source = raw.decode()
    except UnicodeDecodeError as err:
        raise MalformedError(f"{path[:80]!r} is not UTF-8: {err}") from err
    if found := _STEERING.search(source):
        line = source.count("\n", 0, found.start()) + 1
        raise MalformedError(
            f"{path[:80]!r} has the character U+{ord(found[0]):04X} in line {line}: of those that "
            "are not shown, a source has tabs and line feeds alone"
        )
    return source


def _check_sources(declaration: Declaration, sources: Mapping[str, str]) -> None:
    name = declaration.name
    if f"{name}/__init__.py" not in sources:
        raise MalformedError(f"the package {name} has no {name}/__init__.py")
    for path in sources:
        if not _SOURCE.fullmatch(path) or not path.startswith(f"{name}/"):
            raise MalformedError(f"{path[:80]!r} is not a source of the package {name}")
    for seam, place in declaration.provides.items():
        if source_of(place, sources) is None:
            raise MalformedError(f"provides.{seam} names {place}, and {name} has no such module")


def source_of(place: str, sources: Mapping[str, str]) -> str | None:
    """Path of the module in `module:name`; None without such a module."""
    path = place.partition(":")[0].replace(".", "/")
    return next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in sources), None)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(PLUGIN_BYTES + 1)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
