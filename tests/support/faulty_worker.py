"""A real worker with a light trainer that does its work wrongly when it is told to.

    python -m tests.support.faulty_worker SLIP worker OPTIONS...

When the file `SLIP` exists, the next head that the trainer computes has one wrong weight, with
roots and hash to match, and the file is deleted. With the word `UNREAD` in place of SLIP, the
worker vouches for contributions without marks of what it read, like one that repeats a proof.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from tequio_client.__main__ import main as program
from tequio_client.worker.children import trainer as trainer_child
from tequio_client.worker.rounds.marks import ProofMarks
from tequio_shared.head.head import NewHead, OuterStep, advance, head_hash, weights_root
from tequio_shared.ids import HeadHash
from tequio_shared.round.marks import marks_bytes
from tests.support import synthetic_trainer, windows_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import ContributionId
    from tequio_shared.round.round import RoundView

SLIP = "PYTHON_PAPER_SLIP"
UNREAD = "UNREAD"


def main() -> None:
    """Run the worker, under Windows' rules for files, also where it is forked."""
    windows_rules.follow()
    _, slip, *arguments = sys.argv
    os.environ[SLIP] = slip
    trainer = (sys.executable, "-m", "tests.support.faulty_worker", "--trainer")
    vars(trainer_child)["TRAINER"] = trainer
    if slip == UNREAD:
        setattr(ProofMarks, "make", _no_marks)  # noqa: B010 - for types
    sys.argv = ["tequio", *arguments]
    program()


def train() -> None:
    """Run its trainer."""
    vars(synthetic_trainer)["advance"] = _advance
    synthetic_trainer.main()


async def _no_marks(
    _: ProofMarks, _round: RoundView, vouched: Mapping[int, ContributionId], _proof: bytes
) -> tuple[dict[int, ContributionId], bytes]:
    await trio.lowlevel.checkpoint()
    return dict(vouched), bytes(marks_bytes(len(vouched)))


def _advance(step: OuterStep, *rest: Any) -> NewHead:  # noqa: ANN401 - passed on
    made, slip = advance(step, *rest), Path(os.environ[SLIP])
    if not slip.exists():
        return made
    slip.unlink()
    weights = made.weights.copy()
    weights[weights.size // 2] += 1
    root = weights_root(weights)
    roots = (made.set_root, root, made.aux_root)
    value = head_hash(step.run_id, step.round, step.parent, *roots)
    return dataclasses.replace(made, hash=HeadHash(value), weights=weights, weights_root=root)


if __name__ == "__main__":
    if sys.argv[1] == "--trainer":
        train()
    else:
        main()
