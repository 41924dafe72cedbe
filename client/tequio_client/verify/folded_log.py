"""A log that is read, checked and folded: what every check of a ledger starts from.

The fold computes runs, competitions, standings and points from the entries, so callers that decide
by them decide by what every stranger can see, and not by the ledger's word.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.names import matches_name_or_id, name_with_id
from tequio_client.verify.fold import Fold
from tequio_client.verify.progress import NoProgress
from tequio_client.verify.reader import LogReader
from tequio_client.verify.report import AuditReport
from tequio_client.verify.source import LiveLog, NotAvailableError
from tequio_client.worker import shutdown
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tequio_client.ledger.api import LedgerNetwork
    from tequio_client.verify.fold import RunHistory
    from tequio_client.verify.progress import WorkProgress
    from tequio_client.verify.source import LogSource, TileSource
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.ids import Digest, RunId
    from tequio_shared.log.notes import Checkpoint, SignedCheckpoint
    from tequio_shared.log.policy import Policy
    from tequio_shared.network.genesis import Genesis


class FoldedLog:
    """State that follows from a log as far as it was read; `read` continues from there."""

    def __init__(
        self,
        source: LogSource,
        report: AuditReport,
        *,
        tiles: TileSource | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Read nothing yet; raises NotAvailableError, PeerError for a log without a genesis."""
        self.reader = LogReader(source, report, tiles=tiles, policy=policy)
        self.genesis: Genesis = self.reader.genesis()
        self.fold = Fold(self.genesis, source, report)
        self.last_ms = 0
        """When the last entry was made, by the clock of its author."""

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that was read to; after the first `read`."""
        return self._signed.checkpoint

    @property
    def cosigners(self) -> tuple[str, ...]:
        """Witnesses of the policy that cosigned it; empty without a policy."""
        return tuple(one.key.name for one in self._signed.cosignatures)

    @property
    def is_whole(self) -> bool:
        """True if every entry was read, and together they have the signed root."""
        return self.reader.signed is not None

    @property
    def _signed(self) -> SignedCheckpoint:
        if self.reader.signed is None:
            raise AssertionError("nothing was read yet")
        return self.reader.signed

    @property
    def runs(self) -> Mapping[RunId, RunHistory]:
        """Every run, in the order of the log."""
        return self.fold.runs

    @property
    def competitions(self) -> Mapping[Digest, CompetitionView]:
        """Every competition, in the order of the log."""
        return self.fold.view.competitions.views

    def read(
        self, progress: WorkProgress | None = None, *, at_least: int = 0, patience_s: float = 0.0
    ) -> None:
        """Read to the newest checkpoint; waits `patience_s` for one of `at_least` entries.

        Findings go to the report. Raises NotAvailableError, PeerError for a checkpoint that cannot
        be fetched, or that the log or too few witnesses signed.
        """
        signed, note = self.reader.newest(at_least, patience_s)
        left = max(signed.checkpoint.size - self.reader.size, 0)
        leaf = b""
        with (progress or NoProgress()).work("entries", left) as tick:
            for index, leaf in self.reader.entries(signed, note, tick):
                self.fold.apply(index, leaf)
        if leaf:
            self.last_ms = _made_ms(leaf)

    def run(self, wanted: str) -> RunHistory:
        """The run of that name or beginning of its id; raises UserFacingError."""
        found = [one for one in self.runs.values() if _fits(one, wanted)]
        if len(found) == 1:
            return found[0]
        known = ", ".join(map(_called, found or self.runs.values())) or "none"
        if found:
            raise UserFacingError(f"several runs fit {wanted!r}: {known}; give more of the id")
        raise UserFacingError(f"the log has no run {wanted!r}; it has: {known}")


def find_competitions(views: Iterable[CompetitionView], wanted: str) -> list[CompetitionView]:
    """Competitions of that name or beginning of an id; all of them for an empty text."""
    return [
        one
        for one in views
        if not wanted or matches_name_or_id(one.rules.name, to_text(one.id), wanted)
    ]


def display_name(view: CompetitionView) -> str:
    """A competition's name, and the beginning of its id."""
    return name_with_id(view.rules.name, to_text(view.id))


def _fits(history: RunHistory, wanted: str) -> bool:
    manifest = history.view.manifest
    return matches_name_or_id(manifest.name, to_text(manifest.run_id), wanted)


def _called(history: RunHistory) -> str:
    manifest = history.view.manifest
    return name_with_id(manifest.name, to_text(manifest.run_id))


def _made_ms(leaf: bytes) -> int:
    try:
        return Entry.parse(leaf).statement.ts
    except MalformedError:  # a finding of the fold
        return 0


PUBLISHED_S = 5.0
"""How long a statement that was logged may take to appear under a signed checkpoint."""
POLL_S = 0.5


class LedgerReader:
    """A ledger's log so far; `read` goes on to its present end, over a connection of its own."""

    def __init__(self, ledger: str, trust: Policy | None = None) -> None:
        self.ledger = ledger
        self.trust = trust
        self._network: LedgerNetwork | None = None
        self._source = LiveLog()
        self._report = AuditReport()
        self._log: FoldedLog | None = None

    def read(self, progress: WorkProgress | None = None) -> None:
        """Read on; raises UserFacingError for a log that does not hold, or a ledger away.

        After an error the next call begins with the first entry.
        """
        with shutdown.explain_unreachable_ledger(self.ledger):
            trio.run(self._read, progress)
        try:
            self._report.check(
                f"the log at {self.ledger}",
                f"run `tequio audit --ledger {self.ledger}` for details",
            )
        except UserFacingError:
            self._report, self._log = AuditReport(), None
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
        with shutdown.explain_unreachable_ledger(self.ledger):
            return trio.run(self._blob, name)

    @property
    def network(self) -> LedgerNetwork:
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
        known = ", ".join(map(display_name, found or self.competitions.values())) or "none"
        if not wanted:
            raise UserFacingError(
                f"choose a competition with --competition; the log has: {known}"
                if found
                else f"no competition was opened at {self.ledger}"
            )
        if found:
            raise UserFacingError(f"several competitions fit {wanted!r}: {known}; give the id")
        raise UserFacingError(f"no competition {wanted!r}; known competitions: {known}")

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
