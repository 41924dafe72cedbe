"""Answers of the API in JSON: the types, how rows and views become them, and a consistent read."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import msgspec
from sqlalchemy import Connection

from tequio_ledger.log.checkpoint import Published
from tequio_ledger.state import Resume, State
from tequio_ledger.store import log_rows
from tequio_ledger.store.attended import AttendedRow
from tequio_ledger.store.engine import Database
from tequio_ledger.store.ranking import RankedRow
from tequio_ledger.store.read import PeerRow, RoundRow, StandingRow, TierRow
from tequio_shared import samples
from tequio_shared.causes import words_of
from tequio_shared.errors import RefusedError
from tequio_shared.fields import Bytes32Text, BytesText, Natural, Positive, Prompt, Written
from tequio_shared.ids import RunId, peer_id_text, to_text
from tequio_shared.round_state import Phase
from tequio_shared.run import RunView
from tequio_shared.run_states import State as RunState
from tequio_shared.standing import Standing
from tequio_shared.tiers import Tier

TierNumber = Annotated[int, msgspec.Meta(ge=0, le=int(max(Tier)))]
Outcome = Annotated[str, msgspec.Meta(pattern="^(open|closed|void)$")]
PUBLISHED = 8
"""Most published heads that are listed for one run."""
SNAPSHOT_PAUSE_S = 0.002
SNAPSHOT_PATIENCE_S = 2.0
"""Commit and signature are milliseconds apart, unless the disk accepts only the first."""


class AsOf(msgspec.Struct, frozen=True):
    """The signed log that an answer was true for."""

    size: Natural
    root: Bytes32Text


class NetworkAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Which network this is; `genesis` is the document, base64url."""

    network_id: Bytes32Text
    name: str
    genesis: BytesText
    origin: str
    log_key: str
    coordinator: Bytes32Text
    software: str
    as_of: AsOf


class ResumeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Where a late reader may begin, as log indices."""

    after: Natural
    head: Natural | None
    close: Natural | None


class PublishedAnswer(msgspec.Struct, frozen=True):
    """A head that organisers put on the Hugging Face Hub, by the entry that says so."""

    round: Natural
    repo: str
    revision: str
    index: Natural


class WrittenAnswer(msgspec.Struct, frozen=True):
    """What the head after a round writes, by the word of a drawn member."""

    round: Natural
    peer: Bytes32Text
    prompt: Prompt
    text: Written


class RunAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One run as it stands."""

    run: Bytes32Text
    name: str
    manifest: Bytes32Text
    state: RunState
    phase: Phase | None
    round: Natural
    closed: Natural
    voided: Natural
    members: Natural
    tokens: Natural
    roster_index: Natural | None
    opened_index: Natural
    head: Bytes32Text | None
    head_round: Natural | None
    weights_root: Bytes32Text | None
    aux_root: Bytes32Text | None
    published: tuple[PublishedAnswer, ...]
    sample: WrittenAnswer | None
    resume: ResumeAnswer
    as_of: AsOf


class RunsAnswer(msgspec.Struct, frozen=True):
    """A page of runs, the oldest first; go on after `next`."""

    runs: list[RunAnswer]
    next: Natural | None
    as_of: AsOf


class RoundAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One round: open, closed or void; `roster` and `result` name documents."""

    round: Natural
    outcome: Outcome
    roster_index: Natural
    roster: Bytes32Text
    opened_index: Natural | None
    closed_index: Natural | None
    accepted: Natural
    head: Bytes32Text | None
    result: Bytes32Text | None
    loss_q16: Natural | None
    as_of: AsOf


class RoundsAnswer(msgspec.Struct, frozen=True):
    """A page of rounds, ascending; go on after `next`."""

    rounds: list[RoundAnswer]
    next: Natural | None
    as_of: AsOf


class StandingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a key is worth in the network, and why: all but `why` are in the log."""

    standing: Standing
    since: Natural
    cause: Natural | None
    why: str
    evidence: tuple[Natural, ...]
    until: Natural
    appeal: Natural | None


class TierAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Who is behind a key, as far as the log says, and which entry says so."""

    tier: TierNumber
    owner: Bytes32Text
    run: Bytes32Text | None
    until: Natural
    since: Natural | None


class PeerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One key: where its chain ends, what it earned, and how it stands."""

    key: Bytes32Text
    peer_id: str
    registered_index: Natural
    last_seq: Natural
    last_hash: Bytes32Text
    micropoints: Natural
    standing: StandingAnswer
    tier: TierAnswer
    as_of: AsOf


class PeersAnswer(msgspec.Struct, frozen=True):
    """A page of keys in order of registration; go on after `next`."""

    peers: list[PeerAnswer]
    next: Bytes32Text | None
    as_of: AsOf


class AttendedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One round that a key was in and that is over, and what it earned there."""

    run: Bytes32Text
    round: Natural
    roster_index: Natural
    closed_index: Natural
    outcome: Outcome
    micropoints: Natural


class PeerRoundsAnswer(msgspec.Struct, frozen=True):
    """A page of a key's rounds, the newest first; go on before `next`."""

    rounds: list[AttendedAnswer]
    next: Natural | None
    as_of: AsOf


class RankedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One key's place by points, from 1 on."""

    rank: Positive
    key: Bytes32Text
    micropoints: Natural


