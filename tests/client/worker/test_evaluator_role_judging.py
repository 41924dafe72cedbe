"""A volunteer judges from the app: a real ledger, a real worker, its real evaluator, all killed."""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING

import psutil
import pytest
import trio
from msgspec.structs import replace

from tequio_client.ipc import control
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.ipc.snapshot import LendingReason
from tequio_client.keys import identity
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.client.competition.models import files_of, hub
from tests.client.competition.scenario import DRAWN, EVALUATORS, NEEDED, CompetitionScenario
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED
from tests.support.linked_worker import WILLING, linked
from tests.support.settable_clock import set_forward
from tests.support.timing_slack import allowed_s
from tests.support.worker_with_clock import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tequio_client.ipc.competitions import CompetitionRow
    from tequio_client.ipc.snapshot import Snapshot
    from tequio_shared.competition.state import CompetitionView
    from tests.support.linked_worker import LinkedWorker

pytestmark = pytest.mark.trio

SECOND = Signer(bytes([8]) * 32)
US, OTHERS = EVALUATORS[0], EVALUATORS[1:]
MODELS = {"maize": 1}
JUDGING = replace(WILLING, judge=True, while_used=True, pause_for_games=False, on_metered=True)
"""Preferences for a session of which nothing is known."""


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[CompetitionScenario]:
    """A competition that is open."""
    organisers = (
        key_folder(tmp_path / "first", ORGANISER),
        key_folder(tmp_path / "second", SECOND),
    )
    options = (*UNLIMITED, "--organiser", to_text(SECOND.key))
    with (
        hub(tmp_path / "cache") as repositories,
        set_forward(tmp_path, *options) as (clock, ledger),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HF_ENDPOINT", repositories.url)
        for name, seed in MODELS.items():
            repositories.put(f"milpa/{name}", files_of(tmp_path / f"{name}-files", seed=seed))
        yield CompetitionScenario(
            url=ledger.url, clock=clock, folder=tmp_path, organisers=organisers
        )


class JudgingVolunteer:
    """A judging volunteer and its competition."""

    def __init__(self, scenario: CompetitionScenario) -> None:
        self.scenario = scenario
        self.folder = scenario.folder / US
        self.key = identity.load_or_create(self.folder).key

    def working(self) -> AbstractAsyncContextManager[LinkedWorker]:
        """The worker, as the app starts it."""
        clock = self.scenario.folder / "clock"
        return linked(self.folder, self.scenario.url, program=partial(program, clock))

    async def until(self, is_so: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait for the log to say so."""
        return await trio.to_thread.run_sync(self.scenario.until, is_so)

    async def do(self, act: Callable[..., object], *arguments: object) -> None:
        """Do something that blocks."""
        await trio.to_thread.run_sync(act, *arguments)

    async def others(self) -> None:
        """Let the other evaluators do what is due."""
        for name in OTHERS:
            await self.do(self.scenario.evaluate, name)

    @property
    def scored(self) -> list[str]:
        """Entrant and document, of all that the evaluator's journal ever got."""
        file = self.scenario.folder / "scored"
        return file.read_text().splitlines() if file.exists() else []


async def row(worker: LinkedWorker) -> CompetitionRow:
    """The competition as the app sees it."""
    found = await worker.ask(AskCompetitions())
    assert isinstance(found, CompetitionsReply)
    return found.rows[0]


def is_scoring(shown: Snapshot) -> bool:
    """True while the evaluator is in the middle of a model."""
    one = shown.judging
    return one is not None and one.doing == "scoring" and 0 < one.documents < one.of_documents


def child_of(shown: Snapshot) -> int:
    """The evaluator's process."""
    assert shown.judging is not None
    return shown.judging.pid


async def gone(pid: int) -> None:
    """Wait until there is no such process."""
    with trio.fail_after(allowed_s(5)):
        while psutil.pid_exists(pid):  # noqa: ASYNC110 - it is not our child
            await trio.sleep(0.05)


async def test_a_volunteer_judges_with_one_switch_and_scores_nothing_twice(
    scenario: CompetitionScenario,
) -> None:
    one = JudgingVolunteer(scenario)
    await one.do(scenario.opened)
    for name in MODELS:
        await one.do(scenario.enter, name, f"milpa/{name}")
    for name in OTHERS:
        await one.do(scenario.follow, name)
    async with one.working() as worker:
        await worker.send(control.SetPreferences(preferences=JUDGING))
        await worker.want(lend=True)
        await one.until(lambda view: one.key in view.offers)
        assert (await row(worker)).part == "offered"
        await _draw(one)
        first = child_of(await worker.until("a document is scored", is_scoring))
        assert worker.snapshot.decision.reason is LendingReason.JUDGING
        assert (await row(worker)).part == "drawn"
        os.kill(first, signal.SIGKILL)
        second = child_of(
            await worker.until(
                "another goes on", lambda shown: is_scoring(shown) and child_of(shown) != first
            )
        )
        worker.process.kill()
        await gone(second)
    await one.others()
    (scenario.folder / "free").touch()
    async with one.working() as worker:  # which knows what was chosen and wished
        await one.until(lambda view: len(view.commits) == len(MODELS) * len(EVALUATORS))
        await one.others()
        await one.until(lambda view: len(view.results) == len(MODELS) * len(EVALUATORS))
        await worker.until("nothing is scored any more", lambda shown: shown.judging is None)
        assert (await row(worker)).part == "scored"
    assert len(one.scored) == len(set(one.scored)) == len(MODELS) * DRAWN


async def _draw(one: JudgingVolunteer) -> None:
    scenario = one.scenario
    await one.do(scenario.go_to, "deadline")
    await one.until(lambda view: view.phase is CompetitionPhase.CLOSED)
    await one.others()
    await one.until(lambda view: all(offer.lot for offer in view.offers.values()))
    await one.do(scenario.go_to, "draw")
    await one.until(lambda view: view.phase is CompetitionPhase.DRAWN)
    for number in range(1, NEEDED + 1):
        await one.do(scenario.reveal, number)
