"""Windows' rules for files, on Linux, for calls that our own code makes.

* What is open or mapped, in any process, is neither moved, replaced nor deleted: Python opens files
  there without sharing their deletion (WinError 32). What is mapped is not emptied (1224). The same
  holds for a folder with such a file. A rename replaces nothing (183).
* A read-only file is neither replaced, deleted nor opened for writing (5), and what is open for
  reading is not flushed.
* A name that Windows does not allow is not created (123), nor one that differs from another only in
  case, on macOS either; nor a path that is too long below a usual user's folder (206).
* A virus scanner opens what was just written: where a test asks for `virus_scanner`, the first move
  or deletion of a file may fail once (32 or 5), as chance has it from a seed.

`follow` begins in this process. `environment` has the variables with which every Python program
follows them: its `sitecustomize` loads this file, so it imports little.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import re
import stat
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = ("tequio_client", "tequio_shared")
"""The ledger runs on Linux alone."""
SCANNER_SEED = "PYTHON_SCANNER_SEED"
"""Variable that starts the virus scanner in a program; a child of a worker inherits `PYTHON…`."""
USER_FOLDER = r"C:\Users\Maximiliane Mustermann\AppData\Local\tequio\tequio"
"""Where a test's folder would be."""
MAX_PATH, MAX_FOLDER = 259, 247
SITE = os.path.join(os.path.dirname(__file__), "windows_site")  # noqa: PTH118, PTH120 - no pathlib
_BETWEEN = (
    *("pathlib", "shutil", "tempfile", "os", "contextlib", "sqlite3", "zipfile", "io"),
    *("tests.support.windows_rules", "unittest.mock"),
)
_TEST_FOLDER = re.compile(r"^.*/pytest-\d+/(popen-gw\d+/)?[^/]+")
_RESERVED = re.compile(
    r'(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])( *\.| *$)|.*[<>:"|?*\\\x00-\x1f]|.*[. ]$',
    re.IGNORECASE | re.DOTALL,
)


class _Rules:
    """Of this process; `scanner` is None unless a test asked for one."""

    depth = 0
    scanner: random.Random | None = None
    scanned: set[tuple[int, int]] = set()  # noqa: RUF012 - of the one process
    is_installed = False


def environment() -> dict[str, str]:
    """Variables with which a Python program follows the rules."""
    paths = (SITE, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def follow() -> None:
    """Follow the rules in this process, from now on."""
    _Rules.depth += 1
    if _Rules.is_installed:
        return
    _Rules.is_installed = True
    if seed := os.environ.get(SCANNER_SEED):
        _Rules.scanner = random.Random(seed)
    originals = (os.replace, os.rename, os.unlink, os.remove)
    os.replace = _guarded(os.replace, targets=2)
    os.rename = _guarded(os.rename, targets=2, may_replace=False)
    os.unlink = _guarded(os.unlink, targets=1)
    os.remove = _guarded(os.remove, targets=1)
    os.fsync = _guarded_sync(os.fsync)
    # `shutil` asks when it is imported, in programs after this.
    for supporting in (os.supports_dir_fd, os.supports_follow_symlinks):
        for original, guarded in zip(
            originals, (os.replace, os.rename, os.unlink, os.remove), strict=True
        ):
            supporting.update({guarded} if original in supporting else ())
    sys.addaudithook(_audit)


@contextmanager
def windows_rules() -> Iterator[None]:
    """Follow the rules in this block: PermissionError and the like, as on Windows."""
    follow()
    try:
        yield
    finally:
        _Rules.depth -= 1


@contextmanager
def virus_scanner(seed: int) -> Iterator[set[tuple[int, int]]]:
    """Have a scanner hold fresh files open, in this process; gives the files that it held."""
    before = _Rules.scanner
    _Rules.scanner, _Rules.scanned = random.Random(seed), set()
    try:
        yield _Rules.scanned
    finally:
        _Rules.scanner = before


def _guarded(
    call: Callable[..., None], *, targets: int, may_replace: bool = True
) -> Callable[..., None]:
    def guarded(*paths: Any, **more: Any) -> None:  # noqa: ANN401 - as the call's own
        if _Rules.depth and _is_ours() and not any(more.values()):
            for number, path in enumerate(map(_absolute, paths[:targets])):
                _check_free(path)
                is_kept = targets > 1 and number == 0  # it is moved, read-only or not
                if not is_kept and _is_read_only(path):
                    raise _error(errno.EACCES, 5, "a read-only file", path)
            if targets > 1:
                _check_name(_absolute(paths[1]), MAX_PATH)
            if not may_replace and os.path.lexists(paths[1]):
                raise _error(errno.EEXIST, 183, "it exists", str(paths[1]))
        call(*paths, **more)

    return guarded


def _guarded_sync(call: Callable[..., None]) -> Callable[..., None]:
    def guarded(handle: Any) -> None:  # noqa: ANN401 - as the call's own
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)
        is_read = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        if _Rules.depth and is_file and is_read and _is_ours():
            raise _error(errno.EBADF, 5, "flushed, but open for reading alone", str(handle))
        call(handle)

    return guarded


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Python's own notice of what it is about to do."""
    if event not in ("open", "os.mkdir", "sqlite3.connect") or not _Rules.depth or not _is_ours():
        return
    path, *more = arguments
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    target = _absolute(path)
    if event == "os.mkdir":
        _check_name(target, MAX_FOLDER)
    elif event == "sqlite3.connect":
        if not os.fsdecode(path).startswith(("file:", ":")):
            _check_name(target, MAX_PATH)
    elif not target.startswith(("/dev/", "/proc/")):
        _check_opening(target, more[1])


