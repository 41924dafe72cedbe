"""A live ledger's log, read on at each call: what commands and evaluators decide by."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.verify.folded_log import FoldedLog, called, find_competitions
from tequio_client.verify.report import Report
from tequio_client.verify.source import LiveLog, NotAvailableError
from tequio_client.worker import endings
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.ledger.api import Network
    from tequio_client.verify.fold import RunHistory
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition import CompetitionView
    from tequio_shared.ids import Digest, RunId
    from tequio_shared.policy import Policy

PUBLISHED_S = 5.0
"""How long a statement that was logged may take to appear under a signed checkpoint."""
POLL_S = 0.5


class LedgerReader:
    """A ledger's log so far; `read` goes on to its present end, over a connection of its own."""

    def __init__(self, ledger: str, trust: Policy | None = None) -> None:
        self.ledger = ledger
        self.trust = trust
        self._network: Network | None = None
        self._source = LiveLog()
        self._report = Report()
        self._log: FoldedLog | None = None

    def read(self, progress: WorkProgress | None = None) -> None:
        """Read on; raises UserFacingError for a log that does not hold, or a ledger away.

        After an error the next call begins with the first entry.
        """
        with endings.reached(self.ledger):
            trio.run(self._read, progress)
        try:
            self._report.check(
                f"the log at {self.ledger}",
                f"run `tequio audit --ledger {self.ledger}` for details",
            )
        except UserFacingError:
            self._report, self._log = Report(), None
            raise

    def wait_for(
        self, wanted: str | None, has: Callable[[CompetitionView], bool] = lambda _: True
    ) -> CompetitionView:
        """Read on, and find a competition; waits a while for what was just posted to be published.

        Raises UserFacingError as `read` and `competition`.
        """
        deadline_s = time.monotonic() + PUBLISHED_S
        while True:
            self.read()
            is_late = time.monotonic() > deadline_s
            try:
                view = self.competition(wanted)
            except UserFacingError:
                if is_late:
                    raise
            else:
                if is_late or has(view):
                    return view
            time.sleep(POLL_S)

    def blob(self, name: Digest) -> bytes | None:
        """Get a document from the ledger, its hash checked; None when it has none."""
        with endings.reached(self.ledger):
            return trio.run(self._blob, name)

    @property
    def network(self) -> Network:
        """The network; after the first `read`."""
        if self._network is None:
            raise AssertionError("nothing was read yet")
        return self._network

    @property
    def competitions(self) -> Mapping[Digest, CompetitionView]:
        """Every competition, in the order of the log."""
        return {} if self._log is None else self._log.competitions

    @property
    def runs(self) -> Mapping[RunId, RunHistory]:
        """Every run, in the order of the log."""
        return {} if self._log is None else self._log.runs

    def competition(self, wanted: str | None) -> CompetitionView:
        """The competition of that name or beginning of its id; the only one if none is given.

        Raises UserFacingError.
        """
        found = find_competitions(self.competitions.values(), wanted or "")
        if len(found) == 1:
            return found[0]
        known = ", ".join(map(called, found or self.competitions.values())) or "none"
        if not wanted:
            raise UserFacingError(
                f"choose a competition with --competition; the log has: {known}"
                if found
                else f"no competition was opened at {self.ledger}"
            )
        if found:
            raise UserFacingError(f"several competitions fit {wanted!r}: {known}; give the id")
        raise UserFacingError(f"there is no competition {wanted!r}; the log has: {known}")

    def run(self, wanted: str) -> RunHistory:
        """The run of that name or beginning of its id; raises UserFacingError."""
        if self._log is None:
            raise AssertionError("nothing was read yet")
        return self._log.run(wanted)

    async def _read(self, progress: WorkProgress | None) -> None:
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            self._network = await api.network()
            self._source.api = api
            try:
                await trio.to_thread.run_sync(self._read_on, progress)
            finally:
                self._source.api = None

    def _read_on(self, progress: WorkProgress | None) -> None:
        try:
            if self._log is None:
                source = self._source
                self._log = FoldedLog(source, self._report, tiles=source, policy=self.trust)
            self._log.read(progress)
        except NotAvailableError as err:
            raise LedgerUnavailableError(str(err)) from err

    async def _blob(self, name: Digest) -> bytes | None:
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            return await api.get_blob(name)
