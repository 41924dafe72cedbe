"""Durable files and folders: complete or absent, also after a power cut.

Content is written and synced under another name in the same folder and then renamed; the folder is
synced so that the rename survives too. Elsewhere than on POSIX a folder cannot be opened, and
renames are ordered.

Windows neither moves, replaces nor deletes a file that another program has open, as virus scanners
and the search index do with every new file for a moment. So `move`, `delete` and the functions that
use them try again for about a second; they block. All functions raise OSError unless stated
otherwise.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, overload

from tequio_shared import encoding
from tequio_shared.errors import UserFacingError

T = TypeVar("T")
PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Pauses between the tries while another program has a file open."""
_IN_USE = (5, 32, 33)
"""Windows' access denied (also: deletion pending), sharing violation and lock violation."""
_PRIVATE = 0o600
_SHARED = 0o666  # less the process's umask, as any new file


@overload
def read_record(path: Path, type_: type[T], most_bytes: int = -1) -> T | None: ...


@overload
def read_record(path: Path, type_: object, most_bytes: int = -1) -> Any: ...  # noqa: ANN401


def read_record(path: Path, type_: object, most_bytes: int = -1) -> object:
    """Read a file of JSON; None without one. Raises OSError, and MalformedError for damage.

    A file of more than `most_bytes` counts as damaged.
    """
    try:
        with path.open("rb") as file:
            return encoding.read(file.read(most_bytes), type_)
    except FileNotFoundError:
        return None


def write_private(path: Path, content: bytes) -> None:
    """Replace a file that only its owner can read; durable on return.

    Raises UserFacingError if a device or a pipe is there.
    """
    _write(path, content, _PRIVATE)


def write_for_user(path: Path, content: bytes) -> None:
    """Replace a file; durable on return. Raises UserFacingError that says what to do."""
    try:
        _write(path, content, _SHARED)
    except OSError as err:
        raise UserFacingError(
            f"cannot write {path} ({err.strerror}): free some space, or choose another --dir"
        ) from err


def sync_and_rename(source: Path, target: Path, *, mode: int | None = None) -> None:
    """Sync a written file, then move it to its name in place of what is there.

    The mode is set before the move: once the file has its name, another thread may delete it.
    """
    with source.open("r+b") as file:
        sync(file)
    if mode is not None:
        source.chmod(mode)
    move(source, target)
    sync_folder(target.parent)


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """Yield a path whose file replaces `path` when the block ends without an exception.

    Raises UserFacingError if a device or a pipe is there.
    """
    _check_replaceable(path)
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        move(part, path)
    finally:
        with suppress(OSError):
            delete(part)


def sync_and_rename_folder(source: Path, target: Path) -> None:
    """Sync every file in a written folder, then rename it, over an empty folder if need be."""
    for path in (*source.rglob("*"), source):
        if path.is_dir():
            sync_folder(path)
        else:
            # Windows flushes only what is open for writing.
            _sync_path(path, os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY)
    if target.exists():
        target.rmdir()
    _patiently(lambda: source.rename(target))
    sync_folder(target.parent)


def move(source: Path, target: Path) -> None:
    """Rename a file in the same file system, in place of what is there."""
    _patiently(lambda: source.replace(target))


def delete(path: Path) -> None:
    """Delete a file if it exists, also one that may only be read."""
    _patiently(partial(delete_at_once, path))


