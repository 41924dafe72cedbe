"""A competition in words: where it stands, its rules, and who could read its texts too early."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages.text import Mark, count, plural
from tequio_shared.competition.rules import LEAST_EVALUATORS
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.scoring import DOCUMENT_TOLERANCE, TOTAL_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_ledger.web.competitions import CompetitionNow
    from tequio_shared.competition.rules import CompetitionRules

PHASES: Mapping[CompetitionPhase, Mark] = {
    CompetitionPhase.OPEN: Mark(
        "Open", "ok", "Entrants train and submit; whoever is no entrant may offer to evaluate."
    ),
    CompetitionPhase.CLOSED: Mark(
        "Closed",
        "busy",
        "No submission counts any more. Who offered to evaluate opens a secret: together they "
        "make a draw that nobody can steer.",
    ),
    CompetitionPhase.DRAWN: Mark(
        "Waiting for the texts", "busy", "Custodians show their shares of the key to the texts."
    ),
    CompetitionPhase.REVEALED: Mark(
        "Scoring",
        "busy",
        "Everybody can read the texts now. The evaluators who were drawn score every submission "
        "and commit to their scores, so that nobody can copy another's.",
    ),
    CompetitionPhase.DECIDED: Mark(
        "Decided", "ok", "Organisers stated the outcome, and anybody can compute it again."
    ),
}
NOT_YET = Mark("Announced", "wait", "Entries are not open yet; the rules and the texts are fixed.")
SHOWING = Mark(
    "Showing scores",
    "busy",
    "The time to score is over. Evaluators show what they committed to; what they hold back does "
    "not count.",
)
DISPUTES = Mark(
    "Open to challenge",
    "busy",
    "Evaluators are done. Whoever gets another number for a document may still say so.",
)
STUCK = Mark(
    "Ended without texts",
    "warn",
    "Too few custodians showed their shares in time, so that nobody can read the texts, and nobody "
    "was scored. It ended there; nothing is lost but the texts.",
)
VOID = Mark(
    "Ended without a ranking",
    "warn",
    "No model can have the scores of enough evaluators any more. It ended there.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A date of the competition: what happens then, and the entry that says that it did."""

    name: str
    at_ms: int
    says: str
    is_over: bool
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, in words; `link` is where people find more."""

    name: str
    says: str
    link: str = ""


def mark(now: CompetitionNow, now_ms: int) -> Mark:
    """Where a competition stands at that time."""
    dates = now.rules.dates
    if now.phase is CompetitionPhase.OPEN and now_ms < dates.opens:
        return NOT_YET
    if now.void:
        is_closed = now.phase is CompetitionPhase.DRAWN and now_ms > dates.scored
        return STUCK if is_closed else VOID
    if now.phase is CompetitionPhase.REVEALED and now_ms > dates.scored:
        return SHOWING if now_ms <= dates.reveal_until else DISPUTES
    return PHASES[now.phase]


def gist(rules: CompetitionRules) -> str:
    """What it is, in one sentence."""
    texts = plural(rules.sealed.documents, "text")
    return (
        f"Who trains the model that predicts {texts} best, which nobody can read before the "
        "deadline: the fewest bits per byte win."
    )


def coming(now: CompetitionNow, now_ms: int) -> tuple[str, int] | None:
    """What comes next and when (ms); None where no date is left."""
    dates = now.rules.dates
    if now.void:
        return None
    due = {
        CompetitionPhase.OPEN: [
            ("until entries open", dates.opens),
            ("to enter and submit", dates.deadline),
        ],
        CompetitionPhase.CLOSED: [("until the draw closes", dates.draw)],
        CompetitionPhase.DRAWN: [("for custodians to show their shares", dates.scored)],
        CompetitionPhase.REVEALED: [
            ("for evaluators to score", dates.scored),
            ("for evaluators to show their scores", dates.reveal_until),
            ("for challenges", dates.result),
        ],
        CompetitionPhase.DECIDED: [],
    }[now.phase]
    return next((one for one in due if one[1] > now_ms), None)


def steps(now: CompetitionNow, now_ms: int) -> tuple[Step, ...]:
    """The dates in their order."""
    dates, began = now.rules.dates, now.began
    told = (
        ("Opens", dates.opens, "keys enter and submit", None),
        (
            "Deadline",
            dates.deadline,
            "the last submission counts",
            began.get(CompetitionPhase.CLOSED),
        ),
        (
            "Draw",
            dates.draw,
            "secrets are open, shares may be shown",
            began.get(CompetitionPhase.DRAWN),
        ),
        ("Scored", dates.scored, "evaluators have committed to their scores", None),
        ("Shown", dates.reveal_until, "what was not shown does not count", None),
        ("Result", dates.result, "challenges end", began.get(CompetitionPhase.DECIDED)),
    )
    return tuple(
        Step(name=name, at_ms=at_ms, says=says, is_over=at_ms <= now_ms, index=index)
        for name, at_ms, says, index in told
    )


def rules_told(rules: CompetitionRules) -> tuple[Rule, ...]:
    """The rules, each in a sentence or two."""
    scoring, sealed = rules.scoring, rules.sealed
    drawn = min(scoring.documents, sealed.documents)
    return (
        Rule(name="Budget", says=_budget(rules)),
        Rule(
            name="Data",
            says="" if rules.data else "The rules say nothing about what may be trained on.",
            link=rules.data,
        ),
        Rule(
            name="Texts",
            says=f"{count(drawn)} of {count(sealed.documents)} are drawn and scored, once nobody "
            "can change a submission.",
        ),
        Rule(
            name="Reading",
            says=f"Windows of {count(scoring.window)} tokens, {count(scoring.stride)} new ones in "
            "each after the first; every token is scored once, in 32-bit precision.",
        ),
        Rule(
            name="Score",
            says="Bits per byte of UTF-8, so that tokenizers do not matter. Of each text the "
            f"median of {scoring.evaluators} evaluators counts, and fewer than "
            f"{LEAST_EVALUATORS} rank nobody. Honest computers agree within 1 in "
            f"{count(TOTAL_TOLERANCE)} on a total and 1 in {count(DOCUMENT_TOLERANCE)} on a text.",
        ),
        Rule(
            name="Ranks",
            says="One is ahead of another only if chance does not explain it: a paired bootstrap "
            "over the texts at 5 %, corrected for the number of pairs. Else they share a rank.",
        ),
    )


def _budget(rules: CompetitionRules) -> str:
    budget = rules.budget
    limits = [
        f"{count(number)} {unit}"
        for number, unit in (
            (budget.parameters, "parameters"),
            (budget.tokens, "tokens trained on"),
            (budget.hours, "hours of training"),
        )
        if number
    ]
    if not limits:
        return "No limit on size, tokens or time."
    *most, last = limits
    return f"At most {', '.join(most)} and {last}." if most else f"At most {last}."


def secrecy(now: CompetitionNow) -> Mark:
    """Who could have read the texts before they were shown; the worst of it decides the tone."""
    sealed = now.rules.sealed
    held = len(sealed.shares)
    by_organisers = sum(one.is_organiser for one in now.shares)
    if sealed.needed == 1:
        who = "Its one custodian" if held == 1 else f"Any one of its {held} custodians"
        whose = ", an organiser," if held == by_organisers == 1 else ""
        return Mark(
            "One alone can open it",
            "warn",
            f"{who}{whose} could read the texts at any time, alone and unseen. You have to "
            "trust that nobody did.",
        )
    together = max(Counter(one.owner for one in now.shares).values())
    if together >= sealed.needed:
        return Mark(
            "One alone can open it",
            "warn",
            f"{sealed.needed} of {held} shares open it, and {together} of the custodians' keys "
            "belong to one owner, who could read the texts at any time.",
        )
    if by_organisers >= sealed.needed:
        return Mark(
            "Organisers can open it",
            "warn",
            f"{sealed.needed} of {held} shares open it and organisers hold {by_organisers}: "
            "together they could read the texts early.",
        )
    return Mark(
        "Shared among custodians",
        "ok",
        f"{sealed.needed} of {held} shares open it, so no custodian can read the texts alone"
        + (f"; organisers hold {by_organisers}." if by_organisers else ", nor can the organisers."),
    )
