"""Connections between two peers that nobody can dial, through the routers of both.

Two members behind home routers exchange through seeds, which costs a seed every byte twice. Most
routers let them connect directly, if both try at the same time and each knows where the other one
is. A peer to which both are connected introduces them; it carries no byte of what they exchange.
Protocol /tequio/punch/1, one frame each way:

* The asker names a peer, the port from which it will connect, and the port from which it has the
  connection on which it asks. The introducer sends the peer an invitation with the address from
  which the asker is connected. A peer that accepts names a port of its own and begins to connect;
  the introducer passes it on, with the address of that peer, and the asker connects as well.
* Nobody names an address of its own, so nobody can aim the connections of others at third parties
  but the introducer, and it only as far as any peer that names addresses (`dials`): by reach, and
  at a bounded rate. Ports below 1024, which are of services, are refused.
* Both sides accept only members of their round (`is_partner`). Introducers bound the requests of
  each network, and all at once; nothing of a request outlives its few seconds.
* A router that gives each connection a port of its own choice cannot be met this way. The
  introducer sees it by the port of the connection on which it is asked, and says so.

(DCUtR of py-libp2p 0.8.1 dials every address that the other side names, loopback and host names
included, and a circuit costs its relay each byte in and out: docs/decisions/0058.)
"""

from __future__ import annotations

import ipaddress
import struct
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from random import Random
from typing import NoReturn
from weakref import WeakValueDictionary

import structlog
import trio

from tequio_client.worker.swarm.dials import LEDGER_SOURCE, Claim, Reach, reach_of
from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream, PunchedPort
from tequio_client.worker.swarm.reachability import FIRST_PORT, address, plain_host
from tequio_shared.addresses import network_of
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import PeerKey, peer_id_text

log = structlog.get_logger(__name__)

PUNCH_PROTOCOL = "/tequio/punch/1"
INTRODUCTIONS = 32
"""Introductions under way at once, of all askers."""
PUNCHES = 8
"""Connections that a peer tries at once because it was invited."""
INTRODUCERS = 3
"""Most peers asked for one introduction."""
MOST_CONNECTIONS = 128
"""With this many connections no more are made this way: there are enough sources."""
INVITE_S = 5.0
ANSWER_S = 8.0
RETRY_S, SOON_S = 600.0, 30.0
"""Pauses before a peer is tried again: after a failure, and when nobody could introduce us."""
REMEMBERED = 4_096
"""Peers remembered for such a pause."""
TEST_S, UNTESTED_S = 600.0, 20.0
"""Pauses between two tests of our router: after an answer, and without one."""
_REQUEST = struct.Struct("!B32sHH")
_ANSWER = struct.Struct("!BH")
_HOST_BYTES = 45


class PunchKind(IntEnum):
    ASK = 0
    INVITE = 1


class PunchStatus(IntEnum):
    READY = 0
    ABSENT = 1
    """The peer is not connected to the introducer, or does not answer."""
    BUSY = 2
    REFUSED = 3
    OTHER_PORTS = 4
    """The router of the side that asks, or is invited, gives each connection another port."""
    NO_WAY = 5
    """Both are behind one address, have addresses of two kinds, or the invited one cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PunchRequest:
    kind: PunchKind
    peer: PeerKey
    """With whom to connect."""
    port: int
    """From which the asker connects."""
    seen_port: int
    """Of the connection that carries this: as the asker has it, or as the introducer sees it."""
    host: str = ""
    """The asker's address; in invitations only."""

    def encode(self) -> bytes:
        fixed = _REQUEST.pack(self.kind, self.peer, self.port, self.seen_port)
        return fixed + self.host.encode()

    @classmethod
    def parse(cls, raw: bytes) -> PunchRequest:
        """Raises MalformedError."""
        try:
            kind, peer, port, seen = _REQUEST.unpack_from(raw)
            host = _parse_host(raw[_REQUEST.size :])
            request = cls(
                kind=PunchKind(kind), peer=PeerKey(peer), port=port, seen_port=seen, host=host
            )
        except (ValueError, struct.error) as err:
            raise MalformedError(f"not a request to connect: {raw[:80]!r}") from err
        if bool(host) is not (request.kind is PunchKind.INVITE):
            raise MalformedError("an address where none belongs, or none in an invitation")
        return request


