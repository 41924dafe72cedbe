"""One round, open, closed or void, read from its log entries."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import UNSET

from tequio_ledger.store import entries
from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared import vrf
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import PeerKey, RunId, digest_from_text, from_text
from tequio_shared.network.run import Documents
from tequio_shared.round import assignment, lots, proof
from tequio_shared.round.documents import WITNESS, Roster, RoundResult
from tequio_shared.round.proof import RejectionReason, Verdict, Verdicts, WitnessFindings
from tequio_shared.statements.runs import (
    AuditReport,
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
B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEntry(Generic[B]):
    """One entry of the round, logged at a time (ms)."""

    index: int
    at_ms: int
    author: PeerKey
    body: B


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A round, by slots of its roster."""

    roster: Roster
    rostered: RoundEntry[RoundRoster]
    promoted: RoundEntry[HeadPromote] | None
    """Promotion of the head that this round made; it happens in the next round."""
    opened: RoundEntry[RoundOpen] | None
    witnessed: RoundEntry[RoundWitness] | None
    closed: RoundEntry[RoundClose] | None
    voided: RoundEntry[RoundVoid] | None
    attests: Mapping[int, RoundEntry[HeadAttest]]
    commits: Mapping[int, RoundEntry[WorkCommit]]
    proofs: Mapping[int, RoundEntry[WitnessProof]]
    findings: Mapping[int, WitnessFindings]
    """The proofs, decoded."""
    reports: Mapping[int, RoundEntry[AuditReport]]
    elected: tuple[int, ...]
    result: RoundResult | None
    """Of a closed round."""

    @property
    def ended(self) -> RoundEntry[RoundClose] | RoundEntry[RoundVoid] | None:
        return self.closed or self.voided

    @property
    def is_complete(self) -> bool:
        """True if no further entry about this round can follow."""
        if self.closed is not None and not self.closed.body.accepted:  # no head follows from it
            return True
        return self.voided is not None or (self.closed is not None and self.promoted is not None)

    @property
    def ended_early(self) -> bool:
        """True if it ended before witnesses were asked."""
        return self.ended is not None and self.witnessed is None

    @property
    def verdicts(self) -> Verdicts:
        """Verdicts of the proofs so far, by committed slot."""
        return proof.verdicts(self.elected, self.findings, self.commits)

    @property
    def quorum(self) -> int:
        """Proofs needed to close the round."""
        return max(assignment.quorum(len(self.elected)), 1) if self.elected else 0


def read_round(number: int, rows: Iterable[StoredRow], documents: Documents) -> RoundRecord:
    """Read a round from its entries; `documents` raises KeyError.

    Raises RefusedError("not-found") if there is no roster among them.
    """
    found: defaultdict[type[object], list[RoundEntry[Any]]] = defaultdict(list)  # Any: by the key
    for index, leaf, at_ms in rows:
        statement = Entry.parse(leaf).statement
        found[type(statement.body)].append(
            RoundEntry(index=index, at_ms=at_ms, author=statement.author, body=statement.body)
        )

    def first(kind: type[B]) -> RoundEntry[B] | None:
        return next(iter(found[kind]), None)

    rostered = first(RoundRoster)
    if rostered is None:
        raise RefusedError("not-found", f"this run has no round {number}")
    roster = Roster.parse(documents(digest_from_text(rostered.body.roster)))
    slot_of = {key: slot for slot, key in roster.keys.items()}

    def last_by_slot(kind: type[B]) -> dict[int, RoundEntry[B]]:
        return {slot_of[one.author]: one for one in found[kind]}

    opened, closed, proofs = first(RoundOpen), first(RoundClose), last_by_slot(WitnessProof)
    attests = last_by_slot(HeadAttest)
    return RoundRecord(
        roster=roster,
        rostered=rostered,
        promoted=first(HeadPromote),
        opened=opened,
        witnessed=first(RoundWitness),
        closed=closed,
        voided=first(RoundVoid),
        attests=attests,
        commits=last_by_slot(WorkCommit),
        proofs=proofs,
        findings={slot: _findings(one.body, roster) for slot, one in proofs.items()},
        reports=last_by_slot(AuditReport),
        elected=_elected(roster, attests, opened.body) if opened else (),
        result=RoundResult.parse(documents(digest_from_text(closed.body.result)))
        if closed
        else None,
    )


