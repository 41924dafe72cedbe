"""OAuth 2.0 Device Authorization Grant (RFC 8628), the part that all providers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from tequio_ledger.connector.account import Pending
from tequio_ledger.connector.outside import check_address
from tequio_ledger.connector.provider import DeviceCode, ProviderWrongError
from tequio_shared.api import connector
from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, to_text

if TYPE_CHECKING:
    from tequio_ledger.connector.outside import Json, Outside

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL_S = 5
"""When a provider names none (RFC 8628, 3.2)."""
_TOKEN_CHARACTERS = 16_384
_CODE_CHARACTERS = 2_048
_ERROR_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """As what a provider knows this connector."""

    id: str
    secret: str = field(default="", repr=False)
    """Some providers give one to devices too; empty for none."""
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What opens an account, for the moment that it takes to learn whose it is."""

    access: str = field(repr=False)
    identity: str = field(repr=False)
    """ID token of OpenID Connect; empty for none."""


class DeviceGrant:
    """Begins and asks, at the addresses that a provider has for it."""

    def __init__(self, outside: Outside, client: Client) -> None:
        self._outside = outside
        self._client = client

    async def code(self, address: str) -> DeviceCode:
        """Get a code (RFC 8628, 3.1 and 3.2); raises ProviderAwayError, ProviderWrongError."""
        form = {"client_id": self._client.id, "scope": self._client.scope}
        if self._client.secret:
            form["client_secret"] = self._client.secret
        answer = await self._outside.post(address, form)
        if "error" in answer:
            raise ProviderWrongError(f"it gives this connector no codes: {_error(answer)}")
        return _code(answer)

    async def tokens(self, address: str, device_code: str) -> Tokens | Pending:
        """Ask whether the person decided (RFC 8628, 3.4 and 3.5).

        Raises RefusedError("denied"), RefusedError("code-expired"), and as `code` does.
        """
        form = {
            "grant_type": _GRANT,
            "device_code": device_code,
            "client_id": self._client.id,
        }
        if self._client.secret:
            form["client_secret"] = self._client.secret
        answer = await self._outside.post(address, form)
        match answer.get("error"):
            case None:
                return _tokens(answer)
            case "authorization_pending":
                return Pending()
            case "slow_down":
                return Pending(is_hurried=True)
            case "access_denied":
                raise RefusedError("denied", "the request was turned down there")
            case "expired_token":
                raise RefusedError("code-expired", "the code was not used in time")
            case "invalid_grant" | "incorrect_device_code":  # as after an answer that was lost
                raise RefusedError("code-expired", "the code does not count there any more")
        raise ProviderWrongError(f"it refuses this connector: {_error(answer)}")


def _code(answer: Json) -> DeviceCode:
    """Read an answer; `verification_url` is what Google calls it."""
    url = answer.get("verification_uri", answer.get("verification_url"))
    try:
        shown = msgspec.convert(
            {
                "id": to_text(ZERO_DIGEST),
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
    return DeviceCode(
        device_code=device_code,
        user_code=shown.user_code,
        url=shown.url,
        expires_s=shown.expires_s,
        interval_s=shown.interval_s,
    )


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
        raise ValueError(f"{name} has other characters than it may have")
    return value


def _bounded(value: object, most: int) -> int:
    """Read a number of seconds; what is longer than anybody waits counts as that."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError("a time that is no number of seconds")
    return max(1, int(min(value, most)))


def _error(answer: Json) -> str:
    """Name the error in the provider's words, a code by RFC 6749, made fit to be shown."""
    text = str(answer["error"])[:_ERROR_CHARACTERS]
    return "".join(one if one.isascii() and one.isprintable() else "?" for one in text)
