"""The link to a competition: whoever opens it with the app sees that competition there.

    tequio://competition?ledger=<address>&id=<the competition>

It holds no secret, and asks for nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, digest_from_text, to_text

SCHEME = "tequio"
_ACTION = "competition"
_NAMES = "ledger", "id"
_ADDRESS = re.compile("https?://[!-~]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionLink:
    """A competition as it is passed on."""

    ledger: str
    competition: Digest

    def text(self) -> str:
        """Write the link."""
        fields = {"ledger": self.ledger, "id": to_text(self.competition)}
        return f"{SCHEME}://{_ACTION}?{urlencode(fields, safe=':/')}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a link; raises UserFacingError."""
        try:
            ledger, competition = _fields(text)
            return cls(ledger=ledger, competition=digest_from_text(competition))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"this competition link is incomplete ({err}): it begins with "
                f"{SCHEME}://{_ACTION}? and must be given in quotes, as one word"
            ) from err


def is_meant(text: str) -> bool:
    """Whether a link is to a competition, whole or not."""
    return text.strip().startswith(f"{SCHEME}://{_ACTION}?")


def _fields(text: str) -> tuple[str, str]:
    parts = urlsplit(text.strip())
    fields = parse_qs(parts.query, strict_parsing=True)
    if (parts.scheme, parts.netloc) != (SCHEME, _ACTION) or fields.keys() != set(_NAMES):
        raise MalformedError("it has other parts")
    (ledger,), (competition,) = (fields[name] for name in _NAMES)
    if not _ADDRESS.fullmatch(ledger):
        raise MalformedError("its ledger's address is none")
    return ledger, competition
