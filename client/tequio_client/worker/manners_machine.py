"""What the machine allows: that it can compute at all, its disk, its power, its heat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason
from tequio_client.worker.manners_case import attention, problem, wait

if TYPE_CHECKING:
    from tequio_client.link.decision import Value
    from tequio_client.worker.manners_case import Case

_GIB = 1 << 30
_STORE_SLACK = 1.1
"""How far the store may be beyond its cap for a while: it is trimmed, not kept from growing."""


def broken(case: Case) -> Decision | None:
    """What goes wrong again until somebody does something about it."""
    facts = case.facts
    for said, reason in (
        (facts.trainer_problem, Reason.TRAINER_BROKEN),
        (facts.key_problem, Reason.KEY),
        (facts.standing_problem, Reason.QUARANTINED),
    ):
        if said:
            return attention(reason, problem(said))
    return None


def no_device(case: Case) -> Decision | None:
    """There must be a device that was not switched off and has room for the run."""
    if case.devices is None or case.lent:
        return None
    if not case.devices:
        return attention(Reason.NO_DEVICE)
    largest = max(case.devices, key=lambda one: one.most_mb or 0)
    values: dict[str, Value] = {"device": largest.gpu.name, "wanted": case.facts.need_mb}
    return attention(Reason.NO_DEVICE, {"fact": "small", **values})


def disk(case: Case) -> Decision | None:
    """The store keeps to its cap, and leaves the disk the room that was chosen."""
    facts, chosen = case.facts, case.preferences
    if facts.free_disk_bytes is None:
        return wait(case, Reason.DISK, {"fact": "unknown"})
    if facts.store_bytes > chosen.disk_gib * _GIB * _STORE_SLACK:
        used = _gib(facts.store_bytes)
        return wait(case, Reason.DISK, {"fact": "store", "used": used, "most": chosen.disk_gib})
    if case.traces.is_disk_short or facts.free_disk_bytes < chosen.disk_free_gib * _GIB:
        free = _gib(facts.free_disk_bytes)
        return wait(case, Reason.DISK, {"free": free, "wanted": chosen.disk_free_gib})
    return None


def _gib(size_bytes: int) -> float:
    return round(size_bytes / _GIB, 1)


def power(case: Case) -> Decision | None:
    """Mains power, and no wish of the system to save it."""
    machine, chosen = case.machine, case.preferences
    if not chosen.on_battery:
        if case.devices is None and machine.on_battery is None:
            return wait(case, Reason.BATTERY_UNKNOWN, {"fact": "probe"})
        if machine.on_battery is None:
            return wait(case, Reason.BATTERY_UNKNOWN)
        if machine.on_battery:
            return wait(case, Reason.BATTERY)
    if not chosen.while_saving_power:
        if machine.is_saving_power:
            return wait(case, Reason.SAVING_POWER)
        if machine.is_saving_power is None and machine.on_battery is not False:
            return wait(case, Reason.BATTERY_UNKNOWN, {"fact": "saver"})
    return None


def heat(case: Case) -> Decision | None:
    """A device that resting does not keep below its goal cools down first."""
    for one in case.lent:
        if one.gpu.id in case.traces.hot:
            limit = case.preferences.device(one.gpu.id).temperature_c
            degrees = limit if one.gpu.temperature_c is None else round(one.gpu.temperature_c)
            return wait(
                case, Reason.HOT, {"device": one.gpu.name, "degrees": degrees, "limit": limit}
            )
    return None
