"""Which evaluator committed to scores of which entrant, and who showed what it committed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition_state import Phase

if TYPE_CHECKING:
    from tequio_ledger.web.competition_now import CompetitionNow


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One evaluator's part for one entrant, and the entry that says so."""

    word: str
    tone: str
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One evaluator, with a cell for each entrant that submitted."""

    evaluator: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All who were drawn, against all that they have to score."""

    entrants: tuple[str, ...]
    rows: tuple[Row, ...]

    def count(self, word: str) -> int:
        """How many cells say so."""
        return sum(cell.word == word for row in self.rows for cell in row.cells)


SHOWN, COMMITTED, WITHHELD, PENDING, SILENT = "shown", "committed", "held back", "due", "silent"
_TONES = {SHOWN: "ok", COMMITTED: "busy", WITHHELD: "danger", PENDING: "wait", SILENT: "warn"}


def parts(now: CompetitionNow, now_ms: int) -> Parts:
    """Tell it as it is at that time."""
    committed = {(one.entrant, one.evaluator): one.index for one in now.commits}
    shown = {(one.entrant, one.evaluator): one.index for one in now.results}
    opened = {entrant for entrant, _ in shown}
    names = tuple(one.name for one in now.entrants if one.submission is not None)

    def cell(name: str, evaluator: str) -> Cell:
        spot = name, evaluator
        if spot in shown:
            return _cell(SHOWN, shown[spot])
        is_over = now.phase is Phase.DECIDED
        if spot in committed:
            is_late = is_over or now_ms > now.rules.dates.shown
            return _cell(WITHHELD if is_late else COMMITTED, committed[spot])
        is_late = is_over or now_ms > now.rules.dates.scored or name in opened
        return _cell(SILENT if is_late else PENDING, None)

    return Parts(
        entrants=names,
        rows=tuple(
            Row(evaluator=key, cells=tuple(cell(name, key) for name in names))
            for key in now.evaluators
        ),
    )


def _cell(word: str, index: int | None) -> Cell:
    return Cell(word=word, tone=_TONES[word], index=index)
