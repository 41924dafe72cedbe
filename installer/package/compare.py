"""Compares two builds of one commit: `python3 installer/package/compare.py FIRST SECOND`.

FIRST and SECOND are two folders, or two files. Prints each file that one build lacks, or whose
content, mode or target differs; of two ZIP files (wheels, PyInstaller's library) also which members
do. The exit status is 0 if the builds are the same, 1 if they differ, and 2 if one cannot be read.

`--allow PATTERN=REASON` names files that may differ. They are printed with their reason, and do
not change the exit status; a pattern that no difference matches does, so that the list cannot
outlive its reasons. Only Python's standard library is needed.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import stat
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SAME, DIFFERENT, UNREADABLE = 0, 1, 2


class Entry(NamedTuple):
    """Properties of a file that must not differ; its times may, since installers set them."""

    kind: str
    mode: int
    content: str


def entries(build: Path) -> dict[str, Entry]:
    """Every file, link and folder of a build by its path below it; a single file has no path."""
    if not build.is_dir():
        return {"": _entry(build)}
    return {path.relative_to(build).as_posix(): _entry(path) for path in sorted(build.rglob("*"))}


def differences(first: Path, second: Path) -> Iterator[tuple[str, str]]:
    """Yield path and description of each difference, by path."""
    ours, theirs = entries(first), entries(second)
    for path in sorted(ours.keys() | theirs.keys()):
        if path not in theirs:
            yield path, f"only in {first}"
        elif path not in ours:
            yield path, f"only in {second}"
        elif ours[path] != theirs[path]:
            what = _what_differs(ours[path], theirs[path])
            yield path, what + _members(first / path, second / path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare two builds of one commit.")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--allow", action="append", default=[], metavar="PATTERN=REASON")
    given = parser.parse_args()
    allowed: Mapping[str, str] = dict(text.partition("=")[::2] for text in given.allow)
    for pattern, reason in allowed.items():
        if not reason:
            parser.error(f"--allow {pattern}: give a reason, as in --allow '{pattern}=signed'")
    try:
        found = list(differences(given.first, given.second))
    except OSError as err:
        sys.stderr.write(f"cannot compare: {err}\n")
        return UNREADABLE
    unexplained, unused = 0, set(allowed)
    for path, what in found:
        patterns = [one for one in allowed if fnmatch.fnmatchcase(path or given.first.name, one)]
        unused.difference_update(patterns)
        unexplained += not patterns
        why = f" (allowed: {allowed[patterns[0]]})" if patterns else ""
        sys.stdout.write(f"{path or given.first.name}: {what}{why}\n")
    for pattern in sorted(unused):
        sys.stdout.write(f"{pattern}: allowed to differ, and does not: remove it from the list\n")
    sys.stdout.write(
        f"{len(found)} differences, {unexplained} of them unexplained, among "
        f"{len(entries(given.first))} files\n"
    )
    return DIFFERENT if unexplained or unused else SAME


def _entry(path: Path) -> Entry:
    mode = stat.S_IMODE(path.lstat().st_mode)
    if path.is_symlink():
        return Entry("link", 0, path.readlink().as_posix())
    if path.is_dir():
        return Entry("folder", mode, "")
    with path.open("rb") as file:
        return Entry("file", mode, hashlib.file_digest(file, "sha256").hexdigest())


def _what_differs(ours: Entry, theirs: Entry) -> str:
    if ours.kind != theirs.kind:
        return f"a {ours.kind} and a {theirs.kind}"
    if ours.content != theirs.content:
        return "targets differ" if ours.kind == "link" else "contents differ"
    return f"modes {ours.mode:o} and {theirs.mode:o}"


def _members(first: Path, second: Path) -> str:
    """Which members of two ZIP files differ, or that only their order or their headers do."""
    if not all(path.is_file() and zipfile.is_zipfile(path) for path in (first, second)):
        return ""
    with zipfile.ZipFile(first) as ours, zipfile.ZipFile(second) as theirs:
        sums = [{one.filename: one.CRC for one in archive.infolist()} for archive in (ours, theirs)]
    names = sorted(name for name, _ in sums[0].items() ^ sums[1].items())
    return f" in {', '.join(dict.fromkeys(names))}" if names else " in order or headers alone"


if __name__ == "__main__":
    sys.exit(main())
