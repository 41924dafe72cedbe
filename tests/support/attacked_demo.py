"""The demo with volunteers whose trainers cheat; everything else is the demo's own.

Every program is real, and so are the cheats': `hostile_worker` is the `tequio` command with another
trainer program. The plan lets the others go on without them, as a run open to strangers would.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

from tequio_client.demo import main, play
from tequio_client.demo.programs import DemoProgram
from tequio_client.demo.script import DemoScript
from tequio_client.keys import identity
from tequio_client.platform.programs import tequio
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import from_text, key_from_text, peer_id_text
from tequio_shared.statements.network import StandingChange
from tequio_shared.statements.runs import RoundClose, WorkCommit
from tequio_shared.statements.statement import Entry
from tests.support import hostile_worker
from tests.support.real_network import start_with_trainers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tequio_shared.ids import PeerKey

CHEAT = "volunteer-4"


@dataclass(frozen=True, slots=True, kw_only=True)
class FewerMembersScript(DemoScript):
    """The demo's script, for a run that goes on when some of its members are quarantined."""

    least: int = 3
    """Members with whom a round begins."""
    most_windows: int = 100_000
    """Largest share of a member."""

    def plan(self) -> str:
        """The organiser's TOML."""
        first = f"first = {self.first_windows}"
        plan = DemoScript.plan(self).replace(first, f"{first}\nmost = {self.most_windows}")
        return plan.replace(f"min_members = {self.peers}", f"min_members = {self.least}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedDemo:
    """A finished demo: its outcome, its log, and the attack of each cheat."""

    outcome: dict[str, Any]
    entries: list[Entry]
    cheats: dict[PeerKey, str]
    keys: dict[str, PeerKey]
    """Of all volunteers, by name."""

    def changes(self, *, of_cheats: bool) -> list[StandingChange]:
        """Changes of standing of the cheats, or of all other members."""
        bodies = (entry.statement.body for entry in self.entries)
        said = [body for body in bodies if isinstance(body, StandingChange)]
        return [body for body in said if (key_from_text(body.peer) in self.cheats) is of_cheats]

    def points(self, key: PeerKey) -> int:
        """GFLOP that the ledger names for the key at the end."""
        mine = peer_id_text(key)
        return sum(one["gflop"] for one in self.outcome["peers"] if one["peer_id"] == mine)

    def committed(self, key: PeerKey) -> list[int]:
        """Rounds in which the key committed."""
        said = (entry.statement for entry in self.entries if entry.statement.author == key)
        return [one.round or 0 for one in said if isinstance(one.body, WorkCommit)]

    def committed_tokens(self, key: PeerKey) -> int:
        """Tokens of all that the key committed to."""
        said = (entry.statement for entry in self.entries if entry.statement.author == key)
        headers = (one.body.header for one in said if isinstance(one.body, WorkCommit))
        return sum(ContributionHeader.parse(from_text(text, None)).tokens for text in headers)

    def convicted_in(self, key: PeerKey) -> int | None:
        """Last round that was closed before the key was quarantined; None: never."""
        number = 0
        for entry in self.entries:
            statement = entry.statement
            if isinstance(statement.body, RoundClose):
                number = statement.round or 0
            elif isinstance(statement.body, StandingChange):
                change = statement.body
                if key_from_text(change.peer) == key and change.to == "quarantined":
                    return number
        return None


def run_attacked_demo(script: DemoScript, attacks: Mapping[str, str]) -> FinishedDemo:
    """Run the demo; the volunteers that are named use these attacks, the others are honest."""

    def command(*words: str) -> Sequence[str]:
        if words[0] == "worker":
            name = next(word.rpartition("/")[2] for word in words if "/volunteer-" in word)
            if name in attacks:
                return hostile_worker.command(attacks[name], *words)
        return tequio(*words)

    started = partial(DemoProgram, start=start_with_trainers)
    with (
        mock.patch.object(play, "tequio", command),
        mock.patch.object(play, "DemoProgram", started),
    ):
        outcome = main.run_demo(script)
    names = [f"volunteer-{number}" for number in range(1, script.peers + 1)]
    keys = {name: identity.load_or_create(script.folder / name).key for name in names}
    return FinishedDemo(
        outcome=outcome,
        entries=_entries(script.folder / "ledger" / "ledger.sqlite"),
        cheats={keys[name]: attack for name, attack in attacks.items()},
        keys=keys,
    )


def _entries(database: Path) -> list[Entry]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        leaves = connection.execute("SELECT leaf FROM log_entry ORDER BY idx").fetchall()
    return [Entry.parse(leaf) for (leaf,) in leaves]
