"""A log read by an auditor: the network's view, and a finding for whatever does not follow.

`NetworkView` holds all rules. The fold adds what an audit needs beside them: which findings are
accusations and which only doubts, and what followed at which size of the log. Where a run breaks,
the fold reports how, and goes no further in that run; the standing of keys follows from all runs,
so from then on it is unsure. Entries about tiers make each other unsure in the same way, and
competitions rest on all of these. What does not fit where the fold is unsure may be right, and is
reported as missing, never as a mismatch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tequio_client.verify.report import AuditTotals, LogPlace, LogReport
from tequio_client.verify.source import DocumentSource, NotAvailableError
from tequio_shared import encoding, keys
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, digest_from_text, sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.tiers import TIER_BODIES
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.round import RoundView
from tequio_shared.served.folded import FoldedRows
from tequio_shared.served.snapshot import SnapshotComparison
from tequio_shared.served.state import State
from tequio_shared.statements.competitions import CompetitionBody
from tequio_shared.statements.network import (
    KeyRecovery,
    KeyRegister,
    KeyReplace,
    KeyRevoke,
    LogSnapshot,
    MemberName,
    MemberTeam,
    NameWithdraw,
    StandingChange,
    TeamDefine,
    TeamMember,
)
from tequio_shared.statements.runs import (
    AuditReport,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundRoster,
    RunOpen,
    RunRollback,
)
from tequio_shared.statements.statement import Body, Entry, Statement, signed_message, split_leaf

if TYPE_CHECKING:
    import msgspec

    from tequio_shared.network.audits import AuditOutcome

K = TypeVar("K")
T = TypeVar("T")
_COUNTED: Mapping[type[Body], str] = {
    StandingChange: "standing changes",
    RoundClose: "rounds closed",
    RunRollback: "rollbacks of runs",
    HeadMeasure: "measures of heads",
    LogSnapshot: "snapshots",
}
UNKNOWN_STANDING = "how keys stand follows from a run that could not be folded to its end"
UNKNOWN_TIERS = "who was let in follows from entries that could not be read or do not fit"
UNKNOWN_BASIS = "what it follows from could not be folded to its end"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadEntry:
    """An entry of a type that this version does not know; `seq` and `prev` are None if unreadable.

    Its leaf begins with keys and signatures over the statement's bytes, whatever a later version
    writes, so nobody can forge such an entry of another key to make an audit doubt its fold.
    """

    signatures: tuple[tuple[PeerKey, bytes], ...]
    raw: bytes
    seq: int | None
    prev: str | None

    @classmethod
    def parse(cls, leaf: bytes) -> UnreadEntry:
        """Read the signatures; raises MalformedError."""
        signatures, raw = split_leaf(leaf)
        tree = encoding.parse(raw, STATEMENT_BYTES)
        fields = tree if isinstance(tree, dict) else {}
        seq, prev = fields.get("seq"), fields.get("prev")
        return cls(
            signatures=signatures,
            raw=raw,
            seq=seq if type(seq) is int else None,
            prev=prev if isinstance(prev, str) else None,
        )

    @property
    def author(self) -> PeerKey:
        return self.signatures[0][0]

    def verify(self, net: NetworkId) -> None:
        """Return if every signature holds in this network; raises SignatureInvalidError."""
        message = signed_message(net, self.raw)
        for key, signature in self.signatures:
            keys.verify(key, signature, message)


@dataclass(slots=True)
class AuditCounts:
    """Audits by repeated training in one run, so far."""

    repeated: set[str] = field(default_factory=set)
    """Ids of the contributions."""
    reports: int = 0
    declined: int = 0
    verdicts: Counter[AuditVerdict] = field(default_factory=Counter)
    contradicted: int = 0

    def record_report(self, body: AuditReport) -> None:
        if body.declines:
            self.declined += 1
            return
        self.reports += 1
        self.repeated.add(body.contribution)

    def record_outcome(self, outcome: AuditOutcome) -> None:
        if outcome.verdict is not None:
            self.verdicts[outcome.verdict] += 1
        self.contradicted += len(outcome.contradicted)


@dataclass(slots=True, kw_only=True)
class RunHistory:
    """One run: its view, and what happened that later checks need."""

    view: FullRunView
    closed: dict[int, AcceptedSet] = field(default_factory=dict)  # by number of the round
    promoted: list[tuple[int, Head]] = field(default_factory=list)  # with log index
    measures: dict[int, dict[PeerKey, tuple[int, HeadMeasure]]] = field(default_factory=dict)
    """Members' measures of the head of a round, with log index."""
    audits: AuditCounts = field(default_factory=AuditCounts)
    is_broken: bool = False
    lacks_something: bool = False
    """True if it could not be judged further, rather than found wrong."""

    def record(self, index: int, statement: Statement) -> None:
        head, number = self.view.head, statement.round or 0
        match statement.body:
            case RoundClose():
                self._record_close(index)
            case HeadMeasure() as body:
                self.measures.setdefault(number, {})[statement.author] = index, body
            case AuditReport() as body:
                self.audits.record_report(body)
            case HeadPromote() if head is not None:
                self.promoted.append((index, head))

    def _record_close(self, index: int) -> None:
        current = self.view.round
        if current is None:
            raise AssertionError("a round was closed that was never begun")
        if current.is_training:
            self.closed[current.number] = current.accepted_set(index)
        for outcome in self.view.settled:
            self.audits.record_outcome(outcome)


