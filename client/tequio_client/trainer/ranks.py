"""The ranks of a cell: how they meet, what rank 0 has the others do, and that none outlives it.

`CellLead` is rank 0's side, beside its ordinary tasks; `follow` is what the other ranks run. What
they write for each other is in `ipc.cell`. The cell lasts as long as all of its processes: when one
ends, or is silent, the others end too, and the worker starts rank 0 again. So no rank has to be
brought back into a half-done step, and no backend of torch has to be repaired. A rank that was
started elsewhere is started again by the worker there; rank 0 waits for it.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from datetime import timedelta
from typing import Any, NoReturn

import msgspec
import numpy as np
import psutil
import structlog
import torch
import torch.distributed as dist
from torch.distributed import (  # type: ignore[attr-defined]  # public, though listed nowhere
    PrefixStore,
    TCPStore,
)

from tequio_client import ipc
from tequio_client.ipc import cell as link
from tequio_client.ipc.cell import CellPlace, PrepareRank, RankAnswer, RankHello, TakeSteps
from tequio_client.ipc.trainer import Prepare
from tequio_client.platform import cell_network, programs
from tequio_client.trainer import device, inner, prepared
from tequio_client.trainer.cell import Cell, RankLostError, SampleSource, SharedSamples
from tequio_client.trainer.device import ComputeDevice, DeviceError
from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
from tequio_client.trainer.main import TaskReplacedError
from tequio_client.trainer.prepared import ModelDocuments, ModelError, PreparedModel
from tequio_shared.errors import MalformedError, TequioError, UserFacingError

log = structlog.get_logger(__name__)

RANK = programs.runtime_module("tequio_client.trainer", "rank")
"""Command of a rank; its place comes in a variable (`ipc.cell.VARIABLE`)."""
BEAT_S = 1.0
SILENCE_S = 20.0
"""A rank that has given no sign of life for this long is lost."""
AWAY_S = 600.0
"""Longest wait of a rank for rank 0."""
_POLL_S = 0.02
_REMIND_S = 30.0
_EXCHANGE_S = 1_800.0
"""Longest wait for the other ranks within a step; a rank that ended is noticed long before."""
_ERRORS = (dist.DistError, RuntimeError)
"""Exceptions of a store that cannot be reached; torch raises either."""
_REASON = 1_000


class FirstRankAwayError(TequioError):
    """Rank 0 did not answer."""


class CellStore:
    """One rank's access to the store of its cell; a connection serves one thread."""

    def __init__(self, place: CellPlace, store: TCPStore, number: str) -> None:
        self.place, self._store, self._cell = place, store, number

    @classmethod
    def open(cls, place: CellPlace) -> CellStore:
        """Open the store as rank 0, or wait for it; raises UserFacingError, FirstRankAwayError."""
        store = _served_store(place) if place.rank == 0 else _remote_store(place)
        with _reaching_store():
            return cls(place, store, _cell_number(place, store))

    def another(self) -> CellStore:
        """Access for another thread."""
        copy = self._store.clone()  # type: ignore[attr-defined]  # missing in torch's stubs
        return CellStore(self.place, copy, self._cell)

    @property
    def port(self) -> int:
        return int(self._store.port)

    def put(self, key: str, value: str) -> None:
        with _reaching_store():
            self._store.set(f"{self._cell}/{key}", value)

    def find(self, key: str) -> bytes | None:
        """Value of a key; None while there is none."""
        name = f"{self._cell}/{key}"
        with _reaching_store():
            found: bytes | None = self._store.get(name) if self._store.check([name]) else None
        return found

    def wait(self, key: str) -> bytes:
        """Wait for a key, without a limit: `Pulse` notices when nobody is left to write it."""
        while (value := self.find(key)) is None:
            time.sleep(_POLL_S)
        return value

    def delete(self, key: str) -> None:
        with _reaching_store():
            self._store.delete_key(f"{self._cell}/{key}")

    def join(self, chosen: ComputeDevice) -> None:
        """Introduce this rank, which is in the cell from then on; raises RankLostError."""
        hello, rank = ipc.encode(self.hello(chosen)).decode(), self.place.rank
        with _reaching_store():
            first = self._store.compare_set(f"{self._cell}/hello/{rank}", "", hello)
        if first.decode() != hello:
            raise RankLostError(f"another process has joined the cell as rank {rank}")

    def is_over(self) -> bool:
        """Check whether rank 0 was started again, and has formed another cell."""
        with _reaching_store():
            return self._store.get("cell").decode() != self._cell

    def open_group(self, chosen: ComputeDevice) -> Cell:
        """Connect torch.distributed to all ranks; raises RankLostError."""
        kind = chosen.handle.type
        has_nccl = kind == "cuda" and dist.is_nccl_available()
        store = PrefixStore(f"{self._cell}/group", self._store)
        with _reaching_store():
            dist.init_process_group(
                "cpu:gloo,cuda:nccl" if has_nccl else "gloo",
                store=store,
                rank=self.place.rank,
                world_size=self.place.size,
                timeout=timedelta(seconds=_EXCHANGE_S),
            )
        # gloo exchanges what lies in main memory; there it is copied from other accelerators.
        wire = chosen.label if has_nccl else "cpu"
        cell = Cell(self.place.rank, self.place.size, wire, self.place.division)
        cell.exchange_precisions(chosen.precision)
        return cell

    def hello(self, chosen: ComputeDevice) -> RankHello:
        host = platform.node()[:200]
        return RankHello(
            rank=self.place.rank,
            size=self.place.size,
            device=chosen.label,
            host=host,
            card=_card(chosen, host),
            torch=str(torch.__version__),
            division=self.place.division,
        )


def _card(chosen: ComputeDevice, host: str) -> str:
    """Name a card as no other one is named; empty for a CPU."""
    kind = chosen.handle.type
    if kind == "cpu":
        return ""
    if kind == "cuda":
        own: Any = torch.cuda.get_device_properties(chosen.handle).uuid  # torch says str
        if len(set(own.bytes)) > 1:
            return str(own)
    # Some AMD cards have no number of their own, and many computers the name that they came with.
    return f"{host}/{psutil.boot_time():.0f}/{chosen.label}"


def _served_store(place: CellPlace) -> TCPStore:
    if place.has_agent_store:
        return _remote_store(place)
    descriptor, port = cell_network.listen(place.address, place.port)
    return TCPStore(
        place.address,
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=AWAY_S),
        master_listen_fd=descriptor,
    )


def _remote_store(place: CellPlace) -> TCPStore:
    timeout = timedelta(seconds=AWAY_S)
    try:
        return TCPStore(
            place.address, place.port, is_master=False, wait_for_workers=False, timeout=timeout
        )
    except _ERRORS as err:
        raise FirstRankAwayError(f"rank 0 did not answer for {AWAY_S:.0f} s") from err


def _cell_number(place: CellPlace, store: TCPStore) -> str:
    """The number of the cell: a new one for rank 0, for others one that they are not in yet."""
    if place.rank == 0:
        return str(store.add("cell", 1))
    while True:
        if store.check(["cell"]):
            number: str = store.get("cell").decode()
            # A rank that was started again belongs to no cell that it had joined before.
            if not store.check([f"{number}/hello/{place.rank}"]):
                return number
        time.sleep(BEAT_S)


@contextmanager
def _reaching_store() -> Iterator[None]:
    try:
        yield
    except _ERRORS as err:
        raise RankLostError(f"the other ranks of the cell cannot be reached: {err}") from err


class Pulse:
    """Shows that this rank lives, and calls `lost` with a reason once one of `others` does not."""

    def __init__(
        self, store: CellStore, others: Sequence[RankHello], lost: Callable[[str], None]
    ) -> None:
        self._store, self._others, self._lost = store.another(), others, lost
        self.processes: dict[int, subprocess.Popen[bytes]] = {}  # those started here, by rank
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        seen = {one.rank: (b"", time.monotonic()) for one in self._others}
        beat = 0
        try:
            while True:
                beat += 1
                self._store.put(f"alive/{self._store.place.rank}", str(beat))
                why = self._why_lost(seen)
                if why:
                    self._lost(why)
                    return
                time.sleep(BEAT_S)
        except RankLostError as err:
            self._lost(str(err))

    def _why_lost(self, seen: dict[int, tuple[bytes, float]]) -> str:
        """Costs a look at the store for each other rank."""
        if self._store.is_over():
            return "rank 0 was started again"
        failed = self._store.find("failed")
        if failed is not None:
            return failed.decode(errors="replace")
        now = time.monotonic()
        for one in self._others:
            process = self.processes.get(one.rank)
            if process is not None and process.poll() is not None:
                return f"{one.name} ended with status {process.returncode}"
            beat = self._store.find(f"alive/{one.rank}") or b""
            if beat != seen[one.rank][0]:
                seen[one.rank] = (beat, now)
            elif now - seen[one.rank][1] > SILENCE_S:
                return f"{one.name} gave no sign of life for {SILENCE_S:.0f} s"
        return ""


