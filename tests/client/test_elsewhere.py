"""Names that only some systems have are used only on those systems."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = Path(__file__).parents[2] / "client"
LACKING = {
    "signal": {"SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "SIGQUIT"},
    "os": {
        *("fork", "getuid", "geteuid", "getgid", "killpg", "setsid", "nice", "getloadavg"),
        *("sched_getaffinity", "statvfs", "fchmod", "uname", "pread", "O_NOFOLLOW", "O_NONBLOCK"),
    },
}
"""Names that Windows lacks: using one there ends the program with AttributeError."""
ASKED = {"os.name", "sys.platform"}
MODULES = {"fcntl", "pwd", "grp", "resource", "termios"}


def test_nothing_is_named_that_windows_lacks() -> None:
    named = [
        f"{file.relative_to(CLIENT)}:{line}: {name}"
        for file in CLIENT.rglob("*.py")
        for line, name in _names(ast.parse(file.read_text("utf-8")))
    ]
    assert named == []


def test_such_a_name_is_found_unless_the_system_is_asked_first() -> None:
    program = "import os, fcntl\nfrom pwd import getpwuid\ndef end(): os.killpg(1, 2)\nos.getpid()"
    asked = "def who():\n    return os.getuid() if os.name == 'posix' else 0"
    found = _names(ast.parse(f"{program}\n{asked}"))
    assert sorted(name for _, name in found) == ["fcntl", "os.killpg", "pwd"]


def _names(tree: ast.AST) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in _unguarded(tree):
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


def _unguarded(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything but functions that ask which system they are on."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _asks(node):
            continue
        yield node
        yield from _unguarded(node)


def _asks(function: ast.AST) -> bool:
    inside = (one for one in ast.walk(function) if isinstance(one, ast.Attribute))
    return any(ast.unparse(one) in ASKED for one in inside)
