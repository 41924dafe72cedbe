"""Opening a run: the first head and all documents made, checked, stored, and named in the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec import UNSET

from tequio_client.dataset.build import MANIFEST_NAME, TOKENIZER_NAME, held_out_name, train_name
from tequio_client.organiser import plan as plans
from tequio_shared.corpus import Corpus
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.manifest import Data, Manifest
from tequio_shared.run import first_head
from tequio_shared.statements.runs import RunOpen

if TYPE_CHECKING:
    from tequio_client.ledger_api import LedgerApi
    from tequio_client.trainer.origin import Origin
    from tequio_client.worker.outbox import Outbox
    from tequio_client.worker.store import Store
    from tequio_shared.keys import Signer
    from tequio_shared.layout import LayoutKind

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run ready to be opened: manifest, documents (blobs) and where the shards lie."""

    manifest: Manifest
    blobs: tuple[bytes, ...]
    weights: bytes  # master copy of head 0
    shard_files: tuple[tuple[str, Path], ...]  # (root as text, file)


def prepare(path: Path) -> Prepared:
    """Make everything that the plan at `path` asks for; raises UserFacingError."""
    plan = plans.read(path)
    folder = _beside(path, plan.data.folder)
    corpus = _corpus(folder)
    outer = plans.algorithm(plan.algorithm, plan.inner)
    origin = _origin(path, plan.model, outer.layout)
    draft = Manifest(
        name=plan.name,
        model=origin.described(sequence=corpus.sequence, aux_dtype=None),
        tokenizer=corpus.tokenizer,
        data=Data(manifest=to_text(corpus.digest), root=to_text(corpus.root)),
        algorithm=outer,
        inner=plans.inner(plan.inner),
        windows=plans.windows(plan.windows, corpus.sequence),
        rounds=plans.rounds(plan.rounds),
        admission=plan.admission,
        measure=plan.measure if corpus.held_out else UNSET,
        witness_share_bp=round(plan.witness_share * 10_000),
    )
    manifest = _checked(draft, path)
    _check_vocabulary(origin.config, corpus)
    tokenizer = [_content(folder / TOKENIZER_NAME)] if corpus.tokenizer.file else []
    return Prepared(
        manifest=manifest,
        blobs=(manifest.encode(), origin.config, corpus.encode(), *tokenizer),
        weights=origin.master.astype("<i4", copy=False).tobytes(),
        shard_files=_shard_files(corpus, folder),
    )


def keep(prepared: Prepared, store: Store) -> None:
    """Put the first head and all shards into a store, from which a seed serves them.

    Raises UserFacingError when a shard is not what the data manifest says.
    """
    ref = store.put_tree(prepared.weights, PIECE_BYTES)
    store.pin(ref.root)
    for root, file in prepared.shard_files:
        ref = store.put_tree_file(file, PIECE_BYTES)
        if to_text(ref.root) != root:
            raise UserFacingError(f"{file} is not the shard that the data manifest names; rebuild")
    for blob in prepared.blobs:
        store.put_blob(blob)


async def announce(
    prepared: Prepared, ledger: LedgerApi, outbox: Outbox, signer: Signer, now_ms: int
) -> None:
    """Upload the documents and log run.open; raises LedgerRefusedError when it may not be."""
    for blob in prepared.blobs:
        await ledger.put_blob(blob, signer, now_ms)
    manifest = prepared.manifest
    body = RunOpen(manifest=to_text(manifest.run_id), head=to_text(first_head(manifest).hash))
    await outbox.say(body, manifest.run_id, None)
    log.info("run opened", run=to_text(manifest.run_id)[:10], name=manifest.name)


def _beside(path: Path, name: str) -> Path:
    return Path(name) if Path(name).is_absolute() else path.parent / name


def _corpus(folder: Path) -> Corpus:
    try:
        return Corpus.parse((folder / MANIFEST_NAME).read_bytes())
    except OSError as err:
        raise UserFacingError(
            f"no data manifest in {folder} ({err.strerror}); build it with `tequio data build`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"the data manifest in {folder} is damaged: {err}") from err


def _origin(path: Path, plan: plans.ModelPlan, layout: LayoutKind) -> Origin:
    from tequio_client.trainer import origin as origins  # noqa: PLC0415 - brings torch

    file = _beside(path, plan.source)
    if file.is_file():
        return origins.from_config(_content(file), seed=plan.seed, layout=layout)
    if plan.source.endswith(".json"):
        raise UserFacingError(f"there is no model configuration {file}, which the plan names")
    source = str(file) if file.is_dir() else plan.source
    return origins.from_pretrained(source, layout=layout)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {file}: {err.strerror}") from err


def _checked(manifest: Manifest, path: Path) -> Manifest:
    try:
        return Manifest.parse(manifest.encode())
    except MalformedError as err:
        raise UserFacingError(f"the plan {path} makes no valid run: {err}") from err


def _check_vocabulary(config: bytes, corpus: Corpus) -> None:
    known = msgspec.json.decode(config).get("vocab_size", 0)
    if known < corpus.tokenizer.vocab_size:
        raise UserFacingError(
            f"the model knows {known} tokens, the data has {corpus.tokenizer.vocab_size}; "
            "set vocab_size in the model's config"
        )


def _shard_files(corpus: Corpus, folder: Path) -> tuple[tuple[str, Path], ...]:
    files = [(one.root, folder / train_name(at)) for at, one in enumerate(corpus.train)]
    files += [(one.root, folder / held_out_name(at)) for at, one in enumerate(corpus.held_out)]
    for _, file in files:
        if not file.is_file():
            raise UserFacingError(f"the shard {file} is missing; build the data again")
    return tuple(files)
