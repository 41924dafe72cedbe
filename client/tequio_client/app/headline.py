"""What stands above everything else: the state in a word, and why.

The worker says both. Between a wish by hand and its answer the old state would look as if nobody
had listened, so that for so long it is said what is under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from tequio_client.app import words

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.link.snapshot import Snapshot
    from tequio_client.link.wish import Wish

CONTEXT = "headline"
PAUSING = (
    str(QT_TRANSLATE_NOOP("headline", "Pausing…")),
    str(QT_TRANSLATE_NOOP("headline", "The device is given back at once.")),
)
STARTING = (
    str(QT_TRANSLATE_NOOP("headline", "Starting…")),
    str(QT_TRANSLATE_NOOP("headline", "Checking whether it's OK to start…")),
)


def headline(model: Model, snapshot: Snapshot, now_ms: int) -> tuple[str, str]:
    """The word and the reason."""
    under_way = _turn(model.unheard)
    if under_way is not None:
        word, reason = (QCoreApplication.translate(CONTEXT, text) for text in under_way)
        return word, reason
    return words.state(snapshot.decision.state), words.reason(snapshot.decision, now_ms)


def _turn(wish: Wish | None) -> tuple[str, str] | None:
    if wish is None or wish.finish:  # a round that is to be finished goes on as it is
        return None
    return STARTING if wish.lend and wish.snooze is None else PAUSING
