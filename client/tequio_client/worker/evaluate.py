"""Judging competitions, if the volunteer chose to: offer, draw the lot, score when drawn.

Offers and lots are small statements with a deadline, so the worker submits them itself, lending
or not. It follows the ledger's answers and the rules, whose hash names the competition; that a
competition is closed is read from the log before the lot is drawn. Scoring is done by a child
process, which reads the whole log itself and starts when the device is given to it (`Lending`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

import structlog
import trio

from tequio_client import clock
from tequio_client.ipc import evaluator as link
from tequio_client.ipc.competitions import MAX_COMPETITIONS
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.children import evaluator
from tequio_client.worker.children.evaluator import EvaluatorEnd, EvaluatorProcess
from tequio_client.worker.ledger.outbox import SUBMIT_S, Outbox
from tequio_client.worker.lending.facts import select_chosen_devices, select_lent_devices
from tequio_client.worker.lending.lending import Lending
from tequio_client.worker.settings import WorkerSettings
from tequio_shared import vrf
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine, OfferAnswer
from tequio_shared.competition.draw import lot_input, seed_input
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import PeerError, RefusedError, TequioError, first_error
from tequio_shared.ids import PeerKey, from_text, to_text
from tequio_shared.statements.competitions import CompClose, EvalLot, EvalOffer
from tequio_shared.statements.statement import Body, Statement

log = structlog.get_logger(__name__)

POLL_S = 60.0
POLL_SOON_S = 3.0
"""Time between two polls of the ledger: usually, and within `NEAR_MS` of a competition's date."""
NEAR_MS = 120_000
RETRY_S = 60.0
LONGEST_RETRY_S = 1_800.0
"""First and longest pause before a child that failed, or had nothing to do, is started again."""
_WHY_CHARACTERS = 512
_MIB = 1 << 20
_PHASE_ORDER: dict[str, int] = {CompetitionPhase.OPEN: 0, CompetitionPhase.DECIDED: 2}


class Exclusion(NamedTuple):
    """The reason why this key cannot evaluate; see `ipc.competitions.Bar`."""

    bar: str = ""
    by: str = ""


ELIGIBLE = Exclusion()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingRole:
    """The part of this key in one competition, shown to people only.

    It follows from the ledger's unverified answer about offers, draw and scores; it proves nothing.
    """

    part: str = ""
    judged: int = 0
    to_judge: int = 0
    need_mb: int = 0  # memory that scoring takes, MiB; 0: not known
    barred: Exclusion = ELIGIBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFacts:
    key: str
    is_organiser: bool = False
    runs: frozenset[str] = frozenset()  # runs in which this key has trained, and the present one
    refusals: Mapping[str, str] = field(default_factory=dict)
    """By competition: the ledger's refusal of this key's offer."""


def find_exclusion(answer: CompetitionAnswer, own: CandidateFacts) -> Exclusion:
    """The first rule of the competition that excludes this key, or `ELIGIBLE`."""
    if own.key in answer.rules.custodians:
        return Exclusion("custodian")
    if own.is_organiser:
        return Exclusion("organiser")
    for one in answer.entrants:
        if one.author == own.key:
            return Exclusion("entrant", one.entrant)
        if one.side is not None and one.side in own.runs:
            return Exclusion("trained", one.entrant)
    refusal = own.refusals.get(answer.competition, "")
    return Exclusion("refused", refusal) if refusal else ELIGIBLE


def find_offer(answer: CompetitionAnswer, key: str) -> OfferAnswer | None:
    return next((one for one in answer.offers if one.key == key), None)


def closing_seed(
    statement: Statement, answer: CompetitionAnswer, coordinator: PeerKey
) -> bytes | None:
    """Seed of the lots, if the statement closes this competition, and not before its deadline.

    Raises SignatureInvalidError for a seed that is not the coordinator's.
    """
    body = statement.body
    if not isinstance(body, CompClose) or body.competition != answer.competition:
        return None
    if statement.ts < answer.rules.dates.deadline:
        return None
    return vrf.verify(coordinator, seed_input(answer.id), from_text(body.vrf, vrf.PROOF_BYTES))


