"""A log's operator, or a thief of its key, that serves two histories of one log over real HTTP."""

from __future__ import annotations

import shutil
import signal
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_ledger.monitor.alarms import Alarms
from tequio_ledger.monitor.mirror import Mirror
from tequio_ledger.monitor.remote import RemoteLedger
from tequio_ledger.monitor.watch import Watch
from tequio_shared.errors import first_error
from tequio_shared.ids import from_text
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.policy import Policy
from tequio_shared.network.genesis import Genesis
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    register_keys,
    wait_until_published,
)
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served

CALM = ApiLimits(call_s=20.0, idle_s=20.0)
BRISK = FollowerLimits(check_s=0.1, quiet_s=0.3, lag_s=0.5)
"""A worker's own limits would let it look again only after twenty seconds."""


def stop(ledger: Served) -> None:
    """Stop a ledger as its operator does."""
    ledger.process.send_signal(signal.SIGTERM)
    ledger.process.wait(30)


@contextmanager
def begun(ring: WitnessGroup, policy: Path) -> Iterator[tuple[Served, Path]]:
    """A published log of 6 entries, and a copy of its folder with exactly these."""
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "common", 5)
        wait_until_published(ledger, policy, 6)
        stop(ledger)
    copy = ring.folder / "copy"
    shutil.copytree(ring.ledger, copy)
    with cosigned(ring, policy) as ledger:
        yield ledger, copy


@contextmanager
def other_history(copy: Path, count: int, *options: str) -> Iterator[Served]:
    """Serve the same log from the copy, with different entries under the same key."""
    with served(copy, *UNLIMITED, *options) as ledger:
        register_keys(ledger, "another history", count)
        yield ledger


def read_by_client(url: str, folder: Path, policy: Path | None, count: int) -> None:
    """Read `count` entries as a worker with that folder does; raises the first error found."""
    trust = Policy.parse(policy.read_bytes()) if policy else None

    async def read() -> None:
        with trio.fail_after(60):
            async with LedgerApi(url, limits=CALM, trust=trust) as api:
                network = await api.network()
                async with LogFollower(api, network, folder, limits=BRISK, rng=Random(1)) as log:
                    entries = log.entries()
                    for _ in range(count):
                        await anext(entries)

    try:
        trio.run(read)
    except BaseExceptionGroup as group:
        raise first_error(group) from group


def checkpoint_by_client(url: str, policy: Path) -> Checkpoint:
    """Fetch the newest checkpoint under a policy; raises the error if it is not accepted."""
    trust = Policy.parse(policy.read_bytes())

    async def ask() -> Checkpoint:
        async with LedgerApi(url, trust=trust) as api:
            return await api.checkpoint()

    return trio.run(ask)


@contextmanager
def watching(url: str, folder: Path, alarms: Path) -> Iterator[Watch]:
    """A monitor with that folder, pointed at a ledger."""
    with RemoteLedger(url) as remote:
        genesis = Genesis.parse(from_text(remote.ask("/v1/network")["genesis"], None))
        folder.mkdir(exist_ok=True)
        opening = partial(_mirror, folder, genesis, remote)
        watch = Watch(remote, opening, Alarms(alarms, url, lambda: 0), None, lambda: 0)
        try:
            yield watch
        finally:
            watch.close()


def forged_tree(origin: str, count: int) -> tuple[Checkpoint, list[bytes]]:
    """A checkpoint and leaf hashes of a made-up tree."""
    hashes = [merkle.leaf_hash(f"forged {at}".encode()) for at in range(count)]
    return Checkpoint(origin=origin, size=count, root=merkle.root_of_hashes(hashes)), list(hashes)


def _mirror(folder: Path, genesis: Genesis, remote: RemoteLedger) -> Mirror:
    mirror = Mirror(folder, genesis, remote.blob, lambda: 0)
    mirror.load()
    return mirror
