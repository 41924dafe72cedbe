"""Publication of heads on the Hugging Face Hub or in a bucket, recorded in the log.

A folder is verified before anything is uploaded, so nothing but a certified head is published. What
is there is read from its tags: a restart of `follow_run` neither repeats nor skips a head. It keeps
an export until its statement is logged, and goes on with that one first. One that turns out not to
be a head that the log knows is given up.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

import structlog
import trio

from tequio_client.checkpoint import export, layout, verify
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.clock import BackOff, now_ms
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.organiser import opening, signing
from tequio_client.organiser.verdicts import VerdictReader
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import NoProgress, WorkProgress
from tequio_client.worker import shutdown
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import TequioError, UserFacingError, first_error
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.network import CheckpointPublish

log = structlog.get_logger(__name__)

T = TypeVar("T")
POLL_S = 30.0
VERDICT_POLLS = 120
"""Looks for the verdict on the last head of a run that has ended: for an hour."""
MAX_BACKOFF_S = 900.0
"""Longest pause after a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """Folder and location; `organisers` are folders of those who sign, or empty."""

    folder: Path
    location: str
    """`user/name` on the Hub, or `s3://bucket/prefix`."""
    origin: WeightsOrigin
    is_private: bool = False
    is_measured: bool = False
    """True for the newest fine head instead of the newest, where heads are followed."""
    organisers: Sequence[Path] = ()


class WrongHeadError(UserFacingError):
    """The folder has no head that the log knows: it can never be published."""


class HeadStorage(Protocol):
    """Storage for published heads: the Hub, or a bucket."""

    def publish(
        self,
        folder: Path,
        claim: HeadClaim,
        location: str,
        /,
        *,
        is_private: bool,
        report: Callable[[str], None],
    ) -> PublishedRevision:
        """Upload an exported folder unless it is there; raises UserFacingError."""

    def download(self, location: str, revision: str | None, folder: Path | None = None, /) -> Path:
        """Download an export; raises UserFacingError, MalformedError."""

    def published_rounds(self, location: str, /) -> set[int]:
        """Rounds whose heads are there; raises UserFacingError."""


def publish_folder(
    options: PublishOptions, claim: HeadClaim, storage: HeadStorage, report: Callable[[str], None]
) -> tuple[PublishedRevision, int | None]:
    """Publish a verified folder; returns the revision there, and the log entry or None.

    Raises UserFacingError, before anything is uploaded, if these organisers cannot log it.
    """
    _check_signers(options)
    published = storage.publish(
        options.folder, claim, options.location, is_private=options.is_private, report=report
    )
    if not options.organisers:
        return published, None
    return published, log_publication(options.origin.ledger, claim, published, options.organisers)


def log_publication(
    ledger: str, claim: HeadClaim, published: PublishedRevision, organisers: Sequence[Path]
) -> int:
    """Log where a head was published, as the organisers, unless it is logged; returns the index.

    Raises UserFacingError, and WrongHeadError if the log has another head, or none any more.
    """
    body = CheckpointPublish(
        head=claim.head,
        weights_root=claim.weights_root,
        location=published.location,
        revision=published.revision,
    )
    run = RunId(digest_from_text(claim.run))
    place = claim.round, published.location, published.revision

    async def post(api: LedgerApi) -> int:
        ours = opening.load_organisers(await api.network(), organisers)
        for one in (await api.run(run)).published:
            if (one.round, one.location, one.revision) == place:
                return one.index  # by a program that was cut off before it deleted the export
        entry = await signing.sign_statement(
            api, organisers[0], body, ours, now_ms(), about=(run, claim.round)
        )
        try:
            return await signing.post_own_entry(api, organisers[0], entry)
        except LedgerRefusedError as err:
            if err.code != "wrong-head":
                raise
            raise WrongHeadError(f"the ledger at {ledger} refused the request: {err}") from err

    with signing.locked_folders(organisers):
        return shutdown.ask_ledger(ledger, post)


def _check_signers(options: PublishOptions) -> None:
    if options.organisers:
        with signing.locked_folders(options.organisers):
            opening.load_organisers(_network(options), options.organisers)


def _network(options: PublishOptions) -> LedgerNetwork:
    return shutdown.ask_ledger(options.origin.ledger, LedgerApi.network)


def verify_folder(options: PublishOptions, progress: WorkProgress) -> HeadClaim:
    """Verify a folder and return its claim.

    Raises WrongHeadError if it is not that head, and UserFacingError if it cannot be verified.
    """
    verdict = verify.verify_folder(options.folder, options.origin, progress)
    if verdict.outcome is not VerifyOutcome.IS_THE_HEAD:
        is_wrong = verdict.outcome is VerifyOutcome.IS_NOT
        error = WrongHeadError if is_wrong else UserFacingError
        raise error("not published: " + "; ".join(verdict.lines))
    return layout.HeadClaim.parse((options.folder / layout.CLAIM).read_bytes())


