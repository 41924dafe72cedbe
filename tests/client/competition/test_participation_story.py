"""A competition from the opening to the result: a real ledger, three evaluators, two models."""

from __future__ import annotations

import stat
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.competition import listing, participation
from tequio_client.competition.participation import ScoreChallenge, ScoringResources
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.trainer import device
from tequio_client.verify.report import NoProgress
from tequio_client.worker.children import evaluator as children_evaluator
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.competition.rules import CompetitionOutcome
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests import lies
from tests.client.competition.models import files_of, hub
from tests.client.competition.scenario import DRAWN, EVALUATORS, NEEDED, CompetitionScenario
from tests.support.competition_fold import CompetitionFold
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED
from tests.support.memory_log import unused_url
from tests.support.settable_clock import set_forward
from tests.support.six_lies import LIES
from tests.support.synthetic_competition import SCORED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.verify.reader import LedgerReader

SECOND, SUCCESSOR, RECOVERY = (Signer(bytes([number]) * 32) for number in (8, 17, 18))
MODELS = {"maize": 1, "bean": 2}
"""Entrants, and the seeds of their weights."""


class KilledError(Exception):
    """Ends an evaluator in the middle of its work."""


class KillingProgress(NoProgress):
    """Ends an evaluator while it scores."""

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Let two documents pass."""
        done = 0

        def tick(steps: int) -> None:
            nonlocal done
            done += steps
            if done >= DRAWN // 2:
                raise KilledError

        del total
        yield tick if what.startswith("documents of") else lambda _: None


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompetitionScenario]:
    """Run it once for all tests; refusals are recorded as messages too."""
    folder = tmp_path_factory.mktemp("story")
    organisers = (
        key_folder(folder / "first", ORGANISER),
        key_folder(folder / "second", SECOND),
    )
    with (
        hub(folder / "cache") as repositories,
        set_forward(folder, *UNLIMITED, "--organiser", to_text(SECOND.key)) as (clock, ledger),
    ):
        for name, seed in MODELS.items():
            repositories.put(f"milpa/{name}", files_of(folder / f"{name}-files", seed=seed))
        made = CompetitionScenario(
            url=ledger.url, clock=clock, folder=folder, organisers=organisers
        )
        _play(made)
        yield made


def _play(scenario: CompetitionScenario) -> None:
    scenario.opened()
    for name in MODELS:
        scenario.enter(name, f"milpa/{name}")
    _refused(
        scenario,
        # The Hub has no such repository: a fetch would be refused with other words.
        lambda: participation.submit_repository(
            scenario.log, None, "maize", "milpa/none", None, scenario.folder / "bean"
        ),
    )
    _refused(
        scenario,
        lambda: participation.submit_repository(
            scenario.log, None, "maize", "milpa/maize", None, scenario.folder / "typo"
        ),
    )
    _submit_with_a_new_key(scenario, "bean")
    scenario.messages.append(
        participation.offer(scenario.log, None, scenario.folder / EVALUATORS[0])
    )
    for name in (*EVALUATORS[1:], "custodian-1", "maize"):
        scenario.follow(name)
    _refused(scenario, lambda: scenario.reveal(1))
    _refused(scenario, lambda: scenario.decide(scenario.organisers))
    _challenge_early(scenario)
    scenario.go_to("deadline")
    scenario.until(lambda view: view.phase is CompetitionPhase.CLOSED)
    _refused(scenario, lambda: scenario.enter("late", "milpa/bean"))
    for name in EVALUATORS:
        assert scenario.evaluate(name)
    scenario.go_to("draw")
    scenario.until(lambda view: view.phase is CompetitionPhase.DRAWN)
    for number in range(1, NEEDED + 1):
        scenario.reveal(number)
    scenario.until(lambda view: view.draw is not None)
    with pytest.raises(KilledError):
        scenario.step(EVALUATORS[0], KillingProgress())
    for name in EVALUATORS:
        assert scenario.evaluate(name)
    view = scenario.until(lambda view: len(view.commits) == len(MODELS) * len(EVALUATORS))
    assert not view.results, "nobody shows anything before all have committed"
    for name in EVALUATORS:  # a program that has just begun: what is shown lay in the folder
        scenario.evaluate(name)
    view = scenario.until(lambda view: len(view.results) == len(MODELS) * len(EVALUATORS))
    _challenge(scenario, to_text(view.draw.evaluators[0] if view.draw else b""))
    _refused(scenario, lambda: scenario.decide(scenario.organisers))
    scenario.go_to("result")
    _refused(scenario, lambda: scenario.decide(scenario.organisers[:1]))
    scenario.decide(scenario.organisers)
    scenario.until(lambda view: view.phase is CompetitionPhase.DECIDED)


def _submit_with_a_new_key(scenario: CompetitionScenario, name: str) -> None:
    """Let a new key take the place of an entrant's, and submit the same model again."""
    folder = key_folder(scenario.folder / f"{name}-again", SUCCESSOR)
    key_folder(scenario.folder / "recovery", RECOVERY)  # for a forger, who has everybody's keys
    trio.run(_replace_key, scenario.url, scenario.folder / name)
    said = participation.submit_repository(scenario.log, None, name, f"milpa/{name}", None, folder)
    scenario.messages.append(f"again: {said}")


