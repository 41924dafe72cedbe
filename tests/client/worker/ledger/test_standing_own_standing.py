"""A worker's own standing, and the faults that it hears of, against a real ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.key_changes import appeal
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.ledger.standing import MARGIN_MS, StandingWatch, advice, read_standing
from tequio_client.worker.rounds.fault_reports import FaultReports
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import key_from_text
from tequio_shared.keys import Signer
from tequio_shared.limits import QUARANTINE_MS
from tequio_shared.statements.network import StandingChange, StandingRelease
from tests.support.authors import Author
from tests.support.equivocators import contradiction, lie, open_run
from tests.support.ledgers import UNLIMITED, served
from tests.support.statements import example_statement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.api.peers import PeerAnswer
    from tequio_shared.ids import PeerKey
    from tests.support.ledgers import Served


pytestmark = pytest.mark.trio

ME = Signer(bytes([1]) * 32)


class AlteredLedger:
    """Passes everything on, but tells of another standing than the log has."""

    def __init__(self, api: LedgerApi, **altered: str | int) -> None:
        self._api, self._altered = api, altered
        self.url, self.network = api.url, api.network
        self.checkpoint, self.tile, self.entries = api.checkpoint, api.tile, api.entries

    async def peer(self, key: PeerKey) -> PeerAnswer:
        """Alter the standing in the answer."""
        answer = await self._api.peer(key)
        other = msgspec.structs.replace(answer.standing, **self._altered)
        return msgspec.structs.replace(answer, standing=other)


async def until_quarantined(api: LedgerApi, key: PeerKey) -> None:
    """Look again and again."""
    while True:
        told, _ = await read_standing(api, key)
        if told.standing == "quarantined":
            return
        await trio.sleep(0.1)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start one ledger for all tests, with a run."""
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as one:
        trio.run(open_run, one)
        yield one


async def test_a_worker_learns_at_its_start_that_it_is_quarantined(ledger: Served) -> None:
    liar, late_ms = await lie(ledger, "starts late"), 0
    async with LedgerApi(ledger.url) as api:
        watch = StandingWatch(liar.key, api, lambda: now_ms() + late_ms)
        assert (watch.idle_reason(), watch.removed_at_index) == ("", -1)
        await watch.refresh()
    assert "signed two different statements under one number" in watch.idle_reason()
    assert watch.known is not None
    assert watch.removed_at_index == watch.known.since
    assert 0 < watch.seconds_left() <= (QUARANTINE_MS + MARGIN_MS) / 1000
    late_ms = QUARANTINE_MS + MARGIN_MS
    assert watch.idle_reason() == "", "the term is over"


async def test_a_ledger_that_tells_of_another_term_than_the_log_is_not_believed(
    ledger: Served,
) -> None:
    liar = await lie(ledger, "hears lies")
    async with LedgerApi(ledger.url) as api:
        mild = cast("LedgerApi", AlteredLedger(api, until=1))
        with pytest.raises(PeerError, match="but entry"):
            await read_standing(mild, liar.key)
        watch = StandingWatch(liar.key, mild, now_ms)
        await watch.refresh()
        assert watch.known is None


@pytest.mark.parametrize("standing", ["probation", "active"])
async def test_who_works_again_reads_that_its_appeal_is_still_open(
    ledger: Served, standing: str
) -> None:
    liar = await lie(ledger, f"appeals, then is {standing}")
    async with LedgerApi(ledger.url) as api:
        told, _ = await read_standing(api, liar.key)
        open_still = msgspec.structs.replace(told, standing=standing, appeal=9)
        assert advice(open_still, now_ms())[-1:] == [
            "The appeal in entry 9 is waiting for the organisers."
        ]
        answered = msgspec.structs.replace(open_still, appeal=None)
        assert "appeal" not in " ".join(advice(answered, now_ms()))
        other = cast("LedgerApi", AlteredLedger(api, standing=standing, appeal=9))
        with pytest.raises(UserFacingError, match="the appeal in entry 9 is still open"):
            await appeal(other, cast("Outbox", None), liar.signer, b"")


async def test_the_answer_to_an_appeal_does_not_begin_an_active_standing_again() -> None:
    change = example_statement("standing.change")
    assert isinstance(change.body, StandingChange)
    earned = msgspec.structs.replace(change.body, to="active", cause=1, until=0)
    release = StandingRelease(peer=earned.peer, reason=0)
    watch = StandingWatch(key_from_text(earned.peer), cast("LedgerApi", None), now_ms)
    for index, body in ((5, earned), (9, release)):
        watch.apply(index, replace(change, body=body))
    assert watch.known is not None
    assert (watch.known.standing, watch.known.since) == ("active", 5)


async def test_what_the_gossip_shows_of_an_author_is_reported_once(
    ledger: Served, tmp_path: Path, nursery: trio.Nursery
) -> None:
    liar = Author("speaks in two tongues", ledger.net)
    async with LedgerApi(ledger.url) as api:
        await api.post_entries([liar.register(now_ms())])
        async with Outbox(api, tmp_path, ME) as outbox:
            reporter = FaultReports(outbox, ME.key, api, await api.network())
            nursery.start_soon(reporter.run)
            pair = contradiction(liar)
            reporter.receive(*pair)
            reporter.receive(*pair)
            with trio.fail_after(60):
                await until_quarantined(api, liar.key)
            mine = await api.peer(ME.key)
            assert mine.last_seq == 2, "a registration and one report"
            _, evidence = await read_standing(api, liar.key)
            (report,) = evidence.values()
            assert report.statement.author == ME.key
    nursery.cancel_scope.cancel()
