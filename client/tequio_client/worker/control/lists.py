"""Lists of runs and competitions for the app, read from the ledger.

The id of a run or competition is the hash of its rules, so rules are checked by it; an outcome is a
blob checked by its hash. State, phase, entrants, members and losses are reported by the ledger; our
points are proven here. `tequio verify-competition` proves the rest. A run's pace is that of its
last closed rounds by the coordinator's times, or its rules' target while there are none.
"""

from __future__ import annotations

import statistics
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec
import structlog
import trio

from tequio_client.ipc.cell import CellNeed
from tequio_client.ipc.competitions import (
    MAX_COMPETITIONS,
    AskCompetitions,
    CompetitionEntrantRow,
    CompetitionRow,
    CompetitionsReply,
)
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.runs import (
    MAX_PUBLISHED_HEADS,
    AskCurves,
    CurvesReply,
    GeneratedSample,
    LossCurve,
    LossCurvePoint,
    PublishedHead,
    RunOrganiser,
    RunPlugin,
    RunRow,
    RunsReply,
)
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import clean_text
from tequio_client.platform import sandbox
from tequio_client.plugins.consents import REVIEWED
from tequio_client.worker.evaluate import JudgingRole, sort_competitions
from tequio_client.worker.lending.facts import (
    NONE_FITS,
    NONE_OPEN,
    TAKEN,
    IdleReason,
    LendableDevice,
    sort_devices,
)
from tequio_client.worker.lending.needs import RoundPace, cell_needs, estimate
from tequio_client.worker.points import forecast, points
from tequio_client.worker.points.points_db import DatabaseFile
from tequio_shared import encoding
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.api.competitions import CompetitionAnswer
from tequio_shared.api.runs import RoundAnswer, RunAnswer
from tequio_shared.competition.rules import CompetitionOutcome, RankedEntrant
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import PeerKey, RunId, digest_from_text, key_from_text, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, DOCUMENT_BYTES
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.network import is_on_hub
from tequio_shared.statements.runs import RunOpen, is_chat_address
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

MAX_CURVE_ROUNDS = 48
MAX_CACHED_CURVES = 64
MAX_SOURCE_CHARACTERS = 256
MAX_RUNS = 64
"""Maximum runs that are listed, and whose rules are cached."""
PACE_ROUNDS = 8
"""Number of last rounds that give the pace."""
NO_ROUNDS: Mapping[str, int] = {}
_Q16 = 65_536.0
_GB = 10**9

T = TypeVar("T")
Row = TypeVar("Row", CompetitionRow, RunOrganiser, RunRow)


