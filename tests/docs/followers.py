"""Commands in pages of the documentation, and people who type them, each in a home of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent.parent
START = ROOT / "docs" / "start"
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")})
"""Every page of the documentation."""
PATIENCE_S = 120.0
KEEPS_RUNNING = "# keeps running"
PROMPTED = "y\n"
"""The answer that is typed at a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCommand:
    """A line of a block of shell in a page."""

    page: Path
    line: str

    @property
    def text(self) -> str:
        """The command without the remark after it."""
        return re.split(r"\s+#\s", self.line, maxsplit=1)[0].strip()

    @property
    def name(self) -> str:
        return f"{self.page.stem}: {self.text}"

    @property
    def keeps_running(self) -> bool:
        return KEEPS_RUNNING in self.line


def commands_in(page: Path) -> list[PageCommand]:
    """Read the commands of a page; a line that ends with a backslash continues."""
    blocks = re.findall(
        r"^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [PageCommand(page=page, line=line) for line in lines if line.partition("#")[0].strip()]


@cache
def all_commands() -> tuple[PageCommand, ...]:
    """Every command of every page."""
    return tuple(command for page in PAGES for command in commands_in(page))


def commands_like(patterns: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The names of the commands that a pattern of their page matches."""
    return {
        one.name
        for one in all_commands()
        if any(re.match(words, one.text) for words in patterns.get(one.page.stem, ()))
    }


def programs_on_path(folder: Path) -> str:
    """Put both programs, of this checkout, into a folder; returns a PATH that begins with it."""
    folder.mkdir()
    for name, module in (("tequio", "tequio_client"), ("tequio-ledger", "tequio_ledger")):
        file = folder / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        file.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def own_environment(folder: Path, path: str) -> dict[str, str]:
    """The environment of a person whose home is that folder."""
    return {name: os.environ[name] for name in os.environ if "TEQUIO" not in name} | {
        "PATH": path,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data-home"),
        "XDG_CONFIG_HOME": str(folder / "config-home"),
    }


@dataclass(slots=True, kw_only=True)
class PageFollower:
    """Types commands of pages, with its own values for what the pages leave open."""

    folder: Path
    environment: dict[str, str]
    values: Mapping[str, str]
    """The words to type instead of some words of the pages."""
    has_run: set[str]
    """The names of commands that were run, of all followers."""
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def make(
        cls,
        folder: Path,
        path: str,
        values: Mapping[str, str],
        has_run: set[str],
        **environment: str,
    ) -> PageFollower:
        """Make the follower and its home."""
        folder.mkdir()
        own = own_environment(folder, path) | environment
        return cls(folder=folder, environment=own, values=values, has_run=has_run)

    def run(self, page: str, beginning: str, *, status: int = 0, **values: str) -> str:
        """Run the one command of a page that begins so; returns its output."""
        process = self.start(page, beginning, **values)
        process.communicate(PROMPTED.encode(), timeout=PATIENCE_S)
        self.started.remove(process)
        output = self.log.read_text("utf-8", errors="replace")
        assert process.returncode == status, f"{page}: {beginning}: {output}"
        return output

    @property
    def log(self) -> Path:
        """The output of the command that was started last."""
        return self.folder / "output.log"

    def start(self, page: str, beginning: str, **values: str) -> subprocess.Popen[bytes]:
        """Start the one command of a page that begins so, and do not wait for its end."""
        found = [
            one
            for one in commands_in(ROOT / "docs" / f"{page}.md")
            if one.text.startswith(beginning)
        ]
        command = min(found, key=lambda one: len(one.text))
        typed = self._typed(command.text, values)
        self.has_run |= {  # the same words in two pages are one command
            one.name for one in all_commands() if self._typed(one.text, values) == typed
        }
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                ["/bin/bash", "-c", typed],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def stop(self) -> None:
        """End what was started and still runs."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        for process in self.started:
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def _typed(self, text: str, values: Mapping[str, str]) -> str:
        for word, value in {**self.values, **values}.items():
            parts = re.split(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
            text = value.join(parts)
        return " ".join(text.split())
