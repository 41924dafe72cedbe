"""The error feedback of a worker that returns: a restored backup does not lead to refused work."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio
from msgspec import UNSET

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.lending.needs import FEEDBACK_FILES
from tequio_client.worker.rounds import catch_up, join
from tequio_client.worker.rounds.audit import RoundAuditing
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.rounds.join import NOTHING_GIVEN_UP, GivenUpRounds
from tequio_client.worker.rounds.train import WorkTally
from tequio_client.worker.swarm.feedback_leaves import FeedbackLeaves, LeafSource
from tequio_shared.api.peers import AttendedAnswer
from tequio_shared.api.runs import RollbackAnswer
from tequio_shared.head.contribution import contribution_id
from tequio_shared.ids import ZERO_DIGEST, sha256, to_text
from tequio_shared.round.documents import (
    AuditOrder,
    Roster,
    RosterMember,
    RoundResult,
    SlotResult,
)
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.statements.runs import RoundClose, RoundRoster
from tests.client.worker.rounds.test_feedback import (
    RUN,
    content,
    header,
    held,
    root_of,
    settle,
    store_feedback,
)
from tests.support.answers import filled
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.rounds.join import JoinedRun
    from tequio_client.worker.rounds.past_rounds import PastRounds
    from tequio_client.worker.rounds.repeated_training import RepeatedTraining
    from tequio_client.worker.rounds.statements import RunContext, RunStatements
    from tequio_client.worker.store.store import StorePins
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.round.round import RoundView

pytestmark = pytest.mark.trio

ELEMENTS = 4_096
KEY = signer("ana").key


class Returning:
    """A worker that returns to a folder, and the rounds that its ledger lists of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.attended: list[AttendedAnswer] | None = []
        self.reserved = 0
        self.leaves = FeedbackLeaves()
        self.given_up = NOTHING_GIVEN_UP
        self.entries: list[SimpleNamespace] = []
        self.blobs: dict[Digest, bytes] = {}
        self.withheld: set[Digest] = set()

    def worked(
        self,
        number: int,
        *,
        outcome: str = "closed",
        points: int = 5,
        verdict: Verdict = Verdict.ACCEPTED,
        reason: RejectionReason = RejectionReason.NONE,
    ) -> None:
        """List a round of the run, as the newest."""
        assert self.attended is not None
        at = len(self.entries)
        member = RosterMember(peer=to_text(KEY), roles=("trainer",), speed=0, share=0)
        roster = Roster(members=(member,), pool=(), train_ms=1)
        row = filled(
            SlotResult,
            contribution=to_text(contribution_id(header(number).pack())),
            verdict=int(verdict),
            reason=int(reason),
            given=UNSET,
        )
        documents = roster.encode(), RoundResult(slots=(row,)).encode()
        self.blobs |= {sha256(one): one for one in documents}
        names = [to_text(sha256(one)) for one in documents]
        for body in (filled(RoundRoster, roster=names[0]), filled(RoundClose, result=names[1])):
            statement = SimpleNamespace(run=RUN, round=number, body=body)
            self.entries.append(SimpleNamespace(statement=statement))
        self.attended.insert(
            0,
            filled(
                AttendedAnswer,
                run=to_text(RUN),
                outcome=outcome,
                round=number,
                gflop=points,
                roster_index=at,
                closed_index=at + 1,
            ),
        )

    async def read_entries(
        self, _ledger: object, _network: object, indices: Iterable[int]
    ) -> dict[int, SimpleNamespace]:
        """Read entries of the log, whose proofs other tests check."""
        await trio.lowlevel.checkpoint()
        return {index: self.entries[index] for index in indices}

    async def fetch_blob(self, name: Digest) -> bytes:
        """Fetch a document."""
        await trio.lowlevel.checkpoint()
        return self.blobs[name]

    async def peer_rounds(self, _key: bytes) -> SimpleNamespace:
        """Answer like the ledger; None of them: it is away."""
        await trio.lowlevel.checkpoint()
        if self.attended is None:
            raise LedgerUnavailableError("away")
        return SimpleNamespace(rounds=self.attended)

    async def rounds(self, _run: RunId, *, after: int, limit: int) -> list[AttendedAnswer]:
        """Answer like the ledger: where rounds of the run closed."""
        await trio.lowlevel.checkpoint()
        return [one for one in reversed(self.attended or ()) if one.round > after][:limit]

    async def runs(self) -> list[object]:
        """List no other runs."""
        await trio.lowlevel.checkpoint()
        return []

    def reserve(self, size_bytes: int) -> None:
        """Count it."""
        self.reserved += size_bytes

    async def feedback(self) -> ErrorFeedback:
        """Recover it as at a start."""
        node = SimpleNamespace(
            settings=SimpleNamespace(folder=self.folder),
            ledger=self,
            store=self,
            leaves=self.leaves,
            blobs=SimpleNamespace(withheld=self.withheld),
            signer=SimpleNamespace(key=KEY),
            network_info=None,
            rng=Random(1),
            exchange=self,
        )
        layout = SimpleNamespace(elements=ELEMENTS)
        joined = SimpleNamespace(
            manifest=SimpleNamespace(run_id=RUN, layout=layout), after=100, given_up=self.given_up
        )
        pins = cast("StorePins", self)
        return await join.recover_feedback(cast("Node", node), pins, cast("JoinedRun", joined))


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Returning:
    """A worker with the feedback of its work in round 3."""
    feedback = ErrorFeedback(tmp_path / "feedback", RUN)
    store_feedback(feedback, tmp_path, 3)
    settle(feedback, 3, was_accepted=True)
    one = Returning(tmp_path)
    for module in (join, catch_up):
        monkeypatch.setattr(module, "read_entries", one.read_entries)
    one.worked(2)
    one.worked(3)
    return one


