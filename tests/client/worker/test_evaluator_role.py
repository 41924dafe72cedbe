"""Our part in a competition, by what the ledger says of it."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import trio

from tequio_client.ipc.preferences import Preferences
from tequio_client.worker import evaluate
from tequio_client.worker.children import evaluator
from tequio_client.worker.evaluate import ELIGIBLE, CandidateFacts, CompetitionJudge
from tequio_shared import vrf
from tequio_shared.api.competitions import (
    CommittedAnswer,
    CompetitionAnswer,
    CompetitionLine,
    EntrantAnswer,
    OfferAnswer,
)
from tequio_shared.errors import RefusedError, SignatureInvalidError
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.competitions import CompClose
from tequio_shared.statements.statement import make
from tests.client.competition.models import rules
from tests.support.answers import filled
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_shared.statements.statement import Body

US, OTHER, RUN, CUSTODIAN = (to_text(bytes([at]) * 32) for at in (1, 2, 3, 0))
OWN = CandidateFacts(key=US)
ENTRANT = filled(EntrantAnswer, entrant="maize", author=OTHER, index=3, submission=OTHER)
OFFER = filled(OfferAnswer, key=US, index=4)
IN_DRAW = filled(OfferAnswer, key=US, index=4, lot_index=7)
NOW, SCORED, SHOWN, LATE = 1, 4, 9, 15
"""The dates of the rules are 1 to 4 and 14; half-way between these, scores are shown."""


def answer(phase: str, **changes: object) -> CompetitionAnswer:
    made = rules()
    made = msgspec.structs.replace(made, dates=msgspec.structs.replace(made.dates, result=LATE - 1))
    told = filled(
        CompetitionAnswer,
        competition=to_text(made.id),
        phase=phase,
        rules=made,
        opened_index=2,
        entrants=(ENTRANT,),
    )
    return msgspec.structs.replace(told, **changes)


@pytest.mark.parametrize(
    ("phase", "changes", "here", "now", "part"),
    [
        ("open", {}, 0, NOW, ""),
        ("open", {"offers": (OFFER,)}, 0, NOW, "offered"),
        ("closed", {"offers": (OFFER,)}, 0, NOW, "offered"),
        ("closed", {"offers": (IN_DRAW,)}, 0, NOW, "in-draw"),
        ("drawn", {"offers": (OFFER,)}, 0, NOW, "missed"),
        ("drawn", {"offers": (IN_DRAW,)}, 0, NOW, "in-draw"),
        ("revealed", {"offers": (IN_DRAW,), "evaluators": (OTHER,)}, 0, NOW, "others"),
        ("revealed", {"offers": (IN_DRAW,), "evaluators": (US,)}, 0, NOW, "drawn"),
        ("revealed", {"evaluators": (US,)}, 1, NOW, "waiting"),
        ("revealed", {"evaluators": (US,)}, 0, LATE, "late"),
        ("decided", {"evaluators": (US,)}, 1, NOW, "late"),
        ("decided", {"evaluators": (OTHER,)}, 0, NOW, ""),
    ],
)
def test_our_part_follows_from_offer_draw_and_scores(
    phase: str, changes: dict[str, object], here: int, now: int, part: str
) -> None:
    assert evaluate.find_part(answer(phase, **changes), US, here, now) == part


def test_no_lot_is_drawn_on_a_close_that_is_too_early_or_of_another() -> None:
    told, before = answer("closed"), sha256(b"before")
    signer = Signer(sha256(b"coordinator"))
    proof = signer.prove(b"tequio/v1/comp-seed\0" + told.id)

    def seed(competition: str, at_ms: int, coordinator: PeerKey = signer.key) -> bytes | None:
        body = CompClose(competition=competition, vrf=to_text(proof))
        said = make(body=body, author=signer.key, seq=2, ts=at_ms, exp=at_ms, prev=before)
        return evaluate.closing_seed(said, told, coordinator)

    deadline = told.rules.dates.deadline
    assert seed(told.competition, deadline) == vrf.output(proof)
    assert seed(told.competition, deadline - 1) is None
    assert seed(OTHER, deadline) is None
    with pytest.raises(SignatureInvalidError, match="does not verify"):
        seed(told.competition, deadline, Signer(sha256(b"another")).key)


def test_who_has_all_scores_in_the_log_is_done() -> None:
    fields = {"entrant": "maize", "evaluator": US, "scores": OTHER, "millibits": 9}
    told = msgspec.to_builtins(answer("decided", evaluators=(US,)))
    told["results"] = [{**fields, "size_bytes": 1, "index": 12}]
    found = msgspec.convert(told, CompetitionAnswer)
    assert evaluate.find_part(found, US, 0, LATE) == "scored"


@pytest.mark.parametrize(
    ("own", "changes", "bar"),
    [
        (OWN, {}, ELIGIBLE),
        (CandidateFacts(key=CUSTODIAN), {}, ("custodian", "")),
        (CandidateFacts(key=US, is_organiser=True), {}, ("organiser", "")),
        (CandidateFacts(key=OTHER), {}, ("entrant", "maize")),
        (CandidateFacts(key=US, runs=frozenset({RUN})), {}, ELIGIBLE),
        (
            CandidateFacts(key=US, runs=frozenset({RUN})),
            {"entrants": (msgspec.structs.replace(ENTRANT, side=RUN),)},
            ("trained", "maize"),
        ),
    ],
)
def test_who_has_a_share_in_it_does_not_judge(
    own: CandidateFacts, changes: dict[str, object], bar: tuple[str, str]
) -> None:
    assert evaluate.find_exclusion(answer("open", **changes), own) == bar


def test_what_the_ledger_refused_is_told_of_that_competition_alone() -> None:
    told = answer("open")
    own = CandidateFacts(key=US, refusals={told.competition: "keys of tier 2 evaluate here"})
    assert evaluate.find_exclusion(told, own) == ("refused", "keys of tier 2 evaluate here")
    assert evaluate.find_exclusion(told, CandidateFacts(key=US, refusals={OTHER: "no"})) == ELIGIBLE


def committed(*keys: str) -> tuple[CommittedAnswer, ...]:
    return tuple(CommittedAnswer(entrant="maize", evaluator=key, index=11) for key in keys)


@pytest.mark.parametrize(
    ("changes", "now", "is_due"),
    [
        ({"evaluators": (US, OTHER)}, NOW, True),
        ({"evaluators": (OTHER,)}, NOW, False),
        ({"evaluators": (US, OTHER)}, SCORED + 1, False),
        ({"evaluators": (US, OTHER), "commits": committed(US)}, NOW, False),
        ({"evaluators": (US, OTHER), "commits": committed(US, OTHER)}, NOW, True),
        ({"evaluators": (US, OTHER), "commits": committed(US)}, SCORED + 1, True),
        ({"evaluators": (US, OTHER), "commits": committed(US)}, SHOWN + 1, False),
        ({"evaluators": (US,), "void": "too few owners"}, NOW, False),
        ({"evaluators": (US,), "entrants": ()}, NOW, False),
    ],
)
def test_scoring_is_due_until_we_committed_and_showing_when_nobody_can_copy(
    changes: dict[str, object], now: int, *, is_due: bool
) -> None:
    assert evaluate.is_due(answer("revealed", **changes), US, now) is is_due


def _parts(folder: Path, told: CompetitionAnswer) -> dict[str, Any]:
    """The parts of a judge that is switched on, in a network with that competition."""
    line = filled(CompetitionLine, competition=told.competition, phase=told.phase)
    lending = SimpleNamespace(
        choices=SimpleNamespace(preferences=Preferences(consent=True, judge=True)),
        changed=trio.Event(),
        judging=None,
        set_scoring=lambda _: None,
    )
    return {  # no statement is due
        **dict.fromkeys(("prove", "outbox", "parameters", "trained_runs")),
        "settings": SimpleNamespace(net=SimpleNamespace(folder=folder), is_judge=False),
        "key": PeerKey(bytes([1]) * 32),
        "ledger": SimpleNamespace(competitions=_later((line,)), competition=_later(told)),
        "lending": lending,
        "process": SimpleNamespace(competition=""),
    }


@pytest.mark.trio
async def test_models_that_nobody_scores_any_more_are_deleted_and_scores_are_not(
    tmp_path: Path,
) -> None:
    told = answer("revealed", evaluators=(US,), void="too few owners")
    places = evaluator.hub_cache(tmp_path), evaluator.competition_folder(tmp_path, told.id)
    for place in places:
        place.mkdir(parents=True)
        (place / "file").touch()
    judge = CompetitionJudge(**_parts(tmp_path, told))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(judge.run)
        with trio.fail_after(allowed_s(10)):
            while evaluator.models_folder(tmp_path).exists():  # noqa: ASYNC110 - in another thread
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    assert [place.exists() for place in places] == [False, True]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("offered", "code", "lots"),
    [(4, "", 1), (4, "already-said", 1), (4, "not-found", 1), (3, "", 0)],
    ids=["logged", "logged-before", "no-offer", "whole-list"],
)
async def test_a_lot_is_drawn_once_if_a_shortened_list_does_not_show_our_offer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    autojump_clock: object,
    offered: int,
    code: str,
    lots: int,
) -> None:
    del autojump_clock
    others = tuple(filled(OfferAnswer, key=OTHER, index=at) for at in range(3))
    told = answer("closed", offers=others, offered=offered)
    submitted: list[str] = []

    async def submit(body: Body) -> None:
        await trio.lowlevel.checkpoint()
        submitted.append(body.TYPE)
        if code:
            raise RefusedError(code, "no")

    monkeypatch.setattr(CompetitionJudge, "_seed", _later(bytes(64)))
    parts = _parts(tmp_path, told) | {"prove": lambda _: bytes(80)}
    parts["outbox"] = SimpleNamespace(submit=submit)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(CompetitionJudge(**parts).run)
        await trio.sleep(3 * evaluate.POLL_S)
        nursery.cancel_scope.cancel()
    assert submitted == ["eval.lot"] * lots


@pytest.mark.trio
async def test_an_offer_that_was_refused_is_made_again_ever_more_rarely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    del autojump_clock
    told, made = answer("open"), list[float]()
    refusals = 3
    monkeypatch.setattr("tequio_client.clock.now_ms", lambda: 0)

    async def submit(body: Body) -> None:
        await trio.lowlevel.checkpoint()
        assert body.TYPE == "eval.offer"
        made.append(trio.current_time())
        if len(made) <= refusals:
            raise RefusedError("wrong-tier", "keys of tier 2 evaluate here")

    parts = _parts(tmp_path, told)
    parts["trained_runs"] = _later(frozenset())
    parts["outbox"] = SimpleNamespace(submit=submit)
    network = SimpleNamespace(genesis=SimpleNamespace(organiser_keys=()))
    parts["ledger"].network = _later(network)
    judge = CompetitionJudge(**parts)
    monkeypatch.setattr(judge, "_lacking", lambda _: "")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(judge.run)
        await trio.sleep(evaluate.POLL_S / 2)
        assert (await judge.role_in(told)).barred == ("refused", "keys of tier 2 evaluate here")
        await trio.sleep(20 * evaluate.RETRY_S)
        assert (await judge.role_in(told)).barred == ELIGIBLE
        nursery.cancel_scope.cancel()
    pauses = [later - sooner for sooner, later in itertools.pairwise(made)]
    assert len(made) == refusals + 1
    assert all(pause >= evaluate.RETRY_S * 2**at for at, pause in enumerate(pauses))


def _later(value: object) -> Callable[..., Awaitable[object]]:
    async def answered(*_: object) -> object:
        await trio.lowlevel.checkpoint()
        return value

    return answered
