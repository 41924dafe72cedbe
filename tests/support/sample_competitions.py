"""A sample ledger with two swarms and competitions between them, one in each phase.

Rules, shares, submissions, draws and the outcome are real, and the ledger admits all statements in
the usual way; texts and scores are made up. One evaluator lies about one entrant.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.competition import result as competition_result
from tequio_shared.competition.result import DrawnText, JudgedEntrant
from tequio_shared.competition.rules import Budget, Environment, Evaluation
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import key_from_text, sha256, to_text
from tequio_shared.scoring import DocumentScore
from tequio_shared.statements.competitions import CompResult, EvalResult
from tests.support.authors import Author
from tests.support.ledgers import VirtualClock, opened, running
from tests.support.sample_ledger import DAY_MS, HOUR_MS, Q16, SampleLedger, corpus, rules
from tests.support.signing_swarm import SigningOrganiser, SigningPeer
from tests.support.synthetic_competition import SyntheticCompetition, folder, head, salt_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.ledger import Ledger
    from tequio_shared.competition.rules import Submission
    from tequio_shared.competition.state import CompetitionView
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body

PACES = {"nova-350m": 5.0, "comet-350m": 8.0}
"""The rounds over which each swarm's loss falls; more is slower."""
ROUNDS = {"nova-350m": 14, "comet-350m": 11}
LEVELS = {"nova": 982.0, "comet": 1_003.0, "lone-wolf": 1_118.0, "twin-of-nova": 982.3}
"""The level of each entrant's model, in millibits per byte."""
LIAR, LIED_ABOUT = 1, "comet"
TEXTS, DRAWN = 400, 120
LEAD_MS = 5 * HOUR_MS
"""Time from the entries to the end of the sample."""
RULES_URL = "https://example.org/rules?a=1&b=%22two%22"

HOURS = {
    "announced": (48, 240, 264, 312, 384),
    "open": (0, 220, 240, 288, 360),
    "closed": (0, 1, 30, 96, 168),
    "drawn": (0, 1, 2, 96, 168),
    "revealed": (0, 1, 2, 50, 122),
    "decided": (0, 1, 2, 4, 5),
}
"""Dates, in hours after the opening, that leave a competition in that phase at the end."""
PHASES = tuple(HOURS)


class CompetitionSwarm(SampleLedger):
    """One of the two runs, with some rounds done."""

    def __init__(
        self,
        ledger: Ledger,
        clock: VirtualClock,
        name: str,
        organiser: SigningOrganiser,
        rounds: int,
    ) -> None:
        super().__init__(ledger, clock)
        self.rules = msgspec.structs.replace(rules(), name=name)
        self.organiser = organiser
        self.peers = [SigningPeer(f"{name} {at}", ledger, self.rules.run_id) for at in range(3)]
        self._pace, self._rounds = PACES[name], rounds

    async def open(self) -> None:
        """Open the run with all peers."""
        self.ledger.blobs.put(corpus().encode())
        self.ledger.blobs.put(self.rules.encode())
        await self.post([self.organiser.open(self.rules, self.clock())])
        for peer in self.peers:
            await self.post(peer.join())
        await self.pass_ms(self.rules.rounds.warmup)
        for _ in range(self._rounds):
            await self.play(self.peers)
            await self.pass_ms(4_000)

    def loss_of(self, peer: SigningPeer) -> int:
        """A loss that falls at the swarm's pace."""
        number = self.round.number
        noise = (sha256(peer.key, bytes([number]))[0] - 128) / 6_000
        return int((0.69 + 3.4 / (1 + number / self._pace) + noise) * Q16)

    def submission(self) -> Submission:
        """A submission of the newest certified head."""
        found = self.ledger.state.run(self.rules.run_id).head
        assert found is not None
        return head(self.rules.run_id, found.round, found.weights_root)


@dataclass(kw_only=True)
class SampleCompetition(SyntheticCompetition):
    """A synthetic competition with realistic windows, sizes and rules."""

    def __post_init__(self) -> None:
        super().__post_init__()
        scoring = msgspec.structs.replace(self.rules.scoring, window=2_048, stride=1_024)
        sealed = msgspec.structs.replace(self.rules.sealed, size_bytes=3_100 * self.texts)
        self.rules = msgspec.structs.replace(
            self.rules, data=RULES_URL, scoring=scoring, sealed=sealed
        )
        self.put(self.rules.encode())


