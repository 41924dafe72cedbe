"""The leaderboard of teams, and what it may be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.store import queries, ranking
from tequio_ledger.web.pages.text import DAY_MS
from tequio_shared.ids import to_text
from tequio_shared.round.points import comparison, points
from tests.ledger.store.test_queries_leaders import invent
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ledger.web.pages.conftest import PageSite


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[PageReader]:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        invent(ledger)
        yield PageReader(ledger)


def cells(pages: PageReader, path: str) -> list[str]:
    """List the rows of the table."""
    return [one.text.strip() for one in pages.get(path).all("td")]


def test_teams_stand_in_the_order_of_what_was_earned_for_them(pages: PageReader) -> None:
    page = pages.get("/leaderboard?by=teams&span=all")
    rows = [one.text for one in page.all("td")]
    assert [rows[1], rows[5]] == ["Team 2", "Team 1"], "the log of this test founded none of them"
    assert [rows[3], rows[7]] == ["2", "2"], "keys that earned for them"
    current = [one.text for one in page.all("a") if one.attributes.get("aria-current") == "page"]
    assert current[-2:] == ["Teams", "All time"]
    assert cells(pages, "/leaderboard?by=teams&span=all&after=1")[:2] == ["2", "Team 1"]


def test_a_team_has_a_page_with_its_goal_and_its_members(seen: PageSite) -> None:
    (team,) = seen.shown.ledger.state.teams.records
    page = seen.pages.get(f"/teams/{team}")
    assert [one.text for one in page.all("h1")] == ["Milpa"]
    members = [link.partition("#")[0] for link in page.links() if link.startswith("/peers/")]
    assert {f"/peers/{to_text(one.key)}" for one in seen.shown.peers[:3]} == set(members)
    assert "of 1,200 points by" in page.text
    assert f"/teams/{team}" in seen.pages.get("/leaderboard?by=teams&span=all").links()
    assert seen.pages.get("/teams/1").answer.status_code == 404
    assert seen.pages.get("/teams/Milpa").answer.status_code == 404


def test_points_are_told_in_the_time_of_a_known_card(seen: PageSite) -> None:
    ledger = seen.shown.ledger
    with ledger.database.reader.begin() as connection:
        people = ranking.owners(connection, None, 50)
    (team,) = ledger.state.teams.records
    earned = ledger.state.team_orders.of(team).gflop
    for path, found in {
        "/leaderboard": [one.gflop for one in people],
        "/leaderboard?by=teams": [earned],
    }.items():
        titles = {one.text: one.attributes.get("title") for one in seen.pages.get(path).all("span")}
        for gflop in found:
            assert titles[points(gflop)] == comparison(gflop) != ""
    page = seen.pages.get(f"/teams/{team}").text
    assert f"what its members earned while they were in it, {comparison(earned)}" in page
    now_ms = ledger.clock()
    with ledger.database.reader.begin() as connection:
        today = queries.points_per_day(connection, now_ms - DAY_MS).get(now_ms // DAY_MS, 0)
    said = f"since midnight UTC, {comparison(today)}" if comparison(today) else "since midnight UTC"
    home = seen.pages.get("/")
    assert said in [one.text for one in home.all("dd")]
    shown = {one.text: one.attributes.get("title") for one in home.all("span")}
    assert shown[points(people[0].gflop)] == comparison(people[0].gflop)


def test_a_span_without_a_team_says_so(pages: PageReader) -> None:
    page = pages.get("/leaderboard?by=teams&span=24h")
    assert "No team earned points in this time span." in page.text
    assert page.answer.status_code == 200


def test_people_with_several_keys_of_one_account_have_one_place_of_all_time(
    pages: PageReader,
) -> None:
    page = pages.get("/leaderboard")
    assert page.text.count("other key") == page.text.count("and 1 other key") == 1
    assert len([one for one in page.all("tr") if one.text.strip()]) == 3, "a head and two places"


def test_places_are_of_people_or_of_teams(seen: PageSite) -> None:
    answer = seen.pages.get("/leaderboard?by=cats").answer
    assert answer.status_code == 400
    assert "Unknown ranking" in answer.text
    assert "use people, teams" in answer.text


def test_neighbours_of_a_key_are_ranked_by_all_points_whatever_the_span(seen: PageSite) -> None:
    page = seen.pages.get(f"/leaderboard?around={to_text(seen.shown.peers[2].key)}&span=7d")
    assert page.answer.status_code == 200
    assert "Rounds paid" not in page.text


@pytest.mark.parametrize("query", ["", "?span=7d", "?by=teams", "?around=KEY"])
def test_every_place_has_a_link_to_share(seen: PageSite, query: str) -> None:
    path = "/leaderboard" + query.replace("KEY", to_text(seen.shown.peers[0].key))
    page = seen.pages.get(path)
    rows = [one.attributes["id"] for one in page.all("tr") if "id" in one.attributes]
    found = [
        one.attributes["href"]
        for one in page.all("a")
        if one.attributes.get("aria-label", "").endswith("link to this place")
    ]
    assert rows
    assert [one.partition("#")[2] for one in found] == rows
    for link in found:
        # A fragment alone stays on the page that was asked; the neighbours of a key are its own.
        target, _, row = link.partition("#")
        ids = [one.attributes.get("id") for one in seen.pages.get(target or path).all("tr")]
        assert row in ids
        assert bool(target) == ("around" in path)


def test_a_name_and_a_picture_stand_for_a_key(seen: PageSite) -> None:
    ana, unnamed = seen.shown.peers[0], seen.shown.peers[2]
    page = seen.pages.get("/leaderboard")
    links = {one.attributes["href"]: one.text for one in page.all("a") if "title" in one.attributes}
    assert links[f"/peers/{to_text(ana.key)}"] == "Ana Sof\u00eda"
    assert links[f"/peers/{to_text(unnamed.key)}"] == f"{to_text(unnamed.key)[:10]}\u2026"
    assert page.answer.text.count('class="avatar"') == len(links)


def test_the_page_of_a_key_is_found_by_its_name_however_it_is_spelt(seen: PageSite) -> None:
    own = seen.pages.get(f"/peers/{to_text(seen.shown.peers[0].key)}")
    assert [one.text for one in own.all("h1")] == ["Ana Sof\u00eda"]
    assert seen.pages.get("/peers/ana-sofia").text == own.text
    missing = seen.pages.get("/peers/Nobody")
    assert missing.answer.status_code == 404
    assert "is called" in missing.text
    found = seen.pages.get("/search?q=ANA SOFIA").answer
    assert found.headers["location"] == f"/peers/{to_text(seen.shown.peers[0].key)}"