class CompetitionsList:
    def __init__(
        self,
        ledger: LedgerApi,
        book: DatabaseFile,
        ours: Callable[[CompetitionAnswer], Awaitable[JudgingRole]],
    ) -> None:
        """`ours` gives our state as an evaluator of a competition."""
        self._ledger, self._book, self._ours = ledger, book, ours
        self._decided: OrderedDict[str, CompetitionAnswer] = OrderedDict()
        self._outcomes: OrderedDict[str, CompetitionOutcome] = OrderedDict()
        self._curves: OrderedDict[str, dict[int, LossCurvePoint | None]] = OrderedDict()  # by run

    async def answer(self, asked: AskCompetitions | AskCurves) -> CompetitionsReply | CurvesReply:
        """Raises TequioError when the ledger or the points database cannot be read."""
        return await (self.curves(asked.runs) if isinstance(asked, AskCurves) else self.read())

    async def read(self) -> CompetitionsReply:
        """List the newest competitions, decided ones last; raises TequioError."""
        found = sort_competitions(await self._ledger.competitions())
        if not found:
            return CompetitionsReply(rows=())
        names = {run.run: run.name for run in await self._ledger.runs()}
        ours = await trio.to_thread.run_sync(points.points_by_run, self._book)
        rows = []
        for line in found:
            try:
                rows.append(await self._row(line.competition, names, ours))
            except (PeerError, RefusedError) as err:
                log.warning("competition unreadable", error=str(err))
        return CompetitionsReply(rows=tuple(rows))

    async def _row(self, name: str, names: dict[str, str], ours: dict[str, int]) -> CompetitionRow:
        answer = self._decided.get(name)
        if answer is None:
            answer = await self._ledger.competition(digest_from_text(name))
        if answer.phase == CompetitionPhase.DECIDED:  # which is final
            _cache(self._decided, name, answer, MAX_COMPETITIONS)
        role, places = await self._ours(answer), await self._places(answer.outcome)
        row = _competition_row(answer, role, places, names, ours)
        return _checked(row, f"competition {row.competition[:10]} is not understood")

    async def _places(self, name: str | None) -> dict[str, RankedEntrant]:
        if name is None:
            return {}
        if name not in self._outcomes:
            raw = await _document(self._ledger, name, BLOB_BYTES)
            _cache(self._outcomes, name, CompetitionOutcome.parse(raw), MAX_COMPETITIONS)
        return {one.entrant: one for one in self._outcomes[name].places}

    async def curves(self, runs: Sequence[str]) -> CurvesReply:
        """Read some rounds of each of these runs, evenly over their lives; raises TequioError."""
        answers = {one.run: one for one in await self._ledger.runs()}
        known = [run for run in runs if run in answers]
        found: dict[str, tuple[LossCurvePoint, ...]] = {}
        async with trio.open_nursery() as nursery:
            for run in known:
                nursery.start_soon(self._read_curve, run, answers[run].round, found)
        return CurvesReply(rows=tuple(LossCurve(run=run, points=found[run]) for run in known))

    async def _read_curve(
        self, run: str, rounds: int, found: dict[str, tuple[LossCurvePoint, ...]]
    ) -> None:
        known = self._curves.get(run, {})
        _cache(self._curves, run, known, MAX_CACHED_CURVES)
        due = curve_rounds(rounds)
        missing = [number for number in due if number not in known]
        for answer in await self._rounds(run, missing):
            if answer.outcome != "open":  # closed rounds do not change
                loss = answer.loss_q16
                known[answer.round] = LossCurvePoint(answer.round, loss / _Q16) if loss else None
        found[run] = tuple(point for number in due if (point := known.get(number)))

    async def _rounds(self, run: str, numbers: Sequence[int]) -> list[RoundAnswer]:
        """Read these rounds: in one page where they are close together, otherwise one by one."""
        if not numbers:
            return []
        id_ = RunId(digest_from_text(run))
        first, last = numbers[0], numbers[-1]
        if last - first < PAGE_ROWS:
            page = await self._ledger.rounds(id_, after=first - 1, limit=last - first + 1)
            return [one for one in page if one.round in set(numbers)]
        found: list[RoundAnswer] = []
        for number in numbers:
            page = await self._ledger.rounds(id_, after=number - 1, limit=1)
            found += [one for one in page if one.round == number]
        return found


def curve_rounds(rounds: int) -> list[int]:
    """Choose some rounds, evenly, stable as the run grows, with the first and the last two."""
    step = 1
    while rounds // step > MAX_CURVE_ROUNDS:
        step *= 2
    due = {*range(step, rounds + 1, step), 1, rounds - 1, rounds}
    return sorted(number for number in due if 0 < number <= rounds)


def _checked(row: Row, what: str) -> Row:
    """Check that the row fits the bounds of the message; raises PeerError."""
    try:
        return encoding.read(msgspec.json.encode(row), type(row))
    except MalformedError as err:
        raise PeerError(f"{what}: {err}") from err


def _cache(cache: OrderedDict[str, T], name: str, value: T, most: int) -> None:
    """Put the value last into a cache of at most that many; the first one goes."""
    cache[name] = value
    cache.move_to_end(name)
    if len(cache) > most:
        cache.popitem(last=False)


