"""Joining a run: find it, fetch its documents, and choose where to start reading its log.

The ledger's lists are hints, as for `catch_up`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
import trio

from tequio_client.clock import BackOff
from tequio_client.ipc import trainer as link
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import read_entries
from tequio_client.names import matches_name_or_id, name_with_id
from tequio_client.worker.lending.needs import FEEDBACK_FILES, contribution_bytes
from tequio_client.worker.node import Node
from tequio_client.worker.rounds.catch_up import (
    LOST,
    MAX_ENTRIES,
    TRANSIENT,
    WorkOutcome,
    add_past_draws,
    outcome_of,
    promoted_head,
    read_statement,
    view_before,
)
from tequio_client.worker.rounds.feedback import ErrorFeedback, remove_ended
from tequio_client.worker.rounds.workdir import RecordedHeads
from tequio_client.worker.store.store import StorePins
from tequio_client.worker.store.trees import TreeRef, head_refs
from tequio_shared.api.peers import AttendedAnswer
from tequio_shared.api.runs import ResumeAnswer, RollbackAnswer, RoundAnswer, RunAnswer
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.chain import Head, NextHead
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.head.head import set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, NetworkId, RunId, digest_from_text, to_text
from tequio_shared.network import rollback
from tequio_shared.network.run import RunView, first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.documents import Roster, RoundResult
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.proof import Verdict
from tequio_shared.statements.runs import RoundClose, RoundOpen, RoundRoster, RunNotice
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

MAX_REPLAYED = 32
"""Most closed rounds that are replayed; the worker remembers no more accepted sets."""
MAX_ROUNDS = 128
"""Most rounds considered, void ones included."""
ENTRY_BYTES = 700
"""Typical size of a log entry with its documents, to weigh the cost of reading on."""
PROBE_S = 8.0
"""Seconds spent asking for the present head before an older one will do."""
POLL_S = 0.5
MAX_PEERS = 16
"""Most peers asked at a time."""
BEFORE_OPENING = 64
"""Entries read at a time, back from a round's opening, to find the promotion of its head."""
JOINING_POLL_S = 2.0
FINISHED = "finished"
CLOSED = "closed"
FEEDBACK_FOLDER = "feedback"
MAX_WRONG_ANSWERS = 3
"""Wrong answers from the ledger before the work counts as not accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUpRounds:
    """Rounds whose heads the run went back from, as the ledger lists them: a hint, no more.

    A worker that catches up need not compute or fetch these heads.
    """

    rollbacks: tuple[RollbackAnswer, ...] = ()
    """The oldest first."""
    upto: int = 0
    """The last round when the ledger was asked."""

    @classmethod
    def of(cls, answer: RunAnswer) -> GivenUpRounds:
        return cls(rollbacks=answer.rollbacks[::-1], upto=answer.round)

    def __contains__(self, round_number: int) -> bool:
        return rollback.is_given_up(self.rollbacks, round_number, self.upto)

    @property
    def last_round(self) -> int:
        """The last round before the last rollback; 0 without one."""
        return self.rollbacks[-1].last_round if self.rollbacks else 0


NOTHING_GIVEN_UP = GivenUpRounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierStart:
    """A view that begins right after a head's round, the index it starts after, and that head."""

    view: RunView
    after: int
    base: Head


async def cheaper_start(
    node: Node, manifest: Manifest, target: Head, after: int, heads: Iterable[Head]
) -> EarlierStart | None:
    """The cheapest of these heads to replay from; None if fetching the target moves fewer bytes.

    `after` is the log index where reading would start otherwise. Raises PeerError when the ledger's
    answers are wrong, and LedgerUnavailableError.
    """
    older = [one for one in heads if one.round < target.round]
    most = _missing_bytes(node, manifest, target)
    if not older or not most:
        return None
    first = max(min(one.round for one in older), target.round - MAX_ROUNDS)
    rounds = await node.ledger.rounds(manifest.run_id, after=first, limit=MAX_ROUNDS)
    costs = [(_replay_bytes(node, manifest, one, target, after, rounds), one) for one in older]
    size_bytes, base = min(costs, key=lambda cost: cost[0])
    if size_bytes >= most:
        return None
    log.info(
        "replaying from an older head",
        round=base.round,
        to=target.round,
        about_bytes=size_bytes,
        instead_of=most,
    )
    return await start_after(
        node, manifest, base, [one for one in rounds if one.round > base.round]
    )


