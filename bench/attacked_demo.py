"""A swarm of real programs with liars: the demo with them, and the same swarm without them.

Ledger, seed, seven honest volunteers, and five that lie, each in its own way. Prints for each liar
when it was convicted and what it kept beside an honest volunteer, whether any honest one was
suspected, and held-out bits per byte against the same seven alone. All volunteers share this
machine, where twelve are slower than seven, as they would not be on computers of their own. So a
share grows to twice the first one at most, which this machine can train for all of them.

    python bench/attacked_demo.py [--rounds N] [--json FILE]

Exit status: 0, or 1 if a liar that does less than honest work kept more than its work was worth, an
honest volunteer was suspected, or the loss is more than 2 % above the honest swarm's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import mean

from loops import repository, table  # noqa: F401
from loops.machine import machine
from tests.support.attacked_demo import FewerMembersScript, FinishedDemo, run_attacked_demo

from tequio_shared.statements.runs import AuditReport

LIARS = {
    "volunteer-8": "half_work",
    "volunteer-9": "copy",
    "volunteer-10": "replay",
    "volunteer-11": "closed",
    "volunteer-12": "accuser",
}
WORK = {"half_work": 0.5, "copy": 0.0, "replay": 0.0, "closed": 0.0, "accuser": 1.0}
"""Share of the honest work that each one does."""
HONEST = 7
MOST_LOSS = 1.02
COLUMNS = ("liar", "committed in rounds", "convicted after round", "points kept, of honest", "work")


def main() -> None:
    """Run both, print the tables, and write the figures to a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="rounds of each run")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    attacked = _play(options.rounds, HONEST + len(LIARS), LIARS)
    honest = _play(options.rounds, HONEST, {})
    kept = {name: _kept(attacked, name) for name in LIARS}
    print(table.markdown(COLUMNS, [_row(attacked, name, kept[name]) for name in LIARS]))
    bits = {"with liars": _bits(attacked), "without": _bits(honest)}
    ratio = bits["with liars"] / bits["without"]
    suspected = _suspected(attacked)
    audits = {"with liars": _audits(attacked), "without": _audits(honest)}
    tokens = {"with liars": _tokens(attacked), "without": _tokens(honest)}
    print(
        f"\nbits per byte {bits['with liars']:.3f} with them, {bits['without']:.3f} without: "
        f"{ratio - 1:+.2%}; honest volunteers suspected: {suspected}; audits: "
        f"{audits['with liars']} and {audits['without']}; tokens of honest volunteers: "
        f"{tokens['with liars']:,} and {tokens['without']:,}"
    )
    if options.json:
        figures = {**machine(), "bits_per_byte": bits, "ratio": ratio, "kept": kept}
        figures |= {"suspected": suspected, "audits": audits, "tokens": tokens}
        options.json.write_text(json.dumps(figures))
    is_paid = any(share > WORK[LIARS[name]] for name, share in kept.items())
    sys.exit(int(is_paid or suspected > 0 or ratio > MOST_LOSS))


def _play(rounds: int, peers: int, attacks: dict[str, str]) -> FinishedDemo:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        script = FewerMembersScript(
            folder=Path(folder) / "demo",
            rounds=rounds,
            peers=peers,
            least=5,
            train_s=30.0,
            inner_steps=8,
            first_windows=16,
            most_windows=32,
            held_out_tokens=32_768,
            measured_every=20,
        )
        return run_attacked_demo(script, attacks)


def _row(one: FinishedDemo, name: str, kept: float) -> list[str]:
    key, attack = one.keys[name], LIARS[name]
    after = one.convicted_in(key)
    return [
        attack,
        str(len(one.committed(key))),
        "never" if after is None else str(after),
        f"{kept:.2f}",
        f"{WORK[attack]:.2f}",
    ]


def _kept(one: FinishedDemo, name: str) -> float:
    """Points of a liar over the mean of the honest volunteers'."""
    honest = mean(one.points(key) for key in one.keys.values() if key not in one.cheats)
    return one.points(one.keys[name]) / honest


def _bits(one: FinishedDemo) -> float:
    return float(one.outcome["held_out"]["bits_per_byte_end"])


def _suspected(one: FinishedDemo) -> int:
    """Honest volunteers that became suspected or quarantined."""
    changes = one.changes(of_cheats=False)
    return len({change.peer for change in changes if change.to in ("suspected", "quarantined")})


def _tokens(one: FinishedDemo) -> int:
    """Tokens that the honest volunteers trained on."""
    return sum(one.committed_tokens(key) for key in one.keys.values() if key not in one.cheats)


def _audits(one: FinishedDemo) -> int:
    return sum(isinstance(entry.statement.body, AuditReport) for entry in one.entries)


if __name__ == "__main__":
    main()
