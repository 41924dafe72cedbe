"""Takes in what other processes of the ledger pass on (`follower`), while this one writes the log.

They have verified the signatures. Whoever may write to the database is one of us: it could as well
write to the log's tables.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tequio_ledger.replicas import errand, passed_on
from tequio_ledger.replicas.follower import ANSWER_S, POLL_S
from tequio_ledger.store import submissions
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.limits import POST_STATEMENTS
from tequio_shared.statement import Entry
from tequio_shared.tlog import parse_bundle

if TYPE_CHECKING:
    from tequio_ledger.clock import Clock
    from tequio_ledger.sequencing.sequencer import Sequencer
    from tequio_ledger.store.engine import Database
    from tequio_ledger.store.submissions import Waiting

_AT_ONCE = 64
_SWEEP_S = 30.0
_KEPT_MS = int(4 * ANSWER_S * 1000)


class Intake:
    """One term of office."""

    def __init__(self, database: Database, sequencer: Sequencer, clock: Clock) -> None:
        self._database = database
        self._sequencer = sequencer
        self._clock = clock
        self._taken: set[int] = set()  # bundles that are in the queue
        self._answered: set[int] = set()  # since the last look, which may not have seen it

    async def run(self) -> None:
        """Take in until cancelled; raises UnwritableError when the database does not answer."""
        sweep_s = 0.0
        async with asyncio.TaskGroup() as tasks:
            while True:
                if sweep_s <= 0:
                    sweep_s = _SWEEP_S
                    await errand.run(self._sweep)
                self._taken -= self._answered
                self._answered.clear()
                found = await errand.run(self._find)
                for waiting in found:
                    self._taken.add(waiting.n)
                    tasks.create_task(self._log(waiting))
                await asyncio.sleep(0 if len(found) == _AT_ONCE else POLL_S)
                sweep_s -= POLL_S

    async def _log(self, waiting: Waiting) -> None:
        try:
            leaves = parse_bundle(waiting.leaves, POST_STATEMENTS)
            entries = [Entry.parse(leaf) for leaf in leaves]
            said = passed_on.encode(await self._sequencer.submit(entries))
        except RefusedError as err:
            said = passed_on.encode_refusal(err)
        except PeerError as err:  # a row that one of us never wrote so: it must not end us
            said = passed_on.encode_refusal(RefusedError("malformed", str(err)))
        await errand.run(self._answer, waiting.n, said)
        self._answered.add(waiting.n)

    def _find(self) -> list[Waiting]:
        with self._database.passing_errors(), self._database.office_reader.begin() as connection:
            return submissions.waiting(connection, tuple(self._taken), _AT_ONCE)

    def _answer(self, n: int, said: bytes) -> None:
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            submissions.answer(connection, n, said)

    def _sweep(self) -> None:
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            submissions.sweep(connection, self._clock() - _KEPT_MS)
