"""A real demo beside the simulation of the same network, figure by figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tequio_client.demo.main import run_demo
from tequio_client.demo.script import DemoScript
from tequio_client.organiser.outline import read_outline
from tequio_client.simulator.hosts import HostPopulation
from tequio_client.simulator.network import Simulation, SimulationSetup
from tequio_client.simulator.report import make_report

if TYPE_CHECKING:
    from pathlib import Path

SPEED = 400.0
"""Tokens per second of a simulated peer: quick enough for its whole share, as in the demo."""
LOOPBACK_MBIT = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFigure:
    """One figure of the demo and of the simulation."""

    name: str
    real: float
    simulated: float

    @property
    def difference(self) -> float:
        """Difference as a share of the real figure."""
        return abs(self.simulated - self.real) / max(self.real, 1)


class _WithoutLots(DemoScript):
    """A demo in which no lot decides who audits."""

    def plan(self) -> str:
        return f"{super().plan()}\n[audit]\nnewcomers = 0.0\nothers = 0.0\n"


def compare(
    folder: Path, *, peers: int, rounds: int, train_s: float, has_lots: bool = True
) -> list[ComparedFigure]:
    """Run a demo with small shares, so that slow machines finish them too, and simulate it.

    Without lots nobody audits or measures. In a small demo, these decide about more than a tenth of
    the tokens and of the log, and how many measure depends on how busy the computer is.
    """
    make_script = DemoScript if has_lots else _WithoutLots
    script = make_script(
        folder=folder,
        rounds=rounds,
        peers=peers,
        train_s=train_s,
        first_windows=4,
        inner_steps=4,
        held_out_tokens=8_192,
        measured_every=2 if has_lots else 1_000,
    )
    real = cast("Any", run_demo(script))
    outline = read_outline(folder / "plan.toml")
    setup = SimulationSetup(
        manifest=outline.manifest,
        corpus=outline.corpus,
        peers=peers,
        days=1,
        population=HostPopulation(is_always_on=True, tokens_per_s=SPEED, mbit=LOOPBACK_MBIT),
    )
    simulated = make_report(Simulation(setup).run())
    members = real["peers"]
    return [
        ComparedFigure(name=name, real=float(one), simulated=float(other))
        for name, one, other in (
            ("rounds closed", real["rounds_committed"], simulated.rounds_closed),
            ("rounds void", real["rounds_void"], simulated.rounds_void),
            ("log entries", real["log"]["size"], sum(simulated.entries.values())),
            ("tokens", real["tokens_accepted"], simulated.tokens),
            ("gflop", sum(one["gflop"] for one in members), simulated.gflop),
            (
                # The workers count what they verified, and leaves for auditors are not among it.
                "bytes fetched per peer",
                sum(one["bytes_received"] for one in members) / peers,
                (simulated.down_bytes - simulated.opened_bytes) / peers,
            ),
            (
                "bytes sent per peer",
                sum(one["bytes_sent"] for one in members) / peers,
                simulated.up_bytes / peers,
            ),
        )
    ]
