"""The pages in a real Chromium, driven as a new user would, over the real program."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.web.pages.static import HASHES, static_url
from tequio_shared.log import merkle
from tequio_shared.log.tiles import encode_bundle
from tests.support.app_process import PATIENCE_S, wait_until
from tests.support.authors import newcomers
from tests.support.browser import CHROMIUM, NARROW, WIDE, Scheme, WatchedPage, barriers, watched
from tests.support.ledgers import Served, served
from tests.support.log_reader import read_leaves
from tests.support.sample_site import REFUSED, Site, served_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, Route


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")


@pytest.fixture(scope="module")
def offering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve an empty ledger whose operator names a page with downloads."""
    folder = tmp_path_factory.mktemp("offering")
    with served(folder, "--download-url", "https://example.org/get") as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Fill a ledger and serve it by the real program."""
    with served_site(tmp_path_factory.mktemp("site")) as running:
        yield running


def main_text(page: Page) -> str:
    return page.locator("main").inner_text()


def test_a_new_user_finds_a_peer_from_the_front_of_its_key(site: Site, window: WatchedPage) -> None:
    window.open(site.url)
    page = window.page
    page.get_by_label("Find a name, run, key or hash").fill(site.peers[3][:7])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}/peers/{site.peers[3]}")
    assert "Newest rounds" in main_text(page)


def test_a_new_user_sees_why_a_round_paid_nothing(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(f"{site.url}/peers/{site.peers[3]}")
    row = page.locator("tr", has_text="Rejected")
    assert "its direction contradicts the witnesses' own measurements" in row.inner_text()
    row.get_by_role("link", name=str(REFUSED), exact=True).click()
    page.wait_for_url(f"**/rounds/{REFUSED}")
    assert page.locator("td[title^='refused it']").count() == 5


def test_a_new_user_verifies_an_entry(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(f"{site.url}/runs/{site.run}/rounds/{REFUSED}")
    page.get_by_role("link", name="proof", exact=True).first.click()
    page.wait_for_url("**/entries/*")
    page.get_by_role("button", name="Verify in this browser").click()
    assert verdict(page) == "Verified: this entry is in the signed log, as its author wrote it."
    assert page.locator("#check-steps li.good").count() == 6
    page.get_by_role("button", name="Verify again").click()
    page.get_by_text("it continues the").wait_for()


def verdict(page: Page) -> str:
    """Wait for the verifier, and return its verdict."""
    page.locator("#check-says.verdict").wait_for()
    return page.locator("#check-says").inner_text()


FORGERIES = {
    "the statement shown": (
        r'(id="statement"[^>]*>\{)&#34;author',
        r"\1 &#34;author",
        "The statement shown is the one in the leaf",
    ),
    "a byte of the leaf": (
        r'(id="leaf"[^>]*>AQ.{300})(.)',
        None,
        "leads from the leaf to the root",
    ),
    "a hash of the path": (r'(id="path"><li[^>]*>)(.)', None, "leads from the leaf to the root"),
    "the root": (r"(?m)(id=\"note\"[^>]*>[^\n]*\n\d+\n)(.)", None, "The log signed this root"),
    "the size": (r"(id=\"note\"[^>]*>[^\n]*\n)(\d)", r"\g<1>1\2", "The log signed this root"),
    "the signature": (r"(— \S+ .{20})(.)", None, "The log signed this root"),
    "the key of the log": (
        r'(id="log-key">[^<+]*\+[0-9a-f]{8}\+.{20})(.)',
        None,
        "The log signed this root",
    ),
    "the network": (r'(id="network">.{9})(.)', None, "Signed by its author"),
    "the place in the log": (r'(data-index=")(\d)', r"\g<1>1\2", "leads from the leaf to the root"),
}


def other(match: re.Match[str]) -> str:
    """Put another character in the place of the second group."""
    return match[1] + ("A" if match[2] != "A" else "B")


@pytest.mark.parametrize("what", FORGERIES)
def test_the_verifier_refuses_what_was_changed(site: Site, window: WatchedPage, what: str) -> None:
    pattern, replacement, step = FORGERIES[what]

    def forge(route: Route) -> None:
        honest = route.fetch()
        forged, changes = re.subn(pattern, replacement or other, honest.text(), count=1)
        assert changes == 1, "the page has nothing to forge here"
        route.fulfill(response=honest, body=forged)

    window.page.route("**/entries/100", forge)
    window.open(f"{site.url}/entries/100")
    window.page.get_by_role("button", name="Verify in this browser").click()
    assert verdict(window.page).startswith("Verification failed.")
    failed = window.page.locator("#check-steps li.bad")
    assert step in " ".join(failed.all_inner_texts())


def test_a_log_that_shrank_since_the_last_visit_is_noticed(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(f"{site.url}/entries/5")
    remember(page, size="999999", root="AAAA")
    page.get_by_role("button", name="Verify in this browser").click()
    assert verdict(page).startswith("Verification failed.")
    assert "this browser saw 999999 entries before" in page.locator("#check-steps").inner_text()


def remember(page: Page, **other: str) -> None:
    """Let the browser have seen this log before, but for what is given."""
    page.evaluate(
        """other => {
            const shown = (id) => document.getElementById(id).textContent;
            const [origin, size, root] = shown("note").split("\\n");
            const seen = { origin, key: shown("log-key").trim(), size, root };
            localStorage.setItem("checkpoint", JSON.stringify({ ...seen, ...other }));
        }""",
        other,
    )


OTHERS = {
    "origin": ("elsewhere.example/log", "saw the log elsewhere.example/log here before"),
    "key": ("ledger.example/test+00000000+AAAA", "saw the key ledger.example/test+00000000+AAAA"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_log_under_another_name_or_key_at_the_same_address_is_noticed(
    site: Site, window: WatchedPage, what: str
) -> None:
    page, (former, says) = window.page, OTHERS[what]
    window.open(f"{site.url}/entries/5")
    remember(page)
    page.get_by_role("button", name="Verify in this browser").click()
    assert verdict(page).startswith("Verified:")
    remember(page, **{what: former})
    page.reload()
    page.get_by_role("button", name="Verify in this browser").click()
    assert verdict(page).startswith("Verification failed.")
    assert says in page.locator("#check-steps").inner_text()
    kept = json.loads(page.evaluate("localStorage.getItem('checkpoint')"))
    assert kept[what] == former, "what is wrong must not be kept"


SMUGGLED = {
    "a blob": '<script src="/v1/blobs/x"></script>',
    "a blob as a module": '<script type="module" src="/v1/blobs/x"></script>',
    "a blob that says it is ours": f'<script src="/v1/blobs/x" integrity="{HASHES["live.js"]}">'
    "</script>",
    "the page's own words": "<script>document.title = 'taken'</script>",
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_page_into_which_somebody_brought_a_script_runs_none_but_ours(
    site: Site, browser: Browser, what: str
) -> None:
    """Even if a blob had a type that runs, and a page showed a text without escaping it."""

    def forge(route: Route) -> None:
        honest = route.fetch()
        forged = honest.text().replace("</head>", f"{SMUGGLED[what]}</head>")
        assert forged != honest.text()
        route.fulfill(response=honest, body=forged)

    with watched(browser) as window:
        page = window.page
        page.route("**/entries/100", forge)
        taken = {"content-type": "text/javascript"}
        page.route(
            "**/v1/blobs/x",
            lambda route: route.fulfill(body="document.title = 'taken'", headers=taken),
        )
        page.goto(f"{site.url}/entries/100")
        page.get_by_role("button", name="Verify in this browser").click()
        assert verdict(page).startswith("Verified:"), "our own scripts run"
        assert page.title() != "taken"


def test_a_time_that_no_calendar_has_is_said_and_is_no_fault_of_the_log(
    site: Site, window: WatchedPage
) -> None:
    window.open(f"{site.url}/entries/5")
    said = window.page.evaluate(
        """async (url) => {
            const { moment } = await import(url);
            return [1_800_000_000n, 2n ** 62n, 2n ** 64n - 1n].map(moment);
        }""",
        static_url("verify.js"),
    )
    assert said[0] == "at 2027-01-15T08:00:00.000Z"
    assert said[1] == "at second 4611686018427387904, which no calendar has"
    assert said[2].endswith("which no calendar has")


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 700])
def test_growth_is_proven_from_the_tiles_and_a_changed_past_is_noticed(
    site: Site, window: WatchedPage, size: int
) -> None:
    page = window.page
    window.open(f"{site.url}/entries/5")
    root = base64.b64encode(merkle.root(first_leaves(site, size))).decode()
    for kept, result in ((root, "Verified:"), ("A" * 43 + "=", "Verification failed.")):
        remember(page, size=str(size), root=kept)
        page.reload()
        page.get_by_role("button", name="Verify in this browser").click()
        assert verdict(page).startswith(result)
    assert f"the {size} entries that this browser saw before were changed" in main_text(page)


def first_leaves(site: Site, size: int) -> list[bytes]:
    """The leaves of the log's first entries."""
    with httpx.Client(base_url=site.url) as http:
        return read_leaves(http, size)


