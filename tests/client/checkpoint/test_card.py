"""The card says what the log says, and nobody's words in it are more than words."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import TYPE_CHECKING

import msgspec
import pytest
import yaml

from tequio_client.checkpoint import history
from tequio_client.checkpoint.history import head_history
from tequio_client.verify.reader import FoldedLog
from tequio_client.verify.report import LogReport
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.round import measures
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import HOSTILE, ROUNDS, TASK, played

if TYPE_CHECKING:
    from tequio_client.checkpoint.history import HeadHistory


@pytest.fixture(scope="module")
def story() -> HeadHistory:
    log = SwarmLog(played().swarm)
    report = LogReport()
    read = FoldedLog(log, report, tiles=log)
    read.read()
    assert not report.findings
    promoted = read.run("maize- 1.0").promoted
    assert [head.round for _, head in promoted] == list(range(ROUNDS + 1))
    return head_history(read, log.blob, "maize- 1.0")


def test_it_says_what_the_log_says(story: HeadHistory) -> None:
    text = history.render_card(story, "http://ledger.example")
    view = played().swarm.view
    earned = {key: one.trainer + one.witness for key, one in view.accounts.earned.items()}
    assert story.gflop == {key: amount for key, amount in earned.items() if amount}
    assert story.tokens == view.accounts.tokens
    for word in (
        to_text(story.head.hash),
        to_text(story.head.weights_root),
        f"{story.tokens:,}",
        "sparseloco",
        *map(to_text, story.gflop),
        "tequio checkpoint verify PATH_OR_REPO --ledger http://ledger.example",
        played().swarm.genesis.log_key,
    ):
        assert word in text
    for line in story.proof.note.decode().splitlines():
        assert f"    {line}".rstrip() in text


def test_it_says_how_many_questions_the_head_answered(story: HeadHistory) -> None:
    text = history.render_card(story, "http://ledger.example")
    (row,) = [line for line in text.splitlines() if "a\\_task" in line]
    median = sorted(20 + at for at in range(len(story.measures)))[(len(story.measures) - 1) // 2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == f"{median / 40:.1%}"
    assert cells[3:] == ["62.5%", "25.0%", "40", f"`{TASK.file}`"]
    assert "may be among what the model was trained on" in text


def test_a_card_of_a_head_without_answers_names_no_task(story: HeadHistory) -> None:
    bare = {
        key: (entry, msgspec.structs.replace(body, tasks=msgspec.UNSET))
        for key, (entry, body) in story.measures.items()
    }
    text = history.render_card(dataclasses.replace(story, measures=bare), "http://l.example")
    assert "Right answers" not in text


def test_it_says_what_drawn_members_measured_and_where_that_stands(story: HeadHistory) -> None:
    text = history.render_card(story, "http://ledger.example")
    assert len(story.measures) == 3
    assert "**5.1234 bits per byte**" in text
    median = measures.median(body for _, body in story.measures.values())
    per_token = measures.perplexity(median)
    assert f"perplexity **{per_token:.4g} per token**, 34.86 per byte: the median" in text
    for key, (entry, body) in story.measures.items():
        figures = f"{body.millibits / 1e6:.6f} | {measures.perplexity(body):.4g}"
        assert f"| `{to_text(key)}` | {figures} | {entry} |" in text
    _, said = next(iter(story.measures.values()))
    liar = PeerKey(bytes([7]) * 32)
    lie = 99, msgspec.structs.replace(said, millibits=1_000)
    lied = dataclasses.replace(story, measures={**story.measures, liar: lie})
    text = history.render_card(lied, "http://ledger.example")
    assert "**5.1234 bits per byte**" in text
    assert f"| `{to_text(liar)}` | 0.001000 (far from the others) | 1.001 | 99 |" in text
    text = history.render_card(dataclasses.replace(story, measures={}), "http://ledger.example")
    assert "no measurement of this head" in text


def test_it_shows_what_the_head_writes_as_code_and_who_says_so(story: HeadHistory) -> None:
    text = history.render_card(story, "http://ledger.example")
    section = text.partition("\n## Sample\n")[2].partition("\n## Who made it")[0]
    assert "\n\n    Once # upon\n\nThe model goes on:\n\n" in section
    assert "\n\n     a *time*\n    ## the <b>end</b>\n" in section
    (key, (entry, _)) = sorted(story.measures.items(), key=lambda one: one[1][1].millibits)[1]
    assert f"`{to_text(key)}` says in log entry {entry}." in section
    without = {
        key: (entry, msgspec.structs.replace(body, sample=msgspec.UNSET))
        for key, (entry, body) in story.measures.items()
    }
    bare = history.render_card(
        dataclasses.replace(story, measures=without), "http://ledger.example"
    )
    assert "## Sample" not in bare


def test_the_front_matter_is_what_we_wrote_and_nothing_else(story: HeadHistory) -> None:
    text = history.render_card(story, "http://ledger.example")
    _, front, _ = text.split("---\n", 2)
    read = yaml.safe_load(front)
    assert set(read) == {"library_name", "pipeline_tag", "tags"}
    assert read["tags"][1] == f"tequio-run:{to_text(story.manifest.run_id)}"


def test_a_strangers_words_stay_words(story: HeadHistory) -> None:
    text = history.render_card(story, "http://x/`$(touch a)`;'\n```\n# no")
    assert "<script>" not in text
    body = text.split("---\n", 2)[2]
    row = next(line for line in body.splitlines() if line.startswith("| data |"))
    plain = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), row)
    plain = re.sub(r"\\(.)", r"\1", plain)
    assert plain == f"| data | {HOSTILE.replace(chr(10), ' ')} |"
    bare = re.sub(r"\\.|&#\d+;", "", row.removeprefix("| data |").removesuffix("|"))
    assert re.fullmatch(r"[\w /;=]*", bare), "each mark is escaped"
    assert body.count("\n## ") == 6, "no heading but ours"
    fences = [line for line in body.splitlines() if line.startswith("```")]
    assert len(fences) == 4, "no fence but ours"
    assert not set(row) & set("<>\"'"), "not even after a backslash: not all readers know it"
    command = next(line for line in body.splitlines() if line.startswith("tequio checkpoint"))
    assert shlex.split(command)[-1] == "http://x/`$(touch a)`;' ``` # no"
    named = next(line for line in body.splitlines() if line.startswith("| ledger |"))
    assert named.count("`") == 2


def test_a_head_that_writes_blanks_writes_nothing(story: HeadHistory) -> None:
    said = {}
    for key, (entry, body) in story.measures.items():
        sample = body.sample
        assert sample is not msgspec.UNSET
        blank = msgspec.structs.replace(sample, text=" \n ")
        said[key] = entry, msgspec.structs.replace(body, sample=blank)
    text = history.render_card(dataclasses.replace(story, measures=said), "http://ledger.example")
    assert "To the model the text ends there." in text


def test_so_many_contributors_are_counted(story: HeadHistory) -> None:
    many = {bytes([at % 256, at // 256]) * 16: 10_000 for at in range(150)}
    text = history.render_card(dataclasses.replace(story, gflop=many), "http://l")  # type: ignore[arg-type]  # keys of a test
    assert "And 50 more keys with 50.0 points together." in text
