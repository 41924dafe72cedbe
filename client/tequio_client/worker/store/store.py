"""The content-addressed store: trees and blobs on disk (`files`), under a quota (`index`).

All methods are synchronous and safe to call from several threads; in the event loop use
`trio.to_thread.run_sync`. Errors of the disk come out as UserFacingError.

A whole tree whose bytes turn out to be damaged becomes a partial one that holds its sound pieces:
it is served and completed like any other that is half fetched.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from tequio_client import files
from tequio_client.worker.store.files import Kind, StoreFiles, StoreIndex, TreeCache
from tequio_client.worker.store.trees import (
    MerkleBlob,
    PartialTree,
    TreeRef,
    check_own_file,
    hash_bytes,
    hash_pieces,
    hash_tree_file,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, sha256

log = structlog.get_logger(__name__)

HASH_INTERVAL = 16
"""Pieces are hashed the first time that they are served, and then once in this many times."""
COUNTED_READS = 16_384
"""Spans of pieces whose servings are counted."""


class Store:
    """Trees and blobs under `folder`, at most `quota_bytes` of them.

    When the quota is reached, what was used least recently goes, except what is pinned or being
    fetched. Raises UserFacingError when the folder cannot be used, and NoRoomError
    when nothing more may go.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self.folder = folder
        self._files = StoreFiles(folder)
        self._lock = threading.RLock()  # guards everything below
        self._partials: dict[Digest, tuple[PartialTree, int]] = {}  # with the number of users
        self._index = StoreIndex(
            quota_bytes,
            str(folder),
            may_evict=lambda name: name not in self._partials,
            evict=self._forget,
        )
        self._trees = TreeCache()
        self._reads: OrderedDict[tuple[Digest, int, int], int] = OrderedDict()  # times served
        with self._files.translated():
            for _, kind, name, size_bytes in self._files.prepare():
                self._index.add(kind, name, size_bytes)

    @property
    def used_bytes(self) -> int:
        """Bytes used by the entries; a partial tree counts at its full size."""
        return self._index.used_bytes

    @property
    def quota_bytes(self) -> int:
        return self._index.quota_bytes

    def set_quota(self, quota_bytes: int) -> None:
        """Change the quota and evict until it is met, as far as possible now; blocks."""
        with self._lock, self._files.translated():
            self._index.set_quota(quota_bytes)

    def reserve(self, size_bytes: int) -> None:
        with self._lock:
            self._index.reserve(size_bytes)

    def tree_path(self, root: Digest) -> Path:
        """Where the whole tree lies or will lie; counts as a use of it."""
        self._touch("trees", root)
        return self._files.path("trees", root)

    def has_tree(self, root: Digest) -> bool:
        return self._files.path("trees", root).exists()

    def has_part_of(self, root: Digest) -> bool:
        """Check that the tree is here, whole or in part; does not look at the disk."""
        return ("trees", root) in self._index

    def tree(self, root: Digest) -> MerkleBlob | None:
        """Shape and leaf hashes of a tree that is here, whole or in part."""
        with self._lock:
            tree = self._trees.get(root)
            if tree is None and self.has_part_of(root):
                with self._files.translated():
                    tree = self._files.read_meta(root)
            if tree is not None:
                self._trees.put(tree)
            return tree

    def missing_bytes(self, ref: TreeRef) -> int:
        """Count the bytes of the tree that are missing; the bits of a partial one are believed."""
        if not self.has_part_of(ref.root):
            return ref.size_bytes
        with self._files.translated():
            held = self.held_pieces(ref.root) or self._files.read_bits(ref.root)
        there = sum(ref.span(index, 1)[1] for index, have in enumerate(held[: ref.pieces]) if have)
        return ref.size_bytes - there

    def put_tree(self, content: bytes, piece_bytes: int) -> TreeRef:
        tree = hash_bytes(content, piece_bytes)
        self._put_tree(tree, lambda target: target.write_bytes(content))
        return tree.ref

    def put_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Copy a file, which must not change meanwhile, into the store as a tree."""
        tree = self._hash_file(path, piece_bytes)
        self._put_tree(tree, lambda target: shutil.copyfile(path, target))
        return tree.ref

    def move_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Rename a file, of the same file system, into the store as a tree.

        Raises PeerError unless it is a file of its own: a link could name any file here.
        """
        with self._files.translated(), self._files.temporary() as own:
            # Moved first, out of reach of the program that wrote it, and only then looked at.
            files.move(path, own)
            check_own_file(own)
            tree = self._hash_file(own, piece_bytes)
            self._put_tree(tree, lambda target: files.move(own, target))
        return tree.ref

    def read_pieces(self, root: Digest, first: int, count: int) -> bytes | None:
        """Read `count` pieces from `first` of a whole or partial tree; None when one is missing."""
        tree = self.tree(root)
        if tree is None or first < 0 or count < 1 or first + count > tree.ref.pieces:
            return None
        with self._files.translated():
            with self._lock:
                partial, _ = self._partials.get(root, (None, 0))
                if partial is not None:
                    return partial.read(first, count)
            self._touch("trees", root)
            path = self._files.path("trees", root)
            return self._files.read_span(path, *tree.ref.span(first, count))

    def sound_pieces(self, root: Digest, first: int, count: int) -> bytes | None:
        """Read pieces, hashed the first and then every 16th time; None when missing or damaged."""
        # Wrong bytes would get us banned by the peer that asked, yet hashing every time would cost
        # a busy server more than the disk and the network do.
        content, tree = self.read_pieces(root, first, count), self.tree(root)
        if content is None or tree is None or not self._is_to_hash((root, first, count)):
            return content
        if hash_pieces(content, tree.ref.piece_bytes) == tree.leaves[first : first + count]:
            return content
        self.verify_tree(root)
        return None

    def held_pieces(self, root: Digest) -> bytes | None:
        """One byte per piece, 1 where it is here; None when nothing of the tree is."""
        tree = self.tree(root)
        with self._lock:
            partial, _ = self._partials.get(root, (None, 0))
        if partial is not None:
            return partial.held_pieces()
        return b"\x01" * tree.ref.pieces if tree and self.has_tree(root) else None

    def verify_tree(self, root: Digest) -> bool:
        """Hash a whole tree again; one that was damaged on the disk keeps its sound pieces."""
        tree = self.tree(root)
        if tree is None:
            return False
        with self._files.translated():
            try:
                with self._files.path("trees", root).open("rb") as file:
                    found = hash_tree_file(file, tree.ref.piece_bytes).leaves
            except FileNotFoundError:  # evicted, or found damaged, this very moment
                return False
        if found == tree.leaves:
            return True
        self._reopen(tree, found)
        return False

    def acquire_partial(self, tree: MerkleBlob) -> PartialTree:
        """Begin or resume a tree; `release_partial` must follow, and what is there then stays.

        Pieces go in by `write_pieces`. Acquired twice, it is one and the same object. Raises
        RefusedError when the whole tree is here already.
        """
        root = tree.ref.root
        with self._lock, self._files.translated():
            if self.has_tree(root):
                raise RefusedError("known-tree", f"the tree {root.hex()} is whole already")
            partial, users = self._partials.get(root) or (self._begin(tree), 0)
            self._partials[root] = (partial, users + 1)
        return partial

    def write_pieces(
        self, partial: PartialTree, first: int, content: bytes | bytearray | memoryview
    ) -> int:
        """Check and write whole pieces, as `PartialTree.write` does."""
        with self._files.translated():
            return partial.write(first, content)

    def copy_pieces(self, partial: PartialTree, others: Iterable[Digest]) -> int:
        """Copy missing pieces from trees whose leaf hashes agree; returns how many bytes.

        Each piece is hashed on its way: the file of the other tree may be damaged.
        """
        return sum(self._copy_from(partial, tree) for tree in map(self.tree, others) if tree)

    def release_partial(self, root: Digest) -> None:
        """End one use of a partial tree; a complete one gets its final name."""
        with self._lock, self._files.translated():
            partial, users = self._partials.pop(root, (None, 0))
            if partial is None:
                return  # another user completed it and left
            if partial.is_whole:
                partial.close()
                self._files.finish(root)
            elif users > 1:
                self._partials[root] = (partial, users - 1)
            else:
                partial.close()

    def has_blob(self, name: Digest) -> bool:
        return self._files.path("blobs", name).exists()

    def blob_path(self, name: Digest) -> Path:
        """Where the blob lies or would lie; counts as a use of it."""
        self._touch("blobs", name)
        return self._files.path("blobs", name)

    def put_blob(self, content: bytes) -> Digest:
        name = sha256(content)
        with self._files.translated(), self._room("blobs", name, len(content)):
            if not self.has_blob(name):
                with self._files.temporary() as temporary:
                    temporary.write_bytes(content)
                    self._files.settle(temporary, "blobs", name)
        return name

    def get_blob(self, name: Digest) -> bytes | None:
        self._touch("blobs", name)
        with self._files.translated():
            content = self._files.read_all(self._files.path("blobs", name))
        if content is None or sha256(content) == name:
            return content
        log.warning("a blob was damaged on the disk and is dropped", blob=name.hex())
        with self._files.translated():
            self._forget("blobs", name)
        return None

    def read_blob(self, name: Digest, offset: int, most_bytes: int) -> tuple[int, bytes] | None:
        """Read the blob's size and a part of it, unchecked; None when it is not here."""
        self._touch("blobs", name)
        path = self._files.path("blobs", name)
        with self._files.translated():
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                return None
            part = self._files.read_span(path, offset, max(0, min(most_bytes, size - offset)))
        return None if part is None else (size, part)

    def pin(self, name: Digest) -> None:
        """Protect the tree or blob of this name from eviction until it was unpinned as often."""
        with self._lock:
            self._index.pin(name)

    def unpin(self, name: Digest) -> None:
        with self._lock:
            self._index.unpin(name)

    def release(self, size_bytes: int) -> None:
        """Take back what was reserved."""
        with self._lock:
            self._index.reserve(-size_bytes)

    def remove(self, name: Digest) -> None:
        """Delete the tree or blob of this name, unless it is pinned or being fetched."""
        with self._lock, self._files.translated():
            if self._index.may_evict(name):
                self._forget("trees", name)
                self._forget("blobs", name)

    def _touch(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            path = self._files.path(kind, name)
            if self._index.touch(kind, name) and path.exists():
                with self._files.translated():
                    os.utime(path)  # so that the order of use survives a restart

    def _is_to_hash(self, span: tuple[Digest, int, int]) -> bool:
        with self._lock:
            times = self._reads.pop(span, 0)
            self._reads[span] = times + 1
            while len(self._reads) > COUNTED_READS:
                self._reads.popitem(last=False)
        return times % HASH_INTERVAL == 0

    @contextmanager
    def _room(self, kind: Kind, name: Digest, size_bytes: int) -> Iterator[None]:
        """Make room and count the entry; when the block fails, forget it again."""
        # Counted before it is written: two threads that write at once must not both see the room.
        with self._lock, self._files.translated():
            self._index.make_room(kind, name, size_bytes)
            self._index.add(kind, name, size_bytes)
        try:
            yield
        except BaseException:
            if not self._files.path(kind, name).exists():
                self._forget(kind, name)
            raise

    def _forget(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            self._index.drop(kind, name)
            self._trees.drop(name)
            self._files.delete(kind, name)

    def _hash_file(self, path: Path, piece_bytes: int) -> MerkleBlob:
        with self._files.translated(), path.open("rb") as file:
            return hash_tree_file(file, piece_bytes)

    def _put_tree(self, tree: MerkleBlob, fill: Callable[[Path], object]) -> None:
        """Add a whole tree, whose content `fill` writes to the path it is given."""
        ref = tree.ref
        with self._files.translated(), self._room("trees", ref.root, ref.size_bytes):
            if not self.has_tree(ref.root):
                with self._files.temporary() as temporary:
                    fill(temporary)
                    self._files.write_meta(tree)
                    self._files.settle(temporary, "trees", ref.root)
        with self._lock, self._files.translated():
            self._trees.put(tree)
            if ref.root not in self._partials:
                self._files.finish(ref.root)  # deletes what an earlier partial fetch left

    def _begin(self, tree: MerkleBlob) -> PartialTree:
        ref = tree.ref
        with self._room("trees", ref.root, ref.size_bytes):
            self._files.write_meta(tree)
            content, bits = self._files.partial_paths(ref.root)
            partial = PartialTree(tree, content=content, bits=bits)
        self._trees.put(tree)
        return partial

    def _reopen(self, tree: MerkleBlob, found: Sequence[bytes]) -> None:
        """Make a damaged tree a partial one with its sound pieces; another length loses all."""
        held = bytes(a == b for a, b in zip(found, tree.leaves, strict=False))
        sound = held.ljust(tree.ref.pieces, b"\x00")[: tree.ref.pieces]
        root = tree.ref.root
        log.warning("a tree was damaged on the disk", tree=root.hex()[:12], pieces=sound.count(0))
        with self._lock, self._files.translated():
            if self.has_tree(root):
                self._files.reopen(root, sound)

    def _copy_from(self, partial: PartialTree, other: MerkleBlob) -> int:
        copied = 0
        mine, theirs = partial.tree, other.leaves
        if other.ref.root == mine.ref.root or other.ref.piece_bytes != mine.ref.piece_bytes:
            return 0
        for index in partial.missing_pieces():
            if theirs[index : index + 1] != mine.leaves[index : index + 1]:
                continue
            piece = self.read_pieces(other.ref.root, index, 1)
            leaf = (mine.leaves[index],)
            if piece and hash_pieces(piece, mine.ref.piece_bytes) == leaf:
                copied += self.write_pieces(partial, index, piece)
        return copied


class StorePins:
    """The pins and the reserved room of one run, all given back by `close`.

    The store outlives the runs of a worker, and may serve several of them at a time.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._pins: Counter[Digest] = Counter()
        self._reserved_bytes = 0

    def pin(self, name: Digest) -> None:
        """Protect the tree or blob of this name from eviction until it was unpinned as often."""
        self._pins[name] += 1
        self.store.pin(name)

    def unpin(self, name: Digest) -> None:
        self._pins[name] -= 1
        self.store.unpin(name)

    def reserve(self, size_bytes: int) -> None:
        """Leave that much of the quota to files beside the store."""
        self._reserved_bytes += size_bytes
        self.store.reserve(size_bytes)

    def close(self) -> None:
        for name in self._pins.elements():
            self.store.unpin(name)
        self.store.release(self._reserved_bytes)
        self._pins, self._reserved_bytes = Counter(), 0
