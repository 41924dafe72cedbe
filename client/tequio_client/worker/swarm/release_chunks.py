"""Chunks of releases, served to peers and fetched from them.

A signed manifest names a chunk by the SHA-256 of its bytes (`platform: bundle.py`), and so does the
blob protocol name a blob. A worker serves the chunks of the versions that were fetched to this
computer, a seed those of a mirror's folder. The program that installs a version here asks its
worker for chunks from peers, and checks each against the manifest itself.
"""

from __future__ import annotations

import lzma
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

import trio

from tequio_client.ipc.control import CHUNK_PART_BYTES, AskChunk, ChunkReply
from tequio_client.platform import versions
from tequio_client.platform.bundle import (
    CHUNK_BYTES,
    MANIFEST,
    chunk_url,
    decode_bundle,
    unpack_limited,
)
from tequio_client.worker.swarm.sources import FetchFailedError
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, sha256

ReadChunk: TypeAlias = Callable[[Digest], bytes | None]
"""Reads a whole chunk, not yet verified; None if it is not there. Raises OSError."""
_Place: TypeAlias = tuple[Path, int, int]
"""File, offset and size of a chunk."""

KEPT_CHUNKS = 2
"""Chunks in memory: a peer asks for one in several parts."""
MOST_PEERS = 12
"""Peers asked for one chunk."""
ANSWER_S = 5.0
FETCH_S = 60.0


class ReleaseChunks:
    """Chunks to serve, by hash; any thread may read."""

    def __init__(self, read: ReadChunk) -> None:
        self._read_chunk = read
        self._lock = threading.Lock()
        self._kept: OrderedDict[Digest, bytes] = OrderedDict()

    def read(self, name: Digest, first: int, most_bytes: int) -> tuple[int, bytes] | None:
        """Read the chunk's size and a part of it; None if it is not here, or damaged."""
        with self._lock:
            content = self._kept.pop(name, None) or self._sound(name)
            if content is None:
                return None
            self._kept[name] = content
            while len(self._kept) > KEPT_CHUNKS:
                self._kept.popitem(last=False)
            return len(content), content[first : first + most_bytes]

    def _sound(self, name: Digest) -> bytes | None:
        try:
            content = self._read_chunk(name)
        except OSError:  # removed meanwhile
            return None
        # A damaged file must not make this computer send wrong bytes: peers would ban it.
        return content if content is not None and sha256(content) == name else None


class InstalledVersions:
    """Reads chunks from the versions in the data folder, as updates brought them."""

    def __init__(self) -> None:
        self._manifests: list[tuple[Path, int]] = []
        self._places: dict[Digest, _Place] = {}

    def __call__(self, name: Digest) -> bytes | None:
        self._refresh()
        place = self._places.get(name)
        if place is None:
            return None
        path, offset, size = place
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def _refresh(self) -> None:
        """Read the manifests again if a version has come or gone."""
        paths = [
            versions.folder_of(part, version) / MANIFEST
            for part in versions.PROGRAMS
            for version in versions.installed(part)
        ]
        found = [(path, path.stat().st_mtime_ns) for path in paths if path.exists()]
        if found != self._manifests:
            self._places = {name: place for path, _ in found for name, place in _places(path)}
            self._manifests = found


def _places(manifest: Path) -> Iterator[tuple[Digest, _Place]]:
    try:
        bundle = decode_bundle(manifest.read_bytes())
    except MalformedError:
        return
    for file in bundle.files:
        path = manifest.parent / file.path
        for at, chunk in enumerate(file.chunks):
            yield Digest(bytes.fromhex(chunk.digest)), (path, at * CHUNK_BYTES, chunk.size)


def read_from_mirror(folder: Path) -> ReadChunk:
    def read(name: Digest) -> bytes | None:
        path = folder / chunk_url(name.hex())
        try:
            return unpack_limited(path.read_bytes(), CHUNK_BYTES) if path.exists() else None
        except lzma.LZMAError:
            return None

    return read


class ChunksFromPeers:
    """Fetches chunks for a program of this computer, in parts that fit a line."""

    def __init__(
        self, fetcher: Fetcher, peers: Callable[[], Iterable[PeerKey]], rng: Random
    ) -> None:
        self._fetcher = fetcher
        self._peers = peers  # connected now
        self._rng = rng
        self.may_transfer = True
        """False: nothing is fetched."""
        self._score: Counter[PeerKey] = Counter()  # 1: it had the last one; below 0: not, so often

    async def answer(self, question: AskChunk) -> ChunkReply:
        """Get the chunk from a peer, if it is not here; give its bytes from `first`.

        The last part removes it from the store. Raises RefusedError if no peer gives it.
        """
        name, store = digest_from_text(question.name), self._fetcher.store
        if not store.has_blob(name):
            await self._fetch(name)
        found = await trio.to_thread.run_sync(
            store.read_blob, name, question.first, CHUNK_PART_BYTES
        )
        size, content = found or (0, b"")
        if question.first + len(content) >= size:
            await trio.to_thread.run_sync(store.remove, name)
        return ChunkReply(size=size, content=content)

    async def _fetch(self, name: Digest) -> None:
        if not self.may_transfer:
            raise RefusedError("no-transfers", "the worker transfers nothing large at present")
        holders = await self._holders(name)
        try:
            if holders:
                await self._fetcher.fetch_blob(
                    name, holders, timeout_s=FETCH_S, most_bytes=CHUNK_BYTES
                )
                return
        except FetchFailedError as err:
            raise RefusedError("not-found", f"no peer gives this chunk: {err}") from err
        raise RefusedError("not-found", "no peer has this chunk, or time for it")

    async def _holders(self, name: Digest) -> list[PeerKey]:
        """Ask several peers at once whether they have the chunk; those that did before first."""
        peers = list(self._peers())
        # Those that have left are forgotten: there is no end of keys.
        self._score = Counter({peer: self._score[peer] for peer in peers})
        self._rng.shuffle(peers)
        peers.sort(key=lambda one: -self._score[one])
        holders: list[PeerKey] = []

        async def ask(peer: PeerKey) -> None:
            if await self._fetcher.client.has_blob(peer, name):
                holders.append(peer)
                self._score[peer] = 1
            else:
                self._score[peer] -= 1

        with trio.move_on_after(ANSWER_S):
            async with trio.open_nursery() as nursery:
                for peer in peers[:MOST_PEERS]:
                    nursery.start_soon(ask, peer)
        return holders
