"""Who was let in and by whom, folded anew from the log: the tier and owner of every key."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from tequio_client.ledger_answers import TierAnswer
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.statements.members import KeyRegister
from tequio_shared.tiers import ABOUT_TIERS, Tiers

if TYPE_CHECKING:
    from collections.abc import Container

    from tequio_client.verify.report import Place, Report
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Entry

UNSURE = "who was let in follows from entries that could not be read or do not fit"


class Entrance:
    """The tier of every key, with its past; only `take` changes it.

    It becomes unsure once a statement about tiers, or a registration, did not fit: what does not
    fit from then on may be right, and is reported as what could not be checked.
    """

    def __init__(self, genesis: Genesis, report: Report, registered: Container[PeerKey]) -> None:
        founders = frozenset({genesis.coordinator_key, *genesis.organiser_keys})
        self.tiers = Tiers(registered=registered, founders=founders)
        self.is_unsure = False
        self._report = report
        self._past: dict[PeerKey, list[tuple[int, TierAnswer]]] = defaultdict(list)

    def take(self, index: int, entry: Entry, place: Place) -> bool:
        """Take an entry about the network; whether it was about tiers alone.

        What is wrong with it goes into the report.
        """
        statement = entry.statement
        changed = list(self.tiers.subjects(entry))
        is_about = isinstance(statement.body, ABOUT_TIERS)
        try:
            if is_about:
                self.tiers.apply(index, statement)
            elif isinstance(statement.body, KeyRegister):
                self.tiers.register(index, entry)
        except RefusedError as err:
            self._tell(f"{statement.type} statement", place, err)
            return is_about
        for key in changed:
            self._past[key].append((index, answer_of(self.tiers, key)))
        return is_about

    def at(self, key: PeerKey, size: int) -> TierAnswer:
        """Tier and owner of the key in the log of that size, in the words of the API."""
        past = self._past.get(key, [])
        at = bisect_right(past, size - 1, key=lambda one: one[0])
        if at:
            return past[at - 1][1]
        return answer_of(Tiers(founders=self.tiers.founders), key)

    def _tell(self, what: str, place: Place, err: RefusedError) -> None:
        if self.is_unsure:
            self._report.missing(what, place, UNSURE)
        else:
            self._report.mismatch(what, place, f"{err.code}: {err}")
        self.is_unsure = True


def answer_of(tiers: Tiers, key: PeerKey) -> TierAnswer:
    """What the log gives a key, in the words of the API."""
    word = tiers.word(key)
    return TierAnswer(
        tier=int(word.tier),
        owner=to_text(word.owner),
        run=None if word.run is None else to_text(word.run),
        until=word.until,
        since=word.since,
    )
