"""Messages between host and guest of a cell: JSON frames on one stream, over Noise.

guest  hello           its proof of the code
host   offer           what the guest's owner agrees to
guest  ask             its owner agreed
host   place           its owner agreed too, and all guests are here
either beat            every few seconds, in between
host   refusal         and the end; a guest ends with `leave`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias, TypeVar

import msgspec
import trio
from msgspec import Meta, Struct

from tequio_client import ipc
from tequio_client.ipc.cell import Division, Rank, Size
from tequio_client.ipc.facts import Count, Name
from tequio_client.ipc.trainer import Label
from tequio_shared.errors import MalformedError, PeerError

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerStream

PROTOCOL = "/tequio/cell/1"
MOST_BYTES = 1 << 14
BEAT_S = 5.0
SILENCE_S = 20.0
"""Longest silence of the other side."""

Text: TypeAlias = Annotated[str, Meta(max_length=256)]
Port: TypeAlias = Annotated[int, Meta(ge=1, lt=1 << 16)]
T = TypeVar("T", bound=Struct)


class GuestHello(Struct, frozen=True, kw_only=True, tag="hello"):
    """Read leniently: guests of another version should learn that they are."""

    proof: Annotated[str, Meta(max_length=128)]
    software: Text
    receiver: Text = ""
    """Key to which the guest's part of the points should go, as text; empty: none."""


class CellDevice(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The device that a computer trains with in the cell."""

    id: Name
    """Name used by the trainer, such as `cuda:0`."""
    name: Name
    memory_mb: Count = 0
    """0: unknown."""

    @property
    def kind(self) -> str:
        return self.id.partition(":")[0]

    @property
    def words(self) -> str:
        """The device for people."""
        memory = f"{self.memory_mb / 1024:.0f} GiB" if self.memory_mb else "memory unknown"
        return f"{self.name} ({self.id}, {memory})"


class CellOffer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="offer"):
    """Terms that a guest's owner agrees to."""

    host: Text
    """Name of the host's computer."""
    key: Text
    """Key that works for the cell, and earns what is not shared, as text."""
    receiver: Text = ""
    """Key that gets the points of this guest's part of the work, as text; empty: none."""
    why_none: Annotated[str, Meta(max_length=512)] = ""
    """Why the key that the guest named gets none."""
    ledger: Annotated[str, Meta(max_length=1_024)]
    run: Text
    """Name of the run."""
    ranks: Size
    division: Division
    device: CellDevice
    """Of the host."""
    torch: Text
    """Version of torch; empty: unknown."""
    need_mb: Count
    """Memory that each rank needs, estimated."""


class AskForPlace(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="ask"):
    """A guest asks for a place."""

    host: Text
    """Name of the guest's computer."""
    device: CellDevice
    torch: Text


class RankPlace(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="place"):
    """The guest's rank, once the cell is complete; again after each reconnection."""

    rank: Rank
    address: Label
    """Of rank 0."""
    port: Port


class PlaceRefusal(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="refusal"):
    """The host does not want this guest."""

    reason: Annotated[str, Meta(max_length=1_024)]
    """For people."""


class Beat(Struct, frozen=True, forbid_unknown_fields=True, tag="beat"):
    """A sign of life."""


class Leave(Struct, frozen=True, forbid_unknown_fields=True, tag="leave"):
    """The guest's owner stopped it."""


Message: TypeAlias = GuestHello | CellOffer | AskForPlace | RankPlace | PlaceRefusal | Beat | Leave
decode_message: Callable[[bytes], Message]
decode_message = ipc.line_decoder(Message, MOST_BYTES, "a message of a cell")


class CellConversation:
    """One side of the stream between a host and a guest."""

    def __init__(self, stream: PeerStream) -> None:
        self.stream = stream
        self._sending = trio.Lock()  # a stream has one writer at a time

    async def send(self, message: Message) -> None:
        async with self._sending:
            await self.stream.send_frame(msgspec.json.encode(message))

    async def receive(self) -> Message:
        """Receive the next message that is not a beat; raises PeerError, also after silence."""
        while True:
            frame = await self.stream.receive_frame(most_bytes=MOST_BYTES, timeout_s=SILENCE_S)
            message = decode_message(bytes(frame))
            if not isinstance(message, Beat):
                return message

    async def receive_a(self, kind: type[T]) -> T:
        """Receive a message of that kind; raises RefusedPlaceError and PeerError."""
        message = await self.receive()
        if isinstance(message, PlaceRefusal):
            raise RefusedPlaceError(message)
        if not isinstance(message, kind):
            raise MalformedError(f"{type(message).__name__} where {kind.__name__} is due")
        return message

    async def beat(self) -> NoReturn:
        """Give signs of life until cancelled; raises PeerError once the stream is gone."""
        while True:
            await trio.sleep(BEAT_S)
            await self.send(Beat())


class RefusedPlaceError(PeerError):
    """The host refused."""

    def __init__(self, refusal: PlaceRefusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal
