"""The demo from its start to its end: found, build, open, train, measure, audit."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog
import trio

from tequio_client.demo import programs
from tequio_client.demo.programs import DemoProgram
from tequio_client.demo.script import PROMPT, DemoScript
from tequio_client.ipc import trainer as link
from tequio_client.ipc.snapshot import Status
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.platform.programs import tequio
from tequio_client.verify.reader import LogReader
from tequio_client.verify.report import LogReport
from tequio_client.verify.source import LiveLog
from tequio_client.worker.children.trainer import TrainerProcess, trainer_program
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import UserFacingError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import digest_from_text, from_text, key_from_text
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundVoid,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

SAMPLE_TOKENS = 240
START_TIMEOUT_S = 120.0
POLL_S = 0.5
FINISHED = "finished"


async def measure(script: DemoScript, url: str) -> tuple[link.Evaluated, link.Evaluated]:
    """Measure head 0 and the run's last promoted head, from what the seed holds."""
    async with LedgerApi(url) as ledger:
        (run,) = await ledger.runs()
        raw = await ledger.get_blob(digest_from_text(run.run))
    if raw is None:
        raise UserFacingError(f"the ledger at {url} has lost the run's manifest")
    manifest = Manifest.parse(raw)
    first, last = manifest.model.weights_root, run.weights_root or manifest.model.weights_root
    store = script.folder / "seed" / "store"
    await _wait_for(_tree(store, last))
    path = script.folder / "measure" / "manifest.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(raw)
    trainer = TrainerProcess(trainer_program(path.parent, reads=[path.parent, store]))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trainer.run)
        with trio.fail_after(START_TIMEOUT_S):
            await trainer.ask(
                lambda command: link.Prepare(
                    command=command,
                    manifest=str(path),
                    config=str(_blob(store, manifest.model.config)),
                    data_manifest=str(_blob(store, manifest.data.manifest)),
                    device=script.device,
                ),
                link.TrainerReady,
            )
            start = await _evaluate(trainer, script, store, manifest, first)
            end = await _evaluate(trainer, script, store, manifest, last)
        nursery.cancel_scope.cancel()
    return start, end


async def _evaluate(
    trainer: TrainerProcess, script: DemoScript, store: Path, manifest: Manifest, root: str
) -> link.Evaluated:
    corpus = Corpus.parse(_blob(store, manifest.data.manifest).read_bytes())
    shards = [link.Shard(at, str(_tree(store, one.root))) for at, one in enumerate(corpus.held_out)]
    return await trainer.ask(
        lambda command: link.Evaluate(
            command=command,
            round=0,
            weights=str(_tree(store, root)),
            shards=tuple(shards),
            max_tokens=script.held_out_tokens,
            prompt=PROMPT,
            sample_tokens=SAMPLE_TOKENS,
        ),
        link.Evaluated,
    )


async def _wait_for(path: Path) -> None:
    with trio.fail_after(START_TIMEOUT_S):
        while not await trio.Path(path).exists():  # noqa: ASYNC110 - another process makes it
            await trio.sleep(0.1)


def _tree(store: Path, root: str) -> Path:
    text = digest_from_text(root).hex()
    return store / "trees" / text[:2] / text


def _blob(store: Path, name: str) -> Path:
    text = digest_from_text(name).hex()
    return store / "blobs" / text[:2] / text


