"""Every command of the documentation is run by a test, or the list says why none can run it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.followers import ROOT, PageCommand, all_commands, commands_like
from tests.docs.run_elsewhere import ELSEWHERE
from tests.docs.test_a_competition import FOLLOWED as IN_A_COMPETITION
from tests.docs.test_a_group import FOLLOWED as IN_A_GROUP
from tests.docs.test_quickstarts import FOLLOWED as IN_A_FIRST_NETWORK

FOLLOWED = {
    *commands_like(IN_A_COMPETITION),
    *commands_like(IN_A_FIRST_NETWORK),
    *commands_like(IN_A_GROUP),
}
"""The names of commands that tests of the documentation run; those tests check that they do."""


def rows_of(command: PageCommand) -> list[int]:
    return [at for at, (name, _) in enumerate(ELSEWHERE) if re.match(name, command.name)]


def test_every_command_is_run_here_or_listed_once() -> None:
    both = [one.name for one in all_commands() if one.name in FOLLOWED and rows_of(one)]
    assert both == [], "these are run here: take them off the list"
    several = [one.name for one in all_commands() if len(rows_of(one)) > 1]
    assert several == []
    neither = [one.name for one in all_commands() if not (one.name in FOLLOWED or rows_of(one))]
    assert neither == [], "run these in a test, or list the test that does"


def test_the_list_has_no_row_without_a_command() -> None:
    used = {at for one in all_commands() for at in rows_of(one)}
    assert [ELSEWHERE[at][0] for at in range(len(ELSEWHERE)) if at not in used] == []


@pytest.mark.parametrize("where", sorted({where for _, where in ELSEWHERE if ".py" in where}))
def test_a_listed_test_exists(where: str) -> None:
    (file,) = re.findall(r"tests/[\w/]+\.py", where)
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for node in ast.walk(tree) if isinstance(node, functions)}
    _, _, name = where.partition("::")
    assert any(one.startswith("test_") for one in names)
    assert not name or name in names
