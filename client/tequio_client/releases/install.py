"""Installs a bundle beside what is there: what is missing is fetched, tried out, then switched to.

The new folder grows under another name and gets its own when it is complete and on the disk, so a
power cut, a full disk or a lost connection leaves the old version in place; the next attempt goes
on with the chunks that arrived. Files equal to those of an installed version are linked to them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import psutil

from tequio_client import files
from tequio_client.names import clean_text
from tequio_client.platform import child, programs, versions
from tequio_client.platform.bundle import (
    CHUNK_BYTES,
    MANIFEST,
    Bundle,
    BundledFile,
    Chunk,
    decode_bundle,
)
from tequio_shared.errors import MalformedError, UserFacingError

_DOWNLOADS = 4
_MARGIN_BYTES = 256 << 20
"""Disk left free."""
_SELFTEST_S = 3600
_HUNG_S = 180
"""A self-test that gets less than `_WORK_S` of processor time for this long has hung."""
_WORK_S = 0.5
_POLL_S = 0.5

Progress = Callable[[int, int], None]
"""Called with bytes fetched so far and bytes in all, as they lie on the mirror."""
FetchChunk = Callable[[Chunk], bytes]


class InstallError(UserFacingError):
    """A version could not be installed; what was installed before is untouched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Chunks to be fetched for a bundle, and the space that they take."""

    places: dict[Chunk, list[tuple[Path, int]]] = field(repr=False)
    """Where each chunk belongs: files, and offsets in bytes."""
    disk_bytes: int
    """Bytes to be written, those of copies included."""

    @property
    def download_bytes(self) -> int:
        return sum(chunk.stored for chunk in self.places)


def install(bundle: Bundle, fetch: FetchChunk, progress: Progress) -> Path:
    """Install a bundle, and try it out; return its folder.

    Raises InstallError, and what `fetch` raises.
    """
    target = versions.folder_of(bundle.part, bundle.version)
    if installed_bundle(target) == bundle:
        return target
    partial = _partial(target)
    download(bundle, fetch, progress)
    with disk_errors_explained():
        _finish_files(bundle, partial)
        _try_out(bundle, partial)
        files.write_private(partial / MANIFEST, bundle.encode())
        if target.exists():  # another bundle of this version, such as one for another card
            _remove(target)
        files.sync_and_rename_folder(partial, target)
    return target


def download(bundle: Bundle, fetch: FetchChunk, progress: Progress) -> None:
    """Complete the bytes of a bundle beside what is installed, and start none of its programs.

    `install` goes on from there; it reads those bytes again, and checks them. Raises InstallError,
    and what `fetch` raises.
    """
    target = versions.folder_of(bundle.part, bundle.version)
    if installed_bundle(target) == bundle:
        return
    partial = _partial(target)
    with disk_errors_explained():
        _drop_foreign_files(partial, bundle)
        missing = _fill_from_disk(bundle, partial)
        _check_space(missing, partial)
    _fetch_missing(missing, fetch, progress)


@contextlib.contextmanager
def disk_errors_explained() -> Iterator[None]:
    """Raise InstallError for what goes wrong while the block changes files of the data folder."""
    try:
        yield
    except OSError as err:
        raise InstallError(
            f"cannot write to {versions.data_folder()} ({err.strerror or err}): free some space, "
            "or make it writable. What arrived is kept"
        ) from err


def bytes_to_fetch(bundle: Bundle) -> int:
    """Estimate the download, without what installed versions and an earlier attempt have.

    Reads the files of the running program that may be the same.
    """
    installed = {file.chunks for _, other in _installed_bundles() for file in other.files}
    fresh: dict[str, Chunk] = {}
    for file in bundle.files:
        if file.chunks not in installed and not _has_chunks(_running_folder() / file.path, file):
            fresh |= {chunk.digest: chunk for chunk in file.chunks}
    partial = _partial(versions.folder_of(bundle.part, bundle.version))
    arrived = sum(
        getattr(path.stat(), "st_blocks", 0) * 512  # of a file with holes; not known on Windows
        for path in partial.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    size = sum(chunk.size for chunk in fresh.values())
    stored = sum(chunk.stored for chunk in fresh.values())
    return int(stored * max(size - arrived, 0) / size) if size else 0


def installed_bundle(folder: Path) -> Bundle | None:
    """Return the manifest of an installed version; None if there is none."""
    try:
        return decode_bundle((folder / MANIFEST).read_bytes())
    except (OSError, MalformedError):
        return None


def _partial(target: Path) -> Path:
    """Return the folder that grows until it is complete; no version has its name."""
    return target.with_name(f".{target.name}{versions.PARTIAL}")


def _running_folder() -> Path:
    """Return the folder of the running program: a package of the system has no manifest."""
    return Path(sys.executable).parent


def _installed_bundles() -> Iterator[tuple[Path, Bundle]]:
    for part in versions.PROGRAMS:
        for version in versions.installed(part):
            folder = versions.folder_of(part, version)
            if (found := installed_bundle(folder)) is not None:
                yield folder, found


def _drop_foreign_files(partial: Path, bundle: Bundle) -> None:
    """Keep what an earlier attempt left, whatever it was: chunks are told by their hashes."""
    wanted = {file.path: file for file in bundle.files}
    partial.mkdir(parents=True, exist_ok=True)
    for path in sorted(partial.rglob("*"), reverse=True):
        name = path.relative_to(partial).as_posix()
        if path.is_dir() and not path.is_symlink():
            with contextlib.suppress(OSError):
                path.rmdir()  # an empty one
        elif name not in wanted or path.is_symlink():
            path.unlink()
        elif path.stat().st_nlink > 1 and not _has_chunks(path, wanted[name]):
            path.unlink()  # it is a file of an installed version, too, which must not change


def _fill_from_disk(bundle: Bundle, partial: Path) -> Missing:
    """Take what installed versions and an earlier attempt have. Reads those bytes once."""
    known = {
        file.chunks: folder / file.path
        for folder, other in _installed_bundles()
        for file in other.files
    }
    own = _running_folder()
    places: dict[Chunk, list[tuple[Path, int]]] = {}
    disk_bytes = 0
    for file in bundle.files:
        path = partial / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.link:
            continue
        same = known.get(file.chunks)
        if same is not None and not path.exists() and _has_chunks(same, file):
            _link_or_copy(same, path)
        elif not path.exists() and _has_chunks(own / file.path, file):
            shutil.copyfile(own / file.path, path)
        for chunk, offset in _missing_chunks(path, file):
            places.setdefault(chunk, []).append((path, offset))
            disk_bytes += chunk.size
    return Missing(places=places, disk_bytes=disk_bytes)


def _missing_chunks(path: Path, file: BundledFile) -> Iterator[tuple[Chunk, int]]:
    path.touch()
    with path.open("r+b") as there:
        there.truncate(min(file.size, there.seek(0, os.SEEK_END)))
        for at, chunk in enumerate(file.chunks):
            there.seek(at * CHUNK_BYTES)
            if sha256(there.read(chunk.size)).hexdigest() != chunk.digest:
                yield chunk, at * CHUNK_BYTES


def _has_chunks(path: Path, file: BundledFile) -> bool:
    try:
        if path.stat().st_size != file.size:
            return False
        with path.open("rb") as there:
            return all(
                sha256(there.read(chunk.size)).hexdigest() == chunk.digest for chunk in file.chunks
            )
    except OSError:
        return False


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _check_space(missing: Missing, partial: Path) -> None:
    free = shutil.disk_usage(partial).free
    needed = missing.disk_bytes + _MARGIN_BYTES
    if free < needed:
        raise InstallError(
            f"{needed / 1e9:.1f} GB of disk are needed in {partial.parent}, and "
            f"{free / 1e9:.1f} GB are free: free some space, and try again"
        )


def _fetch_missing(missing: Missing, fetch: FetchChunk, progress: Progress) -> None:
    total, done = missing.download_bytes, 0
    progress(done, total)
    waiting = iter(missing.places)
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        running = {pool.submit(fetch, one): one for one in islice(waiting, _DOWNLOADS)}
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    chunk = running.pop(future)
                    _write(missing.places[chunk], future.result())
                    done += chunk.stored
                    progress(done, total)
                    for following in islice(waiting, 1):
                        running[pool.submit(fetch, following)] = following
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@disk_errors_explained()
def _write(places: list[tuple[Path, int]], plain: bytes) -> None:
    for path, offset in places:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(plain)


def _finish_files(bundle: Bundle, partial: Path) -> None:
    for file in bundle.files:
        path = partial / file.path
        if file.link:
            path.unlink(missing_ok=True)
            path.symlink_to(file.link)
        elif os.name == "posix":
            mode = 0o755 if file.is_program else 0o644
            if path.stat().st_mode & 0o777 != mode:
                path.chmod(mode)


def _try_out(bundle: Bundle, folder: Path) -> None:
    """Run the new program's self-test. Raises InstallError."""
    program = str(folder / versions.PROGRAMS[bundle.part])
    command = (program, *programs.selftest(bundle.part, bundle.accelerator))
    try:
        problem = _failure_of(command)
    except OSError as err:
        problem = str(err)
    if problem:
        raise InstallError(
            f"{bundle.part} {bundle.version} does not work on this computer "
            f"({clean_text(problem, 300)}): the version that is there stays"
        )


