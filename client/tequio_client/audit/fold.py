"""The log folded into runs: rosters, beacons, committees, quorums, results and points, anew.

Every run is folded by `RunView`, whole, which takes no coordinator's statement that does not
follow. Where a run breaks, the fold says how and goes no further in that run. How keys stand
(`conduct`) follows from all runs, who is behind them (`entrance`) from what organisers and
connectors said, and rosters follow from both.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_client.audit.chains import Chains
from tequio_client.audit.conduct import UNSURE, Conduct
from tequio_client.audit.contests import Contests
from tequio_client.audit.entrance import Entrance
from tequio_client.audit.unread import Unread
from tequio_client.verify.report import Place
from tequio_client.verify.source import NotAvailableError
from tequio_shared.accepted import accepted_set
from tequio_shared.competition_gate import Network
from tequio_shared.documents import Result
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, sha256, to_text
from tequio_shared.manifest import Manifest
from tequio_shared.run import RunView, first_head
from tequio_shared.run_documents import needed_document
from tequio_shared.statement import Entry
from tequio_shared.statements.rounds import HeadMeasure, HeadPromote, RoundClose, RoundRoster
from tequio_shared.statements.runs import RunOpen

if TYPE_CHECKING:
    from tequio_client.verify.report import Report
    from tequio_client.verify.source import DocumentSource
    from tequio_shared.accepted import AcceptedSet
    from tequio_shared.genesis import Genesis
    from tequio_shared.round import Head, RoundView
    from tequio_shared.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run right after log index `index`, in the words of the API."""

    index: int
    state: str
    round: int
    head: str | None
    head_round: int | None
    weights_root: str | None


@dataclass(slots=True, kw_only=True)
class RunHistory:
    """One run: its view, and what happened that later checks need."""

    view: RunView
    closed: dict[int, AcceptedSet] = field(default_factory=dict)  # by number of the round
    promoted: list[tuple[int, Head]] = field(default_factory=list)  # with log index
    standings: list[Standing] = field(default_factory=list)
    measures: dict[int, dict[PeerKey, tuple[int, HeadMeasure]]] = field(default_factory=dict)
    """What members measured of the head of a round, with log index."""
    points: dict[PeerKey, list[tuple[int, int]]] = field(default_factory=dict)  # (index, total)
    is_broken: bool = False
    lacks_something: bool = False
    """Whether it could not be judged further, rather than found wrong."""

    def standing_at(self, size: int) -> Standing | None:
        """Find how the run stood in the log of that size."""
        at = bisect_right(self.standings, size - 1, key=lambda one: one.index)
        return self.standings[at - 1] if at else None

    def points_at(self, key: PeerKey, size: int) -> int:
        """Find the micro-points of a key in the log of that size."""
        totals = self.points.get(key, [])
        at = bisect_right(totals, size - 1, key=lambda one: one[0])
        return totals[at - 1][1] if at else 0


