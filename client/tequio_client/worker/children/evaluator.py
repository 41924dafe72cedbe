"""The evaluator child: it scores models, and the worker signs and sends its statements.

Rules beside those of `process`. The child works in one competition and gets no key: a statement
that it requests must be one of an evaluator, about that very competition, and the next one comes
after the answer. Documents that go with a statement, and the scores, lie in the worker's folder
below `evaluations` (`EVALUATIONS_FOLDER`), where both programs find them.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path

import psutil
import structlog
import trio

from tequio_client import files
from tequio_client.ipc import evaluator as link
from tequio_client.names import clean_text
from tequio_client.platform import programs
from tequio_client.platform.call_filter import NetworkAccess
from tequio_client.platform.sandbox import SandboxRules
from tequio_client.worker.children.process import ChildProcess, ChildProgram
from tequio_client.worker.children.trainer import (
    child_cache,
    confined_environment,
    trainer_rules,
)
from tequio_client.worker.ledger.outbox import SUBMIT_S
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, STATEMENT_BYTES
from tequio_shared.statements.statement import BODIES, VERSION, Body

log = structlog.get_logger(__name__)

EVALUATIONS_FOLDER = "evaluations"
EVALUATION_FILE = "evaluation.json"
"""File with the complete scores of one entrant."""
EVALUATOR = programs.runtime_module("tequio_client.competition")
SILENCE_S = 60.0
STATEMENT_TYPES = "eval."
"""Prefix of the types of an evaluator's statements."""
BYTES_PER_PARAMETER = 5
"""Weights in binary32, and a quarter of that for buffers and activations."""
BESIDE_BYTES = 1 << 30
"""The programs themselves, and the predictions of one batch."""
_GIGA = 10**9
_MODELS, _HUB, _DOCUMENTS = "models", "hub", "words"
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_LINE_VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    *_CERTIFICATES,
)


def competition_folder(folder: Path, competition: Digest) -> Path:
    return folder / EVALUATIONS_FOLDER / to_text(competition)


class EvaluatorEnd(StrEnum):
    OVER = "over"
    """Nothing is left to do in the competition."""
    RESTING = "resting"
    """Nothing is to be done for now."""
    DISMISSED = "dismissed"
    """No longer allowed to compute."""
    FAILED = "failed"


def evaluator_program(folder: Path) -> ChildProgram:
    """Describe the evaluator, which connects to the ledger and the Hub itself."""
    line = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _LINE_VARIABLES or name == "HF_ENDPOINT"
    }
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    hub = {"HF_HUB_CACHE": str(hub_cache(folder))}
    cache = child_cache(folder, "evaluator")
    confined = confined_environment(folder, _rules(folder), cache)
    return ChildProgram(
        command=EVALUATOR,
        environment={**confined, **line, **quiet, **hub},
        cache=cache,
        line_bytes=link.LINE_BYTES,
        silence_s=SILENCE_S,
    )


def _rules(folder: Path) -> SandboxRules:
    """The trainer's rules, with a network and with folders of its own to write."""
    named = (Path(os.environ[name]) for name in _CERTIFICATES if os.environ.get(name))
    certificates = [one for one in named if one.exists()]
    plain = trainer_rules(folder, certificates)
    own = folder.absolute()
    written = str(own / EVALUATIONS_FOLDER), str(child_cache(own, "evaluator"))
    return replace(plain, writes=written, network=NetworkAccess.ANY)


