"""The pages in a real Chromium as they look in a contrast theme and on paper."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import CHROMIUM, WatchedPage, watched
from tests.support.competition_site import CompetitionSite, served_competitions
from tests.support.sample_site import AuditedSite, Site, served_audits, served_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ElementHandle

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")

A4 = (718, 1047)
"""The room on A4 paper within margins of a centimetre, in CSS pixels."""


@dataclass(frozen=True, slots=True)
class Sites:
    """Ledgers whose pages together show everything."""

    plain: Site
    contests: CompetitionSite
    audited: AuditedSite

    def urls(self) -> list[str]:
        """The address of every page."""
        each = (self.plain, self.contests, self.audited)
        return [one.url + path for one in each for path in one.paths().values()]


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Fill three ledgers and serve them by the real program."""
    folder = tmp_path_factory.mktemp("looks")
    with ExitStack() as stack:
        yield Sites(
            stack.enter_context(served_site(folder / "plain")),
            stack.enter_context(served_competitions(folder / "contests")),
            stack.enter_context(served_audits(folder / "audited")),
        )


OTHERWISE = {
    "the page in the navigation": ("leaderboard", "nav a[aria-current]", "aria-current", None),
    "the chosen tab": ("leaderboard", ".tabs a[aria-current]", "aria-current", None),
    "the reader's own place": ("own place", "tr.own", "class", None),
    "an elected witness": ("map", ".marks .elected", "class", None),
    "how far a run is": ("runs", "progress", "value", "0"),
    "a round that closed": ("run", ".cell.ok", "class", "cell"),
    "a phase of a round": ("round", ".swatch.train", "class", "swatch witness"),
    "a date that is over": ("competition-open", ".dates .over", "class", "ahead"),
}
"""By meaning: the page, an element, and the attribute without which it means something else."""


@pytest.mark.parametrize("what", OTHERWISE)
def test_a_contrast_theme_leaves_what_colours_tell(
    sites: Sites, window: WatchedPage, what: str
) -> None:
    name, selector, attribute, other = OTHERWISE[what]
    plain, contests = sites.plain, sites.contests
    pages = {one: plain.url + path for one, path in plain.paths().items()}
    pages |= {one: contests.url + path for one, path in contests.paths().items()}
    pages["own place"] = f"{plain.url}/leaderboard?around={plain.peers[0]}"
    page = window.page
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    window.open(pages[name])
    page.evaluate("document.querySelectorAll('.icon').forEach((one) => one.remove())")
    shown = page.locator(selector).first.element_handle()
    before = seen(shown)
    assert seen(shown) == before, "nothing else changes"
    shown.evaluate(
        "(one, [name, value]) =>"
        " value === null ? one.removeAttribute(name) : one.setAttribute(name, value)",
        [attribute, other],
    )
    assert seen(shown) != before


def seen(element: ElementHandle) -> bytes:
    """Take a picture too coarse to keep a difference that nobody sees."""
    return element.screenshot(type="jpeg", quality=10, animations="disabled")


def test_all_of_a_page_is_on_its_paper(sites: Sites, browser: Browser) -> None:
    cut: dict[str, list[str]] = {}
    with watched(browser, size=A4) as window:
        window.page.emulate_media(media="print")
        for url in sites.urls():
            window.open(url)
            found = window.page.evaluate(
                """() => {
                    document.querySelectorAll("details").forEach((one) => { one.open = true });
                    return [...document.querySelectorAll(".scroll, .note, .bytes, .writing dd")]
                        .filter((one) => one.scrollWidth > one.clientWidth + 1
                            || one.scrollHeight > one.clientHeight + 1)
                        .map((one) => one.ariaLabel || one.className || one.tagName);
                }"""
            )
            if found:
                cut[url] = found
    assert cut == {}
