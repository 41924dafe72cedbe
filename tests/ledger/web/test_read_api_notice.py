"""Announcements to the whole network, in the answers, on the pages and in the feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import NetNotice
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    import httpx

    from tests.support.ledgers import Served

TOLD = "The ledger moves on Sunday <b>at noon</b>."


def fresh(http: httpx.Client, path: str, host: str) -> str:
    """Get a page under an address of its own, as pages are kept for a second."""
    return http.get(path, headers={"host": f"{host}.example"}).text


def posted(http: httpx.Client, author: Author, text: str, now_ms: int) -> dict[str, str]:
    end = author.seq, author.last
    leaf = author.sign(NetNotice(text=text), now_ms).leaf()
    (item,) = http.post("/v1/statements", content=encode_bundle([leaf])).json()["items"]
    if item["status"] == "refused":
        author.seq, author.last = end
    assert isinstance(item, dict)
    return item


def test_an_announcement_is_shown_until_it_is_taken_back(
    http: httpx.Client, program: Served, now_ms: int
) -> None:
    assert http.get("/v1/notice").json()["announcement"] is None
    assert "From the organisers of this network" not in fresh(http, "/", "before")
    host = Author("organiser", program.net)
    host.signer = ORGANISER
    known = http.get(f"/v1/peers/{to_text(host.key)}").json()
    host.seq, host.last = known["last_seq"], digest_from_text(known["last_hash"])
    index = posted(http, host, TOLD, now_ms)["index"]
    told = http.get("/v1/notice").json()["announcement"]
    assert told == {"text": TOLD, "ts": now_ms, "index": index}
    page, feed = fresh(http, "/", "told"), fresh(http, "/feed.atom", "told")
    assert "From the organisers of this network" in page
    assert "The ledger moves on Sunday &lt;b&gt;at noon&lt;/b&gt;." in page
    assert f'href="/entries/{index}"' in page
    assert "Organisers of the network test announce" in feed
    assert "The ledger moves on Sunday" in feed
    soon = posted(http, host, "And one thing more.", now_ms + 60_000)
    assert (soon["code"], soon["detail"]) == (
        "too-early",
        "the last announcement to the network was 1 min ago: wait 9 min; until then, it can be "
        "withdrawn",
    )
    assert "index" in posted(http, host, "", now_ms + 60_000)
    assert http.get("/v1/notice").json()["announcement"] is None
    assert "From the organisers of this network" not in fresh(http, "/", "after")
    assert "The ledger moves on Sunday" not in fresh(http, "/feed.atom", "after")
    assert posted(http, host, "Another one.", now_ms + 120_000)["code"] == "too-early"


def test_a_member_announces_nothing(http: httpx.Client, program: Served, now_ms: int) -> None:
    member = Author("member", program.net)
    entry = member.register(now_ms)
    http.post("/v1/statements", content=encode_bundle([entry.leaf()]))
    refused = posted(http, member, "Send your keys to me.", now_ms)
    assert (refused["code"], refused["detail"]) == (
        "wrong-role",
        "only organisers may sign net.notice",
    )
    assert "Send your keys" not in http.get("/v1/notice").text
