"""Members of a simulated run with a down link that follow steps: their bytes, and what they do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tequio_client.organiser.outline import read_outline
from tequio_client.simulator.hosts import HostPopulation
from tequio_client.simulator.network import Simulation, SimulationSetup
from tequio_client.simulator.report import make_report, report_lines
from tequio_client.worker.lending.needs import RoundPace
from tequio_client.worker.lending.needs import estimate as estimate_needs
from tests.support import small_network
from tests.support.plans import write_plan

if TYPE_CHECKING:
    from tequio_client.simulator.members import SimulatedMember
    from tequio_client.simulator.report import SimulationReport

MEASURED = Path(__file__).parents[3] / "bench" / "large_swarm.jsonl"
"""Bytes that members of real swarms fetched, the newest swarm last."""
TOLERANCE = 0.1
KB = 1e3


def crowd(folder: Path, peers: int, rounds: int) -> SimulationSetup:
    """The run that `bench/large_swarm.py` measures, with peers that never leave."""
    files = small_network.crowd(peers, rounds)
    path = write_plan(folder)
    (folder / "config.json").write_text(json.dumps(files.config))
    path.write_text(files.plan)
    outline = read_outline(path)
    return SimulationSetup(
        manifest=outline.manifest,
        corpus=outline.corpus,
        peers=peers,
        days=1,
        population=HostPopulation(is_always_on=True, tokens_per_s=10_000.0, mbit=1_000.0),
    )


def test_members_fetch_what_a_measured_swarm_fetched(tmp_path: Path) -> None:
    measured: dict[str, Any] = json.loads(MEASURED.read_text().splitlines()[-1])
    peers, rounds = measured["peers"], measured["rounds"]
    setup = crowd(tmp_path, peers, rounds)
    followers = 1 - measured["witnesses"] / peers
    simulation = Simulation(replace(setup, followers=followers)).run()
    light, heavy = _by_duty(simulation)
    assert (len(heavy), simulation.view.closed) == (measured["witnesses"], rounds)
    assert not simulation.view.voided
    for found, name in ((light, "following"), (heavy, "witness")):
        fetched = _kb_per_round(setup, found, rounds)
        assert fetched == pytest.approx(measured[f"{name}_received_kb"], rel=TOLERANCE), name


def test_what_a_follower_fetches_does_not_grow_with_the_members(tmp_path: Path) -> None:
    few, many = (
        _kb_of_both(tmp_path / str(peers), peers=peers, rounds=12, followers=0.75)
        for peers in (16, 48)
    )
    assert many[0] == pytest.approx(few[0], rel=TOLERANCE)
    # The contributions of a larger round are smaller, but there are three times as many.
    assert many[1] > few[1] > few[0]


def test_great_numbers_of_a_report_have_three_digits(tmp_path: Path) -> None:
    report = make_report(Simulation(crowd(tmp_path, 12, 8)).run())
    great = msgspec.structs.replace(report, tokens_per_day=999_999.0, peer_day_bytes=999_999.0)
    assert _line(great, "tokens per day") == "1.00M"
    assert _line(great, "a peer fetches").startswith("1 MB in a day")


def test_workers_follow_no_steps_unless_told_to(tmp_path: Path) -> None:
    setup = crowd(tmp_path, 12, 8)
    simulation = Simulation(setup).run()
    report = make_report(simulation)
    assert (report.followers, report.step_bytes) == (0, 0)
    assert report.witnesses_mean == report.members_mean
    assert not [line for line in report_lines(report) if line.startswith("followers")]


def test_followers_work_and_leave_all_votes_to_witnesses(tmp_path: Path) -> None:
    setup = replace(crowd(tmp_path, 16, 10), followers=0.5)
    simulation = Simulation(setup).run()
    report = make_report(simulation)
    light, heavy = _by_duty(simulation)
    assert (report.rounds_closed, report.rounds_void, report.honest_suspected) == (10, 0, 0)
    assert min(one.committed for one in light) >= 9
    assert report.witnesses_mean <= len(heavy) == 8
    # Each follows the promoted heads one by one: nobody fetches a second one whole.
    steps = len(light) * setup.manifest.step_bytes
    assert report.step_bytes % setup.manifest.step_bytes == 0
    assert 9 * steps <= report.step_bytes <= 10 * steps
    assert report.entries["witness.proof"] <= 10 * len(heavy)
    assert _line(report, "followers of steps").startswith("8 of the peers: one fetches ")


def test_gossip_is_counted_beside_contents(tmp_path: Path) -> None:
    report = make_report(Simulation(crowd(tmp_path, 16, 10)).run())
    # 16 members announce twice in each round, as each of six neighbours passes it on.
    assert report.gossip_bytes == pytest.approx(10 * 16 * 16 * 6 * 2_300, rel=TOLERANCE)


def test_a_follower_needs_a_down_link(tmp_path: Path) -> None:
    setup = crowd(tmp_path, 12, 8)
    rules = msgspec.structs.replace(setup.manifest.algorithm, down_k=0)
    plain = msgspec.structs.replace(setup.manifest, algorithm=rules)
    report = make_report(Simulation(replace(setup, manifest=plain, followers=0.5)).run())
    # Without one, members that do not witness fetch all contributions like the others.
    assert (report.followers, report.step_bytes, report.rounds_closed) == (0, 0, 8)


def _by_duty(simulation: Simulation) -> tuple[list[SimulatedMember], list[SimulatedMember]]:
    """Members that follow steps, and the others."""
    light = [one for one in simulation.members if one.is_light]
    return light, [one for one in simulation.members if not one.is_light]


def _kb_per_round(setup: SimulationSetup, members: list[SimulatedMember], rounds: int) -> float:
    """KB that one of them fetches in a round, after its first download."""
    pace = RoundPace(members=setup.peers, length_ms=1, tokens=0)
    first = estimate_needs(
        setup.manifest, setup.corpus, pace, is_witness=not members[0].is_light
    ).first_bytes
    return mean(one.down - first for one in members) / rounds / KB


def _kb_of_both(folder: Path, *, peers: int, rounds: int, followers: float) -> tuple[float, float]:
    """KB that a follower fetches in a round, and a witness."""
    folder.mkdir()
    setup = replace(crowd(folder, peers, rounds), followers=followers)
    light, heavy = _by_duty(Simulation(setup).run())
    return _kb_per_round(setup, light, rounds), _kb_per_round(setup, heavy, rounds)


def _line(report: SimulationReport, label: str) -> str:
    (found,) = (one for one in report_lines(report) if one.startswith(label))
    return found.removeprefix(label).strip()
