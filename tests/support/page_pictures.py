"""Writes a picture of every page of the ledger, dark and light, wide and narrow.

    python -m tests.support.page_pictures build/pages [--page run]

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
from tests.support.sample_site import Site, served_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

SCHEMES: tuple[Scheme, ...] = ("dark", "light")
SIZES = {"wide": WIDE, "narrow": NARROW}


def main(arguments: Sequence[str]) -> None:
    """Draw the pages that the arguments name."""
    parser = argparse.ArgumentParser(description="Pictures of the ledger's pages.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", help="only this one")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as one,
        TemporaryDirectory() as other,
        served_site(Path(one)) as site,
        served_competitions(Path(other)) as contests,
        chromium() as browser,
    ):
        draw_all(browser, site, asked.folder, asked.page)
        draw_all(browser, contests, asked.folder, asked.page)


def draw_all(
    browser: Browser, site: Site | CompetitionSite, folder: Path, only: str | None
) -> None:
    """Draw a site in every look and size."""
    for scheme in SCHEMES:
        for size in SIZES:
            draw(browser, site, folder, scheme, size, only)


def draw(
    browser: Browser,
    site: Site | CompetitionSite,
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
