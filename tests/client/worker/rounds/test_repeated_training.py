"""Audits as a worker makes them: a real trainer, and the audited trainer's files over libp2p."""

from __future__ import annotations

import mmap
import random
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio

from tequio_client.ipc import trainer as link
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.children.trainer import TrainerProcess, trainer_program
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.rounds.past_rounds import PastRounds
from tequio_client.worker.rounds.repeated_training import (
    AuditNotPossibleError,
    AuditPatience,
    AuditTask,
    RepeatedTraining,
)
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.rounds.workdir import TrainerWorkdir, clear_work_folder
from tequio_client.worker.store.store import Store, StorePins
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.feedback_leaves import FeedbackLeaves, LeafSource, MayOpen
from tequio_client.worker.swarm.transfer import Exchange, Fetcher
from tequio_shared.head.contribution import (
    ContributionHeader,
    RecordShape,
    contribution_id,
    payload_seal,
)
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, from_text, sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.round.round import Commitment
from tests.client.trainer.small_run import SmallRun, small_run
from tests.support import memory_log
from tests.support.audit_limits import CONVICT, exceeded
from tests.support.loopback import two_peers
from tests.support.partial_trees import flip

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tequio_shared.ids import PeerKey
    from tequio_shared.round.round import RoundView

pytestmark = pytest.mark.trio

SHAPE = RecordShape(algorithm="sparseloco", k=256, bits=2)
SAMPLE = (0, 3, 7, 12)
SEED = sha256(b"sketch")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"))


@dataclass
class Audits:
    """An auditor with a real trainer, and the audited trainer with its files; two peers."""

    run: SmallRun
    store: Store
    theirs: Store
    feedback: ErrorFeedback
    leaves: FeedbackLeaves
    workdir: TrainerWorkdir
    past: PastRounds
    repeated: RepeatedTraining
    auditor: PeerKey
    audited: PeerKey
    work: Path

    def open_leaves(self, may_open: MayOpen) -> None:
        """Let peers have the leaves for which that is true."""
        source = LeafSource(may_open=may_open, file_of=self.feedback.file)
        self.leaves.sources[:] = [source]

    async def train(self, number: int) -> ContributionId:
        """Have trainer 0 train a round, which accepts its work; its id."""
        before, path = self.feedback.start, self.feedback.path
        task = msgspec.structs.replace(
            self.run.train(1, "unused"),
            round=number,
            trainer=to_text(self.audited),
            payload_out=str(self.work / f"payload-{number}"),
            feedback_out=str(self.work / f"feedback-{number}"),
            delta_out=str(self.work / f"delta-{number}"),
            feedback_in=str(path) if path else None,
        )
        report = await self.workdir.ask(
            lambda command: msgspec.structs.replace(task, command=command), link.Trained
        )
        return self.accept(report, task, before)

    def accept(self, report: link.Trained, task: link.Train, before: Digest) -> ContributionId:
        """Close the round with that work accepted."""
        header = ContributionHeader.parse(from_text(report.header, None))
        self.feedback.store(Path(task.feedback_out), header, before)
        self.feedback.settle(task.round, header.feedback_root)
        payload = Path(task.payload_out).read_bytes()
        self.theirs.put_tree(payload, SHAPE.group_bytes)
        name = contribution_id(header.pack())
        self.past.record(closed_round(self.run, task.round, header, payload, before))
        return name

    def order(self, number: int, name: ContributionId) -> AuditTask:
        return AuditTask(round=number, contribution=name, chunks=SAMPLE, seed=SEED)


def closed_round(
    run: SmallRun, number: int, header: ContributionHeader, payload: bytes, before: Digest
) -> RoundView:
    """A closed round that started from head 0 and accepted this alone."""
    commitment = Commitment(
        index=5,
        header=header,
        id=contribution_id(header.pack()),
        seal=payload_seal(header.trainer, [payload]),
        feedback=before,
        at_ms=0,
    )
    view = SimpleNamespace(
        number=number,
        head=first_head(run.manifest),
        shape=SHAPE,
        chunks=run.origin.layout.chunks,
        assignment={0: ((0, 8),)},
        auditable=lambda: {0: commitment},
    )
    return cast("RoundView", view)


