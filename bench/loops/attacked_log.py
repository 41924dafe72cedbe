"""The log of a run with liars, without its training: who trains, who audits, and who is convicted.

Members, statements, lots, juries and points are those of `tests/support/memory_swarm.py`, so every
rule is the product's own. Each member has a machine of its own: a commitment or a report comes when
the windows would have been trained, and shares grow as they would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import Volunteer

from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import from_text, key_from_text
from tequio_shared.network.coordination import due
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import StandingChange
from tequio_shared.statements.runs import AuditReport, RoundClose, WorkCommit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.volunteers import StatementDraft

    from tequio_shared.ids import PeerKey
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import RoundView

SPREAD = 0.1
"""Machines differ in speed by up to this share from the middle one."""
LATENCY_MS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRound:
    """One round: windows that each member had accepted, and that each auditor repeats; and k."""

    accepted: Mapping[str, int]
    repeated: Mapping[str, int]
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedLog:
    """A finished run: its rounds, and what followed for its members."""

    rounds: Sequence[LoggedRound]
    convicted: Mapping[str, int]
    """Last closed round when a member was quarantined."""
    suspected: frozenset[str]
    audits: int
    points: Mapping[str, int]
    """GFLOP that are the member's at the end."""

    def windows(self, members: Sequence[str]) -> int:
        """Windows that these members had accepted in all."""
        return sum(one.accepted.get(name, 0) for one in self.rounds for name in members)


def play_log(
    manifest: Manifest, honest: Sequence[str], liars: Sequence[str], *, speed: float, seed: int
) -> AttackedLog:
    """Run a swarm by the manifest's rules; `speed` in windows per second; a liar's name is its lie.

    A half-worker is twice as fast; the others that lie about their work train like honest ones.
    """
    tiny, shares = tiny_manifest(), manifest.windows
    rules = msgspec.structs.replace(
        tiny,
        algorithm=msgspec.structs.replace(tiny.algorithm, k=manifest.algorithm.k),
        # The tiny model's windows have more tokens: else a round would earn less than a point.
        windows=msgspec.structs.replace(tiny.windows, first=shares.first, most=shares.most),
        **{name: getattr(manifest, name) for name in ("rounds", "inner", "audit")},
    )
    swarm = _TimedSwarm(rules, seed=seed)
    names: dict[PeerKey, str] = {}
    for name in (*honest, *liars):
        pace = 2.0 if name == "half_work" else swarm.rng.uniform(1 - SPREAD, 1 + SPREAD)
        one = _TimedVolunteer(f"{name} {seed}", swarm.arithmetic, seed=seed)
        one.speed = speed * pace
        swarm.join(one)
        names[one.key] = name
        if name in liars:
            _lies(swarm, name).add(one.key)
    rounds: dict[int, LoggedRound] = {}
    while swarm.view.closed + swarm.view.voided < manifest.rounds.most and swarm.step():
        current = swarm.view.round
        if current is not None and current.phase is RoundPhase.OVER:
            rounds[current.number] = _logged(current, names)
    swarm.run()
    return _finished(swarm, list(rounds.values()), names)


def _lies(swarm: Swarm, name: str) -> set[PeerKey]:
    """Members that lie in the same way."""
    arithmetic = swarm.arithmetic
    return {"closed": arithmetic.closed, "accuser": arithmetic.accusers}.get(name, arithmetic.idle)


def _logged(current: RoundView, names: Mapping[PeerKey, str]) -> LoggedRound:
    keys, tokens = current.roster.keys, current.manifest.windows.tokens
    accepted, orders = current.accepted().items(), current.orders.items()
    return LoggedRound(
        accepted={names[keys[slot]]: one.header.window_count for slot, one in accepted},
        repeated={names[keys[slot]]: one.tokens // tokens for slot, one in orders},
        k=current.k,
    )


def _finished(
    swarm: Swarm, rounds: Sequence[LoggedRound], names: Mapping[PeerKey, str]
) -> AttackedLog:
    number, audits = 0, 0
    convicted, suspected = dict[str, int](), set[str]()
    for entry in swarm.entries:
        body = entry.statement.body
        audits += isinstance(body, AuditReport)
        if isinstance(body, RoundClose):
            number = entry.statement.round or 0
        elif isinstance(body, StandingChange):
            name = names[key_from_text(body.peer)]
            if body.to == "quarantined":
                convicted.setdefault(name, number)
            elif body.to == "suspected":
                suspected.add(name)
    earned = swarm.view.accounts.earned
    return AttackedLog(
        rounds=rounds,
        convicted=convicted,
        suspected=frozenset(suspected),
        audits=audits,
        points={name: earned[key].trainer + earned[key].witness for key, name in names.items()},
    )


class _TimedVolunteer(Volunteer):
    speed = 1.0
    """Windows per second."""


class _TimedSwarm(Swarm):
    """Members post what is ready first, not in random order."""

    def _let_member_post(self) -> bool:
        waiting: list[tuple[int, int, Volunteer, StatementDraft]] = []
        for one in self.rng.sample(self.volunteers, len(self.volunteers)):
            draft = one.duty(self.view)
            if draft is not None:
                waiting.append((self._ready_ms(one, draft), len(waiting), one, draft))
        if not waiting:
            return False
        ready_ms, _, one, draft = min(waiting, key=lambda each: each[:2])
        deadline = due(self.view, self.watch)
        if deadline is not None and self.now_ms < deadline < ready_ms:
            return False
        self.now_ms = max(self.now_ms, ready_ms) + self.rng.randint(1, LATENCY_MS)
        self._post_or_give_up(one, draft)
        return True

    def _ready_ms(self, one: Volunteer, draft: StatementDraft) -> int:
        current, body = self.view.round, draft.body
        if current is None or current.open is None or not isinstance(one, _TimedVolunteer):
            return self.now_ms
        order = current.orders.get(current.slot_of[one.key])
        windows = order.tokens // self.manifest.windows.tokens if order else 0
        if isinstance(body, WorkCommit):
            windows += ContributionHeader.parse(from_text(body.header, None)).window_count
        elif not isinstance(body, AuditReport):
            return self.now_ms
        return current.open.opened + round(windows / one.speed * 1000)
