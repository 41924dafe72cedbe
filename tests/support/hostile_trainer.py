"""A trainer process that cheats: the real one, with an attack between encoding and commitment.

    python hostile_trainer.py ATTACK [console|json]

Everything else is the product's: commands, training, header, files. It finds the work of others as
any cheat would, in its worker's store, where gossip brings it before the round is over. `half_work`
stops after half of the steps (of a gradient's windows, with distro) and reports all of them.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tequio_client.platform import child
from tequio_client.trainer import main as trainer_main
from tests.support.trainer_attacks import ATTACKS, LIES, Situation, forged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tequio_client.ipc import trainer
    from tequio_client.trainer.batch import BatchSize
    from tequio_client.trainer.codecs import EncodedContribution, OuterAlgorithm
    from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.pacing import Pacing
    from tequio_client.trainer.plugins.api import OptimiserFactory
    from tequio_client.trainer.prepared import TrainingData
    from tequio_client.trainer.task_context import TaskContext
    from tequio_shared.head.layout import WeightLayout
    from tequio_shared.round.manifest import InnerParams

    Train = Callable[
        [
            CausalModel,
            TrainingData,
            StepPlan,
            InnerParams,
            BatchSize,
            TrainingControl,
            OptimiserFactory | None,
        ],
        TrainingProgress,
    ]
    Accumulate = Callable[
        [CausalModel, TrainingData, Sequence[int], InnerParams, BatchSize, TrainingControl],
        TrainingProgress,
    ]

    Audit = Callable[[trainer.Audit, TaskContext], trainer.Audited]
    Answer = Callable[[trainer.AnswerQuestions, TaskContext], trainer.QuestionsAnswered]

POLL_S = 0.05
WAIT_S = 3.0
"""How long a copying attack waits for another peer's work; after that it sends its own."""
NEEDS_OTHERS = {"copy", "copy_10", "weak_copy"}


class AttackState:
    """One attack, and its state between rounds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._task: trainer.Train | None = None
        self._last: bytes | None = None  # its own honest payload of the last round
        self._sent: bytes | None = None  # what it sent in the last round
        self._seen: set[Path] = set()  # what lay in the store before this round

    def begin(self, task: trainer.Train) -> None:
        """Begin a round: payloads in the store now belong to earlier rounds."""
        self._task = task
        self._seen = set(_trees(task))

    def forge(self, encoded: EncodedContribution, algorithm: OuterAlgorithm) -> EncodedContribution:
        """The contribution that is sent instead of the honest one."""
        task = self._task
        if task is None:
            raise AssertionError("nothing was trained")
        size = len(encoded.payload)
        now = Situation(
            shape=algorithm.shape,
            payload=encoded.payload,
            seed=task.round,
            last=self._last,
            foreign=self._others_work(task, size) if self.name in NEEDS_OTHERS else None,
            foreign_last=self._older_work(size),
        )
        cheated = forged({**ATTACKS, **LIES}[self.name], encoded, now)
        self._last, self._sent = encoded.payload, cheated.payload
        return cheated

    def _others_work(self, task: trainer.Train, size: int) -> bytes | None:
        """Another peer's payload of this round, as soon as there is one."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            for path in _trees(task):
                if path not in self._seen and _has(path, size):
                    return path.read_bytes()
            time.sleep(POLL_S)
        return None

    def _older_work(self, size: int) -> bytes | None:
        """Another peer's newest payload of an earlier round."""
        older = [path for path in self._seen if _has(path, size)]
        for path in sorted(older, key=lambda one: one.stat().st_mtime, reverse=True):
            content = path.read_bytes()
            if content != self._sent:
                return content
        return None


def _trees(task: trainer.Train) -> Iterator[Path]:
    """Complete trees in the store that holds the round's weights."""
    folder = Path(task.weights).parents[1]
    return (path for path in folder.glob("*/*") if not path.suffix)


