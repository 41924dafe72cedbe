"""Accepts connections, and bounds how many there are: of one network address, and of all.

Rules. A connection either waits, for the head of a request, for more of its body, for a thread or
until its answer is read, or serves a request. When there is no room for a new one, one that waits
is closed for it. If a network address has several that never sent a request, it is the oldest of
the address that has most: an honest client sends at once, an attacker's silent connections grow
old. Otherwise the others that wait are chosen from in the same way, and only then is it one that is
alone and silent. A part of a body begins the wait again, a part of a head does not. Only when no
connection waits is the new one refused.

A thousand new connections may come at once, and each costs a hundred times as much to serve as to
accept. So all are accepted, and served in turns, one of each network address after the other. So
are the parts of bodies read, one in each iteration of the event loop.

Answers that their clients do not read stay in memory, and so do bodies that are not complete,
together at most `UNREAD_BYTES`: beyond that, the network address that has most of them loses the
one that has waited longest.

Each connection may hold two descriptors, its own and that of a blob, so all together leave
`RESERVED_DESCRIPTORS` to the rest of the process. If accepting fails all the same, the spare
descriptor is given up for a moment, so that the client gets an answer instead of silence.

A trusted proxy's connections carry requests of many networks: they only count among all, and
`middleware.RequestLimits` bounds the requests by the forwarded address. (docs/protocol.md, 15.5)
"""

from __future__ import annotations

import asyncio
import os
import socket
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import IPv4Network, IPv6Network
from typing import Generic, Protocol, TypeVar

from tequio_ledger import metrics, resources, runtime
from tequio_ledger.web.limits import MAX_NAMES
from tequio_ledger.web.middleware import MAX_REQUESTS
from tequio_shared.addresses import is_within, network_of

MAX_CONNECTIONS = 4_096
"""Open connections of all addresses together, event streams included."""
RESERVED_DESCRIPTORS = 128
"""Descriptors that connections leave to the rest of the process."""
NETWORK_PART = 8
"""One network address holds at most one part in this many of all connections."""
BACKLOG = 1_024
UNREAD_BYTES = 64 << 20
"""Answers that are written and not read, and incomplete bodies, of all connections together."""
ACCEPT_PAUSE_S = 0.1
"""Pause before the next attempt when a connection could not be accepted."""
_AT_ONCE = 16  # connections accepted in one turn of the event loop; one of them is served
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)
_READ_BYTES = 1 << 16

T = TypeVar("T")


class Closable(Protocol):
    """Entry of the table of connections."""

    def abort(self) -> None:
        """Close at once."""


