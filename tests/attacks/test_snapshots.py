"""Snapshots of a state that a ledger or a seed made up: refused in words, or exactly themselves."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tequio_client.worker.seed import NamedTrees
from tequio_shared.errors import MalformedError
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tequio_shared.statements.runs import RoundWitness
from tests.shared.test_snapshot import folded, short
from tests.support.attack_table import attack
from tests.support.attackers_bytes import garbage, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

Tree = Any  # of MessagePack
Path = tuple[int, ...]

MIB = 1 << 20
MOST_BYTES = 6 * MIB
WRONG: tuple[object, ...] = (
    *(None, True, -1, 0, 1, 7, 2**53, 2**64 - 1, -(2**63), 1.5, "", "x" * 60, "٣"),
    *(b"", bytes(31), bytes(32), bytes(33), [], [[]], [[1, 2]], {}, {"a": 1}),
)


@cache
def true() -> bytes:
    """The snapshot of two rounds."""
    swarm = short()
    return snapshot.encode(folded(swarm), len(swarm.entries))


@cache
def paths() -> list[Path]:
    """Every place in it, below the four fields of its header."""
    return [one for one in each_path(msgspec.msgpack.decode(true())) if one[:1] == (4,) != one]


def each_path(tree: Tree, above: Path = ()) -> Iterator[Path]:
    """Places in a tree, by the indices that lead there."""
    yield above
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from each_path(item, (*above, index))


def at(tree: Tree, path: Path) -> Tree:
    """The part at a place."""
    for index in path:
        tree = tree[index]
    return tree


def read(raw: bytes) -> State | None:
    """Read a snapshot that is not believed; None if it is refused, and nothing else may happen."""
    swarm = short()
    try:
        state, size = snapshot.decode(raw, swarm.genesis, swarm.blobs.__getitem__)
    except MalformedError as err:
        said = str(err)
        assert "snapshot" in said
        assert len(said) < 300
        return None
    assert snapshot.encode(state, size) == raw, "one state, one snapshot"
    return state


def changed(data: st.DataObject) -> bytes:
    """The snapshot with one place changed: another value, another place's, twice, or gone."""
    tree = msgspec.msgpack.decode(true())
    path = data.draw(st.sampled_from(paths()))
    holder, last = at(tree, path[:-1]), path[-1]
    found = holder[last]
    kind = data.draw(st.sampled_from(["value", "other", "twice", "gone", "turned", "near"]))
    if kind == "value":
        holder[last] = data.draw(st.sampled_from(WRONG))
    elif kind == "other":
        holder[last] = deepcopy(at(tree, data.draw(st.sampled_from(paths()))))
    elif kind == "twice":
        holder.insert(last, deepcopy(found))
    elif kind == "gone":
        del holder[last]
    elif isinstance(found, list):
        found.reverse()
    elif isinstance(found, bytes) and found:
        bit = data.draw(st.integers(0, 8 * len(found) - 1))
        flipped = bytearray(found)
        flipped[bit // 8] ^= 1 << bit % 8
        holder[last] = bytes(flipped)
    elif isinstance(found, int):
        holder[last] = found + data.draw(st.sampled_from([-1, 1, 4_096, 2**40]))
    return msgspec.msgpack.encode(tree)


@attack("L8", layer="env", ends="refused as malformed, or the one encoding of a state")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_changed_snapshot_is_refused_or_exactly_its_state(data: st.DataObject) -> None:
    state = read(changed(data))
    for view in state.runs.values() if state is not None else ():
        with suppress(MalformedError):
            NamedTrees.of(view, 1)  # a seed goes on with them


@attack("L8", layer="env", ends="refused as malformed, or the one encoding of a state")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_bytes_of_a_snapshot_that_were_changed_are_refused_or_its_state(
    data: st.DataObject,
) -> None:
    read(data.draw(hostile(true())))


def test_a_refused_snapshot_leaves_nothing_behind() -> None:
    swarm = short()
    fresh = State(swarm.genesis, swarm.blobs.__getitem__)
    before = snapshot.encode(fresh, 0)
    tree = msgspec.msgpack.decode(true())
    for part in range(len(tree[4])):
        wrong = deepcopy(tree)
        wrong[4][part] = [["wrong"]]
        assert read(msgspec.msgpack.encode(wrong)) is None
    assert snapshot.encode(fresh, 0) == before
    assert snapshot.encode(State(swarm.genesis, swarm.blobs.__getitem__), 0) == before
    assert read(true()) is not None


@attack("L8", layer="env", ends="refused: what is there twice is not written so")
def test_a_key_that_is_there_twice_is_refused() -> None:
    tree = msgspec.msgpack.decode(true())
    part = list(snapshot.PARTS).index("asked")
    assert tree[4][part]
    tree[4][part].append(tree[4][part][0])
    assert read(msgspec.msgpack.encode(tree)) is None


@attack("L8", layer="env", ends="refused: a set has one order")
def test_a_set_in_another_order_is_refused() -> None:
    tree = msgspec.msgpack.decode(true())
    part = list(snapshot.PARTS).index("named")
    tree[4][part] = [bytes([2]) * 32, bytes([1]) * 32]
    assert read(msgspec.msgpack.encode(tree)) is None
    tree[4][part].reverse()
    assert read(msgspec.msgpack.encode(tree)) is not None


@attack("L8", layer="env", ends="refused: a key or hash has 32 bytes")
@pytest.mark.parametrize("size", [0, 31, 33, 4_096])
def test_keys_and_hashes_of_another_length_are_refused(size: int) -> None:
    tree = msgspec.msgpack.decode(true())
    part = list(snapshot.PARTS).index("named")
    tree[4][part] = [bytes(size)]
    assert read(msgspec.msgpack.encode(tree)) is None


@attack("L8", layer="env", ends="refused before any list of that length is made")
def test_claimed_counts_take_no_memory() -> None:
    tree = msgspec.msgpack.decode(true())
    lists = [one for one in paths() if isinstance(at(tree, one), list)]
    read(true())
    tracemalloc.start()
    try:
        for path in lists[:: max(len(lists) // 40, 1)]:
            for count in (1 << 24, (1 << 32) - 1):
                assert read(counted(tree, path, count)) is None
        for _, raw in garbage(seed=12):
            read(raw)
            read(header() + raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES


def test_deep_nesting_is_refused() -> None:
    for one in (b"\x91", b"\x81\x01", b"\xdd\x00\x00\x00\x01"):
        assert read(one * 100_000) is None
        assert read(header() + one * 100_000) is None


def header() -> bytes:
    """The bytes before the parts of a state."""
    (*fields, _) = msgspec.msgpack.decode(true())
    return b"\x95" + b"".join(map(msgspec.msgpack.encode, fields))


def counted(tree: Tree, path: Path, count: int) -> bytes:
    """The snapshot in which a list claims that many items."""
    if not path:
        return b"\xdd" + count.to_bytes(4, "big") + b"".join(map(msgspec.msgpack.encode, tree))
    index, *rest = path
    items = [msgspec.msgpack.encode(one) for one in tree]
    items[index] = counted(tree[index], tuple(rest), count)
    return b"\xdd" + len(items).to_bytes(4, "big") + b"".join(items)


@attack("L8", layer="mdl", ends="the seed reads the whole log instead")
@pytest.mark.parametrize("k", [0, 5, 2**40])
def test_a_header_that_no_trainer_makes_names_no_tree(k: int) -> None:
    """A snapshot is the ledger's word, and a seed would ask for a payload of that size."""
    swarm = short()
    ended = next(
        index
        for index, entry in enumerate(swarm.entries)
        if isinstance(entry.statement.body, RoundWitness)
    )
    state = folded(swarm, ended)
    (view,) = state.runs.values()
    assert view.round is not None
    commitments = view.round.commitments
    slot, found = next(iter(commitments.items()))
    assert NamedTrees.of(view, 1).works
    commitments[slot] = replace(found, header=replace(found.header, k=k))
    lying = read(snapshot.encode(state, ended))
    assert lying is not None
    (view,) = lying.runs.values()
    with pytest.raises(MalformedError, match="does not allow"):
        NamedTrees.of(view, 1)