@asynccontextmanager
async def audits(
    run: SmallRun, folder: Path, patience: AuditPatience | None = None
) -> AsyncIterator[Audits]:
    """Open both sides; head and shards are in the auditor's store."""
    home, manifest = folder / "auditor", run.manifest
    store, theirs = (
        Store(home / "store", quota_bytes=10**9),
        Store(folder / "theirs", quota_bytes=10**9),
    )
    for name in (run.weights, *(shard.path for shard in run.shards)):
        store.put_tree_file(Path(name), PIECE_BYTES)
    clear_work_folder(home / "work")
    program = trainer_program(home, reads=(run.folder, folder))
    trainer = TrainerProcess(program)
    feedback = ErrorFeedback(folder / "feedback", manifest.run_id)
    leaves = FeedbackLeaves()
    patience = patience or AuditPatience(content_s=20, leaves_s=20)
    async with (
        two_peers() as (there, here),
        LedgerApi(memory_log.unused_url()) as api,
        Fetcher(here, store, rng=random.Random(1)) as fetcher,
        trio.open_nursery() as nursery,
    ):
        BlobServer(there, theirs, leaves=leaves)
        exchange = Exchange(fetcher, api, here.connected_peers)
        workdir = TrainerWorkdir(
            trainer=trainer,
            prepare=run.prepare(1),
            folder=home / "work",
            pins=StorePins(store),
            exchange=exchange,
            frozen=None,
        )
        context = SimpleNamespace(
            manifest=manifest, corpus=run.corpus, store=store, exchange=exchange, workdir=workdir
        )
        context.fetch_shards = partial(RunContext.fetch_shards, context)  # type: ignore[arg-type]  # has the parts it uses
        past = PastRounds(manifest, store)
        nursery.start_soon(trainer.run)
        with trio.fail_after(120):
            yield Audits(
                run=run,
                store=store,
                theirs=theirs,
                feedback=feedback,
                leaves=leaves,
                workdir=workdir,
                past=past,
                repeated=RepeatedTraining(
                    cast("RunContext", context), past, fetcher.client, patience
                ),
                auditor=here.key,
                audited=there.key,
                work=home / "work",
            )
        nursery.cancel_scope.cancel()


async def test_honest_work_is_repeated_to_the_bit_with_leaves_of_two_rounds(
    run: SmallRun, tmp_path: Path
) -> None:
    async with audits(run, tmp_path) as now:
        first, second = await now.train(1), await now.train(2)
        now.open_leaves(lambda peer, _root, index: peer == now.auditor and index in SAMPLE)
        for number, name in ((1, first), (2, second)):
            result = await now.repeated.audit(now.order(number, name))
            assert not result.are_leaves_withheld
            figures = result.report.figures
            assert (figures.hidden, figures.other, figures.values) == (0, 0, 0)
            assert result.report.contribution
        found = now.past.find(2, second)
        assert found is not None
        assert found.feedback != ZERO_DIGEST
        assert not list(now.work.glob("audit-*"))


async def test_the_leaves_of_other_work_do_not_pass(run: SmallRun, tmp_path: Path) -> None:
    """A commitment that states another start than was used is seen, as its leaves are."""
    async with audits(run, tmp_path) as now:
        await now.train(1)
        second = await now.train(2)
        now.open_leaves(lambda *_: True)
        work = now.past.find(2, second)
        assert work is not None
        lie = replace(work, feedback=ZERO_DIGEST)
        past = SimpleNamespace(
            find=lambda *_: lie, weights_path=lambda _: now.store.tree_path(lie.base.weights_root)
        )
        now.repeated._past = cast("PastRounds", past)  # noqa: SLF001 - the lie of a log
        result = await now.repeated.audit(now.order(2, second))
        assert exceeded(result.report.figures, CONVICT)


async def test_a_header_that_names_no_feedback_is_held_to_having_none(
    run: SmallRun, tmp_path: Path
) -> None:
    # There was nothing to open then, so nothing was compared, and every auditor cleared it.
    async with audits(run, tmp_path) as now:
        work = now.past.find(1, await now.train(1))
        assert work is not None
        header = replace(work.header, feedback_root=ZERO_DIGEST)
        lie = replace(work, header=header, id=contribution_id(header.pack()))
        past = SimpleNamespace(
            find=lambda *_: lie, weights_path=lambda _: now.store.tree_path(lie.base.weights_root)
        )
        now.repeated._past = cast("PastRounds", past)  # noqa: SLF001 - as if it had committed so
        result = await now.repeated.audit(now.order(1, lie.id))
        assert not result.are_leaves_withheld
        assert "hidden" in exceeded(result.report.figures, CONVICT)


