"""A head to the Hub, and the statement that it is there.

The folder is verified before anything is sent: nothing is published that is not the head.
"""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.checkpoint import export, layout, verify
from tequio_client.checkpoint.story import Wanted
from tequio_client.checkpoint.verify import Outcome
from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.locks import locked
from tequio_client.names import is_meant
from tequio_client.organiser import signing
from tequio_client.verify.progress import Quiet
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.backoff import BackOff
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.network.run import State
from tequio_shared.statements.network import CheckpointPublish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_client.checkpoint.hub import Hub, Published
    from tequio_client.checkpoint.layout import Claim
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.api.runs import RunAnswer
    from tequio_shared.log.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be published and where; `organisers` are folders of those who sign, or none."""

    folder: Path
    repo: str
    ledger: str
    is_private: bool = False
    organisers: Sequence[Path] = ()
    trust: Policy | None = None


def run(
    options: Wish, claim: Claim, hub: Hub, told: Callable[[str], None]
) -> tuple[Published, int | None]:
    """Publish what was verified; gives what is on the Hub, and the log entry that says so, if any.

    `told` hears which file is next. Raises UserFacingError.
    """
    published = hub.publish(
        options.folder, claim, options.repo, is_private=options.is_private, told=told
    )
    if not options.organisers:
        return published, None
    return published, say(options.ledger, claim, published, options.organisers)


def say(ledger: str, claim: Claim, published: Published, organisers: Sequence[Path]) -> int:
    """Have organisers state where a head was published; gives the log index."""
    with ExitStack() as stack:
        for folder in organisers:
            stack.enter_context(locked(folder))
        stack.enter_context(shutdown.reached(ledger))
        return trio.run(partial(_say, ledger, claim, published, organisers))


def verified(options: Wish, progress: WorkProgress) -> Claim:
    """The claim of a folder that bears it out; raises UserFacingError for any other."""
    check = verify.Wish(folder=options.folder, ledger=options.ledger, trust=options.trust)
    verdict = verify.run(check, progress)
    if verdict.outcome is not Outcome.IS_THE_HEAD:
        raise UserFacingError("not published: " + "; ".join(verdict.lines))
    return layout.Claim.parse((options.folder / layout.CLAIM).read_bytes())


async def _say(ledger: str, claim: Claim, published: Published, organisers: Sequence[Path]) -> int:
    body = CheckpointPublish(
        head=claim.head,
        weights_root=claim.weights_root,
        repo=published.repo,
        revision=published.revision,
    )
    about = RunId(digest_from_text(claim.run)), claim.round
    async with LedgerApi(ledger) as api:
        network = await api.network()
        ours = [signing.of(folder, network) for folder in organisers]
        entry = await signing.signed(api, organisers[0], body, ours, now_ms(), about=about)
        if not signing.is_complete(entry, network):
            raise UserFacingError(
                f"{published.repo} is on the Hub, but the log does not say so: more organisers "
                "have to sign; run this again with --with and the folder of another one"
            )
        return await signing.send(api, entry, now_ms())


# --- Publishing a run's heads as they come: each so many rounds, and the last.
#
# What the Hub has is read from its tags, so a restart neither repeats nor forgets anything. What
# fails, for whatever reason, is said and tried again with growing pauses.

log = structlog.get_logger(__name__)

POLL_S = 30.0
LONGEST_S = 900.0
"""Between two tries that fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowWish:
    """Which run's heads go where, and how often."""

    run: str
    every: int
    work: Path
    repo: str
    ledger: str
    stores: Sequence[Path] = ()
    is_private: bool = False
    organisers: Sequence[Path] = ()
    trust: Policy | None = None


def follow_run(options: FollowWish, hub: Hub, pause: Callable[[float], None] = time.sleep) -> None:
    """Go on until the run has ended and its last head is published."""
    options.work.mkdir(parents=True, exist_ok=True)
    back_off = BackOff(Random(options.repo), LONGEST_S)  # noqa: S311 - pauses, no secrets
    is_over = False
    while not is_over:
        wait_s = POLL_S
        try:
            is_over = _look(options, hub)
            back_off.reset()
        except* TequioError as group:
            wait_s = back_off.next_s()
            log.warning("not published yet", error=str(shutdown.first_of(group)), again_s=wait_s)
        if not is_over:
            pause(wait_s)


def is_due(head: int, published: int | None, every: int, *, is_finished: bool) -> bool:
    """Whether the head of a round is to be published; `published` is the last one that was."""
    if published is not None and head <= published:
        return False
    if is_finished:
        return True
    before = 0 if published is None else published // every
    return head // every > before


def _look(options: FollowWish, hub: Hub) -> bool:
    """Publish the present head if it is due; whether all is done."""
    with shutdown.reached(options.ledger):
        found = trio.run(partial(_run, options))
    is_finished = found.state == State.FINISHED
    if found.head_round is None:
        return is_finished
    last = hub.last_round(options.repo)
    if is_due(found.head_round, last, options.every, is_finished=is_finished):
        _publish(options, hub, found)
    return is_finished


def _publish(options: FollowWish, hub: Hub, found: RunAnswer) -> None:
    target = options.work / f"round-{found.head_round}"
    if not (target / layout.CLAIM).exists():
        wanted = Wanted(run=found.run, round=found.head_round)
        exporting = export.Wish(
            ledger=options.ledger,
            wanted=wanted,
            target=target,
            stores=options.stores,
            trust=options.trust,
        )
        export.run(exporting, Quiet())
    publishing = Wish(
        folder=target,
        repo=options.repo,
        ledger=options.ledger,
        is_private=options.is_private,
        organisers=options.organisers,
        trust=options.trust,
    )
    claim = verified(publishing, Quiet())
    done, entry = run(publishing, claim, hub, lambda text: log.debug("upload", file=text))
    log.info("published", repo=done.repo, tag=done.tag, revision=done.revision, entry=entry)
    shutil.rmtree(target)


async def _run(options: FollowWish) -> RunAnswer:
    async with LedgerApi(options.ledger, trust=options.trust) as api:
        found = [
            one
            for one in await api.runs()
            if not options.run or is_meant(one.name, one.run, options.run)
        ]
    if len(found) != 1:
        raise UserFacingError(f"{len(found)} runs are called {options.run!r}: give the id")
    return found[0]
