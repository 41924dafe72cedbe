"""A certified head as a folder that transformers loads: complete, or absent.

The folder is made next to its target, and renamed when it is complete. What was fetched stays until
then, so an interrupted export continues where it stopped.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

import numpy as np
import trio
from numpy.typing import NDArray

from tequio_client import files
from tequio_client.checkpoint import history, layout, tensors
from tequio_client.checkpoint.history import HeadHistory
from tequio_client.checkpoint.layout import ExportForm
from tequio_client.checkpoint.proven import (
    CertifiedHead,
    RunDocuments,
    newest_checkpoint,
    newest_run,
    prove_head,
)
from tequio_client.checkpoint.tensors import MergedModel
from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.runtime import locked
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import WorkProgress
from tequio_client.worker import shutdown
from tequio_client.worker.store.trees import TreeRef, weights_ref
from tequio_client.worker.swarm.seeds import fetch_tree, find_stored
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.log.policy import Policy
from tequio_shared.round.manifest import Manifest

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EROFS, errno.EPERM)
_ROOM = 1.05
"""Factor for the documents and the overhead of the file system."""
_FETCHED, _MADE = "fetched", "made"
_PART = ".{}.part"
"""Name of the folder beside a target in which its export is made."""
_Head = TypeVar("_Head", bound=CertifiedHead)


WEIGHTS_FETCHED = "weights fetched (bytes)"
"""Work whose first step is what was fetched before; the others are bytes as they arrive."""


class WeightsMissingError(UserFacingError):
    """The stores lack weights, and seeds were not to be asked for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsOrigin:
    """A source of weights: stores on this computer, else the seeds that a ledger lists."""

    ledger: str
    stores: Sequence[Path] = ()
    also_seeds: bool = False
    """True if seeds are asked for what the stores lack."""
    trust: Policy | None = None
    seen: Path | None = None
    """Folder that keeps the newest checkpoints, as in `newest_checkpoint`; None: none are kept.

    Readers of the whole log do not use it.
    """

    def reader(self) -> LedgerReader:
        """Make a reader of the ledger's log, which has read nothing yet."""
        return LedgerReader(self.ledger, self.trust)

    async def find_run(self, name: str) -> RunAnswer:
        """Find a run that the ledger lists, as `runs.find_run`; raises LogForkedError too."""
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            if self.seen is not None:
                await newest_checkpoint(api, self.seen)
            return runs.find_run(name, await api.runs())

    async def find_newest(self, name: str) -> RunAnswer:
        """Find a run with its newest head, as `newest_run`."""
        async with LedgerApi(self.ledger, trust=self.trust) as api:
            return await newest_run(api, name, self.seen)


