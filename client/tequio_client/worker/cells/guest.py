"""A guest of a cell: finds the host by the code, and runs the rank that the host gives it.

It stays until its owner stops it, or the host refuses it: when the host is away, it looks for it
again. Its rank runs on meanwhile, and ends with the cell by itself; after `RANK_KEPT_S` without the
host it is ended, since another guest may have its place by then. A guest has no ledger and no place
in the swarm. It may name a key, to which the host gives the points of the guest's part of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NoReturn

import structlog
import trio

from tequio_client.clock import now_ms
from tequio_client.ipc.cell import CellPlace
from tequio_client.keys.identity import KeyStore
from tequio_client.names import clean_text
from tequio_client.runtime import locked
from tequio_client.worker.cells.code import CellKeys, derive_keys, fingerprint, parse_code
from tequio_client.worker.cells.computer import (
    CellFile,
    Decisions,
    Terminal,
    computer_name,
    own_device,
    torch_version,
)
from tequio_client.worker.cells.discovery import MOST_OTHERS, HostAddress, HostFinder
from tequio_client.worker.cells.host import PLACE_KEPT_S, why_unfit
from tequio_client.worker.cells.messages import (
    PROTOCOL,
    AskForPlace,
    CellConversation,
    CellOffer,
    GuestHello,
    Leave,
    RankPlace,
    RefusedPlaceError,
)
from tequio_client.worker.children.trainer import rank_program
from tequio_client.worker.rank import keep_rank
from tequio_client.worker.shutdown import StoppableProgram, ungrouped_errors
from tequio_client.worker.swarm import multicast
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.reachability import address, plain_host
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import PeerKey, from_text, peer_id_text, to_text
from tequio_shared.keys import SEED_BYTES
from tequio_shared.version import BUILD
from tequio_shared.wording import plural

log = structlog.get_logger(__name__)

FIND_S = 30.0
"""First search for the host; later ones have no end."""
RETRY_S = 2.0
RANK_KEPT_S = PLACE_KEPT_S - 5.0
"""How long a rank stays without the host: less than its place is kept."""
_LEAVE_S = 1.0
_LABEL = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestSettings:
    folder: Path
    code: str
    address: HostAddress | None = None
    """Where the host is; None: it is found in the local network."""
    device: str = "auto"
    receiver: PeerKey | None = None
    """Key that gets this computer's part of the points; None: the key of the folder, if any."""
    find_s: float = FIND_S
    log_style: Literal["console", "json"] = "console"


def run(settings: GuestSettings, owner: Terminal) -> None:
    """Be a guest until stopped; raises UserFacingError."""
    settings = replace(settings, code=parse_code(settings.code))
    stopping = StoppableProgram()
    with locked(settings.folder):
        trio.run(stopping.run, partial(_main, settings, owner, stopping))


async def _main(settings: GuestSettings, owner: Terminal, stopping: StoppableProgram) -> None:
    file = CellFile.load(settings.folder)
    file.save(settings.folder)
    keys = await trio.to_thread.run_sync(derive_keys, settings.code)
    device = await own_device(settings.device)
    seed = from_text(file.seed, SEED_BYTES)
    with ungrouped_errors():
        # A guest dials and is not dialled.
        async with PeerNetwork(seed=seed, listen=("/ip4/127.0.0.1/tcp/0",)) as network:
            owner.print_line(f"this computer is {computer_name()} [{fingerprint(network.key)}]")
            ask = AskForPlace(host=computer_name(), device=device, torch=torch_version())
            guest = CellGuest(network, keys, settings, owner, ask)
            stopping.before_stop = guest.leave
            await guest.run()


