"""A run with its whole history: members, windows and points, for the ledger and the auditor.

`FullRunView` begins at run.open, and checks and records what a light view must trust the log for.
It overrides the methods of `RunView` that need the history, and adds no step of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING

from msgspec import UNSET

from tequio_shared import vrf
from tequio_shared.errors import RefusedError
from tequio_shared.head.chain import Head, NextHead
from tequio_shared.head.head import set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, NetworkId, PeerKey, digest_from_text
from tequio_shared.limits import NEWEST_HEADS, PUBLISHED_HEADS
from tequio_shared.network.accounts import RunAccounts
from tequio_shared.network.audits import AuditOutcome
from tequio_shared.network.rollback import Rollback
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunEvent, RunRequest, RunState, close_reason
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.round import lots
from tequio_shared.round.documents import Roster, RoundResult
from tequio_shared.round.measures import MeasureDraws
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.network import CheckpointPublish, MemberLeave, MemberReady
from tequio_shared.statements.runs import RunClose, WorkCommit
from tequio_shared.statements.statement import Statement

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest

LEAST_AUDITORS = 2
"""Trainers with whom a round after the last training begins."""
MAX_LOCATIONS = 4
"""Locations of one head that are known; a further one replaces the one stated first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadPublication:
    """A statement that a head was published, and its log index."""

    index: int
    body: CheckpointPublish


