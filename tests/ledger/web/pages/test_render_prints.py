"""One print serves all who ask for a page at once, and nobody who asks for something else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request

from tequio_ledger.web.pages import render
from tequio_ledger.web.pages.render import CACHED_PAGES, FRESH_S, CachedPage, PageCache
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite

PRINT = CachedPage(body=b"page", tag='"tag"', headers={"etag": '"tag"'})


class Stopwatch:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def __call__(self) -> float:
        """Say how many have passed."""
        return self.at_s


def asked(target: str, **headers: str) -> Request:
    path, _, query = target.partition("?")
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "path": path, "query_string": query.encode(), "headers": pairs})


def test_a_print_is_given_out_while_it_is_fresh() -> None:
    watch = Stopwatch()
    prints = PageCache(watch)
    assert prints.find(asked("/")) is None
    prints.store(asked("/"), PRINT)
    watch.at_s += FRESH_S * 0.9
    assert prints.find(asked("/")) is PRINT
    watch.at_s += FRESH_S * 0.2
    assert prints.find(asked("/")) is None


def test_another_path_query_or_address_is_another_page() -> None:
    prints = PageCache(Stopwatch())
    prints.store(asked("/leaderboard"), PRINT)
    for other in (
        asked("/leaderboard?span=7d"),
        asked("/status"),
        asked("/leaderboard", host="elsewhere.example"),
        asked("/leaderboard", **{"x-forwarded-proto": "https"}),
    ):
        assert prints.find(other) is None


def test_so_many_are_held_and_no_more() -> None:
    prints = PageCache(Stopwatch())
    for number in range(CACHED_PAGES + 1):
        prints.store(asked(f"/entries/{number}"), PRINT)
    assert prints.find(asked("/entries/0")) is None
    assert all(prints.find(asked(f"/entries/{number}")) for number in range(1, CACHED_PAGES + 1))


def test_who_has_it_already_is_told_so() -> None:
    again = PRINT.answer(asked("/", **{"if-none-match": 'W/"x", "tag"'}))
    assert (again.status_code, again.body) == (304, b"")
    assert PRINT.answer(asked("/")).body == b"page"


def test_a_page_asked_for_twice_is_printed_once(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "FRESH_S", math.inf)  # however slow this computer is
    path = f"/runs/{to_text(seen.shown.rules.run_id)}"
    first = seen.pages.get(path).answer
    seen.shown.clock.pass_ms(5_000)
    assert seen.pages.get(path).answer.content == first.content, "the time left is the old one"
    assert seen.pages.get(f"{path}?").answer.status_code == 200
    assert seen.pages.get(f"{path}?again").answer.content == first.content, "nothing was asked for"
    other = seen.pages.get(f"{path}?before=7").answer
    assert other.headers["etag"] != first.headers["etag"]
