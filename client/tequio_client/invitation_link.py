"""Invitation link from an organiser: the network to join, and the key that admits a new member.

    tequio://join?ledger=<address>&network=<id>&key=<private key of the invitation>

Anyone with the link can use it: it is as secret as a password until it is used up or closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import NetworkId, from_text, to_text
from tequio_shared.keys import Signer

SCHEME = "tequio"
_ACTION = "join"
_NAMES = "ledger", "network", "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationLink:
    """An invitation in the form of a link."""

    ledger: str
    network: NetworkId
    seed: bytes
    """Private key of the invitation."""

    @property
    def signer(self) -> Signer:
        return Signer(self.seed)

    def text(self) -> str:
        fields = {
            "ledger": self.ledger,
            "network": to_text(self.network),
            "key": to_text(self.seed),
        }
        return f"{SCHEME}://{_ACTION}?{urlencode(fields, safe=':/')}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link; raises UserFacingError."""
        try:
            ledger, network, key = _fields(text)
            return cls(ledger=ledger, network=NetworkId(from_text(network)), seed=from_text(key))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"not a valid invitation link ({err}): it begins with {SCHEME}://{_ACTION}? "
                "and must be given in quotes, as one word"
            ) from err


def _fields(text: str) -> tuple[str, str, str]:
    parts = urlsplit(text.strip())
    fields = parse_qs(parts.query, strict_parsing=True)
    if (parts.scheme, parts.netloc) != (SCHEME, _ACTION) or fields.keys() != set(_NAMES):
        raise MalformedError("it has other parts")
    (ledger,), (network,), (key,) = (fields[name] for name in _NAMES)
    if not ledger.startswith(("http://", "https://")):
        raise MalformedError("its ledger's address is none")
    return ledger, network, key
