"""The publisher: sends signed checkpoints to the witnesses, and publishes what enough cosigned.

Rules: statements are acknowledged when they are committed and signed; nothing of them is published
(checkpoint, tiles, events) before the policy is met. A missing quorum delays publishing, but never
the acceptance of statements. A published checkpoint is in the database first; a process that
starts, or a replica that does not write the log, continues from there. Asking again is harmless: a
witness that has cosigned a size cosigns it again.

A round asks all witnesses about one checkpoint, because cosignatures of different sizes do not add
up. A slow witness may finish its answer, and is asked about a later checkpoint.

A checkpoint that no other follows is cosigned again every hour: readers with a policy tell by the
times of the cosignatures whether they are shown an old log (`Policy.open`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

import structlog

from tequio_ledger.log.guard import NOTHING, Published, damaged_log
from tequio_ledger.log.log import Log
from tequio_ledger.log.proofs import stored_proofs
from tequio_ledger.log.sequencer import ChangeSignal
from tequio_ledger.log.witness_client import (
    WitnessClient,
    WitnessDisagreesError,
    WitnessError,
    WitnessState,
)
from tequio_ledger.outgoing import http_client, parse_url
from tequio_ledger.runtime import Clock
from tequio_ledger.store import files, log_rows
from tequio_ledger.store.database import FAILURES, Database
from tequio_shared.errors import MalformedError, PeerError, TequioError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.log.notes import VerifierKey, add_lines, open_checkpoint
from tequio_shared.log.policy import POLICY_BYTES, STALE_S, Policy

GRACE_S = 0.1
"""Extra time for other answers when enough are there: more cosignatures suit more policies."""
AGAIN_S = 1.0
AGAIN_MOST_S = 30.0
"""Pauses after a round without a quorum: doubled from the first up to the second."""
QUIET_S = 1.0
"""Interval of checks for news that no signal announced."""
RENEWAL_S = 3_600.0
"""Age at which the cosignatures of a published checkpoint are renewed."""
UNRENEWED_S = STALE_S / 2
"""Age of the cosignatures from which the ledger is unhealthy; after twice this, readers refuse."""
LATE_S = 60.0
"""A signed checkpoint that waits longer than this makes the ledger unhealthy."""

log = structlog.get_logger(__name__)


class SigningLedger(Protocol):
    """The part of the ledger that the publisher uses."""

    @property
    def log(self) -> Log: ...

    @property
    def is_leading(self) -> bool:
        """True if this process writes the log."""

    async def judge_checkpoint(self, note: bytes) -> bool:
        """Judge a checkpoint that somebody holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    quorum: str
    published: int
    """Size that readers may see."""
    signed: int
    late_s: float
    """Seconds for which a signed checkpoint has waited."""
    witnesses: tuple[WitnessState, ...]


class _Request(NamedTuple):
    task: asyncio.Task[str]
    size: int


