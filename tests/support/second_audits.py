"""A second implementation of audits, made from docs/protocol.md alone: draws, reports and cases.

It shares nothing with the product, and only hashes with the other second implementation.
Section numbers are those of docs/protocol.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.second_draw import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# section 16
JURY = 5
# 10.4
LOW_COSINE = 9_000
NOT_DONE_ABOVE = {"hidden": 2_500, "other": 2_500, "rounding": 5_000, "leaves": 2_000}
MOST_CHUNKS = 64
CLEAR, NOT_DONE, WITHHELD = "clear", "not done", "withheld"


def u64(data: bytes) -> int:
    """The first 8 bytes as a number (10.4)."""
    return int.from_bytes(data[:8], "big")


def chance_of(lot: bytes, contribution: bytes) -> int:
    """Place of a contribution in what a lot draws (10.4)."""
    return u64(sha256(b"tequio/v1/audited\0", lot, contribution))


def audit_lot_input(network: bytes, run: bytes, number: int, seed: bytes) -> bytes:
    """Input of a witness's function for its audit lot (10.4)."""
    return b"tequio/v1/audit-lot\0" + network + run + number.to_bytes(8, "big") + seed


def draw_seed_input(network: bytes, run: bytes, number: int, ids: Mapping[int, bytes]) -> bytes:
    """Input of the coordinator's function in `round.witness` (9.4); `ids` by slot."""
    committed = sha256(*(slot.to_bytes(4, "big") + ids[slot] for slot in sorted(ids)))
    return b"tequio/v1/draw-seed\0" + network + run + number.to_bytes(8, "big") + committed


def tokens_of(header: bytes) -> int:
    """`tokens` of a contribution (11.1)."""
    return int.from_bytes(header[40:48], "little")


def opening_seed(lot: bytes, contribution: bytes, auditor: bytes) -> bytes:
    """`opening` of an order (10.4)."""
    return sha256(b"tequio/v1/audit-opening\0", lot, contribution, auditor)


