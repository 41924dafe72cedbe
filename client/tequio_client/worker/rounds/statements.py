"""What a member states about its run: which statements, when they are answered, and what follows.

The outbox keeps every statement and holds a round to one of each type; here is what a duty makes
of its answers. The answer is final for the round, a refusal too. Whether a statement was submitted
in an earlier life is asked of the outbox, so after a crash the same body goes out again.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import structlog
import trio

from tequio_client.worker.rounds import duties
from tequio_shared.errors import RefusedError
from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.statements.network import FaultReport, MemberLeave, MemberReady
from tequio_shared.statements.runs import HeadAttest, HeadMeasure, WorkCommit

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.rounds.context import Means
    from tequio_client.worker.rounds.duties import Duty
    from tequio_shared.ids import PeerKey
    from tequio_shared.round.round import Head, RoundView
    from tequio_shared.statements import Body
    from tequio_shared.statements.runs import WitnessProof
    from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

RoundDuty: TypeAlias = duties.Attest | duties.Train | duties.Prove
LEAVING = 1
"""Code of member.leave: the volunteer stops."""
ANSWERED_KEPT = 16
MEASURE_S = 30.0
"""After this long nobody waits for a measurement any more; it stays in the outbox."""
WAITING_REPORTS = 16
"""Most reports that wait; more equivocators at once are not all reported by this worker."""
REMEMBERED_REPORTS = 1_024
"""Authors reported so far; then all are forgotten, and may be reported again."""


class RunStatements:
    """Submits the statements of this key about one run."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._run = means.manifest.run_id
        self._sending = 0  # statements on their way
        self._answered: deque[Duty] = deque(maxlen=ANSWERED_KEPT)
        # Measurements apart: a draw outlives rounds, and the statements of later rounds would push
        # it out, so that the same head would be measured once more.
        self._measured: deque[Duty] = deque(maxlen=ANSWERED_KEPT)

    @property
    def answered(self) -> Collection[Duty]:
        """Duties whose statement the ledger has answered."""
        return (*self._answered, *self._measured)

    @property
    def is_sending(self) -> bool:
        """Whether a statement is on its way: what it belongs to should not be cancelled."""
        return self._sending > 0

    async def leave(self, now: duties.TakeLeave | None = None) -> None:
        """Leave the run, permanently or, with a duty, for now."""
        await self._submit(MemberLeave(reason=LEAVING), None)
        if now is not None:
            self._answered.append(now)

    async def ready(self, now: duties.Ready, held: Head) -> None:
        """Ask to be in the coming rosters."""
        body = MemberReady(
            head=to_text(held.hash), roles=self._means.roles, commit=await self._commit()
        )
        await self._submit(body, None)
        self._answered.append(now)

    async def attest(self, now: duties.Attest, current: RoundView, held: Head) -> None:
        """Attest a head; a secret other than the one in the log is committed to again.

        Our file is behind the log in that case. Training and witnessing go on all the same.
        """
        body = await self._means.outbox.submitted(HeadAttest, self._run, now.round)
        refusal = await self.submit_once(now, body or await self._attestation(current, held))
        if refusal is not None and refusal.code == "wrong-reveal":
            await self.ready(duties.Ready(current.roster_index), held)

    async def measurement(self, now: duties.Measure) -> HeadMeasure | None:
        """The measurement of that head that was submitted already, answered or not."""
        return await self._means.outbox.submitted(HeadMeasure, self._run, now.head.round)

    async def measure(self, now: duties.Measure, body: HeadMeasure) -> None:
        """Submit a measurement once; waits `MEASURE_S` for the answer at most."""
        with trio.move_on_after(MEASURE_S):
            with suppress(RefusedError):  # the outbox has logged it
                await self._submit(body, now.head.round)
        self._measured.append(now)

    def give_up(self, now: duties.Measure) -> None:
        """Measure that head no more."""
        self._measured.append(now)

    async def submit_once(
        self, now: RoundDuty, body: HeadAttest | WorkCommit | WitnessProof
    ) -> RefusedError | None:
        """Submit what a round takes once; a refusal is final for this round, and returned."""
        try:
            entry = await self._submit(body, now.round)
        except RefusedError as err:
            self._answered.append(now)
            return err  # the outbox has logged it
        self._answered.append(now)
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

    async def _submit(self, body: Body, round_number: int | None) -> Entry:
        self._sending += 1
        try:
            return await self._means.outbox.submit(body, self._run, round_number)
        finally:
            self._sending -= 1


class EquivocationReporter:
    """Reports authors whom the gossip shows to have signed two commitments for one round."""

    def __init__(self, outbox: Outbox, key: PeerKey) -> None:
        self._outbox = outbox
        self._key = key
        self._reported: set[tuple[PeerKey, int | None]] = set()
        self._in, self._out = trio.open_memory_channel[FaultReport](WAITING_REPORTS)

    def receive(self, first: Entry, second: Entry) -> None:
        """Queue a report about two signed entries of one author that contradict each other."""
        one = first.statement
        about = one.author, one.round
        if one.author == self._key or about in self._reported:
            return
        if len(self._reported) >= REMEMBERED_REPORTS:
            self._reported.clear()
        self._reported.add(about)
        log.warning("two commitments for one round", author=peer_id_text(one.author))
        report = FaultReport(leaves=(to_text(first.leaf()), to_text(second.leaf())))
        try:
            self._in.send_nowait(report)
        except trio.WouldBlock:
            log.warning("too many reports wait; this one is dropped")

    async def run(self) -> NoReturn:
        """Submit what was received, until cancelled; the ledger may know it already."""
        while True:
            report = await self._out.receive()
            try:
                await self._outbox.submit(report)
            except RefusedError as err:
                log.info("report not needed", code=err.code)
