"""Snapshots of a state: the same bytes for every reader, and the same state from the bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.schedule import SNAPSHOTS, SnapshotSchedule
from tequio_shared.network.standing import KeyStatus, Standing
from tequio_shared.served import snapshot
from tequio_shared.served.snapshot import OtherLayoutError
from tequio_shared.served.state import State
from tequio_shared.statements.network import LogSnapshot
from tests.shared.test_network_view import played
from tests.shared.test_second_audits import mixed_swarm

if TYPE_CHECKING:
    from tests.support.memory_swarm import Swarm

REBUILT = frozenset(
    {"genesis", "net", "documents", "founders", "team_orders"}
    | {"_gate", "_coordinator", "_check_proof"}
)
"""Attributes that follow from the genesis, the reader and the other attributes."""
PRINT_DIGEST = """
from tests.shared.test_snapshot import folded, short
from tequio_shared.ids import sha256
from tequio_shared.served import snapshot
print(sha256(snapshot.encode(folded(short()), len(short().entries))).hex())
"""


@cache
def short() -> Swarm:
    """Two rounds of three members."""
    return played()


@cache
def long() -> Swarm:
    """Members that cheat, are audited and quarantined."""
    swarm = mixed_swarm(7, 3, most=12)
    swarm.run()
    return swarm


def folded(swarm: Swarm, end: int | None = None) -> State:
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    for index, entry in enumerate(swarm.entries[:end]):
        state.apply(index, entry, 0)
    return state


def decoded(swarm: Swarm, raw: bytes) -> State:
    state, _ = snapshot.decode(raw, swarm.genesis, swarm.blobs.__getitem__)
    return state


@pytest.mark.parametrize("of", [short, long])
def test_from_every_entry_on_a_snapshot_leads_to_the_state_of_the_whole_log(of: object) -> None:
    assert callable(of)
    swarm: Swarm = of()
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    from_snapshot = state
    for index, entry in enumerate(swarm.entries):
        state.apply(index, entry, 0)
        from_snapshot.apply(index, entry, 0) if from_snapshot is not state else None
        raw = snapshot.encode(state, index + 1)
        assert snapshot.encode(from_snapshot, index + 1) == raw, index
        from_snapshot = decoded(swarm, raw)
        for name, value in vars(state).items():
            if name in REBUILT:
                continue
            assert getattr(from_snapshot, name) == value, (index, name)


def test_the_audited_log_has_what_a_snapshot_must_hold() -> None:
    state = folded(long())
    (run,) = state.runs.values()
    assert run.accounts.audits.watched or run.accounts.audits.cases or state.standings.gains
    assert Standing.SUSPECTED in {one.standing for one in state.standings.records.values()}


def test_every_part_of_a_state_is_in_a_snapshot_or_rebuilt() -> None:
    parts = vars(folded(short())).keys()
    assert parts == snapshot.PARTS.keys() | REBUILT


def test_the_bytes_do_not_depend_on_the_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {sha256(snapshot.encode(folded(short()), len(short().entries))).hex()}


def test_a_state_with_another_field_is_another_layout() -> None:
    raw = snapshot.encode(folded(short()), len(short().entries))
    magic, layout, *rest = msgspec.msgpack.decode(raw)
    other = msgspec.msgpack.encode((magic, bytes(32), *rest))
    assert layout == snapshot.layout()
    with pytest.raises(OtherLayoutError, match="another version of Tequio"):
        decoded(short(), other)


def test_the_layout_names_every_field_of_records_and_runs() -> None:
    text = snapshot.describe_layout()
    for one in fields(FullRunView):
        assert one.name in text or one.name in ("net", "manifest", "check_proof")
    for one in fields(KeyStatus):
        assert one.name in text or one.name in ("links", "_queue")


@pytest.mark.parametrize("cut", [0, 1, 40, 200, -1])
def test_bytes_that_are_no_snapshot_are_malformed(cut: int) -> None:
    raw = snapshot.encode(folded(short()), len(short().entries))
    with pytest.raises(MalformedError):
        decoded(short(), raw[:cut])


def test_parts_of_wrong_types_are_malformed() -> None:
    raw = snapshot.encode(folded(short()), len(short().entries))
    *head, parts = msgspec.msgpack.decode(raw)
    for number in range(len(parts)):
        wrong = [*parts[:number], "text", *parts[number + 1 :]]
        with pytest.raises(MalformedError, match="cannot be read"):
            decoded(short(), msgspec.msgpack.encode((*head, wrong)))


def test_a_snapshot_of_another_network_is_refused() -> None:
    raw = snapshot.encode(folded(short()), 1)
    magic, layout, _, *rest = msgspec.msgpack.decode(raw)
    with pytest.raises(MalformedError, match="another network"):
        decoded(short(), msgspec.msgpack.encode((magic, layout, bytes(32), *rest)))


# --- When snapshots are due.


def body(size: int) -> LogSnapshot:
    return LogSnapshot(layout=to_text(bytes(32)), size=size, state=to_text(bytes(32)))


def test_a_snapshot_is_due_after_a_fixed_number_of_entries_or_as_many_as_there_are_keys() -> None:
    schedule = SnapshotSchedule()
    sizes = range(1, 4 * SNAPSHOT_ENTRIES + 1)
    for size in sizes:
        schedule.advance(size, lambda: 3)
    assert schedule.due == [SNAPSHOT_ENTRIES * number for number in (1, 2, 3, 4)]
    large = SnapshotSchedule()
    for size in sizes:
        large.advance(size, lambda: 2 * SNAPSHOT_ENTRIES)
    assert large.due == [SNAPSHOT_ENTRIES, 3 * SNAPSHOT_ENTRIES]


def test_only_a_size_that_is_due_is_stated_and_none_before_the_last_one() -> None:
    schedule = SnapshotSchedule()
    for size in range(1, 3 * SNAPSHOT_ENTRIES + 1):
        schedule.advance(size, lambda: 3)
    with pytest.raises(RefusedError, match="due are"):
        schedule.apply(9_000, body(SNAPSHOT_ENTRIES + 1))
    schedule.apply(9_001, body(2 * SNAPSHOT_ENTRIES))
    for size in (SNAPSHOT_ENTRIES, 2 * SNAPSHOT_ENTRIES):
        with pytest.raises(RefusedError, match="no snapshot of"):
            schedule.apply(9_002, body(size))
    schedule.apply(9_003, body(3 * SNAPSHOT_ENTRIES))
    assert [one.index for one in schedule.stated] == [9_001, 9_003]


def test_a_coordinator_that_states_nothing_leaves_the_last_sizes_due() -> None:
    schedule = SnapshotSchedule()
    for size in range(1, 9 * SNAPSHOT_ENTRIES + 1):
        schedule.advance(size, lambda: 3)
    assert schedule.due == [SNAPSHOT_ENTRIES * number for number in (6, 7, 8, 9)]
    assert len(schedule.due) == SNAPSHOTS
