"""Which setting makes the decision of now: the one beside which it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Reason, State

if TYPE_CHECKING:
    from tequio_client.link.decision import Decision

FIELDS = {
    Reason.IN_USE: "idle_minutes",
    Reason.SCHEDULE: "week",
    Reason.GAME: "pause_for_games",
    Reason.FULLSCREEN: "pause_for_games",
    Reason.AFTER_GAME: "pause_for_games",
    Reason.FILM: "pause_for_films",
    Reason.EXCLUSIVE: "exclusive",
    Reason.BATTERY: "on_battery",
    Reason.BATTERY_UNKNOWN: "on_battery",
    Reason.SAVING_POWER: "while_saving_power",
    Reason.OTHERS_GPU: "others_gpu_percent",
    Reason.GPU_UNKNOWN: "others_gpu_percent",
    Reason.SLOWED: "others_gpu_percent",
    Reason.OTHERS_CPU: "others_cpu_percent",
    Reason.QUOTA: "month_gb",
    Reason.METERED: "on_metered",
    Reason.DISK: "disk_free_gib",
    Reason.HOT: "temperature_c",
    Reason.NO_DEVICE: "use",
    Reason.GPU_MEMORY: "memory_mb",
    Reason.LEDGER_UNKNOWN: "ledger",
    Reason.CANNOT_TELL: "idle_minutes",
}
BY_FACT = {
    (Reason.CANNOT_TELL, "fullscreen"): "pause_for_games",
    (Reason.CANNOT_TELL, "game"): "pause_for_games",
    (Reason.CANNOT_TELL, "programs"): "exclusive",
    (Reason.BATTERY_UNKNOWN, "saver"): "while_saving_power",
    (Reason.BATTERY_UNKNOWN, "probe"): "",
    (Reason.DISK, "store"): "disk_gib",
    (Reason.NO_DEVICE, "small"): "memory_mb",
    (Reason.GPU_UNKNOWN, "memory"): "",
}
STOPS = (State.WAITING, State.ATTENTION)


def deciding(decision: Decision) -> str:
    """The field of the preferences that stops lending now; empty: none does."""
    if decision.state not in STOPS:
        return ""
    fact = str(decision.values.get("fact", ""))
    return BY_FACT.get((decision.reason, fact), FIELDS.get(decision.reason, ""))


def device_of(decision: Decision) -> str:
    """The name of the device that the decision is about; empty: of none, or of all."""
    return str(decision.values.get("device", ""))
