"""One conversation with a worker, from hello to the end, whatever carries it.

What is wanted by hand, chosen and known of the session are levels: each is said when the worker has
welcomed us and when it changes, facts every five seconds, and a wish again and again until the
worker shows its number. A worker that shows nothing for a while, or talks nonsense, has failed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.ipc import control
from tequio_client.ipc.facts import NOTHING_OF_SESSION, SessionFacts
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.ipc.control import Question
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.ipc.snapshot import Snapshot, Wish

# --- Cuts what a worker says into messages, and keeps no more of it than one line may be long.


class WorkerLines:
    """What came of one worker and is not yet a whole line."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[control.FromWorker]:
        """Take more of it, and give each message that is whole; raises MalformedError."""
        looked = len(self._rest)
        self._rest += chunk
        while (end := self._rest.find(b"\n", looked)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            looked = 0
            yield control.decode_from_worker(line)
        if len(self._rest) > control.LINE_BYTES:
            raise MalformedError(f"a line of more than {control.LINE_BYTES} bytes")


WANT_MS, TELL_MS = 500, 5_000
ANSWER_MS = 30_000
"""A question that waits for longer counts as refused."""
HALF_HUNG_MS = 5_000
"""Twice without anything shown, and the worker hangs; once only after the computer has slept."""
STARTING_MS = 60_000
"""Until the first word: a cold disk takes its time over a worker's libraries."""
JOINING_MS = 360_000
"""Until it has shown itself where it joins by an invitation first: the ledger may be slow."""


class Levels:
    """What holds, whoever is talked to; owned by whoever starts conversations."""

    def __init__(self) -> None:
        self.wish: Wish | None = None
        """None: no wish of ours is open."""
        self.preferences: Preferences | None = None
        """None: those that the worker has."""
        self.facts: SessionFacts = NOTHING_OF_SESSION


class Talk(QObject):
    """Speaks by `write` and hears by `hear`."""

    welcomed = Signal(object)
    """A `control.Welcome`."""
    snapshot = Signal(object)
    answer = Signal(object)
    refused = Signal(str)
    """The worker does not want us, and why."""
    failed = Signal(str)
    """There is nothing more to be had here, and why."""

    def __init__(
        self, levels: Levels, write: Callable[[bytes], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._levels, self._write = levels, write
        self._is_joining = False
        self._lines = WorkerLines()
        self._is_open, self._is_over = False, False
        self._wishing = self._timer(WANT_MS, self._want)
        self._telling = self._timer(TELL_MS, self.tell)
        self._watch = self._timer(STARTING_MS, self._miss)
        self._missed = 0
        self._asked: dict[int, QTimer] = {}

    def greet(self, seed: bytes | None, invitation: str = "") -> None:
        """Say hello, with the key's seed and an invitation for a worker that we started."""
        self._is_joining = bool(invitation)
        self._watch.start(STARTING_MS)
        said = None if seed is None else to_text(seed)
        self._say(control.Hello(who="app", build=BUILD, seed=said, invitation=invitation))

    def hear(self, chunk: bytes) -> None:
        """Take what the worker said."""
        try:
            for message in self._lines.feed(chunk):
                self._take(message)
                if self._is_over:
                    return
        except MalformedError as err:
            why = self.tr("The worker sent an invalid message ({problem}).")
            self._fail(why.format(problem=str(err)[:200]))

    # --- what we say

    def want(self) -> None:
        """Say the wish until it is shown."""
        self._want()
        self._wishing.start()

    def choose(self) -> None:
        """Say the preferences."""
        if self._is_open and self._levels.preferences is not None:
            self._say(control.Choose(preferences=self._levels.preferences))

    def tell(self) -> None:
        """Say what is known of the session."""
        if self._is_open:
            self._telling.start()
            self._say(control.Tell(facts=self._levels.facts))

    def ask(self, number: int, question: Question) -> None:
        """Ask; there is an answer in any case."""
        if not self._is_open:
            self._refuse(number, self.tr("The worker is still being started."))
            return
        patience = self._timer(ANSWER_MS, partial(self._give_up, number))
        patience.setSingleShot(True)
        patience.start()
        self._asked[number] = patience
        self._say(control.Ask(id=number, question=question))

    def bye(self) -> None:
        """Say goodbye: a worker that we started ends then. Nothing is heard any more."""
        self._say(control.Bye())
        self.close()

    def close(self) -> None:
        """Say and hear nothing more."""
        self._is_open, self._is_over = False, True
        for timer in (self._wishing, self._telling, self._watch, *self._asked.values()):
            timer.stop()
        self._asked.clear()

    # --- what we hear

    def _take(self, message: control.FromWorker) -> None:
        match message:
            case control.Welcome() if not self._is_open:
                self._open(message)
            case control.Refused(why=why):
                self.close()
                self.refused.emit(why)
            case control.Shown(snapshot=snapshot) if self._is_open:
                self._show(snapshot)
            case control.Answer() if self._is_open:
                self._take_answer(message)
            case _:
                raise MalformedError(f"{type(message).__name__} before or after its time")

    def _open(self, welcome: control.Welcome) -> None:
        self._is_open = True
        self._watch.start(JOINING_MS if self._is_joining else HALF_HUNG_MS)
        self.welcomed.emit(welcome)
        self.choose()
        self.tell()
        if self._levels.wish is not None:
            self.want()

    def _show(self, snapshot: Snapshot) -> None:
        self._missed = 0
        self._watch.start(HALF_HUNG_MS)
        wish = self._levels.wish
        if wish is not None and snapshot.wish.number >= wish.number:
            self._levels.wish = None
            self._wishing.stop()
        self.snapshot.emit(snapshot)

    def _take_answer(self, answer: control.Answer) -> None:
        patience = self._asked.pop(answer.id, None)
        if patience is not None:
            patience.stop()
            patience.deleteLater()
            self.answer.emit(answer)

    def _give_up(self, number: int) -> None:
        if (patience := self._asked.pop(number, None)) is not None:
            patience.deleteLater()
            self._refuse(number, self.tr("The worker has not answered in time."))

    def _refuse(self, number: int, why: str) -> None:
        self.answer.emit(control.Answer(id=number, error=why))

    def _miss(self) -> None:
        self._missed += 1
        if self._missed > 1 or not self._is_open:
            self._fail(self.tr("The worker does not answer any more."))

    def _fail(self, why: str) -> None:
        if not self._is_over:
            self.close()
            self.failed.emit(why)

    # --- means

    def _want(self) -> None:
        wish = self._levels.wish
        if self._is_open and wish is not None:
            self._say(control.Want(wish=wish))

    def _say(self, message: control.ToWorker) -> None:
        if not self._is_over:
            self._write(control.encode(message))

    def _timer(self, every_ms: int, do: Callable[[], None]) -> QTimer:
        timer = QTimer(self, interval=every_ms)
        timer.timeout.connect(do)
        return timer
