"""`tequio run watch`: what it pauses, what it does after a restart, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner, Result

from tequio_client.__main__ import cli
from tequio_client.organiser import verdicts, watch
from tequio_client.organiser.watch import FILE, UNMEASURED_HEADS, WatchOptions
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer
from tequio_shared.limits import NOTICE_CHARS
from tequio_shared.network.verdicts import judge
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.runs import HeadMeasure
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, make_settings, served
from tests.support.sample_ledger import ASTRAY, MEASURED, fill_astray

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served

NAME = "nova-350m"
GOOD = ASTRAY - MEASURED
"""The last fine head."""
FINE, WORSE = 0, 4


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ledger with that history; not to be changed."""
    folder = tmp_path_factory.mktemp("filled") / "ledger"
    fill_astray(make_settings(folder), time.time_ns() // 1_000_000 - 30_000, worse=[ASTRAY])
    return folder


@pytest.fixture
def ledger(filled: Path, tmp_path: Path) -> Iterator[Served]:
    """A ledger whose run waits for members, at a head that two of three members find worse."""
    with served(shutil.copytree(filled, tmp_path / "ledger")) as running:
        yield running


@pytest.fixture(scope="module")
def fine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A ledger whose heads are fine, though one member reported a wrong figure."""
    folder = tmp_path_factory.mktemp("fine")
    fill_astray(make_settings(folder), time.time_ns() // 1_000_000 - 30_000)
    with served(folder) as running:
        yield running


@pytest.fixture
def organiser(tmp_path: Path) -> Path:
    return key_folder(tmp_path / "organiser", ORGANISER)


def ran(ledger: Served, organiser: Path, command: str, *words: str) -> Result:
    where = ("--ledger", ledger.url, "--dir", str(organiser))
    return CliRunner().invoke(cli, ("run", command, NAME, *words, *where))


def once(ledger: Served, organiser: Path, *words: str) -> Result:
    return ran(ledger, organiser, "watch", "--once", *words)


def run_of(ledger: Served) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{ledger.url}/v1/runs").json()["runs"][0]
    return found


def size_of(ledger: Served) -> int:
    return int(run_of(ledger)["as_of"]["size"])


def refusal(result: Result) -> str:
    error: BaseException | None = result.exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, UserFacingError), result.output
    return str(error)


def test_the_run_is_paused_once_and_goes_back_after_a_restart(
    ledger: Served, organiser: Path
) -> None:
    seen = once(ledger, organiser, "--only-report")
    assert seen.exit_code == WORSE, seen.exception
    assert f"round {ASTRAY}: " in seen.output
    assert "bits per byte, perplexity " in seen.output
    assert f"worse than round {GOOD} (" in seen.output
    assert run_of(ledger)["state"] == "waiting_for_members", "a report signs nothing"

    done = once(ledger, organiser)
    assert done.exit_code == WORSE, done.exception
    run = run_of(ledger)
    reason = run["pause_reason"]["text"]
    assert run["state"] == "paused"
    assert reason.startswith(f"The model got worse: round {ASTRAY} needs ")
    assert re.search(rf"perplexity .+ per token\) .*, round {GOOD} [0-9.]+ \(.+\)\. ", reason)
    assert reason.endswith("2 members measured it: see the run's page.")
    assert json.loads((organiser / FILE).read_bytes()) == {run["run"]: [ASTRAY]}

    before = size_of(ledger)
    assert once(ledger, organiser).exit_code == WORSE
    assert size_of(ledger) == before, "it is paused already"

    # Killed after the pause, before it wrote its file: the log says for which head it paused.
    (organiser / FILE).unlink()
    done = once(ledger, organiser, "--roll-back")
    assert done.exit_code == WORSE, done.exception
    run = run_of(ledger)
    assert (run["state"], run["head_round"]) == ("paused", GOOD)
    assert [one["head_round"] for one in run["rollbacks"]] == [GOOD]
    assert json.loads((organiser / FILE).read_bytes()) == {run["run"]: [ASTRAY]}

    before = size_of(ledger)
    assert once(ledger, organiser, "--roll-back").exit_code == FINE
    assert size_of(ledger) == before, "it went back already"


def test_a_head_that_organisers_accept_pauses_nothing_again(
    ledger: Served, organiser: Path
) -> None:
    assert once(ledger, organiser).exit_code == WORSE
    assert ran(ledger, organiser, "resume").exit_code == 0
    before = size_of(ledger)
    seen = once(ledger, organiser, "--roll-back")
    assert seen.exit_code == FINE, seen.output
    assert "nothing to compare with" in seen.output
    # A pause for another reason is the organisers' own: the watch does not go back.
    assert ran(ledger, organiser, "pause", "--reason", "Moving the seeds.").exit_code == 0
    assert once(ledger, organiser, "--roll-back").exit_code == FINE
    run = run_of(ledger)
    assert (run["state"], run["head_round"], run["rollbacks"]) == ("paused", ASTRAY, [])
    assert size_of(ledger) == before + 2


def test_a_pause_of_the_organisers_is_left_alone(ledger: Served, organiser: Path) -> None:
    assert ran(ledger, organiser, "pause", "--reason", "Moving the seeds.").exit_code == 0
    before = size_of(ledger)
    assert once(ledger, organiser, "--roll-back").exit_code == WORSE
    assert size_of(ledger) == before
    assert not (organiser / FILE).exists()


def test_a_wider_margin_is_the_watchs_own(ledger: Served, organiser: Path) -> None:
    seen = once(ledger, organiser, "--margin", "2")
    assert seen.exit_code == FINE, seen.output
    assert "fine; the best before it was" in seen.output
    assert run_of(ledger)["state"] == "waiting_for_members"


def test_one_member_that_lies_pauses_nothing(fine: Served, organiser: Path) -> None:
    before = size_of(fine)
    page = httpx.get(f"{fine.url}/v1/runs/{run_of(fine)['run']}/measures").json()["heads"]
    assert any(one["is_outlier"] for head in page for one in head["measures"])
    assert {head["verdict"] for head in page} == {"fine"}
    seen = once(fine, organiser, "--roll-back")
    assert seen.exit_code == FINE, seen.output
    assert size_of(fine) == before


def test_heads_that_nobody_can_measure_are_reported_and_pause_nothing(
    tmp_path: Path, organiser: Path
) -> None:
    rounds = MEASURED * (UNMEASURED_HEADS + 1)
    begun_ms = time.time_ns() // 1_000_000 - 30_000
    settings = make_settings(tmp_path / "silent")
    fill_astray(settings, begun_ms, unmeasured=range(1, rounds + 1), rounds=rounds)
    with served(tmp_path / "silent") as silent:
        seen = once(silent, organiser)
        assert seen.exit_code == FINE, seen.exception
        assert f"no head after round 0 has a verdict, and the run is at round {rounds}" in (
            seen.output
        )
        assert run_of(silent)["pause_reason"] is None


def test_the_newest_fine_head_is_found(ledger: Served, fine: Served, organiser: Path) -> None:
    assert verdicts.find_fine_head(NAME, ledger.url) == GOOD
    assert verdicts.find_fine_head(NAME, fine.url) == ASTRAY
    both = ("--measured", "--round", "3", "--to", "out", "--ledger", ledger.url)
    done = CliRunner().invoke(cli, ("checkpoint", "export", "--run", NAME, *both))
    assert "give either --round, --measured or --head" in done.output
    assert not organiser.with_name("out").exists()


def test_the_watch_goes_on_and_reports_only_what_changes(fine: Served, tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    pauses, lines = list[float](), list[str]()

    def pause(duration_s: float) -> None:
        pauses.append(duration_s)
        if len(pauses) == 3:
            raise EnoughError

    options = WatchOptions(run=NAME, ledger=fine.url, folders=(tmp_path,), only_reports=True)
    with pytest.raises(EnoughError):
        watch.watch_run(options, lines.append, pause)
    assert pauses == [watch.POLL_S] * 3
    assert len(lines) == 1


def test_what_cannot_be_watched_is_refused(fine: Served, organiser: Path, tmp_path: Path) -> None:
    unknown = ("run", "watch", "nobody", "--once", "--only-report", "--ledger", fine.url)
    assert "no run 'nobody'" in refusal(CliRunner().invoke(cli, unknown))
    stranger = key_folder(tmp_path / "stranger", Signer(bytes([9]) * 32))
    assert "is not an organiser" in refusal(once(fine, stranger))
    assert "no key in" in refusal(once(fine, tmp_path / "empty"))
    for words, says in (
        (("--roll-back", "--only-report"), "give either --only-report or --roll-back"),
        (("--margin", "0"), "is not in the range"),
    ):
        wrong = once(fine, organiser, *words)
        assert says in wrong.output
        assert wrong.exit_code not in (FINE, WORSE)
    (organiser / FILE).write_text("{")
    assert "delete it" in refusal(once(fine, organiser))


def test_runs_without_enough_measures_are_refused() -> None:
    with pytest.raises(UserFacingError, match="measure no heads"):
        verdicts.check_rules(NAME, MeasureRules(every=0))
    with pytest.raises(UserFacingError, match="one member measures each head"):
        verdicts.check_rules(NAME, MeasureRules(members=1))
    verdicts.check_rules(NAME, MeasureRules(members=2))


def test_the_longest_reason_fits() -> None:
    largest, best = judge([(2**40 - 1, _huge(0)), (2**40, _huge(1))], (), MeasureRules(members=16))[
        ::-1
    ]
    assert best.verdict == "fine"
    assert len(watch.reason_text(largest)) <= NOTICE_CHARS


def _huge(more: int) -> list[HeadMeasure]:
    measure = HeadMeasure(
        head="A" * 43, millibits=2**40 * 90_000 + more * 2**40 * 1_000, size_bytes=2**40, tokens=1
    )
    return [measure] * 16
