"""Heads are published while a run goes on: one every N rounds, and the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from tequio_client.checkpoint import publish
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.hub import Hub, disable_progress
from tequio_client.checkpoint.publish import is_due
from tests.client.verify.logs import SwarmLog
from tests.support.hub import FakeHub, running
from tests.support.llama_swarm import ROUNDS, measure, play, played, served_log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.llama_swarm import ServedLog

pytestmark = pytest.mark.filterwarnings(
    "ignore:Use 'content=<...>' to upload raw bytes:DeprecationWarning"  # the Hub's client does
)


@pytest.mark.parametrize(
    ("head", "published", "is_finished", "due"),
    [
        (0, None, False, False),
        (9, None, False, False),
        (10, None, False, True),
        (12, None, False, True),
        (12, 10, False, False),
        (19, 12, False, False),
        (21, 12, False, True),
        (21, 12, True, True),
        (13, 12, True, True),
        (12, 12, True, False),
        (0, None, True, True),
    ],
)
def test_a_head_is_due_when_a_multiple_was_passed_or_the_run_has_ended(
    head: int,
    published: int | None,
    is_finished: bool,  # noqa: FBT001 - a column of the table
    due: bool,  # noqa: FBT001 - as above
) -> None:
    assert is_due(head, published, 10, is_finished=is_finished) is due


def test_a_finished_runs_last_head_is_published_after_what_failed_and_the_program_ends(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disable_progress()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    store = tmp_path / "store"
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert len(pauses) < 9, "it never ends"
        if len(pauses) == 2:
            played().store(store, ROUNDS)

    store.mkdir()
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub:
        wish = publish.PublishOptions(
            folder=tmp_path / "work",
            location="ana/maize",
            origin=WeightsOrigin(ledger=site.url, stores=(store,)),
        )
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        there = hub.repositories["ana/maize"]
        assert there.tags == {f"round-{ROUNDS}": there.main}
        assert len(pauses) == 2, "two tries failed for want of the weights"
        assert pauses[1] > 0
        assert not (tmp_path / "work" / f"round-{ROUNDS}").exists()
        publish.follow_run(wish, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        assert len(there.commits) == 2, "nothing is published twice"


def test_the_newest_fine_head_is_published_and_the_last_one_once_it_has_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disable_progress()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    run, fine = play(measured=ROUNDS - 1), ROUNDS - 1
    pauses: list[float] = []
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub, served_log(SwarmLog(run.swarm)) as site:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}"}
            if len(pauses) == 2:
                measure(run.swarm, ROUNDS)
                site.log = SwarmLog(run.swarm)

        options = publish.PublishOptions(
            folder=tmp_path / "work",
            location="ana/maize",
            origin=WeightsOrigin(
                ledger=site.url, stores=(run.store(tmp_path / "store", fine, ROUNDS),)
            ),
            is_measured=True,
        )
        publish.follow_run(options, "maize- 1.0", 2, Hub("hf_a", hub.url), pause)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}", f"round-{ROUNDS}"}
        assert pauses == [publish.POLL_S] * 2


def test_a_last_head_that_nobody_measures_ends_the_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disable_progress()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(publish, "VERDICT_POLLS", 3)
    run, fine = play(measured=ROUNDS - 1), ROUNDS - 1
    pauses: list[float] = []
    with running(FakeHub(tokens={"hf_a": "ana"})) as hub, served_log(SwarmLog(run.swarm)) as site:
        options = publish.PublishOptions(
            folder=tmp_path / "work",
            location="ana/maize",
            origin=WeightsOrigin(ledger=site.url, stores=(run.store(tmp_path / "store", fine),)),
            is_measured=True,
        )
        publish.follow_run(options, "maize- 1.0", 50, Hub("hf_a", hub.url), pauses.append)
        assert set(hub.repositories["ana/maize"].tags) == {f"round-{fine}"}
        assert len(pauses) == 3
