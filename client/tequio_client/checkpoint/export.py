"""A certified head as a folder that transformers loads: made whole, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import trio

from tequio_client.audit.online import LiveLog
from tequio_client.checkpoint import card, fixed, parts, tensors, weights_source
from tequio_client.checkpoint.story import ReadLog
from tequio_client.checkpoint.workplace import check_room, workplace
from tequio_client.ledger_api import LedgerApi
from tequio_client.worker import endings
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.audit.main import Progress
    from tequio_client.checkpoint.story import Story, Wanted
    from tequio_client.checkpoint.workplace import Workplace
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


def run(wish: Wish, progress: Progress) -> Story:
    """Export; what is at the target afterwards was checked against the log's root.

    Raises UserFacingError.
    """
    with workplace(wish.target) as place, endings.reached(wish.ledger):
        story = trio.run(partial(_export, wish, place, progress))
        place.settle()
    return story


async def _export(wish: Wish, place: Workplace, progress: Progress) -> Story:
    async with LedgerApi(wish.ledger, trust=wish.trust) as api:
        story = await _story(api, wish.wanted, progress)
        head = await _weights(api, story, wish.stores, place, progress)
    await trio.to_thread.run_sync(_make, story, head, place, progress, wish.ledger)
    return story


async def read_log(api: LedgerApi, progress: Progress) -> ReadLog:
    """Read and check the ledger's whole log; raises UserFacingError, and what the API raises."""
    network = await api.network()
    log = ReadLog(LiveLog(api), network.genesis, await api.checkpoint_note())
    await trio.to_thread.run_sync(log.read, progress)
    return log


async def _story(api: LedgerApi, wanted: Wanted, progress: Progress) -> Story:
    log = await read_log(api, progress)
    return await trio.to_thread.run_sync(log.tell, wanted)


async def _weights(
    api: LedgerApi, story: Story, stores: Sequence[Path], place: Workplace, progress: Progress
) -> Path:
    ref = weights_source.reference(story.manifest, story.head.weights_root)
    found = await trio.to_thread.run_sync(weights_source.stored, ref, tuple(stores))
    if found is not None:
        check_room(place.folder, int(ref.size_bytes * _ROOM))
        return found
    if stores:
        names = ", ".join(map(str, stores))
        raise UserFacingError(
            f"{names} does not have the weights {to_text(ref.root)[:10]} whole and undamaged: "
            "give another --store, or none to fetch them from the ledger's seeds"
        )
    check_room(place.folder, int(ref.size_bytes * (1 + _ROOM)))
    with progress.work("weights fetched (bytes)", ref.size_bytes) as tick:
        left = ref.size_bytes

        def told(missing: int) -> None:
            nonlocal left
            tick(left - missing)
            left = missing

        return await weights_source.fetched(api, ref, place.fetched, told)


def _make(story: Story, head: Path, place: Workplace, progress: Progress, ledger: str) -> None:
    folder = place.fresh()
    (folder / parts.OURS).mkdir()
    manifest = story.manifest
    try:
        files = fixed.files(manifest, story.documents)
    except MalformedError as err:
        raise UserFacingError(f"this run cannot be exported: {err}") from err
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with progress.work("weights written (bytes)", manifest.model.parameters * 4) as tick:
        tensors.write(manifest, head, folder, tick)
    (folder / parts.CLAIM).write_bytes(claim_of(story).encode())
    (folder / parts.PROOF).write_bytes(story.proof.encode())
    (folder / parts.CARD).write_text(card.write(story, ledger), encoding="utf-8")


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
