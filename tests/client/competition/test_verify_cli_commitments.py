"""Scores that were committed to before any was shown: what a stranger says where they were not.

Every log here is one that an honest ledger would not have written: its door lets anything in.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner

from tequio_client.competition.verify_cli import verify_competition
from tequio_client.verify.competition import contenders
from tequio_shared.competition import result as competition_result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.rules import Evaluation
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.statements.competitions import EvalCommit
from tests.support.attack_table import attack
from tests.support.authors import registration
from tests.support.competition_documents import RESULT, SCORED
from tests.support.dishonest_log import DishonestLog
from tests.support.memory_log import NET

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tequio_shared.statements.competitions import EvalResult


OTHER_SALT = to_text(sha256(b"another salt"))


@pytest.fixture
def log() -> DishonestLog:
    """A competition whose texts have just been opened."""
    return DishonestLog().play("reveal")


def verified(log: DishonestLog, folder: Path) -> Result:
    """Result of `verify-competition` on the log's bundle."""
    command = [str(log.bundle(folder / "bundle.tar")), "--json", str(folder / "found.json")]
    return CliRunner().invoke(verify_competition, command, env={"COLUMNS": "300"})


def refused(log: DishonestLog, folder: Path, entry: int, *says: str) -> None:
    """The log's check ends with 2, and names that entry and why."""
    result = verified(log, folder)
    assert result.exit_code == 2, result.output
    found = [line for line in result.output.splitlines() if f"entry {entry}" in line]
    assert any(all(one in line for one in says) for line in found), result.output


# --- who copies


@attack("C7", layer="coord", ends="no commitment counts once a score is shown: exit status 2")
def test_who_commits_to_what_another_shows_is_told(log: DishonestLog, tmp_path: Path) -> None:
    first, second, copier = log.scorers
    for name in (first, second):
        log.commit(name, "alpha")
    log.now_ms = SCORED + 1
    log.evaluate(first, "alpha")
    log.now_ms = SCORED  # a clock that is put back gains nothing
    entry = log.commit(copier, "alpha")
    log.now_ms = SCORED + 2
    log.evaluate(copier, "alpha")
    refused(log, tmp_path, entry, "eval.commit", "too-late")


@attack("C7", layer="coord", ends="a commitment opens only under its author's key: exit status 2")
def test_who_repeats_the_commitment_of_another_cannot_open_it(
    log: DishonestLog, tmp_path: Path
) -> None:
    first, second, copier = log.scorers
    log.commit(first, "alpha")
    theirs = log.scores(first, "alpha")
    log.log_statement(copier, commitment_of(log, first, theirs))
    log.commit(second, "alpha")
    log.evaluate(first, "alpha")
    copied = msgspec.structs.replace(log.scores(copier, "alpha"), salt=theirs.salt)
    entry = log.log_statement(copier, copied)
    refused(log, tmp_path, entry, "eval.result", "wrong-reveal")


@attack("C7", layer="coord", ends="the commitment names another evaluator: exit status 2")
def test_who_shows_the_evaluation_of_another_is_told(log: DishonestLog, tmp_path: Path) -> None:
    first, second, copier = log.scorers
    copied = log.scores(first, "alpha")
    for name in (first, second):
        log.commit(name, "alpha")
    log.commit_to(copier, copied)
    entry = log.log_statement(copier, copied)
    refused(log, tmp_path, entry, "eval.result", "by another evaluator")


@attack("C7", layer="coord", ends="the scores do not match the commitment: exit status 2")
def test_who_shows_something_else_than_it_committed_to_is_told(
    log: DishonestLog, tmp_path: Path
) -> None:
    log.commit_all("alpha")
    changed = msgspec.structs.replace(log.scores(log.scorers[0], "alpha"), salt=OTHER_SALT)
    refused(
        log, tmp_path, log.log_statement(log.scorers[0], changed), "eval.result", "wrong-reveal"
    )


def commitment_of(log: DishonestLog, name: str, result: EvalResult) -> EvalCommit:
    """The commitment of `name` to a result, as a body that another evaluator can copy."""
    view = log.view
    commit = view.commits[result.entrant, log.key(name)].commit
    return EvalCommit(competition=log.name, entrant=result.entrant, commit=to_text(commit))


# --- the order of it


@attack("C8", layer="coord", ends="there is no commitment: exit status 2")
def test_scores_without_a_commitment_are_told(log: DishonestLog, tmp_path: Path) -> None:
    log.now_ms = SCORED + 1
    entry = log.evaluate(log.scorers[0], "beta")
    refused(log, tmp_path, entry, "eval.result", "committed to no scores of beta")


