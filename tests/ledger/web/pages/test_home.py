"""Find: whatever a person has in hand leads to where it is told of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.store import entries
from tequio_ledger.web.pages import home
from tequio_shared.ids import peer_id_text, to_text
from tests.support.page_reader import PageReader

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite


def target(seen: PageSite, asked: str) -> str:
    answer = seen.pages.get(f"/search?q={asked}").answer
    assert answer.status_code == 303, asked
    return answer.headers["location"]


def test_a_number_is_an_entry(seen: PageSite) -> None:
    assert target(seen, "17") == target(seen, "%2317") == "/entries/17"


def test_a_number_that_the_log_has_not_reached_is_no_entry(seen: PageSite) -> None:
    size = seen.shown.ledger.published.size
    assert target(seen, str(size - 1)) == f"/entries/{size - 1}"
    page = seen.pages.get(f"/search?q={size}")
    assert f"/entries/{size}" not in (*page.links(), page.answer.headers.get("location"))


def test_a_list_of_matches_has_an_end(seen: PageSite, monkeypatch: pytest.MonkeyPatch) -> None:
    run = to_text(seen.shown.rules.run_id)
    assert seen.pages.get(f"/search?q={run}").answer.status_code == 200, "several matches"
    monkeypatch.setattr(home, "MATCHES", 1)
    found = PageReader(seen.shown.ledger).get(f"/search?q={run}").answer
    assert found.status_code == 303, "the likeliest alone"


def test_a_key_is_found_in_every_spelling(seen: PageSite) -> None:
    key = seen.shown.peers[2].key
    path = f"/peers/{to_text(key)}"
    for asked in (to_text(key), to_text(key)[:6], peer_id_text(key), key.hex(), f" {key.hex()} "):
        assert target(seen, asked) == path


def test_a_statement_id_leads_to_its_entry(seen: PageSite) -> None:
    with seen.shown.ledger.database.reader.begin() as connection:
        found = entries.read_entry(connection, 100)
    assert found is not None
    assert target(seen, to_text(found.id)) == "/entries/100"


def test_a_head_leads_to_the_round_that_started_from_it(seen: PageSite) -> None:
    head = seen.shown.round.head
    assert head is not None
    run = to_text(seen.shown.rules.run_id)
    assert target(seen, to_text(head.hash)) == f"/runs/{run}/rounds/{seen.shown.round.number}"


def test_a_run_is_found_by_a_part_of_its_name(seen: PageSite) -> None:
    assert target(seen, "NOVA") == f"/runs/{to_text(seen.shown.rules.run_id)}"


def test_a_team_is_found_by_its_name_however_it_is_spelt(seen: PageSite) -> None:
    team = seen.shown.ledger.state.teams.of(seen.shown.peers[0].key)
    assert target(seen, "Milpa") == target(seen, "mil-pa") == f"/teams/{team}"


def test_a_run_id_may_be_a_run_or_its_manifest(seen: PageSite) -> None:
    run = to_text(seen.shown.rules.run_id)
    page = seen.pages.get(f"/search?q={run}")
    assert {f"/runs/{run}", f"/v1/blobs/{run}"} <= set(page.links())


@pytest.mark.parametrize("asked", ["", "zz", "%00", "%F0%9F%8C%B2", "A" * 500, "!", "..", "9" * 80])
def test_nonsense_finds_nothing_and_harms_nothing(seen: PageSite, asked: str) -> None:
    assert seen.pages.get(f"/search?q={asked}").answer.status_code == 200


def test_every_front_of_every_key_finds_it(seen: PageSite) -> None:
    for peer in seen.shown.peers:
        text = to_text(peer.key)
        for chars in range(3, 44):
            answer = seen.pages.get(f"/search?q={text[:chars]}").answer
            assert text in answer.headers.get("location", "") + answer.text