class CopyFormat(Protocol):
    """A format in which programs load a copy of an export: the module `gguf`, or `onnx`."""

    def check_installed(self) -> None:
        """Raise UserFacingError where a package is missing."""

    def place(self, folder: Path, /) -> Path:
        """Give the path of the copy, beside the folder."""

    def write(self, folder: Path, target: Path, progress: WorkProgress, /) -> None:
        """Write a copy to a path that is free; raises UserFacingError, OSError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    origin: WeightsOrigin
    run: str
    """Name, or the beginning of the id."""
    target: Path
    round: int | None = None
    """Round of the head; None for the last one."""
    form: ExportForm = ExportForm.HEAD
    merges_adapters: bool = False
    """Merge adapters into their base, for programs that only load complete models, of kinds that
    transformers knows."""
    copies: Sequence[CopyFormat] = ()


def export_head(
    options: ExportOptions, progress: WorkProgress, reader: LedgerReader | None = None
) -> HeadHistory:
    """Export a head, checked against the root in the log, with the card of how it was made.

    Reads the whole log, O(its entries). A `reader` of the same ledger is for callers that export
    one head after another: it keeps the state of the log in memory, and each export reads only
    the entries since the last one. Raises UserFacingError.
    """
    found = reader or options.origin.reader()

    def read() -> HeadHistory:
        found.read(progress)
        return found.ask(
            lambda log, source: history.head_history(log, source.blob, options.run, options.round)
        )

    return _export_to(options, progress, read, partial(history.render_card, ledger=found.ledger))


def export_weights(options: ExportOptions, progress: WorkProgress) -> CertifiedHead:
    """Export a head as `export_head`, but without its card: for programs that only use the weights.

    Reads the entry that promotes it, with its proof, and not the log. Raises UserFacingError.
    """
    return _export_to(options, progress, partial(trio.run, _prove, options), None)


async def _prove(options: ExportOptions) -> CertifiedHead:
    async with LedgerApi(options.origin.ledger, trust=options.origin.trust) as api:
        run = runs.find_run(options.run, await api.runs())
        number = run.head_round if options.round is None else options.round
        if number is None:
            raise UserFacingError(history.NO_HEAD)
        return await prove_head(api, run, number, options.origin.seen)


def remove_unfinished(target: Path, others: str) -> None:
    """Remove unfinished exports beside a target whose names match `others`, and keep its own.

    Those that another process makes stay.
    """
    for folder in target.parent.glob(_PART.format(others)):
        if folder.name != _PART.format(target.name):
            with suppress(UserFacingError), locked(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _export_to(
    options: ExportOptions,
    progress: WorkProgress,
    read: Callable[[], _Head],
    card_of: Callable[..., str] | None,
) -> _Head:
    target = options.target.absolute()
    folder = target.parent / _PART.format(target.name)
    _check_free(target)
    check_copies(target, options.copies)
    with (
        _part_folder(folder),
        disk_errors(target),
        shutdown.explain_unreachable_ledger(options.origin.ledger),
    ):
        found = read()
        form = _form(options, found.manifest)
        export = _Export(
            proven=found,
            form=form,
            card=card_of(found, form=form) if card_of else "",
            origin=options.origin,
            folder=folder,
            copies=len(options.copies),
            progress=progress,
        )
        trio.run(export.run)
        rename_with_copies(folder / _MADE, target, options.copies, progress)
        shutil.rmtree(folder / _FETCHED, ignore_errors=True)
    return found


@contextmanager
def _part_folder(folder: Path) -> Iterator[None]:
    """Lock the folder; fetched files stay in it after a failure, for the next attempt."""
    with locked(folder):
        try:
            yield
        finally:
            shutil.rmtree(folder / _MADE, ignore_errors=True)
            if not (folder / _FETCHED).exists():
                shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # Windows removes no folder with a lock that is held
        folder.rmdir()


def _form(options: ExportOptions, manifest: Manifest) -> ExportForm:
    """Raises UserFacingError."""
    code = manifest.own_code
    if options.merges_adapters and code is not None and "model" in code.provides:
        raise UserFacingError(
            f"the network of {manifest.name} is code of the plug-in {code.label}: trainers of the "
            "run compute it, with consent, and no other program can load it"
        )
    if options.merges_adapters:
        return ExportForm.MERGED if manifest.frozen else ExportForm.HEAD
    if options.form is ExportForm.MERGED and manifest.frozen is None:
        raise UserFacingError(
            f"{manifest.name} trains all weights of its model, so there are no adapters to merge: "
            "leave out --merged"
        )
    return options.form


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    proven: CertifiedHead
    form: ExportForm
    card: str
    """Empty for none."""
    origin: WeightsOrigin
    folder: Path
    copies: int
    progress: WorkProgress

    async def run(self) -> None:
        """Make the folder; raises UserFacingError."""
        async with LedgerApi(self.origin.ledger, trust=self.origin.trust) as api:
            weights, *base = await self.weights(api)
        await trio.to_thread.run_sync(self.write, weights, base)

    async def weights(self, api: LedgerApi) -> list[Path]:
        """Find or fetch the head, then the files of the base that it is merged into."""
        manifest = self.proven.manifest
        head = weights_ref(manifest, self.proven.head.weights_root)
        merged = manifest.frozen if self.form is ExportForm.MERGED else None
        base = [TreeRef.of_file(one.root, one.size_bytes) for one in merged.files] if merged else []
        refs, stores = (head, *base), tuple(self.origin.stores)
        found = [await trio.to_thread.run_sync(find_stored, ref, stores) for ref in refs]
        lacking = [ref for ref, path in zip(refs, found, strict=True) if path is None]
        if lacking and stores and not self.origin.also_seeds:
            names = ", ".join(map(str, stores))
            raise WeightsMissingError(
                f"{names} does not have the weights {to_text(lacking[0].root)[:10]} complete and "
                "undamaged: give another --store, or none to fetch them from the ledger's seeds"
            )
        base_bytes = 2 * sum(ref.size_bytes for ref in base)  # 32 bits for 16
        made_bytes = (1 + self.copies) * (int(_ROOM * head.size_bytes) + base_bytes)
        check_room(self.folder, made_bytes + sum(ref.size_bytes for ref in lacking))
        return [
            path if path is not None else await self._fetched(api, ref)
            for ref, path in zip(refs, found, strict=True)
        ]

    async def _fetched(self, api: LedgerApi, ref: TreeRef) -> Path:
        with self.progress.work(WEIGHTS_FETCHED, ref.size_bytes) as tick:
            return await fetch_tree(api, ref, self.folder / _FETCHED, tick)

    def write(self, weights: Path, base: Sequence[Path]) -> None:
        """Write all files of the export; raises UserFacingError."""
        proven, manifest, folder = self.proven, self.proven.manifest, self.folder / _MADE
        shutil.rmtree(folder, ignore_errors=True)
        (folder / layout.TEQUIO_FOLDER).mkdir(parents=True)
        try:
            fixed = fixed_files(manifest, proven.documents, form=self.form)
        except MalformedError as err:
            raise UserFacingError(f"this run cannot be exported: {err}") from err
        for name, content in fixed.items():
            (folder / name).write_bytes(content)
        with self.progress.work("weights written (bytes)", manifest.model.parameters * 4) as tick:
            is_adapter = manifest.frozen is not None
            only = str(layout.adapter_of(folder).relative_to(folder)) if is_adapter else ""
            tensors.write_weights(manifest, weights, folder, tick, only=only)
        if base:
            self._merge(weights, base)
        claim = layout.HeadClaim(
            network=to_text(proven.genesis.network_id),
            run=to_text(manifest.run_id),
            round=proven.head.round,
            head=to_text(proven.head.hash),
            weights_root=to_text(proven.head.weights_root),
            entry=proven.entry,
        )
        (folder / layout.CLAIM).write_bytes(claim.encode())
        (folder / layout.PROOF).write_bytes(proven.proof.encode())
        if self.card:
            (folder / layout.CARD).write_bytes(self.card.encode())

    def _merge(self, head: Path, base: Sequence[Path]) -> None:
        manifest = self.proven.manifest
        flat: NDArray[np.int32] = np.memmap(head, "<i4", "r", shape=(manifest.layout.elements,))
        try:
            model = MergedModel.of(manifest, flat, base)
        except MalformedError as err:
            raise UserFacingError(f"this head cannot be merged: {err}") from err
        with self.progress.work("weights merged (bytes)", model.size_bytes) as tick:
            model.write(self.folder / _MADE, tick)


def check_copies(target: Path, copies: Sequence[CopyFormat]) -> None:
    """Raise UserFacingError, before anything is fetched, for a copy that could not be written."""
    for one in copies:
        one.check_installed()
        layout.check_free(one.place(target))


def rename_with_copies(
    made: Path, target: Path, copies: Sequence[CopyFormat], progress: WorkProgress
) -> None:
    """Write the copies of a finished folder, then give all their names, the folder's last.

    After a failure there is neither a copy nor the folder. Raises UserFacingError and OSError.
    """
    with TemporaryDirectory(dir=made.parent) as scratch:
        places = [one.place(target) for one in copies]
        for one, place in zip(copies, places, strict=True):
            one.write(made, Path(scratch, place.name), progress)
        for place in places:
            written = Path(scratch, place.name)
            rename = files.sync_and_rename_folder if written.is_dir() else files.sync_and_rename
            rename(written, place)
    files.sync_and_rename_folder(made, target)


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Turn the errors of a full or read-only disk into UserFacingError."""
    try:
        yield
    except (OSError, BaseExceptionGroup) as err:
        found = err if isinstance(err, OSError) else err.subgroup(OSError)
        error = first_error(found) if found else None
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise UserFacingError(
                f"the disk of {place.parent} is full: free some space and run this again; files "
                "already fetched are kept"
            ) from err
        if isinstance(error, OSError) and error.errno in _NOT_OURS:
            raise UserFacingError(
                f"{place.parent} is not writable ({error.strerror}): choose another folder"
            ) from err
        raise


