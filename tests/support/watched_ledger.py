"""A ledger behind a proxy of the test, watched by a monitor whose clock the test sets forward."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from tequio_ledger.monitor.alarms import Alarm
from tequio_ledger.monitor.mirror import Mirror
from tequio_ledger.monitor.remote import RemoteLedger
from tequio_ledger.monitor.watch import PUBLISHED_S, Watch
from tequio_shared.ids import Digest, from_text, sha256
from tequio_shared.network.genesis import Genesis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_ledger.monitor.alarms import Alarms
    from tequio_shared.log.policy import Policy

    Change = Callable[[str, bytes], bytes]


class InterceptedLedger(RemoteLedger):
    """A ledger behind a proxy that changes answers as the test asks, or does not find them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.change: Change = lambda _path, raw: raw
        self.withheld: tuple[str, ...] = ()
        """Beginnings of paths that are answered with 404."""

    def _get(self, path: str, most: int) -> bytes:
        asked = "/nothing-is-here" if path.startswith(self.withheld) else path
        return self.change(path, super()._get(asked, most))


def genesis_of(remote: RemoteLedger) -> Genesis:
    return Genesis.parse(from_text(remote.ask("/v1/network")["genesis"], None))


class SteadyClock:
    """The steady clock, which a test sets forward."""

    ahead_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s

    def slowed(self, change: Change) -> Change:
        """Let every checkpoint take as long as the watch waits for one."""

        def slow(path: str, raw: bytes) -> bytes:
            self.ahead_s += PUBLISHED_S if path == "/log/checkpoint" else 0.0
            return change(path, raw)

        return slow


def opened(
    remote: InterceptedLedger,
    folder: Path,
    alarms: Alarms,
    policy: Policy | None = None,
    *,
    steady_s: Callable[[], float] = time.monotonic,
    clock: Callable[[], int] = lambda: 1_800_000_000_000,
) -> Watch:
    genesis = genesis_of(remote)

    def open_mirror() -> Mirror:
        mirror = Mirror(folder, genesis, remote.blob, clock)
        mirror.load()
        return mirror

    folder.mkdir(exist_ok=True)
    return Watch(remote, open_mirror, alarms, policy, clock, steady_s=steady_s)


def rung(tmp_path: Path) -> list[Alarm]:
    files = sorted((tmp_path / "alarms").glob("*.json"))
    return [msgspec.json.decode(path.read_bytes(), type=Alarm) for path in files]


def other_root(size: int) -> Digest:
    return sha256(str(size).encode())
