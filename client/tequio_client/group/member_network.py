"""The members of a group in the peer network: who is connected, and requests with their answers.

One stream carries requests one way and answers the other, in turn; what a body announces follows it
in pieces of 1 MiB. A stream of anybody but a member is refused before a byte of it is read, and
Noise proves whose it is (docs/groups.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.group.group_file import GroupFile
from tequio_client.group.head_store import Content
from tequio_client.group.member_service import AddressList, MemberAnswer, MemberService
from tequio_client.group.messages import (
    MOST_ADDRESSES,
    AnyBody,
    FileSent,
    ForwardedSum,
    GroupMail,
    GroupMessage,
    MaskedUpdate,
    RoundBegin,
    RoundKeys,
)
from tequio_client.worker.shutdown import ungrouped_errors
from tequio_client.worker.swarm.dials import MAX_PLACES, Claim
from tequio_shared.errors import MalformedError, PeerError, SignatureInvalidError
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.limits import BLOB_BYTES, PIECE_BYTES

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream

log = structlog.get_logger(__name__)

CONNECT_EVERY_S = 3.0
"""Pause between attempts to reach members that are not connected."""
IDLE_S = 8 * 86_400.0
"""Longest silence of a coordinator's stream: local training may take days."""
PIECE_S = 60.0
"""Longest time for a piece of 1 MiB."""


def protocol_of(group: GroupFile) -> str:
    """Name the stream protocol; members with another group file speak another one."""
    return f"/tequio/group/1/{to_text(group.id)}"


class MemberNetwork:
    """Connections to the other members, and the server of this member's answers."""

    def __init__(
        self, network: PeerNetwork, service: MemberService, bootstrap: Sequence[str] = ()
    ) -> None:
        self._network = network
        self._service = service
        self._mail: GroupMail = service.mail
        self.group: GroupFile = service.group
        self._protocol = protocol_of(self.group)
        self._bootstrap = tuple(bootstrap)
        # Addresses of each member, by the member that named them: at most one set for each pair.
        self._claims: dict[int, dict[int, Claim]] = {}
        service.on_addresses = self._record_addresses
        service.addresses[service.place] = network.addresses()[:MOST_ADDRESSES]
        network.serve(self._protocol, self._serve)

    def connected(self) -> list[int]:
        """Places of the members to which a connection is open."""
        peers = self._network.connected_peers()
        return [at for at, one in enumerate(self.group.members) if one.public_key in peers]

    async def run(self) -> None:
        """Connect to members again and again, until cancelled."""
        while True:
            await self._connect_missing()
            await trio.sleep(CONNECT_EVERY_S)

    @asynccontextmanager
    async def open(self, place: int) -> AsyncIterator[MemberConversation]:
        """Open a stream to a member; raises PeerError. A failed request makes it useless."""
        key = self.group.members[place].public_key
        stream = await self._network.open_stream(key, self._protocol)
        try:
            yield MemberConversation(stream, self._mail, place)
        finally:
            await stream.drop()

    async def _connect_missing(self) -> None:
        for addr in self._bootstrap:
            await self._connect(addr)
        for place, member in enumerate(self.group.members):
            if place == self._service.place or place in self.connected():
                continue
            for addr in member.addresses:
                suffix = "" if "/p2p/" in addr else f"/p2p/{peer_id_text(member.public_key)}"
                await self._connect(addr + suffix)
            for claim in self._claims.get(place, {}).values():
                try:
                    await self._network.connect_claimed(member.public_key, claim)
                except PeerError as err:
                    log.debug("a member is not reached", member=member.name, error=str(err))

    async def _connect(self, addr: str) -> None:
        try:
            await self._network.connect(addr)
        except PeerError as err:
            log.debug("an address does not answer", address=addr, error=str(err))

    def _record_addresses(self, source: int, named: AddressList) -> None:
        key = self.group.members[source].public_key
        network, reach = self._network.network_of(key), self._network.reach_of(key)
        for place, addresses in named:
            if place >= self.group.size or place == self._service.place:
                continue
            claim = Claim(addrs=addresses[:MAX_PLACES], source=network, reach=reach)
            self._claims.setdefault(place, {})[source] = claim
            # What a member says about itself is passed on rather than what others say.
            if place == source or place not in self._service.addresses:
                self._service.addresses[place] = addresses

    async def _serve(self, stream: PeerStream) -> None:
        place = self.group.index_of(stream.peer)
        if place is None:
            raise PeerError("not a member of the group")
        send, receive = trio.open_memory_channel[tuple[GroupMessage, Content]](0)
        served = _ServedStream(stream, self._service, place)
        try:
            # The peer network counts garbage by the kind of a single error.
            with ungrouped_errors():
                async with trio.open_nursery() as nursery:
                    # Read ahead, so that a coordinator that leaves during our training is noticed.
                    nursery.start_soon(served.read, send)
                    async for message, payload in receive:
                        await served.answer(message, payload)
        finally:
            served.leave()  # also a round that began while the stream ended


