"""A ledger's log read and folded by ourselves, and read on at each call: nobody's word is taken.

Entries are checked as an audit checks them, so that whoever decides by what is here decides by what
every stranger can see.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

from tequio_client.audit.findings import Grade, Report
from tequio_client.audit.fold import Fold
from tequio_client.audit.main import Quiet
from tequio_client.audit.online import LiveLog
from tequio_client.audit.sources import NotHadError
from tequio_client.audit.tree import TreeAudit
from tequio_client.competition.naming import called, fits
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import is_meant, name_with_id
from tequio_client.worker import endings
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tequio_client.audit.fold import RunHistory
    from tequio_client.audit.main import Progress
    from tequio_client.audit.sources import PeerClaim, RunClaim
    from tequio_client.ledger.api import Network
    from tequio_shared.competition import CompetitionView
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.notes import Checkpoint, VerifierKey
    from tequio_shared.policy import Policy


PUBLISHED_S = 5.0
"""How long what was logged may take to be under a signed checkpoint."""
LOOK_S = 0.5


class LogReader:
    """What a log says so far; `read` goes on to its end as it is then."""

    def __init__(self, ledger: str, trust: Policy | None = None) -> None:
        self.ledger = ledger
        self.trust = trust
        self._network: Network | None = None
        self._begin()

    def read(self, progress: Progress | None = None) -> None:
        """Read on; raises UserFacingError for a log that does not hold, or a ledger away."""
        with endings.reached(self.ledger):
            trio.run(self._read, progress or Quiet())
        found = self._report.findings
        if not found:
            return
        self._begin()
        if all(one.grade is Grade.MISSING for one in found):
            raise UserFacingError(
                f"the log at {self.ledger} could not be read whole ({found[0].line()}): "
                "run this again"
            )
        worst = next(one for one in found if one.grade is Grade.MISMATCH)
        raise UserFacingError(
            f"the log cannot be relied on ({worst.line()}): "
            f"see what `tequio audit --ledger {self.ledger}` says"
        )

    def look(
        self, wanted: str | None, has: Callable[[CompetitionView], bool] = lambda _: True
    ) -> CompetitionView:
        """Read on, and find a competition; waits a while for what was said just now to be shown.

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
            time.sleep(LOOK_S)

    def blob(self, name: Digest) -> bytes | None:
        """Ask the ledger for a document; its hash is checked."""
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
        return {} if self._fold is None else self._fold.view.competitions.views

    @property
    def runs(self) -> Mapping[RunId, RunHistory]:
        """Every run."""
        return {} if self._fold is None else self._fold.runs

    def competition(self, wanted: str | None) -> CompetitionView:
        """The competition of that name or beginning of its id; the only one if nothing is said.

        Raises UserFacingError.
        """
        found = [one for one in self.competitions.values() if fits(one, wanted or "")]
        if len(found) == 1:
            return found[0]
        known = ", ".join(map(called, found or self.competitions.values())) or "none"
        if not wanted:
            raise UserFacingError(
                f"say which competition (--competition); there is: {known}"
                if found
                else f"no competition was opened at {self.ledger}"
            )
        if found:
            raise UserFacingError(f"several competitions fit {wanted!r}: {known}; give the id")
        raise UserFacingError(f"there is no competition {wanted!r}; there is: {known}")

    def run(self, wanted: str) -> RunHistory:
        """The run of that name or beginning of its id; raises UserFacingError."""
        runs = {to_text(run): history for run, history in self.runs.items()}
        names = {run: history.view.manifest.name for run, history in runs.items()}
        found = [run for run, name in names.items() if is_meant(name, run, wanted)]
        if len(found) == 1:
            return runs[found[0]]
        known = ", ".join(name_with_id(names[run], run) for run in found or names)
        raise UserFacingError(
            f"{len(found) or 'no'} runs fit {wanted!r}; the log has: {known or 'none'}"
        )

    def _begin(self) -> None:
        """Know nothing."""
        self._source = _Source()
        self._report = Report()
        self._tree = TreeAudit(self._source, self._report)
        self._fold: Fold | None = None

    async def _read(self, progress: Progress) -> None:
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            self._network = await api.network()
            checkpoint = await api.checkpoint()
            if checkpoint.size <= self._tree.size:  # of one that is behind we know more
                return
            self._source.now = LiveLog(api)
            await trio.to_thread.run_sync(self._take, checkpoint, progress)

    def _take(self, checkpoint: Checkpoint, progress: Progress) -> None:
        if self._fold is None:
            self._fold = Fold(self.network.genesis, self._source, self._report)
        with progress.work("entries", checkpoint.size - self._tree.size) as tick:
            for index, leaf in self._tree.extend(checkpoint, tick):
                self._fold.take(index, leaf)

    async def _blob(self, name: Digest) -> bytes | None:
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            raw = await api.get_blob(name)
        return raw if raw is None or sha256(raw) == name else None


class _Source:
    """The log at whatever connection is open now."""

    def __init__(self) -> None:
        self.now: LiveLog | None = None  # replaced by every reading

    @property
    def _live(self) -> LiveLog:
        if self.now is None:
            raise NotHadError("no connection to the ledger is open")
        return self.now

    def genesis(self) -> bytes:
        return self._live.genesis()

    def checkpoint(self, log_key: VerifierKey, size: int = 0) -> Checkpoint:
        return self._live.checkpoint(log_key, size)

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        return self._live.tile(level, index, width)

    def entries(self, first: int, end: int) -> list[bytes]:
        return self._live.entries(first, end)

    def blob(self, name: Digest) -> bytes | None:
        return self._live.blob(name)

    def runs(self) -> Sequence[RunClaim]:
        return self._live.runs()

    def peer(self, key: PeerKey) -> PeerClaim | None:
        return self._live.peer(key)
