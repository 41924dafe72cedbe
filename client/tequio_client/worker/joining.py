"""Joining a run: its manifest and documents by their names, and where to start in the log.

The ledger says where to look; what counts is read from the log itself (inclusion proofs) and from
documents that are what their hashes say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger_api import LedgerUnavailableError
from tequio_client.worker.follower import read_entries
from tequio_shared.corpus import Corpus
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.head import set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, RunId, digest_from_text, from_text, to_text
from tequio_shared.manifest import Manifest
from tequio_shared.round import Head, NextHead
from tequio_shared.run import RunView
from tequio_shared.statements.rounds import HeadPromote, RoundClose

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ledger_answers import RunAnswer
    from tequio_client.worker.node import Node
    from tequio_shared.statement import Statement

log = structlog.get_logger(__name__)

POLL_S = 2.0
OVER = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A run that we can take part in: rules, data, the view, and the index it stands after."""

    manifest: Manifest
    corpus: Corpus
    view: RunView
    after: int
    manifest_path: Path
    config_path: Path
    corpus_path: Path
    tokenizer_path: Path | None


async def join_run(node: Node, wanted: str | None) -> Joined:
    """Find the run (the named one, or the only open one), get its documents, and a view of it."""
    answer = await find_run(node, wanted)
    manifest = Manifest.parse(await node.exchange.blob(digest_from_text(answer.run)))
    if manifest.run_id != from_text(answer.run):
        raise PeerError("the manifest is not the one that the run is named by")
    corpus = Corpus.parse(await node.exchange.blob(digest_from_text(manifest.data.manifest)))
    if to_text(corpus.root) != manifest.data.root:
        raise PeerError("the data manifest's root is not the run's")
    answer = await node.ledger.run(RunId(manifest.run_id))  # again: fetching took time
    view, after = await _view(node, manifest, answer)
    log.info("run joined", run=answer.run[:10], name=manifest.name, after=after)
    tokenizer = manifest.tokenizer.file
    return Joined(
        manifest=manifest,
        corpus=corpus,
        view=view,
        after=after,
        manifest_path=await _file(node, answer.run),
        config_path=await _file(node, manifest.model.config),
        corpus_path=await _file(node, manifest.data.manifest),
        tokenizer_path=await _file(node, tokenizer) if tokenizer else None,
    )


async def find_run(node: Node, wanted: str | None) -> RunAnswer:
    """The run of that name or id prefix, or the only open one; waits while there is none."""
    said = False
    while True:
        try:
            open_runs = [one for one in await node.ledger.runs() if one.state != OVER]
        except (LedgerUnavailableError, PeerError) as err:
            log.warning("no list of runs", error=str(err))
            open_runs = []
        fitting = [one for one in open_runs if not wanted or _is_named(one, wanted)]
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            names = ", ".join(f"{one.name} ({one.run[:10]})" for one in fitting)
            raise UserFacingError(f"several runs are open: {names}; choose one with --run")
        if not said:
            log.info("waiting for a run to open", wanted=wanted or "any")
            said = True
        await trio.sleep(POLL_S)


def _is_named(one: RunAnswer, wanted: str) -> bool:
    return wanted == one.name or one.run.startswith(wanted)


async def _file(node: Node, name: str) -> Path:
    digest = digest_from_text(name)
    await node.exchange.blob(digest)
    node.store.pin(digest)
    return node.store.blob_path(digest)


async def _view(node: Node, manifest: Manifest, answer: RunAnswer) -> tuple[RunView, int]:
    """A light view at the run's last point of rest, read from the log with proofs."""
    resume = answer.resume
    if resume is None:
        raise PeerError("the ledger does not say where to join the run")
    wanted = [index for index in (resume.head, resume.close) if index is not None]
    found = await read_entries(node.ledger, node.network_info, wanted)
    statements = {index: entry.statement for index, entry in found.items()}
    head = _head(manifest, statements[resume.head]) if resume.head is not None else None
    nobody = NextHead(round=0, parent=HeadHash(ZERO_DIGEST), set_root=set_root([]))
    next_head = nobody if head is None else None
    if resume.close is not None and head is not None:
        next_head = _next_head(manifest, head, statements[resume.close])
    view = RunView.light(node.network_info.id, manifest, head=head, next_head=next_head)
    return view, resume.after


def _head(manifest: Manifest, statement: Statement) -> Head:
    body = statement.body
    if not isinstance(body, HeadPromote) or statement.run != manifest.run_id:
        raise PeerError("the entry that the ledger names is no promotion of this run's head")
    return Head(
        hash=HeadHash(digest_from_text(body.head)),
        round=statement.round or 0,
        parent=HeadHash(digest_from_text(body.parent)),
        set_root=digest_from_text(body.set_root),
        weights_root=digest_from_text(body.weights_root),
        aux_root=digest_from_text(body.aux_root),
    )


def _next_head(manifest: Manifest, head: Head, statement: Statement) -> NextHead:
    body = statement.body
    if not isinstance(body, RoundClose) or statement.run != manifest.run_id:
        raise PeerError("the entry that the ledger names closes no round of this run")
    return NextHead(
        round=statement.round or 0, parent=head.hash, set_root=digest_from_text(body.set_root)
    )
