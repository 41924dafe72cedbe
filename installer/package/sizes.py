"""Checks the size of a folder that PyInstaller made: `python3 installer/package/sizes.py FOLDER`.

Prints the folder's size and its limit. The exit status is 1, and standard error names each fault,
if the folder is larger than its limit or if two files above 1 MB have the same content; it is 2 if
the folder cannot be read. A link to a file in the folder is not a second file. On a system where no
build was measured yet, faults are named and the status is 0. Only Python's standard library is
needed.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

WITHIN, TOO_LARGE, UNREADABLE = 0, 1, 2
MB = 1_000_000
LARGE_BYTES = MB
"""Files up to this size may have the same content: many packages ship the same licence."""
LIMITS_MB = {"tequio": 180, "tequio-runtime-cpu": 1_350, "tequio-runtime-cuda": 5_300}
"""By the folder's name; about a tenth above what was built. See decisions 0035 and 0062."""
MEASURED = ("linux",)
"""Systems (sys.platform) on which a folder was built, and its size is enforced."""


def limit_mb(folder: Path) -> int | None:
    """The limit in MB (10^6 bytes); None for an accelerator whose runtime was never built."""
    if folder.name == "tequio-runtime":  # with the environment's torch, which may have CUDA
        has_cuda = (folder / "_internal" / "nvidia").is_dir()
        return LIMITS_MB["tequio-runtime-cuda" if has_cuda else "tequio-runtime-cpu"]
    return LIMITS_MB.get(folder.name)


def equal_files(files: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield each group of large files with the same content. Only files of equal size are read."""
    by_size = defaultdict(list)
    for path in files:
        by_size[path.stat().st_size].append(path)
    for size, paths in sorted(by_size.items(), reverse=True):
        if size <= LARGE_BYTES or len(paths) == 1:
            continue
        by_content = defaultdict(list)
        for path in paths:
            with path.open("rb") as file:
                by_content[hashlib.file_digest(file, "sha256").digest()].append(path)
        yield from (sorted(group) for group in by_content.values() if len(group) > 1)


def faults(folder: Path, files: list[Path], size_bytes: int) -> Iterator[str]:
    limit = limit_mb(folder)
    if limit is not None and size_bytes > limit * MB:
        yield (
            f"{size_bytes / MB:,.0f} MB, and the limit is {limit:,}: leave something out, or raise "
            "the limit in installer/package/sizes.py"
        )
    for group in equal_files(files):
        names = ", ".join(path.relative_to(folder).as_posix() for path in group)
        yield f"{group[0].stat().st_size / MB:,.1f} MB in {len(group)} equal files: {names}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the size of a package's folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--system", default=sys.platform, help="sys.platform of the build")
    given = parser.parse_args()
    folder = given.folder.resolve()
    try:
        files = [one for one in sorted(folder.rglob("*")) if one.is_file() and not one.is_symlink()]
        size_bytes = sum(path.stat().st_size for path in files)
        found = list(faults(folder, files, size_bytes))
    except OSError as err:
        sys.stderr.write(f"cannot check: {err}\n")
        return UNREADABLE
    if not files:
        sys.stderr.write(f"cannot check: {folder} has no files\n")
        return UNREADABLE
    limit = limit_mb(folder)
    most = "no limit" if limit is None else f"limit {limit:,} MB"
    sys.stdout.write(f"{folder.name}: {size_bytes / MB:,.0f} MB in {len(files):,} files, {most}\n")
    for fault in found:
        sys.stderr.write(f"{folder.name}: {fault}\n")
    if found and given.system not in MEASURED:
        sys.stderr.write(
            f"{folder.name}: not enforced, because no build on {given.system} was measured yet: "
            "docs/releasing.md says how to go on\n"
        )
        return WITHIN
    return TOO_LARGE if found else WITHIN


if __name__ == "__main__":
    sys.exit(main())
