"""The organiser's commands, end to end."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client import identity
from tequio_client.clock import now_ms
from tequio_client.folder_lock import locked
from tequio_client.ledger_api import LedgerApi, LedgerUnavailableError
from tequio_client.organiser import opening
from tequio_client.worker import endings
from tequio_client.worker.outbox import Outbox
from tequio_client.worker.store import Store
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.runs import RunFinish, RunPause, RunResume

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tequio_client.ledger_answers import Network, RunAnswer
    from tequio_client.organiser.opening import Prepared
    from tequio_shared.statements import Body

T = TypeVar("T")
STORE_BYTES = 1 << 40
BY_ORGANISER = 1
PATIENCE_S = 300.0
"""How long a ledger that does not take what we say is spoken to; documents may be large."""
_STEERING: dict[str, type[RunPause | RunResume | RunFinish]] = {
    "pause": RunPause,
    "resume": RunResume,
    "finish": RunFinish,
}


def organiser_key(folder: Path) -> str:
    """The organiser's public key as text; made when there is none. Raises UserFacingError."""
    with locked(folder):
        return to_text(identity.load_or_create(folder).key)


def open_run(plan: Path, ledger: str, folder: Path, seed_folder: Path) -> str:
    """Open the planned run; returns its id as text. Raises UserFacingError.

    Head and shards go into the store of the seed in `seed_folder`, which must not be running.
    """
    if folder.resolve() == seed_folder.resolve():
        raise UserFacingError(f"organiser and seed cannot share the folder {folder}")
    with locked(folder), locked(seed_folder):
        _ask(ledger, LedgerApi.network)  # before the long work
        prepared = opening.prepare(plan)
        opening.keep(prepared, Store(seed_folder / "store", quota_bytes=STORE_BYTES))
        with endings.reached(ledger):
            trio.run(_open, prepared, ledger, folder)
    return to_text(prepared.manifest.run_id)


async def _open(prepared: Prepared, ledger: str, folder: Path) -> None:
    signer = identity.load_or_create(folder)
    async with LedgerApi(ledger) as api, _outbox(api, folder, await api.network()) as outbox:
        with _not_for_ever():
            await opening.announce(prepared, api, outbox, signer, now_ms())


def list_runs(ledger: str) -> None:
    """Print all runs as a table."""
    table = Table("run", "name", "state", "round", "members", "tokens")
    for one in _ask(ledger, LedgerApi.runs):
        numbers = (one.round, one.members, one.tokens)
        table.add_row(one.run[:10], escape(one.name), one.state, *map(str, numbers))
    Console().print(table)


def show_run(name: str, ledger: str) -> None:
    """Print one run, field by field."""
    one = _named(name, ledger)
    table = Table("what", "value", show_header=False)
    for field in one.__struct_fields__:
        value = getattr(one, field)
        if isinstance(value, str | int):
            table.add_row(field.replace("_", " "), escape(str(value)))
    Console().print(table)


def steer_run(name: str, what: str, ledger: str, folder: Path) -> None:
    """Log the organiser's wish about a run."""
    one = _named(name, ledger)
    body = _STEERING[what](reason=BY_ORGANISER)
    with locked(folder), endings.reached(ledger):
        trio.run(_say, ledger, folder, body, one)


async def _say(ledger: str, folder: Path, body: Body, one: RunAnswer) -> None:
    async with LedgerApi(ledger) as api, _outbox(api, folder, await api.network()) as outbox:
        with _not_for_ever():
            await outbox.say(body, one.id, None)


def _outbox(api: LedgerApi, folder: Path, network: Network) -> Outbox:
    return Outbox.on(api, network, folder, identity.load_or_create(folder))


def _named(name: str, ledger: str) -> RunAnswer:
    runs = _ask(ledger, LedgerApi.runs)
    found = [one for one in runs if one.fits(name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{one.name} ({one.run[:10]})" for one in found or runs) or "none"
    if found:
        raise UserFacingError(f"several runs fit {name!r}: {known}; give the beginning of the id")
    raise UserFacingError(f"no run is called {name!r}; known runs: {known}")


def _ask(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    with endings.reached(ledger):
        return trio.run(partial(_asked, ledger, question))


async def _asked(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    async with LedgerApi(ledger) as api:
        return await question(api)


@contextmanager
def _not_for_ever() -> Iterator[None]:
    with trio.move_on_after(PATIENCE_S) as patience:
        yield
    if patience.cancelled_caught:
        raise LedgerUnavailableError(f"not done after {PATIENCE_S:.0f} s")
