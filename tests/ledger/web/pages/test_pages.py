"""All pages together: well formed, without scripts of their own, linked to pages that are there."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from starlette.requests import Request

from tequio_ledger.web.pages import render, static
from tequio_shared.ids import to_text
from tests.support.sample_ledger import HOSTILE

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite

PLAIN = (
    "/", "/join", "/api", "/runs", "/leaderboard", "/leaderboard?span=7d", "/leaderboard?span=24h",
    "/quarantine", "/entries", "/entries/0", "/search",
    "/search?q=nothing+here", "/status", "/about",
)  # fmt: skip
OUTSIDE = ("/v1/", "/log/", "/healthz", "/feed.atom")


def run_path(seen: PageSite) -> str:
    return f"/runs/{to_text(seen.shown.rules.run_id)}"


def every_path(seen: PageSite) -> list[str]:
    """All kinds of pages: those that are found by following links from the first one."""
    seen_paths, left = {""}, list(PLAIN)
    while left:
        path = left.pop().partition("#")[0]
        if path in seen_paths or path.startswith(OUTSIDE) or path.endswith("/feed.atom"):
            continue
        seen_paths.add(path)
        if path.startswith("/entries/") and int(path.rpartition("/")[2]) % 97:
            continue  # one in a hundred is enough
        left += [link for link in seen.pages.get(path).links() if link.startswith("/")]
    return sorted(seen_paths - {""})


def test_every_link_leads_to_a_page_that_is_well_formed(seen: PageSite) -> None:
    paths = every_path(seen)
    assert len(paths) > 100
    for path in paths:
        page = seen.pages.get(path)
        assert page.answer.status_code == 200, path
        assert len(page.all("h1")) == len(page.all("main")) == 1, path
        assert page.all("title")[0].text.endswith(" · test"), path
        assert page.doubled_ids() == [], path
        levels = [int(one.tag[1]) for one in page.elements if one.tag in {"h1", "h2", "h3", "h4"}]
        assert all(deeper <= level + 1 for level, deeper in pairwise(levels)), path


@pytest.mark.parametrize("path", ["/", "RUN", "ROUND", "PEER", "TEAM", "/runs", "/status"])
def test_every_figure_leads_to_where_it_can_be_verified(seen: PageSite, path: str) -> None:
    asked = named(seen, path)
    raw = seen.pages.get(asked).answer.text
    figures = re.findall(r'<dd class="figure">(.*?)</dd>', raw)
    cards = re.findall(r'<dl class="facts wide">(.*?)</dl>', raw, re.DOTALL)
    figures += re.findall(r"<dd>(.*?)</dd>", "".join(cards))
    assert len(figures) >= 3
    for one in figures:
        if one in {"closed", "by link"}:  # no figures
            continue
        link = re.match(r'<a href="([^"]+)">[^<]+</a>', one)
        assert link, one
        target, _, place = link[1].partition("#")
        page = seen.pages.get(target or asked)
        assert page.answer.status_code == 200, link[1]
        if place:
            assert page.by_id(place).tag in {"h2", "li", "section"}, link[1]


def test_points_on_the_leaderboard_lead_to_what_paid_them(seen: PageSite) -> None:
    (team,) = seen.shown.ledger.state.teams.records
    for path, kind in (("/leaderboard", "/peers/"), ("/leaderboard?by=teams", "/teams/")):
        page = seen.pages.get(path)
        paid = [link for link in page.links() if link.startswith(kind) and "#" in link]
        assert paid
        assert "/about#ranks" in page.links()
        for link in paid:
            target, _, place = link.partition("#")
            assert seen.pages.get(target).by_id(place).tag == "h2"
    page = seen.pages.get(f"/teams/{team}")
    assert {"/about#ranks", "/about#teams", "#members-title"} <= set(page.links())


@pytest.mark.parametrize("path", [*PLAIN, "RUN", "ROUND", "PEER", "/nowhere"])
def test_no_page_holds_a_script_a_style_or_a_handler(seen: PageSite, path: str) -> None:
    page = seen.pages.get(named(seen, path))
    assert all(one.attributes["src"].startswith("/static/") for one in page.all("script"))
    assert page.all("style") == []
    for element in page.elements:
        assert not [name for name in element.attributes if name == "style" or name[:2] == "on"]


@pytest.mark.parametrize("path", [*PLAIN, "RUN", "ROUND", "PEER", "/nowhere", "/entries/x"])
def test_every_page_forbids_what_it_does_not_need(seen: PageSite, path: str) -> None:
    headers = seen.pages.get(named(seen, path)).answer.headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert "script-src 'sha256-" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert "set-cookie" not in headers


def named(seen: PageSite, path: str) -> str:
    """Spell a kind of page out."""
    key = to_text(seen.shown.peers[0].key)
    if path == "TEAM":
        (team,) = seen.shown.ledger.state.teams.records
        return f"/teams/{team}"
    kinds = {"RUN": "", "ROUND": "/rounds/13"}
    return (
        f"/peers/{key}"
        if path == "PEER"
        else run_path(seen) + kinds[path]
        if path in kinds
        else path
    )


def test_hostile_text_is_text(seen: PageSite) -> None:
    page = seen.pages.get(run_path(seen))
    assert HOSTILE in page.text
    assert "<script>alert" not in page.answer.text
    assert "<img src=x" not in page.answer.text
    for path in ("/search", "/entries", "/leaderboard", "/peers", "/runs"):
        for query in (f"q={HOSTILE}", f"author={HOSTILE}", f"span={HOSTILE}", f"around={HOSTILE}"):
            answer = seen.pages.get(f"{path}?{query}").answer.text
            assert "<script>alert" not in answer
            assert "<img src=x" not in answer


def test_a_page_that_did_not_change_is_not_sent_again(seen: PageSite) -> None:
    for path in (*PLAIN, run_path(seen), f"{run_path(seen)}/rounds/13"):
        first = seen.pages.get(path).answer
        again = seen.pages.get(path, if_none_match=first.headers["etag"]).answer
        assert (again.status_code, again.content) == (304, b""), path
        assert again.headers["etag"] == first.headers["etag"]
    other = seen.pages.get("/", if_none_match='"something else"').answer
    assert other.status_code == 200


def test_what_is_over_may_be_kept_and_what_goes_on_may_not(seen: PageSite) -> None:
    over = seen.pages.get(f"{run_path(seen)}/rounds/13").answer.headers["cache-control"]
    assert over == "public, max-age=60"
    number = seen.shown.round.number
    current = seen.pages.get(f"{run_path(seen)}/rounds/{number}").answer.headers["cache-control"]
    assert current == "public, max-age=0, must-revalidate"


def test_static_files_are_kept_for_ever_under_their_hash_alone(seen: PageSite) -> None:
    page = seen.pages.get("/")
    files = [
        one.attributes["href"] for one in page.all("link") if one.attributes["rel"] != "alternate"
    ]
    files += [one.attributes["src"] for one in page.all("script")]
    assert len(files) >= 4
    for path in files:
        headers = seen.pages.get(path).answer.headers
        assert headers["cache-control"] == "public, max-age=31536000, immutable", path
    bare = seen.pages.get("/static/pages.css").answer.headers["cache-control"]
    assert "immutable" not in bare
    assert seen.pages.get("/static/../press.py").answer.status_code == 404


def test_letters_are_those_of_the_app_and_come_from_here(seen: PageSite) -> None:
    style = seen.pages.get("/static/tokens.css").answer.text
    sources = re.findall(r'font-display:swap;src:url\("(/static/[^"]+)"\)', style)
    assert len(sources) == 4
    for path in sources:
        answer = seen.pages.get(path).answer
        assert answer.headers["content-type"] == "font/otf"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.content[:4] == b"OTTO"
        assert len(answer.content) < 200_000


def test_without_the_package_of_letters_the_system_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "font_hanken_grotesk", None)
    assert static.font_files() == {}
    assert static.font_faces({}) == ""


def test_colours_are_those_of_the_app(seen: PageSite) -> None:
    style = seen.pages.get("/static/tokens.css").answer.text
    light, _, dark = style.partition("@media (prefers-color-scheme:dark)")
    assert "--page:#f5f6fa;" in light
    assert "--page:#0f1117;" in dark
    assert "--text-sub:#5d6679;" in light


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nowhere", 404, "There's no page at /nowhere."),
        ("/entries/x", 404, "'x' is not the number of an entry, such as 17."),
        ("/entries/-1", 404, "'-1' is not the number of an entry, such as 17."),
        ("/entries/99999999", 404, "There's no entry 99,999,999 yet: the log has"),
        (
            "/peers/abc",
            404,
            "Nobody is called 'abc' in this network; the id of a key has 43 letters",
        ),
        (f"/peers/{'A' * 43}", 404, "is registered in this network"),
        ("/runs/abc", 404, "'abc' is not the id of a run"),
        ("/runs/abc/rounds/1", 404, "'abc' is not the id of a run"),
        ("/competitions/abc", 404, "'abc' is not the id of a competition"),
        (f"/runs/{'A' * 43}", 404, "was opened in this network"),
        ("/leaderboard?span=year", 400, "Unknown span 'year': use 24h, 7d, all"),
        ("/leaderboard?around=abc", 400, "Around: 'abc' is not an id: an id has 43 letters"),
        ("/entries?author=zz", 400, "Author: 'zz' is not an id: an id has 43 letters"),
        ("/entries?before=abc", 400, "Before: 'abc' is not a whole number from 0 to 9"),
    ],
)
def test_what_is_not_there_is_said_on_a_page(
    seen: PageSite, path: str, status: int, says: str
) -> None:
    page = seen.pages.get(path)
    assert page.answer.status_code == status
    assert says in page.by_id("main").text
    assert "/" in page.links()
    (search,) = [one for one in page.all("form") if one.attributes.get("class") == "asks"]
    assert search.attributes["action"] == "/search"


@pytest.mark.parametrize(("path", "way_out"), [("/runs/x", "/runs"), ("/peers/x", "/leaderboard")])
def test_a_wrong_id_leads_to_the_list_of_what_is_there(
    seen: PageSite, path: str, way_out: str
) -> None:
    page = seen.pages.get(path)
    assert way_out in page.links()
    assert page.by_id("ask").attributes["value"] == "x", "the search has what was asked for"


@pytest.mark.parametrize(
    ("path", "lit"),
    [
        ("/", "/"),
        ("/runs", "/runs"),
        ("RUN", "/runs"),
        ("ROUND", "/runs"),
        ("PEER", "/leaderboard"),
    ],
)
def test_the_menu_says_where_the_reader_is(seen: PageSite, path: str, lit: str) -> None:
    links = [
        x for x in seen.pages.get(named(seen, path)).all("a") if "#" not in x.attributes["href"]
    ]
    assert [one.attributes["href"] for one in links if "aria-current" in one.attributes] == [lit]


def test_what_is_sent_to_friends_has_a_title_and_says_what_it_is(seen: PageSite) -> None:
    titles = set()
    for path in ("/", "/join", "/runs", run_path(seen)):
        page = seen.pages.get(path)
        told = {
            one.attributes["property"]: one.attributes["content"]
            for one in page.all("meta")
            if "property" in one.attributes
        }
        assert told["og:url"] == f"http://ledger.example{path}"
        assert len(told["og:description"]) > 40
        titles.add(told["og:title"])
    assert len(titles) == 4


def test_every_operation_of_the_api_is_on_a_page_for_people(seen: PageSite) -> None:
    page = seen.pages.get("/api")
    description = seen.pages.get("/v1/openapi.json").answer.json()
    assert len(description["paths"]) > 20
    for path in description["paths"]:
        assert path in page.text
    for link in page.links():
        if link.startswith("/v1/"):
            assert seen.pages.get(link).answer.status_code == 200, link


def test_a_link_that_opens_the_app_has_the_address_beside_it(seen: PageSite) -> None:
    page = seen.pages.get(run_path(seen))
    (link,) = [one for one in page.links() if one.startswith("tequio:")]
    fields = parse_qs(urlsplit(link).query, strict_parsing=True)
    assert fields == {
        "ledger": ["http://ledger.example"],
        "run": [to_text(seen.shown.rules.run_id)],
    }
    assert "http://ledger.example" in [one.text for one in page.all("code")]


def test_who_offers_the_app_for_download_is_linked(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "has not named a download page for the app" in seen.pages.get("/join").text
    settings = msgspec.structs.replace(
        seen.shown.ledger.settings, download_url="https://example.org/get"
    )
    monkeypatch.setattr(seen.shown.ledger, "settings", settings)
    for path in ("/?q=fresh", "/join?q=fresh"):  # not the page that is cached
        assert seen.pages.get(path).links().count("https://example.org/get") == 3
    assert "These lead to https://example.org/get, the page" in seen.pages.get("/join?q=fresh").text


@pytest.mark.parametrize(
    ("default", "due"),
    [
        ("", {"Windows": "https://w.example/a.exe", "Linux": "https://l.example"}),
        (
            "https://example.org/get",
            {
                "Windows": "https://w.example/a.exe",
                "macOS": "https://example.org/get",
                "Linux": "https://l.example",
            },
        ),
    ],
)
def test_each_system_may_have_its_own_address(
    seen: PageSite, monkeypatch: pytest.MonkeyPatch, default: str, due: dict[str, str]
) -> None:
    settings = msgspec.structs.replace(
        seen.shown.ledger.settings,
        download_url=default,
        download_url_windows="https://w.example/a.exe",
        download_url_linux="https://l.example",
    )
    monkeypatch.setattr(seen.shown.ledger, "settings", settings)
    for path in ("/", "/join"):
        page = seen.pages.get(f"{path}?q={len(due)}")
        buttons = [one.attributes for one in page.all("a") if "data-system" in one.attributes]
        assert {one["data-system"]: one["href"] for one in buttons} == due
    assert "https://w.example/a.exe for Windows, " in page.text


def test_a_program_is_told_in_json(seen: PageSite) -> None:
    for path, accept in (("/v1/nowhere", "text/html"), ("/nowhere", "application/json")):
        answer = seen.pages.get(path, accept=accept).answer
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "http://ledger.example"),
        ({"x_forwarded_proto": "https"}, "https://ledger.example"),
        ({"host": "[::1]:8600"}, "http://[::1]:8600"),
        ({"x_forwarded_proto": "javascript"}, "http://ledger.example"),
    ],
)
def test_who_wants_to_join_is_told_the_address_that_was_used(
    seen: PageSite, headers: dict[str, str], said: str
) -> None:
    command = f"tequio worker --ledger {said} --run nova-350m"
    page = seen.pages.get(run_path(seen), **headers).text
    assert command in page
    assert f"tequio chat --ledger {said} --run nova-350m" in page


@pytest.mark.parametrize("host", ["evil; rm -rf ~", "<script>", "a b"])
def test_an_address_that_cannot_be_one_is_refused(seen: PageSite, host: str) -> None:
    answer = seen.pages.get(run_path(seen), host=host).answer
    assert answer.status_code == 400
    assert host not in answer.text


def test_a_request_that_names_no_host_is_told_the_host_of_the_log(seen: PageSite) -> None:
    request = Request({"type": "http", "scheme": "https", "headers": []})
    assert "/" in seen.shown.ledger.genesis.origin
    assert render.ledger_url(request, seen.shown.ledger) == "https://ledger.example"