class Publisher:
    """Owns what is published under a policy; anyone may read `published`."""

    def __init__(  # noqa: PLR0913 - its whole surroundings
        self,
        *,
        ledger: SigningLedger,
        policy: Policy,
        key: VerifierKey,
        database: Database,
        changed: ChangeSignal,
        clock: Clock,
        pause_s: float,
    ) -> None:
        self.published = NOTHING
        self._ledger = ledger
        self._policy = policy
        self._key = key
        self._database = database
        self._changed = changed
        self._clock = clock
        self._pause_s = pause_s
        self._http = http_client({"content-type": "text/plain"})
        self._clients = [
            WitnessClient(one, key, self._http, one.url, clock)
            for one in policy.witnesses
            if one.url is not None
        ]
        self._busy: dict[WitnessClient, _Request] = {}
        self._renews = not policy.is_met(())
        """True if any cosignature is required: then its age matters."""
        self._late_since_s: float | None = None
        self._cosigned_at_s = time.monotonic() - RENEWAL_S
        """Last time the quorum cosigned; at our start such that it is due again."""
        self._cosigned_at_ms = clock()

    def publication(self) -> Publication:
        signed = self._ledger.log.published.size
        since, now_s = self._late_since_s, time.monotonic()
        return Publication(
            quorum=self._policy.quorum,
            published=self.published.size,
            signed=signed,
            late_s=0.0 if since is None or signed <= self.published.size else now_s - since,
            witnesses=tuple(client.state for client in self._clients),
        )

    @property
    def reason(self) -> str | None:
        """Sentence that says why the published checkpoint is not current; None while it is."""
        found = self.publication()
        old_s = self._age_s
        if found.late_s < LATE_S and old_s < UNRENEWED_S:
            return None
        why = [f"{one.name}: {one.problem}" for one in found.witnesses if one.problem]
        what = (
            f"entries from {found.published} on have waited {found.late_s:.0f} s for"
            if found.late_s >= LATE_S
            else f"for {old_s / 3600:.0f} hours the log has lacked new cosignatures of"
        )
        return (
            f"{what} the quorum {found.quorum!r} of witnesses: "
            f"{'; '.join(why) or 'they do not agree on one size'}"
        )

    @property
    def _age_s(self) -> float:
        """Seconds since the quorum cosigned; 0 if none is required."""
        if not self._renews:
            return 0.0
        # By both clocks: the one stands still while the machine sleeps, the other may be set back.
        return max(
            time.monotonic() - self._cosigned_at_s, (self._clock() - self._cosigned_at_ms) / 1000
        )

    def _record_cosigned(self) -> None:
        self._cosigned_at_s, self._cosigned_at_ms = time.monotonic(), self._clock()

    def load(self) -> None:
        """Read what was published before; raises UserFacingError, UnwritableError."""
        with self._database.translated_errors(), self._database.reader.begin() as connection:
            note = log_rows.read_last_cosigned(connection)
        if note is None:
            return
        try:
            checkpoint = open_checkpoint(note, self._key).checkpoint
        except PeerError as err:
            raise damaged_log(
                f"the published checkpoint is not signed by this log ({err})"
            ) from err
        # Readers must never see the log shrink, whatever order two processes write their rows in.
        if checkpoint.size >= self.published.size:
            self.published = Published(size=checkpoint.size, root=checkpoint.root, note=note)

    async def run(self) -> NoReturn:
        """Publish until cancelled."""
        again_s = AGAIN_S
        try:
            while True:
                is_met = await self._next()
                again_s = AGAIN_S if is_met else min(2 * again_s, AGAIN_MOST_S)
                await asyncio.sleep(self._pause_s if is_met else again_s / 2)  # it was doubled
        finally:
            for request in self._busy.values():
                request.task.cancel()
            await self._http.aclose()

    async def _next(self) -> bool:
        """Wait for something to publish and try to publish it; False without a quorum."""
        while True:
            if not self._ledger.is_leading:
                await self._follow()
            elif self._ledger.log.published.size > self.published.size:
                if self._late_since_s is None:
                    self._late_since_s = time.monotonic()
                return await self._publish(self._ledger.log.published)
            else:
                self._late_since_s = None
                if self._age_s >= RENEWAL_S:
                    return await self._publish(self._ledger.log.published)
            await self._changed.wait(QUIET_S)

    async def _follow(self) -> None:
        """Adopt what the process that writes the log has published."""
        before = self.published
        with contextlib.suppress(TequioError):  # tried again after QUIET_S
            await asyncio.to_thread(self.load)
        if self.published != before:
            self._record_cosigned()
            self._changed.set()

    async def _publish(self, target: Published) -> bool:
        lines = await self._gather(target)
        note = add_lines(target.note, lines)
        if not self._is_met(note):
            log.warning("no quorum of witnesses", size=target.size, cosigned=len(lines))
            return False
        try:
            # Stored before it is shown: after a restart this process must not publish less than
            # its readers have seen.
            await asyncio.to_thread(self._store, target.size, note)
        except TequioError as err:
            log.error("a cosigned checkpoint was not stored", error=str(err))  # noqa: TRY400 - the sentence says it
            return False
        self.published = Published(size=target.size, root=target.root, note=note)
        self._late_since_s = None
        self._record_cosigned()
        self._changed.set()
        return True

    async def _gather(self, target: Published) -> list[str]:
        """Ask every witness; gives the signature lines of those that answered in time."""
        for client in self._clients:
            if client not in self._busy:  # else it still answers about an earlier checkpoint
                self._ask(client, target)
        lines: list[str] = []
        while self._busy:
            is_met = self._is_met(add_lines(target.note, lines))
            done, _ = await asyncio.wait(
                {request.task for request in self._busy.values()},
                timeout=GRACE_S if is_met else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not done:
                break
            for client in [one for one, request in self._busy.items() if request.task in done]:
                lines += await self._receive(client, target)
        return lines

    def _ask(self, client: WitnessClient, target: Published) -> None:
        task = asyncio.create_task(client.cosign(target, self._prove))
        self._busy[client] = _Request(task, target.size)

    async def _receive(self, client: WitnessClient, target: Published) -> list[str]:
        """Handle a witness's answer; after one about an earlier checkpoint, ask about this one."""
        request = self._busy.pop(client)
        if request.size != target.size:
            self._ask(client, target)
        try:
            line = request.task.result()
        except WitnessDisagreesError as err:
            await self._report(client.state.name, err)
            return []
        except (WitnessError, *FAILURES) as err:  # or the proof for it could not be read
            log.info("a witness did not cosign", witness=client.state.name, why=str(err))
            return []
        return [line] if request.size == target.size else []

    async def _report(self, name: str, err: WitnessDisagreesError) -> None:
        log.error("a witness holds another checkpoint of this log", witness=name, why=str(err))
        # If that checkpoint bears our signature, entries were lost, and the ledger must stop
        # signing. Anything else is the witness's own trouble.
        try:
            await self._ledger.judge_checkpoint(err.note)
        except (TequioError, *FAILURES) as wrong:
            log.info("its checkpoint is not signed by this log", witness=name, why=str(wrong))

    def _is_met(self, note: bytes) -> bool:
        try:
            self._policy.open(note, self._key)
        except PeerError:
            return False
        return True

    def _store(self, size: int, note: bytes) -> None:
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            log_rows.write_cosigned(connection, size, note, self._clock())

    def _prove(self, old: int, size: int) -> Sequence[Digest]:
        with self._database.reader.begin() as connection:
            return stored_proofs(connection, size).consistency(old)


def read_policy(path: Path | None, log: VerifierKey) -> Policy | None:
    """Read the policy file of a log; None without one. Raises UserFacingError.

    Also for a policy that this log could never meet: it must name this log or none, and the
    witnesses that have addresses must be enough for the quorum.
    """
    if path is None:
        return None
    policy = load_policy(path)
    if policy.logs and log not in [one.key for one in policy.logs]:
        raise UserFacingError(f"{path} names other logs only: add the line `log {log.text()}`")
    for one in policy.witnesses:
        if one.url is not None:
            _check_address(path, one.name, one.url)
    if not policy.is_met({one.key for one in policy.witnesses if one.url is not None}):
        raise UserFacingError(
            f"{path} requires the quorum {policy.quorum!r}, but too few of its witnesses have an "
            "address: add it after their keys"
        )
    return policy


def _check_address(path: Path, witness: str, url: str) -> None:
    try:
        parse_url(url)
        if "?" in url or "#" in url:  # paths are added to it
            raise ValueError("it contains ? or #")  # noqa: TRY301 - one sentence for all
    except ValueError as err:
        raise UserFacingError(
            f"{path}: {url!r} is not the address of witness {witness!r} ({err})"
        ) from err


def load_policy(path: Path) -> Policy:
    """Read a policy file; raises UserFacingError."""
    try:
        with files.explained(path), path.open("rb") as file:
            return Policy.parse(file.read(POLICY_BYTES + 1))
    except MalformedError as err:
        raise UserFacingError(f"{path} is not a valid policy: {err}") from err
