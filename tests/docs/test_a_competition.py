"""A competition, opened, entered, evaluated and verified by the commands of the pages.

Every command runs in a process of its own; each person has a home of its own. The network, with its
run, is a demo's. Models from elsewhere are on a Hub in this process.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_client.verify.reader import LedgerReader
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import to_text
from tests.client.competition.models import files_of
from tests.docs.followers import PageFollower, commands_like, programs_on_path
from tests.support.desktop_tour import network, rounds_of, wait_until
from tests.support.first_visit import tequio
from tests.support.hub import FakeHub, Repository, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tequio_shared.competition.state import CompetitionView

ENTRANT, COMPETITIONS, VERIFYING = "start/entrant", "competitions", "verifying-competitions"
CUSTODIANS, EVALUATORS, DOCUMENTS = 3, 3, 6
CONTEXT = 2_048
"""Of the model on the Hub: the window of the entrant's page."""
DATES = {"opens": "0s", "deadline": "45s", "draw": "8s", "scored": "60s", "result": "20s"}
LONGEST_S = 120.0
ORGANISERS_FOLDER = "data-home/tequio/organiser"
"""Where the organiser's page makes the key."""
REFUSED = 1
"""Exit status of a command that a user's error ends."""
QUESTION = '{"context": "Two and two are", "choices": ["three", "four"], "right": 1}'
FOLLOWED: Mapping[str, tuple[str, ...]] = {
    "competitions": ("tequio ",),
    "scoring": (r"tequio score \./", "tequio data tasks tasks maize"),
    "entrant": (
        *("tequio network add", "tequio competition list", "tequio competition show"),
        *("tequio competition enter", "tequio competition submit", "tequio score"),
        *("tequio competition challenge", "tequio verify-competition"),
    ),
    "verifying-competitions": (
        "tequio verify-competition winter.tar",
        "tequio verify-competition https://ledger.example(?!.*--trust)",
    ),
    "operating": ("tequio competition seal texts/",),
}
"""Patterns of the commands that are run, by page."""


