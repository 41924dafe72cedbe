"""The content-addressed store: trees of pieces and blobs, on disk (`store_files`), under a quota.

All methods are synchronous and safe to call from several threads; in the event loop use
`trio.to_thread.run_sync`. Errors of the disk come out as UserFacingError.

A tree whose bytes turn out not to be what its name says becomes one under way, of which the sound
pieces are here: it is served and mended like any other that is half fetched.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter, OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

from tequio_client.worker.store.files import StoreFiles
from tequio_client.worker.store.trees import (
    Partial,
    Tree,
    TreeRef,
    cut_bytes,
    cut_file,
    hash_pieces,
)
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import Digest, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.worker.store.files import Kind

# --- Trees kept in memory with their leaf hashes: those that were used last, within bounds.

LISTS = 256
"""Leaf lists kept in memory."""
LEAVES = 1 << 17
"""And hashes in all of them together, about 10 MiB: the largest heads have many thousand each."""


class KeptTrees:
    """Owned by the store, and called under its lock."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Digest, Tree] = OrderedDict()

    def get(self, root: Digest) -> Tree | None:
        """The tree of that root, if it is kept."""
        return self._trees.get(root)

    def keep(self, tree: Tree) -> Tree:
        """Keep it as the one used last; others go where there are too many. Gives it back."""
        self._trees[tree.ref.root] = tree
        self._trees.move_to_end(tree.ref.root)
        leaves = sum(len(kept.leaves) for kept in self._trees.values())
        while len(self._trees) > LISTS or (leaves > LEAVES and len(self._trees) > 1):
            _, gone = self._trees.popitem(last=False)
            leaves -= len(gone.leaves)
        return tree

    def drop(self, root: Digest) -> None:
        """Keep that one no longer."""
        self._trees.pop(root, None)


# --- The stock of a store: what is there, how many bytes of how many allowed, what may go first.
#
# Nothing here touches the disk, and nothing is safe for several threads: the store's lock is its.


