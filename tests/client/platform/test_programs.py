"""Command lines of our programs, from source and from a package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tequio_client import __main__ as entry
from tequio_client.platform import programs
from tequio_shared.version import BUILD


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose `tequio` runs this test; its runtime's folder is `runtime` beside it."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "tequio-app"))
    monkeypatch.setenv(programs.RUNTIME_VARIABLE, str(tmp_path / "runtime"))
    return tmp_path


def test_from_source_the_interpreter_runs_our_modules() -> None:
    python = (sys.executable, "-m")
    assert programs.tequio("app", "x") == (*python, "tequio_client", "app", "x")
    assert programs.module("tequio_client.probe") == (*python, "tequio_client.probe")
    assert programs.runtime_module("tequio_client.trainer") == (*python, "tequio_client.trainer")


def test_a_package_has_one_program_without_torch_and_one_with_it(package: Path) -> None:
    own, with_torch = str(package / "tequio"), str(package / "runtime" / "tequio-runtime")
    assert programs.tequio("app", "x") == (own, "app", "x")
    assert programs.module("tequio_client.probe") == (own, "-m", "tequio_client.probe")
    trainer = programs.runtime_module("tequio_client.trainer", "benchmark")
    assert trainer == (with_torch, "-m", "tequio_client.trainer", "benchmark")


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("linux", ("tequio", "app", "x")),
        ("win32", ("tequio-app", "app", "x")),
        ("darwin", ("tequio-app", "app", "x")),
    ],
)
def test_the_system_opens_the_app_by_the_program_without_a_console(
    system: str, words: tuple[str, ...], package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert programs.lasting("app", "x") == (str(package / words[0]), *words[1:])
    assert programs.lasting("worker") == (str(package / "tequio"), "worker")


def test_the_runtime_is_in_the_users_data_unless_a_variable_names_it(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert programs.runtime() == package / "runtime" / "tequio-runtime"
    monkeypatch.delenv(programs.RUNTIME_VARIABLE)
    assert programs.runtime().parent.parts[-3:] == ("tequio", "runtime", BUILD)


def test_a_command_that_needs_torch_runs_in_the_runtime(
    package: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def lacks_torch(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(entry.cli, "main", lacks_torch)
    monkeypatch.setattr(sys, "argv", ["tequio", "score", "a model"])
    with pytest.raises(SystemExit) as missing:
        entry.main()
    assert missing.value.code == 1
    program = programs.runtime()
    assert "tequio runtime install" in capfd.readouterr().err
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 3\n')
    program.chmod(0o700)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 3
    assert capfd.readouterr().out == "-m|tequio_client|score|a model|"


def test_the_runtime_starts_itself_for_nothing_that_it_lacks(
    package: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(programs.runtime()))
    assert programs.is_runtime()

    def lacks_gguf(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'gguf'", name="gguf")

    monkeypatch.setattr(entry.cli, "main", lacks_gguf)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 1
    assert "gguf is not installed here" in capfd.readouterr().err