def _has(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def install(name: str) -> None:
    """Put the attack between the honest encoding and the commitment, in this process."""
    from tequio_client.trainer import codecs, head_tasks, inner, tasks  # noqa: PLC0415 - torch takes seconds

    cheat, train, encode, run = AttackState(name), tasks.train, codecs.encode, inner.train

    def watched(task: trainer.Train, bench: TaskContext) -> trainer.Trained:
        cheat.begin(task)
        return train(task, bench)

    def attacked(
        algorithm: OuterAlgorithm,
        layout: WeightLayout,
        delta: NDArray[np.float32],
        feedback: NDArray[np.uint16] | None,
        *,
        threads: int,
        pacing: Pacing,
    ) -> EncodedContribution:
        honest = encode(algorithm, layout, delta, feedback, threads, pacing)
        return cheat.forge(honest, algorithm)

    vars(tasks)["train"] = watched
    vars(codecs)["encode"] = attacked
    if name == "accuser":
        vars(tasks)["audit_contribution"] = _accusing(tasks.audit_contribution)
    if name == "false_answers":
        vars(head_tasks)["answer_questions"] = _all_right(head_tasks.answer_questions)
    if name == "half_work":
        vars(inner)["train"] = _half_work(run)
        vars(inner)["accumulate"] = _half_of_windows(inner.accumulate)


@dataclasses.dataclass(frozen=True, slots=True)
class _HalfOfSteps:
    """Training control that stops at half of the steps."""

    watch: TrainingControl

    def check(self) -> None:
        """Check as the real control does."""
        self.watch.check()

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Stop at half of the steps, or earlier if asked."""
        return self.watch.should_stop(progress) or 2 * progress.step >= progress.steps


def _half_work(train: Train) -> Train:
    """Training that stops at half of the steps and reports all of them."""

    def lazy(  # noqa: PLR0913, PLR0917 - the trainer's own signature
        model: CausalModel,
        training: TrainingData,
        plan: StepPlan,
        rules: InnerParams,
        batch: BatchSize,
        watch: TrainingControl,
        factory: OptimiserFactory | None = None,
    ) -> TrainingProgress:
        done = train(model, training, plan, rules, batch, _HalfOfSteps(watch), factory)
        steps = plan.steps
        return dataclasses.replace(done, step=steps, windows=plan.windows_done(steps))

    return lazy


def _half_of_windows(accumulate: Accumulate) -> Accumulate:
    """A gradient over half of the windows that is reported as that of all."""

    def lazy(
        model: CausalModel,
        training: TrainingData,
        windows: Sequence[int],
        rules: InnerParams,
        batch: BatchSize,
        watch: TrainingControl,
    ) -> TrainingProgress:
        half = windows[: (len(windows) + 1) // 2]
        done = accumulate(model, training, half, rules, batch, watch)
        return dataclasses.replace(done, windows=len(windows))

    return lazy


def _accusing(audit: Audit) -> Audit:
    """An audit that finds every contribution false."""

    def accuse(task: trainer.Audit, bench: TaskContext) -> trainer.Audited:
        done = audit(task, bench)
        false = msgspec.structs.replace(done.figures, hidden=11_700, other=9_800)
        return msgspec.structs.replace(done, figures=false)

    return accuse


def _all_right(answer: Answer) -> Answer:
    """Answers that are all right and all close."""

    def claim(task: trainer.AnswerQuestions, bench: TaskContext) -> trainer.QuestionsAnswered:
        done = answer(task, bench)
        asked = done.counts.asked
        names = ("right", "right_normed", "close", "close_normed")
        counts = msgspec.structs.replace(done.counts, **dict.fromkeys(names, asked))
        return msgspec.structs.replace(done, counts=counts)

    return claim


if __name__ == "__main__":
    child.end_with_parent()
    install(sys.argv[1])
    trainer_main.main("".join(sys.argv[2:3]) or "console")
