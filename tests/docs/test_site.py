"""The documentation builds without a warning, and a ledger serves it under its strict policy."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import runpy
import socket
import subprocess
import sys
import threading
import tomllib
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
import uvicorn

import tequio
from tequio_ledger.web.app import ROUTES, PublicApp
from tequio_ledger.web.events import EventStreams
from tequio_ledger.web.openapi import describe
from tequio_ledger.web.pages.documentation import Documentation
from tests.support.browser import NARROW, WIDE, Scheme, barriers, chromium, watched
from tests.support.command_lines import PROGRAMS
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
LOADS = {"script": "src", "img": "src", "link": "href"}
"""Elements that load something by themselves, with the attribute that names it."""


def _made_by_make() -> Path | None:
    """The pages that `make docs` made without a warning; None if a source has changed since."""
    made = ROOT / "ledger" / "tequio_ledger" / "web" / "docs"
    done = ROOT / "build" / "docs.made"
    sources = (
        path
        for top in ("docs", "client", "ledger", "shared")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and not path.is_relative_to(made) and path.suffix != ".pyc"
    )
    is_new = done.is_file() and done.stat().st_mtime > max(one.stat().st_mtime for one in sources)
    return made if is_new else None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = _made_by_make()
    if made is not None:
        return made
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs/site"]
    command += ["-d", str(folder / "doctrees"), "docs", str(folder / "site")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


@pytest.fixture(scope="module")
def reader(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageReader]:
    with opened(make_settings(tmp_path_factory.mktemp("ledger")), VirtualClock()) as ledger:
        yield PageReader(ledger, site)


def test_every_document_is_a_page(site: Path) -> None:
    documents = [page for kind in ("md", "ipynb") for page in (ROOT / "docs").rglob(f"*.{kind}")]
    names = {page.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for page in documents}
    assert {name for name in names if not (site / name).is_file()} == set()


def test_no_setting_of_the_pages_names_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sphinx writes a hash of them beside the pages, which two builds have in two folders."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    settings = runpy.run_path(str(ROOT / "docs" / "site" / "conf.py"))
    of_pages = {name: value for name, value in settings.items() if name.startswith("html_")}
    assert (ROOT / "docs" / "site" / of_pages["html_logo"]).is_file()
    assert str(ROOT) not in repr(of_pages)


def test_every_table_has_a_header() -> None:
    """After an empty line, the rows of a table are a paragraph."""
    headless = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
        headless += [(page.name, one) for one in tables if not re.match(r"\|.*\n\|[-: |]+\n", one)]
    assert headless == []


def test_a_section_of_the_same_page_is_where_the_link_says() -> None:
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text("utf-8")
        headings = {
            one[1].lower().replace(" ", "-"): one.start()
            for one in re.finditer(r"^#+ (.+)$", text, re.MULTILINE)
        }
        for link in re.finditer(r"\[(above|below)\]\(#([\w-]+)\)", text):
            word = "above" if headings[link[2]] < link.start() else "below"
            assert link[1] == word, f"{page.name}: {link[0]}"


def test_every_extra_for_users_is_on_the_page_about_installing() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"].keys() - {"dev", "docs"}
    page = (ROOT / "docs" / "install-from-source.md").read_text("utf-8")
    assert {one for one in extras if f"`{one}`" not in page} == set()


def test_a_notebook_is_a_page_and_a_download(site: Path) -> None:
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        page = site / "notebooks" / f"{notebook.stem}.html"
        assert 'class="highlight-python' in page.read_text("utf-8")
        (copy,) = (site / "_downloads").glob(f"*/{notebook.name}")
        assert copy.read_bytes() == notebook.read_bytes()
        assert f"_downloads/{copy.parent.name}/{copy.name}" in page.read_text("utf-8")


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {(page.name, url) for page in site.rglob("*.html") for url in _loaded_by(page)}
    assert loaded
    assert {(page, url) for page, url in loaded if re.match(r"\w+:|//", url)} == set()
    styles = "".join(file.read_text("utf-8") for file in site.rglob("tequio.css"))
    assert "url(" not in styles


def test_the_site_works_under_any_path_of_any_server(site: Path) -> None:
    places = ((page.name, url) for page in site.rglob("*.html") for url in _places_in(page))
    assert {(page, url) for page, url in places if url.startswith("/")} == set()


def _places_in(page: Path) -> list[str]:
    found = re.findall(
        r'\b(?:href|src|action|data-content_root)="([^"]*)"', page.read_text("utf-8")
    )
    assert found, page
    return found


def test_every_script_of_a_page_is_one_whose_hash_is_listed(site: Path) -> None:
    listed = set((site / "scripts.txt").read_text("utf-8").split())
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r'<style| style="|<[^>]* on\w+="', text), page
        for attributes, inline in re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL):
            source = re.search(r'src="([^"?]+)', attributes)
            content = (page.parent / source[1]).read_bytes() if source else inline.encode()
            digest = f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
            assert digest in listed, page
            assert not source or f'integrity="{digest}"' in attributes, page


def test_the_references_have_every_command_and_every_call(site: Path) -> None:
    for name, program in PROGRAMS.items():
        page = (site / "reference" / f"{name}.html").read_text("utf-8")
        paths = list(_command_paths(program, click.Context(program, info_name=name)))
        assert len(paths) > 10
        assert [path for path in paths if f'id="{path.replace(" ", "-")}"' not in page] == []
    calls = (site / "reference" / "http-api.html").read_text("utf-8")
    for route in ROUTES:
        if route.is_described:
            assert f">{route.method} {route.template}<" in calls


def test_the_reference_of_the_library_has_every_public_name(site: Path) -> None:
    page = (site / "reference" / "python.html").read_text("utf-8")
    for kind in (tequio.Network, tequio.Run):
        for name in vars(kind):
            assert name.startswith("_") or f"{kind.__name__}.{name}" in page


def test_the_reference_of_the_api_has_the_description_that_a_ledger_serves(
    reader: PageReader,
) -> None:
    file = ROOT / "docs" / "site" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", file)
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    served = json.loads(reader.get("/v1/openapi.json").answer.text)
    assert json.loads(json.dumps(describe(ROUTES, reference.SERVICES))) == served


def test_a_ledger_serves_the_site_under_its_own_policy(reader: PageReader) -> None:
    home = reader.get("/about")
    assert "/docs" in home.links()
    assert reader.get("/docs").answer.headers["location"] == "/docs/index.html"
    page = reader.get("/docs/install.html").answer
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy, own = (
        dict(part.split(maxsplit=1) for part in one.headers["content-security-policy"].split(";"))
        for one in (page, home.answer)
    )
    assert policy.pop("script-src") != own.pop("script-src")
    assert (policy.pop("img-src"), own.pop("img-src")) == ("'self' data:", "'self'")
    assert policy == own
    for missing in ("/docs/none.html", "/docs/../ledger.sqlite", "/docs/%2e%2e/ledger.sqlite"):
        assert reader.get(missing).answer.status_code == 404


def test_a_ledger_without_the_site_says_how_to_get_it(tmp_path: Path) -> None:
    assert Documentation.read(tmp_path) is None
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        reader = PageReader(ledger)
        assert "/docs" not in reader.get("/about").links()
        page = reader.get("/docs/index.html")
        assert page.answer.status_code == 404
        assert "make docs" in page.text


def test_pages_work_in_a_browser(site: Path, tmp_path: Path) -> None:
    with _served(site, tmp_path) as url, chromium() as browser:
        looks: tuple[tuple[Scheme, tuple[int, int]], ...] = (("light", WIDE), ("dark", NARROW))
        for scheme, size in looks:
            with watched(browser, scheme, size) as window:
                for name in ("index", "reference/tequio-ledger", "comparison"):
                    window.open(f"{url}/docs/{name}.html")
                    assert barriers(window.page) == [], name
                    width = window.page.evaluate("document.documentElement.scrollWidth")
                    assert width <= size[0], name
                window.open(f"{url}/docs/search.html?q=witness")
                window.page.locator("#search-results li").first.wait_for()
                assert window.faults == []


@contextmanager
def _served(site: Path, folder: Path) -> Iterator[str]:
    with (
        opened(make_settings(folder), VirtualClock()) as ledger,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        app = PublicApp(ledger, EventStreams(), site)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _loaded_by(page: Path) -> list[str]:
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            url = dict(attrs).get(LOADS.get(tag, ""))
            if url:
                found.append(url)

    Reader().feed(page.read_text("utf-8"))
    return found


def _command_paths(command: click.Command, context: click.Context) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield context.command_path
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from _command_paths(inner, click.Context(inner, info_name=name, parent=context))
