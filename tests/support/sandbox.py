"""Runs a program under its unit's system call filter, without systemd.

`python sandbox.py '{"allowed": [..], "otherwise": 1}' program ..`: the lists are systemd's own, the
filter is libseccomp's, which systemd uses too.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys

_KILL = 0x80000000
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000


def calls_of(lists: list[str]) -> list[str]:
    """The calls that a unit's `SystemCallFilter=` lines allow, applied in order as by systemd."""
    left: set[str] = set()
    for line in lists:
        named = _resolved(line.removeprefix("~").split())
        left = left - named if line.startswith("~") else left | named
    return sorted(left)


def _resolved(words: list[str]) -> set[str]:
    found: set[str] = set()
    for word in words:
        if not word.startswith("@"):
            found.add(word)
            continue
        command = ["systemd-analyze", "syscall-filter", "--no-pager", word]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        found |= _resolved(re.findall(r"^    (?!#)(\S+)$", done.stdout, re.MULTILINE))
    return found


def enter(allowed: list[str], otherwise: int | None) -> None:
    """Allow this process only these calls; others kill it, or fail with that error number."""
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(lib.seccomp_init(_KILL if otherwise is None else _ERRNO | otherwise))
    for name in allowed:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # else it belongs to another architecture
            assert lib.seccomp_rule_add(rules, _ALLOW, number, 0) == 0, name
    assert lib.seccomp_load(rules) == 0


if __name__ == "__main__":
    what = json.loads(sys.argv[1])
    enter(what["allowed"], what["otherwise"])
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the program that the test names
