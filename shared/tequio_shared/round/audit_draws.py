"""The draw of auditors from audit lots, and of the jury that settles a dispute.

Apart from the verdicts (`audits`), which programs without numpy read, too. (docs/protocol.md, 10.4)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tequio_shared.ids import ContributionId, Digest, PeerKey, sha256
from tequio_shared.round.audits import LEAST_JURORS, draw, is_drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A member that may audit; `speed` in milli-windows per second, 0 unknown."""

    key: PeerKey
    owner: Digest
    speed: int
    lot: bytes = b""
    """Audit lot, empty unless it is a witness of the round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedWork:
    """A contribution that may be audited, by auditors of other owners than those in `owners`."""

    contribution: ContributionId
    owners: frozenset[Digest]
    speed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAudit:
    work: AuditedWork
    auditor: Candidate
    opening: Digest


class AuditorPool:
    """Candidates of which auditors are drawn, each at most once.

    A draw is a pass over their speeds, in numpy: a round of thousands draws thousands of audits.
    """

    def __init__(self, candidates: Sequence[Candidate], busy: Container[PeerKey] = ()) -> None:
        self._candidates = candidates
        self._speeds = np.array([one.speed for one in candidates], np.int64)
        self._is_free = np.array([one.key not in busy for one in candidates], np.bool_)
        self._places_with_lot = [at for at, one in enumerate(candidates) if one.lot]
        self._places: dict[Digest, list[int]] = {}
        for at, one in enumerate(candidates):
            self._places.setdefault(one.owner, []).append(at)

    def able(self, work: AuditedWork) -> NDArray[np.intp]:
        """Places of the free ones that may audit it: of other owners, about as fast as its trainer.

        A slow one would hold up the round. But the faster half always may: who skips the work looks
        fast, and would else be audited by others that skip theirs.
        """
        is_other = self._is_free.copy()
        for owner in work.owners:
            is_other[self._places.get(owner, [])] = False
        others = np.flatnonzero(is_other)
        if not len(others):
            return others
        speeds, half = self._speeds[others], len(others) // 2
        middle = int(np.partition(speeds, half)[half])
        return others[speeds * 4 >= min(work.speed * 3, middle * 4)]

    def free_with_lot(self) -> list[Candidate]:
        """Free candidates that have an audit lot, which a jury is drawn from; O(committee)."""
        return [self._candidates[at] for at in self._places_with_lot if self._is_free[at]]

    def pop(self, place: int) -> Candidate:
        """Remove the candidate at that place, and return it."""
        self._is_free[place] = False
        return self._candidates[place]

    def remove(self, drawn: Iterable[DrawnAudit]) -> None:
        """Remove those that were drawn otherwise."""
        keys = {one.auditor.key for one in drawn}
        for at in self._places_with_lot:
            if self._candidates[at].key in keys:
                self._is_free[at] = False


def auditors_of(work: AuditedWork, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that may audit it."""
    return [candidates[place] for place in AuditorPool(candidates).able(work)]


def draw_some(
    works: Sequence[tuple[AuditedWork, int]],
    witnesses: Sequence[Candidate],
    elected: Sequence[Digest],
    pool: AuditorPool,
    most: int,
) -> list[DrawnAudit]:
    """Draw audits of works, each with a rate in 1/10000: at most one for each and by each.

    The lot of each witness decides about each work of another owner, and names the auditor. The
    rate counts on the lots of all the elected, whose owners are `elected`: by its silence a witness
    cancels only its own audits. Costs a hash for each pair of witness and work, and for each audit
    a pass over the candidates.
    """
    found = [
        (number, work.contribution, one.key, work, one.lot)
        for work, rate_bp in works
        if (lots := sum(owner not in work.owners for owner in elected))
        for one in witnesses
        if one.owner not in work.owners
        and is_drawn(number := draw(one.lot, work.contribution), rate_bp, lots)
    ]
    drawn: list[DrawnAudit] = []
    left = {work.contribution for work, _ in works}
    for _, name, _, work, lot in sorted(found, key=lambda one: one[:3]):
        if len(drawn) >= most:
            break
        able = pool.able(work) if name in left else ()
        if len(able):
            auditor = pool.pop(int(able[_auditor_index(lot, name, len(able))]))
            drawn.append(_drawn(work, auditor, lot))
            left.remove(name)
    return drawn


def draw_jury(
    work: AuditedWork,
    candidates: Sequence[Candidate],
    seats: int,
    present: Iterable[Candidate],
    barred: Iterable[Candidate] = (),
) -> list[DrawnAudit]:
    """Draw the auditors that settle a dispute: the witnesses with the lowest draws of their own.

    One of each owner, those that are fast enough first. Each has only its own lot, so nobody's
    silence moves another's seat. `present` are all that could judge if nobody were busy: nobody is
    drawn while too few of them are free, or one who accuses many at once would judge alone. With
    the `barred` ones, who may not judge now, they are all that a run has.
    """
    able = {one.key for one in auditors_of(work, [one for one in candidates if one.lot])}
    others = [one for one in candidates if one.lot and one.owner not in work.owners]
    seated: dict[Digest, Candidate] = {}
    for one in sorted(
        others,
        key=lambda one: (one.key not in able, draw(one.lot, work.contribution), one.key),
    ):
        if len(seated) < seats:
            seated.setdefault(one.owner, one)
    owners = {one.owner for one in present if one.lot} - work.owners
    whole = owners | {one.owner for one in barred if one.lot} - work.owners
    if len(seated) < min(seats, max(len(owners), min(LEAST_JURORS, len(whole)))):
        return []
    return [_drawn(work, one, one.lot) for one in seated.values()]


def _drawn(work: AuditedWork, auditor: Candidate, lot: bytes) -> DrawnAudit:
    opening = sha256(b"tequio/v1/audit-opening\0", lot, work.contribution, auditor.key)
    return DrawnAudit(work=work, auditor=auditor, opening=opening)


def _auditor_index(lot: bytes, contribution: ContributionId, able: int) -> int:
    drawn = sha256(b"tequio/v1/auditor\0", lot, contribution)
    return int.from_bytes(drawn[:8], "big") * able >> 64
