"""A private group over real connections, in one process: members start, crash and come back."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import trio

from tequio_client.group.group_file import GroupTimes
from tequio_client.group.head_store import HeadStore, next_weights
from tequio_client.group.member_network import MemberNetwork
from tequio_client.group.member_service import MemberService
from tequio_client.group.messages import GroupMail
from tequio_client.group.run import GroupRun
from tequio_client.group.updates import LocalUpdate, NoUpdateError
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared.head.head import weights_root
from tequio_shared.ids import sha256, to_text
from tests.support.group_members import first_weights, group_signers, make_group
from tests.support.loopback import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from numpy.typing import NDArray
    from trio_typing import TaskStatus

    from tequio_shared.ids import PeerKey

TIMES = GroupTimes(train_ms=20_000, reply_ms=4_000)


def stub_update(key: PeerKey, head: str, size: int) -> NDArray[np.int32]:
    """The update of a member for a head: numbers that look random, within the limit."""
    seed = int.from_bytes(sha256(key, head.encode())[:8], "big")
    return np.random.default_rng(seed).integers(-(1 << 24), 1 << 24, size).astype(np.int32)


@dataclass
class StubTrainer:
    """Trains nothing: gives `stub_update`, once `gate` is open."""

    key: PeerKey
    size: int
    gate: trio.Event = field(default_factory=trio.Event)
    asked: list[str] = field(default_factory=list)
    spent: int = 0
    fails: bool = False

    async def update(self, head: str, _weights: Path, _round_number: int) -> LocalUpdate:
        self.asked.append(head)
        await self.gate.wait()
        if self.fails:
            raise NoUpdateError("the folder of texts is empty")
        return LocalUpdate(head=head, numbers=stub_update(self.key, head, self.size), loss=1.5)

    def spend(self) -> None:
        self.spent += 1


@dataclass
class RunningMember:
    place: int
    service: MemberService
    network: PeerNetwork
    updates: StubTrainer
    scope: trio.CancelScope
    ended: trio.Event = field(default_factory=trio.Event)

    @property
    def number(self) -> int:
        return self.service.store.state.number

    @property
    def head(self) -> str:
        return self.service.store.state.head


class GroupSwarm:
    """The members of a group, each with a folder; `start` one, `crash` it, `start` it again."""

    def __init__(self, folder: Path, nursery: trio.Nursery, count: int, rounds: int) -> None:
        self._folder = folder
        self._nursery = nursery
        self.signers = group_signers(count)
        self.group = make_group(self.signers, times=TIMES, rounds=rounds)
        self.running: dict[int, RunningMember] = {}

    async def start(
        self, place: int, *, has_model: bool = True, opened: bool = True
    ) -> RunningMember:
        """Start a member that dials all others that run; `opened`: its training ends at once."""
        folder = self._folder / str(place)
        folder.mkdir(exist_ok=True)
        if has_model and not (folder / "group.json").exists():
            HeadStore.write_origin(folder, first_weights(), b"")
        peers = [one.network.addresses()[0] for one in self.running.values()]
        member: RunningMember = await self._nursery.start(self._run, place, folder, peers)
        if opened:
            member.updates.gate.set()
        self.running[place] = member
        return member

    async def crash(self, place: int) -> None:
        member = self.running.pop(place)
        member.scope.cancel()
        await member.ended.wait()

    async def until(self, holds: Callable[[], bool], timeout_s: float = 90.0) -> None:
        with trio.fail_after(timeout_s):
            while not holds():  # noqa: ASYNC110 - the state of several members
                await trio.sleep(0.02)

    def expected_head(self, head: NDArray[np.int32], members: tuple[int, ...]) -> str:
        """The head that the plain sum of these members' updates leads to."""
        name, size = to_text(weights_root(head)), self.group.layout.elements
        updates = [stub_update(self.signers[one].key, name, size) for one in members]
        total = np.sum([one.astype(np.int64) for one in updates], axis=0)
        return to_text(weights_root(next_weights(self.group, head, total, len(members))))

    async def _run(
        self,
        place: int,
        folder: Path,
        peers: list[str],
        *,
        task_status: TaskStatus[RunningMember] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        signer = self.signers[place]
        updates = StubTrainer(signer.key, self.group.layout.elements)
        mail = GroupMail(group=self.group, signer=signer)
        store = HeadStore(folder, self.group)
        service = MemberService(mail, store, updates, secrets.token_bytes)
        with trio.CancelScope() as scope:
            async with PeerNetwork(seed=signer.seed, listen=LOOPBACK) as network:
                member = RunningMember(place, service, network, updates, scope)
                members = MemberNetwork(network, service, peers)
                tasks = GroupRun(service, members)
                async with trio.open_nursery() as nursery:
                    for task in (members.run, tasks.run_turns, tasks.run_catch_up):
                        nursery.start_soon(task)
                    task_status.started(member)
                    await tasks.wait_failed()
        member.ended.set()


@asynccontextmanager
async def group_swarm(folder: Path, count: int, rounds: int = 3) -> AsyncIterator[GroupSwarm]:
    async with trio.open_nursery() as nursery:
        yield GroupSwarm(folder, nursery, count, rounds)
        nursery.cancel_scope.cancel()
