"""Simulated networks: what the rules do with liars, with outages, and with computers that leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.organiser.outline import read_outline
from tequio_client.simulator.hosts import HostPopulation
from tequio_client.simulator.lies import HONEST, parse_shares
from tequio_client.simulator.network import START_MS, Simulation, SimulationSetup
from tequio_client.simulator.report import make_report
from tequio_shared.round.manifest import WindowRules
from tests.support.plans import write_plan

if TYPE_CHECKING:
    from tequio_client.simulator.report import LieResult

SPEED = 30_000.0
ALWAYS_ON = HostPopulation(is_always_on=True, tokens_per_s=SPEED)
LIARS = parse_shares(("0.2",))


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> SimulationSetup:
    """30 peers that never leave, and a run of 40 rounds; a share takes seconds."""
    outline = read_outline(write_plan(tmp_path_factory.mktemp("plan")))
    rounds = msgspec.structs.replace(outline.manifest.rounds, most=40, most_members=256)
    windows = WindowRules(samples=2_000, tokens=64_000, first=3, most=100)
    return SimulationSetup(
        manifest=msgspec.structs.replace(outline.manifest, rounds=rounds, windows=windows),
        corpus=outline.corpus,
        peers=30,
        days=3,
        population=ALWAYS_ON,
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_honest_peer_is_ever_suspected_among_liars(setup: SimulationSetup, seed: int) -> None:
    simulation = Simulation(replace(setup, seed=seed, liars=LIARS)).run()
    report = make_report(simulation)
    assert report.honest_suspected == 0
    assert sum(one.peers for one in report.lies if one.kind != HONEST.name) == 6
    assert report.rounds_closed > 35
    assert not simulation.ledger.errors
    # Cheats that are found keep less than honest work has cost them.
    for one in _of_kinds(report.lies, "copy", "half", "closed"):
        assert one.profit is not None
        assert one.profit <= 0.0, one


def test_no_honest_peer_is_suspected_where_computers_leave(setup: SimulationSetup) -> None:
    long = msgspec.structs.replace(
        setup.manifest.rounds, train=900_000, train_limit=1_800_000, witness=300_000
    )
    leaving = replace(
        setup,
        manifest=msgspec.structs.replace(setup.manifest, rounds=long),
        peers=90,
        liars=LIARS,
        population=HostPopulation(tokens_per_s=SPEED / 100),
    )
    report = make_report(Simulation(leaving).run())
    assert report.honest_suspected == 0
    assert report.online_mean < 70
    assert report.rounds_closed > 30
    assert report.entries["member.leave"] > 0


def test_each_cheat_that_audits_find_is_quarantined(setup: SimulationSetup) -> None:
    shares = parse_shares(("copy=0.07", "half=0.07", "closed=0.07", "twice=0.07"))
    report = make_report(Simulation(replace(setup, liars=shares)).run())
    cheats = _of_kinds(report.lies, "copy", "half", "closed", "twice")
    assert [(one.peers, one.quarantined) for one in cheats] == [(2, 2)] * 4
    assert report.honest_suspected == 0


def test_rounds_go_on_after_an_outage_of_the_ledger(setup: SimulationSetup) -> None:
    whole = make_report(Simulation(setup).run())
    hours = whole.days * 24
    torn = replace(setup, outages=((hours / 3, 1.0),))
    report = make_report(Simulation(torn).run())
    assert report.rounds_closed + report.rounds_void == 40
    assert report.rounds_void <= 1
    assert report.days * 24 == pytest.approx(hours + 1.0, abs=0.5)
    assert report.honest_suspected == 0


def test_members_of_a_round_are_counted_in_rounds_and_not_by_the_clock(
    setup: SimulationSetup,
) -> None:
    """The run ends by itself: of a long time asked for, few samples are in the run."""
    long, short = (make_report(Simulation(replace(setup, days=days)).run()) for days in (1_000, 3))
    assert long.has_ended
    assert short.has_ended
    assert long.members_mean == short.members_mean == pytest.approx(30, rel=0.1)
    assert long.witnesses_mean == short.witnesses_mean > 0


def test_the_same_seed_gives_the_same_network(setup: SimulationSetup) -> None:
    short = replace(setup, liars=LIARS, population=HostPopulation(tokens_per_s=SPEED))
    first, second, other = (
        msgspec.json.encode(make_report(Simulation(replace(short, seed=seed)).run()))
        for seed in (5, 5, 6)
    )
    assert first == second
    assert first != other


def test_time_goes_on_only_as_far_as_asked_for(setup: SimulationSetup) -> None:
    simulation = Simulation(replace(setup, days=0.01)).run()
    assert simulation.now_ms - START_MS <= 0.01 * 86_400_000
    assert not make_report(simulation).has_ended


def _of_kinds(lies: tuple[LieResult, ...], *kinds: str) -> list[LieResult]:
    return [one for one in lies if one.kind in kinds]
