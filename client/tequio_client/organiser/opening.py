"""Runs as an organiser opens, lists, pauses, resumes and finishes them.

Opening makes the first head and all documents, stores them in the folder of a seed, and names them
in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec
import numpy as np
import structlog
import trio
from msgspec import UNSET, UnsetType
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.dataset.build import TOKENIZER_FILES
from tequio_client.ipc.cell import smallest_cell
from tequio_client.ipc.preferences import usable_memory_mb
from tequio_client.ipc.runs import RunRow
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.ledger.runs import UnreadableRulesError
from tequio_client.names import short_id
from tequio_client.organiser import estimate, heads, model_source, own_code, signing
from tequio_client.organiser.heads import ContinuedHead
from tequio_client.organiser.model_source import StartedBase
from tequio_client.organiser.outline import RunOutline, read_outline, validated_manifest
from tequio_client.organiser.signing import SigningOptions
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_client.worker.control.lists import RunsList
from tequio_client.worker.lending.needs import MOST_COMPUTERS, cell_needs, memory_mb
from tequio_client.worker.points.forecast import read_speeds
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.dials import reach_of_url
from tequio_client.worker.swarm.mirrors import DataMirrors, MirroredFile
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, PeerError, UserFacingError, first_error
from tequio_shared.head.head import aux_root
from tequio_shared.ids import RunId, digest_from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import NOTICE_CHARS, PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.points import points
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.runs import RunFinish, RunNotice, RunOpen, RunPause, RunResume
from tequio_shared.statements.statement import Body
from tequio_shared.wording import short_count

if TYPE_CHECKING:
    from tequio_client.trainer.first_head import FirstHead

log = structlog.get_logger(__name__)

_NoticeT = TypeVar("_NoticeT", RunNotice, NetNotice)
_WRONG_STATE = "wrong-state"
BY_ORGANISER = 1
ENDING = RunState.COOLDOWN, RunState.FINISHED
_SHOWN_CELLS = (2, 4, 8)
_MIB_OF_GIB = 1 << 10
_STEERING: dict[str, tuple[type[RunPause | RunResume | RunFinish], str]] = {
    "pause": (RunPause, "paused after the current round; continue with `tequio run resume {}`"),
    "resume": (RunResume, "resumed"),
    "finish": (RunFinish, "ends after the current round"),
}


def load_organisers(network: LedgerNetwork, folders: Sequence[Path]) -> tuple[Signer, ...]:
    """Load the organisers' keys; raises UserFacingError unless they reach the threshold."""
    signers = tuple(signing.load_organiser(folder, network) for folder in folders)
    found = len({one.key for one in signers})
    needed = max(network.genesis.threshold, len(signers))
    if found < needed:
        raise UserFacingError(
            f"{needed} organisers of the network {network.genesis.name!r} have to sign this, and "
            f"{found} would: give the folder of another organiser with --with"
        )
    return signers


