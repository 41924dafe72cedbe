"""GET /feed.atom and /runs/{run}/feed.atom: news for feed readers (RFC 4287).

An id follows from network and entry alone, so readers know an item again under any address. A feed
reads a bounded number of entries by their index, and answers 304 to a reader that has it.
"""

from __future__ import annotations

import re
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as Xml

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.news import NewsItem, NewsPlaces, recent
from tequio_ledger.store import log_rows
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render
from tequio_ledger.web.pages.text import machine_time
from tequio_ledger.web.routing import get
from tequio_shared.ids import RunId, from_text, to_text

ATOM = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot contain."""


@get("/feed.atom")
async def get_feed(request: Request, ledger: Ledger) -> Response:
    """List the last news of the network."""
    await ledger.sequencer.settled()
    title = f"News of the network {ledger.genesis.name}"
    return await _answer(request, ledger, recent(ledger.state), title, "/")


@get("/runs/{run}/feed.atom")
async def get_run_feed(request: Request, ledger: Ledger, run: str) -> Response:
    """List the last news of a run."""
    await ledger.sequencer.settled()
    run_id = RunId(from_text(run))
    places, name = recent(ledger.state, run_id), ledger.state.run(run_id).manifest.name
    return await _answer(request, ledger, places, f"News of the run {name}", f"/runs/{run}")


async def _answer(
    request: Request, ledger: Ledger, places: NewsPlaces, title: str, page: str
) -> Response:
    url, path = render.ledger_url(request, ledger), request.scope["path"]

    def make() -> Response:
        with snapshot(ledger) as (connection, _):
            items = places.read(connection, ledger.state)
            founded_ms = log_rows.arrival_ms(connection, 0)
        feed = Xml.Element("feed", xmlns=_NAMESPACE)
        _add(feed, "id", _name(ledger, path))
        _add(feed, "title", title)
        _add(feed, "updated", machine_time(items[0].at_ms if items else founded_ms))
        _add(feed, "link", rel="self", type=ATOM, href=url + path)
        _add(feed, "link", rel="alternate", type="text/html", href=url + page)
        _add(_add(feed, "author"), "name", ledger.genesis.name)
        for item in items:
            _add_entry(feed, ledger, item, url)
        body = Xml.tostring(feed, encoding="utf-8", xml_declaration=True)
        return render.finish(request, body, cache=render.CACHE_SETTLED, media_type=ATOM)

    return await render.enqueue(request, make)


def _add_entry(feed: Xml.Element, ledger: Ledger, item: NewsItem, url: str) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", _name(ledger, str(item.index)))
    _add(entry, "title", item.title)
    _add(entry, "updated", machine_time(item.at_ms))
    _add(entry, "category", term=item.kind)
    _add(entry, "link", rel="alternate", type="text/html", href=url + item.path)
    _add(entry, "link", rel="related", type="text/html", href=f"{url}/entries/{item.index}")
    proof = f"It follows from entry {item.index:,} of the log."
    _add(entry, "content", f"{item.text} {proof}", type="text")


def _add(parent: Xml.Element, tag: str, text: str = "", **attributes: str) -> Xml.Element:
    made = Xml.SubElement(parent, tag, attributes)
    made.text = _FORBIDDEN.sub("\ufffd", text) or None
    return made


def _name(ledger: Ledger, what: str) -> str:
    network = to_text(ledger.genesis.network_id)
    return uuid5(NAMESPACE_URL, f"tequio:{network}/{what}").urn