async def _replace_key(url: str, folder: Path) -> None:
    former = identity.load_or_create(folder)
    async with LedgerApi(url) as api:
        async with Outbox(api, folder, former) as outbox:
            await key_changes.bind_recovery(outbox, RECOVERY)
        await key_changes.replace(api, former.key, SUCCESSOR, RECOVERY)


def _refused(scenario: CompetitionScenario, act: Callable[[], object]) -> None:
    with pytest.raises((UserFacingError, LedgerRefusedError, BaseExceptionGroup)) as told:
        act()
    scenario.messages.append(f"refused: {first_error(told.value)}")


def _challenge_early(scenario: CompetitionScenario) -> None:
    doubt = ScoreChallenge(entrant="maize", evaluator=to_text(bytes(32)), document=1, millibits=7)
    scorer = ScoringResources(device=device.open_device("cpu"), progress=NoProgress())
    folder = scenario.folder / "doubter"
    _refused(scenario, lambda: participation.challenge(scenario.log, None, doubt, scorer, folder))


def _challenge(scenario: CompetitionScenario, evaluator: str) -> None:
    """Challenge an honest score by our own, which fails, and by an invented one."""
    view = scenario.view()
    assert view.draw is not None
    scorer = ScoringResources(device=device.open_device("cpu"), progress=NoProgress())
    number = view.draw.documents[1]
    doubt = ScoreChallenge(entrant="maize", evaluator=evaluator, document=number)
    folder = scenario.folder / "doubter"
    _refused(scenario, lambda: participation.challenge(scenario.log, None, doubt, scorer, folder))
    doubt = ScoreChallenge(entrant="maize", evaluator=evaluator, document=number, millibits=7)
    scenario.messages.append(participation.challenge(scenario.log, None, doubt, scorer, folder))


def test_the_outcome_in_the_log_ranks_what_was_submitted(scenario: CompetitionScenario) -> None:
    log = scenario.log
    view = log.wait_for(None)
    assert view.phase is CompetitionPhase.DECIDED
    assert view.outcome is not None
    raw = log.blob(view.outcome)
    assert raw is not None
    outcome = CompetitionOutcome.parse(raw)
    assert sorted(one.entrant for one in outcome.places) == sorted(MODELS)
    assert outcome.documents == DRAWN
    for place in outcome.places:
        assert len(place.evaluators) == len(EVALUATORS)
        assert not any(one.is_outlier for one in place.evaluators)
        assert place.submission == to_text(view.submissions[place.entrant])


def test_an_entrant_whose_key_was_replaced_submits_with_the_new_one(
    scenario: CompetitionScenario,
) -> None:
    assert any(line.startswith("again: bean submits milpa/bean") for line in scenario.messages)
    submitted = scenario.view().entrants["bean"].submitted
    assert submitted is not None
    assert submitted.author == SUCCESSOR.key


def test_a_folder_without_the_entrants_key_is_named_and_not_made(
    scenario: CompetitionScenario,
) -> None:
    folder = scenario.folder / "typo"
    assert any(f"the key in {folder} is none" in said for said in scenario.messages)
    assert not folder.exists()


def test_an_evaluator_that_was_killed_scored_nothing_twice(scenario: CompetitionScenario) -> None:
    view, own = scenario.view(), scenario.folder / EVALUATORS[0]
    for name in MODELS:
        folder = children_evaluator.competition_folder(own, view.id) / name
        assert len((folder / "scores.jsonl").read_bytes().splitlines()) == DRAWN
        model = children_evaluator.models_folder(own) / to_text(view.id) / name
        assert model.parent.is_dir()
        assert not model.exists()
    said = [line for line in scenario.messages if line.startswith(EVALUATORS[0])]
    assert sum("bits per byte, logged" in line for line in said) == len(MODELS)


