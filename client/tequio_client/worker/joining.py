"""Joining a run: its manifest and documents by their names, and where to start in the log.

The ledger says where to look; what counts is read from the log itself (inclusion proofs) and from
documents that are what their hashes say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import read_entries
from tequio_client.names import is_meant, name_with_id
from tequio_client.worker import past_draws
from tequio_client.worker.availability import head_of, nearest_start
from tequio_client.worker.kept_heads import KeptHeads
from tequio_client.worker.resuming import cheaper_start
from tequio_shared.corpus import Corpus
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.head import set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, digest_from_text, to_text
from tequio_shared.manifest import Manifest
from tequio_shared.round import Head, NextHead
from tequio_shared.run import RunView
from tequio_shared.statements.rounds import RoundClose, RoundRoster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.resuming import Earlier
    from tequio_shared.api.runs import ResumeAnswer, RunAnswer
    from tequio_shared.ids import NetworkId
    from tequio_shared.statement import Statement

log = structlog.get_logger(__name__)

POLL_S = 2.0
OVER = "finished"
_PASSING = (LedgerUnavailableError, PeerError, RefusedError)


class RunOverError(UserFacingError):
    """The run that is wanted has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A run that we can take part in: rules, data, the view, and the index it stands after."""

    manifest: Manifest
    corpus: Corpus
    view: RunView
    after: int
    upto: int
    """Up to this index the view only catches up with rounds that were over; -1 for not at all."""
    base: Head | None
    """The older head to go on from, when the present one costs more or cannot be had."""
    kept: KeptHeads
    manifest_path: Path
    config_path: Path
    corpus_path: Path
    tokenizer_path: Path | None


async def join_run(node: Node, wanted: str | None) -> Joined:
    """Find the run (the named one, or the only open one), get its documents, and a view of it.

    Goes on until it succeeds, whatever is wrong with ledger and peers meanwhile. Raises
    UserFacingError when the run cannot be joined at all.
    """
    while True:
        try:
            return await _join(node, await find_run(node, wanted))
        except LogForkedError:
            raise
        except _PASSING as err:
            log.warning("cannot join yet; trying again", error=str(err))
            await trio.sleep(POLL_S)


async def _join(node: Node, answer: RunAnswer) -> Joined:
    manifest = await _manifest(node, answer)
    corpus = await _corpus(node, manifest)
    answer = await node.ledger.run(manifest.run_id)  # again: fetching took time
    resume = answer.resume
    kept = await trio.to_thread.run_sync(KeptHeads, node.settings.folder, manifest.run_id)
    view, after, base = await _view(node, manifest, resume, kept)
    await past_draws.recall(node, view, after, kept.heads)
    log.info("run joined", run=answer.run[:10], name=manifest.name, after=after)
    tokenizer = manifest.tokenizer.file
    return Joined(
        manifest=manifest,
        corpus=corpus,
        view=view,
        after=after,
        upto=resume.after if after < resume.after else -1,
        base=base,
        kept=kept,
        manifest_path=await _file(node, answer.run),
        config_path=await _file(node, manifest.model.config),
        corpus_path=await _file(node, manifest.data.manifest),
        tokenizer_path=await _file(node, tokenizer) if tokenizer else None,
    )


async def _manifest(node: Node, answer: RunAnswer) -> Manifest:
    """The run's rules: what they are called is their hash, so they cannot be others."""
    try:
        return Manifest.parse(await node.exchange.blob(digest_from_text(answer.run)))
    except MalformedError as err:
        raise UserFacingError(
            f"the run {answer.run[:10]} has rules that this version does not understand: {err}"
        ) from err


async def _corpus(node: Node, manifest: Manifest) -> Corpus:
    try:
        corpus = Corpus.parse(await node.exchange.blob(digest_from_text(manifest.data.manifest)))
    except MalformedError as err:
        raise UserFacingError(f"the data manifest of {manifest.name} is damaged: {err}") from err
    if to_text(corpus.root) != manifest.data.root:
        raise UserFacingError(
            f"the run {manifest.name} cannot be joined: its data manifest has root "
            f"{to_text(corpus.root)}, its rules say {manifest.data.root}"
        )
    return corpus


async def find_run(node: Node, wanted: str | None) -> RunAnswer:
    """The open run of that name or id, or the only open one; waits while none is open at all.

    Raises UserFacingError when several runs are open, or no run fits what is wanted.
    """
    said = False
    while True:
        runs = await node.ledger.runs()
        fitting = [one for one in runs if one.state != OVER and _is_wanted(one, wanted)]
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            raise UserFacingError(f"several runs are open: {named(fitting)}; choose one with --run")
        if wanted:
            raise _no_such_run(runs, wanted)
        if not said:
            log.info("waiting for a run to open", ledger=node.settings.ledger)
            said = True
        await trio.sleep(POLL_S)


