"""GitHub, and GitHub Enterprise servers: device flow of an OAuth app, then the number of the user.

No scope is asked for: such a token reads what is public about its owner, and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tequio_ledger.connector.account import Account, Pending
from tequio_ledger.connector.device_grant import DeviceGrant
from tequio_ledger.connector.provider import ProviderWrongError

if TYPE_CHECKING:
    from tequio_ledger.connector.device_grant import Client
    from tequio_ledger.connector.outside import Outside
    from tequio_ledger.connector.provider import DeviceCode

PUBLIC = "https://github.com"
_PUBLIC_API = "https://api.github.com"
_MOST = 2**63


class GitHub:
    """A provider (`provider.Provider`)."""

    def __init__(self, outside: Outside, client: Client, address: str = PUBLIC) -> None:
        self._address = address.rstrip("/")
        self._api = _PUBLIC_API if self._address == PUBLIC else f"{self._address}/api/v3"
        self._outside = outside
        self._grant = DeviceGrant(outside, client)

    @property
    def name(self) -> str:
        """Its host."""
        return urlsplit(self._address).netloc

    async def code(self) -> DeviceCode:
        """Begin."""
        return await self._grant.code(f"{self._address}/login/device/code")

    async def account_of(self, device_code: str) -> Account | Pending:
        """Say whose account it is, by the number that no renaming changes."""
        place = f"{self._address}/login/oauth/access_token"
        tokens = await self._grant.tokens(place, device_code)
        if isinstance(tokens, Pending):
            return tokens
        user = await self._outside.get(f"{self._api}/user", token=tokens.access)
        number = user.get("id")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < _MOST:
            raise ProviderWrongError("it tells no number of the user")
        return Account(provider=self._address, number=str(number))
