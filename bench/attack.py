"""The cost of one cheat of four: held-out loss with and without it, with and without screening.

Four trainers train the demo's model on Python's standard library; the last one sends an attack in
every round. The runs use the same seeds, windows and rounds:

- `honest`: all four are honest;
- `three honest`: the fourth sends nothing. A cheat costs a run at least its own work;
- `screened`: the four screen each other (the cheat vouches for itself and refuses all others). A
  quorum's verdicts decide what is accepted. In the product, auditors would soon convict the cheat
  besides;
- `unscreened`: everything is accepted; only the head's own rules (filter and clip) protect it.

The head is the exact one of protocol 12. The claim: `screened` ends within 3 % of `honest`.

    python bench/attack.py [--rounds N] [--attack NAME] [--json FILE] [--document FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from loops import repository, table
from loops.machine import machine
from tests.support import trainer_attacks, witness_committee
from tests.support.trainer_attacks import ATTACKS, Situation
from tests.support.training_lab import Recipe, TrainedContribution, TrainingLab

from tequio_client.dataset.sources import standard_library_files
from tequio_client.demo.script import ARCHITECTURE
from tequio_shared.ids import sha256

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TRAINERS, CHEAT = 4, 3
MOST_LOSS = 1.03
"""As a multiple of the honest run's loss."""
HELD_OUT_TOKENS = 65_536
RUNS = ("honest", "three honest", "screened", "unscreened")
DOCUMENT = repository.ROOT / "docs" / "screening.md"


@dataclass(slots=True)
class Trained:
    """Pseudo-gradients by weights and window; runs that are equal so far share them."""

    known: dict[tuple[bytes, int], tuple[NDArray[np.float32], int]] = field(default_factory=dict)

    def delta(self, lab: TrainingLab, first: int) -> tuple[NDArray[np.float32], int]:
        key = sha256(lab.weights.tobytes()), first
        if key not in self.known:
            self.known[key] = lab.delta(first)
        return self.known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedRun:
    """The result of one run."""

    loss: float
    refused: dict[str, int]
    """Verdicts on the cheat, over the rounds."""
    wrongly_refused: int
    """Honest contributions that were not accepted."""
    filtered: int
    """Rounds in which the head's filter dropped the cheat's contribution."""


def main() -> None:
    """Do all runs and compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each run")
    parser.add_argument(
        "--attack", default="sign_flip_3", choices=sorted(ATTACKS), help="what the cheat sends"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the table into this document")
    options = parser.parse_args()
    torch.set_num_threads(1)
    trained, played = Trained(), {}
    for run in RUNS:
        played[run] = _play(run, options.attack, options.rounds, trained)
        print(run, played[run], flush=True)
    honest = played["honest"].loss
    columns = (
        "run",
        "held-out loss, nats per byte",
        "over honest",
        "verdicts on the cheat",
        "honest refused",
        "rounds filtered",
    )
    rows = [
        [
            run,
            f"{one.loss:.4f}",
            f"{one.loss / honest:.4f}",
            ", ".join(f"{name} {count}" for name, count in one.refused.items()) or "none",
            str(one.wrongly_refused),
            str(one.filtered),
        ]
        for run, one in played.items()
    ]
    content = f"Attack `{options.attack}`, {options.rounds} rounds.\n\n"
    content += table.markdown(columns, rows)
    print(content)
    if options.document:
        table.put(options.document, "what a cheat costs", content)
    if options.json:
        losses = {run: one.loss for run, one in played.items()}
        found = {**machine(), "attack": options.attack, "rounds": options.rounds, "loss": losses}
        options.json.write_text(json.dumps(found))
    if played["screened"].loss > MOST_LOSS * honest:
        raise SystemExit(
            f"the screened run ends at {played['screened'].loss / honest:.3f} of the honest loss"
        )


def _play(run: str, attack: str, rounds: int, trained: Trained) -> AttackedRun:
    recipe = Recipe(config=ARCHITECTURE, steps=10, windows=20)
    verdicts: Counter[str] = Counter()
    wrong, filtered = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        lab = TrainingLab(Path(folder), recipe, standard_library_files())
        feedback: list[NDArray[np.uint16] | None] = [None] * TRAINERS
        last: TrainedContribution | None = None
        for _ in range(rounds):
            made = [_made(lab, slot, feedback[slot], trained) for slot in range(TRAINERS)]
            own = made[CHEAT]
            if run in ("screened", "unscreened"):
                made[CHEAT] = _cheated(lab, made, last, attack)
            else:
                made = made if run == "honest" else made[:CHEAT]
            accepted = made
            if run == "screened":
                hearing = witness_committee.screen_round(lab, made, liars=frozenset([CHEAT]))
                accepted = hearing.accepted(made)
                wrong += sum(one.slot != CHEAT and one not in accepted for one in made)
                if CHEAT in hearing.verdicts:
                    verdict, reason = hearing.verdicts[CHEAT]
                    verdicts[f"{verdict.name.lower()} ({reason.name.lower()})"] += 1
            was_there = any(one.slot == CHEAT for one in accepted)
            for one in accepted:
                feedback[one.slot] = one.encoded.feedback
            kept = lab.advance(accepted)
            filtered += was_there and CHEAT not in kept
            last = own
        loss = lab.loss(lab.held_out(HELD_OUT_TOKENS))
    return AttackedRun(loss=loss, refused=dict(verdicts), wrongly_refused=wrong, filtered=filtered)


def _made(
    lab: TrainingLab, slot: int, feedback: NDArray[np.uint16] | None, trained: Trained
) -> TrainedContribution:
    first = lab.windows_of(slot, TRAINERS)
    return lab.made(slot, first, trained.delta(lab, first), feedback)


def _cheated(
    lab: TrainingLab, made: list[TrainedContribution], last: TrainedContribution | None, attack: str
) -> TrainedContribution:
    own = made[CHEAT]
    now = Situation(
        shape=lab.recipe.shape,
        payload=own.encoded.payload,
        seed=lab.round,
        last=last.encoded.payload if last else None,
        foreign=made[1].encoded.payload,
    )
    return replace(own, encoded=trainer_attacks.forged(ATTACKS[attack], own.encoded, now))


if __name__ == "__main__":
    main()
