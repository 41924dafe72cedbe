"""The commands in the pages are ones that the programs accept; those of a first network work."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import signal
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.followers import (
    PAGES,
    PATIENCE_S,
    ROOT,
    START,
    PageCommand,
    PageFollower,
    commands_in,
    commands_like,
    own_environment,
    programs_on_path,
)
from tests.support.command_lines import PROGRAMS, fault
from tests.support.postgres import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST_NETWORK = ("operator", "organiser", "volunteer")
"""The quickstarts that continue each other on one computer."""
FOLLOWED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FIRST_NETWORK, ("",)),
    "organising": (
        *("tequio run announce", "tequio run resume", "tequio run invite", "tequio run finish"),
        *('tequio run pause maize --reason "', "tequio run list", "tequio run show"),
        "tequio data tokenizer tokenizer.json --folder texts",
        "tequio data build data --folder texts --tokenizer tokenizer.json",
        *("tequio run new maize.toml", "tequio run check maize.toml"),
        "tequio simulate maize.toml --peers 40",
    ),
}
"""Patterns of the commands that are run, by page; all of a quickstart."""
RUNBOOK = ROOT / "docs" / "operating.md"
"""Read by tests/test_operating_document.py."""
PLACEHOLDERS = {"KEY": "A" * 43, '"LINK"': "tequio://join"}


def programs_in(command: PageCommand) -> list[list[str]]:
    """Split the calls of our programs in a line, also those inside another one, into words."""
    calls = re.findall(r"\$\(([^)]*)\)", command.line)
    outer = re.sub(r"\$\([^)]*\)", "A" * 43, command.line)
    lines = [shlex.split(one, comments=True) for one in (outer, *calls)]
    return [
        [PLACEHOLDERS.get(word, word) for word in words]
        for words in lines
        if words and Path(words[0]).name in PROGRAMS
    ]


CALLS = [
    (command, words)
    for page in PAGES
    if page != RUNBOOK
    for command in commands_in(page)
    for words in programs_in(command)
]


@pytest.mark.parametrize(("command", "words"), CALLS, ids=[one.name for one, _ in CALLS])
def test_a_program_accepts_each_command_of_a_page(
    command: PageCommand, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEQUIO_LEDGER", "http://127.0.0.1:9")
    assert fault(words) is None, command.line


def test_commands_of_every_quickstart_are_found() -> None:
    pages = {command.page.stem for command, _ in CALLS if command.page.parent == START}
    assert pages == {page.stem for page in START.glob("*.md")}
    assert any(command.keeps_running for command, _ in CALLS)


def test_make_targets_of_the_quickstarts_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = [command.line for page in START.glob("*.md") for command in commands_in(page)]
    named = {target for line in lines for target in re.findall(r"^make ([a-z-]+)", line)}
    assert named
    assert named - targets == set()


def test_every_sentence_of_the_troubleshooting_page_is_one_that_a_program_prints() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    quoted = [sentence for cell in cells for sentence in re.findall(r"`([^`]+)`", cell)]
    assert len(quoted) > 30
    printed = "\n".join(_sentences())
    unknown = [
        sentence
        for sentence in quoted
        if not re.search(".*".join(re.escape(part) for part in sentence.split("…")), printed)
    ]
    assert unknown == []


def _sentences() -> Iterator[str]:
    """Texts in the programs, a line each, with … for what they fill in."""
    files = (
        file for part in ("client", "ledger", "shared") for file in (ROOT / part).rglob("*.py")
    )
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.JoinedStr(values=parts):
                    texts = (
                        str(one.value) if isinstance(one, ast.Constant) else "…" for one in parts
                    )
                    yield "".join(texts).replace("\n", " ")
                case ast.Constant(value=str(text)):
                    yield re.sub(r"\{\w+\}", "…", text).replace("\n", " ")


@pytest.mark.whole
def test_a_ledger_starts_as_the_operators_page_says(tmp_path: Path) -> None:
    with first_network(tmp_path) as network:
        network.follow("operator")
        assert network.has_run >= {"tequio", "tequio-ledger"}
        assert list(tmp_path.glob("backup/*.sqlite"))
        assert "operator: tequio-ledger doctor" in network.followed


@pytest.mark.slow
def test_a_network_starts_as_operator_organiser_and_volunteer_are_told(tmp_path: Path) -> None:
    with first_network(tmp_path) as network:
        for page in FIRST_NETWORK:
            network.follow(page)
        assert "maize" in network.output("tequio run list")
        follow_the_organiser(network)
        assert commands_like(FOLLOWED) - network.followed == set()


def follow_the_organiser(network: FirstNetwork) -> None:
    """Steer the run, and plan another one, by the commands of the organiser's longer page."""
    organiser = network.person("an-organiser")
    organiser.run("organising", "tequio run list")
    assert "maize" in organiser.run("organising", "tequio run show maize")
    organiser.run("organising", 'tequio run announce maize --text "The next part')
    organiser.run("organising", "tequio run announce maize --clear")
    organiser.run("organising", "tequio run pause maize --reason")
    organiser.run("organising", "tequio run resume maize")
    assert "tequio://join?" in organiser.run("organising", "tequio run invite maize")
    organiser.run("organising", "tequio run finish maize")
    texts = organiser.folder / "texts"
    texts.mkdir()
    for number, page in enumerate(PAGES):
        shutil.copy(page, texts / f"{number}.txt")
    organiser.run("organising", "tequio data tokenizer tokenizer.json --folder texts")
    organiser.run("organising", "tequio data build data --folder texts --tokenizer tokenizer.json")
    organiser.run("organising", "tequio run new maize.toml")
    organiser.run("organising", "tequio run check maize.toml")
    organiser.run("organising", "tequio simulate maize.toml --peers 40")
    assert (organiser.folder / "maize.svg").is_file()


