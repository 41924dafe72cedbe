"""The ledger's derived answers against what follows from the log: runs, chains, points per key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.verify.report import LogPlace
from tequio_client.verify.source import NotAvailableError, PeerClaim, RunClaim
from tequio_shared.errors import PeerError
from tequio_shared.ids import RunId, digest_from_text, key_from_text, to_text

if TYPE_CHECKING:
    from tequio_client.verify.fold import Fold
    from tequio_client.verify.report import AuditReport
    from tequio_client.verify.source import LedgerSource
    from tequio_shared.api.peers import StandingAnswer, TierAnswer
    from tequio_shared.ids import PeerKey


class LedgerClaims:
    """Fetches the ledger's answers, and compares each with the fold at the size that it names."""

    def __init__(self, source: LedgerSource, fold: Fold, report: AuditReport) -> None:
        self._source = source
        self._fold = fold
        self._report = report
        self._runs: list[RunClaim] = []
        self._peers: list[PeerClaim] = []

    def collect(self) -> int:
        """Fetch all answers; returns the largest size of the log that one was true for."""
        try:
            self._runs = list(self._source.runs())
            answers = (self._source.peer(key) for key in self._fold.chains.keys)
            self._peers = [answer for answer in answers if answer is not None]
        except NotAvailableError as err:
            self._report.missing("derived answers", LogPlace(), str(err))
        except PeerError as err:
            self._report.mismatch("derived answers", LogPlace(), str(err))
        sizes = [one.size for one in self._runs] + [one.size for one in self._peers]
        return max((size for size in sizes if size is not None), default=0)

    def compare(self, size: int) -> None:
        """Compare the answers with the log, of `size` entries where an answer names none.

        An answer that is true for more than is published is neither right nor wrong yet.
        """
        for run in self._runs:
            if self._is_covered(run.size, size, LogPlace(run=run.run)):
                self._compare_run(run, size if run.size is None else run.size)
        if any(history.is_broken for history in self._fold.runs.values()):
            return  # points would differ for a reason that was reported already
        for peer in self._peers:
            if self._is_covered(peer.size, size, LogPlace(peer=peer.key)):
                self._compare_peer(peer, size if peer.size is None else peer.size)

    def _is_covered(self, claimed: int | None, size: int, place: LogPlace) -> bool:
        if claimed is None or claimed <= size:
            return True
        self._report.missing(
            "derived answers",
            place,
            f"true for {claimed} entries, of which {size} are published: audit again later",
        )
        return False

    def _compare_run(self, claim: RunClaim, size: int) -> None:
        self._report.checked["derived answers"] += 1
        history = self._fold.runs.get(RunId(digest_from_text(claim.run)))
        standing = history.standing_at(size) if history else None
        if standing is None:
            self._report.mismatch(
                "run in the API", LogPlace(run=claim.run), "the log has no such run"
            )
        elif history is not None and not history.is_broken:
            for name in ("state", "round", "head", "head_round", "weights_root"):
                expected, found = getattr(standing, name), getattr(claim, name)
                if expected != found:
                    self._report.mismatch(
                        f"run in the API, {name}",
                        LogPlace(run=claim.run),
                        f"as of {size} entries",
                        expected=expected,
                        found=found,
                    )

    def _compare_peer(self, claim: PeerClaim, size: int) -> None:
        self._report.checked["derived answers"] += 1
        key = key_from_text(claim.key)
        link = self._fold.chains.at(key, size)
        points = sum(one.points.at(key, size) or 0 for one in self._fold.runs.values())
        due = {
            "micropoints": points,
            "last_seq": link.seq if link else 0,
            "last_hash": to_text(link.last) if link else "",
        }
        for name, expected in due.items():
            if getattr(claim, name) != expected:
                self._report.mismatch(
                    f"peer in the API, {name}",
                    LogPlace(peer=claim.key),
                    f"as of {size} entries",
                    expected=expected,
                    found=getattr(claim, name),
                )
        if claim.standing is not None and not self._fold.is_standing_unsure:
            due_standing = self._fold.standings.at(key, size)
            self._compare_fields("standing", key, due_standing, claim.standing, size)
        if claim.tier is not None and not self._fold.are_tiers_unsure:
            self._compare_fields("tier", key, self._fold.tier_at(key, size), claim.tier, size)

    def _compare_fields(
        self, what: str, key: PeerKey, due: object, claim: StandingAnswer | TierAnswer, size: int
    ) -> None:
        for name in claim.__struct_fields__:
            if name == "why":
                continue  # words for people: a later version may choose others
            expected, found = getattr(due, name, None), getattr(claim, name)
            if expected != found:
                self._report.mismatch(
                    f"{what} in the API, {name}",
                    LogPlace(peer=to_text(key)),
                    f"as of {size} entries",
                    expected=expected,
                    found=found,
                )
