"""How good heads are, on the run's page and in the API: the median, everybody's word, outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import UNSET
from sqlalchemy import delete

from tequio_ledger.store import models
from tequio_ledger.web.pages.run_tasks import answered_tasks
from tequio_ledger.web.pages.run_view import run_snapshot
from tequio_ledger.web.pages.runs import MeasureReader, held_out
from tequio_shared.api.runs import RunAnswer
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.network.rollback import Rollback
from tequio_shared.round import measures
from tequio_shared.served.rows import MeasuredHead, MeasuredRow, VerdictRules
from tequio_shared.statements.runs import HeadMeasure, Sample
from tests.support.sample_ledger import ASTRAY, DAYS, MEASURED, ROUNDS_A_DAY, TASKS

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite


LAST = DAYS * ROUNDS_A_DAY // MEASURED * MEASURED
"""The last head that was measured."""


def heads(seen: PageSite, query: str = "") -> dict[str, Any]:
    path = f"/v1/runs/{to_text(seen.shown.rules.run_id)}/measures{query}"
    answer: dict[str, Any] = seen.pages.get(path, accept="application/json").answer.json()
    return answer


def test_the_api_gives_the_median_and_everybodys_word(seen: PageSite) -> None:
    answer = heads(seen)
    assert answer["next"] is None
    assert [head["round"] for head in answer["heads"]] == list(range(0, LAST + 1, MEASURED))
    for head in answer["heads"]:
        said = [one["millibits"] for one in head["measures"]]
        assert len({one["peer"] for one in head["measures"]}) == len(said) == 3
        assert head["millibits"] == sorted(said)[1]
        far = [one["is_outlier"] for one in head["measures"]]
        assert far == ([False, True, False] if head["round"] == ASTRAY else [False] * 3)
        for one in head["measures"]:
            text = seen.pages.get(f"/entries/{one['entry']}").text
            assert "head.measure" in text
            assert one["peer"][:6] in text


def test_the_api_gives_measured_heads_page_by_page(seen: PageSite) -> None:
    whole, paged = heads(seen)["heads"], []
    after: int | None = -1
    while after is not None:
        page = heads(seen, f"?limit=4&after={after}")
        paged += page["heads"]
        after = page["next"]
    assert paged == whole


def test_the_api_gives_answers_to_tasks_and_marks_counts_that_nobody_else_has(
    seen: PageSite,
) -> None:
    for head in heads(seen)["heads"]:
        assert [task["name"] for task in head["tasks"]] == ["words", "pairs"]
        assert [task["file"] for task in head["tasks"]] == [task.file for task in TASKS]
        assert [task["chance_e6"] for task in head["tasks"]] == [250_000, 500_000]
        for at, task in enumerate(head["tasks"]):
            said = [one["tasks"][at] for one in head["measures"]]
            assert task["members"] == 3
            for name in ("asked", "right", "right_normed", "close", "close_normed"):
                assert task[name] == sorted(one[name] for one in said)[1]
            far = [one["is_outlier"] for one in said]
            assert far == ([False, True, False] if head["round"] == ASTRAY else [False] * 3)
            assert task["close"] == 3, "as many as a liar calls close do not count"


def test_the_run_shows_the_accuracy_of_each_task_beside_chance(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    last = heads(seen)["heads"][-1]
    assert f"Answers of the head of round {last['round']}" in page.text
    for task in last["tasks"]:
        assert f"{100 * task['right'] / task['asked']:.1f} %" in page.text
        assert f"/v1/blobs/{task['file']}" in page.links()
        assert f"Right answers: {task['name']}" in page.text
        chance = f"{task['chance_e6'] / 10_000:.1f} %"
        assert chance in page.text
        assert f" right answers to {task['name']} (guessing gives {chance}): " in page.answer.text
    astray = next(head for head in heads(seen)["heads"] if head["round"] == ASTRAY)
    assert (
        f"head of round {ASTRAY}: {astray['tasks'][0]['right']} of 200 right, median of 3, 1 far "
        "from it"
    ) in page.answer.text


def test_a_run_without_tasks_shows_none() -> None:
    assert answered_tasks([head(0, *three(8_000_000))], (), ()) is None


def test_the_run_shows_the_median_of_the_last_head_and_who_measured_it(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    last = heads(seen)["heads"][-1]
    bits = last["millibits"] / last["size_bytes"] / 1_000
    assert f"{bits:.3f}" in page.text
    assert f"Measurements of the head of round {LAST}" in page.text
    assert "head of round 12" in page.text
    assert "median of 3, 1 far from it" in page.text
    (measured,) = [
        one for one in page.all("section") if "measures-title" in one.attributes.values()
    ]
    for one in last["measures"]:
        assert f"{2 ** (one['millibits'] / one['tokens'] / 1_000):.1f}" in measured.text
    for one in last["measures"]:
        assert f"/peers/{one['peer']}" in page.links()
        assert f"/entries/{one['entry']}" in page.links()


def test_the_run_shows_what_the_newest_head_writes_and_who_says_so(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    sample = heads(seen)["heads"][-1]["sample"]
    raw = page.answer.text
    assert "<bdi>Once upon a time" in raw
    assert "could &lt;b&gt;count&lt;/b&gt; the stars.\nEvery" in raw, "a text and no HTML"
    assert "<b>count" not in raw
    assert "2 of 3 drawn members report the same text, word for word" in page.text
    assert f"/peers/{sample['peer']}" in page.links()
    assert f"/entries/{sample['entry']}" in page.links()
    assert f"After round {LAST} the model continues a text" in page.text


def test_the_api_gives_the_sample_that_most_agree_on(seen: PageSite) -> None:
    first, *later = heads(seen)["heads"]
    assert first["sample"] is None
    for head in later:
        assert head["sample"]["prompt"].startswith("Once upon a time")
        said = [one["entry"] for one in head["measures"] if not one["is_outlier"]]
        assert head["sample"]["entry"] in said
        assert head["sample"]["text"].startswith(" fox that")
    run = f"/v1/runs/{to_text(seen.shown.rules.run_id)}"
    newest = seen.pages.get(run, accept="application/json").answer
    last = {name: later[-1]["sample"][name] for name in ("peer", "prompt", "text")}
    assert newest.json()["sample"] == {"round": LAST, **last}
    read = msgspec.json.decode(newest.content, type=RunAnswer).sample
    assert read is not None, "as workers read it"
    assert (read.round, read.prompt, read.text) == (LAST, last["prompt"], last["text"])


def test_the_entry_of_a_measure_shows_its_sample_as_text(seen: PageSite) -> None:
    sample = heads(seen)["heads"][-1]["sample"]
    page = seen.pages.get(f"/entries/{sample['entry']}")
    assert "the model's text, according to this member" in page.text
    assert "<b>count" not in page.answer.text


def test_the_text_of_every_measured_round_is_a_link_away(seen: PageSite) -> None:
    run = f"/runs/{to_text(seen.shown.rules.run_id)}"
    samples = {one["round"]: one["sample"] for one in heads(seen)["heads"] if one["sample"]}
    page, found = seen.pages.get(f"{run}?sample={min(samples)}"), []
    while True:
        (shown,) = [number for number in samples if f"After round {number} the" in page.text]
        found.append(shown)
        texts = " ".join(one.text for one in page.all("dd"))
        assert " ".join(samples[shown]["text"].split()) in " ".join(texts.split())
        assert f"/entries/{samples[shown]['entry']}" in page.links()
        later = [one for one in page.all("a") if one.attributes.get("rel") == "next"]
        if not later:
            break
        page = seen.pages.get(later[0].attributes["href"].partition("#")[0])
    assert found == sorted(samples)


@pytest.mark.parametrize(("asked", "shown"), [(0, 4), (1, 4), (9, 8), (10**15, LAST)])
def test_a_round_without_a_text_shows_the_last_one_before_it(
    seen: PageSite, asked: int, shown: int
) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}?sample={asked}")
    assert f"After round {shown} the model continues" in page.text


def test_a_sample_of_no_round_is_refused(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}?sample=x")
    assert page.answer.status_code == 400


def test_a_peer_leads_to_what_the_model_wrote_when_it_came(seen: PageSite) -> None:
    page = seen.pages.get(f"/peers/{to_text(seen.shown.peers[0].key)}")
    (link,) = [one for one in page.links() if "?sample=" in one]
    assert link == f"/runs/{to_text(seen.shown.rules.run_id)}?sample=1#writing-title"


def test_of_many_texts_some_are_listed_with_the_first_the_last_and_the_one_shown() -> None:
    many = [head(number, row("ana", 8, writes=" on")) for number in range(0, 4_000, 4)]
    newest, former = held_out(many), held_out(many[:310])
    assert newest is not None
    assert former is not None
    shown = replace(newest, writing=former.writing)
    listed = shown.listed()
    assert len(listed) in {12, 13}
    assert {0, 1_236, 3_996} <= set(listed)
    assert (shown.beside(-1), shown.beside(1)) == (1_232, 1_240)


def test_what_measures_say_is_worked_out_again_after_each_further_one(seen: PageSite) -> None:
    ledger, reader = seen.shown.ledger, MeasureReader()
    now = run_snapshot(ledger.state, seen.shown.rules.run_id)
    with ledger.database.writer.connect() as connection:
        whole = reader.read(connection, now)
        assert reader.read(connection, now) is whole
        connection.execute(delete(models.MEASURED).where(models.MEASURED.c.round == LAST))
        earlier = reader.read(connection, now).held_out
        connection.rollback()
        assert earlier is not None
        assert earlier.round == LAST - MEASURED
        went_back = Rollback(head_round=0, last_round=LAST, index=1)
        given_up = reader.read(connection, replace(now, rollbacks=(went_back,))).held_out
        assert given_up is not None
        assert given_up.fine_round == 0


def test_after_a_rollback_the_newest_head_that_the_run_kept_is_shown_first(seen: PageSite) -> None:
    ledger, reader = seen.shown.ledger, MeasureReader()
    now = run_snapshot(ledger.state, seen.shown.rules.run_id)
    kept = LAST - 2 * MEASURED
    back = replace(now, rollbacks=(Rollback(head_round=kept + 1, last_round=LAST, index=1),))
    with ledger.database.writer.connect() as connection:
        before, after = (reader.read(connection, one) for one in (now, back))
    assert before.held_out
    assert before.tasks
    assert after.held_out
    assert after.tasks
    assert (before.held_out.round, before.tasks.round) == (LAST, LAST)
    assert (after.held_out.round, after.tasks.round) == (kept, kept)
    assert after.held_out.judged.round == kept
    assert after.held_out.writing
    assert after.held_out.writing.round <= kept
    assert after.held_out.samples == before.held_out.samples
    assert len(after.held_out.curve.readings) == len(before.held_out.curve.readings)
    went_back = Rollback(head_round=0, last_round=20, index=1)
    rules = VerdictRules(measures=now.manifest.measures, rollbacks=(went_back,))
    assert held_out([head(20, *three(8_000_000))], rules) is None


def row(
    name: str, millibits: int, *, is_outlier: bool = False, writes: str | None = None
) -> MeasuredRow:
    said = HeadMeasure(
        head=to_text(sha256(b"head")),
        millibits=millibits,
        size_bytes=1_000,
        tokens=900,
        sample=UNSET if writes is None else Sample(prompt="Once", text=writes),
    )
    return MeasuredRow(
        entry=5, peer=PeerKey(sha256(name.encode())), said=said, is_outlier=is_outlier
    )


def head(number: int, *rows: MeasuredRow) -> MeasuredHead:
    return MeasuredHead(
        round=number,
        head=sha256(b"head"),
        median=measures.median([one.said for one in rows]),
        rows=rows,
        shown=next((one for one in rows if measures.sample_of(one.said)), None),
    )


def three(millibits: int) -> list[MeasuredRow]:
    return [row(name, millibits) for name in ("ana", "bo", "citlali")]


def test_a_head_that_is_worse_says_than_which_and_by_which_figures() -> None:
    found = held_out(
        [head(0, *three(8_000_000)), head(10, *three(5_000_000)), head(20, *three(5_500_000))]
    )
    assert found is not None
    assert (found.verdict.word, found.verdict.tone) == ("Worse than before", "danger")
    assert found.explanation == (
        "3 members agree on 5.5000 bits per byte (perplexity 69.1 per token). That is more than "
        "0.02 bits per byte above the best earlier head, of round 10: 5.0000 bits per byte "
        "(perplexity 47.0 per token)."
    )
    assert found.curve.readings[-1].caption == (
        "head of round 20: 5.5000 bits per byte (perplexity 69.1 per token), median of 3, worse "
        "than round 10"
    )
    assert found.curve.readings[-2].caption.endswith("median of 3")
    assert found.fine_round == 10


def test_a_head_on_which_too_few_agree_is_not_measured_yet() -> None:
    found = held_out([head(0, *three(8_000_000)), head(10, row("liar", 9_000_000))])
    assert found is not None
    assert found.verdict.word == "Not measured yet"
    assert found.explanation == "Too few members agree on how good it is."
    assert found.fine_round == 0
    first = held_out([head(0, *three(8_000_000))])
    assert first is not None
    assert first.explanation.endswith("There is no earlier head to compare with.")


def test_the_run_shows_verdicts_and_which_head_is_not_measured(seen: PageSite) -> None:
    answer = heads(seen)["heads"]
    assert {one["verdict"] for one in answer} == {"fine"}
    assert [one["best"] for one in answer] == [None, *(one["round"] for one in answer[:-1])]
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    assert "Measured, not worse" in page.text
    assert f"The best earlier head, of round {LAST - MEASURED}, needs" in page.text
    assert "Last fine head" in page.text
    assert "tequio checkpoint export --measured" in page.text


def test_where_the_newest_heads_have_no_sample_an_older_one_is_shown() -> None:
    shown = held_out([head(0, row("ana", 8, writes=" upon")), head(10, row("ana", 7))])
    assert shown is not None
    assert shown.writing is not None
    assert (shown.writing.round, shown.writing.text) == (0, " upon")
    assert (shown.writing.agreeing, shown.writing.reports) == (1, 1)
    without = held_out([head(0, row("ana", 8))])
    assert without is not None
    assert without.writing is None


def test_a_run_without_measures_shows_none_and_one_head_makes_no_line() -> None:
    assert held_out([]) is None
    shown = held_out([head(0, row("ana", 8_000_000))])
    assert shown is not None
    assert shown.curve.layouts == ()
    assert shown.bits_per_byte == pytest.approx(8.0)


def test_an_outlier_is_marked_in_words_and_by_a_shape() -> None:
    rows = (row("ana", 7_000_000), row("bo", 7_000_000), row("liar", 1, is_outlier=True))
    shown = held_out([head(0, row("ana", 8_000_000)), head(10, *rows)])
    assert shown is not None
    assert shown.bits_per_byte == pytest.approx(7.0)
    marks = {line.mark.word: line.mark.tone for line in shown.lines}
    assert marks == {"with the median": "ok", "far from the median": "warn"}
    assert shown.curve.readings[-1].caption.endswith("median of 3, 1 far from it")
    for layout in shown.curve.layouts:
        assert sum(spot.is_outlier for spot in layout.spots) == 1
        assert all(layout.rows[-1].at <= spot.y <= layout.base for spot in layout.spots)
