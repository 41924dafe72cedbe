"""Facts about the computer and the person using it, for the decision to lend.

`None` means unknown, and never counts as a reason to lend. Facts travel whole: a sender repeats
everything it knows each time, so that no stale value survives in a field that was left out. Times
in seconds or milliseconds since 1970 as named, memory in MiB, rates in bytes per second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc

MAX_ROWS = 500
"""Rows of one reply."""
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]
ShortText: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]
RowLimit: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]
Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=256)]
Part: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]

MAX_GPUS = 32
LINE_BYTES = 1 << 16
"""Maximum length of a line between worker and probe, newline included."""


class ProbeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Health of one probe, shown to people who wonder why nothing is lent."""

    name: Name
    """`idle`, `fullscreen`, `game`, `lock`, `metered`, `battery`, `gpu`, `cpu` or the like."""
    source: Name
    """Interface that answered: `x11`, `mutter`, `logind`, `upower`, `nvml` …"""
    ok: bool
    error: Annotated[str, msgspec.Meta(max_length=512)] = ""
    took_ms: Count = 0


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that only a program inside the user's session can see; sent on change and every 5 s."""

    idle_s: Seconds | None = None
    """Time since the last input of keyboard, mouse or gamepad."""
    is_locked: bool | None = None
    fullscreen: Name | None = None
    """Program whose window fills the screen; empty: none."""
    is_film: bool = False
    """The program in full screen is a browser or a video player."""
    game: Name | None = None
    """Game that is running, according to a game library or a game mode; empty: none."""
    programs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=64)] | None = None
    """Programs that run, of the user's exclusive ones and the one whose end a snooze awaits; empty
    tuple: none."""
    is_metered: bool | None = None
    has_other_user: bool | None = None
    """Somebody uses the computer in another session, where nothing of this one sees input, windows
    or games: those facts are unknown then. True holds until a probe answers False."""
    health: Annotated[tuple[ProbeHealth, ...], msgspec.Meta(max_length=32)] = ()


class AcceleratorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator, now."""

    id: Name
    """Name used by the trainer: `cuda:0`, `xpu:0`, `mps`, `cpu`."""
    name: Name
    serial: Name = ""
    """Identifies the card in whatever slot: the driver's UUID, else its PCI address; empty: neither
    is known."""
    memory_mb: Count | None = None
    free_mb: Count | None = None
    load: Part | None = None
    """Load from all programs together."""
    others_load: Part | None = None
    """Load from programs other than ours."""
    temperature_c: float | None = None
    watts: Annotated[float, msgspec.Meta(ge=0.0, le=1e5)] | None = None
    watts_limit: Annotated[float, msgspec.Meta(ge=0.0, le=1e5)] | None = None
    energy_j: Annotated[float, msgspec.Meta(ge=0.0, le=1e15)] | None = None
    """Energy counted by the card since its driver was loaded."""
    driver: Name = ""

    @property
    def key(self) -> str:
        """The name under which preferences keep its limits; another card in its slot has another.

        A device without a serial has its id, which the order of the cards decides.
        """
        return self.serial or self.id


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that any program on this machine can see; sent by the probe about once a second."""

    gpus: Annotated[tuple[AcceleratorFacts, ...], msgspec.Meta(max_length=MAX_GPUS)] | None = None
    """None: the probe does not answer. Empty: the computer has no accelerator."""
    cpu_name: Name = ""
    cores: Count = 1
    others_cpu: Part | None = None
    """Share of all cores that other programs use."""
    cpu_temperature_c: float | None = None
    memory_mb: Count | None = None
    free_memory_mb: Count | None = None
    on_battery: bool | None = None
    """False also on a computer without a battery."""
    is_saving_power: bool | None = None
    health: Annotated[tuple[ProbeHealth, ...], msgspec.Meta(max_length=32)] = ()


class ProbeInstructions(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions from the worker to the probe: one line whenever they change."""

    ours: Annotated[tuple[Count, ...], msgspec.Meta(max_length=256)] = ()
    """Process ids of the worker and its trainers, whose load does not count as other programs'."""
    is_computing: bool = False
    """One of them is using an accelerator now; used where the system does not attribute load to
    processes."""
    is_quiet: bool = False
    """Do not query the accelerators: each query keeps them awake, which drains a battery."""


UNKNOWN_SESSION = SessionFacts()
UNKNOWN_MACHINE = MachineFacts()
_DUE = "a line between worker and probe"
decode_machine_facts: Callable[[bytes], MachineFacts]
decode_machine_facts = ipc.line_decoder(MachineFacts, LINE_BYTES, _DUE)
decode_instructions: Callable[[bytes], ProbeInstructions]
decode_instructions = ipc.line_decoder(ProbeInstructions, LINE_BYTES, _DUE)


def encode(line: MachineFacts | ProbeInstructions) -> bytes:
    return ipc.encode(line)
