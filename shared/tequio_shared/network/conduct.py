"""Statements about standing: proof of a fault, and the part of the fold that each one changes.

A `fault.report` is judged by the log and the bytes that it names. The accused signed every leaf of
it. Two leaves contradict each other by themselves. One leaf contradicts the round in progress,
whose roster, committee and commitments the reader holds, or the piece of a payload that the
report brings; a report whose piece shows nothing proves a fault of its own author. Nothing here is
measured, and nobody's word but the accused's counts. An honest program cannot get into it: it signs
one commitment in a round, one statement under a number, proofs only where it was elected and of
what it has read, and reports only what it has checked. (docs/protocol.md, standing)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tequio_shared.errors import MalformedError, RefusedError, SignatureInvalidError
from tequio_shared.head.contribution import ContributionHeader, contribution_id
from tequio_shared.ids import (
    Digest,
    NetworkId,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
)
from tequio_shared.network.accounts import RunAccounts
from tequio_shared.network.run import Documents
from tequio_shared.network.standing import LIFTED, KeyStatus, ProvenFault, Standing, StandingCause
from tequio_shared.round import fold
from tequio_shared.round.evidence import (
    PieceEvidence,
    UnreadEvidence,
    broken_rule,
    check_unread,
)
from tequio_shared.round.round import RoundView
from tequio_shared.statements.network import (
    FaultReport,
    KeyRegister,
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import WitnessProof, WorkCommit
from tequio_shared.statements.statement import Entry, Statement

RoundOf = Callable[[RunId], RoundView | None]
"""The round of a run in progress, or the last one."""

EXCUSED_RULES = frozenset({"base", "length"})
"""Header rules that an honest program with another head, or a truncated message, can break."""


def read_fault(
    body: FaultReport,
    net: NetworkId,
    round_of: RoundOf,
    documents: Documents,
    is_reported: Callable[[Digest], bool] = lambda _: False,
) -> ProvenFault:
    """Judge a report; raises RefusedError("wrong-evidence") if it proves nothing.

    Raises RefusedError("not-found") while the piece that it names is not among the documents.
    """
    entries = [_entry(from_text(leaf, None), net) for leaf in body.leaves]
    statements = tuple(entry.statement for entry in entries)
    if len({statement.author for statement in statements}) != 1:
        raise _unproven("the leaves are of different authors")
    # Before the piece is read: a report that was logged must not cost that again and again.
    if all(is_reported(statement.digest) for statement in statements):
        raise RefusedError("already-said", "this fault has been reported before")
    cause: StandingCause
    evidence: tuple[int, ...] = ()
    is_logged = False
    if body.piece:
        cause = _against_bytes(statements, body.piece, net, documents)
        is_logged = cause is StandingCause.BAD_PAYLOAD and _is_logged(statements[0], round_of)
    elif len(statements) == 1:
        cause, evidence = _against_round(statements[0], round_of)
    else:
        cause = _against_each_other(*statements)
    return ProvenFault(
        peer=statements[0].author,
        cause=cause,
        evidence=evidence,
        statements=statements,
        is_logged=is_logged,
    )


def _is_logged(statement: Statement, round_of: RoundOf) -> bool:
    """Return whether the log has this commitment, in the round in progress or the last one."""
    view = None if statement.run is None else round_of(statement.run)
    if view is None or view.number != statement.round:
        return False
    slot = view.slot_of.get(statement.author)
    logged = None if slot is None else view.commitments.get(slot)
    match statement.body:
        case WorkCommit(header=header) if logged is not None:
            return logged.id == contribution_id(from_text(header, None))
    return False


def count_signatures(body: FaultReport) -> int:
    """Signatures that judging the report will verify, as its leaves claim; bounds the cost."""
    return sum(raw[1] for leaf in body.leaves if len(raw := from_text(leaf, None)) > 1)


def _entry(leaf: bytes, net: NetworkId) -> Entry:
    try:
        entry = Entry.parse(leaf)
        entry.verify(net)
    except (MalformedError, SignatureInvalidError) as err:
        raise _unproven(f"a leaf is not valid: {err}") from err
    return entry


def _against_bytes(
    statements: tuple[Statement, ...], piece: str, net: NetworkId, documents: Documents
) -> StandingCause:
    """Fault in a piece of a contribution, or in a report that claims one where there is none."""
    if len(statements) != 1:
        raise _unproven("a piece belongs to one leaf")
    match statements[0].body:
        case WorkCommit() | WitnessProof() as body:
            return _shown(body, piece, documents)
        case FaultReport(piece=named) as report if named == piece:
            if _proves_nothing(report, net, documents):
                return StandingCause.FALSE_REPORT
    raise _unproven(f"a {statements[0].type} does not name this piece")


def _shown(body: WorkCommit | WitnessProof, name: str, documents: Documents) -> StandingCause:
    """Fault of the statement that the piece shows; raises RefusedError if it shows none."""
    try:
        raw = documents(digest_from_text(name))
        match body:
            case WorkCommit(header=header):
                header_bytes = from_text(header, None)
                broken_rule(ContributionHeader.parse(header_bytes), PieceEvidence.parse(raw))
                return StandingCause.BAD_PAYLOAD
            case WitnessProof():
                check_unread(body, UnreadEvidence.parse(raw))
                return StandingCause.UNREAD
    except KeyError as err:
        raise RefusedError("not-found", f"upload the piece {name} first") from err
    except MalformedError as err:
        raise _unproven(str(err)) from err


def _proves_nothing(report: FaultReport, net: NetworkId, documents: Documents) -> bool:
    """True if anybody can see that the report's piece shows no fault: its author saw that too."""
    entries = [_entry(from_text(leaf, None), net) for leaf in report.leaves]
    bodies = [entry.statement.body for entry in entries]
    if len(bodies) == 1 and isinstance(bodies[0], WorkCommit | WitnessProof):
        try:
            _shown(bodies[0], report.piece, documents)
        except RefusedError as err:
            if err.code == "not-found":
                raise
            return True
    return False