@dataclass(slots=True, kw_only=True)
class LogTally:
    size: int
    root: str  # hex
    committed: int = 0
    void: int = 0
    heads: list[str] = field(default_factory=list)  # hex, as promoted, head 0 first
    stated: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    proofs: int = 0
    opened_ms: dict[int, int] = field(default_factory=dict)  # by round, coordinator's clock
    committed_ms: dict[int, int] = field(default_factory=dict)  # the last one, by round
    closed_ms: dict[int, int] = field(default_factory=dict)
    tokens: Counter[int] = field(default_factory=Counter)  # committed, by round
    steps: Counter[int] = field(default_factory=Counter)

    @property
    def steady_tokens_per_s(self) -> float:
        """Tokens of closed rounds over the time from the second opening to the last close."""
        first, *steady = sorted(self.closed_ms)
        if not steady:
            raise UserFacingError(f"only round {first} was closed: nothing steady to measure")
        seconds = (self.closed_ms[steady[-1]] - self.opened_ms[steady[0]]) / 1000
        return sum(self.tokens[number] for number in steady) / seconds

    @property
    def tokens_per_step(self) -> float:
        """Mean tokens of one trainer's inner step, in the last closed round."""
        last = max(self.closed_ms)
        return self.tokens[last] / self.steps[last]

    @property
    def all_agree(self) -> bool:
        return all(len(heads) == 1 for heads in self.stated.values())

    def add(self, entry: Entry) -> None:
        statement = entry.statement
        match statement.body:
            case RoundClose(proofs=proofs, accepted=accepted) if (
                accepted
            ):  # not one of audits alone
                self.committed += 1
                self.proofs += proofs
                self.closed_ms[statement.round or 0] = statement.ts
            case RoundOpen(opened=opened):
                self.opened_ms[statement.round or 0] = opened
            case WorkCommit(header=text):
                header = ContributionHeader.parse(from_text(text, None))
                self.committed_ms[header.round] = statement.ts
                self.tokens[header.round] += header.tokens
                self.steps[header.round] += header.inner_steps
            case RoundVoid():
                self.void += 1
            case HeadPromote(head=head):
                self.heads.append(from_text(head).hex())
            case HeadAttest(head=head):
                self.stated[statement.round or 0].add(head)


def read_log(source: LiveLog) -> LogTally:
    """Count the whole log up to its newest checkpoint; raises UserFacingError if unsound."""
    report = LogReport()
    reader = LogReader(source, report)
    signed, note = reader.newest()
    checkpoint = signed.checkpoint
    tally = LogTally(size=checkpoint.size, root=checkpoint.root.hex())
    for _, leaf in reader.entries(signed, note, lambda _: None):
        tally.add(Entry.parse(leaf))
    report.check("the log of the demo", "this is an error in tequio: please report it")
    return tally


