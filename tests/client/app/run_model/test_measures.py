"""Measures of a run, read one by one: the newest, the first, ours, and one of the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.app.run_model.measures import (
    MOST_TRIES,
    PAGE_HEADS,
    ModelMeasure,
    RunMeasures,
    period_of,
)
from tests.support.measured_site import MeasuredRun, MeasuredSite, measured_site
from tests.support.sample_ledger import ROUNDS_A_DAY
from tests.support.sample_site import served_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def served() -> Iterator[MeasuredSite]:
    with measured_site(MeasuredRun()) as made:
        yield made


def read(qtbot: QtBot, measures: RunMeasures, site: MeasuredSite, joined: int = 0) -> RunMeasures:
    measures.set_run(site.url, site.run.run, joined)
    measures.read()
    settle(qtbot, measures)
    return measures


def settle(qtbot: QtBot, measures: RunMeasures) -> None:
    qtbot.waitUntil(lambda: not (measures.is_reading or measures.is_choosing))


def compared(measures: RunMeasures) -> tuple[int, int]:
    assert measures.earlier is not None
    assert measures.later is not None
    return measures.earlier.round, measures.later.round


def joined_round(measures: RunMeasures) -> int | None:
    return measures.joined.round if measures.joined else None


def problem_of(measures: RunMeasures) -> str:
    return measures.problem


def test_the_newest_measure_is_beside_the_first_one_of_the_same_text(
    served: MeasuredSite, qtbot: QtBot
) -> None:
    measures = read(qtbot, RunMeasures(), served)
    assert measures.last is not None
    assert measures.last.round == 1_840
    assert measures.first is not None
    assert measures.first.round == 0
    assert measures.step == 20
    assert compared(measures) == (40, 1_840), "92 measures, and every third has the same text"
    assert measures.earlier is not None
    assert measures.earlier.prompt == measures.last.prompt != measures.first.prompt
    assert measures.earlier.bits_per_byte == pytest.approx(2.257, abs=0.001)
    assert measures.last.perplexity == pytest.approx(2 ** (200 / 60 * measures.last.bits_per_byte))


def test_before_a_text_comes_round_again_the_newest_measure_is_beside_the_first(
    qtbot: QtBot,
) -> None:
    with measured_site(MeasuredRun(rounds=40, every=20, texts=9)) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert compared(measures) == (0, 40), "not the newest beside itself"


def test_a_chosen_round_is_beside_the_newest_one_of_its_text(
    served: MeasuredSite, qtbot: QtBot
) -> None:
    measures = read(qtbot, RunMeasures(), served)
    measures.choose(401)
    assert measures.is_choosing
    settle(qtbot, measures)
    assert compared(measures) == (420, 1_800), "the next measured one"
    measures.choose(440)
    settle(qtbot, measures)
    assert compared(measures) == (440, 1_820)
    measures.choose(1_820)
    settle(qtbot, measures)
    assert compared(measures) == (1_820, 1_840), "there is no later one of its text"
    measures.read()
    settle(qtbot, measures)
    assert compared(measures) == (1_820, 1_840), "reading again keeps the choice"


def test_a_head_that_nobody_measured_is_passed_over(qtbot: QtBot) -> None:
    with measured_site(MeasuredRun(skipped=frozenset({1_800}))) as served:
        measures = read(qtbot, RunMeasures(), served)
        measures.choose(420)
        settle(qtbot, measures)
        assert compared(measures) == (420, 1_740)
        missing = frozenset(range(1_500, 1_801, 60))
    assert len(missing) > MOST_TRIES
    with measured_site(MeasuredRun(skipped=missing)) as served:
        measures = read(qtbot, RunMeasures(), served)
        measures.choose(420)
        settle(qtbot, measures)
        assert compared(measures) == (420, 1_840), "in the end the newest one, of another text"


def test_heads_that_were_given_up_are_passed_over(qtbot: QtBot) -> None:
    given_up = ((1_500, 1_850), (1_000, 1_200))
    with measured_site(MeasuredRun(rollbacks=given_up, newest=1_500)) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert measures.last is not None
        assert measures.last.round == 1_500
        measures.choose(60)
        settle(qtbot, measures)
        assert compared(measures) == (60, 1_500)
        measures.choose(40)
        settle(qtbot, measures)
        assert compared(measures) == (40, 1_480)
        served.run.rollbacks = ((780, 1_850),)
        read(qtbot, measures, served)
        assert compared(measures) == (40, 760), "those of an earlier reading as well"
        served.run.skipped, served.run.rollbacks = frozenset({0}), ((0, 1_850),)
        assert read(qtbot, measures, served).last is None


def test_no_answer_holds_a_whole_history(qtbot: QtBot) -> None:
    run = MeasuredRun(rounds=100_000, every=1, texts=40)
    with measured_site(run) as served:
        measures = read(qtbot, RunMeasures(), served, joined=700)
        measures.choose(50_000)
        settle(qtbot, measures)
        assert compared(measures) == (50_000, 100_000), "the same text"
        assert len(served.asked) == 5, "run, newest, first, ours, and the chosen one"
        assert all(path.endswith(("limit=1", f"limit={PAGE_HEADS}")) for path in served.asked[1:])
        served.asked.clear()
        read(qtbot, measures, served, joined=700)
        assert len(served.asked) == 2, "what does not change is read once"


def test_without_any_text_the_newest_measure_is_found_backwards(qtbot: QtBot) -> None:
    run = MeasuredRun(rounds=1_000, every=300, has_samples=False)
    with measured_site(run) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert measures.last is not None
        assert measures.last.round == 900
        assert len(served.asked) < 12
        assert compared(measures) == (0, 900)
    with measured_site(MeasuredRun(every=0)) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert measures.has_read
        assert measures.last is None


def test_more_texts_than_a_page_leave_a_chosen_text_beside_another(qtbot: QtBot) -> None:
    with measured_site(MeasuredRun(every=1, texts=PAGE_HEADS + 1)) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert compared(measures) == (22, 1_840), "of the same text"
        measures.choose(500)
        settle(qtbot, measures)
        assert compared(measures) == (500, 1_840)
        assert measures.earlier is not None
        assert measures.later is not None
        assert measures.earlier.prompt != measures.later.prompt


def test_another_run_forgets_all_and_another_first_round_only_ours(qtbot: QtBot) -> None:
    with measured_site(MeasuredRun()) as served:
        measures = read(qtbot, RunMeasures(), served)
        assert joined_round(measures) is None
        read(qtbot, measures, served, joined=710)
        assert joined_round(measures) == 720
        read(qtbot, measures, served, joined=1_850)
        assert joined_round(measures) is None, "not measured since"
        measures.set_run(served.url, "another", 0)
        assert (measures.first, measures.last, measures.earlier) == (None, None, None)
        measures.read()
        settle(qtbot, measures)
        assert problem_of(measures) == "HTTP 404"


def test_a_ledger_that_is_away_or_sends_nonsense_is_a_problem_and_keeps_the_rest(
    served: MeasuredSite, qtbot: QtBot
) -> None:
    measures = read(qtbot, RunMeasures(timeout_ms=2_000), served)
    served.status = 503
    measures.read()
    settle(qtbot, measures)
    assert problem_of(measures)
    assert measures.last is not None
    served.status = 200
    measures.read()
    settle(qtbot, measures)
    assert not problem_of(measures)
    measures.set_run("http://127.0.0.1:9", served.run.run, 0)
    measures.read()
    settle(qtbot, measures)
    assert problem_of(measures)
    assert measures.last is None


def test_the_period_is_that_of_the_first_text_that_returns() -> None:
    def head(number: int, prompt: str) -> ModelMeasure:
        return ModelMeasure(round=number, bits_per_byte=1.0, perplexity=2.0, prompt=prompt)

    assert period_of([head(0, "a"), head(10, "b"), head(20, "a")]) == 20
    assert period_of([head(0, ""), head(10, ""), head(20, "a")]) == 0
    assert period_of([]) == 0


def test_a_real_ledger_answers_it(tmp_path: Path, qtbot: QtBot) -> None:
    with served_site(tmp_path / "ledger") as real:
        measures = RunMeasures()
        measures.set_run(real.url, real.run, ROUNDS_A_DAY)
        measures.read()
        settle(qtbot, measures)
        assert not measures.problem
        assert measures.last is not None
        assert measures.joined is not None
        assert measures.joined.round >= ROUNDS_A_DAY
        assert measures.last.bits_per_byte < measures.joined.bits_per_byte
        assert measures.earlier is not None
        assert measures.earlier.prompt == measures.last.prompt
        assert len(measures.earlier.text) < len(measures.last.text)
