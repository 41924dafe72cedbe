"""The demo with one volunteer whose trainer cheats; everything else is the demo's own.

Every program is real, and so is the cheat's: `hostile_worker` is the `tequio` command with another
trainer program. The plan lets three go on without the fourth, as a run open to strangers would.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from tequio_client.demo import main, play, programs
from tequio_client.demo.script import DemoScript
from tequio_client.keys import identity
from tequio_shared.ids import key_from_text
from tequio_shared.statements.network import StandingChange
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry
from tests.support import hostile_worker

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import PeerKey

CHEAT = "volunteer-4"


@dataclass(frozen=True, slots=True)
class ThreeMemberScript(DemoScript):
    """The demo's script, for a run that goes on when one of four is quarantined."""

    def plan(self) -> str:
        """The organiser's TOML."""
        return DemoScript.plan(self).replace(f"min_members = {self.peers}", "min_members = 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedDemo:
    """A finished demo: its outcome, and its log."""

    outcome: dict[str, Any]
    entries: list[Entry]
    cheat: PeerKey

    def changes(self, *, of_cheat: bool) -> list[StandingChange]:
        """Changes of standing of the cheat, or of all other members."""
        bodies = (entry.statement.body for entry in self.entries)
        said = [body for body in bodies if isinstance(body, StandingChange)]
        return [body for body in said if (key_from_text(body.peer) == self.cheat) is of_cheat]

    @property
    def cheats(self) -> list[int]:
        """The rounds in which the cheat committed."""
        said = (entry.statement for entry in self.entries if entry.statement.author == self.cheat)
        return [one.round or 0 for one in said if isinstance(one.body, WorkCommit)]


def run_attacked_demo(script: DemoScript, attack: str | None) -> FinishedDemo:
    """Run the demo; the fourth volunteer uses that attack, or is honest like the others."""

    def command(*words: str) -> list[str]:
        is_cheat = words[0] == "worker" and any(word.endswith(CHEAT) for word in words)
        if attack and is_cheat:
            return hostile_worker.command(attack, *words)
        return programs.tequio(*words)

    with mock.patch.object(play, "tequio", command):
        outcome = main.run_demo(script)
    return FinishedDemo(
        outcome=outcome,
        entries=_entries(script.folder / "ledger" / "ledger.sqlite"),
        cheat=identity.load_or_create(script.folder / CHEAT).key,
    )


def _entries(database: Path) -> list[Entry]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        leaves = connection.execute("SELECT leaf FROM log_entry ORDER BY idx").fetchall()
    return [Entry.parse(leaf) for (leaf,) in leaves]