@dataclass(slots=True, kw_only=True)
class Contest:
    """The network, and everybody who types commands."""

    url: str
    folder: Path
    path: str
    hub: FakeHub
    model: Mapping[str, bytes]
    """The files of the model on the Hub, by name."""
    has_run: set[str] = field(default_factory=set)
    people: list[PageFollower] = field(default_factory=list)
    reader: LedgerReader | None = None

    def person(self, name: str) -> PageFollower:
        """Somebody new, who knows the network's address."""
        values = {
            "https://ledger.example": self.url,
            "URL": self.url,
            "maize": "demo",
            "--dir ORGANISER": "",
            "--with ANOTHER": "",
            "--dir MY_KEY": "",
            "NAME": '"Winter 2026"',
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
        # Certified by the volunteers themselves, as their next round begins.
        wait_until("a head of their work is certified", self._has_head, LONGEST_S)
        for home in sorted((self.folder / "network").glob("volunteer-*")):
            counts = partial(rounds_of, home, "verified")  # an empty list: not yet
            wait_until(f"work of {home.name} counts", counts, LONGEST_S)
            tequio("pause", "--dir", str(home))

    def _has_head(self) -> bool:
        runs = httpx.get(f"{self.url}/v1/runs").json()["runs"]
        return any((one["head_round"] or 0) > 0 for one in runs)

    def stop(self) -> None:
        """End the programs of everybody."""
        for one in self.people:
            one.stop()

    def left(self) -> list[str]:
        """The commands that should have been run, and were not."""
        return sorted(commands_like(FOLLOWED) - self.has_run)

    def view(self) -> CompetitionView:
        if self.reader is None:
            self.reader = LedgerReader(self.url)
        return self.reader.wait_for(None)

    def wait(self, what: str, holds: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait for a state of the log."""
        wait_until(what, lambda: holds(self.view()), LONGEST_S)
        return self.view()


@pytest.fixture
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contest]:
    # Short: an evaluator's folders below it must not be longer than Windows allows.
    tmp_path = tmp_path_factory.mktemp("c")
    with ExitStack() as stack:
        hub = stack.enter_context(running(FakeHub()))
        model = files_of(tmp_path / "model", max_position_embeddings=CONTEXT)
        repository = hub.repositories["user/name"] = Repository()
        repository.commit(model)
        url = stack.enter_context(network(tmp_path))
        path = programs_on_path(tmp_path / "bin")
        made = Contest(url=url, folder=tmp_path, path=path, hub=hub, model=model)
        stack.callback(made.stop)
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
    contest.pause_volunteers()
    organiser, entrant = contest.person("of-organisers"), contest.person("entrant")
    custodians = [contest.person(f"custodian-{number}") for number in range(1, CUSTODIANS + 1)]
    evaluators = [contest.person(f"evaluator-{number}") for number in range(1, EVALUATORS + 1)]
    key = contest.folder / "network" / "organiser"
    shutil.copytree(key, organiser.folder / ORGANISERS_FOLDER)
    open_competition(organiser, custodians)
    enter(contest, organiser, entrant, evaluators)
    reveal(contest, organiser, custodians)
    doubt(contest, entrant)
    score_texts(contest)
    due_ms = contest.view().rules.dates.result
    wait_until("the result is due", lambda: now_ms() > due_ms, LONGEST_S)
    assert "my-model" in organiser.run(COMPETITIONS, "tequio competition result")
    verify(contest)
    assert contest.left() == []


def open_competition(organiser: PageFollower, custodians: list[PageFollower]) -> None:
    write_texts(organiser.folder / "texts")
    organiser.run(COMPETITIONS, "tequio competition seal texts/ --to set")
    organiser.run("operating", "tequio competition seal texts/", set="another-set")
    keys = [one.run(COMPETITIONS, "tequio competition key").strip() for one in custodians]
    organiser.run(COMPETITIONS, "tequio competition rules --example")
    fill_in(organiser.folder / "plan.toml", keys)
    organiser.run(COMPETITIONS, "tequio competition rules plan.toml")
    organiser.run(COMPETITIONS, "tequio competition open")


def enter(
    contest: Contest,
    organiser: PageFollower,
    entrant: PageFollower,
    evaluators: list[PageFollower],
) -> None:
    """Enter, submit and offer before the deadline; the evaluators' programs go on after it."""
    by_hand, *others = evaluators
    for one in others:
        one.start(COMPETITIONS, "tequio competition evaluate --follow")
    entrant.run(ENTRANT, "tequio network add")
    entrant.run(ENTRANT, "tequio competition enter my-model")
    entrant.run(ENTRANT, "tequio competition submit my-model")
    organiser.run(ENTRANT, "tequio competition enter maize")
    organiser.run(ENTRANT, "tequio competition submit maize")
    by_hand.run(COMPETITIONS, "tequio competition offer")
    for page, command in (
        (ENTRANT, "tequio competition list"),
        (ENTRANT, "tequio competition show"),
        (COMPETITIONS, "tequio competition show"),
    ):
        assert "Winter 2026" in entrant.run(page, command)
    view = contest.wait("everybody offers", lambda view: len(view.offers) == EVALUATORS)
    assert {one.name for one in view.entrants.values() if one.submission} == {"demo", "my-model"}
    contest.wait("the deadline passes", lambda view: view.phase is not CompetitionPhase.OPEN)
    by_hand.start(COMPETITIONS, "tequio competition evaluate")


def reveal(contest: Contest, organiser: PageFollower, custodians: list[PageFollower]) -> None:
    contest.wait("lots are drawn", lambda view: view.phase is CompetitionPhase.DRAWN)
    for number, one in enumerate(custodians[:2], 1):
        share = organiser.folder / "set" / f"share-{number}-of-{CUSTODIANS}.txt"
        shutil.copy(share, one.folder / "share-1-of-3.txt")
        one.run(COMPETITIONS, "tequio competition reveal")
    due = 2 * EVALUATORS
    contest.wait("scores are shown", lambda view: len(view.results) == due)


def doubt(contest: Contest, entrant: PageFollower) -> None:
    """Score a document again, for each entrant: an honest score cannot be challenged."""
    view = contest.view()
    assert view.draw is not None
    values = {"KEY": to_text(view.draw.evaluators[0]), "17": str(view.draw.documents[0])}
    for page, command in (
        (ENTRANT, "tequio competition challenge my-model"),
        (COMPETITIONS, "tequio competition challenge maize"),
    ):
        said = entrant.run(page, command, status=REFUSED, **values)
        assert "there is nothing to challenge" in said


def score_texts(contest: Contest) -> None:
    """Follow the page about scores, with the model of the Hub in folders."""
    reader = contest.person("reader")
    write_texts(reader.folder / "texts")
    shutil.copy(reader.folder / "texts" / "0.txt", reader.folder / "notes.txt")
    lines = [json.dumps({"text": f"A sentence, number {number}."}) for number in range(3)]
    (reader.folder / "held-out.jsonl").write_text("\n".join(lines), "utf-8")
    for name in ("model", "a", "b", "c", "head"):
        (reader.folder / name).mkdir()
        for file, content in contest.model.items():
            (reader.folder / name / file).write_bytes(content)
    for words in ("./model --on texts/", "./model --on held-out.jsonl", "./model --on notes.txt"):
        assert "Bits per byte" in reader.run("scoring", f"tequio score {words}")
    reader.run("scoring", "tequio score ./a ./b ./c")
    assert json.loads((reader.folder / "out.json").read_text("utf-8"))
    reader.run("scoring", "tequio score ./head --tokenizer bytes")
    published = ("gpt2", "HuggingFaceTB/SmolLM-135M", "EleutherAI/pythia-160m-deduped")
    folders: dict[str, Any] = dict(zip(published, ("./a", "./b", "./c"), strict=True))
    reader.run("scoring", "tequio score ./head gpt2", **folders)
    beside = json.loads((reader.folder / "beside.json").read_text("utf-8"))
    assert [one["window"] for one in beside["models"]] == [1_024] * 4
    assert beside["ranking"] is not None
    (reader.folder / "questions.jsonl").write_text(QUESTION, "utf-8")
    assert "demo: 1 question, chance 50.0%" in reader.run("scoring", "tequio data tasks tasks m")
    for words in ("./model --task", "./a ./b --task"):
        assert ": 1 question" in reader.run("scoring", f"tequio score {words}")
    reader.run(ENTRANT, "tequio score user/name")
    newest = {"nova": "demo", "--round 10": ""}
    reader.run("operating", "tequio checkpoint export --run nova --to nova-10", status=0, **newest)
    assert (reader.folder / "nova-10" / "model.safetensors").is_file()


def verify(contest: Contest) -> None:
    stranger = contest.person("stranger")
    for options in ("", " --competition", " --rescore", " --bundle"):
        stranger.run(VERIFYING, f"tequio verify-competition https://ledger.example{options}")
    stranger.run(VERIFYING, "tequio verify-competition winter.tar")
