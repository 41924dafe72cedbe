"""A served ledger with one round in training: members of it have done as much as a test asks."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tequio_ledger.log.sequencer import Logged
from tequio_shared.ids import to_text
from tests.support.ledgers import UNLIMITED, VirtualClock, make_settings, opened, running, served
from tests.support.signing_swarm import SigningOrganiser, SigningPeer, manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.ledger import Ledger
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements.statement import Entry

AGO_MS = 20_000
"""Time since the roster of the last run, by the clock of the program that serves it."""
BATCH = 100
RULES = manifest(train=600_000, train_limit=900_000, attest=120_000, most_members=512)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedRound:
    """A round in training; `next_work` is not logged yet."""

    run: str
    next_work: bytes
    """A leaf: the commitment of the member `next_key`."""
    next_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSite:
    """A round in training, and the address of the ledger that has it."""

    url: str
    round: MappedRound


@contextmanager
def served_round(
    folder: Path, members: int, committed: int, absent: int, runs: int = 1
) -> Iterator[MapSite]:
    """Serve runs with a round in training: some members have committed, and some never came."""
    now_ms = time.time_ns() // 1_000_000
    settings, begun_ms = make_settings(folder), now_ms - runs * AGO_MS
    with ThreadPoolExecutor(1) as pool:  # an open browser has an event loop in its own thread
        made = pool.submit(
            fill_round, settings, begun_ms, members, committed, absent, runs
        ).result()
    with served(folder, *UNLIMITED) as program:
        yield MapSite(url=program.url, round=made)


def fill_round(
    settings: LedgerSettings, at_ms: int, members: int, committed: int, absent: int, runs: int = 1
) -> MappedRound:
    """Create a ledger in the settings' folder, with runs whose rounds are in training.

    What it returns is about the last one.
    """
    clock = VirtualClock(at_ms)

    async def run(ledger: Ledger) -> MappedRound:
        async with running(ledger):
            organiser = SigningOrganiser(ledger)
            for number in range(runs):
                rules = replace(RULES, name=f"paper-{number}")
                await _log_opening(ledger, organiser, rules)
                made = await _begin_round(ledger, clock, rules, members, committed, absent)
            return made

    with opened(settings, clock) as ledger:
        return asyncio.run(run(ledger))


async def _log_opening(ledger: Ledger, organiser: SigningOrganiser, rules: Manifest) -> None:
    ledger.blobs.put(rules.encode())
    await _log(ledger, [organiser.open(rules, ledger.clock())])


async def _begin_round(
    ledger: Ledger, clock: VirtualClock, rules: Manifest, members: int, committed: int, absent: int
) -> MappedRound:
    names = (f"in {rules.name}, {at}" for at in range(members))
    peers = [SigningPeer(name, ledger, rules.run_id) for name in names]
    for peer in peers:
        await _log(ledger, peer.join())
    clock.pass_ms(rules.rounds.warmup)
    await ledger.sequencer.submit([])
    view = ledger.state.run(rules.run_id)
    assert view.round is not None
    assert len(view.round.roster.members) == members
    present = peers[: members - absent]
    await _log(ledger, (peer.attest() for peer in present))
    if absent:
        clock.pass_ms(rules.rounds.grace)
        await ledger.sequencer.submit([])
    trainers = [peer for peer in present if view.round.slot_of[peer.key] in view.round.assignment]
    await _log(ledger, (peer.commit() for peer in trainers[:committed]))
    following = trainers[committed]
    clock.pass_ms(AGO_MS)  # what is sent later must not have expired by then
    return MappedRound(
        run=to_text(rules.run_id),
        next_work=following.commit().leaf(),
        next_key=to_text(following.key),
    )


async def _log(ledger: Ledger, entries: Iterable[Entry]) -> None:
    listed = list(entries)
    for first in range(0, len(listed), BATCH):
        outcomes = await ledger.sequencer.submit(listed[first : first + BATCH])
        assert all(isinstance(one, Logged) for one in outcomes), outcomes
