"""A peer for `home_networks`, in a process of its own: commands and answers are lines of JSON.

It has the parts of a worker that decide how it is reached: peer network, reachability, the port on
the router, discovery in the local network, and the exchange of stored bytes. It ends when its
standard input does.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import trio

from tequio_client.ipc.snapshot import RouterPort
from tequio_client.ledger.api import LedgerApi
from tequio_client.runtime import configure_logging
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.blob_server import PROTOCOL as BLOBS
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.hole_punching import HolePuncher
from tequio_client.worker.swarm.lan_discovery import LanDiscovery
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.reachability import DialBack, ReachabilityCheck
from tequio_client.worker.swarm.router_port import PortMapper
from tequio_client.worker.swarm.transfer import Exchange, Fetcher
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, NetworkId, PeerKey, key_from_peer_id, peer_id_text
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_LEDGER = "http://127.0.0.1:9"
"""Never asked: trees come from peers."""
NET = NetworkId(b"n" * 32)
LISTEN = ("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")


class HomePeerProgram:
    def __init__(self, name: str, folder: Path, options: Sequence[str]) -> None:
        self.name = name
        self.folder = folder
        self.options = options
        self.partners: set[PeerKey] = set()
        self.stored = 0

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            seed = self.name.encode().ljust(32, b".")
            self.network = PeerNetwork(seed=seed, listen=LISTEN)
            self.dial_back = DialBack(self.network)
            self.check = ReachabilityCheck(self.network, Random(seed))
            partners = [lambda: self.partners]
            self.puncher = HolePuncher(self.network, partners, Random(seed))
            self.lan = LanDiscovery(self.network, NET, partners, Random(seed))
            self.store = Store(self.folder / f"{self.name}.store", quota_bytes=1 << 30)
            self.blobs = BlobServer(self.network, self.store)
            await stack.enter_async_context(self.network)
            self.router = PortMapper(
                lambda: next(iter(self.network.listen_ports()), None), lambda: None
            )
            self.check.router_port = lambda: self.router.port
            self.fetcher = await stack.enter_async_context(
                Fetcher(self.network, self.store, rng=Random(seed))
            )
            ledger = await stack.enter_async_context(LedgerApi(NO_LEDGER))
            self.exchange = Exchange(
                self.fetcher, ledger, lambda: sorted(self.network.connected_peers())
            )
            nursery = await stack.enter_async_context(trio.open_nursery())
            nursery.start_soon(self.router.run)
            nursery.start_soon(self.lan.run)
            print_line({"addresses": self.network.addresses()})
            while line := await trio.to_thread.run_sync(sys.stdin.readline):
                asked = json.loads(line)
                command = getattr(self, f"do_{asked.pop('do')}")
                try:
                    print_line({"answer": await command(**asked)})
                except PeerError as err:
                    print_line({"answer": {"error": str(err)}})
            nursery.cancel_scope.cancel()

    async def do_connect(self, address: str, *, is_new: bool = False) -> dict[str, Any]:
        """Connect; over a connection of its own if it should be new."""
        if is_new:
            await self.network.disconnect(key_from_peer_id(address.rpartition("/")[2]))
        await self.network.connect(address)
        return {"connected": True}

    async def do_router(self, *, is_wanted: bool) -> dict[str, Any]:
        """Want a port on the router, or no longer; wait for the outcome."""
        self.router.set_wanted(is_wanted=is_wanted)
        passing = (RouterPort.SEARCHING, RouterPort.OFF if is_wanted else RouterPort.OPEN)
        with trio.fail_after(60):
            while self.router.answer.state in passing:  # noqa: ASYNC110 - it has no event
                await trio.sleep(0.05)
        answer = self.router.answer
        return {"state": answer.state.value, "port": answer.port, "problem": answer.problem}

    async def do_reach(self) -> dict[str, Any]:
        """Ask the connected peers once, and tell what they found."""
        await self.check.check()
        verdict = self.check.verdict
        return {
            "state": verdict.state.value,
            "confirmed": verdict.confirmed,
            "seen": verdict.seen,
            "networks": verdict.places,
            "announced": self.network.addresses(),
        }

    async def do_find_lan_peers(self, *, is_wanted: bool) -> None:
        self.lan.set_wanted(is_wanted=is_wanted)

    async def do_connected(self) -> dict[str, str]:
        """The connected peers, and the addresses they come from."""
        peers = self.network.connected_peers()
        return {peer_id_text(one): self.network.host_of(one) for one in peers}

    async def do_partner(self, peer: str) -> None:
        """Have a peer in our round."""
        self.partners.add(key_from_peer_id(peer))

    async def do_open(self, peer: str) -> dict[str, Any]:
        """Connect in whatever way there is."""
        key = key_from_peer_id(peer)
        stream = await self.network.open_stream(key, BLOBS)
        await stream.drop()
        return {"from": self.network.host_of(key)}

    async def do_router_keeps_ports(self) -> bool | None:
        await self.puncher.test_router()
        return self.puncher.keeps_ports

    async def do_store(self, size_bytes: int) -> dict[str, Any]:
        """Store a tree of our own making."""
        self.stored += 1
        content = Random(f"{self.name} {self.stored}").randbytes(size_bytes)
        ref = self.store.put_tree(content, PIECE_BYTES)
        return {"root": ref.root.hex(), "size_bytes": size_bytes}

    async def do_exchange(self, root: str, size_bytes: int, holder: str) -> float:
        """Fetch a tree as a worker or seed fetches a contribution of its holder; seconds."""
        ref = TreeRef(
            root=Digest(bytes.fromhex(root)), size_bytes=size_bytes, piece_bytes=PIECE_BYTES
        )
        since_s = trio.current_time()
        with trio.fail_after(60):
            await self.exchange.fetch_tree(ref, key_from_peer_id(holder))
        return trio.current_time() - since_s

    async def do_fetch(self, root: str, size_bytes: int, sources: Sequence[str]) -> dict[str, int]:
        """Fetch a tree from those peers; tells how many bytes each sent."""
        ref = TreeRef(
            root=Digest(bytes.fromhex(root)), size_bytes=size_bytes, piece_bytes=PIECE_BYTES
        )
        keys = [key_from_peer_id(one) for one in sources]
        progress = await self.fetcher.fetch_tree(ref, keys, timeout_s=60)
        sent = {key: progress.bytes_by_source[key] for key in keys}
        return {peer_id_text(key): count for key, count in sent.items() if count}

    async def do_sent(self) -> int:
        """Bytes of content sent to others."""
        return self.blobs.sent_bytes


def print_line(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    configure_logging(style="console", level="debug")
    name, folder, *options = sys.argv[1:]
    trio.run(partial(HomePeerProgram(name, Path(folder), options).run))


if __name__ == "__main__":
    main()
