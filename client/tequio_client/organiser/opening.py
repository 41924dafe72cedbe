"""Opening a run: the first head and all documents made, checked, stored, and named in the log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog
import trio
from msgspec import UNSET, UnsetType
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.dataset.build import TOKENIZER_NAME, held_out_name, train_name
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.locks import locked
from tequio_client.names import is_meant, name_with_id, short
from tequio_client.organiser import estimate, signing
from tequio_client.organiser import estimate as outlines
from tequio_client.organiser import starting_weights as bases
from tequio_client.organiser import starting_weights as sources
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.store.store import Store
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.statements.runs import RunFinish, RunOpen, RunPause, RunResume

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import Network
    from tequio_client.organiser.starting_weights import Begun
    from tequio_client.trainer.first_head import Origin
    from tequio_shared.api.runs import RunAnswer
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.round.data import Corpus
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements import Body

# --- What organisers say of a run, signed by as many of them as the network asks for.
#
# One organiser's word goes through an outbox, which keeps it until the ledger has it; several
# sign one statement at once.

PATIENCE_S = 300.0
"""How long a ledger that does not take what we say is spoken to."""


def organisers(network: Network, folders: Sequence[Path]) -> tuple[Signer, ...]:
    """The organisers in the folders, who are enough to say it; raises UserFacingError."""
    ours = tuple(signing.of(folder, network) for folder in folders)
    found, needed = len({one.key for one in ours}), max(network.genesis.threshold, len(ours))
    if found < needed:
        raise UserFacingError(
            f"{needed} organisers of the network {network.genesis.name!r} have to sign this, and "
            f"{found} would: give the folder of another one by --with"
        )
    return ours


async def say(
    api: LedgerApi,
    folders: Sequence[Path],
    body: Body,
    run: RunId,
    documents: Sequence[bytes] = (),
) -> None:
    """Put the documents, then have the log say it; the folders are locked by the caller.

    Raises UserFacingError, and what the API raises.
    """
    network = await api.network()
    ours = organisers(network, folders)
    for one in documents:
        await api.put_blob(one, ours[0], now_ms())
    if len(ours) > 1:
        entry = await signing.signed(api, folders[0], body, ours, now_ms(), about=(run, None))
        await signing.send(api, entry, now_ms())
        return
    async with Outbox(api, folders[0], ours[0]) as outbox:
        with trio.move_on_after(PATIENCE_S) as patience:
            await outbox.submit(body, run)
        if patience.cancelled_caught:
            raise LedgerUnavailableError(f"not done after {PATIENCE_S:.0f} s")


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
        estimate.reckon(outline, outline.plan.expect).check()
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
    await say(ledger, folders, body, manifest.run_id, prepared.blobs)
    log.info("run opened", run=to_text(manifest.run_id)[:10], name=manifest.name)


def _tell_rounding(origin: Origin, source: str) -> None:
    from tequio_client.trainer.first_head import rounding  # noqa: PLC0415 - brings torch

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


# --- The organiser's commands, end to end.

T = TypeVar("T")
_WRONG_STATE = "wrong-state"
STORE_BYTES = 1 << 40
BY_ORGANISER = 1


def organiser_key(folder: Path) -> str:
    """The organiser's public key as text; made when there is none. Raises UserFacingError."""
    with locked(folder):
        return to_text(identity.load_or_create(folder).key)


def open_run(
    plan: Path, ledger: str, folder: Path, seed_folder: Path, others: Sequence[Path] = ()
) -> str:
    """Open the planned run; returns its id as text. Raises UserFacingError.

    Head and shards go into the store of the seed in `seed_folder`, which must not be running. The
    organisers in the folders of `others` sign, too.
    """
    if folder.resolve() == seed_folder.resolve():
        raise UserFacingError(f"organiser and seed cannot share the folder {folder}")
    folders = (folder, *others)
    with signing.held(folders), locked(seed_folder):
        organisers(_ask(ledger, LedgerApi.network), folders)  # before the long work
        prepared = prepare(plan)
        if prepared.begun is not None:
            prepared.begun.check_room(seed_folder)
        keep(prepared, Store(seed_folder / "store", quota_bytes=STORE_BYTES))
        with shutdown.reached(ledger):
            trio.run(_open, prepared, ledger, folders)
    return to_text(prepared.manifest.run_id)


