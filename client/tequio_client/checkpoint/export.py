"""A certified head as a folder that transformers loads: made whole, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import trio

from tequio_client.checkpoint import card, fixed, parts, tensors, weights_source
from tequio_client.checkpoint.merged import Merged
from tequio_client.checkpoint.parts import Form
from tequio_client.checkpoint.story import story_of
from tequio_client.checkpoint.workplace import check_room, workplace
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.verify.folded_log import FoldedLog
from tequio_client.verify.report import Report
from tequio_client.verify.source import LiveLog, NotAvailableError
from tequio_client.worker import base_files, endings
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.checkpoint.story import Story, Wanted
    from tequio_client.checkpoint.workplace import Workplace
    from tequio_client.verify.progress import WorkProgress
    from tequio_client.worker.store.trees import TreeRef
    from tequio_shared.manifest import Manifest
    from tequio_shared.policy import Policy


_ROOM = 1.05
"""Beside the weights: the documents, and what a file system takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the person asked for; without stores, weights come from the ledger's seeds."""

    ledger: str
    wanted: Wanted
    target: Path
    stores: Sequence[Path] = ()
    trust: Policy | None = None
    form: Form = Form.HEAD
    is_whole: bool = False
    """Take the merged form where there is one: for who can use whole models alone."""


def run(wish: Wish, progress: WorkProgress) -> Story:
    """Export; what is at the target afterwards was checked against the log's root.

    Raises UserFacingError.
    """
    with workplace(wish.target) as place, endings.reached(wish.ledger):
        story = trio.run(partial(_export, wish, place, progress))
        place.settle()
    return story


async def _export(wish: Wish, place: Workplace, progress: WorkProgress) -> Story:
    async with LedgerApi(wish.ledger, trust=wish.trust) as api:
        story = await read_story(api, wish.wanted, progress)
        form = _form(wish, story.manifest)
        made = _Made(story=story, form=form, place=place, ledger=wish.ledger)
        head, *base = await _weights(api, made, wish.stores, progress)
    await trio.to_thread.run_sync(_make, made, head, base, progress)
    return story


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What is made, and where."""

    story: Story
    form: Form
    place: Workplace
    ledger: str

    @property
    def references(self) -> tuple[TreeRef, ...]:
        """The trees it is made of: the head, then the files of a base that it is merged into."""
        manifest = self.story.manifest
        head = weights_source.reference(manifest, self.story.head.weights_root)
        files = manifest.frozen.files if manifest.frozen and self.form is Form.MERGED else ()
        return (head, *map(base_files.reference, files))

    @property
    def size_bytes(self) -> int:
        """What the folder takes, about."""
        head, *base = self.references
        base_bytes = sum(one.size_bytes for one in base)
        return int(_ROOM * head.size_bytes) + 2 * base_bytes  # 32 bits for 16


def _form(wish: Wish, manifest: Manifest) -> Form:
    """Raises UserFacingError."""
    if wish.is_whole:
        return Form.MERGED if manifest.frozen else Form.HEAD
    if wish.form is Form.MERGED and manifest.frozen is None:
        raise UserFacingError(
            f"{manifest.name} trains all weights of its model: there is nothing to merge; leave "
            "--merged away"
        )
    return wish.form


async def read_story(api: LedgerApi, wanted: Wanted, progress: WorkProgress) -> Story:
    """Read and check the ledger's whole log, and find a head in it.

    Raises UserFacingError, and what the API raises.
    """
    return await trio.to_thread.run_sync(_story, LiveLog(api), wanted, progress, api.url)


def _story(source: LiveLog, wanted: Wanted, progress: WorkProgress, url: str) -> Story:
    report = Report()
    try:
        log = FoldedLog(source, report, tiles=source)
        log.read(progress)
    except NotAvailableError as err:
        raise LedgerUnavailableError(str(err)) from err
    report.check("the log", f"run `tequio audit --ledger {url}` for details")
    return story_of(log, source.blob, wanted)


async def _weights(
    api: LedgerApi, made: _Made, stores: Sequence[Path], progress: WorkProgress
) -> list[Path]:
    """The files of all references: from the stores, else from the ledger's seeds."""
    refs, folder = made.references, made.place.folder
    found = [
        await trio.to_thread.run_sync(weights_source.stored, ref, tuple(stores)) for ref in refs
    ]
    lacking = [ref for ref, path in zip(refs, found, strict=True) if path is None]
    if lacking and stores:
        names = ", ".join(map(str, stores))
        raise UserFacingError(
            f"{names} does not have the weights {to_text(lacking[0].root)[:10]} whole and "
            "undamaged: give another --store, or none to fetch them from the ledger's seeds"
        )
    check_room(folder, made.size_bytes + sum(ref.size_bytes for ref in lacking))
    return [
        path if path is not None else await _fetched(api, ref, made.place, progress)
        for ref, path in zip(refs, found, strict=True)
    ]


async def _fetched(api: LedgerApi, ref: TreeRef, place: Workplace, progress: WorkProgress) -> Path:
    with progress.work("weights fetched (bytes)", ref.size_bytes) as tick:
        left = ref.size_bytes

        def told(missing: int) -> None:
            nonlocal left
            tick(left - missing)
            left = missing

        return await weights_source.fetched(api, ref, place.fetched, told)


def _make(made: _Made, head: Path, base: Sequence[Path], progress: WorkProgress) -> None:
    folder, story = made.place.fresh(), made.story
    (folder / parts.OURS).mkdir()
    manifest = story.manifest
    try:
        files = fixed.files(manifest, story.documents, form=made.form)
    except MalformedError as err:
        raise UserFacingError(f"this run cannot be exported: {err}") from err
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with progress.work("weights written (bytes)", manifest.model.parameters * 4) as tick:
        only = "" if manifest.frozen is None else str(parts.adapter_of(folder).relative_to(folder))
        tensors.write(manifest, head, folder, tick, only=only)
    if base:
        _merge(made, head, base, progress)
    (folder / parts.CLAIM).write_bytes(claim_of(story).encode())
    (folder / parts.PROOF).write_bytes(story.proof.encode())
    text = card.write(story, made.ledger, form=made.form)
    (folder / parts.CARD).write_text(text, encoding="utf-8")


def _merge(made: _Made, head: Path, base: Sequence[Path], progress: WorkProgress) -> None:
    manifest = made.story.manifest
    flat: NDArray[np.int32] = np.memmap(head, "<i4", "r", shape=(manifest.layout.elements,))
    try:
        model = Merged.of(manifest, flat, base)
    except MalformedError as err:
        raise UserFacingError(f"this head cannot be merged: {err}") from err
    with progress.work("weights merged (bytes)", model.size_bytes) as tick:
        model.write(made.place.made, tick)


def claim_of(story: Story) -> parts.Claim:
    """What the folder says of itself."""
    head = story.head
    return parts.Claim(
        network=to_text(story.genesis.network_id),
        run=to_text(story.manifest.run_id),
        round=head.round,
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        entry=story.entry,
    )
