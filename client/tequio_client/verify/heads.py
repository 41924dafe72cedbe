"""Every head recomputed from head 0's weights and the accepted contributions alone.

A round whose contributions are unavailable leaves a gap: the audit reports it, and goes on from the
next promoted head whose weights it finds, which it checks against the root in the log.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.trainer.head import HeadFiles, compute_next_head, engine_for
from tequio_client.verify.report import LogPlace
from tequio_client.worker.store.trees import TreeRef, hash_tree_file
from tequio_shared.head.contribution import validate
from tequio_shared.head.head import OuterStep
from tequio_shared.ids import Digest, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.trainer.head import ComputedHead
    from tequio_client.verify.fold import RunHistory
    from tequio_client.verify.report import AuditReport
    from tequio_client.verify.source import ContributionSource
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import AcceptedSet, AcceptedWork, Head


_WEIGHT_BYTES = 4
_ANY_K = 16
"""What a head keeps beside its weights does not depend on k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionFiles:
    """A head on the disk."""

    weights: Path
    aux: Path | None


class HeadAudit:
    """Recomputes the heads of one run, in a work folder that it may fill."""

    def __init__(
        self, history: RunHistory, source: ContributionSource, report: AuditReport, folder: Path
    ) -> None:
        self._history = history
        self._manifest = history.view.manifest
        self._run = to_text(self._manifest.run_id)
        self._source = source
        self._report = report
        self._folder = folder

    def run(self, tick: Callable[[int], None]) -> None:
        """Check every promoted head; each costs a tick."""
        held: ContributionFiles | None = None
        for index, head in self._history.promoted:
            if head.round == 0:
                held = self._first(index, head)
            else:
                held = self._next(index, head, held) or self._load(index, head)
            tick(1)

    def _first(self, index: int, head: Head) -> ContributionFiles | None:
        """Find head 0; its root is the manifest's, as the fold has checked."""
        held = self._load(index, first_head(self._manifest))
        if held is None and not self._is_damaged(index, head):
            place = LogPlace(entry=index, run=self._run, round=0)
            self._report.missing("weights of head 0", place, "no source has them")
        return held

    def _next(
        self, index: int, head: Head, held: ContributionFiles | None
    ) -> ContributionFiles | None:
        """Compute a head from the one before and compare; None when that was not possible."""
        place = LogPlace(entry=index, run=self._run, round=head.round)
        closed = self._history.closed[head.round]
        payloads = [self._payload(closed, work) for work in closed.works]
        found = [path for path in payloads if path is not None]
        if held is None or len(found) < len(payloads):
            what = "weights of the head before it" if held is None else "contributions"
            self._report.missing("head", place, f"not recomputed: the {what} are missing")
            return None
        headers = [work.header for work in closed.works]
        made, files = self._advance(closed, held, list(zip(headers, found, strict=True)))
        self._report.checked["heads recomputed"] += 1
        return files if self._compare(place, head, made) else None

    def _advance(
        self, closed: AcceptedSet, held: ContributionFiles, contributions: list[tuple[bytes, Path]]
    ) -> tuple[ComputedHead, ContributionFiles]:
        step = head_step(self._manifest, closed)
        weights = self._folder / f"weights-{closed.round}"
        keeps_aux = step.params.aux_dtype is not None
        aux = self._folder / f"aux-{closed.round}" if keeps_aux else None
        files = HeadFiles(
            weights_in=held.weights, weights_out=weights, aux_in=held.aux, aux_out=aux
        )
        made = compute_next_head(
            step=step, contributions=contributions, files=files, engine=engine_for(step)
        )
        self._drop(held)
        return made, ContributionFiles(weights=weights, aux=aux)

    def _drop(self, held: ContributionFiles) -> None:
        """Delete computed files that are no longer needed; those of a store stay."""
        for path in (held.weights, held.aux):
            if path is not None and path.parent == self._folder:
                path.unlink()

    def _compare(self, place: LogPlace, head: Head, made: ComputedHead) -> bool:
        pairs = {
            "set_root": (made.set_root, head.set_root),
            "weights_root": (made.weights_root, head.weights_root),
            "aux_root": (made.aux_root, head.aux_root),
            "hash": (made.head, head.hash),
        }
        for name, (expected, found) in pairs.items():
            if expected != found:
                self._report.mismatch(
                    f"head, {name}",
                    place,
                    "the log's is not the one computed from the accepted contributions",
                    expected=to_text(expected),
                    found=to_text(found),
                )
        return all(expected == found for expected, found in pairs.values())

    def _payload(self, closed: AcceptedSet, work: AcceptedWork) -> Path | None:
        """Find a payload that passes every rule; report what is wrong with one that does not."""
        shape, chunks = closed.expected.shape, closed.expected.chunks
        ref = TreeRef(
            root=work.payload_root,
            size_bytes=chunks * shape.record_bytes,
            piece_bytes=shape.group_bytes,
        )
        broken = ""
        for path in self._source.candidates(ref):
            broken = _broken_rule(work.header, path, closed)
            if not broken:
                self._report.checked["contributions"] += 1
                return path
        place = LogPlace(
            entry=closed.index, run=self._run, round=closed.round, peer=to_text(work.trainer)
        )
        if broken:
            self._report.mismatch("contribution", place, f"it breaks the rule `{broken}`")
        else:
            self._report.missing("contribution", place, f"no source has {ref.root.hex()}")
        return None

    def _load(self, index: int, head: Head) -> ContributionFiles | None:
        """Find the weights of a promoted head."""
        weights = self._tree(index, head, head.weights_root, _WEIGHT_BYTES)
        k = self._manifest.algorithm.k or _ANY_K
        dtype = self._manifest.outer_params(max(head.round, 1), k).aux_dtype
        if weights is None or dtype is None:
            return ContributionFiles(weights=weights, aux=None) if weights else None
        aux = self._tree(index, head, head.aux_root, dtype.itemsize)
        return ContributionFiles(weights=weights, aux=aux) if aux or head.round == 0 else None

    def _tree(self, index: int, head: Head, root: Digest, item_bytes: int) -> Path | None:
        size = self._manifest.layout.elements * item_bytes
        ref = TreeRef(root=root, size_bytes=size, piece_bytes=PIECE_BYTES)
        damaged = ""
        for path in self._source.candidates(ref):
            damaged = _wrong_root(ref, path)
            if not damaged:
                return path
        if damaged:
            place = LogPlace(entry=index, run=self._run, round=head.round)
            self._report.mismatch("stored head", place, expected=root.hex(), found=damaged)
        return None

    def _is_damaged(self, index: int, head: Head) -> bool:
        """True if a finding names the reason already why this head could not be loaded."""
        return any(
            one.what == "stored head" and one.place.entry == index and one.place.round == head.round
            for one in self._report.findings
        )


def head_step(manifest: Manifest, closed: AcceptedSet) -> OuterStep:
    """Make the outer step of a closed round."""
    return OuterStep(
        run_id=manifest.run_id,
        round=closed.round,
        parent=closed.parent,
        layout=manifest.layout,
        params=manifest.outer_params(closed.round, closed.k),
    )


def _broken_rule(header: bytes, path: Path, closed: AcceptedSet) -> str:
    if path.stat().st_size == 0:
        return "length"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as payload:
        view = memoryview(payload)
        try:
            return validate(header, view, closed.expected) or ""
        finally:
            view.release()


def _wrong_root(ref: TreeRef, path: Path) -> str:
    """Hash a file; '' when it is the tree, else the root that it has."""
    with path.open("rb") as file:
        found = hash_tree_file(file, ref.piece_bytes).ref
    return "" if found == ref else found.root.hex()
