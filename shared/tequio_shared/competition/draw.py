"""The draw of a competition: the evaluators and the documents that they score.

A lot is an output of its author's verifiable random function, so nobody can choose it. Nobody can
know the draw early, or what a lot is worth while it can be withheld: evaluators and entrants lack
the coordinator's two outputs, the coordinator lacks the lots, and all of them lack the key of the
archive. The functions apply a statement to the competition's view, or raise
RefusedError.
(docs/protocol.md, section 19; why: docs/decisions/0016-the-draw-of-a-competition.md)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tequio_shared import vrf
from tequio_shared.competition.entrants import check_participant
from tequio_shared.competition.sealed_archive import combine_shares
from tequio_shared.competition.state import (
    CompetitionContext,
    CompetitionDraw,
    CompetitionPhase,
    CompetitionView,
    EvaluationOffer,
    RevealedShare,
    SignedEntry,
)
from tequio_shared.errors import MalformedError, RefusedError, SignatureInvalidError
from tequio_shared.ids import Digest, PeerKey, from_text, sha256, to_text
from tequio_shared.network.coordination import Prove
from tequio_shared.network.tiers import Tier
from tequio_shared.sealed_set import KeyShare
from tequio_shared.statements.competitions import (
    CompClose,
    CompDraw,
    CompReveal,
    EvalLot,
    EvalOffer,
)

_NUMBER_BYTES = 4
_NUMBERS = 1 << 8 * _NUMBER_BYTES
_SPARE = 64
"""Numbers computed at first beyond those needed if none is skipped."""


def offer(
    view: CompetitionView, entry: SignedEntry, body: EvalOffer, network: CompetitionContext
) -> None:
    """Apply eval.offer."""
    entry.check_within(0, view.rules.dates.deadline)
    check_participant(view, entry.author, network)
    if entry.author in view.offers:
        raise RefusedError("already-said", "this key has already offered to evaluate")
    if entry.author in network.organisers:
        raise RefusedError("not-eligible", "organisers may not evaluate")
    # Checked again by owner in `eligible_evaluators`, when all entrants are known.
    if any(entry.author == entrant.author for entrant in view.entrants.values()):
        raise RefusedError("not-eligible", "entrants may not evaluate")
    least = view.rules.scoring.evaluator_tier
    # Here as well as at the draw: the author learns it while there is time to be vouched for.
    if network.tier(entry.author, entry.ts) < least:
        way = "have an account vouch for it" if least == Tier.VOUCHED else "be invited"
        raise RefusedError("not-eligible", f"evaluators need a key of tier {least}: {way}")
    view.offers[entry.author] = EvaluationOffer(offered=entry)


def seed_lots(view: CompetitionView, entry: SignedEntry, body: CompClose) -> None:
    """Apply comp.close: the coordinator proves the seed, when nobody can offer any more."""
    entry.check_within(view.rules.dates.deadline, None)
    view.seed = _output(entry, seed_input(view.id), body.vrf)


def draw_lot(view: CompetitionView, entry: SignedEntry, body: EvalLot) -> None:
    """Apply eval.lot: the author of an offer proves its lot."""
    made = view.offers.get(entry.author)
    if made is None:
        raise RefusedError("not-found", "this key made no offer to evaluate")
    if made.lot is not None:
        raise RefusedError("already-said", "the lot of this key is already drawn")
    lot = _output(entry, lot_input(view.id, view.seed), body.vrf)
    view.offers[entry.author] = replace(made, lot=lot, lot_drawn=entry)


def fix_candidates(
    view: CompetitionView, entry: SignedEntry, body: CompDraw, network: CompetitionContext
) -> None:
    """Apply comp.draw: fix the keys that can be drawn, before anybody can know the beacon."""
    # Not before its date: a coordinator that ends the time early could leave out lots.
    entry.check_within(view.rules.dates.draw, None)
    view.draw_output = _output(entry, draw_input(view.id, view.lots), body.vrf)
    view.candidates = eligible_evaluators(view, entry.ts, network)


def due(view: CompetitionView, now_ms: int, prove: Prove) -> CompClose | CompDraw | None:
    """Return the statement that the coordinator, with that function, owes at that time."""
    next_ms = view.next_ms()
    if next_ms is None or now_ms < next_ms:
        return None
    competition = to_text(view.id)
    if view.phase is CompetitionPhase.OPEN:
        return CompClose(competition=competition, vrf=to_text(prove(seed_input(view.id))))
    return CompDraw(competition=competition, vrf=to_text(prove(draw_input(view.id, view.lots))))


def _output(entry: SignedEntry, alpha: bytes, proof: str) -> bytes:
    """Check the author's proof for that input; return its output, 64 bytes."""
    try:
        return vrf.verify(entry.author, alpha, from_text(proof, vrf.PROOF_BYTES))
    except SignatureInvalidError as err:
        raise RefusedError("wrong-vrf", str(err)) from err


def reveal_share(view: CompetitionView, entry: SignedEntry, body: CompReveal) -> bool:
    """Record a share; return whether it was the last one needed, so that the draw is made."""
    number, share = _checked_share(view, entry.author, body)
    if number in view.shares:
        raise RefusedError("already-said", f"share {number} is already revealed")
    view.shares[number] = RevealedShare(revealed=entry, share=share)
    # The beacon is fixed by the first shares that suffice; later ones must not draw again.
    if view.draw is not None or len(view.shares) < view.rules.sealed.needed:
        return False
    view.draw = _drawn(view)
    return True


