"""Providers of accounts: GitHub, and any OpenID Connect provider, both by the device flow.

An OpenID Connect provider names the account in a signed ID token. The token comes straight from the
token endpoint over TLS, which OpenID Connect Core (3.1.3.7) accepts as proof; its signature is
verified all the same, so that a wrong endpoint, or a token for another client, is refused. PyJWT
verifies it: one package in pure Python over `cryptography`, which is installed anyway. The access
token is not used.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import httpx
import jwt
import msgspec

from tequio_ledger import outgoing
from tequio_shared import encoding
from tequio_shared.api import connector
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import DIGEST_BYTES, Digest, to_text

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account at a provider; never stored or logged."""

    provider: str
    """The provider's address: the name that an operator gives it may change."""
    number: str = field(repr=False)
    """Identifier that stays the same when the account is renamed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The person has not decided yet."""

    is_hurried: bool = False
    """True if the provider wants to be asked less often from now on."""


def owner(secret: bytes, account: Account) -> Digest:
    """Derive the owner's name: always the same, and not reversible without the secret."""
    named = account.provider.encode() + b"\0" + account.number.encode()
    return Digest(hmac.digest(secret, named, "sha256"))


class ProviderAwayError(TequioError):
    """The provider does not answer, or says that it cannot answer now; try later."""


class ProviderWrongError(PeerError):
    """The provider gave an invalid answer, or does not know this connector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """A provider's pair of codes: one for the connector, one for the person."""

    device_code: str = field(repr=False)
    shown: connector.ConnectCode
    """Under a new id, by which the volunteer's program polls the outcome."""


class Provider(Protocol):
    """Gives a code (RFC 8628), and reports later which account the person chose."""

    @property
    def name(self) -> str:
        """Name by which volunteers choose it."""

    async def code(self) -> DeviceCode:
        """Get a code; raises ProviderAwayError, ProviderWrongError."""

    async def account_of(self, device_code: str) -> Account | Pending:
        """Get the account that the person chose, if they have decided.

        Raises RefusedError("denied"), RefusedError("code-expired"), ProviderAwayError and
        ProviderWrongError. All tokens are forgotten when this returns.
        """


# --- Requests to providers: one deadline, one size limit, no redirects, JSON only.
#
# Errors contain nothing of a request but its path: bodies and headers contain codes and tokens.

ANSWER_S = 10.0
ANSWER_BYTES = 256 << 10
"""More than the list of keys of any known provider."""
_TOO_MANY = 429
_SERVER_FAULT = 500
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

Json = dict[str, Any]  # an answer that was not checked yet