class _ServedStream:
    """A stream of another member's requests; a round that began on it ends with it."""

    def __init__(self, stream: PeerStream, service: MemberService, place: int) -> None:
        self._stream = stream
        self._service = service
        self._place = place
        self._begun: int | None = None

    async def read(self, send: trio.MemorySendChannel[tuple[GroupMessage, Content]]) -> None:
        """Read requests until the stream ends; raises MalformedError or SignatureInvalidError."""
        try:
            with send:
                while True:
                    await send.send(await self._receive())
        except (MalformedError, SignatureInvalidError):
            raise
        except PeerError as err:
            log.debug("a member's stream ended", member=self._place, reason=str(err))
        finally:
            self.leave()

    def leave(self) -> None:
        """End the round that began on this stream, if the member is still in it."""
        if self._begun is not None:
            self._service.leave_round(self._begun)

    async def _receive(self) -> tuple[GroupMessage, Content]:
        mail = self._service.mail
        message = mail.parse(bytes(await self._stream.receive_frame(timeout_s=IDLE_S)))
        if message.author != self._place:
            raise MalformedError("a request that another member signed")
        return message, await _receive_payload(self._stream, mail.group, message.body)

    async def answer(self, message: GroupMessage, payload: Content) -> None:
        answer = await self._service.handle(message, payload)
        if isinstance(message.body, RoundBegin) and isinstance(answer.body, RoundKeys):
            self._begun = message.body.round
        await _send(self._stream, self._service.mail.sign(answer.body), answer.payload)


class MemberConversation:
    """Requests to one member over one stream."""

    def __init__(self, stream: PeerStream, mail: GroupMail, place: int) -> None:
        self._stream = stream
        self._mail = mail
        self.place = place

    async def request(
        self, message: GroupMessage, payload: Content = b"", *, timeout_s: float
    ) -> tuple[GroupMessage, Content]:
        """Send a request and wait for its answer; raises PeerError, also when it is late."""
        with trio.move_on_after(timeout_s):
            await _send(self._stream, message, payload)
            frame = bytes(await self._stream.receive_frame(timeout_s=timeout_s))
            answer = self._mail.parse(frame)
            if answer.author != self.place:
                raise MalformedError("an answer that another member signed")
            return answer, await _receive_payload(self._stream, self._mail.group, answer.body)
        raise PeerError(f"no answer in {timeout_s:.0f} s")


async def ask_itself(
    service: MemberService, message: GroupMessage, payload: Content = b""
) -> tuple[GroupMessage, Content]:
    """Let this member answer its own request, as the others do."""
    answer: MemberAnswer = await service.handle(message, payload)
    return service.mail.sign(answer.body), answer.payload


async def _send(stream: PeerStream, message: GroupMessage, payload: Content) -> None:
    await stream.send_frame(message.frame)
    view = memoryview(payload).cast("B")
    for first in range(0, len(view), PIECE_BYTES):
        await stream.send_frame(bytes(view[first : first + PIECE_BYTES]), timeout_s=PIECE_S)


async def _receive_payload(stream: PeerStream, group: GroupFile, body: AnyBody) -> Content:
    due = _payload_bytes(group, body)
    content = bytearray()
    while len(content) < due:
        most = min(PIECE_BYTES, due - len(content))
        piece = await stream.receive_frame(most_bytes=most, timeout_s=PIECE_S)
        if not piece:
            raise MalformedError("an empty piece")
        content += piece
    return content


def _payload_bytes(group: GroupFile, body: AnyBody) -> int:
    match body:
        case MaskedUpdate() | ForwardedSum():
            return group.weights_bytes
        case FileSent(size_bytes=size):
            if size > max(group.weights_bytes, BLOB_BYTES):
                raise MalformedError(f"a file of {size} bytes")
            return size
        case _:
            return 0
