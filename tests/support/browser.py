"""A real Chromium for tests of pages; it records what a page must not do."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_MS = 15_000
Scheme = Literal["light", "dark"]
WIDE, NARROW = (1280, 900), (360, 760)
GRAVE = ("critical", "serious")


@dataclass  # without slots: the library sets attributes on the objects whose methods it calls
class WatchedPage:
    """A page, and every fault seen while it was open."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def open(self, url: str) -> None:
        """Open a URL and wait for its load event."""
        self.page.goto(url, wait_until="load")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        asked, shown = urlsplit(request.url), urlsplit(self.page.url)
        if asked.scheme in ("http", "https") and shown.netloc and asked.netloc != shown.netloc:
            self.faults.append(f"asks a stranger: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # cancelled by leaving the page
            self.faults.append(f"failed: {request.url} {request.failure}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched(
    browser: Browser,
    scheme: Scheme = "light",
    size: tuple[int, int] = WIDE,
    *,
    scripts: bool = True,
) -> Iterator[WatchedPage]:
    """Open a fresh window that shares nothing with earlier ones."""
    width, height = size
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": width, "height": height},
        java_script_enabled=scripts,
        locale="en-GB",
        timezone_id="UTC",
    )
    try:
        yield WatchedPage(context.new_page())
    finally:
        context.close()


def barriers(page: Page) -> list[str]:
    """Serious accessibility violations found by axe-core, each with its first elements."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {', '.join(str(node['target']) for node in one['nodes'][:4])}"
        for one in found
        if one["impact"] in GRAVE
    ]