def test_the_salts_were_for_their_owner_alone(scenario: CompetitionScenario) -> None:
    view = scenario.view()
    for name in EVALUATORS:
        folder = children_evaluator.competition_folder(scenario.folder / name, view.id)
        for salt in (folder / model / "salt" for model in MODELS):
            assert stat.S_IMODE(salt.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "told",
    [
        "maize belongs to ",
        "nothing is drawn in Small: its draw is at 20",
        "too early: shares of Small can be published after the draw",
        "Small is closed: entries were possible until",
        "Small has no scores yet: its draw is at 20",
        "agree within the tolerance",
        "too early: scores of Small can be challenged until",
        "more organisers have to sign",
    ],
)
def test_what_comes_at_the_wrong_time_is_refused_with_the_right_one(
    scenario: CompetitionScenario, told: str
) -> None:
    assert any(line.startswith("refused: ") and told in line for line in scenario.messages), (
        scenario.messages
    )


@pytest.mark.parametrize(
    "told",
    [
        f"{EVALUATORS[1]}: Small: offered to evaluate",
        "custodian-1: Small: no offer: a custodian does not evaluate",
        "maize: Small: no offer: an entrant does not evaluate",
    ],
)
def test_who_follows_all_competitions_offers_where_it_may(
    scenario: CompetitionScenario, told: str
) -> None:
    assert told in scenario.messages


def test_a_challenge_is_in_the_log(scenario: CompetitionScenario) -> None:
    (challenge,) = scenario.view().challenges
    assert (challenge.entrant, challenge.millibits) == ("maize", 7)


def test_a_competition_is_shown_as_the_log_tells_it(
    scenario: CompetitionScenario, capsys: pytest.CaptureFixture[str]
) -> None:
    listing.list_from_log(scenario.log)
    listing.print_from_log(scenario.log, "Small")
    said = capsys.readouterr().out
    for part in (
        "Small",
        "decided",
        "maize",
        "milpa/bean at",
        "beacon: ",
        "has 0.007 bits",
        "bits per byte and perplexity per byte, lower",
    ):
        assert part in said


def test_a_stranger_verifies_it(scenario: CompetitionScenario) -> None:
    asked = ["verify-competition", scenario.url, "--rescore", "2", "--device", "cpu"]
    found = CliRunner().invoke(cli, asked)
    assert found.exit_code == 0, (found.output, found.exception)
    assert "4 documents, each within tolerance of the median" in found.output


def test_who_did_not_offer_is_told_so(scenario: CompetitionScenario, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        cli, ["competition", "evaluate", "--ledger", scenario.url, "--dir", str(tmp_path / "dora")]
    )
    error = result.exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert "did not offer to evaluate Small in time" in str(error)


def test_who_would_evaluate_in_a_competition_that_is_not_there_does_not_wait_for_it(
    scenario: CompetitionScenario, tmp_path: Path
) -> None:
    where = ("--ledger", scenario.url, "--dir", str(tmp_path / "dora"), "--competition", "Large")
    error = CliRunner().invoke(cli, ["competition", "evaluate", *where]).exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert "no competition 'Large'; known competitions: Small (" in str(error)


def test_a_competition_that_is_not_there_is_named_with_those_that_are(
    scenario: CompetitionScenario,
) -> None:
    log = scenario.log
    log.read()
    with pytest.raises(
        UserFacingError, match=r"no competition 'Large'; known competitions: Small \("
    ):
        log.competition("Large")


def _without_submission() -> CompetitionFold:
    fold = CompetitionFold().open().offer("one", "two", "three").close()
    return fold.draw_lots("one", "two", "three").draw()


def _without_shares() -> CompetitionFold:
    return CompetitionFold().play(CompetitionPhase.DRAWN).at(SCORED + 1)


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        (_without_submission, "ended without a ranking: nobody submitted a model"),
        (_without_shares, "ended without a ranking: 0 of the 2 shares needed are revealed"),
    ],
)
def test_no_share_of_a_competition_that_ended_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: Callable[[], CompetitionFold], why: str
) -> None:
    fold = ended()
    monkeypatch.setattr(participation, "now_ms", lambda: fold.now)
    (tmp_path / "share").write_text(fold.paper.reveal(1).share)
    log = cast("LedgerReader", SimpleNamespace(wait_for=lambda _: fold.view, ledger=unused_url()))
    with pytest.raises(UserFacingError, match=why):
        participation.reveal(log, None, tmp_path / "share", tmp_path / "custodian")


def test_six_lies_about_it_are_found_by_a_stranger(scenario: CompetitionScenario) -> None:
    kept = ["verify-competition", scenario.url, "--bundle", str(scenario.folder / lies.BUNDLE)]
    assert CliRunner().invoke(cli, kept).exit_code == 0
    told = CliRunner().invoke(lies.main, [str(scenario.folder)])
    assert told.exit_code == 0, (told.output, told.exception)
    assert told.output.count("exit status 2\n     mismatch: ") == len(LIES)
