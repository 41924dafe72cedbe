"""The model that answers: one text at a time, a bounded queue, and the newest head.

One task owns model and turn. A head is replaced between two texts, and the old model is freed
before the new one is loaded, so that there is memory for one. Texts are written in a thread, which
asks after each token whether anybody still wants the rest.
"""

from __future__ import annotations

import gc
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import structlog
import trio

from tequio_client import clock
from tequio_client.checkpoint import layout
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.checkpoint.serving.openai import QuestionError
from tequio_shared.errors import TequioError, UserFacingError, first_error
from tequio_shared.round.manifest import Manifest

if TYPE_CHECKING:
    from tequio_client.trainer.conversation import Turn, WritingModel, WritingStyle

log = structlog.get_logger(__name__)
_FIRST_GUESS_S = 10.0
_NEWEST_SHARE = 0.3
"""Weight of the last answer's time in the guess how long the next one takes."""
_WITHOUT_HEAD_S = 60
_LEAST_WAIT_FACTOR = 4
"""Preparing heads takes at most a fifth of the time, however long the log is."""

Prepare = Callable[[], Path]
"""Brings the folder of the head to serve, checked against the log; runs in a thread."""
Load = Callable[[Path], AbstractContextManager["WritingModel"]]
"""Loads the model of a folder; runs in a thread."""
SeedChance = Callable[[int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedHead:
    """A head, as its folder states it; the export was checked against the log."""

    folder: Path
    claim: HeadClaim
    name: str
    """Of the run."""
    has_turns: bool
    context: int
    """Tokens that the model sees at once."""
    since_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of what visitors may ask for."""

    tokens: int = 200
    """Of one answer."""
    prompt_tokens: int = 1_024
    queue: int = 8
    """Questions that may wait while one is answered."""
    visitor: int = 2
    """Questions of one visitor that wait or are answered, so that one cannot fill the queue."""
    answer_s: float = 120.0
    """Longest time for writing one answer."""
    wait_s: float = 300.0
    """Longest time in the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingBegin:
    head: ServedHead
    prompt_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingEnd:
    text: str
    tokens: int
    reason: str
    """`stop`: the model ended it; `length`: a limit did."""


Event: TypeAlias = WritingBegin | str | WritingEnd | QuestionError


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """A question in the queue, and where its answer goes."""

    prompt: str | list[Turn]
    style: WritingStyle
    events: trio.MemorySendChannel[Event]
    unwanted: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for the answer any more."""


class ModelHost:
    """Owns the loaded model; `run` answers, `follow` changes the head."""

    def __init__(self, load: Load, seed_chance: SeedChance, limits: Limits) -> None:
        self.head: ServedHead | None = None
        """None before the first one, and after one could not be loaded."""
        self.limits = limits
        self._load, self._seed_chance = load, seed_chance
        self._model: WritingModel | None = None
        self._resources = ExitStack()  # what the loaded model needs
        self._waiting: deque[Job] = deque()
        self._asked: Counter[str] = Counter()  # questions that wait or are answered, by visitor
        self._is_writing = False
        self._wake = trio.Event()
        self._turn = trio.Lock()  # of the model: a text, or a change of the head
        self._guess_s = _FIRST_GUESS_S

    # --- questions

    @contextmanager
    def question(
        self, prompt: str | list[Turn], style: WritingStyle, visitor: str
    ) -> Iterator[trio.MemoryReceiveChannel[Event]]:
        """Put a question into the queue; its events come until the body ends.

        Raises QuestionError when the queue is full, or the visitor's part of it, and while there is
        no head.
        """
        if self.head is None:
            raise _no_head()
        if len(self._waiting) >= self.limits.queue + (not self._is_writing):
            raise QuestionError(
                429,
                f"{len(self._waiting)} questions wait already: ask again later",
                retry_s=self._retry_s(),
            )
        if self._asked[visitor] >= self.limits.visitor:
            raise QuestionError(
                429,
                f"{self._asked[visitor]} questions of yours are not answered yet: wait for them",
                retry_s=self._retry_s(),
            )
        # Room for every token: a client that reads slowly does not keep the model.
        send, receive = trio.open_memory_channel[Event](style.tokens + 4)
        job = Job(prompt=prompt, style=style, events=send)
        self._waiting.append(job)
        self._asked[visitor] += 1
        self._wake.set()
        try:
            with receive:
                yield receive
        finally:
            job.unwanted.set()
            self._asked[visitor] -= 1
            if not self._asked[visitor]:
                del self._asked[visitor]  # visitors are many
            if job in self._waiting:
                self._waiting.remove(job)

    def _retry_s(self) -> int:
        return round(min(max(self._guess_s * (len(self._waiting) + 1), 1), 600))

    async def run(self) -> NoReturn:
        """Answer questions, the first come first."""
        while True:
            while not self._waiting:
                self._wake = trio.Event()
                await self._wake.wait()
            async with self._turn:
                # The client that waited for it may have hung up meanwhile.
                if self._waiting:
                    await self._answer(self._waiting.popleft())

    async def _answer(self, job: Job) -> None:
        began_ms = clock.steady_ms()
        self._is_writing = True
        try:
            with job.events:
                try:
                    await trio.to_thread.run_sync(self._write, job, began_ms)
                except QuestionError as err:
                    _send(job, err)
                except UserFacingError as err:
                    _send(job, QuestionError(400, str(err)))
        finally:
            self._is_writing = False
        took_s = (clock.steady_ms() - began_ms) / 1000
        self._guess_s += _NEWEST_SHARE * (took_s - self._guess_s)

    def _write(self, job: Job, began_ms: int) -> None:
        """Write one answer; runs in a thread, and sends the events to the loop."""

        def send(event: Event) -> None:
            trio.from_thread.run_sync(_send, job, event)

        def is_unwanted() -> bool:
            is_late = clock.steady_ms() - began_ms > self.limits.answer_s * 1000
            return is_late or job.unwanted.is_set()

        model, head = self._model, self.head
        if model is None or head is None:
            raise _no_head()
        ids = self._encode(model, job)
        self._seed_chance(job.style.seed)
        send(WritingBegin(head=head, prompt_tokens=len(ids)))
        done = model.write(ids, job.style, send, is_unwanted)
        reason = "stop" if done.end == "stop" else "length"
        send(WritingEnd(text=done.text, tokens=done.tokens, reason=reason))

    def _encode(self, model: WritingModel, job: Job) -> list[int]:
        """Raises QuestionError, UserFacingError."""
        if isinstance(job.prompt, str):
            ids = model.encode_text(job.prompt)
        elif model.has_turns:
            ids = model.encode_turns(job.prompt)
        else:
            raise QuestionError(
                400, "this model was not trained on conversations: ask /v1/completions"
            )
        most = prompt_room(model.context, self.limits)
        if not 0 < len(ids) <= most:
            raise QuestionError(
                400, f"a prompt of {len(ids):,} tokens is too long or empty: at most {most:,}"
            )
        return ids

    # --- heads

    async def begin(self, prepare: Prepare) -> None:
        """Serve the first head; raises what prevents that."""
        await self._change(await trio.to_thread.run_sync(prepare))

    async def follow(self, prepare: Prepare, check_s: float) -> NoReturn:
        """Serve the newest head from now on; a failure is logged, and the next check tries again.

        The head that is served stays until another one is prepared.
        """
        while True:
            await trio.sleep(check_s)
            began_ms = clock.steady_ms()
            try:
                folder = await trio.to_thread.run_sync(prepare)
                now = self.head
                if now is None or (now.folder, now.claim) != (folder, _claim(folder)):
                    await self._change(folder)
            except* TequioError as group:
                log.warning("no newer head", error=str(first_error(group)))
            took_s = (clock.steady_ms() - began_ms) / 1000
            await trio.sleep(took_s * _LEAST_WAIT_FACTOR)

    async def _change(self, folder: Path) -> None:
        """Load another head between two answers; raises TequioError, and then there is none."""
        async with self._turn:
            self.head, self._model = None, None
            await trio.to_thread.run_sync(self._release)
            self._model, head = await trio.to_thread.run_sync(self._open, folder)
            self.head = head
        log.info("head", run=head.name, round=head.claim.round, head=head.claim.head)

    def _release(self) -> None:
        self._resources.close()
        gc.collect()  # models have cycles, and the next one needs the memory

    def _open(self, folder: Path) -> tuple[WritingModel, ServedHead]:
        model = self._resources.enter_context(self._load(folder))
        head = ServedHead(
            folder=folder,
            claim=_claim(folder),
            name=Manifest.parse((folder / layout.MANIFEST).read_bytes()).name,
            has_turns=model.has_turns,
            context=model.context,
            since_ms=clock.now_ms(),
        )
        return model, head


def prompt_room(context: int, limits: Limits) -> int:
    """Most tokens of a prompt: what fits before an answer of the greatest length, at least half."""
    return min(limits.prompt_tokens, max(context - limits.tokens, context // 2))


def _claim(folder: Path) -> HeadClaim:
    return HeadClaim.parse((folder / layout.CLAIM).read_bytes())


def _send(job: Job, event: Event) -> None:
    """Pass an event on, unless nobody listens any more."""
    try:
        job.events.send_nowait(event)
    except trio.BrokenResourceError:
        job.unwanted.set()


def _no_head() -> QuestionError:
    return QuestionError(503, "the next model is being loaded", retry_s=_WITHOUT_HEAD_S)
