"""Signed releases, read from any mirror with The Update Framework (TUF 1.0).

A build carries the maintainers' first root metadata and addresses of mirrors (`ReleaseTrust`).
python-tuf checks signatures and thresholds, expiry (a mirror that stands still) and versions (a
mirror that goes back), and keeps what it has seen in the data folder. Mirrors are asked in order.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from queue import Empty, Full, Queue

import urllib3
from tuf.api import exceptions
from tuf.api.metadata import Metadata, Targets
from tuf.ngclient import Updater
from tuf.ngclient.urllib3_fetcher import Urllib3Fetcher

from tequio_client.platform import versions
from tequio_client.platform.bundle import (
    MANIFEST_BYTES,
    Accelerator,
    Bundle,
    Chunk,
    decode_bundle,
    target_name,
    unpack_chunk,
)
from tequio_client.platform.versions import Part
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, sha256
from tequio_shared.version import BUILD, version_number

NEWEST = "newest.txt"
"""Target that names the version to update to."""
METADATA_BYTES = 5_000_000
"""Most bytes of a file of metadata, as python-tuf has it."""
IsLate = Callable[[], bool]
"""Tells that what is being fetched should come from elsewhere."""
_LEAST_RATE = 8 << 10  # bytes a second, below which another mirror is better
_PATIENCE_S = 30
_LOOK_S = 0.2
_PARTS = 4
"""Parts of an answer that may wait to be used."""


class NoReleasesError(UserFacingError):
    """The program was not built for any release."""


class MirrorError(UserFacingError):
    """No mirror gives what is asked for; what is installed is untouched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTrust:
    """The root that the maintainers signed, as bytes of TUF metadata, and addresses of mirrors."""

    root: bytes
    mirrors: tuple[str, ...]


def read_trust() -> ReleaseTrust:
    """Read what this build was given; raises NoReleasesError."""
    folder = versions.trust_folder()
    try:
        root = (folder / "root.json").read_bytes()
        mirrors = encoding.read((folder / "mirrors.json").read_bytes(), list[str])
    except (OSError, MalformedError) as err:
        raise NoReleasesError(
            "this build of Tequio does not come from a release, so it cannot fetch one: update it "
            "the way it was installed, for example with git, pip or the system's packages"
        ) from err
    return ReleaseTrust(root=root, mirrors=tuple(one.rstrip("/") + "/" for one in mirrors))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseList:
    """One version of the signed list, as the logs of networks name it."""

    version: int
    hash: Digest
    """SHA-256 of the file."""

    @classmethod
    def parse(cls, content: bytes) -> ReleaseList:
        """Read a file of TUF targets metadata, whose signatures are not checked here.

        Raises MalformedError.
        """
        try:
            signed = Metadata[Targets].from_bytes(content).signed
        except exceptions.RepositoryError as err:
            raise MalformedError(f"not TUF metadata: {err}") from err
        if not isinstance(signed, Targets):
            raise MalformedError(f"TUF metadata of the role {signed.type}, not targets")
        return cls(version=signed.version, hash=sha256(content))