class OpenConnection(asyncio.BufferedProtocol, ABC):
    @abstractmethod
    def abort(self) -> None:
        """Close it at once, or as soon as it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    most: int
    per_network: int
    """0 sets no limit."""
    proxies: Sequence[IPv4Network | IPv6Network] = field(default=())

    @classmethod
    def of_process(
        cls,
        address_streams: int = 0,
        proxies: Sequence[IPv4Network | IPv6Network] = (),
        *,
        most: int = MAX_CONNECTIONS,
    ) -> ConnectionLimits:
        """Fit the limits into the descriptors of this process.

        A network address may hold as many connections as `middleware.RequestLimits` allows it
        requests: `MAX_REQUESTS` and its event streams. Without a limit on those it has none here.
        """
        per_network = MAX_REQUESTS + address_streams if address_streams else 0
        room = max((resources.descriptor_limit() - RESERVED_DESCRIPTORS) // 2, NETWORK_PART)
        most = min(most, room)
        per_network = min(per_network, most // NETWORK_PART)
        return cls(most=most, per_network=per_network, proxies=proxies)


class ConnectionTable:
    """The open connections of a listener, by network address; used from one event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._networks: dict[Closable, str] = {}
        self._counts: Counter[str] = Counter()
        self._silent = _WaitingList()  # have never sent a request
        self._idle = _WaitingList()  # the others that wait
        self._held: dict[Closable, int] = {}  # bytes; who has waited longest first
        self._held_bytes = 0
        # An attacker opens thousands, and parsing an address costs more than all else here.
        self._network_of = lru_cache(MAX_NAMES)(partial(_network_of, limits.proxies))

    def make_room(self, host: str) -> bool:
        """Close a waiting connection if there is no room for one from `host`; False if none is."""
        network = self._network_of(host)
        most = self._limits.per_network if network else 0
        if most and self._counts[network] >= most:
            chosen = self._silent.oldest_of(network) or self._idle.oldest_of(network)
            return self._close(chosen, "address connections")
        if len(self._networks) >= self._limits.most:
            # A network's only silent one has probably just come: it goes last.
            chosen = self._silent.oldest_of_greediest() or self._idle.oldest_of_greediest()
            chosen = chosen or self._idle.oldest() or self._silent.oldest()
            return self._close(chosen, "all connections")
        return True

    def add(self, connection: Closable, host: str) -> str:
        """Count a connection, which waits for its first request; returns its network address."""
        network = self._network_of(host)
        self._networks[connection] = network
        self._counts[network] += 1
        self._silent.add(connection, network)
        return network

    def network_of(self, connection: Closable) -> str:
        """Give the network address of a connection; empty for a proxy's, and if it is forgotten."""
        return self._networks.get(connection, "")

    def remove(self, connection: Closable) -> None:
        """Forget a connection; does nothing if it is forgotten already."""
        network = self._networks.pop(connection, None)
        if network is None:
            return
        self._silent.discard(connection, network)
        self._idle.discard(connection, network)
        self.release(connection)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def wait(self, connection: Closable) -> None:
        """Record that a connection that sent a request waits for its client from now on."""
        network = self._networks.get(connection)
        if network is not None:
            self._silent.discard(connection, network)
            self._idle.discard(connection, network)
            self._idle.add(connection, network)

    def serve(self, connection: Closable) -> None:
        """Record that a connection does not wait for its client any more."""
        network = self._networks.get(connection)
        if network is not None:
            self._silent.discard(connection, network)
            self._idle.discard(connection, network)

    def hold(self, connection: Closable, size_bytes: int) -> None:
        """Record that so much is in memory for a client that has to send or read more."""
        if connection not in self._networks:
            return
        self.wait(connection)
        self.release(connection)
        self._held[connection] = size_bytes
        self._held_bytes += size_bytes
        while self._held_bytes > UNREAD_BYTES:
            self._close(self._oldest_of_greediest(), "held bytes")

    def release(self, connection: Closable) -> None:
        """Record that the client did so."""
        self._held_bytes -= self._held.pop(connection, 0)

    def _oldest_of_greediest(self) -> Closable:
        held: Counter[str] = Counter()
        for connection, size_bytes in self._held.items():
            held[self._networks[connection]] += size_bytes
        ((greediest, _),) = held.most_common(1)
        return next(one for one in self._held if self._networks[one] == greediest)

    def _close(self, connection: Closable | None, limit: str) -> bool:
        metrics.RATE_LIMITED.labels(limit=limit).inc()
        if connection is None:
            return False
        self.remove(connection)  # here too: its own report comes in a later turn of the loop
        connection.abort()
        return True


def _network_of(proxies: Sequence[IPv4Network | IPv6Network], host: str) -> str:
    """Give the network address; empty for a trusted proxy."""
    return "" if is_within(host, proxies) else network_of(host)


class _WaitingList:
    """Connections in the order in which they began to wait, of all and by network address."""

    def __init__(self) -> None:
        self._all: OrderedDict[Closable, None] = OrderedDict()
        self._by_network: dict[str, OrderedDict[Closable, None]] = {}
        self._by_count: dict[int, OrderedDict[str, None]] = {}  # networks, without proxies

    def add(self, connection: Closable, network: str) -> None:
        own = self._by_network.setdefault(network, OrderedDict())
        self._all[connection] = own[connection] = None
        self._move(network, len(own) - 1, len(own))

    def discard(self, connection: Closable, network: str) -> None:
        if connection in self._all:
            del self._all[connection]
            own = self._by_network[network]
            del own[connection]
            if not own:
                del self._by_network[network]
            self._move(network, len(own) + 1, len(own))

    def oldest(self) -> Closable | None:
        return next(iter(self._all), None)

    def oldest_of(self, network: str) -> Closable | None:
        return next(iter(self._by_network.get(network, ())), None)

    def oldest_of_greediest(self) -> Closable | None:
        """Give the oldest of the network address that has most, if it has several."""
        most = max(self._by_count, default=0)
        return self.oldest_of(next(iter(self._by_count[most]))) if most > 1 else None

    def _move(self, network: str, before: int, now: int) -> None:
        if not network:
            return
        for count in {before, now} - {0}:
            others = self._by_count.setdefault(count, OrderedDict())
            if count == now:
                others[network] = None
            else:
                del others[network]
            if not others:
                del self._by_count[count]


