"""Runs and their heads as the log proves them, for programs that do not read the whole log.

What a ledger answers about a run only says where to look. Its rules are the document that its id is
the hash of; a head is the one in the entry that promotes it, which is proven against a signed
checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.proofs import LogProofs, check_entry, parts_by_tile
from tequio_client.names import find_one, short_id
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.head.chain import Head, stated_head
from tequio_shared.ids import RunId, digest_from_text
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.runs import HeadPromote, RunClose, RunRollback
from tequio_shared.statements.statement import Entry, Statement

_PAGE_ROUNDS = 128
_PAGE_ENTRIES = 256
_MOST_PAGES = 256
"""Most pages of rounds, and most pages of entries, that are searched for one promotion.

A page is enough as a rule, and what a ledger lists has no end if it lies.
"""


_LATER_ENTRIES = 16_384
"""Entries after a promotion among which a newer one is sought; a round of 10,000 members has fewer.
"""
_TURNS = tuple(b'"type":"%s"' % body.TYPE.encode() for body in (HeadPromote, RunRollback, RunClose))
"""Parts of the leaves that end the time of a head as the newest."""


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


def check_name(run: RunAnswer, manifest: Manifest) -> None:
    """Raise PeerError if a ledger lists the run by another name than its rules have."""
    if run.name != manifest.name:
        raise PeerError(
            f"the ledger lists the run {short_id(run.run)} as {run.name!r}, and its rules name it "
            f"{manifest.name!r}"
        )


async def read_document(name: str, api: LedgerApi) -> bytes:
    """Get a document, its hash checked; raises UserFacingError if the ledger does not have it."""
    raw = await api.get_blob(digest_from_text(name))
    if raw is None:
        raise UserFacingError(f"the ledger {api.url} does not have the document {name[:10]}")
    return raw


async def find_promotion(
    api: LedgerApi, run: RunAnswer, head_round: int, proofs: LogProofs | None = None
) -> Promotion:
    """Find the entry that promotes the head of a round, proven; raises UserFacingError for none.

    It is proven against the checkpoint of `proofs`, by default the newest. Members promote a head
    in the next round that opens, just before that, or after the last round. So it costs a bundle of
    entries as a rule, and at most those between the round and the next one. Entries that this
    version cannot read are passed over.
    """
    proofs = proofs or LogProofs(api, await api.checkpoint())
    place = (run.id, head_round)
    begin, opened = await _find_bounds(api, run, head_round)
    pages = _pages_between(begin, opened, proofs.checkpoint.size)
    for page in islice(pages, _MOST_PAGES):
        for index, leaf in zip(page, await api.entries(page.start, page.stop), strict=True):
            if not _promotes(leaf, place):
                continue
            entry = (await proofs.entries(await api.network(), [index]))[index]
            if entry.leaf() == leaf and isinstance(entry.statement.body, HeadPromote):
                return Promotion(index=index, entry=entry, body=entry.statement.body)
    if next(pages, None) is not None:
        raise UserFacingError(
            f"the head of round {head_round} of {run.name} is not certified among the "
            f"{_MOST_PAGES * _PAGE_ENTRIES:,} entries of the log that the ledger names: read all "
            "of it with `tequio audit`"
        )
    if run.head_round is None:
        raise UserFacingError(f"no head of {run.name} is certified yet")
    raise UserFacingError(
        f"no head of round {head_round} of {run.name} is certified: give the round of one that "
        f"is; the last one is that of round {run.head_round}"
    )


async def find_newer(api: LedgerApi, run: RunAnswer, proofs: LogProofs, size: int) -> int | None:
    """Find the round of a head that follows the one which the ledger names as the run's newest.

    Looks at the first `size` entries of the log. None if none is promoted, and the run goes back to
    no other head, in the next `_LATER_ENTRIES` of them: to the end of the run or to `size` as a
    rule. Costs a bundle for each 256. Raises UserFacingError if the named head is not certified.
    """
    if run.head_round is None:
        return None
    network = await api.network()
    named = await find_promotion(api, run, run.head_round, proofs)
    begin = 1 + await _index_of_last(run, named, network, proofs)
    end = min(begin + _LATER_ENTRIES, size)
    for page in parts_by_tile(begin, end):
        leaves = await proofs.leaves(page.start, page.stop)
        turns = (_turn(at, leaf, run.id, network) for at, leaf in enumerate(leaves, page.start))
        said = next((one for one in turns if one is not None), None)
        if said is not None:
            back = said.body.head_round if isinstance(said.body, RunRollback) else said.round
            return None if isinstance(said.body, RunClose) else back
    return None


def _turn(index: int, leaf: bytes, run: RunId, network: LedgerNetwork) -> Statement | None:
    """The statement of a proven leaf, if it ends the time of a head as the run's newest."""
    if not any(mark in leaf for mark in _TURNS):
        return None
    entry = _read(leaf)
    if entry is None or entry.statement.run != run:
        return None
    check_entry(index, entry, network)
    return entry.statement


async def _index_of_last(
    run: RunAnswer, named: Promotion, network: LedgerNetwork, proofs: LogProofs
) -> int:
    """Index of the last entry that makes that head the run's newest: a rollback may come later."""
    for one in run.rollbacks:
        if one.head_round != run.head_round or one.index < named.index:
            continue
        said = (await proofs.entries(network, [one.index]))[one.index].statement
        is_it = isinstance(said.body, RunRollback) and said.body.head == named.body.head
        if is_it and said.run == run.id:
            return one.index
    return named.index


def _promotes(leaf: bytes, place: tuple[RunId, int]) -> bool:
    """Tell if an unproven leaf promotes the head of that run and round."""
    entry = _read(leaf)
    if entry is None or not isinstance(entry.statement.body, HeadPromote):
        return False
    return (entry.statement.run, entry.statement.round) == place


def _read(leaf: bytes) -> Entry | None:
    """Parse a leaf; None if this version cannot."""
    try:
        return Entry.parse(leaf)
    except (MalformedError, RefusedError):
        return None


async def _find_bounds(api: LedgerApi, run: RunAnswer, head_round: int) -> tuple[int, int | None]:
    """The entries between which the head of that round may be promoted, as the ledger says.

    From the next roster to the next round that opened; None while none has. 0 for the beginning if
    there is neither.
    """
    begin, number = 0, head_round
    for _ in range(_MOST_PAGES):
        rounds = await api.rounds(run.id, after=number, limit=_PAGE_ROUNDS)
        begin = begin or (rounds[0].roster_index if rounds else 0)
        opened = next((row.opened_index for row in rounds if row.opened_index is not None), None)
        if opened is not None:
            return begin, opened
        if len(rounds) < _PAGE_ROUNDS:
            return (begin, None) if run.head_round == head_round else (0, None)
        number = rounds[-1].round
    raise PeerError(
        f"the ledger lists more than {_MOST_PAGES * _PAGE_ROUNDS} rounds of {run.name} after round "
        f"{head_round}, none of which opened"
    )


def _pages_between(begin: int, opened: int | None, size: int) -> Iterator[range]:
    """Parts of a log of that size that may promote a head, in the order to read them."""
    if opened is not None:
        for end in range(min(opened, size), begin, -_PAGE_ENTRIES):
            yield range(max(end - _PAGE_ENTRIES, begin), end)
    elif begin:
        yield from parts_by_tile(begin, size)
