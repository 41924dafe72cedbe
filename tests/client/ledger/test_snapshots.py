"""A reader begins at a snapshot only if the log that it trusts names exactly these bytes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio
from structlog.testing import CapturingLogger

from tequio_client.ledger import snapshots
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import LogProofs
from tequio_client.ledger.snapshots import newest_snapshot
from tequio_shared.api.network import SnapshotsAnswer
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.served import snapshot
from tests.support.ledgers import VirtualClock, served
from tests.support.snapshots import state_next, with_snapshot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.served.state import State

    Fetch = Callable[[Digest], Awaitable[bytes]]

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def served_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Digest, Digest]]:
    """A served ledger that has logged two snapshots: its URL, and their names, the newest first."""
    folder = tmp_path_factory.mktemp("ledger")
    clock = VirtualClock(time.time_ns() // 1_000_000 - DAY_MS)
    before = with_snapshot(folder, clock)
    newest = state_next(folder, clock)
    with served(folder) as program:
        yield program.url, newest, before


@pytest.fixture
def ledger(served_ledger: tuple[str, Digest, Digest]) -> tuple[str, Digest]:
    """The URL of that ledger, and the name of its newest snapshot."""
    return served_ledger[:2]


def read(
    url: str, fetch: Fetch | None = None, *, api_type: type[LedgerApi] = LedgerApi
) -> tuple[State, int] | None:
    async def main() -> tuple[State, int] | None:
        async with api_type(url) as api:

            async def from_ledger(name: Digest) -> bytes:
                raw = await api.get_blob(name)
                assert raw is not None
                return raw

            return await newest_snapshot(api, await api.network(), fetch or from_ledger)

    return trio.run(main)


def test_a_reader_gets_the_state_that_the_log_names(ledger: tuple[str, Digest]) -> None:
    url, named = ledger
    found = read(url)
    assert found is not None
    state, size = found
    assert size >= SNAPSHOT_ENTRIES
    assert sha256(snapshot.encode(state, size)) == named
    assert len(state.peers) > 1


def test_a_reader_begins_at_the_snapshot_before_one_that_nobody_has(
    served_ledger: tuple[str, Digest, Digest],
) -> None:
    url, newest, before = served_ledger

    async def fetch(name: Digest) -> bytes:
        if name == newest:
            raise PeerError("nobody has it")
        async with LedgerApi(url) as api:
            return await api.get_blob(name) or b""

    found = read(url, fetch)
    assert found is not None
    assert sha256(snapshot.encode(*found)) == before


def test_a_reader_begins_at_the_snapshot_before_one_that_no_quorum_has_seen_yet(
    served_ledger: tuple[str, Digest, Digest],
) -> None:
    """The ledger lists what it has logged; a reader's checkpoint may be older."""
    url, _, before = served_ledger
    found = read(url, api_type=OlderCheckpoint)
    assert found is not None
    assert sha256(snapshot.encode(*found)) == before


class OlderCheckpoint(LedgerApi):
    """A ledger whose quorum has seen nothing since a moment before its newest snapshot."""

    async def checkpoint(self) -> Checkpoint:
        now = await super().checkpoint()
        size = (await self.snapshots()).snapshots[0].index
        frontier = await LogProofs(self, now).frontier(size)
        return replace(now, size=size, root=frontier.root())


def test_bytes_of_another_state_are_not_begun_from(
    ledger: tuple[str, Digest], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(_: Digest) -> bytes:
        return b"no snapshot"

    logged = CapturingLogger()  # a logger that is in use already is not caught by `capture_logs`
    monkeypatch.setattr(snapshots, "log", logged)
    assert read(ledger[0], fetch) is None
    assert "reading the whole log" in str(logged.calls)


def test_another_snapshot_than_the_one_that_the_log_names_is_not_begun_from(
    ledger: tuple[str, Digest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that decodes: the source of the bytes is nobody's word for their hash."""
    found = read(ledger[0])
    assert found is not None
    state, size = found
    state.coordinator_ms += 1
    other = snapshot.encode(state, size)

    async def fetch(_: Digest) -> bytes:
        return other

    logged = CapturingLogger()
    monkeypatch.setattr(snapshots, "log", logged)
    assert read(ledger[0], fetch) is None
    assert "came with hash" in str(logged.calls)


class LyingList(LedgerApi):
    """The answers of a ledger that lists another state than its log names."""

    async def snapshots(self) -> SnapshotsAnswer:
        answer = await super().snapshots()
        wrong = [msgspec.structs.replace(one, state=one.layout) for one in answer.snapshots]
        return SnapshotsAnswer(wrong, answer.as_of)


def test_a_list_that_the_log_does_not_support_is_not_believed(ledger: tuple[str, Digest]) -> None:
    assert read(ledger[0], api_type=LyingList) is None


class OlderProgram(LedgerApi):
    """The answers of a ledger whose program has other classes."""

    async def snapshots(self) -> SnapshotsAnswer:
        answer = await super().snapshots()
        other = to_text(bytes(32))
        foreign = [msgspec.structs.replace(one, layout=other) for one in answer.snapshots]
        return SnapshotsAnswer(foreign, answer.as_of)


def test_a_snapshot_of_another_version_is_passed_over(ledger: tuple[str, Digest]) -> None:
    async def never(_: Digest) -> bytes:
        raise AssertionError("bytes that cannot be read are not fetched")

    assert read(ledger[0], never, api_type=OlderProgram) is None
