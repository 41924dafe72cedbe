"""The command line as a whole: help, output that is closed early, errors and empty lists."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.cli import exit_checked
from tests.client.test_dashed_names import commands as plain_commands
from tests.support.forked_program import CLIENT, run_forked
from tests.support.ledgers import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOWHERE = "http://127.0.0.1:9"
WIDTH = 80
EMPTY = {
    ("run", "list"): "No runs yet.",
    ("competition", "list"): "No competitions yet.",
    ("invite", "list"): "No invitations yet.",
    ("connector", "list"): "No connectors",
    ("quarantine", "list"): "No key is restricted, and no appeal is open.",
}


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


@pytest.mark.parametrize("path", list(commands(cli)), ids=lambda path: " ".join(path) or "tequio")
def test_help_fits_a_terminal_and_no_sentence_is_cut(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=WIDTH)
    assert done.exit_code == 0, done.output
    for line in done.output.splitlines():
        assert len(line) <= WIDTH or " " not in line.strip(), line
        assert line.startswith("Usage:") or not line.rstrip().endswith("..."), line


def test_help_names_the_roles_and_the_environment() -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=WIDTH).output
    for role in ("Volunteer:", "Organiser:", "Competitions:", "Verify:", "Operator:"):
        assert f"\n{role}\n" in shown
    for variable in ("TEQUIO_LEDGER", "TEQUIO_TRUST", "TEQUIO_CONNECTOR", "TEQUIO_RUNTIME"):
        assert variable in shown
    assert "tequio-ledger --help" in shown


@pytest.mark.parametrize("path", [("run", "unknown"), ("verify-competition",), ("audit", "--no")])
def test_an_error_in_the_command_line_is_status_2(path: tuple[str, ...]) -> None:
    assert run_forked(CLIENT, *path, timeout_s=50).returncode == 2


def test_no_number_of_an_option_is_nan() -> None:
    for _, command in plain_commands(cli):
        for one in command.params:
            if one.type.name == "float range":
                with pytest.raises(click.BadParameter, match="not a number"):
                    one.type.convert("nan", one, None)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
@pytest.mark.parametrize("words", [("--help",), ("audit", "--help"), ("update", "--json")])
def test_output_that_is_closed_early_ends_the_program_quietly(words: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tequio_client", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
@pytest.mark.parametrize(
    ("where", "status", "said"),
    [
        (">&-", 0, ""),
        (">/dev/full", 1, "tequio: cannot write the output: No space left on device\n"),
    ],
)
def test_output_that_cannot_be_written_is_no_traceback(
    tmp_path: Path, where: str, status: int, said: str
) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m tequio_client network list {where}', sys.executable],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (status, said)


def test_letters_that_a_code_page_lacks_are_printed_as_their_numbers() -> None:
    program = (
        "import sys; from tequio_client.__main__ import PipedOutput; "
        "sys.stdout = PipedOutput.over(sys.stdout); print('caf\\u00e9 \\u2192 \\u03be')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        timeout=60,
    )
    assert done.stdout.decode("cp1252") == "café \\u2192 \\u03be\n"


@pytest.mark.parametrize(("status", "then"), [(0, 3), (2, 2), (3, 3), (4, 3)])
def test_a_check_whose_findings_cannot_be_written_is_incomplete_unless_something_is_wrong(
    tmp_path: Path, status: int, then: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        exit_checked(status, tmp_path / "none" / "found.json", b"{}")
    assert ended.value.code == then


@pytest.mark.parametrize("words", [("run", "list"), ("competition", "list")])
def test_an_outage_is_told_without_its_request(words: tuple[str, ...]) -> None:
    words = (*words, "--ledger", NOWHERE)
    done = run_forked(CLIENT, *words, timeout_s=50)
    assert f"can't reach the network at {NOWHERE}" in done.stderr
    assert "GET" not in done.stderr
    assert "details: GET /v1/" in run_forked(CLIENT, *words, "--verbose", timeout_s=50).stderr


def test_an_empty_list_is_a_sentence(tmp_path: Path) -> None:
    with served(tmp_path) as program:
        for words, sentence in EMPTY.items():
            done = run_forked(CLIENT, *words, "--ledger", program.url, timeout_s=50)
            assert done.stdout.startswith(sentence), (words, done.stdout, done.stderr)


def test_an_audit_says_at_once_what_it_does_when_nobody_watches(tmp_path: Path) -> None:
    with served(tmp_path) as program:
        done = run_forked(CLIENT, "audit", "--ledger", program.url, timeout_s=50)
    assert done.stderr.startswith("entries...")