def _competition_row(
    answer: CompetitionAnswer,
    role: JudgingRole,
    places: dict[str, RankedEntrant],
    names: dict[str, str],
    ours: dict[str, int],
) -> CompetitionRow:
    rules = answer.rules
    dates, budget, scoring, sealed = rules.dates, rules.budget, rules.scoring, rules.sealed
    entrants = [
        CompetitionEntrantRow(
            name=one.entrant,
            run=one.side or "",
            run_name=names.get(one.side or "", ""),
            gflop=ours.get(one.side or "", 0),
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
        part=role.part,
        judged=role.judged,
        to_judge=role.to_judge,
        judge_mb=role.need_mb,
        bar=role.barred.bar,
        barred_by=role.barred.by,
    )


def _score(placed: RankedEntrant | None) -> dict[str, int]:
    if placed is None:
        return {}
    return {
        "rank": placed.rank,
        "nanobits_per_byte": placed.nanobits_per_byte,
        "low": placed.low,
        "high": placed.high,
    }


class RunsList:
    def __init__(
        self, ledger: LedgerApi, is_allowed: Callable[[str], bool] = REVIEWED.__contains__
    ) -> None:
        """`is_allowed` tells whether the plug-in with that hash may run on this computer."""
        self._ledger, self._is_allowed = ledger, is_allowed
        self._rules: OrderedDict[str, tuple[Manifest, Corpus]] = OrderedDict()
        self._openings: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._cells: OrderedDict[str, tuple[CellNeed, ...]] = OrderedDict()

    async def read(
        self,
        ours: Collection[str] = (),
        flop_per_s: float = 0.0,
        first_rounds: Mapping[str, int] = NO_ROUNDS,
        *,
        is_witness: bool = True,
    ) -> RunsReply:
        """List every run whose rules are available, its organisers as keys; raises TequioError.

        `ours` are the ids of our runs, `flop_per_s` the speed of this computer's device, if known,
        `first_rounds` the first round of each run in which our work earned points, and
        `is_witness` tells whether we offer that role.
        """
        rows, answers = [], await self._ledger.runs()
        for answer in select_runs(answers):
            try:
                row = await self._row(answer, ours, flop_per_s, is_witness=is_witness)
                row = msgspec.structs.replace(row, first_round=first_rounds.get(row.run, 0))
                rows.append(_checked(row, "its rules have impossible figures"))
            except (PeerError, RefusedError) as err:
                log.warning("rules of a run unavailable", run=answer.run[:10], error=str(err))
        rows.sort(key=lambda row: (not row.is_open, not row.is_ours))
        listed = {row.run for row in rows}
        open_runs = [one.run for one in answers if one.state != RunState.FINISHED]
        unread = [run for run in open_runs if run not in listed][-MAX_ROWS:]
        return RunsReply(rows=tuple(rows), unread=tuple(unread))

    async def parameters(self) -> dict[str, int]:
        return {row.run: row.parameters for row in (await self.read()).rows}

    async def _row(
        self, answer: RunAnswer, ours: Collection[str], flop_per_s: float, *, is_witness: bool
    ) -> RunRow:
        manifest, corpus = await self.read_rules(answer)
        is_open, sample = answer.state != RunState.FINISHED, answer.sample
        pace = await self.pace(answer, manifest)
        needed = estimate(manifest, corpus, pace, is_witness=is_witness)
        back = answer.rollbacks[0] if answer.rollbacks else None
        return RunRow(
            run=answer.run,
            name=manifest.name,
            state=answer.state,
            round=manifest.rounds.shown(answer.round),
            rounds=manifest.rounds.most,
            members=answer.members,
            most_members=manifest.rounds.most_members,
            tokens=answer.tokens,
            source=clean_text(corpus.source, MAX_SOURCE_CHARACTERS),
            description=manifest.description or "",
            licence=manifest.licence or "",
            organisers=tuple(RunOrganiser(key=key) for key in await self._organisers(answer)),
            witness_share_bp=manifest.witness_share_bp,
            parameters=manifest.parameters,
            adapters=manifest.model.parameters if manifest.frozen else 0,
            memory_mb=needed.memory_mb,
            cells=await self._cell_needs(answer.run, manifest) if is_open else (),
            disk_bytes=needed.disk_bytes,
            day_disk_bytes=needed.day_disk_bytes,
            day_points=forecast.by_speed(flop_per_s, manifest.rounds.train, pace.length_ms)
            if is_open
            else 0,
            hourly_up_bytes=needed.hourly_up_bytes,
            hourly_down_bytes=needed.hourly_down_bytes,
            first_bytes=needed.first_bytes,
            announcement=answer.announcement.text if answer.announcement else "",
            pause_reason=answer.pause_reason.text if answer.pause_reason else "",
            chat=answer.chat.text if answer.chat and is_chat_address(answer.chat.text) else "",
            published=tuple(
                PublishedHead(round=one.round, repo=one.location, revision=one.revision)
                for one in answer.published
                if is_on_hub(one.location)
            )[:MAX_PUBLISHED_HEADS],
            sample=GeneratedSample(round=sample.round, prompt=sample.prompt, text=sample.text)
            if sample
            else None,
            is_open=is_open,
            is_ours=answer.run in ours,
            plugin=self._plugin(manifest),
            rollback_round=back.head_round if back else 0,
            rollback_entry=back.index if back else None,
        )

    def _plugin(self, manifest: Manifest) -> RunPlugin | None:
        """The code that training takes."""
        code = manifest.trainer_code
        if code is None:
            return None
        return RunPlugin(
            spec=code,
            is_allowed=self._is_allowed(code.archive),
            is_confined=sandbox.is_available(),
        )

    async def read_rules(self, answer: RunAnswer) -> tuple[Manifest, Corpus]:
        known = self._rules.get(answer.run)
        if known is None:
            # The id of a run is the digest of its manifest.
            manifest = Manifest.parse(await _document(self._ledger, answer.run))
            corpus = Corpus.parse(await _document(self._ledger, manifest.data.manifest))
            known = manifest, corpus
            _cache(self._rules, answer.run, known, MAX_RUNS)
        return known

    async def read_config(self, manifest: Manifest) -> bytes | None:
        """The configuration of the run's model; None if the ledger does not have it."""
        name = digest_from_text(manifest.model.config)
        return await self._ledger.get_blob(name, most_bytes=DOCUMENT_BYTES)

    async def _cell_needs(self, run: str, manifest: Manifest) -> tuple[CellNeed, ...]:
        known = self._cells.get(run)
        if known is None:
            config = await self.read_config(manifest)
            known = cell_needs(manifest, config)
            if config is not None:
                _cache(self._cells, run, known, MAX_RUNS)
        return known

    async def _organisers(self, answer: RunAnswer) -> tuple[str, ...]:
        """The keys that signed the run's opening."""
        known = self._openings.get(answer.run)
        if known is None:
            at = answer.opened_index
            (raw,) = await self._ledger.entries(at, at + 1)
            opening = Entry.parse(raw)
            if opening.statement.run != answer.id or opening.statement.type != RunOpen.TYPE:
                raise PeerError(f"entry {at} does not open the run {answer.run[:10]}")
            known = tuple(to_text(key) for key, _ in opening.signatures)
            _cache(self._openings, answer.run, known, MAX_RUNS)
        return known

    async def with_names(self, listed: RunsReply) -> RunsReply:
        """Add the organisers' public names; a key whose name the ledger refuses stays alone.

        One request for each organiser of a list, of which a network has few: a name can be changed
        and withdrawn, so it is not kept longer.
        """
        named: dict[str, RunOrganiser] = {}
        for key in dict.fromkeys(one.key for row in listed.rows for one in row.organisers):
            named[key] = RunOrganiser(key=key)
            try:
                account = await self._ledger.find_peer(key_from_text(key))
                if account is not None:
                    shown = RunOrganiser(key=key, name=account.name)
                    named[key] = _checked(shown, "an organiser has an impossible name")
            except (PeerError, RefusedError) as err:
                log.warning("name of an organiser unavailable", key=key[:10], error=str(err))
        rows = (
            msgspec.structs.replace(row, organisers=tuple(named[one.key] for one in row.organisers))
            for row in listed.rows
        )
        return msgspec.structs.replace(listed, rows=tuple(rows))

    async def pace(self, answer: RunAnswer, manifest: Manifest) -> RoundPace:
        """Pace of the last rounds; that of the rules for a run that has begun just now, or ended.

        A round is longer than its training, so the rules give the shortest.
        """
        rounds: Sequence[RoundAnswer] = ()
        if answer.state != RunState.FINISHED:
            after = max(answer.round - PACE_ROUNDS - 1, 0)
            rounds = await self._ledger.rounds(answer.id, after=after, limit=PACE_ROUNDS)
        accepted = [one.accepted for one in rounds if one.closed_index is not None]
        return RoundPace(
            members=answer.members,
            length_ms=await self._length_ms(rounds) or max(manifest.rounds.train, 1),
            tokens=answer.tokens // max(answer.closed, 1),
            contributions=statistics.fmean(accepted) if accepted else None,
            closed=answer.closed,
        )

    async def _length_ms(self, rounds: Sequence[RoundAnswer]) -> int:
        """Average time between the ends of these rounds; 0: unknown."""
        ends = [one.closed_index for one in rounds if one.closed_index is not None]
        if len(ends) < 2:  # noqa: PLR2004 - a span has two ends
            return 0
        (first,) = await self._ledger.entries(ends[0], ends[0] + 1)
        (last,) = await self._ledger.entries(ends[-1], ends[-1] + 1)
        took_ms = Entry.parse(last).statement.ts - Entry.parse(first).statement.ts
        return max(took_ms, 0) // (len(ends) - 1)


async def _document(ledger: LedgerApi, name: str, most_bytes: int = DOCUMENT_BYTES) -> bytes:
    found = await ledger.get_blob(digest_from_text(name), most_bytes=most_bytes)
    if found is None:
        raise PeerError(f"the ledger does not have the document {name}")
    return found


def select_runs(answers: Sequence[RunAnswer]) -> list[RunAnswer]:
    """Select the runs whose rules are read: the newest, open ones before any that is over.

    Bounded because a ledger may list any number of runs, and the rules of each cost up to 8 MiB.
    """
    over = [one for one in answers if one.state == RunState.FINISHED]
    return [*over, *(one for one in answers if one.state != RunState.FINISHED)][-MAX_RUNS:]


def assign_runs(
    listed: RunsReply,
    devices: Sequence[LendableDevice],
    taken: Mapping[str, str],
    preferences: Preferences,
    key: PeerKey,
    disk_bytes: int,
) -> dict[str, str | IdleReason]:
    """Assign a run to each device, or the reason for none, by the devices' ids.

    No two devices get the same run, since one key makes one contribution to a round. A device keeps
    the run that it has (`taken`). Otherwise it gets the run that was chosen for it, the one chosen
    for this computer, or one that fits; the most able device comes first. A chosen run counts as
    long as it is open, even if its rules could not be read. `disk_bytes` is what a run may take.
    """
    runs = listed.rows
    open_runs = {*listed.unread, *(run.run for run in runs if run.is_open)}
    found: dict[str, str | IdleReason] = {}
    used = set(taken.values())
    for device in sort_devices(devices):
        chosen = preferences.device(device.gpu.key).run, preferences.run
        own, wanted = (run if run in open_runs else "" for run in chosen)
        wanted = own or wanted
        free = [run for run in runs if run.run not in used]
        if device.gpu.id in taken:
            run: str | IdleReason = taken[device.gpu.id]
        elif wanted and wanted not in used:
            run = wanted
        elif own:
            run = TAKEN
        else:
            run = choose_run(free, device, preferences, key, disk_bytes)
            if not isinstance(run, str) and used:
                others = choose_run(runs, device, preferences, key, disk_bytes)
                run = TAKEN if isinstance(others, str) else others
        found[device.gpu.id] = run
        if isinstance(run, str):
            used.add(run)
    return found


def choose_run(
    runs: Sequence[RunRow],
    device: LendableDevice,
    preferences: Preferences,
    key: PeerKey,
    disk_bytes: int,
) -> str | IdleReason:
    """Choose the run that a device takes part in, by its id, or the reason for none.

    Candidates are open runs with a free place that fit device and disk, whose first download fits
    the month's traffic, and whose own code, if they bring any, is allowed here. The one with the
    smallest share of taken places wins; ties are broken by the hash of key and run, so that many
    workers spread out. For the processor, free main memory counts.
    """
    open_ = [run for run in runs if run.is_open]
    if not open_:
        return NONE_OPEN
    memory_mb = (device.free_mb if device.is_cpu else device.most_mb) or 0
    fitting = [
        run for run in open_ if run.disk_bytes <= disk_bytes and _fits(run, memory_mb, preferences)
    ]
    if not fitting:
        return NONE_FITS

    def rank(run: RunRow) -> tuple[float, bytes]:
        return run.members / max(run.most_members, 1), sha256(key + run.run.encode())

    return min(fitting, key=rank).run


def _fits(run: RunRow, memory_mb: int, preferences: Preferences) -> bool:
    most_bytes = preferences.month_gb * _GB or run.first_bytes
    return (
        run.members < run.most_members
        and (run.plugin is None or run.plugin.is_allowed)
        and run.memory_mb <= memory_mb
        and run.first_bytes <= most_bytes
    )