async def start_after(
    node: Node, manifest: Manifest, base: Head, rounds: Sequence[RoundAnswer]
) -> EarlierStart:
    """Start at the first of these rounds, which follow the head's round; raises PeerError."""
    # The roster, and the opening that names the head, are read with proofs: the ledger's list of
    # rounds is only a hint. A wrong list could cost bytes, but the replayed head must still have
    # the hash that the log promotes.
    first = rounds[0]
    opened = next((one.opened_index for one in rounds if one.opened_index is not None), None)
    if opened is None:
        raise PeerError(f"no round opened after round {base.round}")
    found = await read_entries(node.ledger, node.network_info, (first.roster_index, opened))
    _check_roster(found[first.roster_index].statement, manifest, first)
    opening = found[opened].statement
    if not isinstance(opening.body, RoundOpen) or opening.run != manifest.run_id:
        raise PeerError(f"entry {opened} does not open a round of this run")
    if opening.body.head != to_text(base.hash):
        raise PeerError(f"round {opening.round} does not start from the head of {base.round}")
    view = view_before(node.network_info.id, manifest, base)
    return EarlierStart(view=view, after=first.roster_index - 1, base=base)


def _check_roster(statement: Statement, manifest: Manifest, row: RoundAnswer) -> None:
    """Raise PeerError unless the statement is the roster of that round."""
    is_roster = isinstance(statement.body, RoundRoster) and statement.round == row.round
    if not is_roster or statement.run != manifest.run_id:
        raise PeerError(f"entry {row.roster_index} is not the roster of round {row.round}")


def _replay_bytes(
    node: Node,
    manifest: Manifest,
    base: Head,
    target: Head,
    after: int,
    rounds: Sequence[RoundAnswer],
) -> float:
    """Bytes, roughly, to replay from that head; inf if the list has a gap or another head."""
    passed = [one for one in rounds if one.round > base.round]
    closed = [one for one in passed if one.round <= target.round and one.result]
    if not closed or closed[-1].round != target.round or len(closed) > MAX_REPLAYED:
        return math.inf
    opened = next((one for one in passed if one.opened_index is not None), None)
    if passed[0].round != base.round + 1 or opened is None or opened.head != to_text(base.hash):
        return math.inf
    # k falls as trainers rise, and at least the accepted ones trained.
    payloads = sum(one.accepted * contribution_bytes(manifest, one.accepted) for one in closed)
    entries = max(after - passed[0].roster_index, 0) * ENTRY_BYTES
    return _missing_bytes(node, manifest, base) + payloads + entries


def _missing_bytes(node: Node, manifest: Manifest, head: Head) -> int:
    return sum(map(node.store.missing_bytes, head_refs(manifest, head)))


async def nearest_start(
    node: Node,
    manifest: Manifest,
    target: Head,
    *,
    probe_s: float = PROBE_S,
    given_up: GivenUpRounds = NOTHING_GIVEN_UP,
) -> EarlierStart | None:
    """Where to start if nobody has the target: at the nearest older head that somebody has.

    None: somebody has the target, or nobody has any head. Once all members have left, a seed may be
    the only peer, and it keeps the head of every n-th round. Raises PeerError when the ledger's
    answers are wrong, and LedgerUnavailableError.
    """
    if not target.round or await _is_had_soon(node, manifest, target, probe_s):
        return None
    after = max(target.round - 2 * MAX_REPLAYED, 0)
    rounds = await node.ledger.rounds(manifest.run_id, after=after, limit=4 * MAX_REPLAYED)
    rounds = tuple(one for one in rounds if one.round <= target.round)
    # Newest first, since each older head adds a round to replay; each one costs a question to
    # every peer, so the search ends at `MAX_REPLAYED`.
    for at in range(len(rounds) - 1, -1, -1):
        if sum(one.result is not None for one in rounds[at:]) > MAX_REPLAYED:
            break
        base = await _head_before(node, manifest, rounds[at])
        if base is None or base.round in given_up:
            continue
        if await _is_had(node, manifest, base):
            log.info("nobody has the present head", round=target.round, starting_at=base.round)
            return await start_after(node, manifest, base, rounds[at:])
    return None