@dataclass(frozen=True, slots=True, kw_only=True)
class PunchAnswer:
    status: PunchStatus
    port: int = 0
    host: str = ""
    """Address of the invited peer; only to the asker."""

    def encode(self) -> bytes:
        return _ANSWER.pack(self.status, self.port) + self.host.encode()

    @classmethod
    def parse(cls, raw: bytes) -> PunchAnswer:
        """Raises MalformedError."""
        try:
            status, port = _ANSWER.unpack_from(raw)
            host = _parse_host(raw[_ANSWER.size :])
            return cls(status=PunchStatus(status), port=port, host=host)
        except (ValueError, struct.error) as err:
            raise MalformedError(f"not an answer about a connection: {raw[:80]!r}") from err


class HolePuncher:
    """Introduces peers to each other, and connects with members that cannot be dialled."""

    def __init__(
        self,
        network: PeerNetwork,
        partners: Sequence[Callable[[], Collection[PeerKey]]],
        rng: Random,
    ) -> None:
        """`partners` give the members of the round of each run in which we take part.

        Only with them do we connect this way.
        """
        self._network = network
        self._partners = partners
        self._rng = rng
        self._introducing = 0
        self._answering: dict[PeerKey, trio.Event] = {}  # by whom; set when the attempt has ended
        self._asking: WeakValueDictionary[PeerKey, trio.Lock] = WeakValueDictionary()
        self._not_before_s: OrderedDict[PeerKey, float] = OrderedDict()
        self.keeps_ports: bool | None = None
        """True if our router leaves connections their ports; None: not known."""
        network.connect_otherwise = self.connect
        network.serve(PUNCH_PROTOCOL, self.serve)

    async def run(self) -> NoReturn:
        """Find out regularly, until cancelled, whether our router permits it."""
        while True:
            is_known = await self.test_router()
            pause_s = TEST_S if is_known else UNTESTED_S
            await trio.sleep(pause_s * self._rng.uniform(0.8, 1.2))

    async def test_router(self) -> bool:
        """Ask a peer about our router; returns whether one answered."""
        for peer in self._introducers():
            with suppress(PeerError):
                # About ourselves: there is nobody to invite.
                await self._ask(peer, self._network.key, FIRST_PORT)
                return True
        return False

    async def connect(self, peer: PeerKey) -> None:
        """Connect with a member of our round that cannot be dialled; raises PeerError."""
        if not self.is_partner(peer):
            raise PeerError(f"no connection to {peer_id_text(peer)}, and no address that answers")
        async with self._asking.setdefault(peer, trio.Lock()):
            if self._network.is_connected(peer):
                return
            self._check_worthwhile(peer)
            for introducer in self._introducers():
                if await self._connect_through(peer, introducer):
                    self._not_before_s.pop(peer, None)
                    return
            self._postpone(peer, SOON_S)
            raise PeerError(f"nobody introduces us to {peer_id_text(peer)}")

    async def serve(self, stream: PeerStream) -> None:
        """Answer one request; raises PeerError when the peer fails or breaks the protocol."""
        raw = bytes(await stream.receive_frame(most_bytes=_REQUEST.size + _HOST_BYTES))
        request = PunchRequest.parse(raw)
        if request.kind is PunchKind.ASK:
            answer = await self._introduce(stream, request)
        else:
            answer = await self._accept(stream, request)
        await stream.send_frame(answer.encode())

    async def _introduce(self, stream: PeerStream, asked: PunchRequest) -> PunchAnswer:
        host = plain_host(stream.remote_host)
        if (status := self._obstacle(stream, asked, host)) is not None:
            return PunchAnswer(status=status)
        if self._introducing >= INTRODUCTIONS:
            return PunchAnswer(status=PunchStatus.BUSY)
        self._introducing += 1
        try:
            with trio.fail_after(INVITE_S):
                return await self._invite(stream.peer, asked, host)
        except (PeerError, trio.TooSlowError) as err:
            log.debug("an invitation failed", peer=peer_id_text(asked.peer), error=str(err))
            return PunchAnswer(status=PunchStatus.ABSENT)
        finally:
            self._introducing -= 1

    def _obstacle(self, stream: PeerStream, asked: PunchRequest, host: str) -> PunchStatus | None:
        """Find out why the asker cannot be introduced."""
        network, reach = self._network, reach_of(host)
        # Behind a container's bridge everybody comes from one address, which is not theirs.
        is_hidden = network.public_only and reach is not Reach.PUBLIC
        if reach is None or is_hidden or asked.port < FIRST_PORT:
            return PunchStatus.REFUSED
        if not network.limiter.allows_introduction(network_of(host)):
            return PunchStatus.BUSY
        if asked.seen_port != stream.remote_port:
            return PunchStatus.OTHER_PORTS
        if asked.peer not in network.connected_peers() - {stream.peer}:
            return PunchStatus.ABSENT
        other = plain_host(network.host_of(asked.peer))
        return None if _can_meet(host, other) else PunchStatus.NO_WAY

    async def _invite(self, asker: PeerKey, asked: PunchRequest, host: str) -> PunchAnswer:
        stream = await self._network.open_stream(asked.peer, PUNCH_PROTOCOL)
        try:
            invitation = PunchRequest(
                kind=PunchKind.INVITE,
                peer=asker,
                port=asked.port,
                seen_port=stream.remote_port,
                host=host,
            )
            await stream.send_frame(invitation.encode())
            raw = await stream.receive_frame(most_bytes=_ANSWER.size + _HOST_BYTES)
            answer = PunchAnswer.parse(bytes(raw))
            other = plain_host(stream.remote_host)
        finally:
            await stream.drop()
        if answer.status is PunchStatus.READY:
            return PunchAnswer(status=PunchStatus.READY, port=answer.port, host=other)
        is_unable = answer.status is PunchStatus.OTHER_PORTS  # its router, not the asker's
        return PunchAnswer(status=PunchStatus.NO_WAY if is_unable else answer.status)

    async def _accept(self, stream: PeerStream, invited: PunchRequest) -> PunchAnswer:
        """Begin to connect with the asker, if it is a member; returns the answer."""
        peer = invited.peer
        # Only those that we chose to connect to introduce others: strangers come to anybody.
        is_ours = self.is_partner(peer) and self._network.is_chosen(stream.peer)
        if not is_ours or self._network.is_connected(peer):
            return PunchAnswer(status=PunchStatus.REFUSED)
        is_kept = invited.seen_port == stream.local_port
        self._learn(stream.peer, is_kept=is_kept)
        if not is_kept:
            return PunchAnswer(status=PunchStatus.OTHER_PORTS)
        # Of two that ask for each other at once, the one with the smaller key goes on asking.
        is_asking = peer in self._asking and self._network.key < peer
        is_full = len(self._answering) >= PUNCHES or self._is_crowded()
        if is_asking or is_full or peer in self._answering:
            return PunchAnswer(status=PunchStatus.BUSY)
        self._answering[peer] = trio.Event()
        try:
            place = await self._check_place(stream.peer, peer, invited.host, invited.port)
            port = PunchedPort(invited.host)
        except (PeerError, OSError) as err:
            log.debug("an invitation is refused", peer=peer_id_text(peer), error=str(err))
            self._end_answering(peer)
            return PunchAnswer(status=PunchStatus.BUSY)
        self._network.start_answering(peer, port, place, self._end_answering)
        return PunchAnswer(status=PunchStatus.READY, port=port.number)

    def _end_answering(self, peer: PeerKey) -> None:
        self._answering.pop(peer).set()

    async def _connect_through(self, peer: PeerKey, introducer: PeerKey) -> bool:
        """Have ourselves introduced, and connect; False: another one may introduce us.

        Raises PeerError if there is no use in that.
        """
        try:
            port = PunchedPort(plain_host(self._network.host_of(introducer)))
        except OSError as err:
            raise PeerError(f"no port to connect from: {err}") from err
        with port:
            try:
                answer = await self._ask(introducer, peer, port.number)
            except PeerError as err:
                log.debug("no introduction", by=peer_id_text(introducer), error=str(err))
                return False
            if answer.status is PunchStatus.READY:
                await self._dial(peer, port, introducer, answer)
                return True
        if answer.status is PunchStatus.BUSY and self._network.key > peer:
            # Maybe because it asks for us: its invitation may be on its way.
            return await self._wait_to_be_met(peer)
        if answer.status in (PunchStatus.OTHER_PORTS, PunchStatus.NO_WAY):
            self._postpone(peer, RETRY_S)
            raise PeerError(f"no way to {peer_id_text(peer)} through the routers")
        return False

    async def _wait_to_be_met(self, peer: PeerKey) -> bool:
        """Wait for an invitation of that peer, and how it ends; returns whether it connected."""
        with trio.move_on_after(INVITE_S):
            while not (peer in self._answering or self._network.is_connected(peer)):  # noqa: ASYNC110 - the library has no event
                await trio.sleep(0.1)
        if (attempt := self._answering.get(peer)) is not None:
            await attempt.wait()
        return self._network.is_connected(peer)

    async def _dial(
        self, peer: PeerKey, port: PunchedPort, introducer: PeerKey, answer: PunchAnswer
    ) -> None:
        pause_s = SOON_S
        try:
            place = await self._check_place(introducer, peer, answer.host, answer.port)
            pause_s = RETRY_S
            await self._network.dial_through(peer, port, place)
        except PeerError:
            self._postpone(peer, pause_s)
            raise
        log.info("connected through routers", peer=peer_id_text(peer), place=place)

    async def _check_place(self, introducer: PeerKey, peer: PeerKey, host: str, port: int) -> str:
        """Give the address to dial on the introducer's word; PeerError if we do not."""
        if not host or port < FIRST_PORT:
            raise PeerError(f"no place to connect to: {host!r} {port}")
        addr = f"{address(host, port)}/p2p/{peer_id_text(peer)}"
        network = self._network
        source, reach = network.network_of(introducer), network.reach_of(introducer)
        return await network.check_place(addr, Claim(addrs=(addr,), source=source, reach=reach))

    async def _ask(self, introducer: PeerKey, peer: PeerKey, port: int) -> PunchAnswer:
        """Raises PeerError."""
        stream = await self._network.open_stream(introducer, PUNCH_PROTOCOL)
        try:
            request = PunchRequest(
                kind=PunchKind.ASK, peer=peer, port=port, seen_port=stream.local_port
            )
            await stream.send_frame(request.encode())
            most = _ANSWER.size + _HOST_BYTES
            raw = await stream.receive_frame(most_bytes=most, timeout_s=ANSWER_S)
        finally:
            await stream.drop()
        answer = PunchAnswer.parse(bytes(raw))
        if answer.status not in (PunchStatus.REFUSED, PunchStatus.BUSY):
            self._learn(introducer, is_kept=answer.status is not PunchStatus.OTHER_PORTS)
        return answer

    def _learn(self, introducer: PeerKey, *, is_kept: bool) -> None:
        """Record what an introducer sees; one in our own network sees nothing of the router."""
        is_far = self._network.reach_of(introducer) is Reach.PUBLIC
        if is_far or self.keeps_ports is None:
            self.keeps_ports = is_kept

    def _introducers(self) -> list[PeerKey]:
        """Choose peers to ask: those that we chose, seeds first, to which most are connected."""
        chosen = sorted(self._network.outbound_peers())
        mixed = self._rng.sample(chosen, len(chosen))
        return sorted(mixed, key=lambda one: not self._is_named_seed(one))[:INTRODUCERS]

    def _is_named_seed(self, peer: PeerKey) -> bool:
        claim = self._network.find_claim(peer)
        return claim is not None and claim.source == LEDGER_SOURCE

    def _check_worthwhile(self, peer: PeerKey) -> None:
        """Raises PeerError."""
        if self.keeps_ports is False:
            raise PeerError("our router gives each connection another port")
        if self._is_crowded():
            raise PeerError("enough connections")
        if trio.current_time() < self._not_before_s.get(peer, 0.0):
            raise PeerError(f"{peer_id_text(peer)} was tried a short time ago")
        self._not_before_s.pop(peer, None)

    def _postpone(self, peer: PeerKey, pause_s: float) -> None:
        self._not_before_s[peer] = trio.current_time() + pause_s
        if len(self._not_before_s) > REMEMBERED:
            self._not_before_s.popitem(last=False)

    def is_partner(self, peer: PeerKey) -> bool:
        return any(peer in members() for members in self._partners)

    def _is_crowded(self) -> bool:
        return len(self._network.connected_peers()) >= MOST_CONNECTIONS


def _can_meet(first: str, second: str) -> bool:
    """Check that each of two addresses may be reachable from the other one."""
    reach = reach_of(first)
    is_one_home = reach is Reach.PUBLIC and first == second
    return reach is reach_of(second) and (":" in first) is (":" in second) and not is_one_home


def _parse_host(raw: bytes) -> str:
    """Read an IP address; empty if there is none. Raises ValueError."""
    return str(ipaddress.ip_address(raw.decode("ascii"))) if raw else ""
