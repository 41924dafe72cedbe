"""The files of the store, and its index in memory: sizes, order of use, pins, and leaf hashes.

A file has its final name only once it is whole, checked and on the disk:

    trees/<2 hex>/<root hex>         the whole content, read-only
    trees/<2 hex>/<root hex>.meta    size, piece size and leaf hashes
    trees/<2 hex>/<root hex>.part    a tree under way, and
    trees/<2 hex>/<root hex>.bits    which of its pieces were written (a hint)
    blobs/<2 hex>/<sha256 hex>       the whole content, read-only
    temp/                            files that have no name yet; emptied at the start
"""

from __future__ import annotations

import errno
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from tequio_client import files
from tequio_client.worker.store.trees import MerkleBlob
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.wording import size_text

Kind = Literal["trees", "blobs"]

CACHED_TREES = 256
"""Leaf lists kept in memory."""
CACHED_LEAVES = 1 << 17
"""And hashes in all of them together, about 10 MiB: the largest heads have many thousand each."""
_ENDINGS = ("", ".part", ".bits", ".meta")
_NAME = re.compile("[0-9a-f]{64}")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class StoreFiles:
    """The files under `folder`. OSError passes; `translated` makes it a UserFacingError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._temporary = 0  # names given out in temp/; guarded by the lock

    def prepare(self) -> list[tuple[int, Kind, Digest, int]]:
        """Make the folders, and delete what an earlier start left and cannot be used.

        Returns the rest: its last use in ns, kind, name and size in bytes, oldest use first.
        """
        for name in ("trees", "blobs", "temp"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        for leftover in (self._folder / "temp").iterdir():
            files.delete(leftover)
        return sorted([*self._scan("trees"), *self._scan("blobs")])

    def path(self, kind: Kind, name: Digest) -> Path:
        """Where the whole content lies or would lie."""
        text = name.hex()
        return self._folder / kind / text[:2] / text

    def partial_paths(self, root: Digest) -> tuple[Path, Path]:
        """Content and bits of a tree that is being fetched."""
        path = self.path("trees", root)
        return _beside(path, ".part"), _beside(path, ".bits")

    @contextmanager
    def temporary(self) -> Iterator[Path]:
        """Give a path in the same file system; its file is deleted when the block ends."""
        with self._lock:
            self._temporary += 1
            path = self._folder / "temp" / str(self._temporary)
        try:
            yield path
        finally:
            files.delete(path)

    def settle(self, source: Path, kind: Kind, name: Digest) -> None:
        """Flush a file to the disk, then give it its final name."""
        _settle(source, self.path(kind, name))

    def finish(self, root: Digest) -> None:
        part, bits = self.partial_paths(root)
        path = self.path("trees", root)
        if not path.exists():
            _settle(part, path)
        files.delete(part)
        files.delete(bits)

    def reopen(self, root: Digest, held: bytes) -> None:
        """Make a whole tree a partial one, of which only these pieces (1 each) are sound."""
        # The bits first: a content that is found without them would be fetched from its start.
        path, (part, bits) = self.path("trees", root), self.partial_paths(root)
        bits.write_bytes(held)
        path.chmod(0o644)
        files.move(path, part)

    def write_meta(self, tree: MerkleBlob) -> None:
        """Write size, piece size and leaf hashes, unless they are there."""
        target = _beside(self.path("trees", tree.ref.root), ".meta")
        if not target.exists():
            with self.temporary() as temporary:
                temporary.write_bytes(tree.encode())
                _settle(temporary, target)

    def read_meta(self, root: Digest) -> MerkleBlob | None:
        """Read `write_meta` back; None when it is not there or does not lead to the root."""
        raw = self.read_all(_beside(self.path("trees", root), ".meta"))
        try:
            return None if raw is None else MerkleBlob.parse(raw, root)
        except MalformedError:
            return None

    def read_bits(self, root: Digest) -> bytes:
        """One byte per piece of a partial tree, 1 where it claims to be here; empty without one."""
        return self.read_all(self.partial_paths(root)[1]) or b""

    def delete(self, kind: Kind, name: Digest) -> None:
        for ending in _ENDINGS if kind == "trees" else ("",):
            files.delete(_beside(self.path(kind, name), ending))

    def read_all(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def read_span(self, path: Path, start: int, length: int) -> bytes | None:
        """Read `length` bytes of a file; None when it is not there or shorter."""
        try:
            with path.open("rb", buffering=0) as file:
                file.seek(start)
                content = file.read(length)
        except FileNotFoundError:
            return None
        return content if len(content) == length else None

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn an OSError into one sentence for the user (UserFacingError)."""
        try:
            yield
        except OSError as err:
            message = f"cannot use the store in {self._folder}: {err.strerror or err}"
            if err.errno in _FULL:
                message = f"the disk that holds {self._folder} is full; free some space on it"
            raise UserFacingError(message) from err

    def _scan(self, kind: Kind) -> Iterator[tuple[int, Kind, Digest, int]]:
        stems = {path.name.partition(".")[0] for path in (self._folder / kind).glob("??/*")}
        for stem in filter(_NAME.fullmatch, stems):  # file managers leave files of their own
            name = Digest(bytes.fromhex(stem))
            usable = self._usable(kind, name)
            if usable is None:
                self.delete(kind, name)
            else:
                stat = usable.stat()
                yield stat.st_mtime_ns, kind, name, stat.st_size

    def _usable(self, kind: Kind, name: Digest) -> Path | None:
        path = self.path(kind, name)
        if kind == "blobs":
            return path
        tree = self.read_meta(name)
        for found in (path, _beside(path, ".part")):
            if tree and found.exists() and found.stat().st_size == tree.ref.size_bytes:
                return found
        return None