def delete_at_once(path: Path) -> None:
    """Delete a file as `delete` does, in a single try."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        path.chmod(_PRIVATE)  # Windows deletes no read-only file
        path.unlink(missing_ok=True)


def allocated_bytes(path: str) -> int:
    """Count how much of the disk a file takes; where Windows does not tell this, its length."""
    found = os.lstat(path)
    blocks = getattr(found, "st_blocks", None)
    return found.st_size if blocks is None else blocks * 512


def folder_bytes(folder: Path) -> int:
    """Count how much of the disk the files below a folder take, as far as they can be listed."""
    return sum(size for _, size in sizes_below(folder, lambda _: None))


def sizes_below(folder: Path, on_error: Callable[[OSError], object]) -> Iterator[tuple[int, int]]:
    """Count the entries, and the bytes of the files, in a folder and in each one below it.

    `on_error` gets the error of a folder that cannot be listed, which is left out.
    """
    # Not os.walk: until Python 3.12 it calls itself for each folder, and strangers' go deep.
    places = [str(folder)]
    while places:
        try:
            entries = list(os.scandir(places.pop()))
        except OSError as err:
            on_error(err)
            continue
        size = 0
        for entry in entries:
            with suppress(OSError):  # deleted meanwhile
                if entry.is_dir(follow_symlinks=False):
                    places.append(entry.path)
                else:
                    size += allocated_bytes(entry.path)
        yield len(entries), size


def empty_folder(folder: Path) -> None:
    """Delete what is in a folder that strangers' code wrote into, whatever it left there.

    Folders are moved up into `folder` itself before they are opened, so that no path grows beyond
    what the system takes, however deep they lie, and a call that is cut off leaves nothing outside.
    """
    while found := _delete_files(folder):
        for one in found:
            for below in _delete_files(one):
                _patiently(partial(below.rename, folder / secrets.token_hex(16)))
            one.rmdir()


def delete_folder(folder: Path) -> None:
    """Delete a folder, if it exists, with what `empty_folder` deletes."""
    if folder.exists():
        empty_folder(folder)
        folder.rmdir()


def _delete_files(folder: Path) -> list[Path]:
    """Delete the files of a folder; returns its folders, which can be moved and opened then."""
    folders = []
    for entry in list(os.scandir(folder)):
        path = Path(entry.path)
        # Windows' junctions are folders too, but what they lead to is not ours to delete.
        is_link = getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0)
        if is_link or not entry.is_dir(follow_symlinks=False):
            delete(path)
            continue
        path.chmod(0o700)  # what its owner may not write to is neither moved nor listed
        folders.append(path)
    return folders


def sync(file: IO[bytes]) -> None:
    file.flush()
    _sync_handle(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    if os.name == "posix":
        _sync_path(folder, os.O_RDONLY)


def _write(path: Path, content: bytes, mode: int) -> None:
    _check_replaceable(path)
    fresh = path.with_name(f"{path.name}.new")
    delete(fresh)  # left by a run that was cut off, perhaps with another mode

    def open_with_mode(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with _patiently(lambda: open(fresh, "xb", opener=open_with_mode)) as file:
        if mode == _PRIVATE:
            _close_to_others(fresh)
        file.write(content)
    sync_and_rename(fresh, path)


def _check_replaceable(path: Path) -> None:
    # A rename would put a file in the place of /dev/null for every program.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UserFacingError(f"{path} is not a file: choose another")


def _sync_path(path: Path, how: int) -> None:
    handle = os.open(path, how)
    try:
        _sync_handle(handle)
    finally:
        os.close(handle)


def _sync_handle(handle: int) -> None:
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            # On macOS fsync leaves the content in the disk's own memory.
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError:  # a file system without it, such as a network's
            os.fsync(handle)
        return
    os.fsync(handle)


def _patiently(call: Callable[[], T]) -> T:
    """Call again for about a second while Windows says that another program has the file open."""
    for pause_s in PAUSES_S:
        try:
            return call()
        except PermissionError as err:
            if getattr(err, "winerror", None) not in _IN_USE:
                raise
        time.sleep(pause_s)
    return call()


# Windows' access lists, in place of modes: aclapi.h, sddl.h, winnt.h.

_TOKEN_QUERY, _TOKEN_USER = 0x8, 1
_SDDL_REVISION, _ACCESS_LIST = 1, 0x4
_MOST_TOKEN_BYTES = 256


def _close_to_others(path: Path) -> None:
    """On Windows, let only this user and the system open the file, whatever its folder allows.

    A volume without access lists keeps the file as it is: the folder has to be one's own.
    """
    if sys.platform == "win32":
        advapi32 = ctypes.WinDLL("advapi32")
        local_free = ctypes.WinDLL("kernel32").LocalFree
        local_free.argtypes = (ctypes.c_void_p,)
        rules, descriptor = f"D:P(A;;FA;;;SY)(A;;FA;;;{_user_sid()})", ctypes.c_void_p()
        convert = advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW
        convert.argtypes = (ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
        if not convert(rules, _SDDL_REVISION, ctypes.byref(descriptor), None):
            raise OSError("Windows refused the access list of a private file")
        advapi32.SetFileSecurityW.argtypes = (ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_void_p)
        advapi32.SetFileSecurityW(str(path), _ACCESS_LIST, descriptor)
        local_free(descriptor)


def _user_sid() -> str:
    """Windows' name of the user who runs this process, such as S-1-5-21-…; raises OSError."""
    if sys.platform == "win32":
        advapi32, kernel32 = ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")
        pointer, number = ctypes.c_void_p, ctypes.c_uint32
        kernel32.GetCurrentProcess.restype = pointer
        kernel32.CloseHandle.argtypes = kernel32.LocalFree.argtypes = (pointer,)
        advapi32.OpenProcessToken.argtypes = (pointer, number, pointer)
        advapi32.GetTokenInformation.argtypes = (pointer, ctypes.c_int, pointer, number, pointer)
        advapi32.ConvertSidToStringSidW.argtypes = (pointer, pointer)
        token, text, size = pointer(), ctypes.c_wchar_p(), number()
        process = kernel32.GetCurrentProcess()
        if not advapi32.OpenProcessToken(process, _TOKEN_QUERY, ctypes.byref(token)):
            raise OSError("OpenProcessToken failed")
        # TOKEN_USER begins with a pointer to the SID, which lies behind it.
        user = (pointer * (_MOST_TOKEN_BYTES // ctypes.sizeof(pointer)))()
        is_known = advapi32.GetTokenInformation(
            token, _TOKEN_USER, user, ctypes.sizeof(user), ctypes.byref(size)
        )
        kernel32.CloseHandle(token)
        if not is_known or not advapi32.ConvertSidToStringSidW(user[0], ctypes.byref(text)):
            raise OSError("Windows does not name the user of this process")
        name = text.value or ""
        kernel32.LocalFree(ctypes.cast(text, pointer))
        return name
    return ""
