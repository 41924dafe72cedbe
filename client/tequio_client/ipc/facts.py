"""What is known about the computer and whoever sits at it, as the decision to lend needs it.

`None` means that nobody can tell, and never counts as "all is well". Facts travel whole: a sender
says all it knows each time, so that nothing old survives in a field that was left out. Times in
seconds or milliseconds since 1970 as named, memory in MiB, rates in bytes a second.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc import codec

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=256)]
Part: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]

GPUS = 32
"""Most accelerators that one message may name."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One probe's health, for the eyes of whoever wonders why nothing is lent."""

    name: Name
    """`idle`, `fullscreen`, `game`, `lock`, `metered`, `battery`, `gpu`, `cpu` or the like."""
    source: Name
    """Which interface answered: `x11`, `mutter`, `logind`, `upower`, `nvml` …"""
    ok: bool
    error: Annotated[str, msgspec.Meta(max_length=512)] = ""
    took_ms: Count = 0


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What only a program inside the user's session can see; sent on change and every 5 s."""

    idle_s: Seconds | None = None
    """Since the last input of keyboard, mouse or gamepad."""
    is_locked: bool | None = None
    fullscreen: Name | None = None
    """Program whose window fills the screen; empty: none does."""
    is_film: bool = False
    """Whether that program plays films (a browser or a player)."""
    game: Name | None = None
    """Game that runs, by a game library or a game mode; empty: none does."""
    programs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=64)] | None = None
    """Those of the user's exclusive programs that run; none: an empty list."""
    is_metered: bool | None = None
    health: Annotated[tuple[Fact, ...], msgspec.Meta(max_length=32)] = ()


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator, now."""

    id: Name
    """As the trainer names it: `cuda:0`, `xpu:0`, `mps`, `cpu`."""
    name: Name
    memory_mb: Count | None = None
    free_mb: Count | None = None
    load: Part | None = None
    """How busy it is, all programs together."""
    others_load: Part | None = None
    """How busy programs other than ours keep it."""
    temperature_c: float | None = None
    watts: Annotated[float, msgspec.Meta(ge=0.0, le=1e5)] | None = None
    watts_limit: Annotated[float, msgspec.Meta(ge=0.0, le=1e5)] | None = None
    energy_j: Annotated[float, msgspec.Meta(ge=0.0, le=1e15)] | None = None
    """Counted by the card since its driver was loaded."""
    driver: Name = ""


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What any program on this machine can see; from the probe process, about once a second."""

    gpus: Annotated[tuple[Gpu, ...], msgspec.Meta(max_length=GPUS)] | None = None
    """None: the probe does not answer. Empty: there is no accelerator."""
    cpu_name: Name = ""
    cores: Count = 1
    others_cpu: Part | None = None
    """Share of all cores that other programs take."""
    cpu_temperature_c: float | None = None
    memory_mb: Count | None = None
    free_memory_mb: Count | None = None
    on_battery: bool | None = None
    """False too where there is no battery."""
    is_saving_power: bool | None = None
    health: Annotated[tuple[Fact, ...], msgspec.Meta(max_length=32)] = ()


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker tells the probe: a line whenever it changes."""

    ours: Annotated[tuple[Count, ...], msgspec.Meta(max_length=256)] = ()
    """Processes whose load is not that of others: the worker and its trainers."""
    is_computing: bool = False
    """Whether one of them is using an accelerator now; asked where no system tells who does."""
    is_quiet: bool = False
    """Leave the accelerators alone: to ask one keeps it awake, which costs a battery dearly."""


LINE_BYTES = 1 << 16
"""Longest line between worker and probe, newline included."""
_DUE = "a line between worker and probe"
_MACHINE: msgspec.json.Decoder[MachineFacts] = msgspec.json.Decoder(MachineFacts)
_WATCH: msgspec.json.Decoder[Watch] = msgspec.json.Decoder(Watch)


def encode(line: MachineFacts | Watch) -> bytes:
    """Write one line, newline included."""
    return codec.encode(line)


def decode_machine(line: bytes) -> MachineFacts:
    """Read what the probe says; raises MalformedError."""
    return codec.decode(_MACHINE, line, LINE_BYTES, _DUE)


def decode_watch(line: bytes) -> Watch:
    """Read what the worker tells the probe; raises MalformedError."""
    return codec.decode(_WATCH, line, LINE_BYTES, _DUE)


NOTHING_OF_SESSION = SessionFacts()
NOTHING_OF_MACHINE = MachineFacts()
