"""What the log says about one round, read from its entries: open, closed or void."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared import election, proof
from tequio_shared.contribution import Header, contribution_id
from tequio_shared.documents import WITNESS, Result, Roster
from tequio_shared.ids import Digest, digest_from_text, from_text
from tequio_shared.proof import Seen
from tequio_shared.statement import Entry
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tequio_shared.ids import ContributionId, NetworkId, PeerKey, RunId
    from tequio_shared.proof import Verdicts
    from tequio_shared.run_documents import Documents
    from tequio_shared.statements import Body

Row = tuple[int, bytes, int]
"""Index, leaf, and when it was logged (ms)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One entry of the round: where it stands and when it was logged."""

    index: int
    at_ms: int
    body: Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A trainer's commitment."""

    index: int
    at_ms: int
    header: Header
    id: ContributionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A witness's proof: as signed, and what it names."""

    index: int
    at_ms: int
    body: WitnessProof
    seen: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStory:
    """A round, by slots of its roster."""

    roster: Roster
    rostered: Told
    promoted: Told | None
    """Of the head that this round made; its members say so in the next round."""
    opened: Told | None
    witnessed: Told | None
    ended: Told | None
    attests: Mapping[int, Told]
    commits: Mapping[int, Committed]
    proofs: Mapping[int, Proven]
    elected: tuple[int, ...]
    result: Result | None
    """Of a closed round."""

    @property
    def open(self) -> RoundOpen | None:
        """What round.open says."""
        body = self.opened.body if self.opened else None
        return body if isinstance(body, RoundOpen) else None

    @property
    def void(self) -> RoundVoid | None:
        """What round.void says."""
        body = self.ended.body if self.ended else None
        return body if isinstance(body, RoundVoid) else None

    @property
    def is_complete(self) -> bool:
        """Whether no entry about this round can follow."""
        return self.void is not None or (self.ended is not None and self.promoted is not None)

    @property
    def ended_early(self) -> bool:
        """Whether it ended before witnesses were asked."""
        return self.ended is not None and self.witnessed is None

    @property
    def verdicts(self) -> Verdicts:
        """What the proofs so far come to, by committed slot."""
        seen = {slot: one.seen for slot, one in self.proofs.items()}
        return proof.verdicts(self.elected, seen, self.commits)

    @property
    def quorum(self) -> int:
        """Proofs that a close needs."""
        return max(election.quorum(len(self.elected)), 1) if self.elected else 0


def tell(
    net: NetworkId, run: RunId, number: int, rows: Iterable[Row], documents: Documents
) -> RoundStory:
    """Read a round from its entries, the roster among them; `documents` raises KeyError."""
    entries = [(index, Entry.parse(leaf).statement, at_ms) for index, leaf, at_ms in rows]
    firsts: dict[type[Body], Told] = {}
    said: dict[type[Body], dict[PeerKey, Told]] = {HeadAttest: {}, WorkCommit: {}, WitnessProof: {}}
    for index, statement, at_ms in entries:
        told = Told(index=index, at_ms=at_ms, body=statement.body)
        by_author = said.get(type(statement.body))
        if by_author is None:
            firsts.setdefault(type(statement.body), told)
        else:
            by_author[statement.author] = told
    rostered = firsts[RoundRoster]
    roster = _roster(rostered, documents)
    slot_of = {key: slot for slot, key in roster.keys.items()}
    opened, ended = firsts.get(RoundOpen), firsts.get(RoundClose) or firsts.get(RoundVoid)
    return RoundStory(
        roster=roster,
        rostered=rostered,
        promoted=firsts.get(HeadPromote),
        opened=opened,
        witnessed=firsts.get(RoundWitness),
        ended=ended,
        attests={slot_of[key]: told for key, told in said[HeadAttest].items()},
        commits={slot_of[key]: _commit(told) for key, told in said[WorkCommit].items()},
        proofs={slot_of[key]: _proof(told, roster) for key, told in said[WitnessProof].items()},
        elected=_elected(net, run, number, roster, opened),
        result=_result(ended, documents),
    )


def _roster(told: Told, documents: Documents) -> Roster:
    if not isinstance(told.body, RoundRoster):
        raise TypeError(f"a roster is expected, not {told.body.TYPE}")
    return Roster.parse(documents(digest_from_text(told.body.roster)))


def _result(told: Told | None, documents: Documents) -> Result | None:
    if told is None or not isinstance(told.body, RoundClose):
        return None
    return Result.parse(documents(digest_from_text(told.body.result)))


def _commit(told: Told) -> Committed:
    if not isinstance(told.body, WorkCommit):
        raise TypeError(f"a commitment is expected, not {told.body.TYPE}")
    raw = from_text(told.body.header, None)
    return Committed(
        index=told.index, at_ms=told.at_ms, header=Header.parse(raw), id=contribution_id(raw)
    )


def _proof(told: Told, roster: Roster) -> Proven:
    if not isinstance(told.body, WitnessProof):
        raise TypeError(f"a proof is expected, not {told.body.TYPE}")
    bitmap = from_text(told.body.bitmap, None)
    vouched = proof.decode_bitmap(bitmap, len(roster.members))
    rejected = {slot: proof.Reason(code) for slot, code in told.body.rejected}
    seen = Seen(vouched=vouched, rejected=rejected)
    return Proven(index=told.index, at_ms=told.at_ms, body=told.body, seen=seen)


def _elected(
    net: NetworkId, run: RunId, number: int, roster: Roster, opened: Told | None
) -> tuple[int, ...]:
    if opened is None or not isinstance(opened.body, RoundOpen):
        return ()
    beacon, named = (Digest(from_text(text)) for text in (opened.body.beacon, opened.body.roster))
    keys = roster.keys
    candidates = {slot: keys[slot] for slot in roster.slots_of(WITNESS)}
    return election.committee(election.seed(net, run, number, beacon, named), candidates)
