"""Taking up the error feedback at the start, where an earlier life of this worker left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.worker import feedback as feedbacks
from tequio_client.worker.backoff import BackOff
from tequio_client.worker.feedback import Feedback
from tequio_client.worker.joining import OVER
from tequio_client.worker.past_round import was_accepted
from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import RunId, digest_from_text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.joining import Joined
    from tequio_client.worker.node import Node
    from tequio_shared.contribution import Header

log = structlog.get_logger(__name__)

FOLDER = "feedback"
TRIES = 3
"""Answers that do not hold before we go on as if the work had not been accepted."""


async def recovered(node: Node, joined: Joined) -> Feedback:
    """The run's feedback, settled as far as the log goes where we begin to follow it."""
    folder, run = node.settings.folder / FOLDER, joined.manifest.run_id
    await _remove_ended(node, folder)
    feedback = await trio.to_thread.run_sync(Feedback, folder, run)
    # Two at the same time, and the one that the trainer writes.
    node.store.set_aside(3 * 2 * joined.manifest.layout.elements)
    header = feedback.open_header
    if header is not None:
        counted = await _outcome(node, header, joined.after)
        if counted is not None:
            log.info("a round ended without us", round=header.round, accepted=counted)
            await trio.to_thread.run_sync(
                lambda: feedback.settle(header.round, was_accepted=counted)
            )
    return feedback


async def _remove_ended(node: Node, folder: Path) -> None:
    """Delete what runs have left that ended while we were away."""
    if not await trio.Path(folder).exists():
        return
    try:
        runs = await node.ledger.runs()
    except (LedgerUnavailableError, RefusedError, PeerError) as err:
        log.info("feedback of other runs stays", error=str(err))
        return
    ended = [RunId(digest_from_text(one.run)) for one in runs if one.state == OVER]
    await trio.to_thread.run_sync(feedbacks.remove_ended, folder, ended)


async def _outcome(node: Node, header: Header, after: int) -> bool | None:
    back_off, wrong = BackOff(node.rng), 0
    while wrong < TRIES:
        try:
            return await was_accepted(node, header, after)
        except LogForkedError:
            raise
        except LedgerUnavailableError as err:
            error: TequioError = err
        except (PeerError, RefusedError) as err:
            error, wrong = err, wrong + 1
        log.warning("cannot learn how our round ended", round=header.round, error=str(error))
        await trio.sleep(back_off.next_s())
    return False
