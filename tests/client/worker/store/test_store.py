"""The store keeps what is whole and checked, and nothing else, whatever happens."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.store.files import NoRoomError
from tequio_client.worker.store.store import HASH_INTERVAL, Store, StorePins
from tequio_client.worker.store.trees import FLUSH_BYTES, MerkleBlob, TreeRef, hash_bytes
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.ids import Digest, sha256
from tequio_shared.log.merkle import root
from tests.support.partial_trees import flip, open_partial

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = bytes(range(256)) * 40  # 10240 bytes: ten pieces of 1000 and one of 240
PIECE = 1000


def store_in(folder: Path, quota_bytes: int = 1_000_000) -> Store:
    return Store(folder / "store", quota_bytes=quota_bytes)


def pieces_of(content: bytes) -> list[bytes]:
    return [content[at : at + PIECE] for at in range(0, len(content), PIECE)]


def test_a_tree_is_named_by_the_merkle_root_over_its_pieces(tmp_path: Path) -> None:
    ref = store_in(tmp_path).put_tree(CONTENT, PIECE)
    assert ref == TreeRef(root=root(pieces_of(CONTENT)), size_bytes=10_240, piece_bytes=PIECE)
    assert ref.pieces == 11


def test_a_tree_can_be_read_whole_and_by_pieces(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref = store.put_tree(CONTENT, PIECE)
    assert store.tree_path(ref.root).read_bytes() == CONTENT
    assert store.read_pieces(ref.root, 3, 2) == CONTENT[3000:5000]
    assert store.read_pieces(ref.root, 10, 1) == CONTENT[10_000:]
    assert store.held_pieces(ref.root) == b"\x01" * 11


@pytest.mark.parametrize(("first", "count"), [(10, 2), (11, 1), (0, 0), (-1, 1)])
def test_pieces_outside_a_tree_are_not_there(tmp_path: Path, first: int, count: int) -> None:
    store = store_in(tmp_path)
    assert store.read_pieces(store.put_tree(CONTENT, PIECE).root, first, count) is None


def test_a_file_is_copied_or_moved_into_the_store(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    kept, moved = tmp_path / "kept", tmp_path / "moved"
    kept.write_bytes(CONTENT)
    moved.write_bytes(CONTENT[::-1])
    assert store.put_tree_file(kept, PIECE) == hash_bytes(CONTENT, PIECE).ref
    assert store.has_tree(store.move_tree_file(moved, PIECE).root)
    assert kept.exists()
    assert not moved.exists()


def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref, blob = store.put_tree(CONTENT, PIECE), store.put_blob(b"blob")
    again = store_in(tmp_path)
    assert again.tree(ref.root) == hash_bytes(CONTENT, PIECE)
    assert again.get_blob(blob) == b"blob"
    assert again.used_bytes == len(CONTENT) + 4


def test_what_is_put_in_again_is_counted_once(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for _ in range(2):
        store.put_tree(CONTENT, PIECE)
        store.put_blob(b"blob")
    assert store.used_bytes == len(CONTENT) + 4


def test_the_content_of_the_store_cannot_be_written_by_accident(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = store.tree_path(store.put_tree(CONTENT, PIECE).root)
    assert path.stat().st_mode & 0o222 == 0


def test_a_piece_counts_only_when_it_matches_its_leaf_hash(tmp_path: Path) -> None:
    store, tree = store_in(tmp_path), hash_bytes(CONTENT, PIECE)
    with open_partial(store, tree) as partial:
        with pytest.raises(MalformedError):
            store.write_pieces(partial, 0, CONTENT[1000:2000])
        with pytest.raises(MalformedError):
            store.write_pieces(partial, 0, CONTENT[:999])
        with pytest.raises(MalformedError):
            store.write_pieces(partial, 10, CONTENT[10_000:] + CONTENT[:760])
        assert len(partial.missing_pieces()) == 11


def test_leaf_hashes_that_do_not_lead_to_the_root_are_refused() -> None:
    tree = hash_bytes(CONTENT, PIECE)
    wrong = (tree.leaves[1], tree.leaves[0], *tree.leaves[2:])
    with pytest.raises(MalformedError):
        tree.ref.check_leaves(wrong)


def test_a_partial_tree_serves_what_it_has_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    store, tree = store_in(tmp_path), hash_bytes(CONTENT, PIECE)
    with open_partial(store, tree) as partial:
        assert store.write_pieces(partial, 2, CONTENT[2000:5000]) == 3000
        assert store.write_pieces(partial, 4, CONTENT[4000:6000]) == 1000
        assert store.read_pieces(tree.ref.root, 3, 2) == CONTENT[3000:5000]
        assert store.read_pieces(tree.ref.root, 1, 2) is None
        assert store.held_pieces(tree.ref.root) == bytes([0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    assert not store.has_tree(tree.ref.root)
    again = store_in(tmp_path)
    with open_partial(again, tree) as partial:
        assert partial.missing_pieces() == [0, 1, 6, 7, 8, 9, 10]
        again.write_pieces(partial, 0, CONTENT[:2000])
        again.write_pieces(partial, 6, CONTENT[6000:])
    assert again.tree_path(tree.ref.root).read_bytes() == CONTENT
    assert sorted(path.suffix for path in (tmp_path / "store/trees").glob("??/*")) == ["", ".meta"]


def test_what_a_partial_claims_is_hashed_again_in_the_next_life(tmp_path: Path) -> None:
    store, tree = store_in(tmp_path), hash_bytes(CONTENT, PIECE)
    with open_partial(store, tree) as partial:
        store.write_pieces(partial, 0, CONTENT[:3000])
    (part,) = (tmp_path / "store/trees").glob("??/*.part")
    with part.open("r+b") as file:
        file.seek(1500)
        file.write(b"lost page")
    with open_partial(store_in(tmp_path), tree) as partial:
        assert partial.missing_pieces()[0] == 1
        assert 2 not in partial.missing_pieces()


def test_a_tree_larger_than_what_waits_for_the_disk_comes_out_whole(tmp_path: Path) -> None:
    content = bytes(FLUSH_BYTES) + random.Random(5).randbytes(3 << 20)
    store, tree = Store(tmp_path, quota_bytes=1 << 30), hash_bytes(content, 1 << 20)
    with open_partial(store, tree) as partial:
        for first in range(tree.ref.pieces):
            start, length = tree.ref.span(first, 1)
            store.write_pieces(partial, first, content[start : start + length])
        assert partial.is_whole
    assert store.tree_path(tree.ref.root).read_bytes() == content


def test_two_users_of_a_partial_share_it_and_either_may_complete_it(tmp_path: Path) -> None:
    store, tree = store_in(tmp_path), hash_bytes(CONTENT, PIECE)
    first, second = store.acquire_partial(tree), store.acquire_partial(tree)
    assert first is second
    store.write_pieces(first, 0, CONTENT)
    store.release_partial(tree.ref.root)
    assert store.has_tree(tree.ref.root)
    assert store.write_pieces(second, 0, CONTENT[:1000]) == 0
    store.release_partial(tree.ref.root)
    with pytest.raises(RefusedError):
        store.acquire_partial(tree)


KILLED = """
import sys, pathlib
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
content = bytes(range(256)) * 40
tree = hash_bytes(content, 1000)
store = Store(pathlib.Path(sys.argv[1]), quota_bytes=10**6)
partial = store.acquire_partial(tree)
store.write_pieces(partial, 0, content[:4000])
(pathlib.Path(sys.argv[1]) / "temp" / "half").write_bytes(b"half a file")
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_killed_process_leaves_a_store_that_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGKILL)
    store, tree = store_in(tmp_path), hash_bytes(CONTENT, PIECE)
    assert not list((folder / "temp").iterdir())
    with open_partial(store, tree) as partial:
        assert partial.missing_pieces() == list(range(4, 11))


