"""Evaluators, custodians and a coordinator that want the draw of a competition for themselves."""

from __future__ import annotations

import copy
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.competition import draw
from tequio_shared.competition.result import MOST_COMPARED, rank_models
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import LEAST_DOCUMENTS
from tests.support.attack_table import attack
from tests.support.competition_fold import CompetitionFold
from tests.support.synthetic_competition import DEADLINE, DRAW, folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.ids import Digest
    from tequio_shared.keys import Signer
    from tequio_shared.statements.competitions import CompClose, CompDraw

HONEST = tuple(f"honest {number}" for number in range(6))
ALLIED = tuple(f"allied {number}" for number in range(5))
SEATS = 5
CROWD = tuple(f"honest {number}" for number in range(12))
TRIALS = 10


def closed() -> CompetitionFold:
    """A competition that is closed, with all offers; the last two allied keys are of one owner."""
    stage = CompetitionFold(evaluators=SEATS).open().enter("alpha").offer(*HONEST, *ALLIED)
    stage.vouch("one owner", *ALLIED[-2:])
    return stage.close()


def with_lots(before: CompetitionFold, *names: str) -> CompetitionFold:
    """The course of things in which these draw their lots."""
    stage = copy.deepcopy(before)
    return stage.draw_lots(*HONEST, *names)


def subsets() -> Iterator[tuple[str, ...]]:
    """Every choice of allied evaluators that do not withhold their lots."""
    for count in range(len(ALLIED) + 1):
        yield from combinations(ALLIED, count)


@attack("C17", layer="coord", ends="each choice is another draw, and none of them can be computed")
def test_evaluators_with_the_key_to_the_texts_choose_blindly_among_draws() -> None:
    before, beacons = closed(), set()
    key = before.paper.key  # all custodians are in it
    for chosen in subsets():
        stage = with_lots(before, *chosen)
        alpha = draw.draw_input(stage.paper.id, stage.view.lots)
        known = [stage.view.seed, *stage.view.lots.values()]
        known += [vrf.output(stage.signer(name).prove(alpha)) for name in ALLIED]
        guesses = {draw.draw_beacon(stage.paper.id, key, output) for output in known}
        drawn = stage.draw().reveal(1, 2).drawn()
        assert drawn.beacon not in guesses
        beacons.add(drawn.beacon)
    assert len(beacons) == 2 ** len(ALLIED)


@attack("C17", layer="coord", ends="lots are too late once the coordinator has drawn")
def test_no_lot_moves_the_documents_once_the_coordinator_has_drawn() -> None:
    stage = with_lots(closed(), *ALLIED[:-1]).draw()
    with pytest.raises(RefusedError) as refused:
        stage.draw_lots(ALLIED[-1])
    assert refused.value.code == "too-late"
    before = stage.fold
    found = []
    for shares in ((1, 2), (3, 1), (2, 3)):
        stage.fold = copy.deepcopy(before)
        found.append(stage.reveal(*shares).drawn())
    assert found == [found[0]] * 3


@attack("C17", layer="coord", ends="refused as `wrong-vrf`: its key has one seed for a competition")
def test_a_coordinator_cannot_try_seeds() -> None:
    stage = CompetitionFold().open().offer(*HONEST).at(DEADLINE)
    signer = stage.signer("coordinator")
    due = stage.paper.close(signer)
    for other in other_proofs(stage, signer, draw.seed_input(stage.paper.id)):
        refuse(stage, msgspec.structs.replace(due, vrf=other))
    stage.post("coordinator", due)
    assert stage.phase() is CompetitionPhase.CLOSED


@attack("C17", layer="coord", ends="refused as `wrong-vrf`: only one draw follows from the lots")
def test_a_coordinator_cannot_try_draws_nor_pass_over_lots() -> None:
    stage = with_lots(closed(), *ALLIED).at(DRAW)
    signer, lots = stage.signer("coordinator"), stage.view.lots
    due = stage.paper.draw(signer, lots)
    for other in other_proofs(stage, signer, draw.draw_input(stage.paper.id, lots)):
        refuse(stage, msgspec.structs.replace(due, vrf=other))
    for left_out in lots:
        fewer = {key: lot for key, lot in lots.items() if key != left_out}
        refuse(stage, stage.paper.draw(signer, fewer))
    stage.post("coordinator", due)
    assert stage.phase() is CompetitionPhase.DRAWN


