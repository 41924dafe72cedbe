"""Are these weights that head? From the files to integers, to their root, to the log.

Nothing in the folder is believed but what leads to the root. Its claim says where in the log to
look; the entry there has to be the coordinator's head.promote of that run and round, and has to be
in the log of a checkpoint that is signed as the genesis, or a policy, demands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import trio

from tequio_client.checkpoint import fixed, in_log, parts, tensors, weights_source
from tequio_client.checkpoint.merged import Merged
from tequio_client.checkpoint.parts import Form
from tequio_client.checkpoint.story import documents_of
from tequio_client.checkpoint.verdict import CannotTellError, NotTheHeadError, Outcome, Verdict
from tequio_client.checkpoint.workplace import check_room
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker import base_files, endings
from tequio_client.worker.store.trees import cut_file
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.limits import DOCUMENT_BYTES, PIECE_BYTES
from tequio_shared.manifest import Manifest
from tequio_shared.tlog_proof import PROOF_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tequio_client.verify.progress import WorkProgress
    from tequio_client.worker.store.trees import TreeRef
    from tequio_shared.ids import Digest
    from tequio_shared.policy import Policy


FILE_BYTES = 256 << 20
"""Most bytes of a tokenizer.json that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be checked, and against which ledger; stores help to say what differs."""

    folder: Path
    ledger: str
    stores: Sequence[Path] = ()
    trust: Policy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A folder's claim, and the root of the integers that its weights stand for."""

    claim: parts.Claim
    manifest: Manifest
    root: Digest
    proof: bytes
    """What came with the folder, unverified."""


def run(wish: Wish, progress: WorkProgress) -> Verdict:
    """Check a folder; never raises for what is wrong with it, nor for a ledger that is away."""
    try:
        return Verdict(outcome=Outcome.IS_THE_HEAD, lines=_checked(wish, progress))
    except NotTheHeadError as err:
        return Verdict(outcome=Outcome.IS_NOT, lines=tuple(map(str, err.args)))
    except CannotTellError as err:
        return Verdict(outcome=Outcome.CANNOT_TELL, lines=tuple(map(str, err.args)))


def _checked(wish: Wish, progress: WorkProgress) -> tuple[str, ...]:
    weighed = weigh(wish, progress)
    claim = weighed.claim
    find = partial(in_log.find, wish.ledger, claim, weighed.proof, wish.trust)
    try:
        with endings.reached(wish.ledger):
            found = trio.run(find)
    except (UserFacingError, BaseExceptionGroup) as err:
        raise _first(err) from err
    genesis = found.network.genesis
    return (
        f"these weights are the head of round {claim.round} of the run {weighed.manifest.name} "
        f"({claim.run[:10]})",
        *_beside(wish.folder, weighed.manifest),
        f"root of the weights: {claim.weights_root}",
        f"network: {genesis.name} ({claim.network}), log key {genesis.log_key}",
        f"log: entry {claim.entry}, proven under the signed checkpoint of "
        f"{found.checkpoint.size} entries",
    )