class CellGuest:
    """One guest; `run` is its life."""

    def __init__(
        self,
        network: PeerNetwork,
        keys: CellKeys,
        settings: GuestSettings,
        owner: Terminal,
        ask: AskForPlace,
    ) -> None:
        self._network, self._keys, self._settings = network, keys, settings
        self._owner, self._ask = owner, ask
        self._receiver = _receiver(settings)
        self._decisions: Decisions
        self._was_there = False  # the host, at least once
        self._is_met = False  # the host, in this visit
        self._finder = HostFinder(keys.host.key)
        self._find_until_s = trio.current_time() + settings.find_s
        self._tried: dict[HostAddress, None] = {}  # found ones at which the host was not
        self._talk: CellConversation | None = None
        self._place: CellPlace | None = None
        self._moved = trio.Event()  # replaced whenever `_place` changed
        self._gone_s = 0.0

    async def run(self) -> NoReturn:
        """Take part until cancelled; raises UserFacingError when that cannot be."""
        async with trio.open_nursery() as nursery:
            self._decisions = Decisions(self._owner, nursery)
            nursery.start_soon(self._run_rank)
            nursery.start_soon(self._give_rank_up)
            if not self._settings.address:
                self._owner.print_line(
                    "looking for the host in the local network, for "
                    f"{self._settings.find_s:.0f} s at most"
                )
            while True:
                host = self._settings.address or await self._find()
                try:
                    with ungrouped_errors():
                        await self._visit(host)
                except RefusedPlaceError as err:
                    raise UserFacingError(
                        f"the host at {host} refused: {clean_text(err.refusal.reason, 4 * _LABEL)}"
                    ) from err
                except PeerError as err:
                    if not self._was_there:
                        if self._settings.address:
                            raise self._unreachable([host]) from err
                        self._tried[host] = None
                    if not self._is_met:
                        self._finder.pass_over(host)
                    self._is_met = False
                    log.warning("the host is away; looking for it", host=str(host), why=str(err))
                await trio.sleep(RETRY_S)

    async def leave(self) -> None:
        """Tell the host that this guest leaves, if it is there."""
        if self._talk is not None:
            with trio.move_on_after(_LEAVE_S):
                await self._talk.send(Leave())

    async def _find(self) -> HostAddress:
        if self._was_there:
            return await self._finder.find()
        with suppress(trio.TooSlowError), trio.fail_at(self._find_until_s):
            return await self._finder.find()
        if self._tried:
            raise self._unreachable(list(self._tried)[:MOST_OTHERS])
        code = self._settings.code
        if others := self._finder.others:
            raise UserFacingError(
                f"none of the cells in the local network has the code {code} (heard from "
                f"{', '.join(sorted(others))}): ask the host to read its code out again"
            )
        raise UserFacingError(
            f"no cell was found in the local network within {self._settings.find_s:.0f} s for the "
            f"code {code}: check that `tequio cell host` runs on the other computer, that both are "
            "in the same network (guest Wi-Fi and VPNs often keep computers apart), and that UDP "
            "port 21084 is open; or name the host with --address HOST:PORT, as the host shows it"
        )

    def _unreachable(self, tried: Sequence[HostAddress]) -> UserFacingError:
        ports = " and ".join(dict.fromkeys(str(one.port) for one in tried))
        return UserFacingError(
            f"no host with the code {self._settings.code} answered at "
            f"{' or '.join(map(str, tried))}: check the code, the address, and that the firewall "
            f"of the host's computer lets TCP port {ports} in"
        )

    async def _visit(self, host: HostAddress) -> None:
        """Be at the host's until one of both is gone; raises PeerError, RefusedPlaceError too."""
        key = self._keys.host.key
        if not self._network.is_connected(key):
            # Noise proves that the host knows the code: its key follows from it.
            await self._network.connect(f"{address(host.host, host.port)}/p2p/{peer_id_text(key)}")
        stream = await self._network.open_stream(key, PROTOCOL)
        talk = CellConversation(stream)
        try:
            proof = to_text(self._keys.proof(self._network.key))
            hello = GuestHello(proof=proof, software=BUILD, receiver=self._receiver)
            await talk.send(hello)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(talk.beat)
                offer = await talk.receive_a(CellOffer)
                self._was_there, self._is_met, self._talk = True, True, talk
                if why := why_unfit(offer, self._ask):
                    raise UserFacingError(f"this computer does not fit into the cell: {why}")
                if self._settings.receiver and offer.why_none:
                    raise UserFacingError(
                        f"--points-to {self._receiver}: {clean_text(offer.why_none, 4 * _LABEL)}"
                    )
                agreed = trio.Event()
                # Beside it, what the host sends is read on: a stream that nobody reads is lost.
                nursery.start_soon(self._agree, talk, offer, agreed)
                while True:
                    told = await talk.receive_a(RankPlace)
                    if not agreed.is_set():
                        raise MalformedError("a rank before this computer's owner agreed")
                    _check_place(offer, told, stream.remote_host)
                    self._move(offer, told)
        finally:
            if self._talk is not None:
                self._gone_s = trio.current_time()
            self._talk = None
            await stream.drop()

    async def _agree(self, talk: CellConversation, offer: CellOffer, agreed: trio.Event) -> None:
        terms = offer.key, offer.receiver, offer.ledger, offer.run, offer.ranks, offer.division
        if not await self._decisions.agrees(terms, _terms(offer, self._ask, self._receiver)):
            raise UserFacingError("you did not agree: nothing was started")
        agreed.set()
        await talk.send(self._ask)
        self._owner.print_line("asked for a place; waiting for the host, and for the other guests")

    def _move(self, offer: CellOffer, told: RankPlace) -> None:
        place = CellPlace(
            rank=told.rank,
            size=offer.ranks,
            device=self._ask.device.id,
            address=told.address,
            port=told.port,
            division=offer.division,
        )
        if place != self._place:
            self._set_place(place)
            host = clean_text(offer.host, _LABEL)
            self._owner.print_line(f"rank {place.rank} of {place.size}; training for {host}")

    def _set_place(self, place: CellPlace | None) -> None:
        self._place = place
        self._moved.set()
        self._moved = trio.Event()

    async def _run_rank(self) -> NoReturn:
        while True:
            moved = self._moved
            async with trio.open_nursery() as nursery:
                if self._place is not None:
                    nursery.start_soon(self._keep_rank, self._place)
                await moved.wait()
                nursery.cancel_scope.cancel()

    async def _keep_rank(self, place: CellPlace) -> NoReturn:
        program = rank_program(self._settings.folder, place, self._settings.log_style)
        while True:
            try:
                await keep_rank(program, place)
            except UserFacingError as err:  # rank 0 stays away, and the host may be there
                log.warning("rank 0 is away", why=str(err))

    async def _give_rank_up(self) -> NoReturn:
        while True:
            await trio.sleep(RETRY_S)
            is_away = self._talk is None and trio.current_time() - self._gone_s > RANK_KEPT_S
            if self._place is not None and is_away:
                self._set_place(None)


