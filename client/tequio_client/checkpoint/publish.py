"""Publication of heads on the Hugging Face Hub, recorded in the log.

A folder is verified before anything is uploaded, so nothing but a certified head is published. What
the Hub has is read from its tags: a restart of `follow_run` neither repeats nor skips a head.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import structlog
import trio

from tequio_client.checkpoint import export, layout, verify
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.hub import Hub, HubRevision
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.clock import BackOff, now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import find_one
from tequio_client.organiser import signing
from tequio_client.verify.report import NoProgress, WorkProgress
from tequio_client.worker import shutdown
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import TequioError, UserFacingError, first_error
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.network import CheckpointPublish

log = structlog.get_logger(__name__)

POLL_S = 30.0
MAX_BACKOFF_S = 900.0
"""Longest pause after a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """Folder and repository; `organisers` are folders of those who sign, or empty."""

    folder: Path
    repo: str
    origin: WeightsOrigin
    is_private: bool = False
    organisers: Sequence[Path] = ()


def publish_folder(
    options: PublishOptions, claim: HeadClaim, hub: Hub, report: Callable[[str], None]
) -> tuple[HubRevision, int | None]:
    """Publish a verified folder; returns the revision on the Hub, and the log entry or None."""
    published = hub.publish(
        options.folder, claim, options.repo, is_private=options.is_private, report=report
    )
    if not options.organisers:
        return published, None
    return published, log_publication(options.origin.ledger, claim, published, options.organisers)


def log_publication(
    ledger: str, claim: HeadClaim, published: HubRevision, organisers: Sequence[Path]
) -> int:
    """Log where a head was published, as the organisers; returns the log index."""
    body = CheckpointPublish(
        head=claim.head,
        weights_root=claim.weights_root,
        repo=published.repo,
        revision=published.revision,
    )
    about = RunId(digest_from_text(claim.run)), claim.round

    async def post(api: LedgerApi) -> int:
        network = await api.network()
        ours = [signing.load_organiser(folder, network) for folder in organisers]
        entry = await signing.sign_statement(api, organisers[0], body, ours, now_ms(), about=about)
        if not signing.is_complete(entry, network):
            raise UserFacingError(
                f"{published.repo} is on the Hub, but not in the log: more organisers have to "
                "sign; run this again with the folder of another one after --with"
            )
        return await signing.post_entry(api, entry, now_ms())

    with signing.locked_folders(organisers):
        return signing.ask_ledger(ledger, post)


def verify_folder(options: PublishOptions, progress: WorkProgress) -> HeadClaim:
    """Verify a folder and return its claim; raises UserFacingError if it is not that head."""
    verdict = verify.verify_folder(options.folder, options.origin, progress)
    if verdict.outcome is not VerifyOutcome.IS_THE_HEAD:
        raise UserFacingError("not published: " + "; ".join(verdict.lines))
    return layout.HeadClaim.parse((options.folder / layout.CLAIM).read_bytes())


def follow_run(
    options: PublishOptions,
    run: str,
    every: int,
    hub: Hub,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Publish a head in every `every` rounds until the run ends; the folder has unfinished work.

    Failures are logged and retried with back-off.
    """
    options.folder.mkdir(parents=True, exist_ok=True)
    back_off = BackOff(Random(options.repo), MAX_BACKOFF_S)  # noqa: S311 - pauses, no secrets
    is_over = False
    while not is_over:
        wait_s = POLL_S
        try:
            is_over = _publish_if_due(options, run, every, hub)
            back_off.reset()
        except* TequioError as group:
            wait_s = back_off.next_s()
            log.warning("not published yet", error=str(first_error(group)), again_s=wait_s)
        if not is_over:
            pause(wait_s)


def is_due(head: int, published: int | None, every: int, *, is_finished: bool) -> bool:
    """Tell if the head of a round is to be published; `published` is the last round on the Hub."""
    if published is not None and head <= published:
        return False
    return is_finished or head // every > (published or 0) // every


def _publish_if_due(options: PublishOptions, run: str, every: int, hub: Hub) -> bool:
    """Publish the present head if it is due; True when the run has ended."""
    with shutdown.explain_unreachable_ledger(options.origin.ledger):
        found = trio.run(_run, options.origin, run)
    is_finished = found.state == RunState.FINISHED
    if found.head_round is None:
        return is_finished
    last = hub.last_round(options.repo)
    if is_due(found.head_round, last, every, is_finished=is_finished):
        _publish(options, hub, found)
    return is_finished


def _publish(options: PublishOptions, hub: Hub, found: RunAnswer) -> None:
    target = options.folder / f"round-{found.head_round}"
    if not (target / layout.CLAIM).exists():
        exporting = export.ExportOptions(
            origin=options.origin, run=found.run, round=found.head_round, target=target
        )
        export.export_head(exporting, NoProgress())
    publishing = replace(options, folder=target)
    claim = verify_folder(publishing, NoProgress())
    done, entry = publish_folder(
        publishing, claim, hub, lambda name: log.debug("upload", file=name)
    )
    log.info("published", repo=done.repo, tag=done.tag, revision=done.revision, entry=entry)
    shutil.rmtree(target)


async def _run(origin: WeightsOrigin, run: str) -> RunAnswer:
    async with LedgerApi(origin.ledger, trust=origin.trust) as api:
        return find_one("run", await api.runs(), lambda one: (one.name, one.run), run)
