"""The simulator beside a real network: a demo on this machine, and the simulation of its plan.

    python bench/simulated_demo.py [--peers 16] [--rounds 8] [--json FILE] [--write]

`--write` puts the table into docs/scale.md. On an overloaded machine, give the volunteers more time
with --train-s.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from loops import repository, table
from loops.machine import machine
from tests.support.simulated_demo import compare

DOCUMENT = repository.ROOT / "docs" / "scale.md"
"""The table stands between its marks there."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare a demo with its simulation.")
    parser.add_argument("--peers", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--train-s", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = compare(
            Path(folder) / "demo",
            peers=options.peers,
            rounds=options.rounds,
            train_s=options.train_s,
        )
    text = table.markdown(
        ("figure", "demo", "simulation", "difference"),
        [
            (one.name, f"{one.real:,.0f}", f"{one.simulated:,.0f}", f"{one.difference:.0%}")
            for one in figures
        ],
    )
    print(text)
    print(machine())
    if options.json:
        figures_json = [asdict(one) for one in figures]
        options.json.write_text(json.dumps({"machine": machine(), "figures": figures_json}))
    if options.write:
        table.put(DOCUMENT, "simulated demo", text)


if __name__ == "__main__":
    main()
