"""How a volunteer does each duty: by its heads, its training, its witnessing and its statements.

Large things move as files of the store; what the trainer hands back is checked against its name
before anything is signed. Nothing that a trainer says of itself is passed on as fact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.context import current_round
from tequio_client.worker.rounds.head import Heads
from tequio_client.worker.rounds.measure import Measuring
from tequio_client.worker.rounds.statements import RunStatements
from tequio_client.worker.rounds.train import Tally, Training
from tequio_client.worker.rounds.witness import Witnessing
from tequio_shared.errors import RefusedError, TequioError
from tequio_shared.network.run import first_head

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_client.worker.rounds.context import Means, Tracker
    from tequio_client.worker.rounds.duties import Duty
    from tequio_shared.round.round import Head


class Deeds:
    """Does duties, one at a time."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self.tally = Tally()
        self._heads = Heads(means)
        self._statements = RunStatements(means)
        self._training = Training(means, self._statements, self.tally)
        self.measuring = Measuring(means)
        self._witnessing = Witnessing(means, self._statements, self._training, self.tally)

    @property
    def held(self) -> Head | None:
        """The head whose weights are in our store."""
        return self._heads.held

    @property
    def fetching(self) -> Head | None:
        """The head whose weights we are getting from others, also between two attempts."""
        return self._heads.fetching

    @property
    def said(self) -> Collection[Duty]:
        """Duties whose statement the ledger has answered."""
        return self._statements.answered

    @property
    def is_speaking(self) -> bool:
        """Whether a statement is on its way: what it belongs to should not be cancelled."""
        return self._statements.is_sending

    async def do(self, now: Duty, rounds: Tracker) -> None:
        """Do one duty; returns when it is done or no longer possible. Raises TequioError."""
        match now:
            case duties.FetchHead(head=head):
                await self._heads.fetch(head)
            case duties.Advance(closed=closed):
                await self._heads.advance(closed)
            case duties.Ready():
                await self._means.workroom.prepared()
                await self._statements.ready(now, self.held or first_head(self._means.manifest))
            case duties.TakeLeave():
                await self._statements.leave(now)
            case duties.Measure():
                await self._measure(now)
            case duties.Attest() | duties.Train() | duties.Prove():
                await self._play_part(now, rounds)
            case _:
                raise AssertionError(f"{now} is nothing to do")

    async def _play_part(
        self, now: duties.Attest | duties.Train | duties.Prove, rounds: Tracker
    ) -> None:
        """Do what a round asks of its members."""
        match now:
            case duties.Attest():
                await self._attest(now, rounds)
            case duties.Train():
                await self._training.train(now, rounds, self.held)
            case duties.Prove():
                await self._witnessing.prove(now, rounds)

    async def _measure(self, now: duties.Measure) -> None:
        """Measure, and say it once if we were drawn: what fails is not tried again."""
        if not now.is_drawn:
            await self.measuring.measure(now.head)
            return
        try:
            body = await self._statements.measurement(now) or await self.measuring.testify(now.head)
        except TequioError:
            self._statements.give_up(now)
            raise
        await self._statements.measure(now, body)

    async def _attest(self, now: duties.Attest, rounds: Tracker) -> None:
        if self.held is None:
            raise RefusedError("no-head", "no head is here yet")
        await self._statements.attest(now, current_round(rounds, now.round), self.held)

    async def leave(self) -> None:
        """Say goodbye to the run."""
        await self._statements.leave()

    async def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """A round is over: what was not sent stays in the error feedback.

        Training that did not count leaves the feedback as it was before.
        """
        settle = self._means.feedback.settle
        await trio.to_thread.run_sync(lambda: settle(round_number, was_accepted=was_accepted))
