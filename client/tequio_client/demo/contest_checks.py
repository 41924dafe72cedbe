"""What a stranger does about a competition that was played: check it, on the log and offline.

Models are scored again while a seed serves them, then from a bundle, which holds none: without
them a stranger cannot tell, and is told so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_client.demo.programs import Program, tequio
from tequio_client.verify.report import EXIT_SOUND, Grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
        return await self._made(Check(says="The same again with these models:", command=command))

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
            self.told(f"Exit status {status}, as it has to be.")
            return 0
        self.told(f"Exit status {status}, and {one.due} is due: see {self.folder / 'logs'}")
        return status or 1


def _by_log(url: str, bundle: str) -> tuple[Check, ...]:
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
