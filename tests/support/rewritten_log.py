"""A competition's log rewritten by a ledger that colludes with everybody and so has all keys.

It starts from a bundle, as an auditor would download it, and is changed entry by entry. Writing it
links the chains again, has all authors sign again, and signs the new root with the ledger's key:
only its content distinguishes it from an honest log.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tequio_client.verify.bundle import BundleFile, write_bundle
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, digest_from_text, sha256, to_text
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint, VerifierKey, open_checkpoint, sign_checkpoint
from tequio_shared.log.tiles import TILE_WIDTH
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.statement import Entry, make, sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tequio_client.verify.bundle import BundleInfo
    from tequio_shared.keys import Signer
    from tequio_shared.statements.statement import Body, Statement

LIFE_MS = 60_000
_BLOB = "blob-"


@dataclass(kw_only=True)
class RewrittenLog:
    """Entries and documents that a test can change, and the keys to sign them."""

    about: BundleInfo
    genesis: Genesis
    entries: list[Entry]
    blobs: dict[Digest, bytes]
    """Documents by their claimed names, which need not be their hashes."""
    signers: Mapping[PeerKey, Signer]

    @classmethod
    def of(cls, bundle: Path, signers: Iterable[Signer]) -> RewrittenLog:
        """Start from a bundle; the signers include the ledger's own key."""
        with BundleFile(bundle) as file:
            genesis = Genesis.parse(file.genesis())
            signed = open_checkpoint(file.signed_note(), VerifierKey.parse(genesis.log_key))
            size = signed.checkpoint.size
            leaves = [
                leaf
                for first in range(0, size, TILE_WIDTH)
                for leaf in file.entries(first, min(first + TILE_WIDTH, size))
            ]
            return cls(
                about=file.about,
                genesis=genesis,
                entries=[Entry.parse(leaf) for leaf in leaves],
                blobs=_documents(bundle),
                signers={one.key: one for one in signers},
            )

    def index_of(self, kind: type[Body], author: PeerKey | None = None) -> int:
        """The index of the first statement of a type, by that author if one is given."""
        return next(
            at
            for at, one in enumerate(self.entries)
            if isinstance(one.statement.body, kind) and author in (None, one.statement.author)
        )

    def change(self, at: int, body: Body, ts: int | None = None) -> int:
        """Replace an entry's body, and its time if `ts` is given; returns `at`."""
        self.entries[at] = self._resigned(self.entries[at], body=body, ts=ts)
        return at

    def insert(self, at: int, author: PeerKey, body: Body) -> int:
        """Insert an author's statement there, at the time of the entry before; returns `at`."""
        ts = self.entries[at - 1].statement.ts
        statement = make(body=body, author=author, seq=1, ts=ts, exp=ts + LIFE_MS, prev=ZERO_DIGEST)
        self.entries.insert(at, sign(self.genesis.network_id, statement, self.signers[author]))
        return at

    def bring_forward(self, at: int, to: int, ts: int) -> int:
        """Move an author's entries from `to` up to `at` in front of `to`, with that time.

        Returns the new index of the entry.
        """
        author = self.entries[at].statement.author
        places = [n for n in range(to, at + 1) if self.entries[n].statement.author == author]
        moved = [self.entries.pop(place) for place in reversed(places)][::-1]
        self.entries[to:to] = [self._resigned(one, body=one.statement.body, ts=ts) for one in moved]
        return to + len(moved) - 1

    def put(self, raw: bytes) -> str:
        """Store a document; returns its name."""
        self.blobs[sha256(raw)] = raw
        return to_text(sha256(raw))

    def written(self, path: Path) -> Path:
        """Write the log as a bundle that the ledger and all authors have signed."""
        leaves = [one.leaf() for one in self._linked()]
        groups = (leaves[at : at + TILE_WIDTH] for at in range(0, len(leaves), TILE_WIDTH))
        with TemporaryDirectory(prefix="tequio-rewritten-") as spare:
            for name, raw in self.blobs.items():
                (Path(spare) / to_text(name)).write_bytes(raw)
            write_bundle(
                path,
                about=self.about,
                genesis=self.genesis.encode(),
                note=self._signed_note(leaves),
                leaves=groups,
                blobs=((name, Path(spare) / to_text(name)) for name in self.blobs),
            )
        return path

    def _signed_note(self, leaves: list[bytes]) -> bytes:
        key = VerifierKey.parse(self.genesis.log_key).key
        root = merkle.root(leaves)
        checkpoint = Checkpoint(origin=self.genesis.origin, size=len(leaves), root=root)
        return sign_checkpoint(checkpoint, self.signers[key])

    def _linked(self) -> list[Entry]:
        """All entries with every author's chain intact; changed links are signed again."""
        ends: dict[PeerKey, tuple[int, Digest]] = {}
        linked = []
        for entry in self.entries:
            statement = entry.statement
            seq, last = ends.get(statement.author, (0, ZERO_DIGEST))
            if statement.seq <= seq or statement.prev != last:
                entry = self._resigned(entry, seq=seq + 1, prev=last)  # noqa: PLW2901 - the same
            ends[statement.author] = entry.statement.seq, entry.statement.digest
            linked.append(entry)
        return linked

    def _resigned(
        self,
        entry: Entry,
        *,
        body: Body | None = None,
        ts: int | None = None,
        seq: int | None = None,
        prev: Digest | None = None,
    ) -> Entry:
        was: Statement = entry.statement
        when = was.ts if ts is None else ts
        statement = make(
            body=was.body if body is None else body,
            author=was.author,
            seq=was.seq if seq is None else seq,
            ts=when,
            exp=when + was.exp - was.ts,
            prev=was.prev if prev is None else prev,
            run=was.run,
            round=was.round,
        )
        signers = [self.signers[key] for key, _ in entry.signatures]
        return sign(self.genesis.network_id, statement, *signers)


def _documents(bundle: Path) -> dict[Digest, bytes]:
    """All documents of a bundle, which is a plain tar file."""
    found = {}
    with tarfile.open(bundle) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member)
            if file is not None and member.name.startswith(_BLOB):
                found[digest_from_text(member.name.removeprefix(_BLOB))] = file.read()
    return found