def _check_place(offer: CellOffer, told: RankPlace, host: str) -> None:
    """Raise UserFacingError for a rank that is not a guest's, or for another computer's address.

    The owner agreed to train with that host, in this network: what the rank computes goes there.
    """
    if not 0 < told.rank < offer.ranks:
        raise UserFacingError(
            f"the host gives this computer rank {told.rank}, and guests of a cell of "
            f"{plural(offer.ranks, 'device')} have 1 to {offer.ranks - 1}: nothing was started"
        )
    found = plain_host(told.address)
    if found != plain_host(host) and not multicast.is_near(found, multicast.own_addresses()):
        raise UserFacingError(
            f"the host sends this computer to {clean_text(found, _LABEL)}, which is neither the "
            "host's address nor in a local network of this computer: nothing was started"
        )


def _receiver(settings: GuestSettings) -> str:
    """The key to which this computer's part of the points should go, as text; empty: none."""
    if settings.receiver:
        return to_text(settings.receiver)
    return KeyStore(settings.folder, now_ms).state().record.key


def _terms(offer: CellOffer, ask: AskForPlace, receiver: str) -> str:
    """Describe what this computer's owner agrees to."""
    how = {
        "none": "each device has the whole model",
        "shard": "every weight is divided among the devices",
        "pipeline": "each device has some of the layers",
        "tensor": "each device has a part of every layer",
    }[offer.division]
    host, run = clean_text(offer.host, _LABEL), clean_text(offer.run, _LABEL)
    memory = f", about {offer.need_mb:,} MiB of memory" if offer.need_mb else ""
    return (
        f"{host} invites this computer to train together:\n"
        f"  run      {run} at {clean_text(offer.ledger, 4 * _LABEL)}\n"
        f"  points   {_points(offer, receiver)}\n"
        f"  cell     {plural(offer.ranks, 'device')}; {how}{memory}\n"
        f"  device   {clean_text(ask.device.words, 2 * _LABEL)}, until you press Ctrl-C\n"
        "  network  weights, samples and gradients go through the local network neither encrypted\n"
        "           nor authenticated: others in it can read and change them\n"
        "Take part?"
    )


def _points(offer: CellOffer, receiver: str) -> str:
    host = clean_text(offer.key, _LABEL)
    if receiver and offer.receiver == receiver:
        return f"those of this computer's part go to {receiver}, the others to {host}"
    if receiver:
        why = clean_text(offer.why_none, 4 * _LABEL) or "the host does not say why"
        return f"none go to {receiver}: {why}"
    return f"all go to the host's key {host}; --points-to KEY names one of yours"
