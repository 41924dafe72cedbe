"""A log read whole and folded anew: its signature, its root, and that every entry may be there.

All leaves make the root that was signed, so each entry is in the log, and none was left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.audit.findings import Place
from tequio_client.audit.fold import Fold
from tequio_client.audit.sources import NotHadError
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.log.merkle import Frontier, leaf_hash
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.log.policy import NoQuorumError
from tequio_shared.log.tiles import TILE_WIDTH
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from tequio_client.audit.findings import Report
    from tequio_client.audit.main import Progress
    from tequio_client.verifying.shown import Shown
    from tequio_shared.log.notes import Checkpoint, SignedCheckpoint
    from tequio_shared.log.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLog:
    """A log whose entries make the root that was signed."""

    genesis: Genesis
    checkpoint: Checkpoint
    cosigners: tuple[str, ...]
    """Witnesses of the policy who cosigned; nobody is asked without one."""
    fold: Fold
    said_ms: int
    """When the last entry says that it was said."""


def read(source: Shown, trust: Policy | None, report: Report, progress: Progress) -> ReadLog | None:
    """Read a log; None when it has no beginning or no end that could be relied on.

    What is wrong goes into the report.
    """
    try:
        genesis = Genesis.parse(source.genesis())
        signed = _opened(source.note(), VerifierKey.parse(genesis.log_key), trust)
    except (NotHadError, NoQuorumError) as err:
        report.missing("checkpoint", Place(), str(err))
        return None
    except PeerError as err:
        report.mismatch("checkpoint", Place(), str(err))
        return None
    fold = Fold(genesis, source, report)
    last = _take(source, signed.checkpoint, fold, report, progress)
    if last is None:
        return None
    return ReadLog(
        genesis=genesis,
        checkpoint=signed.checkpoint,
        cosigners=tuple(one.key.name for one in signed.cosignatures) if trust else (),
        fold=fold,
        said_ms=_said_ms(last),
    )


def _opened(note: bytes, log_key: VerifierKey, trust: Policy | None) -> SignedCheckpoint:
    return open_checkpoint(note, log_key) if trust is None else trust.open(note, log_key)


def _take(
    source: Shown, checkpoint: Checkpoint, fold: Fold, report: Report, progress: Progress
) -> bytes | None:
    """Fold every entry; gives the last one if all were there and make the root."""
    tree, size, last = Frontier(), checkpoint.size, b""
    with progress.work("entries", size) as tick:
        for first in range(0, size, TILE_WIDTH):
            end = min(first + TILE_WIDTH, size)
            leaves = _leaves(source, first, end, report)
            if leaves is None:
                return None
            for at, leaf in enumerate(leaves, first):
                tree.append(leaf_hash(leaf))
                fold.take(at, leaf)
                last = leaf
            tick(len(leaves))
    report.checked["entries"] += size
    if tree.root() == checkpoint.root:
        return last
    report.mismatch(
        "root of the log",
        Place(entry=size - 1),
        "the entries do not make the root that the log signed",
        expected=checkpoint.root.hex(),
        found=tree.root().hex(),
    )
    return None


def _said_ms(leaf: bytes) -> int:
    try:
        return Entry.parse(leaf).statement.ts
    except MalformedError:  # a finding of the fold
        return 0


def _leaves(source: Shown, first: int, end: int, report: Report) -> list[bytes] | None:
    what, place = f"entries {first} to {end - 1}", Place(entry=first)
    try:
        return source.entries(first, end)
    except NotHadError as err:
        report.missing(what, place, str(err))
    except PeerError as err:
        report.mismatch(what, place, str(err))
    return None
