"""How far a child is, for the worker that started it: what it does, and how much of it is done."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tequio_client.link import evaluating as link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_client.competition.pacing import Pacing

PATIENCE_MS = 60_000
"""How long after its time a model may be left."""
LEAST_FREE_BYTES = 512 << 20
"""Of this computer's memory, which no model may take."""
_SCORING = "documents of "


class ChildProgress:
    """Hears of all work (see WorkProgress): written by the thread that works, read by another."""

    def __init__(self, pacing: Pacing, scored: Callable[[], int]) -> None:
        """`scored` counts the models that are done."""
        self._pacing, self._scored = pacing, scored
        self.deeds = 0
        """What got done: documents scored, words said."""
        self.doing = "starting"
        self.device = ""
        self.of_models = 0
        self.due_ms: int | None = None
        """By when the model at hand has to be scored."""
        self._entrant, self._documents, self._of_documents = "", 0, 0

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """See WorkProgress."""
        if not what.startswith(_SCORING):
            yield lambda _: None
            return
        self._entrant, self._documents, self._of_documents = what.removeprefix(_SCORING), 0, total
        self.doing = "scoring"
        self._pacing.begin()
        yield self._count
        self.doing = "fetching"

    def have_due(self, due_ms: int | None) -> None:
        """See Means."""
        self.due_ms = due_ms

    def why_end(self, now_ms: int, resident_bytes: int, free_bytes: int) -> str:
        """Why this process ends itself, the model at hand with it; empty: it does not."""
        if self.due_ms is None:
            return ""
        if now_ms > self.due_ms + PATIENCE_MS:
            return "a model did not end within its part of the time: the others come first"
        if free_bytes < min(LEAST_FREE_BYTES, resident_bytes):
            return "a model took nearly all memory: the others come first"
        return ""

    def alive(self, resident_mb: int) -> link.Alive:
        """Say how far it is."""
        return link.Alive(
            doing=self.doing,
            entrant=self._entrant,
            documents=self._documents,
            of_documents=self._of_documents,
            models=self._scored(),
            of_models=self.of_models,
            device=self.device,
            resident_mb=resident_mb,
        )

    def _count(self, documents: int) -> None:
        self._documents += documents
        self.deeds += documents
