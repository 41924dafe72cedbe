"""The patches of docs/upstream and py-libp2p: bytes, connects, and cancelled writes, measured.

Each set of patches is applied to a copy of the installed package; processes then talk over loopback
by Noise and Yamux, without any of Tequio's own changes to the library.

Run: python bench/upstream.py [--mib 64] [--runs 3] [--write] [--json FILE]

Prints, as installed and with patches: processor time per MB of the process that sends and of the
one that receives, reading 1 MiB at a time, and their speed; milliseconds of a connect; and how many
connections carry nothing more after a write on them was cancelled. `--write` puts the table into
docs/upstream.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import TYPE_CHECKING

import trio
from loops import table
from loops.machine import machine

import tequio_client.worker.swarm.libp2p_parts  # noqa: F401 - before libp2p, which needs it

# isort: split
import libp2p
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as create_noise_keys
from libp2p.custom_types import TProtocol
from libp2p.peer.peerinfo import PeerInfo, info_from_p2p_addr
from libp2p.security.noise.transport import PROTOCOL_ID, Transport
from multiaddr import Multiaddr

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from libp2p.abc import IHost, INetStream

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "upstream.md"
SEND, ECHO = TProtocol("/bench/send/1"), TProtocol("/bench/echo/1")
LISTEN = [Multiaddr("/ip4/127.0.0.1/tcp/0")]
MIB = 1 << 20
CANCELLED_MIB = 8
CANCEL_AFTER_MS = (3, 6, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60)
ANSWER_S = 3.0
"""A connection over loopback that takes longer to carry a few bytes carries nothing more."""
CONNECTS = 10
SETS: Mapping[str, tuple[str, ...]] = {
    "as installed": (),
    "whole frames": ("0001",),
    "one Noise message": ("0004",),
    "one Noise message, wake writers": ("0004", "0002"),
    "no wait after success": ("0009",),
}
"""Sets of patches, by what the table calls them."""
MEASURES: Mapping[str, tuple[str, ...]] = {
    "as installed": ("bytes", "connects", "cancelled"),
    "whole frames": ("cancelled",),
    "one Noise message": ("bytes",),
    "one Noise message, wake writers": ("bytes",),
    "no wait after success": ("connects",),
}
COLUMNS = (
    "patches",
    "sending, ms per MB",
    "receiving, ms per MB",
    "MB/s",
    "a connect, ms",
    "connections that a cancelled write broke",
)


def main() -> None:
    """Measure every set of patches in turn, several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=64, help="sent in each run; default: 64")
    parser.add_argument("--runs", type=int, default=3, help="of each set; default: 3")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--write", action="store_true", help="put the table into docs/upstream.md")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        trio.run(partial(PARTS[options.part], mib=options.mib, peer=options.peer))
        return
    found: dict[str, dict[str, list[float]]] = {name: {} for name in SETS}
    with tempfile.TemporaryDirectory() as folder:
        copies = {name: _copy(Path(folder) / str(at), name) for at, name in enumerate(SETS)}
        for _ in range(options.runs):
            for name, copy in copies.items():
                for part in MEASURES[name]:
                    for measured, value in _measure(copy, part, options.mib).items():
                        found[name].setdefault(measured, []).append(value)
                        print(f"{name}: {measured} {value:.4g}", flush=True)
    content = table.markdown(COLUMNS, [_row(name, one) for name, one in found.items()])
    print(f"\n{content}")
    if options.write:
        table.put(DOCUMENT, "upstream", content)
    if options.json:
        options.json.write_text(json.dumps({**machine(), "mib": options.mib, "found": found}))


def _copy(folder: Path, name: str) -> Path:
    """Copy the installed package, and apply the set's patches to the copy."""
    copytree(Path(libp2p.__file__).parent, folder / "libp2p", ignore=ignore_patterns("__pycache__"))
    for number in SETS[name]:
        (patch,) = (ROOT / "docs" / "upstream").glob(f"{number}-*.patch")
        command = ("git", "apply", "--include=libp2p/*", str(patch))
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
        subprocess.run(command, cwd=folder, env=alone, check=True)
    return folder


def _measure(copy: Path, part: str, mib: int) -> dict[str, float]:
    """Run a part with the copy of the package, and what it measures."""
    if part != "bytes":
        with _started(copy, part, mib) as process:
            return _answer(process)
    with _started(copy, "send", mib) as sending:
        peer = _line(sending)
        with _started(copy, "receive", mib, "--peer", peer) as receiving:
            return {**_answer(receiving), **_answer(sending)}


def _started(copy: Path, part: str, mib: int, *more: str) -> subprocess.Popen[str]:
    parts = (str(copy), *(str(ROOT / one) for one in ("client", "shared", "assets", "bench")))
    return subprocess.Popen(
        (sys.executable, __file__, "--part", part, "--mib", str(mib), *more),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(parts)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # the library logs each connection that breaks
        text=True,
    )


