"""How keys stand, folded anew from the log, and the statements about it that do not follow."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from tequio_client.ledger_answers import StandingAnswer
from tequio_shared import conduct
from tequio_shared.errors import RefusedError
from tequio_shared.standing import Standings
from tequio_shared.statements.members import KeyRegister
from tequio_shared.statements.runs import NetGenesis
from tequio_shared.statements.standing import StandingChange
from tequio_shared.teams import ABOUT_TEAMS

if TYPE_CHECKING:
    from tequio_client.verify.report import Place, Report
    from tequio_shared.evidence import RoundOf
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Statement

UNSURE = "how keys stand follows from a run that could not be folded to its end"


class Conduct:
    """The standing of every key, with its past. Only `take` changes it, beside the runs' folds.

    It becomes unsure once a run, or a statement about standing, could not be folded: what does not
    fit from then on may be right, and is reported as what could not be checked.
    """

    def __init__(self, genesis: Genesis, report: Report, round_of: RoundOf) -> None:
        self.standings = Standings()
        self.is_unsure = False
        self._net = genesis.network_id
        self._report = report
        self._round_of = round_of
        self._past: dict[PeerKey, list[tuple[int, StandingAnswer]]] = defaultdict(list)
        for key in {genesis.coordinator_key, *genesis.organiser_keys}:
            self.standings.register(key, 0)
            self._remember(key, 0)

    def take(self, index: int, statement: Statement, place: Place) -> None:
        """Take an entry about the network; what is wrong with it goes into the report."""
        body = statement.body
        if isinstance(body, (NetGenesis, *ABOUT_TEAMS)):
            return
        if isinstance(body, KeyRegister):
            self.standings.register(statement.author, index)
        else:
            try:
                conduct.apply(self.standings, index, statement, self._net, self._round_of)
            except RefusedError as err:
                self._tell(statement, place, err)
                return
        if isinstance(body, StandingChange):
            self._report.checked["standing changes"] += 1
        changed = conduct.subject(statement)
        if changed is not None:
            self._remember(changed, index)

    def at(self, key: PeerKey, size: int) -> StandingAnswer | None:
        """How the key stood in the log of that size, in the words of the API."""
        past = self._past.get(key, [])
        at = bisect_right(past, size - 1, key=lambda one: one[0])
        return past[at - 1][1] if at else None

    def _tell(self, statement: Statement, place: Place, err: RefusedError) -> None:
        what = f"{statement.type} statement"
        if self.is_unsure:
            self._report.missing(what, place, UNSURE)
        else:
            self._report.mismatch(what, place, f"{err.code}: {err}")
        self.is_unsure = True

    def _remember(self, key: PeerKey, index: int) -> None:
        record = self.standings.records[key]
        answer = StandingAnswer(
            standing=str(record.standing),
            since=record.since,
            cause=None if record.cause is None else int(record.cause),
            evidence=record.evidence,
            until=record.until,
            appeal=None if record.appeal is None else record.appeal[0],
        )
        self._past[key].append((index, answer))
