"""The real `tequio` command with a trainer that cheats; nothing else about it is changed.

    python tests/support/hostile_worker.py ATTACK worker --ledger URL --dir FOLDER ...

ATTACK is a name in `trainer_attacks.ATTACKS` or `LIES`; `tequio demo` or a test adds it to a
network like any other volunteer.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tequio_client.__main__ import main
from tequio_client.worker.children import trainer as trainer_child
from tequio_client.worker.rounds.audit import RoundAuditing
from tests.support.trainer_attacks import ATTACKS, LIES

KNOWN = {**ATTACKS, **LIES}
TRAINER = Path(__file__).with_name("hostile_trainer.py")


def command(attack: str, *arguments: str) -> list[str]:
    """The command line of a hostile `tequio`; raises KeyError for an attack that does not exist."""
    KNOWN[attack]
    return [sys.executable, str(Path(__file__)), attack, *arguments]


def run(arguments: list[str]) -> None:
    """Run `tequio` with these arguments; the first one names the attack."""
    attack, *rest = arguments
    if attack not in KNOWN:
        raise SystemExit(f"no attack {attack!r}; there are {', '.join(KNOWN)}")
    vars(trainer_child)["TRAINER"] = (sys.executable, str(TRAINER), attack)
    if attack == "closed":
        setattr(RoundAuditing, "may_open", lambda *_: False)  # noqa: B010 - not of this type
    sys.argv = ["tequio", *rest]
    main()


if __name__ == "__main__":
    run(sys.argv[1:])