class SampleCompetitions:
    """The whole course of events; `papers` are the competitions by phase."""

    def __init__(
        self, ledger: Ledger, clock: VirtualClock, rounds: Mapping[str, int] = ROUNDS
    ) -> None:
        self.ledger, self.clock = ledger, clock
        self.organiser = SigningOrganiser(ledger)
        net = ledger.state.net
        self.custodians = [Author(f"custodian {at}", net) for at in range(3)]
        self.evaluators = [Author(f"evaluator {at}", net) for at in range(6)]
        self.strangers = {name: Author(name, net) for name in ("lone-wolf", "twin-of-nova")}
        self.swarms = [
            CompetitionSwarm(ledger, clock, name, self.organiser, rounds[name]) for name in PACES
        ]
        self.papers: dict[str, SampleCompetition] = {}

    def view(self, phase: str) -> CompetitionView:
        """The ledger's view of the competition in that phase."""
        return self.ledger.state.competitions.view(self.papers[phase].id)

    async def post(self, author: Author, *bodies: Body) -> None:
        """Log an author's statements, after storing the documents that they name."""
        for paper in self.papers.values():
            for document in paper.documents.values():
                self.ledger.blobs.put(document)
            paper.documents.clear()
        entries = [author.sign(body, self.clock()) for body in bodies]
        await self.swarms[0].post(entries)

    async def pass_ms(self, duration_ms: int) -> None:
        """Let time pass; the coordinator closes and draws every competition that is due."""
        self.clock.pass_ms(duration_ms)
        while (time := self.ledger.state.competitions.next_ms()) and time <= self.clock():
            await self.ledger.sequencer.submit([])

    async def live(self) -> None:
        """Train, open, enter, close, draw, reveal, score and decide."""
        for swarm in self.swarms:
            await swarm.open()
        people = [*self.custodians, *self.evaluators, *self.strangers.values()]
        await self.swarms[0].post([one.register(self.clock()) for one in people])
        for phase in PHASES:
            await self._open(phase)
        await self.swarms[0].publish(self.swarms[0].submission().round)
        for phase in PHASES[1:]:
            await self._enter(phase)
        await self.pass_ms(HOUR_MS)
        for phase in PHASES[2:]:
            await self._draw_lots(phase)
        await self.pass_ms(HOUR_MS)
        await self.post(self.custodians[0], self.papers["drawn"].reveal(1))
        for phase in ("revealed", "decided"):
            for at in (0, 2):
                await self.post(self.custodians[at], self.papers[phase].reveal(at + 1))
        await self._score("revealed", {"nova": 3, "comet": 4, "lone-wolf": 4, "twin-of-nova": 2})
        await self._score("decided", dict.fromkeys(LEVELS, 4))
        await self._challenge("decided")
        await self.pass_ms(LEAD_MS - 2 * HOUR_MS)
        await self._decide("decided")

    async def _open(self, phase: str) -> None:
        keys = [one.key for one in self.custodians]
        self.papers[phase] = SampleCompetition(
            custodians=[self.organiser.key] if phase == "announced" else keys,
            start_ms=self.clock(),
            needed=1 if phase == "announced" else 2,
            budget=Budget(parameters=350_000_000, tokens=2_000_000_000, hours=72),
            texts=TEXTS,
            drawn=DRAWN,
            evaluators=4,
            name=f"Prose 2026 {phase}",
            dates=tuple(hour * HOUR_MS for hour in HOURS[phase]),
        )
        await self.post(self.organiser, self.papers[phase].open())

    async def _enter(self, phase: str) -> None:
        paper = self.papers[phase]
        sides = dict(zip(("nova", "comet"), self.swarms, strict=True))
        for name, swarm in sides.items():
            await self.post(self.organiser, paper.enter(name, swarm.rules.run_id))
        for name, author in self.strangers.items():
            await self.post(author, paper.enter(name))
        for name, swarm in sides.items():
            if (name, phase) != ("comet", "open"):
                await self.post(self.organiser, paper.submit(name, swarm.submission()))
        for name, author in self.strangers.items():
            await self.post(author, paper.submit(name, folder(name)))
        for author in self.evaluators:
            await self.post(author, paper.offer())

    async def _draw_lots(self, phase: str) -> None:
        seed = self.view(phase).seed
        for author in self.evaluators[:2] if phase == "closed" else self.evaluators[:-1]:
            await self.post(author, self.papers[phase].lot(author.signer, seed))

    async def _score(self, phase: str, many: dict[str, int]) -> None:
        """Have `many[entrant]` drawn evaluators score each entrant; they reveal if all have scored.

        In the competition that is still open, the last one does not reveal its scores.
        """
        view, authors = self.view(phase), {one.key: one for one in self.evaluators}
        assert view.phase is CompetitionPhase.REVEALED
        assert view.draw is not None
        paper, drawn = self.papers[phase], view.draw.evaluators
        for name in LEVELS:
            results = {
                key: self._result(
                    phase,
                    self.evaluation(phase, name, key, lies=at == LIAR and name == LIED_ABOUT),
                )
                for at, key in enumerate(drawn[: many[name]])
            }
            for key, result in results.items():
                await self.post(authors[key], paper.commit_to(key, result))
            if len(results) < len(drawn):
                continue
            for key in drawn[: -1 if phase == "revealed" else None]:
                await self.post(authors[key], results[key])

    def evaluation(self, phase: str, name: str, key: PeerKey, *, lies: bool) -> Evaluation:
        """Make up scores from each text's difficulty, the model's level and a little noise."""
        view = self.view(phase)
        assert view.draw is not None
        factor = 1.04 if lies else 1.0
        return Evaluation(
            competition=to_text(view.id),
            entrant=name,
            submission=to_text(view.submissions[name]),
            evaluator=to_text(key),
            environment=Environment(program="paper", torch="none", device="cpu", threads=2),
            documents=tuple(score(number, name, key, factor) for number in view.draw.documents),
        )

    def _result(self, phase: str, scores: Evaluation) -> EvalResult:
        total = scores.total
        return EvalResult(
            competition=scores.competition,
            entrant=scores.entrant,
            submission=scores.submission,
            scores=self.papers[phase].put(scores.encode()),
            salt=to_text(salt_of(key_from_text(scores.evaluator), scores.entrant)),
            millibits=total.millibits,
            size_bytes=total.size_bytes,
        )

    async def _challenge(self, phase: str) -> None:
        draw = self.view(phase).draw
        assert draw is not None
        body = self.papers[phase].challenge(
            LIED_ABOUT, draw.evaluators[LIAR], draw.documents[7], 1_234_567
        )
        await self.post(self.strangers["lone-wolf"], body)

    async def _decide(self, phase: str) -> None:
        view = self.view(phase)
        assert view.draw is not None
        texts = [_text(number) for number in view.draw.documents]
        contenders = [self._contender(view, name) for name in view.entrants]
        outcome = competition_result.compute_outcome(view.id, view.draw.beacon, texts, contenders)
        name = self.papers[phase].put(outcome.encode())
        await self.post(self.organiser, CompResult(competition=to_text(view.id), outcome=name))

    def _contender(self, view: CompetitionView, name: str) -> JudgedEntrant:
        scores = [one.scores for (entrant, _), one in view.results.items() if entrant == name]
        return JudgedEntrant(
            entrant=name,
            author=view.entrants[name].author,
            submission=view.submissions[name],
            evaluations=tuple(Evaluation.parse(self.ledger.blobs.read(one)) for one in scores),
        )


