"""The reason and the values of each lending rule, every default, and the presets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc import texts
from tequio_client.ipc.facts import UNKNOWN_SESSION, AcceleratorFacts
from tequio_client.ipc.preferences import DeviceChoice, LendingPreset, Preferences, apply_preset
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState
from tequio_client.ledger.networks import NO_LEDGER
from tequio_client.worker.lending.facts import (
    ENDED,
    JOINING,
    NONE_FITS,
    NONE_OPEN,
    IdleCause,
    IdleReason,
)
from tequio_shared.limits import CLOCK_SKEW_MS
from tests.support.lending_facts import (
    CALM,
    CHOSEN,
    EVENING_MS,
    GIB,
    GPU,
    NOW,
    PolicyWorker,
    chosen,
    decide_once,
    in_session,
    offset_in,
    on_machine,
    with_gpu,
)

if TYPE_CHECKING:
    from tequio_client.ipc.snapshot import Value
    from tequio_client.worker.lending.facts import LendingFacts

NIGHT = (0b111,) * 7  # 0 to 3 o'clock
BY_HAND = DesiredState(number=1, lend=False)
BEHIND = in_session(idle_s=None, is_locked=None, fullscreen=None, game=None, has_other_user=True)
PLAYED_ON = chosen(devices=(DeviceChoice(id="cuda:0", while_used=True),))


ROWS: list[tuple[str, LendingFacts, Preferences, LendingReason, dict[str, Value]]] = [
    (
        "film by default",
        in_session(fullscreen="mpv", is_film=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "film",
        in_session(fullscreen="mpv", is_film=True),
        chosen(pause_for_films=True),
        LendingReason.FILM,
        {"program": "mpv"},
    ),
    (
        "film, not game",
        in_session(fullscreen="mpv", is_film=True),
        chosen(pause_for_films=True, pause_for_games=False),
        LendingReason.FILM,
        {"program": "mpv"},
    ),
    (
        "games allowed",
        in_session(fullscreen="quake", game="quake"),
        chosen(pause_for_games=False),
        LendingReason.LENDING,
        {},
    ),
    ("program of no list", in_session(programs=("blender",)), CHOSEN, LendingReason.LENDING, {}),
    (
        "a film takes some of the card",
        in_session(with_gpu(others_load=0.25), fullscreen="mpv", is_film=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a film takes much of the card",
        in_session(with_gpu(others_load=0.31), fullscreen="mpv", is_film=True),
        CHOSEN,
        LendingReason.OTHERS_GPU,
        {"device": "RTX 5070", "percent": 31},
    ),
    ("locked", in_session(is_locked=True, idle_s=1.0), CHOSEN, LendingReason.LENDING, {}),
    (
        "locked and blind",
        in_session(is_locked=True, idle_s=None),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "locked beside a game",
        in_session(is_locked=True, game="doom"),
        CHOSEN,
        LendingReason.GAME,
        {"program": "doom"},
    ),
    ("idle just long enough", in_session(idle_s=300.0), CHOSEN, LendingReason.LENDING, {}),
    ("idle a second less", in_session(idle_s=299.0), CHOSEN, LendingReason.IN_USE, {"minutes": 5}),
    ("no idle minutes", in_session(idle_s=0.0), chosen(idle_minutes=0), LendingReason.LENDING, {}),
    (
        "while used",
        in_session(idle_s=0.0),
        chosen(while_used=True),
        LendingReason.LENDING_WHILE_USED,
        {"share": 30},
    ),
    ("while used, away", CALM, chosen(while_used=True), LendingReason.LENDING, {}),
    (
        "idle unknown",
        in_session(idle_s=None),
        CHOSEN,
        LendingReason.CANNOT_TELL,
        {"fact": "idle"},
    ),
    (
        "idle unknown, while used",
        in_session(idle_s=None),
        chosen(while_used=True),
        LendingReason.LENDING_WHILE_USED,
        {"share": 30},
    ),
    (
        "screen unknown",
        in_session(fullscreen=None),
        CHOSEN,
        LendingReason.CANNOT_TELL,
        {"fact": "fullscreen"},
    ),
    (
        "screen unknown, surely used",
        in_session(fullscreen=None, idle_s=2.0),
        CHOSEN,
        LendingReason.IN_USE,
        {"minutes": 5},
    ),
    (
        "screen unknown and of no interest",
        in_session(fullscreen=None, game=None),
        chosen(pause_for_games=False),
        LendingReason.LENDING,
        {},
    ),
    (
        "another user",
        BEHIND,
        CHOSEN,
        LendingReason.CANNOT_TELL,
        {"fact": "other-user"},
    ),
    (
        "another user, games of no interest",
        BEHIND,
        chosen(pause_for_games=False),
        LendingReason.CANNOT_TELL,
        {"fact": "other-user"},
    ),
    (
        "another user, idle minutes of no interest",
        in_session(BEHIND, game=""),
        chosen(idle_minutes=0),
        LendingReason.CANNOT_TELL,
        {"fact": "other-user"},
    ),
    (
        "another user, while used",
        BEHIND,
        chosen(while_used=True),
        LendingReason.CANNOT_TELL,
        {"fact": "other-user"},
    ),
    (
        "another user beside a game",
        in_session(BEHIND, game="doom"),
        CHOSEN,
        LendingReason.GAME,
        {"program": "doom"},
    ),
    ("games unknown", in_session(game=None), CHOSEN, LendingReason.CANNOT_TELL, {"fact": "game"}),
    (
        "games unknown, while used",
        in_session(game=None),
        chosen(while_used=True),
        LendingReason.CANNOT_TELL,
        {"fact": "game"},
    ),
    (
        "programs unknown",
        in_session(programs=None),
        chosen(exclusive=("blender",)),
        LendingReason.CANNOT_TELL,
        {"fact": "programs"},
    ),
    ("programs unknown, none listed", in_session(programs=None), CHOSEN, LendingReason.LENDING, {}),
    (
        "metered unknown",
        in_session(is_metered=None),
        CHOSEN,
        LendingReason.METERED,
        {"fact": "unknown"},
    ),
    (
        "metered allowed",
        in_session(is_metered=True),
        chosen(on_metered=True),
        LendingReason.LENDING,
        {},
    ),
    (
        "an app that has not spoken yet",
        replace(CALM, session=UNKNOWN_SESSION),
        chosen(on_metered=True),
        LendingReason.CANNOT_TELL,
        {"fact": "session"},
    ),
    (
        "an app that fell silent",
        replace(CALM, session_age_s=15.1),
        chosen(on_metered=True),
        LendingReason.CANNOT_TELL,
        {"fact": "session"},
    ),
    (
        "an app that spoke in time",
        replace(CALM, session_age_s=15.0),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "headless",
        replace(CALM, session=None),
        CHOSEN,
        LendingReason.LENDING,
        {"fact": "unseen"},
    ),
    (
        "headless on battery",
        on_machine(replace(CALM, session=None), on_battery=True),
        CHOSEN,
        LendingReason.BATTERY,
        {},
    ),
    (
        "a probe that fell silent",
        replace(CALM, machine_age_s=5.1),
        CHOSEN,
        LendingReason.BATTERY_UNKNOWN,
        {"fact": "probe"},
    ),
    (
        "a probe that never spoke",
        replace(CALM, machine=None),
        chosen(on_battery=True, while_saving_power=True),
        LendingReason.GPU_UNKNOWN,
        {},
    ),
    (
        "a probe that has just started",
        replace(CALM, machine=None, is_probe_starting=True),
        CHOSEN,
        LendingReason.BATTERY_UNKNOWN,
        {"fact": "starting"},
    ),
    (
        "a probe that has just started, where battery is allowed",
        replace(CALM, machine=None, is_probe_starting=True),
        chosen(on_battery=True, while_saving_power=True),
        LendingReason.GPU_UNKNOWN,
        {"fact": "starting"},
    ),
    ("battery unknown", on_machine(on_battery=None), CHOSEN, LendingReason.BATTERY_UNKNOWN, {}),
    (
        "battery allowed",
        on_machine(on_battery=True),
        chosen(on_battery=True),
        LendingReason.LENDING,
        {},
    ),
    (
        "battery allowed, saver unknown",
        on_machine(on_battery=True, is_saving_power=None),
        chosen(on_battery=True),
        LendingReason.BATTERY_UNKNOWN,
        {"fact": "saver"},
    ),
    ("mains, saver unknown", on_machine(is_saving_power=None), CHOSEN, LendingReason.LENDING, {}),
    (
        "saver allowed",
        on_machine(is_saving_power=True),
        chosen(while_saving_power=True),
        LendingReason.LENDING,
        {},
    ),
    ("disk", replace(CALM, free_disk_bytes=20 * GIB), CHOSEN, LendingReason.LENDING, {}),
    (
        "disk short",
        replace(CALM, free_disk_bytes=20 * GIB - 1),
        CHOSEN,
        LendingReason.DISK,
        {"free": 20.0, "wanted": 20},
    ),
    (
        "disk unknown",
        replace(CALM, free_disk_bytes=None),
        CHOSEN,
        LendingReason.DISK,
        {"fact": "unknown"},
    ),
    (
        "store beyond its cap",
        replace(CALM, store_bytes=34 * GIB),
        CHOSEN,
        LendingReason.DISK,
        {"fact": "store", "used": 34.0, "most": 30},
    ),
    ("store at its cap", replace(CALM, store_bytes=30 * GIB), CHOSEN, LendingReason.LENDING, {}),
    (
        "a byte of the month left",
        replace(CALM, month_bytes=10**11 - 1),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    ("no quota", replace(CALM, month_bytes=10**15), chosen(month_gb=0), LendingReason.LENDING, {}),
    (
        "no hour at all",
        CALM,
        chosen(week=(0,) * 7),
        LendingReason.SCHEDULE,
        {"fact": "never"},
    ),
    (
        "an outage of a ledger that was reached, while we are in a run",
        replace(CALM, ledger_problem="no route"),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a clock that is ahead as far as the ledger tolerates",
        replace(CALM, clock_ahead_ms=CLOCK_SKEW_MS),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a clock that is ahead",
        replace(CALM, clock_ahead_ms=601_000),
        CHOSEN,
        LendingReason.CLOCK,
        {"minutes": 10},
    ),
    (
        "a clock that is behind",
        replace(CALM, clock_ahead_ms=-3_599_000),
        CHOSEN,
        LendingReason.CLOCK,
        {"fact": "behind", "minutes": 60},
    ),
    (
        "an outage before we are in one",
        replace(CALM, ledger="http://x", ledger_problem="no route", idle_reason=NONE_OPEN),
        CHOSEN,
        LendingReason.LEDGER_AWAY,
        {"address": "http://x"},
    ),
    (
        "a worker without a network",
        replace(CALM, ledger=NO_LEDGER, ledger_problem="no network", idle_reason=JOINING),
        CHOSEN,
        LendingReason.LEDGER_UNKNOWN,
        {"fact": "none"},
    ),
    ("on its way to a run", replace(CALM, idle_reason=JOINING), CHOSEN, LendingReason.LENDING, {}),
    (
        "no run is open",
        replace(CALM, idle_reason=NONE_OPEN),
        CHOSEN,
        LendingReason.NO_RUN,
        {"fact": "open"},
    ),
    (
        "no run fits",
        replace(CALM, idle_reason=NONE_FITS),
        CHOSEN,
        LendingReason.NO_RUN,
        {"fact": "fits"},
    ),
    (
        "the run is over",
        replace(CALM, idle_reason=ENDED),
        CHOSEN,
        LendingReason.NO_RUN,
        {"fact": "ended"},
    ),
    ("a little load", with_gpu(others_load=0.15), CHOSEN, LendingReason.LENDING, {}),
    (
        "any load allowed",
        on_machine(with_gpu(others_load=None, load=None), others_cpu=None),
        chosen(others_gpu_percent=100, others_cpu_percent=100),
        LendingReason.LENDING,
        {},
    ),
    (
        "load unknown",
        with_gpu(others_load=None, load=None),
        CHOSEN,
        LendingReason.GPU_UNKNOWN,
        {"fact": "load", "device": "RTX 5070"},
    ),
    ("load of all, we rest", with_gpu(others_load=None), CHOSEN, LendingReason.LENDING, {}),
    (
        "load of all, others work",
        with_gpu(others_load=None, load=0.5),
        CHOSEN,
        LendingReason.OTHERS_GPU,
        {"device": "RTX 5070", "percent": 50},
    ),
    (
        "load of programs that the probe does not see",
        with_gpu(others_load=0.0, load=0.97),
        CHOSEN,
        LendingReason.OTHERS_GPU,
        {"device": "RTX 5070", "percent": 97},
    ),
    (
        "load that is ours",
        replace(with_gpu(others_load=0.0, load=0.97), is_computing=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "load of all, we work",
        replace(with_gpu(others_load=None, load=0.99), is_computing=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "processor unknown",
        on_machine(others_cpu=None),
        CHOSEN,
        LendingReason.OTHERS_CPU,
        {"fact": "unknown"},
    ),
    ("processor at its limit", on_machine(others_cpu=0.5), CHOSEN, LendingReason.LENDING, {}),
    (
        "memory taken",
        with_gpu(free_mb=3_999),
        CHOSEN,
        LendingReason.GPU_MEMORY,
        {"device": "RTX 5070", "free": 3.9, "wanted": 4.0},
    ),
    (
        "memory unknown",
        with_gpu(free_mb=None),
        CHOSEN,
        LendingReason.GPU_UNKNOWN,
        {"fact": "memory", "device": "RTX 5070"},
    ),
    (
        "memory taken by ourselves",
        replace(with_gpu(free_mb=100), is_computing=True),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    ("a card just large enough", with_gpu(memory_mb=6_048), CHOSEN, LendingReason.LENDING, {}),
    (
        "a probe of unknown age",
        replace(CALM, machine_age_s=float("nan")),
        CHOSEN,
        LendingReason.BATTERY_UNKNOWN,
        {"fact": "probe"},
    ),
    (
        "an app of unknown age",
        replace(CALM, session_age_s=float("nan")),
        chosen(on_metered=True),
        LendingReason.CANNOT_TELL,
        {"fact": "session"},
    ),
    (
        "a card too small",
        with_gpu(memory_mb=6_000),
        CHOSEN,
        LendingReason.NO_DEVICE,
        {"fact": "small", "device": "RTX 5070", "wanted": 4.0},
    ),
    (
        "cards too small, of which the largest is named",
        on_machine(
            gpus=(
                AcceleratorFacts(id="xpu:0", name="Iris", memory_mb=1_000),
                AcceleratorFacts(id="cuda:0", name="RTX 5070", memory_mb=6_000),
                AcceleratorFacts(id="xpu:1", name="Iris", memory_mb=2_000),
            ),
        ),
        CHOSEN,
        LendingReason.NO_DEVICE,
        {"fact": "small", "device": "RTX 5070", "wanted": 4.0},
    ),
    (
        "a cap too small",
        CALM,
        chosen(devices=(DeviceChoice(id="cuda:0", memory_mb=3_999),)),
        LendingReason.NO_DEVICE,
        {"fact": "small", "device": "RTX 5070", "wanted": 4.0},
    ),
    ("no card, but a processor", on_machine(gpus=()), CHOSEN, LendingReason.LENDING, {}),
    (
        "no card and a processor switched off",
        on_machine(gpus=()),
        chosen(devices=(DeviceChoice(id="cpu", use=False),)),
        LendingReason.NO_DEVICE,
        {},
    ),
    (
        "the card switched off, the processor on",
        with_gpu(others_load=0.9),
        chosen(devices=(DeviceChoice(id="cuda:0", use=False), DeviceChoice(id="cpu"))),
        LendingReason.LENDING,
        {},
    ),
    (
        "a busy second card",
        on_machine(
            gpus=(AcceleratorFacts(id="xpu:0", name="Iris", memory_mb=5_000, others_load=0.9), GPU),
        ),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a hot processor beside the card",
        on_machine(cpu_temperature_c=99.0),
        CHOSEN,
        LendingReason.LENDING,
        {},
    ),
    (
        "a hot processor that computes",
        on_machine(gpus=(), cpu_name="Ryzen", cpu_temperature_c=99.0),
        CHOSEN,
        LendingReason.HOT,
        {"device": "Ryzen", "degrees": 99, "limit": 80},
    ),
    ("no thermometer", with_gpu(temperature_c=None), CHOSEN, LendingReason.LENDING, {}),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_rule_that_decides_says_so_with_its_values(
    row: tuple[str, LendingFacts, Preferences, LendingReason, dict[str, Value]],
) -> None:
    _, facts, preferences, reason, values = row
    found = decide_once(facts, preferences)
    assert (found.reason, found.values) == (reason, values)
    assert found.may_compute is (found.state is LendingState.LENDING)


@pytest.mark.parametrize(
    ("why", "reason", "values"),
    [
        (IdleCause.NO_SWARM, LendingReason.NO_SWARM, {"problem": "it says no"}),
        (IdleCause.BARRED, LendingReason.NO_RUN, {"fact": "barred", "problem": "it says no"}),
    ],
)
def test_what_keeps_us_out_wants_a_person_and_is_named(
    why: IdleCause, reason: LendingReason, values: dict[str, Value]
) -> None:
    found = decide_once(replace(CALM, idle_reason=IdleReason(why=why, problem="it says no")))
    assert (found.state, found.reason, found.values) == (LendingState.ATTENTION, reason, values)


def test_every_cause_for_being_in_no_run_has_words() -> None:
    for why in IdleCause:
        found = decide_once(replace(CALM, idle_reason=IdleReason(why=why, problem="it says no")))
        assert texts.decision_template(found)
        assert found.may_compute is (why is IdleCause.JOINING)


def test_a_long_problem_is_cut() -> None:
    found = decide_once(replace(CALM, trainer_problem="x" * 2_000_000))
    assert len(str(found.values["problem"])) == 500


def test_outside_the_hours_the_next_one_is_named() -> None:
    found = decide_once(preferences=chosen(week=NIGHT))
    assert found.until_ms == EVENING_MS + 5 * 1_800_000, "at local midnight"


def test_the_month_ends_at_local_midnight() -> None:
    now = replace(NOW, offset_s=offset_in("America/Mexico_City"))
    found = decide_once(replace(CALM, month_bytes=10**12), now=now)
    assert found.until_ms is not None
    assert replace(now, ms=found.until_ms).month() == "2026-12"
    assert replace(now, ms=found.until_ms - 1).month() == "2026-11"


def test_the_share_is_the_least_of_all_that_limit_it() -> None:
    some = chosen(devices=(DeviceChoice(id="cuda:0", share_percent=70),))
    assert decide_once(preferences=some).share_percent == 70
    used = msgspec.structs.replace(some, while_used=True, used_share_percent=25)
    assert decide_once(in_session(idle_s=1.0), used).share_percent == 25
    assert decide_once(preferences=used).share_percent == 70
    less = msgspec.structs.replace(used, devices=(DeviceChoice(id="cuda:0", share_percent=20),))
    found = decide_once(in_session(idle_s=1.0), less)
    assert (found.share_percent, found.values) == (20, {"share": 20})


@pytest.mark.parametrize(
    ("facts", "preferences", "may"),
    [
        (CALM, CHOSEN, True),
        (CALM, Preferences(), False),
        (in_session(is_metered=True), CHOSEN, False),
        (in_session(is_metered=None), CHOSEN, False),
        (in_session(is_metered=True), chosen(on_metered=True), True),
        (in_session(is_metered=True, game="doom"), CHOSEN, False),
        (replace(CALM, month_bytes=10**12), CHOSEN, False),
        (in_session(game="doom"), CHOSEN, False),
        (in_session(fullscreen="quake"), CHOSEN, False),
        (in_session(game="doom"), chosen(pause_for_games=False), True),
        (in_session(game="doom"), PLAYED_ON, True),
        (in_session(idle_s=1.0), CHOSEN, True),
        (BEHIND, CHOSEN, False),
        (BEHIND, chosen(pause_for_games=False), True),
        (replace(CALM, session=None), CHOSEN, True),
    ],
)
def test_bulk_transfers_hang_on_consent_a_game_and_the_line_alone(
    facts: LendingFacts, preferences: Preferences, *, may: bool
) -> None:
    assert decide_once(facts, preferences).may_transfer is may
    assert decide_once(facts, preferences, BY_HAND).may_transfer is may


def test_bulk_transfers_go_on_a_minute_after_a_game() -> None:
    worker = PolicyWorker()
    worker.watch(in_session(game="doom"), 1)
    assert not worker.watch(CALM, 59).may_transfer
    assert worker.watch(CALM, 1).may_transfer


def test_nothing_is_lent_before_consent() -> None:
    assert decide_once(preferences=Preferences()).reason == LendingReason.NO_CONSENT


DEFAULTS: list[tuple[dict[str, object], LendingFacts, LendingReason]] = [
    ({"idle_minutes": 5}, in_session(idle_s=299.0), LendingReason.IN_USE),
    ({"while_used": False}, in_session(idle_s=1.0), LendingReason.IN_USE),
    ({"pause_for_games": True}, in_session(game="doom"), LendingReason.GAME),
    ({"pause_for_films": False}, in_session(fullscreen="mpv", is_film=True), LendingReason.LENDING),
    ({"exclusive": ()}, in_session(programs=("x",)), LendingReason.LENDING),
    ({"on_battery": False}, on_machine(on_battery=True), LendingReason.BATTERY),
    ({"while_saving_power": False}, on_machine(is_saving_power=True), LendingReason.SAVING_POWER),
    ({"others_cpu_percent": 50}, on_machine(others_cpu=0.51), LendingReason.OTHERS_CPU),
    ({"others_gpu_percent": 15}, with_gpu(others_load=0.16), LendingReason.OTHERS_GPU),
    ({"month_gb": 100}, replace(CALM, month_bytes=10**11), LendingReason.QUOTA),
    ({"on_metered": False}, in_session(is_metered=True), LendingReason.METERED),
    ({"disk_gib": 30}, replace(CALM, store_bytes=40 * GIB), LendingReason.DISK),
    ({"disk_free_gib": 20}, replace(CALM, free_disk_bytes=19 * GIB), LendingReason.DISK),
    ({"devices": ()}, with_gpu(temperature_c=85.0), LendingReason.HOT),
]


@pytest.mark.parametrize("row", DEFAULTS, ids=lambda row: next(iter(row[0])))
def test_every_default_decides_as_it_is_documented(
    row: tuple[dict[str, object], LendingFacts, LendingReason],
) -> None:
    defaults, facts, reason = row
    assert {name: getattr(CHOSEN, name) for name in defaults} == defaults
    assert decide_once(facts).reason == reason


PRESETS = [
    # minutes idle that lend, while used, film, share of the processor that stops
    (LendingPreset.GENTLE, 15, False, LendingReason.FILM, 0.26),
    (LendingPreset.BALANCED, 5, False, LendingReason.LENDING, 0.51),
    (LendingPreset.MAX, 1, True, LendingReason.LENDING, 0.76),
]


@pytest.mark.parametrize(("preset", "minutes", "is_used", "film", "load"), PRESETS)
def test_a_preset_is_as_gentle_as_its_name(
    preset: LendingPreset, minutes: int, film: LendingReason, load: float, *, is_used: bool
) -> None:
    # first something else, so that a preset has to set all that it fixes
    other = apply_preset(
        CHOSEN, LendingPreset.MAX if preset is LendingPreset.GENTLE else LendingPreset.GENTLE
    )
    preferences = apply_preset(other, preset)
    in_use = LendingReason.LENDING_WHILE_USED if is_used else LendingReason.IN_USE
    assert decide_once(in_session(idle_s=minutes * 60 - 1.0), preferences).reason == in_use
    assert (
        decide_once(in_session(idle_s=minutes * 60.0), preferences).reason == LendingReason.LENDING
    )
    shown = in_session(fullscreen="mpv", is_film=True)
    assert decide_once(shown, preferences).reason == film
    assert decide_once(on_machine(others_cpu=load), preferences).reason == LendingReason.OTHERS_CPU
    assert (
        decide_once(on_machine(others_cpu=load - 0.02), preferences).reason == LendingReason.LENDING
    )