class Fold:
    """Folds the log's leaves in order, and reports what is wrong with them."""

    def __init__(self, genesis: Genesis, source: DocumentSource, report: LogReport) -> None:
        self.view = State(genesis, self._document)
        self.rows = FoldedRows(self.view)
        self._snapshots = SnapshotComparison(self.view)
        self.runs: dict[RunId, RunHistory] = {}
        self.unvouched = 0
        """Rosters of which nothing can be said, as something that they rest on is missing."""
        self.followed: Counter[str] = Counter()
        """Number of statements that follow, by competition."""
        self.before_entry: Callable[[int, Entry], None] = lambda _, __: None
        """Called with each entry whose author may make it, before it changes the view."""
        self.is_standing_unsure = False
        self.are_tiers_unsure = False
        self._lacks_document = False  # one that a competition rests on
        self._source = source
        self._report = report

    def apply(self, index: int, leaf: bytes) -> None:
        try:
            entry = Entry.parse(leaf)
        except RefusedError as err:
            self._fold_unread(index, leaf, err)
        except MalformedError as err:
            self._report.mismatch("entry", LogPlace(entry=index), str(err))
            self.is_standing_unsure = self.are_tiers_unsure = True
        else:
            self._fold(index, entry)
        self.rows.size = index + 1
        self._snapshots.record(index + 1)

    def audit_totals(self) -> AuditTotals:
        """Sum up the audits and points of all runs, as far as they were folded; O(members)."""
        counts = [history.audits for history in self.runs.values()]
        earned = [
            one for history in self.runs.values() for one in history.view.accounts.earned.values()
        ]
        unvested = sum(one.unvested for one in earned)
        return AuditTotals(
            repeated=sum(len(one.repeated) for one in counts),
            reports=sum(one.reports for one in counts),
            declined=sum(one.declined for one in counts),
            not_done=sum(one.verdicts[AuditVerdict.NOT_DONE] for one in counts),
            withheld=sum(one.verdicts[AuditVerdict.WITHHELD] for one in counts),
            contradicted=sum(one.contradicted for one in counts),
            vested=sum(one.gflop for one in earned) - unvested,
            unvested=unvested,
            forfeited=sum(one.forfeited for one in earned),
        )

    def _fold(self, index: int, entry: Entry) -> None:
        statement = entry.statement
        place = place_of(index, statement)
        try:
            self.view.check(index, entry)
            entry.verify(self.view.net)
        except (RefusedError, PeerError) as err:
            self._report.mismatch(f"{statement.type} statement", place, _described(err))
            self._break(statement)
            self.are_tiers_unsure |= statement.run is None
            self.view.skip_statement(index, statement)
            return
        self._report.checked["signatures"] += len(entry.signatures)
        self.before_entry(index, entry)
        if statement.run is None:
            self._fold_of_network(index, entry, place)
        else:
            self._fold_of_run(index, entry, statement.run, place)

    # --- entries of a type that only a later version knows

    def _fold_unread(self, index: int, leaf: bytes, unknown: RefusedError) -> None:
        """Pass over such an entry; one of the keys in office may change what we fold."""
        try:
            entry = UnreadEntry.parse(leaf)
            place = LogPlace(entry=index, peer=to_text(entry.author))
            is_known = self._extend_unread(index, entry)
        except (RefusedError, PeerError) as err:
            self._report.mismatch("entry", LogPlace(entry=index), _described(err))
            return
        self._report.missing("entry", place, f"{unknown}: a newer tequio knows it")
        if is_known and entry.author in self.view.founders | set(self.view.tiers.connectors):
            self.is_standing_unsure = self.are_tiers_unsure = True

    def _extend_unread(self, index: int, entry: UnreadEntry) -> bool:
        """Extend its author's chain; False if nobody knows the author.

        Raises RefusedError or SignatureInvalidError if it holds in no version.
        """
        entry.verify(self.view.net)
        chain = self.view.peers.get(entry.author)
        if chain is None:
            return False
        self.view.extend_chain(index, entry.author, entry.seq or chain.seq, sha256(entry.raw))
        is_later = entry.seq is None or entry.seq > chain.seq
        if not is_later or entry.prev not in (None, to_text(chain.last)):
            raise RefusedError("seq-gap", "it does not continue its author's chain")
        return True

    def _count(self, statement: Statement) -> None:
        counted = _COUNTED.get(type(statement.body))
        if counted is not None:
            self._report.checked[counted] += 1
        elif isinstance(statement.body, CompetitionBody):
            self._report.checked["statements about competitions"] += 1
            self.followed[statement.body.competition] += 1

    # --- entries about the network

    def _fold_of_network(self, index: int, entry: Entry, place: LogPlace) -> None:
        statement = entry.statement
        try:
            self.view.apply_checked(index, entry, 0)
        except NotAvailableError as err:
            self._lacks_document = True
            self._report.missing(f"document of {statement.type}", place, str(err))
            self.view.skip_statement(index, statement)
        except RefusedError as err:
            self._report_refused(statement, place, err)
            self.view.skip_statement(index, statement)
        else:
            self._count(statement)
            if isinstance(statement.body, LogSnapshot):
                self._compare_snapshot(place, statement.body)

    def _compare_snapshot(self, place: LogPlace, body: LogSnapshot) -> None:
        due = self._snapshots.differs(body)
        if due is None:
            return
        detail = f"the state after {body.size} entries is another one"
        if self._is_unsure():
            self._report.missing("snapshot", place, UNKNOWN_BASIS)
        else:
            self._report.mismatch(
                "snapshot", place, detail, expected=to_text(due), found=body.state
            )

    def _report_refused(self, statement: Statement, place: LogPlace, err: RefusedError) -> None:
        """Report it as wrong, or as doubtful where what it rests on is unsure."""
        match statement.body:
            case body if isinstance(body, CompetitionBody):
                doubt = UNKNOWN_BASIS if self.are_competitions_unsure else ""
            case body if isinstance(body, (*TIER_BODIES, KeyRegister)):
                doubt = UNKNOWN_TIERS if self.are_tiers_unsure else ""
                self.are_tiers_unsure = True
            case KeyReplace() | KeyRevoke() | KeyRecovery():  # an end moves tiers and standings
                doubt = UNKNOWN_TIERS if self.are_tiers_unsure else ""
                self.is_standing_unsure = self.are_tiers_unsure = True
            case MemberName() | MemberTeam() | TeamDefine() | TeamMember() | NameWithdraw():
                # nothing rests on names and teams but other names and teams
                doubt = UNKNOWN_STANDING if self.is_standing_unsure else ""
            case _:
                doubt = UNKNOWN_STANDING if self.is_standing_unsure else ""
                self.is_standing_unsure = True
        what = f"{statement.type} statement"
        if doubt:
            self._report.missing(what, place, doubt)
        else:
            self._report.mismatch(what, place, _described(err))

    # --- entries about a run

    def _fold_of_run(self, index: int, entry: Entry, run: RunId, place: LogPlace) -> None:
        statement, history = entry.statement, self.runs.get(run)
        if history is not None and history.is_broken and not isinstance(statement.body, RunOpen):
            self.view.skip_statement(index, statement)
        elif self._follows(index, entry, history, place):
            if history is None:
                history = self.runs[run] = RunHistory(view=self.view.runs[run])
            history.record(index, statement)
            self.rows.record(index, statement)
            self._count(statement)
        else:
            self.view.skip_statement(index, statement)
        if history is not None and history.lacks_something:
            self.unvouched += isinstance(statement.body, RoundRoster)

    def _follows(
        self, index: int, entry: Entry, history: RunHistory | None, place: LogPlace
    ) -> bool:
        """False if the entry breaks the run; the report says why."""
        statement = entry.statement
        current = None if history is None else history.view.round
        try:
            self.view.apply_checked(index, entry, 0)
        except NotAvailableError as err:
            opens = isinstance(statement.body, RunOpen)
            what = "manifest" if opens else f"document of {statement.type}"
            self._report.missing(what, place, str(err))
            lacks_something = True
        except (RefusedError, PeerError) as err:
            lacks_something = self._report_broken(place, statement, err)
        else:
            return True
        if history is not None:
            history.lacks_something = lacks_something
            self._break(statement)
        if isinstance(statement.body, RoundClose) and current is not None and not lacks_something:
            self._explain_close(place, statement.body, current)
        return False

    def _report_broken(self, place: LogPlace, statement: Statement, err: TequioError) -> bool:
        """Report it; whether it cannot be judged, as something else is missing."""
        what = f"{statement.type} statement"
        if self._is_unsure() and isinstance(err, RefusedError) and err.code == "wrong-roster":
            self._report.missing(what, place, UNKNOWN_STANDING)
            return True
        self._report.mismatch(what, place, _described(err))
        return False

    def _break(self, statement: Statement) -> None:
        """Stop folding a run in which a statement does not hold or cannot be judged."""
        if statement.run in self.runs:
            self.runs[statement.run].is_broken = True
        self.is_standing_unsure = True

    def _explain_close(self, place: LogPlace, body: RoundClose, current: RoundView) -> None:
        """Report in which rows and fields a refused close differs from what the proofs say."""
        try:
            stated = RoundResult.parse(self._document(digest_from_text(body.result)))
        except TequioError:
            return  # reported already
        times = {slot: row.ms for slot, row in enumerate(stated.slots)}
        due = current.result(dict.fromkeys(current.commitments, 0) | times)
        for slot, (own, other) in enumerate(zip(due.slots, stated.slots, strict=False)):
            peer = current.roster.members[slot].peer
            spot = LogPlace(entry=place.entry, run=place.run, round=place.round, peer=peer)
            self._report_differences(f"result, slot {slot}", spot, own, other)
        self._report_differences("round.close", place, current.closing(stated), body)

    def _report_differences(
        self, what: str, place: LogPlace, due: msgspec.Struct, stated: msgspec.Struct
    ) -> None:
        names = due.__struct_fields__
        pairs = {name: (getattr(due, name), getattr(stated, name)) for name in names}
        self._report.compare(what, place, "", pairs)

    @property
    def are_competitions_unsure(self) -> bool:
        """True if something that a competition rests on could not be folded."""
        return self._lacks_document or self._is_unsure()

    def _is_unsure(self) -> bool:
        return self.is_standing_unsure or self.are_tiers_unsure

    def _document(self, name: Digest) -> bytes:
        """Get a document; raises NotAvailableError, and MalformedError when it is another one."""
        document = self._source.blob(name)
        if document is None:
            raise NotAvailableError(f"the ledger does not have the document {to_text(name)}")
        if sha256(document) != name:
            raise MalformedError(
                f"the document {to_text(name)} comes with the hash {to_text(sha256(document))}"
            )
        self._report.checked["documents"] += 1
        return document


def place_of(index: int, statement: Statement) -> LogPlace:
    return LogPlace(
        entry=index,
        run=to_text(statement.run) if statement.run is not None else None,
        round=statement.round,
        peer=to_text(statement.author),
    )


def _described(err: TequioError) -> str:
    return f"{err.code}: {err}" if isinstance(err, RefusedError) else str(err)