def _against_each_other(one: Statement, other: Statement) -> StandingCause:
    if one.digest == other.digest:
        raise _unproven("both leaves hold the same statement")
    if one.seq == other.seq > 1:
        return StandingCause.TWO_STATEMENTS
    bodies = one.body, other.body
    same_round = (one.run, one.round) == (other.run, other.round)
    if same_round and isinstance(bodies[0], WorkCommit) and isinstance(bodies[1], WorkCommit):
        if bodies[0].header != bodies[1].header:
            return StandingCause.TWO_COMMITMENTS
        # Sent again after a lost answer, with a new number: honest programs do that.
        raise _unproven("both commitments have one header, which may be stated twice")
    raise _unproven("the leaves do not contradict each other")


def _against_round(
    statement: Statement, round_of: RoundOf
) -> tuple[StandingCause, tuple[int, ...]]:
    view = None if statement.run is None else round_of(statement.run)
    if view is None or view.number != statement.round or view.open is None:
        raise _unproven("the leaf is not about the round in progress")
    match statement.body:
        case WorkCommit(header=header):
            return _against_commitments(statement, from_text(header, None), view)
        case WitnessProof() as body:
            return _against_committee(statement, body, view), ()
    raise _unproven(f"a {statement.type} alone proves nothing")


def _against_commitments(
    statement: Statement, raw: bytes, view: RoundView
) -> tuple[StandingCause, tuple[int, ...]]:
    slot = view.slot_of.get(statement.author)
    if slot is None:
        raise _unproven(f"the author has no slot in round {view.number}")
    header = ContributionHeader.parse(raw)
    broken = view.broken_rule(statement.author, header)
    # A worker with a stale head breaks `base` in good faith; the round refuses it, and that is all.
    if broken and broken not in EXCUSED_RULES:
        return StandingCause.BAD_HEADER, ()
    logged = view.commitments.get(slot)
    if logged is not None and logged.id != contribution_id(raw):
        return StandingCause.TWO_COMMITMENTS, (logged.index,)
    raise _unproven("the commitment is valid")


def _against_committee(statement: Statement, body: WitnessProof, view: RoundView) -> StandingCause:
    if not view.is_judged:
        raise _unproven(f"round {view.number} does not accept proofs yet")
    if view.slot_of.get(statement.author) not in view.elected:
        return StandingCause.NOT_ELECTED
    try:
        fold.read_proof(view, body)
    except RefusedError as err:
        if err.code.startswith("proof-"):
            return StandingCause.BAD_PROOF
        raise _unproven(str(err)) from err
    raise _unproven("the proof is valid")


def _unproven(why: str) -> RefusedError:
    return RefusedError("wrong-evidence", f"the report proves no fault: {why}")


def apply(
    standings: KeyStatus,
    index: int,
    statement: Statement,
    net: NetworkId,
    round_of: RoundOf,
    documents: Documents,
) -> None:
    """Apply the statement at that log index; one that is refused (RefusedError) changes nothing."""
    match statement.body:
        case FaultReport() as body:
            fault = read_fault(body, net, round_of, documents, standings.is_reported)
            standings.apply_fault(index, fault)
        case StandingChange() as body:
            standings.apply_change(index, statement, body)
        case StandingAppeal() as body:
            standings.apply_appeal(index, statement, body)
        case StandingRelease() | StandingUphold() as body:
            standings.apply_ruling(index, statement, body)
        case _:
            raise RefusedError("unknown-type", f"{statement.type} is not about standing")


def subject(statement: Statement) -> PeerKey | None:
    """Key whose standing or open appeal this statement changes if accepted, or None."""
    match statement.body:
        case KeyRegister() | StandingAppeal():
            return statement.author
        case StandingChange(peer=peer) | StandingRelease(peer=peer) | StandingUphold(peer=peer):
            return key_from_text(peer)
    return None


def subject_standing(standings: KeyStatus, statement: Statement) -> Standing | None:
    """Standing of the key that this statement is about, before it is applied."""
    key = subject(statement)
    return None if key is None else standings.of(key)


def settle_points(statement: Statement, was: Standing | None, runs: Iterable[RunAccounts]) -> None:
    """Take what a newly quarantined key has not yet earned for good, or give it back; O(runs).

    `was` is the key's standing before the statement, which was applied.
    """
    match statement.body:
        case StandingChange(peer=peer, to="quarantined"):
            for accounts in runs:
                accounts.seize(key_from_text(peer))
        case StandingRelease(peer=peer) if was in LIFTED:
            for accounts in runs:
                accounts.restore(key_from_text(peer))
