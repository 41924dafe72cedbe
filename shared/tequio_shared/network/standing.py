"""The standing of a key in the network: from newcomer to active, into quarantine and back.

Rules. Only the log counts: faults that signatures and bytes prove, verdicts by a quorum of
witnesses, work that was accepted. From them follows a `standing.change`, and exactly that one: the
coordinator states it, every reader of the whole log derives it again, and neither a roster nor the
end of a run is admitted while one is due. Silence, lateness and work that nobody could fetch are
never faults. No measure excludes anybody: one on which two witnesses agree makes a key suspected,
and so more often audited, and so do many low loss gains; work that was not done is what five sixths
of its auditors say. A standing holds in all runs. (docs/protocol.md, standing)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, RunId, key_from_text, to_text
from tequio_shared.limits import (
    APPEAL_MS,
    APPEAL_PAUSE_MS,
    BAN_QUARANTINES,
    CONTRADICTIONS,
    DEVIATION_PROOFS,
    DEVIATIONS,
    GAIN_RETURN,
    GAIN_ROUNDS,
    NEWCOMER_WORK,
    PROBATION_WORK,
    QUARANTINE_MS,
    REPEAT_MS,
    REPEATED_QUARANTINE_MS,
    STRIKE_ROUNDS,
    WITHHOLDINGS,
)
from tequio_shared.network.key_links import KeyLinks
from tequio_shared.round import gain, proof
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.gain import GainPool, GainSign
from tequio_shared.round.proof import MEASURED, Verdict
from tequio_shared.statements.network import (
    EVIDENCE,
    StandingAppeal,
    StandingChange,
    StandingName,
    StandingRelease,
    StandingUphold,
)

if TYPE_CHECKING:
    from tequio_shared.network.audits import AuditOutcome
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Statement


LEAST_ACCUSERS = 2
"""Witnesses that must give the same reason before it counts against a key."""


class Standing(StrEnum):
    """States of a key (docs/protocol.md, standing)."""

    NEWCOMER = "newcomer"
    ACTIVE = "active"
    SUSPECTED = "suspected"
    QUARANTINED = "quarantined"
    PROBATION = "probation"
    BANNED = "banned"
    REVOKED = "revoked"
    REPLACED = "replaced"


class StandingCause(IntEnum):
    """Reasons in standing.change."""

    EARNED = 1  # enough accepted contributions
    TWO_COMMITMENTS = 2  # signed for one round
    TWO_STATEMENTS = 3  # signed under one number
    BAD_HEADER = 4  # a signed header that breaks a rule
    BAD_PAYLOAD = 5  # bytes that break a rule, as a piece of them shows
    NOT_ELECTED = 6  # a proof from a key that was not elected
    BAD_PROOF = 7  # a signed proof that is not valid
    STRIKE = 8  # one measured fault
    UNREAD = 9  # vouched for a contribution without having its bytes
    DEVIATION = 10  # proofs that the other witnesses contradict
    TERM_SERVED = 11  # the term is over, and the key sent member.ready
    UNANSWERED = 12  # no organiser answered an appeal
    FALSE_REPORT = 13  # a report whose piece shows no fault
    NOT_DONE = 14  # a contribution that is not the work it claims, as its auditors agree
    CONTRADICTED = 15  # an audit that the other auditors contradict
    CONTRADICTIONS = 16  # repeated ones
    LOW_GAIN = 17  # contributions that help on their own windows no more than on others
    WITHHELD = 18  # a contribution that a present trainer did not open to its auditors


ENDED = frozenset({Standing.REVOKED, Standing.REPLACED})
"""Standings of keys that never act again."""
RESTRICTED = frozenset({Standing.QUARANTINED, Standing.BANNED})
"""Standings that take points from a key, and its points out of rankings."""
EXCLUDED = RESTRICTED | ENDED
"""Standings that exclude a key from every roster."""
LIFTED = RESTRICTED | {Standing.PROBATION, Standing.ACTIVE}
"""Standings of which a release lifts the last quarantine; of an active key, one it appealed."""
UNPROVEN = frozenset({Standing.NEWCOMER, Standing.PROBATION})
"""Standings with small shares, and without witness duty while there are other witnesses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenFault:
    """Content of a report: the accused and the fault; `evidence` are further log indices."""

    peer: PeerKey
    cause: StandingCause
    evidence: tuple[int, ...]
    statements: tuple[Statement, ...]
    is_logged: bool = False
    """The log has this commitment in its run's last round, so no later thief signed it."""


