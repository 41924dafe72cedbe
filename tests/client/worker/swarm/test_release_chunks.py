"""Chunks of installed versions and of mirrors, as peers get them: right bytes, or none."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.control import CHUNK_PART_BYTES, AskChunk
from tequio_client.platform import versions
from tequio_client.platform.bundle import CHUNK_BYTES, MANIFEST, pack_folder
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import PROTOCOL, BlobServer, BlobStatus
from tequio_client.worker.swarm.release_chunks import (
    ChunksFromPeers,
    InstalledVersions,
    ReleaseChunks,
    read_from_mirror,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream
    from tests.support.transfer_peers import TransferPeers

CONTENT = random.Random(3).randbytes(CHUNK_BYTES + 100_000)
FIRST, SECOND = CONTENT[:CHUNK_BYTES], CONTENT[CHUNK_BYTES:]


def install(mirror: Path, version: str, content: bytes = CONTENT) -> Path:
    """Put a runtime into the data folder, and its chunks on a mirror; returns its folder."""
    folder = versions.folder_of("runtime", version)
    (folder / "lib").mkdir(parents=True)
    program = folder / versions.PROGRAMS["runtime"]
    program.write_bytes(b"program")
    program.chmod(0o755)
    (folder / "lib" / "torch.so").write_bytes(content)
    bundle = pack_folder(
        folder, mirror, part="runtime", version=version, system="any", accelerator="cpu"
    )
    (folder / MANIFEST).write_bytes(bundle.encode())
    return folder


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "mirror"


@pytest.mark.parametrize("is_mirror", [False, True])
def test_chunks_are_read_in_parts_by_their_hash(mirror: Path, *, is_mirror: bool) -> None:
    install(mirror, "1.0.0")
    chunks = ReleaseChunks(read_from_mirror(mirror) if is_mirror else InstalledVersions())
    assert chunks.read(sha256(FIRST), 0, 1000) == (CHUNK_BYTES, FIRST[:1000])
    assert chunks.read(sha256(SECOND), 99_999, 1000) == (100_000, SECOND[99_999:])
    assert chunks.read(sha256(b"absent"), 0, 1000) is None


def test_what_is_damaged_is_not_served(mirror: Path) -> None:
    folder = install(mirror, "1.0.0")
    for path in [folder / "lib" / "torch.so", *mirror.rglob("*.xz")]:
        path.write_bytes(path.read_bytes()[:-50] + bytes(50))
    for read in (InstalledVersions(), read_from_mirror(mirror)):
        assert ReleaseChunks(read).read(sha256(SECOND), 0, 1000) is None


def test_versions_that_come_and_go_are_noticed(mirror: Path) -> None:
    chunks = ReleaseChunks(InstalledVersions())
    assert chunks.read(sha256(SECOND), 0, 10) is None
    folder = install(mirror, "1.0.0")
    assert chunks.read(sha256(SECOND), 0, 10) is not None
    other = random.Random(4).randbytes(10)
    install(mirror, "1.1.0", other)
    assert chunks.read(sha256(other), 0, 10) == (10, other)
    shutil.rmtree(folder)
    assert chunks.read(sha256(FIRST), 0, 10) is None


async def whole(chunks: ChunksFromPeers, name: bytes) -> bytes:
    """Ask for all parts, as the program that installs does."""
    content = b""
    while True:
        reply = await chunks.answer(AskChunk(name=to_text(name), first=len(content)))
        assert len(reply.content) <= CHUNK_PART_BYTES
        content += reply.content
        if len(content) == reply.size:
            return content


def lying(asked: list[bytes]) -> Callable[[PeerStream], Awaitable[None]]:
    async def serve(stream: PeerStream) -> None:
        while True:
            asked.append(bytes(await stream.receive_frame()))
            await stream.send_frame(bytes([BlobStatus.OK]), (4).to_bytes(8, "big"), b"evil")

    return serve


@pytest.mark.trio
async def test_a_liar_is_found_out_and_another_peer_gives_the_chunk(
    swarm: TransferPeers, mirror: Path
) -> None:
    install(mirror, "1.0.0")
    asked: list[bytes] = []
    await swarm.joined("liar", lambda peers: peers.serve(PROTOCOL, lying(asked)))
    read = ReleaseChunks(read_from_mirror(mirror)).read
    store = Store(mirror.with_name("theirs"), quota_bytes=10**9)
    await swarm.joined("good", lambda peers: BlobServer(peers, store, more_blobs=read))
    async with swarm.fetcher() as fetcher:
        chunks = ChunksFromPeers(fetcher, swarm.network.connected_peers, random.Random(1))
        assert await whole(chunks, sha256(FIRST)) == FIRST
        assert await whole(chunks, sha256(SECOND)) == SECOND
        assert not swarm.store.has_blob(sha256(FIRST)), "it does not fill the store"
        with pytest.raises(RefusedError, match="no peer"):
            await whole(chunks, sha256(b"absent"))
        chunks.may_transfer = False
        with pytest.raises(RefusedError, match="nothing large"):
            await whole(chunks, sha256(FIRST))
    assert asked
