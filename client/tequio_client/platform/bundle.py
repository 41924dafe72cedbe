"""A bundle: the folder of one program, described file by file as chunks with their hashes.

A manifest in JSON names every file. Files are cut every 4 MiB; a chunk lies on a mirror under the
SHA-256 of its plain bytes, compressed with LZMA (.xz). So a mirror needs no trust, equal chunks are
fetched and kept once, and a new version brings only what changed. The manifest itself is a target
of the signed metadata (`releases`).
"""

from __future__ import annotations

import lzma
import os
import platform
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from tequio_client.platform.versions import Part, is_windows, program_name
from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.version import version_number

MANIFEST = "bundle.json"
CHUNK_BYTES = 4 << 20
MANIFEST_BYTES = 16 << 20
"""Largest manifest; that of a runtime with torch takes about 1 MiB."""
_MOST_BYTES = 32 << 30
_MOST_FILES = 100_000
_MOST_STORED = CHUNK_BYTES + (64 << 10)  # what LZMA makes of random bytes
_NAME = re.compile(r'[^\x00-\x1f<>:"/\\|?*\x7f]{1,200}')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)
_DIGEST = re.compile("[0-9a-f]{64}")
_SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
Accelerator = Literal["", "cpu", "cuda", "rocm", "xpu", "mps"]


