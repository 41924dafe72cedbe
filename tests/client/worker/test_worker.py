"""A plain worker lends whatever is known of the machine; only what was wished by hand stops it."""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import AsyncMock, Mock

import msgspec
import pytest
import trio
import trio.testing

from tequio_client import files
from tequio_client.app.worker.connection import WORKER_LIMITS
from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.control import AskBenchmark
from tequio_client.ipc.facts import UNKNOWN_SESSION, AcceleratorFacts, MachineFacts, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.runs import PluginConsentReply, RequestPluginConsent, RunsReply
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState, RouterPort
from tequio_client.ledger.api import LedgerApi
from tequio_client.plugins.consents import PluginConsent, PluginConsents
from tequio_client.worker import node as node_module
from tequio_client.worker import worker as worker_module
from tequio_client.worker.children.probe import ProbeProcess, probe_program
from tequio_client.worker.children.trainer import benchmark_child
from tequio_client.worker.control.server import ControlServer
from tequio_client.worker.lending.facts import CPU, JOINING, NONE_FITS
from tequio_client.worker.lending.lending import local_now
from tequio_client.worker.lending.meters import TRAFFIC_FILE, TransferMeter
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_client.worker.swarm.router_calls import RouterAnswer
from tequio_client.worker.swarm.router_port import CLOSE_S, GRACE_S, PortMapper
from tequio_client.worker.worker import Worker
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.round.plugin import PluginSpec
from tests.support.app_worker_answers import NOVA
from tests.support.recording_worker import is_well

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.ipc.snapshot import Snapshot
    from tequio_client.worker.children.process import ChildProcess
    from tequio_client.worker.swarm.router_calls import Report

pytestmark = pytest.mark.trio
GIB = 1 << 30
NOWHERE = "http://127.0.0.1:9"


async def host(folder: Path, **settings: bool) -> Worker:
    net = NetSettings(ledger=NOWHERE, folder=folder)
    await trio.Path(folder).mkdir(exist_ok=True)
    return Worker(WorkerSettings(net=net, **settings), Signer(bytes(32)), LedgerApi(NOWHERE))  # type: ignore[arg-type]  # flags by name


@pytest.mark.parametrize(("is_linked", "known"), [(False, None), (True, UNKNOWN_SESSION)])
async def test_a_worker_whose_app_has_gone_is_as_before_it_came(
    tmp_path: Path, *, is_linked: bool, known: SessionFacts | None
) -> None:
    worker = await host(tmp_path / "worker", is_linked=is_linked, applies_preferences=True)
    app = object()
    worker.lending.apply_session_facts(SessionFacts(idle_s=9_000.0), app)
    assert worker.facts("").known_session() == SessionFacts(idle_s=9_000.0)
    worker.lending.drop_controller(app)
    assert worker.facts("").known_session() == known


async def test_a_stop_in_order_writes_what_was_counted_since_the_last_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "RESTING_INTERVAL_S", 0.01)
    folder = tmp_path / "worker"
    worker = await host(folder, applies_preferences=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.run)
        with trio.fail_after(60):
            while not await trio.Path(folder / TRAFFIC_FILE).exists():  # noqa: ASYNC110 - a file
                await trio.sleep(0.01)
        worker.traffic.count_fetched(5_000_000)
        nursery.cancel_scope.cancel()
    assert TransferMeter(folder).months.in_month(local_now().month()) == 5_000_000


async def test_what_a_node_transferred_is_counted_as_it_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = SimpleNamespace(written_bytes=300)
    node = SimpleNamespace(
        network=SimpleNamespace(limiter=limiter),
        fetcher=SimpleNamespace(read_bytes=4_000),
        run=trio.sleep_forever,
    )
    opening = Mock(return_value=nullcontext(node))
    monkeypatch.setattr(node_module, "open_node", opening)
    monkeypatch.setattr(worker_module, "open_payloads", lambda folder: {folder})
    monkeypatch.setattr(node_module, "log_start", lambda *_, **__: None)
    monkeypatch.setattr(Worker, "_apply_net_limits", AsyncMock())
    worker = await host(tmp_path / "worker")
    async with worker._open_node():  # noqa: SLF001 - a real node would count bytes of its own
        pass
    assert worker.traffic.month_bytes == 4_300
    withheld = opening.call_args.kwargs["withheld"]
    assert withheld == {tmp_path / "worker" / "feedback"}, "what is not logged is served by nobody"


