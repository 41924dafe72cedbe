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
    """Check all of it; gives 0, or the first exit status that is not what it has to be.

    What the first check says is not told again.
    """
    bundle, heard = str(contest.folder / BUNDLE), set[str]()
    for one in _checks(contest.url, bundle, await _exported(contest)):
        contest.told(one.says)
        typed = " ".join(("tequio verify-competition", *one.command))
        contest.told("  " + typed.replace(f"{contest.folder}/", ""))
        program = Program("verify", tequio("verify-competition", *one.command), contest.folder)
        status = await program.run()
        said = program.output.decode(errors="replace").strip() or program.last_words()
        fresh = [line for line in said.splitlines() if line not in heard]
        heard = heard or set(fresh)
        contest.told("\n".join(fresh))
        contest.told(f"Exit status {status}" + (", as it has to be." if status == one.due else "."))
        if status != one.due:
            contest.told(f"It has to be {one.due}: the competition's logs are in {contest.folder}")
            return status or 1
    return 0


def _checks(url: str, bundle: str, models: tuple[str, ...]) -> tuple[Check, ...]:
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
        Check(
            says="The same again with the models, which somebody had exported before:",
            command=(bundle, *_RESCORE, *models),
        ),
    )


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
