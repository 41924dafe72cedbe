"""What a stranger does about a competition that was played: check it, on the log and offline.

Models are scored again while the seeds serve them, then from a bundle, which holds none: without
them a stranger cannot tell, and is told so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.audit.findings import EXIT_SOUND, Grade
from tequio_client.demo.contest_script import SWARMS
from tequio_client.demo.programs import Program, tequio

if TYPE_CHECKING:
    from tequio_client.demo.contest import Contest

BUNDLE = "competition.tar"
"""What the stranger keeps, in the demo's folder."""
_RESCORE = ("--rescore", "1", "--device", "cpu", "--threads", "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command of the stranger's, and the exit status that it has to end with."""

    says: str
    command: tuple[str, ...]
    due: int = EXIT_SOUND


async def check(contest: Contest) -> int:
    """Check all of it; gives 0, or the first exit status that is not what it has to be."""
    bundle, heard = str(contest.folder / BUNDLE), set[str]()
    for one in _checks(contest.url, bundle):
        if status := await _made(contest, one, heard):
            return status
    contest.told("Somebody exports the models that were submitted, while a seed serves them.")
    again = Check(
        says="The same again with these models:",
        command=(bundle, *_RESCORE, *await _exported(contest)),
    )
    return await _made(contest, again, heard)


def _checks(url: str, bundle: str) -> tuple[Check, ...]:
    return (
        Check(
            says="A stranger checks all of it, from the log alone, and keeps what was read:",
            command=(url, "--bundle", bundle),
        ),
        Check(
            says="The same, and a document of each model, drawn by chance, is scored again:",
            command=(url, *_RESCORE),
        ),
        Check(
            says="Without a network there are no weights, so nothing can be scored again:",
            command=(bundle, *_RESCORE),
            due=Grade.MISSING.value,
        ),
    )


async def _made(contest: Contest, one: Check, heard: set[str]) -> int:
    """Run a check, and tell what nobody heard from the first; gives 0 if it ends as it has to."""
    contest.told(one.says)
    typed = " ".join(("tequio verify-competition", *one.command))
    contest.told("  " + typed.replace(f"{contest.folder}/", ""))
    program = Program("verify", tequio("verify-competition", *one.command), contest.folder)
    status = await program.run()
    said = program.output.decode(errors="replace").strip() or program.last_words()
    fresh = [line for line in said.splitlines() if line not in heard]
    if not heard:
        heard.update(fresh)
    contest.told("\n".join(fresh))
    if status == one.due:
        contest.told(f"Exit status {status}, as it has to be.")
        return 0
    contest.told(f"Exit status {status}, and {one.due} is due: see {contest.folder / 'logs'}")
    return status or 1


async def _exported(contest: Contest) -> tuple[str, ...]:
    """Export what was submitted; gives the options that name it."""
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
