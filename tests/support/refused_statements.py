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
from tests.support.competition_fold import RUN, Stage
from tests.support.synthetic_competition import (
    DEADLINE,
    DRAW,
    RESULT,
    SCORED,
    PaperCompetition,
    folder,
)

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Body

OTHER_RUN = RunId(sha256(b"another run"))


def forged(stage: Stage, **changes: Any) -> CompReveal:  # noqa: ANN401 - fields by name
    """A reveal of the first custodian's share, changed."""
    share = replace(stage.paper.shares[0], **changes)
    return CompReveal(competition=stage.paper.text, share=share.encode())


def mistyped(stage: Stage) -> CompReveal:
    """A reveal of the first custodian's share with a wrong last letter."""
    line = stage.paper.shares[0].encode()
    wrong = "B" if line[-1] == "A" else "A"
    return CompReveal(competition=stage.paper.text, share=line[:-1] + wrong)


def scored(stage: Stage, **changes: object) -> EvalResult:
    """The first evaluator's result for alpha, changed."""
    evaluator = stage.drawn().evaluators[0]
    body = stage.paper.result(evaluator, "alpha", folder("alpha"), 9)
    return msgspec.structs.replace(body, **changes)


def committed(stage: Stage) -> Stage:
    """Have all evaluators commit to scores of alpha."""
    return stage.commit("alpha", *stage.scorers)


def shown(stage: Stage) -> Stage:
    """Have all evaluators commit to scores of alpha, and the first one reveal them."""
    return committed(stage).show("alpha", stage.scorers[0])


def commit_and_reveal(stage: Stage, result: EvalResult, author: int = 0) -> None:
    """Have all evaluators commit, one of them to `result`, and have that one reveal it."""
    name = stage.scorers[author]
    stage.say(name, stage.paper.commit_to(stage.key(name), result))
    stage.commit("alpha", *(one for one in stage.scorers if one != name))
    stage.say(name, result)


def short_of_a_document(stage: Stage) -> None:
    """Scores of one document fewer than were drawn."""
    stage.paper.drawn -= 1
    commit_and_reveal(stage, scored(stage))


def commit_to_what_is_shown(stage: Stage) -> None:
    """The last evaluator sets its clock back and commits after the first one has revealed."""
    first, second, last = stage.scorers
    stage.at(SCORED).commit("alpha", first, second)
    stage.at(SCORED + 1).show("alpha", first)
    stage.at(SCORED).commit("alpha", last)


def challenge(stage: Stage, document: int | None = None, entrant: str = "alpha") -> CompChallenge:
    """A challenge of the first evaluator's score of a document, by default the first one drawn."""
    draw = stage.drawn()
    number = draw.documents[0] if document is None else document
    return stage.paper.challenge(entrant, draw.evaluators[0], number)


def challenge_twice(stage: Stage) -> None:
    """Make the same challenge twice."""
    shown(stage)
    for after in (1, 2):
        stage.at(DRAW + after).say("anybody", challenge(stage))


def challenge_what_was_not_drawn(stage: Stage) -> None:
    """Challenge a document that nobody scored."""
    shown(stage)
    (document, *_) = set(range(20)) - set(stage.drawn().documents)
    stage.say("anybody", challenge(stage, document))


def challenge_too_often(stage: Stage) -> None:
    """Make one challenge more than a key may make."""
    shown(stage)
    for number in range(CHALLENGES + 1):
        body = msgspec.structs.replace(challenge(stage), millibits=number)
        stage.say("anybody", body)


def send_when_banned(stage: Stage, name: str, body: Body) -> None:
    """Send a statement of a banned key."""
    stage.standings.records[stage.key(name)].standing = Standing.BANNED
    stage.say(name, body)


def full_of_strangers(stage: Stage) -> None:
    """Enter one stranger more than there is room for, after an organiser's entrant."""
    for number in range(ENTRANTS // 2 - 2):  # alpha and beta have entered
        stage.say(f"n{number}", stage.paper.enter(f"n{number}"))
    stage.say("organiser", stage.paper.enter("one-more"))
    stage.say("gamma", stage.paper.enter("gamma"))


def full(stage: Stage) -> None:
    """Enter one entrant more than there is room for."""
    for number in range(ENTRANTS - 2):
        stage.say("organiser", stage.paper.enter(f"n{number}"))
    assert len(stage.view.entrants) == ENTRANTS
    stage.say("organiser", stage.paper.enter("gamma"))


def open_another(stage: Stage, content: bytes) -> None:
    """Open a competition with these bytes as its rules."""
    stage.say("organiser", CompOpen(competition=stage.paper.put(content)))


def open_late(stage: Stage) -> None:
    """Open a competition whose deadline is over."""
    late = PaperCompetition(
        custodians=stage.paper.custodians,
        start_ms=stage.paper.start_ms,
        name="Another",
        documents=stage.paper.documents,
    )
    stage.at(DEADLINE).say("organiser", late.open())


def other_outcome(stage: Stage) -> None:
    """State the outcome of another draw."""
    stage.at(RESULT).say("organiser", stage.paper.decide(sha256(b"another beacon")))


def two_sides(stage: Stage) -> None:
    """Enter one run under two names."""
    for name in ("run", "run-again"):
        stage.say("organiser", stage.paper.enter(name, RUN))
