"""Writes a picture of every page of the ledger, dark and light, wide and narrow.

    python -m tests.support.page_pictures build/pages [--page run]
    python -m tests.support.page_pictures docs/pictures --readme

The ledgers are filled again each time, up to now, and served by the real program.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.support.browser import NARROW, WIDE, Scheme, chromium, watched
from tests.support.competition_site import CompetitionSite, served_competitions
from tests.support.sample_site import AuditedSite, Site, served_audits, served_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

SCHEMES: tuple[Scheme, ...] = ("dark", "light")
README, README_HOME = (1120, 900), (1120, 640)
SIZES = {"wide": WIDE, "narrow": NARROW}


def main(arguments: Sequence[str]) -> None:
    """Draw the pages that the arguments name."""
    parser = argparse.ArgumentParser(description="Pictures of the ledger's pages.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", help="only this one")
    parser.add_argument("--readme", action="store_true", help="only the README's pictures")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as one,
        TemporaryDirectory() as other,
        TemporaryDirectory() as third,
        served_site(Path(one)) as site,
        served_competitions(Path(other)) as contests,
        served_audits(Path(third)) as audited,
        chromium() as browser,
    ):
        if asked.readme:
            draw_readme(browser, site, asked.folder)
            return
        draw_all(browser, site, asked.folder, asked.page)
        draw_all(browser, contests, asked.folder, asked.page)
        draw_all(browser, audited, asked.folder, asked.page)


def draw_readme(browser: Browser, site: Site, folder: Path) -> None:
    """Draw what the README shows: the first page, and an entry that the browser has verified."""
    paths = site.paths()
    with watched(browser, "dark", README_HOME) as window:
        window.open(site.url + paths["home"])
        window.page.screenshot(path=folder / "ledger-home-dark.png")
    with watched(browser, "light", README) as window:
        window.open(site.url + paths["entry"])
        window.page.get_by_role("button", name="Verify in this browser").click()
        window.page.locator("#check-says.verdict.good").wait_for()
        window.page.screenshot(path=folder / "ledger-entry-light.png")


def draw_all(
    browser: Browser, site: Site | CompetitionSite | AuditedSite, folder: Path, only: str | None
) -> None:
    """Draw a site in every look and size."""
    for scheme in SCHEMES:
        for size in SIZES:
            draw(browser, site, folder, scheme, size, only)


def draw(
    browser: Browser,
    site: Site | CompetitionSite | AuditedSite,
    folder: Path,
    scheme: Scheme,
    size: str,
    only: str | None,
) -> None:
    """Draw every page in one look and size."""
    with watched(browser, scheme, SIZES[size]) as window:
        for name, path in site.paths().items():
            if only in (None, name):
                window.open(site.url + path)
                file = folder / f"{name}-{scheme}-{size}.png"
                window.page.screenshot(path=file, full_page=True)


if __name__ == "__main__":
    main(sys.argv[1:])