def _beside(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    base = manifest.frozen
    if base is None:
        return ()
    name = base.source or manifest.model.config[:10]
    if _form(folder, manifest) is Form.MERGED:
        return (f"merged into the frozen base {name}, every bit as base and adapters make it",)
    return (f"adapters of rank {base.rank}, for the frozen base {name}",)


def _first(error: BaseException) -> BaseException:
    first = endings.first_of(error)
    return CannotTellError(str(first)) if isinstance(first, UserFacingError) else first


def weigh(wish: Wish, progress: WorkProgress) -> Weighed:
    """Hold everything in the folder against its claim, and nothing against the log.

    Raises NotTheHeadError, CannotTellError.
    """
    try:
        claim = parts.Claim.parse(_read(wish.folder, parts.CLAIM, parts.CLAIM_BYTES))
        manifest = _manifest(wish.folder, claim)
        _check_fixed(wish.folder, manifest)
        proof = _read(wish.folder, parts.PROOF, PROOF_BYTES)
        root = _root(wish, claim, manifest, progress)
        return Weighed(claim=claim, manifest=manifest, root=root, proof=proof)
    except FileNotFoundError as err:
        name = Path(err.filename or "").name or "a file"
        raise CannotTellError(f"{wish.folder} is not a whole export: {name} is missing") from err
    except OSError as err:
        raise CannotTellError(f"{wish.folder} cannot be read: {err.strerror or err}") from err
    except (MalformedError, RefusedError, UserFacingError) as err:
        raise NotTheHeadError(str(err)) from err


def _manifest(folder: Path, claim: parts.Claim) -> Manifest:
    raw = _read(folder, parts.MANIFEST, DOCUMENT_BYTES)
    if to_text(sha256(raw)) != claim.run:
        raise MalformedError(f"{parts.MANIFEST} is not the manifest of the run {claim.run[:10]}")
    return Manifest.parse(raw)


def _check_fixed(folder: Path, manifest: Manifest) -> None:
    """Configuration and tokenizer have to be what the run's documents make of them."""
    by_name = {manifest.data.manifest: parts.CORPUS, manifest.model.config: parts.SOURCE_CONFIG}
    if manifest.tokenizer.file:
        by_name[manifest.tokenizer.file] = parts.TOKENIZER

    def document(name: Digest) -> bytes | None:
        return _read(folder, by_name[to_text(name)])

    form = _form(folder, manifest)
    due = fixed.files(manifest, documents_of(manifest, document), form=form)
    for name, content in due.items():
        if _read(folder, name) != content:
            raise MalformedError(f"{name} is not the run's: it was changed after the export")
    is_adapter = manifest.frozen is not None and form is Form.HEAD
    for name in (parts.CONFIG, *parts.FOREIGN[2:]) if is_adapter else parts.FOREIGN:
        if (folder / name).exists():
            raise MalformedError(f"{name} changes what is loaded: no export has such a file")


def _form(folder: Path, manifest: Manifest) -> Form:
    is_merged = manifest.frozen is not None and not parts.is_adapter(folder)
    return Form.MERGED if is_merged else Form.HEAD


def _root(wish: Wish, claim: parts.Claim, manifest: Manifest, progress: WorkProgress) -> Digest:
    due = digest_from_text(claim.weights_root)
    with (
        TemporaryDirectory(prefix="tequio-verify-") as temporary,
        progress.work("weights read (bytes)", manifest.model.parameters * 4) as tick,
    ):
        path = Path(temporary) / "weights"
        flat = tensors.read(manifest, wish.folder, path, tick)
        flat.flush()  # type: ignore[attr-defined]  # it is a memmap
        with path.open("rb") as file:
            root = cut_file(file, PIECE_BYTES).ref.root
        if root != due:
            raise NotTheHeadError(
                f"these weights are not the head of round {claim.round} that they are said to be",
                *_difference(wish, manifest, flat, due),
                f"root of the head:      {claim.weights_root}",
                f"root of these weights: {to_text(root)}",
            )
        if _form(wish.folder, manifest) is Form.MERGED:
            _check_merged(wish, manifest, flat, Path(temporary), progress)
    return root


def _check_merged(
    wish: Wish, manifest: Manifest, flat: NDArray[np.int32], cache: Path, progress: WorkProgress
) -> None:
    """Make the merged weights again, from the base's files, and compare every bit."""
    base = _base(wish, manifest, cache)
    model = Merged.of(manifest, flat, base)
    with progress.work("merged weights compared (bytes)", model.size_bytes) as tick:
        model.check(wish.folder, tick)


def _base(wish: Wish, manifest: Manifest, cache: Path) -> list[Path]:
    """The base's files; raises CannotTellError where they are not to be had."""
    files = manifest.frozen.files if manifest.frozen else ()
    refs = [base_files.reference(one) for one in files]
    found = [weights_source.stored(ref, wish.stores) for ref in refs]
    lacking = [ref for ref, path in zip(refs, found, strict=True) if path is None]
    if lacking and not wish.ledger:
        raise CannotTellError(
            "merged weights are checked against the files of their base, which are not here: a "
            "ledger whose seeds have them, or the store of a node of that run, is needed"
        )
    try:
        check_room(cache, sum(ref.size_bytes for ref in lacking))
        with endings.reached(wish.ledger):
            come = trio.run(partial(_fetched, wish, lacking, cache)) if lacking else {}
    except (UserFacingError, BaseExceptionGroup) as err:
        raise _first(err) from err
    return [path or come[ref.root] for ref, path in zip(refs, found, strict=True)]


async def _fetched(wish: Wish, refs: Sequence[TreeRef], cache: Path) -> dict[Digest, Path]:
    async with LedgerApi(wish.ledger, trust=wish.trust) as api:
        return {
            ref.root: await weights_source.fetched(api, ref, cache / "base", lambda _: None)
            for ref in refs
        }


def _difference(
    wish: Wish, manifest: Manifest, flat: NDArray[np.int32], due: Digest
) -> tuple[str, ...]:
    """Where they differ from the head, if a store has that."""
    path = weights_source.stored(weights_source.reference(manifest, due), wish.stores)
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