def _line(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline().strip() if process.stdout else ""
    if not line:
        command = " ".join(map(str, process.args)) if isinstance(process.args, tuple) else ""
        raise SystemExit(f"ended without a figure: {command}")
    return line


def _answer(process: subprocess.Popen[str]) -> dict[str, float]:
    figures: dict[str, float] = json.loads(_line(process))
    return figures


def _row(name: str, found: Mapping[str, Sequence[float]]) -> list[str]:
    """Make the row of a set: medians, and the sum of broken connections."""
    broken = found.get("broken")
    tried = len(CANCEL_AFTER_MS) * len(broken or ())
    kinds = (("sending_ms", 1), ("receiving_ms", 1), ("mb_per_s", 0), ("connect_ms", 0))
    shown = [f"{statistics.median(found[one]):.{to}f}" if one in found else "" for one, to in kinds]
    return [name, *shown, f"{sum(broken):.0f} of {tried}" if broken is not None else ""]


def _host() -> IHost:
    keys = create_new_key_pair()
    noise = Transport(keys, noise_privkey=create_noise_keys().private_key)
    return libp2p.new_host(key_pair=keys, sec_opt={PROTOCOL_ID: noise}, muxer_preference="YAMUX")


async def _connect(host: IHost, address: str) -> INetStream:
    """Connect to a peer at an address, and open a stream that it sends bytes on."""
    peer = info_from_p2p_addr(Multiaddr(address))
    await host.connect(peer)
    return await host.new_stream(peer.peer_id, [SEND])


async def _send(*, mib: int, peer: None) -> None:
    """Send that much to whom asks first, and print the processor time of it."""
    host, megabyte, done = _host(), os.urandom(MIB), trio.Event()

    async def send(stream: INetStream) -> None:
        begun = time.process_time()
        for _ in range(mib):
            await stream.write(megabyte)
        await stream.read(1)  # everything has arrived
        print(json.dumps({"sending_ms": _ms_per_mb(begun, mib)}), flush=True)
        done.set()

    async with host.run(listen_addrs=LISTEN):
        host.set_stream_handler(SEND, send)
        print(str(host.get_addrs()[0]), flush=True)
        with trio.move_on_after(120):
            await done.wait()


async def _receive(*, mib: int, peer: str) -> None:
    host = _host()
    async with host.run(listen_addrs=LISTEN):
        stream = await _connect(host, peer)
        begun, begun_s, left = time.process_time(), time.perf_counter(), mib * MIB
        while left:
            left -= len(await stream.read(min(left, MIB)))
        speed = mib * MIB / 1e6 / (time.perf_counter() - begun_s)
        found = {"receiving_ms": _ms_per_mb(begun, mib), "mb_per_s": speed}
        print(json.dumps(found), flush=True)
        await stream.write(b"!")


def _ms_per_mb(begun: float, mib: int) -> float:
    return 1e3 * (time.process_time() - begun) / (mib * MIB / 1e6)


async def _connects(*, mib: int, peer: None) -> None:
    """Print the median time of a connect; each is made by another host."""
    first, taken = _host(), []
    async with first.run(listen_addrs=LISTEN):
        info = PeerInfo(first.get_id(), first.get_addrs())
        for _ in range(CONNECTS):
            host = _host()
            async with host.run(listen_addrs=LISTEN):
                begun = time.perf_counter()
                await host.connect(info)
                taken.append(1e3 * (time.perf_counter() - begun))
    print(json.dumps({"connect_ms": statistics.median(taken)}), flush=True)


async def _cancelled(*, mib: int, peer: None) -> None:
    """Print how many connections no longer answer after a write on them was cancelled."""
    first = _host()

    async def swallow(stream: INetStream) -> None:
        while await stream.read(MIB):
            pass

    async def echo(stream: INetStream) -> None:
        await stream.write(await stream.read(1))

    async with first.run(listen_addrs=LISTEN):
        first.set_stream_handler(SEND, swallow)
        first.set_stream_handler(ECHO, echo)
        address = str(first.get_addrs()[0])
        broken = [await _is_broken(address, after_ms) for after_ms in CANCEL_AFTER_MS]
    print(json.dumps({"broken": sum(broken)}), flush=True)


async def _is_broken(address: str, after_ms: int) -> bool:
    """Cancel a long write after that time; True if the connection then does not answer."""
    host = _host()
    async with host.run(listen_addrs=LISTEN):
        stream = await _connect(host, address)
        with trio.move_on_after(after_ms / 1e3):
            await stream.write(bytes(CANCELLED_MIB * MIB))
        answer = b""
        with trio.move_on_after(ANSWER_S):
            try:
                other = await host.new_stream(stream.muxed_conn.peer_id, [ECHO])
                await other.write(b"?")
                answer = await other.read(1)
            except Exception:  # noqa: BLE001 - whatever it raises, the connection is broken
                return True
        return answer != b"?"


PARTS: Mapping[str, Callable[..., Awaitable[None]]] = {
    "send": _send,
    "receive": _receive,
    "connects": _connects,
    "cancelled": _cancelled,
}


if __name__ == "__main__":
    main()
