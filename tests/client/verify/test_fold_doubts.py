"""Doubts of a fold once an entry does not hold: all that rests on it, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.verify.fold import Fold
from tequio_client.verify.report import AuditGrade, LogReport
from tequio_shared.ids import sha256, to_text
from tequio_shared.network.coordination import decide
from tequio_shared.served.snapshot import layout
from tequio_shared.statements.network import LogSnapshot, MemberLeave, StandingAppeal
from tequio_shared.statements.runs import RoundRoster, RoundVoid
from tests.client.verify.logs import SwarmLog
from tests.support.memory_swarm import Swarm
from tests.support.statements import example
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_client.verify.report import AuditFinding
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.statements.statement import Body

MALFORMED = b"\x01\x01"


class DoubtfulFold:
    """A fold of a swarm's log until the next roster is due, to which a test adds leaves."""

    def __init__(self) -> None:
        self.swarm = Swarm(manifest=tiny_manifest(most=3), seed=3)
        for name in ("one", "two", "three"):
            self.swarm.volunteer(name)
        self.roster = self._next_roster()
        self.run = self.swarm.manifest.run_id
        self.report, log = LogReport(), SwarmLog(self.swarm)
        self.fold = Fold(self.swarm.genesis, log, self.report)
        self.fold.view.snapshots.next_size = self.size = len(log.leaves)
        for index, leaf in enumerate(log.leaves):
            self.fold.apply(index, leaf)
        assert not self.report.findings

    def _next_roster(self) -> RoundRoster:
        swarm = self.swarm
        while True:
            swarm.watch.update(swarm.view, swarm.now_ms)
            due = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
            if swarm.view.closed and due is not None and isinstance(due.body, RoundRoster):
                assert due.document is not None
                swarm.blobs[sha256(due.document)] = due.document
                return due.body
            assert swarm.step()

    def add(self, leaf: bytes) -> None:
        self.fold.apply(self.size, leaf)
        self.size += 1

    def says(self, author: Signer, body: Body) -> AuditFinding:
        """Add what the author says about the network; returns what the report says of it."""
        return self._found(self.swarm.sign(author, StatementDraft(body), None).leaf())

    def coordinator_says(self, body: Body, number: int) -> AuditFinding:
        """Add what the coordinator says about a round, as `says` does."""
        draft = StatementDraft(body, number)
        return self._found(self.swarm.sign(self.swarm.coordinator, draft, self.run).leaf())

    def _found(self, leaf: bytes) -> AuditFinding:
        before = len(self.report.findings)
        self.add(leaf)
        (finding,) = self.report.findings[before:]
        return finding

    def member_says(self, body: Body, run: RunId | None = None) -> bytes:
        """The next leaf in the chain of the first member."""
        one = self.swarm.volunteers[0]
        entry = one.sign(self.swarm.net, run, StatementDraft(body), self.swarm.now_ms)
        one.record_logged(entry)
        return entry.leaf()


@pytest.fixture
def reading() -> DoubtfulFold:
    return DoubtfulFold()


def test_a_malformed_entry_leaves_standings_and_tiers_in_doubt(reading: DoubtfulFold) -> None:
    reading.add(MALFORMED)
    assert (reading.fold.is_standing_unsure, reading.fold.are_tiers_unsure) == (True, True)
    assert not reading.fold.runs[reading.run].is_broken


@pytest.mark.parametrize("is_of_run", [True, False])
def test_a_forged_statement_leaves_what_rests_on_it_in_doubt(
    reading: DoubtfulFold, *, is_of_run: bool
) -> None:
    body = MemberLeave(reason=1) if is_of_run else StandingAppeal(change=0, text="")
    leaf = bytearray(reading.member_says(body, reading.run if is_of_run else None))
    leaf[50] ^= 1  # in the signature
    reading.add(bytes(leaf))
    (finding,) = reading.report.findings
    assert finding.grade is AuditGrade.MISMATCH
    assert reading.fold.is_standing_unsure
    assert reading.fold.are_tiers_unsure is not is_of_run
    assert reading.fold.runs[reading.run].is_broken is is_of_run


@pytest.mark.parametrize(
    ("name", "are_tiers_unsure", "is_standing_unsure"),
    [
        ("member.vouch", True, False),
        ("key.revoke", True, True),
        ("member.team", False, False),
        ("standing.appeal", False, True),
    ],
)
def test_what_rests_on_a_refused_statement_is_in_doubt_and_its_author_goes_on(
    reading: DoubtfulFold, name: str, *, are_tiers_unsure: bool, is_standing_unsure: bool
) -> None:
    for _ in range(2):
        reading.add(reading.member_says(example(name)))
    first, second = reading.report.findings
    assert first.grade is AuditGrade.MISMATCH
    is_doubted = are_tiers_unsure or is_standing_unsure
    assert second.grade is (AuditGrade.MISSING if is_doubted else AuditGrade.MISMATCH)
    assert {one.what for one in (first, second)} == {f"{name} statement"}
    fold = reading.fold
    assert fold.are_tiers_unsure is are_tiers_unsure
    assert fold.is_standing_unsure is is_standing_unsure


@pytest.mark.parametrize("is_unsure", [False, True])
def test_a_wrong_roster_is_doubtful_where_standings_are(
    reading: DoubtfulFold, *, is_unsure: bool
) -> None:
    if is_unsure:
        reading.add(MALFORMED)
    wrong = msgspec.structs.replace(reading.roster, slots=reading.roster.slots + 1)
    finding = reading.coordinator_says(wrong, reading.swarm.view.number + 1)
    assert finding.what == "round.roster statement"
    assert finding.grade is (AuditGrade.MISSING if is_unsure else AuditGrade.MISMATCH)


def test_no_other_wrong_word_about_a_round_is_doubtful(reading: DoubtfulFold) -> None:
    reading.add(MALFORMED)
    finding = reading.coordinator_says(RoundVoid(reason=1), reading.swarm.view.number)
    assert (finding.what, finding.grade) == ("round.void statement", AuditGrade.MISMATCH)


def test_a_competition_whose_document_is_missing_leaves_competitions_alone_in_doubt(
    reading: DoubtfulFold,
) -> None:
    finding = reading.says(reading.swarm.organiser, example("comp.open"))
    assert (finding.what, finding.grade) == ("document of comp.open", AuditGrade.MISSING)
    assert reading.fold.are_competitions_unsure
    assert (reading.fold.is_standing_unsure, reading.fold.are_tiers_unsure) == (False, False)


@pytest.mark.parametrize("is_unsure", [False, True])
def test_a_wrong_snapshot_is_a_mismatch_unless_the_state_itself_is_in_doubt(
    reading: DoubtfulFold, *, is_unsure: bool
) -> None:
    size = reading.size
    if is_unsure:
        reading.add(MALFORMED)
    body = LogSnapshot(layout=to_text(layout()), size=size, state=to_text(bytes(32)))
    finding = reading.says(reading.swarm.coordinator, body)
    assert (finding.what, finding.place.entry) == ("snapshot", reading.size - 1)
    assert finding.grade is (AuditGrade.MISSING if is_unsure else AuditGrade.MISMATCH)
