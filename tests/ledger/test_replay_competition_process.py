"""A competition in the real program, killed in the middle: the coordinator goes on by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from tequio_ledger.replay import replay
from tequio_shared.competition.state import CompetitionPhase
from tests.support.competition_program import EVALUATORS, CompetitionProgram, until_lots
from tests.support.ledgers import make_settings, served
from tests.support.synthetic_competition import folder

if TYPE_CHECKING:
    from pathlib import Path


def test_the_program_leads_a_competition_to_its_end_across_a_kill(tmp_path: Path) -> None:
    with served(tmp_path) as ledger, httpx.Client(base_url=ledger.url, timeout=30) as http:
        place = CompetitionProgram(http, ledger.net)
        until_lots(place)
        ledger.kill()
    with served(tmp_path) as ledger, httpx.Client(base_url=ledger.url, timeout=30) as http:
        place.http = http
        until_the_end(place)
        size = int(http.get("/log/checkpoint").text.split("\n")[1])
    assert replay(make_settings(tmp_path)) == size


def until_the_end(place: CompetitionProgram) -> None:
    paper = place.paper
    drawn = place.wait_for(CompetitionPhase.DRAWN)
    assert set(drawn.candidates) == {place.people[name].key for name in EVALUATORS}
    place.post_statement("custodian", paper.reveal(1))
    draw = place.wait_for(CompetitionPhase.REVEALED).draw
    assert draw is not None
    assert draw.key == paper.key
    for said in (paper.commit, paper.result):
        for name in EVALUATORS:
            place.post_statement(name, said(place.people[name].key, "alpha", folder("alpha"), 9))
    assert not place.fold().missing_for_ranking()
    place.post_statement("organiser", paper.decide(draw.beacon), paper.rules.dates.result)
    assert list(place.wait_for(CompetitionPhase.DECIDED).phase_starts) == list(CompetitionPhase)
