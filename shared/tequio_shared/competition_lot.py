"""A competition's lot: who offers to evaluate, the secrets and shares, and what they draw.

Who may evaluate is fixed before anybody can know the beacon (`competition_draw`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tequio_shared import archive_key, competition_draw
from tequio_shared.competition_entries import check_part
from tequio_shared.competition_gate import eligible
from tequio_shared.competition_state import Draw, Offer, Shown
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, from_text, to_text
from tequio_shared.key_share import KeyShare
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.competition_entries import Entries
    from tequio_shared.competition_gate import Network
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.competition_state import Mark
    from tequio_shared.statements.competitions import CompReveal, EvalOffer, EvalSecret


@dataclass(slots=True, kw_only=True)
class Lot:
    """What the draw is made of; each call takes a statement, or raises RefusedError."""

    rules: CompetitionRules
    offers: dict[PeerKey, Offer] = field(default_factory=dict)
    candidates: dict[PeerKey, Digest] = field(default_factory=dict)
    """Who can be drawn, and whose key it is; from `comp.draw` on."""
    shares: dict[int, Shown] = field(default_factory=dict)
    """By index from 1, in the order of the log."""
    draw: Draw | None = None
    """From the share on that was the last one needed."""

    def offer(
        self, mark: Mark, author: PeerKey, body: EvalOffer, entries: Entries, network: Network
    ) -> None:
        """Take an offer to evaluate in the place of the one before."""
        mark.check_within(0, self.rules.dates.deadline)
        check_part(author, self.rules.custodian_keys, network)
        if author in network.organisers:
            raise RefusedError("not-eligible", "organisers do not evaluate")
        if any(author == entrant.author for entrant in entries.entrants.values()):
            raise RefusedError("not-eligible", "entrants do not evaluate")
        least = self.rules.scoring.evaluator_tier
        if network.tier(author, mark.ts) < least:
            way = "have an account vouch for it" if least == Tier.VOUCHED else "be invited"
            raise RefusedError("not-eligible", f"keys of tier {least} evaluate here: {way}")
        self.offers[author] = Offer(offered=mark, commit=digest_from_text(body.commit))

    def open_secret(self, mark: Mark, author: PeerKey, body: EvalSecret) -> None:
        """Open what an offer committed to."""
        offer = self.offers.get(author)
        if offer is None:
            raise RefusedError("not-found", "this key made no offer to evaluate")
        if offer.secret is not None:
            raise RefusedError("already-said", "the secret is open already")
        secret = from_text(body.secret)
        if competition_draw.commitment(self.rules.id, author, secret) != offer.commit:
            raise RefusedError(
                "wrong-reveal", "the secret is not the one that the offer committed to"
            )
        self.offers[author] = replace(offer, secret=secret, opened=mark)

    def fix(self, mark: Mark, entries: Entries, network: Network) -> None:
        """Fix who can be drawn."""
        mark.check_within(self.rules.dates.draw, None)
        self.candidates = eligible(
            entries.entrants.values(),
            self._offers_of_tier(mark.ts, network),
            self.rules.custodian_keys,
            network,
        )

    def show_share(
        self, mark: Mark, author: PeerKey, body: CompReveal, submissions: Mapping[str, Digest]
    ) -> bool:
        """Take a share; whether it was the last one needed, so that all is drawn."""
        number, share = self._share(author, body)
        if number in self.shares:
            raise RefusedError("already-said", f"share {number} was shown already")
        self.shares[number] = Shown(shown=mark, share=share)
        if self.draw is not None or len(self.shares) < self.rules.sealed.needed:
            return False
        self.draw = self._drawn(submissions)
        return True

    @property
    def known_draw(self) -> Draw:
        """The draw, once the texts are open."""
        if self.draw is None:
            raise AssertionError("a revealed competition has its draw")
        return self.draw

    def _offers_of_tier(self, ts: int, network: Network) -> dict[PeerKey, Offer]:
        """Those whose keys are still known as well as the rules ask."""
        least = self.rules.scoring.evaluator_tier
        return {at: one for at, one in self.offers.items() if network.tier(at, ts) >= least}

    def _share(self, author: PeerKey, body: CompReveal) -> tuple[int, KeyShare]:
        """The share that this custodian holds, and its number."""
        sealed, custodians = self.rules.sealed, self.rules.custodian_keys
        if author not in custodians:
            raise RefusedError("wrong-role", "only a custodian shows a share")
        number = custodians.index(author) + 1
        try:
            share = KeyShare.parse(body.share)
        except MalformedError as err:
            raise RefusedError("malformed", f"the share does not hold: {err}") from err
        if share.index != number or share.root != from_text(sealed.root):
            raise RefusedError(
                "wrong-share", f"this custodian's is share {number} of this sealed set"
            )
        if to_text(share.name) != sealed.shares[number - 1]:
            raise RefusedError("wrong-share", f"it is not the share {number} that the rules name")
        return number, share

    def _drawn(self, submissions: Mapping[str, Digest]) -> Draw:
        sealed, scoring = self.rules.sealed, self.rules.scoring
        key = archive_key.combine({at: one.share.value for at, one in self.shares.items()})
        secrets = {at: one.secret for at, one in self.offers.items() if one.secret is not None}
        beacon = competition_draw.beacon(self.rules.id, key, secrets, submissions)
        return Draw(
            key=key,
            beacon=beacon,
            documents=competition_draw.documents(beacon, scoring.documents, sealed.documents),
            evaluators=competition_draw.evaluators(beacon, self.candidates, scoring.evaluators),
        )
