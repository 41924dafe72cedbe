"""The texts that are scored: drawn documents of the archive, opened with the key in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.verify import archive
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.ids import Digest

_ARCHIVE, _SET = "archive.sealed", "set"


def fetch_drawn_texts(
    view: CompetitionView, folder: Path, blob: Callable[[Digest], bytes | None], ledger: str
) -> list[bytes]:
    """The drawn documents in their order; what is in the folder already is not fetched again.

    Raises UserFacingError before the draw, or if the archive does not match its commitment.
    """
    if view.draw is None:
        why = view.missing_for_ranking() or f"its draw is at {format_time(view.rules.dates.draw)}"
        raise UserFacingError(f"nothing is drawn in {view.rules.name}: {why}")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = archive.fetch_archive(view.rules, folder / _ARCHIVE, blob, ledger)
    documents = archive.decrypt_archive(view.rules, view.draw.key, path, folder / _SET)
    return [archive.read_document(documents, number) for number in view.draw.documents]
