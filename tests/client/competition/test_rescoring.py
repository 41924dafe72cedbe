"""Scores computed again: honest ones agree, and a lie of most evaluators is found."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.competition import rescoring
from tequio_client.competition.verify_cli import verify_competition
from tequio_client.trainer import device, likelihood
from tequio_client.verify.competition import JudgedCompetition
from tequio_shared.ids import to_text
from tests.support import model_folders
from tests.support.attack_table import attack
from tests.support.competition_documents import TEXTS, folder_of
from tests.support.dishonest_log import DishonestLog

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


DRAWN = 4


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two small models."""
    root = tmp_path_factory.mktemp("models")
    tokenizer = model_folders.bpe(TEXTS, 300)
    config = model_folders.llama(300)
    return {
        "alpha": model_folders.write(
            root / "alpha", config, tensors=model_folders.uniform(config), tokenizer=tokenizer
        ),
        "beta": model_folders.write(root / "beta", config, tokenizer=tokenizer),
    }


@pytest.fixture(scope="module")
def numbers(models: dict[str, Path]) -> dict[tuple[str, str], int]:
    """Millibits that each model needs for each text, as an honest evaluator measures them."""
    means = likelihood.ScoringDevice(device=device.open_device("cpu"))
    found: dict[tuple[str, str], int] = {}
    for name, folder in models.items():
        scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
        scores = likelihood.score_documents(scored, TEXTS, scored.scoring_rules(64, 32), means)
        found |= {(name, text): one.millibits for text, one in zip(TEXTS, scores, strict=True)}
    return found


def played(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], liars: tuple[int, ...] = ()
) -> DishonestLog:
    """A competition over these models; the drawn evaluators of those numbers lie about beta."""
    lying: set[str] = set()

    def said(name: str, entrant: str, text: str) -> int:
        honest = numbers[entrant, text]
        return honest * 9 // 10 if name in lying and entrant == "beta" else honest

    log = DishonestLog(
        drawn=DRAWN,
        millibits=said,
        submissions={name: folder_of(name, folder) for name, folder in models.items()},
    ).play("reveal")
    lying |= {log.scorers[at] for at in liars}
    log.play_on("score", "result")
    return log


def called(log: DishonestLog, at: int) -> str:
    """How a drawn evaluator is named where people read."""
    return to_text(log.key(log.scorers[at]))[:10]


def verified(log: DishonestLog, models: dict[str, Path], path: Path, documents: int) -> Result:
    bundle = log.bundle(path / "bundle.tar")
    given = [f"--model={name}={folder}" for name, folder in models.items()]
    command = [str(bundle), "--rescore", str(documents), "--device", "cpu", *given]
    return CliRunner().invoke(verify_competition, command, env={"COLUMNS": "300"})


def test_honest_scores_are_found_again(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    result = verified(played(models, numbers), models, tmp_path, 2)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "4 documents, each within tolerance of the median" in result.output


@attack("P12", layer="cli", ends="scoring again finds and names two of three")
def test_two_liars_of_three_are_found_by_scoring_again(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    log = played(models, numbers, liars=(0, 2))
    result = verified(log, models, tmp_path, DRAWN)
    assert result.exit_code == 2, result.output
    mismatches = [one for one in result.output.splitlines() if one.startswith("mismatch")]
    assert len(mismatches) == DRAWN
    assert all("for entrant beta" in one and "evaluators said" in one for one in mismatches)
    assert "outcome: medians, totals, intervals and ranks equal those in the log" in result.output
    for at in (0, 2):
        assert f"evaluator {called(log, at)}" in result.output
    assert f"evaluator {called(log, 1)} (" not in result.output, "the honest one"


def test_one_liar_alone_is_named_and_changes_nothing(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    log = played(models, numbers, liars=(1,))
    result = verified(log, models, tmp_path, DRAWN)
    assert result.exit_code == 0, result.output
    assert f"evaluator {called(log, 1)}" in result.output


@attack("P10", layer="cli", ends="the files differ from those submitted: exit status 2")
def test_other_weights_than_were_submitted_are_told(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    swapped = {"alpha": models["alpha"], "beta": models["alpha"]}
    result = verified(played(models, numbers), swapped, tmp_path, 1)
    assert result.exit_code == 2
    assert "is not what was submitted" in result.output


def test_a_model_that_nobody_gives_makes_it_incomplete(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    result = verified(played(models, numbers), {"alpha": models["alpha"]}, tmp_path, 1)
    assert result.exit_code == 3
    assert "give --model beta=FOLDER" in result.output


def test_a_device_that_is_not_there_was_not_asked_for_rightly(
    models: dict[str, Path], numbers: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    bundle = played(models, numbers).bundle(tmp_path / "bundle.tar")
    command = [str(bundle), "--rescore", "1", "--device", "cuda:99"]
    assert CliRunner().invoke(verify_competition, command).exit_code == 2


def challenged(log: DishonestLog, places: tuple[int, ...]) -> JudgedCompetition:
    """The same competition, with challenges of beta's scores for these of its drawn documents."""
    draw = log.view.draw
    assert draw is not None
    log.remove_last()
    for at in places:
        log.challenge("beta", log.scorers[0], draw.documents[at])
    log.result()
    return JudgedCompetition(view=log.view, texts=(), contenders=(), outcome=log.outcome())


def test_a_challenged_document_comes_first(
    models: dict[str, Path], numbers: dict[tuple[str, str], int]
) -> None:
    judged = challenged(played(models, numbers), (2,))
    for seed in range(5):
        chance = random.Random(seed)
        assert rescoring.choose_documents(judged, "beta", 1, chance) == [2]
    others = {
        tuple(rescoring.choose_documents(judged, "alpha", 1, random.Random(n))) for n in range(9)
    }
    assert len(others) > 1, "an evaluator cannot know which"


@attack("P12", layer="cli", ends="challenges of true scores get half of the documents at most")
def test_challenges_cannot_turn_the_check_away_from_other_documents(
    models: dict[str, Path], numbers: dict[tuple[str, str], int]
) -> None:
    judged = challenged(played(models, numbers), (0, 1, 2))

    def choices(most: int) -> set[tuple[int, ...]]:
        chances = map(random.Random, range(30))
        return {tuple(rescoring.choose_documents(judged, "beta", most, one)) for one in chances}

    assert choices(2) == {(0, 3), (1, 3), (2, 3)}
    assert choices(3) == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}
    assert choices(DRAWN) == {(0, 1, 2, 3)}, "for want of others"