class Rotation(Generic[T]):
    """Serves one item in each iteration of the event loop, of each network address in turn."""

    def __init__(self, serve: Callable[[T], None]) -> None:
        self._serve = serve
        self._items: OrderedDict[str, deque[T]] = OrderedDict()  # by network, in turns
        self._next: asyncio.Handle | None = None

    def add(self, network: str, item: T) -> None:
        self._items.setdefault(network, deque()).append(item)
        if self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._serve_next)

    def clear(self) -> list[T]:
        """Drop what is not served yet, and return it."""
        items = [item for waiting in self._items.values() for item in waiting]
        self._items.clear()
        return items

    def _serve_next(self) -> None:
        self._next = None
        if not self._items:
            return
        network, waiting = self._items.popitem(last=False)
        item = waiting.popleft()
        if waiting:
            self._items[network] = waiting
        if self._items:
            self._next = asyncio.get_running_loop().call_soon(self._serve_next)
        self._serve(item)


@dataclass(eq=False, slots=True)
class _Arrival:
    """A connection that is accepted and not served yet."""

    line: socket.socket
    host: str
    is_aborted: bool = False

    def abort(self) -> None:
        self.is_aborted = True
        self.line.close()


class Acceptor:
    """Accepts the connections of one listener from `start` to `stop`."""

    def __init__(
        self,
        listener: socket.socket,
        table: ConnectionTable,
        make_connection: Callable[[], OpenConnection],
    ) -> None:
        self._listener = listener
        self._table = table
        self._make_connection = make_connection
        self._log = runtime.RareLog()
        self._spare = -1
        self._arrivals = Rotation(self._begin)
        self._tasks: set[asyncio.Task[None]] = set()
        self._retry: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._listener.listen(BACKLOG)
        self._take_spare()
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def stop(self) -> None:
        """Accept nothing more, and serve nothing that is not served yet."""
        asyncio.get_running_loop().remove_reader(self._listener)
        for one in self._arrivals.clear():
            self._table.remove(one)
            one.abort()
        if self._retry is not None:
            self._retry.cancel()
        self._release_spare()

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                line, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as err:
                self._pause(err)
                return
            self._admit(line, str(address[0]))

    def _admit(self, line: socket.socket, host: str) -> None:
        if not self._table.make_room(host):
            _refuse(line)
            self._log.report("connections refused: all are in use", network=network_of(host))
            return
        arrival = _Arrival(line, host)
        self._arrivals.add(self._table.add(arrival, host), arrival)

    def _begin(self, arrival: _Arrival) -> None:
        if arrival.is_aborted:
            return
        connection = self._make_connection()
        self._table.remove(arrival)
        self._table.add(connection, arrival.host)
        task = asyncio.get_running_loop().create_task(self._serve(arrival.line, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, line: socket.socket, connection: OpenConnection) -> None:
        line.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, line)
        except OSError:  # it was closed in the meantime
            self._table.remove(connection)
            line.close()

    def _pause(self, err: OSError) -> None:
        """Answer the first client in the queue, and try again later."""
        self._log.report(
            "cannot accept connections", error=resources.EXHAUSTED.get(err.errno or 0, str(err))
        )
        if self._spare >= 0:
            self._release_spare()
            with suppress(OSError):
                _refuse(self._listener.accept()[0])
            self._take_spare()
        # The listener stays ready while nothing is accepted: watching it would keep the loop busy.
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        self._retry = loop.call_later(ACCEPT_PAUSE_S, loop.add_reader, self._listener, self._accept)

    def _take_spare(self) -> None:
        with suppress(OSError):
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _release_spare(self) -> None:
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1


def _refuse(line: socket.socket) -> None:
    """Answer 503 without waiting for a request, and close."""
    with suppress(OSError), line:
        line.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
        with suppress(BlockingIOError):
            line.recv(_READ_BYTES)  # unread bytes would reset the connection before the answer
        line.send(_REFUSAL)
        line.shutdown(socket.SHUT_WR)