def test_what_was_used_least_recently_goes_when_the_quota_is_reached(tmp_path: Path) -> None:
    store = store_in(tmp_path, quota_bytes=3000)
    a, b, c = (store.put_blob(bytes([n]) * 1000) for n in range(3))
    store.get_blob(a)
    d = store.put_blob(b"d" * 1000)
    assert [store.has_blob(name) for name in (a, b, c, d)] == [True, False, True, True]
    assert store.used_bytes == 3000


def test_the_order_of_use_survives_a_restart(tmp_path: Path) -> None:
    store = store_in(tmp_path, quota_bytes=3000)
    a, b, _ = (store.put_blob(bytes([n]) * 1000) for n in range(3))
    for at_s, name in enumerate((a, b), 1000):
        os.utime(store.blob_path(name), (at_s, at_s))
    store.get_blob(a)
    again = store_in(tmp_path, quota_bytes=3000)
    again.put_blob(b"d" * 1000)
    assert again.has_blob(a)
    assert not again.has_blob(b)


def test_what_is_pinned_or_being_fetched_stays(tmp_path: Path) -> None:
    store = store_in(tmp_path, quota_bytes=len(CONTENT) + 1000)
    pinned, tree = store.put_blob(b"p" * 1000), hash_bytes(CONTENT, PIECE)
    store.pin(pinned)
    with open_partial(store, tree):
        with pytest.raises(UserFacingError, match="allow it more space"):
            store.put_blob(b"one too many")
        store.remove(pinned)
        assert store.has_blob(pinned)
        store.unpin(pinned)
        store.remove(pinned)
        assert not store.has_blob(pinned)
    assert store.used_bytes == len(CONTENT)


