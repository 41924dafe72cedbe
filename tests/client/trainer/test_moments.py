"""An optimiser's state in eight bits: near the full one, the same in parts, and much smaller."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tequio_client.trainer import inner, model
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import AdamW
from tequio_client.trainer.moments import BLOCK, positive_moment, signed_moment
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.small_run import CONFIG, SEQUENCE

LEVELS = 127


def numbers(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@given(rows=st.integers(1, 5), columns=st.integers(1, 3 * BLOCK), seed=st.integers(0, 99))
def test_each_number_is_off_by_half_a_level_of_its_block(
    rows: int, columns: int, seed: int
) -> None:
    value = numbers(rows, columns, seed=seed) * 10.0 ** (seed % 9 - 4)
    kept = signed_moment(value, 8)
    assert not kept.load().any()
    kept.store(value)
    for row, found in zip(value, kept.load(), strict=True):
        for whole, rounded in zip(row.split(BLOCK), found.split(BLOCK), strict=True):
            level = float(whole.abs().max()) / LEVELS
            assert float((rounded - whole).abs().max()) <= 0.5001 * level


@pytest.mark.parametrize("shape", [(7, 300), (6, 4, 100), (0, 5), (9,), ()])
def test_what_was_rounded_once_is_rounded_no_further(shape: tuple[int, ...]) -> None:
    kept = signed_moment(numbers(*shape), 8)
    kept.store(numbers(*shape))
    once = kept.load().clone()
    assert once.shape == torch.Size(shape)
    kept.store(once)
    torch.testing.assert_close(kept.load(), once, rtol=1e-6, atol=0)


def test_rows_are_rounded_alike_alone_and_in_the_whole() -> None:
    value = numbers(10, 700)
    whole, part = signed_moment(value, 8), signed_moment(value[3:6], 8)
    whole.store(value)
    part.store(value[3:6])
    assert torch.equal(whole.load()[3:6], part.load())


def test_zeros_stay_zeros_and_a_number_that_is_none_is_not_hidden() -> None:
    value = numbers(3, BLOCK)
    value[0], value[1, 5] = 0.0, torch.nan
    kept = signed_moment(value, 8)
    kept.store(value)
    assert not kept.load()[0].any()
    assert kept.load()[1].isnan().any()
    assert kept.load()[2].isfinite().all()


def test_a_divisor_does_not_become_zero_beside_a_large_one() -> None:
    value = torch.tensor([[1e-30, 1.0, 1e4]])
    kept = positive_moment(value, 8)
    kept.store(value)
    torch.testing.assert_close(kept.load(), value, rtol=2**-8, atol=0)


@pytest.mark.parametrize("optimiser", ["muon", "adamw"])
def test_training_goes_nearly_the_same_way(optimiser: str) -> None:
    ways = {}
    for bits in (32, 8):
        recipe = InnerParams(optimiser=optimiser, state_bits=bits)  # type: ignore[arg-type]
        network = model.build_random(CONFIG, 1)
        begun = torch.cat([one.detach().flatten() for one in network.parameters.values()])
        trained, batch = inner.Optimiser(network, recipe), BatchSize(SEQUENCE, open_device("cpu"))
        for step in range(20):
            chance = torch.Generator().manual_seed(step)
            samples = torch.randint(0, 256, (4, SEQUENCE + 1), generator=chance)
            inner.compute_gradients(network, samples, batch, lambda: None)
            trained.step()
        ended = torch.cat([one.detach().flatten() for one in network.parameters.values()])
        ways[bits] = ended - begun
    apart = float((ways[8] - ways[32]).norm() / ways[32].norm())
    assert 0 < apart < 0.1


def test_a_table_is_moved_in_parts_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for most in (1 << 24, 50):
        monkeypatch.setattr(inner, "_PART_NUMBERS", most)
        table = numbers(9, 20)
        table.grad = numbers(9, 20, seed=2)
        one = AdamW([table], 8)
        one.follow(0.1, 0.01)
        one.step()
        one.step()
        ends.append(table)
    assert torch.equal(*ends)
