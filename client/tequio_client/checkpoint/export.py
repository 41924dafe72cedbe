"""A certified head as a folder that transformers loads: complete, or absent.

The folder is made next to its target, and renamed when it is complete. What was fetched stays until
then, so an interrupted export continues where it stopped.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import trio

from tequio_client import files as tequio_client_files
from tequio_client.checkpoint import history, layout, tensors
from tequio_client.checkpoint.history import HeadHistory, HeadSelector, RunDocuments, head_history
from tequio_client.checkpoint.layout import ExportForm
from tequio_client.checkpoint.tensors import MergedModel
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.runtime import locked
from tequio_client.verify.reader import FoldedLog
from tequio_client.verify.report import AuditReport, WorkProgress
from tequio_client.verify.source import (
    LiveLog,
    NotAvailableError,
    SeedSource,
    StoreFolders,
    open_seeds,
)
from tequio_client.worker import shutdown
from tequio_client.worker.shutdown import first_error
from tequio_client.worker.store.trees import TreeRef, hash_tree_file
from tequio_client.worker.swarm.sources import FetchFailedError
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log.policy import Policy
from tequio_shared.round.manifest import Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray


def fixed_files(
    manifest: Manifest, documents: RunDocuments, *, form: ExportForm = ExportForm.HEAD
) -> dict[str, bytes]:
    """Files that follow from the run's manifest alone, by path; raises MalformedError.

    An export of adapters has an adapter configuration in place of a model configuration.
    """
    corpus = documents.corpus
    tokenizer, settings = layout.tokenizer_files(
        documents.tokenizer, corpus.separator, manifest.model.sequence
    )
    whole = {
        layout.CONFIG: layout.model_config(documents.config),
        layout.GENERATION: layout.generation_config(corpus),
    }
    if manifest.frozen is not None and form is ExportForm.HEAD:
        whole = {layout.ADAPTER_CONFIG: layout.adapter_config(manifest.frozen)}
    return {
        **whole,
        layout.TOKENIZER: tokenizer,
        layout.TOKENIZER_CONFIG: settings,
        layout.MANIFEST: manifest.encode(),
        layout.CORPUS: corpus.encode(),
        layout.SOURCE_CONFIG: documents.config,
    }


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EROFS, errno.EPERM)


class ExportFolder:
    """A locked work folder; `settle` turns its content into the export."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self.fetched = folder / "fetched"
        self.made = folder / "made"

    def fresh(self) -> Path:
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir(parents=True)
        return self.made

    def settle(self) -> None:
        """Rename the export to its target, and remove the work folder."""
        tequio_client_files.sync_and_rename_folder(self.made, self.target)
        shutil.rmtree(self.fetched, ignore_errors=True)


