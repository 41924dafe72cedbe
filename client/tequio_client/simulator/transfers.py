"""Bytes and times of a peer's duties, and of a round's contributions between many peers.

Every peer that computes heads fetches every contribution, from any peer that has it; one that
follows steps fetches the step of each head. The time follows the fluid limit of a swarm (Kumar and
Ross, Peer-assisted file distribution: the minimum distribution time, 2006): a peer gets at most
what its line takes, and at most an equal part of what all peers together can send. The parts of
those that fetch contributions are larger where others follow, as these send their own ones, too.
Contributions come in the order of their commitments, one after the other, once their trainer has
sent one copy. `swarm/transfer` needs longer where peers refuse or stall.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tequio_client.simulator.members import SimulatedMember
from tequio_client.worker.lending import needs
from tequio_client.worker.lending.needs import RoundPace
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty
from tequio_client.worker.rounds.train import UPLOAD_MARGIN_MS
from tequio_client.worker.rounds.witness import GATHER_SHARE
from tequio_shared.network.full_run import FullRunView
from tequio_shared.round.audits import opened_chunk_count
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import WorkCommit

SEED_PART = 1 / 6
"""Part of a newcomer's first download that the seed sends. By chance: in two demos of 16 volunteers
that all joined at once, it sent 7 % and 26 %; of three, nearly all."""
OUTER_STEP_S = 1.2e-10
"""Seconds of a peer for each contribution and parameter to compute the next head: twice what
bench/exact_head.py measured, for the filter; a witness needs about as long to screen them."""


FORWARD_PART = 3
"""A measurement only reads: it is this many times as fast as training, which also goes back."""
ROUNDS_KEPT = 4


def train_limit(current: RoundView) -> int | None:
    """Time at which a trainer commits to what it has; None before the round opens."""
    if current.open is None:
        return None
    usual_ms = current.open.opened + current.manifest.rounds.train
    return min(usual_ms, current.open.train_by - UPLOAD_MARGIN_MS)


class DutyTimes:
    """How long the duties of a run take on a member's computer, and what they fetch."""

    def __init__(self, manifest: Manifest, corpus: Corpus) -> None:
        self._manifest = manifest
        self.transfers: dict[int, RoundTransfers] = {}
        """By round, of the last ones."""
        self.head_bytes = manifest.weights_bytes + manifest.aux_bytes
        self.leaves_bytes = (
            2 * opened_chunk_count(manifest.chunks) * needs.leaf_bytes(manifest.chunks)
        )
        pace = RoundPace(members=manifest.rounds.min_members, length_ms=1, tokens=0)
        self._first_bytes, self._light_first_bytes = (
            needs.estimate(manifest, corpus, pace, is_witness=one).first_bytes
            for one in (True, False)
        )
        self._supply = math.inf
        """Bytes per second that each peer gets if all fetch at once."""
        sizes = sorted((one.size_bytes for one in corpus.train), reverse=True)
        self._shard_bytes = sum(sizes)
        self._first_shards = sum(sizes[: needs.SHARDS])
        self._token_bytes = self._shard_bytes / sum(one.tokens for one in corpus.train)

    def begin_round(self, current: RoundView, online: Collection[SimulatedMember]) -> None:
        size = needs.contribution_bytes(self._manifest, len(current.trainers))
        sent = sum(one.host.up for one in online)
        fetching = sum(not one.is_light for one in online)
        self._supply = sent / max(len(online), 1)
        self.transfers[current.number] = RoundTransfers(
            size_bytes=size, supply=sent / max(fetching, 1)
        )
        while len(self.transfers) > ROUNDS_KEPT:
            del self.transfers[next(iter(self.transfers))]

    def fetched_bytes(self, member: SimulatedMember) -> int:
        """Bytes of a member's next head: with data and base, if it is its first one."""
        if member.is_light:
            return self._light_first_bytes if member.held is None else self._manifest.weights_bytes
        return self._first_bytes if member.held is None else self.head_bytes

    def shard_bytes(self, before: int, tokens: int) -> int:
        """Bytes of data that a member fetches as the run goes on by that many tokens."""
        done = [
            min(max(one * self._token_bytes, self._first_shards), self._shard_bytes)
            for one in (before, before + tokens)
        ]
        return round(done[1] - done[0])

    def end(
        self, member: SimulatedMember, duty: Duty, view: FullRunView, now_ms: int
    ) -> int | None:
        """Time at which a duty that begins now ends; None: it waits for the log."""
        host, soon_ms = member.host, now_ms + member.host.latency_ms
        match duty:
            case duties.FetchDuty():
                rate = min(host.down, self._supply)
                return now_ms + round(1000 * self.fetched_bytes(member) / rate)
            case duties.AdvanceDuty(closed=closed):
                transfers = self.transfers.get(closed.round)
                arrived = transfers.last_ms(host.down) if transfers else now_ms
                return max(now_ms, arrived) + self._step_ms(len(closed.works))
            case duties.FollowDuty():
                rate = min(host.down, self._supply)
                return now_ms + round(1000 * self._manifest.step_bytes / rate) + self._step_ms(1)
            case duties.ReadyDuty() | duties.LeaveDuty() | duties.AttestDuty():
                return soon_ms
            case duties.MeasureDuty(is_drawn=True):
                tokens = self._manifest.measures.tokens
                whole_ms = round(1000 * tokens / (FORWARD_PART * host.tokens_per_s))
                return soon_ms + max(whole_ms - member.measured_ms[duty.head.round], 0)
        return self._round_end(member, duty, view, soon_ms)

    def _round_end(
        self, member: SimulatedMember, duty: Duty, view: FullRunView, soon_ms: int
    ) -> int | None:
        current, speed = view.round, member.host.tokens_per_s
        if current is None or member.key not in current.slot_of:
            return None
        slot, lie = current.slot_of[member.key], member.lie
        match duty:
            case duties.TrainDuty():
                tokens = current.roster.members[slot].share * self._manifest.windows.tokens
                ends_ms = soon_ms + round(1000 * lie.work * tokens / speed)
                return min(ends_ms, train_limit(current) or ends_ms)
            case duties.AuditDuty():
                leaves_s = self.leaves_bytes / min(member.host.down, self._supply)
                train_s = current.orders[slot].tokens / speed
                return soon_ms + round(1000 * (leaves_s + train_s) * lie.repeats)
            case duties.ProveDuty():
                transfers = self.transfers[current.number]
                gathers_ms = view.witnessed_ms + self._manifest.rounds.witness * GATHER_SHARE
                arrived = min(transfers.last_ms(member.host.down), round(gathers_ms))
                screened_ms = self._step_ms(len(current.commitments)) * lie.checks
                return max(soon_ms, arrived * lie.checks) + screened_ms
        return None

    def work(self, member: SimulatedMember, current: RoundView, now_ms: int) -> WorkCommit | None:
        """The commitment of a trainer to what it has done by now; None before a whole window."""
        share = current.roster.members[current.slot_of[member.key]].share
        seconds = (now_ms - member.begun_ms) / 1000
        tokens = seconds * member.host.tokens_per_s
        done = int(tokens / max(member.lie.work, 1e-9) / self._manifest.windows.tokens)
        return member.commit(current, min(done, share)) if done else None

    def _step_ms(self, contributions: int) -> int:
        return round(1000 * OUTER_STEP_S * contributions * self._manifest.model.parameters)