class Mirrors:
    """The signed list of one network of mirrors; `refresh` comes first."""

    def __init__(self, trust: ReleaseTrust, folder: Path) -> None:
        """`folder` keeps the metadata that was seen; it is made if need be."""
        self._trust, self._folder = trust, folder
        self._updater: Updater | None = None
        self._order = list(trust.mirrors)

    def refresh(self) -> None:
        """Fetch and check the newest list. Raises MirrorError."""
        problems = []
        for mirror in self._trust.mirrors:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                updater = Updater(
                    metadata_dir=str(self._folder),
                    metadata_base_url=mirror + "metadata/",
                    target_base_url=mirror + "targets/",
                    fetcher=_MirrorFetcher(),
                    bootstrap=self._trust.root,
                )
                updater.refresh()
            except (exceptions.RepositoryError, exceptions.DownloadError, OSError) as err:
                problems.append(_explain(mirror, err))
                continue
            self._updater = updater
            self._order.sort(key=lambda one: one != mirror)
            return
        raise MirrorError("; ".join(problems) or "no mirror of releases is known")

    def list_in_use(self) -> ReleaseList:
        """Describe the list that was fetched and checked."""
        return ReleaseList.parse((self._folder / "targets.json").read_bytes())

    def newest_version(self) -> str:
        """Raises MirrorError."""
        content = self.target(NEWEST, 64)
        version = (content or b"").decode("ascii", "replace").strip()
        try:
            version_number(version)
        except MalformedError as err:
            raise MirrorError(f"the signed list of releases names no version: {err}") from err
        return version

    def bundle(
        self, version: str, part: Part, system: str, accelerator: Accelerator = ""
    ) -> Bundle | None:
        """Fetch a manifest; None if there is none of this kind. Raises MirrorError."""
        name = target_name(version, part, system, accelerator)
        content = self.target(name, MANIFEST_BYTES)
        try:
            found = decode_bundle(content) if content is not None else None
        except MalformedError as err:
            raise MirrorError(f"the signed manifest {name} cannot be used: {err}") from err
        if found is not None and found.target != name:
            raise MirrorError(f"the signed manifest {name} describes {found.target}")
        return found

    def target(self, name: str, most_bytes: int) -> bytes | None:
        """Fetch a signed file, which must be small; None if there is none of this name.

        Raises MirrorError.
        """
        if self._updater is None:
            raise RuntimeError("the list was not refreshed")
        problems = []
        for mirror in self._order:
            try:
                info = self._updater.get_targetinfo(name)
                if info is None:
                    return None
                if info.length > most_bytes:
                    raise MirrorError(f"{name} has {info.length} bytes; {most_bytes} at most")
                with tempfile.TemporaryDirectory() as folder:
                    path = self._updater.download_target(
                        info, str(Path(folder) / "target"), mirror + "targets/"
                    )
                    return Path(path).read_bytes()
            except (exceptions.RepositoryError, exceptions.DownloadError, OSError) as err:
                problems.append(_explain(mirror, err))
        raise MirrorError("; ".join(problems))

    def sources(self) -> list[ChunkMirror]:
        """List the mirrors as sources of chunks, the one that gave the list first."""
        return [ChunkMirror(one) for one in self._order]