@dataclass(slots=True, kw_only=True)
class StandingRecord:
    """The history of one key. Integers are log indices unless noted; `KeyStatus` updates it."""

    standing: Standing = Standing.NEWCOMER
    since: int
    """Entry of the last change of standing; at first the registration."""
    known_from: int
    """Entry that brought the key: its registration, or the key.replace that it signed."""
    cause: StandingCause | None = None
    evidence: tuple[int, ...] = ()
    until: int = 0
    """End of the term, ms since 1970."""
    accepted_since: int = 0
    """Contributions accepted since the last change of standing or the last strike."""
    last_accepted: int = 0
    judged: int = 0
    """Contributions accepted or rejected, in total."""
    strikes: list[tuple[int, int]] = field(default_factory=list)
    """(number of the judged contribution, round.close)."""
    proofs: int = 0
    deviations: list[tuple[int, int]] = field(default_factory=list)
    """(number of the proof, round.close)."""
    gains: list[tuple[bool, int]] = field(default_factory=list)
    """(whether a counted gain was positive, round.close)."""
    audits: int = 0
    contradictions: list[tuple[int, int, int]] = field(default_factory=list)
    """(number of the audit, its audit.report, the round.close that settled it)."""
    withheld: list[tuple[int, int]] = field(default_factory=list)
    """(number of the judged contribution, round.close)."""
    fault: tuple[StandingCause, tuple[int, ...]] | None = None
    """Proven fault that has had no consequence yet."""
    convictions: list[int] = field(default_factory=list)
    """Start times of quarantines, ms since 1970."""
    ready_again: int | None = None
    """Entry of member.ready after the term."""
    appeal: tuple[int, int] | None = None
    """(entry, ts) of the open appeal."""
    appealed_ms: int = 0
    """ts of the last appeal; 0: none yet."""


