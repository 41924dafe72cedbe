"""What the witnesses remember of our log, asked before a process signs for the first time.

A ledger that comes from an old copy of its disk does not know that it does; its witnesses do. They
are asked at each taking of office, and until enough of them for the policy's quorum have answered,
nothing is signed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import structlog

from tequio_ledger.guard import NotSigningError
from tequio_shared.cosigning import Status, origin_hash
from tequio_shared.notes import NOTE_BYTES

if TYPE_CHECKING:
    from tequio_shared.notes import VerifierKey
    from tequio_shared.policy import Policy, PolicyWitness

ANSWER_S = 3.0

log = structlog.get_logger(__name__)


class WitnessesSilentError(NotSigningError):
    """Too few witnesses said what they saw last; asked again later they may."""


class Recall:
    """Asks the witnesses of a policy about one log."""

    def __init__(self, policy: Policy, key: VerifierKey) -> None:
        self._policy = policy
        self._key = key

    def notes(self) -> list[bytes]:
        """Give the last checkpoints that witnesses keep, as they sent them; blocks.

        Raises WitnessesSilentError.
        """
        asked = [one for one in self._policy.witnesses if one.url is not None]
        with ThreadPoolExecutor(max(1, len(asked))) as threads:
            answers = list(threads.map(self._ask, asked))
        heard = {one.key for one, answer in zip(asked, answers, strict=True) if answer is not None}
        if not self._policy.is_met(heard):
            silent = sorted(one.name for one in asked if one.key not in heard)
            raise WitnessesSilentError(
                "nothing is signed before enough witnesses say what they saw last; no answer from "
                f"{', '.join(silent)}: see that they run, or change the policy"
            )
        return [answer for answer in answers if answer]

    def _ask(self, witness: PolicyWitness) -> bytes | None:
        """Ask one; an empty note says that it cosigned nothing, None that it did not answer."""
        url = f"{(witness.url or '').rstrip('/')}/{origin_hash(self._key.name)}/checkpoint"
        try:
            with httpx.Client(timeout=ANSWER_S, trust_env=False) as http:
                answer = http.get(url, headers={"accept-encoding": "identity"})
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            log.warning("a witness does not answer", witness=witness.name, why=str(err))
            return None
        if answer.status_code == Status.UNKNOWN_LOG:
            return b""
        if answer.status_code != Status.COSIGNED or len(answer.content) > NOTE_BYTES:
            log.warning("a witness does not answer", witness=witness.name, why=answer.status_code)
            return None
        return answer.content
