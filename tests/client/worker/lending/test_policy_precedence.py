"""Which rule of the lending policy decides when several apply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc.preferences import DeviceChoice, Preferences
from tequio_client.ipc.snapshot import LendingReason, LendingState, Snooze
from tequio_client.worker.lending.facts import (
    JOINING,
    NONE_OPEN,
)
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.plugin import PluginSpec
from tests.support.lending_facts import (
    CALM,
    CHOSEN,
    EVENING_MS,
    GIB,
    GPU,
    LEND,
    chosen,
    decide_once,
    in_session,
    on_machine,
    with_gpu,
)

if TYPE_CHECKING:
    from tequio_client.worker.lending.facts import LendingFacts

NIGHT = (0b111,) * 7  # 0 to 3 o'clock


class Setting:
    """Facts, preferences and a wish, to which one disturbance after another is added."""

    def __init__(self) -> None:
        self.facts = CALM
        self.preferences = CHOSEN
        self.wish = LEND

    def session(self, **changes: object) -> None:
        """Change the session."""
        self.facts = in_session(self.facts, **changes)

    def machine(self, **changes: object) -> None:
        """Change the machine."""
        self.facts = on_machine(self.facts, **changes)

    def gpu(self, **changes: object) -> None:
        """Change the accelerator."""
        assert self.facts.machine is not None
        first = (self.facts.machine.gpus or (GPU,))[0]
        self.machine(gpus=(msgspec.structs.replace(first, **changes),))

    def fact(self, **changes: object) -> None:
        """Change any other fact."""
        self.facts = replace(self.facts, **changes)  # type: ignore[arg-type]  # by field name

    def choose(self, **changes: object) -> None:
        """Change what was chosen."""
        self.preferences = msgspec.structs.replace(self.preferences, **changes)

    def want(self, **changes: object) -> None:
        """Change the wish."""
        self.wish = msgspec.structs.replace(self.wish, **changes)


PLUGIN = PluginSpec(
    name="tiny",
    version="1.0",
    archive=to_text(sha256(b"archive")),
    size_bytes=7,
    provides=("model",),
)
PRECEDENCE: list[tuple[LendingReason, LendingState, list[tuple[str, dict[str, object]]]]] = [
    (LendingReason.NO_CONSENT, LendingState.PAUSED, [("choose", {"consent": False})]),
    (LendingReason.BY_HAND, LendingState.PAUSED, [("want", {"lend": False})]),
    (
        LendingReason.SNOOZED,
        LendingState.SNOOZED,
        [("want", {"snooze": Snooze(until_ms=EVENING_MS + 900_000, asked_ms=EVENING_MS)})],
    ),
    (LendingReason.NO_RUNTIME, LendingState.WAITING, [("fact", {"has_runtime": False})]),
    (
        LendingReason.TRAINER_BROKEN,
        LendingState.ATTENTION,
        [("fact", {"trainer_problem": "exit 1"})],
    ),
    (
        LendingReason.QUARANTINED,
        LendingState.ATTENTION,
        [("fact", {"standing_problem": "until Monday"})],
    ),
    (
        LendingReason.OUTDATED,
        LendingState.ATTENTION,
        [("fact", {"wanted_version": "0.3.0", "round": None})],
    ),
    (LendingReason.CLOCK, LendingState.ATTENTION, [("fact", {"clock_ahead_ms": 600_000})]),
    (LendingReason.PLUGIN, LendingState.PAUSED, [("fact", {"plugin": PLUGIN})]),
    (
        LendingReason.LEDGER_UNKNOWN,
        LendingState.ATTENTION,
        [("fact", {"ledger_problem": "no route", "was_ledger_reached": False})],
    ),
    (
        LendingReason.NO_DEVICE,
        LendingState.ATTENTION,
        [("choose", {"devices": (DeviceChoice(id="cuda:0", use=False),)})],
    ),
    (LendingReason.DISK, LendingState.WAITING, [("fact", {"free_disk_bytes": 19 * GIB})]),
    (
        LendingReason.LEDGER_AWAY,
        LendingState.WAITING,
        [("fact", {"ledger_problem": "no route", "idle_reason": JOINING})],
    ),
    (LendingReason.NO_RUN, LendingState.WAITING, [("fact", {"idle_reason": NONE_OPEN})]),
    (LendingReason.BATTERY, LendingState.WAITING, [("machine", {"on_battery": True})]),
    (LendingReason.SAVING_POWER, LendingState.WAITING, [("machine", {"is_saving_power": True})]),
    (LendingReason.HOT, LendingState.WAITING, [("gpu", {"temperature_c": 85.0})]),
    (LendingReason.GAME, LendingState.WAITING, [("session", {"game": "doom"})]),
    (LendingReason.FULLSCREEN, LendingState.WAITING, [("session", {"fullscreen": "quake.exe"})]),
    (
        LendingReason.EXCLUSIVE,
        LendingState.WAITING,
        [("choose", {"exclusive": ("blender",)}), ("session", {"programs": ("blender",)})],
    ),
    (LendingReason.SCHEDULE, LendingState.WAITING, [("choose", {"week": NIGHT})]),
    (LendingReason.QUOTA, LendingState.WAITING, [("fact", {"month_bytes": 100 * 10**9})]),
    (LendingReason.METERED, LendingState.WAITING, [("session", {"is_metered": True})]),
    (LendingReason.IN_USE, LendingState.WAITING, [("session", {"idle_s": 3.0})]),
    (LendingReason.OTHERS_GPU, LendingState.WAITING, [("gpu", {"others_load": 0.4})]),
    (LendingReason.OTHERS_CPU, LendingState.WAITING, [("machine", {"others_cpu": 0.8})]),
    (LendingReason.GPU_MEMORY, LendingState.WAITING, [("gpu", {"free_mb": 3_000})]),
    (LendingReason.LENDING, LendingState.LENDING, []),
]
"""Each disturbance gives way to every one above it. A device that was switched off hides the
rows about accelerators only: those stand below it."""


def disturbed(rows: list[int]) -> Setting:
    setting = Setting()
    for row in rows:
        for what, changes in PRECEDENCE[row][2]:
            getattr(setting, what)(**changes)
    return setting


def reason_of(setting: Setting) -> LendingReason:
    return decide_once(setting.facts, setting.preferences, setting.wish).reason


@pytest.mark.parametrize("row", range(len(PRECEDENCE)), ids=lambda row: PRECEDENCE[row][0])
def test_each_disturbance_alone_is_the_reason(row: int) -> None:
    reason, state, _ = PRECEDENCE[row]
    setting = disturbed([row])
    found = decide_once(setting.facts, setting.preferences, setting.wish)
    assert (found.reason, found.state) == (reason, state)
    assert found.may_compute is (reason == LendingReason.LENDING)


@pytest.mark.parametrize("row", range(len(PRECEDENCE)), ids=lambda row: PRECEDENCE[row][0])
def test_each_disturbance_wins_over_every_one_below_it(row: int) -> None:
    for below in range(row + 1, len(PRECEDENCE)):
        assert reason_of(disturbed([below, row])) == PRECEDENCE[row][0], PRECEDENCE[below][0]
    assert reason_of(disturbed(list(range(row, len(PRECEDENCE))))) == PRECEDENCE[row][0]


@pytest.mark.parametrize(
    ("facts", "preferences", "reason"),
    [
        (
            in_session(game="doom", fullscreen="mpv", is_film=True),
            chosen(pause_for_films=True),
            LendingReason.GAME,
        ),
        (
            in_session(fullscreen="mpv", is_film=True, programs=("blender",)),
            chosen(pause_for_films=True, exclusive=("blender",)),
            LendingReason.FILM,
        ),
        (
            with_gpu(on_machine(on_battery=None), temperature_c=90.0),
            CHOSEN,
            LendingReason.BATTERY_UNKNOWN,
        ),
        (in_session(is_metered=None, game=None), CHOSEN, LendingReason.METERED),
        (in_session(game=None, idle_s=1.0), CHOSEN, LendingReason.CANNOT_TELL),
        (with_gpu(in_session(idle_s=None), others_load=0.9), CHOSEN, LendingReason.CANNOT_TELL),
        (
            on_machine(with_gpu(others_load=None, load=None), others_cpu=0.9),
            CHOSEN,
            LendingReason.GPU_UNKNOWN,
        ),
        (with_gpu(on_machine(others_cpu=None), free_mb=0), CHOSEN, LendingReason.OTHERS_CPU),
    ],
)
def test_what_is_unknown_has_its_place_too(
    facts: LendingFacts, preferences: Preferences, reason: LendingReason
) -> None:
    assert decide_once(facts, preferences).reason == reason