async def _is_had_soon(node: Node, manifest: Manifest, head: Head, probe_s: float) -> bool:
    """True if a peer claims to have the head within `probe_s`, or if no peer is connected."""
    # Without peers there is nothing to learn: assume that the head can be fetched later. A peer
    # that lies costs time only, since everything fetched is hashed.
    until_s, is_anybody_there = trio.current_time() + probe_s, False
    while trio.current_time() < until_s:
        is_anybody_there = is_anybody_there or bool(node.network.connected_peers())
        with trio.move_on_at(until_s):
            if await _is_had(node, manifest, head):
                return True
        await trio.sleep(POLL_S)
    return not is_anybody_there


async def _is_had(node: Node, manifest: Manifest, head: Head) -> bool:
    """True if, for each tree of the head, the store or a connected peer has all of it."""
    return all([await _is_tree_had(node, ref) for ref in head_refs(manifest, head)])


async def _is_tree_had(node: Node, ref: TreeRef) -> bool:
    peers = sorted(node.network.connected_peers())
    for peer in node.rng.sample(peers, min(len(peers), MAX_PEERS)):
        try:
            if await node.fetcher.client.held(peer, ref) is None:  # all of it
                return True
        except PeerError:
            continue
    return node.store.has_tree(ref.root)


async def _head_before(node: Node, manifest: Manifest, row: RoundAnswer) -> Head | None:
    """The head that this round started from, if it was promoted between roster and opening."""
    if row.opened_index is None:
        return None
    if row.round == 1:
        return first_head(manifest)
    # Attestations that come after the promotion lie between it and the opening.
    first = max(row.roster_index, row.opened_index - MAX_ENTRIES)
    for end in range(row.opened_index, first, -BEFORE_OPENING):
        page = range(max(end - BEFORE_OPENING, first), end)
        found = await read_entries(node.ledger, node.network_info, page)
        for index in reversed(page):
            with suppress(PeerError):
                return promoted_head(manifest, found[index].statement)
    return None


