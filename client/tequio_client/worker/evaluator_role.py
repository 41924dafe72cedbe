"""Our part as an evaluator of a competition, and what stands against it: pure, by what is known.

By the ledger's word about offers, draw and scores: it is shown, and nothing is proven by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tequio_shared.competition.state import Phase
from tequio_shared.statements.competitions import CompClose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.api.competitions import CompetitionAnswer
    from tequio_shared.statements.statement import Statement


class Barred(NamedTuple):
    """Why we cannot evaluate; see `link.competitions.Bar`."""

    bar: str = ""
    by: str = ""


FREE = Barred()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """Our part in one competition, for eyes."""

    part: str = ""
    judged: int = 0
    to_judge: int = 0
    need_mb: int = 0
    """Memory that scoring takes; 0: not known."""
    barred: Barred = FREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What is known of ourselves."""

    key: str
    is_organiser: bool = False
    runs: frozenset[str] = frozenset()
    """Those in which we trained, and the one that we are in."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """By competition: how the ledger refused our offer."""


def barred(answer: CompetitionAnswer, own: Own) -> Barred:
    """What the rules have against us."""
    if own.key in answer.rules.custodians:
        return Barred("custodian")
    if own.is_organiser:
        return Barred("organiser")
    for one in answer.entrants:
        if one.author == own.key:
            return Barred("entrant", one.entrant)
        if one.side is not None and one.side in own.runs:
            return Barred("trained", one.entrant)
    refusal = own.refusals.get(answer.competition, "")
    return Barred("refused", refusal) if refusal else FREE


def has_offered(answer: CompetitionAnswer, key: str) -> bool:
    """Whether that key's offer is in the log."""
    return any(one.key == key for one in answer.offers)


def is_drawn(answer: CompetitionAnswer, key: str) -> bool:
    """Whether that key was drawn to score."""
    return key in answer.evaluators


def closes(said: Statement, answer: CompetitionAnswer) -> bool:
    """Whether nobody enters any more after that; one that is said too early does not count."""
    is_of_it = isinstance(said.body, CompClose) and said.body.competition == answer.competition
    return is_of_it and said.ts >= answer.rules.dates.deadline


def submitted(answer: CompetitionAnswer) -> int:
    """How many models are to be scored."""
    return sum(one.submission is not None for one in answer.entrants)


def shown(answer: CompetitionAnswer, key: str) -> int:
    """How many scores of that key are in the log."""
    return sum(one.evaluator == key for one in answer.results)


def part(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    """What we do in it, with so many models scored on the disk; see `link.competitions.Part`."""
    offer = next((one for one in answer.offers if one.key == key), None)
    if is_drawn(answer, key):
        return _scoring(answer, key, scored_here, now_ms)
    if offer is None:
        return ""
    if answer.phase not in (Phase.OPEN, Phase.CLOSED, Phase.DRAWN):
        return "others"
    if offer.secret_index is not None:
        return "opened"
    return "missed" if answer.phase == Phase.DRAWN else "offered"


def is_due(answer: CompetitionAnswer, key: str, now_ms: int) -> bool:
    """Whether that key was drawn and can commit to scores now, or show some."""
    if answer.void or not is_drawn(answer, key):
        return False
    dates = answer.rules.dates
    committed = {(one.entrant, one.evaluator) for one in answer.commits}
    said = {one.entrant for one in answer.results if one.evaluator == key}
    for one in answer.entrants:
        if one.submission is None or one.entrant in said:
            continue
        if (one.entrant, key) not in committed:
            if now_ms <= dates.scored:
                return True
            continue
        all_did = all((one.entrant, other) in committed for other in answer.evaluators)
        if (all_did or now_ms > dates.scored) and now_ms <= dates.shown:
            return True
    return False


def _scoring(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    models, dates = submitted(answer), answer.rules.dates
    if shown(answer, key) >= models:
        return "scored"
    is_over = answer.phase == Phase.DECIDED or bool(answer.void) or now_ms > dates.shown
    if is_over or (scored_here < models and now_ms > dates.scored):
        return "late"
    return "waiting" if scored_here >= models else "drawn"
