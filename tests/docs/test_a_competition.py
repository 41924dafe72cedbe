"""A competition, opened, entered, evaluated and verified by the commands of the pages.

Every command runs in a process of its own; each person has a home of its own. The network, with its
run, is a demo's. Models from elsewhere are on a Hub in this process.
"""

from __future__ import annotations

import re
import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.verify.reader import LedgerReader
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import to_text
from tests.client.competition.models import files_of
from tests.docs.followers import PageFollower, all_commands, programs_on_path
from tests.docs.not_run import why_not_run
from tests.support.desktop_tour import network, rounds_of, wait_until
from tests.support.first_visit import tequio
from tests.support.hub import FakeHub, Repository, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_shared.competition.state import CompetitionView

ENTRANT, COMPETITIONS, VERIFYING = "start/entrant", "competitions", "verifying-competitions"
CUSTODIANS, EVALUATORS, DOCUMENTS = 3, 3, 6
CONTEXT = 2_048
"""Of the model on the Hub: the window of the entrant's page."""
DATES = {"opens": "0s", "deadline": "45s", "draw": "8s", "scored": "45s", "result": "20s"}
LONGEST_S = 120.0
NOT_OVER = 3
"""Exit status of a verification before there is a result."""


@dataclass(slots=True, kw_only=True)
class Contest:
    """The network, and everybody who types commands."""

    url: str
    folder: Path
    path: str
    hub: FakeHub
    has_run: set[str] = field(default_factory=set)
    people: list[PageFollower] = field(default_factory=list)
    reader: LedgerReader | None = None

    def person(self, name: str) -> PageFollower:
        """Somebody new, who knows the network's address."""
        values = {
            "https://ledger.example": self.url,
            "URL": self.url,
            "maize": "demo",
            "ORGANISER": str(self.folder / "network" / "organiser"),
            "--dir organiser": f"--dir {self.folder / 'network' / 'organiser'}",
            "--with ANOTHER": "",
            "--dir MY_KEY": "",
            "NAME": "'Winter 2026'",
        }
        made = PageFollower.make(
            self.folder / name,
            self.path,
            values,
            self.has_run,
            TEQUIO_LEDGER=self.url,
            HF_ENDPOINT=self.hub.url,
            HF_HUB_DISABLE_XET="1",
        )
        self.people.append(made)
        return made

    def pause_volunteers(self) -> None:
        """Let the volunteers rest once the run has a head that work has gone into."""
        for home in sorted((self.folder / "network").glob("volunteer-*")):
            wait_until(f"{home.name} works", lambda home=home: bool(rounds_of(home, "verified")), LONGEST_S)
            tequio("pause", "--dir", str(home))

    def view(self) -> CompetitionView:
        if self.reader is None:
            self.reader = LedgerReader(self.url)
        return self.reader.wait_for(None)

    def wait(self, what: str, holds: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait for a state of the log."""
        wait_until(what, lambda: holds(self.view()), LONGEST_S)
        return self.view()


@pytest.fixture
def contest(tmp_path: Path) -> Iterator[Contest]:
    with ExitStack() as stack:
        hub = stack.enter_context(running(FakeHub()))
        repository = hub.repositories["user/name"] = Repository()
        repository.commit(files_of(tmp_path / "model", max_position_embeddings=CONTEXT))
        url = stack.enter_context(network(tmp_path))
        made = Contest(url=url, folder=tmp_path, path=programs_on_path(tmp_path / "bin"), hub=hub)
        stack.callback(lambda: [one.stop() for one in made.people])
        yield made


def write_texts(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        lines = "".join(f"    x = {number} + {at}\n" for at in range(12))
        (folder / f"{number}.txt").write_text(f"def f_{number}():\n{lines}")


def fill_in(plan: Path, keys: list[str]) -> None:
    """Edit the commented plan as its comments say."""
    text = plan.read_text("utf-8")
    for number, key in enumerate(keys, 1):
        text = text.replace(f"key of the custodian of share {number}", key)
    for name, length in DATES.items():
        text = re.sub(rf'^{name} = "\w+"', f'{name} = "{length}"', text, flags=re.MULTILINE)
    text = re.sub(r"^window = \d+", "window = 128", text, flags=re.MULTILINE)
    text = re.sub(r"^stride = \d+", "stride = 64", text, flags=re.MULTILINE)
    plan.write_text(text, "utf-8")


@pytest.mark.slow
def test_a_competition_goes_as_its_pages_say(contest: Contest) -> None:
    t0 = time.monotonic()
    def print(*a):
        import builtins; builtins.print(f"{time.monotonic()-t0:.1f}", *a, flush=True)
    contest.pause_volunteers()
    print("paused")
    organiser, entrant = contest.person("of-organisers"), contest.person("entrant")
    custodians = [contest.person(f"custodian-{number}") for number in range(1, CUSTODIANS + 1)]
    evaluators = [contest.person(f"evaluator-{number}") for number in range(1, EVALUATORS + 1)]

    write_texts(organiser.folder / "texts")
    organiser.run(COMPETITIONS, "tequio competition seal texts/ --to set")
    keys = [one.run(COMPETITIONS, "tequio competition key").strip() for one in custodians]
    organiser.run(COMPETITIONS, "tequio competition rules --example")
    fill_in(organiser.folder / "plan.toml", keys)
    organiser.run(COMPETITIONS, "tequio competition rules plan.toml")
    organiser.run(COMPETITIONS, "tequio competition open")
    print("opened")

    waiting = [evaluators[1].start(COMPETITIONS, "tequio competition evaluate --follow")]
    waiting += [evaluators[2].start(COMPETITIONS, "tequio competition evaluate --follow")]
    evaluators[0].run(COMPETITIONS, "tequio competition offer")
    entrant.run(ENTRANT, "tequio network add")
    assert "Winter 2026" in entrant.run(ENTRANT, "tequio competition list")
    entrant.run(ENTRANT, "tequio competition enter my-model")
    entrant.run(ENTRANT, "tequio competition submit my-model")
    organiser.run(ENTRANT, "tequio competition enter maize")
    organiser.run(ENTRANT, "tequio competition submit maize")
    print("submitted", len(contest.view().offers))
    view = contest.wait("everybody offers", lambda view: len(view.offers) == EVALUATORS)
    assert view.phase is CompetitionPhase.OPEN
    print("offered")
    contest.wait("the deadline passes", lambda view: view.phase is not CompetitionPhase.OPEN)
    print("deadline")
    waiting += [evaluators[0].start(COMPETITIONS, "tequio competition evaluate")]
    contest.wait("lots are drawn", lambda view: view.phase is CompetitionPhase.DRAWN)
    print("drawn")
    for number, one in enumerate(custodians[:2], 1):
        share = organiser.folder / "set" / f"share-{number}-of-{CUSTODIANS}.txt"
        shutil.copy(share, one.folder / "share-1-of-3.txt")
        one.run(COMPETITIONS, "tequio competition reveal")
    print("revealed")
    view = contest.wait("scores are shown", lambda view: len(view.results) == 2 * EVALUATORS)
    print("scored")
    entrant.run(ENTRANT, "tequio competition show")
    key, number = to_text(next(iter(view.results))[1]), view.draw.documents[0]
    doubt = {"KEY": key, "17": str(number)}
    said = entrant.run(ENTRANT, "tequio competition challenge", status=1, **doubt)
    print("challenged", said)
    result = view.rules.dates.result
    wait_until("the result is due", lambda: time.time_ns() // 1_000_000 > result, LONGEST_S)
    print("due")
    organiser.run(COMPETITIONS, "tequio competition result")
    print("result")
    for w in waiting: print(w.poll())
    stranger = contest.person("stranger")
    for b in ("tequio verify-competition https://ledger.example", "tequio verify-competition https://ledger.example --competition", "tequio verify-competition https://ledger.example --rescore", "tequio verify-competition https://ledger.example --bundle", "tequio verify-competition winter.tar"):
        stranger.run(VERIFYING, b)
        print(b)