@dataclass(slots=True)
class FirstNetwork:
    """A folder in which the commands of pages run as if it were a new computer."""

    folder: Path
    environment: dict[str, str]
    ports: dict[str, str]
    has_run: set[str] = field(default_factory=set)
    """Programs."""
    followed: set[str] = field(default_factory=set)
    """Names of commands."""
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def follow(self, page: str) -> None:
        """Run the commands of a quickstart, from its first to its last."""
        for command in commands_in(START / f"{page}.md"):
            self.run(command)

    def run(self, command: PageCommand) -> None:
        """Run a command, and wait for its end, or until one that keeps running can be used."""
        line = command.line
        self.followed.add(command.name)
        for port, free in self.ports.items():
            line = line.replace(port, free)
        program = shlex.split(line, comments=True)[0]
        if shutil.which(program, path=self.environment["PATH"]) is None:
            assert program == "curl", f"{program} is not installed"
            return
        self.has_run.add(program)
        if command.keeps_running:
            self._start(line)
        else:
            self.output(line)

    def output(self, line: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def _start(self, line: str) -> None:
        with (self.folder / f"{len(self.started)}.log").open("wb") as log:
            self.started.append(
                subprocess.Popen(
                    ["/bin/bash", "-c", f"exec {line}"],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_ready(line):
            assert self.started[-1].poll() is None, (self.folder / "0.log").read_text()
            assert time.monotonic() < deadline, f"not ready: {line}"
            time.sleep(0.2)

    def _is_ready(self, line: str) -> bool:
        if "tequio-ledger serve" in line:
            try:
                url = f"http://127.0.0.1:{self.ports['8600']}/healthz"
                return bool(urllib.request.urlopen(url, timeout=5).status == 200)
            except OSError:
                return False
        log = (self.folder / f"{len(self.started) - 1}.log").read_text("utf-8")
        return "started " in log and "folder=" in log

    def person(self, name: str) -> PageFollower:
        """Somebody with the organiser's key, in a folder of its own, who follows another page."""
        folder = self.folder / name
        folder.mkdir()
        return PageFollower(
            folder=folder, environment=self.environment, values={}, has_run=self.followed
        )

    def stop(self) -> None:
        for process in reversed(self.started):
            process.send_signal(signal.SIGINT)
        for process in self.started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def first_network(folder: Path) -> Iterator[FirstNetwork]:
    ports = {"8600": str(free_port()), "8610": str(free_port())}
    environment = own_environment(folder, programs_on_path(folder / "bin"))
    environment["TEQUIO_LEDGER_PORT"] = ports["8600"]
    network = FirstNetwork(folder, environment, ports)
    try:
        yield network
    finally:
        network.stop()