def opened_chunks(opening: bytes, chunks: int) -> set[int]:
    """The chunks opened to an auditor (10.4)."""
    most = max(min(MOST_CHUNKS, chunks // 4), 1)
    found: set[int] = set()
    i = 0
    while len(found) < most:
        x = u64(sha256(b"tequio/v1/audit-chunk\0", opening, i.to_bytes(4, "big")))
        found.add((x * chunks) >> 64)
        i += 1
    return found


def sketch_seed(auditor: bytes, contribution: bytes) -> bytes:
    """Seed of an auditor's sketch (10.4)."""
    return sha256(b"tequio/v1/audit-sketch-seed\0", auditor, contribution)


class Somebody(NamedTuple):
    """A slot with the role witness."""

    key: bytes
    owner: bytes
    speed: int


class Work(NamedTuple):
    """A contribution from which is drawn."""

    id: bytes
    owners: frozenset[bytes]
    """Owners of the trainer and the earlier auditors."""
    speed: int
    rate: int


class Pick(NamedTuple):
    """An auditor that was drawn for a contribution, by a lot."""

    id: bytes
    auditor: bytes
    lot: bytes


def able_of(work: Work, among: Iterable[Somebody]) -> list[Somebody]:
    """The able auditors of a work, in the same order (10.4)."""
    others = [one for one in among if one.owner not in work.owners]
    speeds = sorted(one.speed for one in others)
    return [
        one
        for one in others
        if one.speed * 4 >= work.speed * 3 or one.speed >= speeds[len(speeds) // 2]
    ]


def draw(
    works: Iterable[Work],
    lots: Mapping[Somebody, bytes],
    free: Sequence[Somebody],
    elected: Sequence[bytes],
    most: int | None = None,
) -> list[Pick]:
    """A draw of works, by the lots of a round, with free members in order of slot (10.4).

    `elected` are the owners of the elected.
    """
    by_id = {work.id: work for work in works}
    pairs = []
    for work in by_id.values():
        count = sum(owner not in work.owners for owner in elected)
        for one, lot in lots.items():
            x = chance_of(lot, work.id)
            if one.owner not in work.owners and x * 10_000 * count < work.rate << 64:
                pairs.append((x, work.id, one.key, lot))
    picks: list[Pick] = []
    for _, name, _, lot in sorted(pairs):
        if most is not None and len(picks) >= most:
            break
        if any(pick.id == name for pick in picks):
            continue
        taken = {pick.auditor for pick in picks}
        able = able_of(by_id[name], [one for one in free if one.key not in taken])
        if able:
            at = (u64(sha256(b"tequio/v1/auditor\0", lot, name)) * len(able)) >> 64
            picks.append(Pick(name, able[at].key, lot))
    return picks


def jury(
    work: Work,
    lots: Mapping[Somebody, bytes],
    free: Sequence[Somebody],
    present: Iterable[Somebody],
    seats: int = JURY,
    *,
    barred: Iterable[Somebody] = (),
) -> list[Pick]:
    """The jurors of a disputed case, with their own lots, in their order (10.4)."""
    in_question = [one for one in free if one in lots and one.owner not in work.owners]
    able = able_of(work, in_question)
    others = [one for one in in_question if one not in able]
    first_of: dict[bytes, Somebody] = {}
    for group in (able, others):
        for one in sorted(group, key=lambda one: (chance_of(lots[one], work.id), one.key)):
            first_of.setdefault(one.owner, one)
    chosen = list(first_of.values())[:seats]
    needed = {one.owner for one in present if one in lots and one.owner not in work.owners}
    away = {one.owner for one in barred if one in lots and one.owner not in work.owners}
    is_small = len(chosen) < 3 and len(chosen) < len(needed | away)
    if len(chosen) < seats and (len(chosen) < len(needed) or is_small):
        return []
    return [Pick(work.id, one.key, lots[one]) for one in chosen]


@dataclass(frozen=True)
class Report:
    """A report in a case."""

    index: int
    auditor: bytes
    said: str
    cosines: Mapping[bytes, int]
    """By the auditor whose sketch it is about."""
    round: int = 0

    @staticmethod
    def said_by(body: Mapping[str, Any]) -> str:
        """Verdict of a report that does not decline (10.4)."""
        figures = body.get("figures")
        if figures is None:
            return WITHHELD
        above = any(figures[name] > most for name, most in NOT_DONE_ABOVE.items())
        return NOT_DONE if above else CLEAR


def is_disputed(reports: Iterable[Report]) -> bool:
    """Return whether reports are disputed (10.4)."""
    return any(
        one.said != CLEAR or any(cosine < LOW_COSINE for cosine in one.cosines.values())
        for one in reports
    )


def prevails(k: int, n: int, drawn: int) -> bool:
    """Return whether k of n reports prevail in a case of that many auditors (10.4)."""
    return k >= 2 and 5 * (n - k) <= k and 2 * k >= drawn


def settled(reports: Sequence[Report], drawn: int) -> tuple[str | None, set[bytes]]:
    """The verdict of a dispute, and the auditors that are contradicted (10.4)."""
    n = len(reports)
    verdict = None
    for said in (CLEAR, NOT_DONE, WITHHELD):
        if prevails(sum(one.said == said for one in reports), n, drawn):
            verdict = said
    wrong: set[bytes] = set()
    if verdict in (CLEAR, NOT_DONE):
        wrong = {one.auditor for one in reports if one.said not in (verdict, WITHHELD)}
    return verdict, wrong | wrong_about_sketches(reports, drawn)


def wrong_about_sketches(reports: Sequence[Report], drawn: int) -> set[bytes]:
    """The auditors that the cosines of these reports contradict (10.4)."""
    wrong: set[bytes] = set()
    for about in {name for one in reports for name in one.cosines}:
        stated = {one.auditor: one.cosines[about] for one in reports if about in one.cosines}
        low = {key for key, cosine in stated.items() if cosine < LOW_COSINE}
        if prevails(len(low), len(stated), drawn):
            wrong |= {about} | (stated.keys() - low)
        if prevails(len(stated) - len(low), len(stated), drawn):
            wrong |= low
    return wrong


@dataclass
class Case:
    """A contribution under audit."""

    id: bytes
    round: int
    trainer: bytes
    speed: int
    tokens: int
    chunks: int
    stage: str = "first"
    reports: list[Report] = field(default_factory=list)
    owners: set[bytes] = field(default_factory=set)
    """Owner of the trainer, and of the auditors when they were drawn."""
    drawn: int = 0
    new: int = 0
    """Number of the reports before the first one that is not settled."""
    wrong: set[bytes] = field(default_factory=set)

    def is_disputed(self) -> bool:
        """Return whether the case needs a jury now (10.4)."""
        if self.stage != "review":
            return is_disputed(self.reports)
        return any(
            cosine < LOW_COSINE and about not in self.wrong
            for one in self.reports[self.new :]
            for about, cosine in one.cosines.items()
        )


@dataclass
class Duty:
    """An audit that a key owes."""

    auditor: bytes
    case: Case
    lot: bytes
    earlier: tuple[Report, ...]
    used: int = 0
