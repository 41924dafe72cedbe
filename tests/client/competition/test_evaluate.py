"""The loop of an evaluator's program, where something fails while the log goes on."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tequio_client.competition import evaluate
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import UserFacingError
from tests.support.competition_fold import CompetitionFold

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.competition.state import CompetitionView

DRAWN, REVEALED = (
    CompetitionFold().play(one).view for one in (CompetitionPhase.DRAWN, CompetitionPhase.REVEALED)
)
TURNS = 4


class Ledger:
    """A log as its reader finds it at the first reading, and at each later one; the last stays."""

    def __init__(self, *states: dict[bytes, CompetitionView]) -> None:
        self.states = states
        self.readings = 0

    def read(self, *_: object) -> None:
        self.readings += 1
        if not self.competitions:
            raise UserFacingError("the log could not be read completely")

    @property
    def competitions(self) -> dict[bytes, CompetitionView]:
        return self.states[min(self.readings, len(self.states)) - 1]

    def competition(self, _: str | None) -> CompetitionView:
        for view in self.competitions.values():
            return view
        raise UserFacingError("no competition was opened")


class Late:
    """An evaluator whose step the ledger refuses until the competition has gone on."""

    def __init__(self) -> None:
        self.key = next(iter(DRAWN.offers))
        self.done: list[bytes] = []

    def step(self, view: CompetitionView) -> bool:
        if view is DRAWN:
            raise LedgerUnavailableError("it is too late for that")
        self.done.append(view.id)
        return False


class EnoughTurnsError(Exception):
    """Ends a loop that has no end."""


def run(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    ledger: Ledger,
    *,
    follows: bool,
) -> tuple[Late, list[str]]:
    """Run the program for some turns, with its reports."""
    late, said, pauses = Late(), list[str](), list[float]()

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == TURNS:
            raise EnoughTurnsError

    monkeypatch.setattr(evaluate, "LedgerReader", lambda *_: ledger)
    monkeypatch.setattr(evaluate, "Evaluator", lambda *_: late)
    monkeypatch.setattr(evaluate, "FolderSubmitter", lambda *_: None)
    monkeypatch.setattr(evaluate, "time", SimpleNamespace(sleep=sleep))
    program = evaluate.evaluate_all if follows else evaluate.evaluate_one
    options = evaluate.EvaluateOptions(ledger="http://ledger.example", folder=folder, device="cpu")
    with suppress(EnoughTurnsError):
        program(options, said.append)
    return late, said


@pytest.mark.parametrize("follows", [True, False])
def test_after_a_step_that_fails_the_log_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, follows: bool
) -> None:
    ledger = Ledger({b"a": DRAWN}, {b"a": DRAWN}, {b"a": REVEALED})
    late, said = run(monkeypatch, tmp_path, ledger, follows=follows)
    assert late.done == [REVEALED.id]
    assert [one.partition(";")[0] for one in said] == ["it is too late for that"]


def test_a_log_that_could_not_be_read_once_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger({b"a": DRAWN}, {b"a": DRAWN}, {}, {b"a": REVEALED})
    late, said = run(monkeypatch, tmp_path, ledger, follows=False)
    assert late.done == [REVEALED.id]
    assert "could not be read" in said[1]


def test_a_competition_that_fails_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, said = run(monkeypatch, tmp_path, Ledger({b"a": DRAWN, b"b": REVEALED}), follows=True)
    assert late.done == [REVEALED.id]
    assert len(said) == TURNS
