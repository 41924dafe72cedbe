"""A run: the table of its states, and a fold that takes nothing which does not follow."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import ZERO_DIGEST, RunId, from_text, sha256, to_text
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run import RunView, needed_document
from tequio_shared.network.run_states import TRANSITIONS, RunEvent, RunRequest, RunState
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import RoundClose, RoundOpen, RunFinish, RunPause, RunResume
from tequio_shared.statements.statement import Statement, make
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import FailureRates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.statements.statement import Body

CROOKED = FailureRates(silent=15, misstating=15, lying=15, leaving=5, partial=40)


def swarm_of(seed: int, members: int = 6, failure_rates: FailureRates = CROOKED) -> Swarm:
    swarm = Swarm(seed=seed)
    for at in range(members):
        swarm.volunteer(f"v{at}", failure_rates)
    return swarm


@given(st.lists(st.sampled_from(RunEvent), max_size=30))
def test_no_sequence_of_events_leaves_the_table(events: list[RunEvent]) -> None:
    state = RunState.WAITING_FOR_MEMBERS
    for event in events:
        state = TRANSITIONS.get((state, event), state)
        assert state in RunState


def test_every_state_can_be_reached_and_only_one_is_the_end() -> None:
    reached, edge = set(), {RunState.WAITING_FOR_MEMBERS}
    while edge:
        reached |= edge
        edge = {after for (before, _), after in TRANSITIONS.items() if before in reached} - reached
    assert reached == set(RunState)
    assert {state for state in RunState if not any(one is state for one, _ in TRANSITIONS)} == {
        RunState.FINISHED
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_crooked_swarm_keeps_the_invariants(seed: int) -> None:
    swarm = swarm_of(seed)
    ended: list[int] = []
    for _ in range(1_000):
        done = swarm.view.closed + swarm.view.voided
        if swarm.view.state is RunState.FINISHED or not swarm.step():
            break
        if swarm.view.closed + swarm.view.voided > done:
            ended.append(swarm.view.number)
        check_windows(swarm.view)
    assert ended == sorted(set(ended)), "a round ends once"
    assert check_points(swarm) == swarm.view.closed


def run_until(swarm: Swarm, state: RunState) -> None:
    while swarm.view.state is not state:
        assert swarm.step()


def check_windows(view: FullRunView) -> None:
    """Every window below `fresh` is waiting, held, or trained: never two of them."""
    waiting = [at for first, n in view.accounts.queue.returned for at in range(first, first + n)]
    assert len(set(waiting)) == len(waiting)
    trained = view.accounts.tokens // view.manifest.windows.tokens
    in_round = view.state in (RunState.WARMUP, RunState.ROUND_TRAIN, RunState.ROUND_WITNESS)
    pool = view.round.roster.pool if view.round is not None and in_round else ()
    held = sum(count for _, count in pool)
    assert len(waiting) + held + trained == view.accounts.queue.fresh


def check_points(swarm: Swarm) -> int:
    """Points are those of the results, and those of accepted work only; count the results."""
    results = [
        RoundResult.parse(swarm.blobs[name])
        for one in swarm.entries
        if isinstance(one.statement.body, RoundClose)
        and (name := needed_document(one.statement)) is not None
    ]
    rows = [row for result in results for row in result.slots]
    assert all((row.trainer_gflop > 0) == (row.verdict == 1) for row in rows)
    paid = sum(row.trainer_gflop + row.witness_gflop for row in rows)
    earned = swarm.view.accounts.earned.values()
    assert paid == sum(one.trainer + one.witness for one in earned)
    return len(results)


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_arrives_at_the_same_accounts(seed: int) -> None:
    swarm = swarm_of(seed + 10)
    swarm.run(600)
    again = swarm.replay()
    assert again.accounts == swarm.view.accounts
    assert (again.state, again.head, again.next_head, again.closed, again.voided) == (
        swarm.view.state,
        swarm.view.head,
        swarm.view.next_head,
        swarm.view.closed,
        swarm.view.voided,
    )


def test_a_light_view_from_any_round_on_follows_the_rest() -> None:
    swarm = swarm_of(3, failure_rates=FailureRates(silent=10))
    views: list[RunView] = []
    for index, entry in enumerate(swarm_log(swarm)):
        for light in views:
            light.apply(index, entry, 0, swarm.blobs.__getitem__)
        if entry.type in ("round.close", "round.void", "run.open"):
            whole = swarm.replay(swarm.entries[: index + 1])
            views.append(
                RunView.light(swarm.net, swarm.manifest, head=whole.head, next_head=whole.next_head)
            )
    assert len(views) > 4
    assert {light.state for light in views} == {RunState.FINISHED}
    assert {light.head for light in views} == {swarm.view.head}


def swarm_log(swarm: Swarm) -> Iterator[Statement]:
    swarm.run_rounds(2)
    run_until(swarm, RunState.ROUND_TRAIN)
    swarm.organise(RunFinish(reason=1))
    swarm.organise(RunResume(reason=1))
    swarm.organise(RunPause(reason=1))
    run_until(swarm, RunState.PAUSED)
    swarm.organise(RunResume(reason=1))
    swarm.run(800)
    assert swarm.view.state is RunState.FINISHED
    start = next(at for at, one in enumerate(swarm.entries) if one.statement.type == "run.open")
    for index, entry in enumerate(swarm.entries):
        yield entry.statement if index >= start and entry.statement.run else swarm_nothing(swarm)


def swarm_nothing(swarm: Swarm) -> Statement:
    """A statement of the run that changes nothing."""
    return swarm.entries[1].statement


def mutations(body: Body) -> Iterator[Body]:
    for name in body.__struct_fields__:
        value: Any = getattr(body, name)
        if isinstance(value, int):
            yield from _replaced(body, name, (value + 1, max(value - 1, 0)))
        elif isinstance(value, str):
            raw = bytearray(from_text(value, None))
            raw[0] ^= 1
            yield from _replaced(body, name, (to_text(bytes(raw)),))


def _replaced(body: Body, name: str, values: tuple[Any, ...]) -> Iterator[Body]:
    for value in values:
        if value != getattr(body, name):
            try:
                yield msgspec.structs.replace(body, **{name: value})
            except MalformedError:
                continue  # does not even parse


def test_every_mutated_word_of_the_coordinator_is_refused_without_a_trace() -> None:
    swarm = swarm_of(21, members=5)
    swarm.run(400)
    assert swarm.view.voided, "the log has a void round in it"
    view = FullRunView.opened(swarm.net, swarm.manifest, KeyStatus(), Tiers())
    tried: set[str] = set()
    for index, entry in enumerate(swarm.entries):
        statement = entry.statement
        if statement.run is None:
            continue
        if statement.author == swarm.coordinator.key:
            tried.add(statement.type)
            refuse_all(swarm, view, index, statement)
        view.apply(index, statement, 0, swarm.blobs.__getitem__)
    assert tried == {
        "round.roster",
        "head.promote",
        "round.open",
        "round.witness",
        "round.close",
        "round.void",
        "run.close",
    }


def refuse_all(swarm: Swarm, view: RunView, index: int, statement: Statement) -> None:
    before = copy.deepcopy(view)
    for body in mutations(statement.body):
        with pytest.raises((RefusedError, KeyError)):
            view.apply(index, restated(statement, body), 0, swarm.blobs.__getitem__)
        assert view == before
    for number in (statement.round or 0) + 1, (statement.round or 0) + 7:
        if statement.round is not None and not isinstance(statement.body, RoundOpen):
            moved = restated(statement, statement.body, number)
            with pytest.raises(RefusedError):
                view.apply(index, moved, 0, swarm.blobs.__getitem__)
            assert view == before


def restated(statement: Statement, body: Body, number: int | None = None) -> Statement:
    return make(
        body=body,
        author=statement.author,
        seq=2,
        ts=statement.ts,
        exp=statement.exp,
        prev=sha256(b"some statement"),
        run=statement.run,
        round=statement.round if number is None else number,
    )


def test_a_result_with_another_point_is_refused_even_if_its_hash_is_signed() -> None:
    swarm = swarm_of(1, 4, FailureRates())
    swarm.run_rounds(1)
    at = next(
        index for index, one in enumerate(swarm.entries) if one.statement.type == "round.close"
    )
    view, statement = swarm.replay(swarm.entries[:at]), swarm.entries[at].statement
    assert isinstance(statement.body, RoundClose)
    result = RoundResult.parse(swarm.blobs[sha256_of(statement)])
    row = msgspec.structs.replace(result.slots[0], trainer_gflop=result.slots[0].trainer_gflop + 1)
    forged = RoundResult(slots=(row, *result.slots[1:]))
    swarm.blobs[sha256(forged.encode())] = forged.encode()
    body = msgspec.structs.replace(statement.body, result=to_text(sha256(forged.encode())))
    with pytest.raises(RefusedError):
        view.apply(at, restated(statement, body), 0, swarm.blobs.__getitem__)


def sha256_of(statement: Statement) -> Any:  # noqa: ANN401  # a digest, never None here
    return needed_document(statement)


def test_a_pause_waits_for_the_round_and_a_resume_for_the_pause() -> None:
    swarm = swarm_of(1, 4, FailureRates())
    run_until(swarm, RunState.ROUND_TRAIN)
    for body in (RunPause(reason=1), RunFinish(reason=1)):
        with pytest.raises(RefusedError, match="no pause or finish is pending"):
            swarm.organise(RunResume(reason=1))
        swarm.organise(body)
        swarm.organise(RunResume(reason=1))
        assert swarm.view.state is RunState.ROUND_TRAIN
    closed = swarm.view.closed
    swarm.run_rounds(closed + 1)
    run_until(swarm, RunState.ROUND_TRAIN)
    swarm.organise(RunPause(reason=1))
    assert swarm.view.request is RunRequest.PAUSE
    run_until(swarm, RunState.PAUSED)
    with pytest.raises(RefusedError):
        swarm.organise(RunPause(reason=1))
    swarm.organise(RunFinish(reason=1))
    assert swarm.view.state is RunState.COOLDOWN


def test_an_ended_run_takes_nothing() -> None:
    swarm = Swarm(manifest=tiny_manifest(most=1))
    for at in range(3):
        swarm.volunteer(f"v{at}")
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    before = copy.deepcopy(swarm.view)
    for body in (RunPause(reason=1), RunFinish(reason=1), RunResume(reason=1)):
        statement = make(
            body=body,
            author=signer("organiser").key,
            seq=1,
            ts=0,
            exp=0,
            prev=ZERO_DIGEST,
            run=RunId(swarm.manifest.run_id),
        )
        with pytest.raises(RefusedError):
            swarm.view.apply(9, statement, 0, swarm.blobs.__getitem__)
    assert swarm.view == before


def test_a_round_is_in_no_view_twice() -> None:
    swarm = swarm_of(5, 4)
    swarm.run_rounds(3)
    assert isinstance(swarm.view.round, RoundView)
    numbers = [one.statement.round for one in swarm.entries if one.statement.type == "round.roster"]
    assert numbers == list(range(1, len(numbers) + 1))
