"""The network's competitions, folded anew from the log, and the statements that do not follow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tequio_client.verify.source import NotAvailableError
from tequio_shared.competitions import ABOUT_COMPETITIONS, Competitions
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.verify.report import Place, Report
    from tequio_shared.competition_gate import Network
    from tequio_shared.statement import Statement

UNSURE = "what it follows from could not be folded to its end"


class Contests:
    """Every competition as the log tells it; only `take` changes it.

    Competitions become unsure once a document is missing: what does not fit from then on may be
    right, and is reported as what could not be checked.
    """

    def __init__(self, report: Report, network: Network, is_unsure: Callable[[], bool]) -> None:
        """Take the folds that competitions rest on, and whether those are unsure."""
        self.competitions = Competitions()
        self.followed: Counter[str] = Counter()
        """How many statements of each competition follow, by its name."""
        self._report = report
        self._network = network
        self._is_unsure = is_unsure
        self._lacks_something = False

    def take(self, index: int, statement: Statement, place: Place) -> bool:
        """Take an entry; whether it was about a competition.

        What is wrong with it goes into the report.
        """
        if not isinstance(statement.body, ABOUT_COMPETITIONS):
            return False
        what = f"{statement.type} statement"
        try:
            self.competitions.apply(index, statement, self._network)
        except NotAvailableError as err:
            self._lacks_something = True
            self._report.missing(f"document of {statement.type}", place, str(err))
        except RefusedError as err:
            if self._lacks_something or self._is_unsure():
                self._report.missing(what, place, UNSURE)
            else:
                self._report.mismatch(what, place, f"{err.code}: {err}")
        else:
            self._report.checked["statements about competitions"] += 1
            self.followed[statement.body.competition] += 1
        return True
