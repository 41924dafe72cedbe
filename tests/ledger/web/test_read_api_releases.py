"""Releases that organisers name, in the answers and on the pages of the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import SoftwareRelease
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    import httpx

    from tests.support.ledgers import Served


def release(number: int, minimum: str = "0.1.0", content: bytes = b"") -> SoftwareRelease:
    return SoftwareRelease(
        version=f"0.{number}.0",
        minimum=minimum,
        targets=to_text(sha256(b"list %d" % number + content)),
        targets_version=number,
    )


def posted(http: httpx.Client, host: Author, body: SoftwareRelease, now_ms: int) -> dict[str, str]:
    end = host.seq, host.last
    leaf = host.sign(body, now_ms).leaf()
    (item,) = http.post("/v1/statements", content=encode_bundle([leaf])).json()["items"]
    if item["status"] == "refused":
        host.seq, host.last = end
    assert isinstance(item, dict)
    return item


def test_releases_are_listed_newest_first_and_never_go_back(
    http: httpx.Client, program: Served, now_ms: int
) -> None:
    assert http.get("/v1/release").json()["releases"] == []
    host = Author("organiser", program.net)
    host.signer = ORGANISER
    known = http.get(f"/v1/peers/{to_text(host.key)}").json()
    host.seq, host.last = known["last_seq"], digest_from_text(known["last_hash"])
    first = posted(http, host, release(3), now_ms)["index"]
    second = posted(http, host, release(5, "0.4.0"), now_ms)["index"]
    for wrong in (release(4), release(5, content=b"another")):
        assert posted(http, host, wrong, now_ms)["code"] == "wrong-state"
    newest, older = http.get("/v1/release").json()["releases"]
    assert newest == {
        "index": second,
        "version": "0.5.0",
        "minimum": "0.4.0",
        "targets": to_text(sha256(b"list 5")),
        "targets_version": 5,
    }
    assert (older["index"], older["targets_version"]) == (first, 3)
    lowered = posted(http, host, release(5, "0.1.0"), now_ms)["index"]
    assert [one["index"] for one in http.get("/v1/release").json()["releases"]] == [lowered, first]
    page = http.get("/status").text
    assert "version 0.5.0; members need 0.1.0 or newer" in page
    assert f'href="/entries/{lowered}"' in page
