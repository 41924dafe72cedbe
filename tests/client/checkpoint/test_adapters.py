"""A head of adapters: as peft loads it, merged as anybody loads it, and checked to the last bit."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
import torch
from msgspec import UNSET, UnsetType
from safetensors.numpy import load_file, save_file

from tequio_client.checkpoint import export, verify
from tequio_client.checkpoint import layout as checkpoint_layout
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.layout import ExportForm
from tequio_client.checkpoint.tensors import MergedModel
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.competition import models
from tequio_client.trainer import adapters, first_head, likelihood, model, weights
from tequio_client.verify.report import NoProgress
from tequio_client.worker.store.store import Store
from tequio_shared.competition.rules import Submission
from tequio_shared.errors import UserFacingError
from tequio_shared.head import nf4
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tests.client.verify.logs import SwarmLog
from tests.support.frozen_base import EVERY, described, write_base
from tests.support.llama_swarm import ROUNDS, LlamaRun, play, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.trainer.first_head import FirstHead as First
    from tequio_shared.head.layout import FrozenBase
    from tests.support.llama_swarm import ServedLog


IDS = torch.randint(0, 256, (3, 48), generator=torch.Generator().manual_seed(1))
Q = "model.layers.0.self_attn.q_proj.weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRun:
    """A run of adapters, the folder of its base, its served log, and a store with all its trees."""

    run: LlamaRun
    folder: Path
    paths: tuple[Path, ...]
    site: ServedLog
    store: Path

    @property
    def base(self) -> FrozenBase:
        """The frozen base, as in the manifest."""
        assert self.run.manifest.frozen is not None
        return self.run.manifest.frozen

    def export(self, target: Path, *, form: ExportForm, number: int = ROUNDS) -> Path:
        """Export the head of a round."""
        wish = export.ExportOptions(
            origin=WeightsOrigin(ledger=self.site.url, stores=(self.store,)),
            run=self.run.manifest.name,
            round=number,
            target=target,
            form=form,
        )
        export.export_head(wish, NoProgress())
        return target

    def widened(self, name: str, matrix: torch.Tensor) -> torch.Tensor:
        """A tensor of the base as the trainer computes with it."""
        wide = matrix.float()
        if self.base.is_in_4_bits and name.removesuffix(".weight").endswith(self.base.targets):
            values = nf4.dequantise(*nf4.quantise(wide.numpy()), wide.shape[1])
            return torch.from_numpy(np.ascontiguousarray(values))
        return wide

    def logits(self, number: int = ROUNDS) -> torch.Tensor:
        """Logits of the trainer's own network for the integers of a head."""
        config = (self.folder / "config.json").read_bytes()
        made = adapters.build_from_manifest(config, self.run.manifest, self.paths)
        made.load(self.run.weights(number), self.run.manifest.layout)
        with torch.no_grad():
            return made.logits(IDS)


def stirred(first: First) -> First:
    """With values in every pair, as if it had been trained; this swarm's updates are small."""
    layout = first.layout
    noise = np.random.default_rng(1).normal(0.0, 0.1 * 2**24, layout.elements)
    tensors = layout.unflatten(noise.astype(np.int32))
    return replace(first, master=first.master + layout.flatten(tensors))


QWEN_3 = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 16}
BASES: dict[str, tuple[dict[str, Any], Literal[4] | UnsetType]] = {
    "llama": ({}, UNSET),
    "llama in 4 bits": ({}, 4),
    "qwen3 in 4 bits": (QWEN_3, 4),
}


