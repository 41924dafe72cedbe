"""Uploads of strangers share an origin with the pages: no route lets a browser run them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.web import app
from tequio_ledger.web.pages import router
from tequio_ledger.web.pages.static import CONTENT
from tequio_shared.ids import sha256, to_text
from tequio_shared.log.tiles import encode_bundle
from tests.ledger.web.test_write_api_blobs import put
from tests.support.authors import Author

if TYPE_CHECKING:
    from tests.support.ledgers import Served


SCRIPT = b"<script>alert(1)</script>"
OURS = {"/static/{name}", "/favicon.ico"}
"""Files of the program, which a browser may run."""
DATA = ("application/json", "application/problem+json", "application/openapi+json")
STREAMS = ("text/event-stream",)
LOOKED_AT = ("/log/checkpoint", "/log/policy")
"""Signed text that browsers may display."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Names of stored things, as values of path parameters."""

    key: str
    blob: str
    statement: str

    def path(self, template: str) -> str:
        """Spell a route out."""
        name = {
            "/v1/blobs/{name}": self.blob,
            "/v1/statements/{name}/proof": self.statement,
            "/static/{name}": "live.js",
            "/card/{kind}/{name}.png": self.key,
        }
        filled = template.replace("{name}", name.get(template, ""))
        for text, value in {
            "{key}": self.key,
            "{index}": "1",
            "{run}": self.blob,
            "{competition}": self.blob,
            "{number:int}": "0",
            "{rest:path}": "entries/000.p/1",
            "{path:path}": "index.html",
            "{team:int}": "0",
            "{kind}": "peers",
        }.items():
            filled = filled.replace(text, value)
        assert "{" not in filled, template
        return filled


TEMPLATES = sorted({route.path for route in (*app.ROUTES, *router.ROUTES) if route.method == "GET"})


@pytest.fixture(scope="module")
def stored(program: Served) -> Stored:
    now_ms = time.time_ns() // 1_000_000
    author = Author("typed", program.net)
    entry = author.register(now_ms)
    with httpx.Client(base_url=program.url, timeout=30) as http:
        http.post("/v1/statements", content=encode_bundle([entry.leaf()]))
        assert put(http, author, SCRIPT, now_ms) == 201
    return Stored(
        key=to_text(author.key),
        blob=to_text(sha256(SCRIPT)),
        statement=to_text(entry.statement.digest),
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_route_gives_what_a_browser_would_run_in_our_name(
    http: httpx.Client, stored: Stored, template: str
) -> None:
    with http.stream("GET", stored.path(template)) as answer:  # some go on for ever
        status, headers = answer.status_code, answer.headers
    assert status < 500
    assert headers["x-content-type-options"] == "nosniff"
    kind = headers["content-type"].partition(";")[0]
    if template in OURS:
        served = stored.path(template).removeprefix("/static/")
        assert served in CONTENT or (template, kind) == ("/favicon.ico", "image/svg+xml")
    elif kind == "text/html":
        assert template in {one.path for one in router.ROUTES}
        policy = directives(headers["content-security-policy"])
        assert policy["object-src"] == policy["base-uri"] == ["'none'"]
        assert policy["script-src"]
        assert all(source.startswith("'sha256-") for source in policy["script-src"])
    elif kind == "text/plain":
        assert template in LOOKED_AT
    elif kind == "application/atom+xml":
        assert template == "/feed.atom"
        assert "script-src 'sha256-" in headers["content-security-policy"]
    elif kind == "image/png":
        assert template.startswith("/card/"), "only pictures that the ledger draws"
    elif kind not in (*DATA, *STREAMS):
        assert (kind, headers["content-disposition"]) == ("application/octet-stream", "attachment")
        assert headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    "template",
    ["/v1/blobs/{name}", "/log/tile/{rest:path}", "/entries/{index}", "/card/{kind}/{name}.png"],
)
def test_what_is_looked_at_above_is_really_there(
    http: httpx.Client, stored: Stored, template: str
) -> None:
    assert http.get(stored.path(template)).status_code == 200


def test_a_refusal_before_the_application_has_a_type_too(http: httpx.Client) -> None:
    answer = http.get("/v1/peers/" + "<script>" * 300)
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (400, "nosniff")


def directives(policy: str) -> dict[str, list[str]]:
    """A content security policy, taken apart."""
    parts = (part.split() for part in policy.split(";"))
    return {name: sources for name, *sources in parts}
