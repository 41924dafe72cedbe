"""One witness as the ledger sees it: asked for cosignatures, one question at a time.

Its answers are believed for what they prove. A cosignature counts when it verifies. A witness that
says that it saw more of the log, or another one, is asked for the checkpoint that it keeps, which
bears our own signature or means nothing.
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
"""After which a witness counts as away."""
_SAID_BYTES = 200


class WitnessError(TequioError):
    """A witness did not cosign; the sentence says why."""


class WitnessDisagreesError(WitnessError):
    """A witness keeps a checkpoint under our signature that this one does not continue."""

    def __init__(self, message: str, note: bytes) -> None:
        super().__init__(message)
        self.note = note


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessState:
    """How a witness is, for people and programs."""

    name: str
    key: str
    url: str
    size: int
    """The last size that it cosigned, as far as we know; 0 before the first time."""
    answer_s: float | None
    """How long its last cosignature took."""
    problem: str | None
    """Why it did not cosign when it was asked last."""


class Asker:
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
        """Say how it is."""
        return WitnessState(
            name=self.witness.name,
            key=self.witness.key.text(),
            url=self._url,
            size=self._size,
            answer_s=self._answer_s,
            problem=self._problem,
        )

    async def ask(self, target: Published, prove: Prove) -> str:
        """Have a checkpoint cosigned; gives its signature line. Raises WitnessError."""
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
            raise self._failed(f"its answer does not hold: {err}") from err
        self._size, self._problem = target.size, None
        self._answer_s = time.monotonic() - begun
        return line

    async def _ask(self, target: Published, prove: Prove) -> str:
        status, body = await self._post(target, prove)
        if status == CosigningStatus.CONFLICT:
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
        """Ask for what it keeps."""
        url = f"{self._url}/{origin_hash(self._log.name)}/checkpoint"
        async with self._http.stream("GET", url) as answer:
            note = await read_bounded(answer, NOTE_BYTES)
            if answer.status_code != CosigningStatus.COSIGNED:
                return self._failed(f"{why}, and shows no checkpoint")
        self._failed(why)
        return WitnessDisagreesError(why, note)

    def _failed(self, why: str) -> WitnessError:
        self._problem = why
        return WitnessError(why)


async def read_bounded(answer: httpx.Response, most: int) -> bytes:
    """Read an answer of at most so many bytes; raises PeerError."""
    parts, size = [], 0
    async for chunk in answer.aiter_raw():
        size += len(chunk)
        if size > most:
            raise PeerError(f"more than {most} bytes")
        parts.append(chunk)
    return b"".join(parts)


def http_client() -> httpx.AsyncClient:
    """Make the client that all witnesses are asked with; no proxies, no redirects, no netrc."""
    # Loaded here and not at the top: without witnesses to ask, a ledger starts without a client.
    import httpx  # noqa: PLC0415 - as above

    return httpx.AsyncClient(
        headers={"accept-encoding": "identity", "content-type": "text/plain"},
        timeout=None,  # noqa: S113 - `ask` bounds each question as a whole
        trust_env=False,
    )


# --- What the witnesses remember of our log, asked before a process signs for the first time.
#
# A ledger that comes from an old copy of its disk does not know that it does; its witnesses do.
# They are asked at each taking of office, and nothing is signed until those that are silent could
# not have met the policy's quorum without one that spoke: whatever was published, somebody heard
# of it spoke. All of them are asked at once and have one deadline, so none can hold up a start
# for longer.

RECALL_ANSWER_S = 3.0
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
                async with asyncio.timeout(RECALL_ANSWER_S) as deadline:
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
        if answer.status_code == CosigningStatus.UNKNOWN_LOG:
            return b""
        if answer.status_code != CosigningStatus.COSIGNED:
            raise PeerError(f"status {answer.status_code}")
        if not open_checkpoint(note, self._key, [witness.key]).cosignatures:
            raise PeerError("what it shows bears no cosignature of its own")
        return note
