"""Audits: who repeats whose contribution, which part of it is opened, and what the figures mean.

Theory. After the commitments of a round are fixed, each witness draws an audit lot: the output of
its verifiable random function for that of the coordinator in `round.witness`. From a lot and a
contribution's id follow whether that contribution is audited, and by whom. So no trainer knows its
auditor before it commits, nobody can steer the draw by a commitment, and a witness that withholds
its lot cancels only its own audits. The lots are not over the commitments alone: who commits last
would try headers until its friends' lots draw what it likes, seats in a jury among it.

An auditor repeats the training and states how far the claim lies from it; how that is judged is
fixed here, in integers, so that all readers agree. (docs/protocol.md, 10.4; docs/auditing.md)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import count

from tequio_shared.ids import ContributionId, Digest, NetworkId, PeerKey, RunId, sha256
from tequio_shared.statements.runs import AuditFigures

OPENED_CHUNKS = 64
"""Chunks of a contribution whose error feedback is opened to one auditor; see `opened_chunks`."""
SIMILAR_E4 = 9_000
"""Cosine, in 1/10000, above which two sketches are of the same training."""
_OPENED_PART = 4
_LOT_RANGE = 1 << 64
_BASIS_POINTS = 10_000
_LEAST_AGREED = 2
LEAST_JURORS = 3
"""Fewer do not judge while others could, were they not barred: two in league would be the law."""
_OUTVOTED_PART = 5


class AuditVerdict(IntEnum):
    """An auditor's word on a contribution."""

    CLEAR = 0
    WARNED = 1  # as far from the repetition as odd hardware may be: counts as clear
    NOT_DONE = 2  # not the work that its header claims
    WITHHELD = 3  # its trainer did not open it


LIMITS: Mapping[str, tuple[int, int]] = {
    "hidden": (1_800, 2_500),
    "other": (1_800, 2_500),
    "rounding": (2_500, 5_000),
    "leaves": (1_000, 2_000),
}
"""By figure: above the first it warns, above the second it counts as work not done."""


def judge(figures: AuditFigures | None) -> AuditVerdict:
    """Verdict of an auditor's figures; None: the trainer did not open its contribution."""
    if figures is None:
        return AuditVerdict.WITHHELD
    verdict = AuditVerdict.CLEAR
    for name, (warns, convicts) in LIMITS.items():
        figure: int = getattr(figures, name)
        if figure > convicts:
            return AuditVerdict.NOT_DONE
        if figure > warns:
            verdict = AuditVerdict.WARNED
    return verdict


def lot_input(net: NetworkId, run: RunId, number: int, seed: bytes) -> bytes:
    """Input of a witness's function for its audit lot; `seed`: the output in `round.witness`."""
    return b"tequio/v1/audit-lot\0" + net + run + number.to_bytes(8, "big") + seed


def draw(lot: bytes, contribution: ContributionId) -> int:
    """Number below 2^64 that a lot draws for a contribution, the lower the sooner."""
    return int.from_bytes(sha256(b"tequio/v1/audited\0" + lot + contribution)[:8], "big")


def is_drawn(number: int, rate_bp: int, lots: int) -> bool:
    """Return whether one of that many lots draws an audit: together `rate_bp` in 10,000."""
    return number * _BASIS_POINTS * lots < rate_bp * _LOT_RANGE


def opened_chunks(seed: Digest, chunks: int) -> tuple[int, ...]:
    """Chunks opened by a seed, ascending: 64, but no more than a quarter of the model.

    An auditor that had them all would know the result without training.
    """
    wanted = opened_chunk_count(chunks)
    found: set[int] = set()
    for number in count():
        drawn = sha256(b"tequio/v1/audit-chunk\0", seed, number.to_bytes(4, "big"))
        found.add(int.from_bytes(drawn[:8], "big") * chunks >> 64)
        if len(found) == wanted:
            break
    return tuple(sorted(found))


