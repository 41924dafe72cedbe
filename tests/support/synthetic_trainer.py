"""A trainer without a neural network: it obeys commands, writes real files, computes real heads.

Its "training" depends on round, head, trainer and the given error feedback, so a test can tell from
the log which feedback a contribution started from. Its claimed losses differ each time: training
twice for one round never gives the same header. The file that the environment variable
PYTHON_PAPER_DIARY names gets a line for each training and each evaluation. With
PYTHON_PAPER_BROKEN it sends bytes that no encoder makes, under the right hash; with
PYTHON_PAPER_STARTS_OVER it leaves out the error feedback that it is given, and with
PYTHON_PAPER_RANKS, a number, it says that as many ranks share its work.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.ipc import trainer as link
from tequio_client.trainer.steps import StepFiles, follow_step, step_rule, write_step
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    LEVELS,
    ContributionHeader,
    Records,
    RecordShape,
    contribution_id,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import OuterStep, advance
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import (
    HeadHash,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.log import merkle
from tequio_shared.multiple_choice import ChoiceTask
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import TaskCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tequio_shared.ids import Digest

DIARY, BROKEN = "PYTHON_PAPER_DIARY", "PYTHON_PAPER_BROKEN"
STARTS_OVER, PAPER_RANKS = "PYTHON_PAPER_STARTS_OVER", "PYTHON_PAPER_RANKS"
SCALES = 126, 165
"""Smallest and largest scale of a chunk: between those of a newcomer's real contribution to a small
model and a veteran's, which has an error feedback."""
GAIN = 1_000
"""The gain of every contribution."""
TRAINING_S = 0.3
UNWRITTEN = 13
"""Round of a head that fails to write a sample."""
BEAT_S = 0.1

_writing = threading.Lock()
_doing = "resting"


def training_seed(run: str, round_: int, head: str, trainer: str, feedback: bytes) -> Digest:
    """The seed of a contribution's payload and feedback."""
    return sha256(f"{run} {round_} {head} {trainer} ".encode(), sha256(feedback))


def payload_of(seed: Digest, manifest: Manifest, k: int) -> bytes:
    """The payload that training with this seed gives."""
    shape = shape_of(manifest, k)
    chance = np.random.default_rng(int.from_bytes(seed, "big"))
    rows = [np.sort(chance.permutation(CHUNK)[:k]) for _ in range(manifest.chunks)]
    records = Records(
        scales=chance.integers(*SCALES, manifest.chunks, np.uint8, endpoint=True),
        indices=np.stack(rows).astype(np.uint16),
        levels=chance.choice(LEVELS[shape.bits], (manifest.chunks, k)).astype(np.int8),
    )
    return encode_records(records, shape)


def feedback_of(seed: Digest, manifest: Manifest) -> bytes:
    """The error feedback that training with this seed leaves."""
    chance = np.random.default_rng(int.from_bytes(sha256(seed), "big"))
    return chance.bytes(2 * manifest.layout.elements)


def shape_of(manifest: Manifest, k: int) -> RecordShape:
    """The shape of the round's records."""
    return RecordShape(algorithm=manifest.algorithm.name, k=k, bits=manifest.algorithm.bits)


def main() -> None:
    """Obey commands until the input ends."""
    threading.Thread(target=_beat, daemon=True).start()
    send(link.TrainerHello(pid=os.getpid(), software="paper"))
    manifest: Manifest | None = None
    for line in sys.stdin.buffer:
        match link.decode_command(line):
            case link.Prepare() as command:
                manifest = Manifest.parse(Path(command.manifest).read_bytes())
                send(_ready(command, manifest))
            case link.Rest(command=number):
                send(link.Resting(command=number))
            case link.Train() as command if manifest:
                send(_trained(command, manifest))
            case link.Screen() | link.MeasureGains() as command:
                send(_screened(command) if isinstance(command, link.Screen) else _measured(command))
            case (link.Advance() | link.Follow()) as command if manifest:
                send(
                    _advanced(command, manifest)
                    if isinstance(command, link.Advance)
                    else _followed(command, manifest)
                )
            case link.Evaluate() | link.Continue() | link.AnswerQuestions() as command:
                send(_of_head(command))


