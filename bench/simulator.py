"""A network of many peers: what the simulator says of 100, 1,000 and 10,000, and what it costs.

One run of a 125M Llama, whose rounds of half an hour leave time for home connections, with the
published speeds, connections and uptimes of `client/tequio_client/simulator/hosts.py`. A fifth of
the peers cheat, in all known ways. Then the same run with a down link, in which most peers follow
steps. The seconds are processor time of one core, of the simulation with everything that it shares
with ledger and workers.

    python bench/simulator.py [--peers 100 1000 10000] [--days 1] [--followers 0.9] [--json FILE]
        [--write]

`--write` puts the tables into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import msgspec
from loops import repository, table
from loops.machine import machine
from tests.support.plans import CONFIG, write_plan

from tequio_client.organiser.outline import read_outline
from tequio_client.simulator import lies
from tequio_client.simulator.network import Simulation, SimulationSetup
from tequio_client.simulator.report import SimulationReport, make_report
from tequio_shared.wording import size_text

LIARS = 0.2
MODEL = {
    "hidden_size": 768,
    "intermediate_size": 2_048,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 12,
    "vocab_size": 32_768,
    "max_position_embeddings": 1_024,
}
PLAN = """name = "simulated"
[model]
source = "config.json"
[data]
folder = "data"
[windows]
samples = 32
first = 30
[rounds]
min_members = 8
most_members = 4095
warmup_s = 60
train_s = 1800
train_limit_s = 3600
witness_s = 1800
grace_s = 30
attest_s = 1200
most = 1000000
"""
DOWN_LINK = "[algorithm]\ndown_k = 512\n"
COLUMNS = (
    "peers",
    "in a round",
    "rounds",
    "void",
    "tokens per day",
    "a peer fetches per day on",
    "the ledger sends per day",
    "log entries per day",
    "honest suspected",
    "cheats quarantined",
    "seconds",
    "for 1,000 rounds",
    "ms per entry",
)
LINKED_COLUMNS = (
    "peers",
    "in a round",
    "of them witnesses",
    "rounds",
    "void",
    "tokens per day",
    "a follower fetches per day on",
    "a witness",
    "gossip on top, each",
    "all peers fetch per day",
    "honest suspected",
    "cheats quarantined",
    "seconds",
)
DOCUMENT = repository.ROOT / "docs" / "scale.md"
"""The tables stand between their marks there."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate networks of several sizes.")
    parser.add_argument("--peers", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--days", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--followers", type=float, default=0.9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    runs = (
        ("simulator", PLAN, 0.0, COLUMNS, _row),
        (
            "simulator with a down link",
            PLAN + DOWN_LINK,
            options.followers,
            LINKED_COLUMNS,
            _linked,
        ),
    )
    outcomes = []
    for name, text, followers, columns, row in runs:
        lines = []
        with tempfile.TemporaryDirectory() as folder:
            plan = _write(Path(folder), text)
            for peers in options.peers:
                report, seconds = _simulate(plan, peers, options.days, options.seed, followers)
                outcomes.append({"seconds": seconds, "report": msgspec.to_builtins(report)})
                lines.append(row(report, seconds))
        shown = table.markdown(columns, lines)
        print(shown)
        if options.write:
            table.put(DOCUMENT, name, shown)
    print(f"{machine()}; {_memory_mib():,} MiB at most")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "runs": outcomes}, indent=1))


def _write(folder: Path, text: str) -> Path:
    plan = write_plan(folder)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **MODEL}), "utf-8")
    plan.write_text(text, "utf-8")
    return plan


def _simulate(
    plan: Path, peers: int, days: float, seed: int, followers: float
) -> tuple[SimulationReport, float]:
    outline = read_outline(plan)
    setup = SimulationSetup(
        manifest=outline.manifest,
        corpus=outline.corpus,
        peers=peers,
        days=days,
        seed=seed,
        liars=lies.parse_shares((str(LIARS),)),
        followers=followers,
    )
    began = time.process_time()
    simulation = Simulation(setup).run()
    return make_report(simulation), time.process_time() - began


def _row(report: SimulationReport, seconds: float) -> tuple[str, ...]:
    entries, rounds = sum(report.entries.values()), report.rounds_closed + report.rounds_void
    return (
        f"{report.peers:,}",
        f"{report.members_mean:,.0f}",
        f"{rounds}",
        f"{report.rounds_void}",
        f"{report.tokens_per_day / 1e9:,.2f} billion",
        size_text(report.peer_day_bytes),
        size_text(report.ledger_sent_bytes / report.days),
        f"{entries / report.days:,.0f}",
        f"{report.honest_suspected}",
        _quarantined(report),
        f"{seconds:,.0f}",
        f"{1000 * seconds / max(rounds, 1):,.0f}",
        f"{1000 * seconds / entries:.2f}",
    )


def _linked(report: SimulationReport, seconds: float) -> tuple[str, ...]:
    return (
        f"{report.peers:,}",
        f"{report.members_mean:,.0f}",
        f"{report.witnesses_mean:,.0f}",
        f"{report.rounds_closed + report.rounds_void}",
        f"{report.rounds_void}",
        f"{report.tokens_per_day / 1e9:,.2f} billion",
        size_text(report.follower_day_bytes),
        size_text(report.witness_day_bytes),
        size_text(report.gossip_day_bytes),
        size_text(report.down_bytes / report.days),
        f"{report.honest_suspected}",
        _quarantined(report),
        f"{seconds:,.0f}",
    )


def _quarantined(report: SimulationReport) -> str:
    cheats = [one for one in report.lies if one.kind in ("copy", "half", "most", "closed")]
    return f"{sum(one.quarantined for one in cheats)} of {sum(one.peers for one in cheats)}"


def _memory_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
