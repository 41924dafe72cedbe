"""The publisher: takes signed checkpoints to the witnesses, and shows what enough of them cosigned.

Rules: statements are acknowledged when they are committed and signed; nothing of them is shown
(checkpoint, tiles, events) before the policy is met. A missing quorum delays that, never the
taking of statements. What is published is in the database first; a process that starts, or a
replica that does not write the log, goes on from there. Asking again is harmless: a witness that
has cosigned a size cosigns it again.

A round asks all witnesses about one checkpoint: cosignatures of different sizes do not add up.
Who is slow is left at its question, and asked about a later one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

import structlog
from sqlalchemy.exc import DatabaseError

from tequio_ledger.log.checkpoint import NOTHING, Published
from tequio_ledger.log.damage import damage
from tequio_ledger.log.proofs import TileProofs
from tequio_ledger.publishing.asker import (
    Asker,
    WitnessDisagreesError,
    WitnessError,
    WitnessState,
    http_client,
)
from tequio_ledger.store import cosigned, log_rows
from tequio_shared.errors import PeerError, TequioError
from tequio_shared.notes import add_lines, open_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_ledger.log.log import Log
    from tequio_ledger.sequencing.sequencer import Signal
    from tequio_ledger.store.engine import Database
    from tequio_shared.ids import Digest
    from tequio_shared.notes import VerifierKey
    from tequio_shared.policy import Policy

GRACE_S = 0.1
"""How long others may still answer when enough have: more cosignatures suit more policies."""
AGAIN_S = 1.0
AGAIN_MOST_S = 30.0
"""Pauses after a round without a quorum: doubled from the first up to the second."""
QUIET_S = 1.0
"""How often one looks whether there is something new that nobody told of."""
LATE_S = 60.0
"""Unpublished for longer than this, a ledger is not well."""

log = structlog.get_logger(__name__)


class Signed(Protocol):
    """The ledger, as far as the publisher sees it."""

    log: Log

    @property
    def is_leading(self) -> bool:
        """Whether this process writes the log."""

    async def show(self, note: bytes) -> bool:
        """Hear of a checkpoint that somebody holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """How publishing stands."""

    quorum: str
    published: int
    """Size that everybody may see."""
    signed: int
    late_s: float
    """For how long something signed has waited."""
    witnesses: tuple[WitnessState, ...]


class _Question(NamedTuple):
    task: asyncio.Task[str]
    size: int