async def submit_statement(
    api: LedgerApi, folders: Sequence[Path], body: Body, run: RunId, documents: Sequence[bytes] = ()
) -> None:
    """Upload the documents, then log the statement; the caller has locked the folders.

    Raises UserFacingError, and what the API raises.
    """
    network = await api.network()
    signers = load_organisers(network, folders)
    for one in documents:
        await api.put_blob(one, signers[0], now_ms())
    if len(signers) > 1:
        # An outbox signs again with its own key alone when a statement grows old, so a statement of
        # several organisers is sent once, and lost if the ledger does not answer.
        entry = await signing.sign_statement(
            api, folders[0], body, signers, now_ms(), about=(run, None)
        )
        await signing.post_own_entry(api, folders[0], entry)
        return
    await signing.submit_alone(api, folders[0], signers[0], body, run)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A run ready to be opened: manifest, documents (blobs) and the files of the shards."""

    manifest: Manifest
    blobs: tuple[bytes, ...]
    weights: bytes
    """Master copy of head 0; empty for a head of another run, which is fetched into the store."""
    shard_files: tuple[tuple[str, Path], ...]  # (root as text, file)
    base: StartedBase | None = None
    """For a run of adapters: the frozen base, whose files are served with the shards."""
    parent: ContinuedHead | None = None


def prepare_run(path: Path) -> PreparedRun:
    """Make everything that the plan at `path` names; raises UserFacingError.

    If the plan has expected volunteers, a run that they cannot train is refused before weights are
    made.
    """
    outline = read_outline(path)
    if not isinstance(outline.plan.expect, UnsetType):
        estimate.estimate_run(outline, outline.plan.expect).check()
    corpus = outline.corpus
    if outline.source.parent is not None:
        return _continuing(outline, outline.source.parent)
    layout = outline.manifest.algorithm.layout
    begun = (
        model_source.start_base(outline.source, corpus, layout) if outline.manifest.frozen else None
    )
    origin = begun.origin if begun else _origin(outline)
    if outline.manifest.inner.documents == "apart":
        from tequio_client.trainer.first_head import check_documents  # noqa: PLC0415 - imports torch

        check_documents(origin.model, corpus.separator)
    model = origin.manifest_entry(sequence=corpus.sequence, aux_dtype=outline.manifest.aux_dtype)
    manifest = msgspec.structs.replace(
        outline.manifest, model=model, base=begun.base if begun else UNSET
    )
    manifest = validated_manifest(manifest, path)
    if not outline.source.is_fresh and not begun:
        from tequio_client.trainer.first_head import measure_rounding  # noqa: PLC0415 - imports torch

        found = measure_rounding(origin)
        log.info(
            "weights imported",
            source=outline.source.plan.source,
            weights=found.weights,
            rounded=found.rounded,
            by_at_most=found.largest,
        )
    return PreparedRun(
        manifest=manifest,
        blobs=_documents(manifest, origin.config, outline),
        weights=origin.master.astype("<i4", copy=False).tobytes(),
        shard_files=_shard_files(corpus, outline.folder),
        base=begun,
    )


def _origin(outline: RunOutline) -> FirstHead:
    """Make or read the first weights; those of a plug-in's model are made in its trial."""
    tried, layout = outline.plugin, outline.manifest.algorithm.layout
    if tried is None or not tried.has_model:
        return model_source.make_origin(outline.source, outline.corpus, layout)
    from tequio_client.trainer import first_head  # noqa: PLC0415 - imports torch

    master = own_code.first_weights(tried, outline.plan, outline.source, outline.corpus)
    found = tried.result
    return first_head.given_head(
        outline.source.config, found.tensors, found.aliases, master, layout=layout
    )


def _continuing(outline: RunOutline, parent: ContinuedHead) -> PreparedRun:
    # State beside the weights stays behind: like any first head, this one begins without.
    kind, elements = outline.manifest.aux_dtype, outline.manifest.layout.elements
    aux = None if kind is None else np.zeros(elements, kind)
    model = msgspec.structs.replace(outline.manifest.model, aux_root=to_text(aux_root(aux)))
    manifest = msgspec.structs.replace(outline.manifest, model=model)
    return PreparedRun(
        manifest=manifest,
        blobs=_documents(manifest, parent.config, outline),
        weights=b"",
        shard_files=_shard_files(outline.corpus, outline.folder),
        parent=parent,
    )


def _documents(manifest: Manifest, config: bytes, outline: RunOutline) -> tuple[bytes, ...]:
    corpus = outline.corpus
    name = TOKENIZER_FILES.get(corpus.tokenizer.kind)
    tokenizer = [model_source.read_file(outline.folder / name)] if name else []
    code = [outline.plugin.archive.content] if outline.plugin else []
    tasks = [one.raw for one in outline.tasks]
    return manifest.encode(), config, corpus.encode(), *tokenizer, *code, *tasks


def store_run(prepared: PreparedRun, store: Store) -> None:
    """Store the first head, all shards and a frozen base, for a seed to serve.

    Raises UserFacingError when a shard does not match the data manifest.
    """
    if prepared.base is not None:
        prepared.base.store_files(store)
    if prepared.weights:
        store.put_tree(prepared.weights, PIECE_BYTES)
    store.pin(digest_from_text(prepared.manifest.model.weights_root))
    for root, file in prepared.shard_files:
        ref = store.put_tree_file(file, PIECE_BYTES)
        if to_text(ref.root) != root:
            raise UserFacingError(f"{file} does not match the data manifest: build the data again")
    for blob in prepared.blobs:
        store.put_blob(blob)


