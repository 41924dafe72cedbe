"""How a round follows the log: what each statement changes in it, or why it is refused.

Rules: these functions alone change a RoundView. They raise RefusedError for a statement that does
not follow from roster, manifest and the round's earlier entries, and then have changed nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

from msgspec import UNSET

from tequio_shared import vrf
from tequio_shared.errors import MalformedError, RefusedError, SignatureInvalidError
from tequio_shared.head.chain import Head, NextHead
from tequio_shared.head.contribution import ContributionHeader, contribution_id
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    PeerKey,
    digest_from_text,
    from_text,
    key_from_text,
    to_text,
)
from tequio_shared.round import assignment as round_assignment
from tequio_shared.round import gain, proof
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.proof import WitnessFindings
from tequio_shared.round.round import Commitment, RoundPhase, RoundView, attested_roots
from tequio_shared.statements.runs import (
    AuditReport,
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)

MemberBody: TypeAlias = HeadAttest | WorkCommit | WitnessProof | AuditReport
"""Statements that members make in a round."""


def apply(current: RoundView, index: int, author: PeerKey, body: MemberBody, at_ms: int) -> None:
    """Apply a member's statement; raises RefusedError unless the round accepts it now."""
    slot = current.slot_of.get(author)
    if slot is None:
        raise RefusedError("not-in-round", f"not in the roster of round {current.number}")
    match body:
        case HeadAttest():
            lot = _checked_lot(current, slot, author, body)
            current.attests[slot], current.lots[slot] = body, lot
            if slot in current.without_lot:
                current.without_lot.remove(slot)
                current.votes[body.head] += 1
        case WorkCommit():
            header = _checked_header(current, slot, author, body)
            name = contribution_id(from_text(body.header, None))
            current.commitments[slot] = Commitment(
                index=index,
                header=header,
                id=name,
                seal=digest_from_text(body.seal),
                feedback=digest_from_text(body.feedback) if body.feedback else ZERO_DIGEST,
                at_ms=at_ms,
                parts=_parts(body),
            )
            current.without_work.discard(slot)
        case WitnessProof():
            current.proofs[slot], current.audit_lots[slot] = _checked_proof(
                current, slot, author, body
            )
            current.without_proof.discard(slot)
        case AuditReport():
            _check_report(current, slot, body)
            current.reports[slot] = index, body
            current.without_report.discard(slot)


def check_attestation(current: RoundView, author: PeerKey, body: HeadAttest) -> None:
    """Raise RefusedError unless the round would accept this attestation now."""
    slot = current.slot_of.get(author)
    if slot is None:
        raise RefusedError("not-in-round", f"not in the roster of round {current.number}")
    _checked_lot(current, slot, author, body)


def apply_promotion(current: RoundView, body: HeadPromote) -> Head:
    """Apply head.promote; raises RefusedError unless a quorum attested exactly this head."""
    agreed = current.agreed_head()
    if agreed is None or body != current.promotion(agreed):
        raise RefusedError("wrong-head", f"no quorum of round {current.number} attested this head")
    # The set of the last round is settled from here on: the next round builds on this head.
    current.head, current.next_head = agreed, None
    return agreed


def apply_open(current: RoundView, body: RoundOpen) -> None:
    """Apply round.open; raises RefusedError unless it follows from roster and attestations."""
    if current.phase is not RoundPhase.ATTEST:
        raise RefusedError("not-in-round", f"round {current.number} cannot open now")
    agreed = current.agreed_head()
    if agreed is None or agreed != current.head:
        raise RefusedError("wrong-head", f"no quorum of round {current.number} holds its head")
    # Computed again and compared whole: the coordinator has no freedom but the time.
    if body != current.opening(body.opened):
        raise RefusedError(
            "wrong-open", f"round.open {current.number} does not follow from the log"
        )
    current.open, current.phase = body, RoundPhase.TRAIN
    current.seed = digest_from_text(body.lots)
    current.elected = current.committee(body.head)
    current.without_proof = set(current.elected)


