"""Who takes part in a competition, under which name, and with which model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tequio_shared.competition_gate import check_submission, read_document
from tequio_shared.competition_rules import Submission
from tequio_shared.competition_state import Entrant
from tequio_shared.errors import RefusedError
from tequio_shared.evaluations import ENTRANTS
from tequio_shared.ids import RunId, digest_from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_shared.competition_gate import Network
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.competition_state import Mark
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.statements.competitions import CompEnter, CompSubmit


@dataclass(slots=True, kw_only=True)
class Entries:
    """The entrants so far; each call takes a statement, or raises RefusedError."""

    rules: CompetitionRules
    entrants: dict[str, Entrant] = field(default_factory=dict)
    """By name, in the order in which they entered."""

    def enter(self, mark: Mark, author: PeerKey, body: CompEnter, network: Network) -> None:
        """Let somebody in."""
        mark.check_within(self.rules.dates.opens, self.rules.dates.deadline)
        check_part(author, self.rules.custodian_keys, network)
        side = RunId(digest_from_text(body.side)) if body.side else None
        self._check_room(author, network)
        if body.entrant in self.entrants:
            raise RefusedError(
                "name-taken", f"there is an entrant {body.entrant}: take another name"
            )
        if side is not None:
            self._check_side(author, side, network)
        self.entrants[body.entrant] = Entrant(
            name=body.entrant, author=author, entered=mark, side=side
        )

    def submit(self, mark: Mark, author: PeerKey, body: CompSubmit, network: Network) -> None:
        """Take an entrant's model in the place of the one before."""
        mark.check_within(self.rules.dates.opens, self.rules.dates.deadline)
        entrant = self.of(body.entrant)
        if author != entrant.author:
            raise RefusedError(
                "wrong-role", f"only who entered as {entrant.name} submits under that name"
            )
        network.check_standing(author)
        submission = read_document(Submission.parse, network, body.submission, "submission")
        check_submission(submission, entrant.side, self.rules.budget, network)
        self.entrants[entrant.name] = replace(entrant, submission=submission, submitted=mark)

    def of(self, name: str) -> Entrant:
        """The entrant of that name; raises RefusedError("not-found")."""
        entrant = self.entrants.get(name)
        if entrant is None:
            raise RefusedError("not-found", f"nobody entered as {name}")
        return entrant

    @property
    def submissions(self) -> dict[str, Digest]:
        """Name of the submission that counts, by entrant that has one, in the order of names."""
        return {
            name: entrant.submission.id
            for name, entrant in sorted(self.entrants.items())
            if entrant.submission is not None
        }

    def _check_room(self, author: PeerKey, network: Network) -> None:
        """Organisers enter as many as they run; a stranger's key enters once, up to half of all."""
        if len(self.entrants) >= ENTRANTS:
            raise RefusedError("competition-full", f"{ENTRANTS} entrants are in it")
        if author in network.organisers:
            return
        strangers = {one.author for one in self.entrants.values()} - network.organisers
        if author in strangers:
            raise RefusedError("already-said", "this key has entered already")
        if len(strangers) >= ENTRANTS // 2:
            raise RefusedError("competition-full", "ask an organiser to enter it")

    def _check_side(self, author: PeerKey, side: RunId, network: Network) -> None:
        if author not in network.organisers:
            raise RefusedError("wrong-role", "only an organiser enters a run")
        if network.run(side) is None:
            raise RefusedError("not-found", f"no run {to_text(side)} was opened in this network")
        for entrant in self.entrants.values():
            if entrant.side == side:
                raise RefusedError("name-taken", f"the run takes part as {entrant.name} already")


def check_part(author: PeerKey, custodians: Collection[PeerKey], network: Network) -> None:
    """Raise RefusedError for a custodian, or somebody who is shut out: neither takes part."""
    network.check_standing(author)
    if author in custodians:
        raise RefusedError("not-eligible", "custodians neither enter nor evaluate")
