"""Windows' rules for files, on Linux: what is open or mapped is neither moved nor deleted.

Python opens files on Windows without sharing their deletion, so `os.replace`, `os.rename` and
`os.unlink` fail with WinError 32 while this process has the file, or one in the folder, open or
mapped; `os.rename` does not replace. Here, calls that our own code makes follow these rules.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = ("tequio_client", "tequio_shared")
"""The ledger runs on Linux alone."""
_BETWEEN = ("pathlib", "shutil", "tempfile", "tests.support.windows_rules", "contextlib")


@contextmanager
def windows_rules() -> Iterator[None]:
    """Follow the rules in this block: PermissionError and FileExistsError, as on Windows."""
    with (
        mock.patch.object(os, "replace", _guarded(os.replace, targets=2)),
        mock.patch.object(os, "rename", _guarded(os.rename, targets=2, may_replace=False)),
        mock.patch.object(os, "unlink", _guarded(os.unlink, targets=1)),
        mock.patch.object(os, "remove", _guarded(os.remove, targets=1)),
    ):
        yield


def _guarded(
    call: Callable[..., None], *, targets: int, may_replace: bool = True
) -> Callable[..., None]:
    def guarded(*paths: Any, **more: Any) -> None:  # noqa: ANN401 - as the call's own
        if _is_ours() and not any(more.values()):
            for path in paths[:targets]:
                if use := _use(path):
                    raise PermissionError(errno.EACCES, f"WinError 32: it is {use}", str(path))
            if not may_replace and os.path.lexists(paths[1]):
                raise FileExistsError(errno.EEXIST, "WinError 183", str(paths[1]))
        call(*paths, **more)

    return guarded


def _is_ours() -> bool:
    """Return whether our own code makes the call, directly or by the standard library."""
    frame = sys._getframe(2)  # noqa: SLF001 - the fastest way, for each call
    while frame.f_back is not None and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] in OURS


def _use(path: Any) -> str:  # noqa: ANN401 - as os takes it
    """How this process has the file, or one in the folder, in use; empty: not at all."""
    try:
        target = str(Path(os.fsdecode(path)).absolute())
    except (TypeError, OSError):
        return ""
    if not os.path.lexists(target):
        return ""
    folder = target + "/"
    for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names alone
        try:
            opened = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - as above
        except OSError:
            continue
        if opened == target or opened.startswith(folder):
            return f"open as {opened}"
    with Path("/proc/self/maps").open() as maps:
        for line in maps:
            _, _, mapped = line.rstrip().partition("/")
            if mapped and (f"/{mapped}" == target or f"/{mapped}".startswith(folder)):
                return f"mapped as /{mapped}"
    return ""
