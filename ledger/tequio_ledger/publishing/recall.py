"""What the witnesses remember of our log, asked before a process signs for the first time.

A ledger that comes from an old copy of its disk does not know that it does; its witnesses do. They
are asked at each taking of office, and nothing is signed until those that are silent could not have
met the policy's quorum without one that spoke: whatever was published, somebody heard of it spoke.
All of them are asked at once and have one deadline, so none can hold up a start for longer.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.log.guard import NotSigningError
from tequio_ledger.publishing.asker import http_client, read_bounded
from tequio_shared.cosigning import Status, origin_hash
from tequio_shared.errors import PeerError
from tequio_shared.notes import NOTE_BYTES, open_checkpoint

if TYPE_CHECKING:
    from collections.abc import Collection

    import httpx

    from tequio_shared.notes import VerifierKey
    from tequio_shared.policy import Policy, PolicyWitness

ANSWER_S = 3.0
"""What all of them together have."""
GRACE_S = 0.5
"""How long others may still answer when enough have: what they saw counts too."""

log = structlog.get_logger(__name__)


class WitnessesSilentError(NotSigningError):
    """Too few witnesses said what they saw last; asked again later they may."""


class Recall:
    """Asks the witnesses of a policy about one log."""

    def __init__(self, policy: Policy, key: VerifierKey) -> None:
        self._policy = policy
        self._key = key
        self._asked = [one for one in policy.witnesses if one.url is not None]

    def notes(self) -> list[bytes]:
        """Give the last checkpoints that witnesses keep, as they sent them; blocks.

        Raises WitnessesSilentError.
        """
        with ThreadPoolExecutor(1) as apart:  # whoever calls may have an event loop of his own
            answers = apart.submit(asyncio.run, self._gather()).result()
        if not self._is_enough(answers):
            silent = sorted(one.name for one in self._asked if one.key not in answers)
            raise WitnessesSilentError(
                "nothing is signed before enough witnesses say what they saw last; no answer from "
                f"{', '.join(silent)}: see that they run, or change the policy"
            )
        return [answer for answer in answers.values() if answer]

    def _is_enough(self, heard: Collection[VerifierKey]) -> bool:
        """Tell whether nothing can have been published that none of these knows of."""
        if self._policy.is_met(()):  # it asks for nobody, so nobody knows
            return True
        silent = {one.key for one in self._asked} - set(heard)
        return self._policy.is_met(heard) and not self._policy.is_met(silent)

    async def _gather(self) -> dict[VerifierKey, bytes]:
        """Ask all; gives what those said that answered before it was enough, or the deadline."""
        answers: dict[VerifierKey, bytes] = {}
        async with http_client() as http:
            asked = [asyncio.create_task(self._ask(http, one, answers)) for one in self._asked]
            try:
                async with asyncio.timeout(ANSWER_S) as deadline:
                    for answered in asyncio.as_completed(asked):
                        await answered
                        if self._is_enough(answers):
                            soon_s = asyncio.get_running_loop().time() + GRACE_S
                            deadline.reschedule(min(deadline.when() or soon_s, soon_s))
            except TimeoutError:
                late = [one.name for one in self._asked if one.key not in answers]
                log.warning("witnesses do not answer", witnesses=late)
            finally:
                for task in asked:
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
        return answers

    async def _ask(
        self, http: httpx.AsyncClient, witness: PolicyWitness, answers: dict[VerifierKey, bytes]
    ) -> None:
        """Ask one; an empty note says that it cosigned nothing."""
        import httpx  # noqa: PLC0415 - see asker.http_client

        try:
            answers[witness.key] = await self._answer(http, witness)
        except (httpx.HTTPError, httpx.InvalidURL, PeerError) as err:
            log.warning("a witness does not answer", witness=witness.name, why=str(err))

    async def _answer(self, http: httpx.AsyncClient, witness: PolicyWitness) -> bytes:
        url = f"{(witness.url or '').rstrip('/')}/{origin_hash(self._key.name)}/checkpoint"
        async with http.stream("GET", url) as answer:
            note = await read_bounded(answer, NOTE_BYTES)
        if answer.status_code == Status.UNKNOWN_LOG:
            return b""
        if answer.status_code != Status.COSIGNED:
            raise PeerError(f"status {answer.status_code}")
        if not open_checkpoint(note, self._key, [witness.key]).cosignatures:
            raise PeerError("what it shows bears no cosignature of its own")
        return note
