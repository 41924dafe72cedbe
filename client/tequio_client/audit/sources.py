"""What an audit reads: the log and the ledger's derived answers, believed by nobody.

`LogSource` is spoken by the live ledger (`online`) and by a mirror: a folder of the files below
the ledger's address, as any downloader leaves them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.ids import DIGEST_BYTES, Digest, to_text
from tequio_shared.log.notes import Checkpoint, VerifierKey, open_checkpoint
from tequio_shared.log.tiles import ENTRIES, TILE_WIDTH, Tile, parse_bundle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.api.peers import StandingAnswer, TierAnswer
    from tequio_shared.ids import PeerKey
    from tequio_shared.log.policy import Policy


class NotHadError(TequioError):
    """Something could not be had: the source is out of reach, or does not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunClaim:
    """What the ledger says about a run; `size` is the log that it says it of."""

    run: str
    state: str
    round: int
    head: str | None
    head_round: int | None
    weights_root: str | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerClaim:
    """What the ledger says about a key; `size` is the log that it says it of."""

    key: str
    last_seq: int
    last_hash: str
    micropoints: int
    size: int | None
    standing: StandingAnswer | None = None
    tier: TierAnswer | None = None


class DocumentSource(Protocol):
    """Where documents are. Raises NotHadError, and PeerError for answers that cannot be right."""

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; None when the source does not have it."""


class LogSource(DocumentSource, Protocol):
    """A log to audit. Raises NotHadError, and PeerError for answers that cannot be right."""

    def genesis(self) -> bytes:
        """Get the genesis document."""

    def checkpoint(self, log_key: VerifierKey, size: int = 0) -> Checkpoint:
        """Get the newest checkpoint, its signature verified; wait a while for one that large."""

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Get the first `width` hashes of a tile."""

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves first..end-1, all of one bundle."""

    def runs(self) -> Sequence[RunClaim]:
        """Ask what the ledger derived about its runs; empty for an archive."""

    def peer(self, key: PeerKey) -> PeerClaim | None:
        """Ask what the ledger derived about a key; None for an archive."""


class Mirror:
    """A folder with `genesis`, `log/checkpoint`, `log/tile/...` and `v1/blobs/<base64url>`."""

    def __init__(self, folder: Path, trust: Policy | None = None) -> None:
        self._folder = folder
        self._trust = trust

    def genesis(self) -> bytes:
        """Read the genesis document."""
        return self._read("genesis")

    def checkpoint(self, log_key: VerifierKey, size: int = 0) -> Checkpoint:
        """Read and verify the checkpoint; there will be no other."""
        del size
        note = self._read("log/checkpoint")
        if self._trust is not None:
            return self._trust.open(note, log_key).checkpoint
        return open_checkpoint(note, log_key).checkpoint

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Read a tile."""
        raw = self._tile(Tile(level=level, index=index, width=width))
        if len(raw) < width * DIGEST_BYTES:
            raise MalformedError(f"tile of {len(raw)} bytes for {width} hashes")
        return [Digest(raw[at * DIGEST_BYTES :][:DIGEST_BYTES]) for at in range(width)]

    def entries(self, first: int, end: int) -> list[bytes]:
        """Read leaves out of their bundle."""
        start = first - first % TILE_WIDTH
        tile = Tile(level=ENTRIES, index=first // TILE_WIDTH, width=end - start)
        leaves = parse_bundle(self._tile(tile))
        if len(leaves) < end - start:
            raise MalformedError(f"bundle of {len(leaves)} leaves where {end - start} are due")
        return leaves[first - start : end - start]

    def blob(self, name: Digest) -> bytes | None:
        """Read a document."""
        path = self._folder / "v1" / "blobs" / to_text(name)
        return path.read_bytes() if path.exists() else None

    def runs(self) -> Sequence[RunClaim]:
        """Claim nothing."""
        return ()

    def peer(self, key: PeerKey) -> PeerClaim | None:
        """Claim nothing."""
        return None

    def _tile(self, tile: Tile) -> bytes:
        """Read a tile, the full one where the partial one is gone."""
        whole = Tile(level=tile.level, index=tile.index)
        for name in (tile, whole):
            if (self._folder / "log" / name.path()).exists():
                return self._read(f"log/{name.path()}")
        raise NotHadError(f"the mirror has no {tile.path()}")

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError as err:
            raise NotHadError(f"the mirror has no {name}") from err
