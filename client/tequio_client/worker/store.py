"""The content-addressed store: trees of pieces and blobs, on disk, under a quota.

A file has its final name only once it is whole, checked and on the disk:

    trees/<2 hex>/<root hex>         the whole content, read-only
    trees/<2 hex>/<root hex>.meta    size, piece size and leaf hashes
    trees/<2 hex>/<root hex>.part    a tree under way, and
    trees/<2 hex>/<root hex>.bits    which of its pieces were written (a hint)
    blobs/<2 hex>/<sha256 hex>       the whole content, read-only
    temp/                            files on their way to a name; emptied at the start

All methods are synchronous and safe to call from several threads; in the event loop use
`trio.to_thread.run_sync`. Errors of the disk come out as UserFacingError.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import structlog

from tequio_client.worker.partial import Partial
from tequio_client.worker.trees import Tree, TreeRef, cut_bytes, cut_file
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.ids import Digest, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

log = structlog.get_logger(__name__)

Kind = Literal["trees", "blobs"]

LEAF_LISTS = 256
"""Leaf lists kept in memory; the largest heads have some thousand hashes each."""
_ENDINGS = ("", ".part", ".bits", ".meta")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Store:
    """The volunteer's bytes under `folder`, at most `quota_bytes` of them.

    When the quota is reached, what was used least recently goes, except what is pinned or being
    fetched. Raises UserFacingError when the folder cannot be used or nothing may go.
    """

    def __init__(self, folder: Path, *, quota_bytes: int) -> None:
        self._folder = folder
        self._quota_bytes = quota_bytes
        self._lock = threading.RLock()  # guards everything below
        self._sizes: OrderedDict[tuple[Kind, Digest], int] = OrderedDict()  # oldest use first
        self._used = 0
        self._pins: dict[Digest, int] = {}
        self._partials: dict[Digest, tuple[Partial, int]] = {}  # with the number of users
        self._trees: OrderedDict[Digest, Tree] = OrderedDict()
        self._temporary = 0
        with self._disk():
            self._prepare()

    @property
    def used_bytes(self) -> int:
        """What the entries take, a tree under way at its full size."""
        return self._used

    def tree_path(self, root: Digest) -> Path:
        """Where the whole tree lies or will lie; counts as a use of it."""
        self._touch("trees", root)
        return self._path("trees", root)

    def has_tree(self, root: Digest) -> bool:
        """Whether the whole tree is here."""
        return self._path("trees", root).exists()

    def tree(self, root: Digest) -> Tree | None:
        """Shape and leaf hashes of a tree that is here, whole or in part."""
        with self._lock:
            tree = self._trees.get(root)
            if tree is None and ("trees", root) in self._sizes:
                with self._disk():
                    tree = _read_meta(_beside(self._path("trees", root), ".meta"), root)
            return self._keep_leaves(tree) if tree else None

    def put_tree(self, content: bytes, piece_bytes: int) -> TreeRef:
        """Write bytes into the store as a tree."""
        tree = cut_bytes(content, piece_bytes)
        self._put_tree(tree, lambda target: target.write_bytes(content))
        return tree.ref

    def put_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Copy a file into the store as a tree; `.root` of the answer is its name.

        The file must not change meanwhile.
        """
        with self._disk(), path.open("rb") as file:
            tree = cut_file(file, piece_bytes)
        self._put_tree(tree, lambda target: shutil.copyfile(path, target))
        return tree.ref

    def move_tree_file(self, path: Path, piece_bytes: int) -> TreeRef:
        """Rename a file, of the same file system, into the store as a tree."""
        with self._disk(), path.open("rb") as file:
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
        with self._disk():
            with self._lock:
                partial, _ = self._partials.get(root, (None, 0))
                if partial is not None:
                    return partial.read(first, count)
            self._touch("trees", root)
            return _read_span(self._path("trees", root), *tree.ref.span(first, count))

    def held(self, root: Digest) -> bytes | None:
        """One byte per piece, 1 where it is here; None when nothing of the tree is."""
        tree = self.tree(root)
        with self._lock:
            partial, _ = self._partials.get(root, (None, 0))
        if partial is not None:
            return partial.held()
        return b"\x01" * tree.ref.pieces if tree and self.has_tree(root) else None

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
        with self._lock, self._disk():
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
        with self._disk():
            return partial.write(first, content)

    def leave_partial(self, root: Digest) -> None:
        """Do the second half of `open_partial`."""
        with self._lock, self._disk():
            partial, users = self._partials.pop(root, (None, 0))
            if partial is None:
                return  # another user completed it and left
            if partial.is_whole:
                partial.close()
                self._finish(root)
            elif users > 1:
                self._partials[root] = (partial, users - 1)
            else:
                partial.close()

    def has_blob(self, name: Digest) -> bool:
        """Whether the blob is here."""
        return self._path("blobs", name).exists()

    def blob_path(self, name: Digest) -> Path:
        """Where the blob lies or would lie; counts as a use of it."""
        self._touch("blobs", name)
        return self._path("blobs", name)

    def put_blob(self, content: bytes) -> Digest:
        """Write a blob; returns its name, the SHA-256."""
        name = sha256(content)
        with self._disk(), self._room("blobs", name, len(content)):
            if not self.has_blob(name):
                with self._temporary_file() as temporary:
                    temporary.write_bytes(content)
                    self._settle(temporary, self._path("blobs", name))
        return name

    def get_blob(self, name: Digest) -> bytes | None:
        """Read a blob; None when it is not here, or is not what its name says any more."""
        self._touch("blobs", name)
        with self._disk():
            content = _read_all(self._path("blobs", name))
        if content is None or sha256(content) == name:
            return content
        log.warning("a blob was damaged on the disk and is dropped", blob=name.hex())
        with self._disk():
            self._forget("blobs", name)
        return None

    def read_blob(self, name: Digest, offset: int, most_bytes: int) -> tuple[int, bytes] | None:
        """Read the blob's size and a part of it, unchecked; None when it is not here."""
        self._touch("blobs", name)
        path = self._path("blobs", name)
        with self._disk():
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                return None
            part = _read_span(path, offset, max(0, min(most_bytes, size - offset)))
        return None if part is None else (size, part)

    def pin(self, name: Digest) -> None:
        """Keep the tree or blob of this name until it was unpinned as often."""
        with self._lock:
            self._pins[name] = self._pins.get(name, 0) + 1

    def unpin(self, name: Digest) -> None:
        """Take one pin away."""
        with self._lock:
            self._pins[name] = self._pins.get(name, 0) - 1
            if self._pins[name] <= 0:
                del self._pins[name]

    def remove(self, name: Digest) -> None:
        """Delete the tree or blob of this name, unless it is pinned or being fetched."""
        with self._lock, self._disk():
            for kind, digest in [entry for entry in self._sizes if entry[1] == name]:
                if self._may_go(digest):
                    self._forget(kind, digest)

    def verify_tree(self, root: Digest) -> bool:
        """Hash a whole tree again; one that was damaged on the disk is dropped."""
        tree = self.tree(root)
        if tree is None or not self.has_tree(root):
            return False
        with self._disk(), self._path("trees", root).open("rb") as file:
            sound = cut_file(file, tree.ref.piece_bytes).leaves == tree.leaves
        if not sound:
            log.warning("a tree was damaged on the disk and is dropped", tree=root.hex())
            with self._disk():
                self._forget("trees", root)
        return sound

    def _prepare(self) -> None:
        for name in ("trees", "blobs", "temp"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        for leftover in (self._folder / "temp").iterdir():
            _delete(leftover)
        found = [*self._scan("trees"), *self._scan("blobs")]
        for _, kind, digest, size in sorted(found, key=lambda entry: entry[0]):
            self._sizes[kind, digest] = size
            self._used += size

    def _scan(self, kind: Kind) -> Iterator[tuple[int, Kind, Digest, int]]:
        """Find what an earlier life left, and delete what cannot be used."""
        stems = {path.name.partition(".")[0] for path in (self._folder / kind).glob("??/*")}
        for stem in stems:
            name = Digest(bytes.fromhex(stem))
            usable = self._usable(kind, name)
            if usable is None:
                self._delete_files(kind, name)
            else:
                stat = usable.stat()
                yield stat.st_mtime_ns, kind, name, stat.st_size

    def _usable(self, kind: Kind, name: Digest) -> Path | None:
        path = self._path(kind, name)
        if kind == "blobs":
            return path
        tree = _read_meta(_beside(path, ".meta"), name)
        for found in (path, _beside(path, ".part")):
            if tree and found.exists() and found.stat().st_size == tree.ref.size_bytes:
                return found
        return None

    def _path(self, kind: Kind, name: Digest) -> Path:
        text = name.hex()
        return self._folder / kind / text[:2] / text

    def _touch(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            if (kind, name) not in self._sizes or next(reversed(self._sizes)) == (kind, name):
                return
            self._sizes.move_to_end((kind, name))
            path = self._path(kind, name)
            if path.exists():
                with self._disk():
                    os.utime(path)  # so that the order of use survives a restart

    def _keep_leaves(self, tree: Tree) -> Tree:
        self._trees[tree.ref.root] = tree
        self._trees.move_to_end(tree.ref.root)
        while len(self._trees) > LEAF_LISTS:
            self._trees.popitem(last=False)
        return tree

    @contextmanager
    def _room(self, kind: Kind, name: Digest, size_bytes: int) -> Iterator[None]:
        """Make room and count the entry, or not at all when the block fails."""
        with self._lock, self._disk():
            old = self._sizes.get((kind, name), 0)
            self._make_room(size_bytes - old, keep=name)
            self._sizes[kind, name] = size_bytes
            self._sizes.move_to_end((kind, name))
            self._used += size_bytes - old
        try:
            yield
        except BaseException:
            if not self._path(kind, name).exists():
                self._forget(kind, name)
            raise

    def _make_room(self, size_bytes: int, keep: Digest) -> None:
        for kind, name in list(self._sizes):
            if self._used + size_bytes <= self._quota_bytes:
                return
            if name != keep and self._may_go(name):
                self._forget(kind, name)
        if self._used + size_bytes > self._quota_bytes:
            raise UserFacingError(
                f"the store in {self._folder} may hold {_text(self._quota_bytes)} and needs "
                f"{_text(self._used + size_bytes)}; allow it more space"
            )

    def _may_go(self, name: Digest) -> bool:
        return name not in self._pins and name not in self._partials

    def _forget(self, kind: Kind, name: Digest) -> None:
        with self._lock:
            self._used -= self._sizes.pop((kind, name), 0)
            self._trees.pop(name, None)
            self._delete_files(kind, name)

    def _delete_files(self, kind: Kind, name: Digest) -> None:
        for ending in _ENDINGS if kind == "trees" else ("",):
            _delete(_beside(self._path(kind, name), ending))

    def _put_tree(self, tree: Tree, fill: Callable[[Path], object]) -> None:
        """Give the tree a file, which `fill` puts at the path it is told."""
        ref = tree.ref
        with self._disk(), self._room("trees", ref.root, ref.size_bytes):
            if not self.has_tree(ref.root):
                with self._temporary_file() as temporary:
                    fill(temporary)
                    self._write_meta(tree)
                    self._settle(temporary, self._path("trees", ref.root))
        with self._lock:
            self._keep_leaves(tree)

    def _begin(self, tree: Tree) -> Partial:
        ref = tree.ref
        with self._room("trees", ref.root, ref.size_bytes):
            self._write_meta(tree)
            path = self._path("trees", ref.root)
            partial = Partial(tree, content=_beside(path, ".part"), bits=_beside(path, ".bits"))
        self._keep_leaves(tree)
        return partial

    def _finish(self, root: Digest) -> None:
        path = self._path("trees", root)
        if not path.exists():
            self._settle(_beside(path, ".part"), path)
        _delete(_beside(path, ".part"))
        _delete(_beside(path, ".bits"))

    def _write_meta(self, tree: Tree) -> None:
        target = _beside(self._path("trees", tree.ref.root), ".meta")
        if not target.exists():
            with self._temporary_file() as temporary:
                temporary.write_bytes(tree.encode())
                self._settle(temporary, target)

    @contextmanager
    def _temporary_file(self) -> Iterator[Path]:
        with self._lock:
            self._temporary += 1
            path = self._folder / "temp" / str(self._temporary)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _settle(self, source: Path, target: Path) -> None:
        """Bring a file to the disk, then to its name."""
        target.parent.mkdir(exist_ok=True)
        with source.open("r+b") as file:
            os.fsync(file.fileno())
        source.replace(target)
        target.chmod(0o444)
        _sync_folder(target.parent)

    @contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as err:
            message = f"cannot use the store in {self._folder}: {err.strerror or err}"
            if err.errno in _FULL:
                message = f"the disk that holds {self._folder} is full; free some space on it"
            raise UserFacingError(message) from err


def _read_meta(path: Path, root: Digest) -> Tree | None:
    raw = _read_all(path)
    try:
        return None if raw is None else Tree.parse(raw, root)
    except MalformedError:
        return None


def _read_all(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _read_span(path: Path, start: int, length: int) -> bytes | None:
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            content = file.read(length)
    except FileNotFoundError:
        return None
    return content if len(content) == length else None


def _delete(path: Path) -> None:
    if path.exists():
        path.chmod(0o644)  # Windows deletes no read-only file
        path.unlink(missing_ok=True)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _sync_folder(path: Path) -> None:
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened, and renames are ordered
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _text(size_bytes: int) -> str:
    """Write a size for a person."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes} bytes"