async def sync_answer(call: Callable[[], None]) -> None:
    """Run what would block in a thread, whose end `wait_all_tasks_blocked` does not await."""
    await trio.lowlevel.checkpoint()
    call()


@pytest.mark.parametrize(
    ("free_gib", "left", "is_room"),
    [
        (30, (), False),
        (60, (), True),
        # As before a restart: with what the run wrote, as much is in use as it needs.
        (30, ("work/cpu", "work/cuda-0", "feedback/run"), True),
        (30, ("feedback/run",), False),
    ],
)
async def test_a_run_is_chosen_only_if_it_leaves_the_space_that_is_to_stay_free(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    free_gib: int,
    left: tuple[str, ...],
    is_room: bool,
) -> None:
    for one in left:
        (tmp_path / "worker" / one).mkdir(parents=True)
        (tmp_path / "worker" / one / "file").touch()
    monkeypatch.setattr(files, "allocated_bytes", lambda _: 5 * GIB)
    monkeypatch.setattr(worker_module, "_free_bytes", lambda _: free_gib * GIB)
    monkeypatch.setattr(trio.to_thread, "run_sync", sync_answer)
    worker = await host(tmp_path / "worker", applies_preferences=True)
    needy = msgspec.structs.replace(NOVA, is_open=True, memory_mb=1_000, disk_bytes=25 * GIB)
    monkeypatch.setattr(worker.runs, "read", AsyncMock(return_value=RunsReply(rows=(needy,))))
    assert worker.probe is not None
    card = AcceleratorFacts(id="cuda:0", name="a card", memory_mb=24_000)
    worker.probe.facts, worker.probe.at_s = MachineFacts(gpus=(card,)), trio.current_time()
    worker.lending.apply_preferences(Preferences(consent=True))
    device = worker.lending.devices[card.id]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker._chosen_run, device)  # noqa: SLF001 - else joins it at once
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert (device.run, device.idle_reason) == ((NOVA.run, JOINING) if is_room else ("", NONE_FITS))
    assert worker.snapshot().disk.working_bytes == len(left) * 5 * GIB


async def test_a_clock_that_the_ledger_refuses_stops_lending_until_it_is_set_right(
    tmp_path: Path,
) -> None:
    worker = await host(tmp_path / "worker")
    reasons = []
    for ahead_ms, is_refused in ((600_000, False), (600_000, True), (0, True)):
        worker.ledger.http.clock_ahead_ms = ahead_ms
        worker.outbox.is_clock_refused = is_refused
        worker.lending.update()
        reasons.append(worker.lending.decision.reason)
    # A date alone proves nothing: a proxy may have written it.
    assert reasons == [LendingReason.LENDING, LendingReason.CLOCK, LendingReason.LENDING]


async def test_a_plain_worker_lends_before_and_after_its_trainer_died(tmp_path: Path) -> None:
    plain = await host(tmp_path / "worker")
    plain.lending.update()
    (device,) = plain.lending.devices.values()
    device.need_mb = 10**6  # as in a run of a large model, known once it was joined
    plain.lending.update()
    assert not plain.snapshot().has_session
    assert plain.lending.decision.state is LendingState.LENDING
    assert plain.lending.decision.share_percent == 100


