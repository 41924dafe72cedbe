"""Certified heads, as the log proves them, and the one that a run continues from another run.

What a ledger answers about a run only says where to look: the head that counts is the one in the
proven entry that promotes it. Its weights are fetched when the run is opened, and then hashed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
import trio

from tequio_client.ledger import runs
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser.plan import ParentPlan
from tequio_client.worker import shutdown
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, weights_ref
from tequio_client.worker.swarm import seeds
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.manifest import Manifest, ParentHead
from tequio_shared.wording import size_text

log = structlog.get_logger(__name__)
STORE_BYTES = 1 << 40
_ROOM = 1.05


def named_run(name: str, ledger: str) -> RunAnswer:
    """The run of that name, or with the id that begins so; raises UserFacingError."""
    return runs.find_run(name, shutdown.ask_ledger(ledger, LedgerApi.runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuedHead:
    """A certified head that a new run starts from, and the run that made it."""

    ledger: str
    manifest: Manifest
    config: bytes
    """Configuration of that run's network."""
    parent: ParentHead
    weights_root: str

    @property
    def label(self) -> str:
        return f"the head of round {self.parent.round} of {self.manifest.name}"

    def fetch(self, folder: Path, stores: Sequence[Path]) -> None:
        """Put the weights, and the files of a frozen base, into the store in `folder`.

        They come from the given stores, or from the seeds of that run's ledger. Raises
        UserFacingError.
        """
        with shutdown.explain_unreachable_ledger(self.ledger):
            trio.run(self._fetch, folder, stores)

    async def _fetch(self, folder: Path, stores: Sequence[Path]) -> None:
        base = self.manifest.frozen
        refs = [weights_ref(self.manifest, digest_from_text(self.weights_root))]
        refs += [TreeRef.of_file(one.root, one.size_bytes) for one in base.files] if base else []
        store = Store(folder, quota_bytes=STORE_BYTES)
        lacking = [ref for ref in refs if not store.has_tree(ref.root)]
        needed = int(_ROOM * sum(ref.size_bytes for ref in lacking))
        check_room(folder, needed, self.label)
        async with LedgerApi(self.ledger) as api:
            for ref in lacking:
                path = await trio.to_thread.run_sync(seeds.find_stored, ref, stores)
                if path is None:
                    log.info("fetching from seeds", root=to_text(ref.root), bytes=ref.size_bytes)
                    await seeds.fetch_tree(api, ref, folder, lambda _: None)
                else:
                    await trio.to_thread.run_sync(store.put_tree_file, path, PIECE_BYTES)
        log.info("first head is here", head=self.label, bytes=refs[0].size_bytes)


def check_room(folder: Path, needed_bytes: int, what: str) -> None:
    """Raise UserFacingError unless the disk of the folder has room for that many bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise UserFacingError(
            f"{what} needs {size_text(needed_bytes)} in {folder}, and {size_text(free)} are "
            "free: free some space, or give --seed-dir on another disk"
        )


def choose_head(ledger: str, name: str, number: int | None) -> ParentPlan:
    """The run's head of that round, or the last certified one; raises UserFacingError."""
    one = named_run(name, ledger)
    if number is None and one.head_round is None:
        raise UserFacingError(
            f"no head of {one.name} is certified yet: wait until its first round has begun"
        )
    chosen = number if number is not None else one.head_round or 0
    return ParentPlan(ledger=ledger, run=one.run, round=chosen)


def read_continued(plan: ParentPlan) -> ContinuedHead:
    """Find the head in the log of its ledger, with its proof; raises UserFacingError."""
    one = named_run(plan.run, plan.ledger)
    return shutdown.ask_ledger(plan.ledger, partial(_read_continued, one, plan))


def read_rules(one: RunAnswer, ledger: str) -> Manifest:
    """Read the manifest of a run.

    Raises UserFacingError; runs.UnreadableRulesError if this version cannot read it.
    """
    return shutdown.ask_ledger(ledger, partial(runs.read_manifest, one.run))


def read_config(rules: Manifest, ledger: str) -> bytes | None:
    """The configuration of the run's model; None if the ledger does not have it."""
    name = digest_from_text(rules.model.config)
    return shutdown.ask_ledger(ledger, lambda api: api.get_blob(name))


async def _read_continued(one: RunAnswer, plan: ParentPlan, api: LedgerApi) -> ContinuedHead:
    network = await api.network()
    promoted = (await runs.find_promotion(api, one, plan.round)).body
    manifest = await runs.read_manifest(one.run, api)
    return ContinuedHead(
        ledger=plan.ledger,
        manifest=manifest,
        config=await runs.read_document(manifest.model.config, api),
        parent=ParentHead(
            network=to_text(network.id), run=one.run, round=plan.round, head=promoted.head
        ),
        weights_root=promoted.weights_root,
    )