async def publish_run(prepared: PreparedRun, ledger: LedgerApi, folders: Sequence[Path]) -> None:
    """Upload the documents and log run.open; the caller has locked the organisers' folders.

    Raises LedgerRefusedError.
    """
    manifest = prepared.manifest
    body = RunOpen(manifest=to_text(manifest.run_id), head=to_text(first_head(manifest).hash))
    await submit_statement(ledger, folders, body, manifest.run_id, prepared.blobs)
    log.info("run opened", run=to_text(manifest.run_id)[:10], name=manifest.name)


def _shard_files(corpus: Corpus, folder: Path) -> tuple[tuple[str, Path], ...]:
    files = [(one.root, folder / name) for name, one in corpus.files]
    for _, file in files:
        if not file.is_file():
            raise UserFacingError(f"the shard {file} is missing: build the data again")
    return tuple(files)


async def _check_mirrors(prepared: PreparedRun, ledger: str) -> None:
    """Ask each mirror for a part of the first and the last shard; raises UserFacingError."""
    mirrors = DataMirrors()
    mirrors.least = partial(reach_of_url, ledger)
    try:
        for url in prepared.manifest.mirrors:
            for root, file in (prepared.shard_files[0], prepared.shard_files[-1]):
                ref = TreeRef.of_file(root, file.stat().st_size)
                try:
                    await mirrors.check(MirroredFile(url, file.name), ref)
                except PeerError as err:
                    raise UserFacingError(
                        f"the mirror {url} does not serve {file.name} ({err}): copy all files of "
                        f"{file.parent} there, or take it out of the plan"
                    ) from err
    finally:
        await mirrors.aclose()


def organiser_key(folder: Path) -> str:
    """Public key as text; creates a key if there is none. Raises UserFacingError."""
    with locked(folder):
        return to_text(identity.load_or_create(folder).key)


def open_run(
    plan: Path,
    ledger: str,
    folder: Path,
    seed_folder: Path,
    others: Sequence[Path] = (),
    stores: Sequence[Path] = (),
) -> str:
    """Open the planned run; returns its id as text. Raises UserFacingError.

    Head and shards are stored in `seed_folder`, whose seed must not be running. The organisers in
    the folders `others` sign too. A head of another run comes from one of the stores, or else from
    the seeds of its ledger.
    """
    if folder.resolve() == seed_folder.resolve():
        raise UserFacingError(f"organiser and seed cannot share the folder {folder}")
    folders = (folder, *others)
    with signing.locked_folders(folders), locked(seed_folder):
        network = shutdown.ask_ledger(ledger, LedgerApi.network)
        load_organisers(network, folders)  # fail before the long work
        prepared = prepare_run(plan)
        if prepared.base is not None:
            prepared.base.check_room(seed_folder)
        trio.run(_check_mirrors, prepared, ledger)
        if prepared.parent is not None:
            prepared.parent.fetch(seed_folder / "store", stores)
        store_run(prepared, Store(seed_folder / "store", quota_bytes=heads.STORE_BYTES))
        shutdown.ask_ledger(ledger, lambda api: publish_run(prepared, api, folders))
    return to_text(prepared.manifest.run_id)


_STATES: Mapping[str, str] = {
    RunState.WAITING_FOR_MEMBERS: "waiting",
    RunState.WARMUP: "starting",
    RunState.ROUND_TRAIN: "training",
    RunState.ROUND_WITNESS: "checking",
    RunState.COOLDOWN: "ending",
}
"""Plain names of a run's states; the others are plain already."""


