"""Competitions in a real ledger: the coordinator's part, restarts, and what the log needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log import documents
from tequio_ledger.log.sequencer import Logged, Refused
from tequio_ledger.store import log_rows
from tequio_shared.competition.rules import Budget, Submission
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.competitions import CompSubmit
from tequio_shared.statements.statement import Entry
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER, VirtualClock, make_settings, opened, running
from tests.support.synthetic_competition import HOUR_MS, SyntheticCompetition, folder, head

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.sequencer import Outcome
    from tequio_shared.competition.state import CompetitionView
    from tequio_shared.statements.statement import Body


if TYPE_CHECKING:
    Scenario = Callable[["LoggedCompetition"], Awaitable[None]]

SECOND = Signer(bytes([8]) * 32)
NAMES = ("custodian 1", "custodian 2", "custodian 3", "alpha", "one", "two", "three", "four")


class LoggedCompetition:
    """A ledger with a run, the people of a competition, and the competition."""

    def __init__(self, ledger: Ledger, clock: VirtualClock) -> None:
        self.swarm = LedgerSwarm(ledger, clock)
        self.clock = clock
        self.people = {name: Author(name, ledger.state.net) for name in NAMES}
        self.paper = SyntheticCompetition(
            custodians=[self.people[name].key for name in NAMES[:3]],
            start_ms=clock(),
            budget=Budget(parameters=0, tokens=0, hours=24),
        )

    @property
    def ledger(self) -> Ledger:
        """The ledger of now."""
        return self.swarm.ledger

    @property
    def view(self) -> CompetitionView:
        """The competition's view."""
        return self.ledger.state.competitions.view(self.paper.id)

    def phase(self) -> CompetitionPhase:
        """The phase; a call, so that a type checker looks again each time."""
        return self.view.phase

    async def register(self) -> None:
        """Register everybody."""
        await self.swarm.post([one.register(self.clock()) for one in self.people.values()])

    async def submit(self, name: str, body: Body, *others: Signer) -> Outcome:
        """Submit a statement, with all documents in the ledger; refusals leave the chain."""
        for document in self.paper.documents.values():
            self.ledger.blobs.put(document)
        author = self.swarm.organiser if name == "organiser" else self.people[name]
        seq, last = author.seq, author.last
        entry = author.sign(body, self.clock(), *others)
        (outcome,) = await self.ledger.sequencer.submit([entry])
        if isinstance(outcome, Refused):
            author.seq, author.last = seq, last
        return outcome

    async def must(self, name: str, *bodies: Body) -> None:
        """Submit statements, all of which must be logged."""
        for body in bodies:
            outcome = await self.submit(name, body)
            assert isinstance(outcome, Logged), outcome

    async def until(self, ms: int) -> None:
        """Let time pass up to `ms`."""
        await self.swarm.pass_ms(ms - self.clock())

    def submission(self) -> Submission:
        """The run's certified head."""
        made = self.swarm.view.head
        assert made is not None
        return head(RULES.run_id, made.round, made.weights_root)


def drive(path: Path, *scenarios: Scenario) -> LoggedCompetition:
    """Run each scenario on the ledger, which is reopened for each."""
    clock = VirtualClock()
    contests: list[LoggedCompetition] = []

    async def run() -> None:
        for scenario in scenarios:
            with opened(make_settings(path, (ORGANISER, SECOND)), clock) as ledger:
                if contests:
                    contests[0].swarm.moved(ledger)
                else:
                    contests.append(LoggedCompetition(ledger, clock))
                async with running(ledger):
                    await asyncio.wait_for(scenario(contests[0]), 60)

    asyncio.run(run())
    return contests[0]


async def open_with_a_run(contest: LoggedCompetition) -> None:
    """A run with a certified head, a competition, two entrants and four offers."""
    swarm, paper = contest.swarm, contest.paper
    await swarm.open()
    await swarm.play(*swarm.peers[:3])
    await swarm.post([peer.attest() for peer in swarm.peers[:3]])
    await contest.register()
    await contest.must("organiser", paper.open())
    await contest.until(paper.rules.dates.opens)
    await contest.must("organiser", paper.enter("run", RULES.run_id))
    await contest.must("organiser", paper.submit("run", contest.submission()))
    await contest.must("alpha", paper.enter("alpha"), paper.submit("alpha", folder("alpha")))
    for name in ("one", "two", "three", "four"):
        await contest.must(name, paper.offer())


async def close(contest: LoggedCompetition) -> None:
    await contest.until(contest.paper.rules.dates.deadline - 1)
    assert contest.phase() is CompetitionPhase.OPEN
    await contest.until(contest.paper.rules.dates.deadline)
    assert contest.phase() is CompetitionPhase.CLOSED


async def draw(contest: LoggedCompetition) -> None:
    for name in ("one", "two", "three", "four"):
        lot = contest.paper.lot(contest.people[name].signer, contest.view.seed)
        await contest.must(name, lot)
    await contest.until(contest.paper.rules.dates.draw)
    assert contest.phase() is CompetitionPhase.DRAWN


async def reveal(contest: LoggedCompetition) -> None:
    await contest.must("custodian 2", contest.paper.reveal(2))
    assert contest.phase() is CompetitionPhase.DRAWN
    await contest.must("custodian 3", contest.paper.reveal(3))
    assert contest.phase() is CompetitionPhase.REVEALED


