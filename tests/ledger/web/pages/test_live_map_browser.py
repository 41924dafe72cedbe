"""The live map in a real Chromium, over the real program, while statements are logged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.log.tiles import encode_bundle
from tests.support.browser import CHROMIUM, NARROW, WIDE, Scheme, WatchedPage, barriers, watched
from tests.support.map_site import MapSite, served_round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Response, Route

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")

TURN_MS, TURNS = 20, 300
COUNT_GLIDES = """
window.glides = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  window.glides.push([this.dataset.mark, frames[0].transform]);
  return animate.call(this, frames, options);
};
"""


def mark_at(window: WatchedPage, site: MapSite, station: str) -> int:
    """Count the marks of the member whose work comes next at a station."""
    place = f"section[data-name={station}] li a:has-text('{site.round.next_key[:10]}')"
    return window.page.locator(place).count()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_mark_moves_when_its_statement_is_logged(
    tmp_path: Path, browser: Browser, motion: str
) -> None:
    with served_round(tmp_path, members=4, committed=1, absent=1) as site, watched(browser) as one:
        page = one.page
        page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
        page.add_init_script(COUNT_GLIDES)
        one.open(site.url)
        page.get_by_role("link", name="Live map").first.click()
        page.wait_for_url("**/map")
        assert mark_at(one, site, "training") == 1
        answer = httpx.post(
            f"{site.url}/v1/statements", content=encode_bundle([site.round.next_work])
        )
        assert answer.is_success, answer.text
        assert "refused" not in answer.text
        place = page.locator("section[data-name=committed] li a", has_text=site.round.next_key[:10])
        place.wait_for()
        assert mark_at(one, site, "training") == 0
        glides = page.evaluate("window.glides")
        assert len(glides) == (0 if motion == "reduce" else 1)
        assert all(transform.startswith("translate(-") for _, transform in glides)
        place.click()
        page.wait_for_url("**/entries/*")
        assert site.round.next_key in page.locator("main").inner_text()
        assert one.faults == []


def pass_until(page: Page, is_done: Callable[[], bool]) -> None:
    """Let time pass in a page with a clock of its own until something is so."""
    for _ in range(TURNS):
        if is_done():
            return
        page.clock.run_for(1_000)
        page.wait_for_timeout(TURN_MS)
    pytest.fail("it did not happen")


def test_a_page_is_live_again_after_a_proxy_had_no_ledger_to_ask(
    tmp_path: Path, browser: Browser
) -> None:
    with served_round(tmp_path, members=4, committed=1, absent=1) as site, watched(browser) as one:
        answers: list[int] = []

        def record(response: Response) -> None:
            if response.url.endswith("/live"):
                answers.append(response.status)

        one.page.on("response", record)
        one.page.clock.install()
        one.page.route("**/live", lambda route: route.fulfill(status=502))
        one.open(f"{site.url}/map")
        pass_until(one.page, lambda: answers == [502])
        one.page.unroute("**/live")
        pass_until(one.page, lambda: answers[-1] == 200)


def test_a_page_that_was_refused_is_asked_for_again(tmp_path: Path, browser: Browser) -> None:
    with served_round(tmp_path, members=4, committed=1, absent=1) as site, watched(browser) as one:
        refused: list[Route] = []

        def refuse(route: Route) -> None:
            refused.append(route)
            route.fulfill(status=503)

        one.page.clock.install()
        one.open(f"{site.url}/map")
        one.page.route("**/map", refuse, times=1)
        work = encode_bundle([site.round.next_work])
        assert httpx.post(f"{site.url}/v1/statements", content=work).is_success
        pass_until(one.page, lambda: bool(refused))
        pass_until(one.page, lambda: mark_at(one, site, "committed") == 1)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MapSite]:
    """Serve a round of 400 members."""
    folder = tmp_path_factory.mktemp("crowd")
    with served_round(folder, members=400, committed=150, absent=30) as running:
        yield running


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MapSite]:
    """Serve two runs at once."""
    folder = tmp_path_factory.mktemp("pair")
    with served_round(folder, members=6, committed=2, absent=1, runs=2) as running:
        yield running


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", WIDE), ("dark", NARROW)],
    ids=["light and wide", "dark and narrow"],
)
def test_four_hundred_members_fit_the_window_and_are_accessible(
    crowd: MapSite, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    with watched(browser, scheme, size) as one:
        one.open(f"{crowd.url}/runs/{crowd.round.run}/map")
        assert one.page.locator("[data-mark]").count() == 400
        assert one.page.evaluate("document.scrollingElement.scrollWidth") <= size[0]
        assert barriers(one.page) == []
        assert one.faults == []


def test_the_number_of_a_station_leads_to_its_members_in_a_table(
    crowd: MapSite, window: WatchedPage
) -> None:
    page = window.page
    window.open(f"{crowd.url}/map")
    page.locator("section[data-name=committed] .count").click()
    page.wait_for_url("**/rounds/1#slots-title")
    assert page.locator("section[aria-labelledby=slots-title] tbody tr").count() == 400


def test_every_number_of_the_map_leads_somewhere_without_scripts(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        served_round(tmp_path, members=4, committed=1, absent=1) as site,
        watched(browser, scripts=False) as one,
    ):
        one.open(f"{site.url}/map")
        links = one.page.locator("main a").evaluate_all("all => all.map((each) => each.href)")
        assert len(set(links)) > 5
        for link in sorted(set(links)):
            assert httpx.get(link, follow_redirects=True).status_code == 200, link


@pytest.mark.parametrize("width", [1400, 900, 390])
def test_runs_of_one_network_are_side_by_side_where_there_is_room(
    pair: MapSite, browser: Browser, width: int
) -> None:
    with watched(browser, size=(width, 900)) as one:
        one.open(f"{pair.url}/map")
        first, second = (each.bounding_box() for each in one.page.locator("section.map").all())
        assert first
        assert second
        assert (first["y"] == second["y"]) == (width == 1400)
        assert one.page.evaluate("document.scrollingElement.scrollWidth") <= width
        inside = one.page.locator("section.map *").evaluate_all(
            "all => all.filter((each) => each.getBoundingClientRect().right > innerWidth).length"
        )
        assert inside == 0