def _findings(body: WitnessProof, roster: Roster) -> WitnessFindings:
    return WitnessFindings(
        vouched=proof.decode_bitmap(from_text(body.bitmap, None), len(roster.members)),
        rejected={slot: RejectionReason(code) for slot, code in body.rejected},
    )


def _elected(
    roster: Roster, attests: Mapping[int, RoundEntry[HeadAttest]], opened: RoundOpen
) -> tuple[int, ...]:
    """Committee of a round, from the lots that its witnesses drew for its head."""
    witnesses = roster.slots_of(WITNESS)
    drawn = {
        slot: vrf.output(from_text(attests[slot].body.vrf, vrf.PROOF_BYTES))
        for slot in witnesses
        if slot in attests and attests[slot].body.head == opened.head
    }
    return lots.committee(drawn, lots.seat_count(len(witnesses)))


# --- The outcome of a round for each member, and the reason for its points.

_PENDING = StatusLabel("Being judged", "busy", "Not all witnesses have answered yet.")
_TRAINS = StatusLabel("Training", "busy", "It can still commit.")
_COMMITTED = StatusLabel("Committed", "ok")
_NOT_DUE = StatusLabel("No work due", "off", "It is not a trainer of this round.")
_AUDITS = StatusLabel("Auditing", "busy", "It repeats another member's work instead of training.")
_NOT_AUDITED = StatusLabel(
    "Not audited", "off", "It was to repeat another member's work, and did not report it."
)
_VOID = StatusLabel("Not paid", "warn", "The round is void: no work is paid.")
_NOT_ELECTED = StatusLabel("Not elected", "off", "It was not elected to witness.")
_ELECTED = StatusLabel("Elected", "wait", "It was elected to witness and has not answered yet.")
_NOT_ASKED = StatusLabel("Not asked", "off", "The round ended before it could witness.")
_NO_PROOF = StatusLabel("No proof", "warn", "It was elected to witness and sent no proof.")
_PROOF_SENT = StatusLabel("Proof sent", "ok", "It sent its witness proof.")
_COUNTED = StatusLabel("Proof counted", "ok", "Its witness proof counted.")
_ROUNDED = StatusLabel(
    "Proof counted", "ok", "Its witness proof counted; its share rounds down to 0."
)
_AT_ODDS = StatusLabel(
    "Proof at odds", "warn", "Its witness proof differed too much from the quorum's."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotOutcome:
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
    is_auditor: bool
    verdict: StatusLabel
    votes: int
    """Other witnesses that vouched for it."""
    is_elected: bool
    proof_index: int | None
    duty: StatusLabel
    gflop: int
    given: tuple[tuple[str, int], ...]
    """Other keys and their GFLOP for its commitment."""

    @property
    def why(self) -> str:
        """Reason for its points, or for none."""
        has_work = self.windows or self.is_auditor
        work = self.verdict.description if has_work else "It had no windows to train."
        return f"{work} {self.duty.description}" if self.is_elected else work


def slot_outcome(record: RoundRecord, slot: int) -> SlotOutcome:
    member, row = record.roster.members[slot], record.result.slots[slot] if record.result else None
    ranges = record.roster.assignment.get(slot, ())
    attest, commit = record.attests.get(slot), record.commits.get(slot)
    sent, opened = record.proofs.get(slot), record.opened.body if record.opened else None
    return SlotOutcome(
        slot=slot,
        key=member.peer,
        first_window=ranges[0][0] if ranges else None,
        windows=assignment.count_windows(ranges),
        attest_index=attest.index if attest else None,
        is_head_agreed=bool(attest and opened and attest.body.head == opened.head),
        is_head_other=bool(attest and opened and attest.body.head != opened.head),
        commit_index=commit.index if commit else None,
        commit_ms=max(commit.at_ms - (opened.opened if opened else 0), 0) if commit else None,
        tokens=ContributionHeader.parse(from_text(commit.body.header, None)).tokens
        if commit
        else 0,
        is_auditor=any(order.slot == slot for order in record.roster.audits),
        verdict=_verdict(record, slot),
        votes=sum(slot in one.vouched for at, one in record.findings.items() if at != slot),
        is_elected=slot in record.elected,
        proof_index=sent.index if sent else None,
        duty=_duty(record, slot, row.witness_gflop if row else 0),
        gflop=row.trainer_gflop + row.witness_gflop if row else 0,
        given=() if row is None or row.given is UNSET else row.given,
    )


def _verdict(record: RoundRecord, slot: int) -> StatusLabel:
    has_committed = slot in record.commits
    if slot not in record.roster.assignment:
        is_auditor = any(order.slot == slot for order in record.roster.audits)
        return _auditor_verdict(record, slot) if is_auditor else _NOT_DUE
    if record.result is not None:
        row = record.result.slots[slot]
        return text.verdict(row.verdict, row.reason)
    if record.voided is None and record.witnessed is None:
        return _COMMITTED if has_committed else _TRAINS
    if not has_committed:
        return text.verdict(Verdict.SILENT, 0)
    return _VOID if record.voided else _PENDING


def _auditor_verdict(record: RoundRecord, slot: int) -> StatusLabel:
    if record.ended is None:
        return _AUDITS
    if record.result is None:
        return _VOID if slot in record.reports else _NOT_AUDITED
    row = record.result.slots[slot]
    return text.verdict(row.verdict, 0) if row.verdict == Verdict.AUDITED else _NOT_AUDITED


def _duty(record: RoundRecord, slot: int, paid: int) -> StatusLabel:
    if slot not in record.elected:
        return _NOT_ELECTED
    if slot not in record.proofs:
        if record.ended is None:
            return _ELECTED
        return _NOT_ASKED if record.ended_early else _NO_PROOF
    if record.result is None:
        return _PROOF_SENT
    if paid:
        return _COUNTED
    counts = proof.earns(slot, record.findings[slot], record.verdicts)
    return _ROUNDED if counts else _AT_ODDS


CACHED_MEMBERS = 10_000
"""Members of all cached rounds together; each takes some kilobytes."""


class RoundReader:
    """Reads rounds, and caches those that are complete; thread-safe."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._over: OrderedDict[tuple[RunId, int], RoundRecord] = OrderedDict()
        self._members = 0
        self._lock = Lock()

    def read(self, connection: Connection, run: RunId, number: int) -> RoundRecord:
        """Read a round.

        Raises RefusedError("not-found") if it has no roster, and "damaged" if a document is lost.
        """
        with self._lock:
            known = self._over.get((run, number))
            if known is not None:
                self._over.move_to_end((run, number))
                return known
        rows = entries.leaves_of_round(connection, run, number)
        try:
            record = read_round(number, rows, self._documents)
        except KeyError as err:
            raise RefusedError(
                "damaged",
                f"a document of round {number} is missing or damaged here: the operator of this "
                "ledger can restore it from a backup",
            ) from err
        if record.is_complete:
            self._store((run, number), record)
        return record

    def _store(self, place: tuple[RunId, int], record: RoundRecord) -> None:
        with self._lock:
            if place in self._over:  # read by another thread meanwhile
                return
            self._over[place] = record
            self._members += len(record.roster.members)
            while self._members > CACHED_MEMBERS:
                _, oldest = self._over.popitem(last=False)
                self._members -= len(oldest.roster.members)
