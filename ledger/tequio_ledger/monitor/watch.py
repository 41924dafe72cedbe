"""The watch: at each check, everything new in the log is read, verified and compared.

Rules: a checkpoint counts when the log signed it and, with a policy, enough witnesses cosigned it.
It must continue the one before. Entries are fetched in pieces, and each piece is stored only after
it is proven to be under the signed root. Then the tiles are compared, and last the ledger's answers
about its log. Each fault becomes an alarm with evidence; after a final one nothing more is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.log.proofs import TileProofs, root_at
from tequio_ledger.monitor.alarms import AlarmKind, Alarms, FoundError
from tequio_ledger.monitor.comparison import AnswerComparison, MovedOnError, UnpublishedAnswers
from tequio_ledger.monitor.mirror import BadEntryError, Mirror
from tequio_ledger.monitor.remote import RemoteLedger, UnreachableError
from tequio_ledger.store import log_rows
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import FatalLogError, PeerError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.log.cosigning import ForkEvidence
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint, VerifierKey, filter_signatures, to_base64
from tequio_shared.log.policy import NoQuorumError, Policy
from tequio_shared.log.tiles import extend_frontier, new_tiles, next_range, open_signed

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock
LAG_S = 60.0
"""Time for which an older checkpoint may be shown: there may be caches in between."""
LATE_S = 300.0
"""Time for which the ledger may be away, or without its quorum, before that is an alarm."""
PUBLISHED_S = 5.0
"""Wait for the log to reach an answer that is ahead of it."""
AGAIN_S = 0.2
ASKED = 3
"""Attempts to compare an answer while the log grows; a check ends after as many such answers."""
QUESTIONS = 200
"""Answers compared in one check; the next one goes on with the others."""
AWAY = "the ledger does not answer, or withholds something"

log = structlog.get_logger(__name__)


class Watch:
    """Watches one log, in one thread."""

    def __init__(
        self,
        ledger: RemoteLedger,
        open_mirror: Callable[[], Mirror],
        alarms: Alarms,
        policy: Policy | None,
        clock: Clock,
        *,
        steady_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the copy; raises UserFacingError, also for a policy that names only other logs."""
        self._ledger = ledger
        self._open_mirror = open_mirror
        self.mirror = open_mirror()
        self._alarms = alarms
        self._policy = policy
        self._clock = clock
        self._steady_s = steady_s
        self._key = VerifierKey.parse(self.mirror.genesis.log_key)
        if policy is not None and policy.logs and self._key not in [one.key for one in policy.logs]:
            self.close()
            raise UserFacingError(
                f"the policy names other logs only: add the line `log {self._key.text()}`"
            )
        self._bad_since: dict[AlarmKind, float] = {}
        self._ahead = UnpublishedAnswers(steady_s)
        self._answers = AnswerComparison(ledger, steady_s)

    def close(self) -> None:
        self.mirror.close()

    def check(self, questions: int = QUESTIONS) -> bool:
        """Read new entries and compare some answers; raises FoundError for a faulty log.

        False if any of that could not be done. Faults that may pass (away, no quorum, older) ring
        only if they last.
        """
        try:
            if self.mirror.is_torn:
                torn, self.mirror = self.mirror, self._open_mirror()
                torn.close()
            is_compared = self._read() and self._compare_claims(questions)
        except UnreachableError as err:
            self._lasting(AlarmKind.AWAY, AWAY, str(err), LATE_S)
        except UnwritableError as err:  # the ledger is not to blame
            log.error("the log is not checked for now", reason=str(err))  # noqa: TRY400 - it says enough
        else:
            return is_compared and AlarmKind.ROLLBACK not in self._bad_since
        return False

    def _read(self) -> bool:
        """Read the published log; False when the checkpoint shown does not count.

        Raises FoundError, UnreachableError.
        """
        note = self._ledger.checkpoint()
        try:
            now_s = self._clock() // 1_000
            signed = open_signed(note, self._key, self._policy, now_s=now_s).checkpoint
        except NoQuorumError as err:
            self._lasting(AlarmKind.QUORUM, "no quorum", str(err), LATE_S, note)
            return False
        except PeerError as err:
            self._lasting(AlarmKind.AWAY, "the checkpoint is not valid", str(err), LATE_S, note)
            return False
        self._well(AlarmKind.QUORUM)
        self._follow(signed, note)
        return True

    def _read_until(self, size: int) -> bool:
        """Read until that size is published, but no longer than PUBLISHED_S."""
        deadline_s = self._steady_s() + PUBLISHED_S
        while self._read():
            if self.mirror.size >= size or self._steady_s() > deadline_s:
                return True
            time.sleep(AGAIN_S)
        return False

    def _follow(self, signed: Checkpoint, note: bytes) -> None:
        mirror = self.mirror
        if signed.size < mirror.size:
            self._check_older(signed, note)
            return
        self._well(AlarmKind.ROLLBACK)
        self._check_continues(signed, note)
        before = mirror.size
        while mirror.size < signed.size:
            self._read_piece(signed, note)
        self._compare_tiles(before, signed, note)
        if signed.size > before or not mirror.note:
            mirror.store_checkpoint(signed, note, self._clock())
            log.info("read on", size=mirror.size)

    def _check_older(self, signed: Checkpoint, note: bytes) -> None:
        """Compare a checkpoint with our entries; an alarm if it stays older for LAG_S."""
        with self.mirror.database.reader.begin() as connection:
            own = root_at(connection, signed.size)
        if own != signed.root:
            why = f"size {signed.size} was signed with another root than our entries have"
            raise self._forked(why, note)
        self._lasting(
            AlarmKind.ROLLBACK,
            f"size {signed.size} is shown after {self.mirror.size}",
            "older",
            LAG_S,
            note,
        )

    def _check_continues(self, signed: Checkpoint, note: bytes) -> None:
        size, root = self.mirror.size, self.mirror.root
        if size == 0:
            return
        proof: list[Digest] = []
        signed_root = signed.root
        if signed.size > size:
            # Tiles that do not lead to the signed root are not what was signed, so they say nothing
            # about the log's history. Those that lead there give its root at our size.
            try:
                proofs = self._proofs(signed)
                proof, signed_root = proofs.consistency(size), proofs.root(size)
                verify_consistency(size, signed_root, signed.size, signed.root, proof)
            except (PeerError, FatalLogError) as err:
                why = f"tiles of {signed.size} entries are not those that were signed: {err}"
                raise self._found(AlarmKind.ENTRIES, why, note) from err
        if signed_root != root:
            why = f"size {signed.size} was signed over other entries than our {size}"
            raise self._forked(why, note, proof)

    def _read_piece(self, signed: Checkpoint, note: bytes) -> None:
        """Read the rest of a bundle, verify it, and store it."""
        first, end = next_range(self.mirror.size, signed.size)
        try:
            leaves = self._ledger.entries(first, end)
            edge = extend_frontier(self.mirror.edge, leaves)
            proof = self._proofs(signed).consistency(end) if end < signed.size else []
            verify_consistency(end, edge.root(), signed.size, signed.root, proof)
        except (PeerError, FatalLogError) as err:
            why = f"entries {first} to {end - 1} are not those that were signed: {err}"
            raise self._found(AlarmKind.ENTRIES, why, note) from err
        try:
            self.mirror.extend(leaves, edge)
        except BadEntryError as err:
            entries = {str(err.index): err.leaf}
            alarm = self._alarms.make(AlarmKind.RULES, str(err), note=note, entries=entries)
            raise FoundError(alarm) from err

    def _compare_tiles(self, before: int, signed: Checkpoint, note: bytes) -> None:
        for tile in new_tiles(before, signed.size):
            try:
                served = self._ledger.tile(tile.level, tile.index, signed.size)
            except PeerError as err:
                raise self._found(AlarmKind.ENTRIES, f"{tile.path()}: {err}", note) from err
            with self.mirror.database.reader.begin() as connection:
                own = log_rows.read_tile(connection, (tile.level, tile.index)) or b""
            if not own.startswith(served):
                why = f"{tile.path()} is not made of the entries"
                raise self._found(AlarmKind.ENTRIES, why, note)

    def _compare_claims(self, questions: int) -> bool:
        """Compare some of the answers; False if one could not be compared."""
        answers, is_read = self._answers, False
        answers.begin(self.mirror.state, questions)
        try:
            is_read = self._compare_answers()
        finally:  # figures found to be wrong ring also when the ledger stops answering
            with self.mirror.database.reader.begin() as connection:
                broken = self._ahead.broken(connection, self.mirror.size, LATE_S)
            if found := [*answers.newly_wrong(), *broken]:
                self._ring_derived(found)
        since_s = answers.withheld_since_s()
        if since_s is not None:
            self._bad_since[AlarmKind.AWAY] = since_s
            self._lasting(AlarmKind.AWAY, AWAY, answers.withheld(), LATE_S)
        elif is_read:
            self._well(AlarmKind.AWAY)
        return is_read and since_s is None

    def _compare_answers(self) -> bool:
        """Compare what is left for this check; False if the log could not be read meanwhile."""
        tries, given_up = 0, 0
        while self._answers.are_left and given_up < ASKED:
            try:
                self._answers.compare_next(self.mirror)
                tries, given_up = 0, 0
            except MovedOnError as err:
                tries += 1
                self._ahead.add(err.size, err.root)
                if not self._read_until(err.size):
                    return False
            if tries == ASKED:  # ask about others: a ledger may answer one so for good
                self._answers.withhold_next()
                tries, given_up = 0, given_up + 1
        return True

    def _ring_derived(self, found: list[str]) -> None:
        why = f"{len(found)} figures do not follow from the log of {self.mirror.size}"
        differences, note = tuple(found[:1000]), self.mirror.note
        self._alarms.clear(AlarmKind.DERIVED)  # `found` is new, whatever rang before
        self._alarms.ring(
            self._alarms.make(AlarmKind.DERIVED, why, note=note, differences=differences)
        )

    def _proofs(self, signed: Checkpoint) -> TileProofs:
        return TileProofs(lambda tile: self._ledger.tile(*tile, signed.size), signed.size)

    def _lasting(
        self, kind: AlarmKind, why: str, detail: str, patience_s: float, note: bytes = b""
    ) -> None:
        since = self._bad_since.setdefault(kind, self._steady_s())
        log.warning(why, detail=detail)
        if self._steady_s() - since >= patience_s:
            self._alarms.ring(self._alarms.make(kind, why, note=note, differences=(detail,)))

    def _well(self, kind: AlarmKind) -> None:
        self._bad_since.pop(kind, None)
        self._alarms.clear(kind)

    def _forked(self, why: str, note: bytes, proof: list[Digest] | None = None) -> FoundError:
        """Describe two signed histories, if there is a checkpoint to prove the first one."""
        if not self.mirror.note:
            return self._found(AlarmKind.ENTRIES, why, note)
        signed = [filter_signatures(one, [self._key]).decode() for one in (self.mirror.note, note)]
        evidence = ForkEvidence(
            log_key=self._key.text(),
            why=why,
            notes=tuple(signed),
            proof=tuple(map(to_base64, proof or ())),
        )
        return FoundError(self._alarms.make(AlarmKind.FORK, why, fork=evidence, note=note))

    def _found(self, kind: AlarmKind, why: str, note: bytes) -> FoundError:
        return FoundError(self._alarms.make(kind, why, note=note))
