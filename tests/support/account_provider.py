"""A provider of accounts for tests: a real server with GitHub's device flow and OpenID Connect.

It speaks RFC 8628 and OpenID discovery and signs its ID tokens with its own key. A test scripts its
answers, one per request: those of honest providers and those of broken ones.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = "tequio-test-client"
TOKEN = "token-that-nobody-may-see"  # noqa: S105 - it is looked for in logs
DEVICE_CODE = "device-code-that-nobody-may-see"
USER_CODE = "WDJB-MJHT"
NUMBER = 583231407
SUBJECT = "subject-that-nobody-may-see"
OAUTH_ERRORS = (
    "authorization_pending", "slow_down", "access_denied", "expired_token", "invalid_client",
    "invalid_grant",
)  # fmt: skip
BROKEN: dict[str, tuple[int, Any]] = {
    "garbage": (200, b"<html>"),
    "list": (200, []),
    "empty": (200, {}),
    "endless": (200, b" " * (1 << 20)),
    "away": (503, {}),
    "hanging": (503, {}),
}
HANG_S = 60.0


@dataclass
class AccountProvider:
    """The provider's behaviour: tests write it, the server's threads read it."""

    url: str = ""
    answers: deque[str] = field(default_factory=deque)
    """Answers to the next requests for a token; after them the person has agreed."""
    number: int = NUMBER
    subject: str = SUBJECT
    code: dict[str, Any] = field(default_factory=dict)
    """Changed fields of the answer with the device code; None leaves a field out."""
    discovery: dict[str, Any] = field(default_factory=dict)
    """Changed fields of the discovery document; None leaves a field out."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Changed claims of ID tokens; None leaves a claim out."""
    user: Any = None
    """A false answer about the user; None: the true one."""
    status: int = 0
    """If set, the status of every answer."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Every requested path, with its form."""
    released: threading.Event = field(default_factory=threading.Event)
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def name(self) -> str:
        """The provider's name, as volunteers give it."""
        return self.url.removeprefix("http://")

    def times(self, path: str) -> int:
        """Count the requests for a path."""
        return sum(one == path for one, _ in self.asked)

    def rotate(self) -> None:
        """Replace the signing key."""
        self.key = ec.generate_private_key(ec.SECP256R1())

    def identity(self, how: str = "") -> str:
        """Write an ID token: a good one, or one that is wrong in that way."""
        now_s = time.time_ns() // 10**9
        claims = {
            "iss": self.url, "sub": self.subject, "aud": CLIENT, "iat": now_s, "exp": now_s + 300,
        } | self.claims  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        headers = {"kid": self.key_id}
        if how == "other-key":
            return jwt.encode(
                claims, ec.generate_private_key(ec.SECP256R1()), "ES256", headers=headers
            )
        if how == "unsigned":
            return jwt.encode(claims, "", "none", headers=headers)
        if how == "shared-secret":
            return jwt.encode(claims, b"x" * 32, "HS256", headers=headers)
        return jwt.encode(claims, self.key, "ES256", headers=headers)

    @property
    def key_id(self) -> str:
        """The id of the signing key."""
        return f"key-{self.key.public_key().public_numbers().x % 100_000}"

    def keys(self) -> dict[str, Any]:
        """Write its key set."""
        public = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": self.key_id, "alg": "ES256", "use": "sig"}]}

    def token_answer(self) -> tuple[int, Any]:
        """Answer a request for a token with the next scripted answer."""
        what = self.answers.popleft() if self.answers else "granted"
        if what in OAUTH_ERRORS:
            return 400, {"error": what, "error_description": "as scripted"}
        if what == "hanging":
            self.released.wait(HANG_S)
        if what in BROKEN:
            return BROKEN[what]
        return 200, {"access_token": TOKEN, "token_type": "bearer", "id_token": self.identity(what)}

    def answer(self, path: str, token: str) -> tuple[int, Any]:
        """Answer one request."""
        if self.status:
            return self.status, {}
        match path:
            case "/.well-known/openid-configuration":
                told = {
                    "issuer": self.url,
                    "device_authorization_endpoint": f"{self.url}/login/device/code",
                    "token_endpoint": f"{self.url}/login/oauth/access_token",
                    "jwks_uri": f"{self.url}/keys",
                } | self.discovery
            case "/keys":
                told = self.keys()
            case "/login/device/code":
                told = {
                    "device_code": DEVICE_CODE,
                    "user_code": USER_CODE,
                    "verification_uri": f"{self.url}/login/device",
                    "expires_in": 900,
                    "interval": 1,
                } | self.code
            case "/login/oauth/access_token":
                return self.token_answer()
            case "/api/v3/user" if token == f"Bearer {TOKEN}":
                told = self.user or {"id": self.number, "login": "somebody"}
            case _:
                return 404, {}
        return 200, {name: value for name, value in told.items() if value is not None}


@contextmanager
def providing() -> Iterator[AccountProvider]:
    """Serve a provider on a free loopback port."""
    provider = AccountProvider()

    class ProviderHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            form = {name: values[-1] for name, values in parse_qs(raw.decode()).items()}
            self._serve(form)

        def _serve(self, form: dict[str, str]) -> None:
            provider.asked.append((self.path, form))
            status, told = provider.answer(self.path, self.headers.get("authorization", ""))
            raw = told if isinstance(told, bytes) else json.dumps(told).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except OSError:
                self.close_connection = True  # the client hung up

        def log_message(self, *_: object) -> None:
            pass

    with serving(ProviderHandler) as provider.url:
        try:
            yield provider
        finally:
            provider.released.set()