def _check_opening(path: str, flags: int) -> None:
    if not flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
        return
    _check_name(path, MAX_PATH)
    if _is_read_only(path):
        raise _error(errno.EACCES, 5, "a read-only file", path)
    if os.path.isdir(path):  # noqa: PTH112 - no pathlib
        return  # a temporary file without a name: all files in the folder may stay in use
    if flags & os.O_TRUNC and (use := _use(path)).startswith("mapped"):
        raise _error(errno.EINVAL, 1224, f"emptied, but {use}", path)


def _is_ours() -> bool:
    """Return whether our own code makes the call, directly or by the standard library."""
    try:
        frame = sys._getframe(2)  # noqa: SLF001 - the fastest way, for each call
    except ValueError:  # Python itself opens the first file
        return False
    while frame.f_back is not None and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] in OURS


def _absolute(path: Any) -> str:  # noqa: ANN401 - as os takes it
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - no pathlib in every program


def _check_name(path: str, most: int) -> None:
    """Refuse a new name that Windows, or macOS, would not take as this one."""
    if os.path.lexists(path):
        return
    folder, _, name = path.rpartition("/")
    if _RESERVED.match(name):
        raise _error(errno.EINVAL, 123, "not a name on Windows", path)
    there = _TEST_FOLDER.sub(USER_FOLDER.replace("\\", "\\\\"), path)
    if len(there) > most:
        raise _error(errno.ENOENT, 206, f"{len(there)} characters on Windows", path)
    try:
        # Without what another thread has given this name meanwhile.
        others = [one for one in os.listdir(folder) if one != name]  # noqa: PTH208 - names alone
    except OSError:
        return
    folded = name.casefold()
    if same := next((one for one in others if one.casefold() == folded), None):
        raise _error(errno.EEXIST, 80, f"the same file as {same}", path)


def _check_free(path: str) -> None:
    if not os.path.lexists(path):
        return
    if use := _use(path):
        raise _error(errno.EACCES, 32, f"it is {use}", path)
    scanner, scanned = _Rules.scanner, _Rules.scanned
    for one in _files_of(path) if scanner is not None else ():
        found = os.lstat(one)
        key = (found.st_ino, found.st_mtime_ns)
        if scanner is not None and key not in scanned:
            scanned.add(key)
            if scanner.random() < 0.7:
                raise _error(errno.EACCES, scanner.choice((5, 32)), "a scanner reads it", path)


def _files_of(path: str) -> list[str]:
    """The file, or those in the folder."""
    if not os.path.isdir(path) or os.path.islink(path):  # noqa: PTH112, PTH114 - no pathlib
        return [path]
    return [os.path.join(top, one) for top, _, names in os.walk(path) for one in names]  # noqa: PTH118


def _is_read_only(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and not found.st_mode & stat.S_IWUSR


def _error(code: int, windows_code: int, why: str, path: str) -> OSError:
    error = OSError(code, f"WinError {windows_code}: {why}", path)
    error.winerror = windows_code  # type: ignore[attr-defined]  # which Python has on Windows
    return error


def _use(path: str) -> str:
    """How some process has the file, or one in the folder, in use; empty: none has."""
    return next(filter(None, map(_use_of_file, _files_of(path))), "")


def _use_of_file(path: str) -> str:
    for _ in range(3):
        if not _is_leased_out(path):
            return ""
        if holder := _holder(path):
            return holder
        time.sleep(0.002)  # a program that is just being started has copies of everything open
    return ""


def _is_leased_out(path: str) -> bool:
    """Return whether anything has the file open or mapped: the kernel knows at once (fcntl(2))."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return True  # no leases there: look at everything
    finally:
        os.close(handle)
    return False


def _holder(path: str) -> str:
    """Which process has the file open or mapped; a walk through all of them."""
    target = os.path.realpath(path)
    for pid in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208 - names alone
        if use := _use_by(pid, target):
            return f"{use} by {'this process' if int(pid) == os.getpid() else f'process {pid}'}"
    return ""


def _use_by(pid: str, target: str) -> str:
    try:
        with open(f"/proc/{pid}/maps") as maps:  # noqa: PTH123 - as above
            if any(line.rstrip("\n").endswith(f" {target}") for line in maps):
                return "mapped"
        for descriptor in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names alone
            try:
                if os.readlink(f"/proc/{pid}/fd/{descriptor}") == target:  # noqa: PTH115
                    return "open"
            except OSError:
                continue
    except OSError:
        pass
    return ""