def _is_wanted(run: RunAnswer, wanted: str | None) -> bool:
    return not wanted or is_meant(run.name, run.run, wanted)


def _no_such_run(runs: Sequence[RunAnswer], wanted: str) -> UserFacingError:
    over = [one for one in runs if _is_wanted(one, wanted)]
    if over:
        return RunOverError(f"the run {named(over)} has ended")
    is_open = named([one for one in runs if one.state != OVER])
    return UserFacingError(f"no run is called {wanted!r}; open runs: {is_open or 'none'}")


def named(runs: Iterable[RunAnswer]) -> str:
    """Runs with their names and the beginning of their ids, for a sentence."""
    return ", ".join(name_with_id(one.name, one.run) for one in runs)


async def _file(node: Node, name: str) -> Path:
    digest = digest_from_text(name)
    await node.exchange.blob(digest)
    node.store.pin(digest)
    return node.store.blob_path(digest)


async def _view(
    node: Node, manifest: Manifest, resume: ResumeAnswer, kept: KeptHeads
) -> tuple[RunView, int, Head | None]:
    """The view to begin with, read from the log with proofs, and the index it stands after.

    And the head to go on from, when an older one than the present is the cheaper way.
    """
    wanted = [index for index in (resume.head, resume.close) if index is not None]
    found = await read_entries(node.ledger, node.network_info, wanted)
    statements = {index: entry.statement for index, entry in found.items()}
    head = None if resume.head is None else head_of(manifest, statements[resume.head])
    roster_index = None
    if resume.close is not None:
        roster_index = await _roster_index(node, manifest, statements[resume.close])
    view, after = start_view(node.network_info.id, manifest, resume, head, roster_index)
    earlier = await _earlier(node, manifest, head, after, kept) if head else None
    return (earlier.view, earlier.after, earlier.base) if earlier else (view, after, None)


async def _earlier(
    node: Node, manifest: Manifest, head: Head, after: int, kept: KeptHeads
) -> Earlier | None:
    """A cheaper place to begin, or one whose head can be had; else we begin where all do."""
    try:
        cheaper = await cheaper_start(node, manifest, head, after, kept.heads)
        return cheaper or await nearest_start(node, manifest, head)
    except LogForkedError:
        raise
    except _PASSING as err:
        log.warning("not going on from an older head", error=str(err))
        return None


def start_view(
    net: NetworkId,
    manifest: Manifest,
    resume: ResumeAnswer,
    head: Head | None,
    roster_index: int | None,
) -> tuple[RunView, int]:
    """A light view at a point of rest of the run, and the index it stands after.

    That point is the last one, unless the head of a closed round is still to be stated: then it
    lies before that round (its roster is at `roster_index`), to learn the accepted set. If
    everybody came back at such a moment and began behind it, nobody could compute the head.
    `head` is the one that the entry `resume.head` promotes.
    """
    after = resume.after if roster_index is None else roster_index - 1
    if head is None or resume.head is None:
        nobody = NextHead(round=0, parent=HeadHash(ZERO_DIGEST), set_root=set_root([]))
        return RunView.light(net, manifest, head=None, next_head=nobody), after
    if resume.head <= after:
        return RunView.light(net, manifest, head=head, next_head=None), after
    pending = NextHead(round=head.round, parent=head.parent, set_root=head.set_root)
    return RunView.light(net, manifest, head=None, next_head=pending), after


async def _roster_index(node: Node, manifest: Manifest, closing: Statement) -> int:
    """Where the closed round began; what the ledger says of it is checked against the log."""
    number = closing.round or 0
    if not isinstance(closing.body, RoundClose) or closing.run != manifest.run_id:
        raise PeerError("the entry that the ledger names closes no round of this run")
    rounds = await node.ledger.rounds(manifest.run_id, after=number - 1, limit=1)
    if not rounds or rounds[0].round != number:
        raise PeerError(f"the ledger does not know round {number}, which its log closes")
    index = rounds[0].roster_index
    (entry,) = (await read_entries(node.ledger, node.network_info, [index])).values()
    statement = entry.statement
    is_roster = isinstance(statement.body, RoundRoster) and statement.run == manifest.run_id
    if not is_roster or statement.round != number:
        raise PeerError(f"entry {index} is not the roster of round {number}")
    return index
