"""Runs and their heads as the log proves them, for programs that do not read the whole log.

What a ledger answers about a run only says where to look. Its rules are the document that its id is
the hash of; a head is the one in the entry that promotes it, which is proven against a signed
checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.names import find_one, short_id
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.network.rollback import stated_head
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import HeadPromote
from tequio_shared.statements.statement import Entry

_PAGE_ROUNDS = 128
_PAGE_ENTRIES = 256


class UnreadableRulesError(UserFacingError):
    """The rules of a run have fields or values that this version does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The entry that promotes a head, as the log proves it."""

    index: int
    entry: Entry
    body: HeadPromote

    def head(self, run: RunId) -> Head:
        """The promoted head; raises RefusedError if its hash is not that of its parts."""
        return stated_head(run, self.entry.statement.round or 0, self.body)


def find_run(name: str, runs: Iterable[RunAnswer]) -> RunAnswer:
    """The run of that name, or with the id that begins so; raises UserFacingError."""
    return find_one("run", runs, lambda one: (one.name, one.run), name)


async def read_manifest(run: str, api: LedgerApi) -> Manifest:
    """Read the rules of a run; raises UserFacingError, UnreadableRulesError."""
    try:
        return Manifest.parse(await read_document(run, api))
    except MalformedError as err:
        raise UnreadableRulesError(
            f"this version of Tequio cannot read the rules of the run {short_id(run)} ({err}): "
            "update it"
        ) from err


async def read_document(name: str, api: LedgerApi) -> bytes:
    """Get a document, its hash checked; raises UserFacingError if the ledger does not have it."""
    raw = await api.get_blob(digest_from_text(name))
    if raw is None:
        raise UserFacingError(f"the ledger {api.url} does not have the document {name[:10]}")
    return raw


async def find_promotion(api: LedgerApi, run: RunAnswer, head_round: int) -> Promotion:
    """Find the entry that promotes the head of a round, proven; raises UserFacingError for none.

    Members promote a head in the next round that opens, just before that, or after the last round.
    So it costs a bundle of entries as a rule, and at most those between the round and the next one.
    Entries that this version cannot read are passed over.
    """
    place = (run.id, head_round)
    for page in await _pages_with(api, run, head_round):
        for index, leaf in zip(page, await api.entries(page.start, page.stop), strict=True):
            if not _promotes(leaf, place):
                continue
            proven = await read_entries(api, await api.network(), [index])
            entry = proven[index]
            if entry.leaf() == leaf and isinstance(entry.statement.body, HeadPromote):
                return Promotion(index=index, entry=entry, body=entry.statement.body)
    raise UserFacingError(
        f"no head of round {head_round} of {run.name} is certified: give the round of one that "
        f"is; the last one is that of round {run.head_round}"
    )


def _promotes(leaf: bytes, place: tuple[RunId, int]) -> bool:
    """Tell if an unproven leaf promotes the head of that run and round."""
    try:
        statement = Entry.parse(leaf).statement
    except (MalformedError, RefusedError):  # of a later version, perhaps
        return False
    return isinstance(statement.body, HeadPromote) and (statement.run, statement.round) == place


async def _pages_with(api: LedgerApi, run: RunAnswer, head_round: int) -> Sequence[range]:
    """Parts of the log that may promote the head of that round, in the order to read them."""
    begin, number = 0, head_round
    while True:
        rounds = await api.rounds(run.id, after=number, limit=_PAGE_ROUNDS)
        begin = begin or (rounds[0].roster_index if rounds else 0)
        opened = next((row.opened_index for row in rounds if row.opened_index is not None), None)
        if opened is not None:
            return [
                range(max(end - _PAGE_ENTRIES, begin), end)
                for end in range(opened, begin, -_PAGE_ENTRIES)
            ]
        if len(rounds) < _PAGE_ROUNDS:
            break
        number = rounds[-1].round
    if not begin or run.head_round != head_round:
        return []
    size = (await api.checkpoint()).size
    return [
        range(first, min(first + _PAGE_ENTRIES, size))
        for first in range(begin, size, _PAGE_ENTRIES)
    ]
