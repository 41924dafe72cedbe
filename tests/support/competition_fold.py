"""A competition without a ledger: people by name, a clock, and the fold of their statements."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from tequio_shared.competition.competition import CompetitionsView
from tequio_shared.competition.state import CompetitionContext, CompetitionPhase
from tequio_shared.errors import RefusedError
from tequio_shared.head.chain import Head
from tequio_shared.head.head import set_root
from tequio_shared.ids import ZERO_DIGEST, HeadHash, PeerKey, sha256, to_text
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.statements.network import MemberVouch, RoleGrant
from tequio_shared.statements.statement import make
from tests.support.authors import Author
from tests.support.signing_swarm import manifest, weights_root
from tests.support.statements import NET
from tests.support.synthetic_competition import (
    DEADLINE,
    DRAW,
    NO_LIMIT,
    OPENS,
    RESULT,
    SyntheticCompetition,
    folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.competition.rules import Budget
    from tequio_shared.competition.state import CompetitionDraw, CompetitionView
    from tequio_shared.ids import Digest
    from tequio_shared.keys import Signer
    from tequio_shared.network.accounts import RunProgress
    from tequio_shared.statements.statement import Body, Statement

START = 1_700_000_000_000
RUN_RULES = manifest()
RUN = RUN_RULES.run_id


class CompetitionFold:
    """A competition without a ledger: people by name, a clock, and the fold of their statements."""

    def __init__(self, budget: Budget = NO_LIMIT, evaluators: int = 3, tier: int = 0) -> None:
        self.standings = KeyStatus()
        self.tiers = Tiers(registered=self.standings.records)
        self.people: dict[str, PeerKey] = {}
        self.fold = CompetitionsView()
        self.log: list[tuple[int, Statement]] = []
        self.index = 10
        self.now = START
        self.run = FullRunView.opened(NET, RUN_RULES, self.standings, self.tiers)
        self.network = CompetitionContext(
            documents=self.document,
            run={RUN: self.run}.get,
            standings=self.standings,
            tiers=self.tiers,
            organisers=frozenset({self.key("organiser"), self.key("second")}),
        )
        custodians = [self.key(f"custodian {n}") for n in (1, 2, 3)]
        self.paper = SyntheticCompetition(
            custodians=custodians, start_ms=START, budget=budget, evaluators=evaluators, tier=tier
        )

    def document(self, name: Digest) -> bytes:
        """The document with that digest."""
        return self.paper.documents[name]

    def key(self, name: str) -> PeerKey:
        """The key of a person, registered on first use."""
        if name not in self.people:
            self.people[name] = Author(name, NET).key
            self.standings.register(self.people[name], self.index)
        return self.people[name]

    def signer(self, name: str) -> Signer:
        """The key of a person, to prove with."""
        return Author(name, NET).signer

    def replace(self, name: str, successor: str) -> None:
        """Let a new key take the place of a person's, as the log would have it."""
        former, key = self.key(name), self.key(successor)
        self.standings.links.replace(self.index, former, key)
        self.standings.replace(self.index, former, key)
        self.tiers.replace(former, key)

    def at(self, after_ms: int) -> CompetitionFold:
        """Set the clock to `after_ms` after the start."""
        self.now = START + after_ms
        return self

    def post(self, name: str, *bodies: Body) -> None:
        """Apply a person's statements, as the log would have them; raises RefusedError."""
        for body in bodies:
            statement = self.statement(name, body)
            before = copy.deepcopy(self.fold)
            try:
                self.fold.apply(self.index, statement, self.network)
            except RefusedError:
                assert self.fold == before, "what is refused changes nothing"
                raise
            self.log.append((self.index, statement))

    def refold(self) -> CompetitionsView:
        """Fold the accepted statements again."""
        fold = CompetitionsView()
        for index, statement in self.log:
            fold.apply(index, statement, self.network)
        return fold

    @property
    def view(self) -> CompetitionView:
        """The competition's view."""
        return self.fold.view(self.paper.id)

    def phase(self) -> CompetitionPhase:
        """The phase; a call, so that a type checker looks again each time."""
        return self.view.phase

    def drawn(self) -> CompetitionDraw:
        """The draw; fails if there is none yet."""
        assert self.view.draw is not None
        return self.view.draw

    def name_of(self, key: PeerKey) -> str:
        """The name of the person with that key."""
        return next(name for name, one in self.people.items() if one == key)

    @property
    def scorers(self) -> list[str]:
        """Names of the drawn evaluators."""
        return [self.name_of(key) for key in self.drawn().evaluators]

    def vouch(self, owner: str, *names: str, until_ms: int = 2 * RESULT) -> None:
        """Have a connector vouch for the owner of these keys, until `until_ms` after the start."""
        connector = to_text(self.key("connector"))
        granted, until = START + 2 * RESULT, START + until_ms
        bodies: list[Body] = [RoleGrant(peer=connector, role="connector", until=granted)]
        whose = to_text(sha256(owner.encode()))
        keys = [to_text(self.key(name)) for name in names]
        bodies += [MemberVouch(peer=key, owner=whose, until=until) for key in keys]
        for body in bodies:
            self.tiers.apply(self.index, self.statement("connector", body))

    def promote(self, number: int, trained: RunProgress) -> Head:
        """Give the run a certified head of that round."""
        made = Head.of(
            RUN,
            number,
            parent=HeadHash(ZERO_DIGEST),
            set_root=set_root([]),
            weights_root=weights_root(number),
            aux_root=ZERO_DIGEST,
        )
        self.run.heads[number] = made
        self.run.accounts.trained[number] = trained
        return made

    def statement(self, name: str, body: Body) -> Statement:
        """Make a person's statement at the current time."""
        self.index += 1
        return make(
            body=body,
            author=self.key(name),
            seq=self.index,
            ts=self.now,
            exp=self.now,
            prev=sha256(b"before"),
        )

    # --- the steps of a competition

    def open(self) -> CompetitionFold:
        """Open the competition."""
        self.post("organiser", self.paper.open())
        return self.at(OPENS)

    def enter(self, *names: str) -> CompetitionFold:
        """Have each enter and submit a folder under its own name."""
        for name in names:
            self.post(name, self.paper.enter(name), self.paper.submit(name, folder(name)))
        return self

    def offer(self, *names: str) -> CompetitionFold:
        """Have each offer to evaluate."""
        for name in names:
            self.post(name, self.paper.offer())
        return self

    def close(self) -> CompetitionFold:
        """Close the competition to entries."""
        self.at(DEADLINE).post("coordinator", self.paper.close(self.signer("coordinator")))
        return self

    def draw_lots(self, *names: str) -> CompetitionFold:
        """Have each draw its lot."""
        for name in names:
            self.post(name, self.paper.lot(self.signer(name), self.view.seed))
        return self

    def draw(self) -> CompetitionFold:
        """End the phase of lots with the draw."""
        body = self.paper.draw(self.signer("coordinator"), self.view.lots)
        self.at(DRAW).post("coordinator", body)
        return self

    def reveal(self, *numbers: int) -> CompetitionFold:
        """Have custodians reveal their shares."""
        for number in numbers:
            self.post(f"custodian {number}", self.paper.reveal(number))
        return self

    def commit(self, entrant: str, *evaluators: str) -> CompetitionFold:
        """Have each commit to the scores that `reveal_scores` reveals."""
        for name in evaluators:
            self.post(name, self.paper.commit(self.key(name), entrant, folder(entrant), 9))
        return self

    def reveal_scores(self, entrant: str, *evaluators: str) -> CompetitionFold:
        """Have each reveal the scores that it committed to."""
        for name in evaluators:
            self.post(name, self.paper.result(self.key(name), entrant, folder(entrant), 9))
        return self

    def play(self, to: CompetitionPhase) -> CompetitionFold:
        """Run a competition with two entrants and four offers up to that phase."""
        offers = ("one", "two", "three", "four")
        steps: dict[CompetitionPhase, Callable[[], object]] = {
            CompetitionPhase.OPEN: lambda: self.open().enter("alpha", "beta").offer(*offers),
            CompetitionPhase.CLOSED: self.close,
            CompetitionPhase.DRAWN: lambda: self.draw_lots(*offers).draw(),
            CompetitionPhase.REVEALED: lambda: self.reveal(3, 1),
            CompetitionPhase.DECIDED: lambda: self.at(RESULT).post(
                "organiser", self.paper.decide(self.drawn().beacon)
            ),
        }
        for phase, step in steps.items():
            step()
            assert self.phase() is phase
            if phase is to:
                break
        return self
