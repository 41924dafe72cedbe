"""The runs of the ledger as a volunteer sees them, and which one to take when none is chosen.

A run's rules are its manifest, a blob that is checked by its hash, kept once it was read; state and
members are the ledger's word. The pace is that of its last closed rounds by the coordinator's
times, or the rules' aim while there are none.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import structlog

from tequio_client.link.preferences import most_memory_mb
from tequio_client.link.questions import PUBLISHED, PublishedHead, RunRow, Runs, SampleShown
from tequio_client.worker.outside import NONE_FITS, NONE_OPEN
from tequio_client.worker.run_needs import needs
from tequio_shared.corpus import Corpus
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import digest_from_text, sha256
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.manifest import Manifest
from tequio_shared.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.link.facts import MachineFacts
    from tequio_client.link.preferences import Preferences
    from tequio_client.worker.outside import Outside
    from tequio_shared.api.runs import RunAnswer
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

OVER = "finished"
KEPT = 64
"""Runs that are listed, and whose rules are remembered."""
PACE_ROUNDS = 8
"""Rounds over whose ends the pace is taken."""
_GIB = 1 << 30
_GB = 10**9


@dataclass(frozen=True, slots=True)
class _Rules:
    manifest: Manifest
    corpus: Corpus


class RunsList:
    """Reads the list, the open runs first."""

    def __init__(self, ledger: LedgerApi) -> None:
        self._ledger = ledger
        self._rules: OrderedDict[str, _Rules] = OrderedDict()

    async def read(self, ours: str = "") -> Runs:
        """List every run whose rules can be had; raises TequioError when the ledger cannot.

        `ours` is the id of the run that we are in, as text.
        """
        rows = []
        for answer in listed(await self._ledger.runs()):
            try:
                rows.append(_sane(await self._row(answer, ours)))
            except (PeerError, RefusedError) as err:
                log.warning("a run's rules cannot be had", run=answer.run[:10], error=str(err))
        rows.sort(key=lambda row: (not row.is_open, not row.is_ours))
        return Runs(rows=tuple(rows))

    async def parameters(self) -> dict[str, int]:
        """How large the model of each run is; raises TequioError."""
        return {row.run: row.parameters for row in (await self.read()).rows}

    async def _row(self, answer: RunAnswer, ours: str) -> RunRow:
        rules = await self._read_rules(answer)
        manifest, is_open = rules.manifest, answer.state != OVER
        pace_ms = await self._pace_ms(answer) if is_open else 0
        needed = needs(
            manifest, rules.corpus, answer.members, pace_ms or max(manifest.rounds.train, 1)
        )
        return RunRow(
            run=answer.run,
            name=manifest.name,
            state=answer.state,
            round=answer.round,
            rounds=manifest.rounds.most,
            members=answer.members,
            most_members=manifest.rounds.most_members,
            tokens=answer.tokens,
            parameters=manifest.parameters,
            adapters=manifest.model.parameters if manifest.frozen else 0,
            memory_mb=needed.memory_mb,
            disk_bytes=needed.disk_bytes,
            hourly_up_bytes=needed.hourly_up_bytes,
            hourly_down_bytes=needed.hourly_down_bytes,
            first_bytes=needed.first_bytes,
            published=tuple(
                PublishedHead(round=one.round, repo=one.repo, revision=one.revision)
                for one in answer.published[:PUBLISHED]
            ),
            sample=_sample(answer),
            is_open=is_open,
            is_ours=answer.run == ours,
        )

    async def _read_rules(self, answer: RunAnswer) -> _Rules:
        known = self._rules.get(answer.run)
        if known is None:
            manifest = Manifest.parse(await self._blob(answer.run))  # the id is its digest
            corpus = Corpus.parse(await self._blob(manifest.data.manifest))
            known = self._rules[answer.run] = _Rules(manifest, corpus)
            while len(self._rules) > KEPT:
                self._rules.popitem(last=False)
        return known

    async def _blob(self, name: str) -> bytes:
        found = await self._ledger.get_blob(digest_from_text(name), most_bytes=DOCUMENT_BYTES)
        if found is None:
            raise PeerError(f"the ledger does not have the document {name}")
        return found

    async def _pace_ms(self, answer: RunAnswer) -> int:
        """Time from one round's end to the next, lately; 0: not known."""
        after = max(answer.round - PACE_ROUNDS - 1, 0)
        rounds = await self._ledger.rounds(answer.id, after=after, limit=PACE_ROUNDS)
        ends = [one.closed_index for one in rounds if one.closed_index is not None]
        if len(ends) < 2:  # noqa: PLR2004 - a span has two ends
            return 0
        first, last = [await self._time_ms(index) for index in (ends[0], ends[-1])]
        return max(last - first, 0) // (len(ends) - 1)

    async def _time_ms(self, index: int) -> int:
        (leaf,) = await self._ledger.entries(index, index + 1)
        return Entry.parse(leaf).statement.ts


def _sample(answer: RunAnswer) -> SampleShown | None:
    one = answer.sample
    if one is None:
        return None
    return SampleShown(round=one.round, prompt=one.prompt, text=one.text)


def _sane(row: RunRow) -> RunRow:
    """The row, if its figures are such as can be; raises PeerError."""
    try:
        return msgspec.json.decode(msgspec.json.encode(row), type=RunRow)
    except msgspec.DecodeError as err:
        raise PeerError(f"its rules ask for what no computer has: {err}") from err


def listed(answers: Sequence[RunAnswer]) -> list[RunAnswer]:
    """Those whose rules are read: a ledger may name runs without end, and each costs up to 8 MiB.

    The newest; open ones before any that is over.
    """
    over = [one for one in answers if one.state == OVER]
    return [*over, *(one for one in answers if one.state != OVER)][-KEPT:]


def choose(
    runs: Sequence[RunRow], machine: MachineFacts, preferences: Preferences, key: PeerKey
) -> RunRow | Outside:
    """The run to take part in, or why there is none.

    Of the open runs with a place free that fit device and disk, and whose first download fits the
    month's traffic, the one that has the least of its places taken; of equal ones the hash of key
    and run decides, so that a crowd spreads. Without an accelerator the main memory counts.
    """
    open_ = [run for run in runs if run.is_open]
    if not open_:
        return NONE_OPEN
    fitting = [run for run in open_ if _fits(run, machine, preferences)]
    if not fitting:
        return NONE_FITS
    return min(fitting, key=lambda run: (_fullness(run), sha256(key + run.run.encode())))


def _fullness(run: RunRow) -> float:
    return run.members / max(run.most_members, 1)


def _fits(run: RunRow, machine: MachineFacts, preferences: Preferences) -> bool:
    most_bytes = preferences.month_gb * _GB or run.first_bytes
    return (
        run.members < run.most_members
        and run.memory_mb <= _most_memory_mb(machine, preferences)
        and run.disk_bytes <= preferences.disk_gib * _GIB
        and run.first_bytes <= most_bytes
    )


def _most_memory_mb(machine: MachineFacts, preferences: Preferences) -> int:
    """The largest memory of a device that may be used; the main one's where there is no GPU."""
    found = []
    for gpu in machine.gpus or ():
        choice = preferences.device(gpu.id)
        if choice.use and gpu.memory_mb is not None:
            found.append(most_memory_mb(gpu.memory_mb, choice.memory_mb))
    return max(found, default=machine.free_memory_mb or 0)
