"""The trainer's tasks: train, screen, measure gains, audit, advance, follow.

A task reads and writes files that its message names. Between blocks of computing it calls
`TaskContext.check`, which rests, and ends it as soon as the worker wants something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray

from tequio_client.ipc import trainer
from tequio_client.ipc.cell import TakeSteps
from tequio_client.trainer import (
    audit,
    codecs,
    gain,
    head_tasks,
    prepared,
    ranks,
    screen,
    steps,
)
from tequio_client.trainer import head as heads
from tequio_client.trainer.cell import SampleSource, SharedSamples
from tequio_client.trainer.codecs import EncodedContribution, OuterAlgorithm
from tequio_client.trainer.device import is_out_of_memory
from tequio_client.trainer.head import ComputedHead, HeadFiles
from tequio_client.trainer.inner import StepPlan, TrainingProgress
from tequio_client.trainer.main import ModelTask
from tequio_client.trainer.pacing import Pacing
from tequio_client.trainer.prepared import (
    PreparedModel,
    TrainingData,
)
from tequio_client.trainer.steps import StepFiles
from tequio_client.trainer.task_context import NonFiniteError, TaskContext
from tequio_shared.errors import UserFacingError
from tequio_shared.head import contribution
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    ContributionHeader,
    ExpectedContribution,
    WindowAssignment,
)
from tequio_shared.head.head import OuterStep
from tequio_shared.ids import HeadHash, RunId, from_text, key_from_text, sha256, to_text

_Q15, _Q16 = 1 << 15, 1 << 16
_I32_MOST = 2**31 - 1
log = structlog.get_logger(__name__)


def run(context: TaskContext) -> trainer.CommandReport:
    """Run the task and return its report; raises TaskReplacedError, and what fails it."""
    match context.task:
        case trainer.Train() | trainer.Audit() | trainer.MeasureGains():
            context.setup.check_trains()
        case trainer.Evaluate() | trainer.Continue() | trainer.AnswerQuestions():
            context.setup.check_trains(needs_loader=False)
    # Any: a function takes the kind of task that it stands beside.
    runners: Mapping[type[ModelTask], Callable[[Any, TaskContext], trainer.CommandReport]] = {
        trainer.Train: train,
        trainer.Screen: screen_candidates,
        trainer.MeasureGains: measure_gains,
        trainer.Audit: audit_contribution,
        trainer.Advance: advance,
        trainer.Follow: follow,
        trainer.Evaluate: head_tasks.evaluate_head,
        trainer.Continue: head_tasks.continue_text,
        trainer.AnswerQuestions: head_tasks.answer_questions,
    }
    return runners[type(context.task)](context.task, context)


def train(task: trainer.Train, context: TaskContext) -> trainer.Trained:
    """Take the inner steps and write the contribution; raises NonFiniteError."""
    setup = context.setup
    context.activity.start(task.command, "training")
    plan = StepPlan.from_ranges(task.windows, setup.manifest.inner.steps)

    def must_end() -> bool:
        is_late = 0 < task.stop_after_ms <= context.elapsed_s * 1e3
        return is_late or context.queue.should_finish(task)

    work = _RepeatableWork(key=task.trainer, round=task.round, plan=plan)
    master, done = _inner_steps(task, context, work, must_end)
    context.activity.doing = "encoding"
    context.hurry()
    encoded = _encoded(task, setup, master, context.pacing)
    return _trained(task, context, done, encoded)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RepeatableWork:
    """Everything that inner steps depend on besides head and data: key, round and plan."""

    key: str
    round: int
    plan: StepPlan


def _inner_steps(
    task: trainer.Train | trainer.Audit,
    context: TaskContext,
    work: _RepeatableWork,
    must_end: Callable[[], bool],
) -> tuple[NDArray[np.int32], TrainingProgress]:
    """Take the steps of that work; returns the head that they started from."""
    setup, lead = context.setup, context.lead
    training: SampleSource = _training_data(setup, task.shards)
    master = setup.map_master(task.weights)
    setup.model.load(master, setup.layout)
    watch = _Watch(context=context, must_end=must_end)
    steps = TakeSteps(
        round=work.round,
        windows=work.plan.ranges,
        steps=work.plan.steps,
        # Seeded by head and trainer, randomness is the same when the contribution is repeated.
        seed=int.from_bytes(sha256(task.head.encode(), work.key.encode())[:6], "big"),
        sends_gradients=_algorithm(setup, task.k).sends_gradients,
        samples=setup.batch.samples,
        threads=setup.prepare.threads,
        memory_mb=setup.prepare.memory_mb,
    )
    if lead is None:
        return master, ranks.take_steps(setup, training, steps, watch)
    shared = SharedSamples(
        cell=lead.cell,
        sequence=setup.corpus.sequence,
        window_samples=training.window_samples,
        source=training,
    )
    with lead.steps(steps):
        done = ranks.take_steps(setup, shared, steps, watch)
    return master, done


def _training_data(setup: PreparedModel, shards: Sequence[trainer.Shard]) -> TrainingData:
    windows = setup.manifest.windows
    return TrainingData.open(
        setup.corpus,
        [(shard.index, Path(shard.path)) for shard in shards],
        seed=windows.seed,
        window_samples=windows.samples,
        loader=setup.plugin.loader if setup.plugin else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Stops training when the task is replaced, or must end."""

    context: TaskContext
    must_end: Callable[[], bool]

    def check(self) -> None:
        # Without a rest: an accelerator still computes what a part of a step has begun.
        self.context.apply_limits()

    def should_stop(self, progress: TrainingProgress) -> bool:
        activity = self.context.activity
        activity.step, activity.steps = progress.step, progress.steps
        activity.tokens = progress.tokens
        self.context.rest_until(self.must_end)
        return self.must_end()