class CellLead:
    """Rank 0's side of a formed cell; owned by the trainer's first thread."""

    def __init__(self, place: CellPlace, wanted: str, lost: Callable[[str], None]) -> None:
        """Form the cell, however long the other ranks take to come.

        `lost` is called in another thread. Raises UserFacingError when they do not fit together.
        """
        chosen = device.open_device(wanted)
        self._store = CellStore.open(place)
        self._processes = self._start_others() if place.is_local else {}
        hellos = [self._store.hello(chosen)]
        self._store.put("hello/0", ipc.encode(hellos[0]).decode())
        hellos += self._wait_for_others()
        why_not = link.why_not_together(hellos)
        self._store.put("formed", why_not)
        if why_not:
            raise DeviceError(f"the ranks cannot form a cell: {why_not}")
        Pulse(self._store, hellos[1:], lost).processes.update(self._processes)
        self.cell = self._store.open_group(chosen)
        self._hellos = hellos
        self._number = 0
        self.is_broken = False
        """True if the ranks are no longer at the same place: this process has to end."""
        log.info("cell formed", ranks=[one.name for one in hellos])

    def _start_others(self) -> dict[int, subprocess.Popen[bytes]]:
        place, started = self._store.place, {}
        for rank, name in enumerate(place.devices):
            if rank:
                other = msgspec.structs.replace(
                    place, rank=rank, device=name, port=self._store.port
                )
                started[rank] = subprocess.Popen(  # noqa: S603 - our own program
                    RANK,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, link.VARIABLE: other.encode()},
                )
        return started

    def _wait_for_others(self) -> list[RankHello]:
        place, missing = self._store.place, set(range(1, self._store.place.size))
        found: dict[int, RankHello] = {}
        remind_s = time.monotonic() + _REMIND_S
        while missing:
            for rank in sorted(missing):
                hello = self._store.find(f"hello/{rank}")
                if hello is not None:
                    found[rank] = link.decode_hello(hello)
                    missing.remove(rank)
            self._check_started(missing)
            if time.monotonic() > remind_s:
                log.warning("waiting for ranks of the cell", ranks=sorted(missing), of=place.size)
                remind_s += _REMIND_S
            time.sleep(_POLL_S)
        return [found[rank] for rank in sorted(found)]

    def _check_started(self, missing: set[int]) -> None:
        for rank, process in self._processes.items():
            if rank in missing and process.poll() is not None:
                why = self._store.find("failed") or f"exit status {process.returncode}".encode()
                raise DeviceError(f"rank {rank} could not start: {why.decode(errors='replace')}")
        failed = None if self._processes else self._store.find("failed")
        if failed is not None:
            raise RankLostError(failed.decode(errors="replace"))

    def prepare(self, prepare: Prepare) -> PreparedModel:
        """Prepare the model on all ranks at once; raises what fails on any of them."""
        documents = ModelDocuments.read(prepare)
        contents = astuple(documents)
        self._post(PrepareRank(prepare=prepare, sizes=tuple(map(len, contents))))
        raw = np.frombuffer(b"".join(contents), np.uint8).copy()
        self.cell.copy_from(0, [torch.from_numpy(raw)])
        made = prepared.prepare_model(prepare, documents, self.cell)
        for one in self._hellos[1:]:
            key = f"answer/{self._number}/{one.rank}"
            answer = link.decode_answer(self._store.wait(key))
            self._store.delete(key)
            if answer.code:
                kind = DeviceError if answer.code == "device" else ModelError
                raise kind(f"{one.name}: {answer.reason}")
        return made

    @contextmanager
    def steps(self, task: TakeSteps) -> Iterator[None]:
        """Have the other ranks take these steps while the block runs, which takes them here."""
        self._post(task)
        try:
            yield
        except Exception as err:
            self.is_broken = err is not self.cell.common_error
            raise

    def _post(self, task: link.RankTask) -> None:
        self._number += 1
        self._store.put(f"task/{self._number}", ipc.encode(task).decode())
        if self._number > 1:
            self._store.delete(f"task/{self._number - 1}")


def take_steps(
    setup: PreparedModel, training: SampleSource, task: TakeSteps, watch: TrainingControl
) -> TrainingProgress:
    """Take the steps from the weights that rank 0 has, on every rank of the model's cell."""
    recipe, plan = (
        setup.manifest.inner_at(task.round),
        StepPlan.from_ranges(task.windows, task.steps),
    )
    # Dropout, where a model has it, is the only randomness in training.
    torch.manual_seed(task.seed)
    if setup.divided is not None:
        setup.divided.load(setup.model)
        done = setup.divided.train(training, plan, recipe, watch)
        setup.divided.store(setup.model)
        return done
    setup.batch.cell.copy_from(0, list(setup.model.parameters.values()))
    if task.sends_gradients:
        return inner.accumulate(setup.model, training, plan.windows, recipe, setup.batch, watch)
    factory = setup.plugin.optimiser if setup.plugin else None
    return inner.train(setup.model, training, plan, recipe, setup.batch, watch, factory)


