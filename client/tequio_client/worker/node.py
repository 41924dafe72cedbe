"""The common part of worker and seed: key, folder, store, peer network and ledger connection."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import NoReturn

import psutil
import structlog
import trio

from tequio_client import clock, files, ipc
from tequio_client.clock import BackOff
from tequio_client.ipc.snapshot import ReachabilityView, Status
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerUnavailableError, UnnamedRefusalError
from tequio_client.runtime import NETWORK_FILE, locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.follower import LedgerClock
from tequio_client.worker.settings import NetSettings
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.checkpoint_gossip import CheckpointGossip
from tequio_client.worker.swarm.dials import reach_of_url
from tequio_client.worker.swarm.feedback_leaves import FeedbackLeaves
from tequio_client.worker.swarm.hole_punching import HolePuncher
from tequio_client.worker.swarm.lan_discovery import LanDiscovery
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.listening import own_port, with_ports
from tequio_client.worker.swarm.membership import Membership
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.reachability import DialBack, ReachabilityCheck
from tequio_client.worker.swarm.release_chunks import (
    ChunksFromPeers,
    InstalledVersions,
    ReleaseChunks,
    read_from_mirror,
)
from tequio_client.worker.swarm.router_port import PortMapper
from tequio_client.worker.swarm.transfer import Exchange, Fetcher
from tequio_shared.errors import PeerError, UserFacingError, first_error
from tequio_shared.ids import Digest, PeerKey, peer_id_text, to_text
from tequio_shared.keys import Signer

log = structlog.get_logger(__name__)

LONGEST_RETRY_S = 4.0
"""Longest pause between two attempts to reach the ledger at the start: a round may be waiting."""
STATUS_INTERVAL_S = 1.0
MAX_BAD_SOURCES = 8
"""Most peers that sent wrong data listed in a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An open node; everything in it is closed when `open_node` ends."""

    settings: NetSettings
    signer: Signer
    rng: Random
    ledger: LedgerApi
    network_info: LedgerNetwork
    store: Store
    network: PeerNetwork
    fetcher: Fetcher
    blobs: BlobServer
    leaves: FeedbackLeaves
    exchange: Exchange
    chunks: ChunksFromPeers
    membership: Membership
    checkpoints: CheckpointGossip
    reachability: ReachabilityCheck
    router: PortMapper
    puncher: HolePuncher
    lan: LanDiscovery
    partners: list[Callable[[], Collection[PeerKey]]]
    """Each gives the members of the round of one run: whom hole puncher and discovery look for."""
    upload: ByteBudget
    download: ByteBudget
    ledger_clock: LedgerClock

    async def run(self) -> None:
        """Stay in the network until cancelled: connections, checkpoints, and being reachable."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.membership.run)
            nursery.start_soon(self.checkpoints.run)
            nursery.start_soon(self.reachability.run)
            nursery.start_soon(self.router.run)
            nursery.start_soon(self.puncher.run)
            nursery.start_soon(self.lan.run)

    def reach(self) -> ReachabilityView:
        """Describe for people whether others can connect."""
        check, router = self.reachability, self.router.answer
        return ReachabilityView(
            state=check.verdict.state,
            addresses=tuple(f"{host} {port}" for host, port in check.verdict.confirmed),
            networks=check.verdict.places,
            is_own_address=check.is_own_address,
            port=next(iter(self.network.listen_ports()), 0),
            router=router.state,
            router_problem=router.problem,
            keeps_ports=self.puncher.keeps_ports,
        )


@contextmanager
def locked_signer(settings: NetSettings, seed: bytes | None = None) -> Iterator[Signer]:
    """Lock the folder, and load the given key or the folder's own; raises UserFacingError."""
    with locked(settings.folder):
        yield Signer(seed) if seed else identity.load_or_create(settings.folder)


@asynccontextmanager
async def open_node(
    settings: NetSettings,
    signer: Signer,
    ledger: LedgerApi,
    *,
    is_seed: bool,
    withheld: Iterable[Digest] = (),
) -> AsyncIterator[Node]:
    """Open a node: reach the ledger, check the network id, listen, and serve the store's content.

    Of that the trees `withheld` are not served yet, as `BlobServer` says.

    The caller has locked the folder. Raises UserFacingError when one of these steps fails.
    """
    async with AsyncExitStack() as stack:
        rng = Random(signer.key)  # noqa: S311 - jitter and choice of peers, no secrets
        info = await _first_answer(ledger, settings, rng)
        _pin_network(settings.folder, info)
        store = await trio.to_thread.run_sync(
            partial(Store, settings.folder / "store", quota_bytes=settings.quota_bytes)
        )
        network = await _listening(stack, signer, settings)
        upload = ByteBudget(settings.upload_bytes_per_s)
        download = ByteBudget(settings.download_bytes_per_s)
        fetcher = await stack.enter_async_context(
            Fetcher(network, store, rng=rng, download=download)
        )
        fetcher.mirrors.least = partial(reach_of_url, ledger.url, public_only=settings.public_only)
        leaves = FeedbackLeaves()
        mirror = settings.release_mirror
        served = ReleaseChunks(read_from_mirror(mirror) if mirror else InstalledVersions())
        blobs = BlobServer(network, store, upload, leaves, served.read)
        blobs.withheld.update(withheld)
        membership = Membership(
            network=network,
            ledger=ledger,
            signer=signer,
            net=info.id,
            clock=clock.now_ms,
            rng=rng,
            bootstrap=settings.bootstrap,
            is_seed=is_seed,
        )
        exchange = Exchange(fetcher, ledger, partial(_mixed, network, rng))
        DialBack(network)
        reachability = ReachabilityCheck(network, rng)
        router = PortMapper(
            lambda: next(iter(network.listen_ports()), None), reachability.check_soon
        )
        reachability.router_port, reachability.port_lost = lambda: router.port, router.renew
        router.set_wanted(is_wanted=settings.opens_router_port)
        partners: list[Callable[[], Collection[PeerKey]]] = []
        lan = LanDiscovery(network, info.id, partners, rng)
        lan.set_wanted(is_wanted=settings.finds_lan_peers)
        ledger_clock = LedgerClock(clock.now_ms)
        ledger.http.on_date = ledger_clock.record_date
        yield Node(
            settings=settings,
            signer=signer,
            rng=rng,
            ledger=ledger,
            network_info=info,
            store=store,
            network=network,
            fetcher=fetcher,
            blobs=blobs,
            leaves=leaves,
            exchange=exchange,
            chunks=ChunksFromPeers(fetcher, network.connected_peers, rng),
            membership=membership,
            checkpoints=CheckpointGossip(network, ledger, info, settings.folder, rng=rng),
            reachability=reachability,
            router=router,
            puncher=HolePuncher(network, partners, rng),
            lan=lan,
            partners=partners,
            upload=upload,
            download=download,
            ledger_clock=ledger_clock,
        )


