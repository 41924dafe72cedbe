"""The pages in a real Chromium as they look in a contrast theme."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import CHROMIUM, WatchedPage
from tests.support.competition_site import CompetitionSite, served_competitions
from tests.support.sample_site import Site, served_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import ElementHandle

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")


@dataclass(frozen=True, slots=True)
class Sites:
    """Ledgers whose pages together show everything."""

    plain: Site
    contests: CompetitionSite


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Fill two ledgers and serve them by the real program."""
    folder = tmp_path_factory.mktemp("looks")
    with ExitStack() as stack:
        yield Sites(
            stack.enter_context(served_site(folder / "plain")),
            stack.enter_context(served_competitions(folder / "contests")),
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
