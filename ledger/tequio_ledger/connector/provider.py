"""What the connector needs of whoever keeps accounts, and how that can fail.

Two are behind it: GitHub, and everybody who speaks OpenID Connect. Both give a code (RFC 8628), and
say later whose account the person chose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import PeerError, TequioError

if TYPE_CHECKING:
    from tequio_ledger.connector.account import Account, Pending


class ProviderAwayError(TequioError):
    """The provider does not answer, or says that it cannot now; try later."""


class ProviderWrongError(PeerError):
    """The provider answered what cannot be, or does not know this connector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """What a provider gives at the beginning: one half is the person's, the other one ours."""

    device_code: str = field(repr=False)
    user_code: str
    url: str
    """Where the person types it in."""
    expires_s: int
    interval_s: int


class Provider(Protocol):
    """Somebody whose accounts people have."""

    @property
    def name(self) -> str:
        """What volunteers call it."""

    async def code(self) -> DeviceCode:
        """Begin; raises ProviderAwayError, ProviderWrongError."""

    async def account_of(self, device_code: str) -> Account | Pending:
        """Say whose account the person chose, if they did.

        Raises RefusedError("denied"), RefusedError("code-expired"), ProviderAwayError and
        ProviderWrongError. Whatever opened the account is forgotten when this returns.
        """
