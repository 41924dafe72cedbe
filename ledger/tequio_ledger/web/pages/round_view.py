"""One round, open, closed or void, read from its log entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from tequio_ledger.store import entries
from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader, contribution_id
from tequio_shared.ids import (
    ContributionId,
    Digest,
    NetworkId,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
)
from tequio_shared.network.run import Documents
from tequio_shared.round import assignment, proof
from tequio_shared.round.documents import WITNESS, Roster, RoundResult
from tequio_shared.round.proof import Verdict, Verdicts, WitnessFindings
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Body, Entry

if TYPE_CHECKING:
    from sqlalchemy import Connection


StoredRow = tuple[int, bytes, int]
"""Index, leaf, and time of logging (ms)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEntry:
    """One entry of the round: its index, its time and its body."""

    index: int
    at_ms: int
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEntry:
    """A trainer's commitment."""

    index: int
    at_ms: int
    header: ContributionHeader
    id: ContributionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofEntry:
    """A witness proof, as signed and decoded."""

    index: int
    at_ms: int
    body: WitnessProof
    seen: WitnessFindings


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A round, by slots of its roster."""

    roster: Roster
    rostered: RoundEntry
    promoted: RoundEntry | None
    """Promotion of the head that this round made; it happens in the next round."""
    opened: RoundEntry | None
    witnessed: RoundEntry | None
    ended: RoundEntry | None
    attests: Mapping[int, RoundEntry]
    commits: Mapping[int, CommitEntry]
    proofs: Mapping[int, ProofEntry]
    elected: tuple[int, ...]
    result: RoundResult | None
    """Of a closed round."""

    @property
    def open(self) -> RoundOpen | None:
        body = self.opened.body if self.opened else None
        return body if isinstance(body, RoundOpen) else None

    @property
    def void(self) -> RoundVoid | None:
        body = self.ended.body if self.ended else None
        return body if isinstance(body, RoundVoid) else None

    @property
    def is_complete(self) -> bool:
        """True if no further entry about this round can follow."""
        return self.void is not None or (self.ended is not None and self.promoted is not None)

    @property
    def ended_early(self) -> bool:
        """True if it ended before witnesses were asked."""
        return self.ended is not None and self.witnessed is None

    @property
    def verdicts(self) -> Verdicts:
        """Verdicts of the proofs so far, by committed slot."""
        seen = {slot: one.seen for slot, one in self.proofs.items()}
        return proof.verdicts(self.elected, seen, self.commits)

    @property
    def quorum(self) -> int:
        """Proofs needed to close the round."""
        return max(assignment.quorum(len(self.elected)), 1) if self.elected else 0


def read_round(
    net: NetworkId, run: RunId, number: int, rows: Iterable[StoredRow], documents: Documents
) -> RoundRecord:
    """Read a round from its entries, the roster among them; `documents` raises KeyError."""
    firsts: dict[type[Body], RoundEntry] = {}
    own: dict[type[Body], dict[PeerKey, RoundEntry]] = {
        HeadAttest: {},
        WorkCommit: {},
        WitnessProof: {},
    }
    for index, leaf, at_ms in rows:
        statement = Entry.parse(leaf).statement
        told = RoundEntry(index=index, at_ms=at_ms, body=statement.body)
        by_author = own.get(type(statement.body))
        if by_author is None:
            firsts.setdefault(type(statement.body), told)
        else:
            by_author[statement.author] = told
    rostered = firsts[RoundRoster]
    roster = _roster(rostered, documents)
    slot_of = {key: slot for slot, key in roster.keys.items()}
    opened, ended = firsts.get(RoundOpen), firsts.get(RoundClose) or firsts.get(RoundVoid)
    return RoundRecord(
        roster=roster,
        rostered=rostered,
        promoted=firsts.get(HeadPromote),
        opened=opened,
        witnessed=firsts.get(RoundWitness),
        ended=ended,
        attests={slot_of[key]: told for key, told in own[HeadAttest].items()},
        commits={slot_of[key]: _commit(told) for key, told in own[WorkCommit].items()},
        proofs={slot_of[key]: _proof(told, roster) for key, told in own[WitnessProof].items()},
        elected=_elected(net, run, number, roster, opened),
        result=_result(ended, documents),
    )


def _roster(told: RoundEntry, documents: Documents) -> Roster:
    if not isinstance(told.body, RoundRoster):
        raise TypeError(f"expected a roster, got {told.body.TYPE}")
    return Roster.parse(documents(digest_from_text(told.body.roster)))


def _result(told: RoundEntry | None, documents: Documents) -> RoundResult | None:
    if told is None or not isinstance(told.body, RoundClose):
        return None
    return RoundResult.parse(documents(digest_from_text(told.body.result)))


def _commit(told: RoundEntry) -> CommitEntry:
    if not isinstance(told.body, WorkCommit):
        raise TypeError(f"expected a commitment, got {told.body.TYPE}")
    raw = from_text(told.body.header, None)
    return CommitEntry(
        index=told.index,
        at_ms=told.at_ms,
        header=ContributionHeader.parse(raw),
        id=contribution_id(raw),
    )


def _proof(told: RoundEntry, roster: Roster) -> ProofEntry:
    if not isinstance(told.body, WitnessProof):
        raise TypeError(f"expected a proof, got {told.body.TYPE}")
    bitmap = from_text(told.body.bitmap, None)
    vouched = proof.decode_bitmap(bitmap, len(roster.members))
    rejected = {slot: proof.RejectionReason(code) for slot, code in told.body.rejected}
    seen = WitnessFindings(vouched=vouched, rejected=rejected)
    return ProofEntry(index=told.index, at_ms=told.at_ms, body=told.body, seen=seen)


def _elected(
    net: NetworkId, run: RunId, number: int, roster: Roster, opened: RoundEntry | None
) -> tuple[int, ...]:
    if opened is None or not isinstance(opened.body, RoundOpen):
        return ()
    beacon, named = (Digest(from_text(text)) for text in (opened.body.beacon, opened.body.roster))
    keys = roster.keys
    candidates = {slot: keys[slot] for slot in roster.slots_of(WITNESS)}
    return assignment.committee(assignment.seed(net, run, number, beacon, named), candidates)


# --- The outcome of a round for each member, and the reason for its points.

_PENDING = text.StatusLabel("Being judged", "busy", "Not all witnesses have answered yet.")
_TRAINS = text.StatusLabel("Training", "busy", "It can still commit.")
_NOT_DUE = text.StatusLabel("No work due", "off", "It is not a trainer of this round.")
_VOID = text.StatusLabel("Not paid", "warn", "The round is void: no work is paid.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotOutcome:
    """One slot of a round."""

    slot: int
    key: str
    first_window: int | None
    windows: int
    attest_index: int | None
    """Entry in which it states its head."""
    is_head_agreed: bool
    """The stated head is the one with which the round opened."""
    is_head_other: bool
    """The round opened with another head."""
    commit_index: int | None
    commit_ms: int | None
    """Time of its commitment after the opening."""
    tokens: int
    verdict: StatusLabel
    votes: int
    """Other witnesses that vouched for it."""
    is_elected: bool
    is_asked: bool
    """Elected, and the round reached the witness phase or still may."""
    proof_index: int | None
    duty: StatusLabel
    trainer_micropoints: int
    witness_micropoints: int

    @property
    def micropoints(self) -> int:
        return self.trainer_micropoints + self.witness_micropoints

    @property
    def why(self) -> str:
        """Reason for its points, or for none."""
        work = self.verdict.description if self.windows else "It had no windows to train."
        return f"{work} {self.duty.description}" if self.is_elected else work


def slot_outcomes(story: RoundRecord) -> tuple[SlotOutcome, ...]:
    verdicts = _verdicts(story)
    return tuple(
        _slot(story, slot, verdicts.get(slot)) for slot in range(len(story.roster.members))
    )


def _verdicts(story: RoundRecord) -> dict[int, tuple[int, int]]:
    """Give verdict and reason as codes: of the result, else of the proofs so far."""
    if story.result is not None:
        return {slot: (row.verdict, row.reason) for slot, row in enumerate(story.result.slots)}
    return {slot: (int(one), int(why)) for slot, (one, why) in story.verdicts.items()}


def _slot(story: RoundRecord, slot: int, verdict: tuple[int, int] | None) -> SlotOutcome:
    member, commit = story.roster.members[slot], story.commits.get(slot)
    ranges = story.roster.assignment.get(slot, ())
    row = story.result.slots[slot] if story.result is not None else None
    attest, sent = story.attests.get(slot), story.proofs.get(slot)
    opened_ms = story.open.opened if story.open else 0
    stated, agreed = head_stated(story, slot), story.open.head if story.open else None
    return SlotOutcome(
        slot=slot,
        key=member.peer,
        first_window=ranges[0][0] if ranges else None,
        windows=assignment.count_windows(ranges),
        attest_index=attest.index if attest else None,
        is_head_agreed=stated is not None and stated == agreed,
        is_head_other=None not in (stated, agreed) and stated != agreed,
        commit_index=commit.index if commit else None,
        commit_ms=max(commit.at_ms - opened_ms, 0) if commit else None,
        tokens=commit.header.tokens if commit else 0,
        verdict=_mark(story, slot, verdict),
        votes=sum(slot in one.seen.vouched for at, one in story.proofs.items() if at != slot),
        is_elected=slot in story.elected,
        is_asked=slot in story.elected and not story.ended_early,
        proof_index=sent.index if sent else None,
        duty=_duty(story, slot, row.witness_micropoints if row else 0),
        trainer_micropoints=row.trainer_micropoints if row else 0,
        witness_micropoints=row.witness_micropoints if row else 0,
    )


def head_stated(story: RoundRecord, slot: int) -> str | None:
    """Give the head that a slot states; None before it does."""
    attest = story.attests.get(slot)
    return attest.body.head if attest and isinstance(attest.body, HeadAttest) else None


def _mark(story: RoundRecord, slot: int, verdict: tuple[int, int] | None) -> StatusLabel:
    if slot not in story.roster.assignment:
        return _NOT_DUE
    if story.void is not None:
        return _VOID if slot in story.commits else text.verdict(Verdict.SILENT, 0)
    if story.result is None and story.witnessed is None:
        return text.StatusLabel("Committed", "ok") if slot in story.commits else _TRAINS
    if story.result is None:
        return _PENDING if slot in story.commits else text.verdict(Verdict.SILENT, 0)
    return text.verdict(*verdict) if verdict else text.verdict(Verdict.SILENT, 0)


def _duty(story: RoundRecord, slot: int, paid: int) -> StatusLabel:
    if slot not in story.elected:
        return text.StatusLabel("Not elected", "off", "It was not elected to witness.")
    if slot not in story.proofs:
        return _unanswered(story)
    if story.result is None:
        return text.StatusLabel("Proof sent", "ok", "It sent its witness proof.")
    if paid:
        return text.StatusLabel("Proof counted", "ok", "Its witness proof counted.")
    return _unpaid(story, slot)


def _unanswered(story: RoundRecord) -> StatusLabel:
    if story.ended is None:
        return text.StatusLabel(
            "Elected", "wait", "It was elected to witness and has not answered yet."
        )
    if story.ended_early:
        return text.StatusLabel("Not asked", "off", "The round ended before it could witness.")
    return text.StatusLabel("No proof", "warn", "It was elected to witness and sent no proof.")


def _unpaid(story: RoundRecord, slot: int) -> StatusLabel:
    seen = story.proofs[slot].seen
    if proof.earns(slot, seen, story.verdicts):
        return text.StatusLabel(
            "Proof counted", "ok", "Its witness proof counted; its share rounds down to 0."
        )
    return text.StatusLabel(
        "Proof at odds", "warn", "Its witness proof differed too much from the quorum's."
    )


CACHED_ROUNDS = 256
"""Cached rounds; one takes some kilobytes for each member."""


class RoundReader:
    """Reads rounds of one network, and caches those that are complete; thread-safe."""

    def __init__(self, net: NetworkId, documents: Documents) -> None:
        self._net = net
        self._documents = documents
        self._over: OrderedDict[tuple[RunId, int], RoundRecord] = OrderedDict()
        self._lock = Lock()

    def read(self, connection: Connection, run: RunId, number: int) -> RoundRecord:
        """Read a round; raises RefusedError("not-found") if it has no roster."""
        with self._lock:
            known = self._over.get((run, number))
            if known is not None:
                self._over.move_to_end((run, number))
                return known
        rows = entries.leaves_of_round(connection, run, number)
        try:
            story = read_round(self._net, run, number, rows, self._documents)
        except KeyError as err:
            raise RefusedError("not-found", f"this run has no round {number}") from err
        if story.is_complete:
            with self._lock:
                self._over[run, number] = story
                if len(self._over) > CACHED_ROUNDS:
                    self._over.popitem(last=False)
        return story
