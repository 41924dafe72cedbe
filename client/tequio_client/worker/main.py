"""The worker program: puts a volunteer together from its parts and runs it until told to stop."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client import clock
from tequio_client.link import messages as link
from tequio_client.link import status as link_status
from tequio_client.worker import endings, held_back, status_lines, trainer_process
from tequio_client.worker import node as nodes
from tequio_client.worker.announce import Announcer
from tequio_client.worker.beacon_secrets import BeaconSecrets
from tequio_client.worker.deeds import Deeds
from tequio_client.worker.follower import LogFollower
from tequio_client.worker.joining import Joined, join_run
from tequio_client.worker.ledger_clock import LedgerClock
from tequio_client.worker.means import Means
from tequio_client.worker.outbox import Outbox
from tequio_client.worker.points import Points
from tequio_client.worker.points_book import PointsBook
from tequio_client.worker.reporter import Reporter
from tequio_client.worker.rounds import Rounds, describe
from tequio_client.worker.standing_watch import StandingWatch
from tequio_client.worker.stopping import Stopping
from tequio_client.worker.trainer_process import TrainerProcess
from tequio_client.worker.workroom import Workroom, clear_work_folder
from tequio_shared import heap
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import peer_id_text, to_text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.settings import WorkerSettings

log = structlog.get_logger(__name__)

SHOWN = 8
"""Peers that gave wrong bytes, in the status."""
QUIET_S = 3.0
"""After the run we stay until nobody has fetched anything from us for this long."""
SPREAD_S = 600.0
"""And never longer than this."""
_HANDED_DOWN = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
_HANDED_DOWN_PREFIXES = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "ZE_", "PYTHON")


def run(settings: WorkerSettings) -> None:
    """Be a volunteer until the run ends or a signal says stop; raises UserFacingError."""
    heap.settle()
    stopping = Stopping()
    with endings.named(settings.net.ledger):
        trio.run(stopping.run, partial(_main, settings, stopping))


async def _main(settings: WorkerSettings, stopping: Stopping) -> None:
    async with nodes.opened(settings.net, is_seed=False) as node, AsyncExitStack() as stack:
        say_where(node, "worker", roles=",".join(settings.roles))
        book = PointsBook.opened(settings.net.folder, node.signer.key)
        stack.callback(book.close)
        volunteer = Volunteer(settings, node, book)
        stopping.last_words = volunteer.leave
        async with trio.open_nursery() as nursery:
            nursery.start_soon(node.swarm.run)
            await volunteer.run()
            nursery.cancel_scope.cancel()


class Volunteer:
    """One worker at work: the parts, and how they are started and stopped together."""

    def __init__(self, settings: WorkerSettings, node: Node, book: PointsBook) -> None:
        self._settings = settings
        self._node = node
        self._points = Points(book, node.signer.key)
        self._work = settings.net.folder / "work"
        clear_work_folder(self._work)
        self._trainer = TrainerProcess(
            trainer_environment(settings.net.folder),
            (*trainer_process.TRAINER, settings.trainer.log_style),
        )
        self._started = trio.current_time()
        self._ended: float | None = None  # when the run was over
        self._rounds: Rounds | None = None
        self._deeds: Deeds | None = None
        self._problem = ""

    async def run(self) -> None:
        """Join the run and take part until it ends or a signal comes."""
        node = self._node
        async with (
            Outbox.on(
                node.ledger, node.network_info, self._settings.net.folder, node.signer
            ) as outbox,
            trio.open_nursery() as nursery,
        ):
            if self._settings.net.status_lines:
                nursery.start_soon(status_lines.report, self.status)
            joined = await join_run(node, self._settings.net.run)
            async with trio.open_nursery() as work:
                work.start_soon(self._keep_trainer, nursery.cancel_scope)
                await self._take_part(joined, outbox)
                work.cancel_scope.cancel()
            await self._spread()
            nursery.cancel_scope.cancel()
        if self._problem:
            raise UserFacingError(self._problem)

    async def _spread(self) -> None:
        """Stay while others still fetch: the last head may be at us alone."""
        self._ended = trio.current_time()
        with trio.move_on_after(SPREAD_S):
            sent = -1
            while sent != self._node.blobs.sent_bytes:
                sent = self._node.blobs.sent_bytes
                await trio.sleep(QUIET_S)

    async def _take_part(self, joined: Joined, outbox: Outbox) -> None:
        node, run = self._node, joined.manifest.run_id
        ledger_clock = LedgerClock(clock.now_ms)
        node.ledger.on_date = ledger_clock.note
        feedback = await held_back.recovered(node, joined)
        async with LogFollower(
            node.ledger,
            node.network_info,
            self._settings.net.folder,
            rng=node.rng,
        ) as follower:
            await self._points.begin()
            follower.on_proven = self._points.proven
            path = self._settings.net.folder / "beacon.json"
            secrets = BeaconSecrets(path, node.signer, node.network_info.id)
            announcer = await Announcer.join(node, joined.manifest)
            means = Means(
                key=node.signer.key,
                manifest=joined.manifest,
                corpus=joined.corpus,
                roles=self._settings.roles,
                store=node.store,
                kept=joined.kept,
                base=joined.base,
                exchange=node.exchange,
                outbox=outbox,
                announcer=announcer,
                secrets=secrets,
                workroom=self._workroom(joined),
                feedback=feedback,
                ledger_clock=ledger_clock,
                points=self._points,
            )
            self._deeds = Deeds(means)
            standing = StandingWatch(node.signer.key, node.ledger, ledger_clock.now_ms)
            await standing.refresh()
            self._rounds = Rounds(
                view=joined.view,
                means=means,
                deeds=self._deeds,
                standing=standing,
                rng=node.rng,
                upto=joined.upto,
            )
            reporter = Reporter(outbox, node.signer.key)
            announcer.on_conflict = reporter.hear
            announcer.follow(joined.view)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(announcer.listen, self._rounds.hear)
                nursery.start_soon(reporter.run)
                await self._rounds.run(follower.entries(after=joined.after))
                nursery.cancel_scope.cancel()
        await trio.to_thread.run_sync(feedback.remove)
        log.info("run ended", run=to_text(run)[:10])

    def _workroom(self, joined: Joined) -> Workroom:
        trainer = self._settings.trainer
        return Workroom(
            trainer=self._trainer,
            prepare=link.Prepare(
                wish=1,
                manifest=str(joined.manifest_path),
                config=str(joined.config_path),
                data_manifest=str(joined.corpus_path),
                tokenizer=str(joined.tokenizer_path) if joined.tokenizer_path else None,
                device=trainer.device,
                threads=trainer.threads,
                memory_mb=trainer.memory_mb,
                share_percent=trainer.share_percent,
            ),
            folder=self._work,
            store=self._node.store,
            exchange=self._node.exchange,
        )

    async def _keep_trainer(self, scope: trio.CancelScope) -> None:
        await self._trainer.run()
        self._problem = self._trainer.broken or ""
        scope.cancel()

    async def leave(self) -> None:
        """Say goodbye to the run, unless it is over or we are not in it yet."""
        if self._rounds is not None and self._ended is None:
            await self._rounds.leave()

    # --- status

    def status(self) -> link_status.Status:
        """How we stand, for eyes."""
        node, alive, ready = self._node, self._trainer.alive, self._trainer.ready
        facts = describe(self._rounds.view) if self._rounds else {}
        held = self._deeds.held if self._deeds else None
        tally = self._deeds.tally if self._deeds else None
        until = trio.current_time() if self._ended is None else self._ended
        return link_status.Status(
            peer=peer_id_text(node.signer.key),
            key=to_text(node.signer.key),
            roles=self._settings.roles,
            run=to_text(self._rounds.view.manifest.run_id) if self._rounds else "",
            state=str(facts.get("state", "joining")),
            round=self._rounds.view.number if self._rounds else 0,
            duty=alive.doing if alive else "starting" if self._ended is None else "spreading",
            head=to_text(held.hash) if held else "",
            head_round=held.round if held else -1,
            peers=len(node.network.connected()),
            sent_bytes=node.blobs.sent_bytes,
            received_bytes=sum(node.exchange.received.values()),
            sources=len(node.exchange.received),
            bad_sources=tuple(map(str, node.fetcher.blame.liars[:SHOWN])),
            verdict=self._rounds.verdict if self._rounds else "",
            rounds_trained=tally.rounds_trained if tally else 0,
            proofs=tally.proofs if tally else 0,
            tokens=tally.tokens if tally else 0,
            train_seconds=tally.train_seconds if tally else 0.0,
            elapsed_seconds=until - self._started,
            loss=tally.loss_last if tally else 0.0,
            resident_mb=status_lines.resident_mb(),
            trainer_resident_mb=alive.resident_mb if alive else 0,
            device=ready.device if ready else "",
            waiting=self._rounds.waits_for if self._rounds and self._ended is None else "",
            problem=self._trainer.broken or "",
        )


def say_where(node: Node, program: str, **more: object) -> None:
    """The one line that says what started, and where."""
    log.info(
        "started",
        program=program,
        peer=peer_id_text(node.signer.key),
        network=to_text(node.network_info.id)[:12],
        ledger=node.settings.ledger,
        folder=str(node.settings.folder),
        listening=node.network.addresses(),
        **more,
    )


def trainer_environment(folder: Path) -> dict[str, str]:
    """What the trainer gets of our environment: what it needs to find its libraries and devices."""
    cache = folder / "cache"
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _HANDED_DOWN or name.startswith(_HANDED_DOWN_PREFIXES)
    }
    return {**kept, "NUMBA_CACHE_DIR": str(cache), "TOKENIZERS_PARALLELISM": "false"}
