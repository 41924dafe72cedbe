"""Attackers of the ledger who send raw bytes instead of using our API."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE_S = 10.0


def forged(entry: Entry) -> Entry:
    """The same entry with a signature that does not hold."""
    ((key, signature), *others) = entry.signatures
    return Entry(((key, signature[:-1] + bytes([signature[-1] ^ 1])), *others), entry.statement)


def post(url: str, entries: Sequence[Entry]) -> httpx.Response:
    """Post a bundle, whatever the answer."""
    content = encode_bundle([entry.leaf() for entry in entries])
    return httpx.post(f"{url}/v1/statements", content=content, timeout=PATIENCE_S)


def codes(answer: httpx.Response) -> list[str]:
    """The result of each entry: its status, or the code of its refusal."""
    return [item.get("code") or item["status"] for item in answer.json()["items"]]


def put_headers(signer: Signer, net: bytes, digest: Digest, at_ms: int) -> dict[str, str]:
    """The headers of a signed PUT of a blob."""
    message = b"tequio/v1/request\0" + net + digest + at_ms.to_bytes(8, "big")
    return {
        "x-tequio-author": to_text(signer.key),
        "x-tequio-signature": to_text(signer.sign(message)),
        "x-tequio-ts": str(at_ms),
    }


def exchange(url: str, request: bytes) -> bytes:
    """Send raw bytes to a server and return the first part of its answer."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), PATIENCE_S) as line:
        line.sendall(request)
        return line.recv(65_536)


def status_of(url: str, method: str, target: str, headers: str = "") -> int:
    """The status of the answer to a request with unescaped target and headers."""
    request = f"{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"
    return int(exchange(url, request.encode("latin-1")).split(b" ", 2)[1])


def key_number(number: int) -> PeerKey:
    """The sybil key with that number."""
    return Signer(sha256(b"sybil", number.to_bytes(8, "big"))).key
