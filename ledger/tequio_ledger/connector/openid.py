"""Any OpenID Connect provider: its addresses by discovery, the account by a signed ID token.

The ID token comes straight from the token endpoint over TLS, which OpenID Connect Core (3.1.3.7)
takes for proof enough; its signature is verified all the same, so that a mixed-up endpoint, or a
token for somebody else, counts for nothing. PyJWT does it: one package in pure Python over the
`cryptography` that is here anyway. The access token is not used at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import jwt

from tequio_ledger.connector.account import Account, Pending
from tequio_ledger.connector.device_grant import DeviceGrant
from tequio_ledger.connector.outside import check_address
from tequio_ledger.connector.provider import ProviderWrongError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.clock import Clock
    from tequio_ledger.connector.device_grant import Client
    from tequio_ledger.connector.outside import Json, Outside
    from tequio_ledger.connector.provider import DeviceCode

SCOPE = "openid"
"""Nothing but who they are: no name, no mail."""
KEPT_MS = 3_600_000
"""How long addresses and keys of a provider count."""
ANEW_MS = 60_000
"""Least time between two questions for keys that a token names and nobody knows."""
LEEWAY_S = 60
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""With public keys only: `none`, and a shared secret, prove nothing here."""
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_SUBJECT_CHARACTERS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class _Addresses:
    device: str
    token: str
    keys: str


class OpenId:
    """A provider (`provider.Provider`); used from one event loop."""

    def __init__(self, outside: Outside, client: Client, issuer: str, clock: Clock) -> None:
        self._outside = outside
        self._client = client
        self._issuer = issuer
        self._clock = clock
        self._grant = DeviceGrant(outside, client)
        self._addresses: _Addresses | None = None
        self._addresses_ms = 0
        self._keys: Sequence[jwt.PyJWK] = ()
        self._keys_ms = 0

    @property
    def name(self) -> str:
        """Its host, and the path if it has one."""
        parts = urlsplit(self._issuer)
        return f"{parts.netloc}{parts.path}".rstrip("/").lower()

    async def code(self) -> DeviceCode:
        """Begin."""
        return await self._grant.code((await self._found()).device)

    async def account_of(self, device_code: str) -> Account | Pending:
        """Say whose account it is, by the subject of a token that verifies."""
        addresses = await self._found()
        tokens = await self._grant.tokens(addresses.token, device_code)
        if isinstance(tokens, Pending):
            return tokens
        if not tokens.identity:
            raise ProviderWrongError("it gives no ID token")
        key = await self._key(addresses, tokens.identity)
        subject = self._subject(tokens.identity, key)
        return Account(provider=self._issuer, number=subject)

    # --- where it is

    async def _found(self) -> _Addresses:
        if self._addresses is None or self._clock() - self._addresses_ms > KEPT_MS:
            place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            self._addresses = self._read(await self._outside.get(place))
            self._addresses_ms = self._clock()
        return self._addresses

    def _read(self, document: Json) -> _Addresses:
        if document.get("issuer") != self._issuer:
            raise ProviderWrongError(f"it calls itself otherwise than {self._issuer}")
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

    # --- whose signature counts

    async def _key(self, addresses: _Addresses, token: str) -> jwt.PyJWK:
        name = _key_name(token)
        found = _named(self._keys, name)
        age_ms = self._clock() - self._keys_ms
        if age_ms > KEPT_MS or (found is None and age_ms > ANEW_MS):
            self._keys = _keys(await self._outside.get(addresses.keys))
            self._keys_ms = self._clock()
            found = _named(self._keys, name)
        if found is None:
            raise ProviderWrongError("its ID token is signed under a key that it does not name")
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
            raise ProviderWrongError(f"its ID token does not hold: {type(err).__name__}") from err
        if claims.get("azp", self._client.id) != self._client.id:
            raise ProviderWrongError("its ID token is for another client")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_CHARACTERS:
            raise ProviderWrongError("its ID token names no subject")
        return subject


def _key_name(token: str) -> str | None:
    try:
        return jwt.get_unverified_header(token).get("kid")
    except jwt.PyJWTError as err:
        raise ProviderWrongError("its ID token is none") from err


def _keys(document: Json) -> Sequence[jwt.PyJWK]:
    try:
        return jwt.PyJWKSet.from_dict(document).keys
    except (jwt.PyJWTError, TypeError, ValueError, AttributeError) as err:  # strangers' JSON
        raise ProviderWrongError("its list of keys is none") from err


def _named(keys: Sequence[jwt.PyJWK], name: str | None) -> jwt.PyJWK | None:
    """Find the key of that name; without a name, the only one there is."""
    if name is None:
        return keys[0] if len(keys) == 1 else None
    return next((key for key in keys if key.key_id == name), None)
