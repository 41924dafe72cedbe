"""Speaking through the worker that started this program: it alone has the key, and one chain."""

from __future__ import annotations

import queue
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.link import evaluating as link
from tequio_client.worker.children.evaluator import write_document
from tequio_shared import canonical
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import key_from_text

if TYPE_CHECKING:
    from tequio_client.competition.child_progress import ChildProgress
    from tequio_client.system.pipe_voice import PipeVoice
    from tequio_shared.statements import Body


class WorkerSpeaker:
    """See Speaker."""

    def __init__(self, voice: PipeVoice, begin: link.Begin, progress: ChildProgress) -> None:
        self._voice, self._progress = voice, progress
        self._number = 0
        self.key = key_from_text(begin.key)
        self.folder = Path(begin.folder)
        self.said: queue.SimpleQueue[link.Said] = queue.SimpleQueue()
        """What became of words; filled by whoever listens."""

    def say(self, body: Body, *documents: bytes) -> None:
        """See Speaker."""
        self._number += 1
        names = tuple(write_document(self.folder, one) for one in documents)
        text = canonical.encode(body).decode()
        self._voice.send(
            link.encode(link.Say(number=self._number, kind=body.TYPE, body=text, documents=names))
        )
        while (answer := self.said.get()).number != self._number:
            pass  # of a word that we gave up
        if answer.code == link.AWAY:
            raise UserFacingError(answer.why)
        self._progress.deeds += 1
        if answer.code:
            raise LedgerRefusedError(answer.code, answer.why)

    def tell(self, line: str) -> None:
        """Tell people, by the worker's log."""
        self._voice.send(link.encode(link.Told(line=line[: link.TEXT])))