def _encoded(
    task: trainer.Train, setup: PreparedModel, master: NDArray[np.int32], pacing: Pacing
) -> EncodedContribution:
    feedback = None
    if task.feedback_in is not None:
        name = "error feedback of the last contribution"
        feedback = setup.map_elements(task.feedback_in, "<u2", name)
    algorithm = _algorithm(setup, task.k)
    delta = _write_delta(task.delta_out, setup, master, algorithm)
    pacing.rest()
    encoded = codecs.encode_auditable(
        algorithm,
        setup.layout,
        delta,
        feedback,
        threads=setup.prepare.threads,
        pacing=pacing,
    )
    if encoded.feedback is not None:
        prepared.write(Path(task.feedback_out), encoded.feedback.astype("<u2", copy=False).data)
    prepared.write(Path(task.payload_out), encoded.payload)
    return encoded


def _write_delta(
    path: str, setup: PreparedModel, master: NDArray[np.int32], algorithm: OuterAlgorithm
) -> NDArray[np.float32]:
    """Write the pseudo-gradient since `master` to a file, which stays mapped."""
    # A file, not memory: a witness screens the others against it later in the round. It has its
    # name at once, since Windows renames nothing that is mapped; who reports it has written it.
    delta: NDArray[np.float32] = np.memmap(path, "<f4", "w+", shape=(setup.layout.elements,))
    if algorithm.sends_gradients:
        is_finite = setup.model.write_gradient(setup.layout, delta)
    else:
        is_finite = setup.model.write_delta(master, setup.layout, delta)
    if not is_finite:
        raise NonFiniteError("training gave infinite or NaN numbers; nothing to send")
    return delta


def _algorithm(setup: PreparedModel, k: int) -> OuterAlgorithm:
    rules = setup.manifest
    return codecs.outer_algorithm(rules.algorithm, k, rules.inner.feedback_q15 / _Q15)


def _trained(
    task: trainer.Train, context: TaskContext, done: TrainingProgress, encoded: EncodedContribution
) -> trainer.Trained:
    shape, tokens = context.setup.record_shape(task.k), context.setup.manifest.windows.tokens
    header = ContributionHeader(
        algorithm=ALGORITHM_CODES[shape.algorithm],
        bits=shape.bits,
        k=shape.k,
        inner_steps=done.step,
        chunk_count=context.setup.layout.chunks,
        round=task.round,
        window_first=task.windows[0][0],
        window_count=done.windows,
        tokens=done.windows * tokens,
        run_id=RunId(from_text(task.run)),
        base_head=HeadHash(from_text(task.head)),
        trainer=key_from_text(task.trainer),
        payload_root=encoded.payload_root,
        feedback_root=encoded.feedback_root,
        claimed_loss_first_q16=_q16(done.loss_first),
        claimed_loss_last_q16=_q16(done.loss_last),
    ).pack()
    return trainer.Trained(
        command=task.command,
        round=task.round,
        header=to_text(header),
        contribution=to_text(contribution.contribution_id(header)),
        payload_root=to_text(encoded.payload_root),
        payload_bytes=len(encoded.payload),
        windows=done.windows,
        steps=done.step,
        tokens=done.windows * tokens,
        train_seconds=done.seconds,
        seconds=context.elapsed_s,
        loss_first=done.loss_first,
        loss_last=done.loss_last,
        starts_over=encoded.starts_over,
    )


