"""Facts of a volunteer's idle computer, and changes to them, for tests of the lending policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec

from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState
from tequio_client.worker.lending.facts import LendingFacts, LocalInstant
from tequio_client.worker.lending.history import LendingHistory, update_history
from tequio_client.worker.lending.policy import decide

if TYPE_CHECKING:
    from tequio_client.ipc.snapshot import Decision

GIB = 1 << 30
EVENING_MS = int(datetime(2026, 11, 21, 20, 30, tzinfo=UTC).timestamp() * 1_000)
"""A Saturday; half past nine in Madrid."""
STEADY_MS = 5_000_000
GPU = AcceleratorFacts(
    id="cuda:0",
    name="RTX 5070",
    memory_mb=12_288,
    free_mb=11_000,
    load=0.02,
    others_load=0.02,
    temperature_c=45.0,
    watts=30.0,
)
MACHINE = MachineFacts(
    gpus=(GPU,),
    cpu_name="Ryzen",
    cores=16,
    others_cpu=0.04,
    cpu_temperature_c=50.0,
    memory_mb=32_768,
    free_memory_mb=20_000,
    on_battery=False,
    is_saving_power=False,
)
SESSION = SessionFacts(
    idle_s=1_800.0, is_locked=False, fullscreen="", game="", programs=(), is_metered=False
)
"""The user left half an hour ago."""
CALM = LendingFacts(
    session=SESSION,
    machine=MACHINE,
    month_bytes=10**9,
    free_disk_bytes=200 * GIB,
    store_bytes=5 * GIB,
    need_mb=4_000,
    round=7,
    was_ledger_reached=True,
)
CHOSEN = Preferences(consent=True)
LEND = DesiredState(number=1, lend=True)


def offset_in(zone: str) -> partial[int]:
    """The offset function of a LocalInstant in that zone."""
    return partial(_offset_s, ZoneInfo(zone))


def _offset_s(zone: ZoneInfo, at_ms: int) -> int:
    offset = datetime.fromtimestamp(at_ms / 1_000, zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


NOW = LocalInstant(ms=EVENING_MS, steady_ms=STEADY_MS, offset_s=offset_in("Europe/Madrid"))


def in_session(facts: LendingFacts = CALM, **changes: object) -> LendingFacts:
    """The same facts with another session."""
    session = msgspec.structs.replace(facts.session or SESSION, **changes)
    return replace(facts, session=session)


def on_machine(facts: LendingFacts = CALM, **changes: object) -> LendingFacts:
    """The same facts with another machine."""
    machine = msgspec.structs.replace(facts.machine or MACHINE, **changes)
    return replace(facts, machine=machine)


def with_gpu(facts: LendingFacts = CALM, **changes: object) -> LendingFacts:
    """The same facts with another accelerator."""
    return on_machine(facts, gpus=(msgspec.structs.replace(GPU, **changes),))


def chosen(**changes: object) -> Preferences:
    """Preferences with consent and these changes."""
    return msgspec.structs.replace(CHOSEN, **changes)


def after(now: LocalInstant, ms: int, wall_ms: int | None = None) -> LocalInstant:
    """The instant `ms` later; `wall_ms`: how far the wall clock moved, if it was set meanwhile."""
    passed = ms if wall_ms is None else wall_ms
    return replace(now, ms=now.ms + passed, steady_ms=now.steady_ms + ms)


class PolicyWorker:
    """Decides about lending again and again, with a history, as the real worker does."""

    def __init__(
        self, preferences: Preferences = CHOSEN, wish: DesiredState = LEND, now: LocalInstant = NOW
    ) -> None:
        """Begin at that moment with an empty history."""
        self.preferences = preferences
        self.wish = wish
        self.now = now
        self.traces = LendingHistory()

    def decide(
        self, facts: LendingFacts = CALM, ms: int = 0, wall_ms: int | None = None
    ) -> Decision:
        """Decide after `ms` without any decision."""
        self.now = after(self.now, ms, wall_ms)
        self.traces = update_history(self.traces, facts, self.preferences, self.wish, self.now)
        return decide(facts, self.preferences, self.wish, self.traces, self.now)

    def watch(self, facts: LendingFacts, seconds: int) -> Decision:
        """Decide once a second for that many seconds; returns the last decision."""
        for _ in range(seconds):
            found = self.decide(facts, ms=1_000)
        return found


def decide_once(
    facts: LendingFacts = CALM,
    preferences: Preferences = CHOSEN,
    wish: DesiredState = LEND,
    now: LocalInstant = NOW,
) -> Decision:
    """Decide once, without a history."""
    return PolicyWorker(preferences, wish, now).decide(facts)