class EvaluatorProcess:
    def __init__(
        self,
        program: ChildProgram,
        submit: Callable[[Body, Sequence[bytes]], Awaitable[object]],
        count_fetched: Callable[[int], None],
    ) -> None:
        """Forbidden at first, and for a device that is set then. `submit` is the outbox's.

        `count_fetched` gets the bytes of models that were fetched since the last report.
        """
        self.child = ChildProcess(program)
        self._submit, self._count_fetched = submit, count_fetched
        # Of the child at work; owned by `run_once`.
        self._begin: link.BeginEvaluation | None = None
        self._done: link.EvaluationDone | None = None
        self._alive: link.EvaluatorHeartbeat | None = None
        self._is_submitting = False
        self.why = ""
        """Reason for the failure of the last child."""

    @property
    def heartbeat(self) -> link.EvaluatorHeartbeat | None:
        return self._alive if self.child.is_running else None

    @property
    def competition(self) -> str:
        """Competition of the running child; empty without one."""
        return self._begin.competition if self._begin else ""

    def send_limits(self, begin: link.BeginEvaluation) -> None:
        """Send the child the limits that a new one would get; one for another device is ended."""
        now = self._begin
        if now is None or (now.limit == begin.limit and now.device == begin.device):
            return
        if now.device != begin.device:  # it holds memory on that device until it ends
            self.child.stop()
        self._begin = begin
        self.child.send(link.encode(begin.limit))

    async def run_once(self, make: Callable[[], link.BeginEvaluation]) -> EvaluatorEnd:
        """Wait for permission, then run one child to its end; `make` is called at its start."""

        def first_lines() -> Iterator[bytes]:
            self._begin, self._alive, self._is_submitting = make(), None, False
            log.info("evaluator started", pid=self.child.pid, competition=self.competition[:10])
            yield link.encode(self._begin)

        try:
            reason = await self.child.run_once(first_lines, self._on_line)
        finally:
            done, self._begin, self._done = self._done, None, None
        self.why = ""
        if done is not None:  # what it has reported holds, also if it is forbidden just then
            end = EvaluatorEnd.OVER if done.is_over else EvaluatorEnd.RESTING
        elif reason is None:
            end = EvaluatorEnd.DISMISSED
        else:
            end, self.why = EvaluatorEnd.FAILED, reason
        log.info("evaluator ended", end=str(end), why=self.why)
        return end

    def _on_line(self, line: bytes) -> None:
        match link.decode_from_child(line):
            case link.EvaluationDone() as done:
                self._done = done
                self.child.stop()
            case link.EvaluatorHeartbeat() as alive:
                before_bytes = self._alive.fetched_bytes if self._alive else 0
                self._count_fetched(max(alive.fetched_bytes - before_bytes, 0))
                self._alive = alive
            case link.EvaluatorMessage(line=text):
                log.info("evaluator", line=clean_text(text, link.TEXT))
            case link.SubmitStatement() as asked if self._begin is not None:
                # Each holds its documents in memory until the ledger has them.
                if self._is_submitting:
                    raise MalformedError("a statement before the answer to the last one")
                body = evaluator_statement(asked, self._begin.competition)
                self._is_submitting = True
                folder = Path(self._begin.folder)
                # A task of its own, because the ledger may be away for minutes and the child's
                # heartbeats must be read meanwhile.
                self.child.start_soon(partial(self._send_statement, asked, body, folder))

    async def _send_statement(self, asked: link.SubmitStatement, body: Body, folder: Path) -> None:
        code, why = link.NOT_LOGGED, f"not logged by the ledger within {SUBMIT_S:.0f} s"
        try:
            documents = await trio.to_thread.run_sync(read_documents, folder, asked.documents)
            with trio.move_on_after(SUBMIT_S):
                await self._submit(body, documents)
                code, why = "", ""
        except RefusedError as err:
            code, why = err.code, str(err)
        except TequioError as err:
            why = str(err)
        result = link.StatementResult(number=asked.number, code=code[:64], why=why[: link.TEXT])
        self._is_submitting = False
        self.child.send(link.encode(result))


def evaluator_statement(asked: link.SubmitStatement, competition: str) -> Body:
    """Parse the requested statement; raises MalformedError for one that the child may not make."""
    body_type = BODIES.get((asked.kind, VERSION))
    # The child loads models of strangers. Whatever takes it over must not get a signature of the
    # volunteer's key under anything but a score.
    if body_type is None or not asked.kind.startswith(STATEMENT_TYPES):
        raise MalformedError(f"an evaluator may not make {asked.kind[:40]!r}")
    body = encoding.decode(asked.body.encode(), body_type, STATEMENT_BYTES)
    if getattr(body, "competition", "") != competition:
        raise MalformedError(f"a statement about another competition than {competition[:10]}")
    return body


def models_folder(folder: Path) -> Path:
    """Folder for the models to score, as long as there are any."""
    return folder / EVALUATIONS_FOLDER / _MODELS


def hub_cache(folder: Path) -> Path:
    """Folder for what was fetched from the Hugging Face Hub."""
    return models_folder(folder) / _HUB


def delete_models(folder: Path) -> None:
    """Delete all models, also what a child that was killed left of one."""
    with suppress(OSError):
        files.delete_folder(models_folder(folder))


def write_document(folder: Path, document: bytes) -> str:
    """Hand the worker a document that goes with a statement; returns its name. Raises OSError."""
    name = to_text(sha256(document))
    place = folder / EVALUATIONS_FOLDER / _DOCUMENTS
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(document)
    return name


def read_documents(folder: Path, names: Iterable[str]) -> list[bytes]:
    """Read the documents of these names; raises UserFacingError for a missing or incomplete one."""
    found = []
    for name in names:
        path = folder / EVALUATIONS_FOLDER / _DOCUMENTS / to_text(digest_from_text(name))
        try:
            with path.open("rb") as file:
                raw = file.read(BLOB_BYTES + 1)
        except OSError as err:
            raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
        if len(raw) > BLOB_BYTES or sha256(raw) != digest_from_text(name):
            raise UserFacingError(f"{path} was changed or is incomplete: delete it to score again")
        found.append(raw)
    return found


def count_scored_models(folder: Path, competition: Digest) -> int:
    return sum(1 for _ in competition_folder(folder, competition).glob(f"*/{EVALUATION_FILE}"))


def scoring_bytes(parameters: int) -> int:
    return BESIDE_BYTES + BYTES_PER_PARAMETER * parameters


def missing_memory(parameters: int, available_bytes: int | None = None) -> str:
    """Describe the memory that is missing to score such a model; empty: there is enough."""
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    needed = scoring_bytes(parameters)
    if free >= needed:
        return ""
    return (
        f"scoring a model of {parameters:,} parameters needs {needed / _GIGA:.1f} GB of memory, "
        f"and {free / _GIGA:.1f} GB are free"
    )
