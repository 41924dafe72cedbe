"""A head that the log certifies, the documents of its run, and the proof of both.

Two ways lead to one. `prove_head` reads the entry that promotes the head, with the proof that it is
in the log: all that is needed to use the weights. `history.head_history` reads the whole log, and
tells how the head was made and by whom, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import LogProofs
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.log.policy import TlogProof
from tequio_shared.network.genesis import Genesis
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest

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


async def prove_head(api: LedgerApi, run: RunAnswer, number: int) -> CertifiedHead:
    """Find the certified head of a round in the log, and prove it.

    Costs a few bundles of entries and O(log n) tiles. Raises UserFacingError for no such head, and
    what the API raises.
    """
    network = await api.network()
    manifest = await runs.read_manifest(run.run, api)
    documents = {name: await api.get_blob(name) for name in _named_documents(manifest)}
    promotion = await runs.find_promotion(api, run, number)
    checkpoint, note = await api.checkpoint_note()
    proofs = LogProofs(api, checkpoint)
    await proofs.entries(network, [promotion.index])
    path = tuple(await proofs.inclusion(promotion.index))
    leaf = promotion.entry.leaf()
    return CertifiedHead(
        genesis=network.genesis,
        manifest=manifest,
        documents=fetch_documents(manifest, documents.get),
        head=promotion.head(manifest.run_id),
        entry=promotion.index,
        proof=TlogProof(index=promotion.index, path=path, note=note, extra=leaf),
    )


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