def _settle(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    files.sync_and_rename(source, target, mode=0o444)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


class NoRoomError(UserFacingError):
    """Too much of the quota is pinned or being fetched for one more entry."""


class StoreIndex:
    """Entries in the order of their use, at most `quota_bytes` of them.

    `may_evict` decides which names may go, beyond those that are pinned; `evict` deletes one and
    must call `drop`. Both methods that evict walk the entries from the oldest use on, which costs
    time in the number of entries (some thousands at most) and only when the quota is reached.
    """

    def __init__(
        self,
        quota_bytes: int,
        where: str,
        *,
        may_evict: Callable[[Digest], bool],
        evict: Callable[[Kind, Digest], None],
    ) -> None:
        self._granted_bytes = quota_bytes
        self._reserved_bytes = 0
        self._where = where  # for sentences
        self._may_evict = may_evict
        self._evict = evict
        self._sizes: OrderedDict[tuple[Kind, Digest], int] = OrderedDict()  # oldest use first
        self._pins: Counter[Digest] = Counter()
        self.used_bytes = 0

    def __contains__(self, entry: tuple[Kind, Digest]) -> bool:
        return entry in self._sizes

    @property
    def quota_bytes(self) -> int:
        return max(self._granted_bytes - self._reserved_bytes, 0)

    def reserve(self, size_bytes: int) -> None:
        """Leave that much of the quota to others."""
        self._reserved_bytes += size_bytes

    def set_quota(self, quota_bytes: int) -> None:
        """Change the quota; the least recently used go until it is met, as far as they may."""
        self._granted_bytes = quota_bytes
        going, _ = self._oldest_to_evict(0)
        for entry in going:
            self._evict(*entry)

    def make_room(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Evict the least recently used until the entry fits.

        Raises NoRoomError, and evicts nothing, unless it can be made to fit.
        """
        more = size_bytes - self._sizes.get((kind, name), 0)
        going, missing = self._oldest_to_evict(more, keep=name)
        if missing > 0:
            raise NoRoomError(
                f"the store in {self._where} needs {size_text(missing)} more than the "
                f"{size_text(self.quota_bytes)} it may hold; allow it more space"
            )
        for entry in going:
            self._evict(*entry)

    def add(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Count an entry as used just now; one that is there gets the new size."""
        self.used_bytes += size_bytes - self._sizes.get((kind, name), 0)
        self._sizes[kind, name] = size_bytes
        self._sizes.move_to_end((kind, name))

    def drop(self, kind: Kind, name: Digest) -> None:
        """Count an entry no longer; an unknown one changes nothing."""
        self.used_bytes -= self._sizes.pop((kind, name), 0)

    def touch(self, kind: Kind, name: Digest) -> bool:
        """Count an entry as used just now; whether that changes the order."""
        entry = (kind, name)
        if entry not in self._sizes or next(reversed(self._sizes)) == entry:
            return False
        self._sizes.move_to_end(entry)
        return True

    def pin(self, name: Digest) -> None:
        self._pins[name] += 1

    def unpin(self, name: Digest) -> None:
        self._pins[name] -= 1
        if self._pins[name] <= 0:
            del self._pins[name]

    def may_evict(self, name: Digest) -> bool:
        """Check that the name is neither pinned nor in use by the store."""
        return name not in self._pins and self._may_evict(name)

    def _oldest_to_evict(
        self, more_bytes: int, keep: Digest | None = None
    ) -> tuple[list[tuple[Kind, Digest]], int]:
        """The least recently used entries that make room for so much, and what is missing still."""
        going, missing = [], self.used_bytes + more_bytes - self.quota_bytes
        for entry, size_bytes in self._sizes.items():
            if missing <= 0:
                break
            # `keep` is the entry that grows: evicting it to make room for itself would lose it.
            if entry[1] != keep and self.may_evict(entry[1]):
                going.append(entry)
                missing -= size_bytes
        return going, missing


class TreeCache:
    """The trees used last, with their leaf hashes, within bounds."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Digest, MerkleBlob] = OrderedDict()

    def get(self, root: Digest) -> MerkleBlob | None:
        return self._trees.get(root)

    def put(self, tree: MerkleBlob) -> None:
        """Cache the tree as the one used last; the oldest go where there are too many."""
        self._trees[tree.ref.root] = tree
        self._trees.move_to_end(tree.ref.root)
        leaves = sum(len(cached.leaves) for cached in self._trees.values())
        # The newest stays even when it alone is over the bound: a fetch of it needs its leaves.
        while len(self._trees) > CACHED_TREES or (leaves > CACHED_LEAVES and len(self._trees) > 1):
            _, gone = self._trees.popitem(last=False)
            leaves -= len(gone.leaves)

    def drop(self, root: Digest) -> None:
        self._trees.pop(root, None)