def _mixed(network: PeerNetwork, rng: Random) -> list[PeerKey]:
    """Connected peers in random order, so that no peer is always asked first."""
    peers = sorted(network.connected_peers())
    return rng.sample(peers, len(peers))


async def _listening(stack: AsyncExitStack, signer: Signer, settings: NetSettings) -> PeerNetwork:
    try:
        network = PeerNetwork(
            seed=signer.seed,
            listen=with_ports(settings.listen, own_port(signer.key)),
            announce=settings.announce,
            public_only=settings.public_only,
        )
        await stack.enter_async_context(network)
        if not network.addresses():  # libp2p raises no error
            raise PeerError("port in use, or not an address of this computer")  # noqa: TRY301
        return network  # noqa: TRY300 - what can fail is all of it
    except (PeerError, ValueError, OSError, ExceptionGroup) as err:
        where = " ".join((*settings.listen, *settings.announce))
        raise UserFacingError(
            f"cannot listen on {where} ({first_error(err)}): choose a free address with --listen, "
            "such as /ip4/0.0.0.0/tcp/0"
        ) from err


async def _first_answer(ledger: LedgerApi, settings: NetSettings, rng: Random) -> LedgerNetwork:
    deadline_s = trio.current_time() + settings.wait_for_ledger_s
    back_off = BackOff(rng, LONGEST_RETRY_S)
    was_in_network = (settings.folder / NETWORK_FILE).exists()
    with shutdown.explain_unreachable_ledger(settings.ledger):
        while True:
            try:
                return await ledger.network()
            except LedgerUnavailableError as err:
                left_s = deadline_s - trio.current_time()
                # Before a ledger has ever answered, such a page rather tells of a wrong address.
                if isinstance(err, UnnamedRefusalError) and not was_in_network:
                    raise
                if left_s <= 0:
                    raise
                log.warning("ledger not reached; retrying", why=str(err))
                await trio.sleep(min(left_s, back_off.next_s(err.retry_after_s)))


def _pin_network(folder: Path, info: LedgerNetwork) -> None:
    """Raise UserFacingError if the ledger serves another network than this folder belongs to."""
    # The folder's statements and points belong to one network: sending them to another would fail
    # in confusing ways, long after the wrong --ledger was given.
    file, mine = folder / NETWORK_FILE, to_text(info.id)
    try:
        if not file.exists():
            files.write_for_user(file, mine.encode())
        pinned = file.read_text("utf-8").strip()
    except OSError as err:
        raise UserFacingError(
            f"cannot use {file} ({err.strerror}): free some space, or choose another --dir"
        ) from err
    if pinned != mine:
        raise UserFacingError(
            f"the folder {folder} belongs to network {pinned[:12]}…, but the ledger serves "
            f"{mine[:12]}…: use another --dir or the right --ledger"
        )


def log_start(node: Node, program: str, **more: object) -> None:
    log.info(
        "started",
        program=program,
        peer=peer_id_text(node.signer.key),
        network=to_text(node.network_info.id)[:12],
        ledger=node.settings.ledger,
        folder=str(node.settings.folder),
        listening=node.network.addresses(),
        **more,
    )


async def report_status(status: Callable[[], Status]) -> NoReturn:
    """Write a status line to standard output every second until cancelled, read or not."""
    descriptor = sys.stdout.fileno()
    while True:
        line = ipc.encode(status())
        # In a thread: a full pipe that nobody reads must not block anything else.
        try:
            await trio.to_thread.run_sync(
                _write,
                descriptor,
                line,
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
        except OSError:
            await trio.sleep_forever()  # nobody reads any more
        await trio.sleep(STATUS_INTERVAL_S)


def node_status(node: Node, roles: Sequence[str], state: str) -> Status:
    """The part of a status line that worker and seed have in common."""
    return Status(
        peer=peer_id_text(node.signer.key),
        key=to_text(node.signer.key),
        roles=tuple(roles),
        state=state,
        duty=state,
        peers=len(node.network.connected_peers()),
        sent_bytes=node.blobs.sent_bytes,
        received_bytes=node.exchange.received_bytes,
        wire_sent_bytes=node.network.limiter.written_bytes,
        wire_received_bytes=node.network.limiter.read_bytes,
        sources=len(node.exchange.received),
        bad_sources=tuple(map(str, node.fetcher.bans.newest_first[:MAX_BAD_SOURCES])),
        resident_mb=int(psutil.Process(os.getpid()).memory_info().rss) >> 20,
    )


def _write(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(descriptor, left) :]
