"""Judging competitions, as the volunteer chose: offering, opening the secret, scoring when drawn.

Offers and secrets are small words that must come in time: we say them ourselves, lending or not,
by the ledger's word and what follows from the rules, whose hash names the competition. That a
competition is closed is read in the log before a secret is opened. Scoring is the child's, who
reads the whole log for itself and begins when the device is given to it (`lending`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_client import clock
from tequio_client.ipc import evaluator as link
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker import evaluator_role, secret_file
from tequio_client.worker.children import evaluator
from tequio_client.worker.children.evaluator import EvaluatorEnd
from tequio_client.worker.control.lists import listed
from tequio_client.worker.evaluator_role import FREE, Barred, Ours, Own
from tequio_client.worker.ledger.outbox import SUBMIT_S
from tequio_client.worker.lending.facts import chosen_devices, lent_devices
from tequio_client.worker.shutdown import first_of
from tequio_shared.competition.state import Phase
from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import to_text
from tequio_shared.statements.competitions import EvalSecret

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tequio_client.ipc.facts import MachineFacts
    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.children.evaluator import EvaluatorProcess
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.lending.lending import Lending
    from tequio_client.worker.settings import WorkerSettings
    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements import Body


log = structlog.get_logger(__name__)

LOOK_S = 60.0
SOON_S = 3.0
"""Between two looks at the ledger: usually, and within `NEAR_MS` of a date of ours."""
NEAR_MS = 120_000
AGAIN_S = 60.0
LONGEST_S = 1_800.0
"""Before a child that failed, or had nothing to do, is started again: at first, and at last."""
_WHY = 512
_MIB = 1 << 20


@dataclass(slots=True, kw_only=True)
class _Duty:
    """A competition in which we were drawn and have something to say yet."""

    answer: CompetitionAnswer
    score_mb: int
    tries: int = 0
    again_s: float = 0.0  # in trio's time


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What others know of ourselves and this computer, asked when it is needed."""

    machine: Callable[[], MachineFacts]
    trained: Callable[[], Awaitable[frozenset[str]]]
    """In which runs our key takes or took part."""
    parameters: Callable[[], Awaitable[dict[str, int]]]
    """Of the models of runs."""