@contextmanager
def locked_export_folder(target: Path) -> Iterator[ExportFolder]:
    """Lock the work folder of an export; raises UserFacingError.

    Fetched files stay after a failure, for the next attempt.
    """
    target = target.absolute()
    folder = target.parent / f".{target.name}.part"
    _check_free(target)
    place = ExportFolder(target, folder)
    try:
        with locked(folder), disk_errors(target):
            yield place
    finally:
        if not place.fetched.exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Turn the errors of a full or read-only disk into UserFacingError."""
    try:
        yield
    except* OSError as group:
        error = first_error(group)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise UserFacingError(
                f"the disk of {place.parent} is full: free some space and run this again; files "
                "already fetched are kept"
            ) from group
        if isinstance(error, OSError) and error.errno in _NOT_OURS:
            raise UserFacingError(
                f"{place.parent} is not writable ({error.strerror}): choose another folder"
            ) from group
        raise


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raise UserFacingError unless the disk of the folder has that many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise UserFacingError(
            f"{needed_bytes / 1e9:.1f} GB are needed in {folder} and {free / 1e9:.1f} GB are free: "
            "free some space, or choose another folder with --to"
        )


def _check_free(target: Path) -> None:
    try:
        is_taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as err:
        raise UserFacingError(f"{target} cannot be read: {err.strerror}") from err
    if is_taken:
        raise UserFacingError(f"{target} exists and is not empty: choose another folder with --to")
    if not target.parent.is_dir():
        raise UserFacingError(f"the folder {target.parent} does not exist: create it first")


FETCH_ATTEMPT_S = 60.0
"""Length of one fetch attempt; another follows if it brought at least one piece."""
_REPORT_S = 1.0
_INTEGER = 4


def weights_tree(manifest: Manifest, root: Digest) -> TreeRef:
    size = manifest.chunks * 4_096 * _INTEGER
    return TreeRef(root=root, size_bytes=size, piece_bytes=PIECE_BYTES)


def find_stored(ref: TreeRef, stores: Sequence[Path]) -> Path | None:
    """Find the tree in the stores, with every byte hashed; None if none has it."""
    for path in StoreFolders(stores).candidates(ref):
        with path.open("rb") as file:
            if hash_tree_file(file, ref.piece_bytes).ref == ref:
                return path
    return None


async def fetch_tree(
    api: LedgerApi, ref: TreeRef, cache: Path, told: Callable[[int], None]
) -> Path:
    """Fetch the tree from the seeds that the ledger lists; `told` gets the bytes still missing.

    Pieces are verified as they arrive, and stay in `cache`. Raises UserFacingError.
    """
    async with open_seeds(api, cache) as found:
        if not found.peers:
            raise UserFacingError(
                f"the ledger at {api.url} lists no seed: give the folder of a seed with --store"
            )
        await _fetch(found, ref, told)
        return found.fetcher.store.tree_path(ref.root)


async def _fetch(found: SeedSource, ref: TreeRef, told: Callable[[int], None]) -> None:
    store = found.fetcher.store
    missing = await trio.to_thread.run_sync(store.missing_bytes, ref)
    while (failure := await _attempt(found, ref, told)) is not None:
        left = await trio.to_thread.run_sync(store.missing_bytes, ref)
        if left >= missing:
            raise UserFacingError(
                f"no seed sends the weights {to_text(ref.root)[:10]}: {failure}; run this again "
                "later, or give the folder of a node that has them with --store"
            )
        missing = left


async def _attempt(
    found: SeedSource, ref: TreeRef, told: Callable[[int], None]
) -> FetchFailedError | None:
    failure = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_report_missing, partial(found.fetcher.store.missing_bytes, ref), told)
        try:
            await found.fetcher.fetch_tree(ref, found.peers, timeout_s=FETCH_ATTEMPT_S)
        except FetchFailedError as err:
            failure = err
        nursery.cancel_scope.cancel()
    return failure


async def _report_missing(missing: Callable[[], int], report: Callable[[int], None]) -> None:
    while True:
        report(await trio.to_thread.run_sync(missing))
        await trio.sleep(_REPORT_S)


_ROOM = 1.05
"""Factor for the documents and the overhead of the file system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Options of an export; without stores, weights come from the ledger's seeds."""

    ledger: str
    wanted: HeadSelector
    target: Path
    stores: Sequence[Path] = ()
    trust: Policy | None = None
    form: ExportForm = ExportForm.HEAD
    merges_adapters: bool = False
    """Merge adapters into their base, for programs that only load complete models."""


def export_head(options: ExportOptions, progress: WorkProgress) -> HeadHistory:
    """Export a head; its weights are checked against the root in the log.

    Raises UserFacingError.
    """
    with (
        locked_export_folder(options.target) as place,
        shutdown.explain_unreachable_ledger(options.ledger),
    ):
        story = trio.run(partial(_export, options, place, progress))
        place.settle()
    return story


async def _export(
    options: ExportOptions, place: ExportFolder, progress: WorkProgress
) -> HeadHistory:
    async with LedgerApi(options.ledger, trust=options.trust) as api:
        story = await read_story(api, options.wanted, progress)
        form = _form(options, story.manifest)
        made = _Made(story=story, form=form, place=place, ledger=options.ledger)
        head, *base = await _weights(api, made, options.stores, progress)
    await trio.to_thread.run_sync(_make, made, head, base, progress)
    return story


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """Content and place of one export."""

    story: HeadHistory
    form: ExportForm
    place: ExportFolder
    ledger: str

    @property
    def references(self) -> tuple[TreeRef, ...]:
        """Trees of the head, then of the files of the base that it is merged into."""
        manifest = self.story.manifest
        head = weights_tree(manifest, self.story.head.weights_root)
        files = manifest.frozen.files if manifest.frozen and self.form is ExportForm.MERGED else ()
        return (head, *(TreeRef.of_file(one.root, one.size_bytes) for one in files))

    @property
    def size_bytes(self) -> int:
        """Approximate size of the folder."""
        head, *base = self.references
        base_bytes = sum(one.size_bytes for one in base)
        return int(_ROOM * head.size_bytes) + 2 * base_bytes  # 32 bits for 16


