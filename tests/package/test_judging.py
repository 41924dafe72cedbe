"""A packaged worker judges a competition: its evaluator scores a model in the sandbox.

The ledger, the Hub and the two other evaluators run from source, and must find the same scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest
import trio

from tequio_client.competition import evaluator
from tequio_client.ipc import control
from tequio_client.keys import identity
from tequio_client.platform.programs import RUNTIME_VARIABLE
from tequio_client.worker.children.evaluator import competition_folder
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import to_text
from tests.client.competition.models import files_of, hub
from tests.client.competition.scenario import EVALUATORS, NEEDED, CompetitionScenario
from tests.client.worker.test_evaluator_role_judging import JUDGING, SECOND
from tests.package.conftest import APP, RUNTIME
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED
from tests.support.linked_worker import linked
from tests.support.settable_clock import set_forward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_shared.competition.rules import Evaluation
    from tequio_shared.competition.state import CompetitionView
    from tequio_shared.ids import Digest


US, OTHERS = EVALUATORS[0], EVALUATORS[1:]
ENTRANT, LONGEST_S = "maize", 240.0
DATES = {"deadline": "45s", "draw": "90s", "scored": "200s", "result": "60s"}
"""The package has the real clock, so these are real times."""

pytestmark = [pytest.mark.package, pytest.mark.trio]


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[CompetitionScenario]:
    """A competition that is open, with one model of the Hub."""
    organisers = key_folder(tmp_path / "first", ORGANISER), key_folder(tmp_path / "second", SECOND)
    options = (*UNLIMITED, "--organiser", to_text(SECOND.key))
    with (
        hub(tmp_path / "cache") as repositories,
        set_forward(tmp_path, *options) as (clock, ledger),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HF_ENDPOINT", repositories.url)
        patch.setenv("HOME", str(tmp_path / "home"))
        patch.setenv(RUNTIME_VARIABLE, str(RUNTIME.parent))
        repositories.put(f"milpa/{ENTRANT}", files_of(tmp_path / "files"))
        made = CompetitionScenario(
            url=ledger.url, clock=clock, folder=tmp_path, organisers=organisers
        )
        made.opened(**DATES)
        made.enter(ENTRANT, f"milpa/{ENTRANT}")
        yield made


def packaged(*words: str) -> tuple[str, ...]:
    """A command of the package."""
    return (str(APP), *words)


async def until(
    scenario: CompetitionScenario, holds: Callable[[CompetitionView], bool]
) -> CompetitionView:
    with trio.fail_after(LONGEST_S):
        while not holds(view := await trio.to_thread.run_sync(scenario.view)):  # noqa: ASYNC110
            await trio.sleep(1)
    return view


def scores(folder: Path, competition: Digest) -> Evaluation:
    """The scores on the disk of the evaluator of that folder."""
    found = evaluator.stored_scores(competition_folder(folder, competition) / ENTRANT)
    assert found is not None
    return found.evaluation


async def test_a_packaged_worker_scores_a_model_as_evaluators_from_source_do(
    scenario: CompetitionScenario,
) -> None:
    key = identity.load_or_create(scenario.folder / US).key
    for name in OTHERS:
        await trio.to_thread.run_sync(scenario.follow, name)
    async with linked(scenario.folder / US, scenario.url, program=packaged) as worker:
        await worker.send(control.SetPreferences(preferences=JUDGING))
        await worker.want(lend=True)
        await until(scenario, lambda view: key in view.offers)
        await until(scenario, lambda view: view.phase is CompetitionPhase.CLOSED)
        for name in OTHERS:
            await trio.to_thread.run_sync(scenario.evaluate, name)
        await until(scenario, lambda view: view.phase is CompetitionPhase.DRAWN)
        for number in range(1, NEEDED + 1):
            await trio.to_thread.run_sync(scenario.reveal, number)
        shown = await worker.until(
            "a model is scored", lambda one: one.judging is not None, LONGEST_S
        )
        assert shown.judging is not None
        command = psutil.Process(shown.judging.pid).cmdline()
        assert command == [str(RUNTIME), "-m", "tequio_client.competition"]
        for name in OTHERS:
            await trio.to_thread.run_sync(scenario.evaluate, name)
        view = await until(scenario, lambda view: (ENTRANT, key) in view.commits)
    ours, *theirs = (scores(scenario.folder / name, view.id) for name in EVALUATORS)
    assert ours.documents
    assert all(ours.documents == one.documents for one in theirs)
    assert "by='Landlock" in worker.log.read_text()
