"""The client of one witness: asks for cosignatures, one request at a time.

An answer counts only for what it proves. A cosignature counts when it verifies. A witness that
claims it saw more of the log, or another history, is asked for the checkpoint that it keeps, which
bears our own signature or proves nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.log.guard import NotSigningError, Published
from tequio_ledger.outgoing import http_client, read_bounded
from tequio_ledger.runtime import Clock
from tequio_shared.errors import PeerError, TequioError
from tequio_shared.ids import Digest
from tequio_shared.log.cosigning import (
    ADD_CHECKPOINT,
    ANSWER_BYTES,
    AddCheckpoint,
    CosigningStatus,
    encode_conflict,
    find_cosignature,
    origin_hash,
    parse_conflict,
)
from tequio_shared.log.notes import NOTE_BYTES, VerifierKey, open_checkpoint
from tequio_shared.log.policy import Policy, PolicyWitness

if TYPE_CHECKING:
    import httpx  # imported where it is used: a ledger without witnesses starts faster without it

Prove = Callable[[int, int], Sequence[Digest]]
"""Makes the consistency proof from an old size to a size; blocks."""

ANSWER_S = 5.0
"""A witness that takes longer counts as away."""
RECALL_ANSWER_S = 3.0
"""Deadline of a recall for all witnesses together."""
GRACE_S = 0.5
"""Extra time of a recall for other answers when enough are there: what they saw counts too."""
_REASON_BYTES = 200

log = structlog.get_logger(__name__)


class WitnessError(TequioError):
    """A witness did not cosign; the message says why."""


class WitnessDisagreesError(WitnessError):
    """A witness keeps a checkpoint, allegedly ours, that this one does not continue."""

    def __init__(self, message: str, note: bytes) -> None:
        super().__init__(message)
        self.note = note


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessState:
    name: str
    key: str
    url: str
    size: int = 0
    """The last size that it cosigned, as far as we know; 0 before the first time."""
    answer_s: float | None = None
    """Seconds that its last cosignature took."""
    problem: str | None = None
    """Reason why it did not cosign the last time."""


class WitnessClient:
    """Asks one witness; used from one event loop."""

    def __init__(
        self,
        witness: PolicyWitness,
        log: VerifierKey,
        http: httpx.AsyncClient,
        url: str,
        clock: Clock,
    ) -> None:
        key = witness.key.text()
        self.state = WitnessState(name=witness.name, key=key, url=url.rstrip("/"))
        self._witness_key = witness.key
        self._log = log
        self._http = http
        self._clock = clock

    async def cosign(self, target: Published, prove: Prove) -> str:
        """Have a checkpoint cosigned; gives the signature line. Raises WitnessError."""
        import httpx  # noqa: PLC0415 - see the imports

        begun = time.monotonic()
        try:
            async with asyncio.timeout(ANSWER_S):
                line = await self._ask(target, prove)
        except TimeoutError as err:
            raise self._failed(f"no answer within {ANSWER_S:.0f} s") from err
        except httpx.HTTPError as err:
            raise self._failed(str(err) or type(err).__name__) from err
        except PeerError as err:
            raise self._failed(f"invalid answer: {err}") from err
        took_s = time.monotonic() - begun
        self.state = replace(self.state, size=target.size, answer_s=took_s, problem=None)
        return line

    async def _ask(self, target: Published, prove: Prove) -> str:
        old_size = self.state.size
        status, body = await self._post(target, prove)
        if status == CosigningStatus.CONFLICT and body not in (b"", encode_conflict(old_size)):
            # Usual after a restart, when we do not know what it saw last: it tells the size, and
            # the second request proves from there.
            size = parse_conflict(body)
            if size > target.size:
                raise await self._disagreement(f"it saw size {size} already")
            self.state = replace(self.state, size=size)
            status, body = await self._post(target, prove)
        is_other_root = status == CosigningStatus.CONFLICT and self.state.size == target.size
        if is_other_root or status == CosigningStatus.NO_PROOF:
            raise await self._disagreement("it saw another history")
        if status != CosigningStatus.COSIGNED:
            reason = body[:_REASON_BYTES].decode("utf-8", "replace").strip()
            raise self._failed(f"status {status}: {reason}")
        now_s = self._clock() // 1000
        return find_cosignature(target.note, body, self._log, self._witness_key, now_s)

    async def _post(self, target: Published, prove: Prove) -> tuple[int, bytes]:
        old = self.state.size
        is_growth = 0 < old < target.size
        proof = await asyncio.to_thread(prove, old, target.size) if is_growth else ()
        request = AddCheckpoint(old_size=old, proof=tuple(proof), note=target.note)
        url = f"{self.state.url}/{ADD_CHECKPOINT}"
        async with self._http.stream("POST", url, content=request.encode()) as answer:
            return answer.status_code, await read_bounded(answer, ANSWER_BYTES)

    async def _disagreement(self, why: str) -> WitnessError:
        # The status alone is only a claim. The checkpoint that the witness keeps is proof, if it
        # bears our signature: so it is fetched and passed on to the guard.
        status, note = await _fetch_checkpoint(self._http, self.state.url, self._log.name)
        if status != CosigningStatus.COSIGNED:
            return self._failed(f"{why}, but gives no checkpoint")
        self._failed(why)
        return WitnessDisagreesError(why, note)

    def _failed(self, why: str) -> WitnessError:
        self.state = replace(self.state, problem=why)
        return WitnessError(why)


async def _fetch_checkpoint(http: httpx.AsyncClient, url: str, origin: str) -> tuple[int, bytes]:
    """Fetch the checkpoint that a witness keeps of a log; gives the status and the note."""
    async with http.stream("GET", f"{url}/{origin_hash(origin)}/checkpoint") as answer:
        return answer.status_code, await read_bounded(answer, NOTE_BYTES)


class WitnessesSilentError(NotSigningError):
    """Too few witnesses answered what they saw last; they may when asked again."""


class WitnessRecall:
    """Asks the witnesses of a policy what they remember of our log, before a process signs.

    A ledger restored from an old copy of its disk cannot know that; its witnesses do. They are
    asked each time a process begins to write the log, and nothing is signed until the silent
    witnesses could not have met the quorum by themselves: then at least one witness that answered
    knows of any published checkpoint. All are asked at once with one deadline, so that none can
    delay a start any longer.
    """

    def __init__(
        self, policy: Policy, key: VerifierKey, *, answer_s: float = RECALL_ANSWER_S
    ) -> None:
        self._policy = policy
        self._key = key
        self._answer_s = answer_s
        self._asked = [one for one in policy.witnesses if one.url is not None]

    def notes(self) -> list[bytes]:
        """Fetch the last checkpoints that the witnesses keep; blocks.

        Raises WitnessesSilentError.
        """
        with ThreadPoolExecutor(1) as apart:  # the caller's thread may have an event loop
            answers = apart.submit(asyncio.run, self._gather()).result()
        if not self._is_enough(answers):
            silent = sorted(one.name for one in self._asked if one.key not in answers)
            raise WitnessesSilentError(
                "nothing is signed before enough witnesses say what they saw last; no answer from "
                f"{', '.join(silent)}: check that they are running, or change the policy"
            )
        return [answer for answer in answers.values() if answer]

    def _is_enough(self, answered: Collection[VerifierKey]) -> bool:
        """Return whether any published checkpoint must be known to one of these witnesses."""
        if self._policy.is_met(()):  # no witness is required, so none can be expected to know
            return True
        silent = {one.key for one in self._asked} - set(answered)
        return self._policy.is_met(answered) and not self._policy.is_met(silent)

    async def _gather(self) -> dict[VerifierKey, bytes]:
        answers: dict[VerifierKey, bytes] = {}
        async with http_client({"content-type": "text/plain"}) as http:
            asked = [asyncio.create_task(self._ask(http, one, answers)) for one in self._asked]
            try:
                async with asyncio.timeout(self._answer_s) as deadline:
                    for answered in asyncio.as_completed(asked):
                        await answered
                        if self._is_enough(answers):
                            soon_s = asyncio.get_running_loop().time() + GRACE_S
                            deadline.reschedule(min(deadline.when() or soon_s, soon_s))
            except TimeoutError:
                silent = [one.name for one in self._asked if one.key not in answers]
                log.warning("witnesses do not answer", witnesses=silent)
            finally:
                for task in asked:
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
        return answers

    async def _ask(
        self, http: httpx.AsyncClient, witness: PolicyWitness, answers: dict[VerifierKey, bytes]
    ) -> None:
        """Ask one witness; an empty note means that it cosigned nothing."""
        import httpx  # noqa: PLC0415 - see the imports

        try:
            answers[witness.key] = await self._answer(http, witness)
        except (httpx.HTTPError, PeerError) as err:
            log.warning("a witness does not answer", witness=witness.name, why=str(err))

    async def _answer(self, http: httpx.AsyncClient, witness: PolicyWitness) -> bytes:
        url = (witness.url or "").rstrip("/")
        status, note = await _fetch_checkpoint(http, url, self._key.name)
        if status == CosigningStatus.UNKNOWN_LOG:
            return b""
        if status != CosigningStatus.COSIGNED:
            raise PeerError(f"status {status}")
        # The log's signature alone would not do: anyone can replay an old checkpoint. Only its own
        # cosignature shows that the witness keeps this one.
        if not open_checkpoint(note, self._key, [witness.key]).cosignatures:
            raise PeerError("the checkpoint bears no cosignature of this witness")
        return note
