"""The evaluator child as the worker sees it: it scores, and we say its words under our key.

Rules. One child at a time, in one competition, and only while it is allowed: what is forbidden is
ended at once by the same ladder as a trainer, and its end alone gives the device back. It gets no
key: what it wants said must be a word of an evaluator in that very competition. A child that says
nothing for too long, or what does not parse, is ended.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import structlog
import trio

from tequio_client.ipc import evaluator as link
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.names import cleaned
from tequio_client.worker.children import process as children_process
from tequio_client.worker.ledger.outbox import SAYING_S
from tequio_client.worker.shutdown import first_of
from tequio_client.worker.store import files
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import STATEMENT_BYTES, digest_from_text, sha256, to_text
from tequio_shared.statements import BODIES, VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from tequio_shared.ids import Digest
    from tequio_shared.statements import Body

# --- What an evaluator's child and its worker share in the worker's folder, below `evaluations`.

EVALUATION = "evaluation.json"
"""Where the scores of an entrant lie once they are whole."""
_HUB, _WORDS = "hub", "words"


def hub(folder: Path) -> Path:
    """Where models of the Hugging Face Hub lie until a competition is done with."""
    return folder / files.FOLDER / _HUB


def put(folder: Path, document: bytes) -> str:
    """Let the worker have a document that goes with a word; gives its name. Raises OSError."""
    name = to_text(sha256(document))
    place = folder / files.FOLDER / _WORDS
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(document)
    return name


def taken(folder: Path, names: Iterable[str]) -> list[bytes]:
    """The documents of these names; raises UserFacingError for one that is not there whole."""
    found = []
    for name in names:
        path = folder / files.FOLDER / _WORDS / to_text(digest_from_text(name))
        try:
            raw = path.read_bytes()
        except OSError as err:
            raise UserFacingError(f"{path} cannot be read: {err.strerror}") from err
        if sha256(raw) != digest_from_text(name):
            raise UserFacingError(f"{path} is not what it was")
        found.append(raw)
    return found


def forget(folder: Path, names: Iterable[str]) -> None:
    """Remove documents that were said."""
    for name in names:
        (folder / files.FOLDER / _WORDS / name).unlink(missing_ok=True)


def scored(folder: Path, competition: Digest) -> int:
    """How many models of a competition are scored here."""
    return sum(1 for _ in files.place(folder, competition).glob(f"*/{EVALUATION}"))


log = structlog.get_logger(__name__)

EVALUATOR = (sys.executable, "-m", "tequio_client.competition")
SILENCE_S = 60.0
WORDS = "eval."
"""How the types of statements begin that evaluators make."""
_READ_BYTES = 1 << 16


class End(StrEnum):
    """How a child's life ended."""

    OVER = "over"
    """Nothing is left to do in the competition."""
    RESTING = "resting"
    """Nothing is to be done for now."""
    DISMISSED = "dismissed"
    """It may not compute any more."""
    FAILED = "failed"


