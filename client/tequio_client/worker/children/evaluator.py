"""The evaluator child: it scores models, and the worker signs and sends its statements.

Rules beside those of `process`. The child works in one competition and gets no key: a statement
that it asks for must be one of an evaluator, about that very competition. Documents that go with a
statement, and the scores, lie in the worker's folder below `evaluations`, where both programs know
their place; below `secret_file.FOLDER`, that is.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import structlog
import trio

from tequio_client.ipc import evaluator as link
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.names import cleaned
from tequio_client.worker import secret_file
from tequio_client.worker.children.process import ChildProcess, ChildProgram
from tequio_client.worker.children.trainer import trainer_environment
from tequio_client.worker.ledger.outbox import SUBMIT_S
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statements import BODIES, VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from tequio_shared.ids import Digest
    from tequio_shared.statements import Body

log = structlog.get_logger(__name__)

EVALUATOR = (sys.executable, "-m", "tequio_client.competition")
SILENCE_S = 60.0
STATEMENT_TYPES = "eval."
"""How the types of statements begin that evaluators make."""
_LINE_VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)


class EvaluatorEnd(StrEnum):
    """How the life of an evaluator ended."""

    OVER = "over"
    """Nothing is left to do in the competition."""
    RESTING = "resting"
    """Nothing is to be done for now."""
    DISMISSED = "dismissed"
    """It may not compute any more."""
    FAILED = "failed"


def evaluator_program(folder: Path) -> ChildProgram:
    """The evaluator of the worker in that folder."""
    return ChildProgram(
        command=EVALUATOR,
        environment=evaluator_environment(folder),
        line_bytes=link.LINE_BYTES,
        silence_s=SILENCE_S,
    )


def evaluator_environment(folder: Path) -> dict[str, str]:
    """The environment of an evaluator, which connects to the ledger and the Hub by itself."""
    line = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _LINE_VARIABLES or name == "HF_ENDPOINT"
    }
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    hub = {"HF_HUB_CACHE": str(hub_cache(folder))}
    return {**trainer_environment(folder), **line, **quiet, **hub}


class EvaluatorProcess:
    """Owner of the evaluator child."""

    def __init__(
        self,
        program: ChildProgram,
        submit: Callable[[Body, Sequence[bytes]], Awaitable[object]],
        device: trio.Lock,
    ) -> None:
        """Forbidden at first. `submit` is the outbox's; `device` is shared with the trainer."""
        self.child = ChildProcess(program, device)
        self._submit = submit
        # Of the child at work; owned by `run_once`.
        self._begin: link.Begin | None = None
        self._done: link.Done | None = None
        self._alive: link.Alive | None = None
        self.why = ""
        """Why the last child failed."""

    @property
    def alive(self) -> link.Alive | None:
        """The last heartbeat of the running child."""
        return self._alive if self.child.is_running else None

    @property
    def competition(self) -> str:
        """The competition in which the child works; empty when there is no child."""
        return self._begin.competition if self._begin else ""

    def limit(self, begin: link.Begin) -> None:
        """Give the child the limits that one starting now would get; for another device, end it."""
        now = self._begin
        if now is None or (now.limit == begin.limit and now.device == begin.device):
            return
        if now.device != begin.device:  # it holds memory on that device until it ends
            self.child.stop()
        self._begin = begin
        self.child.send(link.encode(begin.limit))

    async def run_once(self, make: Callable[[], link.Begin]) -> EvaluatorEnd:
        """Wait until a child may work, and run it to its end; `make` is called at its start."""

        def first_lines() -> Iterator[bytes]:
            self._begin, self._alive = make(), None
            log.info("evaluator started", pid=self.child.pid, competition=self.competition[:10])
            yield link.encode(self._begin)

        self._done = None
        try:
            reason = await self.child.run_once(first_lines, self._on_line)
        finally:
            self._begin = None
        end = self._end(reason)
        self.why = reason or "" if end is EvaluatorEnd.FAILED else ""
        log.info("evaluator ended", end=str(end), why=self.why)
        return end

    def _end(self, reason: str | None) -> EvaluatorEnd:
        if self._done is not None:  # what it has reported holds, also if it is forbidden just then
            return EvaluatorEnd.OVER if self._done.is_over else EvaluatorEnd.RESTING
        return EvaluatorEnd.DISMISSED if reason is None else EvaluatorEnd.FAILED

    def _on_line(self, line: bytes) -> None:
        match link.decode_from_child(line):
            case link.Done() as done:
                self._done = done
                self.child.stop()
            case link.Alive() as alive:
                self._alive = alive
            case link.Told(line=text):
                log.info("evaluator", line=cleaned(text, link.TEXT))
            case link.Say() as asked if self._begin is not None:
                body = evaluator_statement(asked, self._begin.competition)
                folder = Path(self._begin.folder)
                # A task of its own, because the ledger may be away for minutes and the child's
                # heartbeats must be read meanwhile.
                self.child.start_soon(partial(self._send_statement, asked, body, folder))

    async def _send_statement(self, asked: link.Say, body: Body, folder: Path) -> None:
        """Submit the statement and send the child its outcome."""
        code, why = link.AWAY, f"the ledger has not logged it within {SUBMIT_S:.0f} s"
        try:
            documents = await trio.to_thread.run_sync(read_documents, folder, asked.documents)
            with trio.move_on_after(SUBMIT_S):
                await self._submit(body, documents)
                code, why = "", ""
        except RefusedError as err:
            code, why = err.code, str(err)
        except (LedgerUnavailableError, TequioError) as err:
            why = str(err)
        said = link.Said(number=asked.number, code=code[:64], why=why[: link.TEXT])
        self.child.send(link.encode(said))


