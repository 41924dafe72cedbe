"""A stream of py-libp2p as installed: Noise, Yamux, TCP, without our changes.

Run as a program, so that none of our fixes is loaded: `serve MIB` prints its address and writes
MIB megabytes into every stream; `read ADDRESS MIB RUNS` reads them and prints MB/s, run by run.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import tequio_client.worker.swarm.libp2p_parts  # noqa: F401 - not all of libp2p is installed

# isort: split
import trio
from libp2p import new_host
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as new_noise_key
from libp2p.custom_types import TProtocol
from libp2p.peer.peerinfo import info_from_p2p_addr
from libp2p.security.noise.transport import PROTOCOL_ID as NOISE
from libp2p.security.noise.transport import Transport as Noise
from multiaddr import Multiaddr

if TYPE_CHECKING:
    from libp2p.abc import IHost, INetStream

MIB = 1 << 20
PROTOCOL = TProtocol("/tequio/bench/library/1")
LISTEN = [Multiaddr("/ip4/127.0.0.1/tcp/0")]


def _host() -> IHost:
    pair = create_new_key_pair()
    noise = Noise(pair, noise_privkey=new_noise_key().private_key)
    return new_host(
        key_pair=pair, listen_addrs=LISTEN, muxer_preference="YAMUX", sec_opt={NOISE: noise}
    )


async def serve(mib: int) -> None:
    """Write `MIB` megabytes into every stream that is opened."""
    host, megabyte = _host(), bytes(MIB)

    async def write(stream: INetStream) -> None:
        for _ in range(mib):
            await stream.write(megabyte)

    host.set_stream_handler(PROTOCOL, write)
    async with host.run(listen_addrs=LISTEN):
        print(f"WHERE {host.get_addrs()[0]}", flush=True)
        await trio.sleep_forever()


async def read(address: str, mib: int, runs: int) -> None:
    """Read `MIB` megabytes from a new stream, several times."""
    host, speeds = _host(), []
    async with host.run(listen_addrs=LISTEN):
        info = info_from_p2p_addr(Multiaddr(address))
        await host.connect(info)
        for _ in range(runs + 1):
            stream = await host.new_stream(info.peer_id, [PROTOCOL])
            begun, left = trio.current_time(), mib * MIB
            while left:
                left -= len(await stream.read(MIB))
            speeds.append(mib * MIB / 1e6 / (trio.current_time() - begun))
        print("SPEEDS " + json.dumps(speeds[1:]), flush=True)  # the first warms up


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        trio.run(serve, int(sys.argv[2]))
    else:
        trio.run(read, sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
