"""The worker program: opens key, folder and ledger, and runs the worker until it is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import structlog
import trio

from tequio_client import heap
from tequio_client.ipc.control import ControllerHello
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import InvitationLink
from tequio_client.platform import programs
from tequio_client.worker import node as nodes
from tequio_client.worker import shutdown
from tequio_client.worker.control.server import GONE, ControlServer, PipeTransport, greet
from tequio_client.worker.ledger import account
from tequio_client.worker.settings import NetSettings, WorkerSettings
from tequio_client.worker.shutdown import StoppableProgram
from tequio_client.worker.swarm.dials import hosts_named_by
from tequio_client.worker.worker import Worker
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import from_text
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from prometheus_client import Metric

log = structlog.get_logger(__name__)

Gather: TypeAlias = Callable[[Signer, LedgerApi], AbstractAsyncContextManager[WorkerSettings]]
"""Waits for others before the worker starts; gives the settings that it then has."""

GREETING_TIMEOUT_S = 10.0
"""Longest wait for the app's first line."""
LEAVE_TIMEOUT_S = 1.5
"""Longest time for leaving the run once the app is gone; it promises that the worker ends soon."""
NUMBERING = (
    "CUDA_DEVICE_ORDER",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
)
"""Variables by which libraries that compute hide or reorder cards; drivers, which the probe asks,
do not know them."""


def run(settings: WorkerSettings, gather: Gather | None = None) -> None:
    """Run a worker until its run ends or it is stopped; raises UserFacingError."""
    heap.tune_memory()
    if settings.applies_preferences:
        _ignore_numbering()
    stopping = StoppableProgram()
    with shutdown.explain_untrusted_log(settings.net.ledger):
        trio.run(stopping.run, partial(_main, settings, stopping, gather))


def _ignore_numbering() -> None:
    # Trainers number the cards as the probe does then; else one is watched, and another computes.
    ignored = [name for name in NUMBERING if os.environ.pop(name, None) is not None]
    if ignored:
        log.warning("variables ignored: the preferences choose the cards", variables=ignored)


async def _main(
    settings: WorkerSettings, stopping: StoppableProgram, gather: Gather | None
) -> None:
    async with AsyncExitStack() as stack:
        folder = settings.net.folder
        app = PipeTransport() if settings.is_linked else None
        if app is None and not programs.has_runtime():
            log.warning("the runtime that trains is missing", install="tequio runtime install")
        hello = await _greet_app(app, folder) if app else None
        if app is not None and hello is None:
            return
        seed = from_text(hello.seed) if hello and hello.seed else None
        invitation = InvitationLink.parse(hello.invitation) if hello and hello.invitation else None
        signer = stack.enter_context(nodes.locked_signer(settings.net, seed))
        ledger = await stack.enter_async_context(
            LedgerApi(
                settings.net.ledger,
                trust=settings.net.trust,
                address_of=hosts_named_by(
                    settings.net.ledger, public_only=settings.net.public_only
                ).address_of,
            )
        )
        if invitation is not None:
            await account.join_network(ledger, folder, signer, invitation)
        if gather is not None:
            settings = await stack.enter_async_context(gather(signer, ledger))
        worker = await trio.to_thread.run_sync(Worker, settings, signer, ledger)
        server = ControlServer(worker, folder)
        stopping.before_stop = worker.leave
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.listen)
            if settings.net.publishes_metrics:
                nursery.start_soon(_publish_metrics, settings.net, worker)
            if app is not None:
                nursery.start_soon(_serve_app, app, server, worker, nursery.cancel_scope)
            await worker.run()
            nursery.cancel_scope.cancel()


async def _publish_metrics(settings: NetSettings, worker: Worker) -> None:
    from tequio_client.worker import metrics  # noqa: PLC0415 - the app's worker has none

    def read() -> Iterator[Metric]:
        statuses = [(name, one.status()) for name, one in worker.sessions.items()]
        return metrics.worker_metrics(worker.snapshot(), statuses)

    await metrics.publish(settings, read, "worker")


async def _greet_app(app: PipeTransport, folder: Path) -> ControllerHello | None:
    """Wait for the app's hello; None if it hung up or has another version.

    Raises UserFacingError when something else arrives, or nothing.
    """
    try:
        with trio.fail_after(GREETING_TIMEOUT_S):
            return await greet(app, folder)
    except (MalformedError, *GONE) as err:
        raise UserFacingError(
            f"--link is only for the app, and expects its hello on standard input ({err}): "
            "omit --link"
        ) from err


async def _serve_app(
    app: PipeTransport, server: ControlServer, worker: Worker, scope: trio.CancelScope
) -> None:
    """Serve the app; when it says goodbye or is gone, leave the run and stop the worker."""
    await server.serve(app, is_parent=True)
    log.info("stopping: app gone")
    with trio.move_on_after(LEAVE_TIMEOUT_S):
        await worker.leave()
    scope.cancel()
