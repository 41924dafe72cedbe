"""Carries out one duty at a time, with the worker's heads, training, witnessing and statements.

Large things move as files of the store. A file from the trainer process is checked against its
hash before anything about it is signed: nothing that the trainer reports is passed on unverified.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import trio

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty, RoundDuty
from tequio_client.worker.rounds.head import HeadKeeper
from tequio_client.worker.rounds.measure import HeadMeasuring
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_client.worker.rounds.train import RoundTraining, WorkTally
from tequio_client.worker.rounds.witness import RoundWitnessing
from tequio_shared.errors import RefusedError, TequioError
from tequio_shared.network.run import RunView, first_head
from tequio_shared.round.round import AcceptedSet
from tequio_shared.statements.runs import HeadMeasure


class DutyRunner:
    """Carries out the duties of one run."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.tally = WorkTally()
        self.heads = HeadKeeper(context)
        self.statements = RunStatements(context)
        self.measuring = HeadMeasuring(context)
        self._training = RoundTraining(context, self.statements, self.tally)
        self._witnessing = RoundWitnessing(context, self.statements, self._training, self.tally)

    async def perform(self, now: Duty, view: RunView, recent: Sequence[AcceptedSet] = ()) -> None:
        """Carry out one duty; returns when it is done or no longer possible. Raises TequioError.

        `recent` are the accepted sets of the last rounds, oldest first.
        """
        match now:
            case duties.FetchDuty(head=head):
                await self.heads.fetch(head)
            case duties.AdvanceDuty(closed=closed):
                await self.heads.advance(closed)
            case duties.ReadyDuty():
                # Prepare the trainer first: a member that turns out unable to train wastes a slot.
                await self._context.workdir.prepare_trainer()
                held = self.heads.held or first_head(self._context.manifest)
                await self.statements.ready(now, held)
            case duties.LeaveDuty():
                await self.statements.leave(now)
            case duties.MeasureDuty():
                await self._measure(now)
            case duties.AttestDuty() | duties.TrainDuty() | duties.ProveDuty():
                await self._perform_in_round(now, view, recent)
            case _:
                raise AssertionError(f"not a duty to carry out: {now}")

    async def _perform_in_round(
        self, now: RoundDuty, view: RunView, recent: Sequence[AcceptedSet]
    ) -> None:
        current, held = view.round, self.heads.held
        if current is None or current.number != now.round:
            raise RefusedError("not-in-round", f"round {now.round} is over")
        match now:
            case duties.AttestDuty():
                if held is None:
                    raise RefusedError("no-head", "no head to attest yet")
                await self.statements.attest(now, current, held)
            case duties.TrainDuty():
                await self._training.train(now, current, held)
            case duties.ProveDuty():
                lately = [one for one in recent if one.round < current.number]
                await self._witnessing.prove(now, current, view.witnessed_ms, lately)

    async def _measure(self, now: duties.MeasureDuty) -> None:
        """Measure a head, and submit the result once if this key was drawn."""
        if not now.is_drawn:
            await self.measuring.measure(now.head)
            return
        try:
            body = await self.statements.submitted(HeadMeasure, now.head.round)
            body = body or await self.measuring.measure_with_sample(now.head)
        except TequioError:
            # Nobody is paid for a measurement, and other members were drawn too: no second attempt.
            self.statements.measured.append(now)
            raise
        await self.statements.submit_measurement(now, body)

    async def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """Settle the error feedback when a round is over.

        An accepted contribution leaves its unsent part in the feedback; a contribution that did not
        count leaves the feedback as it was before.
        """
        settle = partial(self._context.feedback.settle, round_number, was_accepted=was_accepted)
        await trio.to_thread.run_sync(settle)
