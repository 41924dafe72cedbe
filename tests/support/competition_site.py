"""A served ledger with competitions: the real program over the data of `sample_competitions`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.ids import to_text
from tests.support.ledgers import make_settings, served
from tests.support.sample_competitions import fill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class CompetitionSite:
    """The site's address, and its competitions by phase."""

    url: str
    names: dict[str, str]
    run: str

    def paths(self) -> dict[str, str]:
        """Paths of the list, of one competition in each phase, and of an entrant's run."""
        pages = {f"competition-{at}": f"/competitions/{name}" for at, name in self.names.items()}
        return {
            "competitions": "/competitions",
            **pages,
            "run-in-competitions": self.run,
            "home-with-competitions": "/",
        }


@contextmanager
def served_competitions(folder: Path) -> Iterator[CompetitionSite]:
    """Fill a ledger up to now and serve it."""
    shown = fill(make_settings(folder), time.time_ns() // 1_000_000)
    with served(folder) as running:
        names = {phase: to_text(paper.id) for phase, paper in shown.papers.items()}
        run = to_text(shown.swarms[0].rules.run_id)
        yield CompetitionSite(running.url, names, f"/runs/{run}")