@dataclass(slots=True)
class KeyStatus:
    """The standing of every key of a network; a fold for the ledger's state and for auditors."""

    links: KeyLinks = field(default_factory=KeyLinks)  # the network's
    records: dict[PeerKey, StandingRecord] = field(default_factory=dict)
    gains: dict[RunId, GainPool] = field(default_factory=dict)
    _held: dict[PeerKey, StandingRecord] = field(default_factory=dict)
    """Records of revoked keys, which a successor may still get."""
    _moving: set[PeerKey] = field(default_factory=set, compare=False)  # a change may be due
    _queue: list[PeerKey] = field(init=False, default_factory=list, compare=False)
    """The keys in `_moving` that were not looked at yet, descending; empty: all of them."""
    _reported: set[Digest] = field(default_factory=set)  # statements in reports so far

    def of(self, key: PeerKey) -> Standing:
        """Standing of a key; an unregistered one counts as a newcomer."""
        record = self.records.get(key)
        return Standing.NEWCOMER if record is None else record.standing

    def is_restricted(self, key: PeerKey) -> bool:
        """Return whether a key is quarantined or banned, or the record of a revoked one is."""
        record = self._held.get(key) or self.records.get(key)
        return record is not None and record.standing in RESTRICTED

    def register(self, key: PeerKey, index: int) -> StandingRecord:
        """Count a key from this log index on; a registered one keeps its record."""
        return self.records.setdefault(key, StandingRecord(since=index, known_from=index))

    def is_known_before(self, key: PeerKey, index: int) -> bool:
        """Return whether no entry from that log index on brought the key."""
        return key not in self.records or self.records[key].known_from < index

    def revoke(self, index: int, key: PeerKey) -> None:
        """End a key, and hold its record for a successor."""
        self._held[key] = self._end(index, key, Standing.REVOKED)
        self._move_later(key)  # a fault may have had no consequence yet

    def replace(self, index: int, former: PeerKey, successor: PeerKey) -> None:
        """Hand the record of a key to its successor as it is: nothing is forgiven or prolonged."""
        record = self._end(index, former, Standing.REPLACED)
        record = self._held.pop(former, record)
        record.known_from = index
        self.records[successor] = record
        self._move_later(successor)

    def _end(self, index: int, key: PeerKey, to: Standing) -> StandingRecord:
        record = self.register(key, index)
        self.records[key] = StandingRecord(standing=to, since=index, known_from=record.known_from)
        self._moving.discard(key)
        return record

    def _record(self, key: PeerKey, index: int) -> StandingRecord:
        """Record on which the work of a member counts, also after its key has ended."""
        holder = self.links.holder(key)
        return self._held.get(holder) or self.register(holder, index)

    def due(self, ts: int) -> StandingChange | None:
        """Next change that follows from the log at that time (ms), lowest key first."""
        # Only keys that an entry has touched are looked at, and each of them once: when a round
        # changes the standing of all its members, this is asked for with each of the changes.
        self._queue = self._queue or sorted(self._moving, reverse=True)
        has_appeals = False
        while self._queue:
            key = self._queue[-1]
            change = self._due(key, ts) if key in self._moving else None
            if change is not None:
                if has_appeals:  # these may fall due by time alone
                    self._queue = []
                return change
            self._queue.pop()
            record = self.records[key]
            if record.appeal is None or record.standing is not Standing.QUARANTINED:
                self._moving.discard(key)
            has_appeals |= key in self._moving
        return None

    def _move_later(self, key: PeerKey) -> None:
        """Look at a key when the next change is asked for."""
        self._moving.add(key)
        if self._queue and self._queue[-1] != key:
            self._queue = []

    def next_ms(self) -> int | None:
        """Time (ms) at which a change falls due without an entry: the end of an open appeal."""
        records = (self.records[key] for key in self._moving)
        ends = [
            one.appeal[1] + APPEAL_MS
            for one in records
            if one.appeal is not None and one.standing is Standing.QUARANTINED
        ]
        return min(ends, default=None)

    def apply_change(self, index: int, statement: Statement, body: StandingChange) -> None:
        """Apply standing.change; raises RefusedError unless this is the change that is due."""
        due = self.due(statement.ts)
        if body != due:
            follows = f"{due.peer} {due.to}" if due else "nothing"
            raise RefusedError("wrong-standing", f"{body.peer} {body.to}: {follows} follows")
        key = key_from_text(body.peer)
        record = self._record(key, index)
        if body.to == "quarantined":
            record.convictions.append(statement.ts)
        cause = StandingCause(body.cause)
        if (record.standing, cause) not in _STILL_APPEALED:
            record.appeal = None
        _move(record, Standing(body.to), index)
        record.cause, record.evidence = cause, body.evidence
        record.until = body.until
        self._move_later(key)

    def admit_fault(self, fault: ProvenFault) -> None:
        """Raise RefusedError if a report that `conduct.read_fault` accepted brings nothing new.

        An unregistered key has no standing to lose, so a report against it only fills the log.
        """
        if fault.peer not in self.records:
            raise RefusedError("wrong-evidence", f"{to_text(fault.peer)} is not registered")
        # Anybody may have the secret of an ended key, so only what it had logged before counts.
        if not fault.is_logged:
            self.links.check(fault.peer)
        if all(self.is_reported(statement.digest) for statement in fault.statements):
            raise RefusedError("already-said", "this fault has been reported before")

    def is_reported(self, statement: Digest) -> bool:
        """Return whether a report in the log holds that statement."""
        return statement in self._reported

    def apply_fault(self, index: int, fault: ProvenFault) -> None:
        """Apply fault.report; raises RefusedError as `admit_fault`."""
        self.admit_fault(fault)
        self._reported.update(statement.digest for statement in fault.statements)
        record = self._record(fault.peer, index)
        # The first fault is enough to quarantine; a second report must not prolong the term.
        if record.standing not in EXCLUDED and record.fault is None:
            record.fault = fault.cause, tuple(sorted({*fault.evidence, index}))
            self._move_later(self.links.holder(fault.peer))

    def close_round(self, index: int, view: RoundView) -> None:
        """Apply round.close at that log index: verdicts on work, and on the witnesses."""
        verdicts = view.verdicts()
        for slot, (verdict, reason) in verdicts.items():
            key = view.roster.members[slot].key
            record = self._record(key, index)
            if verdict is Verdict.ACCEPTED:
                record.judged, record.accepted_since = record.judged + 1, record.accepted_since + 1
                record.last_accepted = index
            elif (
                verdict is Verdict.REJECTED and view.count_accusers(slot, reason) >= LEAST_ACCUSERS
            ):
                record.judged += 1
                # A fault in the bytes is proven by a report with the piece that shows it, not by
                # the word of witnesses.
                if reason in MEASURED:
                    record.strikes.append((record.judged, index))
                    del record.strikes[:-STRIKE_ROUNDS]
                    record.accepted_since = 0
            self._move_later(self.links.holder(key))
        for slot, seen in view.proofs.items():
            key = view.roster.members[slot].key
            record = self._record(key, index)
            record.proofs += 1
            if proof.deviates(slot, seen, verdicts):
                record.deviations.append((record.proofs, index))
                del record.deviations[:-DEVIATION_PROOFS]
                self._move_later(self.links.holder(key))
        self._count_gains(index, view, verdicts)

    def _count_gains(self, index: int, view: RoundView, verdicts: proof.Verdicts) -> None:
        """Count the signs of the round's gains, where the run's other keys have clear ones."""
        pool = self.gains.setdefault(view.manifest.run_id, GainPool())
        signs = []
        for slot in view.gains.windows:
            is_positive = gain.is_positive(slot, view.elected, view.proofs)
            if is_positive is not None and verdicts[slot][0] is Verdict.ACCEPTED:
                windows = view.commitments[slot].header.window_count
                signs.append(GainSign(view.roster.members[slot].key, windows, is_positive))
        for sign in filter(pool.is_clear, signs):
            record = self._record(sign.key, index)
            record.gains.append((sign.is_positive, index))
            del record.gains[:-GAIN_ROUNDS]
        # Afterwards: of the same round, they would count for each other.
        pool.signs.extend(signs)

    def close_audits(
        self, index: int, outcomes: Iterable[AuditOutcome], present: Iterable[PeerKey]
    ) -> None:
        """Apply the audits that ended with the round.close at that log index.

        `present` are the keys that attested in the round. One that a trainer has replaced since,
        or that took its place, shows as well that the trainer was there.
        """
        holders = {self.links.holder(key) for key in present}
        for one in outcomes:
            if one.verdict is AuditVerdict.NOT_DONE:
                record = self._record(one.trainer, index)
                if record.standing not in EXCLUDED and record.fault is None:
                    record.fault = StandingCause.NOT_DONE, (*one.entries, index)
                    self._move_later(self.links.holder(one.trainer))
            # Of a computer that is off, nothing can be said.
            is_present = self.links.holder(one.trainer) in holders
            if one.verdict is AuditVerdict.WITHHELD and is_present:
                record = self._record(one.trainer, index)
                record.withheld.append((record.judged, index))
                del record.withheld[:-STRIKE_ROUNDS]
                record.accepted_since = 0
                self._move_later(self.links.holder(one.trainer))
            for auditor, entry in zip(one.auditors, one.entries, strict=True):
                record = self._record(auditor, index)
                record.audits += 1
                if auditor in one.contradicted:
                    record.contradictions.append((record.audits, entry, index))
                    del record.contradictions[:-STRIKE_ROUNDS]
                    record.accepted_since = 0
                    self._move_later(self.links.holder(auditor))

    def check_ready(self, key: PeerKey, ts: int) -> None:
        """Raise RefusedError("quarantined") if the key may not be ready at that time (ms)."""
        record = self.records.get(key)
        if record is None or record.standing not in EXCLUDED:
            return
        self.links.check(key)
        if record.standing is Standing.BANNED:
            raise RefusedError("quarantined", f"banned by entry {record.since}")
        if ts < record.until:
            raise RefusedError(
                "quarantined", f"quarantined until {record.until} ms by entry {record.since}"
            )

    def record_ready(self, key: PeerKey, index: int) -> None:
        """Record that a key whose term is over asks to return."""
        record = self.records.get(key)
        if record is not None and record.standing is Standing.QUARANTINED:
            record.ready_again = index
            self._move_later(key)

    def apply_appeal(self, index: int, statement: Statement, body: StandingAppeal) -> None:
        """Apply standing.appeal; raises RefusedError unless its author may appeal now."""
        record = self.records.get(statement.author)
        if record is None or record.standing not in EXCLUDED | {Standing.SUSPECTED}:
            raise RefusedError("wrong-standing", "the key is not restricted: no appeal is needed")
        if body.change != record.since:
            raise RefusedError(
                "wrong-standing", f"the standing follows from entry {record.since}: appeal that one"
            )
        if record.appeal is not None:
            raise RefusedError("already-said", f"appeal {record.appeal[0]} is still open")
        wait = record.appealed_ms + APPEAL_PAUSE_MS - statement.ts
        if record.appealed_ms and wait > 0:
            raise RefusedError("already-said", f"the next appeal is possible in {wait // 1000} s")
        record.appeal, record.appealed_ms = (index, statement.ts), statement.ts
        self._move_later(statement.author)

    def apply_ruling(
        self, index: int, statement: Statement, body: StandingRelease | StandingUphold
    ) -> None:
        """Apply standing.release or standing.uphold; raises RefusedError if it does not apply."""
        record = self._ruled(statement, body)
        record.appeal = None
        if isinstance(body, StandingRelease):
            if record.standing in LIFTED:
                # It was wrong, so it must not make a later quarantine a repeated one.
                record.convictions.pop()
            if record.standing is not Standing.ACTIVE:
                record.cause, record.evidence, record.until = None, (), 0
                _move(record, Standing.ACTIVE, index)
        elif body.to == "banned":
            _move(record, Standing.BANNED, index)

    def _ruled(
        self, statement: Statement, body: StandingRelease | StandingUphold
    ) -> StandingRecord:
        """Record of the key that organisers rule on; raises RefusedError if they may not."""
        record = self.records.get(key_from_text(body.peer))
        if record is None:
            raise RefusedError("not-found", f"no key {body.peer} is registered")
        self.links.check(key_from_text(body.peer))
        if isinstance(body, StandingRelease):
            if record.standing is Standing.ACTIVE and record.appeal is None:
                raise RefusedError("wrong-standing", f"{body.peer} is already active")
        elif body.to == "unchanged":
            if record.appeal is None and record.standing is not Standing.QUARANTINED:
                raise RefusedError(
                    "wrong-standing", f"{body.peer} is {record.standing}, and has no open appeal"
                )
        elif record.standing is not Standing.QUARANTINED:
            raise RefusedError(
                "wrong-standing", f"{body.peer} is {record.standing}, not quarantined"
            )
        elif _repeated(record, statement.ts) < BAN_QUARANTINES:
            raise RefusedError(
                "wrong-standing",
                f"{body.peer} has fewer than two quarantines in 180 days: a ban needs two",
            )
        return record

    def _due(self, key: PeerKey, ts: int) -> StandingChange | None:
        is_revoked = key in self._held
        record = self._held[key] if is_revoked else self.records[key]
        found: _Found | None = None
        if record.standing not in EXCLUDED:
            # Else a cheat would revoke its key before a verdict, and lose no points.
            found = _guilt(record)
            if not is_revoked:
                found = found or _suspicion(record) or _progress(record)
        elif record.standing is Standing.QUARANTINED and not is_revoked:
            found = _way_back(record, ts)
        if found is None:
            return None
        to, cause, evidence = found
        term = REPEATED_QUARANTINE_MS if _repeated(record, ts) else QUARANTINE_MS
        until = ts + term if to == "quarantined" else 0
        return StandingChange(
            peer=to_text(key),
            to=to,
            cause=int(cause),
            evidence=tuple(sorted(set(evidence)))[-EVIDENCE:],
            until=until,
        )


