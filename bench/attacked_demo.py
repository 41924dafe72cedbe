"""The cost of one cheat of four in a swarm of real programs: the demo with it and without it.

Ledger, seed and four volunteers, twice: all honest, and with a fourth trainer that sends its
updates flipped and three times as long in every round. Prints held-out bits per byte, and the
number of rounds until the cheat is excluded. The machine's speed decides how many windows a round
has, so the two runs train on different numbers of tokens; `bench/attack.py` keeps them equal.

    python bench/attacked_demo.py [--rounds N] [--attack NAME] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from loops import repository, table  # noqa: F401
from loops.machine import machine
from tests.support.attacked_demo import FinishedDemo, ThreeMemberScript, run_attacked_demo

COLUMNS = ("run", "bits per byte", "tokens", "rounds", "cheats sent", "cheat ends as")


def main() -> None:
    """Run both, print the table, and write the figures to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=16, help="rounds of each run")
    parser.add_argument("--attack", default="sign_flip_3", help="what the cheat sends")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    played = {
        name: _play(options.rounds, attack)
        for name, attack in (("honest", None), (options.attack, options.attack))
    }
    print(table.markdown(COLUMNS, [_row(name, one) for name, one in played.items()]))
    bits = {name: _bits(one) for name, one in played.items()}
    ratio = bits[options.attack] / bits["honest"]
    print(f"\nwith the cheat {ratio - 1:+.2%}; honest peers blamed: {_blamed(played)}")
    if options.json:
        figures = {**machine(), "bits_per_byte": bits, "ratio": ratio, "blamed": _blamed(played)}
        options.json.write_text(json.dumps(figures))


def _play(rounds: int, attack: str | None) -> FinishedDemo:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return run_attacked_demo(
            ThreeMemberScript(folder=Path(folder) / "demo", rounds=rounds), attack
        )


def _row(name: str, one: FinishedDemo) -> list[str]:
    changes = one.changes(of_cheat=True)
    return [
        name,
        f"{_bits(one):.3f}",
        str(one.outcome["tokens_accepted"]),
        str(one.outcome["rounds_committed"]),
        str(len(one.cheats)),
        changes[-1].to if changes else "newcomer",
    ]


def _bits(one: FinishedDemo) -> float:
    return float(one.outcome["held_out"]["bits_per_byte_end"])


def _blamed(played: dict[str, FinishedDemo]) -> int:
    """Honest peers that became suspected or quarantined."""
    said = [change for one in played.values() for change in one.changes(of_cheat=False)]
    return len({change.peer for change in said if change.to in ("suspected", "quarantined")})


if __name__ == "__main__":
    main()
