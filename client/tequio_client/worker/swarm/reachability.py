"""Finding out whether others can connect to this peer: peers try it for each other.

A peer behind a home router connects to seeds and to others that can be dialled; nobody connects to
it, unless somebody introduces them (`hole_punching`). It cannot see that itself, so it asks.
Protocol /tequio/reach/1: the asker sends one frame, a TCP port (u16, big-endian); the other peer
connects to that port at the address from which the asker is connected, has the peer there prove the
asker's key, hangs up, and answers one frame: a status byte, then the address that it saw, as text.

* A request names no address, so it cannot aim our connections at anybody but its sender.
* A router may be shared by strangers: ports below 1024, which are of services, are not tried.
* One peer's answer is not enough where there are more: `judge` takes the majority of networks.

(AutoNAT of py-libp2p 0.8.1 cannot serve here: its server dials a peer to which it is connected
already, which the library answers with the open connection. Everybody would be reachable.)
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from random import Random

import structlog
import trio

from tequio_client.ipc.snapshot import ReachState
from tequio_client.worker.swarm import dials
from tequio_client.worker.swarm.dials import Reach, reach_of
from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
from tequio_shared.addresses import network_of, parse_host
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import PeerKey, peer_id_text

log = structlog.get_logger(__name__)

REACH_PROTOCOL = "/tequio/reach/1"
FIRST_PORT = 1024
DIAL_BACKS = 4
"""Peers that are tried at once."""
ASKED_PEERS = 5
"""Most peers asked at a time."""
NEEDED_NETWORKS = 2
"""Networks whose peers have to reach us before we believe it, if there are as many."""
PORTS = 3
"""Most ports that a peer is asked to try."""
ANSWER_S = 15.0
FIRST_S = 3.0
"""Pause before the first check, in which connections are made."""
UNANSWERED_S, ONE_NETWORK_S, SETTLED_S = 20.0, 60.0, 600.0
"""Pauses after a check without any answer, with answers from one network only, and from more."""
OLDEST_S = 1_800.0
"""A result is forgotten when no check has had an answer for this long."""
_REQUEST = struct.Struct("!H")
_ANSWER_BYTES = 64


class DialBackStatus(IntEnum):
    REACHED = 0
    UNREACHED = 1
    BUSY = 2
    REFUSED = 3


class DialBack:
    """Tries, for peers that ask, whether they can be reached at the address they come from."""

    def __init__(self, network: PeerNetwork) -> None:
        self._network = network
        self._running = 0
        network.serve(REACH_PROTOCOL, self.serve)

    async def serve(self, stream: PeerStream) -> None:
        """Answer one request; raises PeerError when the peer fails or breaks the protocol."""
        request = await stream.receive_frame(most_bytes=_REQUEST.size)
        if len(request) != _REQUEST.size:
            raise MalformedError(f"a port of {len(request)} bytes")
        (port,) = _REQUEST.unpack(request)
        host = plain_host(stream.remote_host)
        status = await self._try(stream.peer, host, port)
        await stream.send_frame(bytes((status,)) + host.encode())

    async def _try(self, peer: PeerKey, host: str, port: int) -> DialBackStatus:
        reach = reach_of(host)
        # Behind a container's bridge everybody comes from one address, which is not theirs.
        is_hidden = self._network.public_only and reach is not Reach.PUBLIC
        if reach is None or is_hidden or port < FIRST_PORT:
            return DialBackStatus.REFUSED
        if self._running >= DIAL_BACKS or not self._network.limiter.allows_dial_back(
            network_of(host)
        ):
            return DialBackStatus.BUSY
        self._running += 1
        try:
            await self._network.knock(peer, address(host, port))
        except PeerError as err:
            log.debug("a peer is not reached", peer=peer_id_text(peer), error=str(err))
            return DialBackStatus.UNREACHED
        finally:
            self._running -= 1
        return DialBackStatus.REACHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answer of one peer about one port."""

    place: str
    """Network address of the peer that tried."""
    host: str
    """Our address as that peer sees it."""
    port: int
    is_reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachVerdict:
    state: ReachState = ReachState.UNKNOWN
    confirmed: tuple[tuple[str, int], ...] = ()
    """Addresses and ports at which we were reached."""
    seen: tuple[str, ...] = ()
    """Our addresses as others see them, of the farthest reach that any of them sees."""
    places: int = 0
    """Networks from which there were answers about those."""

    def choose_announced(self, own: Sequence[str]) -> list[str]:
        """Of our own addresses, as multiaddr texts, and confirmed ones, those to give to others.

        Public addresses only if confirmed, once peers in public networks have tried. Private ones
        stay: peers of the same local network dial them.
        """
        public = [one for one in self.seen if reach_of(one) is Reach.PUBLIC]
        if self.state is ReachState.UNKNOWN or not public:
            return list(own)
        families = {":" in one for one in public}
        kept = (one for one in own if not _is_public_of(one, families))
        return list(dict.fromkeys((*(address(*one) for one in self.confirmed), *kept)))


