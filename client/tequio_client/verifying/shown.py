"""What a verification reads of a log, and how it is kept for a bundle while it is read."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from tequio_client.audit.online import LiveLog
from tequio_client.verifying.bundle import About, BundleWriter
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.log.tiles import TILE_WIDTH, bundle, parse_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.ids import Digest

_GENESIS, _NOTE = "genesis", "note"


class Shown(Protocol):
    """A log as somebody shows it. Raises NotHadError, and PeerError for what cannot be right."""

    def genesis(self) -> bytes:
        """Get the genesis document."""

    def note(self) -> bytes:
        """Get the signed checkpoint."""

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves first..end-1, all of one bundle."""

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; None when it is not there."""


def live(api: LedgerApi) -> Shown:
    """The log of a ledger, asked from a thread."""
    return LiveLog(api)


class Keep(Enum):
    """What is kept of a log that is read."""

    DOCUMENTS = auto()
    ALL = auto()
    """So that it can be written as a bundle."""


class Kept:
    """A log that is shown, what is read of it kept in a folder; each document is asked for once."""

    def __init__(self, source: Shown, folder: Path, keep: Keep) -> None:
        self._source = source
        self._folder = folder
        self._keeps = keep
        self._others: dict[Digest, Path] = {}
        for name in ("entries", "blobs"):
            (folder / name).mkdir(parents=True)

    def genesis(self) -> bytes:
        """Get the genesis document."""
        return self._keep(_GENESIS, self._source.genesis())

    def note(self) -> bytes:
        """Get the signed checkpoint."""
        return self._keep(_NOTE, self._source.note())

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get whole bundles, or the last one; each is asked for once."""
        leaves = self._source.entries(first, end)
        if self._keeps is Keep.ALL:
            self._keep(f"entries/{first // TILE_WIDTH:07}", bundle(leaves))
        return leaves

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; raises MalformedError when it is another one."""
        path = self._blob(name)
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
        """Keep a document that was got in another way: the sealed archive."""
        self._others[name] = path

    def write(self, target: Path, competition: Digest) -> None:
        """Write all of it, if all was kept, as a bundle; raises UserFacingError."""
        with BundleWriter(target) as writer:
            writer.begin(
                About(competition=to_text(competition)),
                (self._folder / _GENESIS).read_bytes(),
                (self._folder / _NOTE).read_bytes(),
            )
            for number, path in enumerate(sorted((self._folder / "entries").iterdir())):
                writer.leaves(number, parse_bundle(path.read_bytes()))
            writer.blobs(self._blobs())

    def _blobs(self) -> Iterator[tuple[Digest, Path]]:
        for path in (self._folder / "blobs").iterdir():
            self._others.pop(digest_from_text(path.name), None)
            yield digest_from_text(path.name), path
        yield from self._others.items()

    def _blob(self, name: Digest) -> Path:
        return self._folder / "blobs" / to_text(name)

    def _keep(self, name: str, content: bytes) -> bytes:
        (self._folder / name).write_bytes(content)
        return content
