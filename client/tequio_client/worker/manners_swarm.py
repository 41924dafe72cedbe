"""Whether there is anything to lend for: a ledger that answers, a swarm, a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason
from tequio_client.worker.manners_case import attention, problem, wait
from tequio_client.worker.outside import Why

if TYPE_CHECKING:
    from tequio_client.worker.manners_case import Case


def ledger(case: Case) -> Decision | None:
    """A ledger that has never answered has a wrong address, as a rule."""
    facts = case.facts
    if facts.was_ledger_reached or not facts.ledger_problem:
        return None
    return attention(Reason.LEDGER_UNKNOWN, problem(facts.ledger_problem))


def run(case: Case) -> Decision | None:
    """There must be a run to lend for; while we are in one, a ledger that is away stops nothing."""
    facts, outside = case.facts, case.facts.outside
    if outside is None:
        return None
    if facts.ledger_problem:
        return wait(case, Reason.LEDGER_AWAY, problem(facts.ledger_problem))
    match outside.why:
        case Why.JOINING:
            return None
        case Why.NO_SWARM:
            return attention(Reason.NO_SWARM, problem(outside.problem))
        case Why.BARRED:
            return attention(Reason.NO_RUN, {"fact": outside.why, **problem(outside.problem)})
        case why:
            return wait(case, Reason.NO_RUN, {"fact": why})
