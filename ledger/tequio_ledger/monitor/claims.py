"""What the ledger says of its log, against what follows from the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tequio_ledger.log.checkpoint import Published
from tequio_ledger.store import read
from tequio_ledger.web.answers import peer_answer, round_answer, run_answer
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import digest_from_text, from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_ledger.monitor.mirror import Mirror
    from tequio_ledger.monitor.remote import Json, RemoteLedger
    from tequio_shared.ids import Digest

PAGE = 1_000
_ASIDE = {"as_of", "peer_id"}
"""Fields that say nothing of the log, or the same in other letters."""


class MovedOnError(Exception):
    """The ledger answered about another size than ours: read on and ask again."""

    def __init__(self, size: int, root: Digest) -> None:
        super().__init__(f"an answer is true for {size} entries")
        self.size = size
        self.root = root


class Claims:
    """One comparison of all derived answers at the size of the mirror."""

    def __init__(self, ledger: RemoteLedger, mirror: Mirror) -> None:
        self._ledger = ledger
        self._mirror = mirror
        self._published = Published(size=mirror.size, root=mirror.root, note=mirror.note)

    def differences(self) -> list[str]:
        """List what is not so; raises MovedOnError, UnreachableError, MalformedError."""
        try:
            return [*self._peers(), *self._runs()]
        except RecursionError as err:
            raise MalformedError("answers are nested deeper than anything is") from err

    def _peers(self) -> Iterator[str]:
        with self._mirror.database.reader.begin() as connection:
            after = None
            while True:
                rows = read.peers(connection, after, PAGE)
                due = [peer_answer(row, self._published) for row in rows]
                text = f"&after={to_text(after)}" if after else ""
                said = self._page(f"/v1/peers?limit={PAGE}{text}", "peers")
                yield from _compare("peer", "key", due, said)
                if len(rows) < PAGE:
                    return
                after = rows[-1].key

    def _runs(self) -> Iterator[str]:
        state = self._mirror.state
        due = [run_answer(state, run, self._published) for run in state.runs]
        yield from _compare("run", "run", due, self._page(f"/v1/runs?limit={PAGE}", "runs"))
        for run in state.runs:
            yield from self._rounds(to_text(run))

    def _rounds(self, run: str) -> Iterator[str]:
        after = 0
        while True:
            with self._mirror.database.reader.begin() as connection:
                rows = read.rounds(connection, from_text(run), after, PAGE)
            due = [round_answer(row, self._published) for row in rows]
            path = f"/v1/runs/{run}/rounds?after={after}&limit={PAGE}"
            yield from _compare(f"run {run} round", "round", due, self._page(path, "rounds"))
            if len(rows) < PAGE:
                return
            after = rows[-1].round

    def _page(self, path: str, name: str) -> list[Json]:
        answer = self._ledger.ask(path)
        size, root = _as_of(path, answer)
        if size != self._published.size:
            raise MovedOnError(size, root)
        if root != self._published.root:
            raise PeerError(f"{path} names another root of {size} entries than was signed")
        found = answer.get(name)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _as_of(path: str, answer: Json) -> tuple[int, Digest]:
    as_of = answer.get("as_of")
    if isinstance(as_of, dict):
        size, root = as_of.get("size"), as_of.get("root")
        if isinstance(size, int) and size >= 0 and isinstance(root, str):
            return size, digest_from_text(root)
    raise PeerError(f"{path} does not say what it is true for")


def _compare(what: str, key: str, due: list[Any], said: list[Json]) -> Iterator[str]:
    """Compare rows by their key; `due` holds the answers that we would give."""
    ours = {one[key]: one for one in map(msgspec.to_builtins, due)}
    theirs = {one[key]: one for one in said if isinstance(one.get(key), str | int)}
    if len(theirs) < len(said):
        yield f"{len(said) - len(theirs)} rows name no {what}, or one twice"
    for name in ours.keys() - theirs.keys():
        yield f"{what} {name} is missing"
    for name in theirs.keys() - ours.keys():
        yield f"{what} {name} is not in the log"
    for name in ours.keys() & theirs.keys():
        for field in sorted(ours[name].keys() - _ASIDE):
            expected, found = _plain(ours[name][field]), _plain(theirs[name].get(field))
            if expected != found:
                yield f"{what} {name}: {field} is {expected!r} by the log, but {found!r} is said"


def _plain(value: object) -> object:
    """Let tuples and lists be equal, whichever side they come from."""
    return msgspec.json.decode(msgspec.json.encode(value))
