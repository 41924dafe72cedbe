"""The evaluator as a worker's child: it scores in one competition, and has no key to speak with.

Three threads: one listens, one says every second how far it is, the first one works. The listener
ends the process at once when the worker is gone or wants the device back; the journal knows what
is scored (`scores`), so the next child goes on from there. A model that hangs, or takes all memory,
ends the process, and the next child turns to the others first. With nothing to do for a while,
because it waits for others, the child exits, so that a trainer can use the device
meanwhile.
"""

from __future__ import annotations

import os
import psutil
import shutil
import signal
import structlog
import sys
import threading
import time
import traceback
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from tequio_client.clock import now_ms
from tequio_client.competition.evaluator import Evaluator, EvaluatorContext
from tequio_client.competition.speaker import ChildProgress, Pacing, WorkerSubmitter
from tequio_client.ipc import evaluator as link
from tequio_client.platform.child import ParentPipe
from tequio_client.runtime import configure_logging, locked
from tequio_client.trainer import device as devices
from tequio_client.verify.folded_log import LedgerReader
from tequio_client.worker.children import evaluator as children_evaluator, evaluator as evaluator_child
from tequio_client.worker.shutdown import first_error
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.ids import digest_from_text
from tequio_shared.log.policy import Policy
from typing import IO, NoReturn, TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_shared.ids import Digest


log = structlog.get_logger(__name__)

HEARTBEAT_S = 1.0
POLL_S = 1.0
IDLE_S = 10.0
"""Without anything to do for so long, it ends for now."""
FORMER_CHILD_S = 5.0
"""How long a former child, whose worker was killed, may take to notice that."""
_SOON_S = 0.2
_MIB = 1 << 20


def main() -> NoReturn:
    """Work as the worker says on our input, until there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent
    configure_logging(style="console")
    voice, lines = ParentPipe(), sys.stdin.buffer
    begin = link.decode_to_child(lines.readline(link.LINE_BYTES + 1))
    if not isinstance(begin, link.BeginEvaluation):
        raise MalformedError("the first line must say where to begin")
    pacing = Pacing(begin.limit)
    folder, competition = Path(begin.folder), digest_from_text(begin.competition)
    progress = ChildProgress(
        pacing, partial(evaluator_child.count_scored_models, folder, competition)
    )
    speaker = WorkerSubmitter(voice, begin, progress)
    for act in (partial(_beat, progress, voice), partial(_listen, lines, pacing, speaker)):
        threading.Thread(target=act, daemon=True).start()
    _be_first_to_go()
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # cuda:0 is the probe's first card
    status = 1
    try:
        voice.send(
            link.encode(link.EvaluationDone(is_over=_evaluate(begin, speaker, progress, pacing)))
        )
        status = 0
    except* (TequioError, OSError) as group:
        speaker.report(str(first_error(group)))
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        os._exit(status)  # an ordinary exit would wait for the thread that listens


def _be_first_to_go() -> None:
    """Have Linux kill this process first when memory runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _evaluate(
    begin: link.BeginEvaluation, speaker: WorkerSubmitter, progress: ChildProgress, pacing: Pacing
) -> bool:
    chosen = devices.open_device(begin.device)
    devices.apply_limits(chosen, threads=begin.limit.threads, memory_mb=begin.memory_mb)
    progress.device = chosen.label
    competition = digest_from_text(begin.competition)
    reader = LedgerReader(begin.ledger, Policy.parse(begin.trust.encode()) if begin.trust else None)
    means = EvaluatorContext(
        folder=speaker.folder,
        device=chosen,
        progress=progress,
        report=speaker.report,
        after_batch=pacing.rest,
        set_deadline=progress.set_deadline,
    )
    with ExitStack() as stack:
        _be_alone(stack, children_evaluator.competition_folder(speaker.folder, competition).parent)
        progress.doing = "reading"
        reader.read()
        is_over = _work(reader, competition, Evaluator(reader, means, speaker), progress)
    if is_over:
        shutil.rmtree(evaluator_child.hub_cache(speaker.folder), ignore_errors=True)
    return is_over


def _be_alone(stack: ExitStack, folder: Path) -> None:
    """Have the folder for ourselves, as soon as a former child is gone; raises UserFacingError."""
    deadline_s = time.monotonic() + FORMER_CHILD_S
    while True:
        try:
            stack.enter_context(locked(folder))
        except UserFacingError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(_SOON_S)
        else:
            return


def _work(
    reader: LedgerReader, competition: Digest, evaluator: Evaluator, progress: ChildProgress
) -> bool:
    """Step after step; whether nothing is left to do, else there is nothing for now."""
    idle_since_s: float | None = None
    while True:
        view = reader.competitions.get(competition)
        if view is None:
            raise UserFacingError(f"the log at {reader.ledger} has no such competition")
        deeds = progress.completed
        progress.doing, progress.of_models = "fetching", len(view.submissions)
        if not evaluator.step(view):
            return True
        if progress.completed != deeds:
            idle_since_s = None
        else:
            idle_since_s = idle_since_s or time.monotonic()
            progress.doing = "waiting"
            if time.monotonic() - idle_since_s > IDLE_S:
                return False
        time.sleep(POLL_S)
        reader.read()


def _listen(lines: IO[bytes], pacing: Pacing, speaker: WorkerSubmitter) -> NoReturn:
    while line := lines.readline(link.LINE_BYTES + 1):
        match link.decode_to_child(line):
            case link.EvaluatorLimits() as limit:
                pacing.limit = limit
            case link.StatementResult() as answer:
                speaker.answers.put(answer)
    os._exit(0)


def _beat(progress: ChildProgress, voice: ParentPipe) -> NoReturn:
    process = psutil.Process()
    while True:
        resident_bytes = process.memory_info().rss
        voice.send(link.encode(progress.heartbeat(resident_bytes // _MIB)))
        free_bytes = psutil.virtual_memory().available
        if why := progress.end_reason(now_ms(), resident_bytes, free_bytes):
            voice.send(link.encode(link.EvaluatorMessage(line=why)))
            os._exit(1)
        time.sleep(HEARTBEAT_S)