@pytest.fixture(scope="module", params=BASES)
def adapter_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AdapterRun]:
    """One run of each kind for all tests here; not to be changed."""
    fields, bits = BASES[request.param]
    home = tmp_path_factory.mktemp("scene")
    folder = write_base(home / "base", parts=2, **fields)
    base, paths = described(folder, targets=EVERY, rank=4, alpha=12, bits=bits)
    config = (folder / "config.json").read_bytes()
    first = first_head.with_adapters(config, base, paths, seed=3, layout="flat")
    run = play(model=stirred(first), base=base)
    run.store(home / "store", 0, ROUNDS)
    store = Store(home / "store", quota_bytes=1 << 30)
    for path in paths:
        store.put_tree_file(path, PIECE_BYTES)
    with served_log(SwarmLog(run.swarm)) as site:
        yield AdapterRun(
            run=run, folder=folder, paths=tuple(paths), site=site, store=home / "store"
        )


@pytest.fixture(scope="module")
def made(
    adapter_run: AdapterRun, tmp_path_factory: pytest.TempPathFactory
) -> dict[ExportForm, Path]:
    """The last head in both forms; not to be changed."""
    home = tmp_path_factory.mktemp("made")
    return {form: adapter_run.export(home / form.value, form=form) for form in ExportForm}


@pytest.fixture
def pairs(made: dict[ExportForm, Path], tmp_path: Path) -> Path:
    """A copy of the adapters' folder."""
    return shutil.copytree(made[ExportForm.HEAD], tmp_path / "pairs")


