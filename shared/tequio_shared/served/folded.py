"""Derived rows of a log that was folded in memory: what an auditor compares answers with."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from tequio_shared.ids import PeerKey, RunId
from tequio_shared.served.answers import LISTED_STANDINGS
from tequio_shared.served.rows import (
    AttendedRound,
    KeyRows,
    MeasuredHead,
    MeasureRow,
    RankedRow,
    RoundRow,
    StandingRow,
    measure_row,
    measured_heads,
)
from tequio_shared.served.state import State, key_rows, standing_row
from tequio_shared.statements.runs import (
    HeadMeasure,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
)
from tequio_shared.statements.statement import Statement


class FoldedRows:
    """The rows of a state, and of the rounds before; `record` is called after each entry.

    Keys are sorted when a list of them is asked for, and once for each size of the log.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.size = 0  # entries folded, also those from which nothing follows
        self._rounds: defaultdict[RunId, dict[int, RoundRow]] = defaultdict(dict)
        self._measures: defaultdict[RunId, dict[int, list[MeasureRow]]] = defaultdict(dict)
        self._attended: defaultdict[PeerKey, list[AttendedRound]] = defaultdict(list)
        self._keys: tuple[int, list[PeerKey]] = (-1, [])  # with the size for which it is true
        self._ranking: tuple[int, list[RankedRow]] = (-1, [])

    def record(self, index: int, statement: Statement) -> None:
        """Record what follows from an entry that the state has applied."""
        match statement.body:
            case HeadMeasure() as body:
                row = measure_row(index, statement, body)
                by_round = self._measures[RunId(row.run)]
                by_round.setdefault(row.round, []).append(row)
            case RoundRoster() | RoundOpen() | RoundClose() | RoundVoid():
                self._record_round(statement)

    def _record_round(self, statement: Statement) -> None:
        if statement.run is None:
            return
        found = self._state.last_round(statement.run)
        if found.round is None:
            return
        row, earned = found.round, Counter[bytes]()
        self._rounds[statement.run][row.round] = row
        for credit in found.credits:
            earned[credit.peer] += credit.gflop
        for one in found.attended:
            attended = AttendedRound(
                run=row.run,
                round=row.round,
                roster_index=row.roster_index,
                closed_index=one.closed_index,
                outcome=row.outcome,
                gflop=earned[one.peer],
            )
            self._attended[PeerKey(one.peer)].append(attended)

    def keys(self, after: PeerKey | None, limit: int) -> list[KeyRows]:
        """Give keys in order of registration, then by key, after a key."""
        if self._keys[0] != self.size:
            self._keys = self.size, sorted(self._state.peers, key=self._registration)
        listed = self._keys[1]
        first = 0
        if after is not None:
            first = bisect_right(listed, self._registration(after), key=self._registration)
        return [key_rows(self._state, key) for key in listed[first : first + limit]]

    def ranked(self, after: int, limit: int) -> Sequence[RankedRow]:
        """Give the keys with points after a rank, the best first."""
        return self._ranked()[after : after + limit]

    def ranked_count(self) -> int:
        """Count the keys with points."""
        return len(self._ranked())

    def standings(self, after: int, limit: int) -> list[StandingRow]:
        """Give keys of the quarantine list by the entry of their standing, after an index."""
        listed = sorted(
            (one.since, key)
            for key, one in self._state.standings.records.items()
            if (one.standing in LISTED_STANDINGS or one.appeal is not None) and one.since > after
        )
        return [standing_row(self._state, key) for _, key in listed[:limit]]

    def rounds(self, run: RunId, after: int, limit: int) -> list[RoundRow]:
        """Give the rounds of a run after a number, ascending."""
        return _after(self._rounds[run], after, limit)

    def measured(self, run: RunId, after: int, limit: int) -> list[MeasuredHead]:
        """Give the measured heads of the rounds of a run after a number, ascending."""
        by_round = self._measures[run]
        numbers = islice((one for one in sorted(by_round) if one > after), limit)
        return measured_heads(row for number in numbers for row in by_round[number])

    def measured_before(self, run: RunId, before: int, limit: int) -> list[MeasuredHead]:
        """Give the last measured heads of the rounds of a run before a number, ascending."""
        by_round = self._measures[run]
        numbers = sorted(one for one in by_round if one < before)[-limit:]
        return measured_heads(row for number in numbers for row in by_round[number])

    def attended(self, key: PeerKey, before: int, limit: int) -> list[AttendedRound]:
        """Give the rounds of a key that ended with an entry below an index, the newest first."""
        found = self._attended[key]
        end = bisect_right(found, before - 1, key=lambda one: one.closed_index)
        return found[max(end - limit, 0) : end][::-1]

    def earned(self, run: RunId, size: int) -> Counter[PeerKey]:
        """Sum up what keys earned in a run in the log of a size, those with points only."""
        found = Counter[PeerKey]()
        for key, rounds in self._attended.items():
            for one in rounds:
                if one.run == run and one.closed_index < size and one.gflop:
                    found[key] += one.gflop
        return found

    def _registration(self, key: PeerKey) -> tuple[int, PeerKey]:
        return self._state.peers[key].registered_index, key

    def _ranked(self) -> list[RankedRow]:
        if self._ranking[0] != self.size:
            self._ranking = self.size, list(self._rank())
        return self._ranking[1]

    def _rank(self) -> Iterator[RankedRow]:
        earned = {key: self._state.gflop(key) for key in self._state.peers}
        paid = [key for key, points in earned.items() if points]
        paid.sort(key=lambda key: (-earned[key], *self._registration(key)))
        for rank, key in enumerate(paid, 1):
            yield RankedRow(rank=rank, key=key, name=self._state.names.of(key), gflop=earned[key])


def _after(rounds: dict[int, RoundRow], after: int, limit: int) -> list[RoundRow]:
    # Rounds of a run are numbered from 1 on, without gaps.
    return [rounds[one] for one in range(after + 1, after + limit + 1) if one in rounds]
