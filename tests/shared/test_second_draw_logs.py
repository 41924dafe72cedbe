"""Draws recomputed from statements alone: of competitions with owners, and of runs."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.competitions import CompClose, CompDraw, EvalLot
from tequio_shared.statements.network import (
    InviteOpen,
    InviteRevoke,
    KeyRegister,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)
from tequio_shared.statements.runs import HeadPromote, RunFinish, RunPause, RunResume
from tests.support import second_draw
from tests.support.authors import Author
from tests.support.competition_fold import START, CompetitionFold
from tests.support.memory_swarm import Swarm
from tests.support.statements import NET
from tests.support.synthetic_competition import DEADLINE, RESULT, SyntheticCompetition
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.statements.statement import Entry

RUN = RunId(sha256(b"run of an invitation"))
CONNECTORS, ACCOUNTS, PEOPLE = ("github", "bank"), ("ana", "ben"), ("one", "two", "three", "four")
FOREVER = 1 << 50
INTERESTED = ("rival", "never submitted")


class OwnerLog:
    """Invitations and vouches at random, applied by both implementations."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.stage = CompetitionFold()
        self.organiser = Author("organiser", NET)
        self.stage.tiers.founders = frozenset({self.organiser.key})
        self.found = second_draw.Owners({self.organiser.key})
        self.index, self.now = 0, START
        self.authors = {name: Author(name, NET) for name in (*CONNECTORS, *PEOPLE)}
        self.guests: list[Author] = []
        self.invitations: list[Signer] = []
        for author in self.authors.values():
            self.stage.standings.register(author.key, 1)
        for name in CONNECTORS:
            self.grant(name)

    def log(self, entry: Entry) -> None:
        """Apply an entry on both sides unless the product refuses it, as a ledger would."""
        self.index += 1
        tiers = self.stage.tiers
        try:
            if isinstance(entry.statement.body, KeyRegister):
                tiers.register(self.index, entry)
                self.stage.standings.register(entry.statement.author, self.index)
            else:
                tiers.apply(self.index, entry.statement)
        except RefusedError:
            return
        self.found.read(entry.leaf())

    def grant(self, name: str) -> None:
        """Give the role of a connector."""
        peer = to_text(self.authors[name].key)
        body = RoleGrant(peer=peer, role="connector", until=FOREVER)
        self.log(self.organiser.sign(body, self.now))

    def step(self) -> None:
        """Let something happen."""
        rng = self.rng
        self.now += rng.randint(0, 30)
        kind = rng.choice(("vouch",) * 16 + ("revoke", "invite", "uninvite"))
        if kind == "vouch":
            peer = rng.choice([*map(self.authors.__getitem__, PEOPLE), *self.guests]).key
            body = MemberVouch(
                peer=to_text(peer),
                owner=to_text(sha256(rng.choice(ACCOUNTS).encode())),
                until=self.now + rng.choice((-1, 0, 1, 20, 100, 400)),
            )
            self.log(self.authors[rng.choice(CONNECTORS)].sign(body, self.now))
        elif kind == "revoke":
            name = rng.choice(CONNECTORS)
            gone = RoleRevoke(peer=to_text(self.authors[name].key), role="connector")
            self.log(self.organiser.sign(gone, self.now))
            self.grant(name)
        elif kind == "invite":
            self.invite(rng.choice(("", to_text(RUN))))
        elif self.invitations:
            revoked = to_text(self.rng.choice(self.invitations).key)
            self.log(self.organiser.sign(InviteRevoke(invitation=revoked), self.now))

    def invite(self, run: str) -> None:
        """Invite a guest, into one run or all."""
        invitation = Signer(sha256(b"second draw: invitation", self.rng.randbytes(8)))
        guest = Author(f"guest {self.rng.random()}", NET)
        named = to_text(invitation.key)
        opened = InviteOpen(invitation=named, uses=2, until=FOREVER, run=run)
        self.log(self.organiser.sign(opened, self.now))
        self.log(guest.register(self.now, invitation))
        self.guests.append(guest)
        self.invitations.append(invitation)


@pytest.mark.parametrize("case", range(12))
def test_both_know_the_same_owners(case: int) -> None:
    log = OwnerLog(Random(f"owners {case}"))
    for _ in range(60):
        log.step()
        network = log.stage.network
        for author in (log.organiser, *log.authors.values(), *log.guests):
            key = author.key
            assert network.owner(key) == log.found.owner(key)
            for ts in (log.now, log.now + 50, log.now + 200):
                assert network.tier(key, ts) == log.found.tier(key, ts)


def played(case: int) -> tuple[CompetitionFold, dict[bytes, bytes]]:
    """A competition up to its draw, and the owners of the keys that can be drawn."""
    rng = Random(f"competition {case}")
    stage = CompetitionFold()
    custodians = [stage.key(f"custodian {n}") for n in (1, 2, 3)]
    seats, most = rng.choice((3, 4, 8)), rng.choice((1, 5, 19, 20, 30))
    stage.paper = SyntheticCompetition(
        custodians=custodians, start_ms=START, evaluators=seats, texts=20, drawn=most
    )
    offers = [f"evaluator {case} {at}" for at in range(rng.randint(3, 14))]
    owner_of = {name: rng.choice(("", "one", "two", "three", *INTERESTED)) for name in offers}
    for name in offers:
        if owner_of[name]:
            # An owner is known beyond the end of the last vouch.
            stage.vouch(owner_of[name], name, until_ms=rng.choice((1, DEADLINE, 2 * RESULT)))
    for owner, name in zip(INTERESTED, ("alpha", "gamma"), strict=True):
        stage.vouch(owner, name)  # its other keys have an interest
    stage.open().enter("alpha", "beta").post("gamma", stage.paper.enter("gamma"))
    stage.offer(*offers).close()
    drawing = [name for name in offers if rng.random() < 0.9]
    rng.shuffle(drawing)
    stage.draw_lots(*drawing).draw()
    stage.vouch("too late", *rng.sample(offers, 2))  # owners are those at comp.draw
    stage.reveal(*rng.sample((1, 2, 3), 2))
    able = {
        bytes(stage.key(name)): owner_of[name].encode() or bytes(stage.key(name))
        for name in drawing
        if owner_of[name] not in INTERESTED
    }
    return stage, able