@dataclass(slots=True, kw_only=True)
class TransferTotals:
    """Bytes of all peers together, and of the seed."""

    down: int = 0
    leaves: int = 0
    """Of these, error feedback that was opened to auditors."""
    steps: int = 0
    """Of `down`, steps of heads."""
    gossip: int = 0
    """Received as announcements, beside `down`; about as much is sent."""
    seed_down: int = 0
    seed_up: int = 0

    @property
    def up(self) -> int:
        """Sent by all peers: what they and the seed fetched and the seed did not send."""
        return self.down + self.seed_down - self.seed_up


@dataclass(slots=True, kw_only=True)
class RoundTransfers:
    """Contributions of one round, in the order of their commitments; all have the same size."""

    size_bytes: int
    supply: float
    """Bytes per second that a peer which fetches them gets of all the others' connections."""
    slots: list[int] = field(default_factory=list)
    _sent_s: list[float] = field(default_factory=list)
    _times: NDArray[np.float64] | None = None

    def add(self, slot: int, now_ms: int, up: float) -> None:
        """Add the contribution of a slot that commits now; `up` is its trainer's line."""
        self.slots.append(slot)
        self._sent_s.append(now_ms / 1000 + self.size_bytes / up)
        self._times = None

    def last_ms(self, down: float) -> int:
        """Time at which a peer with that line has all of them; 0 without any."""
        if not self.slots:
            return 0
        return round(1000 * float(self._arrivals(down)[-1]))

    def arrived(self, down: float, until_ms: int) -> list[int]:
        """Slots whose contribution a peer with that line has by then."""
        count = int(np.searchsorted(self._arrivals(down), until_ms / 1000, side="right"))
        return [self.slots[at] for at in self._order()[:count]]

    def _arrivals(self, down: float) -> NDArray[np.float64]:
        """Ascending times, by the queue in front of the peer's line; O(contributions)."""
        each = self.size_bytes / min(down, self.supply)
        if self._times is None:
            self._times = np.sort(np.array(self._sent_s))
        at = np.arange(len(self._times))
        return np.asarray(np.maximum.accumulate(self._times - at * each) + (at + 1) * each)

    def _order(self) -> list[int]:
        return sorted(range(len(self.slots)), key=self._sent_s.__getitem__)
