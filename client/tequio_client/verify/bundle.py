"""All that a competition's verification reads, as one file: a tar with one possible spelling.

Members, in this order: `about`, `genesis`, `checkpoint`, `entries-0000000` and so on (256 leaves
each, as tlog-tiles bundles them), `blob-` and the base64url of each document's SHA-256, ascending.
Each header is the ustar header of its name and size, of nobody and no time, so that the same
content is the same file. Nothing is unpacked when it is read: names are looked up, never opened as
paths, and no member but the sealed archive may be larger than a blob. docs/protocol.md, 19.7.

`RecordedLog` stores what is read of any log, so that it can be written as a bundle.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Self

from msgspec import Struct

from tequio_client import files
from tequio_client.verify.source import LogSource, NotAvailableError
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import Bytes32Text, Digest, digest_from_text, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, STATEMENT_BYTES
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.log.tiles import TILE_WIDTH, encode_bundle, parse_bundle

ABOUT, GENESIS, CHECKPOINT = "about", "genesis", "checkpoint"

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_LARGEST = 8 << 30  # of a member: what a size of 11 octal digits can say, less one
_NAME = re.compile(rb"about|genesis|checkpoint|entries-[0-9]{7}|blob-[A-Za-z0-9_-]{43}")
_SIZE = re.compile(rb"[0-7]{11}\0")
_PIECE = 1 << 20
_ORDER = (ABOUT, GENESIS, CHECKPOINT, "entries", "blob")


class BundleInfo(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    competition: Bytes32Text
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    at: int
    size: int


class BundleFile:
    """An open bundle, its members located but not trusted; `with` closes it."""

    def __init__(self, path: Path) -> None:
        """Find the members; raises NotAvailableError for a file cut short, else MalformedError."""
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as err:
            raise NotAvailableError(f"{path} cannot be read: {err.strerror}") from err
        try:
            self._spots = dict(_members(self._file))
            self.about = encoding.decode(
                self._read(ABOUT, STATEMENT_BYTES), BundleInfo, STATEMENT_BYTES
            )
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def genesis(self) -> bytes:
        return self._read(GENESIS, STATEMENT_BYTES)

    def signed_note(self) -> bytes:
        return self._read(CHECKPOINT, NOTE_BYTES)

    def entries(self, first: int, end: int) -> list[bytes]:
        """Read leaves first..end-1, all of one bundle."""
        leaves = parse_bundle(self._read(_entries(first // TILE_WIDTH), BLOB_BYTES))
        start = first % TILE_WIDTH
        found = leaves[start : start + end - first]
        if len(found) < end - first:
            raise NotAvailableError(
                f"entries {first + len(found)} to {end - 1} are not in the bundle"
            )
        return found

    def blob(self, name: Digest) -> bytes | None:
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
            raise NotAvailableError(f"the bundle has no {name}")
        if spot.size > most:
            raise MalformedError(f"{name} of the bundle has {spot.size:,} bytes")
        self._file.seek(spot.at)
        return self._file.read(spot.size)


def write_bundle(
    path: Path,
    *,
    about: BundleInfo,
    genesis: bytes,
    note: bytes,
    leaves: Iterable[Sequence[bytes]],
    blobs: Iterable[tuple[Digest, Path]],
) -> None:
    """Write a bundle to a file that appears when it is complete; raises UserFacingError.

    `leaves` are in groups of 256, but for the last group. Contents go to the file at once; only
    names stay in memory.
    """
    with files.fresh_file(path) as part:
        try:
            file = part.open("wb")
        except OSError as err:
            raise UserFacingError(f"cannot write {path}: {err.strerror}") from err
        with file:
            for name, content in chain(
                ((ABOUT, encoding.encode(about)), (GENESIS, genesis), (CHECKPOINT, note)),
                ((_entries(at), encode_bundle(group)) for at, group in enumerate(leaves)),
            ):
                file.write(_header(name, len(content)) + content + bytes(-len(content) % _BLOCK))
            for name, source in sorted((_blob(name), source) for name, source in blobs):
                _write_file(file, name, source)
            file.write(_END)


def _write_file(file: BinaryIO, name: str, path: Path) -> None:
    size = path.stat().st_size
    file.write(_header(name, size))
    with path.open("rb") as source:
        _copy(source, file, size)
    file.write(bytes(-size % _BLOCK))


class RecordedLog:
    """A log source, with what is read of it stored in a folder; each document is fetched once.

    Only `with_entries` can it be written as a bundle.
    """

    def __init__(self, source: LogSource, folder: Path, *, with_entries: bool) -> None:
        self._source = source
        self._folder = folder
        self._with_entries = with_entries
        self._others: dict[Digest, Path] = {}
        for name in ("entries", "blobs"):
            (folder / name).mkdir(parents=True)

    def genesis(self) -> bytes:
        return self._store(GENESIS, self._source.genesis())

    def signed_note(self) -> bytes:
        return self._store(CHECKPOINT, self._source.signed_note())

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get whole bundles, or the last one, each of them once."""
        leaves = self._source.entries(first, end)
        if self._with_entries:
            self._store(f"entries/{first // TILE_WIDTH:07}", encode_bundle(leaves))
        return leaves

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; raises MalformedError when it is another one."""
        path = self._folder / "blobs" / to_text(name)
        if path.exists():
            return path.read_bytes()
        try:
            raw = self._source.blob(name)
        except PeerError as err:
            raise MalformedError(str(err)) from err
        if raw is None:
            return None
        if sha256(raw) != name:
            raise MalformedError(f"the document {to_text(name)} comes with another hash")
        path.write_bytes(raw)
        return raw

    def add(self, name: Digest, path: Path) -> None:
        """Add a document that came in another way: the sealed archive."""
        self._others[name] = path

    def write(self, target: Path, competition: Digest) -> None:
        """Write all that was recorded as a bundle; raises UserFacingError."""
        entries = sorted((self._folder / "entries").iterdir())
        write_bundle(
            target,
            about=BundleInfo(competition=to_text(competition)),
            genesis=(self._folder / GENESIS).read_bytes(),
            note=(self._folder / CHECKPOINT).read_bytes(),
            leaves=(parse_bundle(path.read_bytes()) for path in entries),
            blobs=self._blobs(),
        )

    def _blobs(self) -> Iterator[tuple[Digest, Path]]:
        for path in (self._folder / "blobs").iterdir():
            self._others.pop(digest_from_text(path.name), None)
            yield digest_from_text(path.name), path
        yield from self._others.items()

    def _store(self, name: str, raw: bytes) -> bytes:
        (self._folder / name).write_bytes(raw)
        return raw


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
            raise MalformedError(f"{name} is out of order in the bundle")
        last, spot = order, _Spot(at=at + _BLOCK, size=size)
        at = spot.at + size + -size % _BLOCK
        if at > whole:
            raise NotAvailableError(f"the bundle is cut off inside {name}: download it again")
        file.seek(spot.at + size)
        if file.read(-size % _BLOCK).strip(b"\0"):
            raise MalformedError(f"unexpected bytes after {name} in the bundle")
        yield name, spot


def _check_end(file: BinaryIO, at: int) -> None:
    file.seek(at)
    rest = file.read(len(_END) + 1)
    if len(rest) < len(_END):
        raise NotAvailableError("the bundle is cut off before its end: download it again")
    if rest != _END:
        raise MalformedError("unexpected bytes after the end of the bundle")


def _parsed(block: bytes, at: int) -> tuple[str, int]:
    if len(block) < _BLOCK:
        raise NotAvailableError("the bundle is cut off inside a header: download it again")
    name, size = block[:100].rstrip(b"\0"), block[124:136]
    if _NAME.fullmatch(name) and _SIZE.fullmatch(size):
        text, count = name.decode("ascii"), int(size[:-1], 8)
        if block == _header(text, count):
            return text, count
    raise MalformedError(f"what begins at byte {at} is not part of a bundle")


def _header(name: str, size: int) -> bytes:
    if size >= _LARGEST:
        raise UserFacingError(
            f"{name} has {size:,} bytes; a member of a bundle must be smaller than 8 GiB"
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
            raise NotAvailableError("a file ended while it was copied")
        target.write(piece)
        size -= len(piece)
