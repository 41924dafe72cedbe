"""Uploads blobs over HTTP, signed as the protocol requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import NetworkId, sha256, to_text
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    import httpx

    from tequio_shared.keys import Signer


def put_blob(
    http: httpx.Client, net: NetworkId, content: bytes, now_ms: int, signer: Signer = ORGANISER
) -> httpx.Response:
    """Upload one blob; returns any answer, also a refusal."""
    digest = sha256(content)
    message = b"tequio/v1/request\0" + net + digest + now_ms.to_bytes(8, "big")
    headers = {
        "x-tequio-author": to_text(signer.key),
        "x-tequio-ts": str(now_ms),
        "x-tequio-signature": to_text(signer.sign(message)),
    }
    return http.put(f"/v1/blobs/{to_text(digest)}", content=content, headers=headers)
