"""The client of one witness: asks for cosignatures, one request at a time.

An answer counts only for what it proves. A cosignature counts when it verifies. A witness that says
it saw more of the log, or another history, is asked for the checkpoint that it keeps, which bears
our own signature or means nothing.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.log.guard import NotSigningError
from tequio_shared.errors import PeerError, TequioError
from tequio_shared.log.notes import NOTE_BYTES, open_checkpoint
from tequio_shared.log.policy import (
    ADD_CHECKPOINT,
    ANSWER_BYTES,
    AddCheckpoint,
    CosigningStatus,
    find_cosignature,
    origin_hash,
    parse_conflict,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    import httpx

    from tequio_ledger.log.guard import Published
    from tequio_shared.ids import Digest
    from tequio_shared.log.notes import VerifierKey
    from tequio_shared.log.policy import Policy, PolicyWitness


if TYPE_CHECKING:
    Prove = Callable[[int, int], Awaitable[Sequence[Digest]]]
    """Makes the consistency proof from an old size to a size."""

ANSWER_S = 5.0
"""A witness that takes longer counts as away."""
_SAID_BYTES = 200


class WitnessError(TequioError):
    """A witness did not cosign; the message says why."""


class WitnessDisagreesError(WitnessError):
    """A witness keeps a checkpoint, allegedly ours, that this one does not continue."""

    def __init__(self, message: str, note: bytes) -> None:
        super().__init__(message)
        self.note = note


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessState:
    """State of a witness, for people and programs."""

    name: str
    key: str
    url: str
    size: int
    """The last size that it cosigned, as far as we know; 0 before the first time."""
    answer_s: float | None
    """Seconds that its last cosignature took."""
    problem: str | None
    """Reason why it did not cosign the last time."""


class WitnessClient:
    """Asks one witness; used from one event loop."""

    def __init__(
        self,
        witness: PolicyWitness,
        log: VerifierKey,
        http: httpx.AsyncClient,
        url: str,
        clock: Callable[[], int],
    ) -> None:
        self.witness = witness
        self._log = log
        self._http = http
        self._url = url.rstrip("/")
        self._clock = clock
        self._size = 0
        self._answer_s: float | None = None
        self._problem: str | None = None

    def state(self) -> WitnessState:
        return WitnessState(
            name=self.witness.name,
            key=self.witness.key.text(),
            url=self._url,
            size=self._size,
            answer_s=self._answer_s,
            problem=self._problem,
        )

    async def cosign(self, target: Published, prove: Prove) -> str:
        """Have a checkpoint cosigned; gives the signature line. Raises WitnessError."""
        import httpx  # noqa: PLC0415 - see http_client

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
        self._size, self._problem = target.size, None
        self._answer_s = time.monotonic() - begun
        return line

    async def _ask(self, target: Published, prove: Prove) -> str:
        status, body = await self._post(target, prove)
        if status == CosigningStatus.CONFLICT:
            # Usual after a restart, when we do not know what it saw last: it tells the size, and
            # the second request proves from there.
            size = parse_conflict(body)
            if size > target.size:
                raise await self._disagreement(f"it saw size {size} already")
            self._size = size
            status, body = await self._post(target, prove)
        if status == CosigningStatus.NO_PROOF:
            raise await self._disagreement("it saw another history")
        if status != CosigningStatus.COSIGNED:
            said = body[:_SAID_BYTES].decode("utf-8", "replace").strip()
            raise self._failed(f"status {status}: {said}")
        now_s = self._clock() // 1000
        return find_cosignature(target.note, body, self._log, self.witness.key, now_s)

    async def _post(self, target: Published, prove: Prove) -> tuple[int, bytes]:
        old = self._size
        proof = await prove(old, target.size) if 0 < old < target.size else ()
        request = AddCheckpoint(old_size=old, proof=tuple(proof), note=target.note)
        url = f"{self._url}/{ADD_CHECKPOINT}"
        async with self._http.stream("POST", url, content=request.encode()) as answer:
            return answer.status_code, await read_bounded(answer, ANSWER_BYTES)

    async def _disagreement(self, why: str) -> WitnessError:
        # The status alone is only a claim. The checkpoint that the witness keeps is proof, if it
        # bears our signature: so it is fetched and passed on to the guard.
        url = f"{self._url}/{origin_hash(self._log.name)}/checkpoint"
        async with self._http.stream("GET", url) as answer:
            note = await read_bounded(answer, NOTE_BYTES)
            if answer.status_code != CosigningStatus.COSIGNED:
                return self._failed(f"{why}, but gives no checkpoint")
        self._failed(why)
        return WitnessDisagreesError(why, note)

    def _failed(self, why: str) -> WitnessError:
        self._problem = why
        return WitnessError(why)


async def read_bounded(answer: httpx.Response, most: int) -> bytes:
    """Read an answer of at most `most` bytes; raises PeerError for a longer one."""
    parts, size = [], 0
    async for chunk in answer.aiter_raw():
        size += len(chunk)
        if size > most:
            raise PeerError(f"more than {most} bytes")
        parts.append(chunk)
    return b"".join(parts)


def http_client() -> httpx.AsyncClient:
    """Make the HTTP client for all witnesses; no proxies, no redirects, no netrc."""
    # Imported here and not at the top: a ledger without witnesses starts faster without it.
    import httpx  # noqa: PLC0415 - as above

    return httpx.AsyncClient(
        headers={"accept-encoding": "identity", "content-type": "text/plain"},
        timeout=None,  # noqa: S113 - `ask` bounds each question as a whole
        trust_env=False,
    )


# --- What the witnesses remember of our log, asked before a process signs for the first time.
#
# A ledger restored from an old copy of its disk cannot know that; its witnesses do. They are asked
# each time a process takes office, and nothing is signed until the silent witnesses could not have
# met the quorum by themselves: then at least one witness that answered knows of any published
# checkpoint. All are asked at once with one deadline, so that none can delay a start any longer.

RECALL_ANSWER_S = 3.0
"""Deadline for all witnesses together."""
GRACE_S = 0.5
"""Extra time for other answers when enough are there: what they saw counts too."""

log = structlog.get_logger(__name__)


class WitnessesSilentError(NotSigningError):
    """Too few witnesses said what they saw last; they may when asked again."""


class WitnessRecall:
    """Asks the witnesses of a policy about one log."""

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

    def _is_enough(self, heard: Collection[VerifierKey]) -> bool:
        """Return whether any published checkpoint must be known to one of these witnesses."""
        if self._policy.is_met(()):  # no witness is required, so none can be expected to know
            return True
        silent = {one.key for one in self._asked} - set(heard)
        return self._policy.is_met(heard) and not self._policy.is_met(silent)

    async def _gather(self) -> dict[VerifierKey, bytes]:
        answers: dict[VerifierKey, bytes] = {}
        async with http_client() as http:
            asked = [asyncio.create_task(self._ask(http, one, answers)) for one in self._asked]
            try:
                async with asyncio.timeout(self._answer_s) as deadline:
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
        """Ask one witness; an empty note means that it cosigned nothing."""
        import httpx  # noqa: PLC0415 - see http_client

        try:
            answers[witness.key] = await self._answer(http, witness)
        except (httpx.HTTPError, httpx.InvalidURL, PeerError) as err:
            log.warning("a witness does not answer", witness=witness.name, why=str(err))

    async def _answer(self, http: httpx.AsyncClient, witness: PolicyWitness) -> bytes:
        url = f"{(witness.url or '').rstrip('/')}/{origin_hash(self._key.name)}/checkpoint"
        async with http.stream("GET", url) as answer:
            note = await read_bounded(answer, NOTE_BYTES)
        if answer.status_code == CosigningStatus.UNKNOWN_LOG:
            return b""
        if answer.status_code != CosigningStatus.COSIGNED:
            raise PeerError(f"status {answer.status_code}")
        # The log's signature alone would not do: anyone can replay an old checkpoint. Only its own
        # cosignature shows that the witness keeps this one.
        if not open_checkpoint(note, self._key, [witness.key]).cosignatures:
            raise PeerError("the checkpoint bears no cosignature of this witness")
        return note
