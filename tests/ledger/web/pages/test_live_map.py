"""The live map: each member of a round at the place of what it did, and what the round made."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.web.pages import live_map
from tequio_ledger.web.pages.live_map import MemberStandings, RunMap
from tequio_ledger.web.pages.round_view import RoundReader, RoundRecord
from tequio_ledger.web.pages.run_view import run_snapshot
from tequio_shared.ids import to_text
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.map_site import fill_round
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import live_back
from tests.support.sample_site import REFUSED, VOID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.ids import RunId
    from tests.ledger.web.pages.conftest import PageSite

NOBODY = MemberStandings(barred={}, absent=frozenset())
MEMBERS, COMMITTED, ABSENT = 400, 150, 30


def record_of(seen: PageSite, number: int) -> RoundRecord:
    """Read a round of the sample ledger."""
    ledger = seen.shown.ledger
    with ledger.database.reader.connect() as connection:
        reader = RoundReader(ledger.blobs.read)
        return reader.read(connection, seen.shown.rules.run_id, number)


def map_of(seen: PageSite, number: int, standings: MemberStandings = NOBODY) -> RunMap:
    """Map a past round as the present one."""
    now = run_snapshot(seen.shown.ledger.state, seen.shown.rules.run_id)
    now = replace(now, number=number)
    return live_map.run_map(now, standings, record_of(seen, number), record_of(seen, number - 1))


def members_at(found: RunMap, station: str) -> list[str]:
    """List the keys of the members at a place."""
    places = (*found.stations, *found.aside)
    return [one.key for place in places if place.name == station for one in place.members]


def test_members_of_a_round_in_training_are_where_their_statements_put_them(
    seen: PageSite,
) -> None:
    number = seen.shown.round.number
    found, keys = map_of(seen, number), [to_text(peer.key) for peer in seen.shown.peers]
    assert sorted(members_at(found, "committed")) == sorted(keys[:2])
    assert sorted(members_at(found, "training")) == sorted(keys[2:5])
    assert [step.state for step in found.steps] == ["done", "now", "next", "next"]
    assert found.made is not None
    assert (found.made.round, len(found.made.accepted)) == (number - 1, 5)
    assert found.made.promoted_index is not None
    assert len(found.made.streams) == 5


def test_a_closed_round_shows_accepted_and_rejected_work(seen: PageSite) -> None:
    found = map_of(seen, REFUSED)
    assert members_at(found, "rejected") == [to_text(seen.shown.peers[3].key)]
    assert len(members_at(found, "accepted")) == 5
    assert found.made is not None
    assert found.made.round == REFUSED
    assert [(label.word, count) for label, count in found.made.counts] == [
        ("Accepted", 5), ("Rejected", 1),
    ]  # fmt: skip
    assert found.steps[-1].word == "Closed"


def test_a_void_round_made_nothing_and_its_trainers_did_not_commit(seen: PageSite) -> None:
    found = map_of(seen, VOID)
    assert found.made is not None
    assert found.made.outcome.word == "Void"
    assert members_at(found, "silent")
    assert (found.made.head, found.made.streams) == ("", ())


def test_a_quarantined_member_is_beside_the_round_with_the_entry_that_says_so(
    seen: PageSite,
) -> None:
    peer = seen.shown.peers[5]
    since = seen.shown.ledger.state.standings.records[peer.key].since
    found = map_of(seen, REFUSED, MemberStandings(barred={peer.key: since}, absent=frozenset()))
    (place,) = (one for one in found.aside if one.name == "quarantined")
    assert [(one.key, one.entry) for one in place.members] == [(to_text(peer.key), since)]


def test_every_mark_links_to_an_entry_by_its_member_or_about_its_round(seen: PageSite) -> None:
    page = seen.pages.get("/map")
    links = [link for link in page.links() if link.startswith("/entries/")]
    assert len(links) > 10
    for link in set(links):
        assert seen.pages.get(link).answer.status_code == 200, link
    found = map_of(seen, seen.shown.round.number)
    for place in found.stations:
        for one in place.members:
            assert f"/entries/{one.entry}" in links
            if one.station == "committed":
                assert one.key in seen.pages.get(f"/entries/{one.entry}").answer.text


def test_the_strip_has_the_measured_bits_per_byte_with_the_measurement(seen: PageSite) -> None:
    page = seen.pages.get("/map")
    number = seen.shown.round.number
    measured = [one for one in range(number - live_map.STRIP_ROUNDS + 1, number) if one % 4 == 0]
    values = [one for one in page.all("a") if one.attributes.get("class") == "value"]
    assert len(values) == len(measured)
    beside = [
        one for one in page.all("span") if one.attributes.get("title") == "perplexity per token"
    ]
    assert len(beside) == len(measured)
    assert all(float(one.text) > 1 for one in beside)
    assert f"bits per byte, perplexity {beside[-1].text} per token, after round" in page.text
    for one in values:
        entry = seen.pages.get(one.attributes["href"])
        assert "measures a head on held-out text" in entry.text


def test_a_run_that_went_back_has_a_map_on_which_no_head_is_awaited(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def live() -> RunId:
            async with running(ledger):
                return (await live_back(ledger, clock)).rules.run_id

        run = asyncio.run(live())
        number, place = ledger.state.run(run).number, f"/runs/{to_text(run)}"
        pages = PageReader(ledger)
        page = pages.get(f"{place}/map")
        assert page.answer.status_code == 200
        assert "Paused" in page.text
        assert f"Round {number} Given up Accepted 4" in page.text
        assert "No new head The run went back to an earlier head" in page.text
        assert "Given up The round closed" in pages.get(f"{place}/rounds/{number}").text
        assert pages.get("/map").answer.status_code == 200


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageReader]:
    """Open a ledger with a round of 400 members in training."""
    settings = make_settings(tmp_path_factory.mktemp("crowded"))
    clock = VirtualClock()
    fill_round(settings, clock(), MEMBERS, COMMITTED, ABSENT)
    with opened(settings, clock) as ledger:
        yield PageReader(ledger)


def test_four_hundred_members_are_drawn_densely_and_fit_in_a_small_page(
    crowded: PageReader,
) -> None:
    page = crowded.get("/map")
    marks = [one for one in page.all("li") if "data-mark" in one.attributes]
    assert len(marks) == MEMBERS
    at = [one.attributes["data-station"] for one in marks]
    assert (at.count("committed"), at.count("absent")) == (COMMITTED, ABSENT)
    assert len(page.answer.content) < 750 * MEMBERS
    assert page.by_id("live").attributes["data-pause"] == str(live_map.DENSE_PAUSE_MS)
    inside = [one for one in page.all("a") if one.attributes.get("tabindex") == "-1"]
    assert len(inside) == MEMBERS, "the keyboard need not pass all of them"
