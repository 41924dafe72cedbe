"""The competitions of the ledger as a volunteer sees them, and the curves of their sides.

A competition's id is the hash of its rules: they are what organisers signed for. The outcome is a
blob by its hash. Phase, entrants and losses are the ledger's word; our points are those that were
proven here. `tequio verify-competition` proves the rest.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
import trio

from tequio_client.link.competitions import (
    COMPETITIONS,
    AskCompetitions,
    AskCurves,
    CompetitionRow,
    Competitions,
    Curve,
    CurvePoint,
    Curves,
    EntrantRow,
)
from tequio_client.worker import points_read
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.evaluations import Outcome
from tequio_shared.ids import RunId, digest_from_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.book_file import BookFile
    from tequio_client.worker.judging_part import Ours
    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.api.runs import RoundAnswer
    from tequio_shared.evaluations import Placed

log = structlog.get_logger(__name__)

OPEN, DECIDED = "open", "decided"
ORDER = {OPEN: 0, DECIDED: 2}
SPOTS = 48
"""Most rounds of a run that a curve is drawn through."""
KEPT_CURVES = 64
_Q16 = 65_536.0
_PAGE = 1_000


class CompetitionsList:
    """Reads what the app shows of competitions."""

    def __init__(
        self,
        ledger: LedgerApi,
        book: BookFile,
        ours: Callable[[CompetitionAnswer], Awaitable[Ours]],
    ) -> None:
        """`ours` says what we do in a competition as an evaluator."""
        self._ledger, self._book, self._ours = ledger, book, ours
        self._decided: OrderedDict[str, CompetitionAnswer] = OrderedDict()
        self._outcomes: OrderedDict[str, Outcome] = OrderedDict()
        self._spots: OrderedDict[str, dict[int, CurvePoint | None]] = OrderedDict()  # by run

    async def answer(self, asked: AskCompetitions | AskCurves) -> Competitions | Curves:
        """Answer; raises TequioError when the ledger or the book cannot be read."""
        return await (self.curves(asked.runs) if isinstance(asked, AskCurves) else self.read())

    # --- the list

    async def read(self) -> Competitions:
        """List the newest; those that are decided at the end. Raises TequioError."""
        found = listed(await self._ledger.competitions())
        if not found:
            return Competitions(rows=())
        names = {run.run: run.name for run in await self._ledger.runs()}
        ours = await trio.to_thread.run_sync(points_read.of_runs, self._book)
        rows = []
        for line in found:
            try:
                rows.append(await self._row(line.competition, names, ours))
            except (PeerError, RefusedError) as err:
                log.warning("a competition cannot be read", error=str(err))
        return Competitions(rows=tuple(rows))

    async def _row(self, name: str, names: dict[str, str], ours: dict[str, int]) -> CompetitionRow:
        answer = self._decided.get(name)
        if answer is None:
            answer = await self._ledger.competition(digest_from_text(name))
        if answer.phase == DECIDED:  # and so it stays
            self._decided[name] = answer
            _forget(self._decided)
        part = await self._ours(answer)
        row = _row(answer, await self._places(answer.outcome), names, ours)
        return _sane(
            msgspec.structs.replace(
                row,
                part=part.part,
                judged=part.judged,
                to_judge=part.to_judge,
                judge_mb=part.need_mb,
                bar=part.barred.bar,
                barred_by=part.barred.by,
            )
        )

    async def _places(self, name: str | None) -> dict[str, Placed]:
        """The places of an outcome by the entrant's name."""
        if name is None:
            return {}
        if name not in self._outcomes:
            found = await self._ledger.get_blob(digest_from_text(name))
            if found is None:
                raise PeerError(f"the ledger does not have the outcome {name}")
            self._outcomes[name] = Outcome.parse(found)
            _forget(self._outcomes)
        return {one.entrant: one for one in self._outcomes[name].places}

    # --- the curves

    async def curves(self, runs: Sequence[str]) -> Curves:
        """Read some rounds of each of these runs, evenly over its life; raises TequioError."""
        answers = {one.run: one for one in await self._ledger.runs()}
        known = [run for run in runs if run in answers]
        found: dict[str, tuple[CurvePoint, ...]] = {}
        async with trio.open_nursery() as nursery:
            for run in known:
                nursery.start_soon(self._read_curve, run, answers[run].round, found)
        return Curves(rows=tuple(Curve(run=run, points=found[run]) for run in known))

    async def _read_curve(
        self, run: str, rounds: int, found: dict[str, tuple[CurvePoint, ...]]
    ) -> None:
        found[run] = await self._curve(run, rounds)

    async def _curve(self, run: str, rounds: int) -> tuple[CurvePoint, ...]:
        known = self._spots.setdefault(run, {})
        self._spots.move_to_end(run)
        while len(self._spots) > KEPT_CURVES:
            self._spots.popitem(last=False)
        due = spots(rounds)
        missing = [number for number in due if number not in known]
        for answer in await self._rounds(run, missing):
            if answer.outcome != "open":  # what is over stays as it is
                known[answer.round] = _point(answer)
        found = [known.get(number) for number in due]
        return tuple(point for point in found if point is not None)

    async def _rounds(self, run: str, numbers: Sequence[int]) -> list[RoundAnswer]:
        """These rounds: in one page where they are near each other, else one by one."""
        if not numbers:
            return []
        id_ = RunId(digest_from_text(run))
        first, last = numbers[0], numbers[-1]
        if last - first < _PAGE:
            page = await self._ledger.rounds(id_, after=first - 1, limit=last - first + 1)
            return [one for one in page if one.round in set(numbers)]
        found: list[RoundAnswer] = []
        for number in numbers:
            page = await self._ledger.rounds(id_, after=number - 1, limit=1)
            found += [one for one in page if one.round == number]
        return found


