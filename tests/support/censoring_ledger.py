"""The real ledger, but it refuses one member's attestations while they could be logged.

    python tests/support/censoring_ledger.py KEY serve --dir FOLDER ...

KEY is the member's key. The ledger answers that its queue is full, as an honest one may.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tequio_ledger.__main__ import main
from tequio_ledger.log.sequencer import Refused
from tequio_ledger.web import write_api
from tequio_shared.ids import PeerKey, key_from_text
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from tequio_shared.served.state import State


def command(key: str, *arguments: str) -> list[str]:
    """The command line of a ledger that dislikes that key."""
    return [sys.executable, str(Path(__file__)), key, *arguments]


def run(arguments: list[str]) -> None:
    """Run the ledger; the first argument is the key."""
    key, *rest = arguments
    victim = key_from_text(key)
    check = vars(write_api)["_Check"]
    honest = check.judge

    def judge(self: object, leaf: bytes) -> Entry | Refused:
        found: Entry | Refused = honest(self, leaf)
        state: State = self.state  # type: ignore[attr-defined]  # of a private class
        if isinstance(found, Entry) and is_disliked(found, victim, state):
            return Refused(id=found.statement.digest, code="queue-full", detail="try again")
        return found

    check.judge = judge
    sys.argv = ["tequio-ledger", *rest]
    main()


def is_disliked(entry: Entry, victim: PeerKey, state: State) -> bool:
    """True if it is the victim's attestation for the round that is being attested."""
    statement = entry.statement
    current = state.round_of(statement.run) if statement.run else None
    return (
        isinstance(statement.body, HeadAttest)
        and statement.author == victim
        and current is not None
        and current.phase is RoundPhase.ATTEST
    )


if __name__ == "__main__":
    run(sys.argv[1:])
