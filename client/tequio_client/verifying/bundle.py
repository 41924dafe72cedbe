"""All that a competition's verification reads, as one file: a tar that says everything one way.

Members, in this order: `about`, `genesis`, `checkpoint`, `entries-0000000` and so on (256 leaves
each, as tlog-tiles bundles them), `blob-` and the base64url of each document's SHA-256, ascending.
Each header is the ustar header of its name and size, of nobody and no time, so that the same
content is the same file. Nothing is unpacked when it is read: names are looked up, never opened as
paths, and no member but the sealed archive may be larger than a blob. docs/protocol.md, 19.7.
"""

from __future__ import annotations

import os
import re
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from tequio_client.audit.sources import NotHadError
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import BLOB_BYTES, STATEMENT_BYTES, Bytes32Text, to_text
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.log.tiles import TILE_WIDTH, bundle, parse_bundle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from tequio_shared.ids import Digest

ABOUT, GENESIS, CHECKPOINT = "about", "genesis", "checkpoint"
FIRST_NAME = ABOUT.encode() + b"\0"
"""How every bundle begins."""

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_LARGEST = 8 << 30  # of a member: what a size of 11 octal digits can say, less one
_NAME = re.compile(rb"about|genesis|checkpoint|entries-[0-9]{7}|blob-[A-Za-z0-9_-]{43}")
_SIZE = re.compile(rb"[0-7]{11}\0")
_PIECE = 1 << 20


class About(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a bundle is of."""

    competition: Bytes32Text
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    """Where in the file a member's content is."""

    at: int
    size: int


class BundleFile:
    """An open bundle, its members found and nothing of them believed; `with` closes it."""

    def __init__(self, path: Path) -> None:
        """Find the members; raises NotHadError for one that ends too soon, else MalformedError."""
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as err:
            raise NotHadError(f"{path} cannot be read: {err.strerror}") from err
        try:
            self._spots = dict(_members(self._file))
            self.about = encoding.decode(self._read(ABOUT, STATEMENT_BYTES), About, STATEMENT_BYTES)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def genesis(self) -> bytes:
        """Read the genesis document."""
        return self._read(GENESIS, STATEMENT_BYTES)

    def note(self, size: int = 0) -> bytes:
        """Read the signed checkpoint; there is no other, whatever size is waited for."""
        del size
        return self._read(CHECKPOINT, NOTE_BYTES)

    def entries(self, first: int, end: int) -> list[bytes]:
        """Read leaves first..end-1, all of one bundle."""
        leaves = parse_bundle(self._read(_entries(first // TILE_WIDTH), BLOB_BYTES))
        start = first % TILE_WIDTH
        found = leaves[start : start + end - first]
        if len(found) < end - first:
            raise NotHadError(f"entries {first + len(found)} to {end - 1} are not in the bundle")
        return found

    def blob(self, name: Digest) -> bytes | None:
        """Read a document; None when the bundle does not have it."""
        member = _blob(name)
        return self._read(member, BLOB_BYTES) if member in self._spots else None

    def extract(self, name: Digest, to: Path) -> bool:
        """Copy a document of any size into a file; False when the bundle does not have it."""
        spot = self._spots.get(_blob(name))
        if spot is None:
            return False
        self._file.seek(spot.at)
        with to.open("wb") as file:
            _copy(self._file, file, spot.size)
        return True

    def _read(self, name: str, most: int) -> bytes:
        spot = self._spots.get(name)
        if spot is None:
            raise NotHadError(f"the bundle has no {name}")
        if spot.size > most:
            raise MalformedError(f"{name} of the bundle has {spot.size:,} bytes")
        self._file.seek(spot.at)
        return self._file.read(spot.size)


class BundleWriter:
    """Writes a bundle to a file that appears when it is whole; `with` gives it up on an error.

    What is added is kept in memory as names only: contents go to the file at once, but for those
    of documents, which are asked for again when all their names are known.
    """

    def __init__(self, path: Path) -> None:
        """Begin; raises UserFacingError when the folder cannot be written."""
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        try:
            self._file = self._part.open("wb")
        except OSError as err:
            raise UserFacingError(f"cannot write {path}: {err.strerror}") from err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)

    def begin(self, about: About, genesis: bytes, note: bytes) -> None:
        """Write what stands before the log."""
        for name, content in (
            (ABOUT, encoding.encode(about)),
            (GENESIS, genesis),
            (CHECKPOINT, note),
        ):
            self._add(name, content)

    def leaves(self, number: int, leaves: Sequence[bytes]) -> None:
        """Write 256 leaves, or the last ones."""
        self._add(_entries(number), bundle(leaves))

    def blobs(self, paths: Iterable[tuple[Digest, Path]]) -> None:
        """Write documents, and the end."""
        for name, path in sorted((_blob(name), path) for name, path in paths):
            size = path.stat().st_size
            self._file.write(_header(name, size))
            with path.open("rb") as source:
                _copy(source, self._file, size)
            self._file.write(bytes(-size % _BLOCK))
        self._file.write(_END)

    def _add(self, name: str, content: bytes) -> None:
        self._file.write(_header(name, len(content)) + content + bytes(-len(content) % _BLOCK))


def _members(file: BinaryIO) -> Iterator[tuple[str, _Spot]]:
    """Walk over the headers; each has to be the one that its name and size make, in order."""
    at, last = 0, (-1, "")
    whole = file.seek(0, os.SEEK_END)
    while True:
        file.seek(at)
        block = file.read(_BLOCK)
        if not block.strip(b"\0"):
            _check_end(file, at)
            return
        name, size = _parsed(block, at)
        order = (_ORDER.index(name.partition("-")[0]), name)
        if order <= last:
            raise MalformedError(f"{name} is not where it belongs in the bundle")
        last, spot = order, _Spot(at=at + _BLOCK, size=size)
        at = spot.at + size + -size % _BLOCK
        if at > whole:
            raise NotHadError(f"the bundle ends inside {name}: it was cut off; get it again")
        file.seek(spot.at + size)
        if file.read(-size % _BLOCK).strip(b"\0"):
            raise MalformedError(f"something follows {name} where the bundle has nothing to say")
        yield name, spot


_ORDER = (ABOUT, GENESIS, CHECKPOINT, "entries", "blob")


def _check_end(file: BinaryIO, at: int) -> None:
    file.seek(at)
    rest = file.read(len(_END) + 1)
    if len(rest) < len(_END):
        raise NotHadError("the bundle has no end: it was cut off; get it again")
    if rest != _END:
        raise MalformedError("something follows the end of the bundle")


def _parsed(block: bytes, at: int) -> tuple[str, int]:
    if len(block) < _BLOCK:
        raise NotHadError("the bundle ends inside a header: it was cut off; get it again")
    name, size = block[:100].rstrip(b"\0"), block[124:136]
    if _NAME.fullmatch(name) and _SIZE.fullmatch(size):
        text, count = name.decode("ascii"), int(size[:-1], 8)
        if block == _header(text, count):
            return text, count
    raise MalformedError(f"what stands at byte {at} is no part of a bundle")


def _header(name: str, size: int) -> bytes:
    if size >= _LARGEST:
        raise UserFacingError(
            f"{name} has {size:,} bytes, and a bundle holds less than 8 GiB of it"
        )
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT)


def _entries(number: int) -> str:
    return f"entries-{number:07}"


def _blob(name: Digest) -> str:
    return f"blob-{to_text(name)}"


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size > 0:
        piece = source.read(min(size, _PIECE))
        if not piece:
            raise NotHadError("a file ended while it was copied")
        target.write(piece)
        size -= len(piece)