def _q16(loss: float) -> int:
    return min(int(loss * _Q16), _I32_MOST) if math.isfinite(loss) else _I32_MOST


def screen_candidates(task: trainer.Screen, context: TaskContext) -> trainer.Screened:
    """Measure every candidate as a witness."""
    context.activity.start(task.command, "screening")
    context.hurry()
    witness = _witness(task, context.setup, context.pacing)
    candidates = [_candidate(one, task, context.setup) for one in task.candidates]
    verdicts = screen.screen(candidates, witness)
    return trainer.Screened(
        command=task.command, round=task.round, verdicts=verdicts, seconds=context.elapsed_s
    )


def _witness(task: trainer.Screen, setup: PreparedModel, pacing: Pacing) -> screen.WitnessContext:
    own_delta = None
    if task.own_delta is not None:
        own_delta = setup.map_elements(task.own_delta, "<f4", "witness's own pseudo-gradient")
    return screen.WitnessContext(
        layout=setup.layout,
        steps=setup.manifest.inner.steps,
        rng=np.random.default_rng(),  # seeded by the system: nobody may predict the sample
        past=[
            (from_text(one.header, contribution.HEADER_BYTES), Path(one.payload))
            for one in task.past
        ],
        own_delta=own_delta,
        own_slot=task.own_slot,
        overlap_most=screen.MAX_ADAPTER_OVERLAP if setup.manifest.frozen else screen.MAX_OVERLAP,
        threads=setup.prepare.threads,
        pacing=pacing,
    )


def _candidate(
    one: trainer.ScreenCandidate, task: trainer.Screen | trainer.Audit, setup: PreparedModel
) -> screen.ScreenedCandidate:
    assigned = WindowAssignment(
        first=one.windows[0][0], count=sum(count for _, count in one.windows)
    )
    return screen.ScreenedCandidate(
        slot=one.slot,
        header=from_text(one.header, contribution.HEADER_BYTES),
        seal=from_text(one.seal),
        payload=Path(one.payload),
        expected=ExpectedContribution(
            shape=setup.record_shape(task.k),
            chunks=setup.layout.chunks,
            run_id=RunId(from_text(task.run)),
            round=task.round,
            base_head=HeadHash(from_text(task.head)),
            assigned={key_from_text(one.trainer): assigned},
            window_tokens=setup.manifest.windows.tokens,
            max_inner_steps=setup.manifest.algorithm.max_inner_steps,
        ),
    )


def measure_gains(task: trainer.MeasureGains, context: TaskContext) -> trainer.GainsMeasured:
    """Measure how much more contributions help on their own windows; raises UserFacingError."""
    context.activity.start(task.command, "measuring")
    context.hurry()
    setup = context.setup
    measured = gain.GainContext(
        model=setup.model,
        layout=setup.layout,
        params=setup.manifest.outer_params(task.round, task.k),
        master=setup.map_master(task.weights),
        data=_training_data(setup, task.shards),
        batch=setup.batch,
        check=context.check,
    )
    gains = gain.measure_gains(
        measured,
        {one.slot: np.memmap(one.payload, np.uint8, "r") for one in task.slots},
        {one.slot: one.windows for one in task.slots},
        task.control,
        task.stop_after_ms / 1000,
    )
    return trainer.GainsMeasured(
        command=task.command,
        round=task.round,
        gains=tuple(sorted(gains.items())),
        seconds=context.elapsed_s,
    )


