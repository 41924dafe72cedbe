"""Members of an in-memory swarm that cheat, and witnesses that judge by the real validation.

Attackers make real statements with real keys; only the bytes are wrong. A `Judge` knows nothing
about them: it runs `contribution.validate` over the payloads that it can get.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from tequio_client.worker.store.trees import hash_pieces
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    ContributionHeader,
    RecordShape,
    empty_record,
    payload_root,
    validate,
)
from tequio_shared.ids import ZERO_DIGEST, HeadHash, from_text, key_from_text, sha256, to_text
from tequio_shared.limits import GAIN_MOST
from tequio_shared.log.merkle import inclusion_path, root_of_hashes
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.round.evidence import PieceEvidence, find_evidence
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import FaultReport, MemberLeave, StandingChange
from tequio_shared.statements.runs import HeadAttest, WitnessProof, WorkCommit
from tests.support.commitments import commitment
from tests.support.marks import marks_of
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from tequio_shared.ids import PeerKey, RunId
    from tequio_shared.keys import Signer
    from tequio_shared.round.proof import Verdict
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.statement import Body, Entry


Spoil: TypeAlias = "Callable[[bytes, RecordShape], bytes]"
"""Alters an honest payload."""


class Judge(Volunteer):
    """An honest member that judges payloads as a witness does: by their bytes alone."""

    def _proof(self, current: RoundView) -> WitnessProof:
        ids, rejected = {}, {}
        for slot, one in current.commitments.items():
            payload = self._arithmetic.payloads.get(one.header.payload_root)
            if payload is None:
                continue
            rule = validate(one.header.pack(), payload, current.expected(), one.seal)
            if rule is None:
                ids[slot] = one.id
            else:
                rejected[slot] = RejectionReason[rule.upper()]
        assert current.head is not None
        lot = self.signer.prove(current.audit_lot_input)
        marks = marks_of(current, ids, lot, self._arithmetic.payloads)
        body = current.proof_of(ids, rejected, lot, marks)
        gains = self._arithmetic.gains(current, ids, self.key)
        return msgspec.structs.replace(body, gains=gains)


class Forger(Judge):
    """A trainer that commits to altered bytes; `spoil` alters the honest ones."""

    spoil: Callable[[bytes, RecordShape], bytes] = staticmethod(lambda payload, _: payload)

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        honest = ContributionHeader.parse(from_text(super()._work(current, slot).header, None))
        payloads = self._arithmetic.payloads
        spoilt = type(self).spoil(payloads[honest.payload_root], current.shape)
        header = replace(honest, payload_root=payload_root(spoilt, current.shape))
        payloads[header.payload_root] = spoilt
        self._headers[current.number] = header
        return commitment(header, spoilt)


class TwoFaced(Judge):
    """A trainer that serves other bytes than those it committed to."""

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        body = super()._work(current, slot)
        root = ContributionHeader.parse(from_text(body.header, None)).payload_root
        shown = bytearray(self._arithmetic.payloads[root])
        shown[0] ^= 1
        self._arithmetic.payloads[root] = bytes(shown)
        return body


class Withholder(Judge):
    """A trainer that commits and never serves its bytes."""

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        body = super()._work(current, slot)
        root = ContributionHeader.parse(from_text(body.header, None)).payload_root
        self._arithmetic.payloads.pop(root, None)
        return body


class Colluder(Judge):
    """A witness that leaves out its victims, or rejects them with `accusation`."""

    victims: Collection[PeerKey] = ()
    accusation: RejectionReason | None = None

    def _proof(self, current: RoundView) -> WitnessProof:
        slots = {slot for slot in current.commitments if self._is_victim(current, slot)}
        assert current.head is not None
        vouched = {slot: one.id for slot, one in current.commitments.items() if slot not in slots}
        rejected = dict.fromkeys(slots, self.accusation) if self.accusation else {}
        lot = self.signer.prove(current.audit_lot_input)
        marks = marks_of(current, vouched, lot, self._arithmetic.payloads)
        return current.proof_of(vouched, rejected, lot, marks)

    def _is_victim(self, current: RoundView, slot: int) -> bool:
        return current.roster.members[slot].key in self.victims


class GainLiar(Judge):
    """A witness that states a high gain for its allies, and the lowest one for everybody else."""

    allies: Collection[PeerKey] = ()

    def _proof(self, current: RoundView) -> WitnessProof:
        body, keys = super()._proof(current), current.roster.keys
        gains = tuple(
            (slot, GAIN_MOST if keys[slot] in self.allies else -GAIN_MOST)
            for slot in sorted(current.gains.windows)
        )
        return msgspec.structs.replace(body, gains=gains)


class FrontRunner(Judge):
    """A trainer that commits to a victim's payload root before the victim's commitment is logged.

    It saw the root in gossip, and does not have the payload.
    """

    victim: Volunteer

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        mine = ContributionHeader.parse(from_text(super()._work(current, slot).header, None))
        theirs = self.victim.contribution_to(current)
        return commitment(replace(mine, payload_root=theirs.payload_root), b"not here")


class LateCommitter(Judge):
    """An honest trainer whose commitment is logged after another to the same payload."""

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Wait for the other commitment before committing."""
        draft, current = super().duty(view), view.round
        if draft is None or current is None or not isinstance(draft.body, WorkCommit):
            return draft
        mine = self.contribution_to(current).payload_root
        logged = (one.header.payload_root for one in current.commitments.values())
        return draft if mine in logged else None