async def test_a_plain_worker_pauses_by_hand_and_remembers_it(tmp_path: Path) -> None:
    plain = await host(tmp_path / "worker")
    plain.lending.apply_state(DesiredState(number=1, lend=False))
    assert plain.lending.decision.reason is LendingReason.BY_HAND
    again = await host(tmp_path / "worker")
    again.lending.update()
    assert again.lending.decision.reason is LendingReason.BY_HAND
    again.lending.apply_state(DesiredState(number=2, lend=True))
    assert again.lending.decision.may_compute


async def test_a_minded_worker_lends_nothing_before_consent(tmp_path: Path) -> None:
    following = await host(tmp_path / "worker", applies_preferences=True)
    following.lending.apply_state(DesiredState(number=1, lend=True))
    assert following.lending.decision.reason is LendingReason.NO_CONSENT


async def test_code_of_a_run_waits_for_consent_to_exactly_its_bytes(tmp_path: Path) -> None:
    plain = await host(tmp_path / "worker")
    plain.lending.update()
    (device,) = plain.lending.devices.values()
    first, second = (
        PluginSpec(
            name="tiny",
            version=version,
            archive=to_text(sha256(version.encode())),
            size_bytes=7,
            provides=("model",),
        )
        for version in ("1.0", "1.1")
    )

    def is_waiting(plugin: PluginSpec) -> bool:
        device.plugin = plugin  # as in a run that brings it
        plain.lending.update()
        decision = plain.lending.decision
        assert (decision.reason is LendingReason.PLUGIN) == (not decision.may_compute)
        return decision.state is LendingState.PAUSED

    assert is_waiting(first)
    assert f"tequio plugin allow {first.archive}" in plain.lending.pause_reason(device)
    for is_allowed in (True, False):
        asked = RequestPluginConsent(archive=first.archive, is_allowed=is_allowed)
        answer = await plain.answer(asked)
        assert answer == PluginConsentReply(archive=first.archive, is_allowed=is_allowed)
        assert is_waiting(first) is not is_allowed
        assert is_waiting(second), "another version is other code"
    PluginConsents(tmp_path / "worker").allow(PluginConsent(archive=second.archive))
    assert not is_waiting(second), "the command line writes the file while the worker runs"


async def test_a_pause_is_taken_on_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    def pause(folder: Path) -> Snapshot:
        with WorkerCall.to(folder) as call:
            return call.set_state(lambda one: DesiredState(number=one.wish.number + 1, lend=False))

    full, door = tmp_path / "full", tmp_path / "door"
    door.mkdir()
    plain = await host(full)
    shutil.rmtree(full)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ControlServer(plain, door).listen)
        with trio.fail_after(30):
            while not await trio.to_thread.run_sync(is_well, door):  # noqa: ASYNC110 - it begins elsewhere
                await trio.sleep(0.01)
            shown = await trio.to_thread.run_sync(pause, door)
        assert shown.decision.reason is LendingReason.BY_HAND
        nursery.cancel_scope.cancel()


async def test_the_port_on_the_router_is_closed_while_the_runs_are_left(tmp_path: Path) -> None:
    async def call(report: Report, *words: str) -> None:
        await trio.lowlevel.checkpoint()
        if words[0] == "open":
            report(RouterAnswer(state=RouterPort.OPEN, port=4001))
            is_open.set()
        else:
            is_closed.set()

    is_open, is_closed = trio.Event(), trio.Event()
    plain, router = await host(tmp_path / "worker"), PortMapper(lambda: 4001, lambda: None, call)
    router.set_wanted(is_wanted=True)
    plain.node = SimpleNamespace(router=router)  # type: ignore[assignment]  # a part of one
    plain.sessions["cpu"] = SimpleNamespace(leave=is_closed.wait)  # type: ignore[assignment]
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(router.run)
            await is_open.wait()
            await plain.leave()


async def test_the_app_waits_until_the_port_is_closed() -> None:
    most_s = GRACE_S + CLOSE_S + 3 * GRACE_S
    assert most_s < WORKER_LIMITS.goodbye_ms / 1_000, "also if one is being opened"


