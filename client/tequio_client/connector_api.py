"""A connector's HTTP API as typed calls; nothing that it says is believed beyond its form.

Errors: `ConnectorAwayError` when trying again may help, RefusedError with the problem code and the
connector's sentence when it says no, MalformedError when its answer is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from tequio_client.foreign_text import cleaned
from tequio_client.ledger_http import (
    ApiLimits,
    LedgerHttp,
    LedgerRefusedError,
    LedgerUnavailableError,
)
from tequio_shared import connecting
from tequio_shared.connecting import About, Ask, Challenge, Code, Outcome, Proof, Wish
from tequio_shared.errors import MalformedError, RefusedError, TequioError
from tequio_shared.ids import from_text, to_text

if TYPE_CHECKING:
    from tequio_shared.ids import NetworkId
    from tequio_shared.keys import Signer

T = TypeVar("T")
LIMITS = ApiLimits(call_s=60.0, answer_bytes=16_384, connections=2)
_SAID_CHARACTERS = 300


class ConnectorAwayError(TequioError):
    """The connector, or somebody behind it, does not answer now; try later."""


class ConnectorApi:
    """One connector; `async with` closes its connections."""

    def __init__(self, url: str, limits: ApiLimits = LIMITS) -> None:
        """Connect to nothing yet; raises UserFacingError for what is no http(s) address."""
        self._http = LedgerHttp(url, limits, "connector")
        self.url = self._http.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def about(self) -> About:
        """Ask who it is."""
        return await self._call("GET", connecting.ABOUT, None, About)

    async def begin(self, signer: Signer, net: NetworkId, provider: str) -> Code:
        """Prove that the key wants to be vouched for, and get a code for its person."""
        peer = to_text(signer.key)
        wish = Wish(peer=peer, provider=provider)
        given = await self._call("POST", connecting.CHALLENGES, wish, Challenge)
        challenge = from_text(given.challenge, None)
        signed = signer.sign(connecting.signed_message(net, self.url, provider, challenge))
        proof = Proof(
            peer=peer, provider=provider, challenge=given.challenge, signature=to_text(signed)
        )
        return await self._call("POST", connecting.CONNECTIONS, proof, Code)

    async def ask(self, code: Code) -> Outcome:
        """Ask what became of a code."""
        return await self._call("POST", connecting.ASK, Ask(id=code.id), Outcome)

    async def _call(self, method: str, path: str, body: object, type_: type[T]) -> T:
        content = None if body is None else msgspec.json.encode(body)
        try:
            raw = await self._http.call(method, path, content=content)
        except LedgerUnavailableError as err:
            raise ConnectorAwayError(err.detail or str(err)) from err
        except LedgerRefusedError as err:
            raise RefusedError(err.code, err.detail or str(err)) from err
        try:
            return msgspec.json.decode(raw, type=type_)
        except (
            ValueError,
            RecursionError,
        ) as err:  # msgspec's and Unicode's errors are ValueErrors
            said = cleaned(str(err), _SAID_CHARACTERS)
            raise MalformedError(f"its answer to {path} is no {type_.__name__}: {said}") from err