@dataclass(slots=True, kw_only=True)
class DemoNetwork:
    """State of the network, for the live table."""

    script: DemoScript
    url: str = ""
    act: str = ""
    run: RunAnswer | None = None
    seed: DemoProgram | None = None
    volunteers: list[DemoProgram] = field(default_factory=list)
    gflop: dict[str, int] = field(default_factory=dict)  # by key as text
    opened_at: float = 0.0  # trio time at which the volunteers started
    ledger: DemoProgram | None = None

    def statuses(self) -> list[Status]:
        return [one.status for one in self.volunteers if one.status is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    tally: LogTally
    statuses: list[Status]
    gflop: dict[str, int]  # by key as text
    start: link.Evaluated
    end: link.Evaluated
    audit_exit: int
    audit_text: str
    trainer_mb: dict[str, int]  # the most of each volunteer's trainer, by key as text
    ledger_resident_mb: int
    seed_resident_mb: int
    seconds: float  # from the volunteers' start to the end of the run
    url: str


async def run_network(network: DemoNetwork) -> DemoResult:
    """Play the script; every process ends with this function.

    Raises UserFacingError when a program fails.
    """
    async with trio.open_nursery() as nursery:
        await _train(network, nursery)
        seconds = trio.current_time() - network.opened_at
        result = await _measured(network, seconds)
        nursery.cancel_scope.cancel()
    return result


async def keep_running(network: DemoNetwork) -> None:
    """Run until cancelled, so that others can join; raises UserFacingError."""
    async with trio.open_nursery() as nursery:
        await _train(network, nursery)
        await trio.sleep_forever()


async def found(network: DemoNetwork, nursery: trio.Nursery, *ledger_options: str) -> None:
    """Make organiser key, data and plan, and start the ledger."""
    script, folder = network.script, network.script.folder
    network.act = "building token shards from Python's standard library"
    plan = script.write()
    build = tequio(
        "data", "build", str(folder / "data"), "--stdlib", "--sequence", str(script.sequence)
    )
    await DemoProgram("data", build, folder).run_checked()
    key = await DemoProgram(
        "organiser-key", tequio("run", "key", "--dir", str(folder / "organiser")), folder
    ).run_checked()
    network.act = f"starting the ledger ({plan.name})"
    network.ledger, network.url = await programs.start_ledger(
        nursery, folder, key.strip(), *ledger_options
    )


async def open_run(network: DemoNetwork) -> None:
    """Make the first head, for a seed in the folder `seed`, and open the run."""
    folder = network.script.folder
    network.act = "making the first head and opening the run"
    plan, seed = str(folder / "plan.toml"), ("--seed-dir", str(folder / "seed"))
    organiser = ("--ledger", network.url, "--dir", str(folder / "organiser"))
    command = tequio("run", "open", plan, *organiser, *seed)
    await DemoProgram("run-open", command, folder).run_checked()


def _start(network: DemoNetwork, nursery: trio.Nursery) -> None:
    folder = network.script.folder
    command = tequio("seed", *_common(network), "--dir", str(folder / "seed"))
    network.seed = DemoProgram("seed", command, folder)
    nursery.start_soon(network.seed.run_checked)
    for _ in range(network.script.peers):
        _add_volunteer(network, nursery)
    network.opened_at = trio.current_time()


def _add_volunteer(network: DemoNetwork, nursery: trio.Nursery) -> None:
    folder, name = network.script.folder, f"volunteer-{len(network.volunteers) + 1}"
    lent = ("--device", network.script.device, "--share", str(network.script.share_percent))
    command = tequio("worker", *_common(network), "--dir", str(folder / name), *lent)
    volunteer = DemoProgram(name, command, folder)
    network.volunteers.append(volunteer)
    nursery.start_soon(volunteer.run_checked)


def _common(network: DemoNetwork) -> tuple[str, ...]:
    return ("--ledger", network.url, "--listen", "/ip4/127.0.0.1/tcp/0", "--status")


async def _train(network: DemoNetwork, nursery: trio.Nursery) -> None:
    """Start everything, and return when the run has ended."""
    await found(network, nursery)
    await open_run(network)
    _start(network, nursery)
    network.act = "training"
    script = network.script
    async with LedgerApi(network.url) as ledger:
        while network.run is None or network.run.state != FINISHED:
            is_time = network.run is not None and network.run.round > script.late_after > 0
            if is_time and len(network.volunteers) == script.peers:
                _add_volunteer(network, nursery)
            try:
                (network.run,) = await ledger.runs()
                network.gflop = await _gflop(network, ledger)
            except LedgerUnavailableError as err:
                log.warning("the ledger does not answer", error=str(err))
            await trio.sleep(POLL_S)


async def _gflop(network: DemoNetwork, ledger: LedgerApi) -> dict[str, int]:
    """Points of each volunteer so far, by key; an unregistered one has none."""
    earned = {}
    for one in network.statuses():
        with suppress(LedgerRefusedError):
            earned[one.key] = (await ledger.peer(key_from_text(one.key))).gflop
    return earned


async def _measured(network: DemoNetwork, seconds: float) -> DemoResult:
    """Read the log, measure the last head, and let the audit check everything."""
    script = network.script
    network.act = "measuring the first and the last head"
    start, end = await measure(script, network.url)
    network.act = "auditing: replaying the log and every head as a stranger"
    store = str(script.folder / "seed" / "store")
    audit = DemoProgram(
        "audit", tequio("audit", "--ledger", network.url, "--store", store), script.folder
    )
    audit_exit = await audit.run()
    async with LedgerApi(network.url) as ledger:
        tally = await trio.to_thread.run_sync(read_log, LiveLog(ledger))
        gflop = await _gflop(network, ledger)
    return DemoResult(
        tally=tally,
        statuses=network.statuses(),
        gflop=gflop,
        start=start,
        end=end,
        audit_exit=audit_exit,
        audit_text=audit.output.decode(errors="replace") or audit.log_tail(),
        trainer_mb={one.status.key: one.trainer_mb for one in network.volunteers if one.status},
        ledger_resident_mb=network.ledger.resident_mb if network.ledger else 0,
        seed_resident_mb=network.seed.resident_mb if network.seed else 0,
        seconds=seconds,
        url=network.url,
    )
