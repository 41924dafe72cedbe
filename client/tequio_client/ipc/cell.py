"""A cell: several devices, also of several computers, that train one contribution together.

Each device has a process, its rank. Rank 0 is the trainer that a worker started; it reads the
files, hands every sample to the others, and encodes the contribution. The others only take inner
steps. They meet at rank 0's key-value store (torch's TCPStore), where they write the JSON messages
of this module; tensors go through torch.distributed.

A store may outlive rank 0, so rank 0 counts the cells formed there. Keys, below the cell's number:

    CELL/hello/RANK    `RankHello`
    CELL/formed        empty, or why the cell cannot be formed
    CELL/task/N        `PrepareRank` or `TakeSteps`, numbered from 1
    CELL/answer/N/RANK `RankAnswer` to a `PrepareRank`
    CELL/alive/RANK    a number that rises every second
    CELL/failed        why a rank ends
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tequio_client import ipc
from tequio_client.ipc.trainer import Label, Number, Positive, Prepare, Windows
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.version import BUILD

VARIABLE = "TEQUIO_CELL"
"""Variable that gives a trainer its place in a cell, as JSON; absent outside cells."""
AWAY_STATUS = 69  # EX_UNAVAILABLE of sysexits.h
"""Exit status of a rank that rank 0 did not answer."""
MOST_RANKS = 1_024
LINE_BYTES = 1 << 20
LOOPBACK = "127.0.0.1"
_PORTS = 1 << 16
_RANK, _SIZE, _ADDRESS, _PORT = "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"
_SLURM = {_RANK: "SLURM_PROCID", _SIZE: "SLURM_NTASKS"}
_LOCAL_RANKS = ("LOCAL_RANK", "SLURM_LOCALID")
_AGENT = "TORCHELASTIC_USE_AGENT_STORE"

Rank: TypeAlias = Annotated[int, Meta(ge=0, lt=MOST_RANKS)]
Size: TypeAlias = Annotated[int, Meta(ge=2, le=MOST_RANKS)]
Division: TypeAlias = Literal["none", "shard", "pipeline", "tensor"]
"""Kinds of parts that ranks have: the whole model, a part of each tensor, some of the layers, or
the matrices that they compute with."""


def layers_of_stages(
    layers: int, ranks: int, *, each: float, first: float, last: float
) -> list[int]:
    """Number of layers of each rank of a pipeline, so that the largest number of weights is least.

    Weights of each layer, and of what the first and the last rank have besides. At least as many
    layers as ranks; O(layers * ranks).
    """
    counts, weights = [1] * ranks, [each] * ranks
    weights[0] += first
    weights[-1] += last
    for _ in range(layers - ranks):  # all of one size
        least = min(range(ranks), key=weights.__getitem__)
        counts[least] += 1
        weights[least] += each
    return counts


class CellNeed(Struct, frozen=True, kw_only=True):
    """Memory that a run takes of each device of a cell, estimated, by their number."""

    ranks: Size
    division: Division
    memory_mb: Annotated[int, Meta(ge=0)]
    """Of the rank that needs most, MiB."""

    @property
    def is_one_computer(self) -> bool:
        """Check whether the cell is for the cards of one computer, not for several computers."""
        return self.division in ("shard", "tensor")

    @property
    def members(self) -> str:
        """Number and kind of devices, each of them like one that is spoken of."""
        kind = "cards of one computer" if self.is_one_computer else "computers"
        return f"{self.ranks} such {kind}"

    @property
    def command(self) -> str:
        """Command that opens the cell."""
        if self.is_one_computer:
            cards = ",".join(f"cuda:{number}" for number in range(self.ranks))
            return f"tequio worker --cell {cards} --{self.division}"
        pipeline = " --pipeline" if self.division == "pipeline" else ""
        return f"tequio cell host --guests {self.ranks - 1}{pipeline}"


def smallest_cell(needs: Sequence[CellNeed], memory_mb: int) -> CellNeed | None:
    """The need of the smallest cell of devices with that memory; None if they cannot train.

    One computer with several cards comes after several computers of any number, which more people
    have.
    """
    fitting = (one for one in needs if one.memory_mb <= memory_mb)
    return min(fitting, key=lambda one: (one.is_one_computer, one.ranks), default=None)


def cell_of_size(needs: Sequence[CellNeed], ranks: int, memory_mb: int) -> CellNeed | None:
    """The need of a cell of that size: the simplest that fits, or the simplest if none does.

    None if no cell of that size can train.
    """
    same = [one for one in needs if one.ranks == ranks]
    return smallest_cell(same, memory_mb) or next(iter(same), None)


class CellPlace(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rank's place in its cell."""

    rank: Rank
    size: Size
    device: Label
    address: Label = LOOPBACK
    """Of rank 0."""
    port: Annotated[int, Meta(ge=0, lt=_PORTS)] = 0
    """Of the store; 0: any free one, on one computer."""
    devices: Annotated[tuple[Label, ...], Meta(max_length=MOST_RANKS)] = ()
    """Devices of all ranks, if rank 0 starts the others on its own computer."""
    has_agent_store: bool = False
    """True if torchrun keeps the store."""
    division: Division = "none"

    @property
    def is_local(self) -> bool:
        """Check whether all ranks are on one computer, started by rank 0."""
        return bool(self.devices)

    def encode(self) -> str:
        return msgspec.json.encode(self).decode()


def decode_place(text: str) -> CellPlace:
    """Read `CellPlace.encode` back; raises UserFacingError."""
    try:
        return encoding.read(text.encode(), CellPlace)
    except MalformedError as err:
        raise UserFacingError(f"{VARIABLE} is invalid ({err}): the worker sets it") from err


