"""Pages for tests: requested from the application, parsed by the standard library."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import httpx

from tequio_ledger.web.app import PublicApp
from tequio_ledger.web.events import EventStreams

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp

    from tequio_ledger.ledger import Ledger

VOID = {"meta", "link", "img", "input", "br", "hr"}
INLINE = {"a", "b", "bdi", "code", "path", "rect", "small", "span", "strong", "sup", "svg", "time"}


@dataclass(slots=True)
class Element:
    """A tag with its attributes and all text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass(slots=True)
class Page:
    """An answer, and its elements in document order."""

    answer: httpx.Response
    elements: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The page's text, with single spaces."""
        return " ".join(self.elements[0].text.split())

    def all(self, tag: str) -> list[Element]:
        """All elements of a tag."""
        return [one for one in self.elements if one.tag == tag]

    def links(self) -> list[str]:
        """Targets of all links."""
        return [one.attributes.get("href", "") for one in self.all("a")]

    def by_id(self, name: str) -> Element:
        """The element with that id."""
        (found,) = [one for one in self.elements if one.attributes.get("id") == name]
        return found

    def doubled_ids(self) -> list[str]:
        """Ids that occur more than once."""
        counted = Counter(one.attributes["id"] for one in self.elements if "id" in one.attributes)
        return [name for name, times in counted.items() if times > 1]


class PageReader:
    """Requests pages from one ledger's application."""

    def __init__(self, ledger: Ledger, docs: Path | None = None) -> None:
        self.ledger = ledger
        self._app: ASGIApp = PublicApp(ledger, EventStreams(), docs)

    def get(self, path: str, **headers: str) -> Page:
        """Read a page as a browser does."""
        asked = {
            "accept": "text/html",
            **{name.replace("_", "-"): v for name, v in headers.items()},
        }
        page = Page(asyncio.run(self._get(path, {"accept": "text/html", **asked})))
        if page.answer.headers.get("content-type", "").startswith("text/html"):
            _Parser(page).feed(page.answer.text)
        return page

    async def _get(self, path: str, headers: dict[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://ledger.example") as http:
            return await http.get(path, headers=headers)


class _Parser(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part(tag)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._page.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._page.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()
        self._part(tag)

    def _part(self, tag: str) -> None:
        """Separate the words of different blocks."""
        if tag not in INLINE:
            self.handle_data("\n")

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data
