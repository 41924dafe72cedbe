"""What other programs need of the devices, whoever started them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason
from tequio_client.worker.manners_case import wait
from tequio_client.worker.manners_traces import gpu_percent

if TYPE_CHECKING:
    from tequio_client.link.decision import Value
    from tequio_client.worker.manners_case import Case
    from tequio_client.worker.manners_traces import Strain

_ALL_PERCENT = 100
"""A threshold that nothing exceeds: the rule is switched off."""


def gpu_load(case: Case) -> Decision | None:
    """An accelerator that others keep busy is theirs."""
    if case.devices is None:
        return wait(case, Reason.GPU_UNKNOWN)
    most = gpu_percent(case.session, case.preferences)
    if most >= _ALL_PERCENT:
        return None
    loads = [(one.others_load(case.facts), one.gpu.name) for one in case.lent if not one.is_cpu]
    for load, name in loads:
        if load is None and not case.facts.is_computing:
            return wait(case, Reason.GPU_UNKNOWN, {"fact": "load", "device": name})
    if not loads:
        return None
    load, name = max((load or 0.0, name) for load, name in loads)
    is_over = load * 100 > most
    strain, percent = case.traces.others_gpu, round(load * 100)
    values: dict[str, Value] = {"device": name, "percent": percent}
    return _strained(case, Reason.OTHERS_GPU, strain, values, is_over=is_over)


def cpu_load(case: Case) -> Decision | None:
    """Processor cores of which others take more than was chosen are theirs."""
    most, load = case.preferences.others_cpu_percent, case.machine.others_cpu
    if most >= _ALL_PERCENT:
        return None
    if load is None:
        return wait(case, Reason.OTHERS_CPU, {"fact": "unknown"})
    percent, is_over = round(load * 100), load * 100 > most
    strain = case.traces.others_cpu
    return _strained(case, Reason.OTHERS_CPU, strain, {"percent": percent}, is_over=is_over)


def _strained(
    case: Case, reason: Reason, strain: Strain, values: dict[str, Value], *, is_over: bool
) -> Decision | None:
    """Stop for what lasted, and do not begin beside what is so now."""
    at_ms = case.now.steady_ms
    if strain.is_on(at_ms):
        return wait(case, reason, values, None if is_over else strain.left_ms(at_ms))
    return wait(case, reason, values) if is_over and not case.facts.is_computing else None


def memory(case: Case) -> Decision | None:
    """A trainer that runs has what it needs; before it starts, that much must be free."""
    wanted = case.facts.need_mb
    if case.facts.is_computing or not wanted:
        return None
    for one in case.lent:
        if one.free_mb is None:
            return wait(case, Reason.GPU_UNKNOWN, {"fact": "memory", "device": one.gpu.name})
        if one.free_mb < wanted:
            room = {"free": one.free_mb, "wanted": wanted}
            return wait(case, Reason.GPU_MEMORY, {"device": one.gpu.name, **room})
    return None


def slowed(case: Case) -> Decision | None:
    """Our own steps tell of a rival that no probe sees."""
    strain, at_ms = case.traces.slowed, case.now.steady_ms
    if not strain.is_on(at_ms) or case.preferences.others_gpu_percent >= _ALL_PERCENT:
        return None
    return wait(case, Reason.SLOWED, in_ms=strain.left_ms(at_ms))