def check_room(folder: Path, needed_bytes: int, otherwise: str = "choose another folder") -> None:
    """Raise UserFacingError unless the disk of the folder has that many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise UserFacingError(
            f"{needed_bytes / 1e9:.1f} GB are needed in {folder} and {free / 1e9:.1f} GB are free: "
            f"free some space, or {otherwise}"
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


def fixed_files(
    manifest: Manifest, documents: RunDocuments, *, form: ExportForm = ExportForm.HEAD
) -> dict[str, bytes]:
    """Files that follow from the run's manifest alone, by path; raises MalformedError.

    An export of adapters has an adapter configuration in place of a model configuration.
    """
    corpus = documents.corpus
    if manifest.tokenizer.kind == "plugin":
        texts = {layout.TABLE: documents.tokenizer}
    else:
        tokenizer, settings = layout.tokenizer_files(
            documents.tokenizer, corpus.separator, manifest.model.sequence, corpus.chat
        )
        texts = {layout.TOKENIZER: tokenizer, layout.TOKENIZER_CONFIG: settings}
    code = {layout.PLUGIN: documents.plugin} if documents.plugin else {}
    whole = {
        layout.CONFIG: layout.model_config(documents.config),
        layout.GENERATION: layout.generation_config(corpus),
    }
    if manifest.frozen is not None and form is ExportForm.HEAD:
        whole = {layout.ADAPTER_CONFIG: layout.adapter_config(manifest.frozen)}
    return {
        **whole,
        **texts,
        **code,
        layout.MANIFEST: manifest.encode(),
        layout.CORPUS: corpus.encode(),
        layout.SOURCE_CONFIG: documents.config,
    }