def send(report: link.Report) -> None:
    """Write one report."""
    with _writing:
        sys.stdout.buffer.write(link.encode(report))
        sys.stdout.buffer.flush()


def _beat() -> None:
    while True:
        send(
            link.TrainerHeartbeat(command=0, doing=_doing, step=1, steps=1, tokens=0, resident_mb=1)
        )
        time.sleep(BEAT_S)


def _ready(command: link.Prepare, manifest: Manifest) -> link.TrainerReady:
    return link.TrainerReady(
        command=command.command,
        device="cpu",
        device_name="paper",
        precision="float32",
        memory_mb=0,
        parameters=manifest.layout.parameters,
        torch="none",
        rank_work=(1,) * int(os.environ.get(PAPER_RANKS, "1")),
    )


def _trained(command: link.Train, manifest: Manifest) -> link.Trained:
    global _doing  # noqa: PLW0603 - read by the heartbeat thread
    _doing = "training"
    time.sleep(TRAINING_S)
    _doing = "resting"
    starts_over = STARTS_OVER in os.environ
    given = None if starts_over else command.feedback_in
    before = Path(given).read_bytes() if given else b""
    seed = training_seed(command.run, command.round, command.head, command.trainer, before)
    payload, feedback = payload_of(seed, manifest, command.k), feedback_of(seed, manifest)
    if BROKEN in os.environ:
        payload = b"\xff" + payload[1:]  # no scale is as large
    Path(command.payload_out).write_bytes(payload)
    Path(command.feedback_out).write_bytes(feedback)
    Path(command.delta_out).write_bytes(bytes(4))
    header = _header(command, manifest, payload, feedback)
    _write_diary(f"trained {command.round}")
    return link.Trained(
        command=command.command,
        round=command.round,
        header=to_text(header.pack()),
        contribution=to_text(contribution_id(header.pack())),
        payload_root=to_text(header.payload_root),
        payload_bytes=len(payload),
        windows=header.window_count,
        steps=header.inner_steps,
        tokens=header.tokens,
        train_seconds=TRAINING_S,
        seconds=TRAINING_S,
        loss_first=1.0,
        loss_last=1.0,
        starts_over=starts_over,
    )


def _header(
    command: link.Train, manifest: Manifest, payload: bytes, feedback: bytes
) -> ContributionHeader:
    windows = sum(count for _, count in command.windows)
    rows = np.frombuffer(feedback, np.uint8).reshape(-1, 2 * CHUNK)
    chance = int.from_bytes(os.urandom(3), "big")
    return ContributionHeader(
        algorithm=ALGORITHM_CODES[manifest.algorithm.name],
        bits=manifest.algorithm.bits,
        k=command.k,
        inner_steps=manifest.inner.steps,
        chunk_count=manifest.chunks,
        round=command.round,
        window_first=command.windows[0][0],
        window_count=windows,
        tokens=windows * manifest.windows.tokens,
        run_id=RunId(from_text(command.run)),
        base_head=HeadHash(from_text(command.head)),
        trainer=key_from_text(command.trainer),
        payload_root=payload_root(payload, shape_of(manifest, command.k)),
        feedback_root=merkle.root(row.tobytes() for row in rows),
        claimed_loss_first_q16=chance,
        claimed_loss_last_q16=chance,
    )


def _screened(command: link.Screen) -> link.Screened:
    verdicts = tuple(
        link.ScreeningVerdict(
            slot=one.slot,
            contribution=to_text(contribution_id(from_text(one.header, None))),
            reason="",
        )
        for one in command.candidates
    )
    return link.Screened(
        command=command.command, round=command.round, verdicts=verdicts, seconds=0.0
    )


def _measured(command: link.MeasureGains) -> link.GainsMeasured:
    return link.GainsMeasured(
        command=command.command,
        round=command.round,
        gains=tuple(sorted((one.slot, GAIN) for one in command.slots)),
        seconds=0.0,
    )


