"""The competitions list for the app, from a real ledger that has one competition in each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tequio_client import clock
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.ipc.runs import AskCurves, CurvesReply
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.control.lists import (
    MAX_CURVE_ROUNDS,
    CompetitionsList,
    RunsList,
    curve_rounds,
)
from tequio_client.worker.evaluate import JudgingRole
from tequio_client.worker.points.points_db import PointsDatabase, RoundOutcome, RoundPlace
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.log.notes import Checkpoint
from tests.support.ledgers import make_settings, served
from tests.support.sample_competitions import fill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.api.competitions import CompetitionAnswer
    from tests.support.ledgers import Served
    from tests.support.sample_competitions import SampleCompetitions


ROUNDS = {"nova-350m": 5, "comet-350m": 3}


class CompetitionsLedger(NamedTuple):
    """A ledger with competitions, and the program that serves it."""

    shown: SampleCompetitions
    program: Served

    @property
    def nova(self) -> str:
        """The first swarm's run."""
        return to_text(self.shown.swarms[0].rules.run_id)


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompetitionsLedger]:
    folder = tmp_path_factory.mktemp("ledger")
    shown = fill(make_settings(folder), clock.now_ms(), ROUNDS)  # a few are enough here
    with served(folder) as program:
        yield CompetitionsLedger(shown, program)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[PointsDatabase]:
    made = PointsDatabase.opened(tmp_path, PeerKey(bytes([1]) * 32))
    yield made
    made.close()


async def onlooker(_answer: CompetitionAnswer) -> JudgingRole:
    return JudgingRole()


@pytest.mark.trio
async def test_each_competition_is_told_with_its_rules_the_decided_one_last(
    listing: CompetitionsLedger, book: PointsDatabase
) -> None:
    async with LedgerApi(listing.program.url) as api:
        found = await CompetitionsList(api, book.file, onlooker).answer(AskCompetitions())
    assert isinstance(found, CompetitionsReply)
    phases = [(row.name.removeprefix("Prose 2026 "), row.phase) for row in found.rows]
    assert phases == [
        ("open", "open"),
        ("announced", "open"),
        ("revealed", "revealed"),
        ("drawn", "drawn"),
        ("closed", "closed"),
        ("decided", "decided"),
    ]
    open_, rules = found.rows[0], listing.shown.papers["open"].rules
    assert open_.competition == to_text(rules.id)
    assert (open_.opens_ms, open_.result_ms) == (rules.dates.opens, rules.dates.result)
    assert (open_.parameters, open_.tokens, open_.hours) == (350_000_000, 2_000_000_000, 72)
    assert (open_.texts, open_.drawn, open_.needed, open_.custodians) == (400, 120, 2, 3)
    sides = {one.name: (one.run_name, one.has_submitted) for one in open_.entrants}
    assert sides["nova"] == ("nova-350m", True)
    assert sides["comet"] == ("comet-350m", False)
    assert sides["lone-wolf"] == ("", True)


@pytest.mark.trio
async def test_the_result_has_ranks_and_intervals_and_twins_share_one(
    listing: CompetitionsLedger, book: PointsDatabase
) -> None:
    async with LedgerApi(listing.program.url) as api:
        lister = CompetitionsList(api, book.file, onlooker)
        found = await lister.read()
        assert await lister.read() == found, "what is decided is not asked for again"
    places = {one.name: one for one in found.rows[-1].entrants}
    ranks = {name: one.rank for name, one in places.items()}
    assert ranks == {"nova": 1, "twin-of-nova": 1, "comet": 3, "lone-wolf": 4}
    assert list(ranks.values()) == [1, 1, 3, 4], "the best first"
    for one in places.values():
        assert one.low < one.nanobits_per_byte < one.high
    assert all(one.rank == 0 for row in found.rows[:-1] for one in row.entrants)


@pytest.mark.trio
async def test_our_points_are_those_that_were_proven(
    listing: CompetitionsLedger, book: PointsDatabase
) -> None:
    checkpoint = Checkpoint(origin="o", size=100, root=sha256(b""))
    outcome = RoundOutcome(state="verified", trained=7_000_000, witnessed=500_000)
    for number, run in ((1, listing.nova), (2, listing.nova), (3, "another")):
        place = RoundPlace(number=number, run=run, run_name="r", round=number, at_ms=number)
        book.record_proven_end(place, number, outcome, checkpoint)
    book.add_round(RoundPlace(number=9, run=listing.nova, run_name="r", round=9, at_ms=9))
    async with LedgerApi(listing.program.url) as api:
        found = await CompetitionsList(api, book.file, onlooker).read()
    ours = {one.name: one.gflop for one in found.rows[0].entrants}
    assert (ours["nova"], ours["comet"], ours["lone-wolf"]) == (15_000_000, 0, 0)


@pytest.mark.trio
async def test_curves_go_through_the_closed_rounds(
    listing: CompetitionsLedger, book: PointsDatabase
) -> None:
    runs = tuple(to_text(one.rules.run_id) for one in listing.shown.swarms)
    async with LedgerApi(listing.program.url) as api:
        lister = CompetitionsList(api, book.file, onlooker)
        found = await lister.answer(AskCurves(runs=(*runs, to_text(bytes(32)))))
    assert isinstance(found, CurvesReply)
    assert [curve.run for curve in found.rows] == list(runs)
    nova, comet = (curve.points for curve in found.rows)
    assert [point.round for point in nova] == list(range(1, len(nova) + 1))
    assert nova[0].loss > nova[-1].loss > 0.5
    assert comet[-1].loss > nova[-1].loss, "the slower one is behind"


@pytest.mark.trio
async def test_a_run_tells_where_its_heads_were_published(listing: CompetitionsLedger) -> None:
    async with LedgerApi(listing.program.url) as api:
        rows = {row.run: row for row in (await RunsList(api).read()).rows}
    (head,) = rows[listing.nova].published
    view = listing.shown.ledger.state.run(listing.shown.swarms[0].rules.run_id)
    ((number, places),) = view.published.items()
    (body,) = (one.body for one in places.values())
    assert (head.round, head.repo, head.revision) == (number, body.location, body.revision)


@pytest.mark.parametrize("rounds", [0, 1, 2, 47, 48, 49, 1_841, 100_000])
def test_a_curve_has_few_spots_that_stay_as_the_run_grows(rounds: int) -> None:
    found = curve_rounds(rounds)
    assert found == sorted(set(found))
    assert len(found) <= MAX_CURVE_ROUNDS + 3
    assert found[-1:] == ([rounds] if rounds else [])
    kept = set(found) & set(curve_rounds(rounds + 1))
    assert len(kept) >= len(found) // 2
