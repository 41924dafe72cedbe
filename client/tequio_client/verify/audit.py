"""One audit from end to end, over a source of the log and one of contributions.

The audit itself is synchronous. Of a live ledger it runs in a thread, and what it reads is fetched
in trio: the log over HTTP, contributions over libp2p unless store folders were given.

Every head is recomputed from head 0's weights and the accepted contributions alone. A round whose
contributions are unavailable leaves a gap: the audit reports it, and goes on from the next promoted
head whose weights it finds, which it checks against the root in the log.
"""

from __future__ import annotations

import mmap
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio

from tequio_client.files import delete
from tequio_client.ledger.api import LedgerApi
from tequio_client.trainer.head import ComputedHead, HeadFiles, compute_next_head, engine_for
from tequio_client.verify.fold import UNKNOWN_BASIS, Fold, RunHistory
from tequio_client.verify.omissions import OmissionCheck
from tequio_client.verify.reader import FoldedLog
from tequio_client.verify.report import LogPlace, LogReport, NoProgress, WorkProgress
from tequio_client.verify.source import (
    ContributionSource,
    LedgerSource,
    LiveLog,
    NotAvailableError,
    open_copy,
)
from tequio_client.worker.store.trees import TreeRef, hash_tree_file, head_refs
from tequio_client.worker.swarm.seeds import open_seeds
from tequio_shared import encoding
from tequio_shared.errors import PeerError
from tequio_shared.head.chain import AcceptedSet, AcceptedWork, Head
from tequio_shared.head.contribution import validate
from tequio_shared.head.head import OuterStep
from tequio_shared.ids import HeadHash, NetworkId, RunId, digest_from_text, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.policy import NoQuorumError, Policy
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import Manifest
from tequio_shared.served.questions import Basis, Question, as_of_answer, differences, questions

if TYPE_CHECKING:
    from tequio_shared.api.answer import AsOf