class Publisher:
    """Owns what is published under a policy; `published` is for all to read."""

    def __init__(  # noqa: PLR0913 - its whole surroundings
        self,
        *,
        ledger: Signed,
        policy: Policy,
        key: VerifierKey,
        database: Database,
        changed: Signal,
        clock: Callable[[], int],
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
        self._http = http_client()
        self._askers = [
            Asker(one, key, self._http, one.url, clock)
            for one in policy.witnesses
            if one.url is not None
        ]
        self._busy: dict[Asker, _Question] = {}
        self._late_since_s: float | None = None

    def publication(self) -> Publication:
        """Say how publishing stands."""
        signed = self._ledger.log.published.size
        since = self._late_since_s
        is_late = since is not None and signed > self.published.size
        return Publication(
            quorum=self._policy.quorum,
            published=self.published.size,
            signed=signed,
            late_s=time.monotonic() - since if since is not None and is_late else 0.0,
            witnesses=tuple(asker.state() for asker in self._askers),
        )

    @property
    def reason(self) -> str | None:
        """Why what is signed is not published; None while it is in time."""
        found = self.publication()
        if found.late_s < LATE_S:
            return None
        why = [f"{one.name}: {one.problem}" for one in found.witnesses if one.problem]
        return (
            f"entries from {found.published} on have waited {found.late_s:.0f} s for the quorum "
            f"{found.quorum!r} of witnesses: {'; '.join(why) or 'they do not agree on one size'}"
        )

    def load(self) -> None:
        """Show what was published before; raises UserFacingError, UnwritableError."""
        with self._database.passing_errors(), self._database.reader.begin() as connection:
            note = cosigned.read_last(connection)
        self._take(note)

    async def run(self) -> NoReturn:
        """Publish for ever."""
        again_s = AGAIN_S
        try:
            while True:
                is_met = await self._next()
                again_s = AGAIN_S if is_met else min(2 * again_s, AGAIN_MOST_S)
                await asyncio.sleep(self._pause_s if is_met else again_s / 2)
        finally:
            for question in self._busy.values():
                question.task.cancel()
            await self._http.aclose()

    async def _next(self) -> bool:
        """Wait for something to publish, and try to; False when there was no quorum."""
        while True:
            if not self._ledger.is_leading:
                await self._follow()
            elif self._ledger.log.published.size > self.published.size:
                return await self._publish(self._ledger.log.published)
            else:
                self._late_since_s = None
            await self._changed.wait(QUIET_S)

    async def _follow(self) -> None:
        """Show what the process that writes the log has published."""
        before = self.published.size
        with contextlib.suppress(DatabaseError, TequioError):  # asked again in a second
            await asyncio.to_thread(self.load)
        if self.published.size > before:
            self._changed.set()

    async def _publish(self, target: Published) -> bool:
        if self._late_since_s is None:
            self._late_since_s = time.monotonic()
        lines = await self._gather(target)
        note = add_lines(target.note, lines)
        if not self._is_met(note):
            log.warning("no quorum of witnesses", size=target.size, cosigned=len(lines))
            return False
        try:
            await asyncio.to_thread(self._keep, target.size, note)
        except DatabaseError as err:
            log.error("a cosigned checkpoint was not kept", error=str(err.orig))  # noqa: TRY400 - its first line says it
            return False
        self.published = Published(size=target.size, root=target.root, note=note)
        self._late_since_s = None
        self._changed.set()
        return True

    async def _gather(self, target: Published) -> list[str]:
        """Ask every witness; gives the lines of those that answered in time."""
        for asker in self._askers:
            if asker not in self._busy:
                self._ask(asker, target)
        lines: list[str] = []
        while self._busy:
            is_met = self._is_met(add_lines(target.note, lines))
            done, _ = await asyncio.wait(
                {question.task for question in self._busy.values()},
                timeout=GRACE_S if is_met else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not done:
                break
            for asker in [one for one, question in self._busy.items() if question.task in done]:
                lines += await self._heard(asker, target)
        return lines

    def _ask(self, asker: Asker, target: Published) -> None:
        task = asyncio.create_task(asker.ask(target, self._prove))
        self._busy[asker] = _Question(task, target.size)

    async def _heard(self, asker: Asker, target: Published) -> list[str]:
        """Take a witness's answer; one about an earlier checkpoint is asked about this one."""
        question = self._busy.pop(asker)
        if question.size != target.size:
            self._ask(asker, target)
        try:
            line = question.task.result()
        except WitnessDisagreesError as err:
            await self._show(asker, err)
            return []
        except WitnessError as err:
            log.info("a witness did not cosign", witness=asker.witness.name, why=str(err))
            return []
        return [line] if question.size == target.size else []

    async def _show(self, asker: Asker, err: WitnessDisagreesError) -> None:
        """Hold what a witness keeps against our own log: if it is right, we must not sign."""
        name = asker.witness.name
        log.error("a witness holds another checkpoint of this log", witness=name, why=str(err))
        try:
            await self._ledger.show(err.note)
        except (PeerError, DatabaseError, TequioError) as wrong:
            log.info("what it holds is not ours", witness=name, why=str(wrong))

    def _is_met(self, note: bytes) -> bool:
        try:
            self._policy.open(note, self._key)
        except PeerError:
            return False
        return True

    def _keep(self, size: int, note: bytes) -> None:
        with self._database.writer.begin() as connection:
            cosigned.write(connection, size, note, self._clock())

    async def _prove(self, old: int, size: int) -> Sequence[Digest]:
        return await asyncio.to_thread(self._proof, old, size)

    def _proof(self, old: int, size: int) -> Sequence[Digest]:
        with self._database.reader.begin() as connection:
            return TileProofs(lambda tile: log_rows.read_tile(connection, tile), size).consistency(
                old
            )

    def _take(self, note: bytes | None) -> None:
        if note is None:
            return
        try:
            checkpoint = open_checkpoint(note, self._key).checkpoint
        except PeerError as err:
            raise damage(f"what was published last is not ours ({err})") from err
        if checkpoint.size > self.published.size:
            self.published = Published(size=checkpoint.size, root=checkpoint.root, note=note)
