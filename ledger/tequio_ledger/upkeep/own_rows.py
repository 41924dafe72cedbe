"""Whether a ledger's rows are in its own folder, where `backup` and `restore` copy them.

Rows in PostgreSQL have tools of their own. A copy of the folder's former database would look like a
backup, and bring back a log that goes on elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger import founding
from tequio_ledger.log import guard
from tequio_ledger.log.guard import Cause
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_ledger.folder import Folder


def check(folder: Folder, database: str) -> None:
    """Raise UserFacingError, which says what to use instead, when they are elsewhere."""
    if database or _went_elsewhere(folder):
        raise UserFacingError(
            f"the rows of the ledger of {folder.path} are not in its folder: back them up and "
            "restore them with pg_dump and pg_restore, and keep the folder with the dump "
            "(docs/operating.md, PostgreSQL)"
        )


def _went_elsewhere(folder: Folder) -> bool:
    if not folder.database.exists():
        return any(path.exists() for path in founding.key_paths(folder))
    mark = guard.read_mark(folder.mark)
    return mark is not None and mark.cause is Cause.MOVED
