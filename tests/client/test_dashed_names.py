"""Keys, hashes and runs are base64url: one in 64 begins with a dash, and is not an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from tequio_client.__main__ import cli
from tequio_client.cli import LogIdArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


DASHED = (
    "-Hq3Jm0ZcXv1bN2kP9sT4uY6wE8rA5dF7gL0oI-Vx_Q",
    "--q3Jm0ZcXv1bN2kP9sT4uY6wE8rA5dF7gL0oI-Vx_Q",
    "-_-ledger-_-ledger-_-ledger-_-ledger-_-ledg",
    "-Hq3Jm",
)
NO_NAMES = {
    *(
        ("join", "link"),
        ("join", "code"),
        ("app", "link"),
        ("snooze", "length"),
        ("rename", "name"),
        ("name", "name"),
    ),
    ("found", "name"),
    ("chat", "model"),
    *(("add", "address"), ("remove", "name")),
    *(("enter", "name"), ("submit", "name"), ("challenge", "name")),
    ("tasks", "names"),
    *(("seal", "data"), ("score", "models"), ("verify", "what"), ("verify-competition", "place")),
}
"""Arguments of other kinds: a network has an address or a name, a link has a scheme, a length a
number, a code of a cell, a person, a team, a task or an entrant no dash first; a file with one is
written with `./` before it."""


NEEDED = {"run rollback": ("--round", "1")}
"""Options without which a command is not called."""


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below a group that is none itself."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        else:
            yield (*path, name), found


def texts(command: click.Command) -> list[click.Argument]:
    """Arguments that accept any text."""
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    return [one for one in arguments if isinstance(one.type, type(click.STRING))]


NAMING = {
    " ".join(path): command
    for path, command in commands(cli)
    if texts(command) and (path[-1], texts(command)[0].name) not in NO_NAMES
}


def parsed(words: str, given: Sequence[str]) -> dict[str, object]:
    """Values with which a command would be called; nothing runs."""
    context = NAMING[words].make_context(words, [*NEEDED.get(words, ()), *given])
    return dict(context.params)


def test_the_commands_are_found() -> None:
    assert {"quarantine release", "connector revoke", "run show", "invite close"} <= NAMING.keys()


@pytest.mark.parametrize("words", NAMING)
def test_a_name_may_begin_with_a_dash(words: str) -> None:
    (argument,) = texts(NAMING[words])
    assert isinstance(argument, LogIdArgument)
    is_local = all(one.name != "ledger" for one in NAMING[words].params)
    option, other = ("--dir", "folder") if is_local else ("--ledger", "ledger")
    for name in DASHED:
        for given in ([name, option, "http://l"], [option, "http://l", name]):
            found = parsed(words, given)
            assert found[str(argument.name)] == name
            assert str(found[other]).replace("//", "/") == "http:/l"  # a folder is a path


@pytest.mark.parametrize("words", NAMING)
@pytest.mark.parametrize("typo", ["--ledgr", "--bann", "-x", "--ledgr=http://l"])
def test_an_option_that_is_spelt_wrongly_is_still_told(words: str, typo: str) -> None:
    with pytest.raises(
        click.UsageError, match=rf"No such option|unexpected extra argument.*{typo}"
    ):
        parsed(words, [typo, "somebody"])


def test_the_ledgers_own_command_passes_a_dashed_key_on() -> None:
    from tequio_ledger.__main__ import quarantine  # noqa: PLC0415 - nobody else here

    for name in DASHED:
        context = quarantine.make_context("quarantine", ["release", name, "--ledger", "http://l"])
        assert context.params["words"] == ("release", name, "--ledger", "http://l")