def audit_contribution(task: trainer.Audit, context: TaskContext) -> trainer.Audited:
    """Repeat a contribution's training and compare; raises UserFacingError for an invalid one."""
    context.activity.start(task.command, "auditing")
    setup, audited = context.setup, task.audited
    candidate = _candidate(audited, task, setup)
    if rule := screen.broken_rule(candidate, setup.layout):
        raise UserFacingError(
            f"the contribution of slot {audited.slot} is not valid ({rule}); only valid ones are "
            "audited"
        )
    model = audit.AuditedModel(
        layout=setup.layout,
        hidden=setup.model.hidden,
        algorithm=_algorithm(setup, task.k),
        threads=setup.prepare.threads,
        pacing=context.pacing,
    )
    header = ContributionHeader.parse(candidate.header)
    plan = audit.repeated_plan(header, audited.windows)
    work = _RepeatableWork(key=audited.trainer, round=header.round, plan=plan)
    seed = from_text(task.seed)
    # It ends early for nothing: half of the steps would convict an honest trainer.
    master, done = _inner_steps(task, context, work, lambda: False)
    before, after = audit.opened_files(task, context.apply_limits)
    context.hurry()
    context.pacing.begin()
    leaves = audit.OpenedLeaves.read(task.chunks, setup.layout, before, after)
    delta = _write_delta(task.delta_out, setup, master, model.algorithm)
    figures = audit.measure(model, delta, np.memmap(candidate.payload, np.uint8, "r"), leaves)
    is_gradient = model.algorithm.sends_gradients
    pacing = context.pacing
    sketch = audit.sketch(delta, seed, has_unit_chunks=is_gradient, pacing=pacing)
    checked = audit.check_sketches(delta, task.earlier, has_unit_chunks=is_gradient, pacing=pacing)
    return trainer.Audited(
        command=task.command,
        round=task.round,
        contribution=to_text(contribution.contribution_id(candidate.header)),
        figures=figures,
        sketch=sketch,
        checked=checked,
        loss_first=done.loss_first,
        loss_last=done.loss_last,
        train_seconds=done.seconds,
        seconds=context.elapsed_s,
    )


def advance(task: trainer.Advance, context: TaskContext) -> trainer.AdvanceReport:
    context.activity.start(task.command, "advancing")
    context.hurry()
    setup = context.setup
    step = OuterStep(
        run_id=RunId(from_text(task.run)),
        round=task.round,
        parent=HeadHash(from_text(task.parent)),
        layout=setup.layout,
        params=setup.manifest.outer_params(task.round, task.k),
    )
    members = [
        (from_text(one.header, contribution.HEADER_BYTES), Path(one.payload))
        for one in task.contributions
    ]

    def compute(where: str) -> ComputedHead:
        return heads.compute_next_head(
            step=step,
            contributions=members,
            files=HeadFiles(
                weights_in=Path(task.weights),
                weights_out=Path(task.weights_out),
                aux_in=Path(task.aux) if task.aux else None,
                aux_out=Path(task.aux_out) if task.aux_out else None,
            ),
            engine=heads.engine_for(step, where),
            threads=setup.prepare.threads,
            pacing=context.pacing,
        )

    new: ComputedHead | None = None
    try:
        new = compute(setup.device.label)
    except RuntimeError as err:
        if not is_out_of_memory(err):
            raise
        log.warning("no room for the outer step: the processor takes it", device=setup.device.label)
    if new is None:  # not while the error is handled: it holds tensors
        setup.device.release_memory()
        new = compute("cpu")
    if task.step_out:
        files = StepFiles(
            before=Path(task.weights), after=Path(task.weights_out), step=Path(task.step_out)
        )
        context.pacing.begin()
        rule = steps.step_rule(setup.manifest, task.round)
        steps.write_step(setup.layout, rule, files, context.pacing)
    kept = sorted(contribution.contribution_id(members[at][0]) for at in new.kept)
    return trainer.AdvanceReport(
        command=task.command,
        round=task.round,
        head=to_text(new.head),
        weights_root=to_text(new.weights_root),
        aux_root=to_text(new.aux_root),
        set_root=to_text(new.set_root),
        kept=tuple(map(to_text, kept)),
        seconds=context.elapsed_s,
    )


def follow(task: trainer.Follow, context: TaskContext) -> trainer.Followed:
    """Apply a step; raises MalformedError for a file that holds none."""
    context.activity.start(task.command, "advancing")
    context.hurry()
    root = steps.follow_step(
        context.setup.layout,
        steps.step_rule(context.setup.manifest, task.round),
        StepFiles(before=Path(task.weights), after=Path(task.weights_out), step=Path(task.step)),
        context.pacing,
    )
    return trainer.Followed(
        command=task.command,
        round=task.round,
        weights_root=to_text(root),
        seconds=context.elapsed_s,
    )