def test_more_than_the_quota_is_refused_in_one_sentence(tmp_path: Path) -> None:
    store = store_in(tmp_path, quota_bytes=100)
    with pytest.raises(UserFacingError, match="needs 900 B more than the 100 B it may hold"):
        store.put_blob(b"x" * 1000)
    assert store.used_bytes == 0


def test_what_cannot_be_made_to_fit_drives_nothing_out(tmp_path: Path) -> None:
    store = store_in(tmp_path, quota_bytes=3000)
    pinned, *others = (store.put_blob(bytes([n]) * 1000) for n in range(3))
    store.pin(pinned)
    tree = hash_bytes(bytes(2001), PIECE)
    with pytest.raises(NoRoomError, match="needs 1 B more than the 3 kB"):
        store.acquire_partial(tree)
    assert all(map(store.has_blob, others))
    store.unpin(pinned)
    with open_partial(store, tree):
        assert [store.has_blob(name) for name in (pinned, *others)] == [False] * 3


def test_a_full_disk_is_told_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(tmp_path)

    def fsync(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UserFacingError, match=r"the disk that holds .* is full"):
        store.put_blob(b"x" * 1000)
    with pytest.raises(UserFacingError, match=r"the disk that holds .* is full"):
        store.put_tree(CONTENT, PIECE)
    monkeypatch.undo()
    assert store.used_bytes == 0
    assert not list((tmp_path / "store/temp").iterdir())
    assert store.has_blob(store.put_blob(b"x" * 1000))


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file where the folder should be")
    with pytest.raises(UserFacingError, match="cannot use the store"):
        store_in(tmp_path)


