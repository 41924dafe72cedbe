"""A head that the log certifies, the documents of its run, and the proof of both.

Two ways lead to one. `prove_head` reads the entry that promotes the head, with the proof that it is
in the log: all that is needed to use the weights. `history.head_history` reads the whole log, and
tells how the head was made and by whom, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import trio

from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import LogProofs
from tequio_client.worker.ledger import follower
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.policy import TlogProof
from tequio_shared.network.genesis import Genesis
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest

_PAUSES_S = (1.0, 2.0)
"""Answers are cached for a second."""
Blob: TypeAlias = Callable[[Digest], bytes | None]
"""Gets a document by its hash; None when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDocuments:
    """Documents that the run's manifest names, checked by their hashes."""

    config: bytes
    corpus: Corpus
    tokenizer: bytes
    """The file that the manifest names; empty for a run on raw bytes."""
    plugin: bytes
    """Archive of the run's own code; empty for a run without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedHead:
    genesis: Genesis
    manifest: Manifest
    documents: RunDocuments
    head: Head
    entry: int
    """Log index of its head.promote."""
    proof: TlogProof
    """The entry under the checkpoint; the leaf as `extra`."""


async def prove_head(
    api: LedgerApi, run: RunAnswer, number: int, seen: Path | None = None
) -> CertifiedHead:
    """Find the certified head of a round in the log, and prove it under one checkpoint.

    Costs a few bundles of entries and O(log n) tiles. With the folder `seen` as in
    `newest_checkpoint`. Raises UserFacingError for no such head, and what the API raises.
    """
    manifest = await runs.read_manifest(run.run, api)
    runs.check_name(run, manifest)
    documents = {name: await api.get_blob(name) for name in _named_documents(manifest)}
    checkpoint, note = await newest_checkpoint(api, seen)
    proofs = LogProofs(api, checkpoint)
    promotion = await runs.find_promotion(api, run, number, proofs)
    path = tuple(await proofs.inclusion(promotion.index))
    leaf = promotion.entry.leaf()
    return CertifiedHead(
        genesis=(await api.network()).genesis,
        manifest=manifest,
        documents=fetch_documents(manifest, documents.get),
        head=promotion.head(manifest.run_id),
        entry=promotion.index,
        proof=TlogProof(index=promotion.index, path=path, note=note, extra=leaf),
    )


async def newest_run(api: LedgerApi, name: str, seen: Path | None = None) -> RunAnswer:
    """Find a run, with the newest head that its log had when asked; `name` as in `runs.find_run`.

    A ledger that names an older head is asked again, since a cache may have answered, and is then
    found out. Heads that are promoted meanwhile do not count against it. With the folder `seen` as
    in `newest_checkpoint`. Raises PeerError, UserFacingError, LogForkedError, and what the API
    raises.
    """
    size = 0
    for pause_s in (0.0, *_PAUSES_S):
        await trio.sleep(pause_s)
        run = runs.find_run(name, await api.runs())
        checkpoint, _ = await newest_checkpoint(api, seen)
        size = size or checkpoint.size
        newer = await runs.find_newer(api, run, LogProofs(api, checkpoint), size)
        if newer is None:
            return run
    raise PeerError(
        f"the ledger {api.url} names the head of round {run.head_round} as the newest one of "
        f"{run.name}, but its log has that of round {newer} after it: do not trust it"
    )


async def newest_checkpoint(api: LedgerApi, seen: Path | None) -> tuple[Checkpoint, bytes]:
    """Get the newest checkpoint, and its note.

    A folder keeps the newest one of each network that was `seen` there, which the log must
    continue: a ledger that goes back to an older log, or shows another one, is found out. Raises
    LogForkedError, and what the API raises.
    """
    if seen is None:
        return await api.checkpoint_note()
    name = to_text((await api.network()).id)
    return await follower.read_continued(api, seen / f"{name}.json")


def fetch_documents(manifest: Manifest, blob: Blob) -> RunDocuments:
    """Get the documents that a manifest names; raises UserFacingError if one is unavailable."""

    def get(what: str, name: str) -> bytes:
        raw = blob(digest_from_text(name))
        if raw is None or to_text(sha256(raw)) != name:
            raise UserFacingError(f"the ledger does not have the run's {what} ({name[:10]})")
        return raw

    tokenizer, code = manifest.tokenizer.file, manifest.own_code
    try:
        corpus = Corpus.parse(get("data manifest", manifest.data.manifest))
    except MalformedError as err:
        raise UserFacingError(f"the run's data manifest is invalid: {err}") from err
    return RunDocuments(
        config=get("configuration", manifest.model.config),
        corpus=corpus,
        tokenizer=get("tokenizer", tokenizer) if tokenizer else b"",
        plugin=get("plug-in", code.archive) if code else b"",
    )


def _named_documents(manifest: Manifest) -> list[Digest]:
    """The documents that `fetch_documents` gets."""
    code = manifest.own_code
    names = (manifest.data.manifest, manifest.model.config, manifest.tokenizer.file)
    found = [*names, code.archive if code else ""]
    return [digest_from_text(one) for one in found if one]