def apply_witness(current: RoundView, body: RoundWitness, coordinator: PeerKey) -> None:
    """Apply round.witness: training is over, these commitments count."""
    if current.phase is not RoundPhase.TRAIN:
        raise RefusedError("not-in-round", f"round {current.number} is not training")
    # The count pins which commitments came in time, whatever the readers' clocks say.
    if body.commits != len(current.commitments):
        raise RefusedError(
            "wrong-witness",
            f"round.witness counts {body.commits} commitments, not {len(current.commitments)}",
        )
    try:
        proof_bytes = from_text(body.vrf, vrf.PROOF_BYTES)
        drawn = current.check_proof(coordinator, current.draw_input, proof_bytes)
    except SignatureInvalidError as err:
        raise RefusedError("wrong-vrf", f"the draws of round {current.number}: {err}") from err
    current.phase, current.is_judged, current.draw_seed = RoundPhase.WITNESS, True, drawn
    done = {
        slot: round_assignment.split_windows(current.assignment[slot], one.header.window_count)[0]
        for slot, one in current.commitments.items()
    }
    seed = gain.sample_seed(current.seed, drawn)
    current.gains = gain.draw_sample(seed, current.roster.pool, done)


def apply_close(current: RoundView, body: RoundClose, result: RoundResult) -> NextHead | None:
    """Apply round.close; raises RefusedError unless the result follows from the proofs.

    Returns the head that the round makes: none after the last training.
    """
    if current.phase is not RoundPhase.WITNESS:
        raise RefusedError("not-in-round", f"round {current.number} has no witness phase yet")
    if not current.has_quorum() or len(result.slots) != len(current.roster.members):
        raise RefusedError("wrong-close", f"round {current.number} lacks proofs or result rows")
    # Arrival times are the coordinator's own measurement: all else in the result is checked.
    times = {slot: row.ms for slot, row in enumerate(result.slots)}
    if result != current.result(times) or body != current.closing(result):
        raise RefusedError(
            "wrong-close", f"round.close {current.number} does not follow from the log"
        )
    # A round that accepted nothing is void: an empty set must not make a head.
    if current.head is None or (current.is_training and not body.accepted):
        raise RefusedError("wrong-close", f"round {current.number} accepted nothing")
    current.phase = RoundPhase.OVER
    if not current.is_training:
        return None
    return NextHead(
        round=current.number, parent=current.head.hash, set_root=Digest(from_text(body.set_root))
    )


def apply_void(current: RoundView) -> None:
    """Apply round.void: nothing in this round counts; the run's view checks its reason."""
    current.phase = RoundPhase.OVER


def read_proof(current: RoundView, body: WitnessProof) -> WitnessFindings:
    """Read an elected witness's proof; raises RefusedError with the rule that it breaks."""
    if current.head is None:
        raise RefusedError("no-head", "the round has no head")
    seen = proof.check_proof(
        body,
        seed=current.seed,
        slots=len(current.roster.members),
        trainers=len(current.assignment),
        commitments={slot: one.id for slot, one in current.commitments.items()},
        head=current.head.hash,
    )
    # Of drawn slots only: else a witness could choose whom it measures.
    if not seen.gains.keys() <= current.gains.windows.keys() & seen.vouched:
        raise RefusedError("proof-gains", "a gain of a slot not drawn, or not vouched for")
    return seen


def verify_lot(current: RoundView, author: PeerKey, body: HeadAttest) -> None:
    """Verify the lot of an attestation before its turn, in any thread; `apply` decides.

    It costs more than all else about the statement, and `vrf.verify` remembers it.
    """
    if author in current.slot_of and current.phase is RoundPhase.ATTEST:
        with suppress(SignatureInvalidError, MalformedError):
            current.check_proof(author, current.lot_input, from_text(body.vrf, vrf.PROOF_BYTES))


