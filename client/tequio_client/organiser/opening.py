"""Opening a run: the first head and all documents made, checked, stored, and named in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec import UNSET, UnsetType

from tequio_client.dataset.build import TOKENIZER_NAME, held_out_name, train_name
from tequio_client.organiser import base as bases
from tequio_client.organiser import outline as outlines
from tequio_client.organiser import reckoning, run_words
from tequio_client.organiser import source as sources
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.run import first_head
from tequio_shared.statements.runs import RunOpen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.organiser.base import Begun
    from tequio_client.trainer.origin import Origin
    from tequio_client.worker.store.store import Store
    from tequio_shared.corpus import Corpus
    from tequio_shared.manifest import Manifest


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run ready to be opened: manifest, documents (blobs) and where the shards lie."""

    manifest: Manifest
    blobs: tuple[bytes, ...]
    weights: bytes  # master copy of head 0
    shard_files: tuple[tuple[str, Path], ...]  # (root as text, file)
    begun: Begun | None = None
    """Where adapters are trained: with the frozen base, whose files go with the shards."""


def prepare(path: Path) -> Prepared:
    """Make everything that the plan at `path` asks for; raises UserFacingError.

    Where the plan says whom it expects, what these cannot do is refused before weights are made.
    """
    outline = outlines.read(path)
    if not isinstance(outline.plan.expect, UnsetType):
        reckoning.reckon(outline, outline.plan.expect).check()
    corpus, folder = outline.corpus, outline.folder
    layout = outline.manifest.algorithm.layout
    begun = bases.begin(outline.source, corpus, layout) if outline.manifest.frozen else None
    origin = begun.origin if begun else sources.origin(outline.source, corpus, layout)
    model = origin.described(sequence=corpus.sequence, aux_dtype=None)
    manifest = msgspec.structs.replace(
        outline.manifest, model=model, base=begun.base if begun else UNSET
    )
    manifest = outlines.checked(manifest, path)
    if not outline.source.is_fresh and not begun:
        _tell_rounding(origin, outline.source.plan.source)
    tokenizer = [sources.content(folder / TOKENIZER_NAME)] if corpus.tokenizer.file else []
    return Prepared(
        manifest=manifest,
        blobs=(manifest.encode(), origin.config, corpus.encode(), *tokenizer),
        weights=origin.master.astype("<i4", copy=False).tobytes(),
        shard_files=_shard_files(corpus, folder),
        begun=begun,
    )


def keep(prepared: Prepared, store: Store) -> None:
    """Put the first head, all shards and a frozen base into a store, from which a seed serves them.

    Raises UserFacingError when a shard is not what the data manifest says.
    """
    if prepared.begun is not None:
        prepared.begun.keep(store)
    ref = store.put_tree(prepared.weights, PIECE_BYTES)
    store.pin(ref.root)
    for root, file in prepared.shard_files:
        ref = store.put_tree_file(file, PIECE_BYTES)
        if to_text(ref.root) != root:
            raise UserFacingError(f"{file} is not the shard that the data manifest names; rebuild")
    for blob in prepared.blobs:
        store.put_blob(blob)


async def announce(prepared: Prepared, ledger: LedgerApi, folders: Sequence[Path]) -> None:
    """Upload the documents and log run.open as the organisers in the folders, which are locked.

    Raises LedgerRefusedError when it may not be.
    """
    manifest = prepared.manifest
    body = RunOpen(manifest=to_text(manifest.run_id), head=to_text(first_head(manifest).hash))
    await run_words.say(ledger, folders, body, manifest.run_id, prepared.blobs)
    log.info("run opened", run=to_text(manifest.run_id)[:10], name=manifest.name)


def _tell_rounding(origin: Origin, source: str) -> None:
    from tequio_client.trainer.origin import rounding  # noqa: PLC0415 - brings torch

    found = rounding(origin)
    log.info(
        "weights taken over",
        source=source,
        weights=found.weights,
        rounded=found.rounded,
        by_at_most=found.largest,
    )


def _shard_files(corpus: Corpus, folder: Path) -> tuple[tuple[str, Path], ...]:
    files = [(one.root, folder / train_name(at)) for at, one in enumerate(corpus.train)]
    files += [(one.root, folder / held_out_name(at)) for at, one in enumerate(corpus.held_out)]
    for _, file in files:
        if not file.is_file():
            raise UserFacingError(f"the shard {file} is missing; build the data again")
    return tuple(files)