def list_runs(ledger: str, worker_folder: Path, vram_gib: float | None = None) -> None:
    """Print all runs as a table of at most 80 columns; `show_run` has the rest.

    With a device that the worker of that folder measured, also its forecast for each run. With a
    card's memory, also the open runs that it cannot train, and cells that could.
    """
    runs = shutdown.ask_ledger(ledger, LedgerApi.runs)
    if not runs:
        Console(soft_wrap=True).print("No runs yet. An organiser opens one with `tequio run open`.")
        return
    table = Table("run", "name", "state", "round", "members", "tokens", box=SIMPLE, pad_edge=False)
    speed = max(read_speeds(worker_folder).values(), default=0.0)
    rows: tuple[RunRow, ...] = ()
    if speed or vram_gib is not None:
        rows = shutdown.ask_ledger(ledger, lambda api: RunsList(api).read(flop_per_s=speed)).rows
    forecasts = {row.run: row.day_points for row in rows} if speed else {}
    if forecasts:
        table.add_column("points/day")
    for column in table.columns[3:]:
        column.justify = "right"
    for one in runs:
        numbers = [f"{one.round:,}", str(one.members), short_count(one.tokens)]
        if forecasts:
            numbers.append(points(forecasts[one.run]) if forecasts.get(one.run) else "")
        table.add_row(one.run[:10], escape(one.name), state_name(one.state), *numbers)
    Console().print(table)
    _print_too_large(rows, vram_gib)


def _print_too_large(rows: Sequence[RunRow], vram_gib: float | None) -> None:
    shown = Console(soft_wrap=True)
    for row in rows:
        if vram_gib is not None and row.is_open and (line := too_large(row, vram_gib)):
            shown.print(escape(line), highlight=False)


def too_large(row: RunRow, vram_gib: float) -> str:
    """Say what a run needs that a card with that memory lends too little for; empty if it fits."""
    lent = usable_memory_mb(round(vram_gib * _MIB_OF_GIB))
    if row.memory_mb <= lent:
        return ""
    needed = (
        f"{row.name} needs {row.memory_mb / _MIB_OF_GIB:.1f} GiB, and {lent / _MIB_OF_GIB:.1f} of "
        f"{vram_gib:g} GiB are lent"
    )
    cell = smallest_cell(row.cells, lent)
    if cell is None:
        return f"{needed}; nor could {MOST_COMPUTERS} such computers in one cell train it"
    return f"{needed}; {cell.members} in one cell could train it: {cell.command}"


def show_run(name: str, ledger: str) -> None:
    """Print what the ledger reports, also of a run whose rules only a newer version can read."""
    one, rules, config, problem = heads.named_run(name, ledger), None, None, ""
    try:
        rules = heads.read_rules(one, ledger)
        config = heads.read_config(rules, ledger)
    except UnreadableRulesError as err:
        problem = str(err)
    table = Table("what", "value", show_header=False)
    for what, value in _fields(one, rules, config):
        table.add_row(what, escape(value))
    if problem:
        table.add_row("rules", escape(problem))
    Console().print(table)


def state_name(state: str) -> str:
    return _STATES.get(state, state.replace("_", " "))


def _fields(
    one: RunAnswer, rules: Manifest | None, config: bytes | None
) -> Iterator[tuple[str, str]]:
    yield "name", one.name
    yield "run", one.run
    yield "state", state_name(one.state)
    yield "round", f"{one.round:,} ({one.closed:,} closed, {one.voided:,} void)"
    yield "members", f"{one.members:,}"
    yield "tokens", f"{one.tokens:,}"
    yield "last head", "none yet" if one.head is None else f"{one.head} of round {one.head_round}"
    if one.pause_reason:
        yield "paused because", one.pause_reason.text
    if one.announcement:
        yield "announcement", f"{one.announcement.text} (entry {one.announcement.index:,})"
    if one.chat:
        yield "chat", f"{one.chat.text} (entry {one.chat.index:,})"
    for back in one.rollbacks:
        yield (
            "went back",
            f"after round {back.last_round:,} to the head of round {back.head_round:,} "
            f"(entry {back.index:,})",
        )
    yield "weights root", one.weights_root or "none yet"
    last = one.published[0] if one.published else None
    yield (
        "published",
        f"{last.location}, round {last.round}" if last else "no head (tequio checkpoint publish)",
    )
    if rules is not None:
        yield from _rules_fields(rules, config)
    yield "opened", f"entry {one.opened_index} of the log"


