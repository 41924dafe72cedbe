"""Auditing in a round: repeat the ordered contribution, report, and open own leaves to auditors.

Rules. An order is answered once: with the figures, with "withheld" if its trainer did not open the
contribution, or declined if this worker lacks something itself. Own leaves are opened to the
auditors that the round's roster orders, and to each only the chunks of its own order.
(docs/protocol.md, 10.4)
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import structlog
from msgspec import UNSET

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.past_rounds import PastRounds
from tequio_client.worker.rounds.repeated_training import (
    AuditNotPossibleError,
    AuditTask,
    RepeatedTraining,
)
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_client.worker.rounds.train import WorkTally, time_left_ms
from tequio_shared.errors import RefusedError
from tequio_shared.ids import ContributionId, Digest, PeerKey, digest_from_text, to_text
from tequio_shared.round import audits
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.documents import AuditOrder
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import AuditFigures, AuditReport

log = structlog.get_logger(__name__)

MAX_REPORTS = 256
"""Reports remembered: those about which a later auditor is asked are at most a few rounds old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclinedAudit:
    """An audit that this key declined in a round; `code` as in AuditNotPossibleError."""

    round: int
    of_round: int
    code: str


class RoundAuditing:
    def __init__(
        self,
        context: RunContext,
        statements: RunStatements,
        past: PastRounds,
        repeated: RepeatedTraining,
        tally: WorkTally,
    ) -> None:
        self._context = context
        self._statements = statements
        self._tally = tally
        self._past = past
        self._repeated = repeated
        self._reports: OrderedDict[int, link.EarlierSketch] = OrderedDict()  # by log index
        self.declined: DeclinedAudit | None = None  # the last one
        self.warned_round = 0  # of our newest contribution with figures near the limits; 0: none

    def record(self, index: int, auditor: PeerKey, body: AuditReport) -> None:
        """Record a report in the log: its sketch may have to be checked."""
        if body.declines:
            return
        seed = audits.sketch_seed(auditor, _contribution(body.contribution))
        self._reports[index] = link.EarlierSketch(seed=to_text(seed), sketch=body.sketch)
        while len(self._reports) > MAX_REPORTS:
            self._reports.popitem(last=False)

    def record_warning(self, current: RoundView, auditor: PeerKey, body: AuditReport) -> None:
        """Remember if a report in that round warns about a contribution of this key."""
        order = current.orders.get(current.slot_of[auditor])
        if order is None or not is_warning(body):
            return
        work = self._past.find(order.round, _contribution(order.contribution))
        if work is not None and work.trainer == self._context.key:
            log.info("own contribution audited, with figures near the limits", of_round=order.round)
            self.warned_round = max(self.warned_round, order.round)

    async def audit(self, now: duties.AuditDuty, current: RoundView) -> None:
        """Carry out this key's order in the round, and report."""
        order = current.orders.get(current.slot_of[self._context.key])
        if order is None:
            raise RefusedError("wrong-role", f"no audit is ordered in round {now.round}")
        body = await self._statements.submitted(AuditReport, now.round)
        if body is None:
            try:
                left_s = time_left_ms(self._context.ledger_clock, current) / 1_000
                body = await self._report(order, left_s)
            except AuditNotPossibleError as err:
                log.warning("audit declined", of_round=order.round, why=str(err))
                self.declined = DeclinedAudit(round=now.round, of_round=order.round, code=err.code)
                body = AuditReport(contribution=order.contribution, cosine=0, sketch=(), checked=())
        await self._statements.submit_once(now, body)

    async def _report(self, order: AuditOrder, left_s: float) -> AuditReport:
        task = AuditTask(
            round=order.round,
            contribution=_contribution(order.contribution),
            chunks=_opened(order, self._context.manifest.chunks),
            seed=audits.sketch_seed(self._context.key, _contribution(order.contribution)),
            earlier=self._earlier(order),
        )
        found = await self._repeated.audit(task, left_s)
        self._tally.compute_seconds += found.report.train_seconds
        figures = None if found.are_leaves_withheld else _figures(found.report.figures)
        log.info(
            "contribution audited",
            of_round=order.round,
            verdict=audits.judge(figures).name.lower(),
            seconds=round(found.report.seconds, 1),
        )
        return AuditReport(
            contribution=order.contribution,
            figures=UNSET if figures is None else figures,
            cosine=found.report.figures.cosine or 0,
            sketch=found.report.sketch,
            checked=found.report.checked,
        )

    def _earlier(self, order: AuditOrder) -> tuple[link.EarlierSketch, ...]:
        missing = [index for index in order.earlier if index not in self._reports]
        if missing:
            raise AuditNotPossibleError(
                "unseen-report", f"this worker did not see the reports {missing}"
            )
        return tuple(self._reports[index] for index in order.earlier)

    def may_open(self, current: RoundView | None, peer: PeerKey, root: Digest, index: int) -> bool:
        """Return whether that peer may have that leaf of this worker's feedback now."""
        slot = None if current is None else current.slot_of.get(peer)
        order = None if current is None or slot is None else current.orders.get(slot)
        if order is None:
            return False
        is_of_work = root in self._context.feedback.roots_of(order.round, order.contribution)
        return is_of_work and index in _opened(order, self._context.manifest.chunks)


def is_warning(body: AuditReport) -> bool:
    """Return whether a report shows what odd hardware may cause: figures near the limits."""
    figures = None if body.figures is UNSET else body.figures
    return not body.declines and audits.judge(figures) is AuditVerdict.WARNED


def _figures(found: link.MeasuredFigures) -> AuditFigures:
    """Figures for the log: a model without a group, or without feedback, differs by 0 there."""
    if found.hidden is None and found.other is None:
        raise AuditNotPossibleError("trainer-failed", "the trainer compared nothing")
    return AuditFigures(
        hidden=found.hidden or 0,
        other=found.other or 0,
        rounding=found.rounding or 0,
        leaves=found.leaves or 0,
    )


def _contribution(text: str) -> ContributionId:
    return ContributionId(digest_from_text(text))


def _opened(order: AuditOrder, chunks: int) -> tuple[int, ...]:
    return audits.opened_chunks(digest_from_text(order.opening), chunks)
