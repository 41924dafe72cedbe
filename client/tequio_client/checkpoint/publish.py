"""A head to the Hub, and the statement that it is there.

The folder is verified before anything is sent: nothing is published that is not the head.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import trio

from tequio_client.checkpoint import parts, verify
from tequio_client.checkpoint.verdict import Outcome
from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.locks import locked
from tequio_client.organiser import joint, signers
from tequio_client.worker import endings
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.statements.checkpoints import CheckpointPublish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_client.checkpoint.hub import Hub, Published
    from tequio_client.checkpoint.parts import Claim
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.policy import Policy


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
    wish: Wish, claim: Claim, hub: Hub, told: Callable[[str], None]
) -> tuple[Published, int | None]:
    """Publish what was verified; gives what is on the Hub, and the log entry that says so, if any.

    `told` hears which file is next. Raises UserFacingError.
    """
    published = hub.publish(wish.folder, claim, wish.repo, is_private=wish.is_private, told=told)
    if not wish.organisers:
        return published, None
    return published, say(wish.ledger, claim, published, wish.organisers)


def say(ledger: str, claim: Claim, published: Published, organisers: Sequence[Path]) -> int:
    """Have organisers state where a head was published; gives the log index."""
    with ExitStack() as stack:
        for folder in organisers:
            stack.enter_context(locked(folder))
        stack.enter_context(endings.reached(ledger))
        return trio.run(partial(_say, ledger, claim, published, organisers))


def verified(wish: Wish, progress: WorkProgress) -> Claim:
    """The claim of a folder that bears it out; raises UserFacingError for any other."""
    check = verify.Wish(folder=wish.folder, ledger=wish.ledger, trust=wish.trust)
    verdict = verify.run(check, progress)
    if verdict.outcome is not Outcome.IS_THE_HEAD:
        raise UserFacingError("not published: " + "; ".join(verdict.lines))
    return parts.Claim.parse((wish.folder / parts.CLAIM).read_bytes())


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
        ours = [signers.of(folder, network) for folder in organisers]
        entry = await joint.signed(api, organisers[0], body, ours, now_ms(), about=about)
        if not joint.is_complete(entry, network):
            raise UserFacingError(
                f"{published.repo} is on the Hub, but the log does not say so: more organisers "
                "have to sign; run this again with --with and the folder of another one"
            )
        return await joint.send(api, entry, now_ms())
