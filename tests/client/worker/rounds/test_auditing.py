"""Audit orders: what is reported, what is declined, which leaves are opened, and what warns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from msgspec import UNSET

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds.audit import MAX_REPORTS, RoundAuditing
from tequio_client.worker.rounds.duties import AuditDuty
from tequio_client.worker.rounds.repeated_training import AuditResult, AuditTask
from tequio_client.worker.rounds.train import WorkTally
from tequio_shared.ids import ContributionId, digest_from_text, sha256, to_text
from tequio_shared.round import audits
from tequio_shared.round.audits import LIMITS
from tequio_shared.round.documents import AuditOrder
from tequio_shared.statements.runs import AuditFigures, AuditReport
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from tequio_client.worker.rounds.past_rounds import PastRounds
    from tequio_client.worker.rounds.repeated_training import RepeatedTraining
    from tequio_client.worker.rounds.statements import RunContext, RunStatements
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.round.round import RoundView

KEY, OTHER = signer("ana").key, signer("bo").key
NAME = to_text(sha256(b"work"))
CHUNKS = 16
SKETCH = (7,) * 64
ORDER = AuditOrder(
    slot=1, round=3, contribution=NAME, tokens=1, opening=to_text(sha256(b"opening")), earlier=()
)


def report(name: str = NAME, **changed: object) -> AuditReport:
    figures = AuditFigures(hidden=0, other=0, rounding=0, leaves=0)
    said = AuditReport(contribution=name, figures=figures, cosine=0, sketch=SKETCH, checked=())
    return msgspec.structs.replace(said, **changed)


class OrderedAudits:
    """A worker with one order, whose repeated training finds what a test says."""

    def __init__(self) -> None:
        self.sent: list[AuditReport] = []
        self.tasks: list[AuditTask] = []
        self.trainers: dict[int, PeerKey] = {}
        self.figures = link.MeasuredFigures(hidden=1, other=2, rounding=3, leaves=4, cosine=9_000)
        self.are_leaves_withheld = False
        context = SimpleNamespace(
            key=KEY,
            manifest=SimpleNamespace(chunks=CHUNKS),
            ledger_clock=SimpleNamespace(now_ms=lambda: 0),
            feedback=SimpleNamespace(roots_of=lambda *_: {sha256(b"root")}),
        )
        self.auditing = RoundAuditing(
            cast("RunContext", context),
            cast("RunStatements", self),
            cast("PastRounds", self),
            cast("RepeatedTraining", self),
            WorkTally(),
        )

    async def submitted(self, _type: object, _round: int) -> None:
        return None

    async def submit_once(self, _now: AuditDuty, body: AuditReport) -> None:
        self.sent.append(body)

    def find(self, number: int, _name: ContributionId) -> SimpleNamespace | None:
        trainer = self.trainers.get(number)
        return None if trainer is None else SimpleNamespace(trainer=trainer)

    async def audit(self, task: AuditTask, _left_s: float) -> AuditResult:
        self.tasks.append(task)
        found = SimpleNamespace(
            train_seconds=1.0, seconds=2.0, figures=self.figures, sketch=SKETCH, checked=()
        )
        return AuditResult(
            report=cast("link.Audited", found), are_leaves_withheld=self.are_leaves_withheld
        )

    async def carry_out(self, **changed: object) -> AuditReport:
        """Carry out an order; returns what was reported."""
        await self.auditing.audit(AuditDuty(round=5), ordered(**changed))
        return self.sent[-1]

    @property
    def code(self) -> str:
        assert self.auditing.declined is not None
        return self.auditing.declined.code


def ordered(**changed: object) -> RoundView:
    order = msgspec.structs.replace(ORDER, **changed)
    current = SimpleNamespace(
        slot_of={KEY: 1, OTHER: 2},
        orders={1: order},
        roster=SimpleNamespace(train_ms=60_000),
        open=None,
    )
    return cast("RoundView", current)


@pytest.fixture
def worker() -> OrderedAudits:
    return OrderedAudits()


@pytest.mark.trio
async def test_the_sketches_of_earlier_reports_go_to_the_trainer(worker: OrderedAudits) -> None:
    worker.auditing.record(40, OTHER, report())
    said = await worker.carry_out(earlier=(40,))
    seed = audits.sketch_seed(OTHER, ContributionId(digest_from_text(NAME)))
    assert worker.tasks[0].earlier == (link.EarlierSketch(seed=to_text(seed), sketch=SKETCH),)
    assert said.figures == AuditFigures(hidden=1, other=2, rounding=3, leaves=4)
    assert (said.cosine, said.sketch) == (9_000, SKETCH)
    assert worker.auditing.declined is None


@pytest.mark.trio
async def test_an_order_about_a_report_that_is_not_here_is_declined(worker: OrderedAudits) -> None:
    for at in range(MAX_REPORTS + 1):
        worker.auditing.record(at, OTHER, report())
    worker.auditing.record(900, OTHER, report(figures=UNSET, sketch=()))  # it declined
    for unseen in (0, 900, 901):
        said = await worker.carry_out(earlier=(1, unseen))
        assert (said.declines, said.checked, worker.code) == (True, (), "unseen-report")
    assert not worker.tasks
    assert not (await worker.carry_out(earlier=(1, MAX_REPORTS))).declines


@pytest.mark.trio
async def test_without_the_leaves_there_are_no_figures(worker: OrderedAudits) -> None:
    worker.are_leaves_withheld = True
    said = await worker.carry_out()
    assert (said.figures, said.cosine, said.declines) == (UNSET, 9_000, False)


@pytest.mark.trio
async def test_a_trainer_that_compared_nothing_is_this_sides_fault(worker: OrderedAudits) -> None:
    worker.figures = link.MeasuredFigures(cosine=9_000)
    said = await worker.carry_out()
    assert (said.declines, worker.code) == (True, "trainer-failed")
    worker.figures = link.MeasuredFigures(other=5)
    said = await worker.carry_out()
    assert said.figures == AuditFigures(hidden=0, other=5, rounding=0, leaves=0)


def test_leaves_are_opened_to_an_ordered_auditor_as_far_as_its_order_goes(
    worker: OrderedAudits,
) -> None:
    def opened(peer: PeerKey, root: Digest) -> list[int]:
        current = ordered()
        may_open = worker.auditing.may_open
        return [at for at in range(CHUNKS + 1) if may_open(current, peer, root, at)]

    due = list(audits.opened_chunks(digest_from_text(ORDER.opening), CHUNKS))
    assert 0 < len(due) < CHUNKS
    assert opened(KEY, sha256(b"root")) == due
    assert opened(KEY, sha256(b"other root")) == []
    assert opened(OTHER, sha256(b"root")) == []
    assert not worker.auditing.may_open(None, KEY, sha256(b"root"), due[0])


def test_a_report_near_the_limits_warns_about_own_work_alone(worker: OrderedAudits) -> None:
    near = report(
        figures=AuditFigures(hidden=LIMITS["hidden"][0] + 1, other=0, rounding=0, leaves=0)
    )
    auditing = worker.auditing
    auditing.record_warning(ordered(), KEY, near)
    assert auditing.warned_round == 0, "nobody knows the work"
    worker.trainers = {3: OTHER, 4: KEY, 2: KEY}
    auditing.record_warning(ordered(), KEY, near)
    auditing.record_warning(ordered(round=4), OTHER, near)
    auditing.record_warning(ordered(round=4), KEY, report())
    assert auditing.warned_round == 0, "another's work, no order, or figures as they are due"
    auditing.record_warning(ordered(round=4), KEY, near)
    auditing.record_warning(ordered(round=2), KEY, near)
    assert auditing.warned_round == 4
