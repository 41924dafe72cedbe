"""The host of a cell: admits guests, gives each a rank, and stays there for those that return.

A guest is a key of the peer network that proves to know the code. Its owner agrees first, then the
host's. A rank belongs to a guest until it leaves, or stays away for `PLACE_KEPT_S`; then another
one may have it. Rank 0 is the host's own, and is started by its worker: torch brings the ranks
together (`trainer.ranks`), and nothing of their work goes through here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import structlog
import trio
from msgspec.structs import replace

from tequio_client.ipc.cell import CellPlace
from tequio_client.names import clean_text
from tequio_client.platform import cell_network
from tequio_client.worker.cells import discovery
from tequio_client.worker.cells.code import CellKeys, fingerprint
from tequio_client.worker.cells.computer import Decisions, Terminal
from tequio_client.worker.cells.messages import (
    PROTOCOL,
    AskForPlace,
    CellConversation,
    CellOffer,
    GuestHello,
    Leave,
    PlaceRefusal,
    RankPlace,
    RefusedPlaceError,
)
from tequio_client.worker.shutdown import ungrouped_errors
from tequio_shared.errors import MalformedError, PeerError, TequioError
from tequio_shared.ids import PeerKey, from_text, key_from_text, to_text
from tequio_shared.limits import RECEIVERS
from tequio_shared.ratelimit import TokenBuckets
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream

log = structlog.get_logger(__name__)

Check: TypeAlias = Callable[[PeerKey], Awaitable[str]]
"""Says why a key cannot receive points, as the predicate of a sentence; empty if it can."""
PLACE_KEPT_S = 60.0
"""How long a guest may be away without losing its rank."""
GUESSES, GUESSES_PER_S = 5, 1 / 60
"""Wrong proofs of one address at once, and as time goes by."""
RECHECK_S = 5.0
"""Between two questions to a ledger that does not answer."""
_CHECK_S = 1.0
_LABEL = 64


@dataclass(slots=True, kw_only=True)
class GuestList:
    """Guests that are let in without asking."""

    known: set[PeerKey] = field(default_factory=set)
    """Accepted before, or since then."""
    expected: frozenset[str] = frozenset()
    """Fingerprints."""
    on_accepted: Callable[[PeerKey], object] = lambda _: None

    def has(self, guest: PeerKey) -> bool:
        return guest in self.known or fingerprint(guest) in self.expected

    def add(self, guest: PeerKey) -> None:
        if guest not in self.known:
            self.known.add(guest)
            self.on_accepted(guest)


@dataclass(slots=True)
class GuestSeat:
    """A guest and its rank."""

    rank: int
    ask: AskForPlace
    receiver: PeerKey | None
    """Key that gets the points of its part of the work."""
    talk: CellConversation | None
    """None while it is away."""
    gone_s: float = 0.0  # when it went, in trio's time


class CellHost:
    """Owner of the guests' seats; `opened` runs it."""

    def __init__(
        self,
        network: PeerNetwork,
        keys: CellKeys,
        offer: CellOffer,
        owner: Terminal,
        guests: GuestList,
        check: Check | None = None,
    ) -> None:
        """Without `check`, all points stay with the host's key."""
        self._network, self._keys, self._offer, self._owner = network, keys, offer, owner
        self._guests, self._check = guests, check
        self._decisions: Decisions
        self._guesses = TokenBuckets(GUESSES_PER_S, GUESSES)
        self.seats: dict[PeerKey, GuestSeat] = {}
        self.rank_owners: dict[int, PeerKey] = {}
        """Receivers of points, by the ranks of their computers; changes as guests come and go."""
        self._address = ""  # of rank 0, from the first guest's connection on
        self._port = 0
        self.complete = trio.Event()
        """Set once all guests have been here together."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Announce the cell, and serve guests, while the block runs."""
        async with trio.open_nursery() as nursery:
            self._decisions = Decisions(self._owner, nursery)
            self._network.serve(PROTOCOL, self._serve)
            nursery.start_soon(discovery.announce, self._network.key, self.port)
            nursery.start_soon(self._free_seats)
            yield
            nursery.cancel_scope.cancel()

    @property
    def port(self) -> int:
        """The TCP port at which guests reach the host."""
        return self._network.listen_ports()[0]

    def place(self) -> CellPlace:
        """Rank 0's place, once a guest has been seated."""
        return CellPlace(
            rank=0,
            size=self._offer.ranks,
            device=self._offer.device.id,
            address=self._address,
            port=self._port,
            division=self._offer.division,
        )

    async def _serve(self, stream: PeerStream) -> None:
        talk = CellConversation(stream)
        try:
            with ungrouped_errors():
                await self._admit(talk)
        except RefusedPlaceError as err:
            log.info("guest refused", guest=fingerprint(stream.peer), why=str(err))
            with suppress(PeerError):
                await talk.send(err.refusal)
        finally:
            seat = self.seats.get(stream.peer)
            if seat is not None and seat.talk is talk:
                seat.talk, seat.gone_s = None, trio.current_time()
                self._owner.print_line(f"{self._name(stream.peer, seat.ask)} is away")

    async def _admit(self, talk: CellConversation) -> None:
        """Talk with a guest until it leaves; raises PeerError, RefusedPlaceError too."""
        guest, hello = talk.stream.peer, await talk.receive_a(GuestHello)
        self._check_proof(guest, talk.stream.remote_host, hello)
        self._check_room(guest)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(talk.beat)
            receiver, why_none = await self._receiver(guest, hello)
            text = to_text(receiver) if receiver else ""
            await talk.send(replace(self._offer, receiver=text, why_none=why_none))
            ask = await talk.receive_a(AskForPlace)
            if why := why_unfit(self._offer, ask):
                raise RefusedPlaceError(PlaceRefusal(reason=why))
            # Beside it, what the guest sends is read on: a stream that nobody reads is lost.
            nursery.start_soon(self._seat, talk, ask, receiver)
            await talk.receive_a(Leave)
            nursery.cancel_scope.cancel()
        if (seat := self.seats.get(guest)) is not None and seat.talk is talk:
            self._free(guest)
            self._owner.print_line(f"{self._name(guest, ask)} has left; rank {seat.rank} is free")

    def _check_proof(self, guest: PeerKey, host: str, hello: GuestHello) -> None:
        now_s = trio.current_time()
        wait_s = self._guesses.spend(host, 0, now_s)
        if wait_s > 0:
            # Not even looked at, so that guessing on costs time.
            raise RefusedPlaceError(
                PlaceRefusal(
                    reason=f"too many wrong codes from {host}: wait {wait_s:.0f} s and join "
                    "again with the code that the host shows"
                )
            )
        try:
            is_right = self._keys.is_proof(guest, from_text(hello.proof))
        except MalformedError:
            is_right = False
        if not is_right:
            self._guesses.spend(host, 1, now_s)
            raise RefusedPlaceError(
                PlaceRefusal(reason="wrong code: ask the host to read it out again")
            )
        if hello.software != BUILD:
            raise RefusedPlaceError(
                PlaceRefusal(
                    reason=f"this computer runs Tequio {clean_text(hello.software, _LABEL)}, "
                    f"and the host Tequio {BUILD}: install the same version on both"
                )
            )

    def _check_room(self, guest: PeerKey) -> None:
        most = self._offer.ranks - 1
        if guest not in self.seats and len(self.seats) >= most:
            raise RefusedPlaceError(
                PlaceRefusal(
                    reason=f"the cell is full: its host opened it for {most} guests; ask for "
                    f"--guests {most + 1}"
                )
            )

    async def _receiver(self, guest: PeerKey, hello: GuestHello) -> tuple[PeerKey | None, str]:
        """Decide which key gets the guest's part of the points; else why the one it names does not.

        One request to the ledger, unless the guest comes back; while the ledger does not answer,
        the guest waits, for its points would go to the host.
        """
        if not hello.receiver:
            return None, ""
        if self._check is None:
            return None, "the host keeps all points"
        try:
            receiver = key_from_text(hello.receiver)
        except MalformedError as err:
            return None, f"it is not a key ({err})"
        seat = self.seats.get(guest)
        if seat is not None and seat.receiver == receiver:
            return receiver, ""
        if why := self._why_too_many(receiver):
            return None, why
        while True:
            try:
                why = await self._check(receiver)
                break
            except TequioError as err:
                log.warning("a guest waits: its key cannot be checked", error=str(err))
            await trio.sleep(RECHECK_S)
        return (None, f"this key {why}") if why else (receiver, "")

    def _why_too_many(self, receiver: PeerKey) -> str:
        known = set(self.rank_owners.values())
        if receiver in known or len(known) < RECEIVERS:
            return ""
        return f"a cell shares points with at most {RECEIVERS} keys, and others came first"

    async def _seat(
        self, talk: CellConversation, ask: AskForPlace, receiver: PeerKey | None
    ) -> None:
        """Let the owner decide, then give the guest its rank as soon as all are here."""
        guest = talk.stream.peer
        if not self._guests.has(guest):
            shares = f" Its part of the points goes to {to_text(receiver)}." if receiver else ""
            question = f"Let {self._name(guest, ask)} join?{shares}"
            if not await self._decisions.agrees(guest, question):
                raise RefusedPlaceError(
                    PlaceRefusal(reason="the host did not accept this computer")
                )
        await self._choose_address(talk.stream.remote_host)
        self._check_room(guest)  # others may have been seated meanwhile
        if receiver and (why := self._why_too_many(receiver)):
            raise RefusedPlaceError(PlaceRefusal(reason=f"{why}: join again"))
        self._guests.add(guest)
        seat = self.seats.setdefault(guest, GuestSeat(self._free_rank(), ask, receiver, talk))
        seat.ask, seat.receiver, seat.talk = ask, receiver, talk
        self._share(seat)
        here = sum(one.talk is not None for one in self.seats.values())
        self._owner.print_line(
            f"{self._name(guest, ask)} is rank {seat.rank}; {here} of {self._offer.ranks - 1} "
            "guests are here"
        )
        if here == self._offer.ranks - 1:
            self.complete.set()
        await self.complete.wait()
        if seat.talk is talk:
            await talk.send(RankPlace(rank=seat.rank, address=self._address, port=self._port))

    async def _choose_address(self, guest: str) -> None:
        """Choose where rank 0 listens: at the address by which this computer reaches its guests."""
        if not self._address:
            self._address = cell_network.address_towards(guest)
            self._port = await trio.to_thread.run_sync(cell_network.free_port, self._address)

    def _share(self, seat: GuestSeat) -> None:
        if seat.receiver is None:
            self.rank_owners.pop(seat.rank, None)
        else:
            self.rank_owners[seat.rank] = seat.receiver

    def _free(self, guest: PeerKey) -> None:
        self.rank_owners.pop(self.seats.pop(guest).rank, None)

    def _free_rank(self) -> int:
        taken = {one.rank for one in self.seats.values()}
        return min(set(range(1, self._offer.ranks)) - taken, default=0)

    async def _free_seats(self) -> NoReturn:
        while True:
            await trio.sleep(_CHECK_S)
            for guest, seat in list(self.seats.items()):
                if seat.talk is None and trio.current_time() - seat.gone_s > PLACE_KEPT_S:
                    self._free(guest)
                    self._owner.print_line(
                        f"{self._name(guest, seat.ask)} did not come back; rank {seat.rank} is "
                        "free for anybody who has the code"
                    )

    @staticmethod
    def _name(guest: PeerKey, ask: AskForPlace) -> str:
        name, device = clean_text(ask.host, _LABEL), clean_text(ask.device.words, 2 * _LABEL)
        return f"{name} [{fingerprint(guest)}] with {device}"


def why_unfit(offer: CellOffer, ask: AskForPlace) -> str:
    """Why a guest's device or torch does not fit into the cell; empty if they do."""
    mine, theirs = offer.device, ask.device
    if mine.kind != theirs.kind:
        # Each side reads what the other one called its device.
        host, guest = clean_text(mine.id, _LABEL), clean_text(theirs.id, _LABEL)
        kind = clean_text(mine.kind, _LABEL)
        return (
            f"the host trains on {host}, and this computer on {guest}: all devices of a "
            f"cell are of one kind; join with --device {kind}, or ask the host for another"
        )
    if 0 < theirs.memory_mb < offer.need_mb:
        return (
            f"each computer of the cell needs about {offer.need_mb:,} MiB, and this one's "
            f"{clean_text(theirs.id, _LABEL)} has {theirs.memory_mb:,} MiB: ask the host for more "
            "--guests with --pipeline, or for another run"
        )
    if offer.torch and ask.torch and offer.torch != ask.torch:
        return (
            f"this computer has torch {clean_text(ask.torch, _LABEL)}, and the host torch "
            f"{clean_text(offer.torch, _LABEL)}: install the same version on both"
        )
    return ""