def _rules_fields(rules: Manifest, config: bytes | None) -> Iterator[tuple[str, str]]:
    yield "card memory", f"{memory_mb(rules) / _MIB_OF_GIB:.1f} GiB"
    for cell in cell_needs(rules, config):
        if cell.ranks in _SHOWN_CELLS:
            needed = f"{cell.memory_mb / _MIB_OF_GIB:.1f} GiB each ({cell.command})"
            yield f"in a cell of {cell.ranks}", needed
    if rules.continued is not None:
        yield "continues", f"round {rules.continued.round:,} of run {rules.continued.run}"
    if rules.own_code is not None:
        code = rules.own_code
        yield "plug-in", f"{code.label}, brings {', '.join(code.provides)}"
        yield "its archive", f"{code.archive} ({code.size_bytes:,} bytes)"


def announce(name: str, text: str, ledger: str, folders: Sequence[Path]) -> str:
    """Tell the volunteers of a run something; an empty text takes it back."""
    one = heads.named_run(name, ledger)
    log_steering(_notice("run", text), one, ledger, folders)
    return (
        f"{one.name}: {'announced to its volunteers' if text else 'the announcement is withdrawn'}"
    )


def offer_chat(name: str, url: str, ledger: str, folders: Sequence[Path]) -> str:
    """State where people can try the model of a run; an empty address takes it back."""
    one = heads.named_run(name, ledger)
    log_steering(_notice("chat", url), one, ledger, folders)
    return f"{one.name}: {'its page links to ' + url if url else 'the link is removed'}"


def announce_to_network(text: str, options: SigningOptions) -> str:
    """Tell everybody in the network something; an empty text takes it back."""
    return signing.decide(_checked(NetNotice(text=" ".join(text.split()))), options)


def _notice(about: Literal["chat", "pause", "run"], text: str) -> RunNotice:
    """Raises UserFacingError for a text that the log cannot have."""
    try:
        return _checked(RunNotice(about=about, text=" ".join(text.split())))
    except MalformedError as err:
        raise UserFacingError(str(err)) from err


def _checked(body: _NoticeT) -> _NoticeT:
    """Raises UserFacingError for a text that the log cannot have."""
    try:
        return msgspec.convert(msgspec.to_builtins(body), type(body))
    except msgspec.ValidationError as err:
        raise UserFacingError(
            f"this text cannot be shown to volunteers: use one line of at most {NOTICE_CHARS} "
            "characters, without control characters"
        ) from err


def steer_run(
    action: str, name: str, ledger: str, folders: Sequence[Path], reason: str = ""
) -> str:
    """Log that a run pauses, resumes or finishes; returns a sentence about it.

    The reason of a pause is shown to volunteers until the run resumes.
    """
    one = heads.named_run(name, ledger)
    made, done = _STEERING[action]
    if reason:  # before the pause, so that nobody sees that without it
        if one.state in ENDING:
            raise _without_effect(made, one)
        log_steering(_notice("pause", reason), one, ledger, folders)
        if one.state == RunState.PAUSED:
            return f"{one.name}: paused already; only the reason has changed"
    log_steering(made(reason=BY_ORGANISER), one, ledger, folders)
    return f"{one.name}: {done.format(short_id(one.run))}"


def log_steering(body: Body, one: RunAnswer, ledger: str, folders: Sequence[Path]) -> None:
    """Log a statement that steers a run; raises UserFacingError, also if it has no effect."""

    async def submit() -> None:
        async with LedgerApi(ledger) as api:
            await submit_statement(api, folders, body, one.id)

    with signing.locked_folders(folders), shutdown.explain_unreachable_ledger(ledger):
        try:
            trio.run(submit)
        except* LedgerRefusedError as group:
            refused = first_error(group)
            if not isinstance(refused, LedgerRefusedError) or refused.code != _WRONG_STATE:
                raise
            raise _without_effect(type(body), one) from refused


def _without_effect(body: type[Body], one: RunAnswer) -> UserFacingError:
    return UserFacingError(f"{one.name} is {state_name(one.state)}: {body.TYPE} has no effect")
