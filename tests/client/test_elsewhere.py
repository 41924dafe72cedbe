"""What not every system has is asked of Python only where it is there."""

from __future__ import annotations

import ast
from pathlib import Path

CLIENT = Path(__file__).parents[2] / "client"
LACKING = {
    "signal": {"SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGQUIT"},
    "os": {
        *("fork", "getuid", "geteuid", "getgid", "killpg", "setsid", "nice", "getloadavg"),
        *("sched_getaffinity", "statvfs", "fchmod", "uname", "pread", "O_NOFOLLOW", "O_NONBLOCK"),
    },
}
"""Names that Windows does not have: to say one there ends whatever was under way."""
MODULES = {"fcntl", "pwd", "grp", "resource", "termios"}


def test_nothing_is_named_that_windows_lacks() -> None:
    named = [
        f"{file.relative_to(CLIENT)}:{line}: {name}"
        for file in CLIENT.rglob("*.py")
        for line, name in _names(ast.parse(file.read_text("utf-8")))
    ]
    assert named == []


def test_such_a_name_is_found() -> None:
    program = "import os, fcntl\nfrom pwd import getpwuid\nos.killpg(1, 2)\nos.getpid()"
    found = _names(ast.parse(program))
    assert [name for _, name in found] == ["fcntl", "pwd", "os.killpg"]


def _names(tree: ast.AST) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                if name in LACKING.get(module, ()):
                    found.append((node.lineno, f"{module}.{name}"))
            case ast.Import(names=names):
                found += [(node.lineno, one.name) for one in names if one.name in MODULES]
            case ast.ImportFrom(module=module) if module in MODULES:
                found.append((node.lineno, f"{module}"))
            case _:
                pass
    return found
