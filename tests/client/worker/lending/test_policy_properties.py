"""Properties of the lending policy, whatever is known, chosen, requested and done to the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.ipc import texts
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.preferences import WHOLE_WEEK, DeviceChoice, Preferences
from tequio_client.ipc.snapshot import Decision, DesiredState, LendingReason, LendingState, Snooze
from tequio_client.worker.lending.facts import (
    NONE_OPEN,
    IdleCause,
    IdleReason,
    LendingFacts,
    LocalInstant,
)
from tequio_client.worker.lending.history import LendingHistory, update_history
from tequio_client.worker.lending.policy import decide
from tests.support.lending_facts import CALM, CHOSEN, GIB, GPU, LEND, MACHINE, SESSION, offset_in

if TYPE_CHECKING:
    from collections.abc import Callable

    Disturb = Callable[
        [LendingFacts, Preferences, DesiredState], tuple[LendingFacts, Preferences, DesiredState]
    ]

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
ZONES = {
    name: offset_in(name)
    for name in ("Europe/Madrid", "America/Mexico_City", "Australia/Lord_Howe", "Asia/Kolkata")
}
CHANGES = ["2026-03-29", "2026-10-25", "2022-04-03", "2022-10-30", "2026-04-04", "2026-10-03"]
"""Days on which clocks are changed in one of these."""
COMPUTING = {LendingState.LENDING, LendingState.FINISHING}
RANK = [
    {LendingReason.NO_CONSENT},
    {LendingReason.BY_HAND},
    {LendingReason.SNOOZED, LendingReason.UNTIL_GAME_CLOSES},
    {LendingReason.NO_RUNTIME},
    {
        LendingReason.TRAINER_BROKEN,
        LendingReason.QUARANTINED,
        LendingReason.OUTDATED,
        LendingReason.CLOCK,
        LendingReason.PLUGIN,
        LendingReason.LEDGER_UNKNOWN,
    },
    {LendingReason.NO_DEVICE},
    {LendingReason.DISK},
    {LendingReason.LEDGER_AWAY, LendingReason.NO_SWARM, LendingReason.NO_RUN},
    {LendingReason.BATTERY, LendingReason.BATTERY_UNKNOWN, LendingReason.SAVING_POWER},
    {LendingReason.HOT},
    {
        LendingReason.GAME,
        LendingReason.FULLSCREEN,
        LendingReason.FILM,
        LendingReason.EXCLUSIVE,
        LendingReason.AFTER_GAME,
    },
    {LendingReason.SCHEDULE},
    {LendingReason.QUOTA},
    {LendingReason.METERED},
    {LendingReason.CANNOT_TELL, LendingReason.IN_USE},
    {
        LendingReason.OTHERS_GPU,
        LendingReason.GPU_UNKNOWN,
        LendingReason.OTHERS_CPU,
        LendingReason.GPU_MEMORY,
        LendingReason.SLOWED,
    },
    {LendingReason.LENDING, LendingReason.LENDING_WHILE_USED, LendingReason.FINISHING},
]
"""Precedence, by kind; a pause after the last round says `BY_HAND`, below a snooze."""


def ms_of(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000)


def rank(decision: Decision) -> int:
    if decision.values.get("fact") == "finished":
        return 2
    return next(at for at, kind in enumerate(RANK) if decision.reason in kind)


# --- anything that may be: a calm evening, with some of its facts changed


@st.composite
def changed(
    draw: st.DrawFn, /, calm: T, most: int, seldom: str = "", **kinds: st.SearchStrategy[object]
) -> T:
    """The calm value with at most `most` fields changed: else nothing would ever be lent."""
    rare = seldom.split()
    often = [name for name in sorted(kinds) if name not in rare]
    fields = st.sampled_from([*often * (1 + len(rare)), *rare])
    names = draw(st.lists(fields, min_size=1, max_size=most, unique=True))
    changes = {name: draw(kinds[name]) for name in names}
    if isinstance(calm, msgspec.Struct):
        return msgspec.structs.replace(calm, **changes)
    return replace(calm, **changes)  # type: ignore[type-var]  # a dataclass, as Facts is


def maybe(*values: object) -> st.SearchStrategy[object]:
    return st.sampled_from([None, *values])


BOTH = (False, True)
NO, YES = (st.just(value) for value in BOTH)
PARTS = (0.0, 0.05, 0.2, 0.35, 0.55, 0.8, 1.0)
TEMPERATURES = (20.0, 74.0, 76.0, 79.0, 81.0, 84.0, 86.0, 120.0)
PROGRAMS = ("", "doom", "mpv")
sessions = changed(
    SESSION,
    3,
    idle_s=maybe(0.0, 59.0, 61.0, 299.0, 301.0, 1e6),
    is_locked=maybe(*BOTH),
    fullscreen=maybe(*PROGRAMS),
    is_film=st.booleans(),
    game=maybe(*PROGRAMS),
    programs=maybe((), ("blender",)),
    is_metered=maybe(*BOTH),
)
gpus = changed(
    msgspec.structs.replace(GPU, name="a {card}"),
    3,
    memory_mb=maybe(1_000, 8_192, 24_576),
    free_mb=maybe(0, 3_000, 8_000),
    load=maybe(*PARTS),
    others_load=maybe(*PARTS),
    temperature_c=maybe(*TEMPERATURES),
    watts=maybe(0.0, 30.0, 400.0),
)
machines = changed(
    MACHINE,
    2,
    gpus=st.none() | st.just(()) | gpus.map(lambda one: (one,)) | gpus.map(lambda one: (one,)),
    others_cpu=maybe(*PARTS),
    cpu_temperature_c=maybe(*TEMPERATURES),
    memory_mb=maybe(8_000, 32_000),
    free_memory_mb=maybe(1_000, 16_000),
    on_battery=maybe(*BOTH),
    is_saving_power=maybe(*BOTH),
)
PROBLEM = st.just("it broke {here}")
others = changed(
    CALM,
    2,
    "trainer_problem standing_problem wanted_version clock_ahead_ms ledger_problem "
    "free_disk_bytes store_bytes month_bytes round session_age_s machine_age_s idle_reason",
    session_age_s=st.sampled_from([5.0, 14.0, 16.0, 1e9]),
    machine=st.none() | machines | machines | machines,
    machine_age_s=st.sampled_from([1.0, 4.0, 6.0, float("nan")]),
    month_bytes=st.sampled_from([0, 10**9, 10**11, 10**15]),
    free_disk_bytes=maybe(0, 19 * GIB, 20 * GIB + 5, 500 * GIB),
    store_bytes=st.sampled_from([0, 30 * GIB, 60 * GIB]),
    need_mb=st.sampled_from([0, 9_000]),
    is_computing=st.booleans(),
    slowdown=maybe(1.0, 1.3, 1.5, 9.0),
    round=maybe(0, 1, 2, 3),
    trainer_problem=PROBLEM,
    standing_problem=PROBLEM,
    wanted_version=st.just("9.9.9"),
    clock_ahead_ms=st.sampled_from([0, 299_000, 301_000, -(10**12)]),
    ledger_problem=PROBLEM,
    was_ledger_reached=st.booleans(),
    idle_reason=st.builds(IdleReason, why=st.sampled_from(IdleCause), problem=PROBLEM),
)
facts = st.builds(
    lambda rest, session, machine: replace(rest, session=session, machine=machine),
    rest=others,
    session=st.just(SESSION) | sessions | sessions | st.none(),
    machine=st.just(MACHINE) | machines | st.just(MACHINE) | machines | st.none(),
)
weeks = st.tuples(*[st.integers(0, 2**24 - 1)] * 7) | st.just((0,) * 7)
choices = st.builds(
    DeviceChoice,
    id=st.sampled_from(["cuda:0", "cpu"]),
    use=st.sampled_from([True, True, False]),
    memory_mb=st.sampled_from([0, 0, 3_000, 6_000]),
    share_percent=st.integers(1, 100),
    watts=st.sampled_from([0, 150]),
)
preferences = changed(
    CHOSEN,
    3,
    "consent week others_gpu_percent others_cpu_percent month_gb",
    consent=NO,
    idle_minutes=st.sampled_from([0, 1]),
    while_used=YES,
    used_share_percent=st.integers(1, 100),
    week=weeks,
    pause_for_games=NO,
    pause_for_films=YES,
    exclusive=st.just(("blender",)),
    on_battery=YES,
    while_saving_power=YES,
    others_cpu_percent=st.sampled_from([1, 100]),
    others_gpu_percent=st.sampled_from([1, 100]),
    devices=st.lists(choices, max_size=2, unique_by=lambda one: one.id).map(tuple),
    month_gb=st.sampled_from([0, 1]),
    on_metered=YES,
)
instants = st.integers(ms_of("2021-01-01"), ms_of("2027-01-01")) | st.builds(
    lambda day, ms: ms_of(day) + ms,
    st.sampled_from(CHANGES),
    st.integers(-36 * 3_600_000, 48 * 3_600_000),
)
moments = st.builds(
    LocalInstant,
    ms=instants,
    steady_ms=st.integers(0, 10**12),
    offset_s=st.sampled_from(list(ZONES.values())),
)


snoozes = st.builds(
    Snooze,
    until_ms=st.none() | instants,
    asked_ms=st.just(0) | instants,
    game=st.sampled_from(["", "doom"]),
)
wishes = changed(
    LEND,
    1,
    "lend snooze finish",
    number=st.sampled_from([2, 3]),
    lend=NO,
    snooze=snoozes,
    finish=YES,
)
steps = st.lists(
    st.tuples(
        facts,
        st.sampled_from([0, 1, 1_000, 3_000, 5_000, 61_000, 10**8]),
        st.sampled_from([0, 0, 0, -(10**10), -3_600_000, 3_600_000, 10**10]),
    ),
    min_size=1,
    max_size=6,
)
"""Facts, how much later they are looked at, and by how much the clock was set meanwhile."""
thoroughly = settings(derandomize=True, deadline=None, database=None, max_examples=100)


def walk(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    wish: DesiredState,
    now: LocalInstant,
) -> list[tuple[LendingFacts, LocalInstant, Decision]]:
    """Look at each step, with the memory of those before."""
    traces, seen = LendingHistory(), []
    for known, passed_ms, set_ms in path:
        ms = max(0, now.ms + passed_ms + set_ms)
        now = replace(now, ms=ms, steady_ms=now.steady_ms + passed_ms)
        traces = update_history(traces, known, chosen, wish, now)
        seen.append((known, now, decide(known, chosen, wish, traces, now)))
    return seen


# --- what holds


@given(steps, preferences, wishes, moments)
@thoroughly
def test_nothing_is_computed_without_consent_or_against_the_wish(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    wish: DesiredState,
    now: LocalInstant,
) -> None:
    for known, at, found in walk(path, chosen, wish, now):
        assert found.may_compute is (found.state in COMPUTING)
        if not found.may_compute:
            continue
        assert chosen.consent
        assert wish.lend
        assert at.is_in(chosen.week)
        assert not known.trainer_problem
        assert known.free_disk_bytes is not None
        assert known.month_bytes < chosen.month_gb * 10**9 or not chosen.month_gb
        assert found.state is (LendingState.FINISHING if wish.finish else LendingState.LENDING)
        if not chosen.on_battery:
            assert known.known_machine().on_battery is False
        session = known.known_session()
        if session is not None and chosen.pause_for_games:
            assert session.game == ""
            assert not session.fullscreen or session.is_film


@given(steps, preferences, wishes, moments)
@thoroughly
def test_shares_and_ends_are_within_their_bounds(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    wish: DesiredState,
    now: LocalInstant,
) -> None:
    for known, at, found in walk(path, chosen, wish, now):
        assert 0 <= found.share_percent <= 100
        assert found.until_ms is None or found.until_ms > at.ms
        assert len(found.values) <= 4
        assert msgspec.json.decode(msgspec.json.encode(found), type=Decision) == found
        if found.reason == LendingReason.LENDING_WHILE_USED:
            assert found.share_percent <= chosen.used_share_percent
        if found.may_compute and known.known_machine().gpus == ():
            assert found.share_percent <= chosen.device("cpu").share_percent


@given(steps, preferences, wishes, moments)
@thoroughly
def test_every_decision_can_be_said(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    wish: DesiredState,
    now: LocalInstant,
) -> None:
    for _, at, found in walk(path, chosen, wish, now):
        said = texts.decision_sentence(
            found, at.ms, lambda _: texts.LocalTime("Monday", "22 October", "08:00")
        )
        assert said.startswith(texts.STATE_WORDS[found.state] + ": ")
        assert said.endswith(".")


BEST: dict[str, Callable[[LendingFacts], LendingFacts]] = {}
WORST: dict[str, Callable[[LendingFacts], LendingFacts]] = {}


def _of_session(field: str, best: object) -> None:
    def put(value: object) -> Callable[[LendingFacts], LendingFacts]:
        return lambda known: replace(
            known,
            session=msgspec.structs.replace(known.session or SESSION, **{field: value}),
        )

    BEST[field], WORST[field] = put(best), put(None)


def _of_machine(field: str, best: object) -> None:
    def put(value: object) -> Callable[[LendingFacts], LendingFacts]:
        return lambda known: replace(
            known,
            machine=msgspec.structs.replace(known.machine or MACHINE, **{field: value}),
        )

    BEST[field], WORST[field] = put(best), put(None)


def _of_gpu(field: str, best: object) -> None:
    def put(value: object) -> Callable[[LendingFacts], LendingFacts]:
        def change(known: LendingFacts) -> LendingFacts:
            machine = known.machine or MACHINE
            first = (machine.gpus or (GPU,))[0]
            gpu = msgspec.structs.replace(first, memory_mb=8_192, **{field: value})
            return replace(known, machine=msgspec.structs.replace(machine, gpus=(gpu,)))

        return change

    BEST[field], WORST[field] = put(best), put(None)


for _field, _best in {
    "idle_s": 1e9,
    "is_locked": True,
    "fullscreen": "",
    "game": "",
    "programs": (),
    "is_metered": False,
}.items():
    _of_session(_field, _best)
for _field, _best in {
    "others_cpu": 0.0,
    "on_battery": False,
    "is_saving_power": False,
}.items():
    _of_machine(_field, _best)
for _field, _best in {"others_load": 0.0, "free_mb": 8_192, "temperature_c": 20.0}.items():
    _of_gpu(_field, _best)
BEST["free_disk_bytes"] = lambda known: replace(known, free_disk_bytes=500 * GIB)
WORST["free_disk_bytes"] = lambda known: replace(known, free_disk_bytes=None)


@pytest.mark.parametrize("field", BEST)
def test_what_is_unknown_is_never_better_than_what_is_known_to_be_fine(field: str) -> None:
    @given(
        path=st.lists(
            st.tuples(facts, st.sampled_from([0, 1_000, 5_000, 61_000]), st.just(0)),
            min_size=1,
            max_size=4,
        ),
        chosen=preferences,
        now=moments,
    )
    @settings(derandomize=True, deadline=None, database=None, max_examples=40)
    def compare(
        path: list[tuple[LendingFacts, int, int]], chosen: Preferences, now: LocalInstant
    ) -> None:
        known = [(BEST[field](known), *rest) for known, *rest in path]
        unknown = [(WORST[field](known), *rest) for known, *rest in path]
        for (_, _, fine), (_, _, blind) in zip(
            walk(known, chosen, LEND, now),  # type: ignore[arg-type]  # the rest are two ints
            walk(unknown, chosen, LEND, now),  # type: ignore[arg-type]
            strict=True,
        ):
            assert blind.share_percent <= fine.share_percent
            assert blind.may_transfer <= fine.may_transfer

    compare()


@given(facts, preferences, wishes, moments)
@thoroughly
def test_facts_that_are_too_old_are_as_good_as_none(
    known: LendingFacts, chosen: Preferences, wish: DesiredState, now: LocalInstant
) -> None:
    old = replace(known, session_age_s=15.1, machine_age_s=5.1)
    none = replace(
        known,
        session=None if known.session is None else SessionFacts(),
        session_age_s=0.0,
        machine=None,
        machine_age_s=0.0,
    )
    assert (
        walk([(old, 0, 0)], chosen, wish, now)[0][2]
        == walk([(none, 0, 0)], chosen, wish, now)[0][2]
    )


DISTURBANCES: list[tuple[int, Disturb]] = [
    (0, lambda known, chosen, wish: (known, _with(chosen, consent=False), wish)),
    (1, lambda known, chosen, wish: (known, chosen, _with(wish, lend=False))),
    (3, lambda known, chosen, wish: (replace(known, has_runtime=False), chosen, wish)),
    (4, lambda known, chosen, wish: (replace(known, standing_problem="gone"), chosen, wish)),
    (6, lambda known, chosen, wish: (replace(known, free_disk_bytes=0), chosen, wish)),
    (7, lambda known, chosen, wish: (replace(known, idle_reason=NONE_OPEN), chosen, wish)),
    (
        8,
        lambda known, chosen, wish: (
            replace(known, machine=_with(known.machine or MACHINE, on_battery=True)),
            _with(chosen, on_battery=False),
            wish,
        ),
    ),
    (
        10,
        lambda known, chosen, wish: (
            replace(known, session=_with(known.session or SESSION, game="doom"), session_age_s=0.0),
            _with(chosen, pause_for_games=True),
            wish,
        ),
    ),
    (11, lambda known, chosen, wish: (known, _with(chosen, week=(0,) * 7), wish)),
    (
        12,
        lambda known, chosen, wish: (
            replace(known, month_bytes=10**15),
            _with(chosen, month_gb=1),
            wish,
        ),
    ),
    (
        13,
        lambda known, chosen, wish: (
            replace(known, session=_with(known.session or SESSION, is_metered=True)),
            _with(chosen, on_metered=False),
            wish,
        ),
    ),
    (
        14,
        lambda known, chosen, wish: (
            replace(known, session=_with(known.session or SESSION, idle_s=0.0, is_locked=False)),
            _with(chosen, idle_minutes=5, while_used=False),
            wish,
        ),
    ),
]
"""Each with its rank: whatever else is so, nothing of lower rank may decide then."""


def _with(value: S, **changes: object) -> S:
    return msgspec.structs.replace(value, **changes)


@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=lambda one: str(one[0]))
def test_nothing_of_lower_rank_decides_beside_a_disturbance(
    disturbance: tuple[int, Disturb],
) -> None:
    most, disturb = disturbance

    @given(facts, preferences, wishes, moments)
    @settings(derandomize=True, deadline=None, database=None, max_examples=40)
    def compare(
        known: LendingFacts, chosen: Preferences, wish: DesiredState, now: LocalInstant
    ) -> None:
        known, chosen, wish = disturb(known, chosen, wish)
        found = walk([(known, 0, 0)], chosen, wish, now)[0][2]
        assert rank(found) <= most
        assert not found.may_compute

    compare()


@given(steps, preferences, wishes, moments)
@thoroughly
def test_looking_twice_at_the_same_changes_nothing(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    wish: DesiredState,
    now: LocalInstant,
) -> None:
    twice = [step for known, ms, set_ms in path for step in ((known, ms, set_ms), (known, 0, 0))]
    once = walk(path, chosen, wish, now)
    assert walk(twice, chosen, wish, now)[1::2] == once


@given(steps, preferences, moments, moments)
@thoroughly
def test_a_clock_that_is_set_matters_to_hours_and_months_alone(
    path: list[tuple[LendingFacts, int, int]],
    chosen: Preferences,
    now: LocalInstant,
    other: LocalInstant,
) -> None:
    chosen = msgspec.structs.replace(chosen, week=WHOLE_WEEK, month_gb=0)
    quiet = [(known, ms, 0) for known, ms, _ in path]
    other = replace(other, steady_ms=now.steady_ms)
    for (_, at, found), (_, jumped, same) in zip(
        walk(quiet, chosen, LEND, now), walk(path, chosen, LEND, other), strict=True
    ):
        assert (found.state, found.reason, found.values, found.share_percent) == (
            same.state,
            same.reason,
            same.values,
            same.share_percent,
        )
        if found.until_ms is not None:
            assert same.until_ms is not None
            assert abs((found.until_ms - at.ms) - (same.until_ms - jumped.ms)) < 1_000


@given(
    length_ms=st.integers(1, 10**9),
    late_ms=st.integers(-(10**11), 10**9),
    jumps=st.lists(st.integers(-(10**11), 10**9), max_size=6),
    now=moments,
)
@thoroughly
def test_no_snooze_is_longer_than_it_was_when_asked(
    length_ms: int, late_ms: int, jumps: list[int], now: LocalInstant
) -> None:
    wish = DesiredState(
        number=1,
        lend=True,
        snooze=Snooze(until_ms=now.ms + length_ms, asked_ms=now.ms),
    )
    known = LendingFacts(session=SESSION, machine=MACHINE, free_disk_bytes=500 * GIB)
    start = replace(now, ms=max(0, now.ms + late_ms))  # the worker started again meanwhile
    chosen = Preferences(consent=True)
    path = [(known, 0, 0), *((known, length_ms // 8, jump) for jump in jumps)]
    for _, at, found in walk(path, chosen, wish, start):
        if found.reason == LendingReason.SNOOZED:
            assert found.until_ms is not None
            left_ms = start.steady_ms + length_ms - at.steady_ms
            assert found.until_ms - at.ms < left_ms + 1_000, "in full seconds"
    last = walk([(known, 0, 0), (known, length_ms, -(10**11))], chosen, wish, start)[-1][2]
    assert last.reason != LendingReason.SNOOZED
