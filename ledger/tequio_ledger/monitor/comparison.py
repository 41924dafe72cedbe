"""The ledger's answers about its log, compared with those that follow from the monitor's copy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from tequio_ledger.log.proofs import root_at
from tequio_ledger.monitor.remote import RemoteLedger, WithheldError
from tequio_ledger.store.queries import StoredRows
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.served.questions import (
    Basis,
    Question,
    as_of_answer,
    differences,
    questions,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.monitor.mirror import Mirror
    from tequio_shared.served.state import State


# --- Answers about more of the log than is published, to be compared with it once it is.
#
# A signed checkpoint may wait for its witnesses, and answers do not wait with it. So an answer that
# is ahead is neither right nor wrong; but the log must reach that size, and have that root there.

MOST = 64
"""Number of such answers that are remembered, the first ones."""
MOST_WRONG = 1_000
"""Wrong answers at a time: others ring once these are right."""
_FAULT = 500
"""Characters of a fault, which may quote an answer of 16 MB."""


class UnpublishedAnswers:
    """Sizes and roots that answers named and that are not published yet."""

    def __init__(self, steady_s: Callable[[], float]) -> None:
        self._steady_s = steady_s
        # size and root, since when; infinite: told
        self._named: dict[tuple[int, Digest], float] = {}

    def add(self, size: int, root: Digest) -> None:
        """Remember what an answer named."""
        if len(self._named) < MOST:
            self._named.setdefault((size, root), self._steady_s())

    def broken(self, connection: Connection, size: int, patience_s: float) -> list[str]:
        """List each broken claim once, when the log has `size` entries."""
        faults = []
        for (named, root), since_s in list(self._named.items()):
            if named <= size:
                del self._named[named, root]
                if root_at(connection, named) != root:
                    faults.append(f"an answer named another root of {named} entries")
            elif self._steady_s() - since_s >= patience_s:
                self._named[named, root] = inf
                faults.append(f"an answer was true for {named} entries, which are not published")
        return faults


# --- The ledger's answers about its log, compared with our own.


class MovedOnError(Exception):
    """The ledger answered about another size than ours: read more and ask again."""

    def __init__(self, size: int, root: Digest) -> None:
        super().__init__(f"an answer is true for {size} entries")
        self.size = size
        self.root = root


class AnswerComparison:
    """Compares all answers about the log, again and again: each check some of them.

    What a check costs does not depend on how long the log is, nor on how many keys it has. An
    answer is withheld when it is not there, or about another size of the log than ours. Each check
    asks again for withheld ones, after others: however many there are, they hide no other.
    """

    def __init__(self, ledger: RemoteLedger, steady_s: Callable[[], float]) -> None:
        self._ledger = ledger
        self._steady_s = steady_s
        self._waiting: deque[Question] = deque()
        self._again: deque[Question] = deque()  # withheld ones, in this check
        self._left = 0  # in this check
        self._withheld: dict[str, tuple[Question, float]] = {}  # by URL, and since when
        self._passes = 0  # over all questions
        # By URL: in which pass it was last compared, and a line for each wrong figure.
        self._wrong: dict[str, tuple[int, dict[str, str]]] = {}
        self._told: set[tuple[str, str]] = set()  # figures by URL and place

    def newly_wrong(self) -> list[str]:
        """List what is wrong and was not when this was last asked, a line for each figure."""
        wrong = {
            (url, place): line
            for url, (_, lines) in self._wrong.items()
            for place, line in lines.items()
        }
        found = [line for name, line in wrong.items() if name not in self._told]
        self._told = set(wrong)
        return found

    def withheld(self) -> str:
        """Describe the withheld answers."""
        urls = ", ".join(islice(self._withheld, MOST))
        return (
            f"{len(self._withheld)} answers are not there, or not about the log as signed: {urls}"
        )

    def withheld_since_s(self) -> float | None:
        """Since when the first of the withheld answers is withheld; None if there is none."""
        return min((since_s for _, since_s in self._withheld.values()), default=None)

    def begin(self, state: State, most: int) -> None:
        """Begin a check of up to `most` answers where the last one ended.

        At most half of them are withheld ones.
        """
        if not self._waiting:
            self._waiting.extend(one for one in questions(state) if one.url not in self._withheld)
            # Some are asked no more, such as pages that begin elsewhere once there are more rows.
            last, self._passes = self._passes, self._passes + 1
            self._wrong = {url: one for url, one in self._wrong.items() if one[0] >= last}
        self._again = deque(one for one, _ in islice(self._withheld.values(), most // 2))
        self._left = most

    @property
    def are_left(self) -> bool:
        """True until this check has compared its answers."""
        return self._left > 0 and bool(self._queue)

    def compare_next(self, mirror: Mirror) -> None:
        """Compare the next answer that is left with the one that follows from the mirror.

        Raises MovedOnError, UnreachableError; the answer is asked for again.
        """
        try:
            following = self._compare(mirror, self._queue[0])
        except WithheldError:
            self.withhold_next()
            return
        self._withheld.pop(self._pop().url, None)
        if following is not None:
            self._waiting.append(following)

    def withhold_next(self) -> None:
        """Go on without the next answer, and count it as withheld."""
        question = self._pop()
        _, since_s = self._withheld.pop(question.url, (question, self._steady_s()))
        self._withheld[question.url] = (question, since_s)  # behind the others

    @property
    def _queue(self) -> deque[Question]:
        return self._waiting if self._waiting and self._left > len(self._again) else self._again

    def _pop(self) -> Question:
        question = self._queue.popleft()
        self._left -= 1
        return question

    def _compare(self, mirror: Mirror, question: Question) -> Question | None:
        try:
            content = self._ledger.ask(question.url)
            as_of = as_of_answer(question.path, content)
        except MalformedError as err:
            self._mark_wrong(question, {"": str(err)[:_FAULT]})
            return None
        root = digest_from_text(as_of.root)
        if as_of.size != mirror.size:
            raise MovedOnError(as_of.size, root)
        if root != mirror.root:
            why = f"{question.path} names another root of {as_of.size} entries than was signed"
            self._mark_wrong(question, {"": why})
            return None
        with mirror.database.reader.begin() as connection:
            basis = Basis(state=mirror.state, rows=StoredRows(connection), now_ms=mirror.now_ms())
            due = question.due(basis, as_of)
        lines = {
            one.place: f"{question.path}: {one.place} is {one.due} by the log, but {one.found} is"
            " said"
            for one in islice(differences(due, content), MOST)
        }
        self._mark_wrong(question, lines)
        return question.following(due)

    def _mark_wrong(self, question: Question, lines: dict[str, str]) -> None:
        """Remember what is wrong in an answer, or that nothing is."""
        self._wrong.pop(question.url, None)
        if lines and len(self._wrong) < MOST_WRONG:
            self._wrong[question.url] = (self._passes, lines)
