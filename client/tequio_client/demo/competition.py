"""A competition from the sealing of its texts to a stranger's checks, every program a process.

Two organisers lead a swarm each; three custodians hold the key; three volunteers who are in neither
swarm evaluate. What is told comes from the log.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import click
import trio

from tequio_client.clock import now_ms
from tequio_client.demo import programs
from tequio_client.demo.main import end_at_signal
from tequio_client.demo.programs import Program, tequio
from tequio_client.demo.script import CUSTODIANS, EVALUATORS, NEEDED, SWARMS, VOLUNTEERS
from tequio_client.verify.folded_log import LedgerReader
from tequio_client.verify.report import EXIT_SOUND, Grade
from tequio_shared.competition.state import Phase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.demo.script import ContestScript
    from tequio_shared.competition.competition import CompetitionView

# Models are scored again while a seed serves them, then offline from a bundle, which has no
# weights: that check must end with exit status 3.

BUNDLE = "competition.tar"
"""What the stranger keeps, in the demo's folder."""
_RESCORE = ("--rescore", "1", "--device", "cpu", "--threads", "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command of the stranger's, and the exit status that it has to end with."""

    says: str
    command: tuple[str, ...]
    due: int = EXIT_SOUND


@dataclass(slots=True, kw_only=True)
class Stranger:
    """Somebody with the ledger's address and nothing else; `told` hears what is found."""

    url: str
    folder: Path
    told: Callable[[str], None]
    _heard: set[str] = field(default_factory=set)
    """What the first check said, which is not told again."""

    async def check_log(self) -> int:
        """Check all of it by the log; gives 0, or the first exit status that is not due."""
        for one in _by_log(self.url, str(self.folder / BUNDLE)):
            if status := await self._made(one):
                return status
        return 0

    async def check_models(self, models: tuple[str, ...]) -> int:
        """Check the bundle with models that are named as options; gives 0, or the exit status."""
        command = (str(self.folder / BUNDLE), *_RESCORE, *models)
        return await self._made(
            Check(says="The same check again, with these models:", command=command)
        )

    async def _made(self, one: Check) -> int:
        """Run a check, and tell what is new; gives 0 if it ends as it has to."""
        self.told(one.says)
        typed = " ".join(("tequio verify-competition", *one.command))
        self.told("  " + typed.replace(f"{self.folder}/", ""))
        program = Program("verify", tequio("verify-competition", *one.command), self.folder)
        status = await program.run()
        said = program.output.decode(errors="replace").strip() or program.last_words()
        fresh = [line for line in said.splitlines() if line not in self._heard]
        self._heard = self._heard or set(fresh)
        self.told("\n".join(fresh))
        if status == one.due:
            self.told(f"Exit status {status}, as expected.")
            return 0
        self.told(f"Exit status {status}, but {one.due} was expected: see {self.folder / 'logs'}")
        return status or 1


def _by_log(url: str, bundle: str) -> tuple[Check, ...]:
    return (
        Check(
            says="Everything is checked from the log alone, and stored in one file:",
            command=(url, "--bundle", bundle),
        ),
        Check(
            says="The same, and one random document of each model is scored again:",
            command=(url, *_RESCORE),
        ),
        Check(
            says="Without a network, weights are unavailable, so nothing can be scored again:",
            command=(bundle, *_RESCORE),
            due=Grade.MISSING.value,
        ),
    )


LOOK_S = 1.0
_LATE_S = 30.0  # before the deadline: who has not finished by then submits what there is
_WAIT_S = 600.0


@dataclass(slots=True, kw_only=True)
class Contest:
    """The stage; `told` hears the story line by line."""

    script: ContestScript
    told: Callable[[str], None]
    url: str = ""
    volunteers: list[Program] = field(default_factory=list)
    reader: LedgerReader | None = None
    status: int = 1
    """0 once the stranger's checks ended as they have to."""

    @property
    def folder(self) -> Path:
        """Where everything lies."""
        return self.script.folder

    async def did(self, name: str, *arguments: str) -> str:
        """Run a tequio program to its end; gives what it said. Raises UserFacingError."""
        return (await Program(name, tequio(*arguments), self.folder).must_run()).strip()

    def at(self, name: str) -> tuple[str, ...]:
        """Options of a program that speaks to the ledger from the folder of that name."""
        return "--ledger", self.url, "--dir", str(self.folder / name)

    async def view(self) -> CompetitionView:
        """The competition as the log has it now."""
        if self.reader is None:
            self.reader = LedgerReader(self.url)
        return await trio.to_thread.run_sync(self.reader.wait_for, None)

    async def until(self, is_so: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait until the log says so; raises UserFacingError when it never does."""
        with trio.move_on_after(_WAIT_S * max(self.script.pace, 1.0)):
            while True:
                view = await self.view()
                if is_so(view):
                    return view
                await trio.sleep(LOOK_S)
        raise UserFacingError(
            f"the competition stopped making progress; see the logs in {self.folder}"
        )


async def play(contest: Contest, *, keep_running: bool) -> None:
    """Play it all, to the stranger's checks; or go on until cancelled.

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
            options = ("--follow", "--device", "cpu", "--threads", "1", *contest.at(name))
            program = Program(name, tequio("competition", "evaluate", *options), contest.folder)
            nursery.start_soon(program.must_run)
        await _train(contest)
        await _reveal(contest)
        await _decide(contest)
        await _verify(contest)
        if keep_running:
            contest.told(f"The ledger runs until Ctrl-C: {contest.url}/competitions")
            await trio.sleep_forever()
        nursery.cancel_scope.cancel()


async def _found(contest: Contest, nursery: trio.Nursery) -> None:
    folder = contest.folder
    contest.told(
        "Texts: sources of Python's library, most of them for training, short ones to be sealed."
    )
    await trio.to_thread.run_sync(contest.script.write)
    texts = str(folder / "texts" / "train")
    build = (str(folder / "data"), "--folder", texts, "--sequence", "128")
    await contest.did("data", "data", "build", *build)
    organisers = [
        await contest.did("key", "run", "key", "--dir", str(folder / _organiser(swarm.name)))
        for swarm in SWARMS
    ]
    port = programs.free_port()
    contest.url = f"http://127.0.0.1:{port}"
    command = programs.ledger_command(folder / "ledger", port, " ".join(organisers))
    nursery.start_soon(Program("ledger", command, folder).must_run)
    await programs.wait_healthy(contest.url)
    contest.told(f"A ledger of {len(organisers)} organisers runs at {contest.url}")


async def _open_runs(contest: Contest) -> None:
    for swarm in SWARMS:
        plan = str(contest.folder / f"{swarm.name}.toml")
        seed = ("--seed-dir", str(contest.folder / "seed"))
        await contest.did(
            "run-open", "run", "open", plan, *contest.at(_organiser(swarm.name)), *seed
        )
        contest.told(
            f"Swarm {swarm.name}: {swarm.optimiser} at {swarm.lr}, outer step {swarm.outer_lr}; "
            f"{contest.script.tokens:,} tokens in {contest.script.rounds} rounds"
        )


def _start_swarms(contest: Contest, nursery: trio.Nursery) -> None:
    listen = ("--listen", "/ip4/127.0.0.1/tcp/0", "--status")
    seed = tequio("seed", *contest.at("seed"), *listen, "--heads-every", "1")
    nursery.start_soon(Program("seed", seed, contest.folder).must_run)
    for swarm in SWARMS:
        for number in range(1, VOLUNTEERS + 1):
            name = f"{swarm.name}-{number}"
            options = (*contest.at(name), *listen, "--run", swarm.name, "--device", "cpu")
            program = Program(name, tequio("worker", *options), contest.folder)
            contest.volunteers.append(program)
            nursery.start_soon(program.must_run)
    contest.told(f"A seed serves both runs; {VOLUNTEERS} volunteers of each start to train.")


async def _seal(contest: Contest) -> None:
    """Seal the texts, and write the plan with the custodians' keys."""
    folder = contest.folder
    await contest.did(
        "seal", "competition", "seal", str(folder / "texts" / "sealed"),
        "--to", str(folder / "sealed"),
        "--custodians", str(CUSTODIANS), "--needed", str(NEEDED),
    )  # fmt: skip
    keys = [
        await contest.did("key", "competition", "key", "--dir", str(folder / _custodian(number)))
        for number in range(1, CUSTODIANS + 1)
    ]
    (folder / "competition.toml").write_text(contest.script.competition_plan(tuple(keys)))
    contest.told(f"The texts are sealed; {NEEDED} of {CUSTODIANS} custodians can decrypt them.")


async def _open_competition(contest: Contest) -> None:
    folder, first, second = contest.folder, *(_organiser(swarm.name) for swarm in SWARMS)
    sealed, rules = ("--sealed", str(folder / "sealed")), str(folder / "rules.json")
    plan = str(folder / "competition.toml")
    await contest.did("rules", "competition", "rules", plan, *sealed, "--to", rules)
    both = (*contest.at(first), "--with", str(folder / second))
    await contest.did("open", "competition", "open", rules, *sealed, *both)
    await _each_swarm(contest, "enter")
    view = await contest.view()
    contest.told(f"The competition {view.rules.name} is open: {_page(contest, view)}")


async def _each_swarm(contest: Contest, what: str) -> None:
    """Have both organisers do the same for their runs, at the same time."""
    async with trio.open_nursery() as nursery:
        for swarm in SWARMS:
            options = ("--run", swarm.name, *contest.at(_organiser(swarm.name)))
            command = (f"{what}-{swarm.name}", "competition", what, swarm.name, *options)
            nursery.start_soon(_tell_first, contest, command)


async def _tell_first(contest: Contest, command: tuple[str, ...]) -> None:
    said = await contest.did(*command)
    contest.told(said.partition(";")[0] + ".")


async def _train(contest: Contest) -> None:
    """Let the swarms train until both are done or the deadline is near; then submit."""
    contest.told(f"{EVALUATORS} volunteers who train in neither run offer to evaluate.")
    script, done = contest.script, dict.fromkeys((swarm.name for swarm in SWARMS), 0)
    view = await contest.view()
    left_s = (view.rules.dates.deadline - now_ms()) / 1_000
    with trio.move_on_after(max(left_s - _LATE_S * script.pace, 1.0)):
        while min(done.values()) < script.rounds or len(view.offers) < EVALUATORS:
            view = await contest.view()
            _tell_rounds(contest, done)
            await trio.sleep(LOOK_S)
    await _each_swarm(contest, "submit")
    for program in contest.volunteers:
        await program.end()


def _tell_rounds(contest: Contest, done: dict[str, int]) -> None:
    if contest.reader is None:
        return
    for name, before in done.items():
        found = max(contest.reader.run(name).view.heads, default=0)
        if found > before:
            done[name] = found
            contest.told(f"  {name}: head of round {found} of {contest.script.rounds} certified")


async def _reveal(contest: Contest) -> None:
    contest.told("Waiting for the deadline.")
    await contest.until(lambda view: view.phase is not Phase.OPEN)
    contest.told("The deadline has passed; evaluators reveal the secrets that they committed to.")
    await contest.until(lambda view: view.phase not in (Phase.OPEN, Phase.CLOSED))
    for number in range(1, NEEDED + 1):
        share = contest.folder / "sealed" / f"share-{number}-of-{CUSTODIANS}.txt"
        options = ("--share", str(share), *contest.at(_custodian(number)))
        await contest.did("reveal", "competition", "reveal", *options)
    view = await contest.until(lambda view: view.draw is not None)
    if view.draw is not None:
        contest.told(
            f"{NEEDED} custodians showed their shares: {len(view.draw.documents)} texts and "
            f"{len(view.draw.evaluators)} evaluators are drawn."
        )


async def _decide(contest: Contest) -> None:
    due = len(SWARMS) * EVALUATORS
    view = await contest.until(lambda view: len(view.commits) == due or _is_over(view))
    contest.told(f"{len(view.commits)} of {due} scores are committed to, before any is revealed.")
    view = await contest.until(lambda view: len(view.results) == due or _is_over(view))
    contest.told(f"{len(view.results)} of {due} scores are in the log, and can be challenged now.")
    await contest.until(_is_over)
    first, second = (_organiser(swarm.name) for swarm in SWARMS)
    both = (*contest.at(first), "--with", str(contest.folder / second))
    contest.told("The organisers compute the result from the log, and sign it together:")
    contest.told(await contest.did("result", "competition", "result", "--yes", *both))
    view = await contest.until(lambda view: view.phase is Phase.DECIDED)
    contest.told(f"Decided: {_page(contest, view)}")


async def _verify(contest: Contest) -> None:
    stranger = Stranger(url=contest.url, folder=contest.folder, told=contest.told)
    contest.status = await stranger.check_log()
    if not contest.status:
        contest.status = await stranger.check_models(await _exported(contest))


async def _exported(contest: Contest) -> tuple[str, ...]:
    """Export what was submitted; gives the options that name it."""
    contest.told("The submitted models are exported while a seed serves them.")
    view, options, models = await contest.view(), list[str](), contest.folder / "models"
    models.mkdir()
    for swarm in SWARMS:
        submission = view.entrants[swarm.name].submission
        if submission is not None:
            to = str(models / swarm.name)
            wish = ("--run", swarm.name, "--round", str(submission.round), "--to", to)
            at = ("--ledger", contest.url)
            await contest.did("export", "checkpoint", "export", *wish, *at)
            options += ["--model", f"{swarm.name}={to}"]
    return tuple(options)


def _is_over(view: CompetitionView) -> bool:
    """True once scores can no longer be challenged."""
    return now_ms() >= view.rules.dates.result


def _page(contest: Contest, view: CompetitionView) -> str:
    return f"{contest.url}/competitions/{to_text(view.id)}"


def _organiser(swarm: str) -> str:
    return f"organiser-{swarm}"


def _custodian(number: int) -> str:
    return f"custodian-{number}"


def perform(script: ContestScript, *, keep_running: bool) -> int:
    """Play the competition; gives the exit status. Raises UserFacingError."""
    began = time.monotonic()

    def told(text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        first, *more = text.splitlines() or [""]
        click.echo(f"{minutes:02}:{seconds:02}  {first}")
        for line in more:
            click.echo(f"       {line}")

    return trio.run(partial(_perform, Contest(script=script, told=told), keep_running))


async def _perform(contest: Contest, keep_running: bool) -> int:  # noqa: FBT001 - trio passes by place
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_at_signal, nursery.cancel_scope)
        await play(contest, keep_running=keep_running)
        nursery.cancel_scope.cancel()
    return contest.status
