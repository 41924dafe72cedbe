"""A competition's fold: what counts in which phase, each refusal, and what follows from the log."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.competition import draw as competition_draw
from tequio_shared.competition.rules import (
    ENTRANTS,
    Budget,
    CompetitionRules,
    evaluation_bytes,
)
from tequio_shared.competition.scores import CHALLENGES
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.network.accounts import RunProgress
from tequio_shared.network.standing import Standing
from tests.support.competition_fold import RUN, RUN_RULES, START, CompetitionFold
from tests.support.refused_statements import challenge, first_revealed
from tests.support.signing_swarm import weights_root
from tests.support.synthetic_competition import (
    DEADLINE,
    DRAW,
    HOUR_MS,
    RESULT,
    SCORED,
    folder,
    head,
)

if TYPE_CHECKING:
    from collections.abc import Callable


OTHER_RUN = RunId(sha256(b"another run"))
OFFERS = ("one", "two", "three", "four")


# --- the course of things


def test_a_competition_goes_from_its_opening_to_its_result() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    for entrant in ("alpha", "beta"):
        stage.commit(entrant, *stage.scorers).reveal_scores(entrant, *stage.scorers)
    assert not stage.view.missing_for_ranking()
    stage.at(RESULT).post("second", stage.paper.decide(stage.drawn().beacon))
    assert stage.view.phase is CompetitionPhase.DECIDED
    assert list(stage.view.phase_starts) == list(CompetitionPhase)
    assert [mark.index for mark in stage.view.phase_starts.values()] == sorted(
        mark.index for mark in stage.view.phase_starts.values()
    )
    assert len(stage.view.results) == 6
    assert stage.fold.due(stage.now, stage.signer("coordinator").prove) is None
    assert stage.fold.next_ms() is None


def test_the_draw_is_the_one_that_a_stranger_computes() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    draw, paper = stage.drawn(), stage.paper
    prove = stage.signer("coordinator").prove
    seed = vrf.output(prove(b"tequio/v1/comp-seed\0" + paper.id))
    lots = {
        stage.key(name): vrf.output(stage.signer(name).prove(b"tequio/v1/eval\0" + paper.id + seed))
        for name in OFFERS
    }
    all_lots = sha256(*(lots[key] for key in sorted(lots)))
    output = vrf.output(prove(b"tequio/v1/comp-draw\0" + paper.id + all_lots))
    assert draw.key == paper.key
    beacon = sha256(b"tequio/v1/comp\0", paper.id, paper.key, output)
    assert draw.beacon == beacon
    assert draw.documents == competition_draw.draw_documents(draw.beacon, 5, 20)
    order = sorted(lots, key=lambda key: sha256(b"tequio/v1/evaluator\0", beacon, lots[key]))
    assert list(draw.evaluators) == order[:3]


def test_it_does_not_matter_which_custodians_show_their_shares() -> None:
    stage = CompetitionFold().play(CompetitionPhase.DRAWN)
    before, draws = stage.fold, []
    for numbers in ((1, 2), (2, 1), (1, 3), (3, 2)):
        stage.fold = copy.deepcopy(before)
        draws.append(stage.reveal(*numbers).drawn())
        (third,) = {1, 2, 3} - set(numbers)
        assert stage.reveal(third).drawn() == draws[-1]
        assert stage.phase() is CompetitionPhase.REVEALED
    assert draws == [draws[0]] * 4


def test_one_share_too_few_opens_nothing() -> None:
    stage = CompetitionFold().play(CompetitionPhase.DRAWN).reveal(2)
    assert stage.phase() is CompetitionPhase.DRAWN
    assert stage.view.draw is None
    assert stage.view.missing_for_ranking() == "1 of the 2 shares needed are revealed"


def test_the_coordinator_is_told_when_to_close_and_when_to_draw() -> None:
    stage = CompetitionFold().open()
    dates, signer = stage.paper.rules.dates, stage.signer("coordinator")
    assert stage.fold.next_ms() == dates.deadline
    assert stage.fold.due(dates.deadline - 1, signer.prove) is None
    close = stage.fold.due(dates.deadline, signer.prove)
    assert close == stage.paper.close(signer)
    stage.at(DEADLINE).post("coordinator", close)
    assert stage.fold.next_ms() == dates.draw
    assert stage.fold.due(dates.draw - 1, signer.prove) is None
    draw = stage.fold.due(dates.draw, signer.prove)
    assert draw == stage.paper.draw(signer, {})
    stage.at(DRAW).post("coordinator", draw)
    assert stage.fold.next_ms() is None


def test_the_last_submission_before_the_deadline_counts() -> None:
    stage = CompetitionFold().open().enter("alpha")
    stage.post("alpha", stage.paper.submit("alpha", folder("better")))
    assert stage.view.submissions == {"alpha": folder("better").id}


def test_a_statement_at_the_deadline_counts_and_a_millisecond_later_does_not() -> None:
    stage = CompetitionFold().open().enter("alpha")
    stage.at(DEADLINE).post("alpha", stage.paper.submit("alpha", folder("last")))
    with pytest.raises(RefusedError, match="signed at"):
        stage.at(DEADLINE + 1).post("alpha", stage.paper.submit("alpha", folder("late")))
    assert stage.view.submissions == {"alpha": folder("last").id}


# --- scores are committed to, then shown


def test_nobody_waits_for_the_date_once_all_have_committed() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    first, *_ = stage.scorers
    stage.commit("alpha", *stage.scorers)
    assert len(stage.view.commits) == len(stage.scorers)
    stage.reveal_scores("alpha", first)
    assert stage.view.missing_commitments == [("beta", key) for key in stage.drawn().evaluators]


def test_who_never_commits_holds_the_others_up_to_the_date_alone() -> None:
    stage = CompetitionFold(evaluators=4).play(CompetitionPhase.REVEALED)
    *heard, silent = stage.scorers
    stage.commit("alpha", *heard).at(SCORED + 1).reveal_scores("alpha", *heard)
    assert not stage.view.missing_for_ranking()
    assert ("alpha", stage.key(silent)) in stage.view.missing_commitments


def test_scores_are_shown_up_to_the_middle_between_the_dates() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    stage.commit("alpha", *stage.scorers).at((SCORED + RESULT) // 2)
    stage.reveal_scores("alpha", *stage.scorers)
    assert not stage.view.withheld


def test_who_holds_back_what_it_committed_to_does_not_count() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    *heard, holding = stage.scorers
    stage.commit("alpha", *heard, holding).reveal_scores("alpha", *heard)
    assert stage.view.withheld == [("alpha", stage.key(holding))]
    assert stage.view.missing_for_ranking() == "no model has the scores of 3 evaluators"


def test_a_commitment_hides_scores_that_anybody_could_guess() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    one = stage.drawn().evaluators[0]
    result = stage.paper.result(one, "alpha", folder("alpha"), 9)
    other = msgspec.structs.replace(result, salt=to_text(sha256(b"another")))
    assert stage.paper.commit_to(one, result) != stage.paper.commit_to(one, other)


# --- how it ends without a ranking


@pytest.mark.parametrize("after", [0, 1])
def test_without_enough_shares_it_ends_when_scores_are_due(after: int) -> None:
    stage = CompetitionFold().play(CompetitionPhase.DRAWN).reveal(2).at(SCORED + after)
    void = stage.view.void_reason(stage.now)
    assert bool(void) is bool(after)
    if after:
        assert void == "1 of the 2 shares needed are revealed, and the time for it is over"
        return
    assert stage.reveal(1).phase() is CompetitionPhase.REVEALED


def test_it_ends_when_no_model_can_have_enough_scores_any_more() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    first, second, third = stage.scorers
    stage.commit("alpha", first, second, third).commit("beta", first)
    said = "no model has the scores of 3 evaluators"
    last = (SCORED + RESULT) // 2
    hopes = {SCORED: "", SCORED + 1: "", last: "", last + 1: said, RESULT: said}
    assert {at: stage.view.void_reason(START + at) for at in hopes} == hopes
    stage.reveal_scores("alpha", first, second)
    assert {at: stage.view.void_reason(START + at) for at in hopes} == hopes
    stage.reveal_scores("alpha", third)
    assert not any(stage.view.void_reason(START + at) for at in hopes)


def test_with_too_few_commitments_it_ends_when_they_are_due() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    stage.commit("alpha", *stage.scorers[:2])
    assert not stage.view.void_reason(START + SCORED)
    assert stage.view.void_reason(START + SCORED + 1) == "no model has the scores of 3 evaluators"


def test_with_too_few_who_can_be_drawn_it_ends_with_the_draw() -> None:
    stage = CompetitionFold().open().enter("alpha").offer(*OFFERS).close()
    assert not stage.view.void_reason(stage.now)
    stage.vouch("somebody", "two", "three")
    stage.draw_lots("one", "two", "three").draw()
    assert stage.view.void_reason(stage.now) == "2 owners of eligible keys offered; 3 are needed"


@pytest.mark.parametrize(("result", "is_right"), [(HOUR_MS // 5 - 1, False), (HOUR_MS // 5, True)])
def test_rules_leave_time_to_show_scores_and_to_challenge_them(
    result: int, *, is_right: bool
) -> None:
    rules = CompetitionFold().paper.rules
    dates = msgspec.structs.replace(rules.dates, result=rules.dates.scored + result)
    raw = msgspec.structs.replace(rules, dates=dates).encode()
    if is_right:
        assert CompetitionRules.parse(raw).dates.reveal_until == dates.scored + result // 2
        return
    with pytest.raises(MalformedError, match="a 10th of the time to score"):
        CompetitionRules.parse(raw)


# --- who evaluates


def test_who_has_an_interest_is_not_drawn() -> None:
    stage = CompetitionFold(evaluators=16).open().enter("alpha")
    stage.post("organiser", stage.paper.enter("run", RUN))
    stage.run.accounts.rostered.add(stage.key("trainer"))
    stage.offer(*OFFERS, "trainer", "rival's friend", "later-entrant", "silent", "banned")
    stage.enter("later-entrant")
    stage.vouch("rival", "alpha", "rival's friend")
    stage.close().draw_lots(*OFFERS, "trainer", "rival's friend", "later-entrant", "banned")
    stage.standings.records[stage.key("banned")].standing = Standing.BANNED
    stage.draw().reveal(1, 2)
    assert set(stage.scorers) == set(OFFERS)


def test_only_keys_of_the_tier_that_the_rules_ask_offer_and_are_drawn() -> None:
    stage = CompetitionFold(evaluators=16, tier=1).open().enter("alpha")
    with pytest.raises(RefusedError, match="tier 1: have an account vouch"):
        stage.offer("anybody")
    for name in OFFERS:
        stage.vouch(name, name, until_ms=DRAW if name == "one" else 2 * RESULT)
    stage.offer(*OFFERS).close().draw_lots(*OFFERS).draw().reveal(1, 2)
    assert set(stage.scorers) == set(OFFERS) - {"one"}


def test_invited_keys_evaluate_where_the_rules_ask_for_them_and_vouched_ones_do_not() -> None:
    stage = CompetitionFold(evaluators=16, tier=2).open().enter("alpha")
    stage.tiers.founders = frozenset(map(stage.key, OFFERS))  # they count as invited
    stage.vouch("somebody", "vouched")
    with pytest.raises(RefusedError, match="tier 2"):
        stage.offer("vouched")
    stage.offer(*OFFERS).close().draw_lots(*OFFERS).draw().reveal(1, 2)
    assert set(stage.scorers) == set(OFFERS)


def test_no_owner_is_drawn_twice() -> None:
    stage = CompetitionFold(evaluators=16).open().enter("alpha").offer(*OFFERS)
    stage.vouch("somebody", "one", "two")
    stage.close().draw_lots(*OFFERS).draw().reveal(1, 2)
    assert len(stage.scorers) == 3
    assert {"three", "four"} < set(stage.scorers)


def test_who_joins_a_run_after_the_draw_was_called_stays_drawn() -> None:
    stage = CompetitionFold(evaluators=16).open()
    stage.post("organiser", stage.paper.enter("run", RUN))
    stage.offer(*OFFERS).close().draw_lots(*OFFERS).draw()
    stage.run.accounts.rostered.add(stage.key("one"))
    assert set(stage.reveal(1, 2).scorers) == set(OFFERS)


@pytest.mark.parametrize(
    ("opened", "said"),
    [
        (("one", "two"), "2 owners of eligible keys offered; 3 are needed"),
        (("one", "two", "three"), "no model has the scores of 3 evaluators"),
    ],
)
def test_it_says_what_stands_against_a_ranking(opened: tuple[str, ...], said: str) -> None:
    stage = CompetitionFold().open().enter("alpha").offer(*OFFERS).close()
    assert not stage.view.missing_for_ranking()
    stage.draw_lots(*opened).draw().reveal(1, 2)
    assert stage.view.missing_for_ranking() == said


def test_a_competition_without_models_says_so() -> None:
    stage = CompetitionFold().open().offer(*OFFERS).close().draw_lots(*OFFERS).draw()
    assert stage.view.missing_for_ranking() == "nobody submitted a model"


# --- a run that takes part


def side(budget: Budget | None = None) -> CompetitionFold:
    """A stage whose run takes part and has a head of round 2."""
    stage = CompetitionFold(budget=budget or Budget(parameters=0, tokens=0, hours=0)).open()
    stage.promote(2, RunProgress(tokens=1_000, ms=2 * HOUR_MS))
    stage.post("organiser", stage.paper.enter("run", RUN))
    return stage


def submit(stage: CompetitionFold, number: int = 2, weights: int = 2, run: RunId = RUN) -> None:
    stage.post("organiser", stage.paper.submit("run", head(run, number, weights_root(weights))))


def test_a_certified_head_of_the_run_is_submitted() -> None:
    stage = side()
    submit(stage)
    assert stage.view.submissions == {"run": head(RUN, 2, weights_root(2)).id}


@pytest.mark.parametrize(
    "said",
    [
        lambda stage: submit(stage, number=1),
        lambda stage: submit(stage, weights=3),
        lambda stage: submit(stage, run=OTHER_RUN),
        lambda stage: stage.post("organiser", stage.paper.submit("run", folder("of-it"))),
    ],
    ids=["not certified", "other weights", "another run", "a folder"],
)
def test_nothing_but_a_certified_head_is_submitted_for_a_run(
    said: Callable[[CompetitionFold], None],
) -> None:
    with pytest.raises(RefusedError) as refused:
        said(side())
    assert refused.value.code == "wrong-submission"


def test_a_head_is_not_submitted_for_a_model_from_elsewhere() -> None:
    stage = CompetitionFold().open().enter("alpha")
    with pytest.raises(RefusedError, match="must submit a folder"):
        stage.post("alpha", stage.paper.submit("alpha", head(RUN, 2, weights_root(2))))


PARAMETERS = RUN_RULES.model.parameters


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(parameters=PARAMETERS, tokens=1_000, hours=2), ""),
        (Budget(parameters=PARAMETERS - 1, tokens=0, hours=0), "parameters"),
        (Budget(parameters=0, tokens=999, hours=0), "1000 tokens; 999 are allowed"),
        (Budget(parameters=0, tokens=0, hours=1), "2 hours; 1 are allowed"),
    ],
)
def test_a_head_that_took_more_than_the_rules_allow_is_refused(budget: Budget, said: str) -> None:
    stage = side(budget)
    if not said:
        submit(stage)
        return
    with pytest.raises(RefusedError, match=said) as refused:
        submit(stage)
    assert refused.value.code == "over-budget"


def test_a_begun_hour_counts() -> None:
    stage = side(Budget(parameters=0, tokens=0, hours=2))
    stage.promote(3, RunProgress(tokens=2_000, ms=2 * HOUR_MS + 1))
    with pytest.raises(RefusedError, match="3 hours"):
        submit(stage, number=3, weights=3)


def test_strangers_take_half_of_the_places_and_organisers_the_other_half() -> None:
    stage = CompetitionFold().play(CompetitionPhase.OPEN)
    for number in range(ENTRANTS // 2):
        stage.post("organiser", stage.paper.enter(f"more-{number}"))
    for number in range(ENTRANTS // 2 - 2):  # alpha and beta have entered
        stage.post(f"n{number}", stage.paper.enter(f"n{number}"))
    assert len(stage.view.entrants) == ENTRANTS


def test_the_challenges_of_each_key_are_counted_apart() -> None:
    stage = CompetitionFold().play(CompetitionPhase.REVEALED)
    first_revealed(stage)
    for name in ("anybody", "somebody"):
        for number in range(CHALLENGES):
            stage.post(name, msgspec.structs.replace(challenge(stage), millibits=number))
    assert len(stage.view.challenges) == 2 * CHALLENGES


def test_only_who_was_drawn_may_publish_an_evaluation_and_only_while_it_counts() -> None:
    stage = CompetitionFold().play(CompetitionPhase.DRAWN)
    assert stage.fold.most_bytes(stage.key("one")) == 0
    stage.reveal(3, 1)
    due = [evaluation_bytes(stage.paper.drawn)] * len(stage.scorers)
    assert [stage.fold.most_bytes(stage.key(name)) for name in stage.scorers] == due
    assert stage.fold.most_bytes(stage.key("five")) == 0
    stage.at(RESULT).post("organiser", stage.paper.decide(stage.drawn().beacon))
    assert stage.fold.most_bytes(stage.drawn().evaluators[0]) == 0
