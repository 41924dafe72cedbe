"""A competition in words: its phase, its rules, and the secrecy of its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages.text import StatusLabel, count
from tequio_shared.competition.rules import LEAST_EVALUATORS, CompetitionRules
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.scoring import DOCUMENT_TOLERANCE, TOTAL_TOLERANCE
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from tequio_shared.served.competitions import CompetitionSnapshot


PHASES: Mapping[CompetitionPhase, StatusLabel] = {
    CompetitionPhase.OPEN: StatusLabel(
        "Open", "ok", "Entrants train and submit; anyone else may offer to evaluate."
    ),
    CompetitionPhase.CLOSED: StatusLabel(
        "Closed",
        "busy",
        "No more submissions count. Those who offered to evaluate draw their lots, which nobody "
        "can choose.",
    ),
    CompetitionPhase.DRAWN: StatusLabel(
        "Waiting for the texts", "busy", "Custodians reveal their shares of the key to the texts."
    ),
    CompetitionPhase.REVEALED: StatusLabel(
        "Scoring",
        "busy",
        "Everyone can read the texts now. The drawn evaluators score every submission and commit "
        "to their scores, so that nobody can copy another's.",
    ),
    CompetitionPhase.DECIDED: StatusLabel(
        "Decided", "ok", "Organisers stated the outcome, and anyone can recompute it."
    ),
}
ANNOUNCED = StatusLabel(
    "Announced", "wait", "Not open for entries yet; the rules and the texts are fixed."
)
REVEALING = StatusLabel(
    "Revealing scores",
    "busy",
    "Scoring is over. Evaluators reveal the scores they committed to; scores that are not revealed "
    "do not count.",
)
OPEN_TO_CHALLENGE = StatusLabel(
    "Open to challenge",
    "busy",
    "Scoring is complete. Anyone who gets a different score for a text can still challenge it.",
)
AWAITING_RESULT = StatusLabel(
    "Awaiting the result",
    "busy",
    "No score can be challenged any more. Organisers state the outcome, which anyone can compute.",
)
STUCK = StatusLabel(
    "Ended without texts",
    "warn",
    "Too few custodians revealed their shares in time. Nobody can read the texts, so the "
    "competition ended without scores.",
)
VOID = StatusLabel(
    "Ended without a ranking",
    "warn",
    "No model can be scored by enough evaluators any more, so the competition ended.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionSummary:
    now: CompetitionSnapshot
    mark: StatusLabel
    tagline: str
    coming: tuple[str, int] | None
    """Meaning of the next date, and the date (ms)."""

    @property
    def is_joinable(self) -> bool:
        """Report whether entrants may enter, and others may still offer to evaluate."""
        return self.mark is PHASES[CompetitionPhase.OPEN] and self.coming is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateStep:
    name: str
    at_ms: int
    description: str
    is_over: bool
    index: int | None


def summary(now: CompetitionSnapshot, now_ms: int) -> CompetitionSummary:
    texts = plural(now.rules.sealed.documents, "text")
    return CompetitionSummary(
        now=now,
        mark=mark(now, now_ms),
        tagline=f"Train the model that predicts {texts} best, unseen until the deadline: the "
        "fewest bits per byte, so the lowest byte perplexity, win.",
        coming=next_date(now, now_ms),
    )


def mark(now: CompetitionSnapshot, now_ms: int) -> StatusLabel:
    """Describe the state of a competition at a time."""
    dates = now.rules.dates
    if now.phase is CompetitionPhase.OPEN and now_ms < dates.opens:
        return ANNOUNCED
    if now.void:
        is_closed = now.phase is CompetitionPhase.DRAWN and now_ms > dates.scored
        return STUCK if is_closed else VOID
    if now.phase is CompetitionPhase.REVEALED and now_ms > dates.scored:
        if now_ms <= dates.reveal_until:
            return REVEALING
        return OPEN_TO_CHALLENGE if now_ms <= dates.result else AWAITING_RESULT
    return PHASES[now.phase]


def next_date(now: CompetitionSnapshot, now_ms: int) -> tuple[str, int] | None:
    """Give the meaning of the next date and the date (ms); None if no date is left."""
    dates = now.rules.dates
    if now.void:
        return None
    due = {
        CompetitionPhase.OPEN: [
            ("until entries open", dates.opens),
            ("to enter and submit", dates.deadline),
        ],
        CompetitionPhase.CLOSED: [("until the draw closes", dates.draw)],
        CompetitionPhase.DRAWN: [("for custodians to reveal their shares", dates.scored)],
        CompetitionPhase.REVEALED: [
            ("for evaluators to score", dates.scored),
            ("for evaluators to reveal their scores", dates.reveal_until),
            ("for challenges", dates.result),
        ],
        CompetitionPhase.DECIDED: [],
    }[now.phase]
    return next((one for one in due if one[1] > now_ms), None)


def steps(now: CompetitionSnapshot, now_ms: int) -> tuple[DateStep, ...]:
    """List the dates in their order."""
    dates, phase = now.rules.dates, CompetitionPhase
    rows = (
        ("Opens", dates.opens, "keys enter and submit", None),
        ("Deadline", dates.deadline, "the last submission counts", phase.CLOSED),
        ("Draw", dates.draw, "lots are drawn, shares may be revealed", phase.DRAWN),
        ("Scored", dates.scored, "evaluators have committed to their scores", None),
        ("Revealed", dates.reveal_until, "scores not revealed by now do not count", None),
        ("Result", dates.result, "challenges end", phase.DECIDED),
    )
    return tuple(
        DateStep(
            name=name,
            at_ms=at_ms,
            description=description,
            is_over=at_ms <= now_ms,
            index=now.began.get(begins) if begins else None,
        )
        for name, at_ms, description, begins in rows
    )


def rule_texts(rules: CompetitionRules) -> Mapping[str, str]:
    """State each rule in a sentence or two, by its name; the page links the data."""
    scoring, sealed = rules.scoring, rules.sealed
    drawn = min(scoring.documents, sealed.documents)
    return {
        "Budget": _budget(rules),
        "Data": "" if rules.data else "The rules do not limit the training data.",
        "Texts": f"{count(drawn)} of {count(sealed.documents)} are drawn and scored after the "
        "deadline for submissions.",
        "Reading": f"Windows of {count(scoring.window)} tokens, {count(scoring.stride)} new ones "
        "in each after the first; every token is scored once, in 32-bit precision.",
        "Score": "Bits per byte of UTF-8, so that tokenizers do not matter. For each text the "
        f"median of {scoring.evaluators} evaluators counts; with fewer than {LEAST_EVALUATORS} "
        f"nobody is ranked. Honest computers agree within 1 in {count(TOTAL_TOLERANCE)} on a total "
        f"and 1 in {count(DOCUMENT_TOLERANCE)} on a text.",
        "Ranks": "One entrant is ahead of another only if chance does not explain the difference: "
        "a paired bootstrap over the texts at 5 %, corrected for the number of pairs. Otherwise "
        "they share a rank.",
    }


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


def secrecy(now: CompetitionSnapshot) -> StatusLabel:
    """State who could have read the texts early; the worst case decides the tone."""
    sealed = now.rules.sealed
    held = len(sealed.shares)
    by_organisers = sum(one.is_organiser for one in now.shares)
    if sealed.needed == 1:
        who = "Its one custodian" if held == 1 else f"Any one of its {held} custodians"
        whose = ", an organiser," if held == by_organisers == 1 else ""
        return StatusLabel(
            "One alone can open it",
            "warn",
            f"{who}{whose} could read the texts at any time, alone and unnoticed. You have to "
            "trust that nobody did.",
        )
    together = max(Counter(one.owner for one in now.shares).values())
    if together >= sealed.needed:
        return StatusLabel(
            "One alone can open it",
            "warn",
            f"{sealed.needed} of {held} shares open it, and {together} of the custodians' keys "
            "belong to one owner, who could read the texts at any time.",
        )
    if by_organisers >= sealed.needed:
        return StatusLabel(
            "Organisers can open it",
            "warn",
            f"{sealed.needed} of {held} shares open it and organisers hold {by_organisers}: "
            "together they could read the texts early.",
        )
    return StatusLabel(
        "Shared among custodians",
        "ok",
        f"{sealed.needed} of {held} shares open it, so no custodian can read the texts alone"
        + (f"; organisers hold {by_organisers}." if by_organisers else ", nor can the organisers."),
    )
