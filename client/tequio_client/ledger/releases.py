"""The releases that a network's log names, proven from the log, and whether this program may run.

The ledger's list of them only says which entries to read: each is proven against a signed
checkpoint, and signed by the organisers of the genesis.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_shared.api.network import ReleaseAnswer
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.network.releases import NamedRelease, ReleaseHistory
from tequio_shared.statements.network import SoftwareRelease
from tequio_shared.statements.statement import Statement
from tequio_shared.version import BUILD, version_number

log = structlog.get_logger(__name__)


async def read_releases(ledger: LedgerApi) -> ReleaseHistory:
    """Read what the log names.

    Raises PeerError if the ledger's list does not follow from its log, RefusedError,
    LedgerRefusedError and LedgerUnavailableError.
    """
    listed = (await ledger.releases()).releases
    found = await read_entries(ledger, await ledger.network(), (one.index for one in listed))
    history = ReleaseHistory()
    for index, entry in sorted(found.items()):
        body = entry.statement.body
        if not isinstance(body, SoftwareRelease):
            raise PeerError(f"entry {index} of the log, a {entry.statement.type}, names no release")
        try:
            history.apply(index, body)
        except RefusedError as err:
            raise PeerError(f"entry {index} of the log does not follow: {err}") from err
    _compare(listed, history.releases)
    return history


def _compare(listed: Sequence[ReleaseAnswer], proven: Sequence[NamedRelease]) -> None:
    if list(listed) != [ReleaseAnswer.of(one) for one in reversed(proven)]:
        raise PeerError("the ledger's list of releases is not what its log says")


class MinimumVersion:
    """The oldest version that this network's members should run: read once, then followed.

    Only the task that follows the log calls `apply`.
    """

    def __init__(self, ledger: LedgerApi) -> None:
        self._ledger = ledger
        self._known: tuple[int, str] | None = None  # log index and version

    async def refresh(self) -> None:
        """Ask the ledger, and adopt what the log proves; an unavailable answer changes nothing."""
        try:
            newest = (await read_releases(self._ledger)).newest
        except (LedgerUnavailableError, LedgerRefusedError, RefusedError, PeerError) as err:
            log.info("minimum version of the network unknown", error=str(err))
            return
        if newest is not None:
            self._adopt(newest.index, newest.minimum)

    def apply(self, index: int, statement: Statement) -> None:
        if isinstance(statement.body, SoftwareRelease):
            self._adopt(index, statement.body.minimum)

    @property
    def oldest(self) -> str:
        """The oldest version that members should run; empty: unknown."""
        return self._known[1] if self._known else ""

    @property
    def wanted(self) -> str:
        """The version that this program would have to be, at least; empty: it is new enough."""
        minimum = self._known[1] if self._known else BUILD
        return minimum if version_number(minimum) > version_number(BUILD) else ""

    def _adopt(self, index: int, minimum: str) -> None:
        if self._known is not None and index <= self._known[0]:
            return
        self._known = index, minimum
        if self.wanted:
            log.warning(
                "this network needs a newer version",
                wanted=minimum,
                own=BUILD,
                entry=index,
                do="run tequio update, or update it the way it was installed",
            )
