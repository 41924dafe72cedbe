"""Opening a run of adapters: the base is named, hashed and served; what cannot be is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.organiser import estimate, opening
from tequio_client.organiser.outline import read_outline
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.worker.store.store import Store
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text
from tequio_shared.round.manifest import Manifest
from tests.support import architectures
from tests.support.frozen_base import write_base
from tests.support.plans import write_plan

if TYPE_CHECKING:
    from pathlib import Path


PLAN = """\
name = "tiny"
[model]
source = "base"
lora.rank = 4
lora.targets = ["v_proj", "q_proj"]
[data]
folder = "data"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan whose base lies beside it, in two files."""
    path = write_plan(tmp_path)
    write_base(tmp_path / "base", parts=2)
    path.write_text(PLAN)
    return path


def refusal(plan: Path) -> str:
    with pytest.raises(UserFacingError) as caught:
        opening.prepare_run(plan)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_manifest_names_base_and_pairs_and_the_seed_gets_the_files(
    plan: Path, tmp_path: Path
) -> None:
    prepared = opening.prepare_run(plan)
    manifest, base = prepared.manifest, prepared.manifest.frozen
    assert Manifest.parse(manifest.encode()) == manifest
    assert base is not None
    assert (base.rank, base.alpha, base.targets) == (4, 8, ("q_proj", "v_proj"))
    assert len(manifest.model.tensors) == 2 * 2 * 2
    assert (
        base.parameters == 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96 + 128) + 2 * 256 * 64 + 64
    )
    assert base.size_bytes == sum(path.stat().st_size for path in (tmp_path / "base").glob("*.s*s"))
    assert np.frombuffer(prepared.weights, "<i4").any()
    store = Store(tmp_path / "store", quota_bytes=1 << 30)
    opening.store_run(prepared, store)
    for one in base.files:
        path = store.tree_path(digest_from_text(one.root))
        assert path.read_bytes() == (tmp_path / "base" / one.name).read_bytes()
    assert opening.prepare_run(plan).manifest.run_id == manifest.run_id


def test_on_paper_the_run_is_what_it_will_be(plan: Path) -> None:
    found, made = read_outline(plan).manifest, opening.prepare_run(plan).manifest
    assert found.frozen is not None
    assert made.frozen is not None
    assert found.model.tensors == made.model.tensors
    assert found.frozen.size_bytes == made.frozen.size_bytes
    assert found.frozen.parameters == made.frozen.parameters


def test_a_base_that_changes_while_the_run_is_opened_is_not_served(
    plan: Path, tmp_path: Path
) -> None:
    prepared = opening.prepare_run(plan)
    (path, *_) = sorted((tmp_path / "base").glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserFacingError, match="changed while it was read"):
        opening.store_run(prepared, Store(tmp_path / "store", quota_bytes=1 << 30))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"base"', '"config.json"', "configuration of a new one"),
        ('"v_proj"', '"vproj"', "no matrices 'vproj'; adapters can train: down_proj"),
        ("rank = 4", "rank = 40", "a rank from 1 to 32"),
        ("rank = 4", "rank = 0", "model.lora.rank is 0: expected a whole number >= 1"),
        ("rank = 4", "rank = 4\nlora.bits = 8", "model.lora.bits is 8"),
        ('["v_proj", "q_proj"]', "[]", "model.lora.targets"),
        ("rank = 4", "rank = 4\nlora.alfa = 4", "[model.lora] has no `alfa`; `alpha` may be meant"),
    ],
)
def test_rules_that_make_no_adapters_are_refused(
    plan: Path, old: str, new: str, named: str
) -> None:
    plan.write_text(PLAN.replace(old, new))
    assert named in refusal(plan)


def test_a_base_that_cannot_be_read_is_refused(plan: Path, tmp_path: Path) -> None:
    (path, *_) = sorted((tmp_path / "base").glob("*.safetensors"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "download it again" in refusal(plan)
    path.write_bytes(whole[:100] + b"{" + whole[101:])
    assert "damaged" in refusal(plan)
    path.write_bytes(b"\x80\x04" + bytes(len(whole)))
    assert "pickle" in refusal(plan)
    path.unlink()
    assert f"{path} is missing" in refusal(plan)
    for one in (tmp_path / "base").glob("*.safetensors*"):
        one.unlink()
    assert "has no weights" in refusal(plan)


def test_a_base_of_another_architecture_is_opened_in_4_bits(plan: Path, tmp_path: Path) -> None:
    write_base(tmp_path / "odd", hidden_act="gelu")
    plan.write_text(PLAN.replace('"base"', '"odd"').replace("rank = 4", "rank = 4\nlora.bits = 4"))
    manifest = opening.prepare_run(plan).manifest
    assert manifest.frozen is not None
    assert manifest.frozen.is_in_4_bits
    assert Manifest.parse(manifest.encode()) == manifest


def test_a_base_without_linear_maps_is_refused(plan: Path, tmp_path: Path) -> None:
    architectures.write(tmp_path / "gpt2", architectures.fields_of("gpt2"))
    plan.write_text(PLAN.replace('"base"', '"gpt2"'))
    message = refusal(plan)
    assert "transformers' Conv1D, as GPT-2 does" in message
    assert "choose a base of another architecture" in message


def test_a_new_plan_for_adapters_says_what_it_takes_and_opens(tmp_path: Path) -> None:
    write_plan(tmp_path)
    write_base(tmp_path / "base", dtype=torch.float16)
    path = tmp_path / "maize.toml"
    words = ("run", "new", str(path), "--data", str(tmp_path / "data"), "--lora-rank", "2")
    result = CliRunner().invoke(cli, (*words, "--from", str(tmp_path / "base"), "--peers", "4"))
    assert result.exit_code == 0, result.output
    assert "frozen base" in result.output
    text = path.read_text()
    assert "lora.rank = 2 " in text
    assert 'optimiser = "adamw"' in text
    made = opening.prepare_run(path).manifest
    assert made.frozen is not None
    assert (made.frozen.rank, made.frozen.alpha, len(made.frozen.targets)) == (2, 4, 7)
    assert made.inner.optimiser == "adamw"


LLAMA_7B = {
    "model_type": "llama",
    "vocab_size": 32_000,
    "hidden_size": 4_096,
    "intermediate_size": 11_008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "torch_dtype": "bfloat16",
}


def test_7b_with_adapters_is_planned_for_cards_of_12_gib_in_4_bits_alone(tmp_path: Path) -> None:
    write_plan(tmp_path)
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text(json.dumps(LLAMA_7B))
    with (tmp_path / "base" / "model.safetensors").open("wb") as file:
        file.truncate(2 * 6_738_415_616 + 30_000)  # sparse: a plan reads no weights
    path = tmp_path / "maize.toml"
    words = ("run", "new", str(path), "--data", str(tmp_path / "data"), "--lora-rank", "16")
    cards = ("--from", str(tmp_path / "base"), "--vram-gib", "12", "--disk-gib", "60")
    wide = CliRunner().invoke(cli, (*words, *cards))
    assert wide.exit_code == 1
    assert "use a smaller base, lora.bits = 4" in str(wide.exception)
    assert not path.exists()
    narrow = CliRunner().invoke(cli, (*words, *cards, "--lora-bits", "4"))
    assert narrow.exit_code == 0, narrow.output
    assert "lora.bits = 4 " in path.read_text()
    found = read_outline(path)
    reckoned = estimate.estimate_run(found, ExpectPlan(vram_gib=12, disk_gib=60))
    rows = {row.label: f"{row.value} {row.note}" for row in reckoned.rows}
    assert "3.88 GiB in memory, in 4 bits" in rows["frozen base"]
    assert rows["card memory"].endswith("9.6 of 12 GiB are lent")
    assert not reckoned.faults


def test_adapters_beside_nothing_are_not_planned(tmp_path: Path) -> None:
    write_plan(tmp_path)
    words = ("run", "new", str(tmp_path / "x.toml"), "--data", str(tmp_path / "data"))
    result = CliRunner().invoke(cli, (*words, "--parameters", "1M", "--lora-rank", "2"))
    assert result.exit_code == 2
    assert "--from" in result.output
    result = CliRunner().invoke(cli, (*words, "--from", str(tmp_path), "--lora-bits", "4"))
    assert result.exit_code == 2
    assert "give --lora-rank" in result.output
