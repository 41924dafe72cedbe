"""How a volunteer sees its own standing, and says that it is wrong; end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.locks import locked
from tequio_client.worker import endings
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.own_standing import read_standing
from tequio_client.worker.standing_words import describe, sentence, what_to_do
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import APPEAL_BYTES
from tequio_shared.standing import OUTSIDE, Standing
from tequio_shared.statements.standing import StandingAppeal

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.api.peers import StandingAnswer
    from tequio_shared.keys import Signer
    from tequio_shared.statement import Entry


PATIENCE_S = 60.0


def show(ledger: str, folder: Path) -> list[str]:
    """How the key in the folder stands, why, and what to do. Raises UserFacingError."""
    one, evidence = _read(ledger, _signer(folder))
    lines = [sentence(one)]
    lines += [describe(index, entry.statement) for index, entry in sorted(evidence.items())]
    return lines + what_to_do(one, now_ms())


def show_json(ledger: str, folder: Path) -> bytes:
    """The same for machines: one JSON object. Raises UserFacingError."""
    signer = _signer(folder)
    one, evidence = _read(ledger, signer)
    said = {
        "key": to_text(signer.key),
        **msgspec.structs.asdict(one),
        "says": sentence(one),
        "entries": {
            str(index): describe(index, entry.statement) for index, entry in evidence.items()
        },
        "what_to_do": what_to_do(one, now_ms()),
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=2)


def appeal(ledger: str, folder: Path, text: bytes) -> list[str]:
    """Appeal against the key's standing; what happens next. Raises UserFacingError."""
    if len(text) > APPEAL_BYTES:
        raise UserFacingError(
            f"the text has {len(text)} bytes: an appeal takes {APPEAL_BYTES}, the essence of it"
        )
    signer = _signer(folder)
    with locked(folder), endings.reached(ledger):
        one = trio.run(_appeal, ledger, folder, signer, text)
    return [f"appealed against entry {one.since} ({one.standing})", *what_to_do(one, now_ms())]


def _signer(folder: Path) -> Signer:
    """The key that is there: a command that only looks makes none."""
    if not (folder / identity.FILE).exists():
        raise UserFacingError(
            f"there is no key in {folder}: give the --dir of your worker, or start one first"
        )
    return identity.load_or_create(folder)


def _read(ledger: str, signer: Signer) -> tuple[StandingAnswer, dict[int, Entry]]:
    with endings.reached(ledger):
        return trio.run(_asked, ledger, signer)


async def _asked(ledger: str, signer: Signer) -> tuple[StandingAnswer, dict[int, Entry]]:
    async with LedgerApi(ledger) as api:
        return await read_standing(api, signer.key)


async def _appeal(ledger: str, folder: Path, signer: Signer, text: bytes) -> StandingAnswer:
    async with LedgerApi(ledger) as api:
        one, _ = await read_standing(api, signer.key)
        if one.standing not in OUTSIDE | {Standing.SUSPECTED}:
            raise UserFacingError(f"nothing to appeal against: {sentence(one)}")
        if one.appeal is not None:
            raise UserFacingError(f"the appeal in entry {one.appeal} is still open: wait for it")
        name = to_text(await api.put_blob(text, signer, now_ms())) if text else ""
        await _say(api, folder, signer, StandingAppeal(change=one.since, text=name))
        return (await read_standing(api, signer.key))[0]


async def _say(api: LedgerApi, folder: Path, signer: Signer, body: StandingAppeal) -> None:
    async with Outbox(api, folder, signer) as outbox:
        with trio.move_on_after(PATIENCE_S) as patience:
            await outbox.submit(body)
        if patience.cancelled_caught:
            raise LedgerUnavailableError(
                f"it took nothing for {PATIENCE_S:.0f} s; the appeal is kept and goes out with "
                "the worker's next start"
            )