_Found = tuple[StandingName, StandingCause, tuple[int, ...]]

_STILL_APPEALED = frozenset(
    {
        (Standing.QUARANTINED, StandingCause.TERM_SERVED),
        (Standing.PROBATION, StandingCause.EARNED),
    }
)
"""Changes that leave an appeal against a quarantine open: its points are still lost."""


def _guilt(record: StandingRecord) -> _Found | None:
    """Quarantine that follows now."""
    if record.fault is not None:
        return ("quarantined", *record.fault)
    contradictions = tuple(at for at, _ in _contradictions(record))
    if len(contradictions) >= CONTRADICTIONS:
        return "quarantined", StandingCause.CONTRADICTIONS, contradictions
    withheld = _withheld(record)
    if len(withheld) >= WITHHOLDINGS:
        return "quarantined", StandingCause.WITHHELD, withheld
    return None


def _suspicion(record: StandingRecord) -> _Found | None:
    """Suspicion that follows now, the gravest first."""
    if record.standing not in (Standing.NEWCOMER, Standing.ACTIVE):
        return None
    # Settled later: a promotion between the report and its case must not hide it.
    contradictions = tuple(at for at, settled in _contradictions(record) if settled > record.since)
    if contradictions:
        return "suspected", StandingCause.CONTRADICTED, contradictions
    withheld = tuple(at for at in _withheld(record) if at > record.since)
    if withheld:
        return "suspected", StandingCause.WITHHELD, withheld
    strikes = [at for number, at in record.strikes if number > record.judged - STRIKE_ROUNDS]
    if strikes:
        return "suspected", StandingCause.STRIKE, tuple(strikes)
    recent = record.proofs - DEVIATION_PROOFS
    deviations = [at for number, at in record.deviations if number > recent]
    if len(deviations) >= DEVIATIONS:
        return "suspected", StandingCause.DEVIATION, tuple(deviations)
    return _low_gain(record)


