"""Where lending rules begin to apply, exactly, and which of several devices they are about."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tequio_client.ipc.facts import UNKNOWN_MACHINE, AcceleratorFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences, usable_memory_mb
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState, Snooze, Value
from tequio_client.worker.lending.facts import LendingFacts, select_chosen_devices
from tequio_client.worker.lending.history import MAX_GAME_SNOOZE_MS
from tests.support.lending_facts import (
    CALM,
    CHOSEN,
    EVENING_MS,
    GIB,
    GPU,
    MACHINE,
    PolicyWorker,
    chosen,
    decide_once,
    in_session,
    on_machine,
    with_gpu,
)

SECOND_CARD = AcceleratorFacts(
    id="cuda:1", name="RTX 5060", memory_mb=8_192, free_mb=7_000, load=0.0, others_load=0.0
)
WITHOUT_FIRST = chosen(devices=(DeviceChoice(id="cuda:0", use=False),))
WITHOUT_SECOND = chosen(devices=(DeviceChoice(id="cuda:1", use=False),))
WITHOUT_BOTH = chosen(
    devices=tuple(DeviceChoice(id=name, use=False) for name in ("cuda:0", "cuda:1"))
)


def two_cards(device: str, *, first: AcceleratorFacts = GPU, **second: object) -> LendingFacts:
    """The facts for a decision about one of two cards."""
    other = msgspec.structs.replace(SECOND_CARD, **second)
    return replace(on_machine(gpus=(first, other)), device=device)


BUSY = msgspec.structs.replace(GPU, others_load=0.9)
SMALL = msgspec.structs.replace(GPU, memory_mb=5_000)
Row = tuple[str, LendingFacts, Preferences, LendingReason, dict[str, Value]]
ROWS: list[Row] = [
    ("the first card", two_cards("cuda:0"), CHOSEN, LendingReason.LENDING, {}),
    ("beside a busy one", two_cards("cuda:1", first=BUSY), CHOSEN, LendingReason.LENDING, {}),
    (
        "the busy one",
        two_cards("cuda:1", others_load=0.9),
        CHOSEN,
        LendingReason.OTHERS_GPU,
        {"device": "RTX 5060", "percent": 90},
    ),
    (
        "the one that is switched off",
        two_cards("cuda:1"),
        WITHOUT_SECOND,
        LendingReason.BY_HAND,
        {"fact": "device"},
    ),
    ("the one that is left", two_cards("cuda:1"), WITHOUT_FIRST, LendingReason.LENDING, {}),
    ("none is left", two_cards("cuda:1"), WITHOUT_BOTH, LendingReason.NO_DEVICE, {}),
    ("none is asked for", two_cards(""), WITHOUT_FIRST, LendingReason.LENDING, {}),
    (
        "the small one",
        two_cards("cuda:1", memory_mb=5_000),
        CHOSEN,
        LendingReason.NO_DEVICE,
        {"fact": "small", "device": "RTX 5060", "wanted": 4.0},
    ),
    ("beside a small one", two_cards("cuda:1", first=SMALL), CHOSEN, LendingReason.LENDING, {}),
    (
        "the large one is taken if none is asked for",
        two_cards("", first=SMALL, others_load=0.9),
        CHOSEN,
        LendingReason.OTHERS_GPU,
        {"device": "RTX 5060", "percent": 90},
    ),
    ("store at its slack", replace(CALM, store_bytes=33 * GIB), CHOSEN, LendingReason.LENDING, {}),
    (
        "store beyond its slack",
        replace(CALM, store_bytes=33 * GIB + 1_024),
        CHOSEN,
        LendingReason.DISK,
        {"fact": "store", "used": 33.0, "most": 30},
    ),
    ("just enough memory", with_gpu(free_mb=4_000), CHOSEN, LendingReason.LENDING, {}),
    (
        "a megabyte too little",
        with_gpu(free_mb=3_999),
        CHOSEN,
        LendingReason.GPU_MEMORY,
        {"device": "RTX 5070", "free": 3.9, "wanted": 4.0},
    ),
    (
        "unknown memory that is not needed",
        replace(with_gpu(free_mb=None), need_mb=0),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "unknown memory of a trainer that runs",
        replace(with_gpu(free_mb=None), is_computing=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "unknown memory",
        with_gpu(free_mb=None),
        CHOSEN,
        LendingReason.GPU_UNKNOWN,
        {"fact": "memory", "device": "RTX 5070"},
    ),
    (
        "a probe that spoke in time",
        replace(CALM, machine_age_s=5.0),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a ledger that has not answered yet",
        replace(CALM, was_ledger_reached=False),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a ledger that never answers",
        replace(CALM, ledger="http://x", was_ledger_reached=False, ledger_problem="no route"),
        CHOSEN,
        LendingReason.LEDGER_UNKNOWN,
        {"address": "http://x"},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_rule_begins_where_it_says(row: Row) -> None:
    _, facts, preferences, reason, values = row
    found = decide_once(facts, preferences)
    assert (found.reason, found.values) == (reason, values)


def test_a_device_that_is_switched_off_is_paused_by_hand() -> None:
    assert decide_once(two_cards("cuda:1"), WITHOUT_SECOND).state == LendingState.PAUSED
    assert decide_once(two_cards("cuda:1"), WITHOUT_BOTH).state == LendingState.ATTENTION


@pytest.mark.parametrize("total_mb", [32_768, None])
def test_a_device_without_memory_of_its_own_shares_the_computers(total_mb: int | None) -> None:
    shared = msgspec.structs.replace(GPU, memory_mb=None, free_mb=None)
    machine = msgspec.structs.replace(MACHINE, gpus=(shared, GPU), memory_mb=total_mb)
    devices = select_chosen_devices(machine, CHOSEN)
    assert devices is not None
    first, own = devices
    assert first.free_mb == MACHINE.free_memory_mb
    assert first.most_mb == (None if total_mb is None else usable_memory_mb(total_mb))
    assert (own.free_mb, own.most_mb) == (GPU.free_mb, usable_memory_mb(12_288))
    limited = chosen(devices=(DeviceChoice(id="cuda:0", memory_mb=3_000),))
    again = select_chosen_devices(machine, limited)
    assert again is not None
    assert again[0].most_mb == (None if total_mb is None else 3_000)
    assert select_chosen_devices(UNKNOWN_MACHINE, CHOSEN) is None


def test_a_snooze_until_a_game_closes_ends_after_a_day() -> None:
    playing = in_session(game="doom")
    snooze = Snooze(asked_ms=EVENING_MS, game="doom")
    worker = PolicyWorker(wish=DesiredState(number=2, lend=True, snooze=snooze))
    worker.decide(playing)
    last = worker.decide(playing, ms=MAX_GAME_SNOOZE_MS - 1)
    assert (last.state, last.until_ms) == (LendingState.SNOOZED, None)
    assert worker.decide(playing, ms=1).reason == LendingReason.GAME


def test_another_command_to_finish_has_the_round_that_is_then_under_way() -> None:
    working = replace(CALM, is_computing=True)
    worker = PolicyWorker(wish=DesiredState(number=2, lend=True, finish=True))
    assert worker.decide(working).values == {"round": 7}
    assert worker.decide(replace(working, round=8)).values == {"fact": "finished"}
    worker.wish = DesiredState(number=3, lend=True, finish=True)
    assert worker.decide(replace(working, round=8)).values == {"round": 8}


def test_a_load_that_is_unknown_for_a_moment_neither_begins_nor_ends_anything() -> None:
    computing = replace(CALM, is_computing=True)
    busy = with_gpu(computing, others_load=0.9)
    unknown = with_gpu(computing, others_load=None)
    worker = PolicyWorker()
    assert worker.watch(busy, 2).reason == LendingReason.LENDING
    assert worker.watch(unknown, 2).reason == LendingReason.LENDING
    assert worker.watch(busy, 1).reason == LendingReason.OTHERS_GPU, "since five seconds"
    assert worker.watch(unknown, 120).reason == LendingReason.OTHERS_GPU
    assert worker.watch(computing, 59).reason == LendingReason.OTHERS_GPU
    assert worker.watch(computing, 1).reason == LendingReason.LENDING