@pytest.mark.parametrize("case", range(8))
def test_a_competition_s_draw_follows_from_its_statements(case: int) -> None:
    stage, able = played(case)
    paper, drawn = stage.paper, stage.drawn()
    assert stage.phase() is CompetitionPhase.REVEALED
    proofs = {
        (type(one.body), bytes(one.author)): second_draw.unbase64(one.body.vrf)
        for _, one in stage.log
        if isinstance(one.body, CompClose | EvalLot | CompDraw)
    }
    coordinator = stage.key("coordinator")

    def output_of(body: type, author: bytes, due: bytes) -> bytes:
        found = second_draw.verify(author, due, proofs[body, author])
        assert found is not None
        return found

    seed = output_of(CompClose, coordinator, second_draw.competition_seed_input(paper.id))
    due = second_draw.evaluator_lot_input(paper.id, seed)
    them = {key: output_of(EvalLot, key, due) for body, key in proofs if body is EvalLot}
    last = output_of(CompDraw, coordinator, second_draw.competition_draw_input(paper.id, them))
    beacon = second_draw.beacon(paper.id, paper.key, last)
    assert drawn.beacon == beacon
    scoring = paper.rules.scoring
    assert list(drawn.documents) == second_draw.documents(beacon, 20, scoring.documents)
    in_question = {key: them[key] for key in able}
    ranked = second_draw.evaluators(beacon, in_question, able, scoring.evaluators)
    assert list(drawn.evaluators) == ranked


# --- real logs


def observed(swarm: Swarm, steps: Mapping[int, tuple[type, ...]]) -> list[second_draw.RoundDraws]:
    """Run a swarm to its end, and record the draws of the product's view.

    `steps` names what an organiser sends, by the number of rounds that ended before.
    """
    rounds: dict[int, second_draw.RoundDraws] = {}
    waiting = {after: list(bodies) for after, bodies in steps.items()}
    for _ in range(4_000):
        view = swarm.view
        for body in waiting.pop(view.closed + view.voided, ()):
            swarm.organise(body(reason=0))
        if not swarm.step():
            break
        current = view.round
        if current is None:
            continue
        one = rounds.setdefault(
            current.number, second_draw.RoundDraws(number=current.number, seed=current.lot_seed)
        )
        if current.open is not None:
            one.digest, one.committee = current.seed, sorted(current.elected)
        if isinstance(swarm.entries[-1].statement.body, HeadPromote):
            drawn = view.drawn
            if drawn is not None and drawn.head == view.head:
                one.measurers[drawn.head.hash] = sorted(drawn.drawn)
    return list(rounds.values())


def recomputed(swarm: Swarm) -> list[second_draw.RoundDraws]:
    """The draws that the second implementation finds in the swarm's log, in the same order."""
    found = second_draw.draws_of_run(
        swarm.leaves(), {bytes(name): one for name, one in swarm.blobs.items()}
    )
    for one in found:
        one.committee = None if one.committee is None else sorted(one.committee)
        one.measurers = {name: sorted(keys) for name, keys in one.measurers.items()}
    return found


RATES = FailureRates(silent=8, misstating=12, leaving=2)


@pytest.mark.parametrize(
    ("members", "most", "every", "steps"),
    [
        (9, 6, 2, {}),
        (5, 6, 3, {3: (RunPause, RunResume)}),
        (6, 8, 3, {2: (RunFinish,)}),
        (4, 5, 0, {}),
    ],
    ids=["to its last round", "paused between", "finished early", "nothing measured"],
)
def test_a_log_s_committees_and_measurers_follow_from_its_statements(
    members: int, most: int, every: int, steps: Mapping[int, tuple[type, ...]]
) -> None:
    rules = msgspec.structs.replace(
        tiny_manifest(most=most), measure=MeasureRules(every=every, members=2)
    )
    swarm = Swarm(manifest=rules, seed=members)
    for at in range(members):
        swarm.volunteer(f"second draw {at}", RATES)
    expected = observed(swarm, steps)
    found = recomputed(swarm)
    assert found == expected
    assert sum(one.committee is not None for one in found) >= 2
    assert bool(sum(len(one.measurers) for one in found)) is bool(every)


def test_a_large_roster_s_committee_follows_from_its_statements() -> None:
    rules = msgspec.structs.replace(
        tiny_manifest(most=1, warmup=60_000), measure=MeasureRules(every=1, members=5)
    )
    swarm = Swarm(manifest=rules)
    for at in range(70):
        swarm.volunteer(f"large {at}", FailureRates(misstating=10))
    while swarm.view.round is None or swarm.view.round.open is None:
        assert swarm.step()
    (found,) = recomputed(swarm)
    assert found.committee == sorted(swarm.view.round.elected)
    assert len(found.committee) == second_draw.WITNESSES_OF_LARGE
    assert swarm.view.drawn is not None
    assert list(found.measurers.values()) == [sorted(swarm.view.drawn.drawn)]