def _low_gain(record: StandingRecord) -> _Found | None:
    """Suspicion that follows from many rounds in which the work helped on no windows of its own."""
    if len(record.gains) < GAIN_ROUNDS or 2 * _positive(record) > GAIN_ROUNDS:
        return None
    return "suspected", StandingCause.LOW_GAIN, tuple(at for _, at in record.gains)


def _has_returned(record: StandingRecord) -> bool:
    """Return whether a suspicion for low gains is over: accepted work alone is what it had."""
    if record.standing is not Standing.SUSPECTED or record.cause is not StandingCause.LOW_GAIN:
        return True
    return len(record.gains) >= GAIN_RETURN and 8 * _positive(record) > 5 * len(record.gains)


def _contradictions(record: StandingRecord) -> tuple[tuple[int, int], ...]:
    """Report and settlement of each that counts."""
    recent = record.audits - STRIKE_ROUNDS
    return tuple((at, settled) for number, at, settled in record.contradictions if number > recent)


def _withheld(record: StandingRecord) -> tuple[int, ...]:
    recent = record.judged - STRIKE_ROUNDS
    return tuple(at for number, at in record.withheld if number > recent)


def _progress(record: StandingRecord) -> _Found | None:
    """Promotion that accepted work has earned."""
    needed = PROBATION_WORK if record.standing is Standing.PROBATION else NEWCOMER_WORK
    if record.standing is Standing.ACTIVE or record.accepted_since < needed:
        return None
    if not _has_returned(record):
        return None
    return "active", StandingCause.EARNED, (record.last_accepted,)


