"""Verdicts on a run's heads, and their aliases, computed here from the statements in the log.

What the ledger answers says only where to look: each measure is read from the log with its proof,
once. (`tequio_shared/network/verdicts.py` has the rule.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import msgspec

from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import check_measure, read_entries
from tequio_client.names import clean_text
from tequio_client.worker import shutdown
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.api.runs import (
    MeasuredAnswer,
    PublishedAnswer,
    RollbackAnswer,
    RunAnswer,
)
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.limits import COMPARED_HEADS
from tequio_shared.log.policy import Policy
from tequio_shared.network.verdicts import (
    HeadAliases,
    HeadVerdict,
    JudgedHead,
    MeasuredRange,
    head_aliases,
    judge,
    measured_range,
    newest_fine,
)
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.network import CheckpointPublish
from tequio_shared.statements.runs import HeadMeasure
from tequio_shared.statements.statement import Statement

_MOST_CHARS = 40
_READ_HEADS = 2 * COMPARED_HEADS
"""Least number of measured heads that are read, if there are enough; the newer half is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadVerdicts:
    """The last measured heads of a run, as the log shows them now."""

    run: RunAnswer
    rules: MeasureRules
    measures: tuple[tuple[int, tuple[HeadMeasure, ...]], ...]
    """By round, ascending."""

    @property
    def rollbacks(self) -> tuple[RollbackAnswer, ...]:
        """The newest of the run, the oldest first."""
        return self.run.rollbacks[::-1]

    def judged(self, since: int = 0) -> list[JudgedHead]:
        """Judge the heads from a round on, without a look at earlier ones."""
        later = [(number, said) for number, said in self.measures if number >= since]
        return judge(later, self.rollbacks, self.rules)

    def newest_fine(self, since: int = 0) -> int | None:
        """Round of the newest fine head that the next round builds on; None without any."""
        return newest_fine(self.judged(since), self.rollbacks)


@dataclass(slots=True, kw_only=True)
class VerdictReader:
    """Reads the verdicts of one run again and again; `read` changes what is known."""

    name: str
    margin: int | None = None
    """Thousandths of a bit per byte; None: the margin in the run's rules."""
    _known: dict[int, HeadMeasure] = field(default_factory=dict)  # by log index
    _rules: MeasureRules | None = None

    async def read(self, api: LedgerApi) -> HeadVerdicts:
        """Read the newest measures; raises UserFacingError, also if the run has no verdicts."""
        run = runs.find_run(self.name, await api.runs())
        if self._rules is None:
            rules = (await runs.read_manifest(run.run, api)).measures
            check_rules(run.name, rules)
            self._rules = (
                rules if self.margin is None else msgspec.structs.replace(rules, margin=self.margin)
            )
        pages = await _last_pages(api, run, self._rules.every)
        rows = {row.entry: (head, row) for head in pages for row in head.measures}
        unknown = sorted(rows.keys() - self._known.keys())
        if unknown:
            read = await read_entries(api, await api.network(), unknown)
            for entry in unknown:
                self._known[entry] = check_measure(run, *rows[entry], read[entry].statement)
        # Bounded: what is no longer on the pages is forgotten.
        self._known = {entry: self._known[entry] for entry in rows}
        return HeadVerdicts(
            run=run,
            rules=self._rules,
            measures=tuple(
                (head.round, tuple(self._known[row.entry] for row in head.measures))
                for head in pages
            ),
        )


async def _last_pages(api: LedgerApi, run: RunAnswer, every: int) -> list[MeasuredAnswer]:
    """The last measured heads, ascending: at least `_READ_HEADS`, or all of them."""
    last = max(run.head_round or 0, run.round)
    back = _READ_HEADS * every
    while True:
        found: list[MeasuredAnswer] = []
        after: int | None = max(last - back, -1)
        is_from_start = after == -1
        while after is not None:
            page = await api.measures(run.id, after=after, limit=PAGE_ROWS)
            found += page.heads
            after = page.next
            if len(found) > back + PAGE_ROWS:  # a few rounds may have come since `run`
                raise PeerError(f"the measured heads do not end with round {last}")
        if is_from_start or len(found) >= _READ_HEADS:
            return found
        back *= 2