def _checked_share(
    view: CompetitionView, author: PeerKey, body: CompReveal
) -> tuple[int, KeyShare]:
    sealed, custodians = view.rules.sealed, view.rules.custodian_keys
    if author not in custodians:
        raise RefusedError("wrong-role", "only a custodian may reveal a share")
    number = custodians.index(author) + 1
    try:
        share = KeyShare.parse(body.share)
    except MalformedError as err:
        raise RefusedError("malformed", f"the share is not valid: {err}") from err
    if share.index != number or share.root != from_text(sealed.root):
        raise RefusedError("wrong-share", f"this custodian holds share {number} of this sealed set")
    # A wrong share would give a wrong key without any error, so it is refused by its name.
    if to_text(share.name) != sealed.shares[number - 1]:
        raise RefusedError("wrong-share", f"the share does not match share {number} in the rules")
    return number, share


def _drawn(view: CompetitionView) -> CompetitionDraw:
    sealed, scoring = view.rules.sealed, view.rules.scoring
    key = combine_shares({at: one.share.value for at, one in view.shares.items()})
    beacon = draw_beacon(view.id, key, view.draw_output)
    return CompetitionDraw(
        key=key,
        beacon=beacon,
        documents=draw_documents(beacon, scoring.documents, sealed.documents),
        evaluators=draw_evaluators(beacon, view.lots, view.candidates, scoring.evaluators),
    )


def eligible_evaluators(
    view: CompetitionView, ts: int, network: CompetitionContext
) -> dict[PeerKey, Digest]:
    """Keys that can be drawn to evaluate, with their owners: with a lot, without an interest."""
    entrants, least = view.entrants.values(), view.rules.scoring.evaluator_tier
    authors = network.with_holders(one.author for one in entrants)
    rostered = (network.rostered(one.side) for one in entrants if one.side is not None)
    # Trainers of a competing run have an interest. Custodians, who together could read the texts
    # early, and organisers could not even offer.
    outside = authors.union(*rostered)
    # By owner as well as by key: an entrant must not evaluate itself with a second key.
    rivals = {network.owner(key) for key in authors}
    return {
        key: network.owner(key)
        for key, one in view.offers.items()
        if one.lot is not None
        and key not in outside
        and network.tier(key, ts) >= least
        and network.owner(key) not in rivals
        and network.is_in_good_standing(key)
    }


def seed_input(competition: Digest) -> bytes:
    """Input of the coordinator's function at the close."""
    return b"tequio/v1/comp-seed\0" + competition


def lot_input(competition: Digest, seed: bytes) -> bytes:
    """Input of an evaluator's function; `seed` is the coordinator's output at the close."""
    return b"tequio/v1/eval\0" + competition + seed


def draw_input(competition: Digest, lots: Mapping[PeerKey, bytes]) -> bytes:
    """Input of the coordinator's function at the draw, for all lots by author."""
    # By author, not by arrival: the coordinator chooses the order of the log.
    return b"tequio/v1/comp-draw\0" + competition + sha256(*(lots[one] for one in sorted(lots)))


def draw_beacon(competition: Digest, key: bytes, output: bytes) -> Digest:
    """Hash the archive's key and the coordinator's output at the draw.

    Both are public before anything is scored, so anybody can repeat the draw (docs/protocol.md,
    section 19).
    """
    return sha256(b"tequio/v1/comp\0", competition, key, output)


def draw_documents(beacon_value: Digest, count: int, total: int) -> tuple[int, ...]:
    """Draw `count` document numbers below `total`, ascending; all if there are no more.

    The first steps of a shuffle: step i swaps position i with position i + u mod (total - i), where
    u is the next number of the stream that causes no modulo bias.
    """
    if count >= total:
        return tuple(range(total))
    stream = _numbers(b"tequio/v1/docs\0" + beacon_value, count)
    # Only moved positions are stored: the set may have a million documents.
    moved: dict[int, int] = {}
    drawn = []
    for step in range(count):
        at = step + _below(total - step, stream)
        drawn.append(moved.get(at, at))
        moved[at] = moved.get(step, step)
    return tuple(sorted(drawn))


def draw_evaluators(
    beacon_value: Digest,
    lots: Mapping[PeerKey, bytes],
    candidates: Mapping[PeerKey, Digest],
    count: int,
) -> tuple[PeerKey, ...]:
    """Draw `count` keys of different owners, in the order drawn; fewer if there are no more.

    `candidates` maps keys to their owners.
    """

    def rank(peer: PeerKey) -> tuple[Digest, PeerKey]:
        # With the beacon, which depends on everybody's lots: a coordinator that has the archive's
        # key knows the seed early, and could make keys until one had a low place by its lot alone.
        # The key last: in a tie, the order of offers in the log must not decide.
        return sha256(b"tequio/v1/evaluator\0", beacon_value, lots[peer]), peer

    drawn: dict[Digest, PeerKey] = {}
    for peer in sorted(candidates, key=rank):
        # More keys of one owner give a better chance, but never a second seat.
        drawn.setdefault(candidates[peer], peer)
    return tuple(drawn.values())[:count]


def _below(end: int, stream: Iterator[int]) -> int:
    """Next number of the stream below `end`, without modulo bias."""
    # Numbers of the last, incomplete cycle would favour small remainders.
    fair = _NUMBERS - _NUMBERS % end
    return next(number for number in stream if number < fair) % end


def _numbers(seed: bytes, count: int) -> Iterator[int]:
    """Endless u32 numbers of SHAKE-256."""
    state, done, many = hashlib.shake_256(seed), 0, count + _SPARE
    while True:
        raw = state.digest(_NUMBER_BYTES * many)
        for at in range(_NUMBER_BYTES * done, len(raw), _NUMBER_BYTES):
            yield int.from_bytes(raw[at : at + _NUMBER_BYTES], "big")
        done, many = many, 2 * many
