"""The page of a key, the leaderboard and the quarantine list: who, how much, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from tequio_ledger.store import entries, ranking
from tequio_ledger.store.models import CREDIT, LOG_ENTRY, PEER
from tequio_ledger.store.queries import StoredRows
from tequio_ledger.web.pages import log, peers
from tequio_ledger.web.pages.peers import ROUNDS
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.round.points import points
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import LINK, ROUNDS_A_DAY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.web.pages.conftest import PageSite


def test_a_peer_sees_why_a_round_paid_nothing(seen: PageSite) -> None:
    careless = seen.shown.peers[3]
    page = seen.pages.get(f"/peers/{to_text(careless.key)}")
    older = [link for link in page.links() if "before=" in link]
    rows = [row.text for one in (page, *map(seen.pages.get, older)) for row in one.all("tr")]
    (rejected,) = [row for row in rows if "Rejected" in row]
    assert "Because its direction contradicts the witnesses' own measurements." in rejected
    (void,) = [row for row in rows if "Void" in row]
    assert "It did not commit before training was over." in void


def test_nobody_is_blamed_for_a_duty_that_never_came(seen: PageSite) -> None:
    void = []
    for peer in seen.shown.peers:
        page = seen.pages.get(f"/peers/{to_text(peer.key)}")
        void += [row.text for row in page.all("tr") if "Void" in row.text]
    assert any("The round ended before it could witness." in row for row in void)
    assert not any("No proof" in row for row in void)


def test_witness_duty_is_that_of_all_rounds_on_every_page_of_a_peer(seen: PageSite) -> None:
    key = seen.shown.peers[0].key
    first = seen.pages.get(f"/peers/{to_text(key)}")
    (older,) = [link for link in first.links() if "before=" in link]
    with seen.shown.ledger.database.reader.connect() as connection:
        proofs = select(func.count()).where(
            LOG_ENTRY.c.author == key, LOG_ENTRY.c.type == "witness.proof"
        )
        sent = connection.scalar(proofs) or 0
        paid = select(func.sum(CREDIT.c.gflop)).where(
            CREDIT.c.peer == key, CREDIT.c.kind == "witness"
        )
        earned = points(int(connection.scalar(paid) or 0))
    assert sent > ROUNDS
    for page in (first, seen.pages.get(older)):
        said = f"Witness duty {sent} of {sent} proofs sent, in all rounds; {earned} points for it"
        assert said in page.text


def test_a_peer_is_found_by_its_peer_id_too(seen: PageSite) -> None:
    key = seen.shown.peers[0].key
    by_id = seen.pages.get(f"/peers/{peer_id_text(key)}")
    assert by_id.answer.status_code == 200
    assert to_text(key) in by_id.text


def test_a_quarantine_shows_its_evidence_by_log_index(seen: PageSite) -> None:
    liar = seen.shown.peers[5]
    record = seen.shown.ledger.state.standings.records[liar.key]
    key = to_text(liar.key)
    for page in (seen.pages.get(f"/peers/{key}"), seen.pages.get("/quarantine")):
        assert "signed two different statements under one number" in page.text
        assert {f"/entries/{index}" for index in record.evidence} <= set(page.links())
        assert record.appeal is not None
        assert f"/entries/{record.appeal[0]}" in page.links()
    listed = seen.pages.get("/quarantine")
    assert f"/peers/{key}" in listed.links()
    assert [one.text for one in listed.all("h2")] == ["Restricted keys and open appeals"]


def test_a_list_without_keys_says_that_no_appeal_is_open_either(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        page = PageReader(ledger).get("/quarantine")
    assert "No key is restricted, and no appeal is open." in page.text


def test_a_key_may_return_once_the_term_of_its_quarantine_is_over(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, liar = seen.shown.ledger, seen.shown.peers[5].key
    until = ledger.state.standings.records[liar].until
    for now_ms in (until - 1, until):
        monkeypatch.setattr(ledger, "clock", lambda now_ms=now_ms: now_ms)
        pages = PageReader(ledger)
        for path in (f"/peers/{to_text(liar)}", "/quarantine"):
            assert ("over, so it may return" in pages.get(path).text) == (now_ms == until)


def test_the_leaderboard_has_everybody_who_earned_in_their_order(seen: PageSite) -> None:
    with seen.shown.ledger.database.reader.begin() as connection:
        order = (PEER.c.gflop.desc(), PEER.c.registered_index)
        query = select(PEER.c.key).where(PEER.c.gflop > 0).order_by(*order)
        wanted = [f"/peers/{to_text(key)}" for key in connection.scalars(query)]
    found = [link for link in seen.pages.get("/leaderboard").links() if link[:7] == "/peers/"]
    assert found == [each for link in wanted for each in (link, f"{link}#rounds-title")]


def test_a_span_counts_the_rounds_that_closed_in_it(seen: PageSite) -> None:
    week = seen.pages.get("/leaderboard?span=7d")
    day = seen.pages.get("/leaderboard?span=24h")
    liar = f"/peers/{to_text(seen.shown.peers[5].key)}"
    assert liar not in {*week.links(), *day.links()}, "what a quarantined key was paid is not shown"
    best = [one.text for one in day.all("td") if one.attributes.get("class") == "n"]
    assert best[2] == str(ROUNDS_A_DAY), "rounds paid on the last day"


def test_a_key_sees_its_neighbours(seen: PageSite) -> None:
    key = to_text(seen.shown.peers[1].key)
    page = seen.pages.get(f"/leaderboard?around={key}")
    own = [one for one in page.all("tr") if one.attributes.get("class") == "own"]
    assert len(own) == 1
    assert "bruno_gpu" in own[0].text


def test_the_coordinator_has_a_page_that_says_what_it_is(seen: PageSite) -> None:
    coordinator = seen.shown.ledger.genesis.coordinator
    assert "It is the coordinator" in seen.pages.get(f"/peers/{coordinator}").text


def test_a_peer_shows_who_is_behind_its_key_and_which_entry_says_so(seen: PageSite) -> None:
    state = seen.shown.ledger.state
    keys = [peer.key for peer in seen.shown.peers[:3]]
    anonymous, invited, vouched = (seen.pages.get(f"/peers/{to_text(key)}") for key in keys)
    assert "Anonymous Nobody vouches for its owner." in anonymous.text
    assert "Owner the key itself" in anonymous.text
    assert "Invited Invited by organisers." in invited.text
    assert f"Owner {to_text(LINK.key)[:8]}" in invited.text
    assert "Vouched for A connector verified an account of its owner." in vouched.text
    for key, page in zip(keys[1:], (invited, vouched), strict=True):
        assert f"/entries/{state.tiers.highest(key).since}" in page.links()


def test_the_roster_shows_tiers_and_the_run_whom_it_takes(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    roster = [row.text for row in page.all("tr") if "Windows" not in row.text]
    names = ("Ana Sof\u00eda", "bruno_gpu", to_text(seen.shown.peers[2].key)[:8])
    tiers = [[row for row in roster if name in row][-1] for name in names]
    assert ["Anonymous" in tiers[0], "Invited" in tiers[1], "Vouched for" in tiers[2]] == [True] * 3
    assert "An owner has at most 4 slots in a round." in page.text


def test_badges_lead_to_the_entries_that_prove_them(seen: PageSite) -> None:
    peer = seen.shown.peers[0]
    badges = dict(seen.shown.ledger.state.badges.of(peer.key))
    assert {"first-round", "measure"} <= badges.keys()
    page = seen.pages.get(f"/peers/{to_text(peer.key)}")
    found = {one.text.strip(): one.attributes["href"] for one in page.all("a")}
    assert found["First round"] == f"/entries/{badges['first-round']}"
    assert found["Measured a model"] == f"/entries/{badges['measure']}"
    newcomer = seen.pages.get(f"/peers/{to_text(seen.shown.peers[6].key)}")
    assert "Badges" not in newcomer.text


def test_a_list_that_ends_with_its_page_leads_to_no_empty_one(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, key = seen.shown.ledger, seen.shown.peers[0].key
    with ledger.database.reader.begin() as connection:
        rows = StoredRows(connection)
        lengths = {
            ("/leaderboard", peers, "ROWS"): len(ranking.owners(connection, None, 1_000)),
            ("/leaderboard?by=teams", peers, "ROWS"): 1,
            ("/quarantine", peers, "QUARANTINE_ROWS"): len(rows.standings(0, 1_000)),
            (f"/peers/{to_text(key)}", peers, "ROUNDS"): len(
                rows.attended(key, JSON_INTEGER, 1_000)
            ),
            (f"/entries?author={to_text(key)}", log, "ROWS"): len(
                entries.entries_before(connection, JSON_INTEGER, 1_000, key)
            ),
        }
    for (path, module, name), length in lengths.items():
        for shown in {length, max(length - 1, 1)}:
            monkeypatch.setattr(module, name, shown)
            links = PageReader(ledger).get(path).links()
            further = [one for one in links if "after=" in one or "before=" in one]
            assert len(further) == (shown < length), path
            for link in further:
                assert len(PageReader(ledger).get(link).all("td")) > 0
    assert "There are no further places." in seen.pages.get("/leaderboard?after=1000").text
    assert "There are no further keys." in seen.pages.get("/quarantine?after=100000").text


def test_a_list_is_read_page_by_page_without_a_gap(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = to_text(seen.shown.peers[0].key)
    for path, module, name, prefix in (
        ("/quarantine", peers, "QUARANTINE_ROWS", "/peers/"),
        (f"/peers/{key}", peers, "ROUNDS", "/runs/"),
        (f"/entries?author={key}", log, "ROWS", "/entries/"),
    ):
        monkeypatch.setattr(module, name, 1_000)
        pages = PageReader(seen.shown.ledger)
        whole = {one for one in pages.get(path).links() if one.startswith(prefix)}
        monkeypatch.setattr(module, name, 1)
        pages, found, further = PageReader(seen.shown.ledger), set[str](), [path]
        while further:
            links = pages.get(further[0]).links()
            found |= {one for one in links if one.startswith(prefix)}
            further = [one for one in links if "after=" in one or "before=" in one]
        assert found == whole, path


def test_a_ranking_ends_with_its_last_place(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "ROWS", 1)
    for places in (1, 2):
        monkeypatch.setattr(peers, "PLACES", places)
        links = PageReader(seen.shown.ledger).get("/leaderboard").links()
        assert any("after=1" in one for one in links) == (places > 1)