@dataclass(slots=True, kw_only=True)
class FullRunView(RunView):
    """A run from run.open on, with its members, windows and points. Only `apply` changes it."""

    accounts: RunAccounts
    heads: dict[int, Head] = field(default_factory=dict)
    """Promoted ones by round: the newest, and ever fewer of older ones (`_forget_heads`)."""
    settled: list[AuditOutcome] = field(default_factory=list)  # with the last closed round
    rollbacks: list[Rollback] = field(default_factory=list)
    published: dict[int, dict[str, HeadPublication]] = field(default_factory=dict)
    """By the head's round and by location: the last publication there. Of the newest heads."""

    @classmethod
    def opened(
        cls,
        net: NetworkId,
        manifest: Manifest,
        standings: KeyStatus,
        tiers: Tiers,
        check_proof: vrf.CheckProof = vrf.verify,
    ) -> FullRunView:
        """Make the view right after run.open; standings and tiers are those of the network."""
        return cls(
            net=net,
            manifest=manifest,
            check_proof=check_proof,
            accounts=RunAccounts(manifest=manifest, standings=standings, tiers=tiers),
            next_head=NextHead(round=0, parent=HeadHash(ZERO_DIGEST), set_root=set_root([])),
            draws=MeasureDraws(is_whole=True),
            last_lots=ZERO_DIGEST,
        )

    def _apply_publication(self, index: int, statement: Statement, body: CheckpointPublish) -> None:
        head = self._known_head(statement.round or 0)
        claimed = HeadHash(digest_from_text(body.head)), digest_from_text(body.weights_root)
        if claimed != (head.hash, head.weights_root):
            raise RefusedError("wrong-head", f"round {statement.round} has another head")
        places = self.published.setdefault(statement.round or 0, {})
        places[body.location] = HeadPublication(index=index, body=body)
        if len(places) > MAX_LOCATIONS:
            del places[min(places, key=lambda one: places[one].index)]
        if len(self.published) > PUBLISHED_HEADS:
            del self.published[min(self.published)]

    def _known_head(self, number: int) -> Head:
        head = self.heads.get(number)
        if head is None:
            raise RefusedError("wrong-head", self.why_unknown(number))
        return head

    def why_unknown(self, number: int) -> str:
        """Return a sentence about a round without a head in `heads`."""
        if not self.heads:
            return "the run has no promoted head yet"
        near = sorted(nsmallest(2, self.heads, key=lambda one: abs(one - number)))
        rounds = " and ".join(map(str, near))
        return f"round {number} has no promoted head that is still known; near it, {rounds} have"

    def next_seed_input(self) -> bytes:
        """Input of the coordinator's verifiable random function for the next roster."""
        last = self.last_lots or ZERO_DIGEST
        return lots.seed_input(self.net, self.manifest.run_id, self.number + 1, last)

    def _record_opening(self, ts: int) -> None:
        self.accounts.opened_ms = ts

    def _record_membership(
        self, index: int, statement: Statement, body: MemberReady | MemberLeave
    ) -> None:
        accounts, author = self.accounts, statement.author
        if isinstance(body, MemberLeave):
            accounts.deactivate(author)
            return
        # Checked before anything is recorded: a quarantined key must leave no trace.
        accounts.standings.check_ready(author, statement.ts)
        accounts.mark_ready(author, body.roles, index)
        accounts.standings.record_ready(author, index)

    def _check_commitment(self, author: PeerKey, body: WorkCommit) -> None:
        self.accounts.check_feedback(author, body.feedback)
        if body.parts is not UNSET:
            self.accounts.check_receivers(body.parts)

    def _check_next_round(self, number: int) -> None:
        if number != self.number + 1:
            raise RefusedError("wrong-roster", f"round {number} after round {self.number}")

    def _check_members(self, ts: int, roster: Roster) -> None:
        self._check_standings(ts, "wrong-roster")
        if roster != self.plan_roster(ts):
            raise RefusedError("wrong-roster", "the roster does not follow from the log")

    def _check_standings(self, ts: int, code: str) -> None:
        """Raise RefusedError while a change of standing is due.

        Else the coordinator could delay a quarantine until the points have vested.
        """
        due = self.accounts.standings.due(ts)
        if due is not None:
            raise RefusedError(code, f"{due.peer} must become {due.to} first")

    def plan_roster(self, ts: int) -> Roster:
        """Roster at that time, as it follows from the log so far."""
        return self.accounts.plan_roster(ts, is_training=self.state is not RunState.COOLDOWN)

    def has_open_audits(self) -> bool:
        """Return whether an audit could still be reported, in the round that opens next."""
        return self.accounts.audits.has_time(self.number - (self.phase is RoundPhase.ATTEST))

    def can_audit(self, ts: int) -> bool:
        """Return whether a roster of that time has members for a round after the last training.

        As many as training needs would let a few that leave end the run for the others.
        """
        return self.accounts.has_members(ts, LEAST_AUDITORS)

    @property
    def last_wait_ms(self) -> int:
        """How long a run that is ending waits for members."""
        return max(self.manifest.rounds.cooldown, self.manifest.rounds.attest)

    def _record_roster(self, roster: Roster) -> None:
        self.accounts.rostered.update(member.key for member in roster.members)
        self.accounts.assign_windows(roster)

    def _record_lots(self, view: RoundView) -> None:
        self.accounts.lots_index = view.roster_index

    def _record_head(self, head: Head) -> None:
        last = next(reversed(self.heads), 0)
        self.heads[head.round] = head
        self._forget_heads(last, head.round)

    def _forget_heads(self, last: int, newest: int) -> None:
        """Keep of the heads 256 to 511 rounds back each second one, of 512 to 1023 each fourth...

        Each round costs O(log n), and a run of n rounds keeps O(log n) heads. What is kept depends
        on round numbers alone, never on when a snapshot was made.
        """
        reach, step = NEWEST_HEADS, 2
        while reach <= newest:
            for number in range(max(last - reach + 1, 0), newest - reach + 1):
                if number % step:
                    self.heads.pop(number, None)
                    self.accounts.trained.pop(number, None)
            reach, step = 2 * reach, 2 * step

    def _check_rollback(self, head: Head, last_round: int) -> None:
        if self._known_head(head.round) != head:
            raise RefusedError("wrong-head", f"round {head.round} has another head")
        if self.head == head and self.next_head is None:
            raise RefusedError("wrong-head", f"the run is at head {head.round} already")
        if last_round != self.number:
            raise RefusedError(
                "wrong-round", f"the last round is {self.number}; the organisers saw {last_round}"
            )

    def _record_rollback(self, index: int, head: Head) -> None:
        self.accounts.start_over()
        self.rollbacks.append(Rollback(index=index, head_round=head.round, last_round=self.number))

    def _settle(self, index: int, view: RoundView, result: RoundResult, ts: int) -> None:
        self.accounts.credit_round(index, view, result, ts)
        self.accounts.standings.close_round(index, view)
        self.settled = self.accounts.close_audits(view, ts)
        present = [view.roster.members[slot].key for slot in view.attests]
        self.accounts.standings.close_audits(index, self.settled, present)

    def _give_back(self, view: RoundView) -> None:
        self.accounts.void_round(view)

    def _check_request(self) -> None:
        if self.request is RunRequest.GO_ON:
            raise RefusedError("wrong-state", "no pause or finish is pending")

    def _check_opening(self) -> None:
        if self.state is RunState.COOLDOWN and not self.has_open_audits():
            raise RefusedError("wrong-open", "the run has ended, and no audit is left")

    def _check_end(self, body: RunClose, ts: int) -> None:
        if body.reason != close_reason(self.request):
            raise RefusedError("wrong-close", f"the run does not end for reason {body.reason}")
        self._check_standings(ts, "wrong-close")
        # Work of the last rounds must not be paid before it was audited, unless nobody is left.
        if not self.has_open_audits():
            return
        is_early = ts < self.coordinator_ms + self.last_wait_ms
        if self.phase is not RoundPhase.OVER or is_early or self.can_audit(ts):
            raise RefusedError("wrong-close", "members still have work of the run to audit")

    def _record_end(self) -> None:
        self.accounts.vest_all()

    def _unseen(self, event: RunEvent) -> RunState | None:
        return None
