"""The log of a live ledger for tests: every entry, read as it is logged."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.proofs import LogProofs
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.round.documents import Roster
from tequio_shared.statements.runs import (
    HeadAttest,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.statements.statement import Body, Statement

BATCH = 256

B = TypeVar("B", bound="Body")


class LogHistory:
    """The statements in a ledger's log, up to the last `read`."""

    def __init__(self, ledger: LedgerApi) -> None:
        self._ledger = ledger
        self.statements: list[Statement] = []
        self.rosters: dict[int, list[str]] = {}  # keys as text, by round

    async def read(self) -> bool:
        """Read the new entries; returns False if the ledger did not answer."""
        try:
            checkpoint = await self._ledger.checkpoint()
            while (size := len(self.statements)) < checkpoint.size:
                for leaf in await self._ledger.entries(size, min(size + BATCH, checkpoint.size)):
                    await self._add(Entry.parse(leaf).statement)
        except LedgerUnavailableError:
            return False
        return True

    async def checkpoint(self) -> Checkpoint:
        """The newest signed root."""
        return await self._ledger.checkpoint()

    async def check_continues(self, before: Checkpoint) -> Checkpoint:
        """Check that the log still begins with that checkpoint's; raises PeerError."""
        now = await self._ledger.checkpoint()
        proof = await LogProofs(self._ledger, now).consistency(before.size)
        verify_consistency(before.size, before.root, now.size, now.root, proof)
        return now

    async def state(self) -> str:
        """The state of the only run, in the ledger's words."""
        (run,) = await self._ledger.runs()
        return run.state

    # --- what was logged

    def all_of(self, kind: type[B]) -> list[tuple[Statement, B]]:
        """Every statement of that type, in the log's order."""
        found = [(one, one.body) for one in self.statements]
        return [(one, body) for one, body in found if isinstance(body, kind)]

    def rounds(self, kind: type[RoundOpen | RoundWitness | RoundClose | RoundVoid]) -> list[int]:
        """Numbers of the rounds that have a statement of that type."""
        return [one.round or 0 for one, _ in self.all_of(kind)]

    def statements_by(self, key: str, kind: type[Body]) -> list[Statement]:
        """The statements of that type by that key."""
        return [one for one, _ in self.all_of(kind) if to_text(one.author) == key]

    def committed(self, number: int) -> set[str]:
        """Keys of the members that committed in that round."""
        return {to_text(one.author) for one, _ in self.all_of(WorkCommit) if one.round == number}

    def first_round_with(self, key: str) -> int | None:
        """The first round whose roster lists that key."""
        return next((number for number, keys in self.rosters.items() if key in keys), None)

    def open_round(self) -> int | None:
        """The round that is in training; None if there is none."""
        over = {*self.rounds(RoundWitness), *self.rounds(RoundVoid)}
        return next((one for one in reversed(self.rounds(RoundOpen)) if one not in over), None)

    def heads(self) -> dict[int, set[str]]:
        """The heads that members stated, by the round that they stated them for."""
        found: dict[int, set[str]] = defaultdict(set)
        for one, body in self.all_of(HeadAttest):
            found[one.round or 0].add(body.head)
        return found

    def seconds(self, number: int) -> float:
        """How long that round took from its roster to its end, by the coordinator's clock."""
        ends = (RoundRoster, RoundClose, RoundVoid)
        times = [
            one.ts for one in self.statements if one.round == number and isinstance(one.body, ends)
        ]
        return (times[-1] - times[0]) / 1000

    async def _add(self, statement: Statement) -> None:
        if isinstance(statement.body, RoundRoster):
            raw = await self._ledger.get_blob(digest_from_text(statement.body.roster))
            assert raw is not None, f"the ledger has no roster {statement.round}"
            roster = Roster.parse(raw)
            self.rosters[statement.round or 0] = [member.peer for member in roster.members]
        self.statements.append(statement)
