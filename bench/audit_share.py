"""What audits cost a run in which everybody is honest: the share of all windows that are repeats.

Plays the log of a run by the product's rules, without training (`loops/attacked_log.py`). New keys
are audited more often, so the share falls with the rounds.

    python bench/audit_share.py [--members N] [--rounds N] [--seeds 1 2] [--write]

`--write` puts the table into docs/auditing.md. A few minutes for each seed.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path

import msgspec
from loops import repository, table
from loops.attacked_log import LoggedRound, play_log
from loops.demo_plan import write_plan
from loops.local_swarm import build_library_data

from tequio_client.organiser.opening import prepare_run

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
    rows = [
        [f"{first + 1} to {last}", *(f"{_share(one[first:last]):.1%}" for one in logs)]
        for first, last in parts
    ]
    content = table.markdown(("rounds", *(f"seed {seed}" for seed in options.seeds)), rows)
    print(content)
    if options.write:
        table.put(DOCUMENT, "share of audits", content)


def _share(rounds: list[LoggedRound]) -> float:
    """Windows that were repeated, of all that somebody trained."""
    trained = sum(sum(one.accepted.values()) for one in rounds)
    repeated = sum(sum(one.repeated.values()) for one in rounds)
    return repeated / (trained + repeated)


if __name__ == "__main__":
    main()