class ProviderClient:
    """Asks providers over an HTTP client that the caller closes."""

    def __init__(self, http: httpx.AsyncClient, answer_s: float = ANSWER_S) -> None:
        self._http = http
        self._answer_s = answer_s

    async def get(self, url: str, *, token: str = "") -> Json:
        """Get a JSON object with status 200, authorised by a token if given."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        status, answer = await self._ask("GET", url, None, headers)
        if status != httpx.codes.OK:
            raise ProviderWrongError(f"{_place(url)} answers with status {status}")
        return answer

    async def post(self, url: str, form: Mapping[str, str]) -> Json:
        """Post a form and get a JSON object with any status: errors of OAuth are answers."""
        return (await self._ask("POST", url, form, {}))[1]

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
    ) -> tuple[int, Json]:
        place = _place(url)
        try:
            async with (
                asyncio.timeout(self._answer_s),
                self._http.stream(method, url, data=form, headers=headers) as answer,
            ):
                status, raw = answer.status_code, await outgoing.read_bounded(answer, ANSWER_BYTES)
        except PeerError as err:
            raise ProviderWrongError(f"{place} sent {err}") from err
        except TimeoutError as err:
            raise ProviderAwayError(f"{place} gave no answer in {self._answer_s:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise ProviderAwayError(f"{place} does not answer: {type(err).__name__}") from err
        if status >= _SERVER_FAULT or status == _TOO_MANY:
            raise ProviderAwayError(f"{place} answers with status {status}")
        return status, _parsed(raw, place)


def http_client() -> httpx.AsyncClient:
    return outgoing.http_client({"accept": "application/json", "user-agent": "tequio-connector"})


def check_address(url: object) -> str:
    """Accept an https address, or an http one on this machine; raises ValueError."""
    if not isinstance(url, str) or len(url) > 512 or not url.isascii() or not url.isprintable():  # noqa: PLR2004
        raise ValueError("an address such as https://example.org")
    try:
        parts = outgoing.parse_url(url)
    except ValueError as err:
        raise ValueError("an address such as https://example.org") from err
    is_here = parts.scheme == "http" and parts.host in _LOOPBACK
    if parts.userinfo or not (parts.scheme == "https" or is_here):
        raise ValueError("an https address, or an http one on this machine")
    if parts.query or parts.fragment:
        raise ValueError("an address without ? and #")
    return url


def _parsed(raw: bytes, place: str) -> Json:
    try:
        return encoding.read(raw, Json)
    except MalformedError as err:
        raise ProviderWrongError(f"{place} did not send a JSON object") from err


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


# --- OAuth 2.0 Device Authorization Grant (RFC 8628), common to all providers.

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL_S = 5
"""When a provider names none (RFC 8628, 3.2)."""
_TOKEN_CHARACTERS = 16_384
_CODE_CHARACTERS = 2_048
_ERROR_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRegistration:
    """This connector's registration at a provider."""

    id: str
    secret: str = field(default="", repr=False)
    """Client secret, which some providers issue for the device flow too; empty without one."""
    scope: str = ""

    @property
    def form(self) -> dict[str, str]:
        """Fields of every request."""
        return {"client_id": self.id, **({"client_secret": self.secret} if self.secret else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of an account, held only until its owner is known."""

    access: str = field(repr=False)
    identity: str = field(repr=False)
    """ID token of OpenID Connect; empty without one."""


class DeviceGrant:
    """The two requests of the device flow, at a provider's addresses."""

    def __init__(self, http: ProviderClient, client: ClientRegistration) -> None:
        self._http = http
        self._client = client

    async def code(self, address: str) -> DeviceCode:
        """Get a code (RFC 8628, 3.1 and 3.2); raises ProviderAwayError, ProviderWrongError."""
        form = {**self._client.form, "scope": self._client.scope}
        answer = await self._http.post(address, form)
        if "error" in answer:
            raise ProviderWrongError(f"it refused to give a code: {_error(answer)}")
        return _code(answer)

    async def tokens(self, address: str, device_code: str) -> Tokens | Pending:
        """Ask whether the person has decided (RFC 8628, 3.4 and 3.5).

        Raises RefusedError("denied"), RefusedError("code-expired"), and as `code` does.
        """
        form = {**self._client.form, "grant_type": _GRANT, "device_code": device_code}
        answer = await self._http.post(address, form)
        match answer.get("error"):
            case None:
                return _tokens(answer)
            case "authorization_pending":
                return Pending()
            case "slow_down":
                return Pending(is_hurried=True)
            case "access_denied":
                raise RefusedError("denied", "the person refused the request at the provider")
            case "expired_token":
                raise RefusedError("code-expired", "the code was not used in time")
            case "invalid_grant" | "incorrect_device_code":  # used already: the answer was lost
                raise RefusedError("code-expired", "the code is no longer valid at the provider")
        raise ProviderWrongError(f"it refuses this connector: {_error(answer)}")


def _code(answer: Json) -> DeviceCode:
    # Google has `verification_url`, from a draft of RFC 8628.
    url = answer.get("verification_uri", answer.get("verification_url"))
    try:
        shown = msgspec.convert(
            {
                "id": to_text(secrets.token_bytes(DIGEST_BYTES)),
                "user_code": answer.get("user_code"),
                "url": check_address(url),
                "expires_s": _bounded(answer.get("expires_in"), connector.CODE_S),
                "interval_s": _bounded(answer.get("interval", _INTERVAL_S), connector.INTERVAL_S),
            },
            connector.ConnectCode,
        )
        device_code = _text(answer, "device_code", _CODE_CHARACTERS)
    except ValueError as err:  # msgspec's errors too
        raise ProviderWrongError(f"its codes cannot be used: {err}") from err
    return DeviceCode(device_code=device_code, shown=shown)


def _tokens(answer: Json) -> Tokens:
    try:
        access = _text(answer, "access_token", _TOKEN_CHARACTERS)
        identity = _text(answer, "id_token", _TOKEN_CHARACTERS) if "id_token" in answer else ""
    except ValueError as err:
        raise ProviderWrongError(f"its answer is neither a token nor an error: {err}") from err
    return Tokens(access=access, identity=identity)


def _text(answer: Json, name: str, most: int) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= most:
        raise ValueError(f"no {name}")
    if not (value.isascii() and value.isprintable()):
        raise ValueError(f"{name} has invalid characters")
    return value


def _bounded(value: object, most: int) -> int:
    """Parse a number of seconds, and limit it to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError("a time that is not a number of seconds")
    return max(1, int(min(value, most)))


def _error(answer: Json) -> str:
    """Give the provider's error code (RFC 6749), shortened and printable."""
    text = str(answer["error"])[:_ERROR_CHARACTERS]
    return "".join(one if one.isascii() and one.isprintable() else "?" for one in text)


# --- GitHub, and GitHub Enterprise: device flow of an OAuth app, then the user's number.
#
# No scope is requested: such a token can only read what is public about its owner.

PUBLIC = "https://github.com"
_PUBLIC_API = "https://api.github.com"
_MOST = 2**63


class GitHub:
    def __init__(
        self, http: ProviderClient, client: ClientRegistration, address: str = PUBLIC
    ) -> None:
        self._address = address.rstrip("/")
        self._api = _PUBLIC_API if self._address == PUBLIC else f"{self._address}/api/v3"
        self._http = http
        self._grant = DeviceGrant(http, client)

    @property
    def name(self) -> str:
        return urlsplit(self._address).netloc

    async def code(self) -> DeviceCode:
        return await self._grant.code(f"{self._address}/login/device/code")

    async def account_of(self, device_code: str) -> Account | Pending:
        place = f"{self._address}/login/oauth/access_token"
        tokens = await self._grant.tokens(place, device_code)
        if isinstance(tokens, Pending):
            return tokens
        user = await self._http.get(f"{self._api}/user", token=tokens.access)
        number = user.get("id")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < _MOST:
            raise ProviderWrongError("it did not give the user's number")
        return Account(provider=self._address, number=str(number))


SCOPE = "openid"
"""Only the identity: no name, no e-mail address."""
KEPT_MS = 3_600_000
"""Time for which a provider's addresses and keys are cached."""
KEYS_AGAIN_MS = 60_000
"""Minimum time between two requests for keys after a token named an unknown one."""
LEEWAY_S = 60
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""Algorithms with public keys only: `none` and a shared secret would prove nothing."""
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_SUBJECT_CHARACTERS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class _Addresses:
    device: str
    token: str
    keys: str


class OpenId:
    """Used from one event loop."""

    def __init__(
        self, http: ProviderClient, client: ClientRegistration, issuer: str, clock: Clock
    ) -> None:
        self._http = http
        self._client = client
        self._issuer = issuer
        self._clock = clock
        self._grant = DeviceGrant(http, client)
        self._addresses: _Addresses | None = None
        self._addresses_ms = 0
        self._keys: Sequence[jwt.PyJWK] = ()
        self._keys_ms = 0

    @property
    def name(self) -> str:
        return issuer_name(self._issuer)

    async def code(self) -> DeviceCode:
        return await self._grant.code((await self._found()).device)

    async def account_of(self, device_code: str) -> Account | Pending:
        addresses = await self._found()
        tokens = await self._grant.tokens(addresses.token, device_code)
        if isinstance(tokens, Pending):
            return tokens
        if not tokens.identity:
            raise ProviderWrongError("it did not send an ID token")
        key = await self._key(addresses, tokens.identity)
        return Account(provider=self._issuer, number=self._subject(tokens.identity, key))

    # --- addresses

    async def _found(self) -> _Addresses:
        if self._addresses is None or self._clock() - self._addresses_ms > KEPT_MS:
            place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            self._addresses = self._read(await self._http.get(place))
            self._addresses_ms = self._clock()
        return self._addresses

    def _read(self, document: Json) -> _Addresses:
        if document.get("issuer") != self._issuer:
            raise ProviderWrongError(f"it does not name {self._issuer} as its issuer")
        try:
            return _Addresses(
                device=check_address(document.get("device_authorization_endpoint")),
                token=check_address(document.get("token_endpoint")),
                keys=check_address(document.get("jwks_uri")),
            )
        except ValueError as err:
            raise ProviderWrongError(
                f"its discovery document lacks what the device flow needs: {err}"
            ) from err

    # --- keys

    async def _key(self, addresses: _Addresses, token: str) -> jwt.PyJWK:
        name = _key_name(token)
        found = _named(self._keys, name)
        age_ms = self._clock() - self._keys_ms
        if age_ms > KEPT_MS or (found is None and age_ms > KEYS_AGAIN_MS):
            self._keys = _keys(await self._http.get(addresses.keys))
            self._keys_ms = self._clock()
            found = _named(self._keys, name)
        if found is None:
            raise ProviderWrongError("its ID token is signed with a key that is not in its list")
        return found

    def _subject(self, token: str, key: jwt.PyJWK) -> str:
        try:
            claims = jwt.decode(
                token,
                key=key,
                algorithms=ALGORITHMS,
                audience=self._client.id,
                issuer=self._issuer,
                leeway=LEEWAY_S,
                options={"require": list(_REQUIRED)},
            )
        except jwt.PyJWTError as err:
            raise ProviderWrongError(f"its ID token is not valid: {type(err).__name__}") from err
        if claims.get("azp", self._client.id) != self._client.id:
            raise ProviderWrongError("its ID token is for another client")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_CHARACTERS:
            raise ProviderWrongError("its ID token names no subject")
        return subject


def issuer_name(issuer: str) -> str:
    return _place(issuer).rstrip("/").lower()


def _key_name(token: str) -> str | None:
    try:
        return jwt.get_unverified_header(token).get("kid")
    except jwt.PyJWTError as err:
        raise ProviderWrongError("its ID token cannot be read") from err


def _keys(document: Json) -> Sequence[jwt.PyJWK]:
    try:
        return jwt.PyJWKSet.from_dict(document).keys
    except (jwt.PyJWTError, TypeError, ValueError, AttributeError) as err:  # strangers' JSON
        raise ProviderWrongError("its list of keys is not valid") from err


def _named(keys: Sequence[jwt.PyJWK], name: str | None) -> jwt.PyJWK | None:
    """Find the key of that name; without a name, the only one there is."""
    if name is None:
        return keys[0] if len(keys) == 1 else None
    return next((key for key in keys if key.key_id == name), None)