class Copyist(Judge):
    """A trainer that commits to the first committed payload as its own, without having it."""

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Wait for another commitment before committing."""
        draft, current = super().duty(view), view.round
        if draft is None or current is None or not isinstance(draft.body, WorkCommit):
            return draft
        if not current.commitments:
            return None
        first = next(iter(current.commitments.values())).header
        mine = ContributionHeader.parse(from_text(draft.body.header, None))
        copied = replace(mine, payload_root=first.payload_root)
        return StatementDraft(commitment(copied), draft.round)


class MuteWitness(Judge):
    """A member that attests and trains, and never hands in a proof."""

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Send everything except proofs."""
        draft = super().duty(view)
        return None if draft is not None and isinstance(draft.body, WitnessProof) else draft


class WitnessStrike(Judge):
    """A member that hands in no proof in one round, as all others may at once."""

    strikes_in = 0

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Send everything except the proof of that round."""
        draft = super().duty(view)
        strikes = draft is not None and draft.round == self.strikes_in
        return None if strikes and isinstance(draft.body, WitnessProof) else draft  # type: ignore[union-attr]  # it strikes


class Sleeper(Judge):
    """A member that is killed once a round has opened with it."""

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Join, attest, and never send anything again."""
        if self.seq and view.state not in (RunState.WAITING_FOR_MEMBERS, RunState.WARMUP):
            self.failure_rates = FailureRates(silent=100)
            self._failures.clear()
        if self.failure_rates.silent:
            return None
        return super().duty(view)


class Quitter(Judge):
    """A member that leaves when `leaves` is set, and does not come back."""

    leaves = False

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """Send member.leave once `leaves` is set."""
        standing = view.accounts.members.get(self.key)
        if not self.leaves:
            return super().duty(view)
        return StatementDraft(MemberLeave(reason=1)) if standing and standing.is_active else None


class HeadLiar(Judge):
    """A member that states a wrong head in every round."""

    def _attest(self, view: FullRunView, current: RoundView) -> HeadAttest:
        self._failures[current.number, current.phase, "misstating"] = True
        return super()._attest(view, current)


def swarm_of(seed: int, *kinds: type[Volunteer], swarm: Swarm | None = None) -> Swarm:
    """A swarm with one member of each kind, in this order."""
    made = swarm or patient_swarm(seed)
    for at, kind in enumerate(kinds):
        made.join(kind(f"{kind.__name__} {at}", made.arithmetic, seed=seed))
    return made


def patient_swarm(seed: int, **rounds: int) -> Swarm:
    """A swarm whose first round waits until all members have joined; keywords change `rounds`."""
    return Swarm(seed=seed, manifest=tiny_manifest(**{"warmup": 20_000, **rounds}))


def spoiler(spoil: Callable[[bytes, RecordShape], bytes]) -> type[Forger]:
    """A forger with this way of spoiling."""
    return type("Forger", (Forger,), {"spoil": staticmethod(spoil)})


def outcome(swarm: Swarm, who: Volunteer) -> tuple[Verdict, RejectionReason]:
    """The verdict on a member's work in the current round."""
    current = swarm.view.round
    assert current is not None
    return current.verdicts()[current.slot_of[who.key]]


def earned(swarm: Swarm) -> Mapping[PeerKey, int]:
    """GFLOP of each member, of both kinds together."""
    accounts = swarm.view.accounts
    return {key: one.trainer + one.witness for key, one in accounts.earned.items()}


def changes(swarm: Swarm, one: Volunteer) -> list[StandingChange]:
    said = [entry.statement.body for entry in swarm.entries]
    return [
        body
        for body in said
        if isinstance(body, StandingChange) and key_from_text(body.peer) == one.key
    ]


def settle(swarm: Swarm) -> None:
    """Let the coordinator say what follows about standings."""
    while swarm.standings.due(swarm.now_ms):
        assert swarm.coordinate()


