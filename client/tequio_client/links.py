"""Links that the app opens: an invitation to a network, a network, a competition, a team.

    tequio://join?ledger=<address>&network=<id>&key=<private key of the invitation>
    tequio://join?ledger=<address>[&run=<id>]
    tequio://competition?ledger=<address>&id=<id>
    tequio://team?ledger=<address>&network=<id>&id=<entry>&key=<private key of the invitation>

Anyone with an invitation can use it: it is as secret as a password until it is used up or closed.
The other links hold no secret, and opening them changes nothing; the ledger's pages show them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, NetworkId, RunId, digest_from_text, from_text, to_text
from tequio_shared.keys import Signer

SCHEME = "tequio"
_JOIN, _COMPETITION, _TEAM = "join", "competition", "team"
_INVITATION_PART = re.compile("[?&](network|key)=")
_TEAM_CODE = re.compile("([1-9][0-9]{0,15})-([A-Za-z0-9_-]{43})")
_ADDRESS = re.compile(r"(?=.{1,264}\Z)https?://[A-Za-z0-9._:\[\]-]+(?:/[A-Za-z0-9._~:/%+,=-]*)?")
"""Without what makes it look like another one: letters of other scripts, a user name, markup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationLink:
    ledger: str
    network: NetworkId
    seed: bytes
    """Private key of the invitation."""

    @property
    def signer(self) -> Signer:
        return Signer(self.seed)

    def text(self) -> str:
        return _link(
            _JOIN, ledger=self.ledger, network=to_text(self.network), key=to_text(self.seed)
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link; raises UserFacingError."""
        try:
            ledger, network, key = _fields(text, _JOIN, ("ledger", "network", "key"))
            _check_address(ledger)
            return cls(ledger=ledger, network=NetworkId(from_text(network)), seed=from_text(key))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"not a valid invitation link ({err}): it begins with {SCHEME}://{_JOIN}? "
                "and must be given in quotes, as one word"
            ) from err


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLink:
    """A network by its ledger, and perhaps one of its runs, in the form of a link."""

    ledger: str
    run: RunId | None = None

    def text(self) -> str:
        run = {"run": to_text(self.run)} if self.run else {}
        return _link(_JOIN, ledger=self.ledger, **run)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link; raises UserFacingError."""
        try:
            has_run = "run" in parse_qs(urlsplit(text.strip()).query)
            ledger, *run = _fields(text, _JOIN, ("ledger", "run") if has_run else ("ledger",))
            _check_address(ledger)
            return cls(ledger=ledger, run=RunId(from_text(run[0])) if run else None)
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"this link to a network is incomplete ({err}): it begins with "
                f"{SCHEME}://{_JOIN}?ledger= and must be given in quotes, as one word"
            ) from err


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionLink:
    """A competition of a ledger's network, in the form of a link."""

    ledger: str
    competition: Digest

    def text(self) -> str:
        return _link(_COMPETITION, ledger=self.ledger, id=to_text(self.competition))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link; raises UserFacingError."""
        try:
            ledger, competition = _fields(text, _COMPETITION, ("ledger", "id"))
            _check_address(ledger)
            return cls(ledger=ledger, competition=digest_from_text(competition))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"this competition link is incomplete ({err}): it begins with "
                f"{SCHEME}://{_COMPETITION}? and must be given in quotes, as one word"
            ) from err


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamLink:
    """The join link of a team, or its code, which is the same for people in the same network."""

    team: int
    """Log index of the entry that founded it."""
    seed: bytes
    """Private key of the team's invitation."""
    ledger: str = ""
    """Empty, and no network: it was a code."""
    network: NetworkId | None = None

    @property
    def signer(self) -> Signer:
        return Signer(self.seed)

    def text(self) -> str:
        if self.network is None:
            return self.code()
        fields = {"ledger": self.ledger, "network": to_text(self.network), "id": str(self.team)}
        return _link(_TEAM, **fields, key=to_text(self.seed))

    def code(self) -> str:
        return f"{self.team}-{to_text(self.seed)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link or a code; raises UserFacingError."""
        try:
            if not text.strip().startswith(f"{SCHEME}:"):
                return cls._parse_code(text.strip())
            ledger, network, team, key = _fields(text, _TEAM, ("ledger", "network", "id", "key"))
            _check_address(ledger)
            code = cls._parse_code(f"{team}-{key}")
            return replace(code, ledger=ledger, network=NetworkId(digest_from_text(network)))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"this is not the whole join link or code of a team ({err}): copy all of it; on a "
                "command line, put it in quotes"
            ) from err

    @classmethod
    def _parse_code(cls, text: str) -> Self:
        found = _TEAM_CODE.fullmatch(text)
        if found is None:
            raise MalformedError("expected a number, a dash and 43 characters")
        return cls(team=int(found[1]), seed=from_text(found[2]))


def is_team_link(text: str) -> bool:
    """Report whether the text is the join link of a team, even an incomplete one."""
    return text.strip().startswith(f"{SCHEME}://{_TEAM}?")


def is_competition_link(text: str) -> bool:
    """Report whether the text is a link to a competition, even an incomplete one."""
    return text.strip().startswith(f"{SCHEME}://{_COMPETITION}?")


def is_network_link(text: str) -> bool:
    """Report whether the text is a link to a network without an invitation, perhaps incomplete."""
    is_join = text.strip().startswith(f"{SCHEME}://{_JOIN}?")
    return is_join and not _INVITATION_PART.search(text)


def _link(action: str, **fields: str) -> str:
    """Write a link; raises UserFacingError for a ledger address that no program would take."""
    if not _ADDRESS.fullmatch(fields["ledger"]):
        raise UserFacingError(
            f"no link can have the ledger address {fields['ledger']!a:.80}: give one of plain "
            "ASCII, such as https://xn--ngl-6la.example, without a user name"
        )
    return f"{SCHEME}://{action}?{urlencode(fields, safe=':/')}"


def _fields(text: str, action: str, names: tuple[str, ...]) -> list[str]:
    """The values of exactly these fields; raises ValueError or MalformedError."""
    parts = urlsplit(text.strip())
    fields = parse_qs(parts.query, strict_parsing=True)
    if (parts.scheme, parts.netloc) != (SCHEME, action) or fields.keys() != set(names):
        raise MalformedError(f"expected the parts {', '.join(names)}")
    values = [fields[name] for name in names]
    if any(len(one) != 1 for one in values):
        raise MalformedError(f"expected each of the parts {', '.join(names)} once")
    return [one for (one,) in values]


def _check_address(ledger: str) -> None:
    if not _ADDRESS.fullmatch(ledger):
        raise MalformedError(f"invalid ledger address {ledger!a:.80}")