class Judge:
    """Judges for one key, whose folder the caller has locked."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        *,
        settings: WorkerSettings,
        key: PeerKey,
        ledger: LedgerApi,
        outbox: Outbox,
        lending: Lending,
        process: EvaluatorProcess,
        known: Known,
    ) -> None:
        self._settings, self._key, self._ledger = settings.net, key, ledger
        self._is_always_on = settings.is_judge
        self._outbox, self._lending, self._process, self._known = outbox, lending, process, known
        self._answers: dict[str, tuple[CompetitionLine, CompetitionAnswer]] = {}
        self._refusals: dict[str, str] = {}  # by competition; so the following
        self._offered: set[str] = set()
        self._over: set[str] = set()
        self._duties: dict[str, _Duty] = {}  # written by `_look`
        self._moved = trio.Event()  # replaced when duties changed

    async def run(self) -> NoReturn:
        """Judge whenever that is chosen, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look_on)
            nursery.start_soon(self._obey)
            await self._score_on()

    @property
    def is_on(self) -> bool:
        """Whether that is chosen."""
        chosen = self._lending.preferences
        return chosen.consent and (chosen.judge or self._is_always_on)

    async def ours(self, answer: CompetitionAnswer) -> Ours:
        """What we are in that competition; raises TequioError."""
        key, here = to_text(self._key), 0
        part = evaluator_role.part(answer, key, here, clock.now_ms())
        if part in ("drawn", "late", "others"):
            here = await self._scored_here(answer)
            part = evaluator_role.part(answer, key, here, clock.now_ms())
        is_early = answer.phase in (Phase.OPEN, Phase.CLOSED)
        parameters = await self._parameters(answer) if is_early else 0
        return Ours(
            part=part,
            judged=max(here, evaluator_role.shown(answer, key)),
            to_judge=evaluator_role.submitted(answer),
            need_mb=_need_mb(parameters) if parameters else 0,
            barred=await self._barred(answer) if is_early else FREE,
        )

    async def _scored_here(self, answer: CompetitionAnswer) -> int:
        return await trio.to_thread.run_sync(
            evaluator.scored_models, self._settings.folder, answer.id
        )

    # --- looking, and the words that we say ourselves

    async def _look_on(self) -> NoReturn:
        while True:
            was_on = self.is_on
            if was_on:
                try:
                    await self._look()
                except* TequioError as group:
                    log.warning("competitions were not looked at", error=str(first_of(group)))
            else:
                self._know({})
            with trio.move_on_after(self._pause_s()):
                while self.is_on == was_on:
                    await self._lending.changed().wait()

    async def _look(self) -> None:
        duties: dict[str, _Duty] = {}
        key = to_text(self._key)
        for line in listed(await self._ledger.competitions()):
            if line.phase == Phase.DECIDED or line.competition in self._over:
                self._answers.pop(line.competition, None)
                continue
            answer = await self._answer(line)
            match answer.phase:
                case Phase.OPEN:
                    await self._offer(answer)
                case Phase.CLOSED:
                    await self._open_secret(answer)
                case Phase.REVEALED if evaluator_role.is_due(answer, key, clock.now_ms()):
                    duties[answer.competition] = await self._duty(answer)
        self._know(duties)

    async def _answer(self, line: CompetitionLine) -> CompetitionAnswer:
        """The whole of it, asked again where something has changed, or changes unseen."""
        before = self._answers.get(line.competition)
        is_moving = line.phase in (Phase.CLOSED, Phase.REVEALED)
        if before is None or before[0] != line or is_moving:
            before = line, await self._ledger.competition(line.id)
            self._answers[line.competition] = before
        return before[1]

    async def _offer(self, answer: CompetitionAnswer) -> None:
        name = answer.competition
        if name in self._offered or clock.now_ms() >= answer.rules.dates.deadline:
            return
        if not evaluator_role.has_offered(answer, to_text(self._key)):
            if (await self._barred(answer)).bar:
                return
            body = await trio.to_thread.run_sync(
                secret_file.offering, answer.id, self._key, self._settings.folder
            )
            if not await self._say(name, body):
                return
            log.info("offered to judge", competition=answer.rules.name)
        self._offered.add(name)

    async def _open_secret(self, answer: CompetitionAnswer) -> None:
        key = to_text(self._key)
        offer = next((one for one in answer.offers if one.key == key), None)
        if offer is None or offer.secret_index is not None:
            return
        secret = await trio.to_thread.run_sync(secret_file.kept, self._settings.folder, answer.id)
        if secret is None or clock.now_ms() < answer.rules.dates.deadline:
            return
        await self._check_closed(answer)
        body = EvalSecret(competition=answer.competition, secret=to_text(secret))
        if await self._say(answer.competition, body):
            log.info("opened our secret", competition=answer.rules.name)

    async def _check_closed(self, answer: CompetitionAnswer) -> None:
        """Read in the log that nobody can enter any more; raises PeerError."""
        index = answer.closed_index or 0
        network = await self._ledger.network()
        entry = (await read_entries(self._ledger, network, [index]))[index]
        if not evaluator_role.closes(entry.statement, answer):
            raise PeerError(f"log entry {index} does not close {answer.rules.name}")

    async def _say(self, competition: str, body: Body) -> bool:
        """Submit it; whether the ledger has it. What it refuses is remembered, and shown."""
        refused = ""
        with trio.move_on_after(SUBMIT_S) as patience:
            try:
                await self._outbox.submit(body)
            except RefusedError as err:
                if err.code != "already-said":
                    refused = str(err)[:_WHY]
        if refused:
            self._refusals[competition] = refused
            log.warning("not taken", type=body.TYPE, why=refused)
        return not refused and not patience.cancelled_caught

    # --- whether we may

    async def _barred(self, answer: CompetitionAnswer) -> Barred:
        network = await self._ledger.network()
        found = evaluator_role.barred(
            answer,
            Own(
                key=to_text(self._key),
                is_organiser=self._key in network.genesis.organiser_keys,
                runs=await self._known.trained(),
                refusals=self._refusals,
            ),
        )
        if found.bar or answer.phase != Phase.OPEN:
            return found
        lacking = self._lacking(await self._parameters(answer))
        return Barred("memory", lacking[:_WHY]) if lacking else FREE

    def _lacking(self, parameters: int) -> str:
        """What is missing to score such a model, in words; empty: nothing that we know of."""
        lacking = evaluator.memory_lack(parameters)
        devices = chosen_devices(self._known.machine(), self._lending.preferences)
        if lacking or devices is None or lent_devices(devices, _need_mb(parameters)):
            return lacking
        return f"no device that is lent has {_need_mb(parameters):,} MiB of memory"

    async def _parameters(self, answer: CompetitionAnswer) -> int:
        """Of the largest model that may come, as far as anybody can know."""
        if answer.rules.budget.parameters:
            return answer.rules.budget.parameters
        sides = [one.side for one in answer.entrants if one.side is not None]
        known = await self._known.parameters() if sides else {}
        return max((known.get(one, 0) for one in sides), default=0)

    # --- scoring

    async def _duty(self, answer: CompetitionAnswer) -> _Duty:
        before = self._duties.get(answer.competition)
        if before is None:
            need_mb = _need_mb(await self._parameters(answer))
            return _Duty(answer=answer, score_mb=need_mb)
        if _heard(before.answer) != _heard(answer) and before.tries:
            before.again_s = min(before.again_s, trio.current_time() + AGAIN_S)
        before.answer = answer
        return before

    def _know(self, duties: dict[str, _Duty]) -> None:
        self._duties = duties
        self._moved.set()
        self._moved = trio.Event()

    async def _score_on(self) -> NoReturn:
        while True:
            duty = self._next()
            self._lending.judges(duty.score_mb if duty else None)
            if duty is None:
                with trio.move_on_after(SOON_S):
                    await self._moved.wait()
                continue
            await self._score(duty)

    def _next(self) -> _Duty | None:
        """The duty that may be done now and ends first."""
        now_s = trio.current_time()
        due = [one for one in self._duties.values() if one.again_s <= now_s]
        return min(due, key=lambda one: one.answer.rules.dates.scored, default=None)

    async def _score(self, duty: _Duty) -> None:
        """Have a child at it, until its end or until it is not due any more."""
        end: EvaluatorEnd | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when_not_due, duty, nursery.cancel_scope)
            end = await self._process.run_once(lambda: self._begin(duty))
            nursery.cancel_scope.cancel()
        if end is EvaluatorEnd.OVER:
            self._over.add(duty.answer.competition)
            self._duties.pop(duty.answer.competition, None)
        elif end in (EvaluatorEnd.RESTING, EvaluatorEnd.FAILED):
            duty.again_s = trio.current_time() + min(AGAIN_S * 2**duty.tries, LONGEST_S)
            duty.tries += 1

    async def _cancel_when_not_due(self, duty: _Duty, scope: trio.CancelScope) -> None:
        while self._duties.get(duty.answer.competition) is duty:
            await self._moved.wait()
        scope.cancel()

    def _begin(self, duty: _Duty) -> link.Begin:
        limits, trust = self._lending.limits(duty.score_mb), self._settings.trust
        return link.Begin(
            competition=duty.answer.competition,
            key=to_text(self._key),
            ledger=self._settings.ledger,
            folder=str(self._settings.folder.absolute()),
            trust=trust.encode().decode() if trust else "",
            device=limits.device,
            memory_mb=limits.memory_mb,
            limit=link.Limit(threads=limits.threads, share_percent=max(limits.share_percent, 1)),
        )

    async def _obey(self) -> NoReturn:
        """Have the child take what may be taken, as that changes."""
        while True:
            changed = self._lending.changed()
            duty = self._duties.get(self._process.competition)
            if duty is not None and self._lending.is_judging:
                self._process.limit(self._begin(duty))
            await changed.wait()

    def _pause_s(self) -> float:
        """Look often around the dates at which something of ours is due."""
        now = clock.now_ms()
        for _, answer in self._answers.values():
            dates = answer.rules.dates
            if any(abs(at - now) < NEAR_MS for at in (dates.deadline, dates.draw, dates.scored)):
                return SOON_S
        return LOOK_S


def _heard(answer: CompetitionAnswer) -> tuple[int, int]:
    """How far the evaluators are: with the last commitment scores may be shown."""
    return len(answer.commits), len(answer.results)


def _need_mb(parameters: int) -> int:
    return -(-evaluator.scoring_bytes(parameters) // _MIB)