def test_a_damaged_blob_is_dropped_not_returned(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    name = store.put_blob(b"blob")
    path = store.blob_path(name)
    path.chmod(0o644)
    path.write_bytes(b"glob")
    assert store.get_blob(name) is None
    assert not store.has_blob(name)


def test_a_damaged_tree_is_found_by_verifying_it(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref = store.put_tree(CONTENT, PIECE)
    assert store.verify_tree(ref.root)
    path = store.tree_path(ref.root)
    path.chmod(0o644)
    path.write_bytes(CONTENT[::-1])
    assert not store.verify_tree(ref.root)
    assert not store.has_tree(ref.root)


def test_of_a_damaged_tree_the_sound_pieces_stay_also_after_a_restart(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref = store.put_tree(CONTENT, PIECE)
    flip(store.tree_path(ref.root), 4321)
    assert not store.verify_tree(ref.root)
    assert store.read_pieces(ref.root, 4, 1) is None
    for again in (store, store_in(tmp_path)):
        assert again.missing_bytes(ref) == PIECE
        assert again.used_bytes == len(CONTENT)
    tree = again.tree(ref.root)
    assert tree is not None
    with open_partial(again, tree) as partial:
        assert partial.missing_pieces() == [4]
        assert again.write_pieces(partial, 4, CONTENT[4000:5000]) == PIECE
    assert again.verify_tree(ref.root)


def test_what_two_trees_have_in_common_is_copied_and_hashed_on_its_way(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    other = bytearray(CONTENT)
    other[2500] ^= 1
    mine = store.put_tree(bytes(other), PIECE)
    flip(store.tree_path(mine.root), 7000)  # not even what its own leaf hashes say
    tree = hash_bytes(CONTENT, PIECE)
    with open_partial(store, tree) as partial:
        strange = store.put_tree(CONTENT, 2 * PIECE)
        copied = store.copy_pieces(partial, [strange.root, sha256(b"not here"), mine.root])
        assert partial.missing_pieces() == [2, 7]
        assert copied == len(CONTENT) - 2 * PIECE


def test_pieces_to_be_served_are_hashed_now_and_then(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref = store.put_tree(CONTENT, PIECE)
    assert store.sound_pieces(ref.root, 2, 3) == CONTENT[2000:5000]
    flip(store.tree_path(ref.root), 4321)
    given = [store.sound_pieces(ref.root, 2, 3) for _ in range(HASH_INTERVAL)]
    assert all(given[:-1])
    assert given[-1] is None
    assert store.missing_bytes(ref) == PIECE
    assert store.sound_pieces(ref.root, 2, 3) is None


def test_leftovers_without_a_description_are_cleaned_away(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    ref = store.put_tree(CONTENT, PIECE)
    meta = store.tree_path(ref.root).with_name(ref.root.hex() + ".meta")
    meta.unlink()
    again = store_in(tmp_path)
    assert not again.has_tree(ref.root)
    assert again.used_bytes == 0


@pytest.mark.parametrize("name", [".DS_Store", ".directory", "Thumbs.db", "desktop.ini"])
def test_a_file_that_a_file_manager_leaves_is_left_alone(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path, quota_bytes=10**6)
    paths = store.tree_path(store.put_tree(b"tree", 4).root), store.blob_path(store.put_blob(b"b"))
    for path in paths:
        path.with_name(name).write_bytes(b"icons")
    Store(tmp_path, quota_bytes=10**6).set_quota(0)
    assert not any(path.exists() for path in paths)
    assert all(path.with_name(name).exists() for path in paths)


def test_a_blob_can_be_read_in_parts(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    name = store.put_blob(b"0123456789")
    assert store.read_blob(name, 3, 4) == (10, b"3456")
    assert store.read_blob(name, 8, 4) == (10, b"89")
    assert store.read_blob(name, 20, 4) == (10, b"")
    assert store.read_blob(sha256(b"other"), 0, 4) is None


@pytest.mark.parametrize(("size", "piece"), [(0, 10), (10, 0), (10, 2**20 + 1)])
def test_a_tree_without_content_or_with_huge_pieces_is_no_tree(size: int, piece: int) -> None:
    with pytest.raises(MalformedError):
        TreeRef(root=Digest(bytes(32)), size_bytes=size, piece_bytes=piece)


def test_the_description_of_a_tree_is_checked_against_its_root() -> None:
    tree = hash_bytes(CONTENT, PIECE)
    assert MerkleBlob.parse(tree.encode(), tree.ref.root) == tree
    for raw in (b"", tree.encode()[:-1], b"X" + tree.encode()[1:]):
        with pytest.raises(MalformedError):
            MerkleBlob.parse(raw, tree.ref.root)
    with pytest.raises(MalformedError):
        MerkleBlob.parse(tree.encode(), sha256(b"another"))


def test_leaf_hashes_of_large_trees_do_not_fill_the_memory(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    tracemalloc.start()
    try:
        roots = [store.put_tree(bytes([number]) * 40_000, 1).root for number in range(10)]
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept_bytes < 16 << 20  # all of them: 28 MiB
    assert [len(tree.leaves) for tree in map(store.tree, roots) if tree] == [40_000] * 10


def test_a_run_that_is_left_gives_back_its_pins_and_its_room_and_no_other_runs(
    tmp_path: Path,
) -> None:
    store = store_in(tmp_path, quota_bytes=100_000)
    one, both = (store.put_blob(bytes([at]) * 1_000) for at in range(2))
    left, other = StorePins(store), StorePins(store)
    for name in (one, both, both):
        left.pin(name)
    left.unpin(both)
    other.pin(both)
    left.reserve(30_000)
    other.reserve(20_000)
    assert store.quota_bytes == 50_000
    left.close()
    left.close()
    assert store.quota_bytes == 80_000
    for name in (one, both):
        store.remove(name)
    assert (store.has_blob(one), store.has_blob(both)) == (False, True)


def test_a_smaller_quota_lets_the_least_recently_used_go_and_nothing_that_is_pinned(
    tmp_path: Path,
) -> None:
    store = store_in(tmp_path)
    roots = [store.put_tree(bytes([at]) * 10_000, PIECE).root for at in range(5)]
    store.pin(roots[0])
    store.set_quota(25_000)
    assert [store.has_tree(one) for one in roots] == [True, False, False, False, True]
    assert store.used_bytes <= 25_000
    store.set_quota(5_000)
    assert [store.has_tree(one) for one in roots] == [True, False, False, False, False]
    store.set_quota(1_000_000)
    store.put_tree(CONTENT, PIECE)
    assert store.has_tree(roots[0])


def test_what_is_set_aside_stays_aside_under_another_quota(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.reserve(20_000)
    store.set_quota(25_000)
    store.put_tree(bytes(4_000), PIECE)
    with pytest.raises(UserFacingError, match="the 5 kB it may hold"):
        store.put_tree(CONTENT, PIECE)
