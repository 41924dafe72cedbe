"""PUT /v1/seeds on the real program: addresses are listed as their peers signed them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    import httpx

    from tests.support.authors import Author


def test_addresses_that_their_peer_did_not_sign_are_not_listed(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    address = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(author.key)}"
    record = sign_addresses(author.signer, author.net, [address], now_ms)
    for forged in (replace(record, ts=now_ms + 1), replace(record, signature=bytes(64))):
        answer = http.put("/v1/seeds", content=forged.encode())
        assert (answer.status_code, answer.json()["type"]) == (
            400,
            "urn:tequio:problem:bad-signature",
        )
        assert address not in http.get("/v1/seeds").text
    assert http.put("/v1/seeds", content=record.encode()).status_code == 204
    assert address in http.get("/v1/seeds").text