def judge(answers: Iterable[Answer]) -> ReachVerdict:
    """Decide by the majority of networks, each of which counts once for an address and port.

    Only answers of the peers that are farthest away count: a neighbour in the local network reaches
    us at our private address, which says nothing about the internet.
    """
    found = [(reach, one) for one in answers if (reach := reach_of(one.host)) is not None]
    farthest = max((reach for reach, _ in found), default=None)
    counted = [one for reach, one in found if reach is farthest]
    places = {one.place for one in counted}
    reached: dict[tuple[str, int], set[str]] = {}
    missed: dict[tuple[str, int], set[str]] = {}
    for one in counted:
        (reached if one.is_reached else missed).setdefault((one.host, one.port), set()).add(
            one.place
        )
    needed = min(NEEDED_NETWORKS, len(places))
    # Of all networks that answered about the port: the address is their word.
    asked: dict[tuple[bool, int], set[str]] = {}
    for one in counted:
        asked.setdefault((":" in one.host, one.port), set()).add(one.place)
    confirmed = [
        where
        for where, by in reached.items()
        if len(by) >= needed and 2 * len(by) > len(asked[":" in where[0], where[1]])
    ]
    is_missed = all(len(missed.get(where, ())) > len(by) for where, by in reached.items())
    if confirmed:
        state = ReachState.REACHABLE
    else:
        state = ReachState.UNREACHABLE if counted and is_missed else ReachState.UNKNOWN
    return ReachVerdict(
        state=state,
        confirmed=tuple(confirmed),
        seen=tuple(dict.fromkeys(one.host for one in counted)),
        places=len(places),
    )


