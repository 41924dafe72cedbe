"""Statements that a competition refuses, made in a CompetitionFold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from tequio_shared.competition.rules import ENTRANTS
from tequio_shared.competition.scores import CHALLENGES
from tequio_shared.ids import RunId, sha256
from tequio_shared.network.standing import Standing
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompOpen,
    CompReveal,
    EvalResult,
)
from tests.support.competition_fold import RUN, CompetitionFold
from tests.support.synthetic_competition import (
    DEADLINE,
    DRAW,
    RESULT,
    SCORED,
    SyntheticCompetition,
    folder,
)

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Body

OTHER_RUN = RunId(sha256(b"another run"))


def forged(fold: CompetitionFold, **changes: Any) -> CompReveal:  # noqa: ANN401 - fields by name
    """A reveal of the first custodian's share, changed."""
    share = replace(fold.paper.shares[0], **changes)
    return CompReveal(competition=fold.paper.text, share=share.encode())


def mistyped(fold: CompetitionFold) -> CompReveal:
    """A reveal of the first custodian's share with a wrong last letter."""
    line = fold.paper.shares[0].encode()
    wrong = "B" if line[-1] == "A" else "A"
    return CompReveal(competition=fold.paper.text, share=line[:-1] + wrong)


def scored(fold: CompetitionFold, **changes: object) -> EvalResult:
    """The first evaluator's result for alpha, changed."""
    evaluator = fold.drawn().evaluators[0]
    body = fold.paper.result(evaluator, "alpha", folder("alpha"), 9)
    return msgspec.structs.replace(body, **changes)


def committed(fold: CompetitionFold) -> CompetitionFold:
    """Have all evaluators commit to scores of alpha."""
    return fold.commit("alpha", *fold.scorers)


def first_revealed(fold: CompetitionFold) -> CompetitionFold:
    """Have all evaluators commit to scores of alpha, and the first one reveal them."""
    return committed(fold).reveal_scores("alpha", fold.scorers[0])


def commit_and_reveal(fold: CompetitionFold, result: EvalResult, author: int = 0) -> None:
    """Have all evaluators commit, one of them to `result`, and have that one reveal it."""
    name = fold.scorers[author]
    fold.post(name, fold.paper.commit_to(fold.key(name), result))
    fold.commit("alpha", *(one for one in fold.scorers if one != name))
    fold.post(name, result)


def short_of_a_document(fold: CompetitionFold) -> None:
    """Scores of one document fewer than were drawn."""
    fold.paper.drawn -= 1
    commit_and_reveal(fold, scored(fold))


def score_nothing(fold: CompetitionFold, *, is_revealed: bool = False) -> None:
    """Commit to scores of an entrant that submitted no model, or reveal such scores."""
    fold.post("gamma", fold.paper.enter("gamma"))
    fold.close().draw_lots("one", "two", "three", "four").draw().reveal(3, 1)
    name = fold.scorers[0]
    (fold.reveal_scores if is_revealed else fold.commit)("gamma", name)


def commit_to_what_is_shown(fold: CompetitionFold) -> None:
    """The last evaluator sets its clock back and commits after the first one has revealed."""
    first, second, last = fold.scorers
    fold.at(SCORED).commit("alpha", first, second)
    fold.at(SCORED + 1).reveal_scores("alpha", first)
    fold.at(SCORED).commit("alpha", last)


def challenge(
    fold: CompetitionFold, document: int | None = None, entrant: str = "alpha"
) -> CompChallenge:
    """A challenge of the first evaluator's score of a document, by default the first one drawn."""
    draw = fold.drawn()
    number = draw.documents[0] if document is None else document
    return fold.paper.challenge(entrant, draw.evaluators[0], number)


def challenge_twice(fold: CompetitionFold) -> None:
    """Make the same challenge twice."""
    first_revealed(fold)
    for after in (1, 2):
        fold.at(DRAW + after).post("anybody", challenge(fold))


def challenge_what_was_not_drawn(fold: CompetitionFold) -> None:
    """Challenge a document that nobody scored."""
    first_revealed(fold)
    (document, *_) = set(range(20)) - set(fold.drawn().documents)
    fold.post("anybody", challenge(fold, document))


def challenge_too_often(fold: CompetitionFold) -> None:
    """Make one challenge more than a key may make."""
    first_revealed(fold)
    for number in range(CHALLENGES + 1):
        body = msgspec.structs.replace(challenge(fold), millibits=number)
        fold.post("anybody", body)


def send_when_banned(fold: CompetitionFold, name: str, body: Body) -> None:
    """Send a statement of a banned key."""
    fold.standings.records[fold.key(name)].standing = Standing.BANNED
    fold.post(name, body)


def full_of_strangers(fold: CompetitionFold) -> None:
    """Enter one stranger more than there is room for, after an organiser's entrant."""
    for number in range(ENTRANTS // 2 - 2):  # alpha and beta have entered
        fold.post(f"n{number}", fold.paper.enter(f"n{number}"))
    fold.post("organiser", fold.paper.enter("one-more"))
    fold.post("gamma", fold.paper.enter("gamma"))


def full(fold: CompetitionFold) -> None:
    """Enter one entrant more than there is room for."""
    for number in range(ENTRANTS - 2):
        fold.post("organiser", fold.paper.enter(f"n{number}"))
    assert len(fold.view.entrants) == ENTRANTS
    fold.post("organiser", fold.paper.enter("gamma"))


def open_another(fold: CompetitionFold, content: bytes) -> None:
    """Open a competition with these bytes as its rules."""
    fold.post("organiser", CompOpen(competition=fold.paper.put(content)))


def open_late(fold: CompetitionFold) -> None:
    """Open a competition whose deadline is over."""
    late = SyntheticCompetition(
        custodians=fold.paper.custodians,
        start_ms=fold.paper.start_ms,
        name="Another",
        documents=fold.paper.documents,
    )
    fold.at(DEADLINE).post("organiser", late.open())


def other_outcome(fold: CompetitionFold, competition: str = "") -> None:
    """State the outcome of another competition, or of another draw."""
    beacon = fold.drawn().beacon if competition else sha256(b"another beacon")
    fold.at(RESULT).post("organiser", fold.paper.decide(beacon, competition))


def two_sides(fold: CompetitionFold) -> None:
    """Enter one run under two names."""
    for name in ("run", "run-again"):
        fold.post("organiser", fold.paper.enter(name, RUN))
