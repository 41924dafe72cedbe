"""The member's local training, in a child process that has the texts and no network.

One update is made for one head, and spent when it is masked: an update that went into a masked
vector is never used again, not even if its round failed. A child that failed is started again at
the next request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import structlog
import trio

from tequio_client import files
from tequio_client.group.group_file import GroupFile
from tequio_client.ipc import private as link
from tequio_client.names import clean_text
from tequio_client.platform import programs
from tequio_client.platform.sandbox import SandboxRules
from tequio_client.worker.children.process import ChildProcess, ChildProgram
from tequio_client.worker.children.trainer import (
    child_cache,
    confined_environment,
    work_folder,
)
from tequio_shared.errors import TequioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = structlog.get_logger(__name__)

TRAINER = programs.runtime_module("tequio_client.trainer.private")
SILENCE_S = 120.0
"""Longest silence; the child reports every few seconds."""
RETRY_S = 60.0
"""A training that failed is tried again after this time; rounds may follow each other faster."""
_REASON_CHARACTERS = 300


class NoUpdateError(TequioError):
    """The member cannot train for this head; the round goes on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalUpdate:
    """End less start of local training, int32[N], and what this member alone learns about it."""

    head: str
    numbers: NDArray[np.int32]
    loss: float | None = None


class UpdateSource(Protocol):
    """Trains for a head, and remembers the update until it is spent."""

    async def update(self, head: str, weights: Path, round_number: int) -> LocalUpdate:
        """Return the update for this head, trained now or before; raises NoUpdateError."""

    def spend(self) -> None:
        """Forget the update, which is being masked or for a head that is gone; stop training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerOptions:
    data: Path
    device: str = "auto"
    threads: int = 1
    log_style: str = "console"
    command: Sequence[str] = TRAINER


class PrivateTrainer:
    """Owner of the child; `run` must be running while updates are asked for."""

    def __init__(self, folder: Path, group: GroupFile, options: TrainerOptions) -> None:
        """Raises UserFacingError when the folder cannot be used."""
        self._folder, self._group, self._options = folder, group, options
        self._work = work_folder(folder.absolute())
        self._child = ChildProcess(_program(folder, options))
        self._child.allow()
        self._lock = trio.Lock()  # one training at a time
        self._update: LocalUpdate | None = None
        self._number = 0
        self._pending: link.LocalTraining | None = None
        self._answer: link.LocalTrained | link.PrivateFailed | None = None
        self._answered = trio.Event()  # replaced for each request
        self._asked = trio.Event()  # replaced by `run`
        self._failed = "", 0.0, ""  # the last failure: its head, time and reason

    async def run(self) -> None:
        """Start a child whenever one is needed; until cancelled."""
        while True:
            if self._pending is None:
                self._asked = trio.Event()
                await self._asked.wait()
            reason = await self._child.run_once(self._first_lines, self._on_line)
            # A request that came while the child was being stopped is for the next one.
            if self._pending is not None and reason is not None:
                why = clean_text(reason, _REASON_CHARACTERS)
                self._settle(link.PrivateFailed(command=self._number, code="internal", reason=why))

    async def update(self, head: str, weights: Path, round_number: int) -> LocalUpdate:
        async with self._lock:
            if self._update is None or self._update.head != head:
                self._update = None
                self._check_retry(head)
                try:
                    self._update = await self._train(head, weights, round_number)
                except NoUpdateError as err:
                    self._failed = head, trio.current_time(), str(err)
                    raise
            return self._update

    def spend(self) -> None:
        self._update = None
        if self._pending is not None:
            # A training for a head that is gone must not hold up the next one.
            self._settle(link.PrivateFailed(command=self._number, code="", reason="too late"))
            self._child.stop()

    def _check_retry(self, head: str) -> None:
        """Raise NoUpdateError for a head for which training failed a moment ago."""
        failed_head, at_s, reason = self._failed
        if failed_head == head and trio.current_time() < at_s + RETRY_S:
            raise NoUpdateError(reason)

    async def _train(self, head: str, weights: Path, round_number: int) -> LocalUpdate:
        self._number += 1
        request = self._request(weights, round_number)
        self._begin(request)
        self._child.send(link.encode(request))
        self._asked.set()
        try:
            await self._answered.wait()
        except trio.Cancelled:
            self._pending = None
            self._child.stop()
            raise
        trained = self._answer
        if not isinstance(trained, link.LocalTrained):
            raise NoUpdateError(trained.reason if trained else "the trainer is gone")
        numbers = await trio.to_thread.run_sync(self._read, Path(request.delta_out))
        log.info(
            "trained on own texts",
            round=round_number,
            loss=None if trained.loss_first is None else round(trained.loss_first, 4),
            epsilon=trained.epsilon,
            seconds=round(trained.seconds, 1),
        )
        return LocalUpdate(head=head, numbers=numbers, loss=trained.loss_first)

    def _begin(self, request: link.LocalTraining) -> None:
        self._pending, self._answer, self._answered = request, None, trio.Event()

    def _request(self, weights: Path, round_number: int) -> link.LocalTraining:
        group, options = self._group, self._options
        model, training = self._folder.absolute() / "model", group.training
        state = state_folder(self._folder.absolute())
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        return link.LocalTraining(
            command=self._number,
            round=round_number,
            config=str(model / "config.json"),
            tokenizer=str(model / "tokenizer.json") if group.tokenizer.file else None,
            weights=str(weights.absolute()),
            data=str(options.data.absolute()),
            state=str(state),
            delta_out=str(self._work / "delta"),
            sequence=group.model.sequence,
            steps=training.steps,
            batch=training.batch,
            inner=training.inner,
            privacy=group.privacy if isinstance(group.privacy, link.PrivacyRules) else None,
            device=options.device,
            threads=options.threads,
        )

    def _read(self, path: Path) -> NDArray[np.int32]:
        numbers = np.fromfile(path, "<i4")
        files.delete(path)
        if numbers.size != self._group.layout.elements:
            raise NoUpdateError(f"the trainer left {numbers.size} numbers")
        return numbers

    def _first_lines(self) -> list[bytes]:
        return [] if self._pending is None else [link.encode(self._pending)]

    def _on_line(self, line: bytes) -> None:
        match link.decode_report(line):
            case link.PrivateHello() as hello:
                log.info("private trainer started", confined_by=clean_text(hello.sandbox, 256))
            case (link.LocalTrained() | link.PrivateFailed()) as report:
                if report.command == self._number and self._pending is not None:
                    self._settle(report)

    def _settle(self, answer: link.LocalTrained | link.PrivateFailed) -> None:
        if isinstance(answer, link.PrivateFailed) and answer.code:
            log.warning("local training failed", code=answer.code, reason=answer.reason)
        self._pending, self._answer = None, answer
        self._answered.set()


def state_folder(folder: Path) -> Path:
    """Folder in a member's folder for what the texts have spent (`trainer.private.accountant`)."""
    return work_folder(folder) / "state"


def _program(folder: Path, options: TrainerOptions) -> ChildProgram:
    """Describe the child: it reads model, heads and texts, and writes its work and cache."""
    own, cache = folder.absolute(), child_cache(folder.absolute(), "private")
    reads = (own / "model", own / "heads", options.data.absolute())
    rules = SandboxRules(
        writes=(str(work_folder(own)), str(cache)),
        reads=tuple(map(str, reads)),
        hidden=(str(own),),
    )
    return ChildProgram(
        command=(*options.command, options.log_style),
        environment=confined_environment(folder, rules, cache),
        cache=cache,
        line_bytes=link.LINE_BYTES,
        silence_s=SILENCE_S,
    )