def opened_chunk_count(chunks: int) -> int:
    """Number of chunks of a model that are opened to an auditor."""
    return max(min(OPENED_CHUNKS, chunks // _OPENED_PART), 1)


def sketch_seed(auditor: PeerKey, contribution: ContributionId) -> Digest:
    """Seed of an auditor's sketch: its own, so that no other auditor's can be copied."""
    return sha256(b"tequio/v1/audit-sketch-seed\0", auditor, contribution)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVote:
    """One report in a dispute; `checked` are cosines of the sketches of all reports before it.

    A report in the same round as another has not seen it, and says nothing of its sketch.
    """

    auditor: PeerKey
    verdict: AuditVerdict
    checked: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Outcome of a dispute: the agreed verdict, None if too many differ; and who contradicts it."""

    verdict: AuditVerdict | None
    contradicted: tuple[PeerKey, ...] = ()


def is_disputed(votes: Sequence[AuditVote]) -> bool:
    """Return whether the reports accuse somebody, or contradict each other."""
    accuses = any(_kind(vote) is not AuditVerdict.CLEAR for vote in votes)
    return accuses or any(min(vote.checked, default=SIMILAR_E4) < SIMILAR_E4 for vote in votes)


def settle(votes: Sequence[AuditVote], drawn: int) -> Settlement:
    """Settle a dispute: five sixths of those that reported, and half of all `drawn`, must agree.

    Contradicted are the others, except about a contribution that was withheld, for a trainer may
    answer some and not others; and, whatever the verdict, those that `settle_sketches` names.
    """
    kinds = [_kind(vote) for vote in votes]
    agreed = next(
        (kind for kind in AuditVerdict if _prevails(kinds.count(kind), len(votes), drawn)), None
    )
    wrong = {
        vote.auditor
        for vote, kind in zip(votes, kinds, strict=True)
        if agreed not in (None, kind) and AuditVerdict.WITHHELD not in (agreed, kind)
    }
    wrong |= settle_sketches(votes, 0, drawn)
    return Settlement(verdict=agreed, contradicted=tuple(sorted(wrong)))


def settle_sketches(votes: Sequence[AuditVote], since: int, drawn: int) -> set[PeerKey]:
    """Auditors that the reports from number `since` on contradict, by the sketches they checked.

    Where as large a part as for a verdict says that a sketch is of another training: its author,
    and those that said it was not. Where as large a part trusts it: those that doubted it, or
    anybody could have five others repeat any work, at no risk.
    """
    wrong: set[PeerKey] = set()
    for at, vote in enumerate(votes):
        seen = [later for later in votes[since:] if len(later.checked) > at]
        doubts = {one.auditor for one in seen if one.checked[at] < SIMILAR_E4}
        trusts = {one.auditor for one in seen} - doubts
        if _prevails(len(doubts), len(seen), drawn):
            wrong |= {vote.auditor} | trusts
        if _prevails(len(trusts), len(seen), drawn):
            wrong |= doubts
    return wrong


def is_doubted(votes: Sequence[AuditVote], since: int, known: Collection[PeerKey]) -> bool:
    """Return whether a report from number `since` on doubts a sketch, not counting the `known`."""
    return any(
        cosine < SIMILAR_E4 and one.auditor not in known
        for later in votes[since:]
        for one, cosine in zip(votes, later.checked, strict=False)
    )


def _kind(vote: AuditVote) -> AuditVerdict:
    return AuditVerdict.CLEAR if vote.verdict is AuditVerdict.WARNED else vote.verdict


def _prevails(agree: int, of: int, drawn: int) -> bool:
    """At least two, at most one in six against them, and half of all that were drawn.

    Else a few that are quick, or the only ones to answer, would judge in the jury's name.
    """
    is_clear = agree >= _LEAST_AGREED and (of - agree) * _OUTVOTED_PART <= agree
    return is_clear and agree * 2 >= drawn