@attack("C17", layer="coord", ends="a place depends on all lots: trying 256 keys gains nothing")
@pytest.mark.parametrize("has_guess", [False, True])
def test_a_coordinator_with_the_key_to_the_texts_cannot_make_a_key_that_is_drawn(
    *, has_guess: bool
) -> None:
    won = 0
    for trial in range(TRIALS):
        stage = CompetitionFold().open().enter("alpha").offer(*CROWD)
        names = [f"made {trial} {number}" for number in range(256)]
        best = min(names, key=partial(guessed_rank, stage, has_guess=has_guess))
        stage.offer(best).close().draw_lots(*CROWD, best).draw().reveal(1, 2)
        won += best in stage.scorers
    assert won < TRIALS - 1  # 2.3 are due: 3 seats for 13


def guessed_rank(stage: CompetitionFold, name: str, *, has_guess: bool) -> Digest:
    """A key's place, as far as coordinator and custodians can know it before the deadline."""
    paper, prove = stage.paper, stage.signer("coordinator").prove
    seed = vrf.output(prove(draw.seed_input(paper.id)))
    lot = vrf.output(stage.signer(name).prove(draw.lot_input(paper.id, seed)))
    if not has_guess:
        return sha256(b"tequio/v1/evaluator\0", paper.key, lot)
    output = vrf.output(prove(draw.draw_input(paper.id, {stage.signer(name).key: lot})))
    beacon = draw.draw_beacon(paper.id, paper.key, output)
    return sha256(b"tequio/v1/evaluator\0", beacon, lot)


def other_proofs(stage: CompetitionFold, signer: Signer, alpha: bytes) -> Iterator[str]:
    """Proofs that are not the coordinator's for that input."""
    due = signer.prove(alpha)
    yield to_text(signer.prove(alpha + b"\0"))
    yield to_text(stage.signer(ALLIED[0]).prove(alpha))
    yield to_text(due[:-1] + bytes([due[-1] ^ 1]))
    yield to_text(bytes(vrf.PROOF_BYTES))


def refuse(stage: CompetitionFold, body: CompClose | CompDraw) -> None:
    """Post as the coordinator; fail unless it is refused for its proof."""
    with pytest.raises(RefusedError) as refused:
        stage.post("coordinator", body)
    assert refused.value.code == "wrong-vrf"


@attack("C18", layer="coord", ends="refused as `not-eligible`: its successor counts as a custodian")
def test_a_custodian_that_replaces_its_key_neither_enters_nor_evaluates() -> None:
    stage = CompetitionFold(evaluators=SEATS).open()
    stage.replace("custodian 1", "heir")
    for act in (stage.enter, stage.offer):
        with pytest.raises(RefusedError, match="custodians may neither") as refused:
            act("heir")
        assert refused.value.code == "not-eligible"


@attack("C19", layer="coord", ends="refused as `already-said`: its successor has entered already")
def test_an_entrant_that_replaces_its_key_does_not_enter_again() -> None:
    stage = CompetitionFold().open().enter("alpha")
    stage.replace("alpha", "heir")
    with pytest.raises(RefusedError, match="entered already") as refused:
        stage.enter("heir")
    assert refused.value.code == "already-said"
    stage.post("heir", stage.paper.submit("alpha", folder("better")))


@attack(
    "C20", layer="coord", ends="copies share a rank; who is not compared comes after all others"
)
def test_copies_of_the_best_model_lift_no_other_to_its_rank() -> None:
    scores = {"best": 7_000, "second": 7_100, "worst": 35_000}
    models = {name: [millibits] * LEAST_DOCUMENTS for name, millibits in scores.items()}
    copies = [f"copy {number}" for number in range(MOST_COMPARED - 1)]
    models |= dict.fromkeys(copies, models["best"])
    ranking = rank_models(models, [1_000] * LEAST_DOCUMENTS, beacon=bytes(32))
    ranks = {place.name: place.rank for place in ranking.places}
    assert ranks == {"best": 1, **dict.fromkeys(copies, 1), "second": 23, "worst": 23}


@attack("C19", layer="coord", ends="cannot be drawn: its successor counts as the entrant")
def test_an_entrant_that_replaces_its_key_is_not_drawn_to_evaluate_its_model() -> None:
    stage = CompetitionFold().open().enter("alpha").offer(*HONEST)
    stage.replace("alpha", "heir")
    stage.offer("heir").close().draw_lots(*HONEST, "heir").draw()
    assert set(stage.view.candidates) == set(map(stage.key, HONEST))