@attack("C8", layer="coord", ends="others could still copy it: exit status 2")
def test_scores_that_are_shown_before_all_have_committed_are_told(
    log: DishonestLog, tmp_path: Path
) -> None:
    first, second, third = log.scorers
    log.commit(first, "alpha")
    log.commit(second, "alpha")
    entry = log.evaluate(first, "alpha")
    log.commit(third, "alpha")
    refused(log, tmp_path, entry, "eval.result", "too-early")


@attack("C8", layer="coord", ends="only challenges are allowed then: exit status 2")
def test_scores_that_are_shown_when_only_challenges_are_left_are_told(
    log: DishonestLog, tmp_path: Path
) -> None:
    log.commit_all("alpha")
    log.now_ms = (SCORED + RESULT) // 2 + 1
    refused(log, tmp_path, log.evaluate(log.scorers[0], "alpha"), "eval.result", "too-late")


@attack("C8", layer="coord", ends="the first counts, and the second is reported: exit status 2")
def test_two_results_of_one_evaluator_are_told(log: DishonestLog, tmp_path: Path) -> None:
    log.commit_all("alpha")
    log.evaluate(log.scorers[0], "alpha")
    refused(log, tmp_path, log.evaluate(log.scorers[0], "alpha"), "eval.result", "already-said")


@attack("C8", layer="cli", ends="the correct result is without it: exit status 2")
def test_a_result_that_was_counted_without_its_commitment_is_told(
    log: DishonestLog, tmp_path: Path
) -> None:
    for name in log.scorers[:-1]:
        log.commit(name, "beta")
    log.now_ms = SCORED + 1
    for name in log.scorers:
        log.evaluate(name, "beta")
    unheard, view = log.scorers[-1], log.view
    assert view.draw is not None
    extra = log.blob(digest_from_text(log.scores(unheard, "beta").scores))
    assert extra is not None
    alpha, beta = contenders(view, log.blob)
    whole = dataclasses.replace(beta, evaluations=(*beta.evaluations, Evaluation.parse(extra)))
    texts = [DrawnText.of(one.encode()) for one in log.drawn_texts]
    said = competition_result.compute_outcome(view.id, view.draw.beacon, texts, (alpha, whole))
    entry = log.decide(said)
    key = to_text(log.key(unheard))[:10]
    refused(log, tmp_path, entry, f"evaluator {key} of entrant beta", "expected none, found one")


# --- who is not heard


def test_who_commits_and_does_not_show_is_named_and_does_not_count(
    log: DishonestLog, tmp_path: Path
) -> None:
    first, second, holding = log.scorers
    for entrant in ("alpha", "beta"):
        log.commit_all(entrant)
    for name in (first, second):
        log.evaluate(name, "alpha")
        log.evaluate(name, "beta")
    log.evaluate(holding, "beta")
    log.result()
    assert log.view.withheld == [("alpha", log.key(holding))]
    result = verified(log, tmp_path)
    assert result.exit_code == 0, result.output
    key = to_text(log.key(holding))[:10]
    assert f"evaluator {key} committed to scores of alpha (entry " in result.output
    assert "did not publish them: they do not count" in result.output


def test_who_never_commits_is_named(log: DishonestLog, tmp_path: Path) -> None:
    log.commit_all("beta")
    for name in log.scorers:
        log.evaluate(name, "beta")
    log.result()
    result = verified(log, tmp_path)
    assert result.exit_code == 0, result.output
    for name in log.scorers:
        key = to_text(log.key(name))[:10]
        assert f"evaluator {key} never committed to scores of alpha" in result.output


@attack("C9", layer="cli", ends="it ends on its dates, and is reported as without a ranking")
def test_a_competition_whose_texts_nobody_could_open_ended(tmp_path: Path) -> None:
    log = DishonestLog().play("draw")
    log.show_share(0)
    log.now_ms = SCORED
    goes_on = verified(log, _folder(tmp_path / "before"))
    assert goes_on.exit_code == 3
    assert "is drawn, and no result was stated: 1 of the 2" in goes_on.output
    log.now_ms = SCORED + 1
    log.log_statement("passer-by", registration(NET, log.key("passer-by")))
    result = verified(log, _folder(tmp_path / "after"))
    assert result.exit_code == 3
    assert "ended without a ranking: 1 of the 2 shares needed are revealed" in result.output
    assert "so there is none to check" in result.output
    found = json.loads((tmp_path / "after" / "found.json").read_text())
    assert found["void"].startswith("1 of the 2 shares")


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
