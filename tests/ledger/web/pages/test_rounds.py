"""The page of a round: what was judged, and why it paid what it paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from tequio_ledger.store import queries
from tequio_ledger.store.models import CREDIT, LOG_ENTRY, ROUND
from tequio_ledger.web.pages import round_view
from tequio_ledger.web.pages.round_view import RoundReader
from tequio_shared.ids import to_text
from tequio_shared.round.points import points
from tests.support.page_reader import Page, PageReader
from tests.support.sample_ledger import ROUNDS_A_DAY

if TYPE_CHECKING:
    from tequio_shared.ids import Digest
    from tests.ledger.web.pages.conftest import PageSite

REFUSED = ROUNDS_A_DAY + 4
VOID = 2 * ROUNDS_A_DAY + 1


def round_page(seen: PageSite, number: int) -> Page:
    return seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}/rounds/{number}")


def test_a_rejected_contribution_comes_with_its_reason(seen: PageSite) -> None:
    page = round_page(seen, REFUSED)
    assert "Accepted 5 of 6 contributions committed" in page.text
    assert "Because its direction contradicts the witnesses' own measurements." in page.text
    refusals = [
        one for one in page.all("td") if one.attributes.get("title", "")[:10] == "refused it"
    ]
    assert len(refusals) == 5, "all the other witnesses"


def test_a_void_round_says_why_and_blames_nobody(seen: PageSite) -> None:
    page = round_page(seen, VOID)
    assert "because no trainer committed to a contribution in time" in page.text
    assert "nobody is paid or blamed" in page.text
    assert "nothing: the head stays" in page.text
    assert "the round ended before they were asked" in page.text
    assert "did not answer" not in page.text


def test_a_round_under_way_shows_who_has_committed(seen: PageSite) -> None:
    page = round_page(seen, seen.shown.round.number)
    assert "Training" in page.text
    assert page.text.count("It can still commit.") == 3
    assert "Accepted 0 of 2" in page.text
    assert "not canonical until the members of the next round state it" in page.text


def test_points_of_a_round_are_those_of_the_credits(seen: PageSite) -> None:
    with seen.shown.ledger.database.reader.begin() as connection:
        rounds = connection.execute(select(ROUND.c.round, ROUND.c.accepted)).all()
        for number, accepted in rounds[:5]:
            credited = connection.scalars(
                select(CREDIT.c.gflop).where(CREDIT.c.round == number)
            ).all()
            page = round_page(seen, number)
            assert f"Accepted {accepted} of" in page.text
            assert f"Points paid {points(sum(credited))}" in page.text


def test_a_head_says_who_stated_it_and_which_one_the_round_made(seen: PageSite) -> None:
    page = round_page(seen, 2)
    before, after = (round_page(seen, number) for number in (1, 3))
    made = page.text.partition("Made ")[2].split(",")[0]
    assert made in after.text
    assert "6 members stated" in page.text
    assert before.text.partition("Made ")[2].split(",")[0] in page.text


def test_bloom_filters_are_drawn_bit_by_bit(seen: PageSite) -> None:
    page = round_page(seen, 1)
    drawn = [one for one in page.all("path") if one.attributes.get("class") == "bit-on"]
    assert len(drawn) == 6
    said = [one.text for one in page.all("p") if "bits set" in one.text]
    for path, words in zip(drawn, said, strict=True):
        assert f", {path.attributes['d'].count('M')} of " in words


def test_each_member_says_by_which_entry_it_stated_its_head(seen: PageSite) -> None:
    page = round_page(seen, 3)
    links = {one.attributes["href"]: one.text for one in page.all("a") if one.text == "the round's"}
    with seen.shown.ledger.database.reader.connect() as connection:
        query = select(LOG_ENTRY.c.idx).where(
            LOG_ENTRY.c.type == "head.attest", LOG_ENTRY.c.round == 3
        )
        stated = {f"/entries/{index}" for index in connection.scalars(query)}
    assert links.keys() == stated
    assert len(stated) == 6


def test_finished_rounds_are_cached_up_to_a_number_of_members(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, run = seen.shown.ledger, seen.shown.rules.run_id
    monkeypatch.setattr(round_view, "CACHED_MEMBERS", 2 * len(seen.shown.peers))
    reader = RoundReader(ledger.blobs.read)
    with ledger.database.reader.begin() as connection:
        first, *_, last = (reader.read(connection, run, number) for number in (1, 2, 3))
        assert reader.read(connection, run, 3) is last
        assert reader.read(connection, run, 1) is not first, "it was given up for the third"
        assert reader.read(connection, run, 1) == first


def test_a_round_whose_document_is_lost_says_so_and_leaves_the_pages_of_its_members(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, run = seen.shown.ledger, seen.shown.rules.run_id
    ana = f"/peers/{to_text(seen.shown.peers[0].key)}"
    with ledger.database.reader.begin() as connection:
        row = queries.round_row(connection, run, VOID)
    assert row is not None
    path = f"/runs/{to_text(run)}/rounds/{VOID}"
    assert path in seen.pages.get(ana).links()
    read = ledger.blobs.read

    def lose(digest: Digest) -> bytes:
        if digest == row.roster:
            raise KeyError(digest)
        return read(digest)

    monkeypatch.setattr(ledger.blobs, "read", lose)
    pages = PageReader(ledger)
    lost = pages.get(path)
    assert lost.answer.status_code == 503
    assert f"document of round {row.round} is missing or damaged" in lost.text
    member = pages.get(ana)
    assert member.answer.status_code == 200
    assert path not in member.links()
    missing = round_page(seen, 10**6)
    assert (missing.answer.status_code, "no round 1000000" in missing.text) == (404, True)
