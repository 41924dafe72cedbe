"""`tequio run new` asks in a terminal: a real one, and what a person types there."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.organiser import estimate
from tequio_client.organiser import plan as plans
from tequio_client.organiser.outline import read_outline
from tequio_shared.round.manifest import Admission
from tests.support.forked_program import MODELS
from tests.support.plans import write_plan
from tests.support.terminals import in_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.terminals import Terminal

TO_SIZE = (("Name [first-run]:", ""), ("[new]:", ""), ("Data [data]:", ""))
TO_DAYS = (("Volunteers [8]:", "4"), ("GiB [8.0]:", ""), ("Mbit/s [10.0]:", ""))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the data of a small plan."""
    write_plan(tmp_path).unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def asked(*words: str) -> Iterator[Terminal]:
    with in_terminal("run", "new", *words, module=MODELS) as terminal:
        yield terminal


def answer(terminal: Terminal, *answers: tuple[str, str]) -> str:
    """Wait for each question, and type its answer; returns what the program wrote."""
    found = b""
    for question, text in answers:
        found += terminal.read_until(question.encode())
        terminal.type(f"{text}\n".encode())
    return found.decode()


def written(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()} - {"texts", "data", "config.json"}


def test_each_answer_is_checked_and_the_plan_is_the_one_that_was_shown(folder: Path) -> None:
    with asked() as terminal:
        shown = answer(
            terminal,
            ("Name [first-run]:", "a/b"),
            ("Name [", "maize"),
            ("[new]:", "old"),
            ("[new]:", ""),
            ("Data [data]:", "texts"),
            ("Data [", "data"),
            ("Parameters [125M]:", "many"),
            ("Parameters [125M]:", "200K"),
            ("Volunteers [8]:", "1"),
            ("Volunteers [8]:", "4"),
            ("GiB [8.0]:", "nan"),
            ("GiB [8.0]:", "12"),
            ("Mbit/s [10.0]:", ""),
            ("Days [", "0.0001"),
            ("Days [", "0.02"),
            ("[anybody]:", "invited"),
            ("Write this plan to maize.toml? [Y/n]:", ""),
        )
        terminal.read_until(b"tequio run open maize.toml")
        assert terminal.program.wait(60) == 0
    for refused in (
        "invalid run name 'a/b'",
        "'old' is not one of 'new', 'continue', 'adapters'",
        "no data manifest in texts (No such file or directory): build it with `tequio data build`",
        "invalid number 'many': expected 125M",
        "1 is not in the range 2<=x<=4095",
        "'nan' is not a number",
        "a run has at least 10: give 0.007 days or more",
    ):
        assert refused in " ".join(shown.split()), refused
    assert "a vocabulary of 256" in shown
    assert "card-hours" in shown
    assert "progress" in shown
    assert written(folder) == {"maize.toml", "maize.model.json"}
    plan = plans.read_plan(folder / "maize.toml")
    assert plan.admission == Admission(trainer_tier=2, witness_tier=2)
    assert plan.rounds.most == int(0.02 * 86_400 / 60.05)
    outline = read_outline(folder / "maize.toml")
    estimate.estimate_run(outline, plans.ExpectPlan(peers=4, vram_gib=12, tflops=14)).check()
    assert plan.expect == outline.plan.expect == plans.ExpectPlan(peers=4, vram_gib=12, tflops=14)


def test_ctrl_c_leaves_nothing(folder: Path) -> None:
    to_the_end = (("[125M]:", "200K"), *TO_DAYS, ("Days [", ""), ("[anybody]:", ""))
    for answers, question in (
        ((), "Name ["),
        (TO_SIZE, "[125M]:"),
        ((*TO_SIZE, *to_the_end), "[Y/n]:"),
    ):
        with asked() as terminal:
            answer(terminal, *answers)
            terminal.read_until(question.encode())
            assert terminal.interrupt() == 1
        assert written(folder) == set()


def test_a_run_that_cannot_work_or_is_not_wanted_is_asked_about_again(folder: Path) -> None:
    with asked("plan.toml", "--parameters", "7B") as terminal:
        answer(terminal, ("[new]:", ""), ("Data [data]:", ""), ("[7000000000]:", ""), *TO_DAYS)
        shown = answer(terminal, ("Days [", ""), ("[anybody]:", ""), ("[new]:", ""))
        assert "this run cannot work: one sample needs" in " ".join(shown.split())
        assert "6.0 of 8 GiB are lent" in " ".join(shown.split())
        answer(terminal, ("Data [data]:", ""), ("[7000000000]:", "200K"), ("Volunteers [4]:", ""))
        answer(terminal, ("GiB [8.0]:", ""), ("[10.0]:", ""), ("Days [", ""), ("[anybody]:", ""))
        answer(terminal, ("[Y/n]:", "n"), ("[new]:", "adapters"))
        answer(terminal, ("Model:", "./gone"))
        terminal.read_until(b"folder ./gone not found")
        assert terminal.interrupt() == 1
    assert written(folder) == set()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--tokens", "1B"), r"tokens, about as given, take"),
        (("--tokens", "5M"), r"5,000,000 tokens are 1 round, .* 480,000,000 tokens, the fewest of"),
        ((), r"480,000,000 tokens, the fewest of a run, take"),
        (("--parameters", "100M"), r"tokens, usual for this model, take"),
    ],
)
def test_tokens_are_called_as_given_only_if_they_are(
    folder: Path, words: tuple[str, ...], told: str
) -> None:
    with asked(str(folder / "plan.toml"), "--parameters", "200K", *words) as terminal:
        answer(terminal, ("[new]:", ""), ("Data [data]:", ""), ("Parameters [", ""))
        shown = answer(terminal, *TO_DAYS, ("Days [", ""))
        assert re.search(told, " ".join(shown.split())), shown
        assert terminal.interrupt() == 1


def test_what_exists_is_named_before_the_first_question(folder: Path) -> None:
    (folder / "plan.toml").touch()
    with asked("plan.toml") as terminal:
        terminal.read_until(b"plan.toml exists already")
        assert terminal.program.wait(60) == 1


def test_a_script_is_not_asked(folder: Path) -> None:
    for words, lacks in (
        ((), "Missing argument 'PLAN'."),
        (("x.toml", "--parameters", "1M"), "Missing option '--data'."),
        (("x.toml", "--data", "data"), "give --parameters for a new model, --from to"),
    ):
        result = CliRunner().invoke(cli, ("run", "new", *words))
        assert result.exit_code == 2
        assert lacks in result.stderr
    assert written(folder) == set()
