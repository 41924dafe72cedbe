"""An honest trainer that computes coarsely is never even suspected, round after round.

One witness alone may refuse honest work now and then, late, when so small a model has seen all its
data twice and updates no longer agree: with two witnesses the work is then not selected. That is
no verdict against anybody, and has to stay rare.

Real: the training (a Llama of 27,000 parameters, two inner steps a round on windows of its own,
one of three trainers in bfloat16 as a GPU would), the error feedback, every byte of every
contribution, the screen by every witness with its own pseudo-gradient, the quorum's verdicts, the
head that moves on, and the fold of standings. Not real: the size of the model, and the log, of
which the fold gets what it reads of a closed round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tequio_client.dataset.sources import folder_files
from tequio_shared.ids import ZERO_DIGEST
from tequio_shared.network.standing import KeyStatus, Standing
from tequio_shared.round.proof import Verdict
from tequio_shared.statements.statement import make
from tests.client.trainer.small_run import texts
from tests.support import witness_committee
from tests.support.attack_table import attack
from tests.support.training_lab import BF16, FP32, Recipe, TrainedContribution, TrainingLab, key_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

ROUNDS, MANY_ROUNDS = 100, 500
MOST_REFUSED = 0.005
"""Share of all judgements by one witness of another's honest work."""
TRAINERS, NOISY = 3, 2
CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}


@pytest.fixture
def lab(tmp_path: Path) -> TrainingLab:
    torch.set_num_threads(1)
    recipe = Recipe(
        config=CONFIG, sequence=32, steps=2, windows=8, k=64, lr=0.003, adam_lr=0.003, outer_lr=1.0
    )
    return TrainingLab(
        tmp_path / "lab", recipe, folder_files(texts(tmp_path / "texts", 200), "*.txt")
    )


def made_by(
    lab: TrainingLab, slot: int, feedback: NDArray[np.uint16] | None
) -> TrainedContribution:
    first = lab.windows_of(slot, TRAINERS)
    device = BF16 if slot == NOISY else FP32
    return lab.made(slot, first, lab.delta(first, device=device), feedback)


@attack("P4", layer="wit", ends="accepted round after round, and never suspected")
@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(MANY_ROUNDS, marks=pytest.mark.slow)])
def test_a_trainer_in_bfloat16_among_others_is_accepted_in_every_round(
    lab: TrainingLab, rounds: int
) -> None:
    standings = KeyStatus()
    feedback: list[NDArray[np.uint16] | None] = [None] * TRAINERS
    for slot in range(TRAINERS):
        standings.register(key_of(slot), slot)
    first_loss = lab.loss(documents := lab.held_out(2_000))
    index, refused = TRAINERS, []
    for _ in range(rounds):
        made = [made_by(lab, slot, feedback[slot]) for slot in range(TRAINERS)]
        hearing = witness_committee.screen_round(lab, made)
        refused += hearing.complaints()
        assert not any(one is Verdict.REJECTED for one, _ in hearing.verdicts.values()), refused
        index += 2
        standings.close_round(index, witness_committee.closed(hearing, TRAINERS, index))
        while (change := standings.due(index)) is not None:
            assert change.to == "active", change
            index += 1
            said = make(
                body=change,
                author=key_of(TRAINERS),
                seq=1,
                ts=index,
                exp=index + 1,
                prev=ZERO_DIGEST,
            )
            standings.apply_change(index, said, change)
        for one in (accepted := hearing.accepted(made)):
            feedback[one.slot] = one.encoded.feedback
        lab.advance(accepted)
    assert len(refused) <= MOST_REFUSED * rounds * TRAINERS * (TRAINERS - 1), refused
    assert {standings.of(key_of(slot)) for slot in range(TRAINERS)} == {Standing.ACTIVE}
    assert lab.loss(documents) < first_loss / 2, "they trained for nothing"
