"""A served ledger with days of history: the real program over the data of `sample_ledger`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.ids import to_text
from tests.support.ledgers import make_settings, served
from tests.support.sample_ledger import ROUNDS_A_DAY, fill, fill_audited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.ids import NetworkId

REFUSED = ROUNDS_A_DAY + 4
"""The round in which a contribution was rejected."""
VOID = 2 * ROUNDS_A_DAY + 1
_AGO_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The site's address, its run and its peers."""

    url: str
    net: NetworkId
    run: str
    peers: tuple[str, ...]
    """The fourth peer did careless work once, the sixth one lied."""
    team: int
    liar_since: int

    def paths(self) -> dict[str, str]:
        """One path of each kind of page."""
        run = f"/runs/{self.run}"
        return {
            "home": "/",
            "join": "/join",
            "map": "/map",
            "runs": "/runs",
            "run": run,
            "run-map": f"{run}/map",
            "rounds": f"{run}/rounds",
            "round": f"{run}/rounds/{REFUSED}",
            "round-void": f"{run}/rounds/{VOID}",
            "peer": f"/peers/{self.peers[3]}",
            "peer-quarantined": f"/peers/{self.peers[5]}",
            "leaderboard": "/leaderboard?span=7d",
            "leaderboard-teams": "/leaderboard?by=teams",
            "team": f"/teams/{self.team}",
            "quarantine": "/quarantine",
            "log": "/entries",
            "entry": f"/entries/{self.liar_since}",
            "search": f"/search?q={self.run}",
            "status": "/status",
            "about": "/about",
            "api": "/api",
            "missing": "/nothing-here",
            "missing-run": "/runs/nova",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSite:
    """The address of a ledger whose run is audited."""

    url: str
    run: str
    peer: str
    withheld: int
    """A round with work that its trainer did not open."""

    def paths(self) -> dict[str, str]:
        """Pages that show audits."""
        run = f"/runs/{self.run}"
        return {
            "audited-round": f"{run}/rounds/{self.withheld}",
            "audited-peer": f"/peers/{self.peer}",
            "audited-run": run,
        }


@contextmanager
def served_audits(folder: Path) -> Iterator[AuditedSite]:
    """Fill a ledger whose run is audited, and serve it."""
    shown = fill_audited(make_settings(folder), time.time_ns() // 1_000_000 - _AGO_MS)
    with served(folder) as running:
        run, peer = to_text(shown.rules.run_id), to_text(shown.peers[1].key)
        yield AuditedSite(url=running.url, run=run, peer=peer, withheld=shown.withheld)


@contextmanager
def served_site(folder: Path) -> Iterator[Site]:
    """Fill a ledger up to now and serve it."""
    shown = fill(make_settings(folder), time.time_ns() // 1_000_000 - _AGO_MS)
    with served(folder) as running:
        yield Site(
            url=running.url,
            net=running.net,
            run=to_text(shown.rules.run_id),
            peers=tuple(to_text(peer.key) for peer in shown.peers),
            team=next(iter(shown.ledger.state.teams.records)),
            liar_since=shown.ledger.state.standings.records[shown.peers[5].key].since,
        )
