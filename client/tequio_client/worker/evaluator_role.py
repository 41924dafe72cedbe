"""The part of this key as an evaluator of a competition, and the rules that exclude it.

Pure functions of the ledger's unverified answer about offers, draw and scores: the results decide
what to offer and what to show, and prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tequio_client.ipc.competitions import MAX_COMPETITIONS
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.statements.competitions import CompClose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.statements.statement import Statement


_PHASE_ORDER = {CompetitionPhase.OPEN: 0, CompetitionPhase.DECIDED: 2}


class Exclusion(NamedTuple):
    """The reason why this key cannot evaluate; see `ipc.competitions.Bar`."""

    bar: str = ""
    by: str = ""


ELIGIBLE = Exclusion()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingRole:
    """The part of this key in one competition, shown to people only."""

    part: str = ""
    judged: int = 0
    to_judge: int = 0
    need_mb: int = 0
    """Memory that scoring takes, MiB; 0: not known."""
    barred: Exclusion = ELIGIBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFacts:
    """The facts about this key that may exclude it from a competition."""

    key: str
    is_organiser: bool = False
    runs: frozenset[str] = frozenset()
    """Runs in which this key has trained, and the present one."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """By competition: the ledger's refusal of this key's offer."""


def find_exclusion(answer: CompetitionAnswer, own: CandidateFacts) -> Exclusion:
    """The first rule of the competition that excludes this key, or `FREE`."""
    if own.key in answer.rules.custodians:
        return Exclusion("custodian")
    if own.is_organiser:
        return Exclusion("organiser")
    for one in answer.entrants:
        if one.author == own.key:
            return Exclusion("entrant", one.entrant)
        if one.side is not None and one.side in own.runs:
            return Exclusion("trained", one.entrant)
    refusal = own.refusals.get(answer.competition, "")
    return Exclusion("refused", refusal) if refusal else ELIGIBLE


def has_offered(answer: CompetitionAnswer, key: str) -> bool:
    return any(one.key == key for one in answer.offers)


def is_drawn(answer: CompetitionAnswer, key: str) -> bool:
    return key in answer.evaluators


def closes_competition(statement: Statement, answer: CompetitionAnswer) -> bool:
    """True if the statement closes this competition, and not before its deadline."""
    body = statement.body
    is_close = isinstance(body, CompClose) and body.competition == answer.competition
    return is_close and statement.ts >= answer.rules.dates.deadline


def count_submitted(answer: CompetitionAnswer) -> int:
    """Number of models to score."""
    return sum(one.submission is not None for one in answer.entrants)


def count_revealed(answer: CompetitionAnswer, key: str) -> int:
    """Number of this key's scores in the log."""
    return sum(one.evaluator == key for one in answer.results)


def find_part(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    """The part of this key, given the number of models it scored; see `ipc.competitions.Part`."""
    offer = next((one for one in answer.offers if one.key == key), None)
    if is_drawn(answer, key):
        return _scoring(answer, key, scored_here, now_ms)
    if offer is None:
        return ""
    if answer.phase not in (CompetitionPhase.OPEN, CompetitionPhase.CLOSED, CompetitionPhase.DRAWN):
        return "others"
    if offer.secret_index is not None:
        return "opened"
    return "missed" if answer.phase == CompetitionPhase.DRAWN else "offered"


def is_due(answer: CompetitionAnswer, key: str, now_ms: int) -> bool:
    """True if this key was drawn and can commit to a score now, or reveal one."""
    if answer.void or not is_drawn(answer, key):
        return False
    dates = answer.rules.dates
    committed = {(one.entrant, one.evaluator) for one in answer.commits}
    revealed = {one.entrant for one in answer.results if one.evaluator == key}
    for one in answer.entrants:
        if one.submission is None or one.entrant in revealed:
            continue
        if (one.entrant, key) not in committed:
            if now_ms <= dates.scored:
                return True
            continue
        # A score may be revealed once all evaluators have committed, so that nobody copies one.
        all_did = all((one.entrant, other) in committed for other in answer.evaluators)
        if (all_did or now_ms > dates.scored) and now_ms <= dates.reveal_until:
            return True
    return False


def _scoring(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    models, dates = count_submitted(answer), answer.rules.dates
    if count_revealed(answer, key) >= models:
        return "scored"
    is_over = (
        answer.phase == CompetitionPhase.DECIDED or bool(answer.void) or now_ms > dates.reveal_until
    )
    if is_over or (scored_here < models and now_ms > dates.scored):
        return "late"
    return "waiting" if scored_here >= models else "drawn"


def sort_competitions(lines: Sequence[CompetitionLine]) -> list[CompetitionLine]:
    """Sort: competitions to join, then those being judged, then decided ones; newest first."""
    newest = list(reversed(lines))
    newest.sort(
        key=lambda one: (
            _PHASE_ORDER[CompetitionPhase.DECIDED] if one.void else _PHASE_ORDER.get(one.phase, 1)
        )
    )
    return newest[:MAX_COMPETITIONS]