async def test_leaves_may_come_while_the_audit_trains(run: SmallRun, tmp_path: Path) -> None:
    # They were asked for before, and what a slow line had not brought by then was withheld.
    async with audits(run, tmp_path, AuditPatience(content_s=20, leaves_s=20)) as now:
        name, asked = await now.train(1), []
        ask = now.workdir.ask

        async def asking(make: Callable[[int], link.Command], answer: type[link.Audited]) -> object:
            asked.append(answer)
            return await ask(make, answer)

        now.workdir.ask = asking  # type: ignore[method-assign, assignment]  # sees the question
        now.open_leaves(lambda *_: bool(asked))
        with trio.fail_after(30):
            result = await now.repeated.audit(now.order(1, name))
        assert not result.are_leaves_withheld
        assert result.report.figures.hidden == 0


def leaves_of(root: Digest | None) -> MayOpen:
    return lambda _peer, asked, _index: asked == root


async def test_without_all_leaves_the_audit_uses_none(run: SmallRun, tmp_path: Path) -> None:
    patience = AuditPatience(content_s=20, leaves_s=0.5)
    async with audits(run, tmp_path, patience) as now:
        await now.train(1)
        second = await now.train(2)
        work = now.past.find(2, second)
        assert work is not None
        before, after = work.feedback, work.header.feedback_root
        for opened in (None, after, before):
            now.open_leaves(leaves_of(opened))
            result = await now.repeated.audit(now.order(2, second))
            figures = result.report.figures
            assert result.are_leaves_withheld, opened
            assert (figures.hidden, figures.other, figures.rounding) == (None, None, None), opened
            assert figures.cosine is not None
            assert figures.cosine > 0


async def test_what_this_side_lacks_is_told_apart(run: SmallRun, tmp_path: Path) -> None:
    patience = AuditPatience(content_s=0.5, leaves_s=0.5)
    weights = first_head(run.manifest).weights_root
    async with audits(run, tmp_path, patience) as now:
        names = {number: await now.train(number) for number in (1, 2, 3)}

        async def cannot_audit(number: int, name: ContributionId) -> None:
            with pytest.raises(AuditNotPossibleError):
                await now.repeated.audit(now.order(number, name))

        await cannot_audit(4, names[1])  # the round
        await cannot_audit(1, ContributionId(sha256(b"another")))
        now.theirs.remove(now.past.works(1)[0].header.payload_root)
        await cannot_audit(1, names[1])
        flip(now.store.tree_path(weights), 4_000)
        await cannot_audit(2, names[2])
        now.store.remove(weights)
        now.store.put_tree_file(Path(run.weights), PIECE_BYTES)
        assert (await now.repeated.audit(now.order(2, names[2]))).report.figures.cosine
        now.past.release()
        now.store.remove(weights)
        await cannot_audit(3, names[3])


async def test_impossible_samples_are_this_sides_fault(run: SmallRun, tmp_path: Path) -> None:
    async with audits(run, tmp_path, AuditPatience(content_s=20, leaves_s=0.2)) as now:
        name = await now.train(1)
        order = replace(now.order(1, name), chunks=(5, 3))
        with pytest.raises(AuditNotPossibleError, match="must ascend"):
            await now.repeated.audit(order)


async def test_files_that_a_stopped_audit_left_in_use_hurt_no_later_one(
    run: SmallRun, tmp_path: Path
) -> None:
    # Windows deletes no mapped file: the worker ended when a round overtook an audit.
    async with audits(run, tmp_path) as now:
        order = now.order(1, await now.train(1))
        now.open_leaves(lambda *_: True)
        with ExitStack() as held:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(now.repeated.audit, order)
                while not list(now.work.glob("*opened-1")):  # noqa: ASYNC110 - no event tells of it
                    await trio.sleep(0.001)
                left = {*now.work.glob("*opened-1"), *now.work.glob("*after-1")}
                for path in left:
                    file = held.enter_context(path.open("rb"))
                    held.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                nursery.cancel_scope.cancel()
            now.open_leaves(lambda *_: False)
            now.repeated._patience = AuditPatience(content_s=20, leaves_s=0.5)  # noqa: SLF001
            result = await now.repeated.audit(order)
            assert result.are_leaves_withheld
            assert result.report.figures.hidden is None, "it read the leaves of the stopped one"
            assert left <= set(now.work.glob("audit-*"))
        await now.repeated.audit(order)
        assert not list(now.work.glob("audit-*"))
