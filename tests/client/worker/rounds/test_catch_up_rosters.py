"""Trainers of each run's last round, for seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from tequio_client.worker.rounds.catch_up import TrainerIndex
from tequio_shared.ids import Digest, RunId, digest_from_text, sha256
from tequio_shared.round.documents import TRAINER, Roster
from tequio_shared.statements.runs import RoundRoster
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey

OTHER_RUN = RunId(bytes(32))


class DocumentSource:
    """Serves documents once the test allows it, and records the requests."""

    def __init__(self, documents: dict[Digest, bytes]) -> None:
        self.documents = documents
        self.asked: list[Digest] = []
        self.open = trio.Event()

    async def __call__(self, name: Digest) -> bytes:
        """Give a document; never, if there is none."""
        self.asked.append(name)
        await self.open.wait()
        if name not in self.documents:
            await trio.sleep_forever()
        return self.documents[name]


def played() -> tuple[Swarm, list[tuple[int, Digest]]]:
    """A run with several rosters."""
    swarm = Swarm(manifest=tiny_manifest(most=4))
    for number in range(4):
        swarm.volunteer(f"v{number}")
    swarm.run()
    named = [
        (one.statement.round or 0, digest_from_text(one.statement.body.roster))
        for one in swarm.entries
        if isinstance(one.statement.body, RoundRoster)
    ]
    return swarm, named


def trainers(swarm: Swarm, document: Digest) -> set[PeerKey]:
    members = Roster.parse(swarm.blobs[document]).members
    return {one.key for one in members if TRAINER in one.roles}


@pytest.mark.trio
async def test_the_newest_roster_is_fetched_and_says_who_trains(autojump_clock: object) -> None:
    swarm, named = played()
    run, (number, last) = swarm.manifest.run_id, named[-1]
    library = DocumentSource(dict(swarm.blobs))
    rosters = TrainerIndex(library)
    keys = [one.key for one in swarm.volunteers]
    async with trio.open_nursery() as nursery:
        for each in named:
            rosters.set_roster(run, *each)
        nursery.start_soon(rosters.serve)
        await trio.testing.wait_all_tasks_blocked()
        assert {rosters.round_of(run, key) for key in keys} == {None}
        library.open.set()
        await trio.testing.wait_all_tasks_blocked()
        assert library.asked == [last]
        expected = trainers(swarm, last)
        assert {key for key in keys if rosters.round_of(run, key) == number} == expected
        assert expected
        assert rosters.round_of(OTHER_RUN, keys[0]) is None
        rosters.drop(run)
        assert rosters.round_of(run, keys[0]) is None
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_roster_that_is_junk_or_nowhere_holds_up_no_other(autojump_clock: object) -> None:
    swarm, named = played()
    run, (number, last) = swarm.manifest.run_id, named[-1]
    library = DocumentSource({**swarm.blobs, sha256(b"junk"): b"junk"})
    library.open.set()
    rosters = TrainerIndex(library)
    async with trio.open_nursery() as nursery:
        rosters.set_roster(OTHER_RUN, 1, sha256(b"junk"))
        rosters.set_roster(RunId(bytes([1]) * 32), 1, sha256(b"nowhere"))
        rosters.set_roster(run, number, last)
        nursery.start_soon(rosters.serve)
        key = next(iter(trainers(swarm, last)))
        with trio.fail_after(1_000):
            while rosters.round_of(run, key) is None:  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(1)
        nursery.cancel_scope.cancel()
