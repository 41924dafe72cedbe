"""Carries out one duty at a time, with the worker's heads, training, witnessing and statements.

Large things move as files of the store. A file from the trainer process is checked against its
hash before anything about it is signed: nothing that the trainer reports is passed on unverified.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import trio

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty
from tequio_client.worker.rounds.head import HeadKeeper
from tequio_client.worker.rounds.measure import HeadMeasuring
from tequio_client.worker.rounds.statements import RunContext, RunStatements
from tequio_client.worker.rounds.train import RoundTraining, WorkTally
from tequio_client.worker.rounds.witness import RoundWitnessing
from tequio_shared.errors import RefusedError, TequioError
from tequio_shared.network.run import RunView, first_head
from tequio_shared.round.round import AcceptedSet, Head


class DutyRunner:
    """Carries out the duties of one run."""

    def __init__(self, means: RunContext) -> None:
        self._means = means
        self.tally = WorkTally()
        self._heads = HeadKeeper(means)
        self._statements = RunStatements(means)
        self._training = RoundTraining(means, self._statements, self.tally)
        self.measuring = HeadMeasuring(means)
        self._witnessing = RoundWitnessing(means, self._statements, self._training, self.tally)

    @property
    def held(self) -> Head | None:
        return self._heads.held

    @property
    def fetching(self) -> Head | None:
        """The head whose weights are being fetched, also between two attempts."""
        return self._heads.fetching

    @property
    def answered(self) -> Collection[Duty]:
        return self._statements.answered

    @property
    def is_sending(self) -> bool:
        """True while a statement is being sent: its duty should not be cancelled."""
        return self._statements.is_sending

    async def perform(self, now: Duty, view: RunView, recent: Sequence[AcceptedSet] = ()) -> None:
        """Carry out one duty; returns when it is done or no longer possible. Raises TequioError.

        `recent` are the accepted sets of the last rounds, oldest first.
        """
        match now:
            case duties.FetchDuty(head=head):
                await self._heads.fetch(head)
            case duties.AdvanceDuty(closed=closed):
                await self._heads.advance(closed)
            case duties.ReadyDuty():
                # Prepare the trainer first: a member that turns out unable to train wastes a slot.
                await self._means.workroom.prepare_trainer()
                await self._statements.ready(now, self.held or first_head(self._means.manifest))
            case duties.LeaveDuty():
                await self._statements.leave(now)
            case duties.MeasureDuty():
                await self._measure(now)
            case duties.AttestDuty() | duties.TrainDuty() | duties.ProveDuty():
                await self._perform_in_round(now, view, recent)
            case _:
                raise AssertionError(f"not a duty to carry out: {now}")

    async def _perform_in_round(
        self,
        now: duties.AttestDuty | duties.TrainDuty | duties.ProveDuty,
        view: RunView,
        recent: Sequence[AcceptedSet],
    ) -> None:
        current = view.round
        if current is None or current.number != now.round:
            raise RefusedError("not-in-round", f"round {now.round} is over")
        match now:
            case duties.AttestDuty():
                if self.held is None:
                    raise RefusedError("no-head", "no head to attest yet")
                await self._statements.attest(now, current, self.held)
            case duties.TrainDuty():
                await self._training.train(now, current, self.held)
            case duties.ProveDuty():
                lately = [one for one in recent if one.round < current.number]
                await self._witnessing.prove(now, current, view.witnessed_ms, lately)

    async def _measure(self, now: duties.MeasureDuty) -> None:
        """Measure a head, and submit the result once if this key was drawn."""
        if not now.is_drawn:
            await self.measuring.measure(now.head)
            return
        try:
            body = await self._statements.submitted_measurement(
                now
            ) or await self.measuring.measure_with_sample(now.head)
        except TequioError:
            # Nobody is paid for a measurement, and other members were drawn too: no second attempt.
            self._statements.skip_measurement(now)
            raise
        await self._statements.submit_measurement(now, body)

    async def leave(self) -> None:
        await self._statements.leave()

    async def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """Settle the error feedback when a round is over.

        An accepted contribution leaves its unsent part in the feedback; a contribution that did not
        count leaves the feedback as it was before.
        """
        settle = self._means.feedback.settle
        await trio.to_thread.run_sync(lambda: settle(round_number, was_accepted=was_accepted))