PUBLISHED_S = 15.0
"""Longest time that answers may be ahead of the checkpoint: witnesses cosign in between."""
_NOT_PARENT = "the run that it continues had promoted no such head of that round"
UNVOUCHED = (
    "cannot vouch for {} rosters, as something that they rest on is missing: "
    "who trained and witnessed there is the ledger's word alone"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Heads to check: of one run, or of all; without contributions, only the log is checked."""

    run: RunId | None = None
    contributions: tuple[ContributionSource, ...] = ()
    trust: Policy | None = None
    patience_s: float = 0.0
    """Longest wait for a checkpoint that covers the ledger's answers."""
    omissions: tuple[Path, ...] = ()
    """Files and folders with evidence of attestations that the log lacks."""
    network: NetworkId | None = None
    """The network whose log this has to be; None for any."""
    seen: Checkpoint | None = None
    """A checkpoint that the ledger showed earlier: the log has to continue it."""


def audit(
    source: LedgerSource,
    scope: AuditOptions,
    progress: WorkProgress | None = None,
    *,
    keep: Callable[[bytes], None] | None = None,
) -> LogReport:
    """Check the log, what the ledger derived from it, and the heads; never raises for a fault.

    `keep` is given the note of the checkpoint to which the log was read, if it continues the one
    that was seen before. It may raise NotAvailableError or PeerError, which the report then says.
    """
    report = LogReport()
    shown = progress or NoProgress()
    try:
        log = LogAudit(source, scope, report, shown)
        log.read()
    except (NotAvailableError, NoQuorumError) as err:
        report.missing("log", LogPlace(), str(err))
        return report
    except PeerError as err:
        report.mismatch("log", LogPlace(), str(err))
        return report
    if keep is not None and log.signed_note and log.continues_seen:
        try:
            keep(log.signed_note)
        except (NotAvailableError, PeerError) as err:  # damaged here: not the ledger's fault
            report.missing("copy", LogPlace(), str(err))
    _check_heads(log.fold, scope, report, shown)
    return report


async def audit_live(
    url: str,
    scope: AuditOptions,
    *,
    cache: Path | None,
    progress: WorkProgress,
    copy: Path | None = None,
) -> LogReport:
    """Audit a ledger; with a `cache` folder, what the scope's stores lack comes from seeds.

    `copy` is a folder in which the log's files are kept; the log has to continue what is there.
    """
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(LedgerApi(url, trust=scope.trust))
        if cache is not None:
            seeds = await stack.enter_async_context(open_seeds(api, cache))
            scope = replace(scope, contributions=(*scope.contributions, seeds))
        live = LiveLog(api)
        if copy is None:
            return await trio.to_thread.run_sync(audit, live, scope, progress)
        copied = stack.enter_context(open_copy(live, copy))
        scope = replace(scope, seen=copied.kept())
        checking = partial(audit, copied, scope, progress, keep=copied.finish)
        return await trio.to_thread.run_sync(checking)


ASKED_AT_ONCE = 64
"""Answers that are held until the log is read to the size for which they are true."""
FAILED_QUESTIONS = 8
"""Unanswered questions after which no more are asked."""
LISTED_DIFFERENCES = 100
"""Findings of one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAnswer:
    """An answer of the ledger, not compared yet."""

    question: Question
    as_of: AsOf
    content: object


class LogAudit:
    """Reads the log to its newest checkpoint, and further if the ledger's answers are newer.

    Every answer about the log is compared with the one that follows from the log of the size that
    it names (`tequio_shared.served.questions`): answers are asked for in bundles, and the log is
    read from the size of one to that of the next. Can be read again when the log has grown: only
    what is new is read.
    """

    def __init__(
        self, source: LedgerSource, scope: AuditOptions, report: LogReport, progress: WorkProgress
    ) -> None:
        """Read nothing but the genesis; raises NotAvailableError, PeerError for another network."""
        self._source = source
        self._report = report
        self._progress = progress
        self._scope = scope
        self._patience_s = 0.0
        self.continues_seen = True
        """False once the log contradicts the checkpoint that was seen before, or is shorter."""
        self._log = FoldedLog(source, report, tiles=source, policy=scope.trust)
        found = self._log.genesis.network_id
        if scope.network not in (None, found):
            raise PeerError(f"this is the ledger of another network: {to_text(found)}")
        self._failed = 0
        self.fold = self._log.fold
        self._omissions = OmissionCheck(self.fold.view, report, scope.omissions)
        self.fold.before_entry = self._omissions.follow

    def read(self) -> None:
        """Check everything that needs no contributions; raises NotAvailableError, PeerError."""
        self._patience_s = self._scope.patience_s
        seen = self._scope.seen
        at_least = seen.size if seen else 0
        self._log.read(self._progress, at_least=at_least, patience_s=self._patience_s)
        if seen:
            before = len(self._report.findings)
            self._log.reader.check_beginning(seen)
            self.continues_seen = len(self._report.findings) == before
        self._compare_answers()
        self._check_parents()
        self._log.read()  # what answers were ahead of may be in the middle of a checkpoint
        signed = self._log.reader.signed
        self._report.checkpoint = signed.checkpoint if signed else None
        self._report.totals = self.fold.audit_totals()
        if self.fold.unvouched:
            self._report.missing("rosters", LogPlace(), UNVOUCHED.format(self.fold.unvouched))
        self._omissions.report_all()

    @property
    def signed_note(self) -> bytes:
        """The note of the last checkpoint that was read to, and whose root the entries make."""
        return self._log.reader.note

    def _check_parents(self) -> None:
        """Check that each first head continued from a run of this network is a head of that run."""
        for run, history in self.fold.runs.items():
            parent = history.view.manifest.continued
            if parent is None or parent.network != to_text(self._log.genesis.network_id):
                continue
            place = LogPlace(entry=self.fold.view.opened[run], run=to_text(run), round=0)
            was = self.fold.runs.get(RunId(digest_from_text(parent.run)))
            heads = (
                [head for index, head in was.promoted if index < (place.entry or 0)] if was else []
            )
            head = next((one for one in heads if to_text(one.hash) == parent.head), None)
            if head is None and was is not None and was.is_broken:
                self._report.missing("first head", place, UNKNOWN_BASIS)
                continue
            due = (parent.round, history.view.manifest.model.weights_root)
            found = (head.round, to_text(head.weights_root)) if head else None
            if self._report.compare("first head", place, _NOT_PARENT, {"head": (due, found)}):
                self._report.checked["first heads from other runs"] += 1

    def _compare_answers(self) -> None:
        waiting, self._failed = deque(questions(self.fold.view)), 0
        with self._progress.work("answers", len(waiting)) as tick:
            while waiting and self._failed < FAILED_QUESTIONS:
                some = [waiting.popleft() for _ in range(min(len(waiting), ASKED_AT_ONCE))]
                stated = [one for one in map(self._ask, some) if one is not None]
                for one in sorted(stated, key=lambda one: one.as_of.size):
                    waiting.extend(self._compare(one))
                tick(len(some))
        if waiting:
            detail = (
                f"{len(waiting)} answers and their further pages were not compared: too many failed"
            )
            self._report.missing("derived answers", LogPlace(), detail)

    def _ask(self, question: Question) -> StatedAnswer | None:
        try:
            raw = None if self._failed >= FAILED_QUESTIONS else self._source.answer(question.url)
            if raw is None:
                return None
            content = encoding.read(raw, object)
            as_of = as_of_answer(question.url, content)
        except NotAvailableError as err:
            self._failed += 1
            self._report.missing("derived answers", _place(question), f"{question.url}: {err}")
        except PeerError as err:
            self._report.mismatch("derived answers", _place(question), str(err))
        else:
            return StatedAnswer(question=question, as_of=as_of, content=content)
        return None

    def _compare(self, stated: StatedAnswer) -> Iterator[Question]:
        """Compare an answer; gives the question for its next page, if it has one."""
        question, size = stated.question, stated.as_of.size
        if size < self._log.size:  # of a process behind the one that answered before: ask again
            self._failed += 1
            yield question
            return
        if not self._log.read_to(size, self._patience_s):
            self._failed += 1
            self._patience_s = 0.0  # for all of them together
            # It is neither right nor wrong yet.
            detail = f"true for {size} entries, of which {self._log.size} are published"
            self._report.missing(
                "derived answers", _place(question), f"{detail}: audit again later"
            )
            return
        self._report.checked["derived answers"] += 1
        fold = self.fold
        basis = Basis(state=fold.view, rows=fold.rows, now_ms=self._log.last_ms)
        due = question.due(basis, stated.as_of)
        found = differences(due, stated.content)
        sure = (one for one in found if not self._is_doubtful(question.path, one.place))
        for one in islice(sure, LISTED_DIFFERENCES):
            what, place = f"answer {question.path}, {one.place}", _place(question)
            detail = f"as of {size} entries"
            self._report.mismatch(what, place, detail, expected=one.due, found=one.found)
        following = question.following(due)
        if following is not None:
            yield following

    def _is_doubtful(self, path: str, place: str) -> bool:
        """Return whether the due value rests on something that could not be folded."""
        fold = self.fold
        broken = [to_text(run) for run, history in fold.runs.items() if history.is_broken]
        names = f"{path} {place}"
        if path.startswith("/v1/competitions"):
            return fold.are_competitions_unsure
        if path.startswith("/v1/runs"):
            return any(run in names for run in broken)
        if path in ("/v1/invitations", "/v1/connectors") or "tier." in place:
            return fold.are_tiers_unsure
        if path == "/v1/quarantine" or "standing." in place:
            return fold.is_standing_unsure
        if path == "/v1/release":  # follows from its own statements alone
            return False
        return bool(broken)  # points would differ for a reason that was reported already


def _place(question: Question) -> LogPlace:
    kind, _, name = question.path.removeprefix("/v1/").partition("/")
    subject = name.partition("/")[0] or None
    return LogPlace(
        run=subject if kind == "runs" else None, peer=subject if kind == "peers" else None
    )


def _check_heads(
    fold: Fold, scope: AuditOptions, report: LogReport, progress: WorkProgress
) -> None:
    if scope.run is not None and scope.run not in fold.runs:
        report.missing("run", LogPlace(run=to_text(scope.run)), "the log has no such run")
    if not scope.contributions:
        return
    for run, history in fold.runs.items():
        if scope.run not in (None, run):
            continue
        with (
            TemporaryDirectory(prefix="tequio-audit-") as folder,
            progress.work("heads", len(history.promoted)) as tick,
        ):
            HeadAudit(history, scope.contributions, report, Path(folder)).run(tick)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHead:
    weights: Path
    aux: Path | None


class HeadAudit:
    """Recomputes the heads of one run, in a work folder that it may fill."""

    def __init__(
        self,
        history: RunHistory,
        sources: Sequence[ContributionSource],
        report: LogReport,
        folder: Path,
    ) -> None:
        self._history = history
        self._manifest = history.view.manifest
        self._run = to_text(self._manifest.run_id)
        self._sources = sources
        self._report = report
        self._folder = folder

    def run(self, tick: Callable[[int], None]) -> None:
        """Check every promoted head; each costs a tick."""
        code = self._manifest.own_code
        if code is not None:
            self._report.remarks.append(
                f"run {self._manifest.name} trains with code of its own, {code.name} "
                f"{code.version} ({code.archive}); its heads were recomputed without it, and "
                "only to repeat training would it be needed"
            )
        # After a rollback two heads have one parent, so files stay until no head needs them.
        promoted = self._history.promoted
        needed = Counter(head.parent for _, head in promoted)
        stored: dict[HeadHash, StoredHead] = {}
        for index, head in promoted:
            parent = stored.get(head.parent)
            if head.round == 0:
                made = self._first(index, head)
            else:
                made = self._next(index, head, parent) or self._load(index, head)
            needed[head.parent] -= 1
            if parent is not None and not needed[head.parent]:
                self._drop(stored.pop(head.parent))
            if made is not None:
                stored[head.hash] = made
            tick(1)

    def _first(self, index: int, head: Head) -> StoredHead | None:
        """Find head 0; its root is the manifest's, as the fold has checked."""
        held = self._load(index, first_head(self._manifest))
        if held is None and not self._is_damaged(index, head):
            place = LogPlace(entry=index, run=self._run, round=0)
            self._report.missing("weights of head 0", place, "no source has them")
        return held

    def _next(self, index: int, head: Head, held: StoredHead | None) -> StoredHead | None:
        """Compute a head from the one before and compare; None when that was not possible."""
        place = LogPlace(entry=index, run=self._run, round=head.round)
        closed = self._history.closed[head.round]
        payloads = [self._payload(closed, work) for work in closed.works]
        found = [path for path in payloads if path is not None]
        if held is None or len(found) < len(payloads):
            what = "weights of the head before it" if held is None else "contributions"
            self._report.missing("head", place, f"not recomputed: the {what} are missing")
            return None
        headers = [work.header for work in closed.works]
        made, files = self._advance(closed, held, list(zip(headers, found, strict=True)))
        self._report.checked["heads recomputed"] += 1
        return files if self._compare(place, head, made) else None

    def _advance(
        self, closed: AcceptedSet, held: StoredHead, contributions: list[tuple[bytes, Path]]
    ) -> tuple[ComputedHead, StoredHead]:
        step = head_step(self._manifest, closed)
        weights = self._folder / f"weights-{closed.round}"
        keeps_aux = step.params.aux_dtype is not None
        aux = self._folder / f"aux-{closed.round}" if keeps_aux else None
        files = HeadFiles(
            weights_in=held.weights, weights_out=weights, aux_in=held.aux, aux_out=aux
        )
        made = compute_next_head(
            step=step, contributions=contributions, files=files, engine=engine_for(step)
        )
        return made, StoredHead(weights=weights, aux=aux)

    def _drop(self, held: StoredHead) -> None:
        """Delete computed files that are no longer needed; those of a store stay."""
        for path in (held.weights, held.aux):
            if path is not None and path.parent == self._folder:
                delete(path)

    def _compare(self, place: LogPlace, head: Head, made: ComputedHead) -> bool:
        pairs = {
            "set_root": (made.set_root, head.set_root),
            "weights_root": (made.weights_root, head.weights_root),
            "aux_root": (made.aux_root, head.aux_root),
            "hash": (made.head, head.hash),
        }
        texts: dict[str, tuple[object, object]] = {
            name: (to_text(due), to_text(found)) for name, (due, found) in pairs.items()
        }
        detail = "the log's is not the one computed from the accepted contributions"
        return self._report.compare("head", place, detail, texts)

    def _payload(self, closed: AcceptedSet, work: AcceptedWork) -> Path | None:
        """Find a payload that passes every rule; report what is wrong with one that does not."""
        shape, chunks = closed.expected.shape, closed.expected.chunks
        ref = TreeRef(
            root=work.payload_root,
            size_bytes=chunks * shape.record_bytes,
            piece_bytes=shape.group_bytes,
        )
        broken = ""
        for path in self._candidates(ref):
            broken = _broken_rule(work, path, closed)
            if not broken:
                self._report.checked["contributions"] += 1
                return path
        place = LogPlace(
            entry=closed.index, run=self._run, round=closed.round, peer=to_text(work.trainer)
        )
        if broken:
            self._report.mismatch("contribution", place, f"it breaks the rule `{broken}`")
        else:
            self._report.missing("contribution", place, f"no source has {ref.root.hex()}")
        return None

    def _load(self, index: int, head: Head) -> StoredHead | None:
        found = []
        for ref in head_refs(self._manifest, head):
            path = self._tree(index, head, ref)
            if path is None:
                return None
            found.append(path)
        return StoredHead(weights=found[0], aux=found[1] if found[1:] else None)

    def _tree(self, index: int, head: Head, ref: TreeRef) -> Path | None:
        damaged = ""
        for path in self._candidates(ref):
            damaged = _wrong_root(ref, path)
            if not damaged:
                return path
        if damaged:
            place = LogPlace(entry=index, run=self._run, round=head.round)
            self._report.mismatch("stored head", place, expected=ref.root.hex(), found=damaged)
        return None

    def _candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Files that may hold the tree; a source is asked only when all before it failed."""
        return chain.from_iterable(source.candidates(ref) for source in self._sources)

    def _is_damaged(self, index: int, head: Head) -> bool:
        """True if a finding names the reason already why this head could not be loaded."""
        return any(
            one.what == "stored head" and one.place.entry == index and one.place.round == head.round
            for one in self._report.findings
        )


def head_step(manifest: Manifest, closed: AcceptedSet) -> OuterStep:
    return OuterStep(
        run_id=manifest.run_id,
        round=closed.round,
        parent=closed.parent,
        layout=manifest.layout,
        params=manifest.outer_params(closed.round, closed.k),
    )


def _broken_rule(work: AcceptedWork, path: Path, closed: AcceptedSet) -> str:
    if path.stat().st_size == 0:
        return "length"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as payload:
        view = memoryview(payload)
        try:
            return validate(work.header, view, closed.expected, work.seal) or ""
        finally:
            view.release()


def _wrong_root(ref: TreeRef, path: Path) -> str:
    """Hash a file; '' when it is the tree, else the root that it has."""
    with path.open("rb") as file:
        found = hash_tree_file(file, ref.piece_bytes).ref
    return "" if found == ref else found.root.hex()
