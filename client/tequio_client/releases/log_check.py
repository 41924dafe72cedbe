"""Compares the list of releases that a mirror serves with the one that a network's log names.

A thief of the maintainers' keys could sign a list for one victim alone. A network's log shows the
same hash to everybody, so such a list differs from the one that the log names by the same number.
"""

from __future__ import annotations

from dataclasses import dataclass

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.releases import read_releases
from tequio_client.releases.mirror import ReleaseList
from tequio_client.worker.shutdown import ungrouped_errors
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.network.releases import ReleaseHistory

_SHOWN = 16
"""Hexadecimal digits of a hash that are shown."""


class ListDiffersError(UserFacingError):
    """Somebody may be serving this user a list, and packages, that nobody else gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChoice:
    """The ledger to ask; one that the user named for this must answer."""

    url: str
    """Empty: no network was chosen yet, so that nothing can be compared."""
    must_answer: bool


def check_list(served: ReleaseList, ledger: LedgerChoice) -> None:
    """Return if the network's log names the same list, or none of this number.

    Raises ListDiffersError, and UserFacingError if the ledger contradicts its own log or does not
    answer although it must.
    """
    if not ledger.url:
        return
    try:
        with ungrouped_errors():
            network, history = trio.run(_ask, ledger.url)
    except (LedgerUnavailableError, RefusedError) as err:
        if ledger.must_answer:
            raise UserFacingError(
                f"the ledger {ledger.url} does not say which releases its network names ({err}): "
                "nothing was installed; try again later, or leave --ledger out"
            ) from err
        return
    except PeerError as err:
        raise UserFacingError(
            f"what the ledger {ledger.url} says about releases is not proven by its log ({err}): "
            "nothing was installed; ask its operator, or name another ledger with --ledger"
        ) from err
    named = history.named(served.version)
    if named is not None and named.targets != served.hash:
        raise ListDiffersError(
            f"The releases that {network}'s log names differ from those this mirror serves: "
            "nothing was installed. Someone may be giving you a package that nobody else gets. "
            f"(List {served.version}: {served.hash.hex()[:_SHOWN]}… served, "
            f"{named.targets.hex()[:_SHOWN]}… in entry {named.index} of {ledger.url}.)"
        )


async def _ask(url: str) -> tuple[str, ReleaseHistory]:
    async with LedgerApi(url) as api:
        history = await read_releases(api)
        return (await api.network()).genesis.name, history