def entries_by(swarm: Swarm, who: Volunteer, kind: str) -> list[Entry]:
    """A member's entries of one type, in the log's order."""
    return [
        one
        for one in swarm.entries
        if one.statement.author == who.key and one.statement.type == kind
    ]


def swarm_in(state: RunState, *, logged: int = 0, members: int = 5, seed: int = 4) -> Swarm:
    """An honest swarm in that state, after `logged` statements in its phase."""
    swarm = swarm_of(seed, *[Judge] * members)
    for _ in range(3_000):
        if swarm.view.state is state and _logged(round_of(swarm)) >= logged:
            return swarm
        assert swarm.step()
    raise AssertionError(f"never {logged} statements in {state}")


def round_of(swarm: Swarm) -> RoundView:
    """The round under way, or the last."""
    assert swarm.view.round is not None
    return swarm.view.round


def refusal(swarm: Swarm, author: Signer, body: Body, number: int | None = None) -> str:
    """The code with which both views refuse that statement about the round; fails if accepted."""
    draft = StatementDraft(body, number or round_of(swarm).number)
    statement = swarm.sign(author, draft, swarm.manifest.run_id).statement
    copied = deepcopy(swarm.view)
    light = RunView(**{one.name: getattr(copied, one.name) for one in fields(RunView)})
    codes = set()
    for view in (light, swarm.view):
        try:
            view.apply(len(swarm.entries), statement, swarm.now_ms, swarm.blobs.__getitem__)
        except RefusedError as err:
            codes.add(err.code)
        else:
            raise AssertionError(f"{statement.type} was accepted")
    (code,) = codes
    return code


def due_proof(swarm: Swarm) -> tuple[Volunteer, WitnessProof]:
    """A witness that has not answered yet, and its honest proof."""
    for one in swarm.volunteers:
        draft = one.duty(swarm.view)
        if draft is not None and isinstance(draft.body, WitnessProof):
            return one, draft.body
    raise AssertionError("nobody owes a proof")


def signed(swarm: Swarm, one: Volunteer, draft: StatementDraft) -> bytes:
    """The leaf of a volunteer's next statement, which is signed but not sent to the ledger."""
    return one.sign(swarm.net, swarm.manifest.run_id, draft, swarm.now_ms).leaf()


def report_of(*leaves: bytes) -> FaultReport:
    """A fault report with those leaves."""
    return FaultReport(leaves=tuple(map(to_text, leaves)), piece="")


def bad_piece(swarm: Swarm, one: Volunteer, spoil: Spoil) -> FaultReport:
    """A report of a commitment that `one` signs, with the piece of its payload that `spoil` spoilt.

    The piece is among the swarm's documents; the commitment is not in the log.
    """
    header, piece = forged_piece(one.key, swarm.manifest.run_id, spoil)
    swarm.blobs[sha256(piece)] = piece
    draft = StatementDraft(commitment(header), max(swarm.view.number, 1))
    return FaultReport(leaves=(to_text(signed(swarm, one, draft)),), piece=to_text(sha256(piece)))


def forged_piece(
    trainer: PeerKey, run: RunId, spoil: Spoil, chunks: int = 3
) -> tuple[ContributionHeader, bytes]:
    """A header over a payload of some records, and its broken or first piece as evidence."""
    shape = RecordShape(algorithm="sparseloco", k=16, bits=2)
    payload = spoil(empty_record(shape).tobytes() * chunks, shape)
    leaves = hash_pieces(payload, shape.group_bytes)
    header = ContributionHeader(
        algorithm=ALGORITHM_CODES[shape.algorithm],
        bits=shape.bits,
        k=shape.k,
        inner_steps=1,
        chunk_count=chunks,
        round=1,
        window_first=0,
        window_count=1,
        tokens=1,
        run_id=run,
        base_head=HeadHash(ZERO_DIGEST),
        trainer=trainer,
        payload_root=root_of_hashes(leaves),
    )
    piece = find_evidence(payload, leaves, shape) or PieceEvidence(
        index=0,
        path=tuple(map(to_text, inclusion_path(leaves, 0))),
        records=to_text(payload[: shape.group_bytes]),
    )
    return header, piece.encode()


def scale_255(payload: bytes, _shape: RecordShape) -> bytes:
    """Break the rule `scale` in the first record."""
    return b"\xff" + payload[1:]


def _logged(current: RoundView) -> int:
    match current.phase:
        case RoundPhase.ATTEST:
            return len(current.attests)
        case RoundPhase.TRAIN:
            return len(current.commitments)
    return len(current.proofs)