def _form(options: ExportOptions, manifest: Manifest) -> ExportForm:
    """Raises UserFacingError."""
    if options.merges_adapters:
        return ExportForm.MERGED if manifest.frozen else ExportForm.HEAD
    if options.form is ExportForm.MERGED and manifest.frozen is None:
        raise UserFacingError(
            f"{manifest.name} trains all weights of its model, so there are no adapters to merge: "
            "leave out --merged"
        )
    return options.form


async def read_story(api: LedgerApi, wanted: HeadSelector, progress: WorkProgress) -> HeadHistory:
    """Read and check the ledger's whole log, and find a head in it.

    Raises UserFacingError, and what the API raises.
    """
    return await trio.to_thread.run_sync(_story, LiveLog(api), wanted, progress, api.url)


def _story(source: LiveLog, wanted: HeadSelector, progress: WorkProgress, url: str) -> HeadHistory:
    report = AuditReport()
    try:
        log = FoldedLog(source, report, tiles=source)
        log.read(progress)
    except NotAvailableError as err:
        raise LedgerUnavailableError(str(err)) from err
    report.check("the log", f"run `tequio audit --ledger {url}` for details")
    return head_history(log, source.blob, wanted)


async def _weights(
    api: LedgerApi, made: _Made, stores: Sequence[Path], progress: WorkProgress
) -> list[Path]:
    refs, folder = made.references, made.place.folder
    found = [await trio.to_thread.run_sync(find_stored, ref, tuple(stores)) for ref in refs]
    lacking = [ref for ref, path in zip(refs, found, strict=True) if path is None]
    if lacking and stores:
        names = ", ".join(map(str, stores))
        raise UserFacingError(
            f"{names} does not have the weights {to_text(lacking[0].root)[:10]} complete and "
            "undamaged: give another --store, or none to fetch them from the ledger's seeds"
        )
    check_room(folder, made.size_bytes + sum(ref.size_bytes for ref in lacking))
    return [
        path if path is not None else await _fetched(api, ref, made.place, progress)
        for ref, path in zip(refs, found, strict=True)
    ]


async def _fetched(
    api: LedgerApi, ref: TreeRef, place: ExportFolder, progress: WorkProgress
) -> Path:
    with progress.work("weights fetched (bytes)", ref.size_bytes) as tick:
        left = ref.size_bytes

        def report(missing: int) -> None:
            nonlocal left
            tick(left - missing)
            left = missing

        return await fetch_tree(api, ref, place.fetched, report)


def _make(made: _Made, head: Path, base: Sequence[Path], progress: WorkProgress) -> None:
    folder, story = made.place.fresh(), made.story
    (folder / layout.TEQUIO_FOLDER).mkdir()
    manifest = story.manifest
    try:
        files = fixed_files(manifest, story.documents, form=made.form)
    except MalformedError as err:
        raise UserFacingError(f"this run cannot be exported: {err}") from err
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with progress.work("weights written (bytes)", manifest.model.parameters * 4) as tick:
        only = "" if manifest.frozen is None else str(layout.adapter_of(folder).relative_to(folder))
        tensors.write_weights(manifest, head, folder, tick, only=only)
    if base:
        _merge(made, head, base, progress)
    (folder / layout.CLAIM).write_bytes(claim_of(story).encode())
    (folder / layout.PROOF).write_bytes(story.proof.encode())
    text = history.render_card(story, made.ledger, form=made.form)
    (folder / layout.CARD).write_text(text, encoding="utf-8")


def _merge(made: _Made, head: Path, base: Sequence[Path], progress: WorkProgress) -> None:
    manifest = made.story.manifest
    flat: NDArray[np.int32] = np.memmap(head, "<i4", "r", shape=(manifest.layout.elements,))
    try:
        model = MergedModel.of(manifest, flat, base)
    except MalformedError as err:
        raise UserFacingError(f"this head cannot be merged: {err}") from err
    with progress.work("weights merged (bytes)", model.size_bytes) as tick:
        model.write(made.place.made, tick)


def claim_of(story: HeadHistory) -> layout.HeadClaim:
    head = story.head
    return layout.HeadClaim(
        network=to_text(story.genesis.network_id),
        run=to_text(story.manifest.run_id),
        round=head.round,
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        entry=story.entry,
    )
