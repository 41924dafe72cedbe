"""Workers that come back late, with damaged weights, or with a head of their own.

Real programs on real connections, but for the trainer, which is a light one. The head has nine
pieces; what a round's contributions have together is less than one.
"""

from __future__ import annotations

import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.rounds.workdir import RecordedHeads
from tequio_client.worker.store.store import Store
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.statements.runs import RoundClose
from tests.support.history import LogHistory
from tests.support.real_network import RealNetwork, running_network
from tests.support.small_network import WIDE, found

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RunningProgram


pytestmark = [pytest.mark.whole, pytest.mark.trio, pytest.mark.skipif("sys.platform == 'win32'")]

WHOLE_S = 900.0
PATIENCE_S = 240.0
END_S = 30.0
RESTARTS = 5


class VolunteerRun:
    """A run with a seed and the volunteers ana, bo and cleo; ana is started several times."""

    def __init__(self, stage: RealNetwork, history: LogHistory) -> None:
        self.stage = stage
        self.history = history
        self.slip = stage.folder / "slip"
        self._seen = 0  # lines of ana's log that belong to earlier lives or chapters

    def start(self, name: str) -> RunningProgram:
        """Start a volunteer; only ana knows of the slip."""
        slip = self.slip if name == "ana" else self.stage.folder / "never"
        node = ("worker", *self.stage.node_options(name))
        command = [sys.executable, "-m", "tests.support.faulty_worker", str(slip), *node]
        return self.stage.start(name, command)

    async def kill(self, one: RunningProgram) -> None:
        """End it as a power cut does."""
        one.may_end = True
        one.send(signal.SIGKILL)
        await one.wait_ended(END_S)

    async def until_closed(self, more: int) -> None:
        """Wait until `more` more rounds have closed."""
        await self.history.read()
        goal = len(self.history.rounds(RoundClose)) + more

        async def holds() -> bool:
            await self.history.read()
            return len(self.history.rounds(RoundClose)) >= goal

        await self.stage.until(f"{goal} rounds closed", holds, PATIENCE_S)

    async def until_committed(self, one: RunningProgram) -> None:
        """Wait until it has committed in a round that has no roster yet."""
        await self.history.read()
        last = max(self.history.rosters, default=0)

        async def holds() -> bool:
            await self.history.read()
            if one.program.status is None:
                return False
            numbers = [number for number in self.history.rosters if number > last]
            return any(one.key in self.history.committed(number) for number in numbers)

        await self.stage.until(f"{one.name} commits after round {last}", holds, PATIENCE_S)

    def head_bytes(self) -> int:
        """Size of a head: each is as large as the first, which the seed has."""
        files = (self.stage.folder / "seed" / "store" / "trees").glob("??/*")
        return max(path.stat().st_size for path in files)

    def new_events(self, one: RunningProgram, name: str) -> list[dict[str, Any]]:
        """Events of that name that it has logged since `skip_events`."""
        return [event for event in list(one.events())[self._seen :] if event["event"] == name]

    def skip_events(self, one: RunningProgram) -> None:
        """Ignore its events up to now."""
        self._seen = len(list(one.events()))


async def test_a_worker_that_returns_takes_the_cheapest_way_to_the_head(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
            await found(stage, WIDE)
            volunteer_run = VolunteerRun(stage, LogHistory(api))
            stage.seed("--heads-every", "1000")
            for name in ("bo", "cleo"):
                volunteer_run.start(name)
            ana = volunteer_run.start("ana")
            await stage.until("ana computes heads", lambda: _has_computed(ana, 2), PATIENCE_S)
            ana = await _it_replays_the_rounds_that_it_missed(volunteer_run, ana)
            ana = await _damaged_weights_cost_one_piece(volunteer_run, ana, api)
            await _a_head_of_its_own_is_mended_by_one_piece(volunteer_run, ana)


def _has_computed(one: RunningProgram, count: int) -> bool:
    return one.program.status is not None and len(list(one.events("head computed"))) >= count


async def _it_replays_the_rounds_that_it_missed(
    volunteer_run: VolunteerRun, ana: RunningProgram
) -> RunningProgram:
    await volunteer_run.kill(ana)
    last = list(ana.events("head computed"))[-1]["round"]
    volunteer_run.skip_events(ana)
    await volunteer_run.until_closed(4)
    ana = volunteer_run.start("ana")
    await volunteer_run.until_committed(ana)
    (going,) = volunteer_run.new_events(ana, "replaying from an older head")
    assert going["round"] in {last, last + 1}  # computed, and killed before it was logged
    closed = volunteer_run.history.rounds(RoundClose)
    missed = [number for number in closed if going["round"] < number <= going["to"]]
    computed = [event["round"] for event in volunteer_run.new_events(ana, "head computed")]
    assert len(missed) >= 2
    assert computed[: len(missed)] == missed
    assert not volunteer_run.new_events(ana, "fetching head")
    assert ana.status.received_bytes < volunteer_run.head_bytes()
    return ana


async def _damaged_weights_cost_one_piece(
    volunteer_run: VolunteerRun, ana: RunningProgram, api: LedgerApi
) -> RunningProgram:
    (run,) = await api.runs()
    for _ in range(RESTARTS):
        await volunteer_run.kill(ana)
        volunteer_run.skip_events(ana)
        assert _flip_a_bit_in_all_heads(volunteer_run.stage.folder / "ana", run.id) >= 1
        ana = volunteer_run.start("ana")
        await volunteer_run.until_committed(ana)
        if volunteer_run.new_events(ana, "a tree was damaged on the disk"):
            break
        # The run went on while it started: it fetched a newer head, of which it had nothing.
        newer = volunteer_run.new_events(ana, "fetching head")[0]
        assert newer["missing_bytes"] == newer["size_bytes"]
    else:
        pytest.fail(f"in {RESTARTS} restarts the damage was not found")
    (fetched,) = volunteer_run.new_events(ana, "head fetched")
    assert sum(fetched["sources"].values()) == PIECE_BYTES
    assert volunteer_run.new_events(ana, "fetching head")[0]["missing_bytes"] == PIECE_BYTES
    return ana


def _flip_a_bit_in_all_heads(folder: Path, run: RunId) -> int:
    store, flipped = Store(folder / "store", quota_bytes=1 << 40), 0
    for head in RecordedHeads(folder, run).heads:
        if store.has_tree(head.weights_root):
            path = store.tree_path(head.weights_root)
            path.chmod(0o644)
            with path.open("r+b") as file:
                file.seek(2 * PIECE_BYTES + 123)
                byte = file.read(1)[0]
                file.seek(2 * PIECE_BYTES + 123)
                file.write(bytes([byte ^ 16]))
            flipped += 1
    return flipped


async def _a_head_of_its_own_is_mended_by_one_piece(
    volunteer_run: VolunteerRun, ana: RunningProgram
) -> None:
    volunteer_run.skip_events(ana)
    volunteer_run.slip.touch()
    await volunteer_run.stage.until(
        "ana slips", lambda: not volunteer_run.slip.exists(), PATIENCE_S
    )
    is_mended = partial(volunteer_run.new_events, ana, "head fetched")
    await volunteer_run.stage.until("it is mended", lambda: bool(is_mended()), PATIENCE_S)
    await volunteer_run.until_committed(ana)
    (fetched,) = volunteer_run.new_events(ana, "head fetched")
    assert sum(fetched["sources"].values()) == PIECE_BYTES
    promoted = {one for heads in volunteer_run.history.heads().values() for one in heads}
    assert ana.status.head in promoted
    assert digest_from_text(ana.status.head)