def _advanced(command: link.Advance, manifest: Manifest) -> link.AdvanceReport:
    step = OuterStep(
        run_id=RunId(from_text(command.run)),
        round=command.round,
        parent=HeadHash(digest_from_text(command.parent)),
        layout=manifest.layout,
        params=manifest.outer_params(command.round, command.k),
    )
    weights: NDArray[np.int32] = np.fromfile(command.weights, "<i4")
    members = [
        (from_text(one.header, None), Path(one.payload).read_bytes())
        for one in command.contributions
    ]
    aux = np.fromfile(command.aux, step.params.aux_dtype) if command.aux else None
    made = advance(step, weights, aux, members)
    made.weights.astype("<i4").tofile(command.weights_out)
    if command.aux_out and made.aux is not None:
        made.aux.tofile(command.aux_out)
    if command.step_out:
        files = StepFiles(
            before=Path(command.weights),
            after=Path(command.weights_out),
            step=Path(command.step_out),
        )
        write_step(manifest.layout, step_rule(manifest, command.round), files)
    return link.AdvanceReport(
        command=command.command,
        round=command.round,
        head=to_text(made.hash),
        weights_root=to_text(made.weights_root),
        aux_root=to_text(made.aux_root),
        set_root=to_text(made.set_root),
        kept=(),
        seconds=0.0,
    )


def _followed(command: link.Follow, manifest: Manifest) -> link.Followed:
    files = StepFiles(
        before=Path(command.weights), after=Path(command.weights_out), step=Path(command.step)
    )
    root = follow_step(manifest.layout, step_rule(manifest, command.round), files)
    return link.Followed(
        command=command.command,
        round=command.round,
        weights_root=to_text(root),
        seconds=0.0,
    )


def _of_head(command: link.Evaluate | link.Continue | link.AnswerQuestions) -> link.Report:
    match command:
        case link.Evaluate():
            return _evaluated(command)
        case link.Continue():
            return _continued(command)
        case link.AnswerQuestions():
            return _answered(command)


def _evaluated(command: link.Evaluate) -> link.Evaluated:
    """Report one document of `max_tokens` tokens, at two bytes and six bits per token."""
    _write_diary(f"evaluate {command.first_document}")
    time.sleep(TRAINING_S)
    tokens = command.max_tokens
    return link.Evaluated(
        command=command.command,
        round=command.round,
        bits_per_byte=3.0,
        millibits=6_000 * tokens,
        perplexity=64.0,
        documents=1,
        tokens=tokens,
        text_bytes=2 * tokens,
        sample="",
        seconds=0.0,
    )


def _continued(command: link.Continue) -> link.Report:
    """Name the requested document as the text; fail for the head of round 13."""
    if command.round == UNWRITTEN:
        return link.Failed(command=command.command, code="memory", reason="no room to write")
    text = f" of document {command.document}"
    return link.Continued(
        command=command.command, round=command.round, prompt="Words", text=text, seconds=0.0
    )


def _answered(command: link.AnswerQuestions) -> link.Report:
    """Answer every other question right, from the first of the slice; fail for round 13."""
    _write_diary(f"answer {command.first}")
    if command.round == UNWRITTEN:
        return link.Failed(command=command.command, code="memory", reason="no room to answer")
    time.sleep(TRAINING_S)
    left = len(ChoiceTask.parse(Path(command.task).read_bytes()).questions) - command.first
    asked = min(command.count, left)
    counts = TaskCounts(
        asked=asked, right=(asked + 1) // 2, right_normed=asked // 2, close=1, close_normed=0
    )
    return link.QuestionsAnswered(
        command=command.command, round=command.round, counts=counts, unread=0, seconds=0.0
    )


def _write_diary(line: str) -> None:
    path = os.environ.get(DIARY)
    if path:
        with Path(path).open("a") as diary:
            diary.write(line + "\n")


if __name__ == "__main__":
    main()
