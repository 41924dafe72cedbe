"""What a competition asks of the network around it: documents, runs, and who may take part.

All of it is as the log has it before the statement that is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tequio_shared.accounts import Trained
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.standing import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from tequio_shared.competition_rules import Budget, Submission
    from tequio_shared.competition_state import Entrant, Offer
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.run import FullRunView
    from tequio_shared.run_documents import Documents
    from tequio_shared.standing import Standings
    from tequio_shared.tiers import Tiers

_HOUR_MS = 3_600_000
_Document = TypeVar("_Document")


def _unknown(_name: Digest) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The folds that a competition rests on, and the documents by their names."""

    documents: Documents
    """Raises KeyError for one that is not there."""
    run: Callable[[RunId], FullRunView | None]
    standings: Standings
    tiers: Tiers
    organisers: frozenset[PeerKey]
    size_of: Callable[[Digest], int | None] = _unknown
    """Bytes of a document if that costs less than reading it: anybody may name a large one."""

    def is_in_good_standing(self, key: PeerKey) -> bool:
        """Whether the key is registered, and neither quarantined nor banned."""
        return key in self.standings.records and self.standings.of(key) not in OUTSIDE

    def check_standing(self, key: PeerKey) -> None:
        """Raise RefusedError unless the key is in good standing."""
        if not self.is_in_good_standing(key):
            raise RefusedError("quarantined", f"{to_text(key)} takes part in nothing now")

    def owner(self, key: PeerKey) -> Digest:
        """Whose key it is, as far as the log knows."""
        return self.tiers.word(key).owner

    def tier(self, key: PeerKey, ts: int) -> int:
        """How much is known of who is behind the key at that time (ms), in whichever run."""
        word = self.tiers.word(key)
        return int(word.tier) if not word.until or word.until > ts else 0

    def rostered(self, run: RunId) -> set[PeerKey]:
        """Who ever had a slot in the run."""
        view = self.run(run)
        return set() if view is None else view.accounts.rostered


def read_document(
    parse: Callable[[bytes], _Document],
    network: Network,
    name: str,
    noun: str,
    most_bytes: int = STATEMENT_BYTES,
) -> _Document:
    """Read the document that a statement names; raises RefusedError."""
    size_bytes = network.size_of(digest_from_text(name)) or 0
    if size_bytes > most_bytes:
        raise RefusedError("malformed", f"the {noun} has {size_bytes} bytes, not {most_bytes}")
    try:
        return parse(network.documents(digest_from_text(name)))
    except KeyError as err:
        raise RefusedError("not-found", f"put the {noun} {name} first") from err
    except MalformedError as err:
        raise RefusedError("malformed", f"the {noun} does not hold: {err}") from err


def check_submission(
    submission: Submission, side: RunId | None, budget: Budget, network: Network
) -> None:
    """Raise RefusedError unless it is a head of that run, within the budget; no run: a folder.

    What a folder takes is seen when it is scored.
    """
    if submission.run != ("" if side is None else to_text(side)):
        due = "a folder" if side is None else f"a head of run {to_text(side)}"
        raise RefusedError("wrong-submission", f"this entrant submits {due}")
    view = None if side is None else network.run(side)
    if view is None:
        return
    head = view.heads.get(submission.round)
    if head is None:
        raise RefusedError("wrong-submission", f"round {submission.round} has no certified head")
    if to_text(head.weights_root) != submission.weights_root:
        raise RefusedError("wrong-submission", f"round {submission.round} has other weights")
    trained = view.accounts.trained.get(submission.round, Trained(tokens=0, ms=0))
    _check_budget(budget, view.manifest.parameters, trained)


def eligible(
    entrants: Collection[Entrant],
    offers: Mapping[PeerKey, Offer],
    custodians: Iterable[PeerKey],
    network: Network,
) -> dict[PeerKey, Digest]:
    """Who can be drawn to evaluate, and whose key it is: all with a secret and no interest."""
    authors = {one.author for one in entrants}
    rostered = (network.rostered(one.side) for one in entrants if one.side is not None)
    outside = authors.union(custodians, network.organisers, *rostered)
    rivals = {network.owner(key) for key in authors}
    return {
        key: network.owner(key)
        for key, offer in offers.items()
        if offer.secret is not None
        and key not in outside
        and network.owner(key) not in rivals
        and network.is_in_good_standing(key)
    }


def _check_budget(budget: Budget, parameters: int, trained: Trained) -> None:
    """A limit of 0 is none."""
    taken = (
        ("parameters", budget.parameters, parameters),
        ("tokens", budget.tokens, trained.tokens),
        ("hours", budget.hours, -(-trained.ms // _HOUR_MS)),
    )
    for noun, most, found in taken:
        if most and found > most:
            raise RefusedError("over-budget", f"{found} {noun}, and {most} are allowed")
