"""A worker that has nothing to lend for says why, and goes on by itself: a real host and ledger."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ipc import texts
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser.signing import SigningOptions, decide
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_client.worker.worker import Worker
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import SoftwareRelease
from tequio_shared.version import BUILD
from tests.support.linked_worker import LISTEN, WILLING
from tests.support.real_network import running_network
from tests.support.small_network import begin, open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.ipc.snapshot import Decision
    from tests.support.real_network import RealNetwork


PATIENCE_S = 60.0


@pytest.mark.whole
@pytest.mark.trio
async def test_a_worker_waits_for_ledger_and_run_and_lends_when_one_opens(
    tmp_path: Path,
) -> None:
    with trio.fail_after(300):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
            organiser = await begin(stage)
            host = await _host(tmp_path / "ana", api, stage)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host.run)
                host.lending.apply_preferences(WILLING)
                host.lending.apply_state(DesiredState(number=1, lend=True))
                await _until(host, "no run is open", _is_none_open)
                assert texts.decision_template(host.lending.decision).startswith(
                    "no run is open now"
                )
                with trio.fail_after(PATIENCE_S):
                    while any(one.pid for one in host.snapshot().trainers):  # noqa: ASYNC110 - told to end
                        await trio.sleep(0.1)
                await _loses_the_ledger(host, stage, organiser)
                await open_run(stage)
                await _until(host, "it lends", lambda one: one.state is LendingState.LENDING)
                (device,) = host.lending.devices.values()
                assert device.idle_reason is None, "it has joined, and is not just on the way"
                await host.leave()
                nursery.cancel_scope.cancel()


async def _host(folder: Path, api: LedgerApi, stage: RealNetwork) -> Worker:
    await trio.Path(folder).mkdir()
    net = NetSettings(ledger=stage.url, folder=folder, listen=(LISTEN,))
    settings = WorkerSettings(net=net, applies_preferences=True)
    return Worker(settings, Signer(bytes(range(32))), api, retry_s=0.2)


async def _loses_the_ledger(host: Worker, stage: RealNetwork, organiser: str) -> None:
    """While it is away that is the reason; when it is back, what was so before."""
    (ledger,) = stage.actors
    ledger.send(signal.SIGTERM)
    await ledger.wait_ended(PATIENCE_S)
    await _until(host, "the ledger is away", lambda one: one.reason is LendingReason.LEDGER_AWAY)
    await stage.ledger(organiser)
    await _until(host, "the ledger is back", _is_none_open)


def _is_none_open(decision: Decision) -> bool:
    return decision.reason is LendingReason.NO_RUN and decision.values == {"fact": "open"}


async def _until(host: Worker, what: str, holds: Callable[[Decision], bool]) -> None:
    with trio.move_on_after(PATIENCE_S):
        while not holds(host.lending.decision):
            await host.lending.changed.wait()
        return
    raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}; it is {host.lending.decision}")


@pytest.mark.whole
@pytest.mark.trio
async def test_a_worker_that_is_too_old_waits_until_the_network_needs_less(tmp_path: Path) -> None:
    with trio.fail_after(300):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
            await begin(stage)
            await open_run(stage)
            await _announce(stage, minimum="9.9.9")
            host = await _host(tmp_path / "ana", api, stage)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host.run)
                host.lending.apply_preferences(WILLING)
                host.lending.apply_state(DesiredState(number=1, lend=True))
                await _until(host, "too old", lambda one: one.reason is LendingReason.OUTDATED)
                assert host.lending.decision.values == {"wanted": "9.9.9", "own": BUILD}
                with trio.fail_after(PATIENCE_S):
                    while any(one.pid for one in host.snapshot().trainers):  # noqa: ASYNC110 - told to end
                        await trio.sleep(0.1)
                await _announce(stage, minimum=BUILD)
                await _until(host, "it lends", lambda one: one.state is LendingState.LENDING)
                await host.leave()
                nursery.cancel_scope.cancel()


async def _announce(stage: RealNetwork, *, minimum: str) -> None:
    body = SoftwareRelease(
        version="9.9.9", minimum=minimum, targets=to_text(bytes(32)), targets_version=1
    )
    options = SigningOptions(ledger=stage.url, folders=(stage.folder / "organiser",), out=None)
    await trio.to_thread.run_sync(decide, body, options)
