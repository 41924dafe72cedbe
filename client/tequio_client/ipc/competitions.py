"""What a worker tells of competitions: their rules, their sides, how they came out.

Times in milliseconds since 1970, scores in nanobits per byte of text: fewer are better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Self, TypeAlias
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from tequio_client.ipc.facts import Count, Name
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, digest_from_text, to_text

COMPETITIONS = 32
"""Most competitions in one reply."""
ENTRANTS = 64
"""Most entrants of one competition."""
CURVES = 8
"""Most runs whose curves are asked for at once."""
POINTS = 64
"""Most points of one curve."""

Phase: TypeAlias = Annotated[str, msgspec.Meta(pattern="^(open|closed|drawn|revealed|decided)$")]
Part: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|offered|opened|missed|others|drawn|waiting|scored|late)$")
]
"""What we do as an evaluator: offered; our secret is opened, or was missed; others were drawn, or
we; all is scored here and waits to be shown; all our scores are in the log; or not in time."""
Bar: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|custodian|organiser|entrant|trained|memory|refused)$")
]
"""Why our key or computer cannot evaluate; empty: it can, as far as is known."""
Why: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]
Url: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]


class AskCompetitions(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Which competitions there are."""


class AskCurves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """How the training loss of these runs came down."""

    runs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=CURVES)]


class EntrantRow(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant of a competition."""

    name: Name
    run: Name = ""
    """Its run; empty: a model that was trained elsewhere."""
    run_name: Name = ""
    micropoints: Count = 0
    """Ours in that run, as proven here."""
    has_submitted: bool = False
    rank: Count = 0
    """From 1, equal ones share it; 0: not ranked, or not yet."""
    nanobits_per_byte: Count = 0
    low: Count = 0
    """95 % of the bootstrap lie from here to `high`."""
    high: Count = 0


class CompetitionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A competition by its rules, which were checked by their hash, and as the ledger sees it."""

    competition: Name
    name: Name
    phase: Phase
    is_void: bool = False
    """Whether it ended without a ranking, and without a word that says so."""
    # dates
    opens_ms: Count
    deadline_ms: Count
    draw_ms: Count
    scored_ms: Count
    result_ms: Count
    # what an entrant may take; 0: no limit
    parameters: Count
    tokens: Count
    hours: Count
    # how it is decided
    texts: Count
    """Of the sealed set."""
    texts_bytes: Count
    drawn: Count
    """Of the texts, to be scored."""
    evaluators: Count
    window: Count
    stride: Count
    custodians: Count
    needed: Count
    """Of the custodians, to open the texts."""
    part: Part = ""
    judged: Count = 0
    """Models that we have scored."""
    to_judge: Count = 0
    """Models that were submitted."""
    judge_mb: Count = 0
    """Memory that scoring takes; 0: not known."""
    bar: Bar = ""
    barred_by: Why = ""
    """The entrant's name, or what is said."""
    data: Url = ""
    """Where the rules about training data are written; empty: there are none."""
    entrants: Annotated[tuple[EntrantRow, ...], msgspec.Meta(max_length=ENTRANTS)] = ()
    """By rank, then in the order in which they entered."""


class Competitions(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Those that can be joined first, those that are decided last, the newest of each first."""

    rows: Annotated[tuple[CompetitionRow, ...], msgspec.Meta(max_length=COMPETITIONS)]


class CurvePoint(msgspec.Struct, frozen=True, array_like=True):
    """A closed round and the median of what its trainers say of their loss, nats per token."""

    round: Count
    loss: float


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One run's loss, by round, ascending; none: no round has closed."""

    run: Name
    points: Annotated[tuple[CurvePoint, ...], msgspec.Meta(max_length=POINTS)]


class Curves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """In the order in which they were asked for; those that cannot be had are left out."""

    rows: Annotated[tuple[Curve, ...], msgspec.Meta(max_length=CURVES)]


# --- The link to a competition: whoever opens it with the app sees that competition there.
#
#     tequio://competition?ledger=<address>&id=<the competition>
#
# It holds no secret, and asks for nothing.

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
