"""Checks workers' evidence of left-out attestations against the log (docs/protocol.md, 6.8).

Each piece is checked right before the entry that ended its round's phase `attest`: by the rules
that admit a statement, the attestation could have come next. What fails is worthless, and says
nothing about the ledger. What holds is the word of those who signed it: fewer of them than could
all be hostile while the quorum is honest are a suspicion, more are a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.verify.report import LogPlace, LogReport
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import PeerKey, RunId, to_text
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.omission import Omission, check_omission, least_peers
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import RoundOpen, RoundVoid
from tequio_shared.statements.statement import Entry, Statement

if TYPE_CHECKING:
    from tequio_shared.network_view import NetworkView

FILE_BYTES = 1 << 20
"""Largest file of evidence that is read."""
MAX_PIECES = 4_096
"""Pieces of evidence in one audit, from all files."""
_WHAT = "censored attestation"
_GAP = "seq-gap"  # the ledger's answer to a statement whose predecessor is not in the log


@dataclass(frozen=True, slots=True)
class _Piece:
    seq: int
    answer: str
    is_witness: bool
    """True if the peer has the role witness in the round."""


@dataclass(frozen=True, slots=True)
class _Case:
    """An attestation that could have been logged, maybe in several copies."""

    place: LogPlace
    voters: int
    least: int
    pieces: dict[PeerKey, _Piece]  # by the peer that signed


class OmissionCheck:
    def __init__(self, view: NetworkView, report: LogReport, paths: Iterable[Path]) -> None:
        self._view = view
        self._report = report
        self._cases: dict[tuple[RunId, int, PeerKey], _Case] = {}  # by author
        self._authors: dict[PeerKey, list[_Case]] = {}
        self._waiting: dict[tuple[RunId, int], list[tuple[Omission, Entry]]] = {}
        self._last: dict[PeerKey, int] = {}  # index of the last entry of an attestation's author
        self._sort(_read(paths, report))

    def _sort(self, pieces: Iterable[Omission]) -> None:
        """Verify signatures, and put each piece to its round."""
        own, foreign = to_text(self._view.net), 0
        for piece in pieces:
            if piece.network != own:
                foreign += 1
                continue
            try:
                entry = piece.verify()
            except (PeerError, RefusedError) as err:
                self._discard(f"a signature or form does not hold ({err})")
                continue
            self._waiting.setdefault(_round_of(entry.statement), []).append((piece, entry))
            self._last[entry.statement.author] = -1
        if foreign:
            self._report.remarks.append(f"{foreign} pieces of evidence are about another network")

    def follow(self, index: int, entry: Entry) -> None:
        """Follow the log, each entry before the view has it; O(1) where nothing is claimed."""
        statement = entry.statement
        if isinstance(statement.body, RoundOpen | RoundVoid):
            for piece, attest in self._waiting.pop(_round_of(statement), ()):
                self._judge(index, statement, piece, attest)
        if statement.author in self._last:
            self._last[statement.author] = index
        for case in self._authors.get(statement.author, ()):
            self._compare_chain(case, statement)

    def _judge(self, index: int, ending: Statement, piece: Omission, attest: Entry) -> None:
        run, number = _round_of(ending)
        current = self._view.round_of(run)
        try:
            if current is None:
                raise RefusedError("not-in-round", "the log has no such round")  # noqa: TRY301
            self._view.check(index, attest)
            check_omission(current, piece, attest, ending.ts)
            self._check_answer(current, piece, attest.statement.author)
        except RefusedError as err:
            self._discard(f"round {number}: {err.code}: {err}")
            return
        statement, voters = attest.statement, current.roster.slots_of(WITNESS)
        about = run, number, statement.author
        if about not in self._cases:
            place = LogPlace(
                entry=index, run=to_text(run), round=number, peer=to_text(statement.author)
            )
            case = _Case(place, len(voters), least_peers(current), {})
            self._cases[about] = case
            self._authors.setdefault(statement.author, []).append(case)
        is_witness = current.slot_of[piece.key] in voters
        self._cases[about].pieces[piece.key] = _Piece(statement.seq, piece.answer, is_witness)

    def _check_answer(self, current: RoundView, piece: Omission, author: PeerKey) -> None:
        # An author can show its attestation to peers, and log the statement before it afterwards:
        # an honest ledger answers them that there is a gap, and none is left at the phase's end.
        if piece.answer == _GAP and self._last[author] > current.roster_index:
            raise RefusedError(_GAP, "its author logged the statement before it in that phase")

    def _compare_chain(self, case: _Case, later: Statement) -> None:
        # An honest author gives each statement a number of its own, in ascending order. One that
        # wrote the attestation afterwards has to fit it in between.
        for key, piece in list(case.pieces.items()):
            if later.seq <= piece.seq:
                del case.pieces[key]
                self._discard(
                    f"round {case.place.round}: its author signed number {piece.seq}, "
                    f"and number {later.seq} after that"
                )

    def report_all(self) -> None:
        """Report what was found in the log as far as it was read; call it once, at the end."""
        for (_, number), pieces in self._waiting.items():
            for _ in pieces:
                self._discard(f"round {number}: the log has no end of that phase")
        for case in self._cases.values():
            if case.pieces:
                self._report_case(case)

    def _report_case(self, case: _Case) -> None:
        witnesses = sum(one.is_witness for one in case.pieces.values())
        seen = ", ".join(
            f"{to_text(key)} (answer: {one.answer or 'none'})"
            for key, one in sorted(case.pieces.items())
        )
        detail = f"{witnesses} of {case.voters} witnesses offered it in time; seen by {seen}"
        if witnesses >= case.least:
            self._report.mismatch(_WHAT, case.place, detail)
            return
        doubt = f"a suspicion only, which {case.least} of them would establish"
        self._report.suspect(f"possibly {_WHAT}", case.place, f"{detail}; {doubt}")

    def _discard(self, why: str) -> None:
        self._report.checked["worthless evidence"] += 1
        self._report.remarks.append(f"worthless evidence of an omission: {why}")


def _round_of(statement: Statement) -> tuple[RunId, int]:
    """The run and round of a statement that is about a round."""
    return statement.run or RunId(b""), statement.round or 0


def _read(paths: Iterable[Path], report: LogReport) -> Iterator[Omission]:
    """Read the files; what does not parse is worthless."""
    left = MAX_PIECES
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else (path,):
            pieces = _read_file(file, report)
            yield from pieces[:left]
            left = max(left - len(pieces), 0)
    if not left:
        report.remarks.append(f"only {MAX_PIECES} pieces of evidence were read")


def _read_file(file: Path, report: LogReport) -> list[Omission]:
    try:
        with file.open("rb") as content:
            raw = content.read(FILE_BYTES)
        return encoding.read(raw, list[Omission])
    except (OSError, MalformedError) as err:
        report.checked["worthless evidence"] += 1
        report.remarks.append(f"worthless evidence of an omission: {file.name}: {err}")
        return []