class RunOverError(UserFacingError):
    """The wanted run has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRun:
    manifest: Manifest
    corpus: Corpus
    view: RunView
    after: int  # log index after which to read on
    upto: int
    """Up to this log index the view only catches up with finished rounds; -1: no such rounds."""
    given_up: GivenUpRounds
    starting_head: Head | None
    """The older head to replay from, if the present one costs more or nobody has it."""
    recorded_heads: RecordedHeads
    prepare: link.Prepare  # the run's files; device and limits are the trainer's defaults


async def join_run(node: Node, pins: StorePins, wanted: str | None) -> JoinedRun:
    """Find the run (the named one, or the only open one), fetch its documents, build its view.

    Retries until it succeeds, whatever fails at ledger and peers meanwhile. Raises UserFacingError
    when the run cannot be joined at all.
    """
    while True:
        try:
            return await _join(node, pins, await find_run(node.ledger, wanted))
        except LogForkedError:
            raise
        except TRANSIENT as err:
            log.warning("cannot join yet; retrying", error=str(err))
            await trio.sleep(JOINING_POLL_S)


async def _join(node: Node, pins: StorePins, answer: RunAnswer) -> JoinedRun:
    manifest = await _manifest(node, answer)
    corpus = await _corpus(node, manifest)
    node.fetcher.mirrors.add(manifest.mirrors, corpus)
    # Ask again: fetching took time, and an old starting point means more entries to read.
    answer = await node.ledger.run(manifest.run_id)
    resume, given_up = answer.resume, GivenUpRounds.of(answer)
    folder, tokenizer = node.settings.folder, manifest.tokenizer.file
    recorded = await trio.to_thread.run_sync(RecordedHeads, folder, manifest.run_id)
    view, after, starting_head = await _view(node, manifest, resume, recorded.heads, given_up)
    await _add_notices(node, view, after, answer)
    await add_past_draws(node, view, after, recorded.heads)
    log.info("run joined", run=answer.run[:10], name=manifest.name, after=after)
    return JoinedRun(
        manifest=manifest,
        corpus=corpus,
        view=view,
        after=after,
        upto=resume.after if after < resume.after else -1,
        given_up=given_up,
        starting_head=starting_head,
        recorded_heads=recorded,
        prepare=link.Prepare(
            command=1,
            manifest=await _file(node, pins, answer.run),
            config=await _file(node, pins, manifest.model.config),
            data_manifest=await _file(node, pins, manifest.data.manifest),
            tokenizer=await _file(node, pins, tokenizer) if tokenizer else None,
        ),
    )


async def _add_notices(node: Node, view: RunView, after: int, answer: RunAnswer) -> None:
    """Add what organisers told before the view begins; it is read from the log, with proof."""
    told = [one for one in (answer.announcement, answer.pause_reason) if one is not None]
    indices = [one.index for one in told if one.index <= after]
    found = await read_entries(node.ledger, node.network_info, indices) if indices else {}
    for index, entry in sorted(found.items()):
        statement = entry.statement
        if statement.run != view.manifest.run_id or not isinstance(statement.body, RunNotice):
            raise PeerError(f"entry {index} is not a notice of this run")
        view.notices.apply(index, statement.ts, statement.body)


async def _manifest(node: Node, answer: RunAnswer) -> Manifest:
    # The run's id is the hash of its manifest, so no peer or ledger can give another one.
    try:
        return Manifest.parse(await node.exchange.fetch_blob(digest_from_text(answer.run)))
    except MalformedError as err:
        raise UserFacingError(
            f"this version of Tequio cannot read the rules of run {answer.run[:10]} ({err}): "
            "update Tequio"
        ) from err


async def _corpus(node: Node, manifest: Manifest) -> Corpus:
    try:
        corpus = Corpus.parse(
            await node.exchange.fetch_blob(digest_from_text(manifest.data.manifest))
        )
    except MalformedError as err:
        raise UserFacingError(
            f"the data manifest of run {manifest.name} is invalid ({err}): tell its organiser, or "
            "choose another run with --run"
        ) from err
    if to_text(corpus.root) != manifest.data.root:
        raise UserFacingError(
            f"cannot join run {manifest.name}: its data manifest has root {to_text(corpus.root)}, "
            f"but its rules require {manifest.data.root}; tell its organiser"
        )
    return corpus


async def find_run(ledger: LedgerApi, wanted: str | None) -> RunAnswer:
    """The open run of that name or id, or the only open one; waits while no run is open.

    Raises UserFacingError when several runs are open and none is named, or no run has that name.
    """
    was_logged = False
    while True:
        runs = await ledger.runs()
        fitting = [one for one in runs if one.state != FINISHED and _is_wanted(one, wanted)]
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            raise UserFacingError(
                f"several runs are open: {format_runs(fitting)}; choose one with --run"
            )
        if wanted:
            raise _no_such_run(runs, wanted)
        if not was_logged:
            log.info("waiting for a run to open", ledger=ledger.url)
            was_logged = True
        await trio.sleep(JOINING_POLL_S)


def _is_wanted(run: RunAnswer, wanted: str | None) -> bool:
    return not wanted or matches_name_or_id(run.name, run.run, wanted)


def _no_such_run(runs: Sequence[RunAnswer], wanted: str) -> UserFacingError:
    over = [one for one in runs if _is_wanted(one, wanted)]
    if over:
        return RunOverError(f"the run {format_runs(over)} has ended")
    is_open = format_runs([one for one in runs if one.state != FINISHED])
    return UserFacingError(f"no run {wanted!r}; open runs: {is_open or 'none'}")


def format_runs(runs: Iterable[RunAnswer]) -> str:
    """Names of runs with the start of their ids, for a sentence."""
    return ", ".join(name_with_id(one.name, one.run) for one in runs)


async def _file(node: Node, pins: StorePins, name: str) -> str:
    """Fetch a document and keep it; returns its path."""
    digest = digest_from_text(name)
    path = await node.exchange.fetch_blob_file(digest)
    pins.pin(digest)
    return str(path)


async def _view(
    node: Node,
    manifest: Manifest,
    resume: ResumeAnswer,
    recorded: Sequence[Head],
    given_up: GivenUpRounds,
) -> tuple[RunView, int, Head | None]:
    """The first view, the log index after which to read on, and the older head to replay from."""
    wanted = [index for index in (resume.head, resume.close) if index is not None]
    found = await read_entries(node.ledger, node.network_info, wanted)
    head = None if resume.head is None else promoted_head(manifest, found[resume.head].statement)
    roster_index = None
    if resume.close is not None:
        roster_index = await _roster_index(node, manifest, found[resume.close].statement)
    view, after = start_view(node.network_info.id, manifest, resume, head, roster_index)
    if head is None:
        return view, after, None
    kept = [one for one in recorded if one.round not in given_up]
    try:
        earlier = await cheaper_start(node, manifest, head, after, kept)
        earlier = earlier or await nearest_start(node, manifest, head, given_up=given_up)
    except LogForkedError:
        raise
    except TRANSIENT as err:
        # Only an optimisation: the usual starting point works as long as somebody has its head.
        log.warning("no older head used", error=str(err))
        earlier = None
    return (earlier.view, earlier.after, earlier.base) if earlier else (view, after, None)


def start_view(
    net: NetworkId,
    manifest: Manifest,
    resume: ResumeAnswer,
    head: Head | None,
    roster_index: int | None,
) -> tuple[RunView, int]:
    """A light view between two rounds, and the log index after which to read on.

    `roster_index` is where the last closed round began, if its head is not promoted yet; `head` is
    the one that the entry `resume.head` promotes.
    """
    # Start before a closed round whose head is not promoted, to learn its accepted set. If all
    # members returned at such a moment and started after it, nobody could compute that head.
    after = resume.after if roster_index is None else roster_index - 1
    if head is None or resume.head is None:
        nobody = NextHead(round=0, parent=HeadHash(ZERO_DIGEST), set_root=set_root([]))
        return RunView.light(net, manifest, head=None, next_head=nobody), after
    if resume.head <= after:
        # Of points of rest, only a rollback names a head itself: the run is paused there.
        is_paused = resume.head == resume.after
        state = RunState.PAUSED if is_paused else RunState.WAITING_FOR_MEMBERS
        return RunView.light(net, manifest, head=head, next_head=None, state=state), after
    return view_before(net, manifest, head), after


async def _roster_index(node: Node, manifest: Manifest, closing: Statement) -> int:
    """Log index of the closed round's roster; the ledger's answer is checked against the log."""
    number = closing.round or 0
    if not isinstance(closing.body, RoundClose) or closing.run != manifest.run_id:
        raise PeerError("the ledger names an entry that does not close a round of this run")
    rounds = await node.ledger.rounds(manifest.run_id, after=number - 1, limit=1)
    if not rounds or rounds[0].round != number:
        raise PeerError(f"the ledger does not know round {number}, which its log closes")
    index = rounds[0].roster_index
    _check_roster(await read_statement(node, index), manifest, rounds[0])
    return index


async def recover_feedback(node: Node, pins: StorePins, joined: JoinedRun) -> ErrorFeedback:
    """The error feedback from before a restart, settled up to the entry where reading starts."""
    folder, run = node.settings.folder / FEEDBACK_FOLDER, joined.manifest.run_id
    await _remove_ended(node, folder)
    feedback = await trio.to_thread.run_sync(ErrorFeedback, folder, run)
    # bfloat16 has 2 bytes.
    pins.reserve(FEEDBACK_FILES * 2 * joined.manifest.layout.elements)
    header = feedback.open_header
    if header is not None:
        outcome = await _outcome(node, header, joined.after)
        if outcome is not None:
            accepted = outcome.is_accepted
            log.info("round ended while stopped", round=header.round, accepted=accepted)
            root = header.feedback_root if accepted else None
            settle = partial(feedback.settle, is_audited=outcome.is_audited)
            await trio.to_thread.run_sync(settle, header.round, root)
            node.blobs.withheld.discard(header.payload_root)
    if feedback.path is not None and feedback.ended_round <= joined.given_up.last_round:
        log.info("error feedback dropped: the run went back", round=joined.given_up.last_round)
        await trio.to_thread.run_sync(feedback.start_over)
    await _check_settled(node, joined, feedback)
    return feedback


async def _check_settled(node: Node, joined: JoinedRun, feedback: ErrorFeedback) -> None:
    """Start over if this key trained in rounds that the feedback knows nothing of.

    So it is after a backup was restored. Which rounds to look at, the ledger says: a lie costs only
    a commitment that it refuses.
    """
    if feedback.path is None:
        return
    header, run = feedback.open_header, joined.manifest.run_id
    known = feedback.ended_round if header is None else max(feedback.ended_round, header.round)
    try:
        for one in (await node.ledger.peer_rounds(node.signer.key)).rounds:
            is_unknown = (one.run, one.outcome) == (to_text(run), CLOSED) and one.round > known
            # Points alone do not tell: it may have audited or witnessed only.
            if is_unknown and one.gflop and await _was_work_accepted(node, run, one):
                log.warning("error feedback dropped: older than the last work", round=one.round)
                await trio.to_thread.run_sync(feedback.start_over)
                return
    except LogForkedError:
        raise
    except TRANSIENT as err:
        log.info("error feedback not compared with the log", error=str(err))


async def _was_work_accepted(node: Node, run: RunId, row: AttendedAnswer) -> bool:
    """True if that round of the run accepted a contribution of this key; raises PeerError."""
    indices = row.roster_index, row.closed_index
    found = await read_entries(node.ledger, node.network_info, indices)
    said = [found[index].statement for index in indices]
    match [one.body for one in said if (one.run, one.round) == (run, row.round)]:
        case [RoundRoster(roster=members), RoundClose(result=outcome)]:
            roster = Roster.parse(await node.exchange.fetch_blob(digest_from_text(members)))
            result = RoundResult.parse(await node.exchange.fetch_blob(digest_from_text(outcome)))
            slots = zip(roster.keys.values(), result.slots, strict=True)
            return (node.signer.key, Verdict.ACCEPTED) in [(key, one.verdict) for key, one in slots]
    raise PeerError(f"entries {indices} are not roster and end of round {row.round}")


async def _remove_ended(node: Node, folder: Path) -> None:
    """Delete the feedback of runs that ended while the worker was stopped."""
    if not await trio.Path(folder).exists():
        return
    try:
        runs = await node.ledger.runs()
    except TRANSIENT as err:
        log.info("feedback of other runs not checked", error=str(err))
        return
    ended = [RunId(digest_from_text(one.run)) for one in runs if one.state == FINISHED]
    await trio.to_thread.run_sync(remove_ended, folder, ended)


async def _outcome(node: Node, header: ContributionHeader, after: int) -> WorkOutcome | None:
    # An unreachable ledger is waited for, since guessing would lose or double the feedback. One
    # that keeps giving wrong answers must not stop the worker: then the work counts as lost.
    back_off, wrong = BackOff(node.rng), 0
    while wrong < MAX_WRONG_ANSWERS:
        try:
            return await outcome_of(node, header, after)
        except LogForkedError:
            raise
        except TRANSIENT as err:
            wrong += not isinstance(err, LedgerUnavailableError)
            log.warning("outcome of a round unknown", round=header.round, error=str(err))
        await trio.sleep(back_off.next_s())
    return LOST
