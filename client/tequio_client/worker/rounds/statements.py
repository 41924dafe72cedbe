"""What a volunteer tells the ledger about its run, and what has been answered.

A word about a round is said once, whatever happens: the outbox keeps it, and who asks again after
a crash says the same bytes. Its answer is final for the round, a refusal too.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import trio

from tequio_client.worker.rounds import duties
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import HeadAttest, HeadMeasure, WorkCommit

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_client.worker.rounds.context import Means
    from tequio_client.worker.rounds.duties import Duty
    from tequio_shared.round.round import Head, RoundView
    from tequio_shared.statements import Body
    from tequio_shared.statements.runs import WitnessProof
    from tequio_shared.statements.statement import Entry

RoundDuty: TypeAlias = duties.Attest | duties.Train | duties.Prove
LEAVING = 1
"""Code of member.leave: the volunteer stops."""
SAID_KEPT = 16
MEASURE_S = 30.0
"""What the ledger has not answered by then stays in the outbox, and nobody waits for it."""


class Voice:
    """Says our statements about one run."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._run = means.manifest.run_id
        self._speaking = 0  # statements on their way
        self._said: deque[Duty] = deque(maxlen=SAID_KEPT)  # what the ledger has answered
        self._measured: deque[Duty] = deque(maxlen=SAID_KEPT)  # the same; a draw outlives rounds

    @property
    def said(self) -> Collection[Duty]:
        """Duties to speak that the ledger has answered."""
        return (*self._said, *self._measured)

    @property
    def is_speaking(self) -> bool:
        """Whether a statement is on its way: what it belongs to should not be cancelled."""
        return self._speaking > 0

    async def leave(self, now: duties.TakeLeave | None = None) -> None:
        """Say goodbye to the run, for good or for now."""
        await self._say(MemberLeave(reason=LEAVING), None)
        if now is not None:
            self._said.append(now)

    async def ready(self, now: duties.Ready, held: Head) -> None:
        """Ask to be in the coming rosters."""
        body = MemberReady(
            head=to_text(held.hash), roles=self._means.roles, commit=await self._commit()
        )
        await self._say(body, None)
        self._said.append(now)

    async def attest(self, now: duties.Attest, current: RoundView, held: Head) -> None:
        """State a head; when our secret is not the one that the log knows, commit anew as well.

        Then our file is behind the log. We train and witness all the same.
        """
        body = await self._means.outbox.word(HeadAttest, self._run, now.round)
        refusal = await self.say_once(now, body or await self._attestation(current, held))
        if refusal is not None and refusal.code == "wrong-reveal":
            await self.ready(duties.Ready(current.roster_index), held)

    async def measured(self, now: duties.Measure) -> HeadMeasure | None:
        """What we said of that head in this life or an earlier one, answered or not."""
        return await self._means.outbox.word(HeadMeasure, self._run, now.head.round)

    async def measure(self, now: duties.Measure, body: HeadMeasure) -> None:
        """State what we measured of a head; nobody waits for it long, and it is said once."""
        with trio.move_on_after(MEASURE_S):
            with suppress(RefusedError):  # the outbox has logged it
                await self._say(body, now.head.round)
        self._measured.append(now)

    def give_up(self, now: duties.Measure) -> None:
        """Measure that head no more."""
        self._measured.append(now)

    async def say_once(
        self,
        now: duties.Attest | duties.Train | duties.Prove,
        body: HeadAttest | WorkCommit | WitnessProof,
    ) -> RefusedError | None:
        """Say what a round takes once; a refusal is final for this round, logged and returned."""
        try:
            entry = await self._say(body, now.round)
        except RefusedError as err:
            self._said.append(now)
            return err  # the outbox has logged it
        self._said.append(now)
        if isinstance(body, WorkCommit):
            await self._means.announcer.announce(entry)
        return None

    async def _attestation(self, current: RoundView, held: Head) -> HeadAttest:
        return HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            reveal=to_text(self._means.secrets.reveal(current.roster_index)),
            commit=await self._commit(),
        )

    async def _commit(self) -> str:
        return to_text(await trio.to_thread.run_sync(self._means.secrets.commit))

    async def _say(self, body: Body, round_number: int | None) -> Entry:
        self._speaking += 1
        try:
            return await self._means.outbox.say(body, self._run, round_number)
        finally:
            self._speaking -= 1
