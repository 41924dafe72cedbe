"""Sums over a span are made for all readers at once, and rest after a long count."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from tequio_ledger.store import ranking
from tequio_ledger.web.pages import tallies
from tequio_ledger.web.pages.tallies import CHEAP_S, PLACES, REST, Tallies
from tests.ledger.store.test_queries_leaders import invent
from tests.support.attack_table import attack
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

SPAN_MS = 50


class Watch:
    """Seconds that pass with each statement on the sums, as on a large ledger, and when told to."""

    def __init__(self, ledger: Ledger) -> None:
        self.at_s, self.dear_s, self.counts = 100.0, 0.0, 0
        self._lock = threading.Lock()
        event.listen(ledger.database.reader, "before_cursor_execute", self._count)

    def _count(self, _connection: object, _cursor: object, statement: str, *_: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        if "sum(credit.gflop)" in statement or "row_number() OVER" in statement:
            with self._lock:
                self.counts += 1
                self.at_s += self.dear_s

    def __call__(self) -> float:
        """Say how many have passed."""
        return self.at_s


@pytest.fixture
def ledger(tmp_path: Path, either_database: str) -> Iterator[Ledger]:
    with opened(make_settings(tmp_path), VirtualClock()) as one:
        invent(one)
        yield one


def test_a_dear_count_rests_and_a_cheap_one_is_made_again(ledger: Ledger) -> None:
    watch = Watch(ledger)
    held = Tallies(ledger, lambda: 150, watch)
    watch.dear_s = CHEAP_S / 2
    assert [one.gflop for one in held.owners(SPAN_MS).found] == [55, 40]
    held.owners(SPAN_MS)
    assert watch.counts == 2
    watch.dear_s = 3.0
    first = held.owners(SPAN_MS)
    watch.at_s += REST * 3.0 - 1
    assert held.owners(SPAN_MS) is first
    watch.at_s += 2
    assert held.owners(SPAN_MS) is not first
    assert watch.counts == 4


def test_each_span_and_kind_is_a_tally_of_its_own(ledger: Ledger) -> None:
    watch = Watch(ledger)
    watch.dear_s = 1.0
    held = Tallies(ledger, lambda: 150, watch)
    assert held.owners(SPAN_MS).found != held.owners(150).found
    assert held.teams(None).found != held.teams(SPAN_MS).found
    assert held.points_per_day(1).found == {}, "all rounds ended on the first day of 1970"
    assert held.owners(SPAN_MS).size == held.teams(None).size == ledger.published.size
    assert watch.counts == 5


def test_readers_who_ask_at_once_wait_for_one_count(ledger: Ledger) -> None:
    watch = Watch(ledger)
    watch.dear_s = 1.0
    held = Tallies(ledger, lambda: 150, watch)
    found: list[object] = []
    readers = [
        threading.Thread(target=lambda: found.append(held.owners(SPAN_MS))) for _ in range(8)
    ]
    for one in readers:
        one.start()
    for one in readers:
        one.join(20)
    assert len(found) == 8
    assert len(set(map(id, found))) == watch.counts == 1


def test_who_asks_during_a_count_gets_the_tally_before_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Tallies(ledger, lambda: 150, Watch(ledger))
    before = held.owners(SPAN_MS)
    counting, may_end = threading.Event(), threading.Event()
    count = ranking.owners

    def slow_count(*asked: Any) -> list[ranking.Owner]:  # noqa: ANN401 - passed on
        counting.set()
        assert may_end.wait(20)
        return count(*asked)

    monkeypatch.setattr(ranking, "owners", slow_count)
    found: list[object] = []
    first = threading.Thread(target=lambda: found.append(held.owners(SPAN_MS)))
    first.start()
    assert counting.wait(20)
    assert held.owners(SPAN_MS) is before
    may_end.set()
    first.join(20)
    assert len(found) == 1
    assert found[0] is not before


def test_a_count_that_fails_is_tried_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Tallies(ledger, lambda: 150, Watch(ledger))
    with monkeypatch.context() as broken:
        broken.setattr("tequio_ledger.store.ranking.owners", None)
        with pytest.raises(TypeError):
            held.owners(SPAN_MS)
    assert held.owners(SPAN_MS).found


def test_a_long_ranking_ends_at_its_last_place(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tequio_ledger.web.pages.peers.ROWS", 1)
    monkeypatch.setattr("tequio_ledger.web.pages.peers.PLACES", 2)
    pages = PageReader(ledger)
    first = pages.get("/leaderboard?by=teams")
    assert f"Counted up to entry {ledger.published.size - 1}." in first.text
    assert f"/entries/{ledger.published.size - 1}" in first.links()
    assert "places are shown" not in first.text
    last = pages.get("/leaderboard?by=teams&after=1")
    assert "the first 2 places are shown" in last.text
    assert not [link for link in last.links() if "after=2" in link]
    assert PLACES > 2


@attack("D16", layer="net", ends="each sum is made once for all of them, and then rests")
def test_rankings_cost_the_same_however_many_ask_and_however_they_ask(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is asked for under ten names of the host, so that no stored page answers."""
    monkeypatch.setattr(tallies, "CHEAP_S", 0.0)
    monkeypatch.setattr(tallies, "REST", 1e9)
    watch, pages = Watch(ledger), PageReader(ledger)
    for name in range(10):
        for path in ("/", *(f"/leaderboard?span=7d&after={after}" for after in (0, 50, 100))):
            assert pages.get(path, host=f"a{name}.example").answer.status_code == 200
        for query in ("by=teams", "by=people", "after=50"):
            assert pages.get(f"/leaderboard?{query}", host=f"a{name}.example").answer.is_success
    assert watch.counts == 4, "points by day, owners of a week and of all time, and teams"
