"""The volunteer's preferences about lending: when, how much of the machine, how much bandwidth.

The app edits them and the worker obeys them. The worker stores its own copy, so that it behaves the
same without a window. Defaults are those of the preset Balanced without consent: nothing is lent.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc.facts import MAX_GPUS, Count, Name
from tequio_shared import encoding
from tequio_shared.errors import MalformedError

VERSION = 1
"""Version of the stored form. A greater one was written by a newer program."""
MAX_BYTES = 1 << 16
HOURS = 24
DAYS = 7
RESERVED_MEMORY_MB = 2_048
"""Accelerator memory left to the desktop and its browser by default, MiB."""
MAX_MEMORY_SHARE = 0.8
_GIB = 1 << 30
WHOLE_WEEK = ((1 << HOURS) - 1,) * DAYS
"""All hours of all days of the week."""

Percent: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=100)]
Hours: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << HOURS)]
"""Bit h set: the hour from h o'clock, by the local clock."""
Week: TypeAlias = Annotated[tuple[Hours, ...], msgspec.Meta(min_length=DAYS, max_length=DAYS)]
"""Seven days, Monday first."""
Mbit: TypeAlias = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]


class LendingPreset(StrEnum):
    GENTLE = "gentle"
    BALANCED = "balanced"
    MAX = "max"
    CUSTOM = "custom"


class DeviceChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for one accelerator, or for the processor (`cpu`), and the run that it trains."""

    id: Name
    """The device's key (`AcceleratorFacts.key`)."""
    use: bool = True
    while_used: bool = False
    """Lend it also while somebody uses the computer or plays; for a card without a screen."""
    run: Name = ""
    """Id of the run to train; empty or not open: `Preferences.run`, or another one if a device is
    in that."""
    role: Annotated[str, msgspec.Meta(pattern="^(auto|trainer|witness)$")] = "auto"
    memory_mb: Count = 0
    """0: all but 2 GiB, and at most 80 %."""
    watts: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    """Target reached by resting between steps; 0: none."""
    temperature_c: Annotated[int, msgspec.Meta(ge=40, le=110)] = 80
    share_percent: Percent = 100
    """Share of the time to compute."""
    threads: Annotated[int, msgspec.Meta(ge=0, le=1_024)] = 0
    """0: all cores but one."""


def usable_memory_mb(total_mb: int, chosen_mb: int = 0) -> int:
    """Compute how much of a device's memory may be used; 0 chosen: all but 2 GiB, at most 80 %."""
    if chosen_mb:
        return min(chosen_mb, total_mb)
    return max(0, min(total_mb - RESERVED_MEMORY_MB, int(total_mb * MAX_MEMORY_SHARE)))


def usable_disk_bytes(preferences: Preferences, used_bytes: int, free_bytes: int) -> int:
    """Compute how much a run may take: up to the limit, while enough of the disk stays free.

    `used_bytes` is what the store, working files and error feedback take already.
    """
    spare = max(free_bytes - preferences.disk_free_gib * _GIB, 0)
    return min(preferences.disk_gib * _GIB, used_bytes + spare)


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """All preferences that decide whether and how much is lent."""

    version: Annotated[int, msgspec.Meta(ge=1)] = VERSION
    consent: bool = False
    preset: LendingPreset = LendingPreset.BALANCED
    idle_minutes: Annotated[int, msgspec.Meta(ge=0, le=24 * 60)] = 5
    while_used: bool = False
    used_share_percent: Percent = 30
    """Share of the time to compute while the computer is in use, if that is allowed."""
    week: Week = WHOLE_WEEK
    pause_for_games: bool = True
    pause_for_films: bool = False
    exclusive: Annotated[tuple[Name, ...], msgspec.Meta(max_length=64)] = ()
    """Programs during which nothing is lent."""
    on_battery: bool = False
    while_saving_power: bool = False
    others_cpu_percent: Percent = 50
    others_gpu_percent: Percent = 15
    keep_awake: bool = False
    devices: Annotated[tuple[DeviceChoice, ...], msgspec.Meta(max_length=MAX_GPUS + 1)] = ()
    upload_mbit: Mbit | None = None
    download_mbit: Mbit | None = None
    month_gb: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 100
    """Monthly traffic limit, up and down together, decimal GB; 0: no limit."""
    on_metered: bool = False
    opens_router_port: bool = False
    """Ask the home's router by UPnP or NAT-PMP to let other peers connect to this computer."""
    finds_lan_peers: bool = False
    """Announce this computer in the local network, and connect to members of the run there."""
    disk_gib: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 30
    disk_free_gib: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 20
    run: Name = ""
    """Id of the run to join; empty or not open: chosen automatically. Only one device can train
    it."""
    judge: bool = False
    """Offer to judge competitions, and score when drawn."""

    def device(self, key: str) -> DeviceChoice:
        """Choose the limits of one device, or the defaults for a device without its own."""
        return next((one for one in self.devices if one.id == key), DeviceChoice(id=key))


PRESETS = {
    LendingPreset.GENTLE: {
        "idle_minutes": 15,
        "while_used": False,
        "pause_for_films": True,
        "others_cpu_percent": 25,
    },
    LendingPreset.BALANCED: {
        "idle_minutes": 5,
        "while_used": False,
        "pause_for_films": False,
        "others_cpu_percent": 50,
    },
    LendingPreset.MAX: {
        "idle_minutes": 1,
        "while_used": True,
        "pause_for_films": False,
        "others_cpu_percent": 75,
    },
}
"""Fields that a preset sets; all others stay as they were chosen."""


def apply_preset(preferences: Preferences, preset: LendingPreset) -> Preferences:
    return msgspec.structs.replace(preferences, preset=preset, **PRESETS.get(preset, {}))


def decode(content: bytes) -> Preferences:
    """Decode them, ignoring unknown fields; raises MalformedError."""
    if len(content) > MAX_BYTES:
        raise MalformedError(f"preferences of {len(content)} bytes, {MAX_BYTES} at most")
    return encoding.read(content, Preferences)
