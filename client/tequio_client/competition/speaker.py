"""How an evaluator logs its statements, reports its progress, and paces its computing."""

from __future__ import annotations

import queue
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import trio

from tequio_client.ipc import evaluator as link
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.trainer import device
from tequio_client.worker import shutdown
from tequio_client.worker.children.evaluator import write_document
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.shutdown import first_error
from tequio_shared import encoding
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import key_from_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.ipc.evaluator import EvaluatorLimits
    from tequio_client.platform.child import ParentPipe
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body, Entry

SUBMIT_TIMEOUT_S = 300.0
"""Longest time that a statement is sent to a ledger that does not accept it."""


class StatementSubmitter(Protocol):
    """Logs statements of one key, for a program without an event loop."""

    @property
    def key(self) -> PeerKey:
        """Key that signs the statements."""

    def submit(self, body: Body, *documents: bytes) -> None:
        """Upload the documents, then log the statement; the ledger has both when it returns.

        Raises LedgerRefusedError, and UserFacingError if the ledger does not answer.
        """


class FolderSubmitter:
    """Signs with the key in a folder, which the caller has locked."""

    def __init__(self, ledger: str, folder: Path) -> None:
        self._ledger, self._folder = ledger, folder
        self.key = identity.load_or_create(folder).key

    def submit(self, body: Body, *documents: bytes) -> None:
        """See Speaker."""
        refused: BaseException | None = None
        with shutdown.explain_unreachable_ledger(self._ledger):
            try:
                trio.run(partial(submit_with_key, self._ledger, self._folder, body, *documents))
            except* LedgerRefusedError as group:
                refused = first_error(group)
        if refused is not None:
            raise refused


async def submit_with_key(ledger: str, folder: Path, body: Body, *documents: bytes) -> Entry:
    """Upload the documents, register the key if needed, and log the statement.

    The caller has locked the folder.

    Raises LedgerRefusedError and LedgerUnavailableError.
    """
    signer = identity.load_or_create(folder)
    async with LedgerApi(ledger) as api, Outbox(api, folder, signer) as outbox:
        with trio.move_on_after(SUBMIT_TIMEOUT_S):
            return await outbox.submit(body, documents=documents)
    raise LedgerUnavailableError(
        f"the ledger did not accept the statement within {SUBMIT_TIMEOUT_S:.0f} s: run this "
        "again later"
    )


class WorkerSubmitter:
    """Has the worker that started this process sign: it alone has the key and its chain."""

    def __init__(
        self, voice: ParentPipe, begin: link.BeginEvaluation, progress: ChildProgress
    ) -> None:
        self._voice, self._progress = voice, progress
        self._number = 0
        self.key = key_from_text(begin.key)
        self.folder = Path(begin.folder)
        self.answers: queue.SimpleQueue[link.StatementResult] = queue.SimpleQueue()
        """Answers to submitted statements; filled by the thread that reads the pipe."""

    def submit(self, body: Body, *documents: bytes) -> None:
        """See Speaker."""
        self._number += 1
        names = tuple(write_document(self.folder, one) for one in documents)
        text = encoding.encode(body).decode()
        self._voice.send(
            link.encode(
                link.SubmitStatement(
                    number=self._number, kind=body.TYPE, body=text, documents=names
                )
            )
        )
        while (answer := self.answers.get()).number != self._number:
            pass  # of a word that we gave up
        if answer.code == link.NOT_LOGGED:
            raise UserFacingError(answer.why)
        self._progress.completed += 1
        if answer.code:
            raise LedgerRefusedError(answer.code, answer.why)

    def report(self, line: str) -> None:
        """Tell people, by the worker's log."""
        self._voice.send(link.encode(link.EvaluatorMessage(line=line[: link.TEXT])))


OVERDUE_MS = 60_000
"""How long after its time a model may be left."""
MIN_FREE_BYTES = 512 << 20
"""Of this computer's memory, which no model may take."""
_SCORING = "documents of "


class ChildProgress:
    """Hears of all work (see WorkProgress): written by the thread that works, read by another."""

    def __init__(self, pacing: Pacing, scored: Callable[[], int]) -> None:
        """`scored` counts the models that are done."""
        self._pacing, self._scored = pacing, scored
        self.completed = 0
        """What got done: documents scored, words said."""
        self.doing = "starting"
        self.device = ""
        self.of_models = 0
        self.due_ms: int | None = None
        """By when the model at hand has to be scored."""
        self._entrant, self._documents, self._of_documents = "", 0, 0

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """See WorkProgress."""
        if not what.startswith(_SCORING):
            yield lambda _: None
            return
        self._entrant, self._documents, self._of_documents = what.removeprefix(_SCORING), 0, total
        self.doing = "scoring"
        self._pacing.begin()
        yield self._count
        self.doing = "fetching"

    def set_deadline(self, due_ms: int | None) -> None:
        """See Means."""
        self.due_ms = due_ms

    def end_reason(self, now_ms: int, resident_bytes: int, free_bytes: int) -> str:
        """Why this process ends itself, the model at hand with it; empty: it does not."""
        if self.due_ms is None:
            return ""
        if now_ms > self.due_ms + OVERDUE_MS:
            return "a model did not end within its part of the time: the others come first"
        if free_bytes < min(MIN_FREE_BYTES, resident_bytes):
            return "a model took nearly all memory: the others come first"
        return ""

    def heartbeat(self, resident_mb: int) -> link.EvaluatorHeartbeat:
        """Say how far it is."""
        return link.EvaluatorHeartbeat(
            doing=self.doing,
            entrant=self._entrant,
            documents=self._documents,
            of_documents=self._of_documents,
            models=self._scored(),
            of_models=self.of_models,
            device=self.device,
            resident_mb=resident_mb,
        )

    def _count(self, documents: int) -> None:
        self._documents += documents
        self.completed += documents


_LOOK_S = 0.1


class Pacing:
    """Rests between batches; the thread that reads the pipe replaces `limit`."""

    def __init__(self, limit: EvaluatorLimits) -> None:
        self.limit = limit
        self._since_s = time.perf_counter()

    def begin(self) -> None:
        """Reckon what is computed from now on."""
        device.limit_threads(self.limit.threads)
        self._since_s = time.perf_counter()

    def rest(self, _tokens: int = 0) -> None:
        """Sleep so that computing since the last rest takes its share of the time."""
        computed_s = time.perf_counter() - self._since_s
        rested_at_s = time.perf_counter()
        while True:
            due_s = computed_s * (100 / self.limit.share_percent - 1)
            left_s = due_s - (time.perf_counter() - rested_at_s)
            if left_s <= 0:
                break
            time.sleep(min(left_s, _LOOK_S))
        self.begin()