class Fold:
    """Takes the log's leaves in order; `runs` and `chains` are what follows from them."""

    def __init__(self, genesis: Genesis, source: DocumentSource, report: Report) -> None:
        self.net = genesis.network_id
        self.chains = Chains(genesis)
        self.unvouched = 0
        """Rosters of which nothing can be said, as something that they rest on is missing."""
        self._in_office = {genesis.coordinator_key, *genesis.organiser_keys}
        self.runs: dict[RunId, RunHistory] = {}
        self.conduct = Conduct(genesis, report, self._round_of)
        self.entrance = Entrance(genesis, report, self.conduct.standings.records)
        self._source = source
        self._report = report
        network = Network(
            documents=self._document,
            run=self._view_of,
            standings=self.conduct.standings,
            tiers=self.entrance.tiers,
            organisers=genesis.organiser_keys,
        )
        self.contests = Contests(report, network, self._is_unsure)

    def take(self, index: int, leaf: bytes) -> None:
        """Take the next leaf; all that is wrong with it goes into the report."""
        entry = self._parse(index, leaf)
        if entry is None:
            return
        place = place_of(index, entry.statement)
        try:
            self.chains.take(index, entry)
        except (RefusedError, PeerError) as err:
            self._report.mismatch(f"{entry.statement.type} statement", place, _say(err))
            self._break(entry.statement)
            self.entrance.is_unsure |= entry.statement.run is None
            return
        self._report.checked["signatures"] += len(entry.signatures)
        if entry.statement.run is not None:
            self._take_run(index, entry.statement)
        elif not self.contests.take(index, entry.statement, place) and not self.entrance.take(
            index, entry, place
        ):
            self.conduct.take(index, entry.statement, place)

    def _is_unsure(self) -> bool:
        return self.conduct.is_unsure or self.entrance.is_unsure

    def _view_of(self, run: RunId) -> RunView | None:
        history = self.runs.get(run)
        return None if history is None else history.view

    def _round_of(self, run: RunId) -> RoundView | None:
        history = self.runs.get(run)
        return None if history is None else history.view.round

    def _parse(self, index: int, leaf: bytes) -> Entry | None:
        try:
            return Entry.parse(leaf)
        except RefusedError as err:
            self._take_unread(index, leaf, err)
        except MalformedError as err:
            self._report.mismatch("entry", Place(entry=index), str(err))
            self.conduct.is_unsure = self.entrance.is_unsure = True
        return None

    def _take_unread(self, index: int, leaf: bytes, unknown: RefusedError) -> None:
        """Take an entry of an unknown type; one of those in office may change what we fold."""
        try:
            entry = Unread.parse(leaf)
            place = Place(entry=index, peer=to_text(entry.author))
            is_known = self.chains.take_unread(index, entry)
        except (RefusedError, PeerError) as err:
            self._report.mismatch("entry", Place(entry=index), _say(err))
            return
        self._report.missing("entry", place, f"{unknown}: a newer tequio knows it")
        if is_known and entry.author in self._in_office | set(self.entrance.tiers.connectors):
            self.conduct.is_unsure = self.entrance.is_unsure = True

    def _take_run(self, index: int, statement: Statement) -> None:
        run = statement.run
        if run is None:
            return
        if isinstance(statement.body, RunOpen):
            self._open(index, statement, statement.body)
        history = self.runs.get(run)
        if history is None:
            self._report.mismatch(
                f"{statement.type} statement", place_of(index, statement), "no such run is open"
            )
        elif not history.is_broken:
            self._fold(index, statement, history)
        if history is not None and history.lacks_something:
            self.unvouched += isinstance(statement.body, RoundRoster)

    def _open(self, index: int, statement: Statement, body: RunOpen) -> None:
        place = place_of(index, statement)
        try:
            manifest = Manifest.parse(self._document(digest_from_text(body.manifest)))
            _check_opening(statement, body, manifest, self.runs)
        except NotAvailableError as err:
            self._report.missing("manifest", place, str(err))
            return
        except (RefusedError, PeerError) as err:
            self._report.mismatch("run.open statement", place, _say(err))
            return
        view = RunView.opened(self.net, manifest, self.conduct.standings, self.entrance.tiers)
        self.runs[manifest.run_id] = RunHistory(view=view)

    def _fold(self, index: int, statement: Statement, history: RunHistory) -> None:
        place, current = place_of(index, statement), history.view.round
        try:
            name = needed_document(statement)
            document = self._document(name) if name else b""
            history.view.apply(index, statement, 0, lambda _: document)
        except NotAvailableError as err:
            self._report.missing(f"document of {statement.type}", place, str(err))
            history.lacks_something = True
            self._break(statement)
        except (RefusedError, PeerError) as err:
            history.lacks_something = self._tell_broken(place, statement, err)
            self._break(statement)
            if isinstance(statement.body, RoundClose) and current is not None:
                self._explain_close(place, statement.body, current)
        else:
            self._remember(index, statement, history)

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

    def _remember(self, index: int, statement: Statement, history: RunHistory) -> None:
        view = history.view
        match statement.body:
            case RoundClose():
                self._report.checked["rounds closed"] += 1
                _remember_close(index, history)
            case HeadMeasure() as body:
                self._report.checked["measures of heads"] += 1
                of_head = history.measures.setdefault(statement.round or 0, {})
                of_head[statement.author] = index, body
            case HeadPromote() if view.head is not None:
                history.promoted.append((index, view.head))
        head = view.head
        history.standings.append(
            Standing(
                index=index,
                state=view.state.value,
                round=view.number,
                head=to_text(head.hash) if head else None,
                head_round=head.round if head else None,
                weights_root=to_text(head.weights_root) if head else None,
            )
        )

    def _tell_broken(self, place: Place, statement: Statement, err: TequioError) -> bool:
        """Report it; say whether it cannot be judged, for something else is missing."""
        what = f"{statement.type} statement"
        if self._is_unsure() and isinstance(err, RefusedError) and err.code == "wrong-roster":
            self._report.missing(what, place, UNSURE)
            return True
        self._report.mismatch(what, place, _say(err))
        return False

    def _break(self, statement: Statement) -> None:
        """Stop folding a run in which a statement does not hold or cannot be judged."""
        if statement.run in self.runs:
            self.runs[statement.run].is_broken = True
        self.conduct.is_unsure = True

    def _explain_close(self, place: Place, body: RoundClose, current: RoundView) -> None:
        """Say in which rows and fields a refused close differs from what the proofs say."""
        try:
            stated = Result.parse(self._document(digest_from_text(body.result)))
        except TequioError:
            return  # said already
        times = {slot: row.ms for slot, row in enumerate(stated.slots)}
        due = current.result(dict.fromkeys(current.commitments, 0) | times)
        for slot, (own, other) in enumerate(zip(due.slots, stated.slots, strict=False)):
            peer = current.roster.members[slot].peer
            spot = Place(entry=place.entry, run=place.run, round=place.round, peer=peer)
            for name in own.__struct_fields__:
                expected, found = getattr(own, name), getattr(other, name)
                if expected != found:
                    what = f"result, slot {slot}, {name}"
                    self._report.mismatch(what, spot, expected=expected, found=found)
        closing = current.closing(stated)
        for name in closing.__struct_fields__:
            expected, found = getattr(closing, name), getattr(body, name)
            if expected != found:
                self._report.mismatch(f"round.close, {name}", place, expected=expected, found=found)


def place_of(index: int, statement: Statement) -> Place:
    """Name the place of an entry: its index, run and round, and who said it."""
    return Place(
        entry=index,
        run=to_text(statement.run) if statement.run is not None else None,
        round=statement.round,
        peer=to_text(statement.author),
    )


def _say(err: TequioError) -> str:
    return f"{err.code}: {err}" if isinstance(err, RefusedError) else str(err)


def _check_opening(
    statement: Statement, body: RunOpen, manifest: Manifest, runs: dict[RunId, RunHistory]
) -> None:
    if statement.run in runs:
        raise RefusedError("wrong-state", "the run was open before")
    if manifest.run_id != statement.run:
        raise RefusedError("malformed", "the run id is not the manifest's digest")
    if digest_from_text(body.head) != Digest(first_head(manifest).hash):
        raise RefusedError("wrong-head", "the head is not what the manifest starts from")


def _remember_close(index: int, history: RunHistory) -> None:
    current, accounts = history.view.round, history.view.accounts
    if current is None or accounts is None:
        return
    history.closed[current.number] = accepted_set(index, current)
    for key in current.slot_of:
        earned = accounts.earned[key]
        history.points.setdefault(key, []).append((index, earned.trainer + earned.witness))
