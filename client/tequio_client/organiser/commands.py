"""The organiser's commands, end to end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.locks import locked
from tequio_client.names import is_meant, name_with_id, short
from tequio_client.organiser import decision, opening, run_words
from tequio_client.worker import endings
from tequio_client.worker.store.store import Store
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.runs import RunFinish, RunPause, RunResume

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.organiser.opening import Prepared
    from tequio_shared.api.runs import RunAnswer
    from tequio_shared.statements import Body


T = TypeVar("T")
_WRONG_STATE = "wrong-state"
STORE_BYTES = 1 << 40
BY_ORGANISER = 1


def organiser_key(folder: Path) -> str:
    """The organiser's public key as text; made when there is none. Raises UserFacingError."""
    with locked(folder):
        return to_text(identity.load_or_create(folder).key)


def open_run(
    plan: Path, ledger: str, folder: Path, seed_folder: Path, others: Sequence[Path] = ()
) -> str:
    """Open the planned run; returns its id as text. Raises UserFacingError.

    Head and shards go into the store of the seed in `seed_folder`, which must not be running. The
    organisers in the folders of `others` sign, too.
    """
    if folder.resolve() == seed_folder.resolve():
        raise UserFacingError(f"organiser and seed cannot share the folder {folder}")
    folders = (folder, *others)
    with decision.held(folders), locked(seed_folder):
        run_words.organisers(_ask(ledger, LedgerApi.network), folders)  # before the long work
        prepared = opening.prepare(plan)
        if prepared.begun is not None:
            prepared.begun.check_room(seed_folder)
        opening.keep(prepared, Store(seed_folder / "store", quota_bytes=STORE_BYTES))
        with endings.reached(ledger):
            trio.run(_open, prepared, ledger, folders)
    return to_text(prepared.manifest.run_id)


async def _open(prepared: Prepared, ledger: str, folders: Sequence[Path]) -> None:
    async with LedgerApi(ledger) as api:
        await opening.announce(prepared, api, folders)


def list_runs(ledger: str) -> None:
    """Print all runs as a table."""
    table = Table("run", "name", "state", "round", "members", "tokens", "last head", "published")
    for one in _ask(ledger, LedgerApi.runs):
        numbers = str(one.round), str(one.members), f"{one.tokens:,}"
        table.add_row(
            one.run[:10], escape(one.name), one.state, *numbers, _head(one), escape(_where(one))
        )
    Console().print(table)


def show_run(name: str, ledger: str) -> None:
    """Print one run, field by field."""
    one = _named(name, ledger)
    table = Table("what", "value", show_header=False)
    for what, value in _told(one):
        table.add_row(what, escape(value))
    Console().print(table)


def _told(one: RunAnswer) -> Iterator[tuple[str, str]]:
    """What an organiser wants to know, the most telling first."""
    yield "name", one.name
    yield "run", one.run
    yield "state", f"{one.state}, {one.phase}" if one.phase else one.state
    yield "round", f"{one.round:,} ({one.closed:,} closed, {one.voided:,} void)"
    yield "members", f"{one.members:,}"
    yield "tokens", f"{one.tokens:,}"
    yield "last head", _head(one)
    yield "head", one.head or "none yet"
    yield "weights root", one.weights_root or "none yet"
    yield "published", _where(one) or "not on the Hub (tequio checkpoint publish)"
    yield "opened", f"entry {one.opened_index} of the log"


def _head(one: RunAnswer) -> str:
    if one.head is None:
        return "none yet"
    return f"{one.head[:10]} of round {one.head_round}"


def _where(one: RunAnswer) -> str:
    return f"{one.published[0].repo}, round {one.published[0].round}" if one.published else ""


def pause_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that no round shall open; says so."""
    one = _steer(name, ledger, folders, RunPause(reason=BY_ORGANISER))
    told = f"{one.name}: no round opens after the one under way"
    return f"{told}; go on with `tequio run resume {short(one.run)}`"


def resume_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that rounds shall open again; says so."""
    return f"{_steer(name, ledger, folders, RunResume(reason=BY_ORGANISER)).name}: goes on"


def finish_run(name: str, ledger: str, folders: Sequence[Path]) -> str:
    """Log that the run shall end; says so."""
    one = _steer(name, ledger, folders, RunFinish(reason=BY_ORGANISER))
    return f"{one.name}: ends after the round under way"


def _steer(name: str, ledger: str, folders: Sequence[Path], body: Body) -> RunAnswer:
    one = _named(name, ledger)
    with decision.held(folders), endings.reached(ledger):
        try:
            trio.run(_say, ledger, folders, body, one)
        except* LedgerRefusedError as group:
            refused = endings.first_of(group)
            if not isinstance(refused, LedgerRefusedError) or refused.code != _WRONG_STATE:
                raise
            state = one.state.replace("_", " ")
            raise UserFacingError(
                f"{one.name} is {state}: a {body.TYPE} changes nothing of that"
            ) from refused
    return one


async def _say(ledger: str, folders: Sequence[Path], body: Body, one: RunAnswer) -> None:
    async with LedgerApi(ledger) as api:
        await run_words.say(api, folders, body, one.id)


def _named(name: str, ledger: str) -> RunAnswer:
    runs = _ask(ledger, LedgerApi.runs)
    found = [one for one in runs if is_meant(one.name, one.run, name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(name_with_id(one.name, one.run) for one in found or runs) or "none"
    if found:
        raise UserFacingError(f"several runs fit {name!r}: {known}; give the beginning of the id")
    raise UserFacingError(f"no run is called {name!r}; known runs: {known}")


def _ask(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    with endings.reached(ledger):
        return trio.run(partial(_asked, ledger, question))


async def _asked(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    async with LedgerApi(ledger) as api:
        return await question(api)
