"""Messages about competitions: their rules, their entrants, their results, and the link to one.

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

MAX_COMPETITIONS = 32
"""Maximum competitions in one reply."""
MAX_ENTRANTS = 64
"""Maximum entrants of one competition."""
MAX_CURVES = 8
"""Maximum runs in one request for curves."""
MAX_CURVE_POINTS = 64
"""Maximum points of one curve."""

Phase: TypeAlias = Annotated[str, msgspec.Meta(pattern="^(open|closed|drawn|revealed|decided)$")]
EvaluatorPart: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|offered|opened|missed|others|drawn|waiting|scored|late)$")
]
"""Our state as an evaluator: `offered`; our secret is `opened`, or was `missed`; `others` were
drawn, or we were (`drawn`); everything is scored here and `waiting` to be published; all our scores
are in the log (`scored`), or came too `late`."""
EvaluatorBar: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|custodian|organiser|entrant|trained|memory|refused)$")
]
"""Reason why our key or computer cannot evaluate; empty: none is known."""
Why: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]
Url: TypeAlias = Annotated[str, msgspec.Meta(max_length=512)]


class AskCompetitions(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Ask for all competitions."""


class AskCurves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Ask for the training loss of these runs by round."""

    runs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_CURVES)]


class CompetitionEntrantRow(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant of a competition."""

    name: Name
    run: Name = ""
    """Run of the entrant; empty: the model was trained elsewhere."""
    run_name: Name = ""
    micropoints: Count = 0
    """Our points in that run, proven here."""
    has_submitted: bool = False
    rank: Count = 0
    """From 1, shared by equal scores; 0: not ranked, or not yet."""
    nanobits_per_byte: Count = 0
    low: Count = 0
    """Lower end of the 95 % bootstrap interval; `high` is the upper one."""
    high: Count = 0


class CompetitionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A competition: its rules, checked by their hash, and its state according to the ledger."""

    competition: Name
    name: Name
    phase: Phase
    is_void: bool = False
    """Whether it ended without a ranking and without a statement that says so."""
    opens_ms: Count
    deadline_ms: Count
    draw_ms: Count
    scored_ms: Count
    result_ms: Count
    # limits for an entrant; 0: none
    parameters: Count
    tokens: Count
    hours: Count
    # rules of the decision
    texts: Count
    """Texts in the sealed set."""
    texts_bytes: Count
    drawn: Count
    """Texts that are drawn to be scored."""
    evaluators: Count
    window: Count
    stride: Count
    custodians: Count
    needed: Count
    """Custodians needed to open the texts."""
    part: EvaluatorPart = ""
    judged: Count = 0
    """Models that we have scored."""
    to_judge: Count = 0
    """Models that were submitted."""
    judge_mb: Count = 0
    """Memory needed for scoring; 0: unknown."""
    bar: EvaluatorBar = ""
    barred_by: Why = ""
    """The entrant's name, or the reason that was given."""
    data: Url = ""
    """Address of the rules about training data; empty: none."""
    entrants: Annotated[
        tuple[CompetitionEntrantRow, ...], msgspec.Meta(max_length=MAX_ENTRANTS)
    ] = ()
    """By rank, then in the order of their entries."""


class CompetitionsReply(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Competitions that can be joined first, decided ones last, the newest of each first."""

    rows: Annotated[tuple[CompetitionRow, ...], msgspec.Meta(max_length=MAX_COMPETITIONS)]


class LossCurvePoint(msgspec.Struct, frozen=True, array_like=True):
    """A closed round and the median loss that its trainers reported, nats per token."""

    round: Count
    loss: float


class LossCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Loss of one run by round, ascending; empty: no round has closed."""

    run: Name
    points: Annotated[tuple[LossCurvePoint, ...], msgspec.Meta(max_length=MAX_CURVE_POINTS)]


class CurvesReply(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Curves in the order of the request; unavailable ones are left out."""

    rows: Annotated[tuple[LossCurve, ...], msgspec.Meta(max_length=MAX_CURVES)]


SCHEME = "tequio"
_ACTION = "competition"
_NAMES = "ledger", "id"
_ADDRESS = re.compile("https?://[!-~]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionLink:
    """Link to a competition, opened by the app: `tequio://competition?ledger=<address>&id=<id>`.

    It holds no secret, and opening it changes nothing.
    """

    ledger: str
    competition: Digest

    def text(self) -> str:
        fields = {"ledger": self.ledger, "id": to_text(self.competition)}
        return f"{SCHEME}://{_ACTION}?{urlencode(fields, safe=':/')}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a link; raises UserFacingError."""
        try:
            ledger, competition = _fields(text)
            return cls(ledger=ledger, competition=digest_from_text(competition))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"this competition link is incomplete ({err}): it begins with "
                f"{SCHEME}://{_ACTION}? and must be given in quotes, as one word"
            ) from err


def is_competition_link(text: str) -> bool:
    """Report whether the text is a link to a competition, even an incomplete one."""
    return text.strip().startswith(f"{SCHEME}://{_ACTION}?")


def _fields(text: str) -> tuple[str, str]:
    parts = urlsplit(text.strip())
    fields = parse_qs(parts.query, strict_parsing=True)
    if (parts.scheme, parts.netloc) != (SCHEME, _ACTION) or fields.keys() != set(_NAMES):
        raise MalformedError(f"expected the parts {' and '.join(_NAMES)}")
    (ledger,), (competition,) = (fields[name] for name in _NAMES)
    if not _ADDRESS.fullmatch(ledger):
        raise MalformedError(f"invalid ledger address {ledger!r:.80}")
    return ledger, competition
