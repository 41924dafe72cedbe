"""A competition from the sealing of its texts to its verification, every program a process.

Two organisers lead a swarm each; three custodians hold the key; three volunteers who are in neither
swarm evaluate. What is printed comes from the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click
import trio

from tequio_client.clock import now_ms
from tequio_client.demo import programs
from tequio_client.demo.main import cancel_at_signal
from tequio_client.demo.programs import DemoProgram
from tequio_client.demo.script import (
    CUSTODIANS,
    EVALUATORS,
    NEEDED,
    SWARMS,
    VOLUNTEERS,
    CompetitionScript,
)
from tequio_client.platform.programs import tequio
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import EXIT_SOUND, AuditGrade
from tequio_shared.competition.state import CompetitionPhase, CompetitionView
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

# Models are scored again while a seed serves them, then offline from a bundle, which has no
# weights: that check must end with exit status 3.

BUNDLE = "competition.tar"
"""All that a verification reads, in the demo's folder."""
POLL_S = 1.0
_LATE_S = 30.0  # before the deadline: a swarm that has not finished submits what there is
_WAIT_S = 600.0
_DEVICE = ("--device", "cpu", "--threads", "1")
_RESCORE = ("--rescore", "1", *_DEVICE)


@dataclass(slots=True, kw_only=True)
class CompetitionDemo:
    """A demo in progress; `report` prints what happens."""

    script: CompetitionScript
    report: Callable[[str], None]
    url: str = ""
    volunteers: list[DemoProgram] = field(default_factory=list)
    reader: LedgerReader | None = None
    status: int = 1
    """0 once the verification ended as it has to."""

    @property
    def folder(self) -> Path:
        return self.script.folder

    async def run_command(self, name: str, *arguments: str) -> str:
        """Run a tequio program to its end; returns what it printed. Raises UserFacingError."""
        return (await DemoProgram(name, tequio(*arguments), self.folder).run_checked()).strip()

    def organiser_options(self, name: str) -> tuple[str, ...]:
        return "--ledger", self.url, "--dir", str(self.folder / name)

    async def view(self) -> CompetitionView:
        if self.reader is None:
            self.reader = LedgerReader(self.url)
        return await trio.to_thread.run_sync(self.reader.wait_for, None)

    async def wait_until(self, is_so: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait for a state of the log; raises UserFacingError when it never comes."""
        with trio.move_on_after(_WAIT_S * max(self.script.pace, 1.0)):
            while True:
                view = await self.view()
                if is_so(view):
                    return view
                await trio.sleep(POLL_S)
        raise UserFacingError(
            f"the competition stopped making progress; see the logs in {self.folder}"
        )


async def run_competition(contest: CompetitionDemo, *, keep_running: bool) -> None:
    """Play it all, to the verification; or go on until cancelled.

    Every process ends with this function. Raises UserFacingError when a program fails.
    """
    async with trio.open_nursery() as nursery:
        await _found(contest, nursery)
        await _open_runs(contest)
        await _seal(contest)
        _start_swarms(contest, nursery)
        await _open_competition(contest)
        for number in range(1, EVALUATORS + 1):
            name = f"evaluator-{number}"
            options = ("--follow", *_DEVICE, *contest.organiser_options(name))
            program = DemoProgram(name, tequio("competition", "evaluate", *options), contest.folder)
            nursery.start_soon(program.run_checked)
        await _train(contest)
        await _reveal(contest)
        await _decide(contest)
        contest.status = await verify(contest)
        if keep_running:
            contest.report(f"The ledger runs until Ctrl-C: {contest.url}/competitions")
            await trio.sleep_forever()
        nursery.cancel_scope.cancel()


async def _found(contest: CompetitionDemo, nursery: trio.Nursery) -> None:
    folder = contest.folder
    contest.report(
        "Texts: sources of Python's library, most of them for training, short ones to be sealed."
    )
    await trio.to_thread.run_sync(contest.script.write)
    texts = str(folder / "texts" / "train")
    build = (str(folder / "data"), "--folder", texts, "--sequence", "128")
    await contest.run_command("data", "data", "build", *build)
    organisers = [
        await contest.run_command(
            "key", "run", "key", "--dir", str(folder / _organiser(swarm.name))
        )
        for swarm in SWARMS
    ]
    _, contest.url = await programs.start_ledger(nursery, folder, " ".join(organisers))
    contest.report(f"A ledger of {len(organisers)} organisers runs at {contest.url}")


async def _open_runs(contest: CompetitionDemo) -> None:
    for swarm in SWARMS:
        plan = str(contest.folder / f"{swarm.name}.toml")
        options = contest.organiser_options(_organiser(swarm.name))
        seed = ("--seed-dir", str(contest.folder / "seed"))
        await contest.run_command("run-open", "run", "open", plan, *options, *seed)
        contest.report(
            f"Swarm {swarm.name}: {swarm.optimiser} at {swarm.lr}, outer step {swarm.outer_lr}; "
            f"{contest.script.tokens:,} tokens in {contest.script.rounds} rounds"
        )


def _start_swarms(contest: CompetitionDemo, nursery: trio.Nursery) -> None:
    listen = ("--listen", "/ip4/127.0.0.1/tcp/0", "--status")
    seed = tequio("seed", *contest.organiser_options("seed"), *listen)
    nursery.start_soon(DemoProgram("seed", seed, contest.folder).run_checked)
    for swarm in SWARMS:
        for number in range(1, VOLUNTEERS + 1):
            name = f"{swarm.name}-{number}"
            swarm_options = ("--run", swarm.name, "--device", "cpu")
            options = (*contest.organiser_options(name), *listen, *swarm_options)
            program = DemoProgram(name, tequio("worker", *options), contest.folder)
            contest.volunteers.append(program)
            nursery.start_soon(program.run_checked)
    contest.report(f"A seed serves both runs; {VOLUNTEERS} volunteers of each start to train.")


async def _seal(contest: CompetitionDemo) -> None:
    folder = contest.folder
    await contest.run_command(
        "seal", "competition", "seal", str(folder / "texts" / "sealed"),
        "--to", str(folder / "sealed"),
        "--custodians", str(CUSTODIANS), "--needed", str(NEEDED),
    )  # fmt: skip
    keys = [
        await contest.run_command(
            "key", "competition", "key", "--dir", str(folder / _custodian(number))
        )
        for number in range(1, CUSTODIANS + 1)
    ]
    (folder / "competition.toml").write_text(contest.script.competition_plan(tuple(keys)), "utf-8")
    contest.report(f"The texts are sealed; {NEEDED} of {CUSTODIANS} custodians can decrypt them.")


async def _open_competition(contest: CompetitionDemo) -> None:
    folder, first, second = contest.folder, *(_organiser(swarm.name) for swarm in SWARMS)
    sealed, rules = ("--sealed", str(folder / "sealed")), str(folder / "rules.json")
    plan = str(folder / "competition.toml")
    await contest.run_command("rules", "competition", "rules", plan, *sealed, "--to", rules)
    both = (*contest.organiser_options(first), "--with", str(folder / second))
    await contest.run_command("open", "competition", "open", rules, *sealed, *both)
    await _each_swarm(contest, "enter")
    view = await contest.view()
    contest.report(f"The competition {view.rules.name} is open: {_page(contest, view)}")


async def _each_swarm(contest: CompetitionDemo, what: str) -> None:
    """Have both organisers do the same for their runs, at the same time."""
    async with trio.open_nursery() as nursery:
        for swarm in SWARMS:
            options = ("--run", swarm.name, *contest.organiser_options(_organiser(swarm.name)))
            command = (f"{what}-{swarm.name}", "competition", what, swarm.name, *options)
            nursery.start_soon(_report_first, contest, command)


async def _report_first(contest: CompetitionDemo, command: tuple[str, ...]) -> None:
    printed = await contest.run_command(*command)
    contest.report(printed.partition(";")[0] + ".")


async def _train(contest: CompetitionDemo) -> None:
    """Let the swarms train until both are done or the deadline is near; then submit."""
    contest.report(f"{EVALUATORS} volunteers who train in neither run offer to evaluate.")
    script, done = contest.script, dict.fromkeys((swarm.name for swarm in SWARMS), 0)
    view = await contest.view()
    left_s = (view.rules.dates.deadline - now_ms()) / 1_000
    with trio.move_on_after(max(left_s - _LATE_S * script.pace, 1.0)):
        while min(done.values()) < script.rounds or len(view.offers) < EVALUATORS:
            view = await contest.view()
            _report_rounds(contest, done)
            await trio.sleep(POLL_S)
    await _each_swarm(contest, "submit")
    for program in contest.volunteers:
        await program.end()


def _report_rounds(contest: CompetitionDemo, done: dict[str, int]) -> None:
    if contest.reader is None:
        return
    for name, before in done.items():
        found = max(contest.reader.run(name).view.heads, default=0)
        if found > before:
            done[name] = found
            contest.report(f"  {name}: head of round {found} of {contest.script.rounds} certified")


async def _reveal(contest: CompetitionDemo) -> None:
    contest.report("Waiting for the deadline.")
    await contest.wait_until(lambda view: view.phase is not CompetitionPhase.OPEN)
    contest.report("The deadline has passed; evaluators draw their lots.")
    await contest.wait_until(lambda view: view.phase is CompetitionPhase.DRAWN)
    for number in range(1, NEEDED + 1):
        share = contest.folder / "sealed" / f"share-{number}-of-{CUSTODIANS}.txt"
        options = ("--share", str(share), *contest.organiser_options(_custodian(number)))
        await contest.run_command("reveal", "competition", "reveal", *options)
    view = await contest.wait_until(lambda view: view.draw is not None)
    if view.draw is not None:
        contest.report(
            f"{NEEDED} custodians showed their shares: {len(view.draw.documents)} texts and "
            f"{len(view.draw.evaluators)} evaluators are drawn."
        )


async def _decide(contest: CompetitionDemo) -> None:
    due = len(SWARMS) * EVALUATORS
    view = await contest.wait_until(lambda view: len(view.commits) == due or _is_over(view))
    contest.report(f"{len(view.commits)} of {due} scores are committed to, before any is revealed.")
    view = await contest.wait_until(lambda view: len(view.results) == due or _is_over(view))
    contest.report(
        f"{len(view.results)} of {due} scores are in the log, and can be challenged now."
    )
    await contest.wait_until(_is_over)
    first, second = (_organiser(swarm.name) for swarm in SWARMS)
    both = (*contest.organiser_options(first), "--with", str(contest.folder / second))
    contest.report("The organisers compute the result from the log, and sign it together:")
    contest.report(await contest.run_command("result", "competition", "result", "--yes", *both))
    view = await contest.wait_until(lambda view: view.phase is CompetitionPhase.DECIDED)
    contest.report(f"Decided: {_page(contest, view)}")


async def verify(contest: CompetitionDemo) -> int:
    """Check everything as somebody who has the ledger's address and nothing else.

    Returns 0, or the first exit status that was not expected.
    """
    bundle, shown = str(contest.folder / BUNDLE), set[str]()

    async def check(title: str, *arguments: str, due: int = EXIT_SOUND) -> int:
        contest.report(title)
        typed = " ".join(("tequio verify-competition", *arguments))
        contest.report("  " + typed.replace(f"{contest.folder}/", ""))
        command = tequio("verify-competition", *arguments)
        program = DemoProgram("verify", command, contest.folder)
        status = await program.run()
        printed = program.output.decode(errors="replace").strip() or program.log_tail()
        fresh = [line for line in printed.splitlines() if line not in shown]
        if not shown:  # lines of the first check are not repeated
            shown.update(fresh)
        contest.report("\n".join(fresh))
        if status == due:
            contest.report(f"Exit status {status}, as expected.")
            return 0
        logs = contest.folder / "logs"
        contest.report(f"Exit status {status}, but {due} was expected: see {logs}")
        return status or 1

    return (
        await check(
            "Everything is checked from the log alone, and stored in one file:",
            *(contest.url, "--bundle", bundle),
        )
        or await check(
            "The same, and one random document of each model is scored again:",
            *(contest.url, *_RESCORE),
        )
        or await check(
            "Without a network, weights are unavailable, so nothing can be scored again:",
            *(bundle, *_RESCORE),
            due=AuditGrade.MISSING.value,
        )
        or await check(
            "The same check again, with these models:",
            *(bundle, *_RESCORE, *await _exported(contest)),
        )
    )


async def _exported(contest: CompetitionDemo) -> tuple[str, ...]:
    """Export what was submitted; returns the options that name it."""
    contest.report("The submitted models are exported while a seed serves them.")
    view, options, models = await contest.view(), list[str](), contest.folder / "models"
    models.mkdir()
    for swarm in SWARMS:
        submission = view.entrants[swarm.name].submission
        if submission is not None:
            to = str(models / swarm.name)
            export = ("--run", swarm.name, "--round", str(submission.round), "--to", to)
            at = ("--ledger", contest.url)
            await contest.run_command("export", "checkpoint", "export", *export, *at)
            options += ["--model", f"{swarm.name}={to}"]
    return tuple(options)


def _is_over(view: CompetitionView) -> bool:
    """True once scores can no longer be challenged."""
    return now_ms() >= view.rules.dates.result


def _page(contest: CompetitionDemo, view: CompetitionView) -> str:
    return f"{contest.url}/competitions/{to_text(view.id)}"


def _organiser(swarm: str) -> str:
    return f"organiser-{swarm}"


def _custodian(number: int) -> str:
    return f"custodian-{number}"


def run_demo(script: CompetitionScript, *, keep_running: bool) -> int:
    """Play the competition; returns the exit status. Raises UserFacingError."""
    began = time.monotonic()

    def report(text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        first, *more = text.splitlines() or [""]
        click.echo(f"{minutes:02}:{seconds:02}  {first}")
        for line in more:
            click.echo(f"       {line}")

    return trio.run(partial(_perform, CompetitionDemo(script=script, report=report), keep_running))


async def _perform(contest: CompetitionDemo, keep_running: bool) -> int:  # noqa: FBT001 - trio passes by place
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel_at_signal, nursery.cancel_scope)
        await run_competition(contest, keep_running=keep_running)
        nursery.cancel_scope.cancel()
    return contest.status