def local_place(devices: Sequence[str]) -> CellPlace:
    """Place of rank 0 of a cell on this computer; raises UserFacingError for invalid devices."""
    if not 2 <= len(devices) <= MOST_RANKS:  # noqa: PLR2004 - one device needs no cell
        raise UserFacingError(
            f"a cell has 2 to {MOST_RANKS} devices, not {len(devices)}: name them as in --cell "
            "cuda:0,cuda:1, or omit --cell"
        )
    kinds = {one.partition(":")[0] for one in devices}
    if len(kinds) > 1:
        raise UserFacingError(
            f"the devices of a cell must be of one kind, not {', '.join(sorted(kinds))}"
        )
    if kinds == {"auto"}:
        raise UserFacingError("name the devices of a cell, as in --cell cuda:0,cuda:1")
    twice = next((one for one in devices if devices.count(one) > 1 and one != "cpu"), None)
    if twice is not None:
        raise UserFacingError(f"--cell names {twice} twice: each rank needs a device of its own")
    return CellPlace(rank=0, size=len(devices), device=devices[0], devices=tuple(devices))


def place_from_variables(variables: Mapping[str, str], device: str) -> CellPlace:
    """Place of this process by the variables of torchrun, Slurm or Kubernetes.

    Raises UserFacingError for missing and invalid ones. On a computer with several ranks, `auto`
    becomes the CUDA device of the local rank.
    """
    rank, size = (_number(variables, name, 0, MOST_RANKS) for name in (_RANK, _SIZE))
    if not rank < size or size < 2:  # noqa: PLR2004 - as above
        raise UserFacingError(
            f"{_RANK} {rank} and {_SIZE} {size} make no cell: ranks count from 0, and a cell has 2 "
            "or more"
        )
    address = variables.get(_ADDRESS, "")
    if not address:
        raise UserFacingError(f"{_ADDRESS} is missing: set it to the address of rank 0's computer")
    local = next((variables[one] for one in _LOCAL_RANKS if variables.get(one)), "")
    if device == "auto" and local.isdigit():
        device = f"cuda:{local}"
    return CellPlace(
        rank=rank,
        size=size,
        device=device,
        address=address,
        port=_number(variables, _PORT, 1, _PORTS - 1),
        has_agent_store=variables.get(_AGENT) == "True",
    )


def _number(variables: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = variables.get(name) or variables.get(_SLURM.get(name, ""), "")
    if not text:
        raise UserFacingError(
            f"{name} is missing: --cell env needs {_RANK}, {_SIZE}, {_ADDRESS} and {_PORT}, as "
            "torchrun sets them"
        )
    if not text.isdigit() or not least <= int(text) <= most:
        raise UserFacingError(f"{name} is {text!r}: expected a number from {least} to {most}")
    return int(text)


class RankHello(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rank introduces itself."""

    rank: Rank
    size: Size
    device: Label
    host: Label
    card: Label
    """The same for two processes on one card, and for no two cards; empty for a CPU."""
    torch: Label
    division: Division = "none"
    software: Label = BUILD

    @property
    def name(self) -> str:
        return f"rank {self.rank} ({self.device} of {self.host})"


def why_not_together(hellos: Sequence[RankHello]) -> str:
    """Say why these ranks, rank 0 first, cannot form a cell; empty if they can."""
    first, cards = hellos[0], dict[str, RankHello]()
    for one in hellos:
        if one.size != first.size:
            return (
                f"{one.name} was started for a cell of {one.size} ranks, and {first.name} for one "
                f"of {first.size}: give all the same {_SIZE}"
            )
        if one.division != first.division:
            return (
                f"{one.name} and {first.name} do not agree on --shard, --pipeline and --tensor: "
                "give all the same option, or none"
            )
        if (one.software, one.torch) != (first.software, first.torch):
            return (
                f"{one.name} runs Tequio {one.software} with torch {one.torch}, and {first.name} "
                f"Tequio {first.software} with torch {first.torch}: install the same everywhere"
            )
        if one.device.partition(":")[0] != first.device.partition(":")[0]:
            return f"{one.name} and {first.name} are on different kinds of devices"
        other = cards.setdefault(one.card, one) if one.card else one
        if other is not one:
            return (
                f"{other.name} and {one.name} are on the same card: give each rank a card of its "
                "own (--device, LOCAL_RANK or CUDA_VISIBLE_DEVICES)"
            )
    return ""


class PrepareRank(Struct, frozen=True, forbid_unknown_fields=True, tag="prepare"):
    """Build the model. Its documents follow as bytes, of these sizes, through torch.distributed."""

    prepare: Prepare
    sizes: tuple[Number, ...]


class TakeSteps(Struct, frozen=True, forbid_unknown_fields=True, tag="steps"):
    """Take inner steps together with rank 0, which sends the weights and every sample."""

    round: Positive
    windows: Windows
    steps: Positive
    seed: Number
    """Of torch's generator."""
    sends_gradients: bool
    samples: Positive
    """Samples that go through the network at once."""
    threads: Positive
    memory_mb: Number


RankTask: TypeAlias = PrepareRank | TakeSteps


class RankAnswer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Result of a `PrepareRank`; empty: done."""

    code: Label = ""
    """As in `ipc.trainer.Failed`."""
    reason: Annotated[str, Meta(max_length=65_536)] = ""


decode_hello: Callable[[bytes], RankHello] = ipc.line_decoder(RankHello, LINE_BYTES, "a hello")
decode_task: Callable[[bytes], RankTask] = ipc.line_decoder(RankTask, LINE_BYTES, "a rank's task")
decode_answer: Callable[[bytes], RankAnswer] = ipc.line_decoder(RankAnswer, LINE_BYTES, "an answer")
