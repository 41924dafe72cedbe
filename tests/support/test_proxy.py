"""The proxy of the fault tests: rate limits, delays and splits."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from tests.support.proxy import BURST_BYTES, HOST, NetworkProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

ME, OTHER = "me", "other"
LEAST_HOLD_S = 0.3


async def echo(stream: trio.SocketStream) -> None:
    async for chunk in stream:
        await stream.send_all(chunk)


@pytest.fixture
async def proxy(nursery: trio.Nursery) -> AsyncIterator[NetworkProxy]:
    proxy = NetworkProxy(nursery, lambda: {ME: os.getpid()})
    proxy.line(ME)
    yield proxy
    nursery.cancel_scope.cancel()


@pytest.fixture
async def dialled(proxy: NetworkProxy, nursery: trio.Nursery) -> AsyncIterator[trio.SocketStream]:
    """A connection to an echo server behind the proxy, which has to find out that we opened it."""
    (listener,) = await trio.open_tcp_listeners(0, host=HOST)
    nursery.start_soon(trio.serve_listeners, echo, [listener])
    front = await proxy.front(OTHER, listener.socket.getsockname()[1])
    async with await trio.open_tcp_stream(HOST, front) as stream:
        yield stream


async def seconds_for(stream: trio.SocketStream, size: int) -> float:
    """How long `size` bytes take to the echo server and back."""
    start, left = trio.current_time(), size
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, bytes(size))
        while left:
            left -= len(await stream.receive_some(left))
    return trio.current_time() - start


@pytest.mark.trio
@pytest.mark.parametrize("name", [ME, OTHER])
async def test_a_slow_link_carries_no_more_than_its_rate(
    proxy: NetworkProxy, dialled: trio.SocketStream, name: str
) -> None:
    size = 4 * BURST_BYTES
    await seconds_for(dialled, 1)
    proxy.line(name).slow_down(size)
    took = await seconds_for(dialled, size)
    assert took >= (size - BURST_BYTES) / size
    proxy.mend()
    assert await seconds_for(dialled, size) < took


@pytest.mark.trio
async def test_delays_of_both_links_add_up_each_way(
    proxy: NetworkProxy, dialled: trio.SocketStream
) -> None:
    proxy.line(ME).delay_s, proxy.line(OTHER).delay_s = 0.2, 0.1
    assert await seconds_for(dialled, 1) >= 0.6


@pytest.mark.trio
@pytest.mark.parametrize(
    "cut",
    [lambda proxy: proxy.split({ME}), lambda proxy: proxy.split({OTHER})],
    ids=["we are cut off", "the other is"],
)
async def test_cut_data_waits_and_arrives_when_the_link_is_mended(
    proxy: NetworkProxy, dialled: trio.SocketStream, cut: Callable[[NetworkProxy], None]
) -> None:
    await seconds_for(dialled, 1)
    cut(proxy)
    await dialled.send_all(b"late")
    with pytest.raises(trio.TooSlowError), trio.fail_after(LEAST_HOLD_S):
        await dialled.receive_some()
    proxy.mend()
    with trio.fail_after(5):
        assert await dialled.receive_some() == b"late"


@pytest.mark.trio
async def test_links_on_one_side_reach_each_other(
    proxy: NetworkProxy, dialled: trio.SocketStream
) -> None:
    proxy.split({ME, OTHER})
    with trio.fail_after(5):
        await seconds_for(dialled, 1)


@pytest.mark.trio
async def test_a_connection_to_a_closed_port_ends(proxy: NetworkProxy) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host=HOST)
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    async with await trio.open_tcp_stream(HOST, await proxy.front(OTHER, port)) as stream:
        with trio.fail_after(5), suppress(trio.BrokenResourceError):
            assert await stream.receive_some() == b""