async def test_what_the_ledger_knows_too_is_gone_on_with(worker: Returning) -> None:
    worker.worked(4, points=0)  # in the roster, but stopped
    worker.worked(5, outcome="void")
    worker.worked(6, verdict=Verdict.AUDITED)
    worker.worked(7, verdict=Verdict.SILENT)  # as a witness
    assert held(await worker.feedback()) == content(3)


async def test_a_backup_older_than_the_last_work_starts_over(worker: Returning) -> None:
    worker.worked(6)
    assert (await worker.feedback()).path is None
    assert (await worker.feedback()).path is None  # and stays so


@pytest.mark.parametrize(("last_round", "stays"), [(2, True), (3, False), (6, False)])
async def test_feedback_from_before_a_rollback_is_dropped(
    worker: Returning, last_round: int, *, stays: bool
) -> None:
    back = RollbackAnswer(head_round=1, last_round=last_round, index=80)
    worker.given_up = GivenUpRounds(rollbacks=(back,), upto=7)
    assert ((await worker.feedback()).path is not None) is stays


async def test_a_ledger_that_is_away_costs_no_feedback(worker: Returning) -> None:
    worker.attended = None
    assert held(await worker.feedback()) == content(3)


@pytest.mark.parametrize(
    ("reason", "stays"), [(RejectionReason.NORM, True), (RejectionReason.SCALE, False)]
)
async def test_work_that_a_measure_refused_while_stopped_can_still_be_audited(
    worker: Returning, reason: RejectionReason, *, stays: bool
) -> None:
    store_feedback(ErrorFeedback(worker.folder / "feedback", RUN), worker.folder, 4)
    worker.worked(4, verdict=Verdict.REJECTED, reason=reason)
    worker.withheld.add(header(4).payload_root)
    feedback = await worker.feedback()
    assert not worker.withheld, "its round is over"
    assert held(feedback) == content(3)
    assert (feedback.file(root_of(4)) is not None) is stays
    assert bool(feedback.roots_of(4, to_text(contribution_id(header(4).pack())))) is stays


async def test_its_leaves_can_be_opened_after_a_restart_and_its_files_are_counted(
    worker: Returning,
) -> None:
    feedback = await worker.feedback()
    assert worker.reserved == FEEDBACK_FILES * 2 * ELEMENTS
    source = LeafSource(may_open=lambda *_: True, file_of=feedback.file)
    worker.leaves.sources.append(source)
    opened = worker.leaves.read(root_of(3), 1)
    assert opened is not None
    assert opened[:8192] == content(3)[8192:16384]
    assert worker.leaves.read(sha256(b"other"), 1) is None
    feedback.remove()  # the run has ended
    assert worker.leaves.read(root_of(3), 1) is None


async def test_after_a_restart_an_auditor_gets_the_leaves_of_its_order_alone(
    worker: Returning,
) -> None:
    name, auditor = to_text(contribution_id(header(3).pack())), signer("auditor").key
    order = AuditOrder(
        slot=1,
        round=3,
        contribution=name,
        tokens=1,
        opening=to_text(sha256(b"opening")),
        earlier=(),
    )
    context = SimpleNamespace(manifest=SimpleNamespace(chunks=3), feedback=await worker.feedback())
    auditing = RoundAuditing(
        cast("RunContext", context),
        cast("RunStatements", None),
        cast("PastRounds", None),
        cast("RepeatedTraining", None),
        WorkTally(),
    )

    def may_open(peer: PeerKey, root: Digest, **changed: object) -> bool:
        named = msgspec.structs.replace(order, **changed)
        current = SimpleNamespace(slot_of={auditor: 1}, orders={1: named})
        return auditing.may_open(cast("RoundView", current), peer, root, 0)

    assert may_open(auditor, root_of(3))
    assert may_open(auditor, ZERO_DIGEST)  # before sending
    assert not may_open(signer("bo").key, root_of(3))
    assert not may_open(auditor, root_of(2))
    assert not may_open(auditor, root_of(3), round=2)
    assert not may_open(auditor, root_of(3), contribution=to_text(sha256(b"other")))
