"""Answers to tasks in measures: what is admitted, which counts agree, and what a lie moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import MEASURED_REQUESTS, MEASURED_TASKS
from tequio_shared.multiple_choice import (
    ChoiceLosses,
    ChoiceQuestion,
    ChoiceTotals,
    MeasuredTask,
)
from tequio_shared.network.verdicts import judge
from tequio_shared.round import measures
from tequio_shared.round.manifest import Manifest, MeasureRules, Tokenizer
from tequio_shared.round.plugin import PluginSpec
from tequio_shared.statements.runs import HeadMeasure, TaskCounts
from tests.support import scoring_vectors
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.small_tasks import small_task
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Mapping

VECTORS = scoring_vectors.read("6-tasks")
FIGURES = ("right", "right_normed", "close", "close_normed")
TASKS = small_task(20), small_task(50, name="more", choices=2)


def counts(right: int, close: int = 0, *, asked: int = 100, normed: int = 30) -> TaskCounts:
    return TaskCounts(
        asked=asked, right=right, right_normed=normed, close=close, close_normed=close
    )


def rules(*tasks: MeasuredTask) -> MeasureRules:
    return MeasureRules(every=1, tasks=tasks or tuple(MeasuredTask.of(t.encode()) for t in TASKS))


def manifest(measure: MeasureRules, **changes: Any) -> Manifest:  # noqa: ANN401 - of any field
    made = msgspec.structs.replace(tiny_manifest(), measure=measure, **changes)
    return Manifest.parse(made.encode())


# --- The manifest.


def test_a_manifest_says_what_its_files_hold() -> None:
    raw = TASKS[1].encode()
    assert MeasuredTask.of(raw) == MeasuredTask(
        chance_e6=500_000,
        file=to_text(sha256(raw)),
        name="more",
        questions=50,
        requests=100,
    )
    assert MeasuredTask.of(small_task(3, choices=3).encode()).chance_e6 == 333_333
    assert manifest(rules()).measures.answered == rules().answered


def test_a_run_without_tasks_has_the_id_that_it_always_had() -> None:
    before = msgspec.structs.replace(tiny_manifest(), measure=MeasureRules(every=2))
    assert b"tasks" not in before.encode()
    assert before.measures.answered == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"every": 0}, "measure.tasks needs measure.every above 0"),
        ({"tasks": (rules().answered[0],) * 2}, "measure.tasks names a file twice"),
        (
            {
                "tasks": (
                    msgspec.structs.replace(rules().answered[0], requests=MEASURED_REQUESTS),
                    rules().answered[1],
                )
            },
            f"measure.tasks has {MEASURED_REQUESTS + 100} choices, and at most 16384 are allowed",
        ),
        ({"tasks": ()}, "measure.tasks"),
        (
            {
                "tasks": tuple(
                    msgspec.structs.replace(rules().answered[0], file=to_text(sha256(bytes([at]))))
                    for at in range(MEASURED_TASKS + 1)
                )
            },
            "measure.tasks",
        ),
    ],
)
def test_tasks_that_members_cannot_answer_are_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(MalformedError, match=told):
        manifest(msgspec.structs.replace(rules(), **change))


def test_as_many_choices_are_measured_as_the_limit_allows() -> None:
    most = msgspec.structs.replace(rules().answered[0], requests=MEASURED_REQUESTS)
    assert manifest(rules(most)).measures.answered == (most,)


def test_a_run_with_a_tokenizer_of_code_has_no_tasks() -> None:
    own = {
        "tokenizer": Tokenizer(kind="plugin", file=to_text(sha256(b"table")), vocab_size=256),
        "plugin": PluginSpec(
            name="own",
            version="1",
            archive=to_text(sha256(b"code")),
            size_bytes=9,
            provides=("tokenizer",),
        ),
    }
    manifest(MeasureRules(every=1), **own)
    with pytest.raises(MalformedError, match=r"must be absent if tokenizer.kind is plugin"):
        manifest(rules(), **own)


# --- What is admitted.


def measuring() -> tuple[Swarm, MeasureRules]:
    due = rules()
    swarm = Swarm(manifest=msgspec.structs.replace(tiny_manifest(most=2), measure=due), seed=0)
    for at in range(4):
        swarm.volunteer(f"v{at}")
    while swarm.view.drawn is None:
        assert swarm.step()
    return swarm, due


def answered(swarm: Swarm, *answers: TaskCounts) -> StatementDraft:
    assert swarm.view.drawn is not None
    head = swarm.view.drawn.head
    body = HeadMeasure(
        head=to_text(head.hash),
        millibits=7_000_000,
        size_bytes=1_000,
        tokens=900,
        tasks=answers or UNSET,
    )
    return StatementDraft(body, head.round)


@attack(
    "P23", layer="coord", ends="refused, if it counts other questions than the run's tasks have"
)
@pytest.mark.parametrize(
    "asked", [(20,), (20, 50, 20), (50, 20), (20, 49)], ids=lambda asked: "-".join(map(str, asked))
)
def test_answers_to_other_questions_are_refused(asked: tuple[int, ...]) -> None:
    swarm, _ = measuring()
    assert swarm.view.drawn is not None
    by_key = {one.key: one for one in swarm.volunteers}
    author = by_key[swarm.view.drawn.drawn[0]]
    wrong = answered(swarm, *(counts(1, asked=one, normed=1) for one in asked))
    with pytest.raises(RefusedError, match="answers to tasks of") as caught:
        swarm.post(author, wrong)
    assert caught.value.code == "wrong-tasks"
    assert not swarm.view.drawn.measures


def test_a_measure_with_all_answers_or_none_is_admitted() -> None:
    swarm, _ = measuring()
    assert swarm.view.drawn is not None
    by_key = {one.key: one for one in swarm.volunteers}
    authors = [by_key[key] for key in swarm.view.drawn.drawn]
    swarm.post(authors[0], answered(swarm, *(counts(1, asked=n, normed=1) for n in (20, 50))))
    swarm.post(authors[1], answered(swarm))
    assert [len(measures.tasks_of(one)) for one in swarm.view.drawn.measures.values()] == [2, 0]


@pytest.mark.parametrize("figure", FIGURES)
def test_more_right_answers_than_questions_are_malformed(figure: str) -> None:
    figures = dict.fromkeys(FIGURES, 3) | {figure: 4}
    with pytest.raises(MalformedError, match=f"{figure} is 4, but 3 questions were asked"):
        TaskCounts(asked=3, **figures)


# --- Agreement.


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: str(case["name"]))
def test_the_published_counts(case: Mapping[str, Any]) -> None:
    if "questions" in case:
        questions = [
            ChoiceQuestion(
                characters=tuple(one["characters"]),
                contexts=("?",),
                continuations=tuple("a" for _ in one["characters"]),
                right=one["right"],
            )
            for one in case["questions"]
        ]
        losses = [ChoiceLosses(millibits=tuple(one["millibits"])) for one in case["questions"]]
        found = ChoiceTotals.of(questions, losses)
        assert {name: getattr(found, name) for name in case["expected"]} == case["expected"]
        return
    members = {at: TaskCounts(**one) for at, one in enumerate(case["members"])}
    expected = cast("Mapping[str, Any]", case["expected"])
    assert msgspec.structs.asdict(measures.task_median(members.values())) == expected["median"]
    assert sorted(measures.task_outliers(members)) == expected["outliers"]


@st.composite
def honest(draw: st.DrawFn) -> tuple[TaskCounts, TaskCounts]:
    """Counts of two honest members: they differ in questions that both find close."""
    disputed = draw(st.integers(0, 10))
    sure = draw(st.integers(0, 50))
    pair = []
    for _ in range(2):
        close = disputed + draw(st.integers(0, 5))
        pair.append(counts(sure + draw(st.integers(0, disputed)), close))
    return pair[0], pair[1]


@attack("P23", layer="coord", ends="one of three moves no median beyond the honest counts")
@given(pair=honest(), right=st.integers(0, 100), close=st.integers(0, 100))
def test_a_liar_moves_no_accuracy_beyond_the_honest_ones_and_marks_nobody_else(
    pair: tuple[TaskCounts, TaskCounts], right: int, close: int
) -> None:
    said = {"one": pair[0], "other": pair[1], "liar": counts(right, close)}
    low, high = sorted(one.right for one in pair)
    middle = measures.task_median(said.values())
    assert low <= middle.right <= high
    assert measures.task_outliers(said) <= {"liar"}
    if abs(right - middle.right) > max(one.close for one in pair):
        assert measures.task_outliers(said) == {"liar"}, "whatever it calls close"


def test_two_counts_judge_nobody() -> None:
    assert not measures.task_outliers({"one": counts(1), "other": counts(90)})


@attack("P23", layer="coord", ends="without effect: no verdict depends on a task")
def test_no_verdict_follows_from_answers() -> None:
    def said(right: int) -> list[HeadMeasure]:
        body = HeadMeasure(
            head=to_text(sha256(b"head")),
            millibits=7_000_000,
            size_bytes=1_000,
            tokens=900,
            tasks=(counts(right),),
        )
        return [body] * 3

    better, worse = judge([(0, said(90)), (1, said(0))], (), MeasureRules(every=1))
    assert (better.verdict, worse.verdict) == ("fine", "fine")
    assert not measures.outliers(dict(enumerate([*said(90), said(0)[0]])))