class ReachabilityCheck:
    """Asks peers regularly whether they reach us, and has the network announce the result."""

    def __init__(self, network: PeerNetwork, rng: Random) -> None:
        self._network = network
        self._rng = rng
        self._answered_s = 0.0
        self.is_own_address = False
        """Others see an address of this computer itself: no router is in between."""
        self._asked_again = trio.Event()
        self.verdict = ReachVerdict()
        self.router_port: Callable[[], int | None] = lambda: None
        """The port that the router forwards to ours, if it was asked to and did."""
        self.port_lost: Callable[[], None] = lambda: None
        """Called when others cannot connect to that port, or not any more."""
        network.choose_announced = self._choose_announced

    async def run(self) -> None:
        """Check until cancelled."""
        await trio.sleep(FIRST_S)
        while True:
            again = self._asked_again
            pause_s = await self.check()
            with trio.move_on_after(pause_s * self._rng.uniform(0.8, 1.2)):
                await again.wait()

    def check_soon(self) -> None:
        """Check again now: a port was opened on the router, or closed."""
        self._asked_again.set()
        self._asked_again = trio.Event()

    async def check(self) -> float:
        """Ask some peers; returns the pause before the next time."""
        answers: list[Answer] = []
        with trio.move_on_after(ANSWER_S):
            async with trio.open_nursery() as nursery:
                for peer in self._peers_to_ask():
                    nursery.start_soon(self._ask, peer, answers)
        if not answers:
            if trio.current_time() - self._answered_s > OLDEST_S:
                self.verdict = ReachVerdict()
            return UNANSWERED_S
        self._answered_s = trio.current_time()
        before, self.verdict = self.verdict, judge(answers)
        self.is_own_address = not dials.own_hosts().isdisjoint(self.verdict.seen)
        if self.verdict != before:
            log.info(
                "reachability",
                state=self.verdict.state.value,
                confirmed=[address(*one) for one in self.verdict.confirmed],
                networks=self.verdict.places,
            )
        # Once, not at every check: the router may have no part in it.
        is_news = self.verdict.state is not before.state
        if is_news and self.verdict.state is ReachState.UNREACHABLE and self.router_port():
            self.port_lost()
        is_settled = self.verdict.places >= NEEDED_NETWORKS
        return SETTLED_S if is_settled else ONE_NETWORK_S

    def _choose_announced(self, own: list[str]) -> list[str]:
        return self.verdict.choose_announced(own)

    def _peers_to_ask(self) -> list[PeerKey]:
        """Choose connected peers, of different networks as far as possible.

        Those that we chose first: others may have come to mislead us.
        """
        network = self._network
        peers = sorted(network.connected_peers())
        mixed = self._rng.sample(peers, len(peers))
        mixed.sort(key=lambda one: not network.is_chosen(one))
        first: dict[str, PeerKey] = {}
        for peer in mixed:
            first.setdefault(network.network_of(peer), peer)
        chosen = list(first.values())
        return [*chosen, *(one for one in mixed if one not in chosen)][:ASKED_PEERS]

    def _ports(self) -> list[int]:
        # Beside a port on the router, another one would only use up the patience of others.
        if mapped := self.router_port():
            return [mapped]
        announced = (int(one.split("/")[4]) for one in self._network.addresses())
        return list(dict.fromkeys((*self._network.listen_ports(), *announced)))[:PORTS]

    async def _ask(self, peer: PeerKey, answers: list[Answer]) -> None:
        for port in self._ports():
            try:
                answer = await self._ask_port(peer, port)
            except PeerError as err:
                log.debug("no answer about our reach", peer=peer_id_text(peer), error=str(err))
                return
            if answer is not None:
                answers.append(answer)

    async def _ask_port(self, peer: PeerKey, port: int) -> Answer | None:
        """None if the peer does not try now. Raises PeerError."""
        stream = await self._network.open_stream(peer, REACH_PROTOCOL)
        try:
            await stream.send_frame(_REQUEST.pack(port))
            raw = bytes(await stream.receive_frame(most_bytes=_ANSWER_BYTES))
        finally:
            await stream.drop()
        status, host = parse_answer(raw)
        if status not in (DialBackStatus.REACHED, DialBackStatus.UNREACHED):
            return None
        place = self._network.network_of(peer)
        is_reached = status is DialBackStatus.REACHED
        return Answer(place=place, host=host, port=port, is_reached=is_reached)


def parse_answer(raw: bytes) -> tuple[DialBackStatus, str]:
    """Read the status and our address as the peer sees it; raises MalformedError."""
    try:
        host = str(ipaddress.ip_address(raw[1:].decode("ascii")))
        return DialBackStatus(raw[0]), host
    except (ValueError, IndexError) as err:
        raise MalformedError(f"not an answer about our reach: {raw[:40]!r}") from err


def plain_host(host: str) -> str:
    """The IPv4 address in an IPv4-mapped IPv6 one; others as they are, in their usual spelling."""
    return str(parse_host(host) or host)


def address(host: str, port: int) -> str:
    return f"/{'ip6' if ':' in host else 'ip4'}/{host}/tcp/{port}"


def _is_public_of(own: str, families: set[bool]) -> bool:
    host = own.split("/")[2]
    return reach_of(host) is Reach.PUBLIC and (":" in host) in families