@pytest.fixture
def merged(made: dict[ExportForm, Path], tmp_path: Path) -> Path:
    """A copy of the merged folder."""
    return shutil.copytree(made[ExportForm.MERGED], tmp_path / "merged")


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
def test_peft_beside_plain_transformers_gives_the_logits_of_the_head(
    adapter_run: AdapterRun, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from peft import PeftModel  # noqa: PLC0415 - seconds, for this test
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - as above

    base = AutoModelForCausalLM.from_pretrained(adapter_run.folder, dtype=torch.float32)
    with torch.no_grad():
        for name, one in base.named_parameters():
            one.copy_(adapter_run.widened(name, one))
    network: Any = PeftModel.from_pretrained(base, str(pairs))
    with torch.no_grad():
        theirs = network(input_ids=IDS, use_cache=False).logits
    ours = adapter_run.logits()
    difference = float((ours - theirs).abs().max())
    with capsys.disabled():
        print(f" max difference of logits, peft: {difference:.3g} ", end="")  # noqa: T201
    with torch.no_grad(), network.disable_adapter():
        alone = network(input_ids=IDS, use_cache=False).logits
    assert float((ours - alone).abs().max()) > 0.1, "the pairs do something"
    assert difference <= 2e-5


def test_plain_transformers_gives_the_logits_of_the_merged_head(
    adapter_run: AdapterRun, merged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for this test

    found: Any = AutoModelForCausalLM.from_pretrained(merged, output_loading_info=True)
    network, told = found
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    assert network.dtype == torch.float32
    with torch.no_grad():
        theirs = network(input_ids=IDS, use_cache=False).logits
    difference = float((adapter_run.logits() - theirs).abs().max())
    with capsys.disabled():
        print(f" max difference of logits, merged: {difference:.3g} ", end="")  # noqa: T201
    assert difference <= 5e-5


def test_a_merged_head_can_be_scored(adapter_run: AdapterRun, merged: Path) -> None:
    scored = likelihood.open_model(merged, tokenizer=None, prefix=None)
    with torch.no_grad():
        torch.testing.assert_close(
            scored.model.logits(IDS), adapter_run.logits(), rtol=0, atol=5e-5
        )


def test_evaluators_get_a_whole_model(adapter_run: AdapterRun, tmp_path: Path) -> None:
    head = adapter_run.run.swarm.view.heads[ROUNDS]
    submission = Submission(
        run=to_text(adapter_run.run.manifest.run_id),
        round=ROUNDS,
        weights_root=to_text(head.weights_root),
        repo="",
        revision="",
        files=(),
    )
    where = WeightsOrigin(ledger=adapter_run.site.url, stores=(adapter_run.store,))
    folder = models.fetch_model(submission, tmp_path / "model", where, NoProgress())
    assert (folder / checkpoint_layout.CONFIG).is_file()
    assert not checkpoint_layout.is_adapter(folder)


def test_the_merged_head_before_any_training_is_the_base(
    adapter_run: AdapterRun, tmp_path: Path
) -> None:
    config = (adapter_run.folder / "config.json").read_bytes()
    first = first_head.with_adapters(
        config, adapter_run.base, adapter_run.paths, seed=3, layout="flat"
    )
    MergedModel.of(adapter_run.run.manifest, first.master, adapter_run.paths).write(
        tmp_path, lambda _: None
    )
    found = load_file(tmp_path / checkpoint_layout.WEIGHTS)
    assert all(one.dtype == np.float32 for one in found.values())
    for name, one in weights.map_tensors(model.sketch(config), adapter_run.paths).items():
        assert (found[name] == adapter_run.widened(name, one).numpy()).all()


def test_large_merged_weights_come_in_several_files(
    adapter_run: AdapterRun, merged: Path, tmp_path: Path
) -> None:
    model = MergedModel.of(
        adapter_run.run.manifest, adapter_run.run.weights(ROUNDS), adapter_run.paths
    )
    out = tmp_path / "out"
    out.mkdir()
    told: list[int] = []
    model.write(out, told.append, shard=100_000)
    assert sum(told) == model.size_bytes == 4 * adapter_run.base.parameters
    assert len(list(out.glob("model-*.safetensors"))) > 3
    model.check(out, lambda _: None)
    (merged / checkpoint_layout.WEIGHTS).unlink()
    for path in out.iterdir():
        shutil.copy(path, merged)
    assert checked(adapter_run, merged)[0] is VerifyOutcome.IS_THE_HEAD


def checked(
    adapter_run: AdapterRun, folder: Path, *, has_store: bool = True
) -> tuple[VerifyOutcome, str]:
    stores = (adapter_run.store,) if has_store else ()
    origin = WeightsOrigin(ledger=adapter_run.site.url, stores=stores)
    verdict = verify.verify_folder(folder, origin, NoProgress())
    return verdict.outcome, "\n".join(verdict.lines)


def test_both_forms_are_checked_and_say_what_they_are(
    adapter_run: AdapterRun, pairs: Path, merged: Path
) -> None:
    outcome, said = checked(adapter_run, pairs, has_store=False)
    assert outcome is VerifyOutcome.IS_THE_HEAD, said
    assert "adapters of rank 4 for the frozen base" in said
    outcome, said = checked(adapter_run, merged)
    assert outcome is VerifyOutcome.IS_THE_HEAD, said
    assert "merged into the frozen base" in said


def test_merged_weights_without_their_base_cannot_be_told(
    adapter_run: AdapterRun, merged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, said = checked(adapter_run, merged, has_store=False)
    assert outcome is VerifyOutcome.CANNOT_VERIFY
    assert "with --store" in said
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
        outcome, said = checked(adapter_run, merged, has_store=False)
    assert outcome is VerifyOutcome.CANNOT_VERIFY
    assert "TMPDIR" in said
    offline = verify.verify_folder(merged, WeightsOrigin(ledger=""), NoProgress())
    assert offline.outcome is VerifyOutcome.CANNOT_VERIFY
    assert "files of their base, which are not on this computer" in offline.lines[0]


def change(path: Path, name: str, step: int = 1) -> None:
    """Change the last bits of one weight."""
    tensors = load_file(path)
    tensors[name] = tensors[name].copy()
    tensors[name].reshape(-1).view(np.int32)[7] += step
    save_file(tensors, path, metadata={"format": "pt"})


def test_every_change_is_found(adapter_run: AdapterRun, pairs: Path, merged: Path) -> None:
    change(merged / checkpoint_layout.WEIGHTS, Q)
    outcome, said = checked(adapter_run, merged)
    assert (outcome, Q in said) == (VerifyOutcome.IS_NOT, True)
    change(merged / checkpoint_layout.WEIGHTS, Q, -1)
    assert checked(adapter_run, merged)[0] is VerifyOutcome.IS_THE_HEAD
    change(
        merged / checkpoint_layout.MERGED_ADAPTER,
        f"base_model.model.{Q[:-7]}.lora_B.weight",
        1 << 10,
    )
    assert checked(adapter_run, merged)[0] is VerifyOutcome.IS_NOT
    change(pairs / checkpoint_layout.ADAPTER, f"base_model.model.{Q[:-7]}.lora_A.weight", 1 << 10)
    assert checked(adapter_run, pairs)[0] is VerifyOutcome.IS_NOT


def test_files_that_change_what_is_loaded_are_found(
    adapter_run: AdapterRun, pairs: Path, merged: Path
) -> None:
    config = json.loads((pairs / checkpoint_layout.ADAPTER_CONFIG).read_bytes())
    (pairs / checkpoint_layout.ADAPTER_CONFIG).write_text(json.dumps(config | {"lora_alpha": 99}))
    outcome, said = checked(adapter_run, pairs)
    assert (outcome, checkpoint_layout.ADAPTER_CONFIG in said) == (VerifyOutcome.IS_NOT, True)
    (merged / checkpoint_layout.ADAPTER).write_bytes(b"x")
    outcome, said = checked(adapter_run, merged)
    assert (outcome, checkpoint_layout.ADAPTER in said) == (VerifyOutcome.IS_NOT, True)
    (merged / checkpoint_layout.ADAPTER).unlink()
    tensors = load_file(merged / checkpoint_layout.WEIGHTS)
    save_file(tensors | {"more": np.zeros(3, np.float32)}, merged / checkpoint_layout.WEIGHTS)
    outcome, said = checked(adapter_run, merged)
    assert (outcome, "more" in said) == (VerifyOutcome.IS_NOT, True)


def test_the_cards_name_base_and_adapters(
    adapter_run: AdapterRun, pairs: Path, merged: Path
) -> None:
    card = (pairs / checkpoint_layout.CARD).read_text()
    assert 'library_name: "peft"' in card
    assert "LoRA adapters of rank 4 and alpha 12" in card
    assert "PeftModel.from_pretrained" in card
    assert "4 per frozen one" in card
    assert ("4 bits (NF4" in card) == adapter_run.base.is_in_4_bits
    card = (merged / checkpoint_layout.CARD).read_text()
    assert 'library_name: "transformers"' in card
    assert "merged into it" in card
    assert "PeftModel" not in card
    assert ("W that its 4 bits (NF4) stand for" in card) == adapter_run.base.is_in_4_bits


def test_a_base_that_a_store_lacks_is_named(adapter_run: AdapterRun, tmp_path: Path) -> None:
    store = adapter_run.run.store(tmp_path / "store", ROUNDS)
    wish = export.ExportOptions(
        origin=WeightsOrigin(ledger=adapter_run.site.url, stores=(store,)),
        run=adapter_run.run.manifest.name,
        target=tmp_path / "out",
        form=ExportForm.MERGED,
    )
    with pytest.raises((UserFacingError, BaseExceptionGroup)) as caught:
        export.export_head(wish, NoProgress())
    (file, _) = adapter_run.base.files
    root = to_text(digest_from_text(file.root))[:10]
    assert root in "".join(map(str, getattr(caught.value, "exceptions", (caught.value,))))


def test_a_run_that_trains_all_weights_is_not_merged(site: ServedLog, tmp_path: Path) -> None:
    wish = export.ExportOptions(
        origin=WeightsOrigin(ledger=site.url),
        run="maize- 1.0",
        target=tmp_path / "out",
        form=ExportForm.MERGED,
    )
    with pytest.raises((UserFacingError, BaseExceptionGroup)) as caught:
        export.export_head(wish, NoProgress())
    said = "".join(map(str, getattr(caught.value, "exceptions", (caught.value,))))
    assert "no adapters to merge" in said
