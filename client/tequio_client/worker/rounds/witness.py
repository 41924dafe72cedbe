"""Witnessing a round: wait for its contributions, have them screened, submit the proof."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import structlog
import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.gains import measure_gains
from tequio_client.worker.rounds.marks import ProofMarks
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_client.worker.rounds.train import RoundTraining, WorkTally
from tequio_shared.errors import RefusedError
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.head.contribution import RecordShape
from tequio_shared.ids import to_text
from tequio_shared.round.evidence import PieceEvidence, find_evidence
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import WitnessProof

log = structlog.get_logger(__name__)

GATHER_SHARE = 0.5
"""Part of the witness phase spent waiting for contributions that have not arrived."""
PAST_ROUNDS = 4
"""Number of earlier rounds whose contributions are recognised when they are sent again."""
RECORD_RULES = frozenset({"scale", "filler", "popcount", "high", "ascending", "level", "hollow"})
"""Rules of a single record (docs/protocol.md, 11.4)."""
_REASONS = {reason.name.lower(): reason for reason in RejectionReason}


class RoundWitnessing:
    def __init__(
        self,
        context: RunContext,
        statements: RunStatements,
        training: RoundTraining,
        tally: WorkTally,
        marks: ProofMarks,
    ) -> None:
        self._context = context
        self._marks = marks
        self._statements = statements
        self._training = training
        self._tally = tally
        self._verdicts: Sequence[link.ScreeningVerdict] = ()  # of the proof being made

    async def prove(
        self,
        now: duties.ProveDuty,
        current: RoundView,
        witnessed_ms: int,
        lately: Sequence[AcceptedSet],
    ) -> None:
        """Submit this key's proof; a proof that was made before a restart is sent unchanged."""
        body = await self._statements.submitted(WitnessProof, now.round)
        body = body or await self._proof(current, witnessed_ms, lately)
        if await self._statements.submit_once(now, body) is None:
            self._tally.proofs += 1
        # After the proof, which has a deadline.
        verdicts, self._verdicts = self._verdicts, ()
        await self._report_bytes(current, verdicts)

    async def _proof(
        self, current: RoundView, witnessed_ms: int, lately: Sequence[AcceptedSet]
    ) -> WitnessProof:
        if current.head is None:
            raise RefusedError("no-head", "the round has no head")
        # Contributions that are still missing after the wait get no verdict: not having a file is
        # no evidence against its trainer, and other witnesses may have it.
        await self._wait_for_payloads(current, witnessed_ms)
        candidates = self._candidates(current)
        verdicts: tuple[link.ScreeningVerdict, ...] = ()
        if candidates:
            past = self._past(lately, link.FILES - len(candidates))
            verdicts = await self._screened(current, current.head, candidates, past)
            self._verdicts = verdicts
        vouched = {one.slot: current.commitments[one.slot].id for one in verdicts if not one.reason}
        lot = self._context.prove(current.audit_lot_input)
        vouched, marks = await self._marks.make(current, vouched, lot)
        gains = await measure_gains(self._context, current, current.head, vouched, witnessed_ms)
        rejected = {one.slot: _REASONS[one.reason] for one in verdicts if one.reason in _REASONS}
        body = current.proof_of(vouched, rejected, lot, marks)
        return msgspec.structs.replace(body, gains=gains)

    async def _wait_for_payloads(self, current: RoundView, since_ms: int) -> None:
        # Counted from the start of the phase, not from now: a witness that restarts has less time.
        whole_ms = self._context.manifest.rounds.witness * GATHER_SHARE
        gone_ms = max(self._context.ledger_clock.now_ms() - since_ms, 0)
        roots = [one.header.payload_root for one in current.commitments.values()]
        with trio.move_on_after(max(whole_ms - gone_ms, 0) / 1000):
            await self._context.exchange.wait_for_trees(roots)

    def _candidates(self, current: RoundView) -> tuple[link.ScreenCandidate, ...]:
        """The contributions that are here, in the order of their commitments.

        The order matters: of two that are alike, the one committed later is the copy.
        """
        store = self._context.store
        return tuple(
            link.ScreenCandidate(
                slot=slot,
                trainer=to_text(one.header.trainer),
                header=to_text(one.header.pack()),
                seal=to_text(one.seal),
                payload=str(store.tree_path(one.header.payload_root)),
                windows=current.assignment[slot],
            )
            for slot, one in sorted(current.commitments.items(), key=lambda item: item[1].index)
            if store.has_tree(one.header.payload_root)
        )

    def _past(self, lately: Sequence[AcceptedSet], most: int) -> tuple[link.Contribution, ...]:
        """Accepted contributions of the last rounds that are still here, newest first."""
        store = self._context.store
        stored = (
            link.Contribution(to_text(work.header), str(store.tree_path(work.payload_root)))
            for one in reversed(lately[-PAST_ROUNDS:])
            for work in one.works
            if store.has_tree(work.payload_root)
        )
        return tuple(islice(stored, most))

    async def _screened(
        self,
        current: RoundView,
        head: Head,
        candidates: tuple[link.ScreenCandidate, ...],
        past: tuple[link.Contribution, ...],
    ) -> tuple[link.ScreeningVerdict, ...]:
        # This worker's own pseudo-gradient helps to judge the others. After a restart it is gone,
        # and the screening does without.
        number = current.number
        own = self._training.own_delta(number)
        report = await self._context.workdir.ask(
            lambda command: link.Screen(
                command=command,
                round=number,
                run=to_text(self._context.manifest.run_id),
                head=to_text(head.hash),
                k=current.k,
                candidates=candidates,
                own_delta=str(own) if own else None,
                own_slot=current.slot_of.get(self._context.key) if own else None,
                past=past,
            ),
            link.Screened,
        )
        for one in report.verdicts:
            if one.reason:
                log.warning("contribution rejected", round=number, slot=one.slot, **_figures(one))
        return report.verdicts

    async def _report_bytes(
        self, current: RoundView, verdicts: Sequence[link.ScreeningVerdict]
    ) -> None:
        """Report contributions with a broken record; only the piece that shows it convicts."""
        for one in verdicts:
            commitment = current.commitments[one.slot]
            tree = self._context.store.tree(commitment.header.payload_root)
            if one.reason not in RECORD_RULES or tree is None:
                continue
            path = self._context.store.tree_path(tree.ref.root)
            find = partial(_evidence, path, tree.leaves, current.shape)
            try:
                piece = await trio.to_thread.run_sync(find)
            except OSError as err:  # dropped meanwhile: other witnesses have it
                log.warning("no evidence", error=str(err))
                continue
            # Checked again from the bytes: the trainer's word is not enough to accuse somebody.
            if piece is not None:
                self._context.reports.report_bytes(commitment, piece)


def _evidence(path: Path, leaves: Sequence[bytes], shape: RecordShape) -> PieceEvidence | None:
    return find_evidence(path.read_bytes(), leaves, shape)


def _figures(one: link.ScreeningVerdict) -> dict[str, object]:
    """Log fields: why a contribution was rejected, and the figures it was rejected by."""
    figures = {"norm_ratio": one.norm_ratio, "cosine": one.cosine, "overlap": one.overlap}
    return {"why": one.reason, **{name: round(at, 3) for name, at in figures.items() if at}}