def _failure_of(command: tuple[str, ...]) -> str:
    """Run a self-test; return why it failed, empty if it did not. Raises OSError."""
    with TemporaryDirectory() as caches, TemporaryFile() as errors:
        environ = os.environ | {"XDG_CACHE_HOME": caches}
        with subprocess.Popen(  # noqa: S603 - a program whose every byte was signed
            command, stdout=subprocess.DEVNULL, stderr=errors, env=environ
        ) as program:
            child.end_with_us(program.pid)
            status = _wait(program)
        if status is None:
            return "its self-test hangs"
        errors.seek(0)
        lines = errors.read().decode(errors="replace").splitlines() if status else []
    last = next((one for one in reversed(lines) if one.strip()), "no reason")
    return last if status else ""


def _wait(program: subprocess.Popen[bytes]) -> int | None:
    """Wait for the end of a program; one that has hung is killed, and has no exit status.

    By the processor time that it gets: on a busy computer a minute of it takes long.
    """
    used_s, worked_at = 0.0, time.monotonic()
    until = worked_at + _SELFTEST_S
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return program.wait(_POLL_S)
        now, now_used_s = time.monotonic(), _processor_s(program.pid)
        if now_used_s > used_s + _WORK_S:
            used_s, worked_at = now_used_s, now
        if now > min(worked_at + _HUNG_S, until):
            program.kill()
            return None


def _processor_s(pid: int) -> float:
    """Measure the processor time of a program and its children."""
    with contextlib.suppress(psutil.Error):
        program = psutil.Process(pid)
        return sum(sum(one.cpu_times()[:4]) for one in (program, *program.children(recursive=True)))
    return 0.0


def _remove(folder: Path) -> None:
    """Remove a version at once as far as its name goes, then its files."""
    away = folder.with_name(f".{folder.name}{versions.REMOVED}")
    shutil.rmtree(away, ignore_errors=True)
    folder.rename(away)
    shutil.rmtree(away, ignore_errors=True)