def follow_run(
    options: PublishOptions,
    run: str,
    every: int,
    storage: HeadStorage,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Publish a head in every `every` rounds until the run ends; the folder has unfinished work.

    With `is_measured`, waits at the end until the last head has a verdict, `VERDICT_POLLS` at most.
    Failures are logged and retried with back-off. Raises UserFacingError, at the beginning alone,
    if these organisers cannot log it.
    """
    back_off = BackOff(Random(options.location), MAX_BACKOFF_S)  # noqa: S311 - pauses, no secrets
    reader = VerdictReader(name=run) if options.is_measured else None
    exports = LogExports(options, options.origin.reader())
    polls = 0

    def persist(work: Callable[[], T]) -> T:
        while True:
            try:
                done = work()
            except* TequioError as group:
                wait_s = back_off.next_s()
                log.warning("not published yet", error=str(first_error(group)), again_s=wait_s)
                pause(wait_s)
            else:
                back_off.reset()
                return done

    def publish_next() -> bool:
        nonlocal polls
        found = _find_heads(options, run, reader)
        polls += found.is_finished
        is_last = found.is_finished and (found.is_settled or polls > VERDICT_POLLS)
        _publish_if_due(exports, found, every, storage, is_last=is_last)
        return is_last

    signing.check_folders(options.organisers)  # without the ledger, which may be away for long
    if options.organisers:
        opening.load_organisers(persist(lambda: _network(options)), options.organisers)
    options.folder.mkdir(parents=True, exist_ok=True)
    while not persist(publish_next):
        pause(POLL_S)


def is_due(head: int, published: set[int], every: int, *, is_finished: bool) -> bool:
    """Tell if the head of a round is to be published; `published` are the rounds there.

    The last head is, even after one of a later round: the run may have gone back to it.
    """
    if head in published:
        return False
    return is_finished or head // every > max(published, default=0) // every


@dataclass(frozen=True, slots=True, kw_only=True)
class _FollowedHead:
    """The head of a run that comes next, if its turn has come."""

    run: RunAnswer
    round: int | None
    is_settled: bool
    """False as long as the run's last head can still become the next one."""

    @property
    def is_finished(self) -> bool:
        return self.run.state == RunState.FINISHED


def _find_heads(options: PublishOptions, run: str, reader: VerdictReader | None) -> _FollowedHead:
    ledger = options.origin.ledger
    if reader is not None:
        seen = shutdown.ask_ledger(ledger, reader.read)
        last = seen.run.head_round
        is_settled = any(one.round == last and one.measured for one in seen.judged())
        return _FollowedHead(run=seen.run, round=seen.newest_fine(), is_settled=is_settled)
    with shutdown.explain_unreachable_ledger(ledger):
        found = trio.run(options.origin.find_run, run)
    return _FollowedHead(run=found, round=found.head_round, is_settled=True)


@dataclass(frozen=True, slots=True)
class LogExports:
    """Options, and a reader of the log that goes on from head to head."""

    options: PublishOptions
    reader: LedgerReader


def _publish_if_due(
    exports: LogExports,
    found: _FollowedHead,
    every: int,
    storage: HeadStorage,
    *,
    is_last: bool,
) -> None:
    options = exports.options
    for target in _unfinished(options.folder, found.run.run):
        try:
            _publish(options, storage, target)
        except WrongHeadError as err:
            log.warning("given up", folder=str(target), error=str(err))
            _remove(target)
    if found.round is None:
        return
    published = storage.published_rounds(options.location)
    if is_due(found.round, published, every, is_finished=is_last):
        target = options.folder / f"round-{found.round}"
        export.remove_unfinished(target, "round-*")
        exporting = export.ExportOptions(
            origin=options.origin, run=found.run.run, round=found.round, target=target
        )
        export.export_head(exporting, NoProgress(), exports.reader)
        _publish(options, storage, target)


def _unfinished(folder: Path, run: str) -> list[Path]:
    """Exports of the run's heads that were not published, or whose statement was not logged."""
    found = [
        (layout.HeadClaim.parse(path.read_bytes()), path.parents[1])
        for path in folder.glob(f"round-*/{layout.CLAIM}")
    ]
    ordered = sorted(found, key=lambda one: one[0].round)
    return [target for claim, target in ordered if claim.run == run]


def _publish(options: PublishOptions, storage: HeadStorage, target: Path) -> None:
    publishing = replace(options, folder=target)
    claim = verify_folder(publishing, NoProgress())
    done, entry = publish_folder(
        publishing, claim, storage, lambda name: log.debug("upload", file=name)
    )
    log.info("published", location=done.location, tag=done.tag, revision=done.revision, entry=entry)
    _remove(target)


def _remove(target: Path) -> None:
    (target / layout.CLAIM).unlink()  # first: half a folder is not unfinished
    shutil.rmtree(target)
