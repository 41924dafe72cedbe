"""Verification that the weights in a folder are a certified head.

The files are turned into integers, the integers into their Merkle root, and the root is looked up
in the log. The folder is not trusted: its claim only names an entry of the log. That entry must be
the coordinator's head.promote of that run and round, included in a checkpoint that is signed as the
genesis or a policy demands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
import trio
from numpy.typing import NDArray

from tequio_client.checkpoint import export, layout, tensors
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import ExportForm, HeadClaim
from tequio_client.checkpoint.proven import fetch_documents
from tequio_client.checkpoint.tensors import MergedModel
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.proofs import LogProofs
from tequio_client.verify.report import WorkProgress
from tequio_client.worker import shutdown
from tequio_client.worker.store.trees import TreeRef, hash_tree_file, weights_ref
from tequio_client.worker.swarm import seeds
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.head.chain import stated_head
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.limits import DOCUMENT_BYTES, PIECE_BYTES
from tequio_shared.log.merkle import leaf_hash, verify_consistency, verify_inclusion
from tequio_shared.log.notes import Checkpoint, open_checkpoint
from tequio_shared.log.policy import PROOF_BYTES, Policy, TlogProof
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import HeadPromote
from tequio_shared.statements.statement import Entry
from tequio_shared.wording import plural


class VerifyOutcome(IntEnum):
    """Result of a check, which is the exit status of the command."""

    IS_THE_HEAD = 0
    IS_NOT = 2
    CANNOT_VERIFY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointVerdict:
    outcome: VerifyOutcome
    lines: tuple[str, ...]


class NotTheHeadError(TequioError):
    """The weights, or something in the folder, differ from the log."""


class CannotVerifyError(TequioError):
    """Something that the check needs is unavailable."""


async def find_in_log(
    ledger: str, claim: HeadClaim, proof: bytes, trust: Policy | None
) -> tuple[LedgerNetwork, Checkpoint]:
    """Check a claim, and the proof in the folder, against the ledger's log.

    Returns the checkpoint under which the claim was proven. Raises NotTheHeadError,
    CannotVerifyError, and what the API raises.
    """
    async with LedgerApi(ledger, trust=trust) as api:
        network = await api.network()
        if to_text(network.id) != claim.network:
            raise CannotVerifyError(
                f"the ledger at {ledger} has the log of the network {network.genesis.name} "
                f"({to_text(network.id)[:10]}), and this head claims to be of "
                f"{claim.network[:10]}: give the right ledger with --ledger"
            )
        checkpoint = await api.checkpoint()
        if claim.entry >= checkpoint.size:
            raise NotTheHeadError(
                f"the log has {checkpoint.size} entries: entry {claim.entry}, which should name "
                "this head, is not in it"
            )
        try:
            await _check_inclusion(api, network, checkpoint, claim, proof)
        except (PeerError, RefusedError) as err:
            raise NotTheHeadError(f"the proof from the log is invalid: {err}") from err
    return network, checkpoint


async def _check_inclusion(
    api: LedgerApi, network: LedgerNetwork, checkpoint: Checkpoint, claim: HeadClaim, proof: bytes
) -> None:
    proofs = LogProofs(api, checkpoint)
    entries = await proofs.entries(network, [claim.entry])
    _check_entry(entries[claim.entry], claim)
    older = _proven(proof, entries[claim.entry], network, claim)
    if older.size > checkpoint.size:
        raise MalformedError(
            f"{layout.PROOF} is of a log of {older.size} entries; "
            f"the ledger shows {checkpoint.size}"
        )
    path = await proofs.consistency(older.size)
    verify_consistency(older.size, older.root, checkpoint.size, checkpoint.root, path)


def _check_entry(entry: Entry, claim: HeadClaim) -> None:
    statement, body = entry.statement, entry.statement.body
    if not isinstance(body, HeadPromote) or statement.run is None or statement.round is None:
        raise NotTheHeadError(
            f"entry {claim.entry} of the log is a {statement.type}: it names no certified head"
        )
    if (to_text(statement.run), statement.round) != (claim.run, claim.round):
        raise NotTheHeadError(
            f"entry {claim.entry} of the log certifies a head of round {statement.round} of run "
            f"{to_text(statement.run)[:10]}, not of round {claim.round} of {claim.run[:10]}"
        )
    if (body.head, body.weights_root) != (claim.head, claim.weights_root):
        raise NotTheHeadError(
            f"the log certifies other weights for round {claim.round}",
            f"root in the log:   {body.weights_root}",
            f"root of this head: {claim.weights_root}",
        )
    try:
        stated_head(statement.run, statement.round, body)
    except RefusedError as err:
        raise NotTheHeadError(
            f"entry {claim.entry} of the log names a head that is not its own"
        ) from err


def _proven(raw: bytes, entry: Entry, network: LedgerNetwork, claim: HeadClaim) -> Checkpoint:
    # The proof in the folder must be about this entry, and its log must be a prefix of today's.
    proof = TlogProof.parse(raw)
    checkpoint = open_checkpoint(proof.note, network.log_key).checkpoint
    if proof.index != claim.entry:
        raise MalformedError(f"{layout.PROOF} is about entry {proof.index}, not {claim.entry}")
    if proof.extra not in (None, entry.leaf()):
        raise MalformedError(f"{layout.PROOF}: its extra line is not that entry of the log")
    leaf = leaf_hash(entry.leaf())
    verify_inclusion(leaf, proof.index, checkpoint.size, proof.path, checkpoint.root)
    return checkpoint


FILE_BYTES = 256 << 20
"""Largest tokenizer.json that is read."""
_OTHER_DISK = "name a folder of another disk in the environment variable TMPDIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFolder:
    claim: HeadClaim
    manifest: Manifest
    proof: bytes
    """The proof in the folder, not verified yet."""


def verify_folder(folder: Path, origin: WeightsOrigin, progress: WorkProgress) -> CheckpointVerdict:
    """Check a folder; its faults, and a ledger that does not answer, are results, not errors.

    With stores, the first tensor that differs is named.
    """
    try:
        outcome, lines = VerifyOutcome.IS_THE_HEAD, _findings(folder, origin, progress)
    except NotTheHeadError as err:
        outcome, lines = VerifyOutcome.IS_NOT, tuple(map(str, err.args))
    except CannotVerifyError as err:
        outcome, lines = VerifyOutcome.CANNOT_VERIFY, tuple(map(str, err.args))
    return CheckpointVerdict(outcome=outcome, lines=lines)


def _findings(folder: Path, origin: WeightsOrigin, progress: WorkProgress) -> tuple[str, ...]:
    checked = check_folder(folder, origin, progress)
    claim, manifest = checked.claim, checked.manifest
    find = partial(find_in_log, origin.ledger, claim, checked.proof, origin.trust)
    with _cannot_verify(), shutdown.explain_unreachable_ledger(origin.ledger):
        network, checkpoint = trio.run(find)
    genesis = network.genesis
    return (
        f"these weights are the head of round {claim.round} of the run {manifest.name} "
        f"({claim.run[:10]})",
        *_beside(folder, manifest),
        f"root of the weights: {claim.weights_root}",
        f"network: {genesis.name} ({claim.network}), log key {genesis.log_key}",
        f"log: entry {claim.entry}, proven under the signed checkpoint of "
        f"{plural(checkpoint.size, 'entry', 'entries')}",
    )


def _beside(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    base = manifest.frozen
    if base is None:
        return ()
    name = base.source or manifest.model.config[:10]
    if _form(folder, manifest) is ExportForm.MERGED:
        return (f"merged into the frozen base {name}, bit for bit",)
    return (f"adapters of rank {base.rank} for the frozen base {name}",)


@contextmanager
def _cannot_verify() -> Iterator[None]:
    """Raise CannotVerifyError for a ledger that does not answer, and other errors ungrouped."""
    try:
        with shutdown.ungrouped_errors():
            yield
    except UserFacingError as err:
        raise CannotVerifyError(str(err)) from err


def check_folder(folder: Path, origin: WeightsOrigin, progress: WorkProgress) -> CheckedFolder:
    """Check a folder without the log; raises NotTheHeadError, CannotVerifyError."""
    try:
        claim = HeadClaim.parse(_read(folder, layout.CLAIM, layout.CLAIM_BYTES))
        manifest = _manifest(folder, claim)
        fixed = _check_fixed(folder, manifest)
        proof = _read(folder, layout.PROOF, PROOF_BYTES)
        weights = _check_weights(folder, origin, claim, manifest, progress)
        others = (layout.CLAIM, layout.PROOF, layout.REMAINDER, layout.CARD)
        layout.check_names(layout.list_files(folder), {*fixed, *weights, *others})
    except FileNotFoundError as err:
        name = Path(err.filename or "").name or "a file"
        raise CannotVerifyError(f"{folder} is not a complete export: {name} is missing") from err
    except OSError as err:
        raise CannotVerifyError(f"{folder} cannot be read: {err.strerror or err}") from err
    except (MalformedError, RefusedError, UserFacingError) as err:
        raise NotTheHeadError(str(err)) from err
    return CheckedFolder(claim=claim, manifest=manifest, proof=proof)


def _manifest(folder: Path, claim: HeadClaim) -> Manifest:
    raw = _read(folder, layout.MANIFEST, DOCUMENT_BYTES)
    if to_text(sha256(raw)) != claim.run:
        raise MalformedError(f"{layout.MANIFEST} is not the manifest of the run {claim.run[:10]}")
    return Manifest.parse(raw)


def _check_fixed(folder: Path, manifest: Manifest) -> set[str]:
    """Check the files that follow from the manifest, and return their names."""
    # Configuration and tokenizer follow from the run's documents, so they are made again here.
    by_name = {manifest.data.manifest: layout.CORPUS, manifest.model.config: layout.SOURCE_CONFIG}
    if manifest.tokenizer.file:
        is_table = manifest.tokenizer.kind == "plugin"
        by_name[manifest.tokenizer.file] = layout.TABLE if is_table else layout.TOKENIZER
    if manifest.own_code is not None:
        by_name[manifest.own_code.archive] = layout.PLUGIN

    def document(name: Digest) -> bytes | None:
        return _read(folder, by_name[to_text(name)])

    form = _form(folder, manifest)
    due = export.fixed_files(manifest, fetch_documents(manifest, document), form=form)
    for name, content in due.items():
        if _read(folder, name) != content:
            raise MalformedError(f"{name} was changed after the export")
    return set(due)


def _form(folder: Path, manifest: Manifest) -> ExportForm:
    is_merged = manifest.frozen is not None and not layout.is_adapter(folder)
    return ExportForm.MERGED if is_merged else ExportForm.HEAD


def _check_weights(
    folder: Path,
    origin: WeightsOrigin,
    claim: HeadClaim,
    manifest: Manifest,
    progress: WorkProgress,
) -> set[str]:
    """Check the weights, and return the names of their files."""
    due = digest_from_text(claim.weights_root)
    with (
        _scratch() as scratch,
        progress.work("weights read (bytes)", manifest.model.parameters * 4) as tick,
    ):
        path = scratch / "weights"
        flat = tensors.read_weights(manifest, folder, path, tick)
        flat.flush()  # type: ignore[attr-defined]  # it is a memmap
        with path.open("rb") as file:
            root = hash_tree_file(file, PIECE_BYTES).ref.root
        if root != due:
            raise NotTheHeadError(
                f"these weights are not the head of round {claim.round}, as the folder claims",
                *_difference(origin, manifest, flat, due),
                f"root of the head:      {claim.weights_root}",
                f"root of these weights: {to_text(root)}",
            )
        if _form(folder, manifest) is ExportForm.MERGED:
            model = MergedModel.of(manifest, flat, _base(origin, manifest, scratch))
            with progress.work("merged weights compared (bytes)", model.size_bytes) as compared:
                model.check(folder, compared)
            own = layout.adapter_of(folder).relative_to(folder).as_posix()
            return layout.weight_file_names(folder, model.tensors) | {own}
    if manifest.frozen is not None:
        return {layout.ADAPTER}
    return layout.weight_file_names(folder, tensors.names_in_files(manifest.model).values())


@contextmanager
def _scratch() -> Iterator[Path]:
    """Make a temporary folder; raises CannotVerifyError where there is no room for what it gets."""
    try:
        place = gettempdir()
    except FileNotFoundError as err:
        raise CannotVerifyError(
            f"no folder for temporary files can be written: free some space, or {_OTHER_DISK}"
        ) from err
    try:
        with TemporaryDirectory(prefix="tequio-verify-", dir=place) as made:
            yield Path(made)
    except OSError as err:
        if err.errno not in export.NO_ROOM:
            raise
        raise CannotVerifyError(
            f"the disk of {place} is full: free some space, or {_OTHER_DISK}"
        ) from err


def _base(origin: WeightsOrigin, manifest: Manifest, cache: Path) -> list[Path]:
    """Find or fetch the base's files; raises CannotVerifyError if one is unavailable."""
    files = manifest.frozen.files if manifest.frozen else ()
    refs = [TreeRef.of_file(one.root, one.size_bytes) for one in files]
    found = {ref.root: seeds.find_stored(ref, origin.stores) for ref in refs}
    lacking = [ref for ref in refs if found[ref.root] is None]
    if lacking and not origin.ledger:
        raise CannotVerifyError(
            "merged weights are checked against the files of their base, which are not on this "
            "computer: give a ledger whose seeds have them, or the store of a node of that run"
        )

    async def fetch() -> None:
        async with LedgerApi(origin.ledger, trust=origin.trust) as api:
            for ref in lacking:
                found[ref.root] = await seeds.fetch_tree(api, ref, cache / "base", lambda _: None)

    with _cannot_verify(), shutdown.explain_unreachable_ledger(origin.ledger):
        export.check_room(cache, sum(ref.size_bytes for ref in lacking), _OTHER_DISK)
        if lacking:
            trio.run(fetch)
    return [path for ref in refs if (path := found[ref.root]) is not None]


def _difference(
    origin: WeightsOrigin, manifest: Manifest, flat: NDArray[np.int32], due: Digest
) -> tuple[str, ...]:
    path = seeds.find_stored(weights_ref(manifest, due), origin.stores)
    if path is None:
        return ()
    head: NDArray[np.int32] = np.memmap(path, "<i4", "r", shape=(manifest.layout.elements,))
    found = tensors.first_difference(manifest, head, flat)
    if found is None:
        return ()
    return (f"the first tensor that differs is {found[0]}, at {found[1]} places",)


def _read(folder: Path, name: str, most: int = FILE_BYTES) -> bytes:
    with (folder / name).open("rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise MalformedError(f"{name} has more than {most} bytes")
    return raw