class ChunkMirror:
    """Chunks on one mirror; any thread may fetch."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._threads = threading.local()

    def fetch(self, chunk: Chunk, is_late: IsLate) -> bytes:
        """Fetch the plain bytes of a chunk, checked. Raises MirrorError."""
        if not hasattr(self._threads, "fetcher"):  # one each: it keeps one connection
            self._threads.fetcher = _MirrorFetcher()
        fetcher: _MirrorFetcher = self._threads.fetcher
        fetcher.is_late = is_late
        try:
            stored = fetcher.download_bytes(self._url + chunk.url, chunk.stored)
            return unpack_chunk(chunk, stored)
        except (exceptions.DownloadError, MalformedError, OSError) as err:
            raise MirrorError(_explain(self._url, err)) from err


def fetch_metadata(url: str) -> bytes:
    """Fetch one file of metadata, unverified. Raises MirrorError."""
    try:
        return bytes(_MirrorFetcher().download_bytes(url, METADATA_BYTES))
    except exceptions.DownloadError as err:
        raise MirrorError(_explain(url, err)) from err


class _MirrorFetcher(Urllib3Fetcher):
    """Gives up on a mirror that trickles, and turns every error of HTTP into a DownloadError.

    Redirects are not followed: a mirror could send every computer to its own network, and what it
    sends along with one is read to its end.
    """

    def __init__(self) -> None:
        super().__init__(_PATIENCE_S, app_user_agent=f"tequio/{BUILD}")
        self.is_late: IsLate = lambda: False

    def _fetch(self, url: str) -> Iterator[bytes]:
        transfer = _Transfer(partial(self._open, url), self.chunk_size)
        until = time.monotonic() + _PATIENCE_S
        try:
            while part := transfer.receive(until, self.is_late):
                until += len(part) / _LEAST_RATE
                yield part
        except urllib3.exceptions.HTTPError as err:
            slow, other = exceptions.SlowRetrievalError, exceptions.DownloadError
            raise (slow if _is_timeout(err) else other)(str(err)) from err
        finally:
            transfer.give_up()

    def _open(self, url: str) -> urllib3.BaseHTTPResponse:
        timeout = urllib3.Timeout(self.socket_timeout)
        answer = self._proxy_env.request(
            "GET", url, preload_content=False, redirect=False, timeout=timeout
        )
        if answer.status != HTTPStatus.OK:
            answer.close()
            raise exceptions.DownloadHTTPError(f"HTTP status {answer.status}", answer.status)
        return answer


class _Transfer:
    """Reads an answer in a thread of its own, to be left when it is late.

    urllib3 limits each wait for bytes, and not their sum: a head that trickles, or trailers without
    end, would keep it reading as long as the mirror likes. A thread that was left ends with the
    next part, or when the mirror ends.
    """

    def __init__(self, open_: Callable[[], urllib3.BaseHTTPResponse], part_bytes: int) -> None:
        self._open, self._part_bytes = open_, part_bytes
        self._parts = Queue[bytes | Exception](_PARTS)
        self._is_given_up = False
        self._answer: urllib3.BaseHTTPResponse | None = None
        threading.Thread(target=self._read, name="mirror", daemon=True).start()

    def receive(self, until_s: float, is_late: IsLate) -> bytes:
        """Wait for the next part; empty at the end. Raises DownloadError and urllib3's errors."""
        while time.monotonic() <= until_s and not is_late():
            with suppress(Empty):
                part = self._parts.get(timeout=_LOOK_S)
                if isinstance(part, Exception):
                    raise part
                return part
        raise exceptions.SlowRetrievalError("too slow")

    def give_up(self) -> None:
        """End the thread, at once unless it still waits for the answer's head."""
        self._is_given_up = True
        if self._answer is not None:
            with suppress(ValueError, RuntimeError, OSError):  # it has just ended
                self._answer.shutdown()

    def _read(self) -> None:
        end: bytes | Exception = b""
        try:
            self._answer = answer = self._open()
            try:
                while not self._is_given_up and (part := answer.read1(self._part_bytes)):
                    self._pass_on(part)
                answer.release_conn()
            finally:
                answer.close()
        except (exceptions.DownloadError, urllib3.exceptions.HTTPError) as err:
            end = err
        except OSError as err:
            end = exceptions.DownloadError(str(err))
        finally:
            self._pass_on(end)

    def _pass_on(self, part: bytes | Exception) -> None:
        while not self._is_given_up:
            with suppress(Full):
                self._parts.put(part, timeout=_LOOK_S)
                return


def _is_timeout(err: urllib3.exceptions.HTTPError) -> bool:
    why = err.reason if isinstance(err, urllib3.exceptions.MaxRetryError) else err
    # A connection that is refused is one of urllib3's timeouts.
    is_refused = isinstance(why, urllib3.exceptions.NewConnectionError)
    return isinstance(why, urllib3.exceptions.TimeoutError) and not is_refused


_EXPLANATIONS: tuple[tuple[type[Exception], str], ...] = (
    (
        exceptions.ExpiredMetadataError,
        "has not renewed its list of releases in time: it may stand still, or the clock of this "
        "computer may be wrong",
    ),
    (
        exceptions.BadVersionNumberError,
        "serves an older list of releases than was seen before, so it was refused",
    ),
    (
        exceptions.UnsignedMetadataError,
        "serves a list of releases that is not signed by the maintainers of Tequio",
    ),
    (exceptions.DownloadHTTPError, "does not have the file"),
    (exceptions.SlowRetrievalError, "does not answer, or is too slow"),
    (exceptions.DownloadLengthMismatchError, "serves damaged or exchanged files"),
    (exceptions.DownloadError, "cannot be reached"),
    (exceptions.RepositoryError, "serves damaged or exchanged files"),
    (MalformedError, "serves damaged or exchanged files"),
)


def _explain(mirror: str, error: Exception) -> str:
    for kind, what in _EXPLANATIONS:
        if isinstance(error, kind):
            return f"{mirror} {what}"
    return f"cannot keep what {mirror} serves ({error})"
