"""A competition in the real program, as clients drive it, up to the reveal of its texts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tequio_shared.competition.competition import CompetitionsView
from tequio_shared.competition.state import CompetitionContext, CompetitionPhase
from tequio_shared.ids import Digest, NetworkId, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.statements.competitions import CompetitionBody
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.statement import Entry
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER
from tests.support.log_reader import read_leaves
from tests.support.synthetic_competition import SyntheticCompetition, folder
from tests.support.timing_slack import allowed_s
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    import httpx

    from tequio_shared.competition.state import CompetitionView
    from tequio_shared.statements.statement import Body

SECOND_MS = 1_000
DATES = (-60 * SECOND_MS, 3 * SECOND_MS, 6 * SECOND_MS, 200 * SECOND_MS, 220 * SECOND_MS)
EVALUATORS = ("one", "two", "three")
NAMES = ("custodian", "alpha", *EVALUATORS)
POLL_S = 0.05


def now() -> int:
    return time.time_ns() // 1_000_000


class CompetitionProgram:
    """The program as a client finds it, and a stranger's fold of its log."""

    def __init__(self, http: httpx.Client, net: NetworkId, dates: tuple[int, ...] = DATES) -> None:
        self.people = {name: Author(name, net) for name in NAMES}
        self.people["organiser"] = Author("organiser", net)
        self.people["organiser"].signer = ORGANISER
        self.net = net
        self.http = http
        self.kept: set[Digest] = set()
        for name in NAMES:
            self.post(self.people[name].register(now()))
        self.paper = SyntheticCompetition(
            custodians=[self.people["custodian"].key], needed=1, start_ms=now(), dates=dates
        )

    def post_statement(self, name: str, body: Body, at_ms: int = 0) -> None:
        """Upload the new documents, then post the statement."""
        for digest in self.paper.documents.keys() - self.kept:
            document = self.paper.documents[digest]
            assert put_blob(self.http, self.net, document, now()).is_success
            self.kept.add(digest)
        self.post(self.people[name].sign(body, at_ms or now()))

    def post(self, entry: Entry) -> None:
        """Post an entry, which must be logged."""
        answer = self.http.post("/v1/statements", content=encode_bundle([entry.leaf()]))
        (item,) = answer.json()["items"]
        assert item["status"] == "logged", item

    def fold(self) -> CompetitionView:
        """Fold the log as a stranger does, of whom nobody is shut out."""
        size = int(self.http.get("/log/checkpoint").text.split("\n")[1])
        standings = KeyStatus()
        organisers = frozenset({ORGANISER.key})
        network = CompetitionContext(
            documents=self.blob,
            run=lambda _: None,
            standings=standings,
            tiers=Tiers(founders=organisers),
            organisers=organisers,
        )
        fold = CompetitionsView()
        for index, leaf in enumerate(read_leaves(self.http, size)):
            statement = Entry.parse(leaf).statement
            if isinstance(statement.body, KeyRegister):
                standings.register(statement.author, index)
            elif isinstance(statement.body, CompetitionBody):
                fold.apply(index, statement, network)
        return fold.view(self.paper.id)

    def blob(self, name: Digest) -> bytes:
        """Get a document."""
        return self.http.get(f"/v1/blobs/{to_text(name)}").content

    def wait_for(self, phase: CompetitionPhase) -> CompetitionView:
        """Read the log until the coordinator has brought the competition there."""
        end = time.monotonic() + allowed_s(5)
        while (view := self.fold()).phase is not phase:
            assert time.monotonic() < end, f"still {view.phase}, not {phase}"
            time.sleep(POLL_S)
        return view


def until_lots(place: CompetitionProgram) -> None:
    """Take it to the draw of its evaluators' lots."""
    paper = place.paper
    place.post_statement("organiser", paper.open())
    place.post_statement("alpha", paper.enter("alpha"))
    place.post_statement("alpha", paper.submit("alpha", folder("alpha")))
    for name in EVALUATORS:
        place.post_statement(name, paper.offer())
    view = place.wait_for(CompetitionPhase.CLOSED)
    assert view.phase_starts[CompetitionPhase.CLOSED].ts >= paper.rules.dates.deadline
    for name in EVALUATORS:
        place.post_statement(name, paper.lot(place.people[name].signer, view.seed))


def until_texts(place: CompetitionProgram) -> CompetitionView:
    """Take it to the reveal of its texts, when drawn evaluators may commit to scores."""
    until_lots(place)
    place.wait_for(CompetitionPhase.DRAWN)
    place.post_statement("custodian", place.paper.reveal(1))
    return place.wait_for(CompetitionPhase.REVEALED)
