"""The competition of `make competition`: one budget, texts outside training, a strict audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.competition import plan
from tequio_client.dataset import rows
from tequio_client.demo.competition import CompetitionDemo, verify
from tequio_client.demo.script import CUSTODIANS, NEEDED, SWARMS, VOLUNTEERS, CompetitionScript
from tequio_client.organiser import plan as run_plans
from tequio_client.organiser import sealing
from tequio_client.verify.report import AuditGrade
from tequio_shared.ids import to_text
from tests.support import memory_log

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_800_000_000_000
KEYS = tuple(to_text(bytes([at]) * 32) for at in range(1, CUSTODIANS + 1))


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> CompetitionScript:
    made = CompetitionScript(folder=tmp_path_factory.mktemp("contest") / "played", pace=2.0)
    made.write()
    return made


def test_no_text_is_both_sealed_and_trained_on(script: CompetitionScript) -> None:
    texts = {
        kind: [
            path.read_text("utf-8").strip() for path in (script.folder / "texts" / kind).iterdir()
        ]
        for kind in ("train", "sealed")
    }
    assert len(texts["sealed"]) == 64
    assert len(texts["train"]) == 600
    everything = [*texts["sealed"], *texts["train"]]
    assert len(set(everything)) == len(everything)


def test_both_swarms_have_one_budget_and_settings_of_their_own(script: CompetitionScript) -> None:
    first, second = (run_plans.read_plan(script.folder / f"{one.name}.toml") for one in SWARMS)
    assert first.windows == second.windows
    assert first.rounds == second.rounds
    assert first.inner != second.inner
    assert first.rounds.most * VOLUNTEERS * first.windows.most * 128 == script.tokens


def test_the_plan_makes_rules_of_the_sealed_texts(
    script: CompetitionScript, tmp_path: Path
) -> None:
    path = script.folder / "competition.toml"
    path.write_text(script.competition_plan(KEYS))
    sealed = str(script.folder / "texts" / "sealed")
    source = rows.open_documents(sealed, rows.ReadOptions(), 1_000)
    sealing.seal(source, tmp_path / "sealed", needed=NEEDED, shares=CUSTODIANS)
    made = plan.write_rules(path, tmp_path / "sealed", tmp_path / "rules.json", NOW_MS)
    assert plan.read_plan(path).name == made.name
    assert made.sealed.documents > made.scoring.documents
    assert made.budget.tokens == script.tokens
    assert made.dates.deadline - made.dates.opens == 2 * 1_000 * script.deadline_s


def test_a_check_that_ends_otherwise_ends_the_play_with_its_status(tmp_path: Path) -> None:
    reported: list[str] = []
    contest = CompetitionDemo(script=CompetitionScript(folder=tmp_path), report=reported.append)
    contest.url = memory_log.unused_url()
    assert trio.run(verify, contest) == AuditGrade.MISSING.value
    assert reported[1].startswith("  tequio verify-competition http://127.0.0.1:")
    assert reported[-1].startswith("Exit status 3, but 0 was expected")
