"""Feeds: valid Atom, the same ids under every address, and nothing sent twice."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from uuid import UUID
from xml.etree import ElementTree as Xml

import pytest
from msgspec.structs import replace

from tequio_ledger import news
from tequio_ledger.log.sequencer import Logged
from tequio_ledger.store import log_rows
from tequio_shared.ids import to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import Admission
from tequio_shared.statements.runs import RoundClose, RunFinish, RunNotice
from tests.support.ledgers import VirtualClock, make_settings, opened, pass_time, running
from tests.support.page_reader import PageReader
from tests.support.sample_competitions import play
from tests.support.sample_ledger import DAY_MS, corpus, rules
from tests.support.signing_swarm import SigningOrganiser

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import RunId
    from tequio_shared.statements.statement import Entry
    from tests.ledger.web.pages.conftest import PageSite

ATOM = "{http://www.w3.org/2005/Atom}"
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def checked(raw: bytes) -> Xml.Element:
    """Parse a feed, and hold it to what RFC 4287 demands."""
    feed = Xml.fromstring(raw)  # noqa: S314 - our own
    assert feed.tag == f"{ATOM}feed"
    for one in [feed, *feed.findall(f"{ATOM}entry")]:
        for name in ("id", "title", "updated"):
            assert len(one.findall(ATOM + name)) == 1, name
        UUID(one.findtext(f"{ATOM}id", "").removeprefix("urn:uuid:"))
        assert RFC_3339.fullmatch(one.findtext(f"{ATOM}updated", ""))
        alternates = [x for x in one.findall(f"{ATOM}link") if x.get("rel") == "alternate"]
        assert len({(x.get("type"), x.get("hreflang")) for x in alternates}) == len(alternates) == 1
    assert feed.findtext(f"{ATOM}author/{ATOM}name"), "or each entry would need one"
    ids = [one.findtext(f"{ATOM}id") for one in feed.iter() if one.find(f"{ATOM}id") is not None]
    assert len(set(ids)) == len(ids)
    updated = [one.findtext(f"{ATOM}updated", "") for one in feed.findall(f"{ATOM}entry")]
    assert updated == sorted(updated, reverse=True)
    return feed


def kinds(feed: Xml.Element) -> list[str]:
    return [one.get("term", "") for one in feed.iter(f"{ATOM}category")]


def test_pages_name_their_feeds_and_the_feeds_their_pages(seen: PageSite) -> None:
    run = f"/runs/{to_text(seen.shown.rules.run_id)}"
    for page, paths in (("/", {"/feed.atom"}), (run, {"/feed.atom", f"{run}/feed.atom"})):
        links = [one.attributes for one in seen.pages.get(page).all("link")]
        named = {one["href"] for one in links if one.get("type") == "application/atom+xml"}
        assert named == paths
        for path in paths:
            answer = seen.pages.get(path).answer
            assert answer.headers["content-type"] == "application/atom+xml"
            feed = checked(answer.content)
            found = {one.get("rel"): one.get("href") for one in feed.findall(f"{ATOM}link")}
            assert found["self"] == f"http://ledger.example{path}"
            for link in feed.iter(f"{ATOM}link"):
                target = (link.get("href") or "").removeprefix("http://ledger.example")
                assert seen.pages.get(target).answer.status_code == 200, target


def test_the_feed_of_a_run_tells_its_opening_its_rounds_and_its_downloads(seen: PageSite) -> None:
    run = f"/runs/{to_text(seen.shown.rules.run_id)}"
    feed = checked(seen.pages.get(f"{run}/feed.atom").answer.content)
    assert {"run.opened", "round.closed", "head.published"} == set(kinds(feed))
    titles = [one.findtext(f"{ATOM}title") for one in feed.findall(f"{ATOM}entry")]
    assert titles[-1] == "The run nova-350m is open"
    assert "nova-350m closed round 25" in titles


def test_a_reader_that_has_a_feed_gets_nothing_and_ids_do_not_depend_on_the_address(
    seen: PageSite,
) -> None:
    first = seen.pages.get("/feed.atom").answer
    again = seen.pages.get("/feed.atom", if_none_match=first.headers["etag"]).answer
    assert (again.status_code, again.content) == (304, b"")
    other = seen.pages.get("/feed.atom", host="other.example").answer
    assert other.content != first.content
    ids = [[one.text for one in checked(x.content).iter(f"{ATOM}id")] for x in (first, other)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("run", ["nova", "A" * 43])
def test_an_unknown_run_has_no_feed(seen: PageSite, run: str) -> None:
    assert seen.pages.get(f"/runs/{run}/feed.atom").answer.status_code == 404


def test_competitions_are_news_and_the_feed_is_what_the_log_tells(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(play(ledger, clock))
        feed = checked(PageReader(ledger).get("/feed.atom").answer.content)
        assert {"competition.opened", "competition.decided"} <= set(kinds(feed))
        links = [one for one in feed.iter(f"{ATOM}link") if one.get("rel") == "related"]
        indices = [int((one.get("href") or "").rpartition("/")[2]) for one in links]
        assert indices == [one.index for one in every(ledger)][: -news.RECENT - 1 : -1]


def test_the_feed_of_the_network_tells_of_a_run_however_many_were_opened_after_it(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()
    plans = [replace(rules(), name=f"run-{number}") for number in range(news.RECENT + 5)]
    first = plans[0].run_id

    async def run(ledger: Ledger) -> None:
        async with running(ledger):
            ledger.blobs.put(corpus().encode())
            organiser = SigningOrganiser(ledger)

            async def post(entry: Entry) -> None:
                (outcome,) = await ledger.sequencer.submit([entry])
                assert isinstance(outcome, Logged)

            async def end(opened_run: RunId) -> None:
                await post(organiser.sign(RunFinish(reason=1), clock(), run=opened_run))
                await pass_time(ledger, clock, 2 * DAY_MS)

            for plan in plans:
                ledger.blobs.put(plan.encode())
                await post(organiser.open(plan, clock()))
            assert shown(ledger) == told(ledger)
            notice = RunNotice(about="run", text="We found a bug.")
            await post(organiser.sign(notice, clock(), run=first))
            assert shown(ledger) == told(ledger)
            for plan in plans[1:]:
                await end(plan.run_id)
            await end(first)
            assert ledger.state.run(first).state is RunState.FINISHED
            assert shown(ledger) == told(ledger)
            assert every(ledger)[-1].title == "run-0 has ended after 0 closed rounds"

    def shown(ledger: Ledger) -> list[int]:
        places = news.recent(ledger.state)
        with ledger.database.reader.begin() as connection:
            return [one.index for one in places.read(connection, ledger.state)]

    def told(ledger: Ledger) -> list[int]:
        return [one.index for one in every(ledger)][: -news.RECENT - 1 : -1]

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(run(ledger))


@pytest.mark.parametrize(
    ("tier", "said"),
    [
        (0, "Anyone may take part: "),
        (1, "Only keys that a connector vouches for or organisers invited may train: "),
        (2, "Only keys that organisers invited may train: "),
    ],
)
def test_the_news_of_a_run_say_who_may_train_and_skip_rounds_without_work(
    tmp_path: Path, tier: int, said: str
) -> None:
    clock = VirtualClock()
    opening = replace(rules(), admission=Admission(trainer_tier=tier))

    async def run(ledger: Ledger) -> list[str | None]:
        async with running(ledger):
            ledger.blobs.put(corpus().encode())
            ledger.blobs.put(opening.encode())
            organiser = SigningOrganiser(ledger)
            await ledger.sequencer.submit([organiser.open(opening, clock())])
            digest = to_text(opening.run_id)
            texts = []
            for accepted in (0, 1, 2):
                body = RoundClose(set_root=digest, accepted=accepted, proofs=0, result=digest)
                entry = organiser.sign(body, clock(), run=opening.run_id, number=news.MILESTONE)
                item = news.news_of(ledger.state, 0, 0, entry.leaf())
                texts.append(item.text if item else None)
            return texts

    with opened(make_settings(tmp_path), clock) as ledger:
        texts = asyncio.run(run(ledger))
        (opened_run,) = every(ledger)
    assert opened_run.text.startswith(said)
    assert texts == [
        None,
        "Its next model is made of 1 accepted contribution.",
        "Its next model is made of 2 accepted contributions.",
    ]


def every(ledger: Ledger) -> list[news.NewsItem]:
    """All news of a log, from its first entry to its last."""
    with ledger.database.reader.begin() as connection:
        leaves = log_rows.read_leaves(connection, 0, ledger.published.size)
    told = (news.news_of(ledger.state, index, 0, leaf) for index, leaf in enumerate(leaves))
    return [one for one in told if one is not None]
