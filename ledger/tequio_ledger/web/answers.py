"""Converts rows and views to answers of the API (`tequio_shared.api`); a consistent read."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from tequio_ledger.log.guard import Published
from tequio_ledger.state import State
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.queries import PeerRow, RoundRow, StandingRow
from tequio_shared.api.answer import AsOf
from tequio_shared.api.peers import PeerAnswer, StandingAnswer, TierAnswer
from tequio_shared.api.runs import (
    PublishedAnswer,
    ResumeAnswer,
    RoundAnswer,
    RunAnswer,
    WrittenAnswer,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, peer_id_text, to_text
from tequio_shared.network.run import FullRunView
from tequio_shared.network.standing import describe_cause
from tequio_shared.round import measures

PUBLISHED_HEADS = 8
"""Published heads listed for one run; older ones are left out."""
SNAPSHOT_PAUSE_S = 0.002
SNAPSHOT_TIMEOUT_S = 2.0
"""The signature follows the commit within milliseconds, unless writing it fails."""


def as_of(published: Published) -> AsOf:
    return AsOf(size=published.size, root=to_text(published.root))


def run_answer(state: State, run: RunId, published: Published) -> RunAnswer:
    """Describe a run; raises RefusedError("not-found")."""
    view, resume = state.run(run), state.resumes[run]
    head = view.head
    return RunAnswer(
        run=to_text(run),
        name=view.manifest.name,
        manifest=to_text(run),
        state=view.state,
        phase=view.round.phase.value if view.round else None,
        round=view.number,
        closed=view.closed,
        voided=view.voided,
        members=len(view.accounts.active()),
        tokens=view.accounts.tokens,
        roster_index=view.round.roster_index if view.round else None,
        opened_index=state.opened[run],
        head=to_text(head.hash) if head else None,
        head_round=head.round if head else None,
        weights_root=to_text(head.weights_root) if head else None,
        aux_root=to_text(head.aux_root) if head else None,
        published=published_heads(view, PUBLISHED_HEADS),
        sample=_sample(view),
        resume=ResumeAnswer(after=resume.after, head=resume.head, close=resume.close),
        as_of=as_of(published),
    )


def published_heads(view: FullRunView, most: int) -> tuple[PublishedAnswer, ...]:
    """List the newest published heads, the newest first."""
    newest = sorted(view.published.items(), reverse=True)[:most]
    return tuple(
        PublishedAnswer(number, body.repo, body.revision, index) for number, (index, body) in newest
    )


def _sample(view: FullRunView) -> WrittenAnswer | None:
    """Give the sample of the newest head that has one, among the heads still being measured."""
    for draw in reversed(view.draws.open):
        found = measures.best_sample(draw.measures)
        if found is not None:
            peer, sample = found
            return WrittenAnswer(draw.head.round, to_text(peer), sample.prompt, sample.text)
    return None


def round_answer(row: RoundRow, published: Published) -> RoundAnswer:
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
    return PeerAnswer(
        key=to_text(row.key),
        peer_id=peer_id_text(row.key),
        registered_index=row.registered_index,
        last_seq=row.last_seq,
        last_hash=to_text(row.last_hash),
        micropoints=row.micropoints,
        standing=standing_answer(row.standing),
        tier=TierAnswer(
            tier=row.tier.tier,
            owner=to_text(row.tier.owner),
            run=None if row.tier.run is None else to_text(row.tier.run),
            until=row.tier.until,
            since=row.tier.since,
        ),
        as_of=as_of(published),
    )


def standing_answer(row: StandingRow) -> StandingAnswer:
    return StandingAnswer(
        standing=row.standing,
        since=row.since,
        cause=row.cause,
        why=describe_cause(row.cause),
        evidence=row.evidence,
        until=row.until,
        appeal=row.appeal,
    )


@contextmanager
def snapshot(
    database: Database, patience_s: float = SNAPSHOT_TIMEOUT_S
) -> Iterator[tuple[Connection, Published]]:
    """Read as of one moment at which every committed entry is published; blocks until then.

    Rows and entries are committed first and signed right after. No reader may see rows of entries
    that are not signed. Raises RefusedError("read-only") when the signature does not come in time.
    """
    deadline = time.monotonic() + patience_s
    while True:
        with database.reader.begin() as connection:
            published = _published_at(connection)
            if published is not None:
                yield connection, published
                return
        if time.monotonic() > deadline:
            raise RefusedError("read-only", "the last entries are not signed yet: try again later")
        time.sleep(SNAPSHOT_PAUSE_S)


def _published_at(connection: Connection) -> Published | None:
    head = log_rows.read_head(connection)
    stored = log_rows.read_last_checkpoint(connection)
    if head is None or stored is None or stored.size != head.size:
        return None
    return Published(size=stored.size, root=stored.root, note=stored.note)
