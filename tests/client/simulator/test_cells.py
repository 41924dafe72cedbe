"""Cells in the simulator: steps by hand, the bounds of a pipeline, and when all ranks are on."""

from __future__ import annotations

from itertools import chain, islice, repeat
from random import Random
from typing import TYPE_CHECKING

import pytest

from tequio_client.simulator import cells
from tequio_client.simulator.cell_hosts import CellPopulation, joint_sessions, steady_pace
from tequio_client.simulator.cells import Lines, SimulatedRank, pace_of, pipeline_s
from tequio_client.simulator.hosts import HostPopulation, Session
from tequio_client.trainer.pipeline import MicroBatches
from tequio_client.worker.lending.needs import hidden_width
from tests.client.worker.lending.test_needs import manifest_of, network_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tequio_shared.round.manifest import Manifest

FAST = 1e15
"""Bytes per second of a line that takes no time."""
LAN = 125e6
HOME_UP, HOME_DOWN = 23.5e6 / 8, 347.8e6 / 8


def ranks_of(
    number: int, *, up: float = FAST, down: float = FAST, round_trip_s: float = 0.0
) -> list[SimulatedRank]:
    one = SimulatedRank(tokens_per_s=1_000.0, up=up, down=down, round_trip_s=round_trip_s)
    return [one] * number


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    """A run of a thousand million parameters, samples of 1,024."""
    return manifest_of(network_of(tied=False))


@pytest.mark.parametrize(("ranks", "number"), [(2, 2), (2, 8), (4, 4), (4, 16), (8, 32), (3, 7)])
def test_without_a_network_a_pass_has_the_bubble_of_1f1b(ranks: int, number: int) -> None:
    lines = Lines(ranks_of(ranks))
    assert pipeline_s(lines, [4.0] * ranks, number, 1.0) == pytest.approx(
        4.0 * (number + ranks - 1), rel=1e-6
    )


def test_two_ranks_by_hand() -> None:
    # Rank 0: forward 1, sends 2; rank 1: forward 1, back 3, sends 2; rank 0: back 3.
    one = pipeline_s(Lines(ranks_of(2, up=1.0, down=1.0)), [4.0, 4.0], 1, 2.0)
    assert one == pytest.approx(1 + 2 + 1 + 3 + 2 + 3)
    later = pipeline_s(Lines(ranks_of(2, up=1.0, down=1.0, round_trip_s=0.5)), [4.0] * 2, 1, 2.0)
    assert later == pytest.approx(one + 2 * 0.5)


def test_a_line_that_is_slow_enough_sets_the_pace_alone() -> None:
    number, size = 16, 1e6
    taken = pipeline_s(Lines(ranks_of(2, up=1e3, down=1e3)), [1e-3, 1e-3], number, size)
    # Both ways at once, but for what comes first and last.
    assert number * size / 1e3 <= taken <= 2.1 * number * size / 1e3


@pytest.mark.parametrize(("samples", "sequence"), [(5, 1_024), (64, 1_024), (300, 64), (2, 8_192)])
@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_micro_batches_are_those_of_the_trainer(samples: int, sequence: int, ranks: int) -> None:
    made = MicroBatches.of(samples, sequence, ranks)
    assert cells.micro_batches(samples, sequence, ranks) == (made.samples, made.number)


def test_a_cell_without_a_division_adds_up_eight_bytes_of_each_parameter(
    manifest: Manifest,
) -> None:
    free = pace_of(manifest, ranks_of(4), "none", 65_536)
    assert free.step_s == pytest.approx(65_536 / 4_000, rel=1e-4)
    slow = pace_of(manifest, ranks_of(4, up=LAN, down=LAN), "none", 65_536)
    every = 4 * manifest.model.parameters
    # A ring twice around, then every weight from its rank to the three others.
    assert slow.step_s - free.step_s == pytest.approx((1.5 + 3) * every / LAN)
    assert slow.round_s == pytest.approx(3 * every / LAN)