class RankingAnswer(msgspec.Struct, frozen=True):
    """Some keys by points, the best first, and how many have any; go on behind `next`."""

    rows: list[RankedAnswer]
    next: Bytes32Text | None
    ranked: Natural
    as_of: AsOf


def as_of(published: Published) -> AsOf:
    """Say for which log an answer is true."""
    return AsOf(size=published.size, root=to_text(published.root))


def run_answer(state: State, run: RunId, published: Published) -> RunAnswer:
    """Describe a run."""
    view = state.run(run)
    head = view.head
    return RunAnswer(
        run=to_text(run),
        name=view.manifest.name,
        manifest=to_text(run),
        state=view.state,
        phase=view.round.phase if view.round else None,
        round=view.number,
        closed=view.closed,
        voided=view.voided,
        members=len(view.accounts.active()) if view.accounts else 0,
        tokens=view.accounts.tokens if view.accounts else 0,
        roster_index=view.round.roster_index if view.round else None,
        opened_index=state.opened[run],
        head=to_text(head.hash) if head else None,
        head_round=head.round if head else None,
        weights_root=to_text(head.weights_root) if head else None,
        aux_root=to_text(head.aux_root) if head else None,
        published=_published(view),
        sample=_sample(view),
        resume=_resume(state.resumes[run]),
        as_of=as_of(published),
    )


def _published(view: RunView) -> tuple[PublishedAnswer, ...]:
    newest = sorted(view.published.items(), reverse=True)[:PUBLISHED]
    return tuple(
        PublishedAnswer(number, body.repo, body.revision, index) for number, (index, body) in newest
    )


def _sample(view: RunView) -> WrittenAnswer | None:
    """Of the newest head of which there is one, of those that measures are still taken of."""
    for draw in reversed(view.draws.open):
        shown = samples.shown(draw.said)
        if shown is not None:
            peer, sample = shown
            return WrittenAnswer(draw.head.round, to_text(peer), sample.prompt, sample.text)
    return None


def round_answer(row: RoundRow, published: Published) -> RoundAnswer:
    """Describe a round."""
    return RoundAnswer(
        round=row.round,
        outcome=row.outcome,
        roster_index=row.roster_index,
        roster=to_text(row.roster),
        opened_index=row.opened_index,
        closed_index=row.closed_index,
        accepted=row.accepted,
        head=to_text(row.head) if row.head else None,
        result=to_text(row.result) if row.result else None,
        loss_q16=row.loss_q16,
        as_of=as_of(published),
    )


def peer_answer(row: PeerRow, published: Published) -> PeerAnswer:
    """Describe a peer."""
    return PeerAnswer(
        key=to_text(row.key),
        peer_id=peer_id_text(row.key),
        registered_index=row.registered_index,
        last_seq=row.last_seq,
        last_hash=to_text(row.last_hash),
        micropoints=row.micropoints,
        standing=standing_answer(row.standing),
        tier=tier_answer(row.tier),
        as_of=as_of(published),
    )


def tier_answer(row: TierRow) -> TierAnswer:
    """Describe who is behind a key."""
    return TierAnswer(
        tier=row.tier,
        owner=to_text(row.owner),
        run=None if row.run is None else to_text(row.run),
        until=row.until,
        since=row.since,
    )


def attended_answer(row: AttendedRow) -> AttendedAnswer:
    """Describe a round that a key was in."""
    return AttendedAnswer(
        run=to_text(row.run),
        round=row.round,
        roster_index=row.roster_index,
        closed_index=row.closed_index,
        outcome=row.outcome,
        micropoints=row.micropoints,
    )


def ranked_answer(row: RankedRow) -> RankedAnswer:
    """Describe a key's place."""
    return RankedAnswer(rank=row.rank, key=to_text(row.key), micropoints=row.micropoints)


def standing_answer(row: StandingRow) -> StandingAnswer:
    """Describe a standing."""
    return StandingAnswer(
        standing=Standing(row.standing),
        since=row.since,
        cause=row.cause,
        why=words_of(row.cause),
        evidence=row.evidence,
        until=row.until,
        appeal=row.appeal,
    )


def _resume(resume: Resume) -> ResumeAnswer:
    return ResumeAnswer(after=resume.after, head=resume.head, close=resume.close)


@contextmanager
def snapshot(
    database: Database, patience_s: float = SNAPSHOT_PATIENCE_S
) -> Iterator[tuple[Connection, Published]]:
    """Read as of one moment at which all that is committed is published; blocks meanwhile.

    Rows and entries are committed first and signed right after; what lies between the two must not
    be seen. Raises RefusedError("read-only") when the signature does not come.
    """
    deadline = time.monotonic() + patience_s
    while True:
        with database.reader.begin() as connection:
            published = _published_at(connection)
            if published is not None:
                yield connection, published
                return
        if time.monotonic() > deadline:
            raise RefusedError("read-only", "the last entries are not signed yet: come back later")
        time.sleep(SNAPSHOT_PAUSE_S)


def _published_at(connection: Connection) -> Published | None:
    head = log_rows.read_head(connection)
    stored = log_rows.read_last_checkpoint(connection)
    if head is None or stored is None or stored.size != head.size:
        return None
    return Published(size=stored.size, root=stored.root, note=stored.note)