def _positive(record: StandingRecord) -> int:
    """Number of the counted gains that were positive."""
    return sum(sign for sign, _ in record.gains)


def _way_back(record: StandingRecord, ts: int) -> _Found | None:
    """End of a quarantine without an organiser."""
    if record.ready_again is not None:
        return "probation", StandingCause.TERM_SERVED, (record.ready_again,)
    if record.appeal is not None and ts >= record.appeal[1] + APPEAL_MS:
        return "probation", StandingCause.UNANSWERED, (record.appeal[0],)
    return None


def _move(record: StandingRecord, to: Standing, index: int) -> None:
    """Begin a new standing and clear what led to it.

    Contradicted audits and withheld contributions are kept until they quarantine: the second one
    does, also after the first one's suspicion has ended.
    """
    record.standing, record.since, record.accepted_since = to, index, 0
    record.fault, record.ready_again = None, None
    record.deviations.clear()
    record.gains.clear()
    record.strikes.clear()
    if to in EXCLUDED:
        record.contradictions.clear()
        record.withheld.clear()


def _repeated(record: StandingRecord, ts: int) -> int:
    """Number of quarantines that began within `REPEAT_MS` before that time."""
    return sum(began > ts - REPEAT_MS for began in record.convictions)


CAUSE_TEXTS: Mapping[StandingCause, str] = MappingProxyType(
    {
        StandingCause.EARNED: "enough contributions were accepted",
        StandingCause.TWO_COMMITMENTS: "signed two different commitments for one round",
        StandingCause.TWO_STATEMENTS: "signed two different statements under one number",
        StandingCause.BAD_HEADER: "signed a contribution header that breaks a rule",
        StandingCause.BAD_PAYLOAD: "committed to bytes that break a rule",
        StandingCause.NOT_ELECTED: "signed a witness proof without having been elected",
        StandingCause.BAD_PROOF: "signed an invalid witness proof",
        StandingCause.UNREAD: "vouched for a contribution without having its bytes",
        StandingCause.STRIKE: "a contribution was far from the others, according to two witnesses",
        StandingCause.DEVIATION: "witness proofs were contradicted by the other witnesses",
        StandingCause.TERM_SERVED: "the term of a quarantine is over",
        StandingCause.UNANSWERED: "no organiser answered an appeal in time",
        StandingCause.FALSE_REPORT: "accused somebody of a fault that the evidence does not show",
        StandingCause.NOT_DONE: "a contribution was not the training that it claimed, as its "
        "auditors agree",
        StandingCause.CONTRADICTED: "an audit was contradicted by the other auditors",
        StandingCause.CONTRADICTIONS: "further audits were contradicted by the other auditors",
        StandingCause.WITHHELD: "was there, and did not open contributions to their auditors",
        StandingCause.LOW_GAIN: "contributions did not help more on their own windows than on "
        "others, according to the witnesses of many rounds",
    }
)
"""Each cause in words, for people: ledger and client use the same ones."""


def describe_cause(cause: int | None) -> str:
    """Cause in words; empty for a standing without a change, as after a registration."""
    if cause is None:
        return ""
    try:
        return CAUSE_TEXTS[StandingCause(cause)]
    except ValueError:
        return f"cause {cause}, which only a newer version of Tequio knows"
