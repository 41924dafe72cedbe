"""A call to the running worker, from a program of the same user: short, blocking, and bounded.

It says hello, reads what is shown, and may wish or ask; each wait has an end.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from tequio_client import local_socket
from tequio_client.link import control
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.link.questions import Question, Reply
    from tequio_client.link.snapshot import Snapshot
    from tequio_client.link.wish import Wish

R = TypeVar("R", bound="Reply")
_READ_BYTES = 1 << 16


class WorkerCall:
    """One connection to a worker."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = bytearray()
        self._asked = 0

    @classmethod
    @contextmanager
    def to(cls, folder: Path) -> Iterator[Self]:
        """Call the worker of that folder; raises UserFacingError, also for what fails inside."""
        with local_socket.connect(folder) as connection:
            try:
                call = cls(connection)
                call._greet()
                yield call
            except (OSError, MalformedError) as err:
                raise UserFacingError(
                    f"the worker in {folder} does not answer as it should ({err}): restart it"
                ) from err

    def _greet(self) -> None:
        self._say(control.Hello(who="cli", build=BUILD))
        answer = self._hear()
        if isinstance(answer, control.Refused):
            raise UserFacingError(f"the worker says no: {answer.why}")
        if not isinstance(answer, control.Welcome):
            raise MalformedError(f"{type(answer).__name__} before a welcome")

    def snapshot(self) -> Snapshot:
        """What it shows next."""
        return self._shown(lambda _: True)

    def want(self, make: Callable[[Snapshot], Wish]) -> Snapshot:
        """Have a wish taken that is made from what is shown; gives what is shown with it."""
        while True:
            wish = make(self.snapshot())
            self._say(control.Want(wish=wish))
            shown = self._shown(partial(_has_wish, wish.number))
            if shown.wish == wish:  # else somebody else wished meanwhile
                return shown

    def ask(self, question: Question, kind: type[R]) -> R:
        """Ask for a reply of that kind; raises UserFacingError when there is none."""
        self._asked += 1
        self._say(control.Ask(id=self._asked, question=question))
        while True:
            message = self._hear()
            if isinstance(message, control.Answer) and message.id == self._asked:
                if message.reply is None:
                    raise UserFacingError(f"the worker says: {message.error}")
                if not isinstance(message.reply, kind):
                    raise MalformedError(f"{type(message.reply).__name__} answers {question}")
                return message.reply

    def _shown(self, fits: Callable[[Snapshot], bool]) -> Snapshot:
        while True:
            message = self._hear()
            if isinstance(message, control.Refused):
                raise UserFacingError(f"the worker says no: {message.why}")
            if isinstance(message, control.Shown) and fits(message.snapshot):
                return message.snapshot

    def _say(self, message: control.ToWorker) -> None:
        self._connection.sendall(control.encode(message))

    def _hear(self) -> control.FromWorker:
        while b"\n" not in self._rest:
            chunk = self._connection.recv(_READ_BYTES)
            if not chunk:
                raise MalformedError("it hung up")
            self._rest += chunk
            if len(self._rest) > control.LINE_BYTES:
                raise MalformedError("an endless line")
        line, _, self._rest = self._rest.partition(b"\n")
        return control.decode_from_worker(bytes(line))


def _has_wish(number: int, shown: Snapshot) -> bool:
    return shown.wish.number >= number
