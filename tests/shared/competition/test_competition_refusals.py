"""Refusals of a competition, one row each; a refused statement changes nothing."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.competition.state import CompetitionPhase, read_document
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statements.competitions import CompOpen, CompSubmit
from tests.support import refused_statements as words
from tests.support.competition_fold import RUN, CompetitionFold
from tests.support.statements import D, example
from tests.support.synthetic_competition import DEADLINE, DRAW, OPENS, RESULT, SCORED, folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.ids import Digest

REFUSALS: dict[str, tuple[CompetitionPhase, str, Callable[[CompetitionFold], object]]] = {
    "opened twice": (
        CompetitionPhase.OPEN,
        "already-said",
        lambda s: s.post("organiser", s.paper.open()),
    ),
    "rules that are not there": (
        CompetitionPhase.OPEN,
        "not-found",
        lambda s: s.post("organiser", CompOpen(competition=D)),
    ),
    "rules that do not hold": (
        CompetitionPhase.OPEN,
        "malformed",
        lambda s: words.open_another(s, b"{}"),
    ),
    "a deadline that is over": (CompetitionPhase.OPEN, "too-late", words.open_late),
    "a competition that nobody opened": (
        CompetitionPhase.OPEN,
        "not-found",
        lambda s: s.post("gamma", example("comp.enter")),
    ),
    "a name that is taken": (
        CompetitionPhase.OPEN,
        "name-taken",
        lambda s: s.post("gamma", s.paper.enter("alpha")),
    ),
    "entered before it opens": (
        CompetitionPhase.OPEN,
        "too-early",
        lambda s: s.at(OPENS - 1).post("gamma", s.paper.enter("gamma")),
    ),
    "entered after the deadline": (
        CompetitionPhase.OPEN,
        "too-late",
        lambda s: s.at(DEADLINE + 1).post("gamma", s.paper.enter("gamma")),
    ),
    "entered in the next phase": (
        CompetitionPhase.CLOSED,
        "too-late",
        lambda s: s.post("gamma", s.paper.enter("gamma")),
    ),
    "a custodian that enters": (
        CompetitionPhase.OPEN,
        "not-eligible",
        lambda s: s.post("custodian 1", s.paper.enter("gamma")),
    ),
    "entered while banned": (
        CompetitionPhase.OPEN,
        "quarantined",
        lambda s: words.send_when_banned(s, "gamma", s.paper.enter("gamma")),
    ),
    "a run that anybody enters": (
        CompetitionPhase.OPEN,
        "wrong-role",
        lambda s: s.post("gamma", s.paper.enter("gamma", RUN)),
    ),
    "a run that does not exist": (
        CompetitionPhase.OPEN,
        "not-found",
        lambda s: s.post("organiser", s.paper.enter("gamma", words.OTHER_RUN)),
    ),
    "a run that enters twice": (CompetitionPhase.OPEN, "name-taken", words.two_sides),
    "too many entrants": (CompetitionPhase.OPEN, "competition-full", words.full),
    "too many strangers": (CompetitionPhase.OPEN, "competition-full", words.full_of_strangers),
    "a key that enters twice": (
        CompetitionPhase.OPEN,
        "already-said",
        lambda s: s.post("alpha", s.paper.enter("alpha-too")),
    ),
    "a submission of nobody's": (
        CompetitionPhase.OPEN,
        "not-found",
        lambda s: s.post("alpha", s.paper.submit("gamma", folder("gamma"))),
    ),
    "a submission for somebody else": (
        CompetitionPhase.OPEN,
        "wrong-role",
        lambda s: s.post("beta", s.paper.submit("alpha", folder("worse"))),
    ),
    "a submission while banned": (
        CompetitionPhase.OPEN,
        "quarantined",
        lambda s: words.send_when_banned(s, "alpha", s.paper.submit("alpha", folder("better"))),
    ),
    "a submission before it opens": (
        CompetitionPhase.OPEN,
        "too-early",
        lambda s: s.at(OPENS - 1).post("alpha", s.paper.submit("alpha", folder("better"))),
    ),
    "a submission that is not there": (
        CompetitionPhase.OPEN,
        "not-found",
        lambda s: s.post(
            "alpha", CompSubmit(competition=s.paper.text, entrant="alpha", submission=D)
        ),
    ),
    "a submission that does not hold": (
        CompetitionPhase.OPEN,
        "malformed",
        lambda s: s.post(
            "alpha",
            CompSubmit(competition=s.paper.text, entrant="alpha", submission=s.paper.put(b"{}")),
        ),
    ),
    "a submission in the next phase": (
        CompetitionPhase.CLOSED,
        "too-late",
        lambda s: s.post("alpha", s.paper.submit("alpha", folder("better"))),
    ),
    "an offer after the deadline": (
        CompetitionPhase.OPEN,
        "too-late",
        lambda s: s.at(DEADLINE + 1).offer("five"),
    ),
    "an offer twice": (
        CompetitionPhase.OPEN,
        "already-said",
        lambda s: s.offer("five").offer("five"),
    ),
    "an offer of an entrant": (CompetitionPhase.OPEN, "not-eligible", lambda s: s.offer("alpha")),
    "an offer of a custodian": (
        CompetitionPhase.OPEN,
        "not-eligible",
        lambda s: s.offer("custodian 2"),
    ),
    "an offer of an organiser": (
        CompetitionPhase.OPEN,
        "not-eligible",
        lambda s: s.offer("second"),
    ),
    "an offer while banned": (
        CompetitionPhase.OPEN,
        "quarantined",
        lambda s: words.send_when_banned(s, "five", s.paper.offer()),
    ),
    "an end before the deadline": (
        CompetitionPhase.OPEN,
        "too-early",
        lambda s: s.at(DEADLINE - 1).post("coordinator", s.paper.close(s.signer("coordinator"))),
    ),
    "a second end": (CompetitionPhase.CLOSED, "too-late", lambda s: s.close()),
    "an end with the proof of another": (
        CompetitionPhase.OPEN,
        "wrong-vrf",
        lambda s: s.at(DEADLINE).post("coordinator", s.paper.close(s.signer("one"))),
    ),
    "a lot before the end": (CompetitionPhase.OPEN, "too-early", lambda s: s.draw_lots("one")),
    "a lot of who offered nothing": (
        CompetitionPhase.CLOSED,
        "not-found",
        lambda s: s.draw_lots("five"),
    ),
    "the lot of another": (
        CompetitionPhase.CLOSED,
        "wrong-vrf",
        lambda s: s.post("one", s.paper.lot(s.signer("two"), s.view.seed)),
    ),
    "a lot for another seed": (
        CompetitionPhase.CLOSED,
        "wrong-vrf",
        lambda s: s.post("one", s.paper.lot(s.signer("one"), bytes(64))),
    ),
    "a lot twice": (CompetitionPhase.CLOSED, "already-said", lambda s: s.draw_lots("one", "one")),
    "a lot after the draw": (CompetitionPhase.DRAWN, "too-late", lambda s: s.draw_lots("one")),
    "a draw before its date": (
        CompetitionPhase.CLOSED,
        "too-early",
        lambda s: s.at(DRAW - 1).post("coordinator", s.paper.draw(s.signer("coordinator"), {})),
    ),
    "a draw for other lots": (
        CompetitionPhase.CLOSED,
        "wrong-vrf",
        lambda s: (
            s.draw_lots("one")
            .at(DRAW)
            .post("coordinator", s.paper.draw(s.signer("coordinator"), {}))
        ),
    ),
    "a draw before the end": (CompetitionPhase.OPEN, "too-early", lambda s: s.draw()),
    "a share before the draw": (CompetitionPhase.CLOSED, "too-early", lambda s: s.reveal(1)),
    "a share of nobody's": (
        CompetitionPhase.DRAWN,
        "wrong-role",
        lambda s: s.post("one", s.paper.reveal(1)),
    ),
    "a share of another custodian": (
        CompetitionPhase.DRAWN,
        "wrong-share",
        lambda s: s.post("custodian 2", s.paper.reveal(1)),
    ),
    "a share of another set": (
        CompetitionPhase.DRAWN,
        "wrong-share",
        lambda s: s.post("custodian 1", words.forged(s, root=sha256(b"another set"))),
    ),
    "a forged share": (
        CompetitionPhase.DRAWN,
        "wrong-share",
        lambda s: s.post("custodian 1", words.forged(s, value=bytes(32))),
    ),
    "a share of other numbers": (
        CompetitionPhase.DRAWN,
        "wrong-share",
        lambda s: s.post("custodian 1", words.forged(s, needed=1)),
    ),
    "a share with a wrong letter": (
        CompetitionPhase.DRAWN,
        "malformed",
        lambda s: s.post("custodian 1", words.mistyped(s)),
    ),
    "a share twice": (CompetitionPhase.DRAWN, "already-said", lambda s: s.reveal(1, 1)),
    "a share when nobody could score any more": (
        CompetitionPhase.DRAWN,
        "too-late",
        lambda s: s.at(SCORED + 1).reveal(1),
    ),
    "a commitment before the texts are open": (
        CompetitionPhase.DRAWN,
        "too-early",
        lambda s: s.commit("alpha", "one"),
    ),
    "a commitment of who was not drawn": (
        CompetitionPhase.REVEALED,
        "wrong-role",
        lambda s: s.commit("alpha", "five"),
    ),
    "a commitment for nobody's model": (
        CompetitionPhase.REVEALED,
        "not-found",
        lambda s: s.commit("gamma", s.scorers[0]),
    ),
    "a commitment for an entrant without a model": (
        CompetitionPhase.OPEN,
        "wrong-scores",
        words.score_nothing,
    ),
    "scores of an entrant without a model": (
        CompetitionPhase.OPEN,
        "wrong-scores",
        lambda s: words.score_nothing(s, is_revealed=True),
    ),
    "a commitment twice": (
        CompetitionPhase.REVEALED,
        "already-said",
        lambda s: s.commit("alpha", s.scorers[0], s.scorers[0]),
    ),
    "a commitment after its date": (
        CompetitionPhase.REVEALED,
        "too-late",
        lambda s: s.at(SCORED + 1).commit("alpha", s.scorers[0]),
    ),
    "a commitment to what another shows": (
        CompetitionPhase.REVEALED,
        "too-late",
        words.commit_to_what_is_shown,
    ),
    "scores before the texts are open": (
        CompetitionPhase.DRAWN,
        "too-early",
        lambda s: s.reveal_scores("alpha", "one"),
    ),
    "scores of who was not drawn": (
        CompetitionPhase.REVEALED,
        "wrong-role",
        lambda s: s.reveal_scores("alpha", "five"),
    ),
    "scores of nobody's model": (
        CompetitionPhase.REVEALED,
        "not-found",
        lambda s: s.reveal_scores("gamma", s.scorers[0]),
    ),
    "scores of another model": (
        CompetitionPhase.REVEALED,
        "wrong-scores",
        lambda s: s.post(s.scorers[0], words.scored(s, submission=D)),
    ),
    "scores that nobody committed to": (
        CompetitionPhase.REVEALED,
        "not-found",
        lambda s: s.at(SCORED + 1).reveal_scores("alpha", s.scorers[0]),
    ),
    "scores before all have committed": (
        CompetitionPhase.REVEALED,
        "too-early",
        lambda s: s.at(SCORED).commit("alpha", *s.scorers[:2]).reveal_scores("alpha", s.scorers[0]),
    ),
    "other scores than were committed to": (
        CompetitionPhase.REVEALED,
        "wrong-reveal",
        lambda s: words.committed(s).post(s.scorers[0], words.scored(s, scores=D)),
    ),
    "another salt than was committed to": (
        CompetitionPhase.REVEALED,
        "wrong-reveal",
        lambda s: words.committed(s).post(s.scorers[0], words.scored(s, salt=D)),
    ),
    "scores that are not there": (
        CompetitionPhase.REVEALED,
        "not-found",
        lambda s: words.commit_and_reveal(s, words.scored(s, scores=D)),
    ),
    "scores that do not hold": (
        CompetitionPhase.REVEALED,
        "malformed",
        lambda s: words.commit_and_reveal(s, words.scored(s, scores=s.paper.put(b"[]"))),
    ),
    "somebody else's scores": (
        CompetitionPhase.REVEALED,
        "wrong-scores",
        lambda s: words.commit_and_reveal(s, words.scored(s), author=1),
    ),
    "other sums than the documents'": (
        CompetitionPhase.REVEALED,
        "wrong-scores",
        lambda s: words.commit_and_reveal(s, words.scored(s, millibits=35)),
    ),
    "another size than the documents'": (
        CompetitionPhase.REVEALED,
        "wrong-scores",
        lambda s: words.commit_and_reveal(s, words.scored(s, size_bytes=50)),
    ),
    "scores short of a document": (
        CompetitionPhase.REVEALED,
        "wrong-scores",
        words.short_of_a_document,
    ),
    "scores twice": (
        CompetitionPhase.REVEALED,
        "already-said",
        lambda s: words.first_revealed(s).reveal_scores("alpha", s.scorers[0]),
    ),
    "scores when only challenges are left": (
        CompetitionPhase.REVEALED,
        "too-late",
        lambda s: (
            words.committed(s).at((SCORED + RESULT) // 2 + 1).reveal_scores("alpha", s.scorers[0])
        ),
    ),
    "a challenge of what nobody said": (
        CompetitionPhase.REVEALED,
        "not-found",
        lambda s: s.post("anybody", words.challenge(s)),
    ),
    "a challenge of a document that was not drawn": (
        CompetitionPhase.REVEALED,
        "wrong-challenge",
        words.challenge_what_was_not_drawn,
    ),
    "a challenge twice": (CompetitionPhase.REVEALED, "already-said", words.challenge_twice),
    "too many challenges": (
        CompetitionPhase.REVEALED,
        "wrong-challenge",
        words.challenge_too_often,
    ),
    "a challenge while banned": (
        CompetitionPhase.REVEALED,
        "quarantined",
        lambda s: words.send_when_banned(s, "anybody", words.challenge(s)),
    ),
    "a challenge after its date": (
        CompetitionPhase.REVEALED,
        "too-late",
        lambda s: s.at(RESULT + 1).post("anybody", words.challenge(s)),
    ),
    "a result before its date": (
        CompetitionPhase.REVEALED,
        "too-early",
        lambda s: s.at(RESULT - 1).post("organiser", s.paper.decide(s.drawn().beacon)),
    ),
    "a result before the texts are open": (
        CompetitionPhase.DRAWN,
        "too-early",
        lambda s: s.at(RESULT).post("organiser", s.paper.decide(sha256(b"beacon"))),
    ),
    "a result of another draw": (CompetitionPhase.REVEALED, "wrong-outcome", words.other_outcome),
    "a result of another competition": (
        CompetitionPhase.REVEALED,
        "wrong-outcome",
        lambda s: words.other_outcome(s, D),
    ),
    "a second result": (
        CompetitionPhase.DECIDED,
        "too-late",
        lambda s: s.post("organiser", s.paper.decide(s.drawn().beacon)),
    ),
    "a statement about something else": (
        CompetitionPhase.OPEN,
        "unknown-type",
        lambda s: s.post("alpha", example("invite.close")),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_does_not_count_is_refused(case: str) -> None:
    phase, code, say = REFUSALS[case]
    stage = CompetitionFold().play(phase)
    with pytest.raises(RefusedError) as refused:
        say(stage)
    assert refused.value.code == code


@pytest.mark.parametrize("custodian", [1, 2])
def test_a_custodian_that_mistakes_its_share_is_told_which_it_holds(custodian: int) -> None:
    stage = CompetitionFold().play(CompetitionPhase.DRAWN)
    other = stage.paper.reveal(1) if custodian == 2 else words.forged(stage, root=sha256(b"other"))
    with pytest.raises(RefusedError, match=f"this custodian holds share {custodian} of this"):
        stage.post(f"custodian {custodian}", other)


@pytest.mark.parametrize("has_sizes", [False, True])
def test_a_document_that_is_too_large_is_not_parsed_nor_read_if_its_size_is_known(
    *, has_sizes: bool
) -> None:
    def steps(size_bytes: int) -> list[str]:
        done: list[str] = []

        def read(_name: Digest) -> bytes:
            done.append("read")
            return bytes(size_bytes)

        network = replace(
            CompetitionFold().network,
            documents=read,
            size_of=lambda _name: size_bytes if has_sizes else None,
        )
        with contextlib.suppress(RefusedError):
            read_document(lambda _raw: done.append("parsed"), network, D, "submission")
        return done

    assert steps(STATEMENT_BYTES) == ["read", "parsed"]
    assert steps(STATEMENT_BYTES + 1) == ([] if has_sizes else ["read"])


def test_every_code_of_a_competition_has_its_refusal() -> None:
    codes = {code for _, code, _ in REFUSALS.values()} | {"wrong-submission", "over-budget"}
    assert codes >= {
        "competition-full",
        "name-taken",
        "not-eligible",
        "too-early",
        "wrong-challenge",
        "wrong-outcome",
        "wrong-scores",
        "wrong-share",
    }


# --- whatever is said


SAID = [(phase, say) for phase, code, say in REFUSALS.values() if code != "quarantined"]


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(list(CompetitionPhase)), st.lists(st.sampled_from(SAID), max_size=8))
def test_phases_only_move_on_and_what_was_taken_folds_again_to_the_same(
    phase: CompetitionPhase,
    said: list[tuple[CompetitionPhase, Callable[[CompetitionFold], object]]],
) -> None:
    stage = CompetitionFold().play(phase)
    for needed, word in said:
        before = list(CompetitionPhase).index(stage.phase())
        if (
            needed in (CompetitionPhase.REVEALED, CompetitionPhase.DECIDED)
            and stage.view.draw is None
        ):
            continue  # it speaks of the draw
        with contextlib.suppress(RefusedError):
            word(stage)
        assert list(CompetitionPhase).index(stage.phase()) >= before
    assert stage.refold() == stage.fold
