"""Jurors that report without training, and what follows for them and for others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec import UNSET

from tequio_shared.ids import ContributionId, PeerKey, digest_from_text, key_from_text, sha256
from tequio_shared.limits import AUDIT_PAUSE, JURY
from tequio_shared.network.audits import AuditStage
from tequio_shared.network.standing import StandingCause
from tequio_shared.round import audits
from tequio_shared.round.audits import AuditVerdict, AuditVote
from tequio_shared.round.manifest import AuditRules
from tequio_shared.statements.network import StandingChange
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.second_run import Auditing
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import Volunteer

if TYPE_CHECKING:
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.runs import AuditReport

MEMBERS = 18
"""Enough for a second jury of five."""


class Juror(Volunteer):
    """An honest member; the first one that reports in stage `stage` misbehaves as `acts` says."""

    acts = ""
    stage = AuditStage.DISPUTE
    found: dict[str, PeerKey]
    fakes: set[tuple[PeerKey, str]]

    def audit_of(self, view: FullRunView, current: RoundView, slot: int) -> AuditReport:
        body = super().audit_of(view, current, slot)
        case = view.accounts.audits.cases[ContributionId(digest_from_text(body.contribution))]
        is_fake = [(vote.auditor, body.contribution) in self.fakes for vote in case.votes]
        checked = tuple(1_000 if fake else 9_990 for fake in is_fake)
        if case.stage is self.stage and self.found.setdefault("one", self.key) == self.key:
            return self._misbehave(msgspec.structs.replace(body, checked=checked))
        return msgspec.structs.replace(body, checked=checked)

    def _misbehave(self, body: AuditReport) -> AuditReport:
        trusting = tuple(9_990 for _ in body.checked)
        if "withheld" in self.acts:
            body = msgspec.structs.replace(body, figures=UNSET)
        if "idle" in self.acts:
            self.fakes.add((self.key, body.contribution))
            body = msgspec.structs.replace(body, checked=trusting)
        if "doubt" in self.acts:
            body = msgspec.structs.replace(body, checked=tuple(100 for _ in trusting))
        return body


def disputed_swarm(acts: str, stage: AuditStage = AuditStage.DISPUTE, seed: int = 0) -> Swarm:
    """A swarm with a trainer that idles, until a jury has been called and answered."""
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=200), audit=rules), seed=seed)
    found: dict[str, PeerKey] = {}
    fakes: set[tuple[PeerKey, str]] = set()
    for at in range(MEMBERS):
        one = Juror(f"juror {at}", swarm.arithmetic)
        one.acts, one.stage, one.found, one.fakes = acts, stage, found, fakes
        swarm.join(one)
    swarm.arithmetic.idle.add(swarm.volunteers[3].key)
    while not found:
        assert swarm.step()
    swarm.run_rounds(swarm.view.closed + 5)
    return swarm


def the_one(swarm: Swarm) -> PeerKey:
    one = swarm.volunteers[0]
    assert isinstance(one, Juror)
    return one.found["one"]


def contradicted(swarm: Swarm) -> set[PeerKey]:
    causes = (StandingCause.CONTRADICTED, StandingCause.CONTRADICTIONS)
    bodies = [entry.statement.body for entry in swarm.entries]
    changes = [body for body in bodies if isinstance(body, StandingChange)]
    return {key_from_text(body.peer) for body in changes if body.cause in causes}


@attack("U1", layer="coord", ends="a reviewer's sketch contradicts it, and it is not paid")
@pytest.mark.parametrize("acts", ["idle", "idle withheld"])
@pytest.mark.parametrize("seed", range(3))
def test_a_juror_that_trains_nothing_is_contradicted_and_not_paid(acts: str, seed: int) -> None:
    # It was paid, and nobody ever checked its sketch.
    swarm = disputed_swarm(acts, seed=seed)
    idler = the_one(swarm)
    assert contradicted(swarm) == {idler}
    assert swarm.view.accounts.earned[idler].forfeited > 0
    honest = {one.key for one in swarm.volunteers} - {idler, swarm.volunteers[3].key}
    assert not any(swarm.view.accounts.earned[key].forfeited for key in honest)


@attack(
    "U10",
    layer="coord",
    ends="who finds withheld what others were shown is not drawn for 32 rounds",
)
def test_a_juror_to_whom_nothing_was_opened_is_paid_and_not_drawn_for_a_while() -> None:
    swarm = disputed_swarm("withheld")
    one = the_one(swarm)
    assert not contradicted(swarm)
    assert swarm.view.accounts.earned[one].forfeited == 0
    assert swarm.view.accounts.audits.paused[one] > swarm.view.number + AUDIT_PAUSE // 2


@attack("U3", layer="coord", ends="a second jury contradicts it")
def test_a_reviewer_that_doubts_honest_jurors_is_contradicted_by_a_second_jury() -> None:
    swarm = disputed_swarm("doubt", AuditStage.REVIEW)
    assert contradicted(swarm) == {the_one(swarm)}


def test_a_second_implementation_reads_the_same_from_the_log_of_a_reviewed_jury() -> None:
    swarm = disputed_swarm("idle withheld")
    mine = Auditing({bytes(name): one for name, one in swarm.blobs.items()})
    for entry in swarm.entries:
        mine.read(entry.leaf())
    assert {key for key, _ in mine.contradicted} == {the_one(swarm)}
    for key, one in swarm.view.accounts.earned.items():
        wallet = mine.purses[bytes(key)]
        assert (one.trainer, one.forfeited) == (wallet.trainer.total, wallet.forfeited)


def votes_of(count: int) -> list[AuditVote]:
    return [
        AuditVote(auditor=sha256_key(f"auditor {at}"), verdict=AuditVerdict.CLEAR, checked=())
        for at in range(count)
    ]


def sha256_key(name: str) -> PeerKey:
    return PeerKey(sha256(name.encode()))


def test_who_vouches_for_a_sketch_that_is_of_no_training_is_contradicted() -> None:
    lazy, *jury = votes_of(7)
    votes = [lazy, *(replace(one, checked=(100,)) for one in jury)]
    votes[3] = replace(votes[3], checked=(9_990,))
    settled = audits.settle(votes, 7)
    assert settled.contradicted == tuple(sorted((lazy.auditor, votes[3].auditor)))


def test_two_of_a_second_jury_contradict_nobody() -> None:
    first, *others = votes_of(3)
    votes = [first, *(replace(one, checked=(100,)) for one in others)]
    assert audits.settle_sketches(votes, 1, 2) == {first.auditor}
    assert not audits.settle_sketches(votes, 1, JURY)
