"""Everything that the manners look at, with what is too old taken for unknown.

Whoever gathers these reads clocks, disks and pipes; here they are values. A fact that is `None`
is unknown, and no rule that is switched on takes it for "all is well".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_client.link.facts import NOTHING_OF_MACHINE, NOTHING_OF_SESSION, Gpu
from tequio_client.link.preferences import most_memory_mb

if TYPE_CHECKING:
    from tequio_client.link.facts import MachineFacts, SessionFacts
    from tequio_client.link.preferences import Preferences
    from tequio_client.worker.outside import Outside

SESSION_AGE_S = 15.0
"""Older facts of the session are unknown: the app says them every 5 s."""
MACHINE_AGE_S = 5.0
"""The same for those of the machine, which come every second, or every other at rest."""
CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known now."""

    session: SessionFacts | None = None
    """None: no app belongs to this worker, so that no rule about the user's presence applies. A
    worker of an app that has not spoken yet has `NOTHING_OF_SESSION`."""
    session_age_s: float = 0.0
    """Ages by the steady clock."""
    machine: MachineFacts | None = None
    """None: the probe has not answered yet, or has died."""
    machine_age_s: float = 0.0
    month_bytes: int = 0
    free_disk_bytes: int | None = None
    """Where the store is."""
    store_bytes: int = 0
    need_mb: int = 0
    """Memory of a device that the run's training takes; 0: not known yet, or little."""
    is_computing: bool = False
    """Whether a trainer process lives: then the load and memory of devices are partly ours."""
    slowdown: float | None = None
    """Time of our own steps, rests left out, over its calm moving average; None: no steps yet."""
    round: int | None = None
    """The round that we train in now."""
    trainer_problem: str = ""
    """Why no trainer will be started any more."""
    key_problem: str = ""
    standing_problem: str = ""
    """Why rosters pass this key over: in quarantine, or banned."""
    ledger_problem: str = ""
    """What the ledger's last failure was; empty while it answers."""
    was_ledger_reached: bool = False
    """Since the worker began: a run that we are in outlives an outage."""
    outside: Outside | None = None
    """Why we are in no run; None: we are in one."""

    def known_session(self) -> SessionFacts | None:
        """What is known of the session now; None: there is no app that could know."""
        if self.session is None or self.session_age_s <= SESSION_AGE_S:
            return self.session
        return NOTHING_OF_SESSION

    def known_machine(self) -> MachineFacts:
        """What is known of the machine now."""
        if self.machine is None or not self.machine_age_s <= MACHINE_AGE_S:
            return NOTHING_OF_MACHINE
        return self.machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device that may compute."""

    gpu: Gpu
    """Its readings; the processor has the id `cpu`."""
    free_mb: int | None
    """Of its own memory, or of the machine's if it has none."""
    most_mb: int | None
    """What it may use of that; None: nobody knows how much there is."""

    @property
    def is_cpu(self) -> bool:
        """Whether it is the processor."""
        return self.gpu.id == CPU

    def others_load(self, facts: Facts) -> float | None:
        """How busy others keep it: all of its load, where the trainer has no part in it."""
        if self.gpu.others_load is None and not facts.is_computing:
            return self.gpu.load
        return self.gpu.others_load

    def is_too_small(self, need_mb: int) -> bool:
        """Whether the run cannot be trained within what may be used of it."""
        return self.most_mb is not None and self.most_mb < need_mb


def chosen_devices(machine: MachineFacts, preferences: Preferences) -> tuple[Device, ...] | None:
    """Devices that the volunteer lends; None: nobody can tell which there are.

    All accelerators but those that were switched off. The processor if it was switched on, or if
    there is no accelerator and it was not switched off.
    """
    if machine.gpus is None:
        return None
    used = [gpu for gpu in machine.gpus if gpu.id != CPU and preferences.device(gpu.id).use]
    has_choice = any(one.id == CPU for one in preferences.devices)
    if preferences.device(CPU).use if has_choice else not machine.gpus:
        used.append(_processor(machine))
    return tuple(_device(gpu, machine, preferences) for gpu in used)


def lent_devices(devices: tuple[Device, ...] | None, need_mb: int) -> tuple[Device, ...]:
    """Those of the chosen devices that will compute: the one with most memory, if it has enough.

    One, because a worker has one trainer. The other devices are nobody's business: a desktop on
    the processor's own graphics does not keep the big card from being lent.
    """
    able = [one for one in devices or () if not one.is_too_small(need_mb)]
    able.sort(key=lambda one: (one.is_cpu, -(one.gpu.memory_mb or 0)))
    return tuple(able[:1])


def _processor(machine: MachineFacts) -> Gpu:
    listed = next((one for one in machine.gpus or () if one.id == CPU), None)
    plain = Gpu(id=CPU, name=machine.cpu_name, temperature_c=machine.cpu_temperature_c)
    return msgspec.structs.replace(listed or plain, memory_mb=None, free_mb=None)


def _device(gpu: Gpu, machine: MachineFacts, preferences: Preferences) -> Device:
    has_own = gpu.memory_mb is not None
    total_mb = gpu.memory_mb if has_own else machine.memory_mb
    chosen_mb = preferences.device(gpu.id).memory_mb
    return Device(
        gpu=gpu,
        free_mb=gpu.free_mb if has_own else machine.free_memory_mb,
        most_mb=None if total_mb is None else most_memory_mb(total_mb, chosen_mb),
    )
