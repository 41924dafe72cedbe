"""Cuts what a worker says into messages, and keeps no more of it than one line may be long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link import control
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator


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