def test_on_a_lan_a_pipeline_of_a_large_model_beats_a_cell_of_whole_ones(
    manifest: Manifest,
) -> None:
    lan = ranks_of(4, up=LAN, down=LAN, round_trip_s=0.0005)
    home = ranks_of(4, up=HOME_UP, down=HOME_DOWN, round_trip_s=0.08)
    pipelined = pace_of(manifest, lan, "pipeline", 65_536)
    whole = pace_of(manifest, lan, "none", 65_536)
    far = pace_of(manifest, home, "pipeline", 65_536)
    assert pipelined.step_s < whole.step_s
    computing_s = cells.RECOMPUTED * 65_536 / sum(one.tokens_per_s for one in lan)
    assert computing_s < pipelined.step_s < 2 * computing_s
    # Each token's hidden values pass three lines, at the rate at which a home sends.
    sent_s = 65_536 * 4 * hidden_width(manifest) / HOME_UP
    assert far.step_s > max(sent_s, 2 * pipelined.step_s)


def test_a_tied_embedding_goes_from_the_first_rank_to_the_last_and_back_in_each_step() -> None:
    fast = SimulatedRank(tokens_per_s=1e3, up=FAST, down=FAST, round_trip_s=0.0)
    home = SimulatedRank(tokens_per_s=1e3, up=HOME_UP, down=HOME_DOWN, round_trip_s=0.0)
    slower_s = []
    for is_tied in (False, True):
        run = manifest_of(network_of(tied=is_tied))
        free, slow = (
            pace_of(run, [fast, last], "pipeline", 65_536).step_s for last in (fast, home)
        )
        slower_s.append(slow - free)
    every = 4 * 32_000 * hidden_width(run)
    tied_s = every / HOME_DOWN + every / HOME_UP
    assert slower_s[1] - slower_s[0] == pytest.approx(tied_s, rel=0.01)


def test_shares_are_what_a_cell_trains_in_the_usual_time(manifest: Manifest) -> None:
    for up in (LAN, HOME_UP):
        pace, tokens = steady_pace(manifest, ranks_of(4, up=up, down=LAN), "pipeline")
        train_s = manifest.rounds.train / 1_000
        steps = manifest.inner.steps
        least = manifest.model.sequence
        taken = steps * pace.step_s + pace.round_s
        assert tokens == least or taken == pytest.approx(train_s, rel=0.2)


def session(on: int, off: int) -> Session:
    return Session(on_ms=on, off_ms=off, is_sudden=False)


def endless(first: Sequence[Session], later: Session) -> Iterator[Session]:
    return chain(first, repeat(later))


def test_a_cell_is_on_while_all_its_ranks_are() -> None:
    one = endless([session(0, 5), session(10, 5)], session(10, 10))  # 5-15, 20-30, 40-50, ...
    other = endless([session(8, 4)], session(10, 0))  # 0-8, 12-22, 22-32, ...
    found = list(islice(joint_sessions([one, other]), 5))
    times, at = [], 0
    for each in found:
        times.append((at, at + each.on_ms))
        at += each.on_ms + each.off_ms
    assert times == [(0, 0), (5, 8), (12, 15), (20, 22), (22, 30)]
    assert all(each.is_sudden for each in found)


def test_ranks_in_homes_are_seldom_on_together() -> None:
    population = HostPopulation()

    def share_on(ranks: int) -> float:
        on = every = 0
        for seed in range(300):
            own = [population.sessions(Random(f"{seed} {rank}")) for rank in range(ranks)]
            at, end = 0, 10 * 24 * 3_600_000
            for each in joint_sessions(own) if ranks > 1 else own[0]:
                on += min(each.on_ms, max(end - at, 0))
                at += each.on_ms + each.off_ms
                if at >= end:
                    break
            every += end
        return on / every

    alone, two, four = share_on(1), share_on(2), share_on(4)
    assert two == pytest.approx(alone**2, rel=0.35)
    assert four < 0.25 * two


def test_cells_hold_models_that_no_card_of_the_survey_does(manifest: Manifest) -> None:
    wide = CellPopulation(ranks=4)
    (found,) = wide.draw_cells(manifest, 1, HostPopulation(), Random(1))
    assert found.tokens_per_s > 0
