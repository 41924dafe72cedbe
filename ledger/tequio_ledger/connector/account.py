"""An account somewhere else, and the name under which the log may know its owner."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from tequio_shared.ids import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Somebody's account at a provider; it is never written anywhere."""

    provider: str
    """The provider's own address: what an operator calls it may change."""
    number: str = field(repr=False)
    """What stays the same about it, however its owner renames it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The person has not decided yet."""

    is_hurried: bool = False
    """Whether the provider wants to be asked less often from now on."""


def owner(secret: bytes, account: Account) -> Digest:
    """Name the account's owner: the same name each time, and no way back without the secret."""
    named = account.provider.encode() + b"\0" + account.number.encode()
    return Digest(hmac.digest(secret, named, "sha256"))