async def score(contest: LoggedCompetition) -> None:
    paper, found = contest.paper, contest.view.draw
    assert found is not None
    names = {author.key: name for name, author in contest.people.items()}
    models = {"run": contest.submission(), "alpha": folder("alpha")}
    for say in (paper.commit, paper.result):
        for at, evaluator in enumerate(found.evaluators):
            for entrant, model in models.items():
                await contest.must(names[evaluator], say(evaluator, entrant, model, 9 + at))
    first = found.evaluators[0]
    await contest.must("alpha", paper.challenge("alpha", first, found.documents[1]))
    assert not contest.view.missing_for_ranking()


async def decide(contest: LoggedCompetition) -> None:
    found = contest.view.draw
    assert found is not None
    await contest.until(contest.paper.rules.dates.result)
    alone = await contest.submit("organiser", contest.paper.decide(found.beacon))
    assert isinstance(alone, Refused)
    assert alone.code == "wrong-role"
    both = await contest.submit("organiser", contest.paper.decide(found.beacon), SECOND)
    assert isinstance(both, Logged)
    assert contest.phase() is CompetitionPhase.DECIDED


WHOLE = (open_with_a_run, close, draw, reveal, score, decide)


def test_a_competition_goes_on_across_a_restart_in_each_phase(tmp_path: Path) -> None:
    contest = drive(tmp_path, *WHOLE)
    with opened(make_settings(tmp_path, (ORGANISER, SECOND)), contest.clock) as ledger:
        state = ledger.state
        assert state.competitions == contest.ledger.state.competitions
        assert state.types["comp.close"] == state.types["comp.draw"] == 1
        assert state.runs[RULES.run_id].accounts == contest.swarm.view.accounts


def test_every_document_of_a_competition_is_one_that_the_log_needs(tmp_path: Path) -> None:
    contest = drive(tmp_path, *WHOLE)
    given, clock = make_settings(tmp_path, (ORGANISER, SECOND)), contest.clock
    with opened(given, clock) as ledger:
        with ledger.database.reader.begin() as connection:
            names = {digest for _, digest in documents.documents(connection)}
            leaves = [leaf for _, leaf in log_rows.each_leaf_of(connection, KINDS)]
        assert set(contest.paper.documents) <= names
        logged_bodies = [Entry.parse(leaf).statement.body for leaf in leaves]
        assert len({documents.document_of(Entry.parse(leaf).statement) for leaf in leaves}) == len(
            logged_bodies
        )
        scores = next(iter(contest.view.results.values())).scores
        ledger.blobs.path(scores).unlink()
    found = doctor.examine(given, DataFolder(tmp_path), clock)
    assert worst(found) is Grade.ERROR
    assert any(scores.hex() in one.found for one in found)


KINDS = ("comp.open", "comp.submit", "eval.result", "comp.result")


def test_a_ledger_that_was_away_closes_and_draws_when_it_is_back(tmp_path: Path) -> None:
    async def back(contest: LoggedCompetition) -> None:
        await contest.swarm.pass_ms(0)
        assert contest.phase() is CompetitionPhase.DRAWN
        assert (
            contest.view.missing_for_ranking() == "0 owners of eligible keys offered; 3 are needed"
        )
        assert (
            contest.view.phase_starts[CompetitionPhase.CLOSED].ts >= contest.paper.rules.dates.draw
        )

    async def leave(contest: LoggedCompetition) -> None:
        await open_with_a_run(contest)
        contest.clock.pass_ms(6 * HOUR_MS)

    drive(tmp_path, leave, back)


def test_nobody_else_says_what_the_coordinator_and_the_organisers_have_to(tmp_path: Path) -> None:
    async def scenario(contest: LoggedCompetition) -> None:
        paper = contest.paper
        await contest.register()
        refused = await contest.submit("alpha", paper.open())
        assert isinstance(refused, Refused)
        assert refused.code == "wrong-role"
        await contest.must("organiser", paper.open())
        prove = contest.people["alpha"].signer.prove
        due = contest.ledger.state.competitions.due(paper.rules.dates.deadline, prove)
        assert due is not None
        for name in ("alpha", "organiser"):
            again = await contest.submit(name, due)
            assert isinstance(again, Refused)
            assert again.code == "wrong-role"

    drive(tmp_path, scenario)


def test_a_large_document_is_refused_without_being_read(tmp_path: Path) -> None:
    async def scenario(contest: LoggedCompetition) -> None:
        await contest.register()
        await contest.must("organiser", contest.paper.open())
        await contest.until(contest.paper.rules.dates.opens)
        await contest.must("alpha", contest.paper.enter("alpha"))
        name = contest.ledger.blobs.put(bytes(1 << 20))
        contest.ledger.blobs.path(name).write_bytes(bytes(1 << 19))  # reading it says: not there
        body = CompSubmit(competition=contest.paper.text, entrant="alpha", submission=to_text(name))
        refused = await contest.submit("alpha", body)
        assert isinstance(refused, Refused)
        assert refused.code == "malformed"

    drive(tmp_path, scenario)


def test_a_refused_statement_leaves_no_trace_in_the_state(tmp_path: Path) -> None:
    async def scenario(contest: LoggedCompetition) -> None:
        await open_with_a_run(contest)
        size, entrants = contest.ledger.log.size, dict(contest.view.entrants)
        refused = await contest.submit("one", contest.paper.enter("alpha"))
        assert isinstance(refused, Refused)
        assert refused.code == "name-taken"
        assert (contest.ledger.log.size, contest.view.entrants) == (size, entrants)
        await contest.must("one", contest.paper.enter("another"))

    drive(tmp_path, scenario)