def find_fine_head(name: str, ledger: str, trust: Policy | None = None) -> int:
    """Round of the newest fine head of a run; raises UserFacingError for none."""
    seen = shutdown.ask_ledger(ledger, VerdictReader(name=name).read, trust)
    found = seen.newest_fine()
    if found is None:
        raise UserFacingError(
            f"no head of {seen.run.name} was measured by enough members yet: wait, or choose one "
            "with --round"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedHeads:
    """The published heads of a run that its ledger lists, as the log proves them."""

    run: RunAnswer
    heads: tuple[PublishedAnswer, ...]
    """The newest head first."""
    measured: Mapping[int, MeasuredRange | None]
    """By round, of heads that any member measured; None if too few agree."""

    @property
    def aliases(self) -> HeadAliases:
        rounds = {one.round for one in self.heads}
        return head_aliases(rounds, self.measured, self.run.rollbacks[::-1])

    def find(self, head: str) -> tuple[PublishedAnswer, ...]:
        """Publications of `latest`, `best`, or the head of a round; raises UserFacingError."""
        name, aliases = self.run.name, self.aliases
        wanted = {"latest": aliases.latest, "best": aliases.best}
        number = wanted.get(head, int(head) if head.isdecimal() and head.isascii() else None)
        found = tuple(one for one in self.heads if one.round == number)
        if found:
            return found
        if not self.heads:
            raise UserFacingError(f"no head of {name} is published yet")
        shown = ", ".join(str(one) for one in sorted({one.round for one in self.heads}))
        if head in wanted:
            why = "measured by enough members" if head == "best" else "part of its model"
            raise UserFacingError(
                f"no published head of {name} is {why}: choose one by its round: {shown}"
            )
        raise UserFacingError(
            f"invalid head {clean_text(head, _MOST_CHARS)!r} of {name}: expected latest, best, or "
            f"the round of a published head: {shown}"
        )


def find_published(name: str, ledger: str, trust: Policy | None = None) -> PublishedHeads:
    """The published heads of a run; raises UserFacingError."""
    return shutdown.ask_ledger(ledger, partial(read_published, name), trust)


async def read_published(name: str, api: LedgerApi) -> PublishedHeads:
    """Read the published heads of a run and their measures; raises UserFacingError, PeerError.

    Costs a request for each head, and the proofs of its entries.
    """
    run = runs.find_run(name, await api.runs())
    rules = (await runs.read_manifest(run.run, api)).measures
    rounds = sorted({one.round for one in run.published})
    pages = [await api.measures(run.id, after=number - 1, limit=1) for number in rounds]
    listed = [head for page in pages for head in page.heads if head.round in rounds]
    entries = [one.index for one in run.published]
    entries += [row.entry for head in listed for row in head.measures]
    read = await read_entries(api, await api.network(), entries)
    for one in run.published:
        statement = read[one.index].statement
        _check_publication(run, one, statement)
    measured = {
        head.round: measured_range(
            head.round,
            [check_measure(run, head, row, read[row.entry].statement) for row in head.measures],
            rules,
        )
        for head in listed
    }
    return PublishedHeads(run=run, heads=run.published, measured=measured)


def _check_publication(run: RunAnswer, one: PublishedAnswer, said: Statement) -> None:
    body = said.body
    if not isinstance(body, CheckpointPublish) or (
        (said.run, said.round) != (run.id, one.round)
        or (body.location, body.revision) != (one.location, one.revision)
    ):
        raise PeerError(f"entry {one.index} is not the publication that the ledger reports")


def check_rules(name: str, rules: MeasureRules) -> None:
    """Raise UserFacingError unless heads of a run with these rules can have a verdict."""
    if not rules.every:
        raise UserFacingError(
            f"members of {name} measure no heads, so there is nothing to compare: let a later run "
            "measure them, with `every` under [measure] in its plan, and data with held-out text "
            "(tequio data build --held-out)"
        )
    if rules.members < rules.least_agreeing:
        raise UserFacingError(
            f"one member measures each head of {name}, and nobody's word alone counts: let 3 "
            "measure in a later run, with `members` under [measure] in its plan"
        )


def describe(one: JudgedHead) -> str:
    """One line about a measured head."""
    if one.measured is None:
        return f"round {one.round}: too few members agree so far"
    shown = (
        f"round {one.round}: {one.measured.bits_per_byte:.4f} bits per byte, perplexity "
        f"{one.measured.perplexity:.4g} per token"
    )
    if one.best is None:
        return f"{shown}, nothing to compare with"
    place = "worse than" if one.verdict is HeadVerdict.WORSE else "fine; the best before it was"
    best = f"{one.best.bits_per_byte:.4f}, perplexity {one.best.perplexity:.4g}"
    return f"{shown}, {place} round {one.best.round} ({best})"