def test_a_browser_without_ed25519_says_what_it_could_not_check(
    site: Site, window: WatchedPage
) -> None:
    page = window.page
    page.add_init_script(
        "SubtleCrypto.prototype.importKey = () =>"
        " Promise.reject(new DOMException('unknown', 'NotSupportedError'))"
    )
    window.open(f"{site.url}/entries/5")
    page.get_by_role("button", name="Verify in this browser").click()
    assert "could not check everything" in verdict(page)
    steps = page.locator("#check-steps li.unknown").all_inner_texts()
    assert len(steps) == 2
    assert all("this browser does not know Ed25519" in one for one in steps)


def test_a_phone_shows_every_place_of_the_leaderboard_as_a_whole(
    site: Site, browser: Browser
) -> None:
    with watched(browser, size=NARROW) as phone:
        for span in ("all", "7d"):
            phone.open(f"{site.url}/leaderboard?span={span}")
            page = phone.page
            letters = (
                "document.fonts.ready.then(() => document.fonts.check('16px \"Hanken Grotesk\"'))"
            )
            assert page.evaluate(letters), "the pages' own letters are there"
            wide, room = page.evaluate(
                "(() => { const at = document.querySelector('.scroll');"
                " return [at.scrollWidth, at.clientWidth]; })()"
            )
            assert wide <= room, span
            assert "Active" in main_text(page)
        assert phone.faults == []


