"""Measured heads of one run, read one by one from a ledger: the newest, the first, and any other.

A run may have thousands of measured heads, so nothing reads them all. The newest one is found from
the run's newest head backwards in growing steps. Each measure continues another held-out text, and
the texts come round again after a fixed number of rounds, the *period*. The first page shows it if
it is not longer than the page; then any head is compared with the newest of the same text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.app.ledger_queries import NOT_FOUND, OK, TIMEOUT_MS, LedgerRequest
from tequio_shared import encoding
from tequio_shared.api.runs import MeasuredAnswer, MeasuresAnswer, RollbackAnswer, RunAnswer
from tequio_shared.errors import MalformedError
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.rollback import is_given_up
from tequio_shared.scoring import MILLIBITS, power_of_two

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_HEADS = 100
"""Heads in one answer: about 200 kB if three members measure each."""
SETTLED_MS = 150
"""A round is asked for once the slider has rested this long."""
MOST_TRIES = 4
"""Requests for a later head of the same text: some heads are never measured."""
_MILLION = 1_000_000
MOST_KNOWN = 64
"""Heads in memory."""
Then = Callable[[tuple["ModelMeasure", ...]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskShare:
    """Shares of right answers to a task, from 0 to 1: of a head, and by guessing."""

    name: str
    right: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasure:
    """One head on held-out text: the median of its measures, and what it wrote."""

    round: int
    bits_per_byte: float
    perplexity: float
    """Per token; infinite where it overflows."""
    prompt: str = ""
    """Beginning of a held-out text; empty: nobody reported what the head wrote."""
    text: str = ""
    verdict: str = ""
    """Empty: the ledger gives none."""
    best_round: int | None = None
    """Round of the head that it was compared with."""
    tasks: tuple[TaskShare, ...] = ()


class RunMeasures(QObject):
    """Reads when told to; `changed` follows each step, and `stop` cancels all."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None, *, timeout_ms: int = TIMEOUT_MS) -> None:
        super().__init__(parent)
        self._reading, self._choosing = (LedgerRequest(timeout_ms, self) for _ in range(2))
        self._settle = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settle.timeout.connect(self._read_chosen)
        self._place = ("", "")  # ledger and run
        self._joined_round = 0
        self._clear()

    def _clear(self) -> None:
        self.stop()
        self.first: ModelMeasure | None = None
        self.last: ModelMeasure | None = None
        """The newest measured head that the run still builds on."""
        self.joined: ModelMeasure | None = None
        """The first measured head that our work is in."""
        self.earlier: ModelMeasure | None = None
        """The chosen head; before a choice, the first one with the newest one's text."""
        self.later: ModelMeasure | None = None
        """The newest such head with the same text as `earlier`, or else `last`."""
        self.chosen_round = 0
        """The round that was asked for `earlier`."""
        self.head_round = 0
        """Round of the newest head, measured or not."""
        self.step = 1
        """Rounds between two measured heads."""
        self.has_read = False
        """True once all but a chosen round was read; with `last` at None, nothing was measured."""
        self.problem = ""
        """The last failure in technical terms; empty: there was none."""
        self._rollbacks: tuple[RollbackAnswer, ...] = ()  # the oldest first
        self._period = 0  # 0: not known
        self._beginnings: dict[str, ModelMeasure] = {}  # the first head with each text
        self._has_full_page = False
        self._is_chosen = False
        self._known: dict[int, ModelMeasure] = {}  # by the round that was asked for

    @property
    def is_reading(self) -> bool:
        return self._reading.is_pending

    @property
    def is_choosing(self) -> bool:
        """True until the chosen round has its head."""
        return self._settle.isActive() or self._choosing.is_pending

    @property
    def state(self) -> tuple[object, ...]:
        """Everything that can be shown: equal as long as nothing has changed."""
        heads = (self.first, self.last, self.joined, self.earlier, self.later)
        return (*heads, self.head_round, self.step, self.chosen_round, self.is_choosing)

    def set_run(self, ledger: str, run: str, joined_round: int) -> None:
        """Read about this run from now on; the first round with our work may be 0: none yet."""
        if (ledger, run) != self._place:
            self._place = (ledger, run)
            self._clear()
        if joined_round != self._joined_round:
            self._joined_round, self.joined, self.has_read = joined_round, None, False

    def read(self) -> None:
        """Read the newest measure, and what is still missing."""
        ledger, run = self._place
        if ledger and run and not self.is_reading:
            self._start(self._reading, f"/v1/runs/{run}", self._receive_run)

    def choose(self, number: int) -> None:
        """Compare the head of that round, or the next measured one, with the newest."""
        self._is_chosen, self.chosen_round = True, number
        self._choosing.stop()
        self._settle.start()

    def stop(self) -> None:
        self._settle.stop()
        self._reading.stop()
        self._choosing.stop()

    # --- The newest measure, then the first ones, then that of our first round.

    def _receive_run(self, content: bytes) -> None:
        run = encoding.read(content, RunAnswer)
        if run.head_round is None:
            self._end_reading()
            return
        self.head_round, self._rollbacks = run.head_round, run.rollbacks[::-1]
        hint = run.sample.round if run.sample else run.head_round
        self._find_last(hint - 1, 1)

    def _find_last(self, after: int, step: int) -> None:
        def receive(heads: tuple[ModelMeasure, ...]) -> None:
            kept = [one for one in heads if not self._is_given_up(one)]
            if kept:
                self.last = kept[-1]
                self._find_first()
            elif after < 0:
                self.last = None
                self._end_reading()
            else:
                self._find_last(max(after - step, -1), 2 * step)

        self._get_heads(self._reading, after, PAGE_HEADS, receive)

    def _is_given_up(self, head: ModelMeasure) -> bool:
        return is_given_up(self._rollbacks, head.round, JSON_INTEGER)

    def _find_first(self) -> None:
        if self._period or (self.first is not None and self._has_full_page):
            self._find_joined()
        else:
            self._get_heads(self._reading, -1, PAGE_HEADS, self._receive_first)

    def _receive_first(self, heads: tuple[ModelMeasure, ...]) -> None:
        self._has_full_page = len(heads) >= PAGE_HEADS
        if heads:
            self.first, self._period = heads[0], period_of(heads)
            self._beginnings = {head.prompt: head for head in reversed(heads) if head.prompt}
            gaps = [later.round - one.round for one, later in pairwise(heads)]
            self.step = min(gaps, default=1)
        self._find_joined()

    def _find_joined(self) -> None:
        def receive(heads: tuple[ModelMeasure, ...]) -> None:
            self.joined = heads[0] if heads else None
            self._end_reading()

        if self._joined_round and self.joined is None:
            self._get_heads(self._reading, self._joined_round - 1, 1, receive)
        else:
            self._end_reading()

    def _end_reading(self) -> None:
        self.has_read, self.problem = True, ""
        if self._is_chosen:
            self._read_chosen()
        elif self.first is not None and self.last is not None:
            first = self._beginnings.get(self.last.prompt, self.first)
            if first.round >= self.last.round:  # its text has not come round again yet
                first = self.first
            self.chosen_round = first.round
            self._compare(first)
        self.changed.emit()

    # --- The head that was chosen, then the newest one with its text.

    def _read_chosen(self) -> None:
        number, last = self.chosen_round, self.last
        if last is None:
            return
        known = last if number >= last.round else self._known.get(number)
        if known is not None:
            self._compare(known)
        else:
            self._get_heads(self._choosing, number - 1, 1, self._receive_chosen)

    def _receive_chosen(self, heads: tuple[ModelMeasure, ...]) -> None:
        if heads:
            self._remember(self.chosen_round, heads[0])
            self._compare(heads[0])

    def _compare(self, earlier: ModelMeasure) -> None:
        last = self.last or earlier
        periods = (last.round - earlier.round) // self._period if self._period else 0
        if earlier.prompt == last.prompt or not periods:
            self._set_compared(earlier, last)
        else:
            self._find_later(earlier, periods, MOST_TRIES)

    def _find_later(self, earlier: ModelMeasure, periods: int, tries: int) -> None:
        """Try the head that many periods later, then those before it."""
        last, number = self.last or earlier, earlier.round + periods * self._period

        def receive(heads: tuple[ModelMeasure, ...]) -> None:
            head = heads[0] if heads else None
            is_same = head is not None and head.prompt == earlier.prompt
            if head is not None and is_same and not self._is_given_up(head):
                self._remember(number, head)
                self._set_compared(earlier, head)
            elif periods > 1 and tries > 1:
                self._find_later(earlier, periods - 1, tries - 1)
            else:
                self._set_compared(earlier, last)

        known = self._known.get(number)
        if known is not None:
            receive((known,))
        else:
            self._get_heads(self._choosing, number - 1, 1, receive)

    def _set_compared(self, earlier: ModelMeasure, later: ModelMeasure) -> None:
        self.earlier, self.later = earlier, later
        self.changed.emit()

    def _remember(self, asked: int, head: ModelMeasure) -> None:
        self._known[asked] = head
        while len(self._known) > MOST_KNOWN:
            self._known.pop(next(iter(self._known)))

    # --- Requests.

    def _get_heads(self, request: LedgerRequest, after: int, limit: int, then: Then) -> None:
        def receive(content: bytes) -> None:
            page = encoding.read(content, MeasuresAnswer)
            then(tuple(_measured(one) for one in page.heads))

        _, run = self._place
        self._start(request, f"/v1/runs/{run}/measures?after={after}&limit={limit}", receive)

    def _start(self, request: LedgerRequest, path: str, then: Callable[[bytes], None]) -> None:
        def receive(status: int | None, content: bytes, error: str) -> None:
            if status == OK:
                try:
                    then(content)
                except MalformedError as err:
                    self._fail(str(err))
            else:
                self._fail(f"HTTP {status}" if status == NOT_FOUND else error or f"HTTP {status}")

        request.start(f"{self._place[0].rstrip('/')}{path}", receive)

    def _fail(self, problem: str) -> None:
        self.problem = problem
        self.changed.emit()


def period_of(heads: Sequence[ModelMeasure]) -> int:
    """The rounds after which the texts of ascending heads come round again; 0: not among these."""
    seen: dict[str, int] = {}
    for head in heads:
        if head.prompt in seen:
            return head.round - seen[head.prompt]
        if head.prompt:
            seen[head.prompt] = head.round
    return 0


def _measured(answer: MeasuredAnswer) -> ModelMeasure:
    said = answer.sample
    return ModelMeasure(
        round=answer.round,
        bits_per_byte=answer.millibits / (answer.size_bytes * MILLIBITS),
        perplexity=power_of_two(answer.millibits / (answer.tokens * MILLIBITS)),
        prompt=said.prompt if said else "",
        text=said.text if said else "",
        verdict=answer.verdict,
        best_round=answer.best,
        tasks=tuple(
            TaskShare(name=one.name, right=one.right / one.asked, chance=one.chance_e6 / _MILLION)
            for one in answer.tasks
        ),
    )