class EvaluatorProcess:
    """Owner of the evaluator child."""

    def __init__(
        self,
        environment: Mapping[str, str],
        say: Callable[[Body, Sequence[bytes]], Awaitable[bool]],
        device: trio.Lock,
        command: Sequence[str],
    ) -> None:
        """`say` is a Mouth's; `device` is held by whichever child of the worker may use it."""
        self._environment, self._command = dict(environment), list(command)
        self._say_it, self._device = say, device
        self._permission = trio.Event()  # replaced when it is taken away
        self._dismissal = trio.Event()  # replaced for each child
        self._process: trio.Process | None = None  # owned by `live`
        self._begin: link.Begin | None = None  # as above
        self._unsent: list[link.ToChild] = []  # for this child
        self._news = trio.Event()  # replaced by `_speak`
        self.alive: link.Alive | None = None
        self.why = ""
        """Why the last child failed."""

    @property
    def pid(self) -> int | None:
        """Process id of the child while there is one."""
        return self._process.pid if self._process else None

    @property
    def competition(self) -> str:
        """Where the child works now; empty: there is none."""
        return self._begin.competition if self._begin else ""

    @property
    def is_allowed(self) -> bool:
        """Whether there may be a child."""
        return self._permission.is_set()

    def allow(self) -> None:
        """Let there be a child, from now on."""
        self._permission.set()

    def forbid(self) -> None:
        """Let there be none: one that lives is ended at once."""
        if self._permission.is_set():
            self._permission = trio.Event()
            self._dismissal.set()

    def limit(self, begin: link.Begin) -> None:
        """Have the child take as much as one that begins now would; for another device, end it."""
        now = self._begin
        if now is None or (now.limit == begin.limit and now.device == begin.device):
            return
        if now.device != begin.device:
            self._dismissal.set()
        self._begin = begin
        self._send(begin.limit)

    async def live(self, make: Callable[[], link.Begin]) -> End:
        """Have a child work when it is allowed, until its end; `make` is called at its start."""
        while True:
            while not self._permission.is_set():
                await self._permission.wait()
            async with self._device:
                if self._permission.is_set():
                    return await self._live_once(make())

    # --- one life of the child

    async def _live_once(self, begin: link.Begin) -> End:
        self._dismissal = trio.Event()
        process = await trio.lowlevel.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # a terminal's Ctrl-C is for us; the child ends with its input
        )
        self._process, self._begin = process, begin
        self._unsent = [begin]
        log.info("evaluator started", pid=process.pid, competition=begin.competition[:10])
        end = End.DISMISSED
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._speak, process)
                nursery.start_soon(self._cancel_when_dismissed, nursery.cancel_scope)
                end = await self._listen(process, nursery)
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await children_process.end(process)
            self.alive = self._process = self._begin = None
        log.info("evaluator gone", end=str(end), why=self.why if end is End.FAILED else "")
        return end

    async def _cancel_when_dismissed(self, scope: trio.CancelScope) -> None:
        await self._dismissal.wait()
        scope.cancel()

    def _send(self, message: link.ToChild) -> None:
        self._unsent.append(message)
        self._news.set()

    async def _speak(self, process: trio.Process) -> None:
        """Write line after line; to a child that is gone, nothing more."""
        if process.stdin is None:
            raise AssertionError("the child has no input pipe")
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                while self._unsent:
                    await process.stdin.send_all(link.encode(self._unsent.pop(0)))
                self._news = trio.Event()
                await self._news.wait()

    async def _listen(self, process: trio.Process, nursery: trio.Nursery) -> End:
        """Read what it says until it ends or misbehaves."""
        if process.stdout is None:
            raise AssertionError("the child has no output pipe")
        self.why, rest = f"no sign of life for {SILENCE_S:.0f} s", bytearray()
        while (chunk := await _received(process.stdout)) is not None:
            if not chunk:
                self.why = await children_process.farewell(process)
                break
            *lines, rest = (rest + chunk).split(b"\n")
            try:
                for line in lines:
                    message = link.decode_from_child(bytes(line))
                    if isinstance(message, link.Done):
                        return End.OVER if message.is_over else End.RESTING
                    self._take(message, nursery)
            except MalformedError as err:
                self.why = str(err)
                break
            if len(rest) > link.LINE_BYTES:
                self.why = f"a line of more than {link.LINE_BYTES} bytes"
                break
        return End.FAILED

    def _take(self, message: link.FromChild, nursery: trio.Nursery) -> None:
        match message:
            case link.Alive():
                self.alive = message
            case link.Told(line=line):
                log.info("evaluator", line=cleaned(line, link.TEXT))
            case link.Say() if self._begin is not None:
                body = word(message, self._begin.competition)
                nursery.start_soon(self._say, message, body, Path(self._begin.folder))

    async def _say(self, asked: link.Say, body: Body, folder: Path) -> None:
        """Say it and tell the child what became of it."""
        code, why = link.AWAY, f"the ledger has not taken it within {SAYING_S:.0f} s"
        try:
            documents = await trio.to_thread.run_sync(taken, folder, asked.documents)
            with trio.move_on_after(SAYING_S):
                is_new = await self._say_it(body, documents)
                code, why = ("", "") if is_new else ("already-said", "it was said before")
        except* RefusedError as group:
            refused = first_of(group)
            code, why = getattr(refused, "code", link.AWAY), str(refused)
        except* (LedgerUnavailableError, TequioError) as group:
            why = str(first_of(group))
        self._send(link.Said(number=asked.number, code=code[:64], why=why[: link.TEXT]))


def word(asked: link.Say, competition: str) -> Body:
    """What the child wants said; raises MalformedError for what an evaluator may not say there."""
    body_type = BODIES.get((asked.kind, VERSION))
    if body_type is None or not asked.kind.startswith(WORDS):
        raise MalformedError(f"an evaluator does not say {asked.kind[:40]!r}")
    body = encoding.decode(asked.body.encode(), body_type, STATEMENT_BYTES)
    if getattr(body, "competition", "") != competition:
        raise MalformedError(
            f"it works in {competition[:10]}, and speaks about another competition"
        )
    return body


async def _received(stream: trio.abc.ReceiveStream) -> bytes | bytearray | None:
    """Some bytes, none at the end; None when nothing came for too long."""
    received: bytes | bytearray | None = None
    with trio.move_on_after(SILENCE_S):
        received = await stream.receive_some(_READ_BYTES)
    return received  # noqa: RET504 - the block above may end early


# --- Whether this computer has the memory to score a model; said before anything is promised.

BYTES_A_PARAMETER = 5
"""Weights in binary32, and a quarter of that for what is read and computed beside them."""
BESIDE_BYTES = 1 << 30
"""Programs, and the predictions of one batch."""
_GIGA = 10**9


def needed_bytes(parameters: int) -> int:
    """How much scoring a model takes."""
    return BESIDE_BYTES + BYTES_A_PARAMETER * parameters


def lacking(parameters: int, available_bytes: int | None = None) -> str:
    """What is missing, in words; empty when there is enough."""
    there = psutil.virtual_memory().available if available_bytes is None else available_bytes
    needed = needed_bytes(parameters)
    if there >= needed:
        return ""
    return (
        f"a model of {parameters:,} parameters takes {needed / _GIGA:.1f} GB to score, and "
        f"{there / _GIGA:.1f} GB are free"
    )