async def _open(prepared: Prepared, ledger: str, folders: Sequence[Path]) -> None:
    async with LedgerApi(ledger) as api:
        await announce(prepared, api, folders)


def list_runs(ledger: str) -> None:
    """Print all runs as a table."""
    table = Table("run", "name", "state", "round", "members", "tokens", "last head", "published")
    for one in _ask(ledger, LedgerApi.runs):
        numbers = str(one.round), str(one.members), f"{one.tokens:,}"
        table.add_row(
            one.run[:10], escape(one.name), one.state, *numbers, _head(one), escape(_where(one))
        )
    Console().print(table)


def show_run(name: str, ledger: str) -> None:
    """Print one run, field by field."""
    one = _named(name, ledger)
    table = Table("what", "value", show_header=False)
    for what, value in _told(one):
        table.add_row(what, escape(value))
    Console().print(table)


def _told(one: RunAnswer) -> Iterator[tuple[str, str]]:
    """What an organiser wants to know, the most telling first."""
    yield "name", one.name
    yield "run", one.run
    yield "state", f"{one.state}, {one.phase}" if one.phase else one.state
    yield "round", f"{one.round:,} ({one.closed:,} closed, {one.voided:,} void)"
    yield "members", f"{one.members:,}"
    yield "tokens", f"{one.tokens:,}"
    yield "last head", _head(one)
    yield "head", one.head or "none yet"
    yield "weights root", one.weights_root or "none yet"
    yield "published", _where(one) or "not on the Hub (tequio checkpoint publish)"
    yield "opened", f"entry {one.opened_index} of the log"


def _head(one: RunAnswer) -> str:
    if one.head is None:
        return "none yet"
    return f"{one.head[:10]} of round {one.head_round}"


def _where(one: RunAnswer) -> str:
    return f"{one.published[0].repo}, round {one.published[0].round}" if one.published else ""


def pause_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that no round shall open; says so."""
    one = _steer(name, ledger, folders, RunPause(reason=BY_ORGANISER))
    told = f"{one.name}: no round opens after the one under way"
    return f"{told}; go on with `tequio run resume {short(one.run)}`"


def resume_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that rounds shall open again; says so."""
    return f"{_steer(name, ledger, folders, RunResume(reason=BY_ORGANISER)).name}: goes on"


def finish_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that the run shall end; says so."""
    one = _steer(name, ledger, folders, RunFinish(reason=BY_ORGANISER))
    return f"{one.name}: ends after the round under way"


def _steer(name: str, ledger: str, folders: Sequence[Path], body: Body) -> RunAnswer:
    one = _named(name, ledger)
    with signing.held(folders), shutdown.reached(ledger):
        try:
            trio.run(_say, ledger, folders, body, one)
        except* LedgerRefusedError as group:
            refused = shutdown.first_of(group)
            if not isinstance(refused, LedgerRefusedError) or refused.code != _WRONG_STATE:
                raise
            state = one.state.replace("_", " ")
            raise UserFacingError(
                f"{one.name} is {state}: a {body.TYPE} changes nothing of that"
            ) from refused
    return one


async def _say(ledger: str, folders: Sequence[Path], body: Body, one: RunAnswer) -> None:
    async with LedgerApi(ledger) as api:
        await say(api, folders, body, one.id)


def _named(name: str, ledger: str) -> RunAnswer:
    runs = _ask(ledger, LedgerApi.runs)
    found = [one for one in runs if is_meant(one.name, one.run, name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(name_with_id(one.name, one.run) for one in found or runs) or "none"
    if found:
        raise UserFacingError(f"several runs fit {name!r}: {known}; give the beginning of the id")
    raise UserFacingError(f"no run is called {name!r}; known runs: {known}")


def _ask(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    with shutdown.reached(ledger):
        return trio.run(partial(_asked, ledger, question))


async def _asked(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    async with LedgerApi(ledger) as api:
        return await question(api)