def evaluator_statement(asked: link.Say, competition: str) -> Body:
    """The statement that the child asks for; raises MalformedError for one it may not ask for."""
    body_type = BODIES.get((asked.kind, VERSION))
    # The child loads models of strangers. Whatever takes it over must not get a signature of the
    # volunteer's key under anything but a score.
    if body_type is None or not asked.kind.startswith(STATEMENT_TYPES):
        raise MalformedError(f"an evaluator does not make {asked.kind[:40]!r}")
    body = encoding.decode(asked.body.encode(), body_type, STATEMENT_BYTES)
    if getattr(body, "competition", "") != competition:
        raise MalformedError(f"it works in {competition[:10]}, and asks for another competition")
    return body


# --- what worker and evaluator share in the worker's folder

EVALUATION = "evaluation.json"
"""The scores of one entrant, once they are complete."""
_HUB, _DOCUMENTS = "hub", "words"


def hub_cache(folder: Path) -> Path:
    """Where models of the Hugging Face Hub lie until a competition is over."""
    return folder / secret_file.FOLDER / _HUB


def write_document(folder: Path, document: bytes) -> str:
    """Hand the worker a document that goes with a statement; returns its name. Raises OSError."""
    name = to_text(sha256(document))
    place = folder / secret_file.FOLDER / _DOCUMENTS
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(document)
    return name


def read_documents(folder: Path, names: Iterable[str]) -> list[bytes]:
    """The documents of these names; raises UserFacingError for a missing or incomplete one."""
    found = []
    for name in names:
        path = folder / secret_file.FOLDER / _DOCUMENTS / to_text(digest_from_text(name))
        try:
            raw = path.read_bytes()
        except OSError as err:
            raise UserFacingError(f"{path} cannot be read: {err.strerror}") from err
        if sha256(raw) != digest_from_text(name):
            raise UserFacingError(f"{path} was changed or not written completely")
        found.append(raw)
    return found


def scored_models(folder: Path, competition: Digest) -> int:
    """How many models of a competition are scored in that folder."""
    return sum(1 for _ in secret_file.place(folder, competition).glob(f"*/{EVALUATION}"))


# --- memory

BYTES_PER_PARAMETER = 5
"""Weights in binary32, and a quarter of that for what is read and computed beside them."""
BESIDE_BYTES = 1 << 30
"""Programs, and the predictions of one batch."""
_GIGA = 10**9


def scoring_bytes(parameters: int) -> int:
    """Memory that scoring a model of that size takes."""
    return BESIDE_BYTES + BYTES_PER_PARAMETER * parameters


def memory_lack(parameters: int, available_bytes: int | None = None) -> str:
    """What this computer lacks to score such a model, in words; empty when it has enough.

    Asked before anything is promised to a competition.
    """
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    needed = scoring_bytes(parameters)
    if free >= needed:
        return ""
    return (
        f"a model of {parameters:,} parameters takes {needed / _GIGA:.1f} GB to score, and "
        f"{free / _GIGA:.1f} GB are free"
    )
