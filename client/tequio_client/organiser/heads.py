"""Certified heads, as the log proves them, and the one that a run continues from another run.

What a ledger answers about a run only says where to look: the head that counts is the one in the
proven entry that promotes it. Its weights are fetched when the run is opened, and then hashed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.names import find_one, short_id
from tequio_client.organiser import signing
from tequio_client.organiser.plan import ParentPlan
from tequio_client.worker import shutdown
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, weights_ref
from tequio_client.worker.swarm import seeds
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.manifest import Manifest, ParentHead
from tequio_shared.statements.runs import HeadPromote

log = structlog.get_logger(__name__)
STORE_BYTES = 1 << 40
_PAGE_ROUNDS = 128
_PAGE_ENTRIES = 256
_ROOM = 1.05
_GB = 1e9


def named_run(name: str, ledger: str) -> RunAnswer:
    """The run of that name, or with the id that begins so; raises UserFacingError."""
    return find_run(name, signing.ask_ledger(ledger, LedgerApi.runs))


def find_run(name: str, runs: Iterable[RunAnswer]) -> RunAnswer:
    """The run of that name, or with the id that begins so; raises UserFacingError."""
    return find_one("run", runs, lambda one: (one.name, one.run), name)


async def find_head(api: LedgerApi, one: RunAnswer, head_round: int) -> HeadPromote:
    """Read the promotion of a round's head with its proof; raises UserFacingError for none.

    Members promote a head in the next round that opens, just before that, or after the last round.
    """
    network = await api.network()
    for page in await _pages_with(api, one, head_round):
        entries = await read_entries(api, network, page)
        for entry in entries.values():
            statement = entry.statement
            if (statement.run, statement.round) == (one.id, head_round) and isinstance(
                statement.body, HeadPromote
            ):
                return statement.body
    raise UserFacingError(
        f"no head of round {head_round} of {one.name} is certified: give the round of one that "
        f"is; the last one is that of round {one.head_round}"
    )


async def _pages_with(api: LedgerApi, one: RunAnswer, head_round: int) -> Sequence[range]:
    """Parts of the log that may promote the head of that round, in the order to read them."""
    begin, number = 0, head_round
    while True:
        rounds = await api.rounds(one.id, after=number, limit=_PAGE_ROUNDS)
        begin = begin or (rounds[0].roster_index if rounds else 0)
        opened = next((row.opened_index for row in rounds if row.opened_index is not None), None)
        if opened is not None:
            return [
                range(max(end - _PAGE_ENTRIES, begin), end)
                for end in range(opened, begin, -_PAGE_ENTRIES)
            ]
        if len(rounds) < _PAGE_ROUNDS:
            break
        number = rounds[-1].round
    if not begin or one.head_round != head_round:
        return []
    size = (await api.checkpoint()).size
    return [
        range(first, min(first + _PAGE_ENTRIES, size))
        for first in range(begin, size, _PAGE_ENTRIES)
    ]


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
            f"{what} needs {needed_bytes / _GB:.1f} GB in {folder}, and {free / _GB:.1f} GB are "
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
    return signing.ask_ledger(plan.ledger, partial(_read_continued, one, plan))


class UnreadableRulesError(UserFacingError):
    """The rules of a run have fields or values that this version does not know."""


def read_rules(one: RunAnswer, ledger: str) -> Manifest:
    """Read the manifest of a run.

    Raises UserFacingError; UnreadableRulesError if this version cannot read it.
    """
    return signing.ask_ledger(ledger, partial(read_manifest, one.run))


def read_config(rules: Manifest, ledger: str) -> bytes | None:
    """The configuration of the run's model; None if the ledger does not have it."""
    name = digest_from_text(rules.model.config)
    return signing.ask_ledger(ledger, lambda api: api.get_blob(name))


async def read_manifest(run: str, api: LedgerApi) -> Manifest:
    """Read the rules of a run; raises UnreadableRulesError."""
    try:
        return Manifest.parse(await _document(api, run))
    except MalformedError as err:
        raise UnreadableRulesError(
            f"this version of Tequio cannot read the rules of the run {short_id(run)} ({err}): "
            "update it"
        ) from err


async def _read_continued(one: RunAnswer, plan: ParentPlan, api: LedgerApi) -> ContinuedHead:
    network = await api.network()
    promoted = await find_head(api, one, plan.round)
    manifest = await read_manifest(one.run, api)
    return ContinuedHead(
        ledger=plan.ledger,
        manifest=manifest,
        config=await _document(api, manifest.model.config),
        parent=ParentHead(
            network=to_text(network.id), run=one.run, round=plan.round, head=promoted.head
        ),
        weights_root=promoted.weights_root,
    )


async def _document(api: LedgerApi, name: str) -> bytes:
    raw = await api.get_blob(digest_from_text(name))
    if raw is None:
        raise UserFacingError(f"the ledger {api.url} does not have the document {name[:10]}")
    return raw