def test_a_new_user_sees_how_good_heads_are_and_who_says_so(
    site: Site, window: WatchedPage
) -> None:
    page = window.page
    window.open(f"{site.url}/runs/{site.run}")
    assert "from 2.3 in round 0" in page.locator("#held-out-summary").inner_text()
    curve = page.locator("section[aria-labelledby=held-out-title] svg.plot.wide")
    assert curve.locator(".outlier").count() == 1
    assert curve.locator(".single").count() == 3 * curve.locator(".hit").count() - 1
    said = page.locator("section[aria-labelledby=measures-title] tbody tr")
    assert said.count() == 3
    assert said.first.locator(".mark").inner_text() == "with the median"
    said.first.locator("td.n a").click()
    page.get_by_text("A drawn member measures a head on held-out text").first.wait_for()


def log_one_more(site: Site, size: int) -> None:
    now_ms = time.time_ns() // 1_000_000
    leaves = [one.leaf() for one in newcomers(f"late {size}", site.net, 1, now_ms)]
    assert httpx.post(f"{site.url}/v1/statements", content=encode_bundle(leaves)).is_success


@pytest.mark.parametrize("use", ["selection", "pointer"])
def test_a_page_waits_while_its_reader_uses_it(site: Site, window: WatchedPage, use: str) -> None:
    page = window.page
    window.open(f"{site.url}/entries")
    size = int(page.locator("#live").get_attribute("data-live") or "")
    page.evaluate(
        "() => { let asked = 0; const wait = setTimeout; window.setTimeout = (call, ms) => {"
        " if (++asked > 3) document.body.dataset.waited = 'yes'; return wait(call, ms / 50); } }"
    )
    title = page.locator("main h1")
    if use == "selection":
        title.evaluate("(one) => getSelection().selectAllChildren(one)")
    else:
        title.hover()
        page.mouse.down()
    log_one_more(site, size)
    page.locator("body[data-waited]").wait_for()
    assert page.locator(f"a[href='/entries/{size}']").count() == 0
    page.mouse.up()
    page.evaluate("getSelection().removeAllRanges()")
    page.locator(f"a[href='/entries/{size}']").wait_for()