class Stock:
    """Entries in the order of their use, at most `quota_bytes` of them."""

    def __init__(self, quota_bytes: int, where: str) -> None:
        self._given_bytes = quota_bytes
        self._aside_bytes = 0
        self._where = where  # for sentences
        self._sizes: OrderedDict[tuple[Kind, Digest], int] = OrderedDict()  # oldest use first
        self._pins: Counter[Digest] = Counter()
        self.used_bytes = 0

    def __contains__(self, entry: tuple[Kind, Digest]) -> bool:
        return entry in self._sizes

    @property
    def quota_bytes(self) -> int:
        """How much may be here."""
        return max(self._given_bytes - self._aside_bytes, 0)

    def set_aside(self, size_bytes: int) -> None:
        """Leave so much of the quota to others."""
        self._aside_bytes += size_bytes

    def limit(
        self,
        quota_bytes: int,
        *,
        may_go: Callable[[Digest], bool],
        let_go: Callable[[Kind, Digest], None],
    ) -> None:
        """Have another quota; the least recently used go until it is kept, as far as they may."""
        self._given_bytes = quota_bytes
        for kind, name in list(self._sizes):
            if self.used_bytes <= self.quota_bytes:
                return
            if may_go(name):
                let_go(kind, name)

    def add(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Count an entry as used just now; one that is there gets the new size."""
        self.used_bytes += size_bytes - self._sizes.get((kind, name), 0)
        self._sizes[kind, name] = size_bytes
        self._sizes.move_to_end((kind, name))

    def drop(self, kind: Kind, name: Digest) -> None:
        """Count an entry no longer; none is no error."""
        self.used_bytes -= self._sizes.pop((kind, name), 0)

    def touch(self, kind: Kind, name: Digest) -> bool:
        """Count an entry as used just now; whether that changes the order."""
        entry = (kind, name)
        if entry not in self._sizes or next(reversed(self._sizes)) == entry:
            return False
        self._sizes.move_to_end(entry)
        return True

    def named(self, name: Digest) -> list[Kind]:
        """As what the name is here."""
        return [kind for kind, digest in self._sizes if digest == name]

    def pin(self, name: Digest) -> None:
        """Let this name never go until it was unpinned as often."""
        self._pins[name] += 1

    def unpin(self, name: Digest) -> None:
        """Take one pin away."""
        self._pins[name] -= 1
        if self._pins[name] <= 0:
            del self._pins[name]

    def is_pinned(self, name: Digest) -> bool:
        """Whether it must stay."""
        return name in self._pins

    def make_room(
        self,
        kind: Kind,
        name: Digest,
        size_bytes: int,
        *,
        may_go: Callable[[Digest], bool],
        let_go: Callable[[Kind, Digest], None],
    ) -> None:
        """Let the least recently used go until the entry fits; `let_go` must `drop` them.

        Raises UserFacingError when too little may go.
        """
        more = size_bytes - self._sizes.get((kind, name), 0)
        for old_kind, old in list(self._sizes):
            if self.used_bytes + more <= self.quota_bytes:
                return
            if old != name and may_go(old):
                let_go(old_kind, old)
        if self.used_bytes + more > self.quota_bytes:
            raise UserFacingError(
                f"the store in {self._where} may hold {_text(self.quota_bytes)} and needs "
                f"{_text(self.used_bytes + more)}; allow it more space"
            )


def _text(size_bytes: int) -> str:
    """Write a size for a person."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes} bytes"


log = structlog.get_logger(__name__)

HASHED_EVERY = 16
"""Pieces are hashed the first time that they are served, and once in so many times."""
READS = 16_384
"""Spans of pieces of which it is known how often they were served."""


class Store:
    """The volunteer's bytes under `folder`, at most `quota_bytes` of them.

    When the quota is reached, what was used least recently goes, except what is pinned or being
    fetched. Raises UserFacingError when the folder cannot be used or nothing may go.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self.folder = folder
        self._files = StoreFiles(folder)
        self._lock = threading.RLock()  # guards everything below
        self._stock = Stock(quota_bytes, str(folder))
        self._partials: dict[Digest, tuple[Partial, int]] = {}  # with the number of users
        self._trees = KeptTrees()
        self._reads: OrderedDict[tuple[Digest, int, int], int] = OrderedDict()  # to be served
        with self._files.translated():
            for found in self._files.prepare():
                self._stock.add(found.kind, found.name, found.size_bytes)

    @property
    def used_bytes(self) -> int:
        """What the entries take, a tree under way at its full size."""
        return self._stock.used_bytes

    @property
    def quota_bytes(self) -> int:
        """How much may be here."""
        return self._stock.quota_bytes

    def limit(self, quota_bytes: int) -> None:
        """Hold so much at most from now on; blocks. What is needed now goes when it is not.

        Raises UserFacingError when the folder cannot be used.
        """
        with self._lock, self._files.translated():
            self._stock.limit(quota_bytes, may_go=self._may_go, let_go=self._forget)

    def set_aside(self, size_bytes: int) -> None:
        """Leave so much of the quota to files that lie beside the store."""
        with self._lock:
            self._stock.set_aside(size_bytes)

    # --- trees

    def tree_path(self, root: Digest) -> Path:
        """Where the whole tree lies or will lie; counts as a use of it."""
        self._touch("trees", root)
        return self._files.path("trees", root)

    def has_tree(self, root: Digest) -> bool:
        """Whether the whole tree is here."""
        return self._files.path("trees", root).exists()

    def tree(self, root: Digest) -> Tree | None:
        """Shape and leaf hashes of a tree that is here, whole or in part."""
        with self._lock:
            tree = self._trees.get(root)
            if tree is None and ("trees", root) in self._stock:
                with self._files.translated():
                    tree = self._files.read_meta(root)
            return self._trees.keep(tree) if tree else None

    def missing_bytes(self, ref: TreeRef) -> int:
        """How much of the tree is not here; what is under way is taken at its word."""
        if ("trees", ref.root) not in self._stock:
            return ref.size_bytes
        with self._files.translated():
            held = self.held(ref.root) or self._files.read_bits(ref.root)
        there = sum(ref.span(index, 1)[1] for index, have in enumerate(held[: ref.pieces]) if have)
        return ref.size_bytes - there

    def put_tree(self, content: bytes, piece_bytes: int) -> TreeRef:
        """Write bytes into the store as a tree."""
        tree = cut_bytes(content, piece_bytes)
        self._put_tree(tree, lambda target: target.write_bytes(content))
        return tree.ref

    def put_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Copy a file into the store as a tree; `.root` of the answer is its name.

        The file must not change meanwhile.
        """
        with self._files.translated(), path.open("rb") as file:
            tree = cut_file(file, piece_bytes)
        self._put_tree(tree, lambda target: shutil.copyfile(path, target))
        return tree.ref

    def move_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Rename a file, of the same file system, into the store as a tree."""
        with self._files.translated(), path.open("rb") as file:
            tree = cut_file(file, piece_bytes)
        self._put_tree(tree, path.replace)
        path.unlink(missing_ok=True)
        return tree.ref

    def read_pieces(self, root: Digest, first: int, count: int) -> bytes | None:
        """Read `count` pieces from `first`, of a whole tree or one under way.

        None when one of them is not here or lies outside the tree.
        """
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
        """Read pieces as `read_pieces` does, and hash them the first and then every 16th time.

        None as well when they turn out to be damaged; they count as missing then.
        """
        content, tree = self.read_pieces(root, first, count), self.tree(root)
        if content is None or tree is None or not self._is_to_hash((root, first, count)):
            return content
        if hash_pieces(content, tree.ref.piece_bytes) == tree.leaves[first : first + count]:
            return content
        self.verify_tree(root)
        return None

    def held(self, root: Digest) -> bytes | None:
        """One byte per piece, 1 where it is here; None when nothing of the tree is."""
        tree = self.tree(root)
        with self._lock:
            partial, _ = self._partials.get(root, (None, 0))
        if partial is not None:
            return partial.held()
        return b"\x01" * tree.ref.pieces if tree and self.has_tree(root) else None

    def verify_tree(self, root: Digest) -> bool:
        """Hash a whole tree again; of one that was damaged on the disk the sound pieces stay."""
        tree = self.tree(root)
        if tree is None or not self.has_tree(root):
            return False
        with self._files.translated():
            try:
                with self._files.path("trees", root).open("rb") as file:
                    found = cut_file(file, tree.ref.piece_bytes).leaves
            except FileNotFoundError:  # let go, or found damaged, this very moment
                return False
        if found == tree.leaves:
            return True
        self._take_back(tree, found)
        return False

    # --- trees under way

    @contextmanager
    def open_partial(self, ref: TreeRef, leaves: Sequence[bytes]) -> Iterator[Partial]:
        """Begin or resume a tree; what is there when the block ends is kept for later.

        Pieces go in by `write_pieces`. A tree whose last piece came gets its final name when the
        block ends. Opened twice, it is one and the same object. Raises MalformedError unless the
        leaves lead to the root, and RefusedError when the whole tree is here already.
        """
        ref.check_leaves(leaves)
        partial = self.enter_partial(Tree(ref=ref, leaves=tuple(leaves)))
        try:
            yield partial
        finally:
            self.leave_partial(ref.root)

    def enter_partial(self, tree: Tree) -> Partial:
        """Do the first half of `open_partial`, for a thread to run; `leave_partial` must follow."""
        root = tree.ref.root
        with self._lock, self._files.translated():
            if self.has_tree(root):
                raise RefusedError("known-tree", f"the tree {root.hex()} is whole already")
            partial, users = self._partials.get(root) or (self._begin(tree), 0)
            self._partials[root] = (partial, users + 1)
        return partial

    def write_pieces(
        self, partial: Partial, first: int, content: bytes | bytearray | memoryview
    ) -> int:
        """Check and write whole pieces from `first`; returns how many bytes were new.

        Raises MalformedError, with nothing written, when one does not match its leaf hash.
        """
        with self._files.translated():
            return partial.write(first, content)

    def copy_pieces(self, partial: Partial, others: Iterable[Digest]) -> int:
        """Take what is missing from trees like it, where their leaf hashes agree; says how much.

        Whatever their leaf hashes say: what is copied is hashed on its way.
        """
        return sum(self._copy_from(partial, tree) for tree in map(self.tree, others) if tree)

    def leave_partial(self, root: Digest) -> None:
        """Do the second half of `open_partial`."""
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

    # --- blobs

    def has_blob(self, name: Digest) -> bool:
        """Whether the blob is here."""
        return self._files.path("blobs", name).exists()

    def blob_path(self, name: Digest) -> Path:
        """Where the blob lies or would lie; counts as a use of it."""
        self._touch("blobs", name)
        return self._files.path("blobs", name)

    def put_blob(self, content: bytes) -> Digest:
        """Write a blob; returns its name, the SHA-256."""
        name = sha256(content)
        with self._files.translated(), self._room("blobs", name, len(content)):
            if not self.has_blob(name):
                with self._files.temporary() as temporary:
                    temporary.write_bytes(content)
                    self._files.settle(temporary, "blobs", name)
        return name

    def get_blob(self, name: Digest) -> bytes | None:
        """Read a blob; None when it is not here, or is not what its name says any more."""
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

    # --- what stays and what goes

    def pin(self, name: Digest) -> None:
        """Keep the tree or blob of this name until it was unpinned as often."""
        with self._lock:
            self._stock.pin(name)

    def unpin(self, name: Digest) -> None:
        """Take one pin away."""
        with self._lock:
            self._stock.unpin(name)

    def remove(self, name: Digest) -> None:
        """Delete the tree or blob of this name, unless it is pinned or being fetched."""
        with self._lock, self._files.translated():
            for kind in self._stock.named(name):
                if self._may_go(name):
                    self._forget(kind, name)

    # --- private

    def _touch(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            path = self._files.path(kind, name)
            if self._stock.touch(kind, name) and path.exists():
                with self._files.translated():
                    os.utime(path)  # so that the order of use survives a restart

    def _is_to_hash(self, span: tuple[Digest, int, int]) -> bool:
        with self._lock:
            times = self._reads.pop(span, 0)
            self._reads[span] = times + 1
            while len(self._reads) > READS:
                self._reads.popitem(last=False)
        return times % HASHED_EVERY == 0

    @contextmanager
    def _room(self, kind: Kind, name: Digest, size_bytes: int) -> Iterator[None]:
        """Make room and count the entry, or not at all when the block fails."""
        with self._lock, self._files.translated():
            self._stock.make_room(kind, name, size_bytes, may_go=self._may_go, let_go=self._forget)
            self._stock.add(kind, name, size_bytes)
        try:
            yield
        except BaseException:
            if not self._files.path(kind, name).exists():
                self._forget(kind, name)
            raise

    def _may_go(self, name: Digest) -> bool:
        return not self._stock.is_pinned(name) and name not in self._partials

    def _forget(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            self._stock.drop(kind, name)
            self._trees.drop(name)
            self._files.delete(kind, name)

    def _put_tree(self, tree: Tree, fill: Callable[[Path], object]) -> None:
        """Give the tree a file, which `fill` puts at the path it is told."""
        ref = tree.ref
        with self._files.translated(), self._room("trees", ref.root, ref.size_bytes):
            if not self.has_tree(ref.root):
                with self._files.temporary() as temporary:
                    fill(temporary)
                    self._files.write_meta(tree)
                    self._files.settle(temporary, "trees", ref.root)
        with self._lock, self._files.translated():
            self._trees.keep(tree)
            if ref.root not in self._partials:
                self._files.finish(ref.root)  # of what was under way nothing is left

    def _begin(self, tree: Tree) -> Partial:
        ref = tree.ref
        with self._room("trees", ref.root, ref.size_bytes):
            self._files.write_meta(tree)
            content, bits = self._files.under_way(ref.root)
            partial = Partial(tree, content=content, bits=bits)
        self._trees.keep(tree)
        return partial

    def _take_back(self, tree: Tree, found: Sequence[bytes]) -> None:
        """Keep what is sound of a damaged tree; one of another length loses all."""
        held = bytes(a == b for a, b in zip(found, tree.leaves, strict=False))
        sound = held.ljust(tree.ref.pieces, b"\x00")[: tree.ref.pieces]
        root = tree.ref.root
        log.warning("a tree was damaged on the disk", tree=root.hex()[:12], pieces=sound.count(0))
        with self._lock, self._files.translated():
            if self.has_tree(root):
                self._files.take_back(root, sound)

    def _copy_from(self, partial: Partial, other: Tree) -> int:
        copied = 0
        mine, theirs = partial.tree, other.leaves
        if other.ref.root == mine.ref.root or other.ref.piece_bytes != mine.ref.piece_bytes:
            return 0
        for index in partial.missing():
            if theirs[index : index + 1] != mine.leaves[index : index + 1]:
                continue
            piece = self.read_pieces(other.ref.root, index, 1)
            leaf = (mine.leaves[index],)
            if piece and hash_pieces(piece, mine.ref.piece_bytes) == leaf:
                copied += self.write_pieces(partial, index, piece)
        return copied
