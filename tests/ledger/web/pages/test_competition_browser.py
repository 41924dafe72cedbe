"""Competitions in a real Chromium, over the real program, and what its client reads there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import digest_from_text
from tests.support.browser import CHROMIUM, NARROW, WIDE, Scheme, barriers, watched
from tests.support.competition_site import CompetitionSite, served_competitions
from tests.support.sample_competitions import PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompetitionSite]:
    """Fill a ledger and serve it by the real program."""
    with served_competitions(tmp_path_factory.mktemp("contests")) as running:
        yield running


def test_the_typed_client_reads_what_the_program_serves(site: CompetitionSite) -> None:
    lines, answers = trio.run(read, site)
    assert [one.competition for one in lines] == [site.names[phase] for phase in PHASES]
    for line, answer in zip(lines, answers, strict=True):
        assert (answer.competition, answer.phase) == (line.competition, line.phase)
        assert answer.rules.id == line.id
        assert len(answer.entrants) == line.entrants
        assert answer.as_of is not None
    assert answers[-1].outcome == lines[-1].outcome is not None


async def read(
    site: CompetitionSite,
) -> tuple[tuple[CompetitionLine, ...], list[CompetitionAnswer]]:
    """List the competitions, then ask for each."""
    async with LedgerApi(site.url) as api:
        lines = await api.competitions()
        return lines, [await api.competition(digest_from_text(one.competition)) for one in lines]


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", WIDE), ("dark", NARROW)],
    ids=["light and wide", "dark and narrow"],
)
def test_every_phase_is_quiet_accessible_and_as_wide_as_its_window(
    site: CompetitionSite, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    found: dict[str, object] = {}
    with watched(browser, scheme, size) as window:
        for path in site.paths().values():
            window.open(site.url + path)
            wrong = barriers(window.page)
            width = window.page.evaluate("document.scrollingElement.scrollWidth")
            if wrong or width > size[0] or window.faults:
                found[path] = (wrong, width, list(window.faults))
            window.faults.clear()
    assert found == {}


def test_without_scripts_the_date_stands_and_with_them_time_runs(
    site: CompetitionSite, browser: Browser
) -> None:
    url = f"{site.url}/competitions/{site.names['open']}"
    with watched(browser, scripts=False) as window:
        window.open(url)
        until = window.page.locator("[data-until]")
        assert until.inner_text().split()[1] == "d"
        assert window.page.locator(".left time").is_visible()
        assert window.page.locator("svg.broad.wide").is_visible()
    with watched(browser) as window:
        window.open(url)
        window.page.evaluate(
            "document.querySelector('[data-until]').dataset.until = Date.now() + 900e3"
        )
        window.page.locator("[data-until]", has_text=re.compile(r"^\d+ min")).wait_for()
        assert window.faults == []
