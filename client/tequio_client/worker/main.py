"""The worker program: opens key, folder and ledger, and runs the worker until it is stopped."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client import heap
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import InvitationLink
from tequio_client.worker import node as nodes
from tequio_client.worker import shutdown
from tequio_client.worker.control.server import GONE, ControlServer, PipeTransport, greet
from tequio_client.worker.ledger import account
from tequio_client.worker.shutdown import StoppableProgram
from tequio_client.worker.worker import Worker
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import from_text

if TYPE_CHECKING:
    from tequio_client.worker.settings import WorkerSettings


log = structlog.get_logger(__name__)

GREETING_TIMEOUT_S = 10.0
"""Longest wait for the app's first line."""
LEAVE_TIMEOUT_S = 1.5
"""Longest time for leaving the run once the app is gone; it promises that the worker ends soon."""


def run(settings: WorkerSettings) -> None:
    """Run a worker until its run ends or it is stopped; raises UserFacingError."""
    heap.tune_memory()
    stopping = StoppableProgram()
    with shutdown.explain_untrusted_log(settings.net.ledger):
        trio.run(stopping.run, partial(_main, settings, stopping))


async def _main(settings: WorkerSettings, stopping: StoppableProgram) -> None:
    async with AsyncExitStack() as stack:
        parent = await ParentApp.accept(settings.net.folder) if settings.is_linked else None
        if settings.is_linked and parent is None:
            return
        seed = parent.seed if parent else None
        signer = stack.enter_context(nodes.locked_signer(settings.net, seed))
        ledger = await stack.enter_async_context(
            LedgerApi(settings.net.ledger, trust=settings.net.trust)
        )
        if parent is not None and parent.invitation is not None:
            await account.join_network(ledger, settings.net.folder, signer, parent.invitation)
        host = await trio.to_thread.run_sync(Worker, settings, signer, ledger)
        controllers = ControlServer(host, settings.net.folder)
        stopping.before_stop = host.leave
        async with trio.open_nursery() as nursery:
            nursery.start_soon(controllers.listen)
            if parent is not None:
                nursery.start_soon(_serve_parent, parent, controllers, host, nursery.cancel_scope)
            await host.run()
            nursery.cancel_scope.cancel()


class ParentApp:
    """The app that started this worker, after its hello message."""

    def __init__(
        self, lines: PipeTransport, seed: bytes | None, invitation: InvitationLink | None
    ) -> None:
        self.lines = lines
        self.seed = seed
        self.invitation = invitation

    @classmethod
    async def accept(cls, folder: Path) -> ParentApp | None:
        """Wait for the hello message; None if the app hung up or has another version.

        Raises UserFacingError when something else arrives, or nothing.
        """
        lines = PipeTransport()
        try:
            with trio.fail_after(GREETING_TIMEOUT_S):
                hello = await greet(lines, folder)
        except (MalformedError, *GONE) as err:
            raise UserFacingError(
                f"--link is only for the app, and expects its hello on standard input ({err}): "
                "omit --link"
            ) from err
        if hello is None:
            return None
        return cls(
            lines,
            from_text(hello.seed) if hello.seed else None,
            InvitationLink.parse(hello.invitation) if hello.invitation else None,
        )


async def _serve_parent(
    parent: ParentApp, controllers: ControlServer, host: Worker, scope: trio.CancelScope
) -> None:
    """Serve the app; when it says goodbye or is gone, leave the run and stop the worker."""
    await controllers.serve(parent.lines, is_parent=True)
    log.info("stopping: app gone")
    with trio.move_on_after(LEAVE_TIMEOUT_S):
        await host.leave()
    scope.cancel()