def score(number: int, name: str, key: PeerKey, factor: float = 1.0) -> DocumentScore:
    """One document's score; scores are paired, since all models find the same texts hard."""
    text = _text(number)
    own = (_draw("own", number, name.partition("-of-")[2] or name) - 0.5) * 0.03
    twin = (_draw("twin", number, name) - 0.5) * 0.002
    hard = 0.8 + 0.4 * _draw("hard", number)
    rounding = (_draw("device", number, to_text(key)) - 0.5) * 1e-5
    level = LEVELS[name] * (hard + own + twin) * factor * (1 + rounding)
    return DocumentScore(
        document=text.document,
        size_bytes=text.size_bytes,
        words=text.size_bytes // 6,
        tokens=text.size_bytes // 4,
        millibits=round(level * text.size_bytes),
    )


def _text(number: int) -> DrawnText:
    size = 600 + int(5_000 * _draw("size", number))
    return DrawnText(
        document=to_text(sha256(b"a text", number.to_bytes(4, "big"))), size_bytes=size
    )


def _draw(*parts: object) -> float:
    """A number from 0 to below 1 that depends only on the arguments."""
    raw = sha256(" ".join(map(str, parts)).encode())
    return int.from_bytes(raw[:4], "big") / 2**32


async def play(
    ledger: Ledger, clock: VirtualClock, rounds: Mapping[str, int] = ROUNDS
) -> SampleCompetitions:
    """Run the whole course of events in a ledger."""
    shown = SampleCompetitions(ledger, clock, rounds)
    async with running(ledger):
        await shown.live()
    return shown


def fill(
    settings: LedgerSettings, until_ms: int, rounds: Mapping[str, int] = ROUNDS
) -> SampleCompetitions:
    """Create a ledger in the settings' folder; its history ends at about that time."""
    clock = VirtualClock(until_ms - DAY_MS)
    with opened(settings, clock) as ledger:
        return asyncio.run(play(ledger, clock, rounds))
