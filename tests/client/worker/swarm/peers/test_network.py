"""Connections survive what py-libp2p would not: each test is one of its traps."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

import pytest
import trio
from libp2p.stream_muxer.yamux.yamux import DEFAULT_WINDOW_SIZE, TYPE_WINDOW_UPDATE, Yamux

from tequio_client.worker.swarm.dials import Claim, Reach
from tequio_client.worker.swarm.limits import PeerLimits
from tequio_client.worker.swarm.peers import (
    CONNECTION_BYTES,
    PeerNetwork,
    PeerStream,
    patches,
)
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import PeerKey, peer_id_text
from tequio_shared.keys import Signer
from tequio_shared.limits import FRAME_BYTES
from tests.support.loopback import LOOPBACK, network, two_peers
from tests.support.proxy import NetworkProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractContextManager

    from libp2p.abc import INetStream
    from trio.testing import MockClock

    Wait = Callable[[Callable[[], bool], float], Awaitable[None]]

ECHO = "/test/echo/1"
SINK = "/test/sink/1"
SOURCE = "/test/source/1"


async def echo(stream: PeerStream) -> None:
    while True:
        await stream.send_frame(bytes(await stream.receive_frame()))


async def sink(stream: PeerStream) -> None:
    while True:
        await stream.read_some(1 << 20)


async def source(stream: PeerStream) -> None:
    while True:
        await stream.write(bytes(1 << 20))


async def asked(peers: PeerNetwork, peer: PeerKey, protocol: str = ECHO) -> bytes:
    stream = await peers.open_stream(peer, protocol)
    await stream.send_frame(b"still there?")
    answer = await stream.receive_frame(timeout_s=5)
    await stream.close()
    return bytes(answer)


async def until(condition: Callable[[], bool], timeout_s: float) -> None:
    with trio.fail_after(timeout_s):
        while not condition():  # noqa: ASYNC110 - libp2p has no event for it
            await trio.sleep(0.02)


@pytest.fixture
async def pair() -> AsyncIterator[tuple[PeerNetwork, PeerNetwork]]:
    async with two_peers() as (first, second):
        for protocol, handler in ((ECHO, echo), (SINK, sink), (SOURCE, source)):
            first.serve(protocol, handler)
        yield first, second


@pytest.mark.trio
async def test_the_peer_id_is_that_of_the_key_made_from_the_seed() -> None:
    async with network("any") as peers:
        signer = Signer(b"any".ljust(32, b"."))
        assert peers.key == signer.key
        assert peers.addresses()[0].endswith(f"/p2p/{peer_id_text(signer.key)}")


def test_a_seed_of_another_size_is_refused() -> None:
    with pytest.raises(RefusedError):
        PeerNetwork(seed=b"", listen=LOOPBACK)


@pytest.mark.trio
async def test_both_ends_see_the_connection_and_its_end() -> None:
    async with two_peers() as (first, second):
        assert second.connected_peers() == {first.key}
        await until(lambda: first.connected_peers() == {second.key}, 2)
        await second.disconnect(first.key)
        await until(lambda: not first.connected_peers() and not second.connected_peers(), 5)


@pytest.mark.trio
async def test_connecting_takes_no_quarter_of_a_second() -> None:
    async with network("first") as first, network("second") as second:
        with trio.fail_after(0.24):
            await second.connect(first.addresses()[0])


@pytest.mark.trio
@pytest.mark.parametrize(
    "addr", ["", "garbage", "/ip4/127.0.0.1/tcp/1", "/ip4/127.0.0.1/tcp/1/p2p/x"]
)
async def test_an_address_that_is_none_is_a_peer_error(addr: str) -> None:
    async with network("any") as peers:
        with pytest.raises(PeerError):
            await peers.connect(addr)


@pytest.mark.trio
async def test_the_key_in_the_address_is_checked() -> None:
    async with network("first") as first, network("second") as second:
        place, _, _ = first.addresses()[0].partition("/p2p/")
        with pytest.raises(PeerError):
            await second.connect(f"{place}/p2p/{peer_id_text(second.key)}")
        with pytest.raises(PeerError):
            await second.connect(f"{place}/p2p/{peer_id_text(Signer(b'3' * 32).key)}")
        assert not second.connected_peers()


@pytest.mark.trio
async def test_a_remembered_peer_is_dialled_when_a_stream_is_opened() -> None:
    async with network("first") as first, network("second") as second:
        first.serve(ECHO, echo)
        with pytest.raises(PeerError, match="no connection"):
            await second.open_stream(first.key, ECHO)
        addrs = ("/ip4/127.0.0.1/tcp/1", *first.addresses())
        claim = Claim(addrs=addrs, source="127.0.0.0/24", reach=Reach.LOOPBACK)
        second.find_claim = {first.key: claim}.get
        assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_an_unknown_protocol_is_a_peer_error(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    with pytest.raises(PeerError):
        await second.open_stream(first.key, "/test/unknown/1")
    assert await asked(second, first.key)


@pytest.mark.trio
async def test_cancelled_writes_do_not_break_the_connection(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    rng = random.Random(1)
    for _ in range(25):
        stream = await second.open_stream(first.key, SINK)
        with trio.move_on_after(rng.uniform(0.003, 0.06)):
            await source(stream)
        await stream.drop()
    assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_cancelled_reads_do_not_break_the_connection(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    rng = random.Random(2)
    for _ in range(25):
        stream = await second.open_stream(first.key, SOURCE)
        with trio.move_on_after(rng.uniform(0.003, 0.06)):
            await sink(stream)
        await stream.drop()
    assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_cancelled_openings_do_not_break_the_connection(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    rng = random.Random(3)
    for _ in range(60):
        with trio.move_on_after(rng.uniform(0.0005, 0.012)):
            await (await second.open_stream(first.key, SINK)).close()
    assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
@pytest.mark.parametrize(
    "error", [PeerError("theirs"), ValueError("ours"), ExceptionGroup("many", [ValueError("ours")])]
)
async def test_a_handler_that_raises_ends_its_stream_and_nothing_else(
    pair: tuple[PeerNetwork, PeerNetwork], error: Exception
) -> None:
    first, second = pair

    async def broken(stream: PeerStream) -> None:
        await stream.receive_frame()
        raise error

    first.serve("/test/broken/1", broken)
    with pytest.raises(PeerError):
        await asked(second, first.key, "/test/broken/1")
    assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_a_dialler_that_leaves_in_any_way_leaves_a_good_connection(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    for leave in (PeerStream.close, PeerStream.drop):
        stream = await second.open_stream(first.key, ECHO)
        await stream.send_frame(b"x")
        await leave(stream)
        assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_a_frame_that_is_too_long_is_refused_at_both_ends(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    stream = await second.open_stream(first.key, ECHO)
    with pytest.raises(RefusedError):
        await stream.send_frame(bytes(FRAME_BYTES + 1))
    await stream.write((FRAME_BYTES + 1).to_bytes(4, "big") + bytes(1000))
    with pytest.raises(PeerError):
        await stream.receive_frame(timeout_s=5)
    assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_a_receiver_may_set_a_lower_limit(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    stream = await second.open_stream(first.key, ECHO)
    await stream.send_frame(bytes(101))
    with pytest.raises(PeerError, match="101 bytes where 100 are allowed"):
        await stream.receive_frame(most_bytes=100)


@pytest.mark.trio
async def test_the_largest_frame_passes(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    stream = await second.open_stream(first.key, ECHO)
    frame = random.Random(4).randbytes(FRAME_BYTES)
    await stream.send_frame(frame[:7], frame[7:])
    assert await stream.receive_frame() == frame


@pytest.mark.trio
async def test_all_bytes_are_counted_at_both_ends(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    before = [(one.limiter.read_bytes, one.limiter.written_bytes) for one in pair]
    assert min(min(both) for both in before) > 200, "the handshake counts"
    stream = await second.open_stream(first.key, SINK)
    await stream.write(bytes(1 << 20))
    with trio.fail_after(20):
        while first.limiter.read_bytes < before[0][0] + (1 << 20):  # noqa: ASYNC110 - no event
            await trio.sleep(0.02)
    sent = second.limiter.written_bytes - before[1][1]
    assert 1 << 20 < sent < 1.05 * (1 << 20), "frames and encryption add little"


@pytest.mark.trio
async def test_what_was_read_ahead_is_read_next(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    stream = await second.open_stream(first.key, ECHO)
    frames = [random.Random(size).randbytes(size) for size in (1, 300_000, 3, 70_000, 0)]
    for frame in frames:
        await stream.send_frame(frame)
    await trio.sleep(0.2)
    assert [bytes(await stream.receive_frame()) for _ in frames[:-1]] == frames[:-1]
    assert await stream.read_some(9) == bytes(4)


class TrickledStream:
    """Parts of a libp2p stream and its connection that a read uses."""

    stream_id, target_recv_window, recv_closed, closed = 1, DEFAULT_WINDOW_SIZE, False, False

    def __init__(self) -> None:
        self.muxed_stream = self.conn = self
        self.stream_buffers, self.stream_events = {1: bytearray()}, {1: trio.Event()}

    async def trickle(self, *parts: bytes, pause_s: float) -> None:
        for part in parts:
            await trio.sleep(pause_s)
            self.stream_buffers[1] += part
            self.stream_events[1].set()

    async def _auto_tune_and_send_window_update(self, *, bytes_read: int) -> None:
        pass


@pytest.mark.trio
async def test_a_slow_frame_is_not_silence(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    del autojump_clock
    trickled = TrickledStream()
    stream = PeerStream(cast("INetStream", trickled), PeerKey(bytes(32)))
    nursery.start_soon(partial(trickled.trickle, (7).to_bytes(4, "big"), *7 * [b"x"], pause_s=0.4))
    assert await stream.receive_frame(timeout_s=0.5) == b"x" * 7
    with trio.fail_after(60), pytest.raises(PeerError, match="too slow"):
        await stream.receive_frame(timeout_s=0.5)


@pytest.mark.trio
async def test_one_peer_may_not_hold_any_number_of_streams() -> None:
    async with network("first", PeerLimits(streams=3)) as first, network("second") as second:
        first.serve(ECHO, echo)
        await second.connect(first.addresses()[0])
        streams = []
        with pytest.raises(PeerError):  # noqa: PT012 - which step fails is not known
            for _ in range(4):
                streams.append(await second.open_stream(first.key, ECHO))
                await streams[-1].send_frame(b"x")
                await streams[-1].receive_frame(timeout_s=2)
        assert len(streams) in {3, 4}  # the refusal shows while opening or at the first answer
        for stream in streams:
            await stream.drop()
        await trio.sleep(0.1)
        assert await asked(second, first.key) == b"still there?"


@pytest.mark.trio
async def test_a_peer_that_ignores_its_window_is_cut_off(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair

    async def deaf(stream: PeerStream) -> None:
        await trio.sleep(60)
        await stream.close()

    first.serve("/test/deaf/1", deaf)
    stream = await second.open_stream(first.key, "/test/deaf/1")
    lying_window(stream, 1 << 40)
    with pytest.raises(PeerError):  # noqa: PT012 - which write fails is not known
        for _ in range(2 * CONNECTION_BYTES >> 20):
            await stream.write(bytes(1 << 20), timeout_s=5)
    await until(lambda: not first.connected_peers(), 5)


def lying_window(stream: PeerStream, size_bytes: int) -> None:
    """Make our own end believe that the peer reads without end."""
    stream._stream.muxed_stream.send_window = size_bytes  # type: ignore[attr-defined]  # noqa: SLF001


@pytest.mark.trio
async def test_windows_are_given_back_by_halves(
    pair: tuple[PeerNetwork, PeerNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    stream = await second.open_stream(first.key, ECHO)
    kinds: list[bytes] = []

    async def count(muxer: Yamux, frame: bytes) -> None:
        kinds.append(frame[1:4])  # with the flags: a new stream is one of this kind as well
        await patches.shielded_write(muxer, frame)

    monkeypatch.setattr(Yamux, "_write_frame", count)
    for size in (*[200] * 100, 1 << 19):
        await stream.send_frame(bytes(size))
        assert await stream.receive_frame(timeout_s=60) == bytes(size)
        assert (bytes([TYPE_WINDOW_UPDATE, 0, 0]) in kinds) == (size > DEFAULT_WINDOW_SIZE)


@pytest.mark.trio
async def test_a_plaintext_peer_is_refused() -> None:
    async with network("first") as first:
        port = int(first.addresses()[0].split("/")[4])
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        hello = b"\x13/multistream/1.0.0\n"
        await stream.send_all(hello + b"\x11/plaintext/2.0.0\n")
        answer = b""
        with trio.move_on_after(3):
            while b"na\n" not in answer and (part := await stream.receive_some()):
                answer += part
        assert answer.removeprefix(hello) == b"\x03na\n"
        await stream.aclose()
        assert not first.connected_peers()


@pytest.mark.trio
async def test_garbage_on_the_socket_does_no_harm(pair: tuple[PeerNetwork, PeerNetwork]) -> None:
    first, second = pair
    port = int(first.addresses()[0].split("/")[4])
    rng = random.Random(5)
    hello = b"\x13/multistream/1.0.0\n"
    garbage = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 40,
        hello + b"\x07/noise\n" + rng.randbytes(300),
    ]
    garbage += [rng.randbytes(200) for _ in range(20)]
    for junk in garbage:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(junk)
        await stream.aclose()
    assert await asked(second, first.key) == b"still there?"


CHILD = """
import sys, trio
from tequio_client.worker.swarm.peers import PeerNetwork
async def main():
    async with PeerNetwork(seed=b"c" * 32, listen=["/ip4/127.0.0.1/tcp/0"]) as peers:
        async def sink(stream):
            while True:
                await stream.read_some(1 << 20)
        peers.serve("/test/sink/1", sink)
        print(peers.addresses()[0], file=sys.stderr, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


def child() -> AbstractContextManager[subprocess.Popen[bytes]]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


async def address_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    return (await trio.to_thread.run_sync(process.stderr.readline)).decode().strip()


@pytest.mark.trio
async def test_a_peer_that_falls_silent_while_we_write_is_let_go() -> None:
    quick = PeerLimits(silence_s=1.0)
    with child() as process:
        async with network("first", quick) as first:
            peer = await first.connect(await address_of(process))
            stream = await first.open_stream(peer, SINK)
            process.send_signal(signal.SIGSTOP)
            try:
                with pytest.raises(PeerError), trio.fail_after(60):  # noqa: PT012 - nor here
                    while True:
                        await stream.write(bytes(1 << 20), timeout_s=8)
                await until(lambda: not first.connected_peers(), 20)
            finally:
                process.kill()


@pytest.mark.trio
async def test_a_killed_peer_is_noticed_at_once() -> None:
    with child() as process:
        async with network("first") as first:
            peer = await first.connect(await address_of(process))
            stream = await first.open_stream(peer, SINK)
            process.kill()
            with pytest.raises(PeerError):
                await stream.read_some(1, timeout_s=5)
            await until(lambda: not first.connected_peers(), 5)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> PeerLimits:
    """Limits for peers that ping much more often, with less patience in proportion."""
    monkeypatch.setattr(patches, "PING_S", 0.2)
    return PeerLimits(silence_s=1.0)


@pytest.mark.trio
async def test_a_peer_that_sends_nothing_but_pings_stays(quick: PeerLimits) -> None:
    async with network("first", quick) as first, network("second") as second:
        await second.connect(first.addresses()[0])
        await trio.sleep(4)
        assert first.connected_peers() == {second.key}


@pytest.mark.trio
async def test_a_peer_that_came_back_is_reached_by_its_new_connection(
    quick: PeerLimits, nursery: trio.Nursery
) -> None:
    # As a laptop that changes its network: nobody tells us that its old connection is dead.
    async with network("first", quick) as first, network("second") as second:
        second.serve(ECHO, echo)
        proxy, port = NetworkProxy(nursery, dict), first.listen_ports()[0]
        proxy.line("second")
        front = await proxy.front("first", port, "second")
        direct = first.addresses()[0]
        await second.connect(direct.replace(f"/tcp/{port}/", f"/tcp/{front}/"))
        await until(lambda: first.is_connected(second.key), 5)
        # The library opens new streams where most are open: on the old connection.
        old = await first.open_stream(second.key, ECHO)
        proxy.split({"second"})
        await second.disconnect(first.key)
        await second.connect(direct)
        with pytest.raises(PeerError):
            await old.receive_frame(timeout_s=20)
        assert await asked(first, second.key) == b"still there?"
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_reader_at_the_end_of_our_slow_line_is_not_taken_for_one_that_pauses(
    nursery: trio.Nursery,
) -> None:
    async def receive(stream: PeerStream) -> None:
        await stream.receive_frame()

    async with network("first") as first, network("second") as second:
        second.serve(SINK, receive)
        proxy, port = NetworkProxy(nursery, dict), first.listen_ports()[0]
        front = await proxy.front("first", port, "second")
        await second.connect(first.addresses()[0].replace(f"/tcp/{port}/", f"/tcp/{front}/"))
        await until(lambda: first.is_connected(second.key), 5)
        stream = await first.open_stream(second.key, SINK)
        proxy.line("first").up.bytes_per_s = 13_000  # half a window in ten seconds
        await stream.send_frame(bytes(300_000), timeout_s=60)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_many_idle_sockets_do_not_end_the_host(
    pair: tuple[PeerNetwork, PeerNetwork],
) -> None:
    first, second = pair
    port = int(first.addresses()[0].split("/")[4])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    assert await asked(second, first.key) == b"still there?"
    for one in idle:
        one.close()