def test_a_page_follows_the_log_by_itself(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(f"{site.url}/entries")
    page.evaluate("document.querySelector('main a').dataset.stays = 'no'")
    size = int(page.locator("#live").get_attribute("data-live") or "")
    page.locator("#ask").fill("half a key")
    page.locator("#ask").focus()
    log_one_more(site, size)
    page.locator(f"a[href='/entries/{size}']").wait_for()
    assert page.evaluate("document.activeElement.id") == "ask"
    assert page.locator("#ask").input_value() == "half a key"


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", WIDE), ("dark", NARROW)],
    ids=["light and wide", "dark and narrow"],
)
def test_every_page_is_quiet_accessible_and_as_wide_as_its_window(
    site: Site, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    found: dict[str, object] = {}
    with watched(browser, scheme, size) as window:
        for name, path in site.paths().items():
            window.open(site.url + path)
            wrong = barriers(window.page)
            width = window.page.evaluate("document.scrollingElement.scrollWidth")
            if wrong or width > size[0] or (window.faults and not name.startswith("missing")):
                found[name] = (wrong, width, list(window.faults))
            window.faults.clear()
    assert found == {}


def test_no_long_word_makes_a_phone_scroll_sideways(site: Site, browser: Browser) -> None:
    word = "W" * 110
    with watched(browser, size=NARROW) as window:
        page = window.page
        for path in (f"/{word}", f"/search?q={word}", f"/peers/{'A' * 43}", "/"):
            window.open(site.url + path)
            for name in page.locator("[aria-labelledby=leaders-title] bdi").all():
                name.evaluate("(one) => { one.textContent = 'W'.repeat(32) }")
            assert page.evaluate("document.scrollingElement.scrollWidth") == NARROW[0], path


def test_without_scripts_everything_is_there_but_the_verifier(site: Site, browser: Browser) -> None:
    with watched(browser, scripts=False) as window:
        page = window.page
        for name, path in site.paths().items():
            window.open(site.url + path)
            assert page.locator("h1").inner_text(), name
            assert not page.get_by_role("button", name="Verify in this browser").is_visible()
        window.open(site.url)
        page.get_by_label("Find a name, run, key or hash").fill("12")
        page.keyboard.press("Enter")
        page.wait_for_url("**/entries/12")
        window.open(f"{site.url}/runs/{site.run}")
        assert page.locator("svg.plot.wide").count() == 6
        assert page.locator("svg.plot.wide").first.is_visible()
        assert not page.locator(".samples input").is_visible()
        page.locator(".samples").get_by_role("link", name="8", exact=True).click()
        page.get_by_text("After round 8 the model continues").wait_for()


def test_a_slider_shows_what_the_model_wrote_after_any_round(
    site: Site, window: WatchedPage
) -> None:
    page = window.page
    window.open(f"{site.url}/runs/{site.run}")
    assert not page.locator(".samples ul").is_visible()
    slider = page.locator(".samples input")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text("After round 4 the model continues").wait_for()
    assert page.url.endswith("?sample=4")
    assert page.locator(".samples output").inner_text() == "4"
    page.keyboard.press("ArrowRight")  # the slider kept the focus
    page.get_by_text("After round 8 the model continues").wait_for()


@pytest.mark.parametrize(
    ("agent", "first"),
    [("Windows NT 10.0; Win64; x64", "Windows"), ("Macintosh; Intel Mac OS X 14_0", "macOS"),
     ("X11; Linux x86_64", "Linux"), ("Linux; Android 15; Pixel", "Windows")],
)  # fmt: skip
def test_the_download_for_the_visitors_own_system_comes_first(
    browser: Browser, offering: Served, agent: str, first: str
) -> None:
    context = browser.new_context(user_agent=f"Mozilla/5.0 ({agent})")
    page = context.new_page()
    page.goto(offering.url)
    buttons = page.locator(".welcome [data-system]")
    names = [one.inner_text() for one in buttons.all()]
    assert (names[0], sorted(names)) == (first, ["Linux", "Windows", "macOS"])
    marked = page.locator(".welcome .own").all_inner_texts()
    assert marked == ([] if "Android" in agent else [first])
    context.close()


def test_the_keyboard_alone_gets_everywhere(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(site.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_chart_says_its_values_to_pointer_and_reader(site: Site, window: WatchedPage) -> None:
    page = window.page
    window.open(f"{site.url}/runs/{site.run}")
    card = page.locator("section[aria-labelledby=loss-title]")
    chart = card.locator("svg.plot.wide")
    described = chart.get_attribute("aria-describedby")
    assert "The median loss that trainers claim" in page.locator(f"#{described}").inner_text()
    chart.locator(".hit").nth(5).hover()
    dot = chart.locator(".hit").nth(5).locator("circle")
    assert dot.evaluate("one => getComputedStyle(one).visibility") == "visible"
    card.get_by_text("Values", exact=True).click()
    page.wait_for_url("**/rounds")
    assert page.locator("tbody tr", has_text="Closed").count() > 20


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_label_of_a_chart_is_cut(site: Site, browser: Browser, size: tuple[int, int]) -> None:
    with watched(browser, size=size) as window:
        for path in ("/", f"/runs/{site.run}", f"/peers/{site.peers[3]}"):
            window.open(site.url + path)
            cut = window.page.evaluate(
                """() => [...document.querySelectorAll("svg.plot text")]
                    .filter((one) => one.getClientRects().length)
                    .filter((one) => {
                        const text = one.getBBox(), room = one.ownerSVGElement.viewBox.baseVal;
                        return text.x < 0 || text.x + text.width > room.width
                            || text.y < 0 || text.y + text.height > room.height;
                    }).map((one) => one.textContent)"""
            )
            assert cut == [], path


def test_if_no_app_opens_the_page_says_what_to_do(site: Site, browser: Browser) -> None:
    with watched(browser) as window:
        page = window.page
        window.open(site.url)
        address = page.locator(".welcome .copyable code")
        assert not address.is_visible()
        page.get_by_role("link", name="Join with the app").click()
        assert address.inner_text() == site.url
        copy = page.locator(".welcome").get_by_role("button", name="Copy")
        # By its key: Chromium without a screen loses some clicks after the link to a program.
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject('denied'); }")
        copy.press("Enter")
        chosen = "getSelection().toString().trim()"
        wait_until(lambda: page.evaluate(chosen) == site.url, PATIENCE_S)
        page.evaluate("() => { delete navigator.clipboard.writeText; }")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.bring_to_front()  # a page without the focus may not write there
        copy.press("Enter")
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == site.url


def test_times_are_told_as_people_tell_them_with_and_without_scripts(
    site: Site, browser: Browser
) -> None:
    for scripts in (True, False):
        with watched(browser, scripts=scripts) as window:
            window.open(f"{site.url}/runs/{site.run}/rounds")
            ended = window.page.locator("tbody time.ago")
            assert ended.last.inner_text() == "3 days ago"
            assert re.fullmatch(
                r"\d+ \w+ \d{4}, [\d:]{8} UTC", ended.last.get_attribute("title") or ""
            )
