"""A trainer whose worker was killed goes on with the very error feedback that it would have had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc import trainer
from tests.support.killable_trainer import ENDS, PLACES

if TYPE_CHECKING:
    from tests.client.trainer.small_run import SmallRun

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture(scope="module")
def lived(run: SmallRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each place, in which four rounds were lived through."""
    folder = tmp_path_factory.mktemp("lives")
    lines = trainer.encode(run.prepare(1))
    for number in ENDS:
        lines += trainer.encode(run.train(10 + number, "lived", round=number))
    command = [sys.executable, "-m", "tests.support.killable_trainer", str(folder)]
    subprocess.run(command, input=lines, cwd=Path(__file__).parents[3], check=True, timeout=300)
    return folder


def roots(folder: Path) -> dict[int, str]:
    words = (folder / "roots").read_text().split()
    return dict(zip(map(int, words[::2]), words[1::2], strict=True))


def test_contributions_depend_on_the_feedback_of_what_was_accepted(lived: Path) -> None:
    found = roots(lived / "never")
    assert found[2] == found[3], "round 2 was void: the next one starts from the same feedback"
    assert len({found[1], found[3], found[4]}) == 3


@pytest.mark.parametrize("place", [name for name in PLACES if name != "never"])
def test_killed_anywhere_the_next_contributions_are_the_same_to_the_bit(
    lived: Path, place: str
) -> None:
    assert (lived / place / "lives").read_text() == "2", "it was not killed there"
    assert roots(lived / place) == roots(lived / "never")
    # What each of the three accepted contributions left, and the note.
    assert len(list((lived / place / "feedback").glob("*/*"))) == 4


def test_training_imports_no_large_package_besides_torch(lived: Path) -> None:
    packages = set((lived / "never" / "packages").read_text().splitlines())
    assert "torch" in packages
    assert not packages & {"transformers", "sympy", "numba", "scipy"}