def _checked_lot(current: RoundView, slot: int, author: PeerKey, body: HeadAttest) -> bytes:
    """Check an attestation; return the lot that its author draws with it."""
    if current.phase is not RoundPhase.ATTEST:
        raise RefusedError("too-late", f"round {current.number} is already open")
    if slot in current.attests:
        raise RefusedError("already-said", f"a second attestation for round {current.number}")
    # Recomputed from the roots: a member states parts it holds, not a hash it copied.
    expected = current.expected_head(*attested_roots(body))
    if from_text(body.head) != expected.hash:
        raise RefusedError("wrong-head", "the head does not match its roots and the accepted set")
    settled = current.settled_head()
    if settled is not None and expected != settled:
        raise RefusedError("wrong-head", f"the head is already {to_text(settled.hash)}")
    try:  # last: it costs more than all other checks together
        return current.check_proof(author, current.lot_input, from_text(body.vrf, vrf.PROOF_BYTES))
    except SignatureInvalidError as err:
        raise RefusedError("wrong-vrf", f"the lot in round {current.number}: {err}") from err


def _checked_header(
    current: RoundView, slot: int, author: PeerKey, body: WorkCommit
) -> ContributionHeader:
    if current.phase is not RoundPhase.TRAIN:
        raise RefusedError("too-late", f"round {current.number} does not accept commitments now")
    if slot in current.commitments:
        raise RefusedError("already-said", f"a second commitment for round {current.number}")
    header = _header(body)
    broken = current.broken_rule(author, header)
    if broken:
        raise RefusedError(f"header-{broken}", f"the header breaks rule `{broken}`")
    if author in dict(_parts(body)):
        raise RefusedError("wrong-parts", "the author keeps the rest, and cannot name itself")
    # Two commitments may name one payload: the root is public once it is gossiped, so the first
    # to name it may have copied it. The seals show which of them had the bytes.
    return header


def _checked_proof(
    current: RoundView, slot: int, author: PeerKey, body: WitnessProof
) -> tuple[WitnessFindings, bytes]:
    """Check a proof; return what it found, and the audit lot that its author draws with it."""
    if current.phase is not RoundPhase.WITNESS:
        raise RefusedError("too-late", f"round {current.number} does not accept proofs now")
    # Only the elected: else a coordinator's friends could outvote the committee.
    if slot not in current.elected:
        raise RefusedError("wrong-role", f"not elected as witness of round {current.number}")
    if slot in current.proofs:
        raise RefusedError("already-said", f"a second proof for round {current.number}")
    findings = read_proof(current, body)
    try:  # last: it costs more than all other checks together
        proven = from_text(body.vrf, vrf.PROOF_BYTES)
        lot = current.check_proof(author, current.audit_lot_input, proven)
    except SignatureInvalidError as err:
        raise RefusedError("wrong-vrf", f"the audit lot of round {current.number}: {err}") from err
    return findings, lot


def _check_report(current: RoundView, slot: int, body: AuditReport) -> None:
    order = current.orders.get(slot)
    if order is None:
        raise RefusedError("wrong-role", f"not an auditor in round {current.number}")
    # Not in the witness phase: who knows its friends' lots knows which of them would judge.
    if current.phase not in (RoundPhase.ATTEST, RoundPhase.TRAIN):
        raise RefusedError("too-late", f"round {current.number} does not accept audits now")
    if slot in current.reports:
        raise RefusedError("already-said", f"a second audit in round {current.number}")
    if body.contribution != order.contribution:
        raise RefusedError(
            "wrong-audit", f"an audit of {body.contribution}; ordered was {order.contribution}"
        )
    if not body.declines and len(body.checked) != len(order.earlier):
        raise RefusedError(
            "wrong-audit",
            f"{len(body.checked)} sketches checked; ordered were {len(order.earlier)}",
        )


def _parts(body: WorkCommit) -> tuple[tuple[PeerKey, int], ...]:
    given = () if body.parts is UNSET else body.parts
    return tuple((key_from_text(key), parts) for key, parts in given)


def _header(body: WorkCommit) -> ContributionHeader:
    try:
        return ContributionHeader.parse(from_text(body.header, None))
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
