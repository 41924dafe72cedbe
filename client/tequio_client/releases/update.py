"""Decides what to fetch: the runtime that this version needs, or a newer version of the app.

A newer app brings the runtime of its version if this one has a runtime: both are complete and tried
out before the next start changes. Nothing here restarts a program.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from tequio_client import files
from tequio_client.ipc.facts import ProbeInstructions
from tequio_client.ipc.releases import Fetching, Offer
from tequio_client.platform import versions
from tequio_client.platform.bundle import Accelerator, Bundle, Chunk, this_system
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tequio_client.platform.versions import NETWORKS, Part
from tequio_client.probe.sources import sources
from tequio_client.releases.chunk_sources import ChunkSources, paced, peer_sources
from tequio_client.releases.install import (
    bytes_to_fetch,
    disk_errors_explained,
    download,
    install,
    installed_bundle,
)
from tequio_client.releases.log_check import LedgerChoice, check_list
from tequio_client.releases.mirror import Mirrors, read_trust
from tequio_client.runtime import locked
from tequio_shared.errors import UserFacingError
from tequio_shared.version import BUILD, version_number

ACCELERATORS: tuple[Accelerator, ...] = ("cpu", "cuda", "rocm", "xpu", "mps")
BYTES_PER_MBIT = 125_000
_NETWORKS_BYTES = 256 << 10
_REPORT_S = 0.2
Report = Callable[[Fetching], None]


class ReleaseMissingError(UserFacingError):
    """The maintainers published no such bundle."""


class Releases:
    """Releases for this computer, checked once when opened."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors
        self.system = this_system()

    def save_networks(self) -> None:
        """Keep the signed list of networks to propose. Raises MirrorError and InstallError."""
        content = self._mirrors.target(NETWORKS, _NETWORKS_BYTES)
        if content is not None:
            with disk_errors_explained():
                files.write_private(versions.releases_folder() / NETWORKS, content)

    def offer_update(self) -> tuple[Offer, list[Bundle]]:
        """Offer the newest version; no bundles if this is the newest.

        Raises MirrorError and ReleaseMissingError.
        """
        newest = self._mirrors.newest_version()
        if version_number(newest) <= version_number(BUILD):
            return Offer(version=BUILD, installed=BUILD), []
        own = installed_bundle(versions.folder_of("runtime", BUILD))
        runtime = [self._runtime(newest, own.accelerator)] if own else []
        bundles = [*runtime, self._bundle(newest, "app")]
        return _offer(newest, bundles), bundles

    def offer_runtime(self, accelerator: Accelerator | None) -> tuple[Offer, list[Bundle]]:
        """Offer the runtime of this version; None takes the one for this computer's cards.

        Raises MirrorError and ReleaseMissingError.
        """
        bundle = self._runtime(BUILD, accelerator)
        return _offer(BUILD, [bundle]), [bundle]

    def download(self, bundles: list[Bundle], report: Report, most_mbit: float | None) -> None:
        """Fetch at most so fast, and start nothing. Raises InstallError and MirrorError."""
        fetch: Callable[[Chunk], bytes] = self._sources().fetch
        if most_mbit:
            fetch = paced(fetch, most_mbit * BYTES_PER_MBIT)
        for bundle in bundles:
            download(bundle, fetch, _reporter(bundle.part, report))

    def install(self, bundles: list[Bundle], report: Report) -> None:
        """Install in this order, the app last. Raises InstallError and MirrorError."""
        sources = self._sources()
        for bundle in bundles:
            install(bundle, sources.fetch, _reporter(bundle.part, report))
            if bundle.part == "app":
                with disk_errors_explained():
                    versions.switch_to(bundle.version, running=BUILD)

    def _sources(self) -> ChunkSources:
        return ChunkSources([*self._mirrors.sources(), *peer_sources()])

    def _runtime(self, version: str, accelerator: Accelerator | None) -> Bundle:
        if accelerator is not None:
            return self._bundle(version, "runtime", accelerator)
        best = detect_accelerator()
        with contextlib.suppress(ReleaseMissingError):
            return self._bundle(version, "runtime", best)
        return self._bundle(version, "runtime", "cpu")

    def _bundle(self, version: str, part: Part, accelerator: Accelerator = "") -> Bundle:
        found = self._mirrors.bundle(version, part, self.system, accelerator)
        if found is None:
            what = f"{part} {version} for {self.system} {accelerator}".rstrip()
            raise ReleaseMissingError(f"there is no {what}: the maintainers published none")
        return found


@contextmanager
def open_releases(ledger: LedgerChoice) -> Iterator[Releases]:
    """Check the signed list, with the data folder locked: one program fetches at a time.

    Raises NoReleasesError, MirrorError, ListDiffersError and UserFacingError.
    """
    trust, folder = read_trust(), versions.releases_folder()
    with locked(folder):
        mirrors = Mirrors(trust, folder / "metadata")
        mirrors.refresh()
        check_list(mirrors.list_in_use(), ledger)
        yield Releases(mirrors)


def detect_accelerator() -> Accelerator:
    """Find the kind of the best card here, as runtimes are named; `cpu` if there is none."""
    kinds = set()
    for source in sources(Path("/sys"), Path("/proc")).cards:
        with contextlib.suppress(AbsentError, NoAnswerError, OSError):
            for card in source.read(ProbeInstructions()).gpus:
                kind = card.id.partition(":")[0]
                kinds.add("rocm" if kind == "cuda" and source.name != "nvml" else kind)
    order = ("cuda", "rocm", "xpu", "mps")
    return cast("Accelerator", next((one for one in order if one in kinds), "cpu"))


def _offer(version: str, bundles: list[Bundle]) -> Offer:
    sizes: dict[Part, int] = {one.part: bytes_to_fetch(one) for one in bundles}
    return Offer(
        version=version,
        installed=BUILD,
        accelerator=next((one.accelerator for one in bundles if one.accelerator), ""),
        app_bytes=sizes.get("app", 0),
        runtime_bytes=sizes.get("runtime", 0),
        disk_bytes=sum(one.size for one in bundles),
        was_skipped=version in versions.state().skipped,
    )


def _reporter(part: Part, report: Report) -> Callable[[int, int], None]:
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done in (0, total) or now - last >= _REPORT_S:
            last = now
            report(Fetching(part=part, done=done, total=total))

    return progress
