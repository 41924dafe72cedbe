"""Price of audits where everybody is honest: the share of all windows that somebody repeats.

Plays the log of a run by the product's rules, without training (`loops/attacked_log.py`). New keys
are audited more often, so the share falls with the rounds.

    python bench/audit_share.py [--members N] [--rounds N] [--seeds 1 2] [--write] [--json FILE]

`--write` puts the table into docs/auditing.md. A few minutes for each seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from loops import repository, table
from loops.attacked_log import play_log
from loops.demo_plan import write_plan
from loops.local_swarm import build_library_data
from loops.machine import machine

from tequio_client.organiser.opening import prepare_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loops.attacked_log import LoggedRound

SPEED = 1.6
"""Windows per second of each machine: twice the first share in a round."""
PARTS = (0, 10, 30, 100, 200)
"""Rounds at which a row ends; the last one ends with the run."""
DOCUMENT = repository.ROOT / "docs" / "auditing.md"
SEQUENCE = 64


def main() -> None:
    """Play the logs, and print a row for each part of the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--write", action="store_true", help="put the table into the document")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    names = [f"honest {at}" for at in range(options.members)]
    logs = []
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            build_library_data(folder / "data", SEQUENCE)
            manifest = prepare_run(write_plan(folder, seed)).manifest
        rounds = msgspec.structs.replace(manifest.rounds, most=options.rounds)
        manifest = msgspec.structs.replace(manifest, rounds=rounds)
        logs.append(play_log(manifest, names, (), speed=SPEED, seed=seed).rounds)
    ends = [end for end in PARTS if end < options.rounds] + [options.rounds]
    parts = [*pairwise(ends), (0, options.rounds)]
    shares = {
        f"{first + 1} to {last}": [_share(one[first:last]) for one in logs] for first, last in parts
    }
    rows = [[part, *(f"{one:.1%}" for one in found)] for part, found in shares.items()]
    content = table.markdown(("rounds", *(f"seed {seed}" for seed in options.seeds)), rows)
    print(content)
    if options.json:
        options.json.write_text(json.dumps({**machine(), "shares": shares}))
    if options.write:
        table.put(DOCUMENT, "share of audits", content)


def _share(rounds: Sequence[LoggedRound]) -> float:
    """Windows that were repeated, of all that somebody trained."""
    trained = sum(sum(one.accepted.values()) for one in rounds)
    repeated = sum(sum(one.repeated.values()) for one in rounds)
    return repeated / (trained + repeated)


if __name__ == "__main__":
    main()