def listed(lines: Sequence[CompetitionLine]) -> list[CompetitionLine]:
    """Those to be joined, those being judged, those that are over; the newest of each first."""
    newest = list(reversed(lines))
    newest.sort(key=lambda one: ORDER[DECIDED] if one.void else ORDER.get(one.phase, 1))
    return newest[:COMPETITIONS]


def spots(rounds: int) -> list[int]:
    """At most so many rounds, evenly: multiples of a power of two, so that they stay as it grows.

    With them the first and the two last, of which the last may be under way.
    """
    step = 1
    while rounds // step > SPOTS:
        step *= 2
    due = {*range(step, rounds + 1, step), 1, rounds - 1, rounds}
    return sorted(number for number in due if 0 < number <= rounds)


def _point(answer: RoundAnswer) -> CurvePoint | None:
    if not answer.loss_q16:
        return None
    return CurvePoint(answer.round, answer.loss_q16 / _Q16)


def _sane(row: CompetitionRow) -> CompetitionRow:
    """The row, if an app can understand it; raises PeerError."""
    try:
        return msgspec.json.decode(msgspec.json.encode(row), type=CompetitionRow)
    except msgspec.DecodeError as err:
        raise PeerError(f"competition {row.competition[:10]} is not understood: {err}") from err


def _forget(kept: OrderedDict[str, Any]) -> None:
    while len(kept) > COMPETITIONS:
        kept.popitem(last=False)


def _row(
    answer: CompetitionAnswer,
    places: dict[str, Placed],
    names: dict[str, str],
    ours: dict[str, int],
) -> CompetitionRow:
    rules = answer.rules
    dates, budget, scoring, sealed = rules.dates, rules.budget, rules.scoring, rules.sealed
    entrants = [
        EntrantRow(
            name=one.entrant,
            run=one.side or "",
            run_name=names.get(one.side or "", ""),
            micropoints=ours.get(one.side or "", 0),
            has_submitted=one.submission is not None,
            **_score(places.get(one.entrant)),
        )
        for one in answer.entrants
    ]
    entrants.sort(key=lambda one: (not one.rank, one.rank, one.nanobits_per_byte))
    return CompetitionRow(
        competition=answer.competition,
        name=rules.name,
        phase=answer.phase,
        is_void=bool(answer.void),
        opens_ms=dates.opens,
        deadline_ms=dates.deadline,
        draw_ms=dates.draw,
        scored_ms=dates.scored,
        result_ms=dates.result,
        parameters=budget.parameters,
        tokens=budget.tokens,
        hours=budget.hours,
        texts=sealed.documents,
        texts_bytes=sealed.size_bytes,
        drawn=min(scoring.documents, sealed.documents),
        evaluators=scoring.evaluators,
        window=scoring.window,
        stride=scoring.stride,
        custodians=len(sealed.shares),
        needed=sealed.needed,
        data=rules.data,
        entrants=tuple(entrants),
    )


def _score(placed: Placed | None) -> dict[str, int]:
    if placed is None:
        return {}
    return {
        "rank": placed.rank,
        "nanobits_per_byte": placed.nanobits_per_byte,
        "low": placed.low,
        "high": placed.high,
    }