def count_submitted(answer: CompetitionAnswer) -> int:
    return sum(one.submission is not None for one in answer.entrants)


def count_revealed(answer: CompetitionAnswer, key: str) -> int:
    return sum(one.evaluator == key for one in answer.results)


def find_part(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    """The part of this key, given the number of models it scored; see `ipc.competitions.Part`."""
    if key in answer.evaluators:
        return _scoring(answer, key, scored_here, now_ms)
    offer = find_offer(answer, key)
    if offer is None:
        return ""
    if answer.phase not in (CompetitionPhase.OPEN, CompetitionPhase.CLOSED, CompetitionPhase.DRAWN):
        return "others"
    if offer.lot_index is not None:
        return "in-draw"
    return "missed" if answer.phase == CompetitionPhase.DRAWN else "offered"


def is_due(answer: CompetitionAnswer, key: str, now_ms: int) -> bool:
    """True if this key was drawn and can commit to a score now, or reveal one."""
    if answer.void or key not in answer.evaluators:
        return False
    dates = answer.rules.dates
    committed = {(one.entrant, one.evaluator) for one in answer.commits}
    revealed = {one.entrant for one in answer.results if one.evaluator == key}
    for one in answer.entrants:
        if one.submission is None or one.entrant in revealed:
            continue
        if (one.entrant, key) not in committed:
            if now_ms <= dates.scored:
                return True
            continue
        # A score may be revealed once all evaluators have committed, so that nobody copies one.
        all_did = all((one.entrant, other) in committed for other in answer.evaluators)
        if (all_did or now_ms > dates.scored) and now_ms <= dates.reveal_until:
            return True
    return False


def _scoring(answer: CompetitionAnswer, key: str, scored_here: int, now_ms: int) -> str:
    models, dates = count_submitted(answer), answer.rules.dates
    if count_revealed(answer, key) >= models:
        return "scored"
    is_over = (
        answer.phase == CompetitionPhase.DECIDED or bool(answer.void) or now_ms > dates.reveal_until
    )
    if is_over or (scored_here < models and now_ms > dates.scored):
        return "late"
    return "waiting" if scored_here >= models else "drawn"


def sort_competitions(lines: Sequence[CompetitionLine]) -> list[CompetitionLine]:
    """Sort: competitions to join, then those being judged, then decided ones; newest first."""

    def order(line: CompetitionLine) -> int:
        return _PHASE_ORDER.get(CompetitionPhase.DECIDED if line.void else line.phase, 1)

    newest = list(reversed(lines))
    newest.sort(key=order)
    return newest[:MAX_COMPETITIONS]


@dataclass(slots=True, kw_only=True)
class _Duty:
    """A competition in which this key was drawn, and still has scores to submit."""

    answer: CompetitionAnswer
    score_mb: int
    tries: int = 0
    again_s: float = 0.0  # in trio's time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """The ledger's last refusal of this key's statement in one competition."""

    why: str
    tries: int  # before this one
    again_s: float  # in trio's time: when an offer is tried again


class CompetitionJudge:
    """Judges competitions for one key; the caller has locked its folder."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        *,
        settings: WorkerSettings,
        key: PeerKey,
        prove: Callable[[bytes], bytes],
        ledger: LedgerApi,
        outbox: Outbox,
        lending: Lending,
        process: EvaluatorProcess,
        parameters: Callable[[], Awaitable[dict[str, int]]],
        trained_runs: Callable[[], Awaitable[frozenset[str]]],
    ) -> None:
        """`parameters` reads the size of each run's model; `trained_runs` the runs of this key.

        `prove` is the key's verifiable random function.
        """
        self._settings, self._ledger = settings.net, ledger
        self._peer_key, self._key, self._prove = key, to_text(key), prove
        self._is_always_on = settings.is_judge
        self._outbox, self._lending, self._process = outbox, lending, process
        self._parameters_by_run, self._trained_runs = parameters, trained_runs
        self._answers: dict[str, tuple[CompetitionLine, CompetitionAnswer]] = {}
        self._refusals: dict[str, _Refusal] = {}  # by competition, like the next four
        self._offered: set[str] = set()
        self._drew_lot: set[str] = set()
        self._over: set[str] = set()
        self._duties: dict[str, _Duty] = {}  # written by `_poll`
        self._moved = trio.Event()  # replaced when duties changed

    async def run(self) -> NoReturn:
        """Judge while that is switched on, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_polling)
            nursery.start_soon(self._apply_limits)
            await self._keep_scoring()

    @property
    def is_on(self) -> bool:
        """True if the volunteer consented and chose to judge."""
        chosen = self._lending.choices.preferences
        return chosen.consent and (chosen.judge or self._is_always_on)

    async def role_in(self, answer: CompetitionAnswer) -> JudgingRole:
        """The part of this key in that competition; raises TequioError."""
        key, here = self._key, 0
        part = find_part(answer, key, here, clock.now_ms())
        if part in ("drawn", "late", "others"):
            here = await trio.to_thread.run_sync(
                evaluator.count_scored_models, self._settings.folder, answer.id
            )
            part = find_part(answer, key, here, clock.now_ms())
        is_early = answer.phase in (CompetitionPhase.OPEN, CompetitionPhase.CLOSED)
        parameters = await self._parameters(answer) if is_early else 0
        refusals = {name: one.why for name, one in self._refusals.items()}
        return JudgingRole(
            part=part,
            judged=max(here, count_revealed(answer, key)),
            to_judge=count_submitted(answer),
            need_mb=_need_mb(parameters) if parameters else 0,
            barred=await self._barred(answer, refusals) if is_early else ELIGIBLE,
        )

    async def _keep_polling(self) -> NoReturn:
        while True:
            was_on = self.is_on
            if was_on:
                try:
                    await self._poll()
                except* TequioError as group:
                    log.warning("competitions not read", error=str(first_error(group)))
            else:
                self._set_duties({})
            with trio.move_on_after(self._pause_s()):
                while self.is_on == was_on:
                    await self._lending.changed.wait()

    async def _poll(self) -> None:
        duties: dict[str, _Duty] = {}
        for line in sort_competitions(await self._ledger.competitions()):
            if line.phase == CompetitionPhase.DECIDED or line.competition in self._over:
                self._answers.pop(line.competition, None)
                continue
            answer = await self._answer(line)
            match answer.phase:
                case CompetitionPhase.OPEN:
                    await self._offer(answer)
                case CompetitionPhase.CLOSED:
                    await self._draw_lot(answer)
                case CompetitionPhase.REVEALED if is_due(answer, self._key, clock.now_ms()):
                    duties[answer.competition] = await self._duty(answer)
        self._set_duties(duties)

    async def _answer(self, line: CompetitionLine) -> CompetitionAnswer:
        """The full answer about a competition, fetched again if something may have changed."""
        # In these two phases lots and commitments arrive that the list does not show.
        before = self._answers.get(line.competition)
        is_moving = line.phase in (CompetitionPhase.CLOSED, CompetitionPhase.REVEALED)
        if before is None or before[0] != line or is_moving:
            before = line, await self._ledger.competition(line.id)
            self._answers[line.competition] = before
        return before[1]

    async def _offer(self, answer: CompetitionAnswer) -> None:
        name = answer.competition
        if name in self._offered or clock.now_ms() >= answer.rules.dates.deadline:
            return
        if find_offer(answer, self._key) is None:
            refusal = self._refusals.get(name)
            if refusal is not None and trio.current_time() < refusal.again_s:
                return
            if (await self._barred(answer, refusals={})).bar:
                return
            if not await self._submit(name, EvalOffer(competition=name)):
                return
        self._offered.add(name)

    async def _draw_lot(self, answer: CompetitionAnswer) -> None:
        name, offer = answer.competition, find_offer(answer, self._key)
        # An offer that is missing in a shortened list may be in the log all the same.
        is_without = offer is None and len(answer.offers) == answer.offered
        if is_without or (offer and offer.lot_index is not None) or name in self._drew_lot:
            return
        if clock.now_ms() < answer.rules.dates.deadline:
            return
        proof = to_text(self._prove(lot_input(answer.id, await self._seed(answer))))
        if await self._submit(name, EvalLot(competition=name, vrf=proof)):
            self._drew_lot.add(name)

    async def _seed(self, answer: CompetitionAnswer) -> bytes:
        """Seed of the lots, from the log; raises PeerError and SignatureInvalidError."""
        # Lots decide the draw: drawn before the close, they would let others choose their offers.
        index = answer.closed_index or 0
        network = await self._ledger.network()
        entry = (await read_entries(self._ledger, network, [index]))[index]
        seed = closing_seed(entry.statement, answer, network.genesis.coordinator_key)
        if seed is None:
            raise PeerError(f"log entry {index} does not close {answer.rules.name}")
        return seed

    async def _submit(self, competition: str, body: Body) -> bool:
        """Submit a statement; True if the ledger has it, or no offer that it belongs to.

        Any other refusal is remembered, and shown; an offer is tried again after a while, since a
        key that was just vouched for may evaluate now.
        """
        refused = ""
        with trio.move_on_after(SUBMIT_S) as patience:
            try:
                await self._outbox.submit(body)
                log.info("statement logged", type=body.TYPE, competition=competition)
            except RefusedError as err:
                if err.code not in ("already-said", "not-found"):
                    refused = str(err)[:_WHY_CHARACTERS]
        before = self._refusals.pop(competition, None)
        if refused:
            tries = 0 if before is None else before.tries + 1
            pause_s = min(RETRY_S * 2**tries, LONGEST_RETRY_S)
            self._refusals[competition] = _Refusal(
                why=refused, tries=tries, again_s=trio.current_time() + pause_s
            )
            log.warning("statement refused", type=body.TYPE, why=refused)
        return not refused and not patience.cancelled_caught

    async def _barred(self, answer: CompetitionAnswer, refusals: Mapping[str, str]) -> Exclusion:
        network = await self._ledger.network()
        found = find_exclusion(
            answer,
            CandidateFacts(
                key=self._key,
                is_organiser=self._peer_key in network.genesis.organiser_keys,
                runs=await self._trained_runs(),
                refusals=refusals,
            ),
        )
        if found.bar or answer.phase != CompetitionPhase.OPEN:
            return found
        lacking = self._lacking(await self._parameters(answer))
        return Exclusion("memory", lacking[:_WHY_CHARACTERS]) if lacking else ELIGIBLE

    def _lacking(self, parameters: int) -> str:
        """Why this computer cannot score such a model, in words; empty: it can, as far as known."""
        lacking = evaluator.missing_memory(parameters)
        machine, need_mb = self._lending.facts("").known_machine(), _need_mb(parameters)
        devices = select_chosen_devices(machine, self._lending.choices.preferences)
        if lacking or devices is None or select_lent_devices(devices, need_mb):
            return lacking
        return f"none of the lent devices has {need_mb:,} MiB of memory"

    async def _parameters(self, answer: CompetitionAnswer) -> int:
        """Parameters of the largest model that may have to be scored; 0: not known."""
        if answer.rules.budget.parameters:
            return answer.rules.budget.parameters
        sides = [one.side for one in answer.entrants if one.side is not None]
        known = await self._parameters_by_run() if sides else {}
        return max((known.get(one, 0) for one in sides), default=0)

    async def _duty(self, answer: CompetitionAnswer) -> _Duty:
        before = self._duties.get(answer.competition)
        if before is None:
            return _Duty(answer=answer, score_mb=_need_mb(await self._parameters(answer)))
        # Other evaluators' statements may have unblocked this one: do not wait out the pause.
        counts = [(len(one.commits), len(one.results)) for one in (before.answer, answer)]
        if counts[0] != counts[1] and before.tries:
            before.again_s = min(before.again_s, trio.current_time() + RETRY_S)
        before.answer = answer
        return before

    def _set_duties(self, duties: dict[str, _Duty]) -> None:
        self._duties = duties
        self._moved.set()
        self._moved = trio.Event()

    async def _keep_scoring(self) -> NoReturn:
        while True:
            now_s = trio.current_time()
            due = [one for one in self._duties.values() if one.again_s <= now_s]
            duty = min(due, key=lambda one: one.answer.rules.dates.scored, default=None)
            self._lending.set_scoring(duty.score_mb if duty else None)
            if duty is None:
                with trio.move_on_after(POLL_SOON_S):
                    await self._moved.wait()
                    if not self._duties:  # so nothing uses the models, whatever ended the child
                        folder = self._settings.folder
                        await trio.to_thread.run_sync(evaluator.delete_models, folder)
                continue
            await self._score(duty)

    async def _score(self, duty: _Duty) -> None:
        """Run a child process for the duty, until it ends or the duty is not due any more."""
        end: EvaluatorEnd | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_when_not_due, duty, nursery.cancel_scope)
            end = await self._process.run_once(lambda: self._begin(duty))
            nursery.cancel_scope.cancel()
        if end is EvaluatorEnd.OVER:
            self._over.add(duty.answer.competition)
            self._duties.pop(duty.answer.competition, None)
        elif end in (EvaluatorEnd.RESTING, EvaluatorEnd.FAILED):
            duty.again_s = trio.current_time() + min(RETRY_S * 2**duty.tries, LONGEST_RETRY_S)
            duty.tries += 1

    async def _cancel_when_not_due(self, duty: _Duty, scope: trio.CancelScope) -> None:
        while self._duties.get(duty.answer.competition) is duty:
            await self._moved.wait()
        scope.cancel()

    def _begin(self, duty: _Duty) -> link.BeginEvaluation:
        # Not `judging`: the permission may be withdrawn while the process is being started.
        device, trust = self._lending.scorer, self._settings.trust
        if device is None:
            raise AssertionError("an evaluator is started for a device")
        limits = self._lending.limits(device)
        return link.BeginEvaluation(
            competition=duty.answer.competition,
            key=self._key,
            ledger=self._settings.ledger,
            folder=str(self._settings.folder.absolute()),
            trust=trust.encode().decode() if trust else "",
            device=limits.device,
            memory_mb=limits.memory_mb,
            limit=link.EvaluatorLimits(
                threads=limits.threads, share_percent=max(limits.share_percent, 1)
            ),
        )

    async def _apply_limits(self) -> NoReturn:
        """Apply the lending limits to the child process whenever they change."""
        while True:
            changed = self._lending.changed
            duty = self._duties.get(self._process.competition)
            if duty is not None and self._lending.judging is not None:
                self._process.send_limits(self._begin(duty))
            await changed.wait()

    def _pause_s(self) -> float:
        """Time until the next poll: short around a date at which a statement may be due."""
        now = clock.now_ms()
        for _, answer in self._answers.values():
            dates = answer.rules.dates
            if any(abs(at - now) < NEAR_MS for at in (dates.deadline, dates.draw, dates.scored)):
                return POLL_SOON_S
        return POLL_S


def _need_mb(parameters: int) -> int:
    return -(-evaluator.scoring_bytes(parameters) // _MIB)
