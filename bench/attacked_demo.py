"""What one cheat of four costs a whole swarm of real programs: the demo with it and without it.

Ledger, seed and four volunteers, twice: all honest, and the fourth with a trainer that sends its
updates flipped and three times as long in every round. Printed are held-out bits per byte, and how
many rounds it took to put the cheat out. The machine decides how many windows a round has, so the
two runs do not train on equally many tokens; `bench/attack.py` holds that still.

    python bench/attacked_demo.py [--rounds N] [--attack NAME] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from loops import repository, table  # noqa: F401
from loops.machine import machine
from tests.support.attacked_demo import Performance, ThreeSuffice, perform

COLUMNS = ("run", "bits per byte", "tokens", "rounds", "cheats sent", "cheat is")


def main() -> None:
    """Play both, print, and write where told."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--attack", default="sign_flip_3")
    parser.add_argument("--json", type=Path)
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


def _play(rounds: int, attack: str | None) -> Performance:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return perform(ThreeSuffice(folder=Path(folder) / "demo", rounds=rounds), attack)


def _row(name: str, one: Performance) -> list[str]:
    changes = one.changes(of_cheat=True)
    return [
        name,
        f"{_bits(one):.3f}",
        str(one.outcome["tokens_accepted"]),
        str(one.outcome["rounds_committed"]),
        str(len(one.cheats)),
        changes[-1].to if changes else "newcomer",
    ]


def _bits(one: Performance) -> float:
    return float(one.outcome["held_out"]["bits_per_byte_end"])


def _blamed(played: dict[str, Performance]) -> int:
    """Honest peers that became suspected or quarantined."""
    said = [change for one in played.values() for change in one.changes(of_cheat=False)]
    return len({change.peer for change in said if change.to in ("suspected", "quarantined")})


if __name__ == "__main__":
    main()
