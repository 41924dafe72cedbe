"""A log read by an auditor: the network's view, and a finding for whatever does not follow.

`NetworkView` holds all rules. The fold adds what an audit needs beside them: which findings are
accusations and which only doubts, and what followed at which size of the log. Where a run breaks,
the fold reports how, and goes no further in that run; the standing of keys follows from all runs,
so from then on it is unsure. Entries about tiers make each other unsure in the same way, and
competitions rest on all of these. What does not fit where the fold is unsure may be right, and is
reported as missing, never as a mismatch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from tequio_client.verify.report import AuditReport, LogPlace
from tequio_client.verify.source import DocumentSource, NotAvailableError
from tequio_shared import encoding, keys
from tequio_shared.api.peers import StandingAnswer, TierAnswer
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, digest_from_text, sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.network import conduct
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import FullRunView
from tequio_shared.network.standing import KeyStatus, describe_cause
from tequio_shared.network.tiers import TIER_BODIES, Tiers
from tequio_shared.network_view import AuthorChain, NetworkView
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.round import AcceptedSet, Head, RoundView, accepted_set
from tequio_shared.statements.competitions import CompetitionBody
from tequio_shared.statements.network import KeyRegister, MemberTeam, StandingChange
from tequio_shared.statements.runs import HeadMeasure, HeadPromote, RoundClose, RoundRoster, RunOpen
from tequio_shared.statements.statement import Body, Entry, Statement, signed_message, split_leaf

if TYPE_CHECKING:
    import msgspec

K = TypeVar("K")
T = TypeVar("T")
_COUNTED: Mapping[type[Body], str] = {
    StandingChange: "standing changes",
    RoundClose: "rounds closed",
    HeadMeasure: "measures of heads",
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


class ValueTimeline(Generic[K, T]):
    """Values by key as the log grew: what followed for a key in the log of any size."""

    def __init__(self) -> None:
        self._values: defaultdict[K, list[tuple[int, T]]] = defaultdict(list)

    @property
    def keys(self) -> list[K]:
        return list(self._values)

    def record(self, key: K, index: int, value: T) -> None:
        self._values[key].append((index, value))

    def at(self, key: K, size: int) -> T | None:
        """The value in the log of that size; None before the first one. Costs a bisection."""
        values = self._values.get(key, [])
        at = bisect_right(values, size - 1, key=lambda one: one[0])
        return values[at - 1][1] if at else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Due answer of the ledger about a run, in the words of the API."""

    state: str
    round: int
    head: str | None
    head_round: int | None
    weights_root: str | None


@dataclass(slots=True, kw_only=True)
class RunHistory:
    """One run: its view, and what happened that later checks need."""

    view: FullRunView
    closed: dict[int, AcceptedSet] = field(default_factory=dict)  # by number of the round
    promoted: list[tuple[int, Head]] = field(default_factory=list)  # with log index
    measures: dict[int, dict[PeerKey, tuple[int, HeadMeasure]]] = field(default_factory=dict)
    """Members' measures of the head of a round, with log index."""
    facts: ValueTimeline[RunId, RunFacts] = field(default_factory=ValueTimeline)
    points: ValueTimeline[PeerKey, int] = field(default_factory=ValueTimeline)
    """Micro-points of each key in all."""
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
            case HeadPromote() if head is not None:
                self.promoted.append((index, head))
        run = self.view.manifest.run_id
        self.facts.record(
            run,
            index,
            RunFacts(
                state=self.view.state.value,
                round=self.view.number,
                head=to_text(head.hash) if head else None,
                head_round=head.round if head else None,
                weights_root=to_text(head.weights_root) if head else None,
            ),
        )

    def _record_close(self, index: int) -> None:
        current = self.view.round
        if current is None:
            raise AssertionError("a round was closed that was never begun")
        self.closed[current.number] = accepted_set(index, current)
        for key in current.slot_of:
            earned = self.view.accounts.earned[key]
            self.points.record(key, index, earned.trainer + earned.witness)


class Fold:
    """Folds the log's leaves in order, and reports what is wrong with them."""

    def __init__(self, genesis: Genesis, source: DocumentSource, report: AuditReport) -> None:
        self.view = NetworkView(genesis, self._document)
        self.runs: dict[RunId, RunHistory] = {}
        self.unvouched = 0
        """Rosters of which nothing can be said, as something that they rest on is missing."""
        self.followed: Counter[str] = Counter()
        """Number of statements that follow, by competition."""
        self.chains: ValueTimeline[PeerKey, AuthorChain] = ValueTimeline()
        self.standings: ValueTimeline[PeerKey, StandingAnswer] = ValueTimeline()
        self.tiers: ValueTimeline[PeerKey, TierAnswer] = ValueTimeline()
        self.is_standing_unsure = False
        self.are_tiers_unsure = False
        self._lacks_document = False  # one that a competition rests on
        self._source = source
        self._report = report
        for key in self.view.founders:
            self.chains.record(key, -1, self.view.peers[key])
            self.standings.record(key, 0, standing_answer(self.view.standings, key))

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
            author = entry.statement.author
            self.chains.record(author, index, self.view.peers[author])

    def tier_at(self, key: PeerKey, size: int) -> TierAnswer:
        """Tier and owner of the key in the log of that size, in the words of the API."""
        return self.tiers.at(key, size) or tier_answer(Tiers(founders=self.view.founders), key)

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
        self.chains.record(entry.author, index, self.view.peers[entry.author])
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
        changed = list(self.view.tiers.subjects(entry))
        try:
            self.view.apply_checked(index, entry, 0)
        except NotAvailableError as err:
            self._lacks_document = True
            self._report.missing(f"document of {statement.type}", place, str(err))
            self.view.skip_statement(index, statement)
            changed = []
        except RefusedError as err:
            self._report_refused(statement, place, err)
            self.view.skip_statement(index, statement)
            changed = []
        else:
            self._count(statement)
        for key in changed:
            self.tiers.record(key, index, tier_answer(self.view.tiers, key))
        subject = conduct.subject(statement)
        if subject is not None and subject in self.view.standings.records:
            self.standings.record(subject, index, standing_answer(self.view.standings, subject))

    def _report_refused(self, statement: Statement, place: LogPlace, err: RefusedError) -> None:
        """Report it as wrong, or as doubtful where what it rests on is unsure."""
        match statement.body:
            case body if isinstance(body, CompetitionBody):
                doubt = UNKNOWN_BASIS if self._lacks_document or self._is_unsure() else ""
            case body if isinstance(body, (*TIER_BODIES, KeyRegister)):
                doubt = UNKNOWN_TIERS if self.are_tiers_unsure else ""
                self.are_tiers_unsure = True
            case MemberTeam():  # rests on the author's own statements, and nothing rests on it
                doubt = ""
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


def standing_answer(standings: KeyStatus, key: PeerKey) -> StandingAnswer:
    """Standing of a registered key, in the words of the API."""
    record = standings.records[key]
    return StandingAnswer(
        standing=str(record.standing),
        since=record.since,
        cause=None if record.cause is None else int(record.cause),
        why=describe_cause(record.cause),
        evidence=record.evidence,
        until=record.until,
        appeal=None if record.appeal is None else record.appeal[0],
    )


def tier_answer(tiers: Tiers, key: PeerKey) -> TierAnswer:
    word = tiers.highest(key)
    return TierAnswer(
        tier=int(word.tier),
        owner=to_text(word.owner),
        run=None if word.run is None else to_text(word.run),
        until=word.until,
        since=word.since,
    )


def _described(err: TequioError) -> str:
    return f"{err.code}: {err}" if isinstance(err, RefusedError) else str(err)