class Chunk(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a file; `digest` is that of its plain bytes, in hexadecimal digits."""

    digest: str
    size: int
    stored: int
    """Bytes on the mirror."""

    @property
    def url(self) -> str:
        """Address below that of the mirror."""
        return chunk_url(self.digest)


class BundledFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file, or a link to another one of the bundle, relative to its own folder."""

    path: str
    chunks: tuple[Chunk, ...] = ()
    is_program: bool = False
    link: str = ""

    @property
    def size(self) -> int:
        return sum(chunk.size for chunk in self.chunks)


class Bundle(msgspec.Struct, frozen=True, omit_defaults=True):
    part: Part
    version: str
    system: str
    files: tuple[BundledFile, ...]
    accelerator: Accelerator = ""
    """Kind of device that a runtime's torch computes on."""

    @property
    def target(self) -> str:
        """Name of the manifest in the signed metadata."""
        return target_name(self.version, self.part, self.system, self.accelerator)

    @property
    def size(self) -> int:
        """Bytes once installed."""
        return sum(file.size for file in self.files)

    @property
    def download_bytes(self) -> int:
        """Bytes to fetch where nothing of it is there yet."""
        return sum({one.digest: one.stored for one in self.chunks()}.values())

    def chunks(self) -> Iterator[Chunk]:
        for file in self.files:
            yield from file.chunks

    def encode(self) -> bytes:
        return msgspec.json.encode(self) + b"\n"


def chunk_url(digest: str) -> str:
    return f"chunks/{digest[:2]}/{digest}.xz"


def target_name(version: str, part: Part, system: str, accelerator: Accelerator = "") -> str:
    return f"{version}/{part}-{system}{accelerator and '-'}{accelerator}.json"


def this_system() -> str:
    """Name this system and processor as bundles do, such as linux-x86_64."""
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{machine}"


def decode_bundle(content: bytes) -> Bundle:
    """Decode a manifest; raises MalformedError unless it can be installed on any system."""
    bundle = encoding.read(content, Bundle)
    _check_bundle(bundle)
    return bundle


def _check_bundle(bundle: Bundle) -> None:
    version_number(bundle.version)
    if not 0 < len(bundle.files) <= _MOST_FILES or bundle.size > _MOST_BYTES:
        raise MalformedError(f"a bundle of {len(bundle.files)} files, {bundle.size} bytes")
    for file in bundle.files:
        _check_file(file)
    paths = {file.path.lower() for file in bundle.files} | {MANIFEST}
    folders = {str(one) for path in paths for one in PurePosixPath(path).parents}
    if len(paths) != len(bundle.files) + 1 or paths & folders:
        raise MalformedError("two files, or a file and a folder, have one name on some system")
    name = program_name(bundle.part, bundle.system)
    if not any(file.path == name and file.is_program for file in bundle.files):
        raise MalformedError(f"the program {name} is missing, or not marked as executable")


def pack_folder(
    folder: Path, mirror: Path, *, part: Part, version: str, system: str, accelerator: Accelerator
) -> Bundle:
    """Describe a folder and write its chunks to a mirror; one that is there is not written again.

    Takes the time of compressing what is new. Raises OSError, and MalformedError for a folder that
    not every system could hold.
    """
    paths = [one for one in sorted(folder.rglob("*")) if one.is_symlink() or one.is_file()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # LZMA lets other threads run
        files = pool.map(lambda path: _pack_file(path, folder, mirror, system), paths)
    bundle = Bundle(
        part=part, version=version, system=system, accelerator=accelerator, files=tuple(files)
    )
    return decode_bundle(bundle.encode())


def _pack_file(path: Path, folder: Path, mirror: Path, system: str) -> BundledFile:
    name = path.relative_to(folder).as_posix()
    if path.is_symlink():
        return BundledFile(path=name, link=path.readlink().as_posix())
    chunks = tuple(_pack_chunks(path, mirror))
    # Windows has no such mark, and a folder may come from there by way of an archive or a share.
    is_program = path.suffix == ".exe" if is_windows(system) else os.access(path, os.X_OK)
    return BundledFile(path=name, chunks=chunks, is_program=is_program)


def unpack_chunk(chunk: Chunk, stored: bytes) -> bytes:
    """Return a chunk's plain bytes; raises MalformedError if they are not those of its hash."""
    try:
        plain = unpack_limited(stored, chunk.size + 1)
    except lzma.LZMAError as err:
        raise MalformedError(f"chunk {chunk.digest[:12]} is damaged ({err})") from err
    return check_chunk(chunk, plain)


def check_chunk(chunk: Chunk, plain: bytes) -> bytes:
    """Return the bytes; raises MalformedError if they are not those of the chunk's hash."""
    if len(plain) != chunk.size or sha256(plain).hexdigest() != chunk.digest:
        raise MalformedError(f"chunk {chunk.digest[:12]} has other bytes than its hash says")
    return plain


def unpack_limited(stored: bytes, most_bytes: int) -> bytes:
    """Decompress what lies on a mirror, at most that many bytes of it; raises LZMAError."""
    reader = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=128 << 20)
    return reader.decompress(stored, max_length=most_bytes)


def _pack_chunks(path: Path, mirror: Path) -> Iterator[Chunk]:
    with path.open("rb") as file:
        while plain := file.read(CHUNK_BYTES):
            chunk = Chunk(digest=sha256(plain).hexdigest(), size=len(plain), stored=0)
            target = mirror / chunk.url
            if not target.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                fresh = target.with_suffix(f".{threading.get_ident()}.part")
                fresh.write_bytes(lzma.compress(plain, preset=3, check=lzma.CHECK_NONE))
                fresh.replace(target)
            yield msgspec.structs.replace(chunk, stored=target.stat().st_size)


def _check_file(file: BundledFile) -> None:
    _check_path(file.path)
    if file.link:
        # Inside the bundle: it climbs no higher than its own folder is deep.
        depth = file.path.count("/")
        steps = file.link.split("/")
        climbed = next((at for at, one in enumerate(steps) if one != ".."), len(steps))
        if climbed > depth or file.chunks:
            raise MalformedError(f"a link out of the bundle: {file.link[:200]!r}")
        _check_path("/".join(steps[climbed:]))
    for chunk in file.chunks:
        is_sane = 0 < chunk.size <= CHUNK_BYTES and 0 < chunk.stored <= _MOST_STORED
        if not is_sane or not _DIGEST.fullmatch(chunk.digest):
            raise MalformedError(f"a chunk that cannot be: {chunk}")
    if any(chunk.size != CHUNK_BYTES for chunk in file.chunks[:-1]):
        raise MalformedError(f"chunks of unequal sizes in {file.path!r}")


def _check_path(path: str) -> None:
    for name in path.split("/"):
        bad_end = name.endswith((".", " "))
        if not _NAME.fullmatch(name) or bad_end or _RESERVED.fullmatch(name):
            raise MalformedError(f"a name that not every system can hold: {path[:200]!r}")