async def test_a_snapshot_can_be_had_before_anything_happened(tmp_path: Path) -> None:
    shown = (await host(tmp_path / "worker", applies_preferences=True, is_linked=True)).snapshot()
    assert shown.status is None
    assert shown.trainers == (), "no device is known yet"
    assert not shown.ledger.is_reached


async def test_the_cards_are_read_on_battery_while_they_may_be_lent(tmp_path: Path) -> None:
    worker = await host(tmp_path / "worker", applies_preferences=True)
    assert worker.probe is not None
    worker.probe.facts = MachineFacts(gpus=(), on_battery=True)

    def is_quiet() -> bool:
        worker._instruct_probe()  # noqa: SLF001 - else with all meters
        assert worker.probe is not None
        return worker.probe.instructions.is_quiet

    assert is_quiet()
    worker.lending.apply_state(DesiredState(number=1, lend=True, anyway=True))
    assert not is_quiet(), "without readings, nothing keeps a card below its temperature goal"
    worker.lending.apply_state(DesiredState(number=2, lend=True))
    assert is_quiet()
    worker.lending.apply_preferences(Preferences(consent=True, on_battery=True))
    assert not is_quiet()


@pytest.mark.parametrize("is_lent_first", [True, False])
async def test_a_measured_device_is_busy_and_keeps_its_trainer_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_lent_first: bool
) -> None:
    """Else it would count as another program's, and two would share the card's memory."""
    endless = (sys.executable, "-S", "-c", "import sys; sys.stdin.read()")
    measure = partial(benchmark_child, command=endless)
    monkeypatch.setattr(worker_module, "benchmark_child", measure)
    worker = await host(tmp_path / "worker")
    worker.probe = ProbeProcess(probe_program())
    worker.probe.facts = MachineFacts(gpus=(), on_battery=False, is_saving_power=False)
    worker.probe.at_s = trio.current_time()
    name = CPU
    question = AskBenchmark(device=name)

    async def ask() -> None:
        with pytest.raises(RefusedError, match="could not be measured: it was ended"):
            await worker.answer(question)

    def lend() -> ChildProcess:
        worker.lending.update()
        trainer = worker.lending.devices[name].trainer.child
        trainer.replace_program(replace(trainer.program, command=endless))
        trainer.forbid()
        return trainer

    def has_begun() -> bool:
        return trainer.pid is not None

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            if is_lent_first:
                lend()
            nursery.start_soon(ask)
            while not any(one.pid for one in worker.lending.measuring.values()):  # noqa: ASYNC110 - a child has no event
                await trio.sleep(0.01)
            with pytest.raises(RefusedError, match="suspend the device first"):
                await worker.answer(question)
            assert worker.lending.measuring[name].pid in worker.probe.instructions.ours
            trainer = lend()
            nursery.start_soon(trainer.run_once, tuple, list[bytes]().append)
            assert worker.facts(name).is_computing
            trainer.allow()
            await trio.testing.wait_all_tasks_blocked(0.1)
            assert not has_begun(), "it waits for the device"
            worker.lending.measuring[name].stop()
            while not has_begun():  # noqa: ASYNC110 - as above
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()


async def test_a_game_ends_a_benchmark_and_none_starts_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = (sys.executable, "-S", "-c", "import sys; sys.stdin.read()")
    measure = Mock(side_effect=partial(benchmark_child, command=endless))
    monkeypatch.setattr(worker_module, "benchmark_child", measure)
    worker = await host(tmp_path / "worker", applies_preferences=True)

    async def ask() -> None:
        with pytest.raises(RefusedError, match="close doom first, then measure"):
            await worker.answer(AskBenchmark(device=CPU))

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            while not any(one.pid for one in worker.lending.measuring.values()):  # noqa: ASYNC110 - a child has no event
                await trio.sleep(0.01)
            worker.lending.apply_session_facts(SessionFacts(game="doom"), "app")
    await ask()
    measure.assert_called_once()
