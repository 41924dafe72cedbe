"""Publishing a run's heads as they come: each so many rounds, and the last.

What the Hub has is read from its tags, so a restart neither repeats nor forgets anything. What
fails, for whatever reason, is said and tried again with growing pauses.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.checkpoint import export, parts, publish
from tequio_client.checkpoint.story import Wanted
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import is_meant
from tequio_client.verify.progress import Quiet
from tequio_client.worker import endings
from tequio_client.worker.backoff import BackOff
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.run_states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_client.checkpoint.hub import Hub
    from tequio_shared.api.runs import RunAnswer
    from tequio_shared.policy import Policy


log = structlog.get_logger(__name__)

POLL_S = 30.0
LONGEST_S = 900.0
"""Between two tries that fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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


def run(wish: Wish, hub: Hub, pause: Callable[[float], None] = time.sleep) -> None:
    """Go on until the run has ended and its last head is published."""
    wish.work.mkdir(parents=True, exist_ok=True)
    back_off = BackOff(Random(wish.repo), LONGEST_S)  # noqa: S311 - pauses, no secrets
    is_over = False
    while not is_over:
        wait_s = POLL_S
        try:
            is_over = _look(wish, hub)
            back_off.reset()
        except* TequioError as group:
            wait_s = back_off.next_s()
            log.warning("not published yet", error=str(endings.first_of(group)), again_s=wait_s)
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


def _look(wish: Wish, hub: Hub) -> bool:
    """Publish the present head if it is due; whether all is done."""
    with endings.reached(wish.ledger):
        found = trio.run(partial(_run, wish))
    is_finished = found.state == State.FINISHED
    if found.head_round is None:
        return is_finished
    last = hub.last_round(wish.repo)
    if is_due(found.head_round, last, wish.every, is_finished=is_finished):
        _publish(wish, hub, found)
    return is_finished


def _publish(wish: Wish, hub: Hub, found: RunAnswer) -> None:
    target = wish.work / f"round-{found.head_round}"
    if not (target / parts.CLAIM).exists():
        wanted = Wanted(run=found.run, round=found.head_round)
        exporting = export.Wish(
            ledger=wish.ledger, wanted=wanted, target=target, stores=wish.stores, trust=wish.trust
        )
        export.run(exporting, Quiet())
    publishing = publish.Wish(
        folder=target,
        repo=wish.repo,
        ledger=wish.ledger,
        is_private=wish.is_private,
        organisers=wish.organisers,
        trust=wish.trust,
    )
    claim = publish.verified(publishing, Quiet())
    done, entry = publish.run(publishing, claim, hub, lambda text: log.debug("upload", file=text))
    log.info("published", repo=done.repo, tag=done.tag, revision=done.revision, entry=entry)
    shutil.rmtree(target)


async def _run(wish: Wish) -> RunAnswer:
    async with LedgerApi(wish.ledger, trust=wish.trust) as api:
        found = [
            one for one in await api.runs() if not wish.run or is_meant(one.name, one.run, wish.run)
        ]
    if len(found) != 1:
        raise UserFacingError(f"{len(found)} runs are called {wish.run!r}: give the id")
    return found[0]