class _FollowedControl:
    """Control of a rank that rank 0 decides for."""

    def check(self) -> None:
        """Rank 0 checks."""

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Not asked: `Cell.decide` gets rank 0's answer."""
        raise AssertionError(f"rank 0 decides, also after step {progress.step}")


def follow(place: CellPlace) -> NoReturn:
    """Be one of the other ranks until the cell ends; ends the process."""
    torch.set_num_interop_threads(1)
    torch.set_num_threads(1)
    store: CellStore | None = None
    try:
        store = CellStore.open(place)
        _follow(store)
    except FirstRankAwayError as err:
        log.warning("cell not found", rank=place.rank, reason=str(err))
        os._exit(link.AWAY_STATUS)
    except RankLostError as err:
        log.warning("cell ended", rank=place.rank, reason=str(err)[:_REASON])
    except Exception as err:  # noqa: BLE001 - the outermost supervisor: reports it, then ends
        why = str(err) if isinstance(err, TequioError) else traceback.format_exc()
        log.warning("rank failed", rank=place.rank, reason=why[-_REASON:])
        if store is not None:
            reason = f"rank {place.rank} failed: {type(err).__name__}: {err}"
            if isinstance(err, UserFacingError):
                reason = f"rank {place.rank}: {err}"
            store.put("failed", reason[:_REASON])
    finally:
        os._exit(1)


def _follow(store: CellStore) -> NoReturn:
    place = store.place
    chosen = device.open_device(place.device)
    store.join(chosen)
    first = link.decode_hello(store.wait("hello/0"))
    Pulse(store, [first], _end)
    if place.rank >= first.size:
        raise UserFacingError(link.why_not_together([first, store.hello(chosen)]))
    refusal = store.wait("formed").decode()
    if refusal:
        raise RankLostError(f"the ranks cannot form a cell: {refusal}")
    cell = store.open_group(chosen)
    setup: PreparedModel | None = None
    number = 0
    while True:
        number += 1
        match link.decode_task(store.wait(f"task/{number}")):
            case PrepareRank() as task:
                setup = None  # frees the old model: two may not fit into memory
                documents = _documents(task, cell)
                setup, answer = _prepared(task, documents, place, cell)
                store.put(f"answer/{number}/{place.rank}", ipc.encode(answer).decode())
            case TakeSteps() as task if setup is not None:
                setup = _take_part(setup, task)


def _end(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    os._exit(1)


def _documents(task: PrepareRank, cell: Cell) -> ModelDocuments:
    raw = torch.empty(sum(task.sizes), dtype=torch.uint8)
    cell.copy_from(0, [raw])
    ends = np.cumsum(task.sizes).tolist()
    manifest, data_manifest, config = (
        raw[end - size : end].numpy().tobytes() for size, end in zip(task.sizes, ends, strict=True)
    )
    return ModelDocuments(manifest=manifest, data_manifest=data_manifest, config=config)


def _prepared(
    task: PrepareRank, documents: ModelDocuments, place: CellPlace, cell: Cell
) -> tuple[PreparedModel | None, RankAnswer]:
    prepare = msgspec.structs.replace(task.prepare, device=place.device)
    # Other errors, such as a card or a disk that is full now, end the rank: the cell forms again.
    try:
        return prepared.prepare_model(prepare, documents, cell), RankAnswer()
    except DeviceError as err:
        return None, RankAnswer(code="device", reason=str(err))
    except (UserFacingError, MalformedError) as err:
        return None, RankAnswer(code="model", reason=str(err))


def _take_part(setup: PreparedModel, task: TakeSteps) -> PreparedModel:
    limits = msgspec.structs.replace(setup.prepare, threads=task.threads, memory_mb=task.memory_mb)
    setup = setup.with_limits(limits)
    setup.batch.samples = task.samples
    samples = SharedSamples(
        cell=setup.batch.cell,
        sequence=setup.corpus.sequence,
        window_samples=setup.manifest.windows.samples,
    )
    try:
        take_steps(setup, samples, task, _FollowedControl())
    except (TaskReplacedError, torch.OutOfMemoryError) as err:
        if err is not setup.batch.cell.common_error:
            raise
    return setup
